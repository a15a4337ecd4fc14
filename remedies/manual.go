package remedies

import "sync"

// Manual is the rest of a guide's document beside its checklists, in the document's order. Only `oomscan guide` shows it:
// reports decode no manual.
type Manual struct {
	ID         string      `json:"id"` // the guide's
	Diagnosis  []Sign      `json:"diagnosis"`
	Parameters []Explained `json:"parameters"`
	Steps      []Step      `json:"steps"`
	Templates  []Template  `json:"templates"`
	Messages   []Message   `json:"messages"`
	Goals      []Goal      `json:"goals"`
	Compared   []Compared  `json:"compared"`
	Notes      []Note      `json:"notes"`
}

// Sign is a row of a guide's diagnosis: a symptom, its phase and its usual origin.
type Sign struct {
	Where     string   `json:"where"`     // the phase in the guide's words
	Phases    []string `json:"phases"`    // the same in the design's
	Resources []string `json:"resources"` // gpu when empty
	Symptom   string   `json:"symptom"`
	Cause     string   `json:"cause"`
	First     string   `json:"first"` // what the guide does first
	Items     []string `json:"items"` // ids of the items that First speaks of
	Section   string   `json:"section"`
}

// Explained is a parameter that a guide explains.
type Explained struct {
	Key         string       `json:"key"`
	Spellings   []Spelling   `json:"spellings"`
	Meaning     string       `json:"meaning"`
	Constraint  string       `json:"constraint"`
	Phases      []string     `json:"phases"` // in which it counts; any when empty
	Section     string       `json:"section"`
	URL         string       `json:"url"` // with more information
	Corrections []Correction `json:"corrections"`
}

// Step is a way to find out more: a snapshot, a profiler, a check.
type Step struct {
	ID          string       `json:"id"`
	Title       string       `json:"title"` // imperative
	Detail      string       `json:"detail"`
	Caution     string       `json:"caution"`
	Phases      []string     `json:"phases"`
	Syntax      string       `json:"syntax"`  // of Snippet: one of the surfaces
	Snippet     string       `json:"snippet"` // what works in the versions of today
	Section     string       `json:"section"`
	Corrections []Correction `json:"corrections"`
}

// Template is a configuration for a kind of machine.
type Template struct {
	ID          string       `json:"id"`
	Title       string       `json:"title"`
	Detail      string       `json:"detail"`
	Syntax      string       `json:"syntax"`
	Snippet     string       `json:"snippet"` // the document's settings, with keys that exist
	Section     string       `json:"section"`
	Corrections []Correction `json:"corrections"`
}

// Message is a message that a guide explains.
type Message struct {
	Text        string       `json:"text"` // what a program prints
	Kind        string       `json:"kind"` // the design's word
	Means       string       `json:"means"`
	Do          string       `json:"do"`
	Section     string       `json:"section"`
	Corrections []Correction `json:"corrections"`
}

// Goal is a row of a quick reference: a goal and the parameter for it.
type Goal struct {
	Goal    string   `json:"goal"`
	Use     string   `json:"use"`
	Phases  []string `json:"phases"`
	Section string   `json:"section"`
}

// Compared is a row of a before and after.
type Compared struct {
	Key     string `json:"key"`
	Before  string `json:"before"`
	After   string `json:"after"`
	Effect  string `json:"effect"`
	Section string `json:"section"`
}

// Note is a fact of the document that belongs to no item: a trade-off, an expectation, a way to monitor, a document to
// read.
type Note struct {
	Title       string       `json:"title"`
	Text        string       `json:"text"`
	Syntax      string       `json:"syntax"`
	Snippet     string       `json:"snippet"`
	Phases      []string     `json:"phases"`
	URL         string       `json:"url"`
	Section     string       `json:"section"`
	Corrections []Correction `json:"corrections"`
}

// manualLoaders decode a manual when it is first needed.
var manualLoaders = sync.OnceValue(func() map[string]func() *Manual { return loaders[Manual]("guides/manual") })

// ManualOf returns the manual of a guide, or an empty one. It is shared: do not change it.
func ManualOf(id string) *Manual {
	if load, ok := manualLoaders()[id]; ok {
		return load()
	}
	return &Manual{ID: id}
}

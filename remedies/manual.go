package remedies

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
)

// Manual is what a guide's document tells besides its checklists, in the document's order. Only `oomscan guide` shows
// it: a report decodes no manual.
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

// Sign is a row of a guide's diagnosis: what is seen in which phase, and what it usually comes from.
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
	URL         string       `json:"url"` // where more is told
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

// Goal is a row of a quick reference: what is wanted and which parameter brings it.
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

// Note is a fact of the document that belongs to no item: a trade-off, an expectation, a way to watch, a document to
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

// manualLoaders hold what decodes a manual when it is first asked for.
var manualLoaders = sync.OnceValue(func() map[string]func() (*Manual, error) { return loaders("guides/manual", decodeManual) })

// ManualOf returns the manual of a guide, an empty one when it has none. It is shared: do not change it.
func ManualOf(id string) (*Manual, error) {
	load, ok := manualLoaders()[id]
	if !ok {
		return &Manual{ID: id}, nil
	}
	return load()
}

// decodeManual reads a manual strictly. Errors begin with the file and the line.
func decodeManual(name string, text []byte) (*Manual, error) {
	var m Manual
	if err := decodeText(name, text, &m); err != nil {
		return nil, err
	}
	if f := m.check(strings.TrimSuffix(path.Base(name), ".yaml")); f != nil {
		return nil, fmt.Errorf("%s:%d: %s", name, lineOf(text, f.near), f.what)
	}
	return &m, nil
}

// part is what every part of a manual is checked for.
type part struct {
	kind, name, section, text string
	phases                    []string
	id                        bool // the name begins with the manual's id
	syntax, snippet           string
}

// check returns the first thing wrong with a manual, nil when it is sound.
func (m *Manual) check(id string) *fault {
	if m.ID != id || guideLoaders()[id] == nil {
		return &fault{"id:", fmt.Sprintf("the manual's id is %q, its file says %q, and a guide must have that id", m.ID, id)}
	}
	for _, p := range m.parts() {
		if f := p.check(m.ID); f != nil {
			return f
		}
	}
	for i := range m.Diagnosis {
		d := &m.Diagnosis[i]
		if w := unknownWord(d.Resources, resourceWords); w != "" {
			return &fault{d.Where, fmt.Sprintf("diagnosis %s: unknown resource %q", d.Where, w)}
		}
		for _, item := range d.Items {
			if g := guide(id); g != nil && g.item(item) == nil {
				return &fault{item, fmt.Sprintf("diagnosis %s: there is no item %q", d.Where, item)}
			}
		}
	}
	for i := range m.Parameters {
		if s := badSpelling(m.Parameters[i].Spellings); s != "" {
			return &fault{s, fmt.Sprintf("parameter %s: spelling %q: bad versions or surface", m.Parameters[i].Key, s)}
		}
	}
	for _, x := range m.Messages {
		if !slices.Contains(kindWords, x.Kind) && x.Kind != "illegal_access" {
			return &fault{x.Text, fmt.Sprintf("message %s: unknown kind %q", x.Text, x.Kind)}
		}
	}
	return nil
}

func (m *Manual) parts() []part {
	var out []part
	for _, x := range m.Diagnosis {
		out = append(out, part{kind: "diagnosis", name: x.Where, section: x.Section, text: x.Where, phases: x.Phases})
	}
	for _, x := range m.Parameters {
		out = append(out, part{kind: "parameter", name: x.Key, section: x.Section, text: x.Meaning, phases: x.Phases})
	}
	for _, x := range m.Steps {
		out = append(out, part{kind: "step", name: x.ID, section: x.Section, text: x.Title, phases: x.Phases, id: true, syntax: x.Syntax, snippet: x.Snippet})
	}
	for _, x := range m.Templates {
		out = append(out, part{kind: "template", name: x.ID, section: x.Section, text: x.Title, id: true, syntax: x.Syntax, snippet: x.Snippet})
	}
	for _, x := range m.Messages {
		out = append(out, part{kind: "message", name: x.Text, section: x.Section, text: x.Means})
	}
	for _, x := range m.Goals {
		out = append(out, part{kind: "goal", name: x.Goal, section: x.Section, text: x.Use, phases: x.Phases})
	}
	for _, x := range m.Compared {
		out = append(out, part{kind: "comparison", name: x.Key, section: x.Section, text: x.After})
	}
	for _, x := range m.Notes {
		out = append(out, part{kind: "note", name: x.Title, section: x.Section, text: x.Text + x.Snippet, phases: x.Phases, syntax: x.Syntax, snippet: x.Snippet})
	}
	return out
}

// check checks what a part must have.
func (p *part) check(id string) *fault {
	if p.name == "" || p.section == "" || p.text == "" {
		return &fault{p.name, fmt.Sprintf("%s %q: needs a name, a text and the document's section", p.kind, p.name)}
	}
	if w := unknownWord(p.phases, phaseWords); w != "" {
		return &fault{p.name, fmt.Sprintf("%s %s: unknown phase %q", p.kind, p.name, w)}
	}
	if p.id && !strings.HasPrefix(p.name, id+".") {
		return &fault{p.name, fmt.Sprintf("%s %q: without the prefix %q", p.kind, p.name, id+".")}
	}
	if p.snippet != "" && !slices.Contains(surfaces, p.syntax) {
		return &fault{p.name, fmt.Sprintf("%s %s: unknown syntax %q", p.kind, p.name, p.syntax)}
	}
	return nil
}

// badSpelling returns the first spelling with versions or a surface that nothing answers to.
func badSpelling(list []Spelling) string {
	for _, s := range list {
		if _, ok := versionIn("1.0", s.Versions); !ok && s.Versions != "" || s.Surface != "" && !slices.Contains(surfaces, s.Surface) {
			return s.Key
		}
	}
	return ""
}

package remedies

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"
)

// Manual is what a guide's document tells besides its checklists, in the document's order. Only `oomscan guide` shows
// it: a report decodes no manual.
type Manual struct {
	ID         string      `yaml:"id" json:"id"` // the guide's
	Diagnosis  []Sign      `yaml:"diagnosis" json:"diagnosis"`
	Parameters []Explained `yaml:"parameters" json:"parameters"`
	Steps      []Step      `yaml:"steps" json:"steps"`
	Templates  []Template  `yaml:"templates" json:"templates"`
	Messages   []Message   `yaml:"messages" json:"messages"`
	Goals      []Goal      `yaml:"goals" json:"goals"`
	Compared   []Compared  `yaml:"compared" json:"compared"`
	Notes      []Note      `yaml:"notes" json:"notes"`
}

// Sign is a row of a guide's diagnosis: what is seen in which phase, and what it usually comes from.
type Sign struct {
	Where     string   `yaml:"where" json:"where"`         // the phase in the guide's words
	Phases    []string `yaml:"phases" json:"phases"`       // the same in the design's
	Resources []string `yaml:"resources" json:"resources"` // gpu when empty
	Symptom   string   `yaml:"symptom" json:"symptom"`
	Cause     string   `yaml:"cause" json:"cause"`
	First     string   `yaml:"first" json:"first"` // what the guide does first
	Items     []string `yaml:"items" json:"items"` // ids of the items that First speaks of
	Section   string   `yaml:"section" json:"section"`
}

// Explained is a parameter that a guide explains.
type Explained struct {
	Key         string       `yaml:"key" json:"key"`
	Spellings   []Spelling   `yaml:"spellings" json:"spellings"`
	Meaning     string       `yaml:"meaning" json:"meaning"`
	Constraint  string       `yaml:"constraint" json:"constraint"`
	Phases      []string     `yaml:"phases" json:"phases"` // in which it counts; any when empty
	Section     string       `yaml:"section" json:"section"`
	URL         string       `yaml:"url" json:"url"` // where more is told
	Corrections []Correction `yaml:"corrections" json:"corrections"`
}

// Step is a way to find out more: a snapshot, a profiler, a check.
type Step struct {
	ID          string       `yaml:"id" json:"id"`
	Title       string       `yaml:"title" json:"title"` // imperative
	Detail      string       `yaml:"detail" json:"detail"`
	Caution     string       `yaml:"caution" json:"caution"`
	Phases      []string     `yaml:"phases" json:"phases"`
	Syntax      string       `yaml:"syntax" json:"syntax"`   // of Snippet: one of the surfaces
	Snippet     string       `yaml:"snippet" json:"snippet"` // what works in the versions of today
	Section     string       `yaml:"section" json:"section"`
	Corrections []Correction `yaml:"corrections" json:"corrections"`
}

// Template is a configuration for a kind of machine.
type Template struct {
	ID          string       `yaml:"id" json:"id"`
	Title       string       `yaml:"title" json:"title"`
	Detail      string       `yaml:"detail" json:"detail"`
	Syntax      string       `yaml:"syntax" json:"syntax"`
	Snippet     string       `yaml:"snippet" json:"snippet"` // the document's settings, with keys that exist
	Section     string       `yaml:"section" json:"section"`
	Corrections []Correction `yaml:"corrections" json:"corrections"`
}

// Message is a message that a guide explains.
type Message struct {
	Text        string       `yaml:"text" json:"text"` // what a program prints
	Kind        string       `yaml:"kind" json:"kind"` // the design's word
	Means       string       `yaml:"means" json:"means"`
	Do          string       `yaml:"do" json:"do"`
	Section     string       `yaml:"section" json:"section"`
	Corrections []Correction `yaml:"corrections" json:"corrections"`
}

// Goal is a row of a quick reference: what is wanted and which parameter brings it.
type Goal struct {
	Goal    string   `yaml:"goal" json:"goal"`
	Use     string   `yaml:"use" json:"use"`
	Phases  []string `yaml:"phases" json:"phases"`
	Section string   `yaml:"section" json:"section"`
}

// Compared is a row of a before and after.
type Compared struct {
	Key     string `yaml:"key" json:"key"`
	Before  string `yaml:"before" json:"before"`
	After   string `yaml:"after" json:"after"`
	Effect  string `yaml:"effect" json:"effect"`
	Section string `yaml:"section" json:"section"`
}

// Note is a fact of the document that belongs to no item: a trade-off, an expectation, a way to watch, a document to
// read.
type Note struct {
	Title       string       `yaml:"title" json:"title"`
	Text        string       `yaml:"text" json:"text"`
	Syntax      string       `yaml:"syntax" json:"syntax"`
	Snippet     string       `yaml:"snippet" json:"snippet"`
	Phases      []string     `yaml:"phases" json:"phases"`
	URL         string       `yaml:"url" json:"url"`
	Section     string       `yaml:"section" json:"section"`
	Corrections []Correction `yaml:"corrections" json:"corrections"`
}

// manuals holds a loader per manual.
var manuals = sync.OnceValue(func() map[string]func() (*Manual, error) { return loaders("guides/manual", decodeManual) })

// ManualOf returns the manual of a guide, an empty one when it has none. It is shared: do not change it.
func ManualOf(id string) (*Manual, error) {
	load, ok := manuals()[id]
	if !ok {
		return &Manual{ID: id}, nil
	}
	return load()
}

// decodeManual reads a manual strictly. Errors begin with the file and the line.
func decodeManual(name string, text []byte) (*Manual, error) {
	var m Manual
	if err := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(&m); err != nil {
		return nil, located(name, err)
	}
	if f := m.check(strings.TrimSuffix(path.Base(name), ".yaml")); f != nil {
		return nil, fmt.Errorf("%s:%d: %s", name, lineOf(text, f.near), f.what)
	}
	return &m, nil
}

// check returns the first thing wrong with a manual, nil when it is sound.
func (m *Manual) check(id string) *fault {
	if m.ID != id || shelf()[id] == nil {
		return &fault{"id:", fmt.Sprintf("the manual's id is %q, its file says %q, and a guide must have that id", m.ID, id)}
	}
	for i := range m.Diagnosis {
		d := &m.Diagnosis[i]
		if f := wanted("diagnosis", d.Where, d.Section, d.Phases, d.Where); f != nil {
			return f
		}
		if w := unknownWord(d.Resources, resourceWords); w != "" {
			return &fault{d.Where, fmt.Sprintf("diagnosis %s: unknown resource %q", d.Where, w)}
		}
		if g := guide(id); g != nil {
			for _, item := range d.Items {
				if g.item(item) == nil {
					return &fault{item, fmt.Sprintf("diagnosis %s: there is no item %q", d.Where, item)}
				}
			}
		}
	}
	for i := range m.Parameters {
		p := &m.Parameters[i]
		if f := wanted("parameter", p.Key, p.Section, p.Phases, p.Meaning); f != nil {
			return f
		}
		if s := badSpelling(p.Spellings); s != "" {
			return &fault{s, fmt.Sprintf("parameter %s: spelling %q: bad versions or surface", p.Key, s)}
		}
	}
	for i := range m.Steps {
		s := &m.Steps[i]
		if f := wanted("step", s.ID, s.Section, s.Phases, s.Title); f != nil {
			return f
		}
		if f := m.named("step", s.ID, s.Syntax, s.Snippet); f != nil {
			return f
		}
	}
	for i := range m.Templates {
		t := &m.Templates[i]
		if f := wanted("template", t.ID, t.Section, nil, t.Title); f != nil {
			return f
		}
		if f := m.named("template", t.ID, t.Syntax, t.Snippet); f != nil {
			return f
		}
	}
	for i := range m.Messages {
		x := &m.Messages[i]
		if f := wanted("message", x.Text, x.Section, nil, x.Means); f != nil {
			return f
		}
		if !slices.Contains(kindWords, x.Kind) && x.Kind != "illegal_access" {
			return &fault{x.Text, fmt.Sprintf("message %s: unknown kind %q", x.Text, x.Kind)}
		}
	}
	for i := range m.Goals {
		if f := wanted("goal", m.Goals[i].Goal, m.Goals[i].Section, m.Goals[i].Phases, m.Goals[i].Use); f != nil {
			return f
		}
	}
	for i := range m.Compared {
		if f := wanted("comparison", m.Compared[i].Key, m.Compared[i].Section, nil, m.Compared[i].After); f != nil {
			return f
		}
	}
	for i := range m.Notes {
		n := &m.Notes[i]
		if f := wanted("note", n.Title, n.Section, n.Phases, n.Text+n.Snippet); f != nil {
			return f
		}
		if n.Snippet != "" && !slices.Contains(surfaces, n.Syntax) {
			return &fault{n.Title, fmt.Sprintf("note %s: unknown syntax %q", n.Title, n.Syntax)}
		}
	}
	return nil
}

// wanted checks what every part of a manual must have.
func wanted(part, name, section string, phases []string, text string) *fault {
	if name == "" || section == "" || text == "" {
		return &fault{name, fmt.Sprintf("%s %q: needs a name, a text and the document's section", part, name)}
	}
	if w := unknownWord(phases, phaseWords); w != "" {
		return &fault{name, fmt.Sprintf("%s %s: unknown phase %q", part, name, w)}
	}
	return nil
}

// named checks what has an id and a snippet.
func (m *Manual) named(part, id, syntax, snippet string) *fault {
	if !strings.HasPrefix(id, m.ID+".") {
		return &fault{id, fmt.Sprintf("%s %q: without the prefix %q", part, id, m.ID+".")}
	}
	if snippet != "" && !slices.Contains(surfaces, syntax) {
		return &fault{id, fmt.Sprintf("%s %s: unknown syntax %q", part, id, syntax)}
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

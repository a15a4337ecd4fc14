package remedies

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// Guide is one source of advice: a framework's own out-of-memory guide, or a short list from a program's official
// documents.
type Guide struct {
	ID        string `yaml:"id"`   // name of its file: "verl"
	Name      string `yaml:"name"` // of the framework or program, for headings
	Title     string `yaml:"title"`
	Date      string `yaml:"date"` // of the document; empty when it has none
	URL       string `yaml:"url"`  // empty when it has no public address
	Framework string `yaml:"framework"`
	// Document is true for guides that a checklist names as its source, false for lists compiled from several official
	// documents.
	Document bool `yaml:"document"`
	// Seen names the programs and versions in which the parameters were looked up, unless a parameter has its own.
	Seen  string `yaml:"seen"`
	Note  string `yaml:"note"`
	Lists []List `yaml:"lists"`
	Items []Item `yaml:"items"`
}

// List is a checklist for some failures. The order of Items is the guide's.
type List struct {
	ID      string `yaml:"id"`
	Heading string `yaml:"heading"` // "verl, backward pass"
	// General lists follow the list of the phase, without items that it has already.
	General bool `yaml:"general"`
	// Phases, Resources and Kinds hold design words; an empty Phases or Kinds means any. A list that names a kind
	// replaces those that name none.
	Phases    []string `yaml:"phases"`
	Resources []string `yaml:"resources"`
	Kinds     []string `yaml:"kinds"`
	When      []string `yaml:"when"` // conditions that must not be denied
	Items     []string `yaml:"items"`
}

// Item is one piece of advice.
type Item struct {
	ID      string `yaml:"id"`
	Title   string `yaml:"title"` // imperative
	Detail  string `yaml:"detail"`
	Why     string `yaml:"why"`
	Caution string `yaml:"caution"`
	// CautionOnly lists conditions. A report prints the caution if one of them is confirmed, or if there are none.
	CautionOnly []string `yaml:"caution_only"`
	Section     string   `yaml:"section"` // of the document
	URL         string   `yaml:"url"`     // the guide's when empty
	// Addition marks items that are not in the document but come from a later version of it or from the program's
	// source.
	Addition bool `yaml:"addition"`
	// Topic is equal for equivalent items of different guides: only the first is listed.
	Topic string `yaml:"topic"`
	// Effect is how it helps: shrinks (the request itself gets smaller), frees (others give memory back), host
	// (only host memory), diagnose (only shows more). Empty: not known.
	Effect string `yaml:"effect"`
	// LastResort items cost more than they gain, or change the task, so they are never what to start with.
	LastResort bool        `yaml:"last_resort"`
	Resources  []string    `yaml:"resources"` // gpu when empty
	Phases     []string    `yaml:"phases"`    // in which it acts; any when empty
	Parameters []Parameter `yaml:"parameters"`
	// Example is ready to paste, with current keys, for items that need more than their parameters' values.
	Example *Example `yaml:"example"`
	// Only lists conditions. A report lists the item only if one of them is confirmed.
	Only []string `yaml:"only"`
	// Requires lists conditions without which the item cannot help. Supports lists facts in its favor. SatisfiedWhen lists
	// conditions under which the run has it already.
	Requires      []string     `yaml:"requires"`
	Supports      []string     `yaml:"supports"`
	SatisfiedWhen []string     `yaml:"satisfied_when"`
	Corrections   []Correction `yaml:"corrections"`
}

// Example is a piece of configuration, code or command.
type Example struct {
	Syntax string `yaml:"syntax"` // one of the surfaces
	Text   string `yaml:"text"`
}

// Parameter is one setting that an item changes.
type Parameter struct {
	Key       string     `yaml:"key"`     // its canonical name today
	Surface   string     `yaml:"surface"` // hydra, yaml, flag, python, env, sbatch, shell
	Spellings []Spelling `yaml:"spellings"`
	Default   string     `yaml:"default"`
	Direction string     `yaml:"direction"` // up, down, set
	Value     string     `yaml:"value"`     // the guide's own value
	Next      string     `yaml:"next"`      // name of the rule that computes the next value; empty: Value
	Min       string     `yaml:"min"`
	Max       string     `yaml:"max"`
	When      []string   `yaml:"when"`  // conditions that must not be denied
	Only      []string   `yaml:"only"`  // conditions that must be confirmed
	Found     bool       `yaml:"found"` // listed only when the run's configuration holds it
	Plus      bool       `yaml:"plus"`  // Hydra: not in the schema, so an override needs a plus sign
	Source    string     `yaml:"source"`
	Seen      string     `yaml:"seen"` // versions that spell it so, where the guide's own do not all
	namesake  bool       // another parameter of the guide ends in the same word
}

// Spelling is another name of a parameter.
type Spelling struct {
	Key      string `json:"key"`
	Versions string `json:"versions"` // of the framework: "<=0.7", ">=0.5 <0.7"; empty: unknown
	Surface  string `json:"surface"`  // the parameter's when empty
	Read     bool   `json:"read"`     // only read values from it, never advise it
}

// Correction is a wrong statement of the guide.
type Correction struct {
	ID       string `json:"id"` // C1 ...
	Says     string `json:"says"`
	Is       string `json:"is"`
	Versions string `json:"versions"`
}

//go:embed guides/*.yaml guides/manual/*.yaml guides/fixes/*.yaml
var files embed.FS

// Guides returns all guides, in the order of their ids, followed by the user's own. The built-in ones are decoded once and
// shared: do not change them.
func Guides(own ...Guide) []Guide {
	var all []Guide
	for _, id := range slices.Sorted(maps.Keys(guideLoaders())) {
		all = append(all, *guide(id))
	}
	return append(all, own...)
}

// guideLoaders decode a guide when it is first needed: a report needs only a few of them.
var guideLoaders = sync.OnceValue(func() map[string]func() *Guide { return loaders[Guide]("guides") })

// fixes returns the items against causes for which no list has one.
func fixes() *Guide { return fixLoaders()["causes"]() }

var fixLoaders = sync.OnceValue(func() map[string]func() *Guide { return loaders[Guide]("guides/fixes") })

// loaders returns a decoder for each YAML file in an embedded folder. A file that does not decode is a mistake in this
// repository, and a panic: without its guide a report would be silently wrong.
func loaders[T any](dir string) map[string]func() *T {
	names, err := fs.Glob(files, dir+"/*.yaml")
	if err != nil {
		panic(err)
	}
	m := make(map[string]func() *T, len(names))
	for _, name := range names {
		m[idOf(name)] = sync.OnceValue(func() *T {
			text, err := files.ReadFile(name)
			var v T
			if err = cmp.Or(err, decodeYAML(name, text, &v)); err != nil {
				panic(err)
			}
			return &v
		})
	}
	return m
}

// idOf returns the id of the guide or manual in a file.
func idOf(file string) string { return strings.TrimSuffix(path.Base(file), ".yaml") }

// guide returns a built-in guide, or nil if there is none of that id.
func guide(id string) *Guide {
	if load, ok := guideLoaders()[id]; ok {
		return load()
	}
	return nil
}

var (
	yamlLine     = regexp.MustCompile(`^(?:unmarshal errors:\n +)?line (\d+): `)
	unknownField = regexp.MustCompile(`field (\S+) not found in type \S+`)
)

// decodeYAML reads the YAML of a guide or a manual strictly. Errors begin with the file and the line.
func decodeYAML(name string, text []byte, to any) error {
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	err := d.Decode(to)
	switch {
	case errors.Is(err, io.EOF):
		err = errors.New("the file is empty")
	case err == nil:
		if d.Decode(&yaml.Node{}) == nil {
			return fmt.Errorf("%s: more than one document", name)
		}
		if g, ok := to.(*Guide); ok {
			g.findNamesakes()
		}
		return nil
	}
	line, what := "1", strings.TrimPrefix(err.Error(), "yaml: ")
	if at := yamlLine.FindStringSubmatchIndex(what); at != nil {
		line, what = what[at[2]:at[3]], what[at[1]:]
	}
	what, _, _ = strings.Cut(what, "\n") // the first of several mistakes
	return fmt.Errorf("%s:%s: %s", name, line, unknownField.ReplaceAllString(what, `unknown field "$1"`))
}

// findNamesakes marks the parameters whose names end in the same word as another one's.
func (g *Guide) findNamesakes() {
	keys := map[string]string{}
	others := map[string]bool{} // words at the end of several keys
	for _, it := range g.Items {
		for _, p := range it.Parameters {
			last := lastWord(p.Key)
			if first, ok := keys[last]; ok && first != p.Key {
				others[last] = true
			}
			keys[last] = p.Key
		}
	}
	for _, it := range g.Items {
		for i := range it.Parameters {
			p := &it.Parameters[i]
			p.namesake = others[lastWord(p.Key)]
		}
	}
}

// lineOf returns the 1-based line of the first occurrence of a text, or 1 if there is none.
func lineOf(text []byte, near string) int {
	i := bytes.Index(text, []byte(near))
	if near == "" || i < 0 {
		return 1
	}
	return 1 + bytes.Count(text[:i], []byte("\n"))
}

// item returns an item by its id.
func (g *Guide) item(id string) *Item {
	for i := range g.Items {
		if g.Items[i].ID == id {
			return &g.Items[i]
		}
	}
	return nil
}

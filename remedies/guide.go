package remedies

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"
)

// Guide is one source of advice: a framework's own out-of-memory guide, or a short list of what the official
// documents of a program say.
type Guide struct {
	ID        string `yaml:"id"`   // name of its file: "verl"
	Name      string `yaml:"name"` // of the framework or program, for headings
	Title     string `yaml:"title"`
	Date      string `yaml:"date"` // of the document; empty when it has none
	URL       string `yaml:"url"`  // empty when it has no public address
	Framework string `yaml:"framework"`
	// Document says that this is one of the guides that a checklist names as its source, not a list made of several
	// official documents.
	Document bool `yaml:"document"`
	// Seen says in which versions of which programs the parameters were looked up, unless a parameter says it itself.
	Seen  string `yaml:"seen"`
	Note  string `yaml:"note"`
	Lists []List `yaml:"lists"`
	Items []Item `yaml:"items"`
}

// List is a checklist for some failures. The order of Items is the guide's.
type List struct {
	ID      string `yaml:"id"`
	Heading string `yaml:"heading"` // "verl, backward pass"
	// General lists follow the list of the phase, without the items that were already there.
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
	Section string `yaml:"section"` // of the document
	URL     string `yaml:"url"`     // the guide's when empty
	// Addition marks what the document itself does not say: it comes from a later version of it, or from the
	// program's source.
	Addition bool `yaml:"addition"`
	// Topic is the same for items of different guides that say the same: only the first is listed.
	Topic string `yaml:"topic"`
	// Effect is how it helps: shrinks (the request itself gets smaller), frees (others give memory back), host
	// (only host memory), diagnose (only tells more). Empty: not known.
	Effect string `yaml:"effect"`
	// LastResort items cost more than they bring, or change the task: nobody starts with them.
	LastResort bool        `yaml:"last_resort"`
	Resources  []string    `yaml:"resources"` // gpu when empty
	Phases     []string    `yaml:"phases"`    // in which it acts; any when empty
	Parameters []Parameter `yaml:"parameters"`
	// Example is ready to paste where the parameters' own values do not say it all, with the keys of today.
	Example *Example `yaml:"example"`
	// Only are conditions of which one must be confirmed for a report to list the item.
	Only []string `yaml:"only"`
	// Requires are conditions without which the item cannot help; Supports are facts that speak for it; SatisfiedWhen
	// says that the run has it already.
	Requires      []string     `yaml:"requires"`
	Supports      []string     `yaml:"supports"`
	SatisfiedWhen []string     `yaml:"satisfied_when"`
	Corrections   []Correction `yaml:"corrections"`
}

// Example is a piece of configuration, code or command.
type Example struct {
	Syntax string `yaml:"syntax" json:"syntax"` // one of the surfaces
	Text   string `yaml:"text" json:"text"`
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
}

// Spelling is another name of a parameter.
type Spelling struct {
	Key      string `yaml:"key" json:"key"`
	Versions string `yaml:"versions" json:"versions"` // of the framework: "<=0.7", ">=0.5 <0.7"; empty: unknown
	Surface  string `yaml:"surface" json:"surface"`   // the parameter's when empty
	Read     bool   `yaml:"read" json:"read"`         // only read values from it, never advise it
}

// Correction is a statement of the guide that does not hold.
type Correction struct {
	ID       string `yaml:"id" json:"id"` // C1 ...
	Says     string `yaml:"says" json:"says"`
	Is       string `yaml:"is" json:"is"`
	Versions string `yaml:"versions" json:"versions"`
}

//go:embed guides/*.yaml guides/manual/*.yaml
var files embed.FS

// Guides returns all guides, in the order of their ids. They are decoded once and shared: do not change them.
func Guides() ([]Guide, error) { return all() }

var all = sync.OnceValues(func() ([]Guide, error) {
	names := make([]string, 0, len(shelf()))
	for id := range shelf() {
		names = append(names, id)
	}
	slices.Sort(names)
	out := make([]Guide, 0, len(names))
	for _, id := range names {
		g, err := shelf()[id]()
		if err != nil {
			return nil, err
		}
		out = append(out, *g)
	}
	return out, nil
})

// shelf holds a loader per guide: a report needs a few of them, and decoding all takes longer than a small scan.
var shelf = sync.OnceValue(func() map[string]func() (*Guide, error) { return loaders("guides", ready) })

// loaders returns, for each YAML file of an embedded folder, what decodes it when it is first asked for.
func loaders[T any](dir string, decode func(name string, text []byte) (*T, error)) map[string]func() (*T, error) {
	entries, err := files.ReadDir(dir)
	if err != nil {
		panic(err) // the folder is embedded
	}
	m := make(map[string]func() (*T, error), len(entries))
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), ".yaml")
		if !ok {
			continue // a folder
		}
		m[id] = sync.OnceValues(func() (*T, error) {
			name := path.Join(dir, e.Name())
			text, err := files.ReadFile(name)
			if err != nil {
				return nil, err
			}
			return decode(name, text)
		})
	}
	return m
}

// guide returns one guide, nil when it does not exist or does not decode. The tests decode all of them, so a report
// never meets the latter.
func guide(id string) *Guide {
	load, ok := shelf()[id]
	if !ok {
		return nil
	}
	g, err := load()
	if err != nil {
		return nil
	}
	return g
}

// decode reads a guide strictly: unknown and doubled keys are errors, and so are names that nothing answers to. Errors
// begin with the file and the line.
func decode(name string, text []byte) (*Guide, error) {
	var g Guide
	if err := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(&g); err != nil {
		return nil, located(name, err)
	}
	if f := g.check(strings.TrimSuffix(path.Base(name), ".yaml")); f != nil {
		return nil, fmt.Errorf("%s:%d: %s", name, lineOf(text, f.near), f.what)
	}
	return &g, nil
}

// located is a decoder's error behind the file and the line it is about.
func located(name string, err error) error {
	var e yaml.Error
	if errors.As(err, &e) && e.GetToken() != nil && e.GetToken().Position != nil {
		return fmt.Errorf("%s:%d: %s", name, e.GetToken().Position.Line, e.GetMessage())
	}
	return fmt.Errorf("%s: %w", name, err)
}

// lineOf is the 1-based line of the first mention of a text; 1 when there is none.
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

package remedies

import (
	"bytes"
	"embed"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
)

// Guide is one source of advice: a framework's own out-of-memory guide, or a short list of what the official
// documents of a program say.
type Guide struct {
	ID        string `json:"id"`   // name of its file: "verl"
	Name      string `json:"name"` // of the framework or program, for headings
	Title     string `json:"title"`
	Date      string `json:"date"` // of the document; empty when it has none
	URL       string `json:"url"`  // empty when it has no public address
	Framework string `json:"framework"`
	// Document says that this is one of the guides that a checklist names as its source, not a list made of several
	// official documents.
	Document bool `json:"document"`
	// Seen says in which versions of which programs the parameters were looked up, unless a parameter says it itself.
	Seen  string `json:"seen"`
	Note  string `json:"note"`
	Lists []List `json:"lists"`
	Items []Item `json:"items"`
}

// List is a checklist for some failures. The order of Items is the guide's.
type List struct {
	ID      string `json:"id"`
	Heading string `json:"heading"` // "verl, backward pass"
	// General lists follow the list of the phase, without the items that were already there.
	General bool `json:"general"`
	// Phases, Resources and Kinds hold design words; an empty Phases or Kinds means any. A list that names a kind
	// replaces those that name none.
	Phases    []string `json:"phases"`
	Resources []string `json:"resources"`
	Kinds     []string `json:"kinds"`
	When      []string `json:"when"` // conditions that must not be denied
	Items     []string `json:"items"`
}

// Item is one piece of advice.
type Item struct {
	ID      string `json:"id"`
	Title   string `json:"title"` // imperative
	Detail  string `json:"detail"`
	Why     string `json:"why"`
	Caution string `json:"caution"`
	// CautionOnly are conditions of which one must be confirmed for a report to print the caution; none: always.
	CautionOnly []string `json:"caution_only"`
	Section     string   `json:"section"` // of the document
	URL         string   `json:"url"`     // the guide's when empty
	// Addition marks what the document itself does not say: it comes from a later version of it, or from the
	// program's source.
	Addition bool `json:"addition"`
	// Topic is the same for items of different guides that say the same: only the first is listed.
	Topic string `json:"topic"`
	// Effect is how it helps: shrinks (the request itself gets smaller), frees (others give memory back), host
	// (only host memory), diagnose (only tells more). Empty: not known.
	Effect string `json:"effect"`
	// LastResort items cost more than they bring, or change the task: nobody starts with them.
	LastResort bool        `json:"last_resort"`
	Resources  []string    `json:"resources"` // gpu when empty
	Phases     []string    `json:"phases"`    // in which it acts; any when empty
	Parameters []Parameter `json:"parameters"`
	// Example is ready to paste where the parameters' own values do not say it all, with the keys of today.
	Example *Example `json:"example"`
	// Only are conditions of which one must be confirmed for a report to list the item.
	Only []string `json:"only"`
	// Requires are conditions without which the item cannot help; Supports are facts that speak for it; SatisfiedWhen
	// says that the run has it already.
	Requires      []string     `json:"requires"`
	Supports      []string     `json:"supports"`
	SatisfiedWhen []string     `json:"satisfied_when"`
	Corrections   []Correction `json:"corrections"`
}

// Example is a piece of configuration, code or command.
type Example struct {
	Syntax string `json:"syntax"` // one of the surfaces
	Text   string `json:"text"`
}

// Parameter is one setting that an item changes.
type Parameter struct {
	Key       string     `json:"key"`     // its canonical name today
	Surface   string     `json:"surface"` // hydra, yaml, flag, python, env, sbatch, shell
	Spellings []Spelling `json:"spellings"`
	Default   string     `json:"default"`
	Direction string     `json:"direction"` // up, down, set
	Value     string     `json:"value"`     // the guide's own value
	Next      string     `json:"next"`      // name of the rule that computes the next value; empty: Value
	Min       string     `json:"min"`
	Max       string     `json:"max"`
	When      []string   `json:"when"`  // conditions that must not be denied
	Only      []string   `json:"only"`  // conditions that must be confirmed
	Found     bool       `json:"found"` // listed only when the run's configuration holds it
	Plus      bool       `json:"plus"`  // Hydra: not in the schema, so an override needs a plus sign
	Source    string     `json:"source"`
	Seen      string     `json:"seen"` // versions that spell it so, where the guide's own do not all
}

// Spelling is another name of a parameter.
type Spelling struct {
	Key      string `json:"key"`
	Versions string `json:"versions"` // of the framework: "<=0.7", ">=0.5 <0.7"; empty: unknown
	Surface  string `json:"surface"`  // the parameter's when empty
	Read     bool   `json:"read"`     // only read values from it, never advise it
}

// Correction is a statement of the guide that does not hold.
type Correction struct {
	ID       string `json:"id"` // C1 ...
	Says     string `json:"says"`
	Is       string `json:"is"`
	Versions string `json:"versions"`
}

//go:embed guides/*.yaml guides/manual/*.yaml guides/fixes/*.yaml
var files embed.FS

// Guides returns all guides, in the order of their ids, and behind them the user's own. The built-in ones are decoded once and
// shared: do not change them.
func Guides(own ...Guide) ([]Guide, error) {
	all, err := allGuides()
	return slices.Concat(all, own), err
}

var allGuides = sync.OnceValues(func() ([]Guide, error) {
	var out []Guide
	for _, id := range slices.Sorted(maps.Keys(guideLoaders())) {
		g, err := guideLoaders()[id]()
		if err != nil {
			return nil, err
		}
		out = append(out, *g)
	}
	return out, nil
})

// guideLoaders hold what decodes a guide when it is first asked for: a report needs a few of them.
var guideLoaders = sync.OnceValue(func() map[string]func() (*Guide, error) { return loaders[Guide]("guides") })

// fixes are the items that attack a cause where no list has one.
var fixes = sync.OnceValues(func() (*Guide, error) { return loaders[Guide]("guides/fixes")["causes"]() })

// loaders returns, for each YAML file of an embedded folder, what decodes it when it is first asked for.
func loaders[T any](dir string) map[string]func() (*T, error) {
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
			var v T
			return &v, decodeText(name, text, &v)
		})
	}
	return m
}

// guide returns one guide, nil when it does not exist or does not decode. The tests decode all of them, so a report
// never meets the latter.
func guide(id string) *Guide {
	load, ok := guideLoaders()[id]
	if !ok {
		return nil
	}
	g, err := load()
	if err != nil {
		return nil
	}
	return g
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

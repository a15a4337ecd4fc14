package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// guideDocuments names the guides that were written from a document, and how that document's file name begins.
var guideDocuments = map[string]string{"areal": "000_", "areal-early": "001_", "verl": "002_", "relax": "003_", "field-note": "004_"}

// The words that --phase and --resource take; empty: a fact that is tied to none.
var (
	factPhases = []string{
		"", "init", "rollout", "logprob", "forward", "backward", "optimizer", "training", "weight_update", "nccl", "checkpoint", "data",
	}
	factResources = []string{"", "gpu", "host", "shm"}
)

// factTable is testdata/facts/NAME.yaml: what the document of a guide says, written from the document alone and never
// from our data, so that neither can repeat a gap of the other.
type factTable struct {
	Facts  []fact      `yaml:"facts"`
	Orders []factOrder `yaml:"orders"`
}

// fact is one parameter, value, default, warning, prerequisite, command, link or table row. `oomscan guide NAME --phase
// Phase --resource Resource` must hold every term, and so must the whole guide. A term is a name or a figure as the
// document prints it, or the one word of a warning that no right rewording can do without; "a|b" are alternatives, and
// "=a" is a only where it is no part of a longer name. "key: value" is found as a line of a snippet, as key=value, as
// a parameter with its value, and with the key's path where a snippet nests it.
type fact struct {
	Section  string   `yaml:"section"`
	Phase    string   `yaml:"phase"`
	Resource string   `yaml:"resource"`
	Terms    []string `yaml:"terms"`
	Order    int      `yaml:"order"` // the item's place in the document's list of that section; 0: it is in none
}

// factOrder is one ordered list of the document: a term of each of its items, in the document's order. Some list of
// the output must hold all of them without going back. In names another part of the output ("diagnosis", "steps",
// "goals" ...) for the tables that are no checklist; empty: one of the "lists".
type factOrder struct {
	Heading    string   `yaml:"heading"`
	Phase      string   `yaml:"phase"`
	Resource   string   `yaml:"resource"`
	In         string   `yaml:"in"`
	FirstTerms []string `yaml:"first_terms"`
}

// TestGuidesTellEveryFactOfTheirDocument asks the program as a user would, for each phase and resource of the tables.
func TestGuidesTellEveryFactOfTheirDocument(t *testing.T) {
	t.Parallel()
	for guide := range guideDocuments {
		table := readFacts(t, guide)
		for _, q := range table.questions() {
			t.Run(strings.Join(q.args(guide), " "), func(t *testing.T) {
				t.Parallel()
				text := askGuide(t, guide, q).words()
				for _, f := range table.Facts {
					if whole := q == (question{}); !whole && (f.Phase != q.phase || f.Resource != q.resource) {
						continue
					}
					for _, term := range f.Terms {
						assert.True(t, holds(text, term), "%q of the section %q is not told (fact %q)", term, f.Section, f.Terms)
					}
				}
			})
		}
	}
}

// TestGuidesKeepTheOrderOfTheirDocument looks for each ordered list of the documents.
func TestGuidesKeepTheOrderOfTheirDocument(t *testing.T) {
	t.Parallel()
	for guide := range guideDocuments {
		for _, o := range readFacts(t, guide).Orders {
			q := question{o.Phase, o.Resource}
			t.Run(strings.Join(q.args(guide), " ")+" "+o.Heading+" "+o.In, func(t *testing.T) {
				t.Parallel()
				var tried []string
				for _, list := range askGuide(t, guide, q).sequences(o.In) {
					why := outOfOrder(list, o.FirstTerms, o.In != "")
					if why == "" {
						return
					}
					tried = append(tried, why)
				}
				t.Errorf("no list has %q in this order; each list and why not:\n%s", o.FirstTerms, strings.Join(tried, "\n"))
			})
		}
	}
}

// TestFactTablesAreWellFormed keeps a slip in a table from passing for a fact.
func TestFactTablesAreWellFormed(t *testing.T) {
	t.Parallel()
	for guide := range guideDocuments {
		table := readFacts(t, guide)
		longest := map[string]int{}
		for _, o := range table.Orders {
			longest[o.Heading] = max(longest[o.Heading], len(o.FirstTerms))
			assert.Contains(t, factPhases, o.Phase, "%s: %s", guide, o.Heading)
			assert.Contains(t, factResources, o.Resource, "%s: %s", guide, o.Heading)
			assert.Greater(t, len(o.FirstTerms), 1, "%s: %s: one item has no order", guide, o.Heading)
		}
		for _, f := range table.Facts {
			assert.NotEmpty(t, f.Section, "%s: %q", guide, f.Terms)
			assert.NotEmpty(t, f.Terms, "%s: %s", guide, f.Section)
			assert.Contains(t, factPhases, f.Phase, "%s: %q", guide, f.Terms)
			assert.Contains(t, factResources, f.Resource, "%s: %q", guide, f.Terms)
			assert.LessOrEqual(t, f.Order, longest[f.Section], "%s: %q stands at a place that the order of %q does not have", guide, f.Terms, f.Section)
			for _, term := range f.Terms {
				for alternative := range strings.SplitSeq(term, "|") {
					assert.NotEmpty(t, folded(strings.TrimPrefix(alternative, "=")), "%s: %q: an empty alternative is found everywhere", guide, term)
				}
			}
		}
	}
}

// TestFactsAreInTheirDocuments holds every term and every order against the document itself. The documents are not
// ours to hand on, so they are not in the repository: OOMSCAN_GUIDES names a folder that has them (000_*.txt areal,
// 001_*.txt areal-early, 002_*.txt verl, 003_*.txt relax, 004_*.txt field-note), and without it the test is skipped.
func TestFactsAreInTheirDocuments(t *testing.T) {
	t.Parallel()
	for guide := range guideDocuments {
		doc := readDocument(t, guide)
		text := folded(doc) + " " + folded(dotted(doc))
		table := readFacts(t, guide)
		for _, f := range table.Facts {
			for _, term := range f.Terms {
				assert.True(t, holds(text, term), "%s: %q (%s) is not in the document", guide, term, f.Section)
			}
		}
		for _, o := range table.Orders {
			for _, term := range o.FirstTerms {
				assert.True(t, holds(text, term), "%s: %q (%s) is not in the document", guide, term, o.Heading)
			}
		}
	}
}

// TestNoSentenceOfAGuideIsCopied: facts carry over, sentences do not. No string of the output with more than eight
// words has eight words in a row that the document has in a row. Snippets are exempt: a command has one spelling.
// It reads the documents from the folder that OOMSCAN_GUIDES names, and is skipped without it.
func TestNoSentenceOfAGuideIsCopied(t *testing.T) {
	t.Parallel()
	for guide := range guideDocuments {
		runs := runsOf(readDocument(t, guide))
		t.Run(guide, func(t *testing.T) {
			t.Parallel()
			askGuide(t, guide, question{}).visit(func(n node) {
				if strings.Contains(n.text, "\n") || slices.Contains([]string{"snippet", "text", "example"}, n.key) {
					return
				}
				if run := copied(n.text, runs); run != "" {
					t.Errorf("%s: %q has %q from the document", n.key, n.text, run)
				}
			})
		})
	}
}

// question is what a user passes to the guide command beside the guide's name.
type question struct{ phase, resource string }

func (q question) args(guide string) []string {
	args := []string{"guide", guide}
	if q.phase != "" {
		args = append(args, "--phase", q.phase)
	}
	if q.resource != "" {
		args = append(args, "--resource", q.resource)
	}
	return append(args, "--format", "json")
}

// questions are the different questions of the table's facts, the whole guide first.
func (f factTable) questions() []question {
	out := []question{{}}
	for _, f := range f.Facts {
		if q := (question{f.Phase, f.Resource}); !slices.Contains(out, q) {
			out = append(out, q)
		}
	}
	return out
}

// askGuide runs the program and reads its answer.
func askGuide(t *testing.T, guide string, q question) node {
	t.Helper()
	status, out, errs := call(t, nil, q.args(guide)...)
	require.Zero(t, status, "%s", errs)
	doc, err := parseNode(out)
	require.NoError(t, err, "%.200s", out)
	require.Equal(t, "oomscan.guide/v1", doc.child("schema").text)
	require.Equal(t, guide, doc.child("guide").child("id").text)
	return doc
}

func readFacts(t *testing.T, guide string) factTable {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "facts", guide+".yaml"))
	require.NoError(t, err)
	var table factTable
	require.NoError(t, yaml.UnmarshalWithOptions(data, &table, yaml.Strict()))
	require.NotEmpty(t, table.Facts)
	require.NotEmpty(t, table.Orders)
	return table
}

// readDocument is the guide's document, or skips the test.
func readDocument(t *testing.T, guide string) string {
	t.Helper()
	folder := os.Getenv("OOMSCAN_GUIDES")
	if folder == "" {
		t.Skip("OOMSCAN_GUIDES names no folder with the guides' documents")
	}
	paths, err := filepath.Glob(filepath.Join(folder, guideDocuments[guide]+"*.txt"))
	require.NoError(t, err)
	require.Len(t, paths, 1, "%s in %s", guide, folder)
	data, err := os.ReadFile(paths[0])
	require.NoError(t, err)
	return string(data)
}

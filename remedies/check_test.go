package remedies

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The checks of what the built-in guides and manuals hold are tests: both are a part of the program, and a report need not repeat
// them.

func TestGuidesAndManualsAreSound(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"guides/*.yaml", "guides/manual/*.yaml"} {
		names, err := fs.Glob(files, pattern)
		require.NoError(t, err)
		require.NotEmpty(t, names)
		for _, name := range names {
			text, err := files.ReadFile(name)
			require.NoError(t, err)
			if strings.Contains(name, "/manual/") {
				require.NoError(t, checked(name, text, &Manual{}))
			} else {
				require.NoError(t, checked(name, text, &Guide{}))
			}
		}
	}
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

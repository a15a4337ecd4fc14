package remedies

import "strings"

// Hit is a search result in a guide.
type Hit struct {
	Guide *Guide
	Item  *Item      // nil when the manual explains the parameter
	Lists []string   // headings of the lists that hold the item
	Key   string     // the parameter's name today; empty when only words of the item matched
	Names []string   // the spellings that matched
	Value string     // the guide's own value
	Info  *Explained // the manual's explanation
}

// Search finds a word in the names of all guides' parameters, under every spelling, then in the items' titles and texts. It
// ignores case and whether words are joined by a dash, an underscore or a dot: mem_fraction finds
// --sglang-mem-fraction-static. The result is in the order of the guides and their items.
func Search(word string, own ...Guide) []Hit {
	gs := Guides(own...)
	want := loose(word)
	if want == "" {
		return nil
	}
	var keys, texts []Hit
	for i := range gs {
		g := &gs[i]
		m := ManualOf(g.ID)
		for j := range g.Items {
			it := &g.Items[j]
			hit := Hit{Guide: g, Item: it, Lists: g.headings(it.ID)}
			found := false
			for k := range it.Parameters {
				p := &it.Parameters[k]
				if names := matching(want, p.Key, p.Spellings); len(names) > 0 {
					h := hit
					h.Key, h.Names, h.Value = p.Key, names, p.Value
					keys = append(keys, h)
					found = true
				}
			}
			if !found && strings.Contains(loose(it.text()), want) {
				texts = append(texts, hit)
			}
		}
		for j := range m.Parameters {
			if p := &m.Parameters[j]; len(matching(want, p.Key, p.Spellings)) > 0 {
				keys = append(keys, Hit{Guide: g, Key: p.Key, Names: matching(want, p.Key, p.Spellings), Info: p})
			}
		}
	}
	return append(keys, texts...)
}

// matching returns the names of a parameter that contain a loose word.
func matching(want, key string, spellings []Spelling) []string {
	var out []string
	if strings.Contains(loose(key), want) {
		out = append(out, key)
	}
	for _, s := range spellings {
		if s.Key != key && strings.Contains(loose(s.Key), want) {
			out = append(out, s.Key)
		}
	}
	return out
}

// text returns all text of an item.
func (it *Item) text() string {
	parts := []string{it.ID, it.Title, it.Detail, it.Why, it.Caution}
	for _, c := range it.Corrections {
		parts = append(parts, c.Says, c.Is)
	}
	if it.Example != nil {
		parts = append(parts, it.Example.Text)
	}
	return strings.Join(parts, "\n")
}

// headings returns the headings of the lists with an item.
func (g *Guide) headings(id string) []string {
	var out []string
	for i := range g.Lists {
		for _, x := range g.Lists[i].Items {
			if x == id {
				out = append(out, g.Lists[i].Heading)
				break
			}
		}
	}
	return out
}

// looseMarks removes the marks between the words of a name.
var looseMarks = strings.NewReplacer("-", "_", ".", "_", " ", "_", "\n", "_")

func loose(s string) string {
	return strings.Trim(looseMarks.Replace(strings.ToLower(strings.TrimSpace(s))), "_")
}

// Package pack reads user-defined packs of patterns and guides in YAML.
package pack

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"oomscan/classifier"
	"oomscan/parser/messages"
	"oomscan/parser/pattern"
	"oomscan/parser/stream"
	"oomscan/remedies"
)

// Pack is a user's additions. The zero value adds nothing.
type Pack struct {
	Patterns []pattern.Pattern
	Guides   []remedies.Guide
	table    *stream.Table // of these and the built-in patterns; nil if there are no others
}

// Limits far above any pack that people write.
const (
	maxFile     = 256 << 10
	maxFiles    = 200
	maxPatterns = 500
	maxTime     = 10 * time.Second // to prove them all
)

// Options makes a reader use the pack's patterns too.
func (p *Pack) Options() []stream.Option {
	if p.table == nil {
		return nil
	}
	return []stream.Option{stream.Patterns(p.table)}
}

// All returns the pack's patterns and the built-in ones in the order in which they are tried: whoever adds a pattern
// knows the program better.
func (p *Pack) All() []pattern.Pattern { return slices.Concat(p.Patterns, messages.All()) }

// Programs returns the programs in the pack's patterns.
func (p *Pack) Programs() []string {
	var ids []string
	for i := range p.Patterns {
		if id := p.Patterns[i].Program.Name; id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// Load reads and checks files, and the .yaml and .yml files in folders. If it finds faults, it returns no pack. Each
// fault begins with the file and, if known, the line.
func Load(paths []string) (Pack, []error) {
	l := loader{names: map[string]string{}, until: time.Now().Add(maxTime)}
	files, err := list(paths)
	if err != nil {
		return Pack{}, []error{err}
	}
	for _, name := range files {
		if l.exhausted() {
			break
		}
		l.read(name)
	}
	if l.exhausted() {
		l.fault(fmt.Errorf("%s: stopped at %d patterns: more than %d in all, or more than %v to prove them", paths[0], len(l.pack.Patterns), maxPatterns, maxTime))
	}
	if len(l.faults) == 0 {
		l.proveTogether()
	}
	if len(l.faults) > 0 {
		return Pack{}, l.faults
	}
	return l.pack, nil
}

func list(paths []string) ([]string, error) {
	var files []string
	for _, p := range paths {
		info, err := os.Stat(p)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", p, errors.Unwrap(err))
		case !info.IsDir():
			files = append(files, p)
			continue
		}
		entries, err := os.ReadDir(p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p, errors.Unwrap(err))
		}
		n := len(files)
		for _, e := range entries {
			if ext := filepath.Ext(e.Name()); !e.IsDir() && (ext == ".yaml" || ext == ".yml") {
				files = append(files, filepath.Join(p, e.Name()))
			}
		}
		if len(files) == n {
			return nil, fmt.Errorf("%s: no file in it ends in .yaml", p)
		}
	}
	if len(files) > maxFiles {
		return nil, fmt.Errorf("%d files, and %d are read at most", len(files), maxFiles)
	}
	return files, nil
}

// loader reads packs.
type loader struct {
	pack    Pack
	sources []*document       // of each pattern
	indexes []int             // of each pattern in its document
	names   map[string]string // of patterns and guides, with the file that defines each
	guides  [][]byte          // texts of the pack's guides
	faults  []error
	until   time.Time
}

// exhausted reports whether the packs exceed the limits.
func (l *loader) exhausted() bool {
	return len(l.pack.Patterns) > maxPatterns || time.Now().After(l.until)
}

func (l *loader) fault(err error) { l.faults = append(l.faults, err) }

// patternsFile matches files of patterns, as opposed to guides.
var patternsFile = regexp.MustCompile(`(?m)^patterns *:`)

func (l *loader) read(name string) {
	text, err := readFile(name)
	switch {
	case err != nil:
		l.fault(fmt.Errorf("%s: %w", name, err))
	case patternsFile.Match(text):
		l.readPatterns(name, text)
	default:
		l.readGuide(name, text)
	}
}

func readFile(name string) ([]byte, error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, errors.New("no regular file")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("larger than %d KiB", maxFile>>10)
	}
	return text, err
}

func (l *loader) readPatterns(name string, text []byte) {
	d, err := parse(name, text)
	if err != nil {
		l.fault(err)
		return
	}
	for i := range d.entries {
		if l.exhausted() {
			return
		}
		p := d.entries[i].pattern(name)
		e := &d.entries[i]
		faults := e.check()
		if e.fits() {
			faults = slices.Concat(faults, e.checkLiterals(), prove(&p))
		}
		for _, f := range faults {
			l.fault(d.fault(i, f))
		}
		if old, taken := l.names[p.Name]; taken || messages.ByName(p.Name) != nil {
			if !taken {
				old = "oomscan itself"
			}
			l.fault(d.fault(i, pattern.Fault{Part: "name", What: fmt.Sprintf("%s has a pattern of this name: %s", old, p.Name)}))
		}
		l.names[p.Name] = name
		l.pack.Patterns = append(l.pack.Patterns, p)
		l.sources, l.indexes = append(l.sources, d), append(l.indexes, i)
	}
}

func (l *loader) readGuide(name string, text []byte) {
	if _, err := syntax(name, text); err != nil {
		l.fault(err) // with the lines around it
		return
	}
	g, err := remedies.ReadGuide(name, text)
	if err != nil {
		l.fault(fmt.Errorf("%w (this was read as a guide; a file of patterns has a line that begins with patterns:)", err))
		return
	}
	id := "guide " + g.ID
	if old, taken := l.names[id]; taken {
		l.fault(fmt.Errorf("%s:1: %s has a guide of this id: %s", name, old, g.ID))
	} else if _, err := remedies.Browse(g.ID, remedies.Query{}); err == nil {
		l.fault(fmt.Errorf("%s:1: oomscan itself has a guide of this id: %s", name, g.ID))
	}
	l.names[id] = name
	l.pack.Guides = append(l.pack.Guides, *g)
	l.guides = append(l.guides, text)
}

// proveTogether checks what depends on all files: readers find each sample, each guide is for a known program, and
// the messages that guides ask for exist.
func (l *loader) proveTogether() {
	programs := l.pack.Programs()
	for i := range l.pack.Guides {
		g := &l.pack.Guides[i]
		for _, name := range g.Patterns() {
			if _, own := l.names[name]; !own && messages.ByName(name) == nil {
				l.fault(fmt.Errorf("%s:%d: there is no pattern %q", l.names["guide "+g.ID], lineOf(l.guides[i], "pattern:"+name), name))
			}
		}
		if !slices.Contains(programs, g.Framework) && classifier.FrameworkByID(g.Framework).ID == "" {
			l.fault(fmt.Errorf("%s: framework %q: oomscan knows none of this name, and no pattern says program: %[2]s", l.names["guide "+g.ID], g.Framework))
		}
	}
	if len(l.pack.Patterns) == 0 {
		return
	}
	table, err := stream.NewTable(l.pack.All())
	if err != nil {
		l.fault(err)
		return
	}
	for i := range l.pack.Patterns {
		for _, f := range table.Prove(&l.pack.Patterns[i]) {
			l.fault(l.sources[i].fault(l.indexes[i], f))
		}
	}
	l.pack.table = table
}

// lineOf returns the line of a whole word, or 1.
func lineOf(text []byte, word string) int {
	at := regexp.MustCompile(regexp.QuoteMeta(word) + `(?:[^\w.]|$)`).FindIndex(text)
	if at == nil {
		return 1
	}
	return 1 + bytes.Count(text[:at[0]], []byte{'\n'})
}

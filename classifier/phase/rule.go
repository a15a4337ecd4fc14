package phase

import (
	"path"
	"slices"
	"strings"
	"sync"

	"oomscan/parser/traceback"
)

// rule is the meaning of one kind of frame. Files are matched by the end of their path, component by component, so that
// an installed package, an editable install and a checkout look the same; line numbers are ignored because they change with
// every version.
type rule struct {
	dirs  []string // components in front of base, each may hold a * within
	base  string   // file name, may hold a *; empty: any file below dirs, at any depth
	glob  bool     // base holds a *
	funcs []string // function names; with globs empty too: any function
	globs []string // patterns of function names
	code  string   // what the quoted line must contain; empty: anything
	phase Phase    // empty: the frame carries no phase
	by    strength
	note  string // what happens in that frame, as part of a sentence
	flags flag
}

type flag uint8

const (
	// alone: counts only if no outer frame has a meaning.
	alone flag = 1 << iota
	// yields: counts only if outer frames are hints at most.
	yields
	// mover: brings state to or from the device for whatever phase runs, so that a module's .to() below it means nothing.
	mover
	// opaque: a library whose source lines are not read like user code.
	opaque
)

// r builds a rule. A pattern that ends in / matches every file below that folder. Functions are separated by spaces;
// * matches any part.
func r(pattern, funcs string, p Phase, by strength) rule {
	comps := strings.Split(pattern, "/")
	last := len(comps) - 1
	x := rule{dirs: comps[:last], base: comps[last], glob: strings.Contains(comps[last], "*"), phase: p, by: by}
	x.funcs, x.globs = splitNames(funcs)
	return x
}

// shared builds a rule for frames that many phases pass through.
func shared(pattern, funcs string) rule { return r(pattern, funcs, "", neutral) }

func (x rule) when(code string) rule { x.code = code; return x }
func (x rule) says(note string) rule { x.note = note; return x }
func (x rule) with(f flag) rule      { x.flags |= f; return x }

// location is a frame's path, split once for all rules.
type location struct {
	comps []string // without the file name
	base  string
	fn    string
	code  string
}

// clean converts a path to slashes and cuts off its beginning.
func clean(file string) string {
	if len(file) > maxPath {
		file = file[len(file)-maxPath:]
	}
	return strings.ReplaceAll(file, `\`, "/")
}

// Installed is the folder of installed packages; Debian's dist-packages counts as the same.
const Installed = "site-packages"

// SplitPath splits a path. For an installed file, it keeps only the part from site-packages on: virtual environments
// are often named after a framework.
func SplitPath(file string) []string {
	comps := strings.Split(clean(file), "/")
	for i := len(comps) - 2; i >= 0; i-- {
		if comps[i] == Installed || comps[i] == "dist-packages" {
			comps[i] = Installed
			return comps[i:]
		}
	}
	return comps
}

func locate(f *traceback.Frame) location {
	comps := SplitPath(f.File)
	last := len(comps) - 1
	fn := head(f.Func, maxCode)
	if i := strings.LastIndexByte(fn, '.'); i >= 0 && i+1 < len(fn) {
		fn = fn[i+1:] // Cython and Python's newer renderers print qualified names
	}
	return location{comps: comps[:last], base: comps[last], fn: fn, code: head(f.Code, maxCode)}
}

func (x *rule) matches(at *location) bool {
	if !x.names(at.fn) {
		return false
	}
	switch {
	case x.base == "":
		if !x.below(at.comps) {
			return false
		}
	case !x.ends(at.comps), x.base != at.base && !(x.glob && fits(x.base, at.base)):
		return false
	}
	return x.code == "" || strings.Contains(at.code, x.code)
}

// ends reports whether the folders of the rule are the last folders of the path.
func (x *rule) ends(comps []string) bool {
	return len(comps) >= len(x.dirs) && same(x.dirs, comps[len(comps)-len(x.dirs):])
}

// below reports whether the folders of the rule occur anywhere in the path.
func (x *rule) below(comps []string) bool {
	for i := len(comps) - len(x.dirs); i >= 0; i-- {
		if same(x.dirs, comps[i:i+len(x.dirs)]) {
			return true
		}
	}
	return false
}

func (x *rule) names(fn string) bool {
	return len(x.funcs) == 0 && len(x.globs) == 0 || named(fn, x.funcs, x.globs)
}

// splitNames splits a list of names into whole names and patterns with a *.
func splitNames(list string) (whole, globs []string) {
	for _, n := range strings.Fields(list) {
		if strings.Contains(n, "*") {
			globs = append(globs, n)
		} else {
			whole = append(whole, n)
		}
	}
	return whole, globs
}

func named(name string, whole, globs []string) bool {
	return slices.Contains(whole, name) || slices.ContainsFunc(globs, func(g string) bool { return fits(g, name) })
}

func same(patterns, comps []string) bool {
	for i, p := range patterns {
		if p != comps[i] && !(strings.Contains(p, "*") && fits(p, comps[i])) {
			return false
		}
	}
	return true
}

func fits(pattern, name string) bool {
	if pattern == "*" {
		return true
	}
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// rules holds every table, outermost software first. The first match for a frame counts, so a framework's rules for its own
// files come before general ones.
var rules = sync.OnceValue(func() []rule {
	return slices.Concat(
		neutralRules(),
		verlRules(), arealRules(), relaxRules(), slimeRules(), openrlhfRules(), skyrlRules(), rlinfRules(), swiftRules(), trlRules(), nemoRules(),
		vllmRules(), sglangRules(), trtllmRules(), lmdeployRules(), exllamaRules(),
		deepspeedRules(), megatronRules(), jaxRules(),
		trainerRules(), torchRules(), anyRules(),
	)
})

// index finds the rules that can match a frame without trying them all. It is built once and only read.
type index struct {
	byBase map[string][]int // rules for one file name
	rest   []int            // rules for many files
}

var ruleIndex = sync.OnceValue(func() index { return indexed(rules()) })

func indexed(all []rule) index {
	x := index{byBase: map[string][]int{}}
	for i := range all {
		if all[i].base == "" || all[i].glob {
			x.rest = append(x.rest, i)
		} else {
			x.byBase[all[i].base] = append(x.byBase[all[i].base], i)
		}
	}
	return x
}

// find returns the first rule for a frame, or nil.
func find(at *location) *rule {
	rules, index := rules(), ruleIndex()
	first := len(rules)
	for _, i := range index.byBase[at.base] {
		if rules[i].matches(at) {
			first = i
			break
		}
	}
	for _, i := range index.rest {
		if i >= first {
			break
		}
		if rules[i].matches(at) {
			return &rules[i]
		}
	}
	if first == len(rules) {
		return nil
	}
	return &rules[first]
}

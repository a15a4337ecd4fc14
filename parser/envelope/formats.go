package envelope

// format is one line prefix as data. The tables are launchers and programs.
type format struct {
	name     string
	writer   string // what writes it, and in which source file
	template string
	label    string         // the template of its part of the stream; the first byte is the class
	then     func(*matcher) // reads more out of what was taken
	anywhere bool           // also behind a program's prefix, which no launcher's is
	match    []sample
	noMatch  []string // the nearest lines that must not fit
}

// sample is a line with that prefix, what is left of it, and what its prefixes say as "name=value; name=value".
type sample struct{ line, body, says string }

// prefix is a format made ready.
type prefix struct {
	*format
	program      bool // written by the program or its runtime
	outer        bool // never behind a program's
	steps, label []step
}

// prefixes are all formats, in the order in which they are tried: launchers and collectors put theirs around all that a
// program prints; the program and its runtime put theirs in front of single messages.
var prefixes = func() (all []*prefix) {
	parts := compiled{}
	for i := range launchers {
		all = append(all, newPrefix(&launchers[i], false, parts))
	}
	for i := range programs {
		all = append(all, newPrefix(&programs[i], true, parts))
	}
	return all
}()

// byFirst has the prefixes that may begin with a byte.
var byFirst = func() (first [256][]*prefix) {
	for _, p := range prefixes {
		var set byteSet
		firstBytes(p.steps, &set)
		for c := range first {
			if set.has(byte(c)) {
				first[c] = append(first[c], p)
			}
		}
	}
	return first
}()

func newPrefix(f *format, program bool, parts compiled) *prefix {
	return &prefix{format: f, program: program, outer: !program && !f.anywhere, steps: parts.compile(f.template), label: parts.compile(f.label)}
}

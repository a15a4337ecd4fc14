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
	start        string  // the literal that every line with this prefix begins with
	behind       []step  // the steps behind it
	next         byteSet // the bytes that may stand behind it, or second where there is no such literal
	lead         slot    // the level or time that it begins with
	named        bool    // it begins with the name of a host, a pod or a service
	end          byteSet // the bytes that may stand behind that name
}

// prefixes are all formats, in the order in which they are tried: launchers and collectors put theirs around all that a
// program prints; the program and its runtime put theirs in front of single messages.
var prefixes = func() (all []*prefix) {
	for i := range launchers {
		all = append(all, newPrefix(&launchers[i], false))
	}
	for i := range programs {
		all = append(all, newPrefix(&programs[i], true))
	}
	return all
}()

// byFirst has the prefixes that may begin with a byte. Half of them begin with a bracket: behindBracket has those by the
// byte behind it.
var byFirst, behindBracket = func() (first, second [256][]*prefix) {
	for _, p := range prefixes {
		var set byteSet
		firstBytes(p.steps, &set)
		for c := range first {
			if set.has(byte(c)) {
				first[c] = append(first[c], p)
			}
			if set.has('[') && p.mayBeSecond(byte(c)) {
				second[c] = append(second[c], p)
			}
		}
	}
	return first, second
}()

// candidates are the prefixes that b may have. b is not empty.
func candidates(b []byte) []*prefix {
	if b[0] == '[' && len(b) > 1 {
		return behindBracket[b[1]]
	}
	return byFirst[b[0]]
}

func newPrefix(f *format, program bool) *prefix {
	p := &prefix{format: f, program: program, outer: !program && !f.anywhere, steps: compile(f.template), label: compile(f.label)}
	p.behind = p.steps
	if p.steps[0].kind == literal {
		p.start, p.behind = p.steps[0].lit, p.steps[1:]
	}
	if into := p.steps[0].field.into; p.steps[0].kind == call && (into == slotLevel || into == slotTime) {
		p.lead = into
	}
	if p.steps[0].field.class == hostname {
		p.named = true
		followBytes(p.steps[1:], &p.end)
	}
	if p.start == "" {
		secondBytes(p.steps, &p.next)
	} else {
		followBytes(p.behind, &p.next)
	}
	return p
}

// mayBeSecond says whether c may be the second byte of a line with this prefix.
func (p *prefix) mayBeSecond(c byte) bool {
	if len(p.start) > 1 {
		return p.start[1] == c
	}
	return p.next.has(c)
}

// mayBegin says quickly of most lines that they do not have this prefix. behind is the byte behind the name that b begins
// with, 0 at the end.
func (p *prefix) mayBegin(b []byte, behind byte) bool {
	if p.named && !p.end.has(behind) {
		return false
	}
	at := max(1, len(p.start))
	if len(b) > at && !p.next.has(b[at]) {
		return false
	}
	return len(b) >= len(p.start) && string(b[:len(p.start)]) == p.start
}

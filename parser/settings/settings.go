// Package settings reads a run's configuration from whatever a log prints of it.
//
// Programs print their configuration in many forms: a pretty-printed Python dict (verl, NeMo-RL), the repr of an
// arguments object (SGLang, transformers, OpenRLHF), Megatron's and DeepSpeed's dotted tables, JSON, YAML, the command
// line that a shell traced, Hydra's list of overrides, or plain key=value pairs in a sentence. A [Reader] recognises
// them line by line. It reports a value only as it is printed: what was cut off, lost or left unexpanded by a shell is
// not reported at all.
package settings

import (
	"bytes"
	"slices"
	"strings"

	"oomscan/parser/secret"
)

// Forms of a [Pair]: how the log printed it.
const (
	Pprint    = "pprint"    // a Python dict, usually over many lines
	Overrides = "overrides" // Hydra's list of overrides
	Command   = "command"   // a command line
	Megatron  = "megatron"  // a table with dots between names and values
	Repr      = "repr"      // the repr of an arguments or configuration object
	Engine    = "engine"    // an inference engine's summary of its arguments
	JSON      = "json"
	YAML      = "yaml"
	TOML      = "toml"   // sections and assignments: TOML, INI, a Python file of assignments
	Sbatch    = "sbatch" // a batch directive or a job script's banner
	Env       = "env"    // environment variables
	Pairs     = "pairs"  // key=value pairs in free text, and banners with one setting per line
	Script    = "script" // a line of a script: what holds unless something else sets it
)

// Limits of one [Reader].
const (
	MaxKey   = 256  // bytes of a key; a longer one is not reported
	MaxValue = 512  // bytes of a value; a longer one is cut to end with "..."
	MaxPairs = 8192 // settings that one Reader reports

	maxDumpBytes    = 1 << 20
	maxDumpLines    = 20_000
	maxDepth        = 32
	maxForeign      = 50       // lines inside a dump that are not part of it
	maxForeignFirst = 3        // the same before the dump's first setting
	maxGap          = 3        // lines between two comments at the beginning of an input
	maxLine         = 1 << 20  // bytes of a line that dumps are read from
	maxPlain        = 64 << 10 // bytes of a line that other forms are read from
	pairBytes       = 256      // rough size of a setting
)

// Pair is one setting. It owns its text.
type Pair struct {
	// Key is the key as printed, with its full dotted path if the dump is nested. Flags keep their dashes
	// ("--num-proc").
	Key string
	// Value is the value as text: strings without quotes, numbers, None and True as printed, a list or tuple as one
	// text. A secret's value is "***".
	Value string
	Line  int    // the physical line of the key, as the caller counts
	Form  string // one of the constants of this package
}

// Reader finds the settings in one writer's lines, in order. The zero value is ready to use. It is not safe for
// concurrent use. Its memory is bounded, whatever the lines contain.
type Reader struct {
	out      []Pair
	open     dump
	line     int
	bytes    int // of the open dump
	lines    int
	foreign  int // lines inside the open dump that are not part of it
	count    int
	reported map[string]string // last value of each key in free pairs: repeated lines are not reported again

	reportedBytes int

	manifest manifest // of the open dump

	prolog int  // last comment line at the beginning of the input
	began  bool // something other than comments was read
	first  bool // this is the first line that is not a comment, so the input may be a configuration file
}

// dump is a form that spans several lines.
type dump interface {
	// feed takes the next line. It reports whether the line is part of the dump and whether the dump goes on.
	feed(r *Reader, text []byte) (fits, more bool)
	// end reports pending settings.
	end(r *Reader)
	// hasReported reports whether the dump has reported a setting.
	hasReported() bool
}

// Feed reads one line without its line prefix: leading blanks kept, no line feed. It returns the settings that this
// line completes; the slice is valid until the next call of Feed or Close.
func (r *Reader) Feed(line int, text []byte) []Pair {
	r.read(line, text)
	r.out = hide(r.out, text)
	return r.out
}

func (r *Reader) read(line int, text []byte) {
	r.clear()
	if r.open == nil {
		r.manifest = manifest{} // what was on one line
	}
	r.line = line
	text = trimEnd(text)
	if i := bytes.LastIndexByte(text, '\r'); i >= 0 {
		text = text[i+1:] // what a progress bar printed last
	}
	if len(text) > maxLine {
		text = text[:maxLine]
	}
	r.beginning(text)
	if r.open != nil && endsEnvironment(text) {
		r.finish()
	}
	if r.open != nil && r.advance(text) {
		return
	}
	if len(text) > 0 && Worth(text) {
		r.scan(text)
	}
}

// endsEnvironment reports whether a line ends the environment in a traced `ray job submit --runtime-env-json='{` and goes on with the
// job's command, as slime's scripts print it.
func endsEnvironment(text []byte) bool {
	text = bytes.TrimLeft(text, " }")
	return bytes.HasPrefix(text, []byte("' -- ")) || bytes.HasPrefix(text, []byte(`" -- `))
}

// beginning checks whether this is the input's first line after comments and blank lines, or the first after a command that prints a
// file. A configuration file can only begin there, and is trusted more than lines in the middle of a log.
func (r *Reader) beginning(text []byte) {
	if showsFile(text) {
		r.began, r.first, r.prolog = false, false, r.line
		return
	}
	r.first = !r.began && r.line-r.prolog <= maxGap
	if len(text) == 0 || text[0] == '#' || bytes.Equal(text, yamlStart) {
		if r.first {
			r.prolog = r.line
		}
		r.first = false
		return
	}
	r.began = true
}

// advance passes a line to the open dump and reports whether the dump used it.
func (r *Reader) advance(text []byte) bool {
	r.lines++
	r.bytes += len(text)
	fits, more := r.open.feed(r, text)
	if fits && more && r.lines < maxDumpLines && r.bytes < maxDumpBytes {
		return true
	}
	if fits {
		r.finish()
		return true
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return true
	}
	r.foreign++
	if !more || r.foreign > maxForeign || (!r.open.hasReported() && r.foreign > maxForeignFirst) || r.lines >= maxDumpLines {
		r.finish()
	}
	return false
}

// start opens a dump if its first line fits.
func (r *Reader) start(d dump, first []byte) bool {
	if fits, _ := d.feed(r, first); !fits {
		return false
	}
	r.begin(d, first)
	return true
}

// begin opens a dump after its first line.
func (r *Reader) begin(d dump, first []byte) {
	if r.open != nil {
		r.finish()
	}
	r.open, r.bytes, r.lines, r.foreign = d, len(first), 1, 0
}

func (r *Reader) finish() {
	d := r.open
	r.open = nil
	d.end(r)
	r.manifest = manifest{}
}

// Open reports whether a dump is unfinished. The caller should then pass the writer's next lines too, even if [Worth]
// rejects them, and call Close at the end.
func (r *Reader) Open() bool { return r.open != nil }

// Held estimates how many bytes the Reader keeps until the next line.
func (r *Reader) Held() int {
	n := r.reportedBytes + len(r.out)*pairBytes
	if r.open != nil {
		n += r.bytes
	}
	return n
}

// clear drops the previous line's settings, and frees a large slice.
func (r *Reader) clear() {
	clear(r.out)
	r.out = r.out[:0]
	if cap(r.out) > 64 {
		r.out = nil
	}
}

// Close ends an unfinished dump and returns its settings that Feed has not returned yet. The Reader can be used
// again.
func (r *Reader) Close() []Pair {
	r.clear()
	if r.open != nil {
		r.finish()
	}
	return r.out
}

// emit adds a setting to those of this line.
func (r *Reader) emit(key, value string, line int, form string) {
	if key == "" || len(key) > MaxKey || r.count >= MaxPairs {
		return
	}
	if hidden := r.manifest.hides(key, value); hidden || isSecret(key, value) {
		value = secret.Mask
	}
	if len(value) > MaxValue {
		value = value[:MaxValue-3] + "..."
	}
	r.count++
	// Clones, because a substring would keep a whole long line alive.
	r.out = append(r.out, Pair{Key: strings.Clone(key), Value: strings.Clone(value), Line: line, Form: form})
}

// hide masks values that are recognized as credentials only in the context of their line, such as a command's
// argument or the second pair of a cookie, and drops what a credential with an equals sign was taken for.
func hide(pairs []Pair, text []byte) []Pair {
	if len(pairs) == 0 {
		return pairs
	}
	line, masked := unquoted(string(text)), unquoted(secret.Stable(string(text)))
	hidden := func(s string) bool { return strings.Contains(line, s) && !strings.Contains(masked, s) }
	pairs = slices.DeleteFunc(pairs, func(p Pair) bool { return hidden(unquoted(p.Key)) })
	for i := range pairs {
		value := unquoted(strings.TrimSuffix(pairs[i].Value, "..."))
		if hidden(value) || slices.ContainsFunc(strings.Fields(value), hidden) { // a value of several arguments
			pairs[i].Value = secret.Mask
		}
	}
	return pairs
}

// unquoted removes quotes, which a shell takes from within its words.
var unquoted = strings.NewReplacer(`"`, "", "'", "").Replace

// isSecret reports whether a value must be masked. If any part of it is a credential, all of it is.
func isSecret(key, value string) bool {
	if value == "" || value == "[]" || value == "{}" || isSwitch(value) {
		return false
	}
	pair := key + "=" + value
	return secret.Key(key) || secret.Text(pair) != pair || secret.Container(value)
}

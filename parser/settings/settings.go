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
	"strings"

	"oomscan/parser/secret"
)

// Forms of a [Pair]: how the log printed it.
const (
	Pprint    = "pprint"    // a Python dict, usually over many lines
	Overrides = "overrides" // Hydra's list of overrides
	Command   = "command"   // a command line
	Megatron  = "megatron"  // a table of names, dots and values
	Repr      = "repr"      // the repr of an arguments or configuration object
	Engine    = "engine"    // an inference engine's summary of its arguments
	JSON      = "json"
	YAML      = "yaml"
	TOML      = "toml"   // sections and assignments: TOML, INI, a Python file of assignments
	Sbatch    = "sbatch" // a batch directive or a job script's banner
	Env       = "env"    // environment variables
	Pairs     = "pairs"  // key=value pairs in free text, and banners with one setting a line
)

// Limits of one [Reader].
const (
	MaxKey   = 256  // bytes of a key; a longer one is not reported
	MaxValue = 512  // bytes of a value; a longer one is cut and ends with "..."
	MaxPairs = 8192 // settings one Reader reports in its life

	maxDumpBytes    = 1 << 20
	maxDumpLines    = 20_000
	maxDepth        = 32
	maxForeign      = 50       // lines inside a dump that are no part of it
	maxForeignFirst = 3        // the same before the first setting of the dump
	maxGap          = 3        // lines from one comment of an input's beginning to the next
	maxLine         = 1 << 20  // bytes of a line that dumps are read from
	maxPlain        = 64 << 10 // the same for all other forms
	pairBytes       = 256      // about what a setting takes
)

// Pair is one setting. It owns its text.
type Pair struct {
	// Key is the key as printed, the full dotted path when the dump is nested. Flags keep their dashes ("--num-proc").
	Key string
	// Value is the text of the value: strings without quotes, numbers, None and True as printed, a list or tuple as
	// one text. The value of a secret is "***".
	Value string
	Line  int    // the physical line where the key stands, as the caller counts
	Form  string // one of the constants of this package
}

// Reader finds the settings in the lines of one stream: one writer's output, in order. The zero value is ready. It is
// not safe for concurrent use. Its memory is bounded, whatever the lines hold.
type Reader struct {
	out      []Pair
	open     dump
	line     int
	bytes    int // of the open dump
	lines    int
	foreign  int // lines of the open dump that did not fit
	count    int
	reported map[string]string // last value of each key in free pairs, so that repeated lines stay cheap

	reportedBytes int

	prolog int  // last line of the comments that an input begins with
	began  bool // something else than comments was read
	first  bool // this line is the first one with contents: the input may be a configuration file
}

// dump is a form that spans lines.
type dump interface {
	// feed takes the next line. It reports whether the line is part of the dump, and whether the dump goes on.
	feed(r *Reader, text []byte) (fits, more bool)
	// end reports what is still pending.
	end(r *Reader)
	// hasReported reports whether the dump has reported a setting.
	hasReported() bool
}

// Feed offers one line without its envelope: leading blanks kept, no line feed. It returns the settings that are
// complete with this line; the slice is valid until the next call of Feed or Close.
func (r *Reader) Feed(line int, text []byte) []Pair {
	r.read(line, text)
	hide(r.out, text)
	return r.out
}

func (r *Reader) read(line int, text []byte) {
	r.clear()
	r.line = line
	text = trimEnd(text)
	if i := bytes.LastIndexByte(text, '\r'); i >= 0 {
		text = text[i+1:] // a progress bar was overwritten by what follows
	}
	if len(text) > maxLine {
		text = text[:maxLine]
	}
	r.beginning(text)
	if r.open != nil {
		if r.advance(text) {
			return
		}
	}
	if len(text) > 0 && Worth(text) {
		r.scan(text)
	}
}

// beginning notes whether this is the first line of the input with contents, behind comments and blank lines. Only
// there a configuration file can begin, which is read with more trust than lines in the middle of a log.
func (r *Reader) beginning(text []byte) {
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

// advance offers a line to the open dump and reports whether the line was used up.
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

// begin opens a dump whose first line has been read.
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
}

// Open reports that a dump is unfinished: the caller should deliver the stream's next lines as well, whatever [Worth]
// says of them, and call Close when there are none left.
func (r *Reader) Open() bool { return r.open != nil }

// Held is about how many bytes the Reader keeps until the next line.
func (r *Reader) Held() int {
	n := r.reportedBytes + len(r.out)*pairBytes
	if r.open != nil {
		n += r.bytes
	}
	return n
}

// clear forgets the settings of the line before. After a dump of thousands, their room is given back.
func (r *Reader) clear() {
	clear(r.out)
	r.out = r.out[:0]
	if cap(r.out) > 64 {
		r.out = nil
	}
}

// Close gives an unfinished dump up and returns those of its settings that Feed has not yet returned. The Reader can be used
// again.
func (r *Reader) Close() []Pair {
	r.clear()
	if r.open != nil {
		r.finish()
	}
	return r.out
}

// emit adds one setting to those of this line.
func (r *Reader) emit(key, value string, line int, form string) {
	if key == "" || len(key) > MaxKey || r.count >= MaxPairs {
		return
	}
	if isSecret(key, value) {
		value = secret.Mask
	}
	if len(value) > MaxValue {
		value = value[:MaxValue-3] + "..."
	}
	r.count++
	// copies: a part of a long line would keep all of it alive
	r.out = append(r.out, Pair{Key: strings.Clone(key), Value: strings.Clone(value), Line: line, Form: form})
}

// hide masks the values that only the rest of their line shows to be credentials: the argument of a command, the second pair
// of a cookie.
func hide(pairs []Pair, text []byte) {
	if len(pairs) == 0 {
		return
	}
	line := string(text)
	masked := secret.Stable(line)
	for i := range pairs {
		if v := strings.TrimSuffix(pairs[i].Value, "..."); strings.Contains(line, v) && !strings.Contains(masked, v) {
			pairs[i].Value = secret.Mask
		}
	}
}

// isSecret reports whether a setting's value must not leave the log. Of a value that holds a credential nothing is kept.
func isSecret(key, value string) bool {
	if value == "" || value == "[]" || value == "{}" || isSwitch(value) {
		return false
	}
	return secret.Key(key) || secret.Text(value) != value || secret.Container(value)
}

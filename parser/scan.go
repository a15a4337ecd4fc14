package parser

import (
	"bytes"
	"errors"
	"io"
	"sync"

	"oomscan/parser/anchor"
)

// Limits of one scan.
const (
	// MaxLine is how many bytes of one physical line are looked at as a whole. A longer line (a progress bar of
	// megabytes, a JSON record) is read in pieces, cut at carriage returns where it has any.
	MaxLine = 64 << 10
	// overlap is how much of a piece that had to be cut in the middle of text is read again with the next one.
	overlap = 4 << 10
	// blockSize is how much is read at a time: large enough for the finder to run, small enough for the cache.
	blockSize = 256 << 10
	// headLines and headBytes bound the part of each input in which every line is looked at: programs print their
	// settings first, in too many forms to know them by a literal.
	headLines = 600
	headBytes = 192 << 10
)

// Stats counts what a scan read.
type Stats struct {
	Bytes     int64
	Lines     int // a last line without newline counts
	Truncated int // lines longer than MaxLine, read in pieces
}

// A Scanner turns the bytes of one input into observations. Feed it with [Scanner.ReadFrom] or [Scanner.Write] in any
// chunks, then [Scanner.Close] it: the chunking never changes what it emits. It keeps one block of the input and what
// its open reports need, however long the input or its lines are. A Scanner serves one goroutine.
type Scanner struct {
	parser *Parser
	finder *anchor.Finder

	buf   []byte // buf[:n] is read and not yet consumed
	n     int
	base  int64 // offset of buf[0] in the input
	line  int   // number of the line that buf[0] belongs to, 1-based
	cut   bool  // buf[0] continues a line whose earlier pieces were consumed
	bytes int64
	stats Stats
}

// NewScanner returns a scanner for the input of that name.
func NewScanner(name string, emit func(Observation)) *Scanner {
	return newScanner(name, table(), emit)
}

func newScanner(name string, t *compiled, emit func(Observation)) *Scanner {
	return &Scanner{parser: newParser(name, t, emit), finder: t.finder, line: 1, buf: make([]byte, blockSize)}
}

// Scan reads r to its end. The only errors are r's; what was read before is emitted all the same.
func Scan(name string, r io.Reader, emit func(Observation)) (Stats, error) {
	s := NewScanner(name, emit)
	_, err := s.ReadFrom(r)
	return s.Close(), err
}

// ReadFrom reads r until EOF, an error, or an empty read.
func (s *Scanner) ReadFrom(r io.Reader) (int64, error) {
	var total int64
	for {
		n, err := r.Read(s.space())
		s.advance(n)
		total += int64(n)
		if errors.Is(err, io.EOF) {
			return total, nil
		}
		if err != nil {
			return total, err
		}
	}
}

// Write feeds p. It never fails.
func (s *Scanner) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		n := copy(s.space(), rest)
		s.advance(n)
		rest = rest[n:]
	}
	return len(p), nil
}

// Close reads the last line if it had no newline and finishes open reports.
func (s *Scanner) Close() Stats {
	if s.n > 0 {
		s.scan(s.buf[:s.n])
		s.parser.endOfLine()
		s.n = 0
	} else if !s.cut {
		s.line--
	}
	s.parser.flush()
	return s.Stats()
}

// Stats returns what was read so far.
func (s *Scanner) Stats() Stats {
	st := s.stats
	st.Bytes = s.bytes
	st.Lines = s.line
	return st
}

// Peek emits what the unfinished last line says, should it end here: a writer that stops in the middle of a line, or
// printed its last words without a newline, is heard without waiting for more. The scanner's state does not change;
// the line is read again once it is complete.
func (s *Scanner) Peek(emit func(Observation)) {
	if s.n > 0 && s.n <= MaxLine {
		s.parser.peek(s.line, s.base, s.buf[:s.n], emit)
	}
}

// space is where the next bytes go; never empty.
func (s *Scanner) space() []byte { return s.buf[s.n:] }

// advance takes n more bytes and consumes what is complete.
func (s *Scanner) advance(n int) {
	s.n += n
	s.bytes += int64(n)
	b := s.buf[:s.n]
	used := bytes.LastIndexByte(b, '\n') + 1
	if used > 0 {
		s.scan(b[:used])
	}
	for len(b)-used > MaxLine {
		used += s.piece(s.base+int64(used), b[used:])
	}
	s.base += int64(used)
	s.n = copy(s.buf, b[used:])
}

// scan looks through b, the beginning of buf: whole lines, and at the end of the input a last one without newline.
func (s *Scanner) scan(b []byte) {
	for off := 0; off < len(b); {
		if !s.parser.wants(s.line, s.base+int64(off)) {
			pos, ok := s.finder.Next(b, off)
			if !ok {
				s.skip(b[off:])
				return
			}
			begin := off + bytes.LastIndexByte(b[off:pos], '\n') + 1
			s.skip(b[off:begin])
			off = begin
		}
		end := len(b)
		if i := bytes.IndexByte(b[off:], '\n'); i >= 0 {
			end = off + i
		}
		s.deliver(s.base+int64(off), b[off:end])
		if end < len(b) {
			s.parser.endOfLine()
			s.line++
			s.cut = false
			end++
		}
		off = end
	}
}

// deliver hands a line, or the rest of one, to the parser.
func (s *Scanner) deliver(offset int64, line []byte) {
	for len(line) > MaxLine {
		n := s.piece(offset, line)
		offset += int64(n)
		line = line[n:]
	}
	if !s.cut || s.interesting(offset, line) {
		s.parser.line(s.line, offset, line, s.cut)
	}
}

// piece consumes the beginning of a line longer than MaxLine and says how many bytes. Where it cuts depends on the
// line alone, never on how the input came in. The first piece is always read, for the envelope of the whole line.
func (s *Scanner) piece(offset int64, line []byte) int {
	end, keep := bytes.LastIndexByte(line[:MaxLine], '\r')+1, 0
	if end < MaxLine/4 {
		end, keep = MaxLine, overlap
	}
	if !s.cut {
		s.stats.Truncated++
	}
	if !s.cut || s.interesting(offset, line[:end]) {
		s.parser.line(s.line, offset, line[:end], s.cut)
	}
	s.cut = true
	return end - keep
}

// interesting says whether the parser wants to see a piece of a long line.
func (s *Scanner) interesting(offset int64, piece []byte) bool {
	if s.parser.wants(s.line, offset) {
		return true
	}
	_, ok := s.finder.Next(piece, 0)
	return ok
}

// skip counts the lines of b, none of which matters.
func (s *Scanner) skip(b []byte) {
	if n := bytes.Count(b, []byte{'\n'}); n > 0 {
		s.line += n
		s.cut = false
	}
}

// compiled is the pattern table with its gate.
type compiled struct {
	patterns  []Pattern
	finder    *anchor.Finder
	owners    [][]int32 // needle id -> patterns that own it, ascending; none: a needle that only opens a report
	settings  map[int]bool
	headLines int
	// followers are, per pattern, those that are tried on the lines behind it.
	followers map[int32][]int32
}

// table builds the gate once for all scanners.
var table = sync.OnceValue(func() *compiled { return compile(Patterns()) })

func compile(patterns []Pattern) *compiled {
	t := &compiled{patterns: patterns, headLines: headLines, settings: map[int]bool{}, followers: map[int32][]int32{}}
	ids := map[string]int{}
	var needles []string
	id := func(n string) int {
		i, ok := ids[n]
		if !ok {
			i = len(needles)
			ids[n] = i
			needles = append(needles, n)
			t.owners = append(t.owners, nil)
		}
		return i
	}
	names := map[string]int32{}
	for p := range patterns {
		names[patterns[p].Name] = int32(p)
	}
	for p := range patterns {
		for _, after := range patterns[p].After {
			if i, ok := names[after]; ok {
				t.followers[i] = append(t.followers[i], int32(p))
			}
		}
		for _, n := range patterns[p].Needles {
			i := id(n)
			t.owners[i] = append(t.owners[i], int32(p))
		}
	}
	for _, n := range reportNeedles {
		id(n)
	}
	for _, m := range sampleMarks {
		if m.needle {
			id(m.mark)
		}
	}
	for _, n := range settingNeedles {
		t.settings[id(n)] = true
	}
	f, err := anchor.New(needles)
	if err != nil {
		panic("parser: the pattern table holds a needle that cannot be searched: " + err.Error()) // proven not to happen by the table's test
	}
	t.finder = f
	return t
}

// reportNeedles open or continue reports of many lines; see package traceback.
var reportNeedles = []string{
	"Traceback (most recent call last)", `", line `, "() (pid=", "terminated with the following error",
	"Fatal Python error", "(most recent call first)", "ChildFailedError", "observed failure):", "invoked oom-killer",
}

// settingNeedles open dumps of settings after the head of an input; see package settings.
var settingNeedles = []string{
	"server_args=ServerArgs(", "non-default args:", " with config: ", "executing job with overrides", "- arguments -",
	"Namespace(", "namespace(", "Overrides: [", "Final config:", "#SBATCH ", "python3 -m ", "python -m ", "torchrun ",
	"Launch command", "TrainingArguments(", "GRPOConfig(", "SFTConfig(", "Running training", "{'actor_rollout_ref'",
	"Model config {", "DeepSpeedEngine configuration", "accelerate launch", "mpirun ", "local process with command",
	"Config param ", "MasterConfig(", "llama_context: n_ctx", ": Args { ",
}

package traceback

import (
	"bytes"
	"slices"
	"strings"

	"oomscan/parser/ascii"
	"oomscan/parser/lazyre"
)

// maxLook bounds how much of a line is examined from its front. The end is always examined, because a header may
// follow megabytes of progress bar.
const maxLook = 64 << 10

var (
	textTraceback = []byte("Traceback (most recent call last):")
	textBoxTitle  = []byte("Traceback (most recent call last)")
	textFatal     = []byte("Fatal Python error: ")
	textDirect    = []byte("The above exception was the direct cause of the following exception")
	textDuring    = []byte("During handling of the above exception, another exception occurred")
	textFile      = []byte("File ")
)

// pathQuotes are what may stand around a frame's path: word processors and forums bend them.
var pathQuotes = [][2][]byte{{[]byte(`"`), []byte(`"`)}, {[]byte("“"), []byte("”")}, {[]byte("'"), []byte("'")}}

// split strips blanks, carriage returns and NULs from both ends of a line and counts the leading blanks. A leading
// NUL is the end of the line before: torch's DataLoader signal handler prints its terminator.
func split(text []byte) (body []byte, indent int) {
	text = bytes.TrimLeft(text, "\x00")
	text = bytes.TrimRight(text, " \t\r\n\x00")
	for indent < len(text) && ascii.IsBlank(text[indent]) {
		indent++
	}
	return text[indent:], indent
}

// head returns the part of a line that is examined from its front.
func head(b []byte) []byte { return b[:min(len(b), maxLook)] }

// parseFrame reads `File "PATH", line N, in FUNC` or faulthandler's `File "PATH", line N in FUNC`, and returns its
// index. In a line that another process wrote into, the first position that reads as a frame counts.
func parseFrame(body []byte) (f Frame, at int, ok bool) {
	body = head(body)
	for range 4 {
		i := bytes.Index(body[at:], textFile)
		if i < 0 {
			f, ok = parseCutFrame(body)
			return f, 0, ok
		}
		at += i
		path, tail := cutQuoted(body[at+len(textFile):])
		if f, ok = parseFrameTail(tail); ok {
			f.File = clip(path, maxPath)
			return f, at, true
		}
		at += len(textFile)
	}
	return Frame{}, 0, false
}

// parseCutFrame reads a frame whose beginning was lost, as in the first line of an excerpt: `models/qwen2.py", line 12,
// in forward`.
func parseCutFrame(body []byte) (f Frame, ok bool) {
	path, tail, found := bytes.Cut(body, []byte(`.py"`))
	if !found || bytes.ContainsAny(path, " \t\"'`=(") {
		return Frame{}, false
	}
	if f, ok = parseFrameTail(tail); !ok || f.Line == 0 || f.Func == "" {
		return Frame{}, false
	}
	f.File = clip(body[:len(path)+len(".py")], maxPath)
	return f, true
}

// cutQuoted returns the quoted path that b begins with and what follows it, nothing when there is none.
func cutQuoted(b []byte) (path, tail []byte) {
	for _, q := range pathQuotes {
		if rest, ok := bytes.CutPrefix(b, q[0]); ok {
			if path, tail, ok = bytes.Cut(rest, q[1]); ok && len(path) > 0 {
				return path, tail
			}
		}
	}
	return nil, nil
}

func parseFrameTail(b []byte) (f Frame, ok bool) {
	if rest, found := bytes.CutPrefix(b, []byte(", line ")); found {
		n, size := leadingInt(rest)
		if size == 0 {
			return f, false
		}
		f.Line, b, ok = n, rest[size:], true
	}
	b = bytes.TrimPrefix(b, []byte(","))
	if rest, found := bytes.CutPrefix(b, []byte(" in ")); found {
		f.Func = funcName(rest)
		ok = ok || f.Func != ""
	}
	return f, ok
}

// funcName returns the function's name at the beginning of b; other text may follow directly. Angle brackets may
// contain blanks: TorchScript's `<backward op>`, IPython's `<cell line: 1>`.
func funcName(b []byte) string {
	n := 0
	for n < len(b) && n < maxFunc {
		switch c := b[n]; {
		case c == '<':
			n += angled(b[n:])
		case ascii.IsWord(c) || c == '.' || c == '>' || c >= 0x80:
			n++
		default:
			return clip(b[:n], maxFunc)
		}
	}
	return clip(b[:n], maxFunc)
}

// maxAngled bounds a name in angle brackets; compilers use short ones.
const maxAngled = 64

// angled returns the length of the name in angle brackets that b begins with, 1 if the closing bracket is missing.
func angled(b []byte) int {
	for n := 1; n < len(b) && n < maxAngled; n++ {
		switch c := b[n]; {
		case c == '>':
			return n + 1
		case !ascii.IsWord(c) && c != ' ' && c != ':' && c != '.' && c != '-':
			return 1
		}
	}
	return 1
}

// parseBoxFrame reads rich's `/path/file.py:123 in func` (rich/traceback.py).
func parseBoxFrame(body []byte) (f Frame, ok bool) {
	i := bytes.LastIndex(body, []byte(" in "))
	if i < 0 {
		return f, false
	}
	colon := bytes.LastIndexByte(body[:i], ':')
	if colon <= 0 || bytes.ContainsAny(body[:colon], " \t") {
		return f, false
	}
	n, size := leadingInt(body[colon+1 : i])
	if size == 0 || size != i-colon-1 {
		return f, false
	}
	return Frame{File: clip(body[:colon], maxPath), Line: n, Func: funcName(body[i+4:])}, true
}

// certainty is how likely a line is the end of a traceback.
type certainty uint8

const (
	notException certainty = iota
	namedLike              // CamelCase or dotted, without other evidence
	errorLike              // the class has an error's name
)

// exception is the parsed last line of a traceback.
type exception struct {
	class, message []byte
	sure           certainty
	colon          bool
}

// parseException reads `pkg.Class: message`, a bare `Class`, and Ray's `RayTaskError(Class): message`.
func parseException(body []byte) exception {
	body = head(body)
	n, dot := 0, -1
	for n < len(body) && n < maxClass && (ascii.IsWord(body[n]) || body[n] == '.' || body[n] == '<' || body[n] == '>') {
		if body[n] == '.' {
			dot = n
		}
		n++
	}
	name := body[dot+1 : n]
	if len(name) == 0 || body[0] == '.' || ascii.IsDigit(body[0]) || body[0] == '<' {
		return exception{}
	}
	if n < len(body) && body[n] == '(' {
		i := bytes.IndexByte(body[n:min(len(body), n+maxClass)], ')')
		if i < 2 || bytes.ContainsAny(body[n:n+i], " =,") {
			return exception{}
		}
		n += i + 1
	}
	e := exception{class: body[:n]}
	switch rest := body[n:]; {
	case len(rest) == 0:
	case rest[0] == ':' && (len(rest) == 1 || rest[1] == ' '):
		e.colon = true
		e.message = bytes.TrimLeft(rest[1:], " ")
	default:
		return exception{}
	}
	e.sure = className(name, dot >= 0, e.colon)
	return e
}

var classSuffixes = []string{
	"Error", "Exception", "Interrupt", "Exit", "Warning", "Iteration", "Failure", "Failed", "Fault", "Timeout", "Expired",
	"Died", "Killed", "ExceptionGroup", "OutOfMemory", "OutOfResources",
}

// className returns how likely the last part of a dotted name is an exception's.
func className(name []byte, dotted, colon bool) certainty {
	upper := ascii.IsUpper(name[0]) || name[0] == '_' && len(name) > 1 && ascii.IsUpper(name[1])
	if !upper {
		switch string(name) {
		case "error", "timeout", "gaierror", "herror": // struct.error, socket.timeout and the like
			if dotted {
				return errorLike
			}
		}
		return notException
	}
	for _, s := range classSuffixes {
		if strings.HasSuffix(string(name), s) && (dotted || len(name) > len(s) || s == "Exception") {
			return errorLike
		}
	}
	if dotted || colon && isCamel(name) {
		return namedLike
	}
	return notException
}

// isCamel reports whether a capital follows a lowercase letter: "BrokenProcessPool", but not "Epoch", "GPUs" or
// "WARNING".
func isCamel(name []byte) bool {
	for i := 1; i < len(name); i++ {
		if ascii.IsUpper(name[i]) && ascii.IsLower(name[i-1]) {
			return true
		}
	}
	return false
}

// isBar reports whether a line contains a progress bar of tqdm or rich.
func isBar(body []byte) bool {
	body = head(body)
	return slices.ContainsFunc([]string{"%|", "it/s]", "it/s,", "s/it]", "s/it,", "█", "━━", "?it/s"}, func(s string) bool { return bytes.Contains(body, []byte(s)) })
}

// afterBar returns the exception after a progress bar without a line end.
func afterBar(body []byte) exception {
	rest := head(body)
	for range 8 {
		i := bytes.IndexByte(rest, ']')
		if i < 0 {
			break
		}
		rest = rest[i+1:]
		if e := parseException(bytes.TrimLeft(rest, " ")); e.sure == errorLike && e.colon {
			return e
		}
	}
	return exception{}
}

// logStart matches the beginning of log records with their line prefix: a level, a date or time, glog's letter and
// date, NCCL's host:pid:tid, a shell's report, a process label.
var logStart = lazyre.New(`^(?:\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\b` +
	`|\[?(?:19|20)\d\d[-/]?\d\d[-/]?\d\d\b` +
	`|\[?\d\d[-/:]\d\d[-/: ]` +
	`|\[?[IWEFC]\d{3,4} \d\d:\d\d` +
	`|\[rank\d+\]:` +
	`|[^ ]{1,200}: line \d+: ` +
	`|\([^()]{1,80} pid=\d+` +
	`|(?:wandb|srun|slurmstepd|slurmstepd-[\w.-]{1,64}): ` +
	`|[\w.-]{1,64}:\d+:\d+ \[\d+\] NCCL )`)

func isLogRecord(body []byte) bool { return logStart().Match(body[:min(len(body), 200)]) }

// leadingInt reads the decimal digits that b begins with, at most nine.
func leadingInt(b []byte) (n, size int) {
	long, size := leadingInt64(b[:min(len(b), 9)])
	return int(long), size
}

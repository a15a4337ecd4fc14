package source

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"oomscan/parser/ascii"
	"oomscan/parser/lazyre"
)

// wrapping describes how the lines of a log were broken into rows.
type wrapping struct {
	width       int    // of a row, in characters; 0 if lines were not broken
	left, right string // what surrounds each row
	atSpaces    bool   // rows end between words
	flowed      bool   // rows that go on end with a blank (RFC 3676)
	trimmed     bool   // rows were copied from a screen without the blanks at their ends
	indent      int    // blanks before each row, before what surrounds it
	hang        int    // blanks before each row of a line but the first one
	places      bool   // the first row of a message may end with a place in the source, in the last column
}

const (
	minWidth       = 60
	maxWidth       = 240
	maxFlowedWidth = 132 // where rows end between words, and no message shows it
	minBox         = 36  // of the text in a box
)

// quoteMarks are what may surround the rows of a quoted log.
var quoteMarks = []wrapping{{left: "> > > "}, {left: "> >> "}, {left: ">>> "}, {left: "> > "}, {left: ">> "}, {left: "> "}, {left: "│ ", right: "│"}, {left: "┃ ", right: "┃"}, {}}

// detectWrapping recognizes a log whose lines were broken at a width, as terminals, boxes and mail programs do: no
// row is longer, and words continue on the next row.
func detectWrapping(head []byte) wrapping {
	rows, _ := wrapping{trimmed: true}.rows(wholeRows(head))
	indent := indentOf(rows)
	if indent > 0 {
		inside, _ := wrapping{indent: indent}.rows(wholeRows(head))
		head = bytes.Join(inside, []byte{'\n'})
	}
	w := wrappingOf(head)
	w.indent = indent
	return w
}

// wrappingOf is detectWrapping for rows without blanks before them.
func wrappingOf(head []byte) wrapping {
	rows, _ := wrapping{trimmed: true}.rows(wholeRows(head))
	screen := screenWidth(head)
	if w, known := detectHanging(rows, screen > 0); known {
		return w
	}
	if screen > 0 {
		return wrapping{width: screen, trimmed: true}
	}
	text := withoutMailHeader(wholeRows(head))
	for _, w := range quoteMarks {
		if w.left != "" && !bytes.Contains(head, []byte(w.left)) {
			continue
		}
		rows, box := w.rows(w.quotedPart(text))
		switch {
		case rows == nil:
			continue
		case areFlowed(w.firstRows(head)):
			w.flowed, w.width = true, maxFlowed
			return w
		case w.right == "":
		case box >= minBox && box <= maxWidth:
			w.width = box
			w.atSpaces = !w.breaksWords(rows)
			return w
		}
		for _, row := range rows {
			w.width = max(w.width, utf8.RuneCount(row))
		}
		if w.width >= minWidth && w.width <= maxWidth && w.breaksWords(rows) {
			w.trimmed = !slices.ContainsFunc(rows, func(row []byte) bool { return utf8.RuneCount(row) == w.width && bytes.HasSuffix(row, []byte{' '}) })
			return w
		}
		w.atSpaces = true
		longest := longestRow(rows)
		w.width = longest + longest%2 // the longest row may be shorter than what mail programs break at: 72, 76, 78
		if w.width < minWidth || w.width > maxWidth {
			continue
		}
		if w.width = min(w.width, knownWidth(rows, longest), boxWidth(rows)); w.width >= minWidth && w.flows(rows) {
			return w
		}
	}
	return wrapping{}
}

// wholeRows is a text without the row that it ends within.
func wholeRows(text []byte) []byte { return text[:bytes.LastIndexByte(text, '\n')+1] }

// screenWidth is the width of the rows of a screen that were saved with the blanks behind their text (screen's hardcopy, xterm), 0 if they
// are something else: rows differ in length, or hardly any ends with blanks.
func screenWidth(head []byte) (width int) {
	rows := bytes.Split(wholeRows(head), []byte{'\n'})
	padded := 0
	for _, row := range rows[:len(rows)-1] {
		row = bytes.TrimSuffix(row, []byte{'\r'})
		n := utf8.RuneCount(row)
		if n < minWidth || n > maxWidth || width > 0 && n != width {
			return 0
		}
		if width = n; bytes.HasSuffix(row, []byte("  ")) {
			padded++
		}
	}
	if padded < minRows || padded*16 < len(rows) { // a log with long lines has few rows that are not full
		return 0
	}
	return width
}

// rows returns what is inside the quote marks of each row of a text, and the width of its box. There are none where the text only
// quotes some rows.
func (w wrapping) rows(text []byte) (rows [][]byte, box int) {
	all := 0
	for row := range bytes.SplitSeq(text, []byte{'\n'}) {
		row = bytes.TrimSuffix(row, []byte{'\r'})
		inside, ok := w.inside(row)
		if ok {
			rows = append(rows, inside)
			box = max(box, utf8.RuneCount(row)-len("| "+" |"))
		}
		if ok || len(row) > 0 && !bytes.ContainsAny(row[:min(len(row), 3)], "╭╰┌└┏┗") {
			all++
		}
	}
	if len(rows)*10 < all*9 {
		return nil, 0
	}
	return rows, box
}

// inside returns a row without its quote marks. ok is false for a row without them, such as the top of a box.
func (w wrapping) inside(row []byte) ([]byte, bool) {
	row = bytes.TrimSuffix(row, []byte{'\r'})
	if w.trimmed {
		row = bytes.TrimRight(row, " ")
	}
	if w.indent > 0 {
		n := leftOf(row)
		if n < w.indent && n < len(row) {
			return nil, false
		}
		row = row[min(n, w.indent):]
	}
	if w.left == "" {
		return row, true
	}
	left := bytes.TrimRight([]byte(w.left), " ")
	if !bytes.HasPrefix(row, left) || !bytes.HasSuffix(row, []byte(w.right)) {
		return nil, false
	}
	row = bytes.TrimPrefix(row[len(left):], []byte{' '})
	if w.right != "" && len(row) >= len(w.right) {
		row = bytes.TrimRight(row[:len(row)-len(w.right)], " ")
	}
	return row, true
}

// minBroken is how many broken words prove that rows were broken at a width.
const minBroken = 2

// manyBroken is the same where they may all be at one place.
const manyBroken = 8

// maxFull is how many rows of the full width are looked at for messages that go on.
const maxFull = 64

// trimmedBlanks is how many blanks may be missing at the end of a row that was broken anywhere.
const trimmedBlanks = 2

// terminals are the widths that terminals usually have.
var terminals = []int{80, 100, 120, 132, 160, 200}

// minFlowed is the same for rows that end between words.
const minFlowed = 4

// breaksWords reports whether rows were broken at the width wherever it fell. Where they were broken between words, few rows have all
// of the width. A next row that begins like the one before is a line of its own: programs print many lines of one length.
func (w wrapping) breaksWords(rows [][]byte) bool {
	full, flowed, broken, enclosed, words, blanks := 0, 0, 0, 0, 0, 0
	within, between, atBlank := 0, 0, 0 // messages that go on within a word, between two, or one of both
	ends, starts := forms{}, forms{}
	for i, row := range rows[:max(0, len(rows)-1)] {
		next := rows[i+1]
		if len(row) < w.width/2 || len(next) == 0 || bytes.HasPrefix(next, row[:4]) || lineStart().Match(next) {
			continue
		}
		switch {
		case utf8.RuneCount(row) == w.width:
			switch {
			case full >= maxFull: // tables have many rows of one length
			case row[len(row)-1] != ' ' && inMessage(row, next, " "):
				between++
			case !inMessage(row, next, ""):
			case row[len(row)-1] == ' ' || next[0] == ' ':
				atBlank++
			default:
				within++
			}
			full++
			switch last, first := row[len(row)-1], next[0]; {
			case bytes.IndexByte(bytes.TrimLeft(row, " "), ' ') < 0: // a mail program leaves a word that is too long
			case ascii.IsLower(last) && ascii.IsLower(first) || isSurelyBroken(row, next):
				words++
			case isBroken(row, next) || first == ' ' && len(next) > 1 && next[1] != ' ' || last == ' ' && row[len(row)-2] != ' ':
				blanks++
			}
			if isBroken(row, next) && hasWords(row) {
				broken++
				starts[string(next[:min(len(next), 4)])] = true
				if end := row[len(row)-8:]; ascii.IsDigit(next[0]) {
					ends.add(end) // figures of one place differ in their digits
				} else {
					ends[string(end)] = true
				}
			}
			if encloses(row, next) {
				enclosed++
			}
		case wrapping{width: w.width, atSpaces: true}.continues(row, next):
			if (utf8.RuneCount(row) < w.width-trimmedBlanks || row[len(row)-1] == ' ') && inMessage(row, next, " ") {
				between++
			} else {
				flowed++
			}
		}
	}
	switch {
	case within != between:
		return within > between
	case atBlank > 0:
		return true
	case w.right != "" && w.splitsWords(rows):
		return true
	case w.right != "" && (words == 0 || len(ends) < minBroken):
		return false // most boxes break rows between words
	case words > 0 && words+blanks == full && slices.Contains(terminals, w.width):
		return true // few lines of a short log are that long, and a word breaks
	case full <= flowed:
		return false
	case enclosed >= minFlowed || len(ends) >= minBroken && len(starts) >= minBroken:
		return true
	case max(broken, enclosed) >= minBroken && max(broken, enclosed)*4 >= full*3 && slices.Contains(terminals, w.width):
		return true // lines of one form all break at one place
	}
	return len(ends) >= minBroken && broken >= manyBroken && full > 4*flowed
}

// forms are pieces of text, with 0 for each digit.
type forms map[string]bool

func formOf(text []byte) string {
	form := bytes.Clone(text)
	for i, c := range form {
		if ascii.IsDigit(c) {
			form[i] = '0'
		}
	}
	return string(form)
}

func (f forms) add(text []byte) { f[formOf(text)] = true }

// hasWords is false for the row of a table of numbers.
func hasWords(row []byte) bool { return bytes.ContainsFunc(row, unicode.IsLetter) }

// isBroken reports whether a word, a number or a sentence goes on from the last byte of a row to the first one of the next.
func isBroken(row, next []byte) bool {
	last, first := row[len(row)-1], next[0]
	return last == ' ' && row[len(row)-2] != ' ' && ascii.IsLower(first) || isSurelyBroken(row, next) || ascii.IsLower(last) && ascii.IsLower(first) || ascii.IsUpper(last) && ascii.IsUpper(first) || ascii.IsDigit(last) && ascii.IsDigit(first) ||
		last == '_' && ascii.IsWord(first) || ascii.IsWord(last) && first == '_' || (ascii.IsWord(last) || strings.IndexByte(`'")]}`, last) >= 0) && isInside(next)
}

// isInside reports whether a row begins with a sign that stands behind a word, and so a row that broke there. Two colons begin a command of
// a pipeline, several dots lead to a value.
func isInside(row []byte) bool {
	switch {
	case len(row) < 2 || row[1] == row[0]:
		return false
	case row[0] == '.':
		return ascii.IsWord(row[1]) || row[1] == ')'
	}
	return row[0] == ',' || row[0] == ';' || row[0] == ':'
}

// splitsWords reports whether the pieces of words at the ends of full rows are whole words elsewhere.
func (w wrapping) splitsWords(rows [][]byte) bool {
	text, split := bytes.Join(rows, []byte{' '}), map[string]bool{}
	for i, row := range rows[:max(0, len(rows)-1)] {
		next := rows[i+1]
		if utf8.RuneCount(row) != w.width || len(next) == 0 || !ascii.IsLetter(row[len(row)-1]) || !ascii.IsLower(next[0]) {
			continue
		}
		first, _, _ := bytes.Cut(next, []byte{' '})
		word := slices.Concat([]byte{' '}, row[bytes.LastIndexByte(row, ' ')+1:], first, []byte{' '})
		if bytes.Contains(text, word) {
			split[string(word)] = true
		}
	}
	return len(split) >= minBroken
}

// encloses reports whether brackets that a row opens close in the next one.
func encloses(row, next []byte) bool {
	depth := func(text []byte, n int) int {
		for _, c := range text {
			switch c {
			case '(', '[', '{':
				n++
			case ')', ']', '}':
				n--
			}
		}
		return n
	}
	n := depth(row, 0)
	return n > 0 && !bytes.ContainsRune([]byte("([{,"), rune(row[len(row)-1])) && depth(next, n) == 0
}

// flows reports whether rows end where the next word would not have fit.
func (w wrapping) flows(rows [][]byte) bool {
	full, unfinished := 0, 0
	ends, starts, lowercase := forms{}, forms{}, forms{}
	for i, row := range rows[:max(0, len(rows)-1)] {
		next := rows[i+1]
		if !w.continues(row, next) {
			continue
		}
		if isSurelyBroken(row, next) || inMessage(row, next, " ") {
			return true
		}
		if w.width > maxFlowedWidth || len(row) < w.width/2 || bytes.HasPrefix(next, row[:4]) || isTableRow(row) || !hasWords(row) {
			continue
		}
		full++
		if encloses(row, next) || row[len(row)-1] == ',' && ascii.IsLower(next[0]) {
			unfinished++
		}
		start := string(next[:min(len(next), 4)])
		ends.add(row[len(row)-8:])
		starts[start] = true
		if ascii.IsLower(next[0]) {
			lowercase[start] = true
		}
	}
	if forms := min(len(ends), len(starts)); strings.HasPrefix(w.left, ">") && (forms > minBroken && full*2 >= len(rows) || forms >= manyBroken && full*4 >= len(rows)) {
		return true // mail programs break what they quote, be it lines of one form, or a few of a log that begins with short ones
	}
	return len(ends) >= minBroken && (len(lowercase) >= minFlowed && (full*10 >= len(rows) || unfinished > 0) ||
		max(len(starts), unfinished) >= 2*minFlowed && full*3 >= len(rows))
}

// continues reports whether a line continues from one row to the next.
func (w wrapping) continues(row, next []byte) bool {
	if w.flowed {
		return flows(row, next)
	}
	n, label := utf8.RuneCount(row), w.atSpaces && isLabel().Match(row)
	switch {
	case len(bytes.TrimSpace(next)) == 0, isOver().Match(row), isRuler(row, next), next[0] == '{' && bytes.HasSuffix(row, []byte{'}'}):
		return false
	case w.right == "" && (isBoxRow(row) && isBoxRow(next) || isBorder(row) || isBorder(next)):
		return false
	case w.hang > 0 && (n > w.width || !w.isFull(row, next) || isWhole(row) || isFramed(next)):
		return false
	case label && (next[0] == '(' || next[0] == 0x1b):
		return false // that of another process
	case label && next[0] != '[' && !ascii.IsDigit(next[0]):
		return true
	case !w.atSpaces && next[0] == ' ' && isKilled().Match(row):
		return true
	case !w.atSpaces && (n == w.width && isInClass(row, next) || n >= w.width-1 && isStamp().Match(row)):
		return true
	case lineStart().Match(next) && !label && !isOpen().Match(row):
		return false
	case w.atSpaces && (isSurelyBroken(row, next) || n == w.width && row[len(row)-1] == ' '):
		return true
	case w.atSpaces:
		if bytes.HasSuffix(row, []byte{'.'}) && len(next) > 1 && ascii.IsUpper(next[1]) {
			next = bytes.TrimPrefix(next, []byte{' '}) // a sentence behind two blanks
		}
		return w.isFull(row, next)
	case (w.right != "" || w.trimmed && next[0] != ' ') && n == w.width-1:
		return true // its last character was a blank
	}
	return n == w.width
}

// isInClass reports whether a row ends inside of the name of an exception's class, the rest of which looks like the beginning of a line.
func isInClass(row, next []byte) bool {
	return len(row) > 0 && ascii.IsLetter(row[len(row)-1]) && restOfClass().Match(next) && !exceptionModule().Match(next)
}

var (
	restOfClass     = lazyre.New(`^(?:[a-z]|\.\w)[\w.]*(?:Error|Exception|Interrupt)\b`)
	exceptionModule = lazyre.New(`^(?:torch|ray|jaxlib|numpy|cupy|concurrent|subprocess|multiprocessing|asyncio|tensorflow)\.`)
)

// isSurelyBroken reports whether a line was broken between two rows as no program breaks it: inside of a frame of a traceback (Python), of
// what CUDA and PyTorch say about memory, or of a progress bar; between a figure and its unit, between a stamp's level and the file or the
// logger behind it (TensorFlow, Composer), behind a key, behind an operator, which ends no heading, or behind pytest's mark of an error.
func isSurelyBroken(row, next []byte) bool {
	const most = 32
	return !bytes.HasPrefix(row, []byte("==")) && sureBreak().Match(slices.Concat(row[max(0, len(row)-most):], []byte{'\n'}, next[:min(len(next), most)]))
}

var sureBreak = lazyre.New(`^\s*File\n"|",\nline \d|", line\n\d+, in|", line \d+,\nin |", line \d+\n\d+, in |\bout(?:\nof | of\n)memory\b|\b[Tt]ried(?:\nto | to\n)allocate|\bto allocate\n\d|` +
	`\d\n(?:[KMGT](?:i?B)?|bytes)\b|\d [KMGT]i?\ni?B\b|;\n\d+\.\d+ [KMG]iB |%\|[█▏▎▍▌▋▊▉#]*\n\| \d|\.\d+: [IWEF]\n\w|: (?:INFO|WARNING|ERROR):\n\w+\.[\w.]+: |['"]:\n[\w'"\[{-]|\w [=!<>]=\n\w|\bE\n[\w.]*(?:Error|Exception)\b`)

// breaksWord reports whether a full row ends inside a word. Where rows end between words, only a box or a column breaks one: that is longer
// than a row.
func (w wrapping) breaksWord(row []byte) bool {
	switch full := utf8.RuneCount(row) == w.width; {
	case w.flowed:
		return true
	case !full || !w.atSpaces:
		return full
	}
	return (w.right != "" || w.hang > 0) && bytes.IndexByte(bytes.TrimLeft(row[min(w.hang, len(row)):], " "), ' ') < 0
}

// lineStart matches the beginning of a new line, as opposed to the rest of the one before.
var lineStart = lazyre.New(`^(?:\x1b\[[\d;]*m)*(?:\[?(?:19|20)\d\d[-/]\d\d[-/]\d\d[ T]|\[rank\d+\]|\([\w:.-]+(?:\[[^\]]*\])?(?: rank=\d+)? pid=\d+|\(raylet\b[^()]*\)|\[\d\d:\d\d:\d\d|Traceback \(most|  File "|[IWEF]\d{4} \d\d:|(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)(?::[\w.]+:| \d\d-\d\d \d\d:)|(?:srun|slurmstepd): |/\S+(?:: line \d+: |\.py:\d+:(?: |$))|CUDA Error: |Exception occurred while running |Unhandled error \(suppress|Fatal Python error: |[\w.]+(?:Error|Exception|Interrupt)\b|\s*$)`)

// isLabel matches a row that is nothing but the label of a process, with the stamp behind it.
var isLabel = lazyre.New(`^(?:\x1b\[[\d;]*m)*\([^()]* pid=[^()]*\)(?:\x1b\[[\d;]*m)*(?: [A-Z]+ \d\d-\d\d \d\d:\d\d:\d\d \[[\w.]+:\d+\])?(?: \[(?:[Rr]ank |20\d\d-)[^\[\]]*\])*\s*$`)

// isStamp matches a row that ends with the stamp of vLLM's logger, behind which the message stands.
var isStamp = lazyre.New(`\b(?:DEBUG|INFO|WARNING|ERROR) \d\d-\d\d \d\d:\d\d:\d\d \[[\w.]+:\d+\] ?$`)

// isKilled matches what a shell says of a killed process without the command that it prints behind many blanks, where the row ended.
var isKilled = lazyre.New(`(?:^|: line \d{1,9}: +)\d{1,10} Killed\s*$`)

// isOpen matches a row that continues even if the next one looks like the beginning of a line: it ends in a word that a time or a place
// follows, with the class of an exception and the colon that Python prints before its message, with what SGLang prints before a traceback, or it is a row of a table without its right edge.
var isOpen = lazyre.New(`\b(?:a|an|the|at|AT|by|from|of|on|since|until|with|E)$|\w(?:Error|Exception):$| hit an exception:$|^│.*[^│\s]\s*$`)

// isOver matches a row that ends a line: a progress bar's state, the allocator's message of PyTorch, the head of a traceback, or a ruler.
var isOver = lazyre.New(`(?:it/s|s/it|B/s)(?:, [^\[\]]{0,80})?\]$|#environment-variables\)$|Traceback \(most recent call last\):$|^(?:-{8,}|={8,}|\*{8,}|#{8,}|_{8,}| ?[─━═]{8,} ?)$`)

// isRuler reports whether a row begins with a line of signs, which the row before does not end with.
func isRuler(last, row []byte) bool {
	r, size := utf8.DecodeRune(row)
	if r == '.' && len(bytes.Trim(row, ".")) > 0 {
		return false // dots lead to the value of an argument
	}
	return len(last) > 0 && size > 0 && bytes.HasPrefix(row, bytes.Repeat(row[:size], 8)) && strings.ContainsRune("-=*#_~.─━═", r) && !bytes.HasSuffix(last, row[:size])
}

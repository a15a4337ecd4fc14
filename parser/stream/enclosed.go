package stream

import (
	"bytes"
	"iter"
	"slices"
	"strings"

	"oomscan/parser"
	"oomscan/parser/envelope"
	"oomscan/parser/lazyre"
)

// How far above an event the reader looks for what encloses it.
const (
	enclosedLines = 120
	enclosedBytes = 16 << 10
)

// above yields the lines above the one at an offset, nearest first, within those limits.
func (r *Reader) above(at int) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for range enclosedLines {
			before, ok := r.lineBefore(at)
			if !ok || r.done-before > enclosedBytes || !yield(bytes.TrimRight(r.buf[before:at], " \t\r\n")) {
				return
			}
			at = before
		}
	}
}

// holdsAbove reports whether the text that [Reader.above] yields may hold a word: most events have none of what would explain them above.
func (r *Reader) holdsAbove(at int, word string) bool {
	return bytes.Contains(r.buf[min(at, max(0, r.done-enclosedBytes)):at], []byte(word))
}

// literalOpens is a line of source code that begins a string of several lines: Python's triple quotes, Go's and JavaScript's backticks. The
// code in a traceback or in a box around one begins with a number or a frame, or stands below its file; a wrapped sentence may end within
// backticks, so nothing but an assignment has more than the backtick.
var literalOpens = lazyre.New("^[ \t]*[A-Za-z_(\\[{\"'.](?:.*?(?:[=(,\\[{:]|return|yield) ?[rfbuRFB]{0,2}(?:\"\"\"|''')|.*(?:=|return) ?`[^`]*$|.*[(,\\[{:] ?`$)|^[ \t]+[a-z]\\w{0,40}: `[^`]*$")

// listed is a row of the code in a box around a traceback, behind whatever stands before the box: its edges, the mark of the failing line, and
// the number of the line (rich/traceback.py).
var listed = lazyre.New(`[│|] {1,8}(?:[❱>] {1,8})?\d{1,7} .*[│|]$`)

// delimiters are what begins and ends such strings.
var delimiters = [][]byte{[]byte(`"""`), []byte(`'''`), []byte("`")}

// literalSigns are the delimiters and the beginning and end of a comment.
var literalSigns = slices.Concat(delimiters, [][]byte{[]byte("/*"), []byte("*/")})

// inLiteral reports whether an event stands in a string or a comment of several lines in source code. The nearest line above with an odd
// number of one delimiter begins the string or ends one.
func (r *Reader) inLiteral(at int) bool {
	event, _, _ := bytes.Cut(r.buf[at:], newline)
	if hasOdd(event) && literalOpens().Match(event) {
		return true // its first line
	}
	before := r.buf[min(at, max(0, r.done-enclosedBytes)):at]
	if !slices.ContainsFunc(literalSigns, func(sign []byte) bool { return bytes.Contains(before, sign) }) {
		return false // as before most events
	}
	opens := false
	for line := range r.above(at) {
		if opens {
			return !bytes.HasPrefix(bytes.TrimSpace(line), []byte(`File "`))
		}
		if bytes.Contains(line, []byte("*/")) {
			return false
		}
		if bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte("/*")) {
			return true // a comment of C and its kin
		}
		if isBareDelimiter(line, event) {
			return false
		}
		if hasOdd(line) && !listed().Match(line) {
			if opens = literalOpens().Match(line); !opens {
				return false
			}
		}
	}
	return opens
}

// callOpens is the first line of a statement of Python whose arguments stand below it.
var callOpens = lazyre.New(`^[ \t]+(?:raise|return|assert|yield) [\w.]{1,100}\($`)

// isArgument reports whether an event is the string right below such a line: source code, as pytest and Python itself show it.
func (r *Reader) isArgument(at int) bool {
	line, _, _ := bytes.Cut(r.buf[at:], newline)
	if indent := indentOf(line); indent == 0 || !isQuoteAt(line, indent) {
		return false // as most events
	}
	before, ok := r.lineBefore(at)
	return ok && callOpens().Match(bytes.TrimRight(r.buf[before:at], " \r\n"))
}

// isBareDelimiter reports whether a line holds nothing but triple quotes, behind a line prefix that the event has, too: multiprocessing puts
// them around the traceback of a worker (multiprocessing/pool.py, RemoteTraceback).
func isBareDelimiter(line, event []byte) bool {
	before, ok := bytes.CutSuffix(line, delimiters[0])
	if !ok {
		return false
	}
	body, _ := envelope.Peel(line)
	return bytes.HasPrefix(event, before) || bytes.Equal(bytes.TrimSpace(body), delimiters[0])
}

// hasOdd reports whether a line holds an odd number of one delimiter: a string begins or ends there.
func hasOdd(line []byte) bool {
	return slices.ContainsFunc(delimiters, func(d []byte) bool { return bytes.Count(line, d)%2 == 1 })
}

// titled is an element of MDX, as pages of manuals consist of.
var titled = lazyre.New(`^[ \t]*<[A-Z]\w{1,40} [^<>]*\b(?:title|label|summary)="[^<>]*>$`)

// inIndented reports whether an event stands in a titled element of a page, or in a literal block of reStructuredText: a paragraph ends in
// two colons, and behind an empty line the block is indented. So is a block of Markdown, where one colon is usual. A ticket may be saved
// that has little more than a log in such a block: then it is for what follows to show whether the block is quoted.
func (r *Reader) inIndented(e *parser.Event, at int) bool {
	indent, empty, signs, labels := indentOf(r.buf[at:]), false, 0, 0
	if indent == 0 {
		return false
	}
	for line := range r.above(at) {
		if len(line) == 0 {
			empty = true
			continue
		}
		if indentOf(line) >= indent {
			empty = false
			if _, h := envelope.Peel(line[indent:]); hasClock(line) || mayCount(line) && counts(line) {
				signs++
			} else if isKnown(&h) {
				labels++
			}
			continue
		}
		if !empty || !bytes.HasSuffix(line, []byte("::")) && !codeBlock().Match(line) && !(bytes.HasSuffix(line, []byte{':'}) && r.inMarkdown(at)) {
			return titled().Match(line)
		}
		if isLog := signs >= logSigns || signs+labels > 0 && isWhole(e); !isLog || r.inPage(line) {
			return true
		}
		r.block = indent
		return false
	}
	return false
}

// inMarkdown reports whether a heading and a table of Markdown stand above an event: a page that explains messages.
func (r *Reader) inMarkdown(at int) bool {
	heading, table := false, false
	for line := range r.above(at) {
		heading = heading || manualHeading().Match(line)
		table = table || tableRule().Match(line)
	}
	return heading && table
}

// codeBlock begins a block of code in reStructuredText with the name of its language.
var codeBlock = lazyre.New(`^[ \t]*\.\. code(?:-block)?:: \w`)

// logSigns is how many lines with a time or a count of steps make a log without a whole report.
const logSigns = 3

// pageMark is a line as only pages of reStructuredText have it: below a title, a label, a directive of the page, or a reference.
var pageMark = lazyre.New("^(?:[=\\-~^\"#*+]{4,}\\s*$|\\.\\. (?:_|toctree|contents|currentmodule|module|meta|include|highlight)|.*:(?:ref|doc|class|func|mod|meth|attr|option|file):`)")

// inPage reports whether the text up to a line that opens a block is more than a few words about a log.
func (r *Reader) inPage(opens []byte) bool {
	words := 0
	for line := range bytes.Lines(r.buf[:r.done]) {
		if line = bytes.TrimRight(line, " \t\r\n"); len(line) == 0 {
			continue
		}
		if words++; words > maxWords || pageMark().Match(line) {
			return true
		}
		if bytes.Equal(line, opens) {
			return r.base > 0
		}
	}
	return true
}

// indentOf is how many blanks and tabs a line begins with.
func indentOf(line []byte) int { return len(line) - len(bytes.TrimLeft(line, " \t")) }

// member is a line of a document of JSON or YAML over several lines: a key and what its value begins with. The class of an exception begins
// with a capital, but Q is a question.
var member = lazyre.New(`^["']?([a-z_][\w-]{0,40}|Q)["']?:(?: (.*))?$`)

// memberOf returns the groups of [member] in a line, nil where there is none.
func memberOf(line []byte) [][]byte {
	line = line[columnOf(line):]
	m := member().FindSubmatch(line)
	if m != nil && isQuoteAt(line, 0) && line[len(m[1])+1] != line[0] {
		return nil // a text in quotes, not a key
	}
	return m
}

// blockText begins a text over several lines in YAML.
var blockText = lazyre.New(`^[|>][-+]?$`)

// chatKey is the key of what somebody said or a tool printed, chatTurn its neighbor that says who, or the list of such turns.
var (
	chatKey  = lazyre.New(`^(?:content|prompt|text|value|output|result|observation|thought|arguments|input)$`)
	chatTurn = lazyre.New(`^(?:["']?(?:role|from)["']?: ?["']?(?:user|assistant|system|developer|tool|function|human|gpt|SYSTEM|HUMAN|BOT)\b|["']?(?:messages|conversations?|trajectory|transcript)["']?: ?\[?(?:\{["'](?:role|from)["']: .*)?$)`)
)

// promptText is the key of a text over several lines that is the data of a run.
var promptText = lazyre.New(`^(?:prompt|question|instruction|completion|problem_statement|hints_text)$`)

// catalogKey is a key that stands beside the message of an error in a list of errors or tests, or above it, and that no report of a
// failure has.
var catalogKey = lazyre.New(`^["']?(?:slug|keywords|symptoms?|solutions?|fix|fixes|remed(?:y|ies)|workarounds?|difficulty|questions?|answer|expected(?:[_A-Z]\w{0,30})?|known_\w{1,20}|faqs?|test_?cases|fixtures|runbooks?|troubleshooting)["']?: ?`)

// A list of messages that a program looks for has such a key, unless it holds what the program has found.
var (
	soughtKey = lazyre.New(`^["']?(?:\w{1,30}_)?(?:patterns|regexp?s|regexes|keywords|signatures|substrings)["']?: ?\[?$`)
	foundKey  = lazyre.New(`(?i)^["']?\w{0,30}(?:match|found|hit|detected|seen)`)
)

// A rule by which a monitor knows a message has an example of it, what to write in its place, or what it is about. What a rule has found has other keys.
var (
	rulesKey   = lazyre.New(`^["']?(?:\w{1,30}_)?(?:rules|patterns|signatures|matchers)["']?: ?\[?$`)
	exampleKey = lazyre.New(`^(?:examples?|samples?|description|help|hint|replace_placeholder|replacement)$`)
)

// inMember reports whether an event is the value of a key or an item of a list, and the keys around it show a dialogue, a list of known
// errors or what a program looks for.
func (r *Reader) inMember(at int) bool {
	line, _, _ := bytes.Cut(r.buf[at:], newline)
	m := memberOf(line)
	indent := columnOf(line)
	if indent == 0 {
		return false
	}
	isItem := indent > indentOf(line) || isQuoteAt(line, indent)
	isExample, opens := m != nil && exampleKey().Match(m[1]), false
	for line := range r.above(at) {
		column := columnOf(line)
		if len(line) == 0 || column > indent || m == nil && column == indent {
			continue
		}
		key := memberOf(line)
		if isItem && m == nil && key != nil && isQuoteAt(line, indent) && chatKey().Match(key[1]) { // the text began there, and pprint wrapped it
			m = key
		}
		switch text := key != nil && blockText().Match(key[2]); {
		case text && column < indent:
			if m = key; promptText().Match(m[1]) {
				return true
			}
			fallthrough // what stands below it is its text
		case m != nil:
			isAround := column < indent || opens && column == indent // a list may have no more indent than its key
			indent, opens = column, column > indentOf(line)
			item := line[column:]
			if catalogKey().Match(item) || chatKey().Match(m[1]) && chatTurn().Match(item) || isExample && isAround && rulesKey().Match(item) && !foundKey().Match(item) {
				return true
			}
			if opens {
				indent = indentOf(line) // the first key of an item of a list: what is above is of another one
			}
		default:
			return isItem && soughtKey().Match(line[column:]) && !foundKey().Match(line[column:])
		}
	}
	return false
}

// A record of a data set has a task and what solves it. A failure has other keys: error, message, detail. What a search in an index of
// vectors found has lists of texts and of distances.
var (
	taskMember = lazyre.New(`^["']?(?:(?:orig(?:in|inal)?_|full_)?prompt|question|instruction|problem|query|Q)["']?: ?[^{ ]`)
	answerKey  = lazyre.New(`^(?:(?:assistant|chosen|expected|final|generated|gold|model|predicted|raw|reference|rejected)_)?(?:answer|chosen|completion|critique|generation|ground_truth|output|passage|prediction|rationale|reasoning|reference|rejected|reply|response|solution)s?(?:_\d{1,3})?$|^(?:generated_text|pred)$`)
	foundTexts = lazyre.New(`^(?:documents|texts|chunks|passages)$`)
	besideHits = lazyre.New(`^["'](?:distances|embeddings|metadatas|similarities)["']: `)
	loneText   = lazyre.New(`^[ \t]+"text": ".*"\s*$`)
)

// inRecord reports whether an event is in a record of a data set that is printed over several lines, as JSON, as YAML or by Python's pprint,
// which wraps a text: in the task, in an answer below it, among the texts that a search found, or in the one text that the record has.
func (r *Reader) inRecord(at int) bool {
	event, _, _ := bytes.Cut(r.buf[at:], newline)
	m, own, members := memberOf(event), columnOf(event), 0
	if own == 0 {
		return false
	}
	for line := range r.above(at) {
		column := columnOf(line)
		if len(line) == 0 || column > own {
			continue
		}
		switch key := memberOf(line); {
		case key != nil && column < own && (blockText().Match(key[2]) || isQuoteAt(event, own) && (isQuoteAt(line, own) || string(key[2]) == "[")):
			if m, own = key, column; promptText().Match(m[1]) {
				return true
			}
		case column < own:
			return members == 0 && string(line) == "{" && loneText().Match(event)
		case column == own && m != nil && key != nil:
			if members++; answerKey().Match(m[1]) && taskMember().Match(line[column:]) || foundTexts().Match(m[1]) && besideHits().Match(line[column:]) {
				return true
			}
		}
		if column > indentOf(line) {
			return false // the first key of an item of a list
		}
	}
	return false
}

// columnOf is where the key of a member begins.
func columnOf(line []byte) int {
	rest := bytes.TrimPrefix(bytes.TrimLeft(line, " \t"), []byte("- "))
	if column := len(line) - len(bytes.TrimPrefix(bytes.TrimPrefix(rest, []byte{'['}), []byte{'{'})); isQuoteAt(line, column) {
		return column // Python writes the first key behind the bracket
	}
	return len(line) - len(rest)
}

// isQuoteAt reports whether a quote is at a place in a line.
func isQuoteAt(line []byte, at int) bool {
	return at < len(line) && (line[at] == '"' || line[at] == '\'')
}

// inRaises reports whether an event is an item of the section of a docstring that lists what a function raises, in the form of Google or in
// that of NumPy.
func (r *Reader) inRaises(at int) bool {
	indent, rule := indentOf(r.buf[at:]), false
	if indent == 0 {
		return false
	}
	for line := range r.above(at) {
		text := string(bytes.TrimSpace(line))
		switch {
		case text == "":
			return false
		case rule:
			return text == "Raises"
		case indentOf(line) < indent:
			return text == "Raises:"
		case indentOf(line) == indent:
			rule = len(text) > 2 && strings.Trim(text, "-") == ""
		}
	}
	return false
}

// commit is a line of git log --oneline, with its graph.
var commit = lazyre.New(`^(?:[*|\\/ ]{1,12})?([0-9a-f]{7,10}) \S`)

// isCommit reports whether an event is the title of a commit: so are the two lines above it, of other commits, or the one above is the commit
// that is checked out. A label comes again.
func (r *Reader) isCommit(at int) bool {
	const least = 2
	hashOf := func(line []byte) string {
		if m := commit().FindSubmatch(line); m != nil && bytes.ContainsAny(m[1], "abcdef") { // else it may be a time
			return string(m[1])
		}
		return ""
	}
	seen := []string{hashOf(r.buf[at:min(at+40, len(r.buf))])}
	if seen[0] == "" {
		return false
	}
	for line := range r.above(at) {
		hash := hashOf(line)
		if len(hash) != len(seen[0]) || slices.Contains(seen, hash) {
			return false
		}
		if seen = append(seen, hash); len(seen) > least || bytes.Contains(line, []byte(" (HEAD")) {
			return true
		}
	}
	return false
}

// inFrontMatter reports whether an event stands in the head of a page that a generator of sites renders.
func (r *Reader) inFrontMatter(at int) bool {
	return !r.begun && bytes.HasPrefix(r.buf, []byte("---\n")) && frontMatterKey().Match(r.buf[4:at]) && !bytes.Contains(r.buf[:at], []byte("\n---"))
}

// frontMatterKey is in such a head and in no object of Kubernetes.
var frontMatterKey = lazyre.New(`(?m)^(?:title|slug|tags|layout|author|categor(?:y|ies)): `)

// A container's end in JSON tells when it began or ended, or its container, and an exit code before the reason; the values that tests and
// manuals make up do not.
var (
	statusReason  = lazyre.New(`["{ ,]reason": ?"OOM ?Killed"`)
	statusMember  = lazyre.New(`^"reason": ?"OOM ?Killed"(,?)$`)
	statusContext = lazyre.New(`[{,(]$`)
	statusProof   = lazyre.New(`\b(?:[sS]tarted|[fF]inished)_?[aA]t\b|[cC]ontainer_?I[dD]\b|"(?:time|ts|timestamp|\w{1,20}Timestamp|eventTime|level|severity)": ?`)
)

// isMadeUp reports whether an event is a container's reason in JSON without what the kubelet tells beside it.
func (r *Reader) isMadeUp(e *parser.Event, at int) bool {
	line, _, _ := bytes.Cut(r.buf[at:], newline)
	if !e.Header.Time.IsZero() || !statusReason().Match(line) || statusProof().Match(line) {
		return false
	}
	m := statusMember().FindSubmatch(bytes.TrimSpace(line))
	if m == nil {
		return bytes.HasPrefix(bytes.TrimSpace(line), []byte(`"`)) || bytes.HasSuffix(bytes.TrimSpace(line), []byte("}"))
	}
	first := true
	for above := range r.above(at) {
		if first && !statusContext().Match(above) {
			return false // a line by itself, as grep finds one
		}
		first = false
		if indentOf(above) != indentOf(line) {
			break
		}
		if statusProof().Match(above) || len(m[1]) > 0 && bytes.Contains(above, []byte(`"exitCode": `)) {
			return false
		}
	}
	return !first
}

// isEnclosed reports whether what stands around an event shows that it is a text of a source, a document or a dialogue.
func (r *Reader) isEnclosed(e *parser.Event) bool {
	at, ok := r.lineOf(e)
	if r.long != nil || !ok || !r.mayLookBack(enclosedBytes) {
		return false
	}
	return r.inLiteral(at) || r.isArgument(at) || r.inIndented(e, at) || r.inMember(at) || r.inRecord(at) || r.inRaises(at) || r.isShown(e, at) || r.isCommit(at) || r.inFrontMatter(at) || r.isMadeUp(e, at) || r.isSought(e, at) || r.inManifest(at) || r.inJudged(e, at)
}

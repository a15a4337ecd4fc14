package stream

import (
	"bytes"

	"oomscan/parser/envelope"
	"oomscan/parser/lazyre"
)

// A README, a runbook or an exercise shows a log in a fence between its own sections. An issue is a document too, but its log is what
// happened. Its form shows that, or its length: people who report a failure write little around it.

// How much text outside of blocks makes a manual.
const (
	manualHeadings = 3
	manualLines    = 12
)

// manualOpens is the first line of a document of Markdown: its title, front matter, a badge, a logo or a comment.
var manualOpens = lazyre.New(`^(?:#{1,3} [^#]|---\s*$|\+\+\+\s*$|\[?!\[|<(?:!--|[A-Z]\w{2,40}\b|(?:p|div|h[1-3]|a|img|picture|center)\b))`)

// shows is a shell's prompt, in the capture of a terminal, with a command that shows a file, and logFile is in the name of a log.
var (
	shows   = lazyre.New(`^(?:[^#$%❯>]{1,80}[#$%❯>]|[$%❯]) (?:less|more|most|cat|bat|batcat|glow) [^|;&<>]{1,200}$`)
	logFile = lazyre.New(`\.(?:log|out|err)\b`)
)

// frontMatter is the head of a page that a generator of sites renders.
var frontMatter = lazyre.New(`^---[ \t]*\r?\n[A-Za-z][\w-]{0,40}:(?s:.*?)\n---[ \t]*\r?\n`)

// manualHeading is the heading of a section.
var manualHeading = lazyre.New(`^#{1,6} [^#]`)

// inIssue heads a part of an issue's form, in Markdown or in bold, or is a line of who fills it in.
var inIssue = lazyre.New(`(?i)^(?:#{1,6} |\*\*)\W{0,12}(?:describe (?:the|your) \w.{0,40}|bug(?: report| description)?|(?:steps )?to reproduce|reproduc(?:e|tion|ible)\b.{0,40}|(?:your |current |my ){0,2}(?:environment|setup|system info)(?: info\w*)?|(?:expected|actual|current) (?:behaviou?r|result)s?|what (?:happened|went wrong|did you .{1,40}|i (?:did|tried)|you expected .{1,40})|who can help|before (?:submitting|asking).{0,40}|checklist|additional (?:context|info)\w*|(?:relevant |error |full |console )?(?:logs?|traceback|stack ?trace)(?: output)?|(?:the |my )?(?:problem|issue|question)s?|versions?|\S{0,12}(?:问题描述|复现|报错|环境信息|期望|再現|재현)\S{0,12})\W*$|^_No response_$|^- \[[xX ]\] I `)

// byReporter is what somebody says who reports a failure.
var byReporter = lazyre.New(`(?i)\bI(?:['’](?:m|ve)| (?:am|was|have|had|get|got|run|ran|try|tried|use|used|see|saw|want|need|can(?:no|'|’)?t?|could|do|did|don['’]t|didn['’]t|think|guess|expect|found|noticed|start|started|train|trained|launch|launched))\b`)

// proseOf is what the first lines of an input show: whether it begins like a document of Markdown, or with the command that shows one. Front
// matter stands for headings.
func proseOf(text []byte) (p prose) {
	text = bytes.TrimLeft(text[:min(len(text), sourceBytes)], "\ufeff \t\r\n")
	line, rest, _ := bytes.Cut(text, newline)
	if p.shown = shows().Match(bytes.TrimRight(line, " \r")) && !logFile().Match(line); p.shown {
		text = bytes.TrimLeft(rest, " \t\r\n")
		line, _, _ = bytes.Cut(text, newline)
	}
	line, _ = envelope.Peel(line)
	p.opens = manualOpens().Match(line)
	if p.opens && frontMatter().Match(text) {
		p.headings = manualHeadings
	}
	return p
}

// prose is the text around the blocks of a document.
type prose struct {
	opens    bool // the input begins like one
	shown    bool // by a command: a handbook may say what its writer found, but nobody types that to report a failure
	headings int
	lines    int  // with text
	issue    bool // in the form of an issue
}

// read follows a line, which may stand outside of a block. Whoever printed the document may have put a prefix before each line.
func (p *prose) read(raw []byte, outside bool) {
	if !p.opens || !outside {
		return
	}
	raw, _ = envelope.Peel(raw)
	if len(bytes.TrimSpace(raw)) == 0 || bytes.HasPrefix(raw, []byte("```")) {
		return
	}
	p.lines++
	if raw[0] == '#' && manualHeading().Match(raw) {
		p.headings++
	}
	p.issue = p.issue || inIssue().Match(raw) || !p.shown && byReporter().Match(raw)
}

// isManual reports whether a block in this text quotes a log.
func (p *prose) isManual() bool {
	return p.opens && !p.issue && p.headings >= manualHeadings && p.lines >= manualLines
}

package report

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/fatih/color"
)

// ink is what a piece of text means; the palette says how that looks.
type ink uint8

const (
	plain ink = iota
	bold
	dim
	short   // what is missing
	good    // a new value; all is well
	code    // to be pasted: never broken over lines
	address // a URL: never broken over lines
	place   // file:line of an input
	badgeMemory
	badgeSuspect
	badgeSurvived
	badgeCalm
	partAllocated
	partReserved
	partProcess
	partOthers
	partFree
	partUnknown
)

// palette has colors that are readable on dark and on light grounds: no yellow or white letters, no blue ones, and
// faint instead of bright black, which some dark themes make invisible. Black letters are never bold: many terminals
// draw bold black as grey.
var palette = map[ink][]color.Attribute{
	bold:          {color.Bold},
	dim:           {color.Faint},
	short:         {color.Bold, color.FgRed},
	good:          {color.Bold, color.FgGreen},
	code:          {color.FgCyan},
	address:       {color.Faint},
	badgeMemory:   {color.Bold, color.FgHiWhite, color.BgRed},
	badgeSuspect:  {color.FgBlack, color.BgYellow},
	badgeSurvived: {color.FgBlack, color.BgCyan},
	badgeCalm:     {color.FgBlack, color.BgGreen},
	partAllocated: {color.FgBlue},
	partReserved:  {color.FgCyan},
	partProcess:   {color.FgMagenta},
	partOthers:    {color.FgYellow},
	partFree:      {color.FgGreen},
	partUnknown:   {color.Faint},
}

// span is a piece of text of one ink.
type span struct {
	ink  ink
	text string
}

// glyphs are the characters that text is drawn with.
type glyphs struct {
	bullet, pointer, star, other, plus, minus, arrow, times, ellipsis, separator, rule string
	bar                                                                                map[ink]string
}

var unicodeGlyphs = glyphs{
	bullet: "•", pointer: "▸", star: "★", other: "☆", plus: "+", minus: "–", arrow: "→", times: "×", ellipsis: "…", separator: " · ", rule: "─",
	bar: map[ink]string{
		partAllocated: "█", partReserved: "▓", partProcess: "▒", partOthers: "▚", partFree: "·", partUnknown: "░",
	},
}

var asciiGlyphs = glyphs{
	bullet: "-", pointer: ">", star: "*", other: "+", plus: "+", minus: "-", arrow: "->", times: "x", ellipsis: "...", separator: ", ", rule: "-",
	bar: map[ink]string{
		partAllocated: "#", partReserved: "=", partProcess: "+", partOthers: "%", partFree: ".", partUnknown: ":",
	},
}

// page is a text that is being written.
type page struct {
	buf    bytes.Buffer
	width  int
	prose  int // columns of running text
	g      *glyphs
	colors map[ink]*color.Color     // nil: without colour
	gap    bool                     // the last line is empty
	full   bool                     // everything that is known, not the answer alone
	shown  int                      // how many of the last incident's proposals
	link   func(name string) string // see [Style]
	links  map[string]string        // addresses of the inputs by their short names; none: the terminal shows no links
}

func (p *page) lines() int { return bytes.Count(p.buf.Bytes(), []byte{'\n'}) }

func newPage(st Style) *page {
	p := &page{width: st.Width, g: &unicodeGlyphs, gap: true, full: st.Full, link: st.Link}
	if st.ASCII {
		p.g = &asciiGlyphs
	}
	p.width = max(cmp.Or(p.width, defaultWidth), minWidth)
	p.prose = min(p.width, maxProse)
	if st.Color {
		p.colors = make(map[ink]*color.Color, len(palette))
		for k, attrs := range palette {
			c := color.New(attrs...)
			c.EnableColor() // this object only: the package's own switch looks at the environment
			p.colors[k] = c
		}
	}
	return p
}

// block is where a paragraph stands: how far its first line and the others are indented, in columns, how many lines
// it may have (0: any number; the last one says that there was more), and whether it uses the full width.
type block struct {
	indent, hang, lines int
	full                bool
}

// linesOf is how many lines a paragraph takes.
func (p *page) linesOf(b block, spans []span) int {
	return len(wrap(flatten(bound(spans)), p.prose-b.indent, p.prose-b.hang))
}

// figure is a number in front of its unit.
var figure = regexp.MustCompile(`(\d) ([KMGT]i?B\b|%)`)

// bound keeps the figures of running text together with their units.
func bound(spans []span) []span {
	out := slices.Clone(spans)
	for i := range out {
		if out[i].ink == plain || out[i].ink == dim {
			out[i].text = figure.ReplaceAllString(out[i].text, "${1}"+string(nbsp)+"$2")
		}
	}
	return out
}

// para writes spans as one paragraph, wrapped at words.
func (p *page) para(b block, spans ...span) {
	width := p.prose
	if b.full {
		width = p.width
	}
	lines := wrap(flatten(bound(spans)), width-b.indent, width-b.hang)
	if b.lines > 0 && len(lines) > b.lines {
		last := lines[b.lines-1]
		room := width - b.hang
		if b.lines == 1 {
			room = width - b.indent
		}
		lines = lines[:b.lines]
		lines[b.lines-1] = shorten(last, room, p.g.ellipsis)
	}
	for i, l := range lines {
		indent := b.hang
		if i == 0 {
			indent = b.indent
		}
		p.line(indent, l)
	}
}

func (p *page) line(indent int, l []glyph) {
	for len(l) > 0 && (l[len(l)-1].r == ' ' || l[len(l)-1].r == nbsp) {
		l = l[:len(l)-1]
	}
	if len(l) == 0 {
		p.blank()
		return
	}
	p.buf.WriteString(strings.Repeat(" ", indent))
	var piece strings.Builder
	for len(l) > 0 {
		n := slices.IndexFunc(l, func(g glyph) bool { return g.ink != l[0].ink })
		if n < 0 {
			n = len(l)
		}
		piece.Reset()
		for _, g := range l[:n] {
			if g.r == nbsp {
				g.r = ' '
			}
			piece.WriteRune(g.r)
		}
		text := piece.String()
		if c := p.colors[l[0].ink]; c != nil {
			text = c.Sprint(text)
		}
		if l[0].ink == place {
			text = p.linked(text)
		}
		p.buf.WriteString(text)
		l = l[n:]
	}
	p.buf.WriteByte('\n')
	p.gap = false
}

// blank writes an empty line unless the last one is empty already.
func (p *page) blank() {
	if !p.gap {
		p.buf.WriteByte('\n')
		p.gap = true
	}
}

// badge writes a headline behind a word on a colored ground.
func (p *page) badge(ground ink, word string, text ...span) {
	word = unbroken(" " + word + " ")
	p.para(block{hang: measure(word) + 1}, append([]span{{ground, word}, {plain, " "}}, text...)...)
}

// section begins a section of an incident.
func (p *page) section(title string, note ...span) {
	p.blank()
	p.para(block{indent: 1, hang: 3}, append([]span{{ink: bold, text: title}}, note...)...)
}

func (p *page) at(file string, line int) span { return span{place, position(file, line)} }

// linked makes a place a link (OSC 8) to its file, where the terminal shows links.
func (p *page) linked(text string) string {
	name := text
	if i := strings.LastIndexByte(text, ':'); i > 0 {
		name = text[:i]
	}
	to := p.links[name]
	if to == "" {
		return text
	}
	return "\x1b]8;;" + to + "\x1b\\" + text + "\x1b]8;;\x1b\\"
}

// heading begins a section.
func (p *page) heading(title string, note ...span) {
	p.blank()
	p.para(block{indent: 2, hang: 4}, append([]span{{bold, title}}, note...)...)
}

// rule separates two incidents, and the incidents from what was read.
func (p *page) rule() {
	p.blank()
	p.para(block{}, span{dim, strings.Repeat(p.g.rule, p.prose)})
	p.blank()
}

// labelWidth is the column of the facts' labels.
const labelWidth = 10

// row writes a fact beside its label; a fact that is not known has no row.
func (p *page) row(label string, spans ...span) {
	if len(spans) == 0 {
		return
	}
	label += strings.Repeat(string(nbsp), max(1, labelWidth-len(label)))
	p.para(block{indent: 2, hang: 2 + labelWidth, full: true}, append([]span{{dim, label}}, spans...)...)
}

// more says how many entries of a list are not shown.
func (p *page) more(n int, one, many string) {
	p.para(block{indent: 4, hang: 6}, span{dim, fmt.Sprintf("%s and %s", p.g.ellipsis, count(n, "more "+one, "more "+many))})
}

// join puts the separator between parts.
func (g *glyphs) join(parts [][]span) []span { return between(parts, span{dim, g.separator}) }

// between puts a span between parts.
func between(parts [][]span, by span) []span {
	var out []span
	for i, part := range parts {
		if i > 0 {
			out = append(out, by)
		}
		out = append(out, part...)
	}
	return out
}

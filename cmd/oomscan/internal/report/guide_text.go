package report

import (
	"io"
	"strconv"
	"strings"
)

// guideText lays a page of a guide out for people.
func guideText(w io.Writer, g *GuidePage, st Style) error {
	return write(w, st, func(p *page) {
		if g.head != nil {
			writeGuideHead(p, g.head)
		}
		for i := range g.sections {
			s := &g.sections[i]
			var note []span
			if s.note != "" {
				note = []span{{dim, "  " + s.note}}
			}
			p.heading(s.title, note...)
			for k := range s.entries {
				writeEntry(p, &s.entries[k])
			}
		}
		p.blank()
		for i := range g.closing {
			writeLine(p, &g.closing[i], 2)
		}
	})
}

// writeGuideHead says what document it is.
func writeGuideHead(p *page, g *Guide) {
	kind := wordOfficialList
	if g.Guide.Document {
		kind = wordGuide
	}
	p.para(block{indent: 1, hang: 2}, span{badgeCalm, " " + g.Guide.ID + " "}, span{bold, "  " + g.Guide.Title}, span{dim, "  " + kind})
	for _, x := range []struct{ label, text string }{
		{"only", strings.Trim(deref(g.Phase)+", "+deref(g.Resource), ", ")}, {"dated", deref(g.Guide.Date)}, {"for", g.Guide.Name}, {"checked", g.Guide.SeenIn},
	} {
		if x.text != "" {
			p.row(x.label, span{plain, x.text})
		}
	}
	writeLine(p, &line{text: deref(g.Guide.URL), kind: link}, 2)
	writeLine(p, &line{text: g.Guide.Note}, 2)
}

func writeEntry(p *page, e *entry) {
	indent := 6
	var head []span
	if e.number > 0 {
		indent = 8
		number := strconv.Itoa(e.number)
		head = []span{{plain, pad("", 2-len(number)) + number + string(nbsp) + string(nbsp)}}
	}
	if e.code != "" {
		head = append(head, span{code, e.code})
	} else {
		head = append(head, span{bold, e.title})
	}
	for _, n := range e.notes {
		head = append(head, span{dim, "  " + n})
	}
	p.para(block{indent: 4, hang: indent, full: e.code != ""}, head...)
	for i := range e.lines {
		writeLine(p, &e.lines[i], indent)
	}
}

func writeLine(p *page, l *line, indent int) {
	switch {
	case l.text == "":
	case l.kind == pasted:
		for text := range strings.Lines(strings.TrimRight(l.text, "\n")) {
			trimmed := strings.TrimLeft(text, " ")
			in := indent + min(len(text)-len(trimmed), 24)
			p.para(block{indent: in, hang: in + 2, full: true}, span{code, trimmed})
		}
	case l.kind == link:
		p.para(block{indent: indent, hang: indent, full: true}, span{dim, l.text})
	case l.label == "":
		p.para(block{indent: indent, hang: indent}, span{plain, l.text})
	default:
		label := dim
		if l.kind == warning {
			label = bold
		}
		p.para(block{indent: indent, hang: indent + 2}, span{label, l.label + " "}, span{plain, l.text})
	}
}

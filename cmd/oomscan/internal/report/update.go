package report

import (
	"fmt"
	"io"
)

// Gist is what a reader has been told of an incident: enough to tell later what has come to it since.
type Gist struct {
	Verdict  string
	Survived bool
	Repeats  int
	Followed map[string]int // consequences by kind
}

// Gist returns what an incident tells now.
func (in *Incident) Gist() Gist {
	g := Gist{Verdict: in.Verdict, Survived: in.Survived, Repeats: in.Repeats, Followed: map[string]int{}}
	for _, k := range groups(in.Consequences) {
		g.Followed[k.first.Kind] = k.count
	}
	return g
}

// TextUpdate writes in a few words what has come to incident i since before was told: further reports of the same
// failure, what followed, that the run went on. It writes nothing where nothing of that is new.
func TextUpdate(w io.Writer, r *Report, i int, before Gist, st Style) error {
	in := &r.Incidents[i]
	p := newPage(st)
	p.tails = tails(r)
	var news [][]span
	add := func(spans ...span) { news = append(news, spans) }
	if n := in.Repeats - before.Repeats; n > 0 {
		add(span{bold, count(n, "more report", "more reports")}, span{plain, " of the same failure"})
	}
	shown := 0
	for _, k := range groups(in.Consequences) {
		n := k.count - before.Followed[k.first.Kind]
		if n <= 0 {
			continue
		}
		if shown++; shown > maxConsequences {
			continue
		}
		spans := []span{{bold, named(consequenceWords(), k.first.Kind)}}
		if n > 1 {
			spans = append(spans, span{plain, fmt.Sprintf(" %s%s", grouped(n), p.g.times)})
		}
		if before.Followed[k.first.Kind] == 0 {
			spans = append(spans, span{dim, " at "}, span{plain, p.position(k.first.File, k.first.Line)})
		}
		add(spans...)
	}
	if in.Survived && !before.Survived {
		add(span{good, "the run went on"})
	}
	if before.Survived && !in.Survived {
		add(span{plain, "the run did not go on"})
	}
	if len(news) == 0 {
		return nil
	}
	spans := []span{{plain, p.position(in.Root.File, in.Root.Line)}, {dim, " (" + in.Kind + "): "}}
	p.row("update", append(spans, p.join(news)...)...)
	_, err := w.Write(p.buf.Bytes())
	return err
}

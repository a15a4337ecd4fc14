package report

import "fmt"

// writeUpdate says in a few words what is new about an incident: further reports of the same failure, what followed, that the
// run went on. It writes nothing where nothing of that is new.
func writeUpdate(p *page, in *Incident, before Snapshot) {
	var news [][]span
	add := func(spans ...span) { news = append(news, spans) }
	if n := in.Repeats - before.Repeats; n > 0 {
		add(span{bold, count(n, "more report", "more reports")}, span{plain, " of the same failure"})
	}
	shown := 0
	for _, k := range groups(in.Consequences) {
		n := k.count - before.Followed[k.first.Kind]
		if n <= 0 || shown == maxConsequences {
			continue
		}
		shown++
		spans := []span{{bold, named(consequenceWords(), k.first.Kind)}}
		if n > 1 {
			spans = append(spans, span{plain, fmt.Sprintf(" %s%s", grouped(n), p.g.times)})
		}
		if before.Followed[k.first.Kind] == 0 {
			spans = append(spans, span{dim, " at "}, span{plain, position(k.first.File, k.first.Line)})
		}
		add(spans...)
	}
	if in.Survived && !before.Survived {
		add(span{good, "the run went on"})
	}
	if before.Survived && !in.Survived {
		add(span{plain, "the run did not go on"})
	}
	if len(news) > 0 {
		spans := []span{{plain, position(in.Root.File, in.Root.Line)}, {dim, " (" + in.Kind + "): "}}
		p.row("update", append(spans, p.g.join(news)...)...)
	}
}

package report

import "slices"

// writeUpdate says what is new about an incident, under the name that it was first printed with: the parts of the answer that
// have changed, more of the same error, what happened afterwards. It writes nothing where nothing of that is new.
func writeUpdate(p *page, in *Incident, before Snapshot) {
	changed := slices.DeleteFunc(in.answer(), func(f Fact) bool { return slices.Contains(before.Answer, f) })
	afterwards := in.afterwards(before)
	if len(changed)+len(afterwards) == 0 {
		return
	}
	first := in.First
	if first.File == "" {
		first = At{in.Root.File, in.Root.Line}
	}
	name := []span{{plain, position(first.File, first.Line)}, {dim, " (" + in.Kind + ")"}}
	if len(changed) == 0 {
		p.row(labelUpdate, slices.Concat(name, []span{{dim, ": "}}, p.g.join(afterwards))...)
		return
	}
	p.row(labelUpdate, name...)
	for _, f := range changed {
		p.row(f.Label, span{plain, f.Text})
	}
	p.row(labelThen, p.g.join(afterwards)...)
}

// afterwards is what has happened since: more of the same error, what followed, whether the run went on.
func (in *Incident) afterwards(before Snapshot) (news [][]span) {
	add := func(spans ...span) { news = append(news, spans) }
	if n := in.Repeats - before.Repeats; n > 0 {
		add(span{plain, sameError(in, n)})
	}
	shown := 0
	for _, k := range groups(in.Consequences) {
		n := k.count - before.Followed[k.first.Kind]
		if n <= 0 || shown == maxConsequences {
			continue
		}
		shown++
		spans := []span{{bold, followedText(k.first.Kind, n)}}
		if before.Followed[k.first.Kind] == 0 {
			spans = append(spans, span{dim, " at "}, span{plain, position(k.first.File, k.first.Line)})
		}
		add(spans...)
	}
	if in.Survived != before.Survived {
		text := wordWentOn
		if before.Survived {
			text = wordDidNotGoOn
		}
		add(span{good, text})
	}
	return news
}

package cli

import (
	"bytes"
	"hash/fnv"
	"io"
	"slices"
	"time"

	"oomscan/cmd/oomscan/internal/report"
)

// updateEvery is how often an incident that goes on growing is told again, at most.
const updateEvery = 5 * time.Second

// told is what the reader of a stream was told. The zero value is ready for use.
type told struct {
	all    []*said
	places map[report.At][]*said // of their evidence; a line may hold that of several
	owed   time.Time             // when updates are due that were held back; zero: there are none
	round  int
	loose  bool // the text ends in updates, with no empty line below
}

// said is one incident as it was told.
type said struct {
	id    string // of the first telling: what is found out later may give the incident another root and name
	gist  report.Gist
	sum   uint64 // of the line of ndjson
	at    time.Time
	round int // of the last report that held it
}

func (t *told) any() bool { return len(t.all) > 0 }

// match finds what was said of an incident, nil when it is news. An incident is the one that shares evidence with it,
// whatever else is known by now; one that was only suspected may be something that followed now.
func (t *told) match(in *report.Incident, round int) *said {
	for _, at := range in.Reports {
		for _, s := range t.places[at] {
			if s.round != round {
				return s
			}
		}
	}
	for i := range in.Consequences {
		for _, s := range t.places[report.At{File: in.Consequences[i].File, Line: in.Consequences[i].Line}] {
			if s.round != round && s.gist.Verdict == "suspect" {
				return s
			}
		}
	}
	return nil
}

// claim notes the evidence of an incident.
func (t *told) claim(in *report.Incident, s *said) {
	if t.places == nil {
		t.places = map[report.At][]*said{}
	}
	for _, at := range in.Reports {
		if !slices.Contains(t.places[at], s) {
			t.places[at] = append(t.places[at], s)
		}
	}
}

// fresh prints the incidents that were not printed yet, and what has come to the others since: at once, unless they were
// told of lately and all is false. A format that is one document waits for the end.
func (p *printer) fresh(r *report.Report, all bool) error {
	if p.options.format == "json" {
		return nil
	}
	t, now := &p.told, time.Now()
	t.round++
	for i := range r.Incidents {
		in := &r.Incidents[i]
		s := t.match(in, t.round)
		news := s == nil
		if news {
			s = &said{id: in.ID}
			t.all = append(t.all, s)
		}
		s.round = t.round
		t.claim(in, s)
		if due := s.at.Add(updateEvery); !news && !all && now.Before(due) {
			if t.owed.IsZero() || due.Before(t.owed) {
				t.owed = due
			}
			continue
		}
		wrote, err := p.say(r, i, s, news)
		if err != nil {
			return err
		}
		if wrote {
			s.at = now
		}
	}
	return nil
}

// say prints an incident, or what of it is new, and says whether there was anything to print.
func (p *printer) say(r *report.Report, i int, s *said, news bool) (bool, error) {
	in := r.Incidents[i]
	before := s.gist
	s.gist = in.Gist()
	var b bytes.Buffer
	var err error
	switch {
	case p.options.format == "ndjson":
		in.ID = s.id
		err = report.NDJSON(&b, r, &in, !news)
		sum := digest(&in, r)
		if !news && sum == s.sum {
			return false, err
		}
		s.sum = sum
	case news:
		err = report.TextIncident(&b, r, i, p.style())
	case in.Verdict != before.Verdict:
		// the headline said something else
		err = report.TextUpdate(&b, r, i, before, p.style())
		if err == nil {
			err = report.TextIncident(&b, r, i, p.style())
		}
	default:
		err = report.TextUpdate(&b, r, i, before, p.style())
	}
	if err != nil || b.Len() == 0 {
		return false, err
	}
	if p.options.format == "text" {
		if incident := news || in.Verdict != before.Verdict; incident && p.told.loose {
			if err := p.part(); err != nil {
				return false, err
			}
		} else if !incident {
			p.told.loose = true
		}
	}
	_, err = p.out.Write(b.Bytes())
	return true, err
}

// part puts an empty line below updates.
func (p *printer) part() error {
	if !p.told.loose {
		return nil
	}
	p.told.loose = false
	_, err := io.WriteString(p.out, "\n")
	return err
}

// digest tells two states of an incident apart.
func digest(in *report.Incident, r *report.Report) uint64 {
	h := fnv.New64a()
	_ = report.NDJSON(h, r, in, false)
	return h.Sum64()
}

// ended prints what of a stream's jobs was not told yet, and what stands below it once: for one job the footer, for
// several the table of them. It says whether memory ran out. After an error of the output nothing is printed.
func (j *scan) ended(list []job, err error) (memory bool, _ error) {
	if len(list) > 1 && j.options.format != "text" && j.options.format != "ndjson" {
		return j.several(list)
	}
	p := j.printer
	var last report.Report
	for i := range list {
		last = j.report(list[i].parts)
		last.Job = list[i].name
		memory = memory || last.Memory()
		switch {
		case err != nil:
		case len(list) == 1:
			err = p.final(&last)
		default:
			err = p.fresh(&last, true)
		}
	}
	if err != nil || len(list) == 1 {
		return memory, err
	}
	if p.options.format == "ndjson" {
		return memory, lineDocument{p, j.answer(list)}.end()
	}
	if err = p.part(); err == nil {
		_, err = j.several(list)
	}
	return memory, err
}

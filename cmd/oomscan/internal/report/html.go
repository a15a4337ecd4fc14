package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"

	"oomscan/parser/lazyre"
	"oomscan/parser/secret"
)

//go:embed page.html.tmpl
var pageTemplate string

// htmlTemplates are the page's head, one job, and its end; see page.html.tmpl. Only who asks for the page waits for them.
var htmlTemplates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"size": size, "position": position, "doNotApply": doNotApplyItems, "ending": func(what string) string { return sentence(named(endingWords, what)) },
		"bar": cardBar, "holders": holders, "around": linesAround, "trace": traceText, "stacks": stacksOf, "lists": htmlLists, "budget": budgetBars,
	}).Parse(pageTemplate))
})

// NewHTML returns the reporter of one self-contained page: no request to a network, readable without script, light and dark.
// Several jobs stand below an overview.
func NewHTML(o Output) Reporter { return &htmlReporter{out: o.Writer} }

type htmlReporter struct {
	out    io.Writer
	answer *Answer
}

// Begin implements [Reporter].
func (h *htmlReporter) Begin(a *Answer) error {
	h.answer = a
	return h.write("head", struct{ Title, Version string }{"oomscan", a.Version})
}

// Job implements [Reporter].
func (h *htmlReporter) Job(j *Job) error { return h.write("job", htmlJobOf(j)) }

// End implements [Reporter].
func (h *htmlReporter) End() error {
	var overview []htmlRow
	if h.answer.Several {
		by := briefs(h.answer)
		for _, name := range h.answer.Summary.First {
			overview = append(overview, htmlRowOf(by[name], h.answer.Pages[name]))
		}
	}
	return h.write("end", struct {
		Headline string
		Heads    [tableColumns]string
		Overview []htmlRow
		Read     string
	}{memoryInJobs(&h.answer.Summary), heads, overview, h.read()})
}

// read says what was read, by which program.
func (h *htmlReporter) read() string {
	a := h.answer
	parts := []string{"oomscan " + a.Version, count(a.Inputs, "file", "files"), count(a.Stats.Lines, "line", "lines"), size(a.Stats.Bytes)}
	if a.Partial {
		parts = append(parts, wordInterrupted)
	}
	return strings.Join(parts, ", ")
}

func (h *htmlReporter) write(name string, data any) error {
	var b strings.Builder
	if err := htmlTemplates().ExecuteTemplate(&b, name, data); err != nil {
		return err
	}
	_, err := io.WriteString(h.out, printableText(b.String())) // no log turns the direction of the page's text
	return err
}

// htmlRow is a job in the overview.
type htmlRow struct {
	Link, Job, Badge, Class, Kind, Phase, Cause, First string
	Fix                                                []string // where a line may end
}

// htmlRowOf is a job's row. It links to the job's page, else to its place in this one.
func htmlRowOf(b *Brief, page string) htmlRow {
	r := b.row()
	link := "#" + anchor(b.Job)
	if page != "" {
		link = "./" + page
	}
	return htmlRow{
		Link: link, Job: b.Job, Badge: r.word, Class: badgeClass(r.badge), Kind: r.cells[1], Phase: strings.ReplaceAll(r.cells[2], "_", " "),
		Cause: strings.ReplaceAll(r.cells[3], "_", " "), First: r.cells[4], Fix: keyParts().FindAllString(r.fix, -1),
	}
}

// keyParts are the parts of a setting, with the sign that ends each.
var keyParts = lazyre.New(`[^._=,/]{0,200}[._=,/]|[^._=,/]{1,200}`)

// anchor is the name of a job inside the page.
func anchor(job string) string { return "job-" + secret.Text(job) }

// badgeClass is the style of a verdict.
func badgeClass(i ink) string {
	switch i {
	case badgeMemory:
		return "bad"
	case badgeCalm, badgeSurvived:
		return "ok"
	}
	return "maybe"
}

// htmlJob is what the page shows of a job.
type htmlJob struct {
	Name, Why, Anchor string
	Run               string
	None              string // what is said where there is no incident
	Incidents         []htmlIncident
	Readings          []htmlReadings
	Failed            []Input
	Ended             []Ending // what may have ended a job without an incident
}

func htmlJobOf(j *Job) htmlJob {
	r := withShortNames(j.Report)
	out := htmlJob{Name: secret.Text(j.Name), Why: groupedBy(j.Why), Anchor: anchor(j.Name), Run: plainText(runFacts(&unicodeGlyphs, r)), Failed: failures(r), Readings: readingCharts(r)}
	if len(r.Incidents) == 0 {
		out.None, out.Ended = sentence(noneText(r)), r.EndedBy
	}
	for i := range r.Incidents {
		out.Incidents = append(out.Incidents, htmlIncidentOf(r, i))
	}
	return out
}

// htmlIncident is what the page shows of an incident: the text report's own words, with drawings.
type htmlIncident struct {
	*Incident
	Badge, Class string
	Subject      string
	Leads        []string
	WhyText      string
	Also         string
	TryHeading   string
	Checks       []check
	Tries        []htmlProposal
	Reason       string
	After        string
	Same         string
	Timeline     *htmlTimeline
	Next         *check
}

func htmlIncidentOf(r *Report, i int) htmlIncident {
	in := &r.Incidents[i]
	badge, word := verdict(in)
	out := htmlIncident{
		Incident: in, Badge: word, Class: badgeClass(badge), Subject: sentence(subject(r, in)), Leads: leads(r, in), TryHeading: tryHeading(in),
		After: plainText(afterwards(newPage(Style{}), in)), Timeline: timelineOf(&r.Run, in), Next: nextStep(r, in),
	}
	if in.Repeats > 0 {
		out.Same = closed(sentence(sameError(in, in.Repeats)))
	}
	if in.phased() {
		out.Reason = fmt.Sprintf("Phase (%s confidence): %s", in.Confidence, closed(reason(in)))
	}
	if in.Cause != nil {
		out.WhyText, out.Also = sentence(whyText(in)), alsoText(in)
	}
	if in.Verdict == "suspect" {
		out.Checks = checks(r, in)
	}
	for k := range in.Proposals {
		out.Tries = append(out.Tries, htmlProposalOf(in, &in.Proposals[k]))
	}
	return out
}

// plainText is the text of spans without their inks.
func plainText(spans []span) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.text)
	}
	return b.String()
}

// traceText is the traceback as text, one frame a line.
func traceText(in *Incident) string {
	var b strings.Builder
	for _, f := range in.Root.Trace {
		fmt.Fprintf(&b, "%s  %s\n", position(f.File, f.Line), f.Function)
	}
	return b.String()
}

// htmlProposal is a change to make, and the request beside what is free, now and then.
type htmlProposal struct {
	Snippets []htmlSnippet
	Text     string
	Worst    string
	Needs    []check // what must be true first, and the command that shows whether it is
	Costs    string
	Now      *htmlScale
}

// htmlSnippet is a setting to paste.
type htmlSnippet struct{ Text, Was, Verb string } // what it was, as a note; a setting without a value has a verb

// htmlScale compares the request with what is free, before and after a change, in percent of the larger.
type htmlScale struct {
	Request, After, Free                int64
	RequestWidth, AfterWidth, FreeWidth float64
}

func htmlProposalOf(in *Incident, x *Proposal) htmlProposal {
	out := htmlProposal{Costs: closed(inSentence(strings.Join(x.Costs, " ")))}
	for i := range x.Changes {
		c := &x.Changes[i]
		s := htmlSnippet{Text: strings.TrimRight(c.Snippet, "\n")}
		if s.Text == "" {
			s.Text, s.Verb = c.Key, verbs[c.Direction]
		}
		s.Was = strings.TrimPrefix(noteOf(c), "# ")
		if s.Text != "" {
			out.Snippets = append(out.Snippets, s)
		}
	}
	out.Text = closed(x.Text)
	if x.FreesBytes == nil {
		out.Text = strings.TrimSpace(closed(x.Title) + " " + out.Text)
	}
	if len(out.Snippets) == 0 {
		out.Text = strings.TrimSpace(out.Text + " " + closed(detail(in, x)))
	}
	if x.WhyNot != "" {
		out.Text += " (" + x.WhyNot + ")"
	}
	for _, s := range x.Needs {
		text, command := question(s)
		out.Needs = append(out.Needs, check{Command: command, Reading: strings.TrimSpace(text)})
	}
	if x.WorstCase != "" && !strings.Contains(x.Text, wordFullLength) {
		out.Worst = closed(sentence(x.WorstCase))
	}
	if r := &in.Root; r.Request != nil && r.Free != nil && x.FreesBytes != nil && *x.FreesBytes > 0 && *x.FreesBytes <= *r.Request && *r.Free > 0 {
		s := &htmlScale{Request: *r.Request, After: *r.Request - *x.FreesBytes, Free: *r.Free}
		whole := float64(max(s.Request, s.Free)) / 100
		s.RequestWidth, s.AfterWidth, s.FreeWidth = float64(s.Request)/whole, float64(s.After)/whole, float64(s.Free)/whole
		out.Now = s
	}
	return out
}

// drawnWidth is how wide the page's bars are drawn, in the units of their view box.
const drawnWidth = 700

// htmlBar is a card's memory to scale.
type htmlBar struct {
	Name, Label string
	Parts       []htmlPart
	// Request is drawn from the beginning of what is free; Over says by how much it is too large.
	RequestAt, RequestWidth float64
	Request, Over           string
}

// htmlPart is a stretch of a bar.
type htmlPart struct {
	Class, Text string
	X, Width    float64
}

// cardBar is the memory of the card, nil where the log does not show it.
func cardBar(in *Incident) *htmlBar {
	name, parts, capacity := memoryParts(in)
	if len(parts) == 0 {
		return nil
	}
	bar := &htmlBar{Name: sentence(name) + ", " + size(capacity)}
	request, free := int64(0), int64(0)
	if in.Root.Request != nil && in.Resource == "gpu" {
		request = *in.Root.Request
	}
	if last := parts[len(parts)-1]; last.ink == partFree {
		free = last.bytes
	}
	over := max(0, min(request-free, capacity/3))
	unit := float64(capacity+over) / drawnWidth
	x := 0.0
	var said []string
	for _, p := range parts {
		w := float64(p.bytes) / unit
		text := size(p.bytes) + " " + p.word()
		bar.Parts = append(bar.Parts, htmlPart{Class: partClass[p.ink], Text: text, X: x, Width: w})
		said = append(said, text)
		x += w
	}
	if request > 0 && free > 0 || over > 0 {
		bar.RequestAt, bar.RequestWidth, bar.Request = x-float64(free)/unit, float64(min(request, free+over))/unit, size(request)
		if request > free {
			bar.Over = size(request - free)
		}
	}
	bar.Label = strings.Join(said, ", ")
	return bar
}

// partClass is the style of a part of a bar.
var partClass = map[ink]string{
	partAllocated: "t1", partReserved: "t2", partProcess: "t3", partOthers: "t4", partFree: "free", partUnknown: "t5",
}

// htmlBudget is a part of the run's budget to scale.
type htmlBudget struct {
	BudgetPart
	Name          string
	Width, Spread float64 // of the value, and of its range beyond it
}

func budgetBars(in *Incident) []*htmlBudget {
	most := int64(1)
	for _, x := range in.Budget {
		most = max(most, x.High, x.Bytes)
	}
	var out []*htmlBudget
	for _, x := range in.Budget {
		unit := float64(most) / 100
		out = append(out, &htmlBudget{
			BudgetPart: x, Name: strings.ReplaceAll(x.Part, "_", " "), Width: float64(max(0, x.Bytes)) / unit, Spread: float64(max(0, x.High-x.Bytes)) / unit,
		})
	}
	return out
}

// htmlList is one list of the checklist: its items, and those that do not apply.
type htmlList struct {
	Title, URL string
	Items, Out []htmlItem
}

// htmlItem is an item of the checklist.
type htmlItem struct {
	*Remedy
	Started bool
	Value   string
	Reason  string
}

func htmlLists(in *Incident) []htmlList {
	started := startedBy(in)
	var out []htmlList
	for i := range in.Remedies {
		x := &in.Remedies[i]
		if len(out) == 0 || out[len(out)-1].Title != x.List {
			out = append(out, htmlList{Title: x.List})
		}
		l := &out[len(out)-1]
		if u := deref(x.Source.URL); l.URL == "" && strings.HasPrefix(u, "https://") {
			l.URL = u
		}
		if ruledOut(x) {
			l.Out = append(l.Out, htmlItem{Remedy: x, Reason: against(x.AppliesWhy)})
			continue
		}
		item := htmlItem{Remedy: x, Started: started[x.ID] > 0}
		if len(x.Changes) == 1 {
			item.Value = strings.TrimPrefix(plainText(inShort(&unicodeGlyphs, &x.Changes[0])), ": ")
		}
		l.Items = append(l.Items, item)
	}
	return out
}

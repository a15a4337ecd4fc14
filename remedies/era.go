package remedies

import (
	"cmp"
	"slices"
	"strings"

	"oomscan/parser/traceback"
)

// releases lists signs of old libraries, with the last month from which they can be.
var releases = []struct {
	stack   string   // a part of a frame's path or of its code
	message []string // parts of the failure's message, in lower case
	last    string
	why     string
}{
	{stack: "/python2.7/", last: "2020-01", why: "libraries no longer support Python 2.7"},
	{stack: "/python3.5/", last: "2020-11", why: "libraries no longer support Python 3.5"},
	{stack: "/python3.6/", last: "2022-04", why: "Python 3.6 runs nothing newer than transformers 4.18 and PyTorch 1.10"},
	{stack: "/python3.7/", last: "2023-06", why: "Python 3.7 runs nothing newer than transformers 4.30 and PyTorch 1.13"},
	{stack: "self._forward_micro_batch(micro_batch, temperature=temperature)", last: "2025-04", why: "verl's log-prob pass has this code up to April 2025"},
	{message: []string{" total capacity;", "ib cached)"}, last: "2020-01", why: "only PyTorch before 1.4 prints this message"},
	{message: []string{"runtimeerror: cuda out of memory", " total capacity;"}, last: "2022-10", why: "only PyTorch before 1.13 prints this message"},
}

// newestVLLM lists forms of PyTorch's message with the newest vLLM that still needs a PyTorch which prints them: each vLLM needs one
// version of PyTorch (requirements.txt). PyTorch 2.2 prints "capacity" (its issue 129632).
var newestVLLM = []struct{ message, vllm, why string }{
	{" total capacity;", "0.2.1", "PyTorch prints this message up to 2.0, and vLLM 0.2.2 needs 2.1"},
	{" total capacty of ", "0.4.0", "only PyTorch 2.1 prints \"capacty\", and vLLM 0.4.1 needs 2.2"},
}

// olderVLLM says why the engine is older than a vLLM release, "" if nothing shows it.
func olderVLLM(ctx *Context, release string) string {
	for _, n := range newestVLLM {
		if older, ok := versionIn(n.vllm, "<"+release); ok && older && strings.Contains(ctx.root.Message, n.message) {
			return n.why
		}
	}
	return ""
}

// latest returns the last month that the run's libraries may be from, such as 2022-04, and what shows it; "" if nothing does. A fork may
// be older than its log.
func latest(ctx *Context) (month, why string) {
	if !ctx.root.Dated.IsZero() {
		month = ctx.root.Dated.Format("2006-01")
		why = "the log is from " + month
	}
	message := strings.ToLower(ctx.root.Message)
	t := cmp.Or(ctx.root.Trace, &traceback.Trace{})
	for _, r := range releases {
		if month != "" && month <= r.last {
			continue
		}
		inFrame := func(f traceback.Frame) bool {
			return strings.Contains(f.File, r.stack) || strings.Contains(f.Code, r.stack)
		}
		missing := func(part string) bool { return !strings.Contains(message, part) }
		if r.stack != "" && slices.ContainsFunc(t.Frames, inFrame) || r.message != nil && !slices.ContainsFunc(r.message, missing) {
			month, why = r.last, r.why
		}
	}
	return month, why
}

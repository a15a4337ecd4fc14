package remedies

import (
	"cmp"
	"slices"
	"strings"

	"oomscan/parser/traceback"
)

// releases lists what shows how old a run's libraries are: the last month in which one came out that fits.
var releases = []struct {
	stack   string   // a part of a frame's path
	message []string // parts of the failure's message, in lower case
	last    string
	why     string
}{
	{stack: "/python2.7/", last: "2020-01", why: "Python 2.7 gets no new releases"},
	{stack: "/python3.5/", last: "2020-11", why: "Python 3.5 gets no new releases"},
	{stack: "/python3.6/", last: "2022-04", why: "transformers 4.18 and PyTorch 1.10 are the last ones for Python 3.6"},
	{stack: "/python3.7/", last: "2023-06", why: "transformers 4.30 and PyTorch 1.13 are the last ones for Python 3.7"},
	{message: []string{" total capacity;", "ib cached)"}, last: "2020-01", why: "PyTorch before 1.4 prints its message so"},
	{message: []string{"runtimeerror: cuda out of memory", " total capacity;"}, last: "2022-10", why: "PyTorch before 1.13 prints its message so"},
}

// latest returns the last month that the run may be from, such as 2022-04, and what shows it; "" if nothing does.
func latest(ctx *Context) (month, why string) {
	if !ctx.root.Dated.IsZero() {
		month = ctx.root.Dated.Format("2006-01")
		return month, "the log is from " + month
	}
	message := strings.ToLower(ctx.root.Message)
	t := cmp.Or(ctx.root.Trace, &traceback.Trace{})
	for _, r := range releases {
		inPath := func(f traceback.Frame) bool { return strings.Contains(f.File, r.stack) }
		missing := func(part string) bool { return !strings.Contains(message, part) }
		if r.stack != "" && slices.ContainsFunc(t.Frames, inPath) || r.message != nil && !slices.ContainsFunc(r.message, missing) {
			return r.last, r.why
		}
	}
	return "", ""
}

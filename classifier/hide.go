package classifier

import (
	"maps"
	"slices"
	"strings"

	"oomscan/parser"
	"oomscan/parser/envelope"
	"oomscan/parser/secret"
	"oomscan/parser/traceback"
)

// hideEvent masks the credentials in an observation, as the functions below do for other kinds. They run before any text is
// cut or compared, so that merged observations, which are masked when they are written, give the same result. Tracebacks are
// left to [hideTrace] because most are not kept.
func (c *Collector) hideEvent(o *parser.Event) {
	o.Text, o.Phase, o.Fields = secret.Stable(o.Text), secret.Stable(o.Phase), hideFields(o.Fields, secret.Stable)
	c.hideHeader(&o.Header)
}

func (c *Collector) hideSetting(o *parser.Setting) {
	o.Key, o.Value = secret.Stable(o.Key), secret.Stable(o.Value)
	c.hideHeader(&o.Header)
}

func (c *Collector) hideMarker(o *parser.Marker) {
	o.Fields = hideFields(o.Fields, c.stable) // of the texts few are kept, and those are masked when they are cut
	c.hideHeader(&o.Header)
}

func (c *Collector) hideGauge(o *parser.Gauge) {
	if !isProof(o) {
		o.Text = "" // it is never quoted
	}
	o.Text, o.Fields = secret.Stable(o.Text), hideFields(o.Fields, secret.Stable)
	c.hideHeader(&o.Header)
}

// isProof reports whether a conclusion may quote a reading: it tells how full the host or /dev/shm is, or counts kills.
func isProof(g *parser.Gauge) bool {
	if g.Name == "docker.default_shm" || g.Name == "shm.mounted" {
		return true
	}
	return slices.ContainsFunc([]string{"percent", "host_total", "host_available", "kills"}, func(field string) bool { return g.Fields[field] != "" })
}

func (c *Collector) hideHeader(h *envelope.Header) {
	for _, s := range []*string{&h.Host, &h.Process, &h.Actor, &h.Logger, &h.Stream} {
		*s = c.stable(*s)
	}
}

// Bounds of the texts that a collector remembers to hold no credential: labels and the texts of markers occur again and
// again.
const (
	maxKnown     = 1024
	maxKnownText = 128
)

// stable is [secret.Stable].
func (c *Collector) stable(text string) string {
	if text == "" {
		return ""
	}
	if _, ok := c.known[text]; ok {
		return text
	}
	masked := secret.Stable(text)
	if masked == text && len(text) <= maxKnownText {
		if c.known == nil || len(c.known) >= maxKnown {
			c.known = map[string]struct{}{}
		}
		c.known[strings.Clone(text)] = struct{}{} // a copy, so that the whole text can be freed
	}
	return masked
}

// hideFields returns the fields themselves when there is nothing to hide, as nearly always, else a copy.
func hideFields(f parser.Fields, stable func(string) string) parser.Fields {
	var out parser.Fields
	for k, v := range f {
		if s := stable(v); s != v {
			if out == nil {
				out = maps.Clone(f)
			}
			out[k] = s
		}
	}
	if out == nil {
		return f
	}
	return out
}

// hideTrace does the same for a traceback and its causes.
func hideTrace(t *traceback.Trace) *traceback.Trace {
	if t == nil {
		return nil
	}
	out, changed := *t, false
	hide := func(texts ...*string) {
		for _, s := range texts {
			if masked := secret.Stable(*s); masked != *s {
				*s, changed = masked, true
			}
		}
	}
	hide(&out.Exception, &out.Message)
	out.Frames = slices.Clone(t.Frames)
	for i := range out.Frames {
		f := &out.Frames[i]
		hide(&f.File, &f.Func, &f.Code)
	}
	if t.Origin != nil {
		out.Origin = new(*t.Origin)
		hide(&out.Origin.Actor, &out.Origin.Method, &out.Origin.IP, &out.Origin.Repr)
	}
	if out.Cause = hideTrace(t.Cause); !changed && out.Cause == t.Cause {
		return t
	}
	return &out
}

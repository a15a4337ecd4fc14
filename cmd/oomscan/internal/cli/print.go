package cli

import (
	"io"

	"oomscan/cmd/oomscan/internal/report"
)

// printer writes reports in the chosen form. Incidents of a stream are printed once, as they settle.
type printer struct {
	options *options
	out     io.Writer
	streams Streams
	printed map[report.Begin]bool
}

// fresh prints the incidents that were not printed yet; a format that is one document waits for the end.
func (p *printer) fresh(r *report.Report) error {
	if p.options.format == "json" {
		return nil
	}
	for i := range r.Incidents {
		in := &r.Incidents[i]
		if p.printed[in.Begin] {
			continue
		}
		p.printed[in.Begin] = true
		var err error
		if p.options.format == "ndjson" {
			err = report.NDJSON(p.out, r, in)
		} else {
			err = report.TextIncident(p.out, r, i, p.style())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// final prints the whole answer, or what of it was not printed yet.
func (p *printer) final(r *report.Report) error {
	switch p.options.format {
	case "json":
		return report.JSON(p.out, r)
	case "ndjson":
		return p.fresh(r)
	}
	if len(p.printed) > 0 {
		if err := p.fresh(r); err != nil {
			return err
		}
		return report.TextFooter(p.out, r, p.style())
	}
	return report.Text(p.out, r, p.style())
}

// style is how text is laid out for this output.
func (p *printer) style() report.Style {
	st := report.Style{Width: p.streams.Width}
	switch p.options.color {
	case "always":
		st.Color = true
	case "auto":
		st.Color = p.streams.OutTerminal && p.options.output == "" && p.streams.Env("NO_COLOR") == "" && p.streams.Env("TERM") != "dumb"
	}
	return st
}

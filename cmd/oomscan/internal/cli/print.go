package cli

import (
	"io"

	"oomscan/cmd/oomscan/internal/report"
)

// printer writes reports in the chosen form. Incidents of a stream are printed once, as they settle; see [told].
type printer struct {
	options *options
	out     io.Writer
	streams Streams
	told    told
}

// final prints the whole answer, or what of it was not printed yet.
func (p *printer) final(r *report.Report) error {
	switch p.options.format {
	case "json":
		return report.JSON(p.out, r)
	case "ndjson":
		if err := p.fresh(r, true); err != nil {
			return err
		}
		return report.NDJSONEnd(p.out, r.Partial, r.Inputs)
	}
	if p.told.any() {
		if err := p.fresh(r, true); err != nil {
			return err
		}
		if err := p.part(); err != nil {
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

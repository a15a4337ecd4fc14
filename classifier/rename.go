package classifier

import "oomscan/parser"

// Rename gives an input of that name another one, in every place that it told of. A name that nothing is known of is
// left alone; what was known of the new name is forgotten.
func (c *Collector) Rename(from, to string) {
	f, ok := c.files[from]
	if !ok || from == to {
		return
	}
	delete(c.files, from)
	c.files[to] = f
	f.name = to
	at := func(p *parser.Position) {
		if p.Source == from {
			p.Source = to
		}
	}
	for _, e := range f.events {
		at(&e.At)
		if e.marker != nil {
			at(&e.marker.At)
		}
	}
	for _, s := range f.streams {
		if s.phase != nil {
			at(&s.phase.At)
		}
	}
	for key, v := range f.settings {
		at(&v.At)
		for i := range v.Earlier {
			at(&v.Earlier[i].At)
		}
		f.settings[key] = v
	}
	for i := range f.launches {
		at(&f.launches[i].At)
	}
	for key, g := range f.gauges {
		at(&g.At)
		f.gauges[key] = g
	}
}

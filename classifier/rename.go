package classifier

import "oomscan/parser"

// Rename renames an input, in every position. An unknown name is ignored; what was known about the new name is dropped.
func (c *Collector) Rename(from, to string) {
	f, ok := c.files[from]
	if !ok || from == to {
		return
	}
	delete(c.files, from)
	c.files[to] = f
	f.Name = to
	at := func(p *parser.Position) {
		if p.Source == from {
			p.Source = to
		}
	}
	for _, e := range f.Events {
		at(&e.At)
		if e.Marker != nil {
			at(&e.Marker.At)
		}
	}
	for _, s := range f.Streams {
		if s.Phase != nil {
			at(&s.Phase.At)
		}
	}
	for key, v := range f.Settings {
		at(&v.At)
		for i := range v.Earlier {
			at(&v.Earlier[i].At)
		}
		f.Settings[key] = v
	}
	for i := range f.Launches {
		at(&f.Launches[i].At)
	}
	for key, g := range f.Gauges {
		at(&g.At)
		f.Gauges[key] = g
	}
}

package report

import (
	"fmt"
	"slices"
	"strings"
)

// writeTrace shows the frames around the one that decided the phase, and the last one, which allocated.
func writeTrace(p *page, in *Incident) {
	frames := in.Root.Trace
	if len(frames) == 0 {
		return
	}
	decided := deciding(in)
	p.heading("Traceback", span{dim, ", innermost last"})
	width := 0
	picked := pick(len(frames), decided)
	for _, i := range picked {
		width = max(width, measure(place(&frames[i], p.g.ellipsis)))
	}
	width = min(width, p.prose-4-2-24)
	next := 0
	for _, i := range picked {
		if i > next {
			p.para(block{indent: 6, hang: 6}, span{dim, fmt.Sprintf("%s %s", p.g.ellipsis, count(i-next, "frame", "frames"))})
		}
		next = i + 1
		f := &frames[i]
		text := span{plain, pad(place(f, p.g.ellipsis), width) + "  " + f.Function}
		mark := span{plain, string(nbsp) + string(nbsp)}
		if i == decided {
			mark, text.ink = span{bold, p.g.pointer + string(nbsp)}, bold
		}
		p.para(block{indent: 4, hang: 8, full: true, lines: 3}, mark, text)
	}
	if next < len(frames) {
		p.para(block{indent: 6, hang: 6}, span{dim, fmt.Sprintf("%s %s", p.g.ellipsis, count(len(frames)-next, "frame", "frames"))})
	}
}

// deciding is the frame that the evidence for the phase names; else the innermost one that is not a library's.
func deciding(in *Incident) int {
	frames := in.Root.Trace
	for i := len(frames) - 1; i >= 0; i-- {
		f := &frames[i]
		text := fmt.Sprintf("%s:%d in %s", f.File, f.Line, f.Function)
		if slices.ContainsFunc(in.Evidence, func(e Evidence) bool { return e.Text == text }) {
			return i
		}
	}
	for i := len(frames) - 1; i >= 0; i-- {
		if library(frames[i].File) < 0 {
			return i
		}
	}
	return len(frames) - 1
}

// pick chooses at most maxFrames of n frames: around the deciding one, the last one always.
func pick(n, decided int) []int {
	if n <= maxFrames {
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		return all
	}
	from := max(0, min(decided-2, n-maxFrames))
	var out []int
	for i := from; i < from+maxFrames-1; i++ {
		out = append(out, i)
	}
	return append(out, n-1)
}

// library is where a path's part inside an installed package begins, negative when it is in none.
func library(path string) int {
	for _, dir := range []string{"site-packages/", "dist-packages/", `site-packages\`, `dist-packages\`} {
		if i := strings.LastIndex(path, dir); i >= 0 {
			return i + len(dir)
		}
	}
	return -1
}

// place is a frame's file, without what every path of the installation begins with, and its line.
func place(f *Frame, ellipsis string) string {
	path := f.File
	if i := library(path); i >= 0 {
		path = path[i:]
	} else if dirs := strings.Split(path, "/"); len(dirs) > 5 {
		path = ellipsis + "/" + strings.Join(dirs[len(dirs)-4:], "/")
	}
	return position(path, f.Line)
}

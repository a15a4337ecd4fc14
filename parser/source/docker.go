package source

import (
	"bytes"
	"encoding/binary"
)

// Docker's API sends the output of a container without a terminal in frames (Engine API, ContainerAttach, "stream format"): the number of
// the stream, three zeros, the length of what follows in four bytes, the highest first.
const (
	frameHead  = 8
	maxFrame   = 1 << 20
	fewFrames  = 2
	lastStream = 2 // standard error
)

// frameLength returns the length of the frame that b begins with, without its head. ok is false for anything else.
func frameLength(b []byte) (n int, ok bool) {
	if len(b) < frameHead || b[0] > lastStream || b[1]|b[2]|b[3] != 0 {
		return 0, false
	}
	size := binary.BigEndian.Uint32(b[frameHead/2:])
	return int(size), size > 0 && size <= maxFrame
}

// isDockerStream reports whether head begins a file of such frames: as many as it holds, of which each but the last ends a line.
func isDockerStream(head []byte) bool {
	frames := 0
	for len(head) >= frameHead {
		n, ok := frameLength(head)
		if !ok {
			return false
		}
		frames++
		if head = head[frameHead:]; n > len(head) {
			return frames > 1
		}
		if bytes.IndexByte(head[:n], 0) >= 0 {
			return false
		}
		head = head[n:]
	}
	return frames >= fewFrames
}

// dockerStream takes the heads off the frames. What is no frame stays as it is.
type dockerStream struct {
	head   []byte // a part of one
	left   int    // bytes of the frame
	broken bool
}

func (d *dockerStream) Append(dst, src []byte) []byte {
	for len(src) > 0 {
		if d.broken {
			return append(dst, src...)
		}
		if d.left > 0 {
			n := min(d.left, len(src))
			dst, src, d.left = append(dst, src[:n]...), src[n:], d.left-n
			continue
		}
		n := min(frameHead-len(d.head), len(src))
		d.head, src = append(d.head, src[:n]...), src[n:]
		if len(d.head) < frameHead {
			return dst
		}
		size, ok := frameLength(d.head)
		if !ok {
			dst, d.broken = append(dst, d.head...), true
		}
		d.left, d.head = size, d.head[:0]
	}
	return dst
}

func (d *dockerStream) Close(dst []byte) []byte { return append(dst, d.head...) }

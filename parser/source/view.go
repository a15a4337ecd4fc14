package source

import (
	"io"
	"os"
)

// View reads part of an open regular file at offsets, by copying or, on local file systems, by mapping its pages. It
// may be used concurrently. The file must stay open.
type View struct {
	file  *os.File
	from  int64
	size  int64
	local bool // no other machine writes to the file system
}

// NewView returns a view of size bytes of f, beginning at from.
func NewView(f *os.File, from, size int64) *View {
	return &View{file: f, from: from, size: size, local: isLocal(f)}
}

// ReadAt implements [io.ReaderAt]; offsets are relative to the view.
func (v *View) ReadAt(p []byte, off int64) (int, error) {
	return io.NewSectionReader(v.file, v.from, v.size).ReadAt(p, off)
}

// Window maps n bytes of the view at off. The caller must not write to text, and must not use it after calling
// release. If the file shrinks or the disk fails, reading text raises a fault that ends the process unless the
// goroutine has called [runtime/debug.SetPanicOnFault]. ok is false where the caller should use ReadAt instead: past
// the end of the view, and on network file systems, where faults are likely.
func (v *View) Window(off int64, n int) (text []byte, release func(), ok bool) {
	if !v.local || off < 0 || n <= 0 || off+int64(n) > v.size {
		return nil, nil, false
	}
	return window(v.file, v.from+off, n)
}

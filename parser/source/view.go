package source

import (
	"io"
	"os"
)

// View reads a part of an open regular file at offsets: by copying, or, on a local file system and where the system allows,
// by mapping its pages. It may serve several goroutines. The file must stay open.
type View struct {
	file  *os.File
	from  int64
	size  int64
	local bool // no other machine writes to the file system
}

// NewView returns a view of size bytes of f, the first of which is at from.
func NewView(f *os.File, from, size int64) *View {
	return &View{file: f, from: from, size: size, local: isLocal(f)}
}

// ReadAt reads into p what the view has from off on. See [io.ReaderAt].
func (v *View) ReadAt(p []byte, off int64) (int, error) {
	return io.NewSectionReader(v.file, v.from, v.size).ReadAt(p, off)
}

// Window returns n bytes of the view from off on, where they lie, and what ends their use. They must not be read after
// that, and never be written to. Should the file become shorter meanwhile, or the disk fail, reading them raises
// a fault, which ends the process unless the goroutine has called [runtime/debug.SetPanicOnFault]. ok is false where
// the caller should use ReadAt: at the end of the view, and on a network file system, where a fault is likely.
func (v *View) Window(off int64, n int) (text []byte, release func(), ok bool) {
	if !v.local || off < 0 || n <= 0 || off+int64(n) > v.size {
		return nil, nil, false
	}
	return window(v.file, v.from+off, n)
}

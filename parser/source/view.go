package source

import (
	"io"
	"os"
)

// View reads a part of an open regular file at offsets: by copying, or, where the file system is one of this machine's own
// and the system allows, by looking at the pages that it keeps. It may serve several goroutines. The file must stay open.
type View struct {
	file *os.File
	from int64
	size int64
	own  bool // the file system is one of this machine's own
}

// NewView returns a view of size bytes of f, the first of which is at from.
func NewView(f *os.File, from, size int64) *View {
	return &View{file: f, from: from, size: size, own: local(f)}
}

// ReadAt reads into p what the view has from off on. See [io.ReaderAt].
func (v *View) ReadAt(p []byte, off int64) (int, error) {
	return io.NewSectionReader(v.file, v.from, v.size).ReadAt(p, off)
}

// Window returns n bytes of the view from off on, where they lie, and what ends their use. Nothing may look at them after
// that, and nobody may ever write to them. Should the file become shorter meanwhile, or the disk fail, looking at them raises
// a fault, which ends the process unless the goroutine has called [runtime/debug.SetPanicOnFault]. It says no where they are
// to be read instead: at the end of the view, and where a network may be between the file and us, for a fault is then to be expected.
func (v *View) Window(off int64, n int) (text []byte, release func(), ok bool) {
	if !v.own || off < 0 || n <= 0 || off+int64(n) > v.size {
		return nil, nil, false
	}
	return window(v.file, v.from+off, n)
}

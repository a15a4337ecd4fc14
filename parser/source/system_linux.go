package source

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// pipeSize is the buffer size requested for a pipe: with more than the usual 64 KiB both ends wait less often. It is
// the default maximum for unprivileged users (fs.pipe-max-size).
const pipeSize = 1 << 20

// Widen enlarges f's buffer if f is a pipe. It is only an optimization.
func Widen(f *os.File) {
	if c, err := f.SyscallConn(); err == nil { // Fd would make reads block
		_ = c.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeSize) })
	}
}

// SkipHoles returns a reader of the rest of a file without its holes; nil if it has none. Of a log that was truncated while its
// writer went on at its offset, a terabyte may be a hole.
func SkipHoles(f *os.File) io.Reader {
	at, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil
	}
	hole, err := f.Seek(at, unix.SEEK_HOLE)
	if _, failed := f.Seek(at, io.SeekStart); err != nil || failed != nil {
		return nil
	}
	if st, err := f.Stat(); err != nil || hole >= st.Size() {
		return nil
	}
	return dataReader{f}
}

// dataReader reads a file and goes on with the next data where a hole begins.
type dataReader struct{ *os.File }

func (r dataReader) Read(p []byte) (int, error) {
	at, err := r.Seek(0, io.SeekCurrent)
	if err == nil {
		_, err = r.Seek(at, unix.SEEK_DATA)
	}
	if errors.Is(err, unix.ENXIO) { // there is no more data
		return 0, io.EOF
	}
	if err != nil {
		return 0, err
	}
	return r.File.Read(p)
}

// identityOf tells files apart whatever their names.
func identityOf(info fs.FileInfo) (id identity) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		id = identity{st.Dev, st.Ino}
	}
	return id
}

package source

import (
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

// identityOf tells files apart whatever their names.
func identityOf(info fs.FileInfo) (id identity) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		id = identity{st.Dev, st.Ino}
	}
	return id
}

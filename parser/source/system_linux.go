package source

import (
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// localFileSystems are those that only this machine writes to and that do not fail as networks do.
var localFileSystems = []int64{
	unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC,
	unix.F2FS_SUPER_MAGIC,
}

func isLocal(f *os.File) bool {
	var st unix.Statfs_t
	return unix.Fstatfs(int(f.Fd()), &st) == nil && slices.Contains(localFileSystems, int64(st.Type))
}

var pageSize = int64(os.Getpagesize())

// window maps part of a file. Only whole pages can be.
func window(f *os.File, off int64, n int) (text []byte, release func(), ok bool) {
	before := int(off % pageSize)
	pages, err := unix.Mmap(int(f.Fd()), off-int64(before), before+n, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, false
	}
	return pages[before:], func() { _ = unix.Munmap(pages) }, true
}

// pipeSize is what a pipe is asked to hold: with more than the usual 64 KiB both ends wait less often. It is the most
// that Linux gives to unprivileged users (fs.pipe-max-size).
const pipeSize = 1 << 20

// Widen asks for a larger pipe where f is one. It works as well without.
func Widen(f *os.File) {
	if c, err := f.SyscallConn(); err == nil { // Fd would make its reads block
		_ = c.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeSize) })
	}
}

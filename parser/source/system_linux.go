package source

import (
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// localFileSystems are file systems that no other machine writes to and that do not fail when a network does.
var localFileSystems = []int64{
	unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC,
	unix.F2FS_SUPER_MAGIC,
}

func isLocal(f *os.File) bool {
	var st unix.Statfs_t
	return unix.Fstatfs(int(f.Fd()), &st) == nil && slices.Contains(localFileSystems, int64(st.Type))
}

var pageSize = int64(os.Getpagesize())

// window maps part of a file. Mappings begin at page boundaries.
func window(f *os.File, off int64, n int) (text []byte, release func(), ok bool) {
	before := int(off % pageSize)
	pages, err := unix.Mmap(int(f.Fd()), off-int64(before), before+n, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, false
	}
	return pages[before:], func() { _ = unix.Munmap(pages) }, true
}

// pipeSize is the buffer size requested for a pipe: with more than the usual 64 KiB both ends wait less often. It is
// the default maximum for unprivileged users (fs.pipe-max-size).
const pipeSize = 1 << 20

// Widen enlarges f's buffer if f is a pipe. It is only an optimization.
func Widen(f *os.File) {
	if c, err := f.SyscallConn(); err == nil { // Fd would make reads block
		_ = c.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeSize) })
	}
}

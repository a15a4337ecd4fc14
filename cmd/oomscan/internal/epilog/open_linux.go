package epilog

import (
	"errors"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// Why a log is not read.
var (
	errKind   = errors.New("not a regular file")
	errKernel = errors.New("a file of the kernel")
	errOwner  = errors.New("another user's file")
)

// kernelFiles are file systems with files that look regular but are generated when they are read: they may contain
// this process's secrets, be endless, or have side effects.
var kernelFiles = []int64{
	unix.PROC_SUPER_MAGIC, unix.SYSFS_MAGIC, unix.DEBUGFS_MAGIC, unix.TRACEFS_MAGIC, unix.CGROUP_SUPER_MAGIC, unix.CGROUP2_SUPER_MAGIC,
	unix.SECURITYFS_MAGIC, unix.SELINUX_MAGIC, unix.BPF_FS_MAGIC, unix.PSTOREFS_MAGIC, unix.EFIVARFS_MAGIC, unix.BINFMTFS_MAGIC,
	unix.DEVPTS_SUPER_MAGIC,
}

// openFile opens a log for reading: a regular file of that user, on a file system for files. It neither waits nor has
// side effects, even if the path leads to a FIFO, device or terminal. It must run as the user. links allows a
// symbolic link at the end of the path.
func openFile(path string, uid uint32, links bool) (*os.File, *unix.Stat_t, error) {
	flags := unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC
	if !links {
		flags |= unix.O_NOFOLLOW
	}
	// Check first, because opening a device has side effects.
	var st unix.Stat_t
	stat := unix.Lstat
	if links {
		stat = unix.Stat
	}
	if err := stat(path, &st); err != nil {
		return nil, nil, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, nil, errKind
	}
	fd, err := unix.Open(path, flags, 0)
	if err != nil {
		return nil, nil, err
	}
	var fs unix.Statfs_t
	if err = unix.Fstat(fd, &st); err == nil {
		err = unix.Fstatfs(fd, &fs)
	}
	switch {
	case err != nil:
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		err = errKind
	case slices.Contains(kernelFiles, int64(fs.Type)):
		err = errKernel
	case st.Uid != uid:
		err = errOwner
	}
	if err != nil {
		unix.Close(fd)
		return nil, nil, err
	}
	return os.NewFile(uintptr(fd), path), &st, nil
}

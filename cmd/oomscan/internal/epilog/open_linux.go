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

// kernelFiles are file systems whose files look regular, and whose content is made up when they are read: it may be this
// process's own secrets, it may have no end, and to read it may have effects.
var kernelFiles = []int64{
	unix.PROC_SUPER_MAGIC, unix.SYSFS_MAGIC, unix.DEBUGFS_MAGIC, unix.TRACEFS_MAGIC, unix.CGROUP_SUPER_MAGIC, unix.CGROUP2_SUPER_MAGIC,
	unix.SECURITYFS_MAGIC, unix.SELINUX_MAGIC, unix.BPF_FS_MAGIC, unix.PSTOREFS_MAGIC, unix.EFIVARFS_MAGIC, unix.BINFMTFS_MAGIC,
	unix.DEVPTS_SUPER_MAGIC,
}

// openFile opens a log for reading: a regular file of that user, on a file system that holds files. It neither waits nor
// has effects, whatever the path leads to: FIFO, device, terminal. Call it as the user; links says that
// a symbolic link at the end of the path is followed.
func openFile(path string, uid uint32, links bool) (*os.File, *unix.Stat_t, error) {
	flags := unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC
	if !links {
		flags |= unix.O_NOFOLLOW
	}
	// A look before: to open a device is an effect of its own.
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

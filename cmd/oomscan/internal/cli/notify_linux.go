package cli

import (
	"github.com/fsnotify/fsnotify"
	"golang.org/x/sys/unix"
)

// notifier tells that something happened in folders.
type notifier struct {
	watcher *fsnotify.Watcher // nil: the system gives none
	paths   chan string
}

// newNotifier returns a notifier without folders. It always works; what it cannot watch must be polled.
func newNotifier() *notifier {
	n := &notifier{paths: make(chan string, 256)}
	w, err := fsnotify.NewBufferedWatcher(1024)
	if err != nil {
		return n // too many of them on this machine
	}
	n.watcher = w
	go func() {
		defer close(n.paths)
		for {
			select {
			case e, ok := <-w.Events:
				if !ok {
					return
				}
				if e.Op != fsnotify.Chmod {
					n.paths <- e.Name
				}
			case _, ok := <-w.Errors:
				if !ok {
					return
				}
				n.paths <- "" // most likely more happened than could be told
			}
		}
	}()
	return n
}

// add watches a folder and says whether everything that happens there will be told. Where others than this machine may
// write, nothing reports what they do.
func (n *notifier) add(dir string) bool {
	return n.watcher != nil && n.watcher.Add(dir) == nil && local(dir)
}

// close ends the notifications.
func (n *notifier) close() {
	if n.watcher != nil {
		go func() {
			for range n.paths { // who waits to tell something is let go
			}
		}()
		_ = n.watcher.Close()
	}
}

// local reports whether a folder is on a file system that only this machine writes to. Of others (NFS, Lustre, GPFS, FUSE,
// what a virtual machine shares) it is not known.
func local(dir string) bool {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return false
	}
	switch uint32(st.Type) {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.RAMFS_MAGIC, unix.F2FS_SUPER_MAGIC,
		unix.OVERLAYFS_SUPER_MAGIC, zfsMagic:
		return true
	}
	return false
}

const zfsMagic = 0x2fc12fc1 // ZFS_SUPER_MAGIC of OpenZFS

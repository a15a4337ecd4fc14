package epilog

import (
	"bytes"
	"errors"

	"golang.org/x/sys/unix"
)

// readKernel reads the available records of the kernel's log, without waiting. Each record costs a system call and a
// node has thousands, so it first checks whether any of them is relevant.
func readKernel(path string, k *kernelLog) error {
	if !k.mayMention() {
		return nil
	}
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	buf := make([]byte, 16<<10) // larger than the kernel's limit for a record
	for total := 0; total < maxKmsg; {
		n, err := unix.Read(fd, buf)
		switch {
		case errors.Is(err, unix.EPIPE) || errors.Is(err, unix.EINTR): // overwritten: continue with the next one
			total++
			continue
		case errors.Is(err, unix.EAGAIN) || err == nil && n == 0:
			return nil
		case err != nil:
			return err
		}
		total += n
		k.record(buf[:n])
	}
	return nil
}

// Actions of syslog(2).
const (
	actionReadAll    = 3
	actionSizeBuffer = 10
)

// mayMention reports whether the kernel's log may contain the job.
func (k *kernelLog) mayMention() bool {
	n, err := unix.Klogctl(actionSizeBuffer, nil)
	if err != nil || n <= 0 {
		return true
	}
	buf := make([]byte, min(n, maxKmsg))
	n, err = unix.Klogctl(actionReadAll, buf)
	return err != nil || bytes.Contains(buf[:n], k.group) || bytes.Contains(buf[:n], k.end)
}

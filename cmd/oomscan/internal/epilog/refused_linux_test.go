package epilog

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// refusing makes this test's program run confine where the system refuses what it asks for.
const refusing = "OOMSCAN_TEST_REFUSING"

// refuse lets the calls of these numbers fail with EPERM from now on.
func refuse(calls ...uint32) error {
	const load, equal, ret = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_RET | unix.BPF_K
	filter := []unix.SockFilter{{Code: load}}
	for i, nr := range calls {
		filter = append(filter, unix.SockFilter{Code: equal, Jt: uint8(len(calls) - i), K: nr})
	}
	filter = append(filter,
		unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ALLOW},
		unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)})
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return errno
	}
	return nil
}

// TestWhatTheSystemRefusesIsSaid runs confine under a filter of system calls, in a process of its own.
func TestWhatTheSystemRefusesIsSaid(t *testing.T) {
	if os.Getenv(refusing) != "" {
		runtime.LockOSThread()
		if err := refuse(unix.SYS_PRCTL, unix.SYS_PRLIMIT64); err != nil {
			fmt.Println("null")
			os.Exit(0)
		}
		troubles, _ := json.Marshal(confine(&request{Config: Config{Deadline: Duration(time.Minute)}}))
		fmt.Println(string(troubles))
		os.Exit(0)
	}
	t.Parallel()
	child := exec.Command(os.Args[0], "-test.run=^TestWhatTheSystemRefusesIsSaid$")
	child.Env = append(os.Environ(), refusing+"=1")
	out, err := child.Output()
	require.NoError(t, err)
	var troubles []string
	require.NoError(t, json.Unmarshal(out, &troubles), string(out))
	if troubles == nil {
		t.Skip("this system lets nobody filter its calls")
	}
	var want []string
	for _, what := range []string{"no_new_privs", "dumpable", "limit of core files", "limit of open files", "limit of file size", "limit of processor time"} {
		want = append(want, what+": "+why(unix.EPERM))
	}
	assert.Equal(t, want, troubles)
}

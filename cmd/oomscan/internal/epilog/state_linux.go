package epilog

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"
)

// stateFolder keeps what the hook must remember about jobs that may run again. Like the kernel's log, it is gone
// after a reboot.
const stateFolder = "/run/oomscan"

// Limits of the folder.
const (
	maxState   = 16 << 10
	keep       = 7 * 24 * time.Hour
	minCleanup = 512
)

// state is what was read for one job on one node: a requeued job must not be blamed for the end of its earlier run.
type state struct {
	Kernel uint64 // sequence number of the kernel's log
	Marks  []mark
}

// states is the open folder.
type states struct{ root *os.Root }

// openStates opens the folder, and creates it if necessary, for root only.
func openStates() (*states, error) {
	if err := os.Mkdir(stateFolder, 0o700); err != nil && !os.IsExist(err) {
		return nil, err
	}
	r, err := openRootOnly(stateFolder)
	if err != nil {
		return nil, err
	}
	return &states{r}, nil
}

func (s *states) close() {
	if s != nil {
		s.root.Close()
	}
}

// name returns a job's file name. Several slurmd may share a machine, and several clusters too.
func (s *states) name(j *Job) string {
	cluster := j.Cluster
	if !hostName(cluster) {
		cluster = "cluster"
	}
	return fmt.Sprintf("%s.%s.%d", cluster, j.Node, j.ID)
}

func (s *states) load(j *Job) (st state) {
	if s == nil {
		return st
	}
	f, err := s.root.Open(s.name(j))
	if err != nil {
		return st
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxState))
	if err != nil || json.Unmarshal(b, &st) != nil {
		return state{}
	}
	return st
}

// save stores a job's state and removes old ones.
func (s *states) save(j *Job, st state) error {
	b, err := json.Marshal(st)
	if err != nil {
		return err
	}
	if err := replace(s.root, s.name(j), 0o600, b); err != nil {
		return err
	}
	d, err := s.root.Open(".")
	if err != nil {
		return err
	}
	defer d.Close()
	entries, err := d.ReadDir(10 * minCleanup)
	if err != nil || len(entries) < minCleanup {
		return nil
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > keep {
			_ = s.root.Remove(e.Name())
		}
	}
	return nil
}

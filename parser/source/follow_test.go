package source

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// watch follows paths in a folder and keeps what was read, with | where a file restarted.
type watch struct {
	*testing.T
	root string
	f    *Follower
	now  time.Time
	got  map[string]string
}

func newWatch(t *testing.T, open int, paths ...string) *watch {
	w := &watch{T: t, root: t.TempDir(), now: time.Unix(0, 0), got: map[string]string{}}
	for i := range paths {
		paths[i] = filepath.Join(w.root, paths[i])
	}
	w.f = NewFollower(paths, open)
	t.Cleanup(w.f.Close)
	return w
}

func (w *watch) path(name string) string { return filepath.Join(w.root, name) }

func (w *watch) append(name, text string) {
	w.Helper()
	f, err := os.OpenFile(w.path(name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	require.NoError(w, err)
	_, err = f.WriteString(text)
	require.NoError(w, err)
	require.NoError(w, f.Close())
}

func (w *watch) rename(from, to string) {
	w.Helper()
	require.NoError(w, os.Rename(w.path(from), w.path(to)))
}

// read looks, reads everything, lets the quiet time pass and reads again.
func (w *watch) read() {
	w.Helper()
	w.f.Look()
	buf := make([]byte, 256)
	for range 2 {
		for _, l := range w.f.Logs() {
			name := strings.TrimPrefix(l.Name, w.root+"/")
			for {
				n, restarted, err := l.Read(buf, w.now)
				require.NoError(w, err)
				if restarted {
					w.got[name] += "|"
				}
				w.got[name] += string(buf[:n])
				if n == 0 && !restarted {
					break
				}
			}
		}
		w.now = w.now.Add(2 * quietTime)
	}
	assert.LessOrEqual(w, w.f.opened, max(w.f.Open, 1))
}

func (w *watch) want(name, text string) {
	w.Helper()
	assert.Equal(w, text, w.got[name], name)
}

func TestFollowReadsWhatGrows(t *testing.T) {
	t.Parallel()
	for _, open := range []int{1, 100} {
		w := newWatch(t, open, "a.log", "b.log", "late.log")
		w.append("a.log", "a1\n")
		w.append("b.log", "b1\n")
		w.read()
		for i := range 5 {
			w.append("a.log", fmt.Sprintln("more", i))
			w.append("b.log", strings.Repeat("x", 300))
			w.read()
		}
		w.append("late.log", "here\n")
		w.read()
		w.want("a.log", "a1\nmore 0\nmore 1\nmore 2\nmore 3\nmore 4\n")
		w.want("b.log", "b1\n"+strings.Repeat("x", 1500))
		w.want("late.log", "here\n")
	}
}

func TestFollowReadsARotatedFileToItsEnd(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"a.log", "."} {
		for _, open := range []int{1, 100} {
			w := newWatch(t, open, path)
			w.append("a.log", "one\n")
			w.append("b.log", "other\n")
			w.read()
			w.append("a.log", "two\n") // not read before the rotation
			w.rename("a.log", "a.log.1")
			w.append("a.log", "three\n")
			w.read()
			w.rename("a.log.1", "a.log.2")
			w.rename("a.log", "a.log.1")
			w.append("a.log", "four\n")
			w.read()
			w.read()
			w.want("a.log", "one\ntwo\n|three\n|four\n")
			w.want("a.log.1", "")
			w.want("a.log.2", "")
		}
	}
}

func TestFollowKeepsReadingARenamedFile(t *testing.T) {
	t.Parallel()
	for _, open := range []int{1, 100} {
		w := newWatch(t, open, ".")
		w.append("a.log", "one\n")
		w.append("b.log", "other\n")
		w.read()
		w.rename("a.log", "old")
		w.append("old", "two\n")
		w.read()
		w.append("old", "three\n")
		w.read()
		w.want("a.log", "one\ntwo\nthree\n")
		w.want("old", "")
	}
}

func TestFollowRecognizesACopy(t *testing.T) {
	t.Parallel()
	w := newWatch(t, 10, ".")
	w.append("a.log", "one, which is some line\n")
	w.read()
	w.append("a.log.1", "one, which is some line\n") // copytruncate copies first and truncates later
	w.read()
	require.NoError(t, os.Truncate(w.path("a.log"), 0))
	w.append("a.log", "two\n")
	w.read()
	w.append("a-20260101.log", "two\n")
	w.read()
	w.want("a.log", "one, which is some line\n|two\n")
	w.want("a.log.1", "")
	w.want("a-20260101.log", "")
	w.append("a-20260101.log", "three\n")
	w.read()
	w.want("a-20260101.log", "two\nthree\n") // a copy would not grow
}

func TestFollowNoticesTruncation(t *testing.T) {
	t.Parallel()
	w := newWatch(t, 10, "a.log")
	w.append("a.log", "some lines\nthat were read\n")
	w.read()
	require.NoError(t, os.WriteFile(w.path("a.log"), []byte("short\n"), 0o644))
	w.read()
	w.want("a.log", "some lines\nthat were read\n|short\n")
	// Truncated and written past the old position between two looks.
	require.NoError(t, os.WriteFile(w.path("a.log"), []byte("longer than before, by far\n"), 0o644))
	w.read()
	w.want("a.log", "some lines\nthat were read\n|short\n|longer than before, by far\n")
	// Truncated by somebody else, while the writer goes on at its old offset.
	require.NoError(t, os.Truncate(w.path("a.log"), 0))
	f, err := os.OpenFile(w.path("a.log"), os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteAt([]byte("behind a hole\n"), 4000)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	w.read()
	assert.True(t, strings.HasSuffix(w.got["a.log"], "|"+strings.Repeat("\x00", 4000)+"behind a hole\n"))
}

func TestFollowReadsAReplacement(t *testing.T) {
	t.Parallel()
	for _, open := range []int{1, 100} {
		w := newWatch(t, open, "a.log", "b.log")
		w.append("a.log", "the first job\n")
		w.append("b.log", "other\n")
		w.read()
		w.append("new", "the second job\n")
		w.rename("new", "a.log")
		w.read()
		require.NoError(t, os.Remove(w.path("a.log")))
		w.read()
		w.append("a.log", "the third job, with more to say\n")
		w.read()
		w.want("a.log", "the first job\n|the second job\n|the third job, with more to say\n")
	}
}

func TestFollowWaitsForFilesAndFolders(t *testing.T) {
	t.Parallel()
	w := newWatch(t, 10, "job/logs", "rank_*.log", "x/slurm.err")
	s := w.f.Look()
	assert.Len(t, s.Awaited, 3)
	assert.Empty(t, s.Problems)
	require.NoError(t, os.MkdirAll(w.path("job/logs/node1"), 0o755))
	require.NoError(t, os.MkdirAll(w.path("x"), 0o755))
	w.append("job/logs/node1/stderr.log", "1\n")
	w.append("job/logs/.hidden", "no\n")
	w.append("job/logs/model.bin", elf)
	w.append("job/logs/old.gz", gzipMagic)
	w.append("rank_3.log", "3\n")
	w.append("rank_4.txt", "4\n")
	w.append("x/slurm.err", "err\n")
	w.read()
	assert.Equal(t, map[string]string{"job/logs/node1/stderr.log": "1\n", "rank_3.log": "3\n", "x/slurm.err": "err\n"}, w.got)
	s = w.f.Look()
	assert.Equal(t, Sight{}, s, "nothing is reported twice")
}

func TestFollowChecksWhatIsWrittenIntoAnEmptyFile(t *testing.T) {
	t.Parallel()
	w := newWatch(t, 10, ".")
	for _, name := range []string{"model.pt", "report.txt", "a.log"} {
		w.append(name, "")
	}
	w.read()
	w.append("model.pt", elf+strings.Repeat("x", 100))
	w.append("report.txt", " OUT OF MEMORY  GPU memory ran out\n  what      gpu_oom: x\n")
	w.append("a.log", "a line\n")
	w.read()
	w.want("model.pt", "")
	w.want("report.txt", "")
	w.want("a.log", "a line\n")
}

func TestFollowSkipsItsOwnOutput(t *testing.T) {
	t.Parallel()
	w := newWatch(t, 10, ".")
	w.append("out", "")
	own, err := os.Stat(w.path("out"))
	require.NoError(t, err)
	w.f.Except = func(i fs.FileInfo) bool { return os.SameFile(i, own) }
	w.read()
	w.append("out", "what is written here\n")
	w.read()
	w.want("out", "")
}

func TestFollowReadsTheTargetOfALink(t *testing.T) {
	t.Parallel()
	w := newWatch(t, 10, "latest")
	require.NoError(t, os.Mkdir(w.path("real"), 0o755))
	w.append("real/a.log", "one\n")
	w.append("real/b.log", "two\n")
	require.NoError(t, os.Symlink("real/a.log", w.path("latest")))
	s := w.f.Look()
	require.Len(t, s.Logs, 1)
	assert.Same(t, s.Logs[0], w.f.At(w.path("real/a.log")), "a change there is one of the log")
	assert.Contains(t, s.Folders, w.path("real"))
	w.read()
	require.NoError(t, os.Remove(w.path("latest")))
	require.NoError(t, os.Symlink("real/b.log", w.path("latest")))
	w.read()
	w.want("latest", "one\n|two\n")
}

func TestFollowRefusesWhatDoesNotGrow(t *testing.T) {
	t.Parallel()
	w := newWatch(t, 10, "a.out", "old.7z")
	w.append("a.out", elf)
	w.append("old.7z", sevenZip)
	w.append("job.gz", gzipMagic)
	w.f.paths = append(w.f.paths, os.DevNull, Stdin, w.path("job.gz"))
	s := w.f.Look()
	assert.Len(t, s.Problems, 4)
	require.Len(t, s.Packed, 1, "it is read once")
	assert.Equal(t, w.path("job.gz"), s.Packed[0].Name)
	assert.Empty(t, w.f.Logs())
}

// TestFollowHoldsBackZerosAtTheEnd covers file systems that report a file's new size before its bytes arrive.
func TestFollowHoldsBackZerosAtTheEnd(t *testing.T) {
	t.Parallel()
	w := newWatch(t, 10, "a.log")
	w.append("a.log", "one, and a longer line\n\x00\x00\x00\x00")
	w.read()
	w.want("a.log", "one, and a longer line\n")
	f, err := os.OpenFile(w.path("a.log"), os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteAt([]byte("two\n"), 23)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	w.read()
	w.want("a.log", "one, and a longer line\ntwo\n")
}

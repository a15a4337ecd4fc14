package source

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tree writes files below a new folder, which it returns.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	}
	return root
}

// names returns the names of inputs relative to root.
func names(root string, inputs []Input) []string {
	var all []string
	for _, in := range inputs {
		all = append(all, strings.TrimPrefix(in.Name, root+"/"))
	}
	return all
}

const (
	elf       = "\x7fELF\x02\x01\x01\x00\x00\x00"
	gzipMagic = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03"
	sevenZip  = "7z\xbc\xaf\x27\x1c\x00\x04"
)

func TestListKeepsTheOrderGiven(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"b.err": "b\n", "a.err": "a\n", "logs/2.out": "2\n", "logs/10.out": "10\n"})
	inputs, problems := List([]string{root + "/b.err", "-", root + "/logs", root + "/a.err"})
	assert.Empty(t, problems)
	for i := range inputs {
		inputs[i].id = identity{}
	}
	assert.Equal(t, []Input{
		{Name: root + "/b.err", Path: root + "/b.err", Size: 2},
		{Name: "-", Size: -1},
		{Name: root + "/logs/10.out", Path: root + "/logs/10.out", Size: 3, From: root + "/logs"},
		{Name: root + "/logs/2.out", Path: root + "/logs/2.out", Size: 2, From: root + "/logs"},
		{Name: root + "/a.err", Path: root + "/a.err", Size: 2},
	}, inputs)
}

// TestARotationAfterTheListLosesNoLog renames logs and writes new ones between listing and reading.
func TestARotationAfterTheListLosesNoLog(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("files have no identity")
	}
	root := tree(t, map[string]string{"a.log": "first", "a.log.1": "zeroth", "gone.log": "removed"})
	inputs, _ := List([]string{root})
	require.Len(t, inputs, 3)
	for _, name := range []string{"a.log.1", "a.log"} {
		require.NoError(t, os.Rename(filepath.Join(root, name), filepath.Join(root, map[string]string{"a.log.1": "a.log.2", "a.log": "a.log.1"}[name])))
	}
	require.NoError(t, os.Remove(filepath.Join(root, "gone.log")))
	require.NoError(t, os.WriteFile(filepath.Join(root, "a.log"), []byte("second"), 0o600))
	u := &Unpacker{Limits: DefaultLimits()}
	assert.Equal(t, []string{root + "/a.log: first"}, walked(u, inputs[0]).logs)
	assert.Equal(t, []string{root + "/a.log.1: zeroth"}, walked(u, inputs[1]).logs)
	assert.Equal(t, []string{root + "/gone.log: no such file or directory"}, walked(u, inputs[2]).problems)
}

func TestListOfAFolderIsRecursiveInNameOrder(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{
		"z.log": "z", "node1/rank0/stderr.log": "x", "node1/a.log": "x", "m.log": "x", "empty.log": "",
		".git/config": "x", ".hidden": "x", "CVS/Entries": "x", "node1/.cache/x.log": "x",
		"model.bin": elf, "old.gz": gzipMagic, "old.7z": sevenZip, "ps.log": "\xff\xfeh\x00i\x00",
		"report.txt":  " OUT OF MEMORY  GPU memory ran out\n  what      gpu_oom: x\n",
		"page.txt":    " OUT OF MEMORY  GPU 0 (rank 3)\n Tried to allocate 2 GiB.\n\n WHY   logits\n",
		"pages.txt":   "  1.  SURVIVED  GPU 0  a.log:3\n  2.  OUT OF MEMORY  GPU 0  a.log:9\n\n",
		"report.json": "{\n  \"schema\": \"oomscan.report/v1\",\n",
	})
	require.NoError(t, os.Symlink(root, filepath.Join(root, "node1", "loop")))
	require.NoError(t, os.Symlink(filepath.Join(root, "m.log"), filepath.Join(root, "latest.log")))
	require.NoError(t, syscall.Mkfifo(filepath.Join(root, "pipe"), 0o600))

	inputs, problems := List([]string{root})
	assert.Equal(t, []string{"empty.log", "m.log", "node1/a.log", "node1/rank0/stderr.log", "old.gz", "ps.log", "z.log"}, names(root, inputs))
	require.Len(t, problems, 1)
	assert.True(t, problems[0].Note, "files that are no logs are no failure")
	assert.Equal(t, root, problems[0].Name)
	assert.EqualError(t, problems[0].Err, "passed over 1 binary file and 1 compressed file and 4 reports of oomscan")
	assert.Contains(t, problems[0].Hint, "7z")
}

func TestListFollowsLinksThatAreNamed(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"logs/a.log": "a"})
	require.NoError(t, os.Symlink("logs", filepath.Join(root, "folder")))
	require.NoError(t, os.Symlink("logs/a.log", filepath.Join(root, "file")))
	inputs, problems := List([]string{root + "/folder", root + "/file"})
	assert.Empty(t, problems)
	assert.Equal(t, []string{"folder/a.log", "file"}, names(root, inputs))
}

func TestListTakesHiddenPathsThatAreNamed(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{".logs/a.log": "a", ".err": "b"})
	inputs, problems := List([]string{root + "/.logs", root + "/.err"})
	assert.Empty(t, problems)
	assert.Equal(t, []string{".logs/a.log", ".err"}, names(root, inputs))
}

func TestListNamesAFileOnce(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"logs/a.log": "a", "logs/b.log": "b"})
	inputs, problems := List([]string{root + "/logs/b.log", "-", root + "/logs", root + "/logs/./b.log", "-"})
	assert.Empty(t, problems)
	assert.Equal(t, []string{"logs/b.log", "-", "logs/a.log"}, names(root, inputs))
}

func TestListDoesNotOpenPipesAndDevices(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	inputs, problems := List([]string{pipe, os.DevNull}) // opening them would block
	assert.Empty(t, problems)
	assert.Equal(t, []Input{{Name: pipe, Path: pipe, Size: -1}, {Name: os.DevNull, Path: os.DevNull, Size: -1}}, inputs)
}

func TestListReportsWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{
		"slurm-4711.err": "x", "Train.log": "x", "a.out": elf, "it's.7z": sevenZip, "old.rar": "Rar!\x1a\x07\x01\x00",
		"none/.hidden": "x", "models/m.bin": elf,
	})
	require.NoError(t, os.Symlink("gone", filepath.Join(root, "link.log")))
	for _, tc := range []struct {
		path string
		is   error
		err  string
		hint string
	}{
		{"link.log", fs.ErrNotExist, "no such file", "it is a link to what is not there: see ls -l ROOT/link.log"},
		{"slurm-4711.er", fs.ErrNotExist, "no such file", "did you mean ROOT/slurm-4711.err?"},
		{"slrum-4711.err", fs.ErrNotExist, "no such file", "did you mean ROOT/slurm-4711.err?"},
		{"train.log", fs.ErrNotExist, "no such file", "did you mean ROOT/Train.log?"},
		{"other", fs.ErrNotExist, "no such file", ""},
		{"*.zzzzzzz", fs.ErrNotExist, "no such file", "no file matches this pattern"},
		{"missing/deep/x.log", fs.ErrNotExist, "no such file", "there is no folder ROOT/missing/deep either"},
		{"Train.log/x", nil, "not a directory", ""},
		{"a.out", ErrBinary, "binary file (ELF)", "name the log"},
		{"old.rar", ErrCompressed, "compressed file (rar)", "unrar p -inul ROOT/old.rar | oomscan"},
		{"it's.7z", ErrCompressed, "compressed file (7z)", `7z x -so 'ROOT/it'\''s.7z' | oomscan`},
		{"none", ErrNoLogs, "no logs in this folder", "hidden files"},
		{"models", ErrNoLogs, "no logs in this folder: passed over 1 binary file", ""},
	} {
		inputs, problems := List([]string{root + "/" + tc.path})
		assert.Empty(t, inputs, tc.path)
		require.Len(t, problems, 1, tc.path)
		p := problems[0]
		assert.Equal(t, root+"/"+tc.path, p.Name)
		assert.False(t, p.Note, tc.path)
		if tc.is != nil {
			assert.ErrorIs(t, p.Err, tc.is, tc.path)
		}
		assert.ErrorContains(t, p.Err, tc.err, tc.path)
		assert.NotContains(t, p.Err.Error(), root, "the name is in Name")
		hint := strings.ReplaceAll(tc.hint, "ROOT", root)
		assert.Contains(t, p.Hint, hint, tc.path)
		if hint == "" {
			assert.Empty(t, p.Hint, tc.path)
		}
	}
}

func TestListContinuesAfterAProblem(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"a.log": "a", "b.log": "b"})
	inputs, problems := List([]string{root + "/a.log", root + "/nowhere-near", "", "~/x.log", root + "/b.log"})
	assert.Equal(t, []string{"a.log", "b.log"}, names(root, inputs))
	require.Len(t, problems, 3)
	assert.Contains(t, problems[1].Hint, "empty")
	assert.Contains(t, problems[2].Hint, "~")
}

func TestListReportsWhatMayNotBeRead(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	root := tree(t, map[string]string{"logs/a.log": "a", "logs/locked.log": "b", "logs/sub/c.log": "c"})
	require.NoError(t, os.Chmod(root+"/logs/locked.log", 0))
	require.NoError(t, os.Chmod(root+"/logs/sub", 0))
	t.Cleanup(func() { _ = os.Chmod(root+"/logs/sub", 0o755) })
	inputs, problems := List([]string{root + "/logs"})
	assert.Equal(t, []string{"logs/a.log"}, names(root, inputs))
	require.Len(t, problems, 2)
	for _, p := range problems {
		assert.ErrorIs(t, p.Err, fs.ErrPermission)
		assert.Contains(t, p.Hint, "ls -ld")
	}
}

func TestListExpandsPatternsThatTheShellPassedOn(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"rank_1.log": "a", "rank_0.log": "a", ".rank_9.log": "a", "main.out": "b", "odd[1].log": "c", "n1/x.err": "d", "n2/x.err": "e"})
	inputs, problems := List([]string{root + "/*.log", root + "/n?/x.err", root + "/odd[1].log"})
	assert.Empty(t, problems)
	assert.Equal(t, []string{"odd[1].log", "rank_0.log", "rank_1.log", "n1/x.err", "n2/x.err"}, names(root, inputs))
	_, problems = List([]string{root + "/[", root + "/*.zzz"})
	assert.Len(t, problems, 2)
}

func TestListRefusesSocketsAndLoops(t *testing.T) {
	t.Parallel()
	root, err := os.MkdirTemp("", "s") // a socket's path must be short
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	l, err := net.Listen("unix", root+"/socket")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	require.NoError(t, os.Symlink("b", root+"/a"))
	require.NoError(t, os.Symlink("a", root+"/b"))
	inputs, problems := List([]string{root + "/socket", root + "/a"})
	assert.Empty(t, inputs)
	require.Len(t, problems, 2)
	assert.ErrorIs(t, problems[0].Err, ErrKind)
	assert.ErrorIs(t, problems[1].Err, syscall.ELOOP)
	_, problems = List([]string{root}) // in a folder they are skipped
	require.Len(t, problems, 1)
	assert.ErrorIs(t, problems[0].Err, ErrNoLogs)
}

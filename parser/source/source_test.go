package source

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tree writes files below a new folder, making the folders between, and returns the folder.
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

// names returns the names of inputs below root.
func names(root string, inputs []Input) []string {
	var all []string
	for _, in := range inputs {
		all = append(all, strings.TrimPrefix(in.Name, root+"/"))
	}
	return all
}

const (
	elf  = "\x7fELF\x02\x01\x01\x00\x00\x00"
	gzip = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03"
)

func TestListKeepsTheOrderGiven(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"b.err": "b\n", "a.err": "a\n", "logs/2.out": "2\n", "logs/10.out": "10\n"})
	inputs, problems := List([]string{root + "/b.err", "-", root + "/logs", root + "/a.err"})
	assert.Empty(t, problems)
	assert.Equal(t, []Input{
		{Name: root + "/b.err", Path: root + "/b.err", Size: 2},
		{Name: "-", Size: -1},
		{Name: root + "/logs/10.out", Path: root + "/logs/10.out", Size: 3},
		{Name: root + "/logs/2.out", Path: root + "/logs/2.out", Size: 2},
		{Name: root + "/a.err", Path: root + "/a.err", Size: 2},
	}, inputs)
}

func TestListOfAFolderIsRecursiveInNameOrder(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{
		"z.log": "z", "node1/rank0/stderr.log": "x", "node1/a.log": "x", "m.log": "x", "empty.log": "",
		".git/config": "x", ".hidden": "x", "CVS/Entries": "x", "node1/.cache/x.log": "x",
		"model.bin": elf, "old.gz": gzip,
	})
	require.NoError(t, os.Symlink(root, filepath.Join(root, "node1", "loop")))
	require.NoError(t, os.Symlink(filepath.Join(root, "m.log"), filepath.Join(root, "latest.log")))
	require.NoError(t, syscall.Mkfifo(filepath.Join(root, "pipe"), 0o600))

	inputs, problems := List([]string{root})
	assert.Equal(t, []string{"empty.log", "m.log", "node1/a.log", "node1/rank0/stderr.log", "z.log"}, names(root, inputs))
	require.Len(t, problems, 1)
	assert.True(t, problems[0].Note, "files that are no logs are no failure")
	assert.Equal(t, root, problems[0].Name)
	assert.EqualError(t, problems[0].Err, "passed over 1 binary file and 1 compressed file")
	assert.Contains(t, problems[0].Hint, "zcat")
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
	inputs, problems := List([]string{pipe, os.DevNull}) // would block here
	assert.Empty(t, problems)
	assert.Equal(t, []Input{{Name: pipe, Path: pipe, Size: -1}, {Name: os.DevNull, Path: os.DevNull, Size: -1}}, inputs)
}

func TestListReportsWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{
		"slurm-4711.err": "x", "Train.log": "x", "a.out": elf, "old.log.gz": gzip, "old.tar.gz": gzip,
		"ps.txt": "\xff\xfeh\x00i\x00", "it's.zst": "\x28\xb5\x2f\xfd....", "none/.hidden": "x", "models/m.bin": elf,
	})
	for _, tc := range []struct {
		path string
		is   error
		err  string
		hint string
	}{
		{"slurm-4711.er", fs.ErrNotExist, "no such file", "did you mean ROOT/slurm-4711.err?"},
		{"slrum-4711.err", fs.ErrNotExist, "no such file", "did you mean ROOT/slurm-4711.err?"},
		{"train.log", fs.ErrNotExist, "no such file", "did you mean ROOT/Train.log?"},
		{"other", fs.ErrNotExist, "no such file", ""},
		{"*.zzzzzzz", fs.ErrNotExist, "no such file", "no file matches this pattern"},
		{"missing/deep/x.log", fs.ErrNotExist, "no such file", "there is no folder ROOT/missing/deep either"},
		{"Train.log/x", nil, "not a directory", ""},
		{"a.out", ErrBinary, "binary file (ELF)", "name the log"},
		{"old.log.gz", ErrCompressed, "compressed file (gzip)", "zcat ROOT/old.log.gz | oomscan"},
		{"old.tar.gz", ErrCompressed, "compressed file (gzip)", "tar -xOf ROOT/old.tar.gz | oomscan"},
		{"it's.zst", ErrCompressed, "compressed file (zstd)", `zstd -dc 'ROOT/it'\''s.zst' | oomscan`},
		{"ps.txt", ErrUTF16, "UTF-16 text", "iconv -f UTF-16"},
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

func TestListGoesOnAfterAProblem(t *testing.T) {
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

func TestOpenReadsTheFile(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"a.log": "one\ntwo\n"})
	inputs, _ := List([]string{root + "/a.log"})
	require.Len(t, inputs, 1)
	r, err := inputs[0].Open()
	require.NoError(t, err)
	b, err := io.ReadAll(r)
	require.NoError(t, err)
	assert.Equal(t, "one\ntwo\n", string(b))
	require.NoError(t, r.Close())

	require.NoError(t, os.Remove(inputs[0].Path))
	_, err = inputs[0].Open()
	assert.ErrorIs(t, err, fs.ErrNotExist)
}

func TestStandardInputStaysOpen(t *testing.T) {
	t.Parallel()
	r, err := Input{Name: Stdin, Size: -1}.Open()
	require.NoError(t, err)
	require.NoError(t, r.Close())
	_, err = os.Stdin.Stat()
	assert.NoError(t, err)
}

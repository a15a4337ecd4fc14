package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/ulikunitz/xz"
)

// tarOf packs a folder's files as job/..., in an order that is not that of a folder.
func tarOf(t testing.TB, dir string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	names := members(t, dir)
	for i := range names {
		name := names[len(names)-1-i]
		data, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.NoError(t, w.WriteHeader(&tar.Header{Name: "./job/" + name, Mode: 0o600, Size: int64(len(data))}))
		_, err = w.Write(data)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

// zipOf packs files.
func zipOf(t testing.TB, files map[string][]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, data := range files {
		f, err := w.Create(name)
		require.NoError(t, err)
		_, err = f.Write(data)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

// members are the files below a folder.
func members(t testing.TB, dir string) []string {
	t.Helper()
	var names []string
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, rerr := filepath.Rel(dir, path)
			require.NoError(t, rerr)
			names = append(names, name)
		}
		return err
	}))
	return names
}

// pack compresses data.
func pack(t testing.TB, format string, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	var err error
	switch format {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "zstd":
		w, err = zstd.NewWriter(&b)
	case "xz":
		w, err = xz.NewWriter(&b)
	case "lz4":
		w = lz4.NewWriter(&b)
	}
	require.NoError(t, err)
	_, err = w.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

// pipe is a standard input that gives data in pieces.
func pipe(t testing.TB, data []byte) *os.File {
	t.Helper()
	in, out, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { in.Close() })
	go func() {
		defer out.Close()
		for len(data) > 0 {
			n := min(len(data), 5000)
			if _, err := out.Write(data[:n]); err != nil {
				return
			}
			data = data[n:]
		}
	}()
	return in
}

// severalFiles are some of the cases with more than one log, small ones, each copied to a folder of its own.
func severalFiles(t *testing.T) []string {
	t.Helper()
	var small []string
	for _, c := range caseFolders(t) {
		names := logs(t, c)
		var size int64
		for _, n := range names {
			st, err := os.Stat(filepath.Join(c, n))
			require.NoError(t, err)
			size += st.Size()
		}
		if len(names) > 1 && size <= 300<<10 {
			small = append(small, c)
		}
	}
	require.Greater(t, len(small), 5)
	if testing.Short() { // the race detector makes it slow
		small = small[:2]
	}
	var some []string
	for i := 0; i < len(small); i += max(1, len(small)/5) { // each is read some forty times
		dir := filepath.Join(t.TempDir(), filepath.Base(small[i]))
		for k, n := range logs(t, small[i]) {
			data, err := os.ReadFile(filepath.Join(small[i], n))
			require.NoError(t, err)
			if k == 1 {
				n = "node2/" + n
			}
			require.NoError(t, save(dir, map[string]string{n: string(data)}))
		}
		some = append(some, dir)
	}
	return some
}

// TestPackingDoesNotMatter holds the reports on the files of a case, in a folder and packed in every way, against each
// other, byte for byte but the names.
func TestPackingDoesNotMatter(t *testing.T) {
	t.Parallel()
	for _, dir := range severalFiles(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			ball := tarOf(t, dir)
			files := map[string][]byte{}
			for _, n := range members(t, dir) {
				data, err := os.ReadFile(filepath.Join(dir, n))
				require.NoError(t, err)
				files["job/"+n] = data
			}
			report := func(prefix string, in *os.File, args ...string) string {
				_, out, errs := call(t, in, append(args, "--format", "json")...)
				require.Empty(t, string(errs))
				return strings.ReplaceAll(timeless(out), prefix, "")
			}
			want := report(dir+"/", nil, dir)
			require.Contains(t, want, `"name": "node2/`)
			observedElsewhere(t, dir)
			for name, data := range map[string][]byte{
				"job.tar": ball, "job.tar.gz": pack(t, "gzip", ball), "job.tar.zst": pack(t, "zstd", ball), "job.tar.xz": pack(t, "xz", ball),
				"job.tar.lz4": pack(t, "lz4", ball), "job.zip": zipOf(t, files), "noextension": pack(t, "gzip", ball), "lies.log": pack(t, "zstd", ball),
			} {
				if testing.Short() && name != "job.tar.gz" && name != "job.zip" {
					continue // the race detector sees enough of them
				}
				path := write(t, name, data)
				assert.Equal(t, want, report(path+"!job/", nil, path), name)
				assert.Equal(t, want, report(path+"!job/", nil, path, "--jobs", "8"), name)
				assert.Equal(t, want, report("-!job/", pipe(t, data)), "%s in a pipe", name)
				f, err := os.Open(path)
				require.NoError(t, err)
				assert.Equal(t, want, report("-!job/", f), "%s as standard input", name)
				f.Close()
			}
			nested := write(t, "outer.zip", zipOf(t, map[string][]byte{"in/job.tar.gz": pack(t, "gzip", ball)}))
			assert.Equal(t, want, report(nested+"!in/job.tar.gz!job/", nil, nested), "a tar.gz in a zip")
			assert.Equal(t, want, report(dir+"/", nil, dir, "--jobs", "1"))
			assert.Equal(t, want, report(dir+"/", nil, dir, "--jobs", "8"))
			var paths []string
			for _, n := range members(t, dir) {
				paths = append(paths, filepath.Join(dir, n))
			}
			assert.Equal(t, want, report(dir+"/", nil, paths...), "the files themselves")

			// each file packed on its own: the names differ by what was added to them
			for _, n := range members(t, dir) {
				path := filepath.Join(dir, n)
				require.NoError(t, os.WriteFile(path, pack(t, "gzip", files["job/"+n]), 0o600))
			}
			assert.Equal(t, want, report(dir+"/", nil, dir), "every file is a gzip that is called as before")
		})
	}
}

// TestAPackedStreamIsReadLikeItsText pipes one log in, plain and packed, and as PowerShell would write it.
func TestAPackedStreamIsReadLikeItsText(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../fixtures/cases/gpu_oom/relax-sft-loss-oom/relax_sft.log")
	require.NoError(t, err)
	report := func(in *os.File, args ...string) string {
		status, out, errs := call(t, in, append(args, "--format", "json")...)
		require.Equal(t, 1, status)
		require.Empty(t, string(errs))
		return timeless(out)
	}
	want := report(pipe(t, text))
	for _, format := range []string{"gzip", "zstd", "xz", "lz4"} {
		assert.Equal(t, want, report(pipe(t, pack(t, format, text))), format)
	}
	assert.Equal(t, want, report(pipe(t, pack(t, "gzip", text)), "-", "-"))

	require.False(t, bytes.HasPrefix(text, []byte("\xef\xbb\xbf")))
	wide := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(string(text))) {
		wide = append(wide, byte(u), byte(u>>8))
	}
	assert.Equal(t, want, report(pipe(t, wide)), "UTF-16 in a pipe")
	path := write(t, "ps.log", wide)
	assert.Equal(t, want, strings.ReplaceAll(report(nil, path), path, "-"), "UTF-16 in a file")
	assert.Equal(t, want, report(pipe(t, pack(t, "zstd", wide))), "UTF-16, packed")
}

// TestOwnReportsAreNotReadAgain writes reports on cases, in each form, into one folder.
func TestOwnReportsAreNotReadAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n := 0
	save := func(out []byte) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "report"+strconv.Itoa(n)), out, 0o600))
		n++
	}
	for i, c := range sample(caseFolders(t), 1) {
		var paths []string
		for _, l := range logs(t, c) {
			paths = append(paths, filepath.Join(c, l))
		}
		switch i % 4 {
		case 0:
			_, out, _ := call(t, nil, append(paths, "--color", "always")...)
			save(out)
		case 1:
			_, out, _ := call(t, nil, append(paths, "--format", "json")...)
			save(out)
		case 2:
			_, out, _ := call(t, nil, append(paths, "--format", "ndjson")...)
			if len(out) > 0 {
				save(out)
			}
		default:
			_, out, _ := call(t, nil, paths...)
			save(out)
		}
	}
	_, out, errs := call(t, nil, "--format", "json", write(t, "calm.log", []byte("step 1\n")), dir)
	assert.Contains(t, string(out), `"incidents": []`)
	assert.NotContains(t, string(out), "/report", "no report is an input")
	assert.Contains(t, string(errs), "no logs in this folder: passed over")
	assert.Contains(t, string(errs), "reports of oomscan")

	// named itself, a report is a file like any other
	_, out, errs = call(t, nil, "--format", "json", filepath.Join(dir, "report0"))
	assert.Empty(t, string(errs))
	assert.Contains(t, string(out), `"lines"`)
}

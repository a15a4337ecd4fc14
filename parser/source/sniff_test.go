package source

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLogsAreText(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]string{
		"plain":               "CUDA out of memory\n",
		"one byte":            "\n",
		"ANSI colours":        strings.Repeat("\x1b[36m(WorkerDict pid=1)\x1b[0m x\n", 40),
		"progress bar":        strings.Repeat("\r 10%|\u2588\u2588   | 1/10", 90),
		"backspaces":          strings.Repeat("10%\b\b\b", 90),
		"NUL before lines":    strings.Repeat("\x00ERROR: worker is killed by signal: Bus error. \n", 9),
		"NUL in every word":   strings.Repeat("abc\x00", 99),
		"hole behind text":    "step 1\n" + strings.Repeat("\x00", 6000) + "step 2\n",
		"hole up to the end":  "step 1\n" + strings.Repeat("\x00", 8000),
		"GBK":                 strings.Repeat("\xc4\xda\xb4\xe6\xb2\xbb\xd7\xe3\n", 50),
		"Latin-1":             strings.Repeat("Zugriffsverletzung f\xfcr \xe4", 50),
		"broken UTF-8":        strings.Repeat("\xe2\x96", 500),
		"UTF-8 with BOM":      "\xef\xbb\xbfhello",
		"begins like a magic": "ID3 tags are read\nGGUF loader\n",
		"a file name":         "PK is a prefix",
		"JSON":                `{"level": "error", "msg": "oom"}`,
	} {
		assert.Equal(t, text, sniff([]byte(b)).kind, name)
	}
}

func TestFormatsAreRecognized(t *testing.T) {
	t.Parallel()
	random := make([]byte, sniffLen)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range random {
		random[i] = byte(r.Uint32())
	}
	for _, tc := range []struct {
		bytes  string
		kind   kind
		format string
	}{
		{elf, binaryData, "ELF"},
		{gzipMagic, compressed, "gzip"},
		{"BZh11AY&SY\x00\x00", compressed, "bzip2"},
		{"BZh9\x17rE8P\x90\x00\x00\x00\x00", compressed, "bzip2"},
		{"\x04\x22\x4d\x18", compressed, "lz4"},
		{"\x50\x2a\x4d\x18\x04\x00\x00\x00\x00\x00\x00\x00\x28\xb5\x2f\xfd", compressed, "zstd"},
		{"\x28\xb5\x2f\xfd....", compressed, "zstd"},
		{"\xfd7zXZ\x00", compressed, "xz"},
		{strings.Repeat("a", 257) + "ustar\x0000", compressed, "tar"},
		{"PK\x03\x04" + strings.Repeat("\x00", 26) + "archive/data.pkl", binaryData, "zip"},
		{"PK\x03\x04" + strings.Repeat("\x00", 26) + "arr_0.npy", binaryData, "zip"},
		{"PK\x03\x04" + strings.Repeat("\x00", 26) + "job/stderr.log", compressed, "zip"},
		{"\x89PNG\r\n\x1a\n", binaryData, "PNG"},
		{"\xff\xd8\xff\xe0", binaryData, "JPEG"},
		{"%PDF-1.7", binaryData, "PDF"},
		{"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P", binaryData, "pickle"},
		{"\x98\x1a\x00\x00\x00\x00\x00\x00{\"__metadata__\":", binaryData, "safetensors"},
		{"SQLite format 3\x00", binaryData, "SQLite"},
		{"PAR1\x15\x04", binaryData, "Parquet"},
		{"\x93NUMPY\x01", binaryData, "NumPy"},
		{"\xf3\x0d\x0d\x0a\x00\x00\x00\x00\x00\x00\x00\x00", binaryData, "Python bytecode"},
		{"\x18\x00\x00\x00\x00\x00\x00\x00\xa3\x7f\x4b\x22\x09\x00\x00\x00\x00\x1a\x0dbrain.Event:2", binaryData, "TensorBoard events"},
		{"\xff\xfeh\x00", wide, ""},
		{"\xff\xfe" + strings.Repeat("a\x00\xfd\xff", 40), wide, ""},
		{"\xfe\xff\x00h", wide, ""},
		{"\xff\xfe" + string(random[:4000]), binaryData, ""},
		{strings.Repeat("\x01\x00\x00\x00", 99), binaryData, ""},
		{string(random), binaryData, ""},
	} {
		assert.Equal(t, content{tc.kind, tc.format}, sniff([]byte(tc.bytes)), "%.20q", tc.bytes)
	}
}

// TestTruncatedLogsAreText covers logs that copytruncate emptied under a writer: a hole, then text.
func TestTruncatedLogsAreText(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	backward := ""
	for second := 59; second > 40; second-- {
		backward += fmt.Sprintf("2026-03-01 09:00:%d step\n", second)
	}
	for name, tt := range map[string]struct {
		after string
		want  kind
	}{
		"a line":            {"then this\n", text},
		"newest line first": {backward, text},
		"nothing":           {"", binaryData},
	} {
		path := filepath.Join(dir, name)
		b := strings.Repeat("\x00", 3*sniffLen) + tt.after
		require.NoError(t, os.WriteFile(path, []byte(b), 0o644))
		got, err := sniffFile(path, int64(len(b)))
		require.NoError(t, err)
		assert.Equal(t, tt.want, got.kind, name)
	}
	const size = 1 << 30
	f, err := os.Create(filepath.Join(dir, "zeros at both ends"))
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, f.Truncate(size))
	_, err = f.WriteAt([]byte("this\n"), size/2)
	require.NoError(t, err)
	if SkipHoles(f) == nil {
		t.Skip("this file system has no holes")
	}
	got, err := sniffFile(f.Name(), size)
	require.NoError(t, err)
	assert.Equal(t, text, got.kind)
}

func TestSniffRefusesWhatIsNotAFile(t *testing.T) {
	t.Parallel()
	_, err := sniffFile(t.TempDir(), 1)
	assert.ErrorIs(t, err, ErrKind)
}

func FuzzSniff(f *testing.F) {
	f.Add([]byte(elf))
	f.Add([]byte("PK\x03\x04"))
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x00{\""))
	f.Fuzz(func(t *testing.T, b []byte) {
		if c := sniff(b); c.kind == text && c.format != "" {
			t.Errorf("text has no format: %q", c.format)
		}
	})
}

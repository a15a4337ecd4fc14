package source

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/ulikunitz/xz"
)

type member struct{ name, text string }

// compress returns text as written through the writer that open returns.
func compress[W io.WriteCloser](t testing.TB, open func(io.Writer) (W, error), text string) string {
	t.Helper()
	var b bytes.Buffer
	w, err := open(&b)
	require.NoError(t, err)
	_, err = io.WriteString(w, text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.String()
}

func gz(t testing.TB, text string) string {
	return compress(t, func(w io.Writer) (*gzip.Writer, error) { return gzip.NewWriter(w), nil }, text)
}

func zst(t testing.TB, text string) string {
	return compress(t, func(w io.Writer) (*zstd.Encoder, error) { return zstd.NewWriter(w) }, text)
}

func xzed(t testing.TB, text string) string {
	return compress(t, func(w io.Writer) (*xz.Writer, error) { return xz.NewWriter(w) }, text)
}

func lz4ed(t testing.TB, text string) string {
	return compress(t, func(w io.Writer) (*lz4.Writer, error) { return lz4.NewWriter(w), nil }, text)
}

// bzipped is "hello\n" compressed with bzip2, for which Go has no writer.
const bzipped = "BZh91AY&SY\xc1\xc0\x80\xe2\x00\x00\x01\x41\x00\x00\x10\x02\x44\xa0\x00\x30\xcd\x00\xc3\x46\x29\x97\x17\x72\x45\x38\x50\x90\xc1\xc0\x80\xe2"

func tarred(t testing.TB, members ...member) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, m := range members {
		require.NoError(t, w.WriteHeader(&tar.Header{Name: m.name, Mode: 0o600, Size: int64(len(m.text)), Typeflag: tar.TypeReg}))
		_, err := io.WriteString(w, m.text)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.String()
}

func zippedUp(t testing.TB, members ...member) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, m := range members {
		f, err := w.Create(m.name)
		require.NoError(t, err)
		_, err = io.WriteString(f, m.text)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.String()
}

// got is the result of a walk: "NAME: TEXT (ERROR)" for each log, and the problems.
type got struct {
	logs     []string
	problems []string
	skipped  Skipped
}

func walked(u *Unpacker, in Input) (g got) {
	skipped, problems := u.Walk(in, Visits{Log: func(name string, r io.Reader) {
		b, err := io.ReadAll(r)
		line := name + ": " + string(b)
		if err != nil {
			line += " (" + err.Error() + ")"
		}
		g.logs = append(g.logs, line)
	}})
	for _, p := range problems {
		g.problems = append(g.problems, p.Name+": "+p.Err.Error())
	}
	g.skipped = skipped
	return g
}

// walkFile walks data as a file named x, with the default limits.
func walkFile(t testing.TB, data string, limits ...func(*Limits)) got {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x"), []byte(data), 0o600))
	u := &Unpacker{Limits: DefaultLimits()}
	for _, f := range limits {
		f(&u.Limits)
	}
	return walked(u, Input{Name: "x", Path: filepath.Join(dir, "x"), Size: int64(len(data))})
}

func TestEveryPackingGivesTheSameLogs(t *testing.T) {
	t.Parallel()
	files := []member{{"node1/a.log", "one\n"}, {"node2/b.log", "two\nthree"}, {"empty.log", ""}}
	inside := func(prefix string) []string {
		return []string{prefix + "node1/a.log: one\n", prefix + "node2/b.log: two\nthree", prefix + "empty.log: "}
	}
	ball := tarred(t, files...)
	for name, tc := range map[string]struct {
		data string
		want []string
	}{
		"text":                {"hello\n", []string{"x: hello\n"}},
		"gzip":                {gz(t, "hello\n"), []string{"x: hello\n"}},
		"zstd":                {zst(t, "hello\n"), []string{"x: hello\n"}},
		"xz":                  {xzed(t, "hello\n"), []string{"x: hello\n"}},
		"lz4":                 {lz4ed(t, "hello\n"), []string{"x: hello\n"}},
		"bzip2":               {bzipped, []string{"x: hello\n"}},
		"gzip of nothing":     {gz(t, ""), []string{"x: "}},
		"gzip members":        {gz(t, "hel") + gz(t, "") + gz(t, "lo\n"), []string{"x: hello\n"}},
		"zstd frames":         {zst(t, "hel") + zst(t, "lo\n"), []string{"x: hello\n"}},
		"zstd, skipped":       {"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd" + zst(t, "hello\n"), []string{"x: hello\n"}},
		"xz streams":          {xzed(t, "hel") + "\x00\x00\x00\x00" + xzed(t, "lo\n"), []string{"x: hello\n"}},
		"lz4 frames":          {lz4ed(t, "hel") + lz4ed(t, "lo\n"), []string{"x: hello\n"}},
		"bzip2 streams":       {bzipped + bzipped, []string{"x: hello\nhello\n"}},
		"gzip of gzip":        {gz(t, gz(t, "hello\n")), []string{"x: hello\n"}},
		"tar":                 {ball, inside("x!")},
		"tar.gz":              {gz(t, ball), inside("x!")},
		"tar.zst":             {zst(t, ball), inside("x!")},
		"tar.xz":              {xzed(t, ball), inside("x!")},
		"tar.lz4":             {lz4ed(t, ball), inside("x!")},
		"zip":                 {zippedUp(t, files...), inside("x!")},
		"tar.gz in zip":       {zippedUp(t, member{"j.tar.gz", gz(t, ball)}), inside("x!j.tar.gz!")},
		"zip in tar.zst":      {zst(t, tarred(t, member{"a/j.zip", zippedUp(t, files...)})), inside("x!a/j.zip!")},
		"zip in zip":          {zippedUp(t, member{"j.zip", zippedUp(t, files...)}), inside("x!j.zip!")},
		"zip in gzip":         {gz(t, zippedUp(t, files...)), inside("x!")},
		"gzip in tar":         {tarred(t, member{"a.log", gz(t, "hello\n")}), []string{"x!a.log: hello\n"}},
		"tars in a row":       {tarred(t, files[0]) + tarred(t, files[1:]...), inside("x!")},
		"tar.gz in a row":     {gz(t, tarred(t, files[0])) + gz(t, tarred(t, files[1:]...)), inside("x!")},
		"UTF-16":              {"\xff\xfeh\x00i\x00\n\x00", []string{"x: hi\n"}},
		"UTF-16, later part":  {utf16Rows("h\x00", "i\x00", "\n\x00"), []string{"x: " + utf16Rows("h", "i", "\n")}},
		"UTF-16, other order": {utf16Rows("\x00h", "\x00i", "\x00\n"), []string{"x: " + utf16Rows("h", "i", "\n")}},
		"bytes like a mark":   {"\xff\xfe\xc0\x80abcd\nxy\n", []string{"x: \xff\xfe\xc0\x80abcd\nxy\n"}},
		"UTF-16, cut short":   {"\xff\xfeh\x00i\x00\n", []string{"x: hi\ufffd"}},
		"UTF-32":              {"\xff\xfe\x00\x00h\x00\x00\x00i\x00\x00\x00\n\x00\x00\x00", []string{"x: hi\n"}},
		"UTF-32, other order": {"\x00\x00\xfe\xff\x00\x00\x00h\x00\x00\x00i\x00\x00\x00\n", []string{"x: hi\n"}},
		"UTF-32, no mark":     {utf16Rows("h\x00\x00\x00", "\x00\x25\x00\x00", "\n\x00\x00\x00"), []string{"x: " + utf16Rows("h", "─", "\n")}},
		"UTF-16 in gzip":      {gz(t, "\xfe\xff\x00h\x00i\x00\n"), []string{"x: hi\n"}},
		"a hole, then text":   {strings.Repeat("\x00", 3*sniffLen) + "end\n", []string{"x: " + strings.Repeat("\x00", 3*sniffLen) + "end\n"}},
		"a hole in gzip":      {gz(t, strings.Repeat("\x00", 3*sniffLen+7)+"end\n"), []string{"x: " + strings.Repeat("\x00", 3*sniffLen+7) + "end\n"}},
		"own report, named":   {" OUT OF MEMORY  x\n  what      y\n", []string{"x:  OUT OF MEMORY  x\n  what      y\n"}},
		"backslashes of zip":  {zippedUp(t, member{`node1\a.log`, "one\n"}), []string{"x!node1/a.log: one\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, got{logs: tc.want}, walkFile(t, tc.data))
			// The same through a pipe.
			u := &Unpacker{Limits: DefaultLimits(), Stdin: strings.NewReader(tc.data)}
			piped := walked(u, Input{Name: "x", Size: -1})
			assert.Equal(t, got{logs: tc.want}, piped)
		})
	}
}

func TestMembersThatAreNoLogsAreSkipped(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range []tar.Header{
		{Name: "dir/", Typeflag: tar.TypeDir},
		{Name: "link.log", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"},
		{Name: "hard.log", Typeflag: tar.TypeLink, Linkname: "a.log"},
		{Name: "pipe", Typeflag: tar.TypeFifo},
		{Name: "dev", Typeflag: tar.TypeChar},
	} {
		require.NoError(t, w.WriteHeader(&h))
	}
	require.NoError(t, w.Flush())
	files := []member{
		{"./a.log", "x\n"},
		{".git/config", "x\n"},
		{"a/.hidden.log", "x\n"},
		{"CVS/Entries", "x\n"},
		{"a/CVS/Root", "x\n"},
		{"CVS", "c\n"},
		{"model.bin", elf},
		{"p.png", "\x89PNG\r\n\x1a\n"},
		{"old.7z", sevenZip},
		{"m.gz", gz(t, elf)},
		{"r.txt", " SUSPECT, NOT PROVEN  x\n  what      y\n"},
		{"r.gz", gz(t, "{\n  \"schema\": \"oomscan.report/v1\",\n")},
	}
	g := walkFile(t, b.String()+tarred(t, files...))
	assert.Equal(t, []string{"x!a.log: x\n", "x!CVS: c\n"}, g.logs)
	assert.Empty(t, g.problems)
	assert.Equal(t, Skipped{Binary: 3, Compressed: 1, Reports: 2}, g.skipped)
}

func TestAnArchiveWithoutLogsIsAProblemWhereItIsNamed(t *testing.T) {
	t.Parallel()
	g := walkFile(t, zippedUp(t, member{"m.bin", elf}))
	assert.Equal(t, got{problems: []string{"x: no logs in this archive: passed over 1 binary file"}}, g)
	assert.Equal(t, got{problems: []string{"x: binary file (ELF)"}}, walkFile(t, gz(t, elf)))
	assert.Equal(t, got{problems: []string{"x: compressed file (7z)"}}, walkFile(t, gz(t, sevenZip)))
}

func TestNamesOfMembers(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("d/", 2000) + "a.log"
	ball := tarred(t, member{"../../etc/x.log", "1"}, member{"/abs.log", "2"}, member{"new\nline\x1b[31m.log", "3"},
		member{"bad\xff.log", "4"}, member{"twice.log", "5"}, member{"./twice.log", "6"}, member{long, "7"})
	g := walkFile(t, ball)
	require.Len(t, g.logs, 7)
	assert.Equal(t, []string{
		"x!../../etc/x.log: 1", "x!/abs.log: 2", "x!new?line?[31m.log: 3", "x!bad?.log: 4", "x!twice.log: 5", "x!twice.log#2: 6",
	}, g.logs[:6])
	assert.True(t, strings.HasPrefix(g.logs[6], "x!.../d/d/") || strings.HasPrefix(g.logs[6], "x!...d/d/"), g.logs[6])
	assert.Less(t, len(g.logs[6]), maxName+20)
	assert.Empty(t, g.problems)
}

func TestDamageEndsOnlyItsOwnStream(t *testing.T) {
	t.Parallel()
	lines := strings.Repeat("a line of a log, and what it says\n", 3000)
	noise := strings.Builder{} // incompressible, so that half of the packed bytes are half of the text
	for i := range 3000 {
		fmt.Fprintf(&noise, "%x\n", uint64(i+1)*0x9e3779b97f4a7c15)
	}
	much := strings.Builder{} // more than one block of zstd
	for i := range 30_000 {
		fmt.Fprintf(&much, "%x\n", uint64(i+1)*0x9e3779b97f4a7c15)
	}
	half := func(s string) string { return s[:len(s)/2] }
	ball := tarred(t, member{"a.log", "first\n"}, member{"b.log", noise.String()}, member{"c.log", "last\n"})
	for name, tc := range map[string]struct {
		data   string
		first  string // the first log's beginning
		logs   int
		errors []string // each must occur once, in the logs and problems together
	}{
		"gzip cut":             {half(gz(t, noise.String())), "x: 9e3779b97f4a7c15\n", 1, []string{"cut short: the gzip data"}},
		"zstd cut":             {half(zst(t, much.String())), "x: 9e3779b97f4a7c15\n", 1, []string{"cut short: the zstd data"}},
		"xz cut":               {half(xzed(t, noise.String())), "x: 9e3779b97f4a7c15\n", 1, []string{"cut short: the xz data"}},
		"lz4 cut":              {half(lz4ed(t, strings.Repeat(noise.String(), 300))), "x: 9e3779b97f4a7c15\n", 1, []string{"cut short: the lz4 data"}},
		"bzip2 cut":            {bzipped + half(bzipped), "x: hello\n", 1, []string{"cut short: the bzip2 data"}},
		"gzip cut in its head": {gz(t, lines)[:5], "", 0, []string{"cut short: the gzip data"}},
		"gzip, then garbage":   {gz(t, lines) + "garbage that is no gzip", "x: a line", 1, []string{"something else follows the data: behind the end of the gzip data"}},
		"gzip, then a word":    {gz(t, lines) + "end\n", "x: a line", 1, []string{"something else follows the data: behind the end of the gzip data, which was read whole"}},
		"gzip, then NULs":      {gz(t, lines) + strings.Repeat("\x00", 512), "x: a line", 1, []string{"something else follows the data: behind the end of the gzip data, which was read whole"}},
		"lz4, first byte":      {"\x05" + lz4ed(t, lines)[1:], "", 0, []string{"damaged lz4 data"}},
		"zip with overlaps":    {overlapping(t), "", 0, []string{"damaged zip: its members overlap"}},
		"zstd, then garbage":   {zst(t, lines) + "garbage that is no zstd", "x: a line", 1, []string{"something else follows the data: behind the end of the zstd data"}},
		"xz, then garbage":     {xzed(t, lines) + "garbage that is no xz", "x: a line", 1, []string{"something else follows the data: behind the end of the xz data"}},
		"lz4, then garbage":    {lz4ed(t, lines) + "garbage that is no lz4", "x: a line", 1, []string{"something else follows the data: behind the end of the lz4 data"}},
		"bzip2, then garbage":  {bzipped + "garbage that is no bzip2", "x: hello\n", 1, []string{"something else follows the data: behind the end of the bzip2 data"}},
		"tar, then garbage":    {ball + "garbage that is no tar", "x!a.log: first\n", 3, []string{"something else follows the data: behind the end of the tar"}},
		"tar cut":              {half(ball), "x!a.log: first\n", 2, []string{"unexpected EOF"}},
		"tar.gz cut":           {half(gz(t, ball)), "x!a.log: first\n", 2, []string{"cut short: the gzip data"}},
		"tar.gz without end":   {gz(t, ball)[:len(gz(t, ball))-6], "x!a.log: first\n", 3, []string{"cut short: the gzip data"}},
		"a cut gzip in a tar":  {tarred(t, member{"a.gz", half(gz(t, noise.String()))}, member{"b.log", "b"}), "x!a.gz: 9e3779b97f4a7c15\n", 2, []string{"cut short: the gzip data"}},
		"gzip in a cut tar.gz": {half(gz(t, tarred(t, member{"a.log", "first\n"}, member{"b.gz", gz(t, noise.String())}))), "x!a.log: first\n", 2, []string{"cut short: the gzip data"}},
		"zip cut":              {half(zippedUp(t, member{"a.log", noise.String()})), "", 0, []string{"damaged zip"}},
		"a bad zip in a tar":   {tarred(t, member{"a.zip", "PK\x03\x04" + strings.Repeat("z", 99)}, member{"b.log", "b"}), "x!b.log: b", 1, []string{"damaged zip"}},
		"gzip, bad checksum": {
			gz(t, lines)[:len(gz(t, lines))-8] + "\x01\x02\x03\x04\x05\x06\x07\x08", "x: a line", 1, []string{"damaged gzip data"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := walkFile(t, tc.data)
			all := strings.Join(append(g.logs, g.problems...), "\n")
			require.Len(t, g.logs, tc.logs, "%.300s", all)
			if tc.logs > 0 {
				assert.True(t, strings.HasPrefix(g.logs[0], tc.first), "%.100s", g.logs[0])
			}
			for _, e := range tc.errors {
				assert.Equal(t, 1, strings.Count(all, e), "%s in %.3000s", e, all[max(0, len(all)-300):])
			}
		})
	}
}

// overlapping returns a zip with two members that share their data.
func overlapping(t *testing.T) string {
	t.Helper()
	z := []byte(zippedUp(t, member{"a.log", "first\n"}, member{"b.log", "other\n"}))
	second := bytes.LastIndex(z, []byte("PK\x01\x02"))
	const offset = 42 // of a member's start, in its directory entry
	copy(z[second+offset:], []byte{0, 0, 0, 0})
	return string(z)
}

func TestDepthIsBounded(t *testing.T) {
	t.Parallel()
	nest := func(n int) string {
		data := "deep\n"
		for range n {
			data = gz(t, tarred(t, member{"i", data}))
		}
		return data
	}
	g := walkFile(t, nest(5))
	assert.Equal(t, got{logs: []string{"x!i!i!i!i!i: deep\n"}}, g)
	g = walkFile(t, nest(6))
	assert.Empty(t, g.logs)
	require.Len(t, g.problems, 1)
	assert.Contains(t, g.problems[0], "x!i!i!i!i!i: limit reached: archives are nested more than 5 deep (--max-depth)")
	// Its neighbors are read.
	g = walkFile(t, tarred(t, member{"deep.gz", gz(t, gz(t, "x"))}, member{"b.log", "b"}), func(l *Limits) { l.Depth = 2 })
	assert.Equal(t, []string{"x!b.log: b"}, g.logs)
	assert.Len(t, g.problems, 1)
	// Zips count too.
	g = walkFile(t, zippedUp(t, member{"a.zip", zippedUp(t, member{"a.log", "a"})}), func(l *Limits) { l.Depth = 1 })
	assert.Len(t, g.problems, 1)
}

func TestExpansionIsBounded(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("0123456789abcde\n", 4<<10) // 64 KiB
	small := func(l *Limits) { l.Expanded = 100 << 10 }
	for name, data := range map[string]string{
		"gzip":             gz(t, big+big),
		"many small ones":  gz(t, tarred(t, slices.Repeat([]member{{"a", "x\n"}}, 200)...)),
		"tar.gz":           gz(t, tarred(t, member{"a", big}, member{"b", big}, member{"c", big})),
		"zip":              zippedUp(t, member{"a", big}, member{"b", big}, member{"c", big}),
		"tar of gzip":      tarred(t, member{"a", gz(t, big)}, member{"b", gz(t, big)}, member{"c", gz(t, big)}),
		"zip of zip":       zippedUp(t, member{"z", zippedUp(t, member{"a", big}, member{"b", big}, member{"c", big})}),
		"a member skipped": gz(t, tarred(t, member{"a", big}, member{".hidden", big}, member{"c", big})),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := walkFile(t, data, small)
			all := strings.Join(append(g.logs, g.problems...), "\n")
			assert.Equal(t, 1, strings.Count(all, "limit reached: expands to more than 100 KiB (--max-expanded)"), "%s", all[max(0, len(all)-300):])
			assert.Less(t, len(all), 200<<10)
		})
	}
	assert.Empty(t, walkFile(t, tarred(t, member{"a", big}, member{"b", big}), small).problems, "nothing is expanded here")
}

// TestAllInputsTogetherAreBounded walks inputs that each stay below their own limit.
func TestAllInputsTogetherAreBounded(t *testing.T) {
	t.Parallel()
	limits := DefaultLimits()
	limits.Total = 100 << 10
	u := &Unpacker{Limits: limits}
	var seen, refused int
	for range 3 {
		u.Stdin = strings.NewReader(gz(t, strings.Repeat("0123456789abcde\n", 4<<10)))
		u.Walk(Input{Name: Stdin}, Visits{Log: func(_ string, r io.Reader) {
			b, err := io.ReadAll(r)
			seen += len(b)
			if err != nil {
				refused++
				assert.ErrorIs(t, err, ErrLimit)
				assert.ErrorContains(t, err, "all inputs together expand to more than 100 KiB (--max-total)")
			}
		}})
	}
	assert.Equal(t, 2, refused, "the second ends in its midst, the third at its beginning")
	assert.Less(t, seen, 164<<10)
}

// bomb returns a gzip of mib MiB of newlines.
func bomb(t testing.TB, mib int) string {
	t.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	require.NoError(t, err)
	block := bytes.Repeat([]byte("\n"), 1<<20)
	for range mib {
		_, err = w.Write(block)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.String()
}

// counted walks data and counts the bytes that come out.
func counted(data string, limits Limits) (bytes int64, errs []error) {
	u := &Unpacker{Limits: limits, Stdin: strings.NewReader(data)}
	_, problems := u.Walk(Input{Name: "x", Size: -1}, Visits{Log: func(_ string, r io.Reader) {
		n, err := io.Copy(io.Discard, r)
		bytes += n
		if err != nil {
			errs = append(errs, err)
		}
	}})
	for _, p := range problems {
		errs = append(errs, p.Err)
	}
	return bytes, errs
}

func TestRatioIsBoundedBehindTheFirst64MiB(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("reads many megabytes")
	}
	limits := DefaultLimits()
	limits.Ratio = 100
	n, errs := counted(bomb(t, 63), limits)
	assert.Empty(t, errs)
	assert.EqualValues(t, 63<<20, n)
	n, errs = counted(bomb(t, 70), limits)
	require.Len(t, errs, 1)
	require.ErrorIs(t, errs[0], ErrLimit)
	assert.ErrorContains(t, errs[0], "expands to more than 100 times its size (--max-ratio)")
	assert.Less(t, n, int64(66<<20))
	// In a zip, the other members are read.
	n, errs = counted(zippedUp(t, member{"bomb", strings.Repeat("\n", 70<<20)}, member{"z.log", "z"}), limits)
	require.Len(t, errs, 1)
	assert.ErrorContains(t, errs[0], "--max-ratio")
	assert.Greater(t, n, int64(freeRatio))
}

// TestRatioCountsArchivesInArchivesTogether reads a zip of zips, none of which expands to more than is exempt.
func TestRatioCountsArchivesInArchivesTogether(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("reads many megabytes")
	}
	inner := zippedUp(t, member{"a.log", strings.Repeat("\n", 20<<20)})
	var members []member
	for i := range 20 {
		members = append(members, member{fmt.Sprint(i) + ".zip", inner})
	}
	path := filepath.Join(t.TempDir(), "x.zip")
	data := zippedUp(t, members...)
	require.NoError(t, os.WriteFile(path, []byte(data), 0o600))
	var n int64
	var failed error
	u := Unpacker{Limits: DefaultLimits()}
	u.Limits.Ratio = 200
	u.Walk(Input{Name: path, Path: path, Size: int64(len(data)), Packed: true}, Visits{Log: func(_ string, r io.Reader) {
		m, err := io.Copy(io.Discard, r)
		n, failed = n+m, errors.Join(failed, err)
	}})
	require.ErrorIs(t, failed, ErrLimit)
	assert.Less(t, n, int64(100<<20))
}

// TestHolesOfATarAreBounded reads a tar of 2 KiB with a member that claims 8 EiB of zeros.
func TestHolesOfATarAreBounded(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("reads many megabytes")
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	sparseMap := "1\n9223372036854775000\n0\n"
	body := sparseMap + strings.Repeat("\x00", 512-len(sparseMap))
	require.NoError(t, w.WriteHeader(&tar.Header{Name: "before.log", Size: 2, Mode: 0o600}))
	_, _ = io.WriteString(w, "b\n")
	require.NoError(t, w.Flush())
	records := ""
	for _, r := range []string{"GNU.sparse.major=1", "GNU.sparse.minor=0", "GNU.sparse.name=hole.log", "GNU.sparse.realsize=9223372036854775000"} {
		n := len(r) + 2
		n += len(fmt.Sprint(n + 2))
		records += fmt.Sprintf("%d %s\n", n, r)
	}
	b.WriteString(rawHeader("x", 'x', len(records)) + records + strings.Repeat("\x00", 512-len(records)))
	b.WriteString(rawHeader("hole.log", '0', len(body)) + body)
	b.WriteString(tarred(t, member{"after.log", "a\n"}))
	n, errs := counted(b.String(), DefaultLimits())
	assert.Less(t, n, int64(70<<20))
	require.Len(t, errs, 1)
	assert.ErrorIs(t, errs[0], ErrLimit)
	assert.EqualValues(t, 4, n, "a hole without an end is no log, the other members are")
}

// rawHeader returns a tar header that the library refuses to write.
func rawHeader(name string, kind byte, size int) string {
	h := make([]byte, 512)
	copy(h, name)
	copy(h[100:], "0000600\x000000000\x000000000\x00")
	copy(h[124:], fmt.Sprintf("%011o\x0000000000000\x00        ", size))
	h[156] = kind
	copy(h[257:], "ustar\x0000")
	sum := 0
	for _, c := range h {
		sum += int(c)
	}
	copy(h[148:], fmt.Sprintf("%06o\x00 ", sum))
	return string(h)
}

func TestMembersAreBounded(t *testing.T) {
	t.Parallel()
	few := func(l *Limits) { l.Members = 2 }
	files := []member{{"a", "1"}, {"b", "2"}, {"c", "3"}, {"d", "4"}}
	for _, data := range []string{tarred(t, files...), zippedUp(t, files...)} {
		g := walkFile(t, data, few)
		assert.Equal(t, []string{"x!a: 1", "x!b: 2"}, g.logs)
		assert.Equal(t, []string{"x: limit reached: more than 2 members (--max-members); the others are not read"}, g.problems)
	}
	// All archives of an input count together.
	g := walkFile(t, tarred(t, member{"in", tarred(t, files...)}), few)
	assert.Equal(t, []string{"x!in!a: 1"}, g.logs)
	assert.Len(t, g.problems, 1)
}

func TestAZipsDirectoryIsBounded(t *testing.T) {
	t.Parallel()
	var files []member
	for i := range 20 { // 1.2 MB of directory
		files = append(files, member{fmt.Sprintf("%060000d", i), ""})
	}
	g := walkFile(t, zippedUp(t, files...), func(l *Limits) { l.Members = 10 })
	assert.Equal(t, got{problems: []string{"x: limit reached: more than 10 members (--max-members)"}}, g)
}

func TestAZipInMemoryIsBounded(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("reads many megabytes")
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.CreateHeader(&zip.FileHeader{Name: "big.log", Method: zip.Store})
	require.NoError(t, err)
	line := bytes.Repeat([]byte("0123456789abcde\n"), 1<<16)
	for range maxZip>>20 + 1 {
		_, _ = f.Write(line)
	}
	require.NoError(t, w.Close())
	_, errs := counted(b.String(), DefaultLimits())
	require.Len(t, errs, 1)
	require.ErrorIs(t, errs[0], ErrLimit)
	assert.ErrorContains(t, errs[0], "read up to 64 MiB")
}

func TestAnInterruptEndsAWalk(t *testing.T) {
	t.Parallel()
	errStop := errors.New("interrupted")
	data := zippedUp(t, member{"a", "1"}, member{"b", "2"}, member{"c", "3"})
	reads := 0
	u := &Unpacker{Limits: DefaultLimits(), Stdin: strings.NewReader(data), Check: func() error {
		if reads++; reads > 4 {
			return errStop
		}
		return nil
	}}
	g := walked(u, Input{Name: "x", Size: -1})
	assert.Less(t, len(g.logs), 3)
	assert.Contains(t, strings.Join(append(g.logs, g.problems...), "\n"), "interrupted")
}

func TestAFileMayHaveChangedSinceItWasListed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	u := &Unpacker{Limits: DefaultLimits()}
	path := filepath.Join(dir, "x")
	g := walked(u, Input{Name: "x", Path: path, Size: 3, From: dir})
	assert.Equal(t, got{problems: []string{"x: no such file or directory"}}, g)
	require.NoError(t, os.Mkdir(path, 0o700))
	g = walked(u, Input{Name: "x", Path: path, Size: 3, From: dir})
	assert.Equal(t, got{problems: []string{"x: " + errReplaced.Error()}}, g)
	// An empty member is not opened: if it was one of /proc, reading could block.
	assert.Equal(t, got{logs: []string{"x: "}}, walked(u, Input{Name: "x", Path: path, Size: 0, From: dir}))
	require.NoError(t, os.Remove(path))
	require.NoError(t, syscall.Mkfifo(path, 0o600)) // to open it would block
	assert.Equal(t, got{problems: []string{"x: " + errReplaced.Error()}}, walked(u, Input{Name: "x", Path: path, Size: 3}))
}

// TestAFileMayShrinkWhileItIsRead truncates an archive while its first member is read.
func TestAFileMayShrinkWhileItIsRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x")
	ball := tarred(t, member{"a.log", "a"}, member{"b.log", strings.Repeat("b", 1<<20)})
	require.NoError(t, os.WriteFile(path, []byte(ball), 0o600))
	u := &Unpacker{Limits: DefaultLimits()}
	var errs []error
	_, problems := u.Walk(Input{Name: "x", Path: path, Size: int64(len(ball))}, Visits{Log: func(name string, r io.Reader) {
		require.NoError(t, os.Truncate(path, 100<<10))
		_, err := io.Copy(io.Discard, r)
		errs = append(errs, err)
	}})
	require.Len(t, errs, 2)
	require.NoError(t, errs[0])
	require.ErrorIs(t, errs[1], io.ErrUnexpectedEOF)
	assert.Empty(t, problems, "it is reported once")
}

// TestTheKernelsFilesDoNotBlock walks a folder of /proc, where files look empty and reading some of them blocks.
func TestTheKernelsFilesDoNotBlock(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/sys/kernel/ostype"); err != nil {
		t.Skip("no /proc here")
	}
	inputs, _ := List([]string{"/proc/sys/kernel"})
	require.NotEmpty(t, inputs)
	u := &Unpacker{Limits: DefaultLimits()}
	for _, in := range inputs {
		g := walked(u, in)
		assert.Equal(t, got{logs: []string{in.Name + ": "}}, g)
	}
	// A file that was named itself is read.
	inputs, _ = List([]string{"/proc/sys/kernel/ostype"})
	require.Len(t, inputs, 1)
	assert.Equal(t, []string{"/proc/sys/kernel/ostype: Linux\n"}, walked(u, inputs[0]).logs)
}

func TestAStreamIsRecognizedByItsFirstBytes(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		data string
		want Form
	}{
		"gzip": {gz(t, "hello\n"), Packed}, "zstd": {zst(t, "hello\n"), Packed}, "xz": {xzed(t, "hello\n"), Packed},
		"lz4": {lz4ed(t, "hello\n"), Packed}, "bzip2": {bzipped, Packed}, "tar": {tarred(t, member{"a.log", "a"}), Packed},
		"zip": {zippedUp(t, member{"a.log", "a"}), Packed}, "UTF-16": {"\xff\xfeh\x00i\x00", Wide},
		"text": {"step 1\n", Plain}, "P": {"Predict\n", Plain}, "B": {"BZh is no magic\n", Plain}, "ESC": {"\x1b[31mred\n", Plain},
	} {
		n := 1
		if name == "tar" {
			n = 150 // a tar begins with a name, like any text, and is written in blocks
		}
		for ; ; n++ {
			require.LessOrEqual(t, n, len(tc.data), "%s: never sure", name)
			if form, sure := Begins([]byte(tc.data[:n])); sure {
				assert.Equal(t, tc.want, form, "%s, after %d bytes", name, n)
				break
			}
		}
	}
	for _, s := range []string{"CUDA out of memory", "T", "\x1b[", "[rank0]:"} {
		_, sure := Begins([]byte(s))
		assert.True(t, sure, "%q is answered at once", s)
	}
}

// utf16Rows are a few lines, made of the units of one.
func utf16Rows(units ...string) string { return strings.Repeat(strings.Join(units, ""), 20) }

func TestUTF16IsDecodedInAnyChunks(t *testing.T) {
	t.Parallel()
	little := "\xff\xfea\x00\xe4\x00\x3d\xd8\x00\xde\n\x00\x00\xdc\x3d\xd8x\x00\x41\xd8" // a, ä, an emoji, unpaired halves
	want := "a\u00e4\U0001f600\n\ufffd\ufffdx\ufffd"
	for size := 1; size <= len(little); size++ {
		d := newWideReader(marked([]byte(little)))
		var out []byte
		for rest := little; rest != ""; {
			n := min(size, len(rest))
			out = d.Append(out, []byte(rest[:n]))
			rest = rest[n:]
		}
		assert.Equal(t, want, string(d.Close(out)), "%d bytes at a time", size)
	}
	d := newWideReader(marked(nil))
	assert.Equal(t, "hi\ufffd", string(d.Close(d.Append(nil, []byte("\xfe\xff\x00h\x00i\x00")))))
}

func FuzzWalk(f *testing.F) {
	f.Add(gz(f, tarred(f, member{"a", gz(f, "b")})))
	f.Add(zst(f, "hello"))
	f.Add(xzed(f, "hello"))
	f.Add(lz4ed(f, "hello"))
	f.Add(bzipped)
	f.Add(zippedUp(f, member{"a", "b"}))
	f.Fuzz(func(t *testing.T, data string) {
		limits := Limits{Depth: 3, Expanded: 4 << 20, Total: 1 << 40, Ratio: 100, Members: 20}
		n, _ := counted(data, limits)
		assert.LessOrEqual(t, n, int64(len(data))*21+8<<20)
	})
}

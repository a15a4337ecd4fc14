package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"oomscan/cmd/oomscan/internal/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"oomscan":  func() { os.Exit(cli.Main(os.Args[1:], cli.OS())) },
		"measured": func() { os.Exit(measured(os.Args[1], os.Args[2:])) },
	})
}

// TestScripts runs the real binary: one file a topic in testdata/script.
func TestScripts(t *testing.T) {
	t.Parallel()
	fixtures, err := filepath.Abs("../../fixtures")
	if err != nil {
		t.Fatal(err)
	}
	shared, err := sharedScripts()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE_GOLDEN") != "",
		Setup: func(e *testscript.Env) error {
			e.Setenv("FIXTURES", fixtures)
			if err := save(e.WorkDir, shared); err != nil {
				return err
			}
			if filepath.Base(e.WorkDir) == "script-hostile" {
				return save(e.WorkDir, hostile(t))
			}
			return nil
		},
	})
}

// sharedScripts are what the topic scale-out shows: what people copy is what is tested.
func sharedScripts() (map[string]string, error) {
	raw, err := os.ReadFile("internal/cli/help/scale-out.md")
	if err != nil {
		return nil, err
	}
	_, rest, _ := strings.Cut(string(raw), "```bash\n")
	array, rest, _ := strings.Cut(rest, "```\n")
	scripts := map[string]string{"scan.sbatch": array}
	for line := range strings.Lines(rest) {
		for _, tool := range []string{"xargs", "parallel"} {
			if strings.HasPrefix(line, "    find ") && strings.Contains(line, "| "+tool+" ") {
				scripts[tool+".sh"] = line
			}
		}
	}
	if len(scripts) != 3 || array == "" {
		return nil, errors.New("scale-out.md does not show how a scan is shared out")
	}
	return scripts, nil
}

// save writes files into a folder.
func save(dir string, files map[string]string) error {
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// hostile are files that no tool writes, in a folder of logs.
func hostile(t *testing.T) map[string]string {
	t.Helper()
	const bomb = 100 << 20 // streamed: what this process holds counts for the programs that other tests start
	expand := func(w io.Writer) {
		chunk := strings.Repeat("x", 1<<20)
		for range bomb / len(chunk) {
			_, err := io.WriteString(w, chunk)
			require.NoError(t, err)
		}
	}
	var zipped bytes.Buffer
	z := zip.NewWriter(&zipped)
	z.RegisterCompressor(zstd.ZipMethodWinZip, zstd.ZipCompressor())
	w, err := z.CreateHeader(&zip.FileHeader{Name: "big.log", Method: zstd.ZipMethodWinZip})
	require.NoError(t, err)
	expand(w)
	require.NoError(t, z.Close())

	var packed, evil bytes.Buffer
	squeezed, err := zstd.NewWriter(&packed)
	require.NoError(t, err)
	ball := func(to io.Writer, big string, names ...string) {
		w := tar.NewWriter(to)
		for _, name := range names {
			size := len(oomLine) + 1
			if name == big {
				size = bomb
			}
			require.NoError(t, w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(size)}))
			if name == big {
				expand(w)
				continue
			}
			_, err := io.WriteString(w, oomLine+"\n")
			require.NoError(t, err)
		}
		require.NoError(t, w.Close())
	}
	ball(squeezed, "big.log", "first.log", "big.log", "last.log")
	require.NoError(t, squeezed.Close())
	ball(&evil, "", "../../out.log", "/etc/oomscan.log", "new\nline.log")
	deep := zipOf(t, map[string][]byte{"a.log": []byte("step 1\n")})
	for range 7 {
		deep = zipOf(t, map[string][]byte{"a.zip": deep})
	}
	noise := make([]byte, 8<<10)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = "0123456789abcdef\n"[r.IntN(17)]
	}
	cut := pack(t, "gzip", append([]byte(oomLine+"\n"), noise...))
	frames := pack(t, "zstd", []byte(oomLine+"\n"))
	return map[string]string{
		"logs/bomb.zip":      zipped.String(),
		"logs/bomb.tar.zst":  packed.String(),
		"logs/deep.zip":      string(deep),
		"logs/cut.gz":        string(cut[:len(cut)/2]),
		"logs/garbage.zst":   string(frames) + string(frames) + "and then this",
		"logs/evil.tar":      evil.String(),
		"logs/new\nline.log": oomLine + "\n",
		"logs/zz.log":        oomLine + "\n",
	}
}

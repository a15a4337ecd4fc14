// Command corpus writes large logs of one kind as inputs for measurements, and .json files that say where something fails. The
// same flags give the same bytes.
//
//	go run ./cmd/corpus -o /tmp/corpus -kind healthy,noisy,oom,longline -size 600
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	dir := flag.String("o", ".", "`folder` for the logs")
	kinds := flag.String("kind", strings.Join(all, ","), "which logs to write")
	size := flag.Int64("size", 600, "`MB` (10^6 bytes) of each log")
	seed := flag.Uint64("seed", 1, "another number gives other logs")
	flag.Parse()
	for _, kind := range strings.Split(*kinds, ",") {
		if !slices.Contains(all, kind) {
			fail(fmt.Errorf("unknown kind %q: one of %s", kind, strings.Join(all, ", ")))
		}
		if err := write(*dir, kind, *size*1_000_000, *seed); err != nil {
			fail(err)
		}
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "corpus:", err)
	os.Exit(2)
}

// write writes KIND.log and KIND.json.
func write(dir, kind string, size int64, seed uint64) error {
	f, err := os.Create(filepath.Join(dir, kind+".log"))
	if err != nil {
		return err
	}
	defer f.Close()
	out := bufio.NewWriterSize(f, 1<<20)
	w := &writer{out: out, r: rand.New(rand.NewPCG(seed, 7)), line: 1, every: 50_000}
	w.log(kind, size)
	if err := out.Flush(); err != nil {
		return err
	}
	truth, err := json.MarshalIndent(map[string]any{
		"kind": kind, "seed": seed, "bytes": w.bytes, "lines": w.line - 1, "events": w.events,
	}, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, kind+".json"), append(truth, '\n'), 0o644); err != nil {
		return err
	}
	return f.Close()
}

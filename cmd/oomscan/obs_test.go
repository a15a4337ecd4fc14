package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/cmd/oomscan/internal/cli"
)

// observe writes the observations of paths to a file of that name and returns its path.
func observe(t testing.TB, name string, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	status, out, errs := call(t, nil, append(args, "--format", "obs", "-o", path)...)
	require.Zero(t, status, "%s", errs)
	require.Empty(t, string(out))
	require.Empty(t, string(errs))
	return path
}

// footerEnd is the end of a footer; how long the time is decides where the line breaks.
var footerEnd = regexp.MustCompile(`,\s+oomscan\s+\S+\s+in\s+[\d.]+\s?\S+`)

// observedElsewhere holds the reports on a folder's logs, in each form, against those made of observations: of all logs at
// once, of each log by itself, of a share for each of two nodes, and of archives of them.
func observedElsewhere(t *testing.T, dir string) {
	t.Helper()
	answer := func(in *os.File, args ...string) string {
		_, out, errs := call(t, in, args...)
		require.Empty(t, string(errs))
		return timeless(footerEnd.ReplaceAll(out, nil))
	}
	var paths []string
	for _, n := range members(t, dir) {
		paths = append(paths, filepath.Join(dir, n))
	}
	all := observe(t, "all.obs", dir, "--jobs", "1")
	lines := func(path string) []string { return strings.Split(unpacked(t, path), "\n") }
	require.ElementsMatch(t, lines(all), lines(observe(t, "all.obs", dir, "--jobs", "8")), "workers change only the order of the logs")

	var each, shares []string
	var joined []byte
	for i, p := range paths {
		one := observe(t, strconv.Itoa(i)+".obs", p)
		each = append(each, one)
		b, err := os.ReadFile(one)
		require.NoError(t, err)
		joined = append(joined, b...)
	}
	for node := range 2 {
		var share []string
		for i := node; i < len(paths); i += 2 {
			share = append(share, paths[i])
		}
		shares = append(shares, observe(t, "node"+strconv.Itoa(node)+".obs", share...))
	}
	files := map[string][]byte{}
	for i, p := range each {
		b, err := os.ReadFile(p)
		require.NoError(t, err)
		files["obs/"+strconv.Itoa(i)] = b
	}
	ball := write(t, "obs.tar.gz", pack(t, "gzip", tarOf(t, filepath.Dir(all))))
	for _, format := range []string{"json", "text", "ndjson"} {
		want := answer(nil, "--format", format, dir)
		merge := func(args ...string) string {
			return answer(nil, append([]string{"merge", "--format", format}, args...)...)
		}
		assert.Equal(t, want, merge(all), "%s of all", format)
		assert.Equal(t, want, merge(append(each, "--jobs", "8")...), "%s of each", format)
		assert.Equal(t, want, merge(shares[1], shares[0], "--jobs", "1"), "%s of shares, the last first", format)
		assert.Equal(t, want, merge(filepath.Dir(all)), "%s of a folder", format)
		assert.Equal(t, want, merge(ball), "%s of an archive", format)
		assert.Equal(t, want, merge(write(t, "obs.zip", zipOf(t, files))), "%s of a zip", format)
		assert.Equal(t, want, merge(write(t, "joined", joined)), "%s of files put together", format)
		assert.Equal(t, want, answer(pipe(t, joined), "merge", "--format", format), "%s of a pipe", format)
		assert.Equal(t, want, answer(nil, append([]string{"--format", format}, each...)...), "%s by a scan of them", format)
	}
}

// unpacked is the text of a file of observations.
func unpacked(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	d, err := zstd.NewReader(nil)
	require.NoError(t, err)
	defer d.Close()
	text, err := d.DecodeAll(data, nil)
	require.NoError(t, err)
	return string(text)
}

// TestCasesAreJudgedAlikeElsewhere merges the observations of cases.
func TestCasesAreJudgedAlikeElsewhere(t *testing.T) {
	t.Parallel()
	for _, dir := range sample(caseFolders(t), 3) {
		t.Run(kindAndName(dir), func(t *testing.T) {
			t.Parallel()
			var paths []string
			for _, n := range logs(t, dir) {
				paths = append(paths, filepath.Join(dir, n))
			}
			status, want, _ := call(t, nil, append(paths, "--format", "json")...)
			again, got, errs := call(t, nil, "merge", "--format", "json", observe(t, "x", paths...))
			assert.Empty(t, string(errs))
			assert.Equal(t, status, again)
			require.Equal(t, timeless(want), timeless(got))
		})
	}
}

// TestManyWorkersWriteTheSame gives logs, and archives that wait for each other's memory, to many workers.
func TestManyWorkersWriteTheSame(t *testing.T) {
	t.Parallel()
	dir, settings, files := t.TempDir(), 500, 30
	if testing.Short() { // the race detector makes it slow
		settings, files = 100, 12
	}
	var log strings.Builder
	for i := range settings {
		fmt.Fprintf(&log, "{'actor': {'lr': %d,\n           'batch_%d': 4}}\n", i, i)
	}
	log.WriteString(oomLine + "\n")
	inner := zipOf(t, map[string][]byte{"c.log": []byte(log.String())})
	for i := range files {
		data, name := []byte(log.String()), "b.log"
		if i%3 == 0 {
			data, name = zipOf(t, map[string][]byte{"a.zip": inner, "b.zip": inner}), "a.zip"
		}
		sub := filepath.Join(dir, strconv.Itoa(100+i))
		require.NoError(t, os.Mkdir(sub, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(sub, name), data, 0o600))
	}
	_, want, _ := call(t, nil, "--format", "json", dir)
	for _, workers := range []string{"1", "16"} {
		_, got, _ := call(t, nil, "merge", "--format", "json", observe(t, "x", dir, "--jobs", workers))
		assert.Equal(t, timeless(want), timeless(got))
	}
}

// TestAStreamIsObservedToo pipes a log in, plain and packed.
func TestAStreamIsObservedToo(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../fixtures/cases/gpu_oom/relax-sft-loss-oom/relax_sft.log")
	require.NoError(t, err)
	_, want, _ := call(t, pipe(t, text), "--format", "json")
	for _, data := range [][]byte{text, pack(t, "gzip", text), pack(t, "xz", text)} {
		path := filepath.Join(t.TempDir(), "x")
		status, _, errs := call(t, pipe(t, data), "--format", "obs", "-o", path)
		require.Zero(t, status)
		require.Empty(t, string(errs))
		status, got, _ := call(t, nil, "merge", "--format", "json", path)
		assert.Equal(t, 1, status)
		assert.Equal(t, timeless(want), timeless(got))
	}
}

// twoNodes writes what two nodes say of a log of the same name.
func twoNodes(t *testing.T, name, first, second string, args ...string) (a, b string) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, name)
	both := make([]string, 2)
	for i, text := range []string{first, second} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		both[i] = filepath.Join(dir, "node"+strconv.Itoa(i)+".obs")
		status, _, errs := call(t, nil, append(args, "--format", "obs", "-o", both[i], path)...)
		require.Zero(t, status, "%s", errs)
	}
	return both[0], both[1]
}

func TestLogsOfOneNameAreToldApart(t *testing.T) {
	t.Parallel()
	a, b := twoNodes(t, "rank_0.log", "step 1\n"+oomLine+"\n", "step 2\n"+oomLine+"\n")
	name := filepath.Join(filepath.Dir(a), "rank_0.log")
	for _, args := range [][]string{{a, b}, {b, a}} {
		status, out, errs := call(t, nil, append([]string{"merge", "--format", "json"}, args...)...)
		assert.Equal(t, 1, status)
		assert.Contains(t, string(out), `"name": "`+a+"!"+name+`"`)
		assert.Contains(t, string(out), `"name": "`+b+"!"+name+`"`)
		assert.Contains(t, string(out), `"file": "`+a+"!"+name+`"`, "in the evidence, too")
		assert.NotContains(t, string(out), `"`+name+`"`)
		assert.Contains(t, string(errs), "oomscan: "+name+": not the same in "+args[0]+" and "+args[1]+": kept apart by file")
		assert.Contains(t, string(errs), "hint: let the scans name the node")
	}
}

func TestLogsThatAreTheSameCountOnce(t *testing.T) {
	t.Parallel()
	a, b := twoNodes(t, "rank_0.log", oomLine+"\n", oomLine+"\n")
	name := filepath.Join(filepath.Dir(a), "rank_0.log")
	_, want, _ := call(t, nil, "merge", "--format", "json", a)
	_, out, errs := call(t, nil, "merge", "--format", "json", a, b)
	assert.Equal(t, timeless(want), timeless(out))
	assert.Equal(t, "oomscan: "+name+": the same in "+a+" and "+b+": counted once\n", string(errs))
}

// TestHealthyLogsOfOneNameDiffer has logs that tell nothing and are of one size.
func TestHealthyLogsOfOneNameDiffer(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("all is well\n", 1000)
	a, b := twoNodes(t, "rank_0.log", filler+"node 1\n", filler+"node 2\n")
	_, out, errs := call(t, nil, "merge", a, b)
	assert.Contains(t, string(errs), "not the same in")
	assert.Contains(t, string(out), "2 inputs")
	a, b = twoNodes(t, "rank_0.log", strings.Repeat(filler, 100)+"node 1\n", strings.Repeat(filler, 100)+"node 2\n")
	_, _, errs = call(t, nil, "merge", a, b)
	assert.Contains(t, string(errs), "not the same in", "of more than a MiB, too")
}

func TestAPrefixKeepsNodesApart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "rank_0.log")
	var both []string
	for _, node := range []string{"node1", "node2"} {
		require.NoError(t, os.WriteFile(path, []byte(node+"\n"+oomLine+"\n"), 0o600))
		both = append(both, observe(t, node, "--prefix", node+":", path))
	}
	_, out, errs := call(t, nil, append([]string{"merge", "--format", "json"}, both...)...)
	assert.Empty(t, string(errs))
	assert.Contains(t, string(out), `"name": "node1:`+path+`"`)
	assert.Contains(t, string(out), `"file": "node2:`+path+`"`)
}

func TestALogReadHereIsToldFromOneOfItsName(t *testing.T) {
	t.Parallel()
	path := write(t, "rank_0.log", []byte(oomLine+"\n"))
	seen := observe(t, "x.obs", path)
	_, out, errs := call(t, nil, "--format", "json", path, seen)
	assert.Contains(t, string(errs), path+": read here, and also reported in "+seen+": kept apart by file")
	assert.Contains(t, string(out), `"name": "`+seen+"!"+path+`"`)
}

// TestObservationsInAFolderOfLogsAreNoLogs scans a folder again that holds what an earlier scan of it wrote.
func TestObservationsInAFolderOfLogsAreNoLogs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.log"), []byte(oomLine+"\n"), 0o600))
	_, want, _ := call(t, nil, "--format", "json", dir)
	path := filepath.Join(dir, "job.obs")
	for range 2 { // the second time it is there already
		status, _, errs := call(t, nil, "--format", "obs", "-o", path, dir)
		require.Zero(t, status)
		require.Empty(t, string(errs), "what is being written is no input")
	}
	_, got, errs := call(t, nil, "--format", "json", dir)
	assert.Equal(t, timeless(want), timeless(got))
	assert.Equal(t, "oomscan: "+dir+": passed over 1 file of observations\nhint: oomscan merge reads observations\n", string(errs))
	_, got, errs = call(t, nil, "merge", "--format", "json", dir)
	assert.Equal(t, timeless(want), timeless(got))
	assert.Equal(t, "oomscan: "+dir+": passed over 1 log\nhint: oomscan PATH reads logs\n", string(errs))
}

// TestWhatCouldNotBeReadIsToldByTheMerge carries an error through.
func TestWhatCouldNotBeReadIsToldByTheMerge(t *testing.T) {
	t.Parallel()
	noise := 2000
	if testing.Short() { // the race detector makes it slow
		noise = 400
	}
	whole := pack(t, "gzip", []byte(oomLine+"\n"+strings.Repeat("noise "+oomLine[:40]+"\n", noise)))
	path := write(t, "cut.gz", whole[:len(whole)-20])
	want, wrong, _ := call(t, nil, "--format", "json", path, path+".missing")
	seen := filepath.Join(t.TempDir(), "x")
	status, _, errs := call(t, nil, "--format", "obs", "-o", seen, path, path+".missing")
	assert.Equal(t, 2, status)
	assert.Contains(t, string(errs), "oomscan: "+path+": cut short: the gzip data ends in the middle")
	assert.Contains(t, string(errs), "oomscan: "+path+".missing: no such file or directory")
	status, out, errs := call(t, nil, "merge", "--format", "json", seen)
	assert.Equal(t, want, status)
	assert.Equal(t, timeless(wrong), timeless(out))
	assert.Contains(t, string(errs), "oomscan: "+path+": cut short: the gzip data ends in the middle; what was there is read\nhint: so it was when it was scanned\n")
}

// TestBrokenObservationsAreSaid merges a good file with a bad one of each sort.
func TestBrokenObservationsAreSaid(t *testing.T) {
	t.Parallel()
	good := observe(t, "good.obs", write(t, "good.log", []byte(oomLine+"\n")))
	text := unpacked(t, observe(t, "x.obs", write(t, "a.log", []byte("epoch 1\n"+oomLine+"\n")), write(t, "b.log", []byte(oomLine+"\n"))))
	lines := strings.SplitAfter(text, "\n")
	packed := pack(t, "zstd", []byte(text))
	flipped := bytes.Clone(packed)
	flipped[len(flipped)/2] ^= 0x55
	for name, x := range map[string]struct {
		data []byte
		want []string
	}{
		"no end":             {pack(t, "zstd", []byte(strings.Join(lines[:len(lines)-2], ""))), []string{`x: line \d+: cut short: the observations end in the middle`, "hint: the scan that wrote it did not end"}},
		"half":               {packed[:len(packed)/2], []string{`x: (line \d+: )?cut short: the zstd data ends in the middle`}},
		"damaged":            {flipped, []string{`x: (line \d+: )?damaged`}},
		"a line is broken":   {[]byte(strings.Replace(text, `"event":`, `"event:`, 1)), []string{`x: line \d: not a JSON object`}},
		"a newer version":    {[]byte(strings.Replace(text, "/v1", "/v2", 1)), []string{`x: line 1: written by a newer oomscan: schema "oomscan.observations/v2"`, "hint: read it with that version"}},
		"another version":    {[]byte(strings.Replace(text, `"version":"`, `"version":"0.0.1-`, 1)), []string{`x: written by oomscan 0\.0\.1-`, "hint: scan and merge with one version"}},
		"a log":              {[]byte("step 1\n"), []string{"x: holds no observations of oomscan", "hint: oomscan --format obs writes such files"}},
		"a packed log":       {pack(t, "gzip", []byte("step 1\n")), []string{"x: holds no observations of oomscan"}},
		"nothing":            {nil, []string{"x: holds no observations of oomscan"}},
		"an archive of logs": {tarOf(t, filepath.Dir(write(t, "a.log", []byte("step 1\n")))), []string{"x: no observations in it: passed over 1 log"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bad := write(t, "x", x.data)
			status, out, errs := call(t, nil, "merge", "--format", "json", bad, good)
			assert.Equal(t, 1, status)
			for _, w := range x.want {
				assert.Regexp(t, w, string(errs))
			}
			assert.Contains(t, string(out), "good.log", "the other one is merged")
			if name != "another version" {
				assert.Regexp(t, `"error": ".+"`, string(out), "and the report says it")
			}
		})
	}
	first := `a\.log:2"|b\.log:1"` // the logs of a file stand in any order
	_, out, _ := call(t, nil, "merge", "--format", "json", write(t, "x", []byte(strings.Join(lines[:len(lines)-3], ""))))
	assert.Regexp(t, first, string(out), "what was complete is in the report")
	assert.Contains(t, string(out), `"error": "its observations end in the middle"`)

	status, out, errs := call(t, nil, "merge", "--format", "json", "--max-members", "1", write(t, "x", []byte(text)))
	assert.Equal(t, 1, status)
	assert.Contains(t, string(errs), "too many logs: more than 1\nhint: --max-members says how many a file may hold\n")
	assert.Regexp(t, first, string(out))
}

func TestFlagsOfObservations(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"oomscan: --format obs: takes no --framework and no --run-config\nhint: give them to oomscan merge, which judges\n": {"--format", "obs", "--framework", "verl", "x"},
		"oomscan: --prefix: goes with --format obs\nhint: names in a report are those on the command line\n":                {"--prefix", "a:", "x"},
	} {
		status, out, errs := call(t, nil, args...)
		assert.Equal(t, 2, status)
		assert.Empty(t, string(out))
		assert.Equal(t, want, string(errs))
	}
	_, _, refused := call(t, nil, "merge", "--format", "obs", "x")
	assert.Contains(t, string(refused), "unknown value \"obs\"\nhint: one of ")
	assert.NotContains(t, string(refused), "obs,", "merge makes reports only")
	var out, errs bytes.Buffer
	status := cli.Main([]string{"--format", "obs", write(t, "a.log", nil)}, cli.Streams{Out: &out, Err: &errs, OutTerminal: true, Env: func(string) string { return "" }})
	assert.Equal(t, 2, status)
	assert.Empty(t, out.String())
	assert.Equal(t, "oomscan: --format obs: is packed and nothing for a terminal\nhint: write it to a file with -o\n", errs.String())
}

// TestAFullDiskEndsTheScan writes to a device that takes nothing.
func TestAFullDiskEndsTheScan(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full")
	}
	status, _, errs := call(t, nil, "--format", "obs", "-o", "/dev/full", write(t, "a.log", []byte(oomLine)))
	assert.Equal(t, 2, status)
	assert.Contains(t, string(errs), "no space left on device")
}

func TestAnInterruptedScanWritesWhatItHas(t *testing.T) {
	t.Parallel()
	interrupt := make(chan struct{})
	close(interrupt)
	path := filepath.Join(t.TempDir(), "x")
	var out, errs bytes.Buffer
	status := cli.Main([]string{"--format", "obs", "-o", path, write(t, "a.log", []byte(oomLine))}, cli.Streams{Out: &out, Err: &errs, Env: func(string) string { return "" }, Interrupt: interrupt})
	assert.Equal(t, 130, status)
	_, got, _ := call(t, nil, "merge", "--format", "json", path)
	assert.Contains(t, string(got), `"error": "interrupted, not read to its end"`)
}

// FuzzMerge changes a file of observations and merges it: whatever it holds then, there is an answer, and no panic.
func FuzzMerge(f *testing.F) {
	for _, log := range []string{"gpu_oom/relax-sft-loss-oom/relax_sft.log", "gpu_oom/verl-fsdp-backward-after-160-steps/train.log"} {
		text := unpacked(f, observe(f, "x", "../../fixtures/cases/"+log))
		lines := strings.SplitAfter(text, "\n")
		f.Add(strings.Join(append(lines[:2:2], lines[max(2, len(lines)-12):]...), ""))
	}
	f.Fuzz(func(t *testing.T, text string) {
		status, out, _ := call(t, nil, "merge", "--format", "json", write(t, "x", []byte(text)))
		assert.Contains(t, []int{0, 1, 2}, status)
		assert.NotEmpty(t, out)
		status, out, _ = call(t, nil, "merge", write(t, "x", []byte(text)))
		assert.Contains(t, []int{0, 1, 2}, status)
		assert.NotEmpty(t, out)
	})
}

// TestSecretsAtACutAreJudgedAlikeElsewhere puts credentials, shorter and longer than what is kept of a text, around every
// length at which texts are cut. What is hidden must not depend on where the log was scanned.
func TestSecretsAtACutAreJudgedAlikeElsewhere(t *testing.T) {
	t.Parallel()
	random := "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3hJ6"
	keys := []string{
		"HF_TOKEN=hf_" + random[:34], "password: " + random[:3], "password=nonesuch", "https://me:" + random + "@git.example.com/x",
		"api_key='" + strings.Repeat(random, 150) + "'", "-----BEGIN RSA PRIVATE KEY----- " + strings.Repeat(random+" ", 10),
	}
	edges := []int{60, 80, 100, 120, 256, 300, 400, 512, 2000, 4096}
	shapes := map[string]string{ // % is filled up to the edge, and a credential stands behind it
		"message": "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. %\n",
		"front":   "% torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free.\n",
		"trace": "Traceback (most recent call last):\n  File \"/srv/a.py\", line 3, in f\n    g(%)\n" +
			"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n",
		"follows": "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\nTraceback (most recent call last):\n  File \"/srv/a.py\", line 3, in f\n    g()\nRuntimeError: %\n",
		"setting": "{'trainer.name': '%',\n 'trainer.nodes': 2}\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n",
		"stage":   "INFO: starting rollout % \nbefore init vllm rollout %\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n",
	}
	dir, n := t.TempDir(), 0
	if testing.Short() { // the race detector makes it slow
		edges = edges[len(edges)-2:]
	}
	for name, shape := range shapes {
		begin := strings.IndexByte(shape, '%') - strings.LastIndexByte(shape[:strings.IndexByte(shape, '%')], '\n') - 1
		for _, edge := range edges {
			for k, key := range keys {
				back := (n*7)%50 - 2 // another one for each
				fill := max(0, edge-begin-back)
				text := strings.Repeat("word ", fill/5) + strings.Repeat("w", fill%5) + " " + key + " and more"
				path := filepath.Join(dir, fmt.Sprintf("%s.%d.%d.log", name, edge, k))
				require.NoError(t, os.WriteFile(path, []byte(strings.ReplaceAll(shape, "%", text)), 0o600))
				n++
			}
		}
	}
	require.Greater(t, n, 70)
	all := observe(t, "all.obs", dir)
	_, want, _ := call(t, nil, "--each", "--format", "json", dir)
	_, got, _ := call(t, nil, "merge", "--each", "--format", "json", all)
	require.Contains(t, string(want), "***")
	for i := 0; i+8 <= len(random); i += 4 {
		require.NotContains(t, string(want), random[i:i+8])
	}
	lines := strings.Split(timeless(got), "\n")
	for i, line := range strings.Split(timeless(want), "\n") {
		require.Equal(t, line, lines[i], "line %d", i)
	}
}

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/cmd/oomscan/internal/cli"
	"oomscan/cmd/oomscan/internal/report"
)

// jobsDocument is the JSON of several jobs.
type jobsDocument struct {
	Schema string         `json:"schema"`
	Inputs []report.Input `json:"inputs"`
	Jobs   []struct {
		Job string `json:"job"`
		Why string `json:"together_by"`
		report.Report
	} `json:"jobs"`
	Unattributed []struct {
		Job string `json:"job"`
		report.Report
	} `json:"unattributed"`
	Summary report.Summary `json:"summary"`
	Stats   report.Stats   `json:"stats"`
}

// answer runs the command in process.
func answer(t *testing.T, args ...string) (status int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	status = cli.Main(args, cli.Streams{In: os.Stdin, Out: &o, Err: &e, Env: func(string) string { return "" }, InTerminal: true})
	return status, o.String(), e.String()
}

func several(t *testing.T, args ...string) (int, jobsDocument) {
	t.Helper()
	status, out, errs := answer(t, append([]string{"--format", "json"}, args...)...)
	var doc jobsDocument
	require.NoError(t, json.Unmarshal([]byte(out), &doc), "stderr: %s", errs)
	return status, doc
}

// pattern is a pattern that one path fits: files that are given by their names are one job.
func pattern(path string) string { return path[:len(path)-1] + "[" + path[len(path)-1:] + "]" }

// TestAllCasesInOneCall reads the logs of all cases, each of which is one job, and finds as many, with the incidents that
// each has alone.
func TestAllCasesInOneCall(t *testing.T) {
	t.Parallel()
	folders := caseFolders(t)
	if testing.Short() {
		folders = folders[:len(folders)/20]
	}
	var paths []string
	for _, dir := range folders {
		for _, name := range logs(t, dir) {
			paths = append(paths, pattern(filepath.Join(dir, name)))
		}
	}
	_, doc := several(t, paths...)
	jobs := map[string][]string{} // by case
	for _, j := range doc.Jobs {
		cases := map[string]bool{}
		for _, in := range j.Inputs {
			cases[filepath.Dir(in.Name)] = true
		}
		for c := range cases {
			jobs[c] = append(jobs[c], j.Job)
		}
		if len(cases) > 1 {
			assert.Regexp(t, `^\d+$`, j.Job, "two cases are one job only if they happen to tell the same id: %v", cases)
			continue
		}
		for c := range cases {
			raw, err := os.ReadFile(filepath.Join(c, "expect.json"))
			require.NoError(t, err)
			var want label
			require.NoError(t, json.Unmarshal(raw, &want))
			assert.Equal(t, want.OOM, j.Memory(), c)
		}
	}
	for c, js := range jobs {
		assert.Len(t, js, 1, c)
	}
	nodes := len(doc.Unattributed) // a node's own journal is no job's
	assert.LessOrEqual(t, nodes, 1)
	assert.Len(t, jobs, len(folders)-nodes)
	assert.Equal(t, len(doc.Jobs), doc.Summary.Jobs)
	assert.Equal(t, doc.Summary.Jobs, doc.Summary.Memory+doc.Summary.Suspect+doc.Summary.Survived+doc.Summary.Healthy)
	assert.Len(t, doc.Summary.First, doc.Summary.Jobs-doc.Summary.Healthy+nodes)
}

// archive lays out four jobs in a folder: one whose own log and the kernel's tell of a kill, one of whose end the kernel
// alone tells, one with a log that tells the id, one in which all is well; and the kernel log of their node, which tells of
// a job that is not here, too.
func archive(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	kill := func(job, pid string) string {
		return "[100.1] python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0\n" +
			"[100.2] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=job_" + job + ",mems_allowed=0-1,oom_memcg=/slurm/uid_1/job_" + job +
			",task_memcg=/slurm/uid_1/job_" + job + "/step_0/task_0,task=python3,pid=" + pid + ",uid=1\n" +
			"[100.3] Memory cgroup out of memory: Killed process " + pid + " (python3) total-vm:18044088kB, anon-rss:16759220kB, file-rss:1228kB, shmem-rss:0kB, UID:1 pgtables:33008kB oom_score_adj:0\n" +
			strings.Repeat("[101.0] usb 1-1: new device\n", 40)
	}
	oom := "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.11 GiB of which 1.50 GiB is free. Including non-PyTorch memory, this process has 77.00 GiB memory in use. Of the allocated memory 61.20 GiB is allocated by PyTorch, and 1.37 GiB is reserved by PyTorch but unallocated.\n"
	write("slurm-771.out", "SLURM_JOB_ID=771\nepoch 1\n")
	write("slurm-771.err", "slurmstepd: error: Detected 1 oom_kill event in StepId=771.0. Some of the step tasks have been OOM Killed.\n")
	write("slurm-772.out", "epoch 1\n")
	write("slurm-773.out", "epoch 1\n")
	write("server.log", "SLURM_JOB_ID=773\n"+oom)
	write("slurm-774.out", "all is well\n")
	write("notes.txt", "call Ada about the quota\n")
	write("dmesg.txt", kill("771", "4001")+kill("772", "4002")+kill("999", "4003"))
	return dir
}

func TestSeveralJobs(t *testing.T) {
	t.Parallel()
	dir := archive(t)
	status, doc := several(t, dir)
	assert.Equal(t, 1, status)
	assert.Equal(t, report.Schema, doc.Schema)
	var names []string
	kinds := map[string][]string{}
	for _, j := range doc.Jobs {
		names = append(names, j.Job)
		for _, in := range j.Incidents {
			kinds[j.Job] = append(kinds[j.Job], in.Kind)
		}
	}
	assert.Equal(t, []string{"771", "772", "773", "774"}, names)
	assert.Equal(t, map[string][]string{"771": {"oom_kill"}, "772": {"oom_kill"}, "773": {"gpu_oom"}}, kinds, "each kill is told by the job that it names")
	require.Len(t, doc.Unattributed, 1, "the kill of a job that is not here is not lost")
	require.Len(t, doc.Unattributed[0].Incidents, 1)
	assert.Equal(t, 4003, *doc.Unattributed[0].Incidents[0].Root.PID)
	shared := []string{}
	for _, in := range doc.Inputs {
		shared = append(shared, filepath.Base(in.Name))
	}
	assert.Equal(t, []string{"dmesg.txt", "notes.txt"}, shared)
	s := doc.Summary
	assert.Equal(t, []int{4, 3, 0, 0, 1}, []int{s.Jobs, s.Memory, s.Suspect, s.Survived, s.Healthy})
	assert.Equal(t, map[string]int{"oom_kill": 3, "gpu_oom": 1}, s.Kinds)
	assert.ElementsMatch(t, []string{"771", "772", "773", filepath.Join(dir, "dmesg.txt")}, s.First)
}

func TestJobsThatTheUserTells(t *testing.T) {
	t.Parallel()
	dir := archive(t)
	_, doc := several(t, "--each", dir)
	assert.Len(t, doc.Jobs, 8)
	var one report.Report
	_, out, _ := answer(t, "--format", "json", "--one-job", dir)
	require.NoError(t, json.Unmarshal([]byte(out), &one))
	assert.Len(t, one.Inputs, 8)
	status, out, _ := answer(t, "--format", "json", "--job", "774", dir)
	assert.Equal(t, 0, status)
	require.NoError(t, json.Unmarshal([]byte(out), &one))
	assert.Len(t, one.Inputs, 1)
	_, out, _ = answer(t, "--each", "--format", "json", "--job", "slurm-774.out", dir)
	require.NoError(t, json.Unmarshal([]byte(out), &one))
	assert.Equal(t, filepath.Join(dir, "slurm-774.out"), one.Inputs[0].Name, "the end of a name will do")
	for _, args := range [][]string{{"--job", "7", "--each", dir}, {"--job", ".out", "--each", dir}, {"--each", "--one-job", dir}, {"--job", "775", dir}, {"--job", "771", filepath.Join(dir, "slurm-771.out")}} {
		status, out, errs := answer(t, args...)
		assert.Equal(t, 2, status, args)
		assert.Empty(t, out, args)
		assert.Regexp(t, `^oomscan: .*\nhint: .*\n$`, errs, args)
	}
}

// TestSeveralJobsInAnyOrder holds the bytes of the answer against other numbers of workers and orders of arguments.
func TestSeveralJobsInAnyOrder(t *testing.T) {
	t.Parallel()
	dir := archive(t)
	paths, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	for i, p := range paths {
		paths[i] = pattern(p)
	}
	varies := regexp.MustCompile(`"duration_ms": \d+|oomscan\s+\S+\s+in\s+\d[\d.]*\s?m?s|oomscan --job.*\n(?:  {11}.*\n)*`)
	formats := []string{"json", "text", "ndjson"}
	if testing.Short() { // the race detector makes it slow
		formats = formats[:1]
	}
	for _, format := range formats {
		var want string
		for _, jobs := range []int{1, 2, 8} {
			for turn := range 3 {
				args := append([]string{"--format", format, "--jobs", strconv.Itoa(jobs)}, paths[turn:]...)
				_, out, errs := answer(t, append(args, paths[:turn]...)...)
				require.Empty(t, errs)
				out = varies.ReplaceAllString(out, "")
				if want == "" {
					want = out
				}
				assert.Equal(t, want, out, "%s with %d workers, turn %d", format, jobs, turn)
			}
		}
	}
}

func TestFilesWhoseNamesCarryJobIDsAreJobsAlsoWhenNamed(t *testing.T) {
	t.Parallel()
	dir := archive(t)
	paths, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	_, doc := several(t, paths...)
	assert.Equal(t, 4, doc.Summary.Jobs)
	_, named := several(t, filepath.Join(dir, "slurm-771.err"), filepath.Join(dir, "slurm-772.out"))
	assert.Equal(t, 2, named.Summary.Jobs)
}

func TestOtherFilesGivenByTheirNamesAreOneJob(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var paths []string
	for _, id := range []string{"771", "772"} {
		paths = append(paths, filepath.Join(dir, "run"+id[2:]+".log"))
		appendTo(t, paths[len(paths)-1], "SLURM_JOB_ID="+id+"\n"+oomLine+"\n")
	}
	_, out, errs := answer(t, append([]string{"--format", "json"}, paths...)...)
	var r report.Report
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	assert.Len(t, r.Inputs, 2)
	assert.Contains(t, errs, "771, 772: the logs look like 2 jobs and are read as one")
	assert.Contains(t, errs, "hint: give the folder")
}

func TestJobsAreChosenAndSorted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, x := range []struct{ id, stamp, host string }{{"1", "2026-05-01 10:00:00", "n1"}, {"2", "2026-05-03 10:00:00", "n2"}, {"3", "2026-05-02 10:00:00", "n1"}} {
		appendTo(t, filepath.Join(dir, "slurm-"+x.id+".err"), "SLURMD_NODENAME="+x.host+"\n"+x.stamp+",000 ERROR "+oomLine+"\n")
	}
	appendTo(t, filepath.Join(dir, "slurm-4.err"), "OSError: [Errno 28] No space left on device: '/dev/shm/torch_1'\n")
	table := func(args ...string) []string {
		t.Helper()
		_, out, _ := answer(t, append(args, dir)...)
		out, _, _ = strings.Cut(out, "Jobs with incidents")
		var ids []string
		for _, m := range regexp.MustCompile(`(?m)^  (\d)  `).FindAllStringSubmatch(out, -1) {
			ids = append(ids, m[1])
		}
		return ids
	}
	assert.Equal(t, []string{"1", "2", "3", "4"}, table("--sort", "name"))
	assert.Equal(t, []string{"2", "3", "1", "4"}, table("--sort", "time"), "the latest first; what has no time last")
	assert.Equal(t, []string{"4"}, table("--kind", "shm_exhausted"))
	assert.Equal(t, []string{"2", "3"}, table("--since", "2026-05-02", "--sort", "time"))
	for _, args := range [][]string{{"--since", "yesterday"}, {"--sort", "colour"}, {"--kind", "oom"}} {
		status, out, errs := answer(t, append(args, dir)...)
		assert.Equal(t, 2, status, args)
		assert.Empty(t, out, args)
		assert.Regexp(t, `^oomscan: .*\nhint: .*\n$`, errs, args)
	}
}

func TestAFolderForTheOutputGetsAReportAJob(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "json"} {
		dir := filepath.Join(t.TempDir(), "reports") + "/"
		status, out, errs := answer(t, "-o", dir, "--format", format, archive(t))
		assert.Equal(t, 1, status)
		assert.Contains(t, out, "OUT OF MEMORY  in 3 of 4 jobs")
		assert.Contains(t, errs, "wrote 5 reports into "+dir)
		files, err := filepath.Glob(dir + "77*." + map[string]string{"text": "txt", "json": "json"}[format])
		require.NoError(t, err)
		assert.Len(t, files, 4)
		text, err := os.ReadFile(files[2])
		require.NoError(t, err)
		assert.Contains(t, string(text), map[string]string{"text": "OUT OF MEMORY  GPU", "json": "gpu_oom"}[format])
	}
}

// TestAFolderOfPagesHasAnIndexThatLinksToEach follows each link of the overview.
func TestAFolderOfPagesHasAnIndexThatLinksToEach(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/"
	_, _, errs := answer(t, "-o", dir, "--format", "html", archive(t))
	assert.Contains(t, errs, "wrote 5 reports into "+dir)
	index, err := os.ReadFile(dir + "index.html")
	require.NoError(t, err)
	links := regexp.MustCompile(`href="\./([^"]+)"`).FindAllStringSubmatch(string(index), -1)
	require.Len(t, links, 4, "a row for each job with an incident, and one for the node's log")
	for _, l := range links {
		page, err := os.ReadFile(dir + l[1])
		require.NoError(t, err)
		assert.Contains(t, string(page), "<article>")
	}
}

func TestLinesOfSeveralJobsNameThem(t *testing.T) {
	t.Parallel()
	_, out, _ := answer(t, "--format", "ndjson", archive(t))
	var jobs []string
	for line := range strings.Lines(out) {
		var x struct{ Job, ID string }
		require.NoError(t, json.Unmarshal([]byte(line), &x))
		require.NotEmpty(t, x.ID)
		jobs = append(jobs, filepath.Base(x.Job))
	}
	assert.Equal(t, []string{"771", "772", "773", "dmesg.txt"}, jobs)
}

func TestEachArchiveIsAJobOfItsOwn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i, c := range severalFiles(t)[:2] {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "x"+strconv.Itoa(i)+".tar.gz"), pack(t, "gzip", tarOf(t, c)), 0o600))
	}
	_, doc := several(t, "--each", dir)
	require.Len(t, doc.Jobs, 2)
	assert.Greater(t, len(doc.Jobs[0].Inputs), 1)
}

// maxResident is what the process may hold at most, whatever the number of logs, in KiB.
const maxResident = 256 << 10

// measured runs a program and writes the most memory that it held, in KiB, to a file. A process counts what its parent held
// when it was started (Linux shares the memory until exec), and the tests hold a lot: this one is small and stands between.
func measured(to string, args []string) int {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	_ = cmd.Run()
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok || os.WriteFile(to, []byte(strconv.FormatInt(int64(usage.Maxrss), 10)), 0o600) != nil {
		return -1
	}
	return cmd.ProcessState.ExitCode()
}

// TestManyJobs writes jobs of 20 files with failures planted in some, and looks for as many jobs, the right incidents and
// little memory. OOMSCAN_JOBS sets the number of jobs; with 2,000 it takes minutes.
func TestManyJobs(t *testing.T) {
	if testing.Short() {
		t.Skip("writes and reads a thousand files")
	}
	t.Parallel()
	n := 24
	if s := os.Getenv("OOMSCAN_JOBS"); s != "" {
		var err error
		n, err = strconv.Atoi(s)
		require.NoError(t, err)
	}
	oomscan, err := exec.LookPath("oomscan") // of [TestMain]
	require.NoError(t, err)
	helper, err := exec.LookPath("measured")
	require.NoError(t, err)
	for _, layout := range []string{"flat", "folders"} {
		t.Run(layout, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			truth := makeJobs(t, filepath.Join(dir, "jobs"), layout, n)
			peak := filepath.Join(dir, "peak")
			cmd := exec.Command(helper, peak, oomscan, "--format", "json", filepath.Join(dir, "jobs"))
			var doc jobsDocument
			text, _ := cmd.Output()
			require.NoError(t, json.Unmarshal(text, &doc))
			raw, err := os.ReadFile(peak)
			require.NoError(t, err)
			held, err := strconv.Atoi(string(raw))
			require.NoError(t, err)
			t.Logf("%d jobs: %d MiB", n, held>>10)
			assert.Less(t, held, maxResident)
			assert.Equal(t, 1, cmd.ProcessState.ExitCode())
			require.Len(t, doc.Jobs, len(truth))
			assert.Empty(t, doc.Unattributed)
			for i, want := range truth {
				got := doc.Jobs[i]
				require.Equal(t, want.ID, got.Job)
				logs := slices.DeleteFunc(got.Inputs, func(in report.Input) bool { return strings.Contains(in.Name, "/kern-") })
				assert.Len(t, logs, 20, want.ID)
				if want.Kind == "healthy" {
					assert.Empty(t, got.Incidents, want.ID)
					continue
				}
				require.Len(t, got.Incidents, want.Attempts, want.ID)
				in := got.Incidents[0]
				assert.Equal(t, want.Kind, in.Kind)
				assert.Equal(t, want.Host, *in.Root.Host, want.ID)
				if want.Kind != "kv_cache" {
					assert.Equal(t, want.Rank, *in.Root.Rank, want.ID)
				}
			}
		})
	}
}

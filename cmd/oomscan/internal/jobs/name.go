package jobs

import (
	"regexp"
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/parser/lazyre"
)

// ident is the job id in the name of a file or folder.
type ident struct {
	id       string // digits, or Ray's submission id; empty if none
	task     string // the number after the id: an array's task, or a rank
	certain  bool   // the name says that it is a job id; otherwise it may be a process id, a port, a size
	doubtful bool   // the word before it means something else: rank, port, server
	stem     string // the name without the id, which logs of different jobs have in common
}

// key returns the id with its array task.
func (d ident) key() string {
	if d.task != "" {
		return d.id + "_" + d.task
	}
	return d.id
}

// work returns the name of what was submitted: the stem without its suffix. Schedulers' default names do not count.
func (d ident) work() string {
	w, tail, _ := strings.Cut(d.stem, "#")
	if w == "" {
		w = strings.TrimLeft(tail, "-_.")
		w, _, _ = strings.Cut(w, ".")
	}
	w = strings.Trim(w, "-_.")
	if w == "" || genericName().MatchString(w) {
		return ""
	}
	return w
}

var (
	// genericName matches names that schedulers and people give to every job.
	genericName = lazyre.New(`(?i)^(?:slurm|sbatch|job(?:_?id)?|jobs|pbs|lsf|qsub|log|logs|out|err|output|error|stdout|stderr|run|train|job-driver|\d+)$`)
	// Ray chooses these ids itself.
	raySubmission = lazyre.New(`raysubmit_[A-Za-z0-9]{8,40}`)
	// Schedulers' default names and common ones: slurm-4242.out, slurm-4242_3.out, job.4242.err.
	labeledID = lazyre.New(`(?i)(?:^|[-_.])(?:slurm|sbatch|job|jobid|job_id|pbs|lsf|qsub)[-_.]?0*([1-9]\d{0,11})(?:_(\d{1,7}))?(?:\+\d+)?(?:[-_.]|$)`)
	// PBS and Grid Engine append the id: train.o4242, train.e4242.7 for task 7.
	appendedID = lazyre.New(`\.(?:p?[oe]|OU|ER)([1-9]\d{1,11})(?:[.-](\d{1,7}))?$`)
	// A bare number may be an id: train-4242.out, 4242.err, feats_55110_7.out.
	bareID = lazyre.New(`(?:^|[-_.])([1-9]\d{3,9})(?:_(\d{1,7}))?(?:\+\d+)?(?:[-_.]|$)`)
	// Words before numbers that are no ids.
	otherNumber = lazyre.New(`(?i)(?:rank|worker|node|host|port|server|router|http|grpc|pid|proc|process|nccl|core|step|iter|epoch|ckpt|checkpoint|seed|seq|len|size|bs|tokens?|ctx|v|gpu|dev|cuda)[-_.]?$`)
	// Names of Ray's workers and glog's files end with a process id.
	processLog = lazyre.New(`^(?:worker|(?:python|java|cpp)-core-(?:worker|driver))-[0-9a-f]{16,}|\.log\.(?:INFO|WARNING|ERROR|FATAL)\.`)
)

// nameID returns the job id in the name of a file or folder.
func nameID(name string) ident {
	if m := raySubmission().FindString(name); m != "" {
		return ident{id: m, certain: true, stem: strings.Replace(name, m, "#", 1)}
	}
	if processLog().MatchString(name) {
		return ident{}
	}
	for _, re := range []*regexp.Regexp{labeledID(), appendedID()} {
		if m := re.FindStringSubmatchIndex(name); m != nil && !date(name[m[2]:m[3]]) {
			return identAt(name, m, true)
		}
	}
	var best ident
	for at := 0; at < len(name); {
		m := bareID().FindStringSubmatchIndex(name[at:])
		if m == nil {
			break
		}
		for i := range m {
			if m[i] >= 0 {
				m[i] += at
			}
		}
		at = m[3] // the separator may also precede the next number
		id, doubtful := name[m[2]:m[3]], otherNumber().MatchString(name[:m[2]])
		if date(id) || roundSize(id) || best.id != "" && (doubtful && !best.doubtful || doubtful == best.doubtful && len(id) < len(best.id)) {
			continue
		}
		best = identAt(name, m, false)
		best.doubtful = doubtful
	}
	return best
}

// identAt converts a match: group 1 is the id, group 2 the task.
func identAt(name string, m []int, certain bool) ident {
	d := ident{id: name[m[2]:m[3]], certain: certain}
	end := m[3]
	if m[4] >= 0 {
		d.task, end = name[m[4]:m[5]], m[5]
	}
	d.stem = name[:m[2]] + "#" + name[end:]
	return d
}

// date reports whether a number is a date or a year.
func date(n string) bool {
	if len(n) != 4 && len(n) != 6 && len(n) != 8 || n[:2] != "19" && n[:2] != "20" {
		return false
	}
	return len(n) == 4 || n[4:6] >= "01" && n[4:6] <= "12"
}

// roundSize reports whether a number is a power of two, as lengths and sizes are.
func roundSize(n string) bool {
	return slices.Contains([]string{"1024", "2048", "4096", "8192", "16384", "32768", "65536", "131072", "262144", "524288", "1048576"}, n)
}

// parts splits a log's name into folders and archives, and the file's name without suffixes of compression and
// rotation.
func parts(name string) (dirs []string, base string) {
	fields := strings.FieldsFunc(name, func(r rune) bool { return r == '/' || r == '!' || r == '\\' })
	if len(fields) == 0 {
		return nil, name
	}
	base, _ = classifier.Rotated(unpacked(fields[len(fields)-1]))
	dirs = fields[:len(fields)-1]
	for i, d := range dirs {
		dirs[i] = unpacked(d)
	}
	return slices.DeleteFunc(dirs, func(d string) bool { return d == "." }), base
}

// unpacked removes suffixes of archives and compression from a name.
func unpacked(name string) string {
	for {
		i := strings.LastIndexByte(name, '.')
		if i <= 0 || !slices.Contains([]string{"gz", "tgz", "zst", "tzst", "xz", "txz", "bz2", "tbz", "tbz2", "lz4", "tar", "zip"}, strings.ToLower(name[i+1:])) {
			return name
		}
		name = name[:i]
	}
}

// streamOf reports whether a name ends with a standard stream's, as schedulers' files do.
func streamOf(base string) bool {
	base = strings.ToLower(base)
	return slices.ContainsFunc([]string{".out", ".err", ".stdout", ".stderr", ".output", ".error"}, func(end string) bool { return strings.HasSuffix(base, end) })
}

// role matches logs that AReaL's launchers write into a trial's folder, possibly from separate Slurm jobs.
var role = lazyre.New(`^(?:main|trainer|llm_server|eval_server|merged|rollout|actor|critic|ref|reward|teacher|master_worker|model_worker|rollout_worker|gserver_manager|generation_server|cpu_worker|data_worker)(?:[-_]\d+)*(?:\.(?:log|out|err|txt))?$`)

// isMemberDir reports whether a folder belongs to a rank, node, role or stream of a run.
func isMemberDir(dir string) bool { return memberDir().MatchString(dir) || hostDir().MatchString(dir) }

var (
	// memberDir matches folders inside a run: of ranks, roles, streams and attempts.
	memberDir = lazyre.New(`(?i)^(?:\d{1,3}$|(?:local_?|global_?|node_?)?rank|worker|proc(?:ess)?|task|replica|gpu|npu|device|[dtpe]p|cp|stage|shard|attempt|restart|retry|actor|critic|ref(?:erence)?|reward|rollout|trainer|engine|inference|generation|member|instance|peer|local|client|master|slave|head|driver|launcher|ps|chief|std_?(?:out|err)|out(?:put)?s?|err(?:or)?s?|logs?|log_?dir|slurm(?:_?logs?)?|nccl|system|kernel|dmesg|journal|debug|old|rotated)[-_.]?\d{0,6}$`)
	// hostDir matches folders of nodes.
	hostDir = lazyre.New(`(?i)^(?:(?:node|host|server|machine|compute|worker|pod)[-_.]?[a-z]?[-_.\d]*[a-z]?|(?:gpu|dgx|hgx|nid|cn|gn|c|n|g|r\d+[nc])[-_.]?\d+|ip[-_.]\d+[-_.]\d+[-_.]\d+[-_.]\d+(?:\..*)?|\d+\.\d+\.\d+\.\d+)$`)
	// torchrun's folder for a run is its id and eight random characters.
	torchrunDir = lazyre.New(`^(.+)_[a-z0-9_]{8}$`)
	attemptDir  = lazyre.New(`^attempt_\d+$`)
	sessionDir  = lazyre.New(`^session_\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d_\d+_\d+$`)
	// clockDir matches the folder that Hydra creates for a run. In a sweep's folder there are numbered ones.
	clockDir = lazyre.New(`^(?:\d{4}-\d\d-\d\d[-_T])?\d\d-\d\d-\d\d$`)
	smallInt = lazyre.New(`^\d{1,4}$`)
)

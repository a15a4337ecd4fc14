package envelope

import "bytes"

// mpiTag takes `[1,3]<stderr>: ` of mpirun --tag-output; the second number is the rank in MPI's world. Open MPI 4
// writes no blank behind the colon, other versions one: an odd number of blanks means that one is the label's, because
// what is indented in a log (Python's tracebacks) is indented by an even number.
func mpiTag(p *peeler, s scanner) ([]byte, bool) {
	if !s.lit("[") {
		return nil, false
	}
	t := s
	if _, ok := t.until("@", 128); ok && bytes.HasPrefix(s.b, []byte("prte")) {
		s = t // Open MPI 5: [prterun-node01-77@1,3]<stderr>:
	}
	job, ok := s.number(1, 9)
	if !ok || !s.lit(",") {
		return nil, false
	}
	task, ok := s.number(1, 6)
	if !ok || !s.lit("]<std") || !s.lit("err>:") && !s.lit("out>:") && !s.lit("diag>:") {
		return nil, false
	}
	t = s
	if t.blanks()%2 == 1 {
		s.lit(" ")
	}
	p.h.Task = task
	p.label(classTask, p.itoa(job), p.itoa(task))
	return s.b, true
}

// mpiHost takes `[node01:123] `, Open MPI's runtime speaking of itself.
func mpiHost(p *peeler, s scanner) ([]byte, bool) {
	if !s.lit("[") {
		return nil, false
	}
	host := s.while(isHost, 253)
	if !isHostName(host) || !s.lit(":") {
		return nil, false
	}
	pid, ok := s.number(2, 9)
	if !ok || !s.lit("]") || !s.gap() {
		return nil, false
	}
	p.h.Host, p.h.PID = p.word(host), pid
	p.label(classHost, p.word(host), p.itoa(pid))
	return s.b, true
}

// pdshHost takes `node01: ` of pdsh, clush and DeepSpeed's launcher.
func pdshHost(p *peeler, s scanner) ([]byte, bool) {
	host := s.while(isHost, 253)
	if !isHostName(host) || isErrorName(host) || !s.lit(":") || !s.gap() || isMeasure(s.b) {
		return nil, false
	}
	p.h.Host = p.word(host)
	p.label(classHost, p.word(host))
	return s.b, true
}

// isErrorName tells whether a dotted name is one of Python's exceptions that begin with a small letter: cv2.error,
// zlib.error, socket.timeout.
func isErrorName(b []byte) bool {
	i := bytes.LastIndexByte(b, '.')
	if i < 0 {
		return false
	}
	switch string(b[i+1:]) {
	case "error", "timeout", "gaierror", "herror":
		return true
	}
	return false
}

// ipHost takes `10.0.0.1: `.
func ipHost(p *peeler, s scanner) ([]byte, bool) {
	t := s
	for i := range 4 {
		if i > 0 && !t.lit(".") {
			return nil, false
		}
		if n, ok := t.number(1, 3); !ok || n > 255 {
			return nil, false
		}
	}
	host := s.b[:len(s.b)-len(t.b)]
	if !t.lit(":") || !t.gap() {
		return nil, false
	}
	p.h.Host = p.word(host)
	p.label(classHost, p.word(host))
	return t.b, true
}

// isMeasure tells whether b is what follows a name that is no host: a number ("acc1: 0.9") or a bar
// ("model-00001.safetensors:  45%|").
func isMeasure(b []byte) bool {
	s := scanner{b}
	s.blanks()
	s.lit("-")
	if len(s.while(isDigit, 32)) == 0 {
		return false
	}
	s.while(func(c byte) bool { return isAlnum(c) || c == '.' || c == '%' || c == '/' || c == ',' || c == '-' }, 32)
	return len(s.b) == 0 || s.peek() == '|' || bytes.HasSuffix(b[:len(b)-len(s.b)], []byte("%"))
}

// isHostName tells whether b looks like the name of a node and like nothing else that a program prints in front of a
// colon: lower case, a digit in its first part, no file, no program, no counted thing.
func isHostName(b []byte) bool {
	first, rest, dotted := bytes.Cut(b, []byte{'.'})
	if len(first) < 2 || !isLower(first[0]) || !some(first, isDigit) || some(b, notHostName) || b[len(b)-1] == '-' {
		return false
	}
	if dotted {
		last := rest[bytes.LastIndexByte(rest, '.')+1:]
		if !all(last, isLower) || isExtension(string(last)) {
			return false
		}
	}
	name := scanner{first}
	stem := string(name.while(isLower, len(first)))
	return !isProgram(stem) && !(all(name.b, isDigit) && isCounted(stem, string(name.b)))
}

func notHostName(c byte) bool { return !isLower(c) && !isDigit(c) && c != '-' && c != '.' }

func isExtension(x string) bool {
	switch x {
	case "py", "pyx", "c", "cc", "cpp", "cu", "cuh", "h", "hpp", "go", "rs", "ts", "js", "java", "so", "sh", "json", "jsonl",
		"yaml", "yml", "toml", "txt", "log", "err", "out", "csv", "tsv", "parquet", "arrow", "safetensors", "bin", "pt", "pth",
		"ckpt", "gguf", "gz", "tar", "zst", "zip", "whl", "md", "ipynb", "cfg", "ini", "npy", "npz", "html", "sbatch", "service":
		return true
	}
	return false
}

// isProgram tells names of programs: they print their own name in front of a colon, with a host or a version in it
// (slurmstepd-node01: Slurm 22.05).
func isProgram(stem string) bool {
	switch stem {
	case "slurmstepd", "slurmd", "slurmctld", "srun", "sbatch", "salloc", "scancel", "bash", "zsh", "python", "torch", "pip",
		"torchrun", "wandb", "mpirun", "mpiexec", "prterun", "perl", "ruby", "conda", "gcc", "clang":
		return true
	}
	return false
}

// isCounted tells words that take a number and are no hosts: "rank0: ", "epoch1: ", "top5: ". Single letters are hosts
// when the number is padded ("n001"), "gpu" is one when it has more digits than a node has devices ("gpu14").
func isCounted(stem, number string) bool {
	switch stem {
	case "gpu", "cpu", "npu", "dev", "card", "test":
		return len(number) < 2
	case "rank", "step", "epoch", "layer", "stage", "cuda", "device", "acc", "top", "loss", "iter", "iteration", "batch",
		"block", "expert", "task", "thread", "proc", "process", "pass", "phase", "part", "attempt", "trial", "run", "version",
		"line", "case", "exp", "tp", "dp", "pp", "ep", "cp", "bleu", "rouge", "recall", "hit", "precision", "ndcg", "md", "sha",
		"utf", "fp", "bf", "int", "uint", "float", "log", "arg", "param", "level", "group", "head", "shard", "rev", "sm", "eth",
		"ib", "bond", "eno", "lo", "nvidia", "numa", "socket", "bucket", "chunk", "fold", "seed", "sample", "prompt", "question",
		"option", "round", "turn", "item", "index", "idx", "id", "note", "method", "opt", "phi", "qwen", "llama", "gpt":
		return true
	}
	return len(stem) == 1 && number[0] != '0'
}

// srunTask takes the label of srun -l: the task, right-aligned to the width of the largest (Slurm,
// common/write_labelled_message.c). A bare number in front of a colon may also be a line of code or of a native
// backtrace; those are told by what follows.
func srunTask(p *peeler, s scanner) ([]byte, bool) {
	if p.h.Task != Unknown || len(s.while(isBlank, 5)) > 4 {
		return nil, false
	}
	task, ok := s.number(1, 5)
	if !ok || !s.lit(": ") || isListing(s.b) {
		return nil, false
	}
	p.h.Task = task
	p.label(classTask, p.itoa(task))
	return s.b, true
}

// isListing tells whether b follows a line number or a frame's number, not a task: an address (node), a path of names
// (Rust).
func isListing(b []byte) bool {
	if bytes.HasPrefix(b, []byte("0x")) {
		return true
	}
	word := b
	if i := bytes.IndexByte(b, ' '); i >= 0 {
		word = b[:i]
	}
	return len(word) == len(b) && bytes.Contains(word, []byte("::"))
}

// srunHet takes `P0 3: `, the label of a heterogeneous job's component and task.
func srunHet(p *peeler, s scanner) ([]byte, bool) {
	if p.h.Task != Unknown || !s.lit("P") {
		return nil, false
	}
	group, ok := s.number(1, 3)
	if !ok || s.blanks() == 0 {
		return nil, false
	}
	task, ok := s.number(1, 5)
	if !ok || !s.lit(": ") {
		return nil, false
	}
	p.h.Task = task
	p.label(classTask, p.itoa(group), p.itoa(task))
	return s.b, true
}

// role takes torchrun's `[default3]:`: the role's name and the local rank, and no blank behind the colon (PyTorch 2.4,
// elastic/multiprocessing/tail_log.py). A template may leave the name out; `[3]:` with nothing or a blank behind it is
// an entry of torchrun's failure report instead.
func role(p *peeler, s scanner) ([]byte, bool) {
	if !s.lit("[") {
		return nil, false
	}
	name := s.while(func(c byte) bool { return isAlpha(c) || c == '_' || c == '-' }, 64)
	n, ok := s.number(1, 5)
	if !ok || !s.lit("]:") || len(name) == 0 && (len(s.b) == 0 || s.peek() == ' ') || bytes.HasSuffix(name, []byte("-")) {
		return nil, false
	}
	if t := s; string(name) != "default" && t.blanks()%2 == 1 {
		s.lit(" ") // somebody's own template
	}
	p.h.LocalRank = n
	p.label(classLocal, p.word(name), p.itoa(n))
	return s.b, true
}

// globalRank takes `[rank3]: `, which torch's exception hook (2.3 and later, distributed_c10d.py) puts in front of every
// line of a traceback, and `[rank3]:` in front of a c10 or torch._logging prefix.
func globalRank(p *peeler, s scanner) ([]byte, bool) {
	if !s.lit("[rank") {
		return nil, false
	}
	n, ok := s.number(1, 6)
	if !ok || !s.lit("]:") {
		return nil, false
	}
	s.lit(" ")
	p.h.Rank = n
	p.label(classRank, p.itoa(n))
	return s.b, true
}

// grepFile takes `logs/x.log:123:` and, around a hit, `logs/x.log-123-`: what grep -n prints of several files. The name
// must unmistakably be a log's.
func grepFile(p *peeler, s scanner) ([]byte, bool) {
	t := s
	path := t.while(func(c byte) bool { return isHost(c) || c == '/' || c == '@' || c == '=' || c == '+' }, 512)
	for _, ext := range [...]string{".log", ".err", ".out"} {
		i := bytes.LastIndex(path, []byte(ext))
		if i < 1 {
			continue
		}
		t.b = s.b[i+len(ext):]
		mark := t.b[:min(1, len(t.b))]
		if string(mark) != ":" && string(mark) != "-" {
			continue
		}
		t.b = t.b[1:]
		if _, ok := t.number(1, 9); ok && t.lit(string(mark)) {
			p.label(classFile, string(path[:i+len(ext)]))
			return t.b, true
		}
	}
	return nil, false
}

// catNumber takes the line number of cat -n: six columns and a tab.
func catNumber(_ *peeler, s scanner) ([]byte, bool) {
	n := len(s.while(isBlank, 5))
	run := s.while(isDigit, 6)
	if n+len(run) != 6 || len(run) == 0 || !s.lit("\t") {
		return nil, false
	}
	return s.b, true
}

// quote takes `> ` of mails and issues. Loguru's arrow at a frame stays.
func quote(_ *peeler, s scanner) ([]byte, bool) {
	if !s.lit("> ") || bytes.HasPrefix(s.b, []byte("File ")) || s.peek() == '/' {
		return nil, false
	}
	return s.b, true
}

// TaskLabel returns the length of the label that `srun -l` put in front of a line, the blank behind its colon included;
// ok=false when there is none.
func TaskLabel(line []byte) (n int, ok bool) {
	for _, take := range []coat{srunTask, srunHet} {
		p := peeler{h: NewHeader()}
		if rest, taken := take(&p, scanner{line}); taken {
			return len(line) - len(rest), true
		}
	}
	return 0, false
}

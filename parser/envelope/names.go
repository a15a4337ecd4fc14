package envelope

import "bytes"

// isNode reports whether b looks like the name of a node and like nothing else that a program prints in front of a colon:
// lower case, a digit in its first part, no file, no program, no exception, no counted thing.
func isNode(b []byte) bool {
	first, rest, dotted := bytes.Cut(b, []byte{'.'})
	if len(first) < 2 || !some(first, digit) || !all(b, lower|digit|dash|dot) || b[len(b)-1] == '-' {
		return false
	}
	if dotted {
		last := rest[bytes.LastIndexByte(rest, '.')+1:]
		if !all(last, lower) || isSuffix(string(last)) {
			return false
		}
	}
	name := scanner{first}
	stem := string(name.while(lower, len(first)))
	return !isProgram(stem) && !(all(name.b, digit) && isCounted(stem, string(name.b)))
}

// isSuffix recognizes the ends of dotted names that are no hosts: files, and Python's exceptions that begin with a small letter
// (cv2.error, socket.timeout), systemd's units.
func isSuffix(x string) bool {
	switch x {
	case "py", "pyx", "c", "cc", "cpp", "cu", "cuh", "h", "hpp", "go", "rs", "ts", "js", "java", "so", "sh", "json", "jsonl",
		"yaml", "yml", "toml", "txt", "log", "err", "out", "csv", "tsv", "parquet", "arrow", "safetensors", "bin", "pt", "pth",
		"ckpt", "gguf", "gz", "tar", "zst", "zip", "whl", "md", "ipynb", "cfg", "ini", "npy", "npz", "html", "sbatch", "service", "slice", "scope", "mount",
		"error", "timeout", "gaierror", "herror":
		return true
	}
	return false
}

// isProgram recognizes names of programs: they print their own name in front of a colon, with a host or a version in it
// (slurmstepd-node01: Slurm 22.05).
func isProgram(stem string) bool {
	switch stem {
	case "slurmstepd", "slurmd", "slurmctld", "srun", "sbatch", "salloc", "scancel", "bash", "zsh", "python", "torch", "pip",
		"torchrun", "wandb", "mpirun", "mpiexec", "prterun", "perl", "ruby", "conda", "gcc", "clang":
		return true
	}
	return false
}

// isCounted recognizes words that take a number and are no hosts: "rank0: ", "epoch1: ", "top5: ". Single letters are hosts
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

// isMeasure reports whether what follows a name and a colon is a number ("acc1: 0.9") or a bar
// ("model-00001.safetensors:  45%|"): then the name is no host.
func isMeasure(m *matcher) bool {
	s := m.scanner
	s.blanks()
	s.lit("-")
	if len(s.while(digit, 32)) == 0 {
		return false
	}
	s.while(alnum|dot|percent|slash|comma|dash, 32)
	return len(s.b) == 0 || s.peek() == '|' || m.b[len(m.b)-len(s.b)-1] == '%'
}

// isListing reports whether a number in front of a colon is a line's or a native frame's, not a task's, by what follows: an
// address (node), a path of names (Rust).
func isListing(m *matcher) bool {
	return bytes.HasPrefix(m.b, []byte("0x")) || bytes.IndexByte(m.b, ' ') < 0 && bytes.Contains(m.b, []byte("::"))
}

// isUnstamped reports whether no stamp of the kernel or of syslog follows.
func isUnstamped(m *matcher) bool {
	s := m.scanner
	if s.lit("[") {
		s.blanks()
		_, ok := s.uptime()
		return !ok
	}
	_, ok := s.read(syslogLayout)
	return !ok
}

// isSentence reports whether the identifier without a pid that was taken in a syslog line begins a message: `RuntimeError: `
// and `error: ` stay, and then the word in front of them is no host either.
func isSentence(m *matcher) bool {
	if m.last(slotPID) != nil {
		return false
	}
	name := m.last(slotProcess).text
	for _, x := range [...]string{"error", "exception", "warning", "interrupt"} {
		if i := len(name) - len(x); i >= 0 && bytes.EqualFold(name[i:], []byte(x)) {
			return true
		}
	}
	for _, x := range [...]string{"info", "debug", "fatal", "note", "hint", "critical", "failed", "killed", "line", "file"} {
		if bytes.EqualFold(name, []byte(x)) {
			return true
		}
	}
	host := m.last(slotHost).text
	if bar := bytes.TrimLeft(bytes.TrimLeft(m.b, " "), "0123456789"); is(host[0], upper) && bytes.HasPrefix(bar, []byte("%|")) {
		return true // a progress bar with a name of two words
	}
	return m.time.clock == clockISO && !some(host, digit)
}

// isPod recognizes a pod's name: an ordinal or a generated suffix at its end.
func isPod(b []byte) bool {
	i := bytes.LastIndexByte(b, '-')
	suffix := b[i+1:]
	return i > 0 && !some(b, upper) &&
		(all(suffix, digit) && len(suffix) < 6 || len(suffix) == 5 && some(suffix, digit) && all(suffix, word))
}

// isNumbered recognizes `worker-0`.
func isNumbered(b []byte) bool {
	i := bytes.LastIndexByte(b, '-')
	return i > 0 && all(b[i+1:], digit)
}

// isService recognizes docker compose's `trainer-1` and `trainer_1`.
func isService(b []byte) bool {
	i := bytes.LastIndexAny(b, "-_")
	return i > 0 && all(b[i+1:], digit)
}

// isHyphened recognizes the name of a container, such as `llama-server`.
func isHyphened(b []byte) bool {
	i := bytes.LastIndexByte(b, '-')
	return i > 0 && hasLetter(b[i+1:])
}

// isLogStream recognizes a path whose last word is a time or an id, as AWS names the streams of its jobs.
func isLogStream(b []byte) bool {
	const least = 10
	id := b[bytes.LastIndexAny(b, "-/")+1:]
	return bytes.IndexByte(b, '/') > 0 && len(id) >= least && all(id, digit|lower) && some(id, digit)
}

func hasLetter(b []byte) bool { return some(b, alpha) }

// isActor reports whether b may be the name of an actor or a task: it begins with a letter or a bracket, holds no control
// character, and its parentheses close.
func isActor(b []byte) bool {
	if len(b) == 0 || !is(b[0], word|high) && b[0] != '<' && b[0] != '[' {
		return false
	}
	depth := 0
	for _, c := range b {
		switch {
		case is(c, control) || c == '\t' || c == '|' || c == '"' || c == '\'':
			return false
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth < 0 {
				return false
			}
		}
	}
	return depth == 0
}

// isPlaceLine recognizes a name with a line number, and perhaps a function before or behind it: `core.py:844`,
// `engine.py:1:fn`, `mod:fn:12`.
func isPlaceLine(b []byte) bool {
	i := bytes.IndexByte(b, ':')
	if i < 1 || !some(b, alpha) || !all(b, place) {
		return false
	}
	second, third, three := bytes.Cut(b[i+1:], []byte{':'})
	switch {
	case bytes.IndexByte(third, ':') >= 0:
		return false
	case !three:
		return all(second, digit)
	}
	return all(third, digit) || all(second, digit) && len(third) > 0
}

// isDotted recognizes a module's name of several parts: `torch.distributed.run`.
func isDotted(b []byte) bool {
	return bytes.IndexByte(b, '.') > 0 && is(b[0], alpha) && all(b, word|dot)
}

// isTag recognizes torch._logging's frames and artefacts: `0/1`, `__graph`.
func isTag(b []byte) bool {
	return bytes.HasPrefix(b, []byte("__")) || all(b, digit|slash|underscore) && bytes.IndexByte(b, '/') > 0
}

// isStep recognizes the job and step in a Slurm daemon's log: `4242.batch`, `4242.0`.
func isStep(b []byte) bool {
	job, step, ok := bytes.Cut(b, []byte{'.'})
	return ok && all(job, digit) && all(step, alnum)
}

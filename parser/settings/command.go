package settings

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"oomscan/parser/ascii"
)

// programs start training or serving jobs. Only their command lines are read: flags of ls or pip say nothing about
// the run.
var programs = set(`
	torchrun accelerate deepspeed vllm srun sbatch mpirun mpiexec ray sglang llamafactory-cli swift tune litgpt axolotl yolo
	composer colossalai areal trl openrlhf llama-server llama-cli trtllm-serve trtllm-build nemo lightning apptainer
	singularity docker podman uv nnUNetv2_plan_and_preprocess nnUNetv2_preprocess nnUNetv2_train text-generation-launcher lmdeploy
	llama-bench llama-run llama-mtmd-cli llama-embedding llama-perplexity llama-batched-bench llama-imatrix llamafile koboldcpp tritonserver
	trtllm-bench lm_eval lm-eval lmms-eval evalscope opencompass whisper whisperx insanely-fast-whisper whisper-ctranslate2 whisper-faster faster-whisper-xxl ollama ollama_llama_server megatron fairseq-train fairseq-hydra-train`)

// servers take the model that they serve as their first argument, behind words of their own: vllm serve NAME.
var servers = map[string][]string{"vllm": {"serve"}, "trtllm-serve": {"", "serve"}, "lmdeploy": {"serve api_server", "chat"}}

// wrappers may precede a program.
var wrappers = set(`%run exec nohup time sudo env stdbuf numactl eval setsid command && then`)

// openers begin a shell line in which a program follows after && or ;. A prompt may precede them.
var openers = set(`
	cd source . export module conda mkdir set ulimit unset pushd sleep wait rm mv cp date echo`)

// prompts are what shells print before a command.
var prompts = set(`$ # % + ++ >`)

// listLabels end the labels of bare flags, as in `args: --lr 1e-5`.
var listLabels = strings.Fields("args arguments argv options flags parameters cmdline params")

// command reads a command line: traced by a shell, echoed by a launcher after a label, reported by bash when the
// program died, or quoted as a Python list.
func (r *Reader) command(text []byte) bool {
	s := string(text)
	if words, ok := listCommand(s); ok {
		w := flagParser{form: Command}
		w.words(r, words)
		w.end(r)
		return len(r.out) > 0
	}
	rest, ok := findCommand(s)
	if !ok {
		return false
	}
	w := &flagParser{form: Command}
	if more := w.line(r, rest); more {
		r.begin(w, text)
		return true
	}
	w.end(r)
	return len(r.out) > 0
}

// findCommand returns the command line, beginning with the program and what precedes it.
func findCommand(s string) (string, bool) {
	if !strings.ContainsAny(s, `-=\`) {
		return "", false
	}
	if at := labelledFlags(s); at >= 0 {
		return s[at:], true
	}
	start, from := 0, -1 // where variables and wrappers before the program begin
	for n := 0; n < 40 && start < len(s); n++ {
		for start < len(s) && ascii.IsBlank(s[start]) {
			start++
		}
		end := start
		for end < len(s) && !ascii.IsBlank(s[end]) {
			end++
		}
		word := s[start:end]
		for word != "" && (word[0] == '!' || word[0] == '\'' || word[0] == '"' || word[0] == '`' || word[0] == '(') {
			word = word[1:]
		}
		if i := strings.IndexByte(word, '>'); i > 2 && word[1:3] == `:\` { // Windows' prompt
			word = word[i+1:]
		}
		if (program(word) && !isMentioned(word, s[end:]) || prompted(s[:start], word, s[end:])) && atCommand(s[:start]+s[start:end-len(word)]) && strings.ContainsAny(s[end:], `-=\`) {
			rest := s[start:]
			if from >= 0 {
				rest = s[from:]
			}
			if q := s[start]; q == '\'' || q == '"' || q == '`' {
				rest, _, _ = strings.Cut(s[start+1:], s[start:start+1])
			}
			return rest, true
		}
		switch {
		case !isAssignment(word) && !wrappers[word], strings.HasSuffix(word, "&&"):
			from = -1
		case from < 0:
			from = start
		}
		start = end
	}
	return "", false
}

// labelledFlags returns the index of the flags after a label, or -1.
func labelledFlags(s string) int {
	i := strings.Index(s, " --")
	if i <= 0 || i+3 >= len(s) || !ascii.IsLower(s[i+3]) || (s[i-1] != ':' && s[i-1] != '=') {
		return -1
	}
	label := strings.ToLower(strings.TrimRight(s[:i], ":= "))
	if !endsWithWord(label, listLabels) || hasWord(label, []string{"usage", "unrecognized", "required", "invalid", "error", "unknown"}) {
		return -1
	}
	return i
}

func program(word string) bool {
	base := strings.TrimSuffix(baseOf(word), ".exe")
	if v, ok := strings.CutPrefix(base, "python"); ok {
		return strings.Trim(v, "0123456789.") == "" || v == "w"
	}
	return programs[base] || strings.HasSuffix(base, ".llamafile") || len(base) > 3 && (strings.HasSuffix(base, ".py") || strings.HasSuffix(base, ".sh"))
}

// prompted reports whether a word behind a shell's prompt is a program with a flag of a known setting, such as nerfstudio's ns-train.
func prompted(prefix, word, rest string) bool {
	prefix = strings.TrimRight(prefix, " ")
	if !strings.HasSuffix(prefix, "$") && prefix != "+" || len(word) < 3 || !isName(baseOf(word)) {
		return false
	}
	return slices.ContainsFunc(strings.Fields(rest), func(w string) bool {
		name, _, _ := strings.Cut(w, "=")
		flag, long := strings.CutPrefix(name, "--")
		return long && isName(flag) && isKnown(flag)
	})
}

// baseOf returns the last element of a path.
func baseOf(word string) string { return word[strings.LastIndexAny(word, `/\`)+1:] }

// isMentioned reports whether an interpreter's name is followed by a plain word: a sentence about the process, such
// as the kernel's "python invoked oom-killer: order=0".
func isMentioned(word, rest string) bool {
	if !strings.HasPrefix(baseOf(word), "python") {
		return false
	}
	next, _, _ := strings.Cut(strings.TrimLeft(rest, " \t"), " ")
	return next != "" && !strings.ContainsFunc(next, func(c rune) bool { return !ascii.IsLower(byte(min(c, 0x7f))) })
}

// atCommand reports whether a command may begin after prefix.
func atCommand(prefix string) bool {
	t := strings.TrimPrefix(strings.TrimRight(prefix, " \t'\"`(!"), "!") // which a notebook puts before a shell's command
	if t == "" {
		return true
	}
	low := strings.ToLower(t)
	if strings.Contains(low, "usage") || strings.Contains(low, "example") || strings.Contains(low, "e.g.") || advice(low) {
		return false
	}
	if strings.HasPrefix(t, "+") && !strings.HasPrefix(strings.TrimLeft(t, "+ "), "echo") {
		return true
	}
	u := t
	for i := strings.LastIndexAny(u, " \t"); i >= 0 && (isExport(u[i+1:]) || wrappers[u[i+1:]]); i = strings.LastIndexAny(u, " \t") {
		u = strings.TrimRight(u[:i], " \t")
	}
	if strings.HasSuffix(u, "}' --") || strings.HasSuffix(u, "}\" --") { // the end of ray job submit --runtime-env-json='{...}' -- python3 train.py
		return true
	}
	if strings.HasSuffix(u, "$") { // $ CUDA_VISIBLE_DEVICES=0 nohup python train.py
		return true
	}
	switch t[len(t)-1] {
	case ':', '>', '$', '=', ';', '#':
		return !strings.HasSuffix(t, "error:")
	case ']': // [launcher] python train.py
		if t[0] == '[' && strings.Count(t, "]") == 1 {
			return true
		}
	}
	fields := strings.Fields(t)
	if last := fields[len(fields)-1]; last == "+" || last == "%" || last == "❯" || fields[0] == "➜" && len(fields) <= 4 {
		return true // zsh: `mats@mbp run % python`, `➜  run git:(main) ✗ python`
	}
	if prompts[fields[0]] || openers[fields[0]] {
		if i := strings.LastIndexAny(t, ";&|"); i >= 0 { // cd run && nohup python train.py
			return atCommand(t[i+1:])
		}
	}
	last := fields[len(fields)-1]
	if strings.Contains(t, ": line ") { // bash: script: line 31: 104790 Killed   python train.py
		return true
	}
	for _, f := range fields {
		if !wrappers[f] && !isAssignment(f) && !strings.HasPrefix(f, "-") {
			return wrappers[last] && strings.HasSuffix(fields[0], ":")
		}
	}
	return true
}

// isExport reports whether a word is NAME=value, in capitals as programs read them from the environment.
func isExport(w string) bool { return isAssignment(w) && ascii.IsUpper(w[0]) }

// isAssignment reports whether a word is NAME=value with the name of an environment variable.
func isAssignment(w string) bool {
	name, _, ok := strings.Cut(w, "=")
	return ok && isVariable(name)
}

func isVariable(name string) bool {
	for i := range len(name) {
		if !ascii.IsWord(name[i]) || (i == 0 && ascii.IsDigit(name[0])) {
			return false
		}
	}
	return name != ""
}

// listCommand returns a command quoted as a Python list: ['/usr/bin/python', '-u', 'train.py', '--fp16'].
func listCommand(s string) ([]string, bool) {
	i := strings.Index(s, "['")
	if i < 0 {
		return nil, false
	}
	end := strings.IndexAny(s[i+2:], "',")
	if end < 0 || !program(s[i+2:i+2+end]) {
		return nil, false
	}
	return listStrings([]byte(s[i+1:])), true
}

// listStrings returns the strings of a Python list. s begins after the opening bracket.
func listStrings(s []byte) []string {
	var out []string
	for i := 0; i < len(s) && s[i] != ']' && len(out) < 2048; i++ {
		if s[i] != '\'' && s[i] != '"' {
			continue
		}
		n := stringEnd(s[i:])
		if n < 0 {
			break
		}
		out = append(out, string(unquote(s[i:i+n])))
		i += n - 1
	}
	return out
}

// flagParser reads the words of a command line. As a dump it reads on while lines end with a backslash, and where indented flags follow,
// as in a command pasted without its backslashes.
type flagParser struct {
	form        string // Command or Sbatch
	flag, value string // the current flag
	flagLine    int    // its line
	server      string // the program, if it is one of servers whose model has not been named
	spoken      string // its words so far
	program     bool   // the program's name has been read: assignments after it are its arguments
	script      bool   // a script has been named: its -b is the batch, its -j the workers
	letters     bool   // single-letter flags of this program may concern memory
	single      bool   // a flag of this program takes one value; the image follows
	marked      bool   // a line ended with a backslash: one without it is the last
	unmarked    bool   // the last line ended without a backslash
	inner       bool   // it is inside a string that a shell runs, which may go on for lines
	reported    bool
}

func (w *flagParser) hasReported() bool { return w.reported }

func (w *flagParser) feed(r *Reader, text []byte) (fits, more bool) {
	if len(bytes.TrimSpace(text)) == 0 {
		return true, false
	}
	if w.unmarked && !bytes.HasPrefix(bytes.TrimLeft(text, " \t"), []byte("--")) || w.unmarked && text[0] == '-' {
		return false, false
	}
	return true, w.line(r, string(text[:min(len(text), maxPlain)]))
}

// line reads one line of the command and reports whether the next one may continue it.
func (w *flagParser) line(r *Reader, s string) bool {
	s = strings.TrimRight(s, " ")
	rest, more := strings.CutSuffix(s, `\`)
	if !more {
		rest, more = strings.CutSuffix(s, " ^") // Windows
	}
	words, whole := shellWords(rest)
	w.words(r, words)
	if w.value != "" {
		w.end(r) // beside the rest of its line, which may tell that it is a credential
	}
	w.unmarked = !more
	w.marked = w.marked || more
	return (whole || w.inner && more) && (more || w.program && !w.marked)
}

// words reads words of a command line. What a shell runs, srun bash -c 'python train.py --fp16', is a command line of its own.
func (w *flagParser) words(r *Reader, words []string) {
	for i, word := range words {
		if i+2 < len(words) && shells[baseOf(word)] && runsString(words[i+1]) {
			w.end(r)
			w.inner = true
			if inner, ok := findCommand(words[i+2]); ok {
				parts, _ := shellWords(inner)
				w.words(r, parts)
			}
			return // what follows are the positional parameters
		}
		w.word(r, word)
	}
}

func (w *flagParser) word(r *Reader, word string) {
	switch {
	case word == "" || word == "--":
	case w.isFlag(word):
		w.end(r)
		name, value, ok := strings.Cut(word, "=")
		w.flagLine = r.line
		if ok {
			w.emit(r, name, value, w.form)
			w.object(r, value)
			return
		}
		w.flag = name
	case word[0] == '-' && len(word) > 1 && !ascii.IsDigit(word[1]) && word[1] != '.':
		w.end(r)
	case w.value == "" && (w.flag == "--model" || strings.HasSuffix(w.flag, "_args")): // lm-eval's: its value may be a program's name, or a list
		w.value = word
	case override(word):
		w.end(r)
		key, value, _ := strings.Cut(strings.TrimLeft(word, "+~"), "=")
		w.flagLine = r.line
		if !w.program && isVariable(key) {
			w.emit(r, key, value, Env)
			return
		}
		w.emit(r, key, value, Command)
	case program(word):
		w.end(r)
		w.program = true
		base := baseOf(word)
		w.script = w.script || strings.HasSuffix(base, ".py") || strings.HasSuffix(base, ".sh")
		w.letters, w.single = strings.HasPrefix(base, "llama-"), base == "docker" || base == "podman"
		w.server, w.spoken = base, ""
	case w.flag == "":
		w.argument(r, word)
	case w.value == "":
		w.value = word
	case !w.single && len(w.value)+len(word) < MaxValue:
		w.value += " " + word
	}
}

// argument reads a word that belongs to no flag: the model of a server.
func (w *flagParser) argument(r *Reader, word string) {
	words := servers[w.server]
	if spoken := strings.TrimSpace(w.spoken + " " + word); slices.ContainsFunc(words, func(s string) bool { return s == spoken || strings.HasPrefix(s, spoken+" ") }) {
		w.spoken = spoken
		return
	}
	if slices.Contains(words, w.spoken) {
		w.flagLine = r.line
		w.emit(r, "model", word, w.form)
	}
	w.server = ""
}

// isFlag reports whether a word is a flag, with or without "=value". Flags with one dash count only if their names
// are longer, because -m and -u are the interpreter's. llama.cpp's -c is the context. Long names after one dash, which a few
// programs have (OpenNMT-py's -batch_size), must be known.
func (w *flagParser) isFlag(word string) bool {
	name, _, _ := strings.Cut(word, "=")
	if !strings.HasPrefix(name, "-") || !isName(strings.TrimLeft(name, "-")) {
		return false
	}
	return w.form == Sbatch || w.letters || w.script && (name == "-b" || name == "-j") || len(word) > 2 && (word[1] == '-' || len(word) <= 6 || isKnown(name[1:]))
}

// override reports whether a word is Hydra's `a.b=1`, possibly with a prefix.
func override(word string) bool {
	key, _, ok := strings.Cut(strings.TrimLeft(word, "+~"), "=")
	return ok && isName(strings.ReplaceAll(key, "/", "."))
}

func (w *flagParser) end(r *Reader) {
	if w.flag == "" {
		return
	}
	w.value = cmp.Or(w.value, "True")
	if len(w.flag) == 2 && !ascii.IsDigit(w.value[0]) { // a prompt or a file
		w.flag, w.value = "", ""
		return
	}
	w.emit(r, w.flag, w.value, w.form)
	w.object(r, w.value)
	if strings.HasSuffix(w.flag, "_args") {
		for part := range strings.SplitSeq(w.value, ",") {
			if key, value, _ := strings.Cut(part, "="); override(part) {
				w.emit(r, key, value, Command)
			}
		}
	}
	w.flag, w.value = "", ""
}

// object reports what a flag takes as a JSON object of settings by their whole names: SkyRL's --backend-config, and the
// variables of Ray's --runtime-env-json. Names that are short mean something only to the flag.
func (w *flagParser) object(r *Reader, value string) {
	var settings map[string]any
	if !strings.HasPrefix(value, "{") || json.Unmarshal([]byte(value), &settings) != nil {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		switch v := settings[key].(type) {
		case bool, float64, string:
			if strings.Contains(key, ".") && isName(key) {
				w.emit(r, key, fmt.Sprint(v), Command)
			}
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				if value, ok := v[name].(string); ok && key == "env_vars" && isVariable(name) {
					w.emit(r, name, value, Env)
				}
			}
		}
	}
}

// emit reports a setting unless it contains a variable that the shell has not expanded.
func (w *flagParser) emit(r *Reader, key, value, form string) {
	value = strings.Trim(value, `'"`)
	if value == "" || strings.Contains(value, "$") || value == placeholder(key) {
		return
	}
	w.reported = true
	r.emit(key, value, w.flagLine, form)
}

// placeholder is what argparse's help has in place of a flag's value: `--replay_size REPLAY_SIZE`.
func placeholder(flag string) string {
	return strings.ToUpper(strings.ReplaceAll(strings.TrimLeft(flag, "-"), "-", "_"))
}

package settings

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// environment reads variables: `export X=1`, `declare -x X="1"`, a traced `+ X=1`, and lines of env's output.
func (r *Reader) environment(text []byte) bool {
	s := string(bytes.TrimLeft(text, " \t"))
	traced := strings.HasPrefix(s, "+")
	if traced {
		s = strings.TrimLeft(s, "+")
		if !strings.HasPrefix(s, " ") {
			return false
		}
		s = s[1:]
	}
	if prompt, after, ok := strings.Cut(s, "export "); ok && len(prompt) < 80 && (strings.HasSuffix(prompt, "$ ") || strings.HasSuffix(prompt, "# ") && strings.Contains(prompt, "@")) {
		s = "export " + after // behind a prompt
	}
	rest, exported := s, false
	for _, p := range []string{"export ", "declare -x ", "declare -gx ", "setenv "} {
		if after, ok := strings.CutPrefix(s, p); ok {
			rest, exported = after, true
		}
	}
	name, value, ok := strings.Cut(rest, "=")
	if !ok || !isVariable(name) || (!exported && !traced && (name != strings.ToUpper(name) || len(name) < 2)) {
		return false
	}
	words, whole := shellWords(rest)
	switch {
	case exported || traced:
		if !whole || len(words) == 0 {
			return false
		}
		for _, w := range words {
			name, value, _ := strings.Cut(w, "=")
			if !strings.Contains(w, "=") || !isVariable(name) {
				break
			}
			r.variable(name, value)
		}
	case len(words) > 1 && !quotedWhole(value):
		return false // a sentence or pairs that begin with a variable
	default:
		r.variable(name, strings.Trim(value, `"'`))
	}
	return true
}

// allocatorVariables begin the names of variables that decide about memory.
var allocatorVariables = []string{"XLA_", "TF_", "PYTORCH_", "CUDA_"}

// pythonEnvironment reads a variable in Python's code: `os.environ["X"] = "1"`, or `"X": "1",` on a line of a dict's own.
func (r *Reader) pythonEnvironment(text []byte) bool {
	const most = 200
	if len(text) > most {
		return false
	}
	s := strings.TrimLeft(string(text), " \t")
	s, assigned := strings.CutPrefix(s, "os.environ[")
	if s == "" || s[0] != '\'' && s[0] != '"' {
		return false
	}
	quote := s[:1]
	name, rest, _ := strings.Cut(s[1:], quote)
	sign := ":"
	if assigned {
		sign, rest = "=", strings.TrimPrefix(rest, "]")
	}
	value, ok := strings.CutPrefix(strings.TrimLeft(rest, " "), sign)
	value = strings.TrimRight(strings.TrimSpace(value), ",")
	if !ok || name != strings.ToUpper(name) || !isVariable(name) || !slices.ContainsFunc(allocatorVariables, func(p string) bool { return strings.HasPrefix(name, p) }) || !quotedWhole(value) {
		return false
	}
	r.variable(name, strings.Trim(value, `"'`))
	return true
}

// goMap reads an environment that a Go program prints as a map, as Ollama does when it starts: env="map[A:1 B:x C:]".
func (r *Reader) goMap(text []byte) bool {
	_, rest, ok := bytes.Cut(text, []byte(`env="map[`))
	if !ok {
		return false
	}
	inner, _, ok := bytes.Cut(rest, []byte("]\""))
	if !ok {
		return false
	}
	for word := range strings.FieldsSeq(string(inner)) {
		if name, value, ok := strings.Cut(word, ":"); ok && isVariable(name) {
			r.variable(name, value)
		}
	}
	return true
}

func quotedWhole(v string) bool {
	return len(v) > 1 && (v[0] == '"' || v[0] == '\'') && v[len(v)-1] == v[0]
}

// variable emits a variable under the name that the program sees: Singularity and Apptainer pass SINGULARITYENV_X and APPTAINERENV_X
// into a container as X (their user guide, Environment and Metadata).
func (r *Reader) variable(name, value string) {
	name = strings.TrimPrefix(strings.TrimPrefix(name, "SINGULARITYENV_"), "APPTAINERENV_")
	if value == "" || strings.Contains(value, "$") {
		return
	}
	r.emit(name, value, r.line, Env)
	if mib, err := strconv.Atoi(value); name == "SLURM_MEM_PER_NODE" && err == nil && mib > 0 { // what the job asked for (sbatch(1)); 0 is all of a node
		asked := value + "M"
		if mib%1024 == 0 {
			asked = strconv.Itoa(mib/1024) + "G"
		}
		r.emit("ReqMem", asked, r.line, Pairs)
	}
}

// overrides reads Hydra's list of overrides, printed when a job fails (`Error executing job with overrides: [...]`)
// or starts (`Overrides: [...]`).
func (r *Reader) overrides(text []byte) bool {
	i := bytes.Index(text, []byte("verrides: ["))
	if i < 0 {
		return false
	}
	for _, word := range listStrings(text[i+len("verrides: ["):]) {
		if override(word) && !strings.HasPrefix(word, "~") {
			key, value, _ := strings.Cut(strings.TrimLeft(word, "+"), "=")
			r.emit(key, strings.Trim(value, `'"`), r.line, Overrides)
		}
	}
	return true
}

// pbs reads the resources in a PBS directive: `#PBS -l select=1:ncpus=8:mem=32gb`.
func (r *Reader) pbs(flags string) bool {
	for _, word := range strings.FieldsFunc(flags, func(c rune) bool { return c == ' ' || c == ':' || c == ',' }) {
		if key, value, ok := strings.Cut(word, "="); ok && (key == "mem" || key == "vmem" || key == "ncpus" || key == "ngpus") {
			r.emit(key, value, r.line, Command)
		}
	}
	return len(r.out) > 0
}

// sbatch reads a batch directive: `#SBATCH --mem=96G -c 8`, or LSF's `#BSUB -M 64GB`.
func (r *Reader) sbatch(text []byte) bool {
	if rest, ok := bytes.CutPrefix(text, pbs); ok {
		return r.pbs(string(rest))
	}
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(text, " "), directive)
	w := flagParser{form: Sbatch}
	if !ok {
		if rest, ok = bytes.CutPrefix(text, lsf); !ok {
			return false
		}
		w = flagParser{form: Command, letters: true}
	}
	flags, _, _ := strings.Cut(string(rest), " #")
	w.line(r, flags)
	w.end(r)
	return true
}

// argument reads the arguments in a manifest of Kubernetes or Compose: an item of a list, `- --num_workers=16`, or a list on one line,
// `args: ["train.py", "--num_workers", "16"]`.
func (r *Reader) argument(text []byte) bool {
	text = bytes.TrimLeft(text, " ")
	if key, list, ok := bytes.Cut(text, []byte(": [")); ok && (string(key) == "args" || string(key) == "command") {
		w := flagParser{form: Command}
		w.words(r, strings.Fields(strings.Join(listStrings(list), " "))) // one may be a script of a shell
		w.end(r)
		return len(r.out) > 0
	}
	item, ok := bytes.CutPrefix(text, []byte("- "))
	name, value, pair := strings.Cut(strings.Trim(string(item), `"'`), "=")
	if !ok || !pair || !strings.HasPrefix(name, "--") || !isName(name[2:]) || strings.Contains(value, " ") { // a sentence in a list
		return false
	}
	r.emit(name, value, r.line, Command)
	return true
}

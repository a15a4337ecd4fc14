package settings

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"oomscan/parser/ascii"
	"oomscan/parser/lazyre"
)

// table reads Megatron's argument table between its frame lines. Names of 48 bytes or more have no dots, only blanks
// before the value.
type table struct{ reported bool }

func (t *table) hasReported() bool { return t.reported }
func (t *table) end(*Reader)       {}

func (t *table) feed(r *Reader, text []byte) (fits, more bool) {
	if bytes.Contains(text, []byte("end of arguments")) {
		return true, false
	}
	if name, value, ok := dottedLine(text, " ."); ok {
		if value == "{" {
			return false, true
		}
		t.reported = true
		r.row(name, value)
		return true, true
	}
	s := strings.Fields(string(text[:min(len(text), maxPlain)]))
	if len(s) == 2 && len(s[0]) >= 40 && isName(s[0]) && bytes.HasPrefix(text, []byte("  ")) {
		r.emit(s[0], s[1], r.line, Megatron)
		return true, true
	}
	return false, true
}

// dotted reads a row of a dotted table, or its frame.
func (r *Reader) dotted(text []byte) bool {
	if bytes.Contains(text, []byte("- arguments -")) {
		r.begin(&table{}, text)
		return true
	}
	name, value, ok := dottedLine(text, " ....")
	if !ok {
		name, value, ok = undottedRow(text)
	}
	if !ok {
		return false
	}
	r.row(name, value)
	return true
}

// minLongName is the length from which names in DeepSpeed's table (runtime/config.py, print) leave too few dots to
// recognize a row: the table pads to 29 bytes.
const minLongName = 26

// undottedRow splits a row with at most three dots: "  train_micro_batch_size_per_gpu  1". The name must be a known
// setting, and the value a number or a switch.
func undottedRow(text []byte) (name, value string, ok bool) {
	if !undottedShape(text) {
		return "", "", false
	}
	f := strings.Fields(string(text))
	if len(f) == 3 && strings.Trim(f[1], ".") == "" {
		f = []string{f[0], f[2]}
	}
	if len(f) != 2 {
		return "", "", false
	}
	bare, _, _ := strings.Cut(f[0], "_per_") // a batch size per device is a batch size
	if !isName(f[0]) || !isKnown(bare) || metric(f[0]) || !scalar(f[1]) {
		return "", "", false
	}
	return f[0], f[1], true
}

// undottedShape is a quick test for such a row: two blanks, then a long name and a blank.
func undottedShape(text []byte) bool {
	if len(text) < minLongName+4 || len(text) > MaxKey || text[0] != ' ' || text[1] != ' ' || !ascii.IsLower(text[2]) {
		return false
	}
	i := 2
	for i < len(text) && (ascii.IsWord(text[i]) || text[i] == '.') {
		i++
	}
	return i >= 2+minLongName && i < len(text) && text[i] == ' '
}

// boxed reads a row of a box or table with two columns, as rich, tabulate and Ray Train print configurations: "│
// train_loop_config/batch_size      2 │", "| batch_size | 2 |", "│ batch_size: 2 │". Other boxes contain results.
func (r *Reader) boxed(text []byte) bool {
	text = bytes.TrimSpace(text)
	if len(text) > MaxKey+MaxValue || !isBoxed(text) {
		return false
	}
	f := strings.Fields(boxMarks.Replace(string(text)))
	if len(f) != 2 || len(f[0]) > 90 || strings.ContainsAny(f[0], "=:'\"()") {
		return false
	}
	if last := f[0][strings.LastIndexByte(f[0], '/')+1:]; !strings.Contains(f[0], "config/") && (!isKnown(last) || metric(last)) {
		return false
	}
	r.emit(f[0], f[1], r.line, Pairs)
	return true
}

// bars begin and end the rows of boxes and tables.
var bars = [][]byte{[]byte("│"), []byte("┃"), []byte("|")}

// boxMarks replaces what separates a name from its value.
var boxMarks = strings.NewReplacer("│", " ", "┃", " ", "|", " ", ": ", " ", " = ", " ")

// isBoxed reports whether a line begins and ends with a bar.
func isBoxed(text []byte) bool {
	return slices.ContainsFunc(bars, func(bar []byte) bool { return bytes.HasPrefix(text, bar) }) &&
		slices.ContainsFunc(bars, func(bar []byte) bool { return bytes.HasSuffix(text, bar) })
}

// row reports a row, or the pairs in a value that is a mapping, and those in one that is a list of pairs. DeepSpeed prints its
// sub-configurations in these ways: `optimizer_params ....... {'lr': 1e-05}`, `zero_config ....... stage=3 contiguous_gradients=True`.
func (r *Reader) row(name, value string) {
	r.nested(Pair{Key: name, Value: value, Line: r.line, Form: Megatron})
	if found := findPairs(value); len(found) > 1 && found[0].start == 0 {
		for _, p := range found {
			r.emit(name+"."+p.key, p.value, r.line, Megatron)
			if open := strings.IndexByte(p.value, '('); open > 0 && isName(p.value[:open]) {
				for _, inner := range findPairs(p.value[open:]) {
					r.emit(name+"."+p.key+"."+inner.key, inner.value, r.line, Megatron)
				}
			}
		}
	}
}

// dottedLine splits `  name ............ value`. dots is the shortest accepted separator, because long names leave
// room for few.
func dottedLine(text []byte, dots string) (name, value string, ok bool) {
	i := bytes.Index(text, []byte(dots))
	if i < 0 {
		return "", "", false
	}
	j := i + 1
	for j < len(text) && text[j] == '.' {
		j++
	}
	if j == len(text) || text[j] != ' ' {
		return "", "", false
	}
	value = strings.TrimSpace(string(text[j:min(len(text), j+4*MaxValue)]))
	// GPT-NeoX prints the origin of a value after more dots (megatron/neox_arguments/arguments.py, print).
	if bare, from, more := strings.Cut(value, "...."); more && (strings.HasSuffix(from, "updated") || strings.HasSuffix(from, "default")) {
		value = strings.TrimRight(bare, ".")
	}
	if value == "" || (value[0] == '[' && len(value) > 1 && ascii.IsUpper(value[1])) {
		return "", "", false // empty, or a check list: [OKAY]
	}
	name = strings.TrimRight(string(text[max(0, i-MaxKey):i]), " ")
	for _, sep := range []string{"  ", "] ", ": "} { // a logger's prefix
		if k := strings.LastIndex(name, sep); k >= 0 {
			name = name[k+len(sep):]
		}
	}
	name = strings.TrimSpace(name)
	if strings.Count(name, " ") > 3 || !isName(strings.NewReplacer(" ", "_", "/", "_", "(", "_", ")", "_").Replace(name)) {
		return "", "", false
	}
	return name, value, true
}

// bannerWords are the resources in a job script's banner: `Memory requested: 96G`.
var bannerWords = []string{"memory", "mem", "cpus", "cpu", "gpus", "gpu", "nodes", "tasks", "shm"}

// bannerAsked must occur too: a banner about usage is no setting.
var bannerAsked = []string{"requested", "limit", "allocated to job", "per node", "per cpu", "per task", "request", "number of"}

// drawing are the characters of Unsloth's sloth.
const drawing = `O^/\_|-" `

// trainer reads the list of transformers' Trainer, `  Instantaneous batch size per device = 8`, and Unsloth's, which
// has a drawing on its left: `O^O/ \_/ \    Batch size per device = 2 | Gradient accumulation steps = 4`.
func (r *Reader) trainer(text []byte) bool {
	i := bytes.Index(text, []byte(" = "))
	if i < 0 {
		return false
	}
	s := string(text)
	i = strings.LastIndex(s[:i], "  ") + 2
	lead := strings.TrimSpace(s[:max(0, i)])
	if i < 2 || lead == "" && i > 3 || !strings.HasSuffix(lead, ">>") && strings.Trim(lead, drawing) != "" {
		return false
	}
	found := false
	for part := range strings.SplitSeq(s[i:], " | ") {
		name, value, _ := strings.Cut(part, " = ")
		name = strings.TrimSpace(name)
		if name != "" && len(name) <= 90 && ascii.IsUpper(name[0]) && !strings.ContainsAny(name, "\"'[]{}") && plainNumber(value) {
			r.emit(name, value, r.line, Pairs)
			found = true
		}
	}
	return found
}

// resources matches what `scontrol show job` prints of a job's nodes.
var resources = lazyre.New(`^\s*(?:Req|Alloc)?TRES=cpu=\d+,mem=(\d{1,12})([KMGT]),node=(\d{1,5})(?:,|$)`)

// allocation reads the memory of each node from Slurm's sum over the nodes of a job.
func (r *Reader) allocation(text []byte) bool {
	m := resources().FindSubmatch(text)
	if m == nil {
		return false
	}
	sum, _ := strconv.Atoi(string(m[1]))
	if nodes, _ := strconv.Atoi(string(m[3])); nodes > 0 && sum%nodes == 0 {
		r.emit("ReqMem", strconv.Itoa(sum/nodes)+string(m[2]), r.line, Pairs)
	}
	return true
}

// banner reads a job script's banner of requested resources.
func (r *Reader) banner(text []byte) bool {
	name, value, ok := strings.Cut(strings.TrimSpace(string(text)), ": ")
	value = strings.TrimSpace(value)
	if !ok || len(name) > 40 || strings.HasPrefix(name, "- ") || !quantity(value) { // a list item reports what happened
		return false
	}
	low := strings.ToLower(name)
	if !hasWord(low, bannerWords) || !hasWord(low, bannerAsked) {
		return false
	}
	r.emit(name, value, r.line, Sbatch)
	return true
}

// plainNumber reports whether s is a number, possibly with thousands separators or an exponent.
func plainNumber(s string) bool {
	if s == "" || len(s) > 32 || strings.Trim(s, "0123456789.,e+-") != "" {
		return false
	}
	return strings.ContainsAny(s, "0123456789")
}

// quantity reports whether s is a number with an optional unit of bytes.
func quantity(s string) bool {
	digits := strings.TrimLeft(s, "0123456789.")
	unit := strings.TrimSpace(digits)
	return len(digits) < len(s) && len(unit) <= 3 && strings.Trim(unit, "KMGTPkmgtibB") == ""
}

// hasWord reports whether s contains one of the words as a whole word.
func hasWord(s string, words []string) bool {
	for _, w := range words {
		for from := 0; ; {
			i := strings.Index(s[from:], w)
			if i < 0 {
				break
			}
			i += from
			end := i + len(w)
			if (i == 0 || !ascii.IsWord(s[i-1])) && (end == len(s) || !ascii.IsWord(s[end])) {
				return true
			}
			from = end
		}
	}
	return false
}

package settings

import (
	"bytes"
	"slices"
	"strings"

	"oomscan/parser/ascii"
)

// reprSuffixes are the ends of class names whose repr is a configuration.
var reprSuffixes = strings.Fields(`
	Args Arguments Config Configs Namespace Options Params Parameters Settings Cfg HParams Hparams Hyperparameters CfgNode
	ConfigDict ConfigNode AttrDict EasyDict`)

// labelWords are the last words of labels of a configuration.
var labelWords = strings.Fields(`
	args arguments config configs configuration cfg params parameters settings hparams hyperparameters options kwargs json
	flags`)

// codeWords are how lines of source code begin.
var codeWords = []string{"return ", "raise ", "await ", "yield ", "with ", "if ", "for ", "assert ", "def ", "class ", "from ", "import ", "elif ", "while ", "async ", "@", ">>> ", "File \""}

var withConfig = []byte(" with config: ")

// startEngine reads the arguments that an inference engine prints when it starts.
func (r *Reader) startEngine(text []byte) bool {
	i := bytes.Index(text, withConfig)
	if i < 0 || !bytes.Contains(text[:i], []byte("engine")) {
		return false
	}
	at := i + len(withConfig)
	if n := nameEnd(text[at:]); n == 0 || at+n == len(text) || text[at+n] != '=' {
		return false
	}
	newLiteral(Engine, 0).consume(r, text, at)
	return true
}

// keepOpen begins a dump if a literal is still open at the end of a line that ends with one of these bytes. It
// reports whether the literal is open.
func (r *Reader) keepOpen(d *literal, text []byte, ends string) bool {
	if len(d.stack) == 0 {
		return false
	}
	if strings.IndexByte(ends, text[len(text)-1]) >= 0 {
		r.begin(d, text)
	} else {
		d.end(r)
	}
	return true
}

// startRepr reads `Name(a=1, ...)` for classes of configurations; a line may contain several.
func (r *Reader) startRepr(text []byte) bool {
	found := false
	for i := 0; i < len(text); {
		at := findRepr(text, i)
		if at < 0 {
			break
		}
		if _, _, row := dottedLine(text[:at], " ...."); row && !found {
			return false // a row of a table, of several pairs
		}
		d := newLiteral(Repr, ')')
		name := nameBefore(text[:at])
		d.root = at - len(name)
		d.code = assignedCall(text[:d.root]) || shownCalls[lastPart(name)]
		i = d.consume(r, text, at+1)
		found = true
		if r.keepOpen(d, text, "(,{[") {
			break
		}
	}
	return found
}

var dictCall = []byte(" = dict(")

// startRust reads a struct that Rust prints with {:?}, `Args { model_id: "m", num_shard: Some(4), quantize: None }`
// (text-generation-inference and text-embeddings-inference, launcher/src/main.rs).
func (r *Reader) startRust(text []byte) bool {
	at := bytes.Index(text, rustOpen)
	if at <= 0 {
		return false
	}
	name := nameBefore(text[:at])
	rest := text[at+len(rustOpen):]
	if !reprName(name) || len(name) < at && text[at-len(name)-1] != ' ' || !bytes.HasPrefix(rest[nameEnd(rest):], []byte(": ")) {
		return false
	}
	d := newLiteral(Repr, '}')
	d.rust = true
	d.consume(r, text, at+len(rustOpen))
	return true
}

// rustOpen separates a struct's name from its fields.
var rustOpen = []byte(" { ")

// rustValue strips Some(...) from a scalar. It returns "" for structs and lists.
func rustValue(v string, isString bool) string {
	if isString {
		return v
	}
	for strings.HasPrefix(v, "Some(") && strings.HasSuffix(v, ")") {
		v = v[len("Some(") : len(v)-1]
	}
	if strings.ContainsAny(v, "{}[]()") {
		return ""
	}
	return strings.Trim(v, `"`)
}

// startCall reads `name = dict(a=1, ...)`, which mmengine and mmcv print (Config.pretty_text).
func (r *Reader) startCall(text []byte) bool {
	n := nameEnd(text)
	if n == 0 || !bytes.HasPrefix(text[n:], dictCall) {
		return false
	}
	d := newLiteral(Repr, ')')
	d.descend(string(text[:n]))
	d.stack[0].pathLen = len(d.path)
	d.consume(r, text, n+len(dictCall))
	if len(d.stack) > 0 {
		r.begin(d, text)
	}
	return true
}

// findRepr returns the index of the opening bracket of a configuration's repr at or after i, or -1.
func findRepr(text []byte, i int) int {
	for i < len(text) {
		j := bytes.IndexByte(text[i:], '(')
		if j < 0 {
			break
		}
		at := i + j
		i = at + 1
		name := nameBefore(text[:at])
		prefix := text[:at-len(name)]
		body := text[at+1:]
		if (reprName(name) || namedConfig(prefix, name)) && (reprBody(body) || len(prefix) == 0 && spacedBody(body)) && (!isCode(prefix) || assignedDict(prefix) || len(body) == 0 && assignedCall(prefix)) && !isPairValue(prefix, text[at:]) {
			return at
		}
	}
	return -1
}

// maxPairValue is the longest object that is only the value of a pair.
const maxPairValue = 80

// isPairValue reports whether an object is the value of one of several pairs: `Model (name='q' seq_len=4096
// ac=Config(mode='full'))`. A long object is rather the subject of the line.
func isPairValue(prefix, inside []byte) bool {
	key, ok := bytes.CutSuffix(prefix, []byte("="))
	if !ok || bytes.IndexByte(inside[:min(len(inside), maxPairValue)], ')') < 0 {
		return false
	}
	key = nameBefore(key)
	before := prefix[:len(prefix)-1-len(key)]
	if len(key) == 0 || len(before) == 0 || before[len(before)-1] != ' ' {
		return false
	}
	return bytes.IndexByte(before, '=') > 0 && len(findPairs(string(before[max(0, len(before)-MaxValue):]))) > 0
}

// namedConfig reports whether an object of any class follows a label for a configuration: `cfg: DotMap(...)`.
func namedConfig(prefix, name []byte) bool {
	if len(name) == 0 || !ascii.IsUpper(name[0]) {
		return false
	}
	label := bytes.TrimRight(prefix, " ")
	if n := len(label); n == 0 || label[n-1] != ':' && label[n-1] != '=' {
		return false
	}
	return endsWithWord(strings.ToLower(string(label[max(0, len(label)-40):len(label)-1])), labelWords)
}

func nameBefore(s []byte) []byte {
	i := len(s)
	for i > 0 && (ascii.IsWord(s[i-1]) || s[i-1] == '.') {
		i--
	}
	return s[i:]
}

// shownCalls are functions whose arguments configure a run, in scripts that a log shows: models, adapters, vLLM's and SGLang's engines,
// data loaders, Lightning's trainer, Ultralytics' model.train, and quantizers (AutoAWQ's, AutoGPTQ's and GPTQModel's model.quantize, LLM
// Compressor's oneshot).
var shownCalls = set("from_pretrained get_peft_model LLM Engine DataLoader Trainer train quantize oneshot")

// lastPart returns a name without the modules or objects before it.
func lastPart(name []byte) string { return string(name[bytes.LastIndexByte(name, '.')+1:]) }

func reprName(name []byte) bool {
	name = name[bytes.LastIndexByte(name, '.')+1:]
	if string(name) == "namespace" || shownCalls[string(name)] {
		return true
	}
	if len(name) == 0 || len(name) > 80 || !ascii.IsUpper(name[0]) {
		return false
	}
	return slices.ContainsFunc(reprSuffixes, func(s string) bool { return bytes.HasSuffix(name, []byte(s)) })
}

// reprBody reports whether s begins like the arguments of a repr: empty, a keyword, or a dict.
func reprBody(s []byte) bool {
	s = bytes.TrimLeft(s, " ")
	if len(s) == 0 {
		return true
	}
	if s[0] == '{' {
		return len(s) > 1 && (s[1] == '\'' || s[1] == '"')
	}
	n := nameEnd(s)
	return n > 0 && n+1 < len(s) && s[n] == '=' && s[n+1] != '=' && s[n+1] != ' '
}

// spacedBody reports whether the text behind an opening bracket is `a = 1`, as people print what they write.
func spacedBody(s []byte) bool {
	n := nameEnd(s)
	return n > 0 && n+3 < len(s) && string(s[n:n+3]) == " = " && s[n+3] != ' '
}

// isCode reports whether the text before a call is source code, such as a line that a traceback quotes.
func isCode(prefix []byte) bool {
	if bytes.HasSuffix(prefix, []byte(" = ")) {
		return true
	}
	prefix = prefix[:min(len(prefix), 256)] // bounded, because a line may ask many times
	trimmed := bytes.TrimLeft(prefix, " \t")
	if len(prefix)-len(trimmed) >= 4 && len(trimmed) == 0 {
		return true
	}
	return slices.ContainsFunc(codeWords, func(w string) bool { return bytes.HasPrefix(trimmed, []byte(w)) })
}

// startDict reads a Python dict or a JSON object that begins in this line.
func (r *Reader) startDict(text []byte) bool {
	if r.openingBrace(text) {
		return true
	}
	at, first := dictIn(text)
	if at < 0 || findRepr(text[:at], 0) >= 0 || inArgument(text[:at]) { // inside an object's repr, or an argument of a command
		return false
	}
	label, ok := dictLabel(text[:at])
	cut := cutKey(text[:at])
	unknown := !ok && (cut != "" || shortLabel(text[:at]))
	if !ok && !unknown {
		return false
	}
	if n := stringEnd(text[first:min(len(text), first+MaxKey)]); label == "" && n > 0 {
		if key := string(text[first+1 : first+n-1]); metric(key) && !strings.HasPrefix(key, "best_") { // which may be a search's first value
			return true
		}
	}
	d := newLiteral(Pprint, '}')
	d.root, d.noLabel, d.unknownLabel = at, label == "" && !unknown, unknown
	if cut != "" {
		d.descend(cut)
		d.stack[0].pathLen = len(d.path)
	}
	switch {
	case label != "" && strings.HasSuffix(label, "non-default args"):
		d.form = Engine
	case text[first] == '"':
		d.form = JSON
	}
	before := len(r.out)
	d.consume(r, text, at+1)
	if d.unknownLabel && len(d.stack) == 0 {
		return false
	}
	if !d.retract(r, before) {
		r.keepOpen(d, text, ",{[(:'\"")
	}
	return true
}

// cutKey returns the key before a nested dict whose outer dict began in a line that is missing, as where only a part of what pprint
// printed is quoted: ` 'policy': {'model_name': ...`. It is "" for other text and for reports.
func cutKey(prefix []byte) string {
	if len(prefix) == 0 || !ascii.IsBlank(prefix[0]) || len(prefix) > 48 {
		return ""
	}
	key := bytes.TrimSpace(prefix)
	n := stringEnd(key)
	if n < 3 || string(key[n:]) != ":" || !isName(string(key[1:n-1])) || endsWithWord(string(key[1:n-1]), reportWords) {
		return ""
	}
	return string(key[1 : n-1])
}

// inArgument reports whether the text before a dict is a command line up to a flag whose value it is: `ray job submit
// --runtime-env-json={"env_vars": {}} -- python3 train.py`.
func inArgument(prefix []byte) bool {
	word := bytes.TrimLeft(prefix[bytes.LastIndexByte(prefix, ' ')+1:], `"'`)
	if !bytes.HasPrefix(word, []byte("--")) || len(prefix) > maxPlain {
		return false
	}
	_, ok := findCommand(string(prefix))
	return ok
}

// dictIn returns where a dict begins in a line, -1 for none, and where its first key does: pprint with an indent puts blanks between.
func dictIn(text []byte) (at, first int) {
	for at = range text {
		if text[at] != '{' {
			continue
		}
		first = at + 1
		for first < len(text) && text[first] == ' ' {
			first++
		}
		if first < len(text) && (text[first] == '\'' || text[first] == '"') {
			return at, first
		}
	}
	return -1, 0
}

// dictLabel returns the words before a dict, and whether there are none or they name a configuration.
func dictLabel(prefix []byte) (string, bool) {
	trimmed := bytes.TrimSpace(prefix)
	if len(trimmed) == 0 {
		return "", len(prefix) < 4
	}
	if len(trimmed) > 400 || isCode(prefix) && !bytes.HasSuffix(prefix, []byte("json = ")) && !assignedDict(prefix) {
		return "", false
	}
	trimmed = trimmed[max(0, len(trimmed)-80):]
	label := strings.ToLower(string(bytes.TrimRight(trimmed, ":= >-|")))
	if len(label) == len(trimmed) {
		return "", false
	}
	return label, endsWithWord(label, labelWords)
}

// assignedDict reports whether prefix is a printed `cfg = ` at the beginning of a line; quoted source code is
// indented.
func assignedDict(prefix []byte) bool {
	name, ok := bytes.CutSuffix(prefix, []byte(" = "))
	return ok && isName(string(name)) && endsWithWord(strings.ToLower(string(name)), labelWords)
}

// assignedCall reports whether prefix is an assignment in source code: `args = `, `    model, tokenizer = `, `self.model = `.
func assignedCall(prefix []byte) bool {
	names, ok := bytes.CutSuffix(bytes.TrimLeft(prefix, " "), []byte(" = "))
	return ok && len(names) > 0 && len(names) <= MaxKey && len(bytes.Trim(names, nameBytes)) == 0
}

const nameBytes = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_., "

func endsWithWord(s string, words []string) bool {
	i := len(s)
	for i > 0 && ascii.IsLower(s[i-1]) {
		i--
	}
	return slices.Contains(words, s[i:])
}

// openingBrace begins a JSON or Python block with the brace at the end of its first line: `{`, `Model config
// Qwen2Config {`, `  json = {`, `  zero_config ............ {`.
func (r *Reader) openingBrace(text []byte) bool {
	if text[len(text)-1] != '{' {
		return false
	}
	if r.open != nil && len(bytes.TrimSpace(text)) == 1 {
		return false
	}
	d := newLiteral(JSON, '}')
	d.noLabel = true
	prefix := bytes.TrimRight(text[:len(text)-1], " ")
	if len(bytes.TrimSpace(prefix)) > 0 {
		prefix = prefix[max(0, len(prefix)-120):]
		if name, _, ok := dottedLine(text, " ...."); ok {
			d.descend(name)
		} else {
			label := strings.ToLower(string(bytes.TrimRight(prefix, " :=")))
			if !endsWithWord(label, labelWords) && !reprName(nameBefore(prefix)) {
				if d.unknownLabel = shortLabel(prefix); !d.unknownLabel {
					return false
				}
			}
		}
		d.noLabel = false
	}
	d.continued = true
	r.begin(d, text)
	return true
}

package settings

import (
	"bytes"

	"oomscan/parser/ascii"
)

// Worth quickly reports whether a line outside a dump may contain settings or begin a dump. It may be wrong only in
// lines without settings. It does not allocate.
func Worth(text []byte) bool {
	text = trimEnd(text)
	if len(text) < 3 {
		return len(text) > 0 && text[len(text)-1] == '{'
	}
	switch text[len(text)-1] {
	case '{', '(', '\\', '^':
		return true
	}
	if bytes.IndexByte(text, '=') >= 0 {
		return true
	}
	if bytes.Contains(text, batchSize) || bytes.Contains(text, recomputes) || bytes.Contains(text, zeroStage) || declares(text) {
		return true
	}
	if text[0] == '#' || text[0] == '$' || sectionShape(text) || bytes.HasPrefix(bytes.TrimLeft(text, " "), directive) {
		return true
	}
	if bytes.Contains(text, dots) || bytes.Contains(text, dashes) || bytes.IndexByte(text, '{') >= 0 {
		return true
	}
	if variableShape(text) || showsFile(text) || undottedShape(text) || isBoxed(text) || headsColumns(text) || isBranch(text) {
		return true
	}
	return bytes.IndexByte(text, ':') > 0 && (bannerShape(text) || yamlShape(text) || bytes.Contains(text, bar) || prefixEnd(text) > 0)
}

// showsFile reports whether a line is a command, behind a prompt or traced by the shell, that prints a YAML file.
func showsFile(text []byte) bool {
	if !bytes.HasSuffix(text, []byte(".yaml")) && !bytes.HasSuffix(text, []byte(".yml")) {
		return false
	}
	i := bytes.Index(text, []byte(" cat "))
	return i > 0 && (text[i-1] == '$' || text[i-1] == '#' || text[i-1] == '+')
}

var (
	batchSize  = []byte("batch size ")
	recomputes = []byte("activation checkpointing to ")
	zeroStage  = []byte(" ZeRO stage ")
	dots       = []byte("....")
	dashes     = []byte("--")
	bar        = []byte(" | ")

	// progressBar occurs in every line of tqdm; there are many, without settings.
	progressBar = []byte("%|")

	directive = []byte("#SBATCH ")
	lsf       = []byte("#BSUB ")
	pbs       = []byte("#PBS ")
	yamlStart = []byte("---")
)

// bannerShape is a quick test for a job script's banner: short, with a number after the last colon.
func bannerShape(text []byte) bool {
	i := bytes.LastIndex(text, []byte(": "))
	return len(text) <= 100 && i > 0 && i+2 < len(text) && ascii.IsDigit(text[i+2])
}

// variableShape is a quick test for a variable in a Python dict, `'NAME': 'value',`, or a dotted key of a JSON whose
// beginning is missing, `"data.train_batch_size": 64,`.
func variableShape(text []byte) bool {
	t := bytes.TrimLeft(text, " ")
	if len(t) <= 3 || (t[0] != '\'' && t[0] != '"') {
		return false
	}
	name, _, pair := bytes.Cut(t[1:], []byte(`": `))
	return ascii.IsUpper(t[1]) && (ascii.IsUpper(t[2]) || t[2] == '_') || pair && bytes.IndexByte(name, '.') > 0
}

// yamlShape is a quick test for `key:` or `key: value`, indented by blanks.
func yamlShape(text []byte) bool {
	i := 0
	for i < len(text) && text[i] == ' ' {
		i++
	}
	start, lower, joined := i, false, false
	if i == len(text) || ascii.IsDigit(text[i]) || text[i] == '.' || text[i] == '-' {
		return false
	}
	for i < len(text) && (ascii.IsWord(text[i]) || text[i] == '.' || text[i] == '-') {
		lower = lower || ascii.IsLower(text[i])
		joined = joined || text[i] == '_'
		i++
	}
	if ascii.IsUpper(text[start]) && (lower || !joined && i+1 < len(text)) { // yacs has `MODEL:` and `MAX_ITER: 9`
		return false
	}
	return i > start && i-start <= 64 && i < len(text) && text[i] == ':' && (i+1 == len(text) || text[i+1] == ' ')
}

// sectionShape is a quick test for TOML's `[name]` and `[[name]]`.
func sectionShape(text []byte) bool {
	n := len(text)
	if n < 3 || text[0] != '[' || text[n-1] != ']' {
		return false
	}
	for _, c := range bytes.Trim(text, "[]") {
		if !ascii.IsWord(c) && c != '.' && c != '-' && c != '"' {
			return false
		}
	}
	return true
}

// trimEnd removes white space and NULs from the end of a line.
func trimEnd(text []byte) []byte { return bytes.TrimRight(text, " \t\r\n\x00") }

// isName reports whether s can be the key of a setting: an identifier, dotted or dashed.
func isName(s string) bool {
	if s == "" || len(s) > MaxKey || (!ascii.IsLetter(s[0]) && s[0] != '_') {
		return false
	}
	for i := range len(s) {
		if !ascii.IsWord(s[i]) && s[i] != '.' && s[i] != '-' {
			return false
		}
	}
	return true
}

package settings

import (
	"slices"
	"strings"

	"oomscan/parser/ascii"
)

// maxReported bounds the keys with remembered values.
const maxReported = 1024

// pair is a key=value in a line.
type pair struct {
	key, value string
	start, end int
}

// pairs reads lines of mainly key=value pairs, `key: value` pairs between bars, and single pairs with a known key. It
// ignores training metrics, gauges and event records.
func (r *Reader) pairs(text []byte) bool {
	s := string(text)
	if len(s)-len(strings.TrimLeft(s, " \t")) >= 4 || progress(s) || sourceLine(s) || strings.Contains(s, "TRES=cpu=") { // sums over the nodes of a Slurm job
		return false
	}
	found := findPairs(s)
	if len(found) == 0 {
		found = someKnown(colonPairs(s))
	}
	if len(found) == 0 {
		found = someKnown(spacedPairs(s))
	}
	if len(found) == 0 {
		return r.assignment(s)
	}
	known := 0
	for _, p := range found {
		if metric(p.key) && plainNumber(p.value) || strings.HasPrefix(p.value, "0x") { // a stack frame of another language
			return false
		}
		if p.key == "optimizer" && plainNumber(p.value) {
			return false // what it takes: no optimizer has a number for a name
		}
		if isKnown(p.key) {
			known++
		}
	}
	outside := outsideWords(s, found)
	low := strings.ToLower(outside)
	if strings.Contains(low, "loss") || strings.Contains(low, " ms ") || strings.Contains(low, "s/step") || hasWord(low, []string{"step", "iteration", "eta", "grad norm"}) && known < 2 {
		return false
	}
	words := len(strings.Fields(outside))
	mainly := len(found) >= 2 && words <= 2*len(found)+2 && !hasWord(low, []string{"error", "exception", "failed"})
	if known == 0 && !(mainly && words <= len(found)+1) || len(found) < 4 && advice(low) {
		return false
	}
	for _, p := range found {
		if first, _, more := strings.Cut(p.value, " "); more && p.key == "cmd" && program(first) { // Ollama's runner
			words, _ := shellWords(p.value)
			w := flagParser{form: Command}
			w.words(r, words)
			w.end(r)
			continue
		}
		if (mainly || isKnown(p.key)) && !gauge(p.key) {
			r.report(Pair{Key: p.key, Value: p.value, Line: r.line, Form: Pairs})
		}
	}
	return true
}

// assignment reads a line about one known setting: `Batch size per GPU: 8`, `batch_size = 12 # note`, `Overriding:
// block_size = 256`, `"data.train_batch_size": 64,`.
func (r *Reader) assignment(s string) bool {
	s, _, _ = strings.Cut(s, " #")
	if strings.Contains(s, " : ") { // a line of a list, not a comment
		s = strings.TrimPrefix(s, "# ")
	}
	s = strings.TrimLeft(strings.TrimSpace(s), "-*>| ")
	name, value, ok := strings.Cut(s, " = ")
	if !ok {
		name, value, ok = strings.Cut(s, ": ")
	}
	for _, mark := range []string{": ", " - "} { // a label or a logger's name
		if i := strings.LastIndex(name, mark); i >= 0 {
			name = name[i+len(mark):]
		}
	}
	name, value = strings.TrimSpace(name), strings.Trim(strings.TrimSuffix(strings.TrimSpace(value), ","), `'"`)
	if strings.Contains(name, ".") {
		name = strings.Trim(name, `"`)
	}
	if !ok || len(s) > 120 || strings.Count(name, " ") > 4 || !scalar(value) {
		return false
	}
	key := strings.ReplaceAll(name, " ", "_")
	if i := strings.Index(key, "_per_"); i > 0 { // a batch size per device is a batch size
		key = key[:i]
	}
	if !isName(key) || !isKnown(key) || metric(key) {
		return false
	}
	r.report(Pair{Key: name, Value: value, Line: r.line, Form: Pairs})
	return true
}

// scalar reports whether a value is a number or a switch.
func scalar(v string) bool { return plainNumber(v) || isSwitch(v) || v == "enabled" || v == "disabled" }

// report emits a pair unless an earlier line had the same one: every rank prints such lines.
func (r *Reader) report(p Pair) {
	if old, ok := r.reported[p.Key]; ok && old == p.Value {
		return
	}
	if r.reported == nil {
		r.reported = make(map[string]string)
	}
	if len(r.reported) < maxReported {
		r.reportedBytes += len(p.Key) + len(p.Value)
		r.reported[p.Key] = p.Value
	}
	r.emit(p.Key, p.Value, p.Line, p.Form)
}

// progress reports whether a line contains a progress bar.
func progress(s string) bool {
	return strings.Contains(s, "it/s") || strings.Contains(s, "s/it") || strings.Contains(s, "%|")
}

// sourceLine reports whether a line is an exception's message or a frame of a traceback.
func sourceLine(s string) bool {
	t := strings.TrimLeft(s, " ")
	if strings.HasPrefix(t, "File \"") || strings.HasPrefix(t, "Traceback ") {
		return true
	}
	name := t[:nameEnd([]byte(t))]
	return strings.HasPrefix(t[len(name):], ":") && (strings.HasSuffix(name, "Error") || strings.HasSuffix(name, "Exception") ||
		strings.HasSuffix(name, "Warning"))
}

// findPairs returns the key=value pairs of a line, in order.
func findPairs(s string) []pair {
	var out []pair
	for i := 1; i < len(s)-1 && len(out) < 256; i++ {
		if s[i] != '=' || s[i+1] == '=' || ascii.IsBlank(s[i+1]) {
			continue
		}
		start := i
		for start > 0 && (ascii.IsWord(s[start-1]) || s[start-1] == '.' || s[start-1] == '-') && i-start <= MaxKey {
			start--
		}
		key := s[start:i]
		if !isName(strings.TrimLeft(key, "-")) || key[0] == '-' || (start > 0 && !strings.ContainsRune(" \t,([|;:{", rune(s[start-1]))) {
			continue
		}
		end := valueEnd(s, i+1)
		value := strings.TrimRight(s[i+1:end], ".:")
		if q := len(value); q >= 2 && (value[0] == '\'' || value[0] == '"') && value[q-1] == value[0] {
			value = value[1 : q-1]
		}
		if value == "" || strings.ContainsAny(value, "$`") {
			i = end - 1
			continue
		}
		out = append(out, pair{key, value, start, end})
		i = end - 1
	}
	return out
}

// valueEnd returns the end of the value that begins at i: after its closing quote or bracket, or before a separator.
// A comma without a blank after it belongs to the value unless a key follows ("device=0,1, cache=None").
func valueEnd(s string, i int) int {
	switch c := s[i]; c {
	case '\'', '"':
		if n := stringEnd([]byte(s[i:min(len(s), i+4*MaxValue)])); n > 0 {
			return i + n
		}
	case '[', '(', '{':
		depth := 0
		for j := i; j < len(s) && j < i+4*MaxValue; j++ {
			switch s[j] {
			case '[', '(', '{':
				depth++
			case ']', ')', '}':
				depth--
				if depth == 0 {
					return j + 1
				}
			}
		}
	}
	if n := nameEnd([]byte(s[i:min(len(s), i+MaxKey)])); n > 0 && i+n < len(s) && s[i+n] == '(' {
		if end := valueEnd(s, i+n); s[end-1] == ')' {
			return end // an object's repr
		}
	}
	open := 0 // brackets in the value, as in gpu[01-04]
	for j := i; j < len(s); j++ {
		switch s[j] {
		case ' ', '\t', ';', '|':
			return j
		case '[', '(', '{':
			open++
		case ')', ']', '}':
			if open--; open < 0 {
				return j
			}
		case ',':
			if open == 0 && (j+1 == len(s) || ascii.IsBlank(s[j+1]) || !ascii.IsDigit(s[j+1])) {
				return j
			}
		}
	}
	return len(s)
}

// someKnown returns the pairs if there are several and one has a known key.
func someKnown(found []pair) []pair {
	if len(found) < 2 || !slices.ContainsFunc(found, func(p pair) bool { return isKnown(p.key) }) {
		return nil
	}
	return found
}

// colonPairs reads `Training config | batch_size: 4 | seq: 128`: parts between bars, or between commas if all parts
// are pairs. One key must be known.
func colonPairs(s string) []pair {
	if !strings.Contains(s, ": ") || len(s) > 1024 {
		return nil
	}
	sep := "|"
	if !strings.Contains(s, "|") {
		sep = ","
	}
	var out []pair
	at := 0
	for part := range strings.SplitSeq(s, sep) {
		key, value, ok := strings.Cut(strings.TrimSpace(part), ": ")
		if at == 0 { // a label precedes the first one
			if k, v, more := strings.Cut(value, ": "); more {
				key, value = k, v
			}
			if last := key[strings.LastIndexByte(key, ' ')+1:]; isKnown(last) { // or a sentence that it ends
				key = last
			}
		}
		value = strings.TrimSpace(value)
		if ok && isName(key) && value != "" && !strings.Contains(value, " ") && len(value) <= 64 {
			out = append(out, pair{key, strings.Trim(value, `'"`), at, at + len(part)})
		} else if at > 0 {
			return nil
		}
		at += len(part) + 1
	}
	return out
}

// spacedPairs reads `Config: a = 1, b = (2, 3)`: only pairs after a label, and one key must be known.
func spacedPairs(s string) []pair {
	at := max(0, strings.LastIndex(s[:max(0, strings.Index(s, " = "))], ": ")+1)
	if len(s) > 4*MaxValue {
		return nil
	}
	var out []pair
	for at < len(s) {
		key, rest, ok := strings.Cut(s[at:], " = ")
		start := at + len(key) - len(strings.TrimLeft(key, " "))
		if key = strings.TrimSpace(key); !ok || !isName(key) {
			return nil
		}
		at = len(s) - len(rest)
		end := valueEnd(s, at)
		if end == at || end < len(s) && s[end] != ',' {
			return nil
		}
		out = append(out, pair{key, strings.Trim(s[at:end], `'"`), start, end})
		at = end + 1
	}
	return out
}

// outsideWords returns the text of a line outside its pairs.
func outsideWords(s string, found []pair) string {
	var b strings.Builder
	at := 0
	for _, p := range found {
		b.WriteString(s[at:p.start])
		b.WriteByte(' ')
		at = p.end
	}
	b.WriteString(s[at:])
	return strings.Map(func(c rune) rune {
		if c == ',' || c == '|' || c == ';' {
			return ' '
		}
		return c
	}, b.String())
}

package remedies

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"oomscan/classifier"
	"oomscan/parser/ascii"
	"oomscan/parser/lazyre"
)

// setting is a value of the run's configuration and how it was found.
type setting struct {
	key   string // as the log writes it
	value classifier.Value
	// rank is how well the log's key matches the name: it is equal, its path is longer, or its path is shorter.
	rank int
}

const (
	exact  = 3
	longer = 2
	short  = 1
)

// settings finds configuration values by any of their names. Logs write one setting in many ways: the full path, only
// its last parts, as a flag with dashes, as a Hydra override with a plus sign.
type settings struct {
	byLast map[string][]entry // by the last part of the path
	lasts  []string           // these parts in order
	words  bool               // a key in words is also found as a name, "Batch size" as batch_size
	block  string             // the failed process's part of the configuration, with a dot; empty if it has none of its own
	// changed has the entries that [settings.with] put in the place of those in byLast, which it shares.
	changed map[string][]entry
}

type entry struct {
	key        string
	plain      string
	value      classifier.Value
	evaluation bool // it is one of evaluations
}

func newSettings(config map[string]classifier.Value) *settings {
	_, trainer := config["Num examples"] // of transformers, whose "Batch size" is that of evaluation
	return settingsOf(config, !trainer)
}

func settingsOf(config map[string]classifier.Value, words bool) *settings {
	s := &settings{byLast: make(map[string][]entry, len(config)), words: words}
	for k, v := range config {
		name := plain(k)
		if strings.HasPrefix(name, "task_specific_params.") {
			continue // a model's defaults for pipelines: no setting of the run
		}
		names := []string{name, identifier(name)}
		if name == names[1] || !words {
			names = names[:1]
		}
		for _, name := range names {
			last := lastWord(name)
			s.byLast[last] = append(s.byLast[last], entry{key: k, plain: name, value: v, evaluation: ofEvaluation(name)})
		}
	}
	for _, e := range s.byLast {
		slices.SortFunc(e, byKey)
	}
	s.lasts = slices.Sorted(maps.Keys(s.byLast))
	return s
}

// named returns the entries with this last part of the path.
func (s *settings) named(last string) []entry {
	if e, ok := s.changed[last]; ok {
		return e
	}
	return s.byLast[last]
}

// with returns the settings with other values of some keys.
func (s *settings) with(config map[string]classifier.Value) *settings {
	out := *s
	out.changed = map[string][]entry{}
	maps.Copy(out.changed, s.changed)
	for last, changed := range settingsOf(config, s.words).byLast {
		if at, known := slices.BinarySearch(out.lasts, last); !known {
			out.lasts = slices.Insert(slices.Clone(out.lasts), at, last)
		}
		kept := slices.DeleteFunc(slices.Clone(s.named(last)), func(e entry) bool {
			_, other := config[e.key]
			return other
		})
		out.changed[last] = append(kept, changed...)
		slices.SortFunc(out.changed[last], byKey)
	}
	return &out
}

func byKey(a, b entry) int { return strings.Compare(a.key, b.key) }

// lastWord returns the last part of a key, plain.
func lastWord(key string) string {
	key = plain(key)
	return key[strings.LastIndexByte(key, '.')+1:]
}

// plain returns a key in lower case, with underscores for dashes and without the signs of flags and overrides, which do not matter.
func plain(key string) string {
	if isPlain(key) { // as most are, and thousands are asked for
		return key
	}
	return strings.ReplaceAll(strings.ToLower(strings.TrimLeft(strings.TrimSpace(key), "-+~")), "-", "_")
}

// identifier returns the name that most programs have for words: batch_size for "Batch size".
func identifier(words string) string { return strings.ReplaceAll(strings.ToLower(words), " ", "_") }

func isPlain(key string) bool {
	for i := range len(key) {
		if c := key[i]; c < '.' || c >= 'A' && c <= 'Z' || c > 'z' {
			return false
		}
	}
	return true
}

// nameOfWorker is the name of a Ray actor, after its class: ROLL (roll/distributed/executor/cluster.py) calls the workers of each role
// as the role's block of the configuration, with a number and, since 0.3, their GPUs.
var nameOfWorker = lazyre.New(`\((\w{1,40})-\d{1,6}(?:-G[\d,]{1,60})?\)$`)

// blockOf returns the block of the configuration from which a process has its settings, or "" if its name is none.
func (s *settings) blockOf(process string) string {
	m := nameOfWorker().FindStringSubmatch(process)
	if m == nil {
		return ""
	}
	block := plain(m[1]) + "."
	for _, entries := range s.byLast {
		if slices.ContainsFunc(entries, func(e entry) bool { return strings.HasPrefix(e.plain, block) }) {
			return block
		}
	}
	return ""
}

// failed reports whether a plain key is in the failed process's block.
func (s *settings) failed(key string) bool { return s.block != "" && strings.HasPrefix(key, s.block) }

// find returns the setting that matches a name best. A name that begins with an asterisk matches any setting that ends in it:
// "*batch_size" also matches "embedding_batch_size". A log's key with only the last parts of the name counts if these are two
// or more, or if alone is true: the caller knows that no other parameter ends in the same word. The failed process's block comes
// first. Settings of evaluations count only if the name is one.
func (s *settings) find(name string, alone bool) (setting, bool) {
	if end, any := strings.CutPrefix(name, "*"); any {
		return s.ending(end)
	}
	name = plain(name)
	var best setting
	at := ""
	for _, e := range s.named(name[strings.LastIndexByte(name, '.')+1:]) {
		r := fit(name, e.plain, alone)
		if r > 0 && e.evaluation && !ofEvaluation(name) {
			continue
		}
		now, before := s.failed(e.plain), s.failed(at)
		if r > best.rank || r == best.rank && r > 0 && (now && !before || now == before && better(&e, &best, at)) {
			best, at = setting{key: e.key, value: e.value, rank: r}, e.plain
		}
	}
	return best, best.rank > 0
}

// ending returns the setting whose last part is a name or ends in it. Of several, it returns the name itself, then the shortest
// path. Settings of evaluations are others.
func (s *settings) ending(name string) (setting, bool) {
	var best setting
	for _, last := range s.lasts {
		rest, ok := strings.CutSuffix(last, name)
		if !ok || rest != "" && !strings.HasSuffix(rest, "_") || containsAny(rest, wholeStep) {
			continue
		}
		for _, e := range s.named(last) {
			if e.evaluation || isNone(e.value.Value) {
				continue
			}
			n := len(rest) + depth(e.plain)
			if best.rank == 0 || n < len(strings.TrimSuffix(lastWord(best.key), name))+depth(best.key) {
				best = setting{key: e.key, value: e.value, rank: longer}
			}
		}
	}
	return best, best.rank > 0
}

// wholeStep are words for the batch of a step, which accumulation makes up of smaller ones: it takes no memory by itself.
var wholeStep = []string{"desired_", "effective_"}

// ofEvaluation reports whether a word of a key says that training does not use the setting.
func ofEvaluation(key string) bool {
	for word := range strings.FieldsFuncSeq(key, func(r rune) bool { return r == '.' || r == '_' }) {
		switch word {
		case "eval", "evaluation", "val", "valid", "validation", "test", "testing", "dev":
			return true
		}
	}
	return false
}

// better compares two keys that match equally well. A line of a script only says what holds unless something else sets it. Of one name
// written twice, the later one in the same input wins, but of two with the same value the one on the command line, where a user changes
// it. Of shorter keys, the more specific one wins. Of longer ones, one that is set wins, then the less nested one. Finally, alphabetical
// order decides, so that the answer does not depend on the order of a map.
func better(e *entry, best *setting, at string) bool {
	switch script := e.value.Form == "script"; {
	case e.plain == at && script != (best.value.Form == "script"):
		return !script
	case e.plain == at && strings.HasPrefix(e.key, "--") != strings.HasPrefix(best.key, "--") && equal(e.value.Value, best.value.Value):
		return strings.HasPrefix(e.key, "--")
	case e.plain == at:
		return e.value.At.Source == best.value.At.Source && e.value.At.Line > best.value.At.Line
	case best.rank == short:
		return depth(e.plain) > depth(at)
	case isNone(best.value.Value) != isNone(e.value.Value):
		return isNone(best.value.Value)
	}
	return depth(e.plain) < depth(at)
}

// depth returns how many parts stand before the last one of a key.
func depth(key string) int { return strings.Count(key, ".") }

// fit returns the rank of a log's key for a name, 0 if it is another setting's. Both are plain.
func fit(want, have string, alone bool) int {
	switch {
	case want == have:
		return exact
	case endsIn(have, want):
		return longer
	case endsIn(want, have) && (depth(have) > 0 || alone && strings.Contains(have, "_")):
		return short
	}
	return 0
}

// endsIn reports whether the last parts of a key, not all of them, are another key.
func endsIn(key, end string) bool {
	before, ok := strings.CutSuffix(key, end)
	return ok && strings.HasSuffix(before, ".")
}

// integer returns a whole number of at least 1 found under any of the names.
func (s *settings) integer(names ...string) (int64, bool) {
	for _, n := range names {
		if v, ok := s.find(n, true); ok {
			if i, ok := parseInt(v.value.Value); ok && i > 0 {
				return i, true
			}
		}
	}
	return 0, false
}

// has reports whether the log has a key of exactly that name.
func (s *settings) has(name string) bool {
	f, ok := s.find(name, false)
	return ok && f.rank == exact
}

// flag returns the first switch found under any of the names, and whether it is on, or unknown if there is none.
func (s *settings) flag(names ...string) (setting, truth) {
	for _, n := range names {
		if f, ok := s.find(n, true); ok {
			if on, ok := parseBool(f.value.Value); ok {
				return f, truthOf(on)
			}
		}
	}
	return setting{}, unknown
}

// shown returns a value from the log, shortened for a sentence.
func shown(v string) string {
	const most = 80
	if len(v) > most {
		v = strings.ToValidUTF8(v[:most], "") + "..."
	}
	if v == "" {
		return "empty"
	}
	return v
}

// isNone reports whether a value is printed but not set.
func isNone(v string) bool {
	switch strings.ToLower(strings.Trim(v, `"' `)) {
	case "", "none", "null", "~", "unset", "[]", "{}":
		return true
	}
	return false
}

// grouped matches a number with separators between its thousands.
var grouped = lazyre.New(`^[0-9]{1,3}(?:,[0-9]{3}){1,5}$`)

// parseNumber reads a number, or a product of whole ones.
func parseNumber(v string) (float64, bool) {
	v = strings.ReplaceAll(strings.Trim(v, `"' `), "_", "")
	if grouped().MatchString(v) {
		v = strings.ReplaceAll(v, ",", "")
	}
	if left, right, ok := strings.Cut(v, "*"); ok { // as scripts write sizes: 64*1024
		a, err := strconv.ParseInt(strings.TrimSpace(left), 10, 64)
		b, known := parseInt(right)
		return float64(a) * float64(b), err == nil && known && math.Abs(float64(a)*float64(b)) < 1e18
	}
	f, err := strconv.ParseFloat(v, 64)
	return f, err == nil && !math.IsNaN(f) && !math.IsInf(f, 0) && math.Abs(f) < 1e18
}

// parseInt reads whole numbers, including 5e8 and 16.0.
func parseInt(v string) (int64, bool) {
	f, ok := parseNumber(v)
	if !ok || f != math.Trunc(f) {
		return 0, false
	}
	return int64(f), true
}

func parseBool(v string) (value, ok bool) {
	switch strings.ToLower(strings.Trim(v, `"' `)) {
	case "true", "yes", "on", "enabled":
		return true, true
	case "false", "no", "off", "disabled":
		return false, true
	}
	return false, false
}

// on reports whether a switch is on. A flag without a value is.
func on(v string) bool {
	b, ok := parseBool(v)
	return ok && b
}

// equal reports whether two values mean the same.
func equal(a, b string) bool {
	if x, ok := parseBool(a); ok && isBit(b) {
		return x == (b == "1")
	}
	if y, ok := parseBool(b); ok && isBit(a) {
		return y == (a == "1")
	}
	if x, ok := parseNumber(a); ok {
		y, ok := parseNumber(b)
		return ok && x == y
	}
	if x, ok := parseBool(a); ok {
		y, ok := parseBool(b)
		return ok && x == y
	}
	return sameWord(bare(a), bare(b)) || isNone(a) && isNone(b)
}

// dtypes are other names of the types of numbers.
var dtypes = map[string]string{"bf16": "bfloat16", "fp16": "float16", "half": "float16", "fp32": "float32", "float": "float32"}

// sameWord reports whether two words are one, or name the same type of numbers.
func sameWord(a, b string) bool {
	name := func(v string) string { v = strings.ToLower(v); return cmp.Or(dtypes[v], v) }
	return name(a) == name(b)
}

// isBit reports whether a value is 1 or 0, which are switches beside a word for one.
func isBit(v string) bool { return v == "1" || v == "0" }

// bare returns a value without the quotes and blanks that Python and YAML print around it and around the parts of a list, and without
// the class of a Python enum: AttnBackend.flash is flash.
func bare(value string) string {
	if strings.HasPrefix(value, "[") {
		return listQuotes.Replace(value)
	}
	value = strings.TrimPrefix(strings.Trim(value, `"' `), "torch.") // as PyTorch prints its types
	if class, member, ok := strings.Cut(value, "."); ok && class != "" && member != "" && ascii.IsUpper(class[0]) && ascii.IsLetter(member[0]) && !strings.ContainsAny(value, "/- ") {
		return member
	}
	return value
}

var listQuotes = strings.NewReplacer(`"`, "", "'", "", " ", "")

// versionIn reports whether a version satisfies bounds such as ">=0.5 <0.7". A bound counts to its own precision: 0.7.1
// satisfies "<=0.7" but not "<=0.7.0". The second result is false if either does not parse.
func versionIn(version, bounds string) (in, ok bool) {
	v, _, ok := release(version)
	if !ok || bounds == "" {
		return false, false
	}
	for _, b := range strings.Fields(bounds) {
		num := strings.TrimLeft(b, "<>=")
		w, n, ok := release(num)
		if !ok {
			return false, false
		}
		c := slices.Compare(v[:max(n, 2)], w[:max(n, 2)])
		good := false
		switch b[:len(b)-len(num)] {
		case "<":
			good = c < 0
		case "<=":
			good = c <= 0
		case ">":
			good = c > 0
		case ">=":
			good = c >= 0
		case "", "=", "==":
			good = c == 0
		default:
			return false, false
		}
		if !good {
			return false, true
		}
	}
	return true, true
}

// release returns the numbers of a version, at most three, and their count: "v0.10.2rc1" has 0, 10 and 2.
func release(v string) (num [3]int, n int, ok bool) {
	for part := range strings.SplitSeq(strings.TrimPrefix(strings.TrimSpace(v), "v"), ".") {
		d := 0
		for d < len(part) && d < 4 && part[d] >= '0' && part[d] <= '9' {
			d++
		}
		x, err := strconv.Atoi(part[:d])
		if err != nil || n == len(num) {
			return num, n, n > 0
		}
		num[n] = x
		n++
	}
	return num, n, n > 0
}

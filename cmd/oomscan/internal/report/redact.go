package report

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"oomscan/parser/ascii"
	"oomscan/parser/lazyre"
	"oomscan/parser/secret"
)

// A Redactor replaces what says where a job ran and whose it is: host names and addresses, e-mail addresses, and the folders of
// paths. The same host or folder has the same number in all that one redactor sees.
type Redactor struct {
	hosts, folders map[string]string
	inputs         map[string]string // names of inputs: in texts they are no paths by their look
	known, named   *regexp.Regexp    // the hosts, and the inputs; nil: none
}

// NewRedactor returns a redactor that has seen nothing.
func NewRedactor() *Redactor {
	return &Redactor{hosts: map[string]string{}, folders: map[string]string{}, inputs: map[string]string{}}
}

// Report redacts a report.
func (x *Redactor) Report(r *Report) {
	for i := range r.Inputs {
		x.input(r.Inputs[i].Name)
	}
	x.find(r)
	x.name()
	Rewrite(r, x.text, nil)
}

// Inputs redacts the names and errors of inputs.
func (x *Redactor) Inputs(list []Input) {
	for i := range list {
		x.input(list[i].Name)
	}
	x.name()
	rewriter{text: x.text}.apply(reflect.ValueOf(&list))
}

// Name redacts the name of a job, which may be that of a folder.
func (x *Redactor) Name(s string) string { return x.text(x.path(s)) }

// input notes the name of an input.
func (x *Redactor) input(name string) {
	if strings.ContainsAny(name, `/\`) {
		x.inputs[name] = x.path(name)
	}
}

// find notes the hosts of a report.
func (x *Redactor) find(r *Report) {
	Rewrite(r, nil, func(name string, v reflect.Value) bool {
		if host, ok := v.Interface().(*string); ok && name == "Host" && host != nil && len(*host) > 1 {
			x.host(*host)
		}
		return false
	})
}

// host is what stands for a host.
func (x *Redactor) host(name string) string {
	if x.hosts[name] == "" {
		x.hosts[name] = fmt.Sprintf("host-%d", len(x.hosts)+1)
	}
	return x.hosts[name]
}

// name makes the expressions of the names that are known.
func (x *Redactor) name() {
	x.known, x.named = anyOf(x.hosts), anyOf(x.inputs)
}

// anyOf finds the names, the long ones first. Nil: there are none. In an expression, U+FFFD stands for a byte that is no UTF-8,
// which a name of Linux may have.
func anyOf(names map[string]string) *regexp.Regexp {
	if len(names) == 0 {
		return nil
	}
	words := slices.Collect(maps.Keys(names))
	slices.SortFunc(words, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	for i := range words {
		words[i] = regexp.QuoteMeta(string([]rune(words[i])))
	}
	return regexp.MustCompile(strings.Join(words, "|"))
}

// path is a path with a number for its folder. What belongs to the system or to an installed package tells nothing of a person.
func (x *Redactor) path(s string) string {
	for _, public := range []string{"/dev/", "/proc/", "/sys/", "/usr/"} {
		if strings.HasPrefix(s, public) {
			return s
		}
	}
	at := strings.LastIndexAny(strings.TrimRight(s, `/\`), `/\`)
	for _, packages := range []string{"/site-packages/", "/dist-packages/"} {
		if k := strings.Index(s, packages); k >= 0 {
			at = k + len(packages) - 1
		}
	}
	if at < 0 {
		return s
	}
	folder := s[:at]
	if stands().MatchString(folder) {
		return s
	}
	if x.folders[folder] == "" {
		x.folders[folder] = fmt.Sprintf("path-%d", len(x.folders)+1)
	}
	return x.folders[folder] + s[at:]
}

// stands is what stands for a folder.
var stands = lazyre.New(`^path-\d+$`)

// private takes time that grows with the text alone, whatever the text: see package regexp. It finds addresses of documents, e-mail addresses, paths, and addresses and names of hosts in texts, in this order.
var private = lazyre.New(`([a-z][a-z0-9+.-]+://)|([\w.+-]+@[\w-]+(?:\.[\w-]+)+)|((?:~|\.{1,2})?(?:/[\w.@+=%~,-]+){2,}|(?:[\w.@+-]+/)+[\w.@+-]+\.[a-z]\w{0,6}\b|(?:[A-Z]:\\|\\\\)[\w\\.@+$-]+)` +
	`|(\b(?:\d{1,3}\.){3}\d{1,3}\b|\bfe80::[0-9a-f:]{1,39}\b|\b[0-9a-f]{1,4}(?::[0-9a-f]{0,4}){3,7}\b)|(\b[\w-]+(?:\.[\w-]+)*\.(?:local|internal|lan|cluster|corp|intra|svc)\b)`)

func (x *Redactor) text(s string) string {
	s = replaceWords(x.named, s, x.inputs)
	s = replaceWords(x.known, s, x.hosts)
	var b strings.Builder
	end := 0
	for _, m := range private().FindAllStringSubmatchIndex(s, -1) {
		from, to := m[0], m[1]
		if from < end {
			continue
		}
		found, is := s[from:to], func(group int) bool { return m[2*group] >= 0 }
		b.WriteString(s[end:from])
		switch user, _, _ := strings.Cut(found, "@"); {
		case is(1):
			rest, masked := strings.CutPrefix(s[to:], secret.Mask+"@")
			if masked {
				found, to = s[from:to+len(secret.Mask+"@")], to+len(secret.Mask+"@")
			}
			host := rest[:len(rest)-len(strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-"))]
			b.WriteString(found + x.site(host))
			to += len(host)
			if k := strings.IndexAny(s[to:], " \t\n'\"<>)"); k >= 0 {
				b.WriteString(s[to : to+k])
				to += k
			} else {
				b.WriteString(s[to:])
				to = len(s)
			}
		case is(2) && slices.Contains(Kinds(), user): // the id of an incident
			b.WriteString(found)
		case is(2):
			b.WriteString("[email]")
		case is(3) && from > 0 && inWord(s[from-1]):
			b.WriteString(found)
		case is(3):
			b.WriteString(x.path(found))
		case is(4) && (strings.HasPrefix(found, "127.") || strings.HasPrefix(found, "0.0.0.0") || isClock(found)):
			b.WriteString(found)
		default:
			b.WriteString(x.host(found))
		}
		end = to
	}
	return b.String() + s[end:]
}

// publicSites are hosts of documents and models that everybody knows.
var publicSites = []string{"pytorch.org", "github.com", "huggingface.co", "readthedocs.io", "nvidia.com", "vllm.ai", "sglang.ai", "kubernetes.io", "schedmd.com", "ray.io", "deepspeed.ai", "python.org"}

// site is the host of an address: its own name where everybody knows it.
func (x *Redactor) site(host string) string {
	public := slices.ContainsFunc(publicSites, func(s string) bool { return host == s || strings.HasSuffix(host, "."+s) })
	if public || host == "" || slices.Contains(slices.Collect(maps.Values(x.hosts)), host) {
		return host
	}
	return x.host(host)
}

// isClock reports whether what looks like an address is a time of day.
func isClock(s string) bool { return strings.Count(s, ":") < 4 && strings.Trim(s, "0123456789:") == "" }

// replaceWords replaces what matches and is no part of a longer word.
func replaceWords(re *regexp.Regexp, s string, with map[string]string) string {
	if re == nil {
		return s
	}
	var b strings.Builder
	end := 0
	for _, m := range re.FindAllStringIndex(s, -1) {
		if m[0] > 0 && isAlnum(s[m[0]-1]) || m[1] < len(s) && isAlnum(s[m[1]]) {
			continue
		}
		b.WriteString(s[end:m[0]] + with[s[m[0]:m[1]]])
		end = m[1]
	}
	return b.String() + s[end:]
}

func isAlnum(c byte) bool { return ascii.IsLetter(c) || ascii.IsDigit(c) }

// inWord reports whether a path which begins behind c is the rest of something else: a unit, a metric, a relative path.
func inWord(c byte) bool { return ascii.IsWord(c) || strings.IndexByte(".%-", c) >= 0 }

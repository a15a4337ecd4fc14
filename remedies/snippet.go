package remedies

import (
	"slices"
	"strconv"
	"strings"

	"oomscan/parser/lazyre"
)

// bareWord matches a value that Python takes for a name.
var bareWord = lazyre.New(`^[a-z][a-z0-9_-]*$`)

// pasted returns a change in the form to paste. A switch that is on by default stays on without its flag, so it is written with its value.
func (c *change) pasted(plus bool) string {
	s := snippet(&c.Change, plus)
	if flag, removed := strings.CutPrefix(s, "# remove "); removed && strings.EqualFold(c.parameter.Default, "true") {
		return flag + " " + *c.To
	}
	return s
}

// snippet returns a change in the form to paste.
func snippet(c *Change, plus bool) string {
	key, to := c.Key, *c.To
	switch c.Syntax {
	case "hydra":
		if plus {
			key = "+" + key
		}
		if strings.ContainsAny(to, "[]{}, ") {
			return "'" + key + "=" + to + "'"
		}
		return key + "=" + to
	case "yaml":
		return tree([]Change{*c}, false)
	case "flag":
		if !strings.HasPrefix(key, "-") {
			key = "--" + key // a log may print arguments without their dashes
		}
		if strings.HasPrefix(key, "-D") { // of CMake
			return key + "=" + to
		}
		if on, ok := parseBool(to); ok && to != "disabled" && (to != "on" || c.From != nil && *c.From == "0") { // llama.cpp's switches took no value once
			if on {
				return key
			}
			return "# remove " + key
		}
		if strings.ContainsAny(to, `{"`) {
			to = "'" + to + "'" // for the shell
		}
		return key + " " + to
	case "env":
		return "export " + key + "=" + to
	case "toml":
		if _, number := parseNumber(to); !number && !strings.EqualFold(to, "true") && !strings.EqualFold(to, "false") {
			to = strconv.Quote(to)
		}
		return key + " = " + to // a dotted key
	case "words": // of what no program reads
		return ""
	case "qsub":
		return "#PBS -l " + key + "=" + to
	case "bsub":
		return "#BSUB " + key + " " + to
	case "sbatch":
		return "#SBATCH " + key + "=" + to
	case "python":
		if strings.HasSuffix(key, "()") && to == "True" {
			return key // the call turns it on
		}
		if strings.HasSuffix(key, ")") || strings.Contains(to, "(") {
			return to
		}
		if bareWord().MatchString(to) {
			to = strconv.Quote(to)
		}
		if class, name, ok := strings.Cut(key, "."); ok && class != strings.ToLower(class) && !strings.Contains(name, ".") {
			return class + "(" + name + "=" + to + ")" // an argument of a class
		}
		return key + " = " + to
	}
	return to
}

// whereSet says where an environment variable of a program belongs that is not started from a shell, or nothing for other programs and
// settings.
func whereSet(ctx *Context, changes []Change) string {
	switch env := slices.ContainsFunc(changes, func(c Change) bool { return c.Syntax == "env" }); {
	case !env:
		return ""
	case ctx.is("launcher:k8s"):
		return "Set it in the container's env."
	case ctx.is("framework:ollama"):
		return "Set it for the server: systemctl edit ollama, or docker run -e."
	}
	return ""
}

// scalar quotes a value that YAML would misread.
func scalar(value string) string {
	if strings.ContainsAny(value, ":#{}[]+ ") && !strings.HasPrefix(value, "[") {
		return `"` + strings.ReplaceAll(value, `"`, `\"`) + `"`
	}
	return value
}

package pack

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	oom "oomscan/parser"
	"oomscan/parser/pattern"
)

// document is a file of patterns.
type document struct {
	name    string
	file    *ast.File
	entries []entry
}

// entry is a pattern in its file. The help topic rules explains the keys.
type entry struct {
	Name       string   `yaml:"name"`
	Program    string   `yaml:"program"`
	Source     string   `yaml:"source"`
	Kind       string   `yaml:"kind"`
	Role       string   `yaml:"role"`
	Phase      string   `yaml:"phase"`
	Marker     string   `yaml:"marker"`
	Ignore     bool     `yaml:"ignore"`
	Literals   []string `yaml:"literals"`
	Expression string   `yaml:"expression"`
	Match      []sample `yaml:"match"`
	NoMatch    []string `yaml:"no_match"`
	Also       []string `yaml:"also"`
}

// sample is a line that a pattern must match, and the resulting fields.
type sample struct {
	Line   string            `yaml:"line"`
	Fields map[string]string `yaml:"fields"`
}

// syntax reads text as YAML. Its errors show the line and the column.
func syntax(name string, text []byte) (*ast.File, error) {
	if line, what := tooComplex(lexer.Tokenize(string(text))); what != "" {
		return nil, fmt.Errorf("%s:%d: %s", name, line, what)
	}
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, yamlError(name, err)
	}
	return file, nil
}

// parse reads a file of patterns.
func parse(name string, text []byte) (*document, error) {
	d := &document{name: name}
	var err error
	if d.file, err = syntax(name, text); err != nil {
		return nil, err
	}
	if len(d.file.Docs) != 1 {
		return nil, fmt.Errorf("%s: %d documents in one file", name, len(d.file.Docs))
	}
	var whole struct {
		Patterns []entry `yaml:"patterns"`
	}
	if err := yaml.NodeToValue(d.file.Docs[0].Body, &whole, yaml.Strict()); err != nil {
		return nil, yamlError(name, err)
	}
	d.entries = whole.Patterns
	if len(d.entries) == 0 {
		return nil, fmt.Errorf("%s: no patterns in it", name)
	}
	return d, nil
}

// position matches the position in YAML's errors; ours begin with file and line instead.
var position = regexp.MustCompile(`^\[\d+:\d+\] `)

// yamlError returns an error of YAML with the lines around it.
func yamlError(name string, err error) error {
	line := 1
	if e := yaml.Error(nil); errors.As(err, &e) && e.GetToken() != nil {
		line = e.GetToken().Position.Line
	}
	return fmt.Errorf("%s:%d: %s", name, line, position.ReplaceAllString(yaml.FormatError(err, false, true), ""))
}

// maxNested is the maximum depth of a pack, in brackets and on one line. The YAML decoder's time grows with the
// square of the depth.
const maxNested = 8

// tooComplex finds what no pack needs and could keep the decoder busy: anchors, aliases, deep nesting.
func tooComplex(tokens token.Tokens) (line int, what string) {
	flow, inLine := 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			line, inLine = t.Position.Line, 0
		}
		switch t.Type {
		case token.AnchorType, token.AliasType, token.MergeKeyType, token.TagType:
			return line, "a pack has no anchors, aliases and tags; put a text that begins with & * or ! in quotes"
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow--
		case token.SequenceEntryType, token.MappingKeyType:
			inLine++
		}
		if flow > maxNested || inLine > maxNested {
			return line, "nested too deep"
		}
	}
	return 0, ""
}

// fault returns a fault of entry i with its position.
func (d *document) fault(i int, f pattern.Fault) error {
	for _, part := range []string{"." + f.Part, ".name", ""} {
		path, err := yaml.PathString(fmt.Sprintf("$.patterns[%d]%s", i, part))
		if err != nil {
			continue
		}
		if node, err := path.FilterFile(d.file); err == nil && node != nil {
			return fmt.Errorf("%s:%d: %s: %s", d.name, node.GetToken().Position.Line, cmp.Or(d.entries[i].Name, "a pattern without a name"), f.What)
		}
	}
	return fmt.Errorf("%s: %s: %s", d.name, d.entries[i].Name, f.What)
}

func (e *entry) pattern(file string) pattern.Pattern {
	p := pattern.Pattern{
		Name: e.Name, Program: pattern.Program{Name: e.Program}, Source: cmp.Or(e.Source, file), Literals: e.Literals, Expr: e.Expression,
		Kind: oom.Kind(e.Kind), Marker: e.Marker, Veto: e.Ignore, Set: map[string]string{}, NoMatch: e.NoMatch, Also: e.Also,
	}
	if e.Kind != "" {
		p.Role, p.Phase = oom.Role(cmp.Or(e.Role, string(oom.Evidence))), e.Phase
	} else if e.Phase != "" {
		p.Set["phase"] = e.Phase
	}
	if e.Program != "" && (e.Kind != "" || e.Marker == "launch") {
		p.Set["application"] = e.Program // the classifier uses this, here and after merging observations
	}
	for _, s := range e.Match {
		p.Match = append(p.Match, pattern.Sample{Line: s.Line, Want: s.Fields})
	}
	return p
}

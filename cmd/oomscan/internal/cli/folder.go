package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"oomscan/cmd/oomscan/internal/report"
	"oomscan/parser/secret"
)

// folder is where -o DIR/ writes a report a job.
type folder struct {
	dir      string
	format   string
	version  string
	names    map[string]int    // how often each was used
	pages    map[string]string // files by the names of their jobs
	messages io.Writer
	isInput  func(path string) bool
}

// isOutputFolder reports whether -o names a folder: one that is there, or any name that ends in a slash.
func (o *options) isOutputFolder() bool {
	return strings.HasSuffix(o.output, string(filepath.Separator)) || o.output != "" && isFolder(o.output)
}

// newFolder makes the folder that -o names.
func (o *options) newFolder(paths []string, s Streams) (*folder, error) {
	if err := os.MkdirAll(o.output, 0o755); err != nil {
		return nil, problem{where: o.output, what: "cannot be made: " + cause(err), hint: "choose another folder with -o"}
	}
	isInput := func(path string) bool { return isInput(path, paths, s) }
	return &folder{dir: o.output, format: o.format, version: version(), names: map[string]int{}, pages: map[string]string{}, messages: s.Err, isInput: isInput}, nil
}

// create makes a file of the folder. It replaces an earlier report, but no input and nothing that a link leads to.
func (f *folder) create(path string) (*os.File, error) {
	switch st, err := os.Lstat(path); {
	case f.isInput(path):
		return nil, problem{where: path, what: "is an input, which the report would overwrite", hint: "choose another folder with -o"}
	case err == nil && !st.Mode().IsRegular():
		return nil, problem{where: path, what: "is no regular file, and is not replaced by a report", hint: "choose another folder with -o"}
	}
	out, err := os.Create(path)
	if err != nil {
		return nil, problem{where: path, what: "cannot be written: " + cause(err), hint: "choose another folder with -o"}
	}
	return out, nil
}

// write writes the report of a job into a file that is named after it.
func (f *folder) write(j *report.Job) error {
	name := f.name(secret.Text(j.Name))
	f.pages[j.Name] = name
	path := filepath.Join(f.dir, name)
	out, err := f.create(path)
	if err != nil {
		return err
	}
	r := formats()[f.format].reporter(report.Output{Writer: out})
	alone := report.Job{Report: j.Report}
	err = errors.Join(r.Begin(&report.Answer{Version: f.version}), r.Job(&alone), r.End(), out.Close())
	if err != nil {
		return problem{where: path, what: "cannot be written: " + cause(err), hint: "choose another folder with -o"}
	}
	return nil
}

// extensions are those of formats that are not called like theirs.
var extensions = map[string]string{defaultFormat: "txt", "markdown": "md", "junit": "xml"}

// name is the name of a job's file: letters, digits and a few signs, and a number where two jobs would share one.
func (f *folder) name(job string) string {
	base := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-+=", r) {
			return r
		}
		return '_'
	}, job)
	if base = strings.Trim(base, "._"); base == "" || base+"."+f.format == indexName {
		base = "report"
	}
	if f.names[base]++; f.names[base] > 1 {
		base = fmt.Sprintf("%s-%d", base, f.names[base])
	}
	return base + "." + cmp.Or(extensions[f.format], f.format)
}

// indexName is the page that links to those of the jobs.
const indexName = "index.html"

// done writes the overview of HTML pages, and says how many reports were written.
func (f *folder) done(a *report.Answer) error {
	if f.format == "html" && a.Several {
		index := *a
		index.Pages = f.pages
		path := filepath.Join(f.dir, indexName)
		out, err := f.create(path)
		if err != nil {
			return err
		}
		r := report.NewHTML(report.Output{Writer: out})
		if err := errors.Join(r.Begin(&index), r.End(), out.Close()); err != nil {
			return problem{where: path, what: "cannot be written: " + cause(err), hint: "choose another folder with -o"}
		}
	}
	word := "reports"
	if len(f.pages) == 1 {
		word = "report"
	}
	fmt.Fprintf(f.messages, "oomscan: wrote %d %s into %s\n", len(f.pages), word, printable(f.dir))
	return nil
}

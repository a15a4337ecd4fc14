package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"oomscan/classifier"
	"oomscan/cmd/oomscan/internal/report"
	"oomscan/parser"
	"oomscan/parser/obs"
)

func mergeCmd(s Streams, status *int) *cobra.Command {
	o := options{merging: true}
	cmd := &cobra.Command{
		Use:   "merge [flags] FILE ...",
		Short: "Make the report of logs that were scanned elsewhere, from what oomscan --format obs wrote",
		Long: `Make the report of logs that were scanned elsewhere: on other nodes, by the tasks
of a job array, by many processes. Each scan writes what its logs say with
oomscan --format obs; the report made of those files is the one that a single
scan of all logs would give.

A FILE may be a folder or an archive: the files of observations in it are read.
- is the standard input. Files may be put together with cat.`,
		Example: `  oomscan --format obs --prefix "$(hostname):" -o /shared/$(hostname).obs /tmp/logs
  oomscan merge /shared/*.obs`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.execute(cmd, args, s, status)
		},
	}
	o.flags(cmd)
	return cmd
}

// record is what a file of observations tells of one log.
type record struct {
	logResult
	file    string // that it is in
	digest  string // of what is in it
	version string // of the program that scanned it
}

// recorded reads a file of observations.
func (j *scan) recorded(h *inputResult, name string, r io.Reader) {
	err := obs.ReadFrom(interruptible{r, j.streams.Interrupt, nil}, j.options.limits.Members, &recorder{scan: j, result: h, name: name})
	if err == nil {
		return
	}
	hint := "what stands before it is in the report"
	var e *obs.Error
	switch {
	case errors.Is(err, errInterrupted):
		err = errInterrupted
	case errors.Is(err, obs.ErrMembers):
		hint = "--max-members says how many a file may hold"
	case errors.As(err, &e) && e.Hint != "":
		hint = e.Hint
	}
	in := report.Input{Name: name}
	h.fail(&in, err, hint)
	h.results = append(h.results, logResult{input: in})
}

// recorder takes what a file of observations holds.
type recorder struct {
	scan      *scan
	result    *inputResult
	name      string // of the file
	files     int    // that were put together in it
	version   string
	collector *classifier.Collector
}

// File begins one of them.
func (r *recorder) File(version string) { r.files, r.version = r.files+1, version }

// Log begins a log.
func (r *recorder) Log(string) func(parser.Observation) {
	r.collector = classifier.NewCollector()
	return r.collector.Add
}

// Done ends a log.
func (r *recorder) Done(x obs.Read, whole bool) {
	in := report.Input{Name: x.Name, Counts: x.Counts}
	hint := "so it was when it was scanned"
	if !whole {
		x.Error, hint = "its observations end in the middle", "see what is said of "+r.name
	}
	if x.Error != "" {
		in.Error = &x.Error
		r.result.problems = append(r.result.problems, problem{where: in.Name, what: x.Error, hint: hint})
	}
	p := logResult{input: in, collector: r.collector, from: cmp.Or(x.In, x.Name)}
	r.scan.packIfMany(&p)
	file := r.name
	if r.files > 1 {
		file = fmt.Sprintf("%s#%d", r.name, r.files)
	}
	r.result.records = append(r.result.records, record{p, file, x.Digest, r.version})
}

// same are the records of one name that are in one file, or of one content in several.
type same struct {
	records []int // of the first file
	files   []string
	digest  string
}

// mergeRecords makes results of what files of observations gave. Logs of one name that are in several files are one if they are
// the same, and are kept apart by their files if they are not, or if a log of that name was read here.
func (j *scan) mergeRecords(read []logResult) []logResult {
	if len(j.records) == 0 {
		return nil
	}
	j.tellVersions()
	taken := map[string]bool{}
	for i := range read {
		taken[read[i].input.Name] = true
	}
	byName := map[string][]*same{}
	var names []string
	for i := range j.records {
		r := &j.records[i]
		list := byName[r.input.Name]
		if list == nil {
			names = append(names, r.input.Name)
		}
		if n := len(list); n > 0 && list[n-1].files[0] == r.file {
			list[n-1].records = append(list[n-1].records, i)
			list[n-1].digest += r.digest
			continue
		}
		byName[r.input.Name] = append(list, &same{[]int{i}, []string{r.file}, r.digest})
	}
	var results []logResult
	var twice, apart complaints
	for _, name := range names {
		list := distinct(byName[name])
		for _, x := range list {
			if len(x.files) > 1 {
				twice.add(problem{where: name, what: "the same in " + several(x.files) + ": counted once"})
			}
			if len(list) > 1 || taken[name] {
				for _, i := range x.records {
					j.rename(&j.records[i].logResult, x.files[0]+"!"+name)
				}
			}
			for _, i := range x.records {
				results = append(results, j.records[i].logResult)
			}
		}
		if len(list) > 1 || taken[name] {
			apart.add(problem{where: name, what: differ(list, taken[name])})
		}
	}
	twice.end(j.streams.Err, "logs that are the same in several files", "")
	apart.end(j.streams.Err, "logs of one name and different content", `let the scans name the node: oomscan --format obs --prefix "$(hostname):" ...`)
	j.records = nil
	return results
}

// distinct joins those of one content.
func distinct(list []*same) []*same {
	var out []*same
	at := map[string]*same{}
	for _, x := range list {
		if have := at[x.digest]; have != nil {
			have.files = append(have.files, x.files...)
			continue
		}
		at[x.digest] = x
		out = append(out, x)
	}
	return out
}

// rename gives a log another name, in its observations too.
func (j *scan) rename(p *logResult, to string) {
	if p.from == p.input.Name {
		p.from = to
	}
	packed := p.packed != nil
	p.collector, p.packed, p.clues = p.facts(), nil, nil
	if p.collector != nil {
		p.collector.Rename(p.input.Name, to)
	}
	p.input.Name = to
	if packed {
		p.pack()
	}
}

// differ says which logs of one name were kept apart.
func differ(list []*same, here bool) string {
	files := make([]string, 0, len(list))
	for _, x := range list {
		files = append(files, x.files[0])
	}
	if here {
		return "read here, and also reported in " + several(files) + ": kept apart by file"
	}
	return "not the same in " + several(files) + ": kept apart by file, as " + files[0] + "!..."
}

// several lists the first names and how many more there are.
func several(names []string) string {
	const most = 3
	switch {
	case len(names) == 1:
		return names[0]
	case len(names) <= most:
		return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most-1], ", "), len(names)-most+1)
}

// tellVersions says when the scans were made by other versions than this one: a pattern may have been added since.
func (j *scan) tellVersions() {
	var t complaints
	seen := map[string]bool{}
	for i := range j.records {
		if r := &j.records[i]; r.version != version() && !seen[r.file] {
			seen[r.file] = true
			t.add(problem{where: r.file, what: fmt.Sprintf("written by oomscan %s, this is %s", r.version, version())})
		}
	}
	t.end(j.streams.Err, "files of other versions", "scan and merge with one version to have the report of one scan")
}

// complaints are problems of one kind, of which there may be many.
type complaints struct {
	first []problem
	more  int
}

// maxListed is how many of a kind are listed one by one.
const maxListed = 5

func (t *complaints) add(p problem) {
	if len(t.first) < maxListed {
		t.first = append(t.first, p)
		return
	}
	t.more++
}

// end prints them, with one hint for all.
func (t *complaints) end(w io.Writer, what, hint string) {
	for i, p := range t.first {
		if i == len(t.first)-1 && t.more == 0 {
			p.hint = hint
		}
		complain(w, p)
	}
	if t.more > 0 {
		complain(w, problem{what: fmt.Sprintf("%d more %s", t.more, what), hint: hint})
	}
}

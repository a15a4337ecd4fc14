package epilog

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"oomscan/parser/source"
)

// DefaultConfig is the configuration's default path.
const DefaultConfig = "/etc/oomscan/epilog.yaml"

// Sample is a configuration with every setting at its default, as a comment.
//
//go:embed sample.yaml
var Sample []byte

// Config is the administrator's configuration. It comes from a file that only root can write, never from the
// environment or a user's home. sample.yaml explains the settings.
type Config struct {
	Report   string   `yaml:"report"`
	JSON     bool     `yaml:"json"`
	Append   bool     `yaml:"append"`
	Suspects bool     `yaml:"suspects"`
	Beside   Beside   `yaml:"beside"`
	AllNodes bool     `yaml:"all_nodes"`
	Rules    string   `yaml:"rules"`
	Scontrol string   `yaml:"scontrol"`
	Sacctmgr string   `yaml:"sacctmgr"`
	Comment  string   `yaml:"admin_comment"`
	Textfile string   `yaml:"textfile"`
	Spool    string   `yaml:"spool"`
	Log      string   `yaml:"log"`
	LogAll   bool     `yaml:"log_all"`
	Skip     []string `yaml:"skip_users"`
	Budget   Budget   `yaml:"budget"`
	Deadline Duration `yaml:"deadline"`
}

// Beside lists which files near the job's own logs are read too.
type Beside struct {
	Files   []string `yaml:"files"`   // name patterns in the log's folder
	Folders []string `yaml:"folders"` // name patterns of folders in it; all files in them are read
}

// Budget limits the cost of one job's logs.
type Budget struct {
	Wall   Duration    `yaml:"wall" json:"wall"`
	CPU    Duration    `yaml:"cpu" json:"cpu"`
	Bytes  source.Size `yaml:"bytes" json:"bytes"`   // of all files together
	Head   source.Size `yaml:"head" json:"head"`     // of a file longer than head and tail
	Tail   source.Size `yaml:"tail" json:"tail"`     // of the same
	Files  int         `yaml:"files" json:"files"`   // including the job's own logs
	Memory source.Size `yaml:"memory" json:"memory"` // of the child
}

// Words of settings.
const (
	off       = "off"
	beside    = "beside"
	auto      = "auto"
	syslog    = "syslog"
	leaving   = "leave"
	appending = "append"
)

// Defaults returns the configuration for an empty file.
func Defaults() Config {
	return Config{
		Report: beside, Suspects: true, Rules: off, Scontrol: auto, Sacctmgr: off, Comment: leaving, Textfile: off, Spool: off, Log: syslog,
		Beside: Beside{
			Files:   []string{"*.log", "*.err", "*.out"},
			Folders: []string{"log", "logs", "*%j*"},
		},
		Budget: Budget{
			Wall: Duration(3 * time.Second), CPU: Duration(2 * time.Second), Bytes: 256 << 20, Head: 1 << 20, Tail: 32 << 20, Files: 20,
			Memory: 64 << 20,
		},
		Deadline: Duration(10 * time.Second),
	}
}

// maxDeadline is below the wrapper's limit, which is below that of a sensible PrologEpilogTimeout.
const maxDeadline = 40 * time.Second

// maxConfig bounds the file's size.
const maxConfig = 64 << 10

// Parse reads a configuration. Missing settings keep their defaults. Wrong values and unknown settings are errors: a
// misspelled "report: off" must not write reports.
func Parse(data []byte) (Config, error) {
	c := Defaults()
	if len(data) > maxConfig {
		return Config{}, errors.New("larger than 64 KiB")
	}
	if err := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict()).Decode(&c); err != nil && !errors.Is(err, io.EOF) {
		return Config{}, errors.New(yaml.FormatError(err, false, true))
	}
	if reflect.ValueOf(c).IsZero() {
		return Defaults(), nil // a file of comments is a null document
	}
	return c, c.check()
}

// check rejects values that make no sense.
func (c *Config) check() error {
	word := func(key, value string, words ...string) error {
		if slices.Contains(words, value) {
			return nil
		}
		return fmt.Errorf("%s: %q is none of %s", key, value, strings.Join(words, ", "))
	}
	place := func(key, value string, words ...string) error {
		if filepath.IsAbs(value) && path.Clean(value) == value || slices.Contains(words, value) {
			return nil
		}
		return fmt.Errorf("%s: %q is neither an absolute path nor %s", key, value, strings.Join(words, " or "))
	}
	errs := []error{
		word("report", c.Report, beside, off), place("scontrol", c.Scontrol, auto, off), place("sacctmgr", c.Sacctmgr, auto, off),
		word("admin_comment", c.Comment, leaving, appending), place("textfile", c.Textfile, off), place("rules", c.Rules, off), place("spool", c.Spool, off), place("log", c.Log, syslog, off),
	}
	if c.Textfile != off && !strings.HasSuffix(c.Textfile, ".prom") {
		errs = append(errs, fmt.Errorf("textfile: %q does not end in .prom: node_exporter would not read it", c.Textfile))
	}
	for _, p := range slices.Concat(c.Beside.Files, c.Beside.Folders) {
		if _, err := path.Match(p, ""); err != nil || p == "" || strings.Contains(p, "/") {
			errs = append(errs, fmt.Errorf("beside: %q is no pattern of a name", p))
		}
	}
	between := func(key string, value, least, most int64) {
		if value < least || value > most {
			errs = append(errs, fmt.Errorf("%s: it is not between %d and %d", key, least, most))
		}
	}
	b := &c.Budget
	between("deadline", int64(c.Deadline), int64(time.Second), int64(maxDeadline))
	between("budget.wall", int64(b.Wall), int64(10*time.Millisecond), int64(c.Deadline)*3/4) // leaves time for the report
	between("budget.cpu", int64(b.CPU), int64(10*time.Millisecond), int64(c.Deadline))
	between("budget.bytes", int64(b.Bytes), 1<<10, 1<<40)
	between("budget.head", int64(b.Head), 1<<10, 1<<40)
	between("budget.tail", int64(b.Tail), 1<<10, 1<<40)
	between("budget.files", int64(b.Files), 1, 1000)
	between("budget.memory", int64(b.Memory), 32<<20, 1<<40)
	return errors.Join(errs...)
}

// skips reports whether a user's jobs are ignored.
func (c *Config) skips(user string, uid uint32) bool {
	return slices.Contains(c.Skip, user) && user != "" || slices.Contains(c.Skip, strconv.FormatUint(uint64(uid), 10))
}

// Duration is a time.Duration that is written as "3s" in YAML.
type Duration time.Duration

// UnmarshalText parses a duration with [time.ParseDuration].
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	*d = Duration(v)
	return err
}

// MarshalText formats a duration.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

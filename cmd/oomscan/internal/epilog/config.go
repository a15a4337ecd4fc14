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

// DefaultConfig is where the configuration is looked for when the hook was given no other place.
const DefaultConfig = "/etc/oomscan/epilog.yaml"

// Sample is a configuration with every setting at its default, as a comment.
//
//go:embed sample.yaml
var Sample []byte

// Config is what an administrator chose. It comes from a file that only root can write, never from the environment or
// from a user's home. sample.yaml says what each setting means.
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

// Beside says which files near the job's own logs are read as well.
type Beside struct {
	Files   []string `yaml:"files"`   // patterns of names in the log's folder
	Folders []string `yaml:"folders"` // patterns of folders there, whose files are read whatever their names
}

// Budget bounds what one job's logs may cost.
type Budget struct {
	Wall   Duration    `yaml:"wall" json:"wall"`
	CPU    Duration    `yaml:"cpu" json:"cpu"`
	Bytes  source.Size `yaml:"bytes" json:"bytes"`   // of all files together
	Head   source.Size `yaml:"head" json:"head"`     // of a file that is longer than head and tail
	Tail   source.Size `yaml:"tail" json:"tail"`     // the same
	Files  int         `yaml:"files" json:"files"`   // the job's own and those beside
	Memory source.Size `yaml:"memory" json:"memory"` // of the child
}

// The words of the settings that are a choice.
const (
	off       = "off"
	beside    = "beside"
	auto      = "auto"
	syslog    = "syslog"
	leaving   = "leave"
	appending = "append"
)

// Defaults are what holds without a configuration.
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

// maxDeadline is below the limit of the wrapper, which is below that of a sensible PrologEpilogTimeout.
const maxDeadline = 40 * time.Second

// maxConfig bounds the file.
const maxConfig = 64 << 10

// Parse reads a configuration. What it does not set keeps its default; what it sets wrongly, or what there is no setting
// for, is an error: a misspelt "report: off" must not leave reports.
func Parse(data []byte) (Config, error) {
	c := Defaults()
	if len(data) > maxConfig {
		return Config{}, errors.New("larger than 64 KiB")
	}
	if err := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict()).Decode(&c); err != nil && !errors.Is(err, io.EOF) {
		return Config{}, errors.New(yaml.FormatError(err, false, true))
	}
	if reflect.ValueOf(c).IsZero() {
		return Defaults(), nil // comments alone are the null document
	}
	return c, c.check()
}

// check refuses what can't be meant.
func (c *Config) check() error {
	word := func(key, value string, words ...string) error {
		if slices.Contains(words, value) {
			return nil
		}
		return fmt.Errorf("%s: %q is none of %s", key, value, strings.Join(words, ", "))
	}
	place := func(key, value string, words ...string) error {
		if filepath.IsAbs(value) && path.Clean(value) == value {
			return nil
		}
		if slices.Contains(words, value) {
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
	between("budget.wall", int64(b.Wall), int64(10*time.Millisecond), int64(c.Deadline)*3/4) // the report takes time as well
	between("budget.cpu", int64(b.CPU), int64(10*time.Millisecond), int64(c.Deadline))
	between("budget.bytes", int64(b.Bytes), 1<<10, 1<<40)
	between("budget.head", int64(b.Head), 1<<10, 1<<40)
	between("budget.tail", int64(b.Tail), 1<<10, 1<<40)
	between("budget.files", int64(b.Files), 1, 1000)
	between("budget.memory", int64(b.Memory), 32<<20, 1<<40)
	return errors.Join(errs...)
}

// skips says that a user's jobs are left alone.
func (c *Config) skips(user string, uid uint32) bool {
	return slices.Contains(c.Skip, user) && user != "" || slices.Contains(c.Skip, strconv.FormatUint(uint64(uid), 10))
}

// Duration is a time.Duration that YAML writes as "3s".
type Duration time.Duration

// UnmarshalText reads what [time.ParseDuration] reads.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	*d = Duration(v)
	return err
}

// MarshalText is the inverse.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

package stream

import (
	"oomscan/parser"
	"oomscan/parser/envelope"
	"oomscan/parser/lazyre"
)

// A script under set -x, a job of GitLab or GitHub Actions and the capture of a terminal show each command before what it prints. Some commands
// print what stands in files, sources, databases, pages and archives, or what a model answers: messages among that are no failures of the run,
// up to the next command. A log that one shows is believed: there it happened; and so is what a program in the background may say.

// shell is such a command line, with what is in each, and what the command shows.
func shell(sign string) console {
	return console{sign: sign, end: " ", heads: showsText, ends: commandLine, anew: commandFailed, shell: true}
}

// runsBeside reports whether an event below a command may be a program's that was started before it: it has a traceback, the program's records
// stand between, or the command is shown that started it.
func (r *Reader) runsBeside(e *parser.Event, at, heading int) bool {
	if e.Trace != nil && len(e.Trace.Frames) > 0 {
		return true
	}
	line := e.At.Line
	for above := range r.above(at) {
		line--
		body, h := envelope.Peel(above)
		if line > heading && h.Level > 0 || startsRun().Match(body) {
			return true
		}
	}
	return false
}

// debugger is such a line at the prompt of a debugger, and the source that it lists.
func debugger(prompt string) console {
	return console{sign: prompt + "l", end: prompt, heads: listsSource, ends: atDebugger, anew: commandFailed}
}

var (
	listsSource   = lazyre.New(`^(?:\(Pdb\+{0,2}\)|ipdb>|\(gdb\)) (?:ll?|list|longlist)\b`)
	atDebugger    = lazyre.New(`^(?:\(Pdb\+{0,2}\)|ipdb>|\(gdb\))(?: |$)`)
	commandLine   = lazyre.New(`^` + promptOfShell + `\S`)
	commandFailed = lazyre.New(`^(?:\S{1,200}: line \d{1,7}: |fatal: |Error: |[a-z][\w.+-]{1,30}: (?:error: )?(?i:out of memory|memory exhausted)|[a-z][\w.+-]{1,30}: .{0,300}: Cannot allocate memory$|Killed\b)|\(core dumped\)`)
	startsRun     = lazyre.New(`^` + promptOfShell + `(?:\w+=\S+ )*(?:sudo |nohup |exec |time |timeout \S{1,10} |env )?(?:\S+/)?(?:python\d?(?:\.\d{1,2})?|srun|torchrun|accelerate|deepspeed|mpirun|mpiexec|ray|vllm|sglang|bash|sh|docker|podman|apptainer|singularity|uv|[\w-]{1,40}\.sh) `)
	showsText     = lazyre.New(`^` + promptOfShell + `(?:sudo |time )?(?:` + textCommand + `)`)
)

const (
	// promptOfShell stands before a command.
	promptOfShell = `(?:\+{1,9}|\$|[\w.-]{1,40}@[\w.-]{1,60}[: ]\S{1,100}\$|\([\w./-]{1,60}\) \S{0,100}\$|##\[group\]Run) `

	// textFile ends the name of a file that is no log. Reports of what failed are in JSON, XML and HTML, too.
	textFile = `\.(?:jsonl|parquet|[ct]sv|ya?ml|toml|ini|cfg|conf|py|sh|sbatch|slurm|md|rst|c|cc|cpp|cu|h|hpp|go|rs|[tj]s|sql|ipynb)(?:\s|$)`

	// sourceFolder is a folder of sources or documents, as searches get it.
	sourceFolder = ` (?:\./)?(?:src|scripts?|docs?|third_party|tests?|lib|include|tools|examples?)(?:/\S{0,200})?(?:\s|$)`

	// textCommand is a command that prints such a text.
	textCommand = `git (?:-\S{1,100} ){0,3}(?:log|show|diff|blame|grep|pull|merge|am|apply|fetch|checkout|cherry-pick|rebase|stash)\b|(?:gh|glab) (?:issue|pr|mr|search|release) ` +
		`|(?:cat|head|tail|nl|less|more|sed|awk|cut|sort|jq|yq|column|[ef]?grep|rg|ag) .{0,300}(?:` + textFile + `|` + sourceFolder + `)` +
		`|(?:diff|sdiff|colordiff|patch|nbdiff|nbshow|strings|nm|objdump|readelf|tar|bsdtar|unzip|zipinfo|ls|find|tree|man|info|pydoc3?|tldr) |ollama run |module (?:help|show|load|spider|whatis) ` +
		`|(?:mysql|mariadb|psql|sqlite3|duckdb|mongosh|clickhouse-client) |kubectl (?:.{0,100} )?(?:apply|create|diff|explain|replace) |helm (?:template|show|diff|install|upgrade) |terraform (?:plan|apply|show)\b` +
		`|(?:flake8|ruff|pylint|mypy|black|isort|shellcheck|clang-tidy|clang-format|pre-commit)\b|(?:apt|apt-get|dpkg|dnf|yum|apk) |ansible(?:-playbook)? .{0,300}--diff\b`
)

package stream

import "oomscan/parser/lazyre"

// A script under set -x, a job of GitLab or GitHub Actions and the capture of a terminal show each command before what it prints. Some commands
// print what stands in files, sources, databases, pages and archives, or what a model answers: messages among that are no failures of the run,
// up to the next command. A log that one shows is believed: there it happened.

// shell is such a command line, with what is in each, and what the command shows.
func shell(sign string) console {
	return console{sign: sign, end: " ", heads: showsText, ends: commandLine, anew: commandFailed}
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
	showsText     = lazyre.New(`^` + promptOfShell + `(?:sudo |time )?(?:` + textCommand + `)`)
)

const (
	// promptOfShell stands before a command.
	promptOfShell = `(?:\+{1,9}|\$|[\w.-]{1,40}@[\w.-]{1,60}[: ]\S{1,100}\$|\([\w./-]{1,60}\) \S{0,100}\$|##\[group\]Run) `

	// textFile ends the name of a file that is no log.
	textFile = `\.(?:jsonl?|parquet|[ct]sv|ya?ml|toml|ini|cfg|conf|py|sh|sbatch|slurm|md|rst|c|cc|cpp|cu|h|hpp|go|rs|[tj]s|sql|html?|xml|ipynb)(?:\s|$)`

	// sourceFolder is a folder of sources or documents, as searches get it.
	sourceFolder = ` (?:\./)?(?:src|scripts?|docs?|third_party|tests?|lib|include|tools|examples?)(?:/\S{0,200})?(?:\s|$)`

	// textCommand is a command that prints such a text.
	textCommand = `git (?:-\S{1,100} ){0,3}(?:log|show|diff|blame|grep|pull|merge|am|apply|fetch|checkout|cherry-pick|rebase|stash)\b|(?:gh|glab) (?:issue|pr|mr|search|release) ` +
		`|(?:cat|head|tail|nl|less|more|sed|awk|cut|sort|jq|yq|column|[ef]?grep|rg|ag) .{0,300}(?:` + textFile + `|` + sourceFolder + `)` +
		`|(?:diff|sdiff|colordiff|patch|nbdiff|nbshow|strings|nm|objdump|readelf|tar|bsdtar|unzip|zipinfo|ls|find|tree|man|info|pydoc3?|tldr) |ollama run |module (?:help|show|load|spider|whatis) ` +
		`|(?:mysql|mariadb|psql|sqlite3|duckdb|mongosh|clickhouse-client) |kubectl (?:.{0,100} )?(?:apply|create|diff|explain|replace) |helm (?:template|show|diff|install|upgrade) |terraform (?:plan|apply|show)\b` +
		`|(?:flake8|ruff|pylint|mypy|black|isort|shellcheck|clang-tidy|clang-format|pre-commit)\b|(?:apt|apt-get|dpkg|dnf|yum|apk) |ansible(?:-playbook)? .{0,300}--diff\b`
)

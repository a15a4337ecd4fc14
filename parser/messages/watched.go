package messages

import "oomscan/parser/pattern"

// watcherVetoes are rules of programs that watch logs: what they look for, in a file of settings that a job printed. An alert that such a program
// raised has other words around the message, and PyTorch's own message goes on with figures that no rule has.
func watcherVetoes() []pattern.Pattern {
	const (
		text  = `(?:"(?:[^"\\]|\\.){1,400}"|'(?:[^'\\]|\\.){1,400}')`
		regex = `/(?:[^/\\]|\\.){1,400}/`
	)
	return []pattern.Pattern{{
		Name:     "veto.watched",
		Requires: []string{"match ", "match(", "message(", "content ", "watchfor ", "ignore ", ", contains, ", ", regex, ", ", ereregex, ", "</", "Regex ", "Exclude ", "Rule ", "patterns", "exceptions", "regex", "LogFilterPatterns=", "command["},
		Expr: `^(?!.{0,800}(?:total capaci?ty|already allocated|of which))(?:\s{0,20}(?:if (?:not )?(?:match|content ?[!=]?=) ?(?:` + text + `|` + regex + `) (?:(?:for )?\d{1,4} (?:times|cycles) .{0,60})?then (?:alert|exec|restart|start|stop|unmonitor)(?: ["'][^"']{1,300}["']| with [\w ]{1,40}| [\w.@-]{1,60})?|ignore (?:match|content ?[!=]?=) ?` + text + `)\s*$` +
			`|\s{0,8}(?:watchfor|ignore) ` + regex + `\s*$|:\w{1,30}, ?!?(?:contains|startswith|isequal|regex|ereregex), ?` + text + `|\s{0,8}(?:filter \w{1,60} \{ ?)?(?:not )?(?:match|message)\(` + text + `[^()]{0,40}(?:\("\w{1,30}"\))?[^()]{0,60}\)(?:;|;? ?\};?)\s*$` +
			`|\s{0,20}<(regex|match|prematch|pcre2)(?: [^<>]{1,100})?>[^<>]{1,400}</\1>\s*$|\s{2,20}(?:(?:Regex|Exclude)\s{1,20}\$?(?:log|msg|message|MESSAGE)\s|Rule\s{1,20}\$(?:log|msg|message|MESSAGE)\s)` +
			`|\s{0,20}(?:critical|warning|ok)(?:patterns?|exceptions?) => \[? ?['"]|(?:fail|ignore|pre)regex {0,20}= ?|LogFilterPatterns=|command\[\w{1,60}\]=[/$])`,
		Veto: true, Source: "monit, swatchdog, rsyslog, syslog-ng, Wazuh and OSSEC, Fluent Bit, check_logfiles, fail2ban, systemd.exec and NRPE, by their manuals",
		Also: []string{"cuda.error", "torch.oom.class"},
		Match: lines(
			`    if match "oom-kill:constraint=CONSTRAINT_MEMCG" then alert`, `  if content = "CUDA error: out of memory" for 2 cycles then exec "/opt/page oom"`, `    ignore match "RuntimeError: CUDA error: out of memory"`, `  ignore content = "CUDA error: out of memory"`,
			"watchfor /oom-kill:constraint=CONSTRAINT_MEMCG/", `:msg, contains, "oom-kill:constraint=CONSTRAINT_MEMCG" -/var/log/oom.log`, `filter f_oom { match("oom-kill:constraint=CONSTRAINT_MEMCG" value("MESSAGE")); };`, `filter f_gpu { message("RuntimeError: CUDA error: out of memory") };`,
			"    <regex>oom-kill:constraint=CONSTRAINT_MEMCG</regex>", "    Regex    log   RuntimeError: CUDA error: out of memory", "    criticalpatterns => ['CUDA error: out of memory', 'oom-kill:'],",
			"failregex = RuntimeError: CUDA error: out of memory", "LogFilterPatterns=~oom-kill:constraint=CONSTRAINT_MEMCG", `command[check_oom]=/usr/lib/nagios/plugins/check_log -F /var/log/kern.log -q "oom-kill:constraint=CONSTRAINT_MEMCG"`,
		),
		NoMatch: []string{
			`if match fails: RuntimeError: CUDA error: out of memory`, `match "oom" failed: RuntimeError: CUDA error: out of memory`, `if match "oom" then alert: RuntimeError: CUDA error: out of memory`, `content match: "RuntimeError: CUDA error: out of memory"`,
			`ignore match "x", RuntimeError: CUDA error: out of memory`, "watchfor: RuntimeError: CUDA error: out of memory", "watchfor /var/log/x/3: RuntimeError: CUDA error: out of memory", "Regex log: RuntimeError: CUDA error: out of memory", "    Exclude rank 3: RuntimeError: CUDA error: out of memory",
			`message("RuntimeError: CUDA error: out of memory") was sent by rank 3`, "<failure>RuntimeError: CUDA error: out of memory</failure>", "    <regex>: RuntimeError: CUDA error: out of memory", "critical patterns => RuntimeError: CUDA error: out of memory", "command[3] failed: RuntimeError: CUDA error: out of memory",
			`    ignore content = "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free."`,
		},
	}}
}

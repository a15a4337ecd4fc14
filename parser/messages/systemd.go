package messages

import (
	"slices"

	"oomscan/parser"
	"oomscan/parser/pattern"
)

// systemdPatterns are systemd's word on its units, and the killers in user space: systemd-oomd, earlyoom and nohang. The unit
// or cgroup is in field path.
var systemdPatterns = slices.Concat(
	by(pattern.Program{Name: "systemd", Authority: pattern.Counted, Node: true, Killer: "kernel"}, unitPatterns),
	by(pattern.Program{Name: "oomd", Node: true, Killer: "systemd-oomd"}, oomdPatterns),
	by(pattern.Program{Name: "earlyoom", Node: true, Killer: "earlyoom"}, earlyoomPatterns),
	by(pattern.Program{Name: "nohang", Node: true, Killer: "nohang"}, nohangPatterns),
)

func unitPatterns() []pattern.Pattern {
	const service = "systemd 237-258 src/core/unit.c, service.c"
	return []pattern.Pattern{
		{
			Name:     "systemd.oom_kill",
			Literals: []string{"has been killed by the OOM killer", "result 'oom-kill'", "(Result: oom-kill)"},
			Expr:     `(?:(?<![\w@.\\:-])(?<path>[\w@.\\:-]{1,255}): )?(?:A process of this unit has been killed by the OOM killer|Failed with result 'oom-kill'|Active: failed \(Result: oom-kill\))`,
			Kind:     parser.OOMKill, Role: parser.Evidence, Source: service,
			Match: []pattern.Sample{
				{Line: `trainer.service: A process of this unit has been killed by the OOM killer.`, Want: parser.Fields{"path": "trainer.service"}},
				{Line: `trainer@3.service: Failed with result 'oom-kill'.`, Want: parser.Fields{"path": "trainer@3.service"}},
				{Line: `     Active: failed (Result: oom-kill) since Tue 2025-08-12 03:54:03 CEST; 2min ago`},
			},
			NoMatch: []string{`OOMPolicy=kill`, `trainer.service: Failed with result 'signal'.`},
		},
		{
			Name:     "systemd.oomd",
			Literals: []string{"systemd-oomd killed "},
			Expr:     `(?:(?<![\w@.\\:-])(?<path>[\w@.\\:-]{1,255}): )?systemd-oomd killed (?<count>[1-9]\d{0,6}) process\(es\) in this unit`,
			Kind:     parser.OOMKill, Role: parser.Evidence, Source: "systemd 249-258 src/core/unit.c",
			Match:   []pattern.Sample{{Line: `trainer.service: systemd-oomd killed 12 process(es) in this unit.`, Want: parser.Fields{"path": "trainer.service", "count": "12"}}},
			NoMatch: []string{`trainer.service: systemd-oomd killed 0 process(es) in this unit.`},
		},
		{
			Name:     "systemd.sigkill",
			Literals: []string{"code=killed, status=9/KILL", "code=exited, status=137"},
			Expr:     `(?:(?<![\w@.\\:-])(?<path>[\w@.\\:-]{1,255}): )?(?:Main|Control) process exited, code=(?:killed, status=(?<signal>9)/KILL|exited, status=(?<exitcode>137)\b)`,
			Kind:     parser.OOMKill, Role: parser.Suspicion, Source: service,
			Match: []pattern.Sample{
				{Line: `trainer.service: Main process exited, code=killed, status=9/KILL`, Want: parser.Fields{"path": "trainer.service", "signal": "9"}},
				{Line: `trainer.service: Main process exited, code=exited, status=137/n/a`, Want: parser.Fields{"path": "trainer.service", "exitcode": "137"}},
			},
		},
		{
			Name:     "systemd.exited",
			Literals: []string{" process exited, code="},
			Expr:     `(?:(?<![\w@.\\:-])(?<path>[\w@.\\:-]{1,255}): )?(?:Main|Control) process exited, code=(?:(?:killed|dumped), status=(?!9/)(?<signal>\d+)/|exited, status=(?!0/|137\b)(?<exitcode>\d+))`,
			Kind:     parser.ProcessExit, Role: parser.Consequence, Source: service,
			Match: []pattern.Sample{
				{Line: `trainer.service: Main process exited, code=killed, status=15/TERM`, Want: parser.Fields{"path": "trainer.service", "signal": "15"}},
				{Line: `trainer.service: Main process exited, code=exited, status=1/FAILURE`, Want: parser.Fields{"path": "trainer.service", "exitcode": "1"}},
			},
			NoMatch: []string{`x.service: Main process exited, code=exited, status=0/SUCCESS`},
		},
	}
}

// oomdPatterns and earlyoomPatterns are the killers in user space.
func oomdPatterns() []pattern.Pattern {
	const oomd = "systemd 247-258 src/oom/oomd-manager.c; 'Marked' since 258"
	return []pattern.Pattern{
		{
			Name:     "oomd.pressure",
			Literals: []string{" due to memory pressure for "},
			Expr:     `(?:Killed|Marked) (?<path>\S{1,400}) (?:for killing )?due to memory pressure for \S{1,400} be(?:ing [\d.]+% > [\d.]+%|[ing]{0,3} ?>\s*$)`,
			Kind:     parser.OOMKill, Role: parser.Evidence, Source: oomd,
			Match: []pattern.Sample{
				{Line: `Killed /user.slice/user-1000.slice/session-3.scope due to memory pressure for /user.slice being 71.20% > 50.00% for > 20s with reclaim activity`, Want: parser.Fields{"path": "/user.slice/user-1000.slice/session-3.scope"}},
				{Line: `Killed /machine.slice/t.service due to memory pressure for /machine.slice be>`, Want: parser.Fields{"path": "/machine.slice/t.service"}}, // cut by the pager
				{Line: `Marked /system.slice/docker-8521.scope for killing due to memory pressure for /system.slice being 93.98% > 60.00% for > 30s with reclaim activity`, Want: parser.Fields{"path": "/system.slice/docker-8521.scope"}},
			},
			NoMatch: []string{`Killed /x.scope due to memory pressure for /x being investigated`, `Memory pressure for /user.slice is greater than 50 for more than 20 seconds and there was reclaim activity`},
		},
		{
			Name:     "oomd.memory",
			Literals: []string{" due to memory used ("},
			Expr:     `(?:Killed|Marked) (?<path>\S{1,400}) (?:for killing )?due to memory used \((?<used_b>\d+)\) / total \((?<total_b>\d+)\)`,
			Kind:     parser.OOMKill, Role: parser.Evidence, Source: oomd,
			Match: []pattern.Sample{
				{Line: `Killed /user.slice/user-1002.slice/app-trainer.service due to memory used (22369452032) / total (24681861120) and swap used (8589910016) / total (8589930496) being more than 90.00%`, Want: parser.Fields{"path": "/user.slice/user-1002.slice/app-trainer.service", "used": "22369452032", "total": "24681861120"}},
			},
		},
		{
			Name:     "oomd.cut",
			Literals: []string{"Killed /", "Marked /"},
			Expr:     `^(?:systemd-oomd\[\d{1,9}\]: )?(?:Killed|Marked) (?<path>/(?:user|system|machine)\.slice/\S{1,400})(?: (?:for killing )?(?:due|due to|due to \w{1,16}(?: \w{1,16})?))?\s*$`,
			Kind:     parser.OOMKill, Role: parser.Evidence, Source: oomd + ": cut by a pager or a paste",
			Match: []pattern.Sample{
				{Line: `Killed /user.slice/user-1000.slice/user@1000.service/app.slice/vte-spawn-7f1.sco`, Want: parser.Fields{"path": "/user.slice/user-1000.slice/user@1000.service/app.slice/vte-spawn-7f1.sco"}},
				{Line: `Killed /system.slice/trainer.service due to memory pres`, Want: parser.Fields{"path": "/system.slice/trainer.service"}},
			},
			NoMatch: []string{`Killed /home/u/run.sh`, `Killed /system.slice/trainer.service by hand of root`},
		},
	}
}

func earlyoomPatterns() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "earlyoom.kill",
			Literals: []string{"sending SIGTERM to process ", "sending SIGKILL to process "},
			Expr:     `sending (?<signal>SIGTERM|SIGKILL) to process (?<pid>\d+) (?:uid \d+ )?"(?<comm>[^"]{1,64})": (?:oom_score|badness) -?\d+(?:, oom_score_adj -?\d+)?, VmRSS (?<process_mib>\d+) MiB`,
			Kind:     parser.OOMKill, Role: parser.Evidence, Source: "earlyoom 1.3-1.8 kill.c",
			Match: []pattern.Sample{
				{Line: `sending SIGTERM to process 4711 uid 1000 "python3": oom_score 1211, oom_score_adj 0, VmRSS 61234 MiB, cmdline "python3 train.py"`, Want: parser.Fields{"signal": "SIGTERM", "pid": "4711", "comm": "python3", "process": "64208502784"}},
				{Line: `sending SIGKILL to process 4711 uid 1000 "python3": badness 1211, VmRSS 1024 MiB`, Want: parser.Fields{"signal": "SIGKILL", "pid": "4711", "comm": "python3", "process": "1073741824"}},
			},
			NoMatch: []string{`sending SIGTERM when mem avail <= 10.00% and swap free <= 10.00%,`},
		},
		{
			Name:     "earlyoom.low",
			Literals: []string{"ow memory! at or below SIG", "ow memory! At or below SIG"},
			Expr:     `[Ll]ow memory! [Aa]t or below SIG(?:TERM|KILL) limits: `,
			Kind:     parser.OOMKill, Role: parser.Detail, Source: "earlyoom 1.3-1.8 main.c",
			Match:   lines(`low memory! at or below SIGTERM limits: mem 10.00%, swap 10.00%`),
			NoMatch: []string{`mem avail:  1024 of 64000 MiB (1.60%), swap free:    0 of    0 MiB (0.00%)`},
		},
	}
}

// nohangPatterns are the lines of one kill: nohang prints the status of a process when it ends it.
func nohangPatterns() []pattern.Pattern {
	const nohang = "nohang 0.1-0.3, nohang/nohang implement_corrective_action"
	return []pattern.Pattern{
		{
			Name:     "nohang.victim",
			Literals: []string{", EUID: "},
			Expr:     `^\s{0,4}PID: {1,12}(?<pid>\d{1,9}), name: (?<comm>.{1,64}?), state: .{1,40}?, EUID: `,
			Kind:     parser.OOMKill, Role: parser.Evidence, Source: nohang,
			Match: []pattern.Sample{{Line: "  PID:       23152, name: Privileged Cont, state: S (sleeping), EUID: 1000, SID: 1122 (xfce4-session), lifetime: 1h", Want: parser.Fields{"pid": "23152", "comm": "Privileged Cont"}}},
		},
		{
			Name:     "nohang.signal",
			Literals: []string{" to the victim"},
			Expr:     `^\s{0,4}Sending (?<signal>SIGTERM|SIGKILL) to the victim`,
			Kind:     parser.OOMKill, Role: parser.Detail, Source: nohang,
			Match: []pattern.Sample{{Line: "  Sending SIGTERM to the victim", Want: parser.Fields{"signal": "SIGTERM"}}},
		},
	}
}

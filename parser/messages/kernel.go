package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// kernelPatterns are the Linux kernel's reports: the OOM killer first, then what looks like it and is hardware.
//
// The kernel writes kB for KiB. A comm is the name of a thread, cut to 15 bytes: "pt_main_thread", "ray::WorkerDict.".
// Who invoked the OOM killer merely asked for a page; the victim is the one of the "Killed process" line.
var kernelPatterns = by(kernel, oomKillerPatterns, kernelNeighbours)

var kernel = pattern.Program{Name: "kernel", Authority: pattern.Killed, Node: true, Killer: "kernel"}

// oomKillerPatterns are the lines of one report of the OOM killer, in the order in which it prints them.
func oomKillerPatterns() []pattern.Pattern {
	const oomKill = "Linux 2.6.32-6.18 mm/oom_kill.c"
	const memcg = "Linux 3.10-6.18 mm/memcontrol.c, mm/memcontrol-v1.c"
	const job = `[^,:\s]{0,300}?/job_(?<job>\d+)(?:/step_(?<step>\w{1,16}))?`
	return []pattern.Pattern{
		{
			Name:     "kernel.virtual",
			Literals: []string{"-linuxkit", "microsoft-standard-WSL2", "Docker Desktop", "[wsl2]", "wsl -d ", " aarch64  ", " x86_64  "},
			Expr:     `(?:\d-(?<kind>linuxkit)|(?<kind>microsoft-standard-WSL2)|^(?<kind>Docker Desktop) \||(?:^| )(?<kind>Docker Desktop)\s*$|^\[(?<kind>wsl2)\]\s*$|(?:^|> )(?<kind>wsl) -d [\w.-]|^[\w-]{1,40} {2,12}Running {2,12}(?:aarch64|x86_64) {2,9}\d{1,3} {2,9}(?<host_total_sz>\d{1,4}GiB) {2,9}\d{1,5}GiB {2,12}(?:docker|containerd)\b)`,
			Gauge:    true, Source: "Docker Desktop 4 and WSL 2: names of their kernels, WSL's configuration and a command at its prompt; Colima's list of its machines",
			Match: []pattern.Sample{
				{Line: "CPU: 2 PID: 404 Comm: python Not tainted 6.10.14-linuxkit #1", Want: parser.Fields{"kind": "linuxkit"}},
				{Line: "CPU: 3 PID: 78 Comm: python Not tainted 5.15.167.4-microsoft-standard-WSL2 #1", Want: parser.Fields{"kind": "microsoft-standard-WSL2"}},
				{Line: "CPUs 10  Memory 8217944064  Docker Desktop", Want: parser.Fields{"kind": "Docker Desktop"}},
				{Line: " Operating System: Docker Desktop", Want: parser.Fields{"kind": "Docker Desktop"}},
				{Line: "[wsl2]", Want: parser.Fields{"kind": "wsl2"}},
				{Line: "PS C:\\> wsl -d Ubuntu free -m", Want: parser.Fields{"kind": "wsl"}},
				{Line: "default    Running    aarch64    2       2GiB      100GiB    docker     ", Want: parser.Fields{"host_total": "2147483648"}},
			},
		},
		{
			Name:     "kernel.ram",
			Literals: []string{" pages RAM"},
			Expr:     `(?:^|\] |kernel: )(?<pages>\d{4,11}) pages RAM$`,
			Gauge:    true, Source: "Linux 2.6.32-6.18 mm/show_mem.c, in pages of 4 KiB on x86",
			Match: []pattern.Sample{{Line: "524288 pages RAM", Want: parser.Fields{"pages": "524288"}}},
		},
		{
			Name:     "kernel.invoked",
			Literals: []string{" invoked oom-killer: "},
			Expr:     `(?:^|kernel: ?(?:\[[ \d.]{5,20}\] ?)?|\d\] )(?!kernel)(?<trigger>\S.{0,14}?) invoked oom-killer: `,
			Kind:     parser.OOMKill, Role: parser.Detail, Source: oomKill,
			Match: []pattern.Sample{
				{Line: `python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0`, Want: parser.Fields{"trigger": "python3"}},
				{Line: `ray::IDLE_Spill invoked oom-killer: gfp_mask=0x201da, order=0, oomkilladj=0`, Want: parser.Fields{"trigger": "ray::IDLE_Spill"}},
				{Line: `kernel: pt_main_thread invoked oom-killer: gfp_mask=0x140cca(GFP_HIGHUSER_MOVABLE|__GFP_COMP), nodemask=(null), order=0, oom_score_adj=0`, Want: parser.Fields{"trigger": "pt_main_thread"}},
			},
		},
		{
			Name:     "kernel.constraint",
			Literals: []string{"oom-kill:constraint="},
			Expr:     `oom-kill:constraint=CONSTRAINT_\w{1,20},.{0,1200}?task_memcg=(?<path>(?:` + job + `)?[^,]{0,300}),task=(?<comm>.{1,64}?),pid=(?<pid>\d+),uid=`,
			Kind:     parser.OOMKill, Role: parser.Detail, Source: "Linux 5.0-6.18 mm/oom_kill.c dump_oom_summary",
			Match: []pattern.Sample{
				{
					Line: `oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0-1,oom_memcg=/slurm/uid_204/job_88123,task_memcg=/slurm/uid_204/job_88123/step_batch/task_0,task=python,pid=104850,uid=204`,
					Want: parser.Fields{"path": "/slurm/uid_204/job_88123/step_batch/task_0", "job": "88123", "step": "batch", "comm": "python", "pid": "104850"},
				},
				{
					Line: `oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/system.slice/slurmstepd.scope/job_7/step_0/user/task_3,task=ray::WorkerDict.,pid=91,uid=0`,
					Want: parser.Fields{"path": "/system.slice/slurmstepd.scope/job_7/step_0/user/task_3", "job": "7", "step": "0", "comm": "ray::WorkerDict.", "pid": "91"},
				},
				{
					Line: `oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=kubepods,mems_allowed=0-1,oom_memcg=/kubepods/pod1f/c0,task_memcg=/kubepods/pod1f/c0,task=pt_main_thread,pid=5512,uid=1000`,
					Want: parser.Fields{"path": "/kubepods/pod1f/c0", "comm": "pt_main_thread", "pid": "5512"},
				},
			},
		},
		{
			Name:     "kernel.killed",
			Literals: []string{"Killed process "},
			Expr:     `(?<=Memory (?<scope>cgroup) out of memory(?: \(\w{1,40}\))?: |)Killed process (?<pid>\d+)(?:,? UID \d+,)? \((?<comm>.{1,64}?)\)(?:,? UID:? ?\d+,)?,? total-vm:(?<total_vm_kib>\d+)kB(?:, anon-rss:(?<anon_rss_kib>\d+)kB)?(?:, file-rss:(?<file_rss_kib>\d+)kB)?(?:, shmem-rss:(?<shmem_rss_kib>\d+)kB)?`,
			Kind:     parser.OOMKill, Role: parser.Evidence, Source: oomKill,
			Match: []pattern.Sample{
				{
					Line: `Memory cgroup out of memory: Killed process 104850 (python) total-vm:96760932kB, anon-rss:44817324kB, file-rss:41216kB, shmem-rss:0kB, UID:20417 pgtables:141080kB oom_score_adj:0`,
					Want: parser.Fields{"scope": "cgroup", "pid": "104850", "comm": "python", "total_vm": "99083194368", "anon_rss": "45892939776", "file_rss": "42205184", "shmem_rss": "0"},
				},
				{
					Line: `Killed process 1221 (allocate) total-vm:2257144kB, anon-rss:2009128kB, file-rss:4kB`,
					Want: parser.Fields{"pid": "1221", "comm": "allocate", "total_vm": "2311315456", "anon_rss": "2057347072", "file_rss": "4096"},
				},
				{
					Line: `Killed process 29341 (python), UID 48, total-vm:1024kB, anon-rss:512kB, file-rss:0kB`,
					Want: parser.Fields{"pid": "29341", "comm": "python", "total_vm": "1048576", "anon_rss": "524288", "file_rss": "0"},
				},
				{
					Line: `Out of memory (oom_kill_allocating_task): Killed process 77 (tmux: server) total-vm:8kB, anon-rss:4kB, file-rss:0kB, shmem-rss:4kB`,
					Want: parser.Fields{"pid": "77", "comm": "tmux: server", "total_vm": "8192", "anon_rss": "4096", "file_rss": "0", "shmem_rss": "4096"},
				},
			},
			NoMatch: []string{`Killed process 41 (python)`, `Killing subprocess 41`},
		},
		{
			Name:     "kernel.killed_cut",
			Literals: []string{"ut of memory: Killed process ", "Out of Memory: Killed process ", "): Killed process "},
			Expr:     `(?<=Memory (?<scope>cgroup) o|)ut of [mM]emory(?: \(\w{1,40}\))?: Killed process (?<pid>\d+)(?: \((?<comm>.{1,64}?)\))?(?!.{0,80}total-vm:)`,
			Kind:     parser.OOMKill, Role: parser.Evidence, Source: oomKill + ": cut by a syslog relay or a paste; the whole of it in Linux 2.4-2.6.18",
			Match: []pattern.Sample{
				{Line: `Memory cgroup out of memory: Killed process 3141592 (gitlab-shell)`, Want: parser.Fields{"scope": "cgroup", "pid": "3141592", "comm": "gitlab-shell"}},
				{Line: `Out of Memory: Killed process 11902 (matlab).`, Want: parser.Fields{"pid": "11902", "comm": "matlab"}},
			},
			NoMatch: []string{`Memory cgroup out of memory: Killed process 1 (python) total-vm:8kB, anon-rss:4kB, file-rss:0kB`},
		},
		{
			Name:     "kernel.freebsd",
			Literals: []string{", was killed: "},
			Expr:     `\bpid (?<pid>\d+) \((?<comm>.{1,64}?)\)(?:, jid \d+)?, uid \d+, was killed: (?:out of swap space|failed to reclaim memory|a thread waited too long to allocate a page)`,
			Kind:     parser.OOMKill, Role: parser.Evidence, Source: "FreeBSD 8-15, sys/vm/vm_pageout.c",
			Match: []pattern.Sample{
				{Line: `pid 2094 (python3.9), jid 0, uid 1001, was killed: out of swap space`, Want: parser.Fields{"pid": "2094", "comm": "python3.9"}},
				{Line: `pid 2094 (python), uid 1001, was killed: failed to reclaim memory`, Want: parser.Fields{"pid": "2094", "comm": "python"}},
			},
		},
		{
			// The process is the chosen one; the next line names the victim, which may be a child of it.
			Name:     "kernel.sacrifice",
			Literals: []string{" or sacrifice child"},
			Expr:     `(?<=Memory (?<scope>cgroup) o|)ut of memory(?: \(\w{1,40}\))?: [Kk]ill process (?<pid>\d+) \((?<comm>.{1,64}?)\) (?:score \d+ )?or sacrifice child`,
			Kind:     parser.OOMKill, Role: parser.Evidence, Source: "Linux 2.6.36-4.19 mm/oom_kill.c",
			Match: []pattern.Sample{
				{Line: `Memory cgroup out of memory: Kill process 31790 (python) score 1001 or sacrifice child`, Want: parser.Fields{"scope": "cgroup", "pid": "31790", "comm": "python"}},
				{Line: `Out of memory: Kill process 1221 (allocate) score 241 or sacrifice child`, Want: parser.Fields{"pid": "1221", "comm": "allocate"}},
			},
		},
		{
			// What is left after reaping is printed here: no measure of what the process held.
			Name:     "kernel.reaper",
			Literals: []string{"oom_reaper: ", "OOM victim "},
			Expr:     `(?:oom_reaper: (?:reaped process |unable to reap pid:)(?<pid>\d+) \((?<comm>.{1,64}?)\)|OOM victim (?<pid>\d+) \((?<comm>.{1,64}?)\) is already exiting)`,
			Kind:     parser.OOMKill, Role: parser.Consequence, Source: "Linux 4.6-6.18 mm/oom_kill.c",
			Match: []pattern.Sample{
				{Line: `oom_reaper: reaped process 104850 (python), now anon-rss:0kB, file-rss:0kB, shmem-rss:0kB`, Want: parser.Fields{"pid": "104850", "comm": "python"}},
				{Line: `oom_reaper: unable to reap pid:612 (python3)`, Want: parser.Fields{"pid": "612", "comm": "python3"}},
				{Line: `Memory cgroup out of memory: OOM victim 3804877 (stress) is already exiting. Skip killing the task`, Want: parser.Fields{"pid": "3804877", "comm": "stress"}},
			},
		},
		{
			Name:     "kernel.oom_group",
			Literals: []string{"are going to be killed due to memory.oom.group", " killed as a result of limit of "},
			Expr:     `Tasks? in (?<path>(?:` + job + `)?\S{0,300}) (?:are going to be killed due to memory\.oom\.group set|killed as a result of limit of )`,
			Kind:     parser.OOMKill, Role: parser.Detail, Source: memcg,
			Match: []pattern.Sample{
				{Line: `Tasks in /kubepods.slice/kubepods-podf9.slice/cri-containerd-85.scope are going to be killed due to memory.oom.group set`, Want: parser.Fields{"path": "/kubepods.slice/kubepods-podf9.slice/cri-containerd-85.scope"}},
				{Line: `Task in /slurm/uid_20/job_771/step_0/task_2 killed as a result of limit of /slurm/uid_20/job_771`, Want: parser.Fields{"path": "/slurm/uid_20/job_771/step_0/task_2", "job": "771", "step": "0"}},
			},
			NoMatch: []string{`memory.oom.group 1`},
		},
		{
			// An unlimited counter prints 2^63 or 2^64 pages' worth of kB.
			Name:     "kernel.usage",
			Literals: []string{"memory: usage "},
			Expr:     `(?:^|[^+\w])memory: usage (?<used_kib>\d{1,14})kB, limit (?:\d{15,}|(?<limit_kib>\d{1,14}))kB, failcnt \d`,
			Kind:     parser.OOMKill, Role: parser.Detail, Source: memcg,
			Match: []pattern.Sample{
				{Line: `memory: usage 134217728kB, limit 134217728kB, failcnt 2193372`, Want: parser.Fields{"used": "137438953472", "limit": "137438953472"}},
				{Line: `memory: usage 153600kB, limit 9007199254740988kB, failcnt 0`, Want: parser.Fields{"used": "157286400"}},
			},
			NoMatch: []string{`memory+swap: usage 153600kB, limit 9007199254740988kB, failcnt 0`, `kmem: usage 492kB, limit 9007199254740988kB, failcnt 0`},
		},
		{
			Name:     "kernel.cgroup",
			Literals: []string{"Memory cgroup stats for "},
			Expr:     `Memory cgroup stats for (?<path>(?:` + job + `)?[^\s:]{0,300})`,
			Kind:     parser.OOMKill, Role: parser.Detail, Source: memcg,
			Match: []pattern.Sample{
				{Line: `Memory cgroup stats for /slurm_node01/uid_2001/job_8:`, Want: parser.Fields{"path": "/slurm_node01/uid_2001/job_8", "job": "8"}},
				{Line: `Memory cgroup stats for /docker/4f1c: cache:0KB rss:1024KB`, Want: parser.Fields{"path": "/docker/4f1c"}},
			},
		},
	}
}

// kernelNeighbours are lines of the kernel log that stand beside an OOM report and are none.
func kernelNeighbours() []pattern.Pattern {
	const xid = "NVIDIA driver (nvidia.ko), Xid catalogue of the GPU deployment guide"
	return []pattern.Pattern{
		{
			Name:     "kernel.xid_hardware",
			Literals: []string{"NVRM: Xid ("},
			Expr:     `NVRM: Xid \([^)]{1,40}\): (?:48|62|63|64|74|79|92|94|95|110|119|120|136|140|143)\b(?:, pid=(?<pid>\d+))?`,
			Kind:     parser.ProcessExit, Role: parser.Consequence, Set: map[string]string{"reason": "hardware"},
			Source: xid + ": ECC, row remapping, NVLink, bus, GSP",
			Match: []pattern.Sample{
				{Line: `NVRM: Xid (PCI:0000:5b:00): 48, pid=291044, name=python3, DBE (double bit error) detected in GPU memory, address 0x00000014b3f20000, subpartition 0x1`, Want: parser.Fields{"pid": "291044"}},
				{Line: `NVRM: Xid (PCI:0000:5b:00): 63, pid='<unknown>', name=<unknown>, Row Remapper: New row marked for remapping, reset gpu to activate.`},
				{Line: `NVRM: Xid (PCI:0000:c1:00): 79, GPU has fallen off the bus.`},
			},
			NoMatch: []string{`NVRM: Xid (PCI:0000:5b:00): 31, pid=77, name=python3, Ch 00000010, MMU Fault`},
		},
		{
			Name:     "kernel.xid_fault",
			Literals: []string{"NVRM: Xid ("},
			Expr:     `NVRM: Xid \([^)]{1,40}\): (?:13|31)\b(?:, pid=(?<pid>\d+))?`,
			Kind:     parser.IllegalAccess, Role: parser.Context, Source: xid + ": 13 a shader's exception, 31 an MMU fault",
			Match: []pattern.Sample{
				{Line: `NVRM: Xid (PCI:0000:91:00): 31, pid=4411, name=python3, Ch 00000010, intr 00000000. MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_3 faulted @ 0x7f_1a000000.`, Want: parser.Fields{"pid": "4411"}},
			},
			NoMatch: []string{`NVRM: Xid (PCI:0000:5b:00): 45, pid=291044, name=python3, Ch 00000008`},
		},
		{
			Name:     "kernel.xid",
			Literals: []string{"NVRM: Xid ("},
			Expr:     `NVRM: Xid \([^)]{1,40}\): (?!(?:13|31|48|62|63|64|74|79|92|94|95|110|119|120|136|140|143)\b)\d+(?:, pid=(?<pid>\d+))?`,
			Kind:     parser.ProcessExit, Role: parser.Consequence, Source: xid + ": 43 and 45 are the clean-up after a process died",
			Match:   []pattern.Sample{{Line: `NVRM: Xid (PCI:0000:5b:00): 45, pid=291044, name=python3, Ch 00000008, errorString CTX SWITCH TIMEOUT, Info 0x3c024`, Want: parser.Fields{"pid": "291044"}}},
			NoMatch: []string{`NVRM: loading NVIDIA UNIX x86_64 Kernel Module  535.129.03`, `NVRM: Xid (PCI:0000:5b:00): 48, pid=1`},
		},
		{
			Name:     "kernel.bad_memory",
			Literals: []string{"Memory failure: 0x", "EDAC MC"},
			Expr:     `(?:Memory failure: 0x[0-9a-f]{1,16}: (?:.{0,80}?:(?<pid>\d+) due to hardware memory corruption)?|EDAC MC\d{1,3}: \d+ UE memory )`,
			Kind:     parser.ProcessExit, Role: parser.Consequence, Set: map[string]string{"reason": "hardware"},
			Source: "Linux mm/memory-failure.c, drivers/edac/edac_mc.c; corrected errors (CE) harm nobody",
			Match: []pattern.Sample{
				{Line: `Memory failure: 0x3f2a11: Sending SIGBUS to python:5512 due to hardware memory corruption`, Want: parser.Fields{"pid": "5512"}},
				{Line: `Memory failure: 0x3f2a11: recovery action for dirty LRU page: Recovered`},
				{Line: `EDAC MC0: 1 UE memory read error on CPU_SrcID#0_MC#0_Chan#0_DIMM#0`},
			},
			NoMatch: []string{`EDAC MC0: 1 CE memory read error on CPU_SrcID#0_MC#0_Chan#0_DIMM#0`},
		},
		{
			// Somebody printed a control group's counters, each on its line or all on one. /proc/vmstat has one of the same name, of the
			// whole node since it started, so alone they prove no failure of this run.
			Name:     "cgroup.kills",
			Literals: []string{"oom_kill "},
			Expr:     `(?:^(?:[\w./-]{0,200}memory\.(?:events(?:\.local)?|oom_control):)?|\bhigh \d{1,10} max \d{1,10} oom \d{1,10} )oom_kill (?<kills>[1-9]\d{0,6})(?:\s*$| oom_group_kill \d)`,
			Gauge:    true, Source: "Linux mm/memcontrol.c: memory.events of version 2, memory.oom_control of version 1",
			Match:   []pattern.Sample{{Line: "oom_kill 1", Want: parser.Fields{"kills": "1"}}, {Line: "/sys/fs/cgroup/memory.events:oom_kill 3", Want: parser.Fields{"kills": "3"}}, {Line: "memory.events: low 0 high 0 max 214507 oom 4 oom_kill 4 oom_group_kill 0", Want: parser.Fields{"kills": "4"}}},
			NoMatch: []string{"oom_kill 0", "low 0 high 0 max 214507 oom 4 oom_kill 0", "oom_kill_disable 0", "slurmstepd: error: Detected 1 oom_kill event in StepId=4242.batch."},
		},
		{
			// An allocation inside the kernel failed and nobody was killed: of high orders a sign of fragmentation.
			Name:     "kernel.page_allocation",
			Literals: []string{"page allocation failure", "page allocation stalls for "},
			Expr:     `: page allocation (?:failure[:.] ?order:\d|stalls for \d)`,
			Kind:     parser.Pressure, Role: parser.Context, Source: "Linux 2.6-6.18 mm/page_alloc.c warn_alloc",
			Match: lines(
				`python3: page allocation failure: order:4, mode:0x40dc0(GFP_KERNEL|__GFP_COMP|__GFP_ZERO), nodemask=(null)`,
				`python: page allocation failure. order:5, mode:0xd0`,
			),
		},
		{
			Name:     "kernel.segfault",
			Literals: []string{"]: segfault at ", "traps: "},
			Expr:     `(?:traps: )?(?<comm>[^\s\[]{1,16})\[(?<pid>\d+)\]:? (?:segfault at |general protection|trap )`,
			Kind:     parser.ProcessExit, Role: parser.Consequence, Source: "Linux arch/x86/mm/fault.c, arch/x86/kernel/traps.c",
			Match: []pattern.Sample{
				{Line: `python3[9911]: segfault at 10 ip 00007f1a sp 00007ffd error 4 in libc.so.6[7f1a+195000]`, Want: parser.Fields{"comm": "python3", "pid": "9911"}},
				{Line: `traps: python3[9911] general protection fault ip:7f1a sp:7ffd error:0 in libcuda.so`, Want: parser.Fields{"comm": "python3", "pid": "9911"}},
			},
		},
	}
}

package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// deepspeedPatterns are what DeepSpeed prints in a run and where it starts one; deepspeedDeaths, how its launcher reports
// the end of its processes, stand among the launchers.
var deepspeedPatterns = []table{deepspeedMarkers, deepspeedLaunch}

// deepspeedMarkers are DeepSpeed's memory readings and set-up lines; its GB are 2^30 bytes.
func deepspeedMarkers() []pattern.Pattern {
	const src = "DeepSpeed 0.3-0.18, runtime/utils.py see_memory_usage, runtime/engine.py"
	return []pattern.Pattern{
		{
			Name:     "deepspeed.memory",
			Literals: []string{"Max_MA "},
			Expr: `\bMA (?<allocated_sz>\d+(?:\.\d+)? GB)\s{1,16}Max_MA (?<max_allocated_sz>\d+(?:\.\d+)? GB)` +
				`\s{1,16}CA (?<reserved_sz>\d+(?:\.\d+)? GB)`,
			Gauge: true, Source: src,
			Match: []pattern.Sample{{
				Line: "MA 7.75 GB         Max_MA 9.25 GB         CA 9.50 GB         Max_CA 9 GB ",
				Want: parser.Fields{"allocated": "8321499136", "max_allocated": "9932111872", "reserved": "10200547328"},
			}},
		},
		{
			// The percentage is that of the whole node.
			Name:     "deepspeed.host_memory",
			Literals: []string{"CPU Virtual Memory:"},
			Expr:     `CPU Virtual Memory:\s{1,4}used = (?<used_sz>\d+(?:\.\d+)? GB), percent = (?<percent>\d+(?:\.\d+)?)%`,
			Gauge:    true, Source: src,
			Match: []pattern.Sample{{
				Line: "CPU Virtual Memory:  used = 412.50 GB, percent = 82.1%", Want: parser.Fields{"used": "442918502400", "percent": "82.1"},
			}},
		},
		markers{kind: "phase", source: src}.line("deepspeed.init", point("init", "optimizer"),
			`(?:Creating (?:torch\.\w{1,16}|fp16|bf16) ZeRO stage \d optimizer|Before (?:initializing optimizer states|creating fp(?:16|32) partitions)|begin bf16_optimizer)`,
			[]string{" ZeRO stage ", "Before initializing optimizer states", "Before creating fp", "begin bf16_optimizer"}, "Creating torch.bfloat16 ZeRO stage 3 optimizer",
			"Before initializing optimizer states"),
		markers{kind: "phase", source: src + "; checkpoint_engine/torch_checkpoint_engine.py"}.line("deepspeed.save", opens("checkpoint", "save_checkpoint"),
			`\[Torch\] Checkpoint [^\n]{1,200} is about to be saved!`, []string{" is about to be saved!"}, "[Torch] Checkpoint global_step400 is about to be saved!"),
		markers{kind: "phase", source: src + "; checkpoint_engine/torch_checkpoint_engine.py"}.line("deepspeed.saved", closes("checkpoint", "save_checkpoint"),
			`\[Torch\] Checkpoint [^\n]{1,200} is ready now!`, []string{" is ready now!"}, "[Torch] Checkpoint global_step400 is ready now!"),
		{
			Name:     "deepspeed.step",
			Literals: []string{", skipped="},
			Expr:     `\bstep=(?<step>\d{1,9}), skipped=\d{1,9}, lr=`,
			Marker:   "step", Common: true, Source: src,
			Match: []pattern.Sample{{Line: "step=10, skipped=0, lr=[1e-06], mom=[(0.9, 0.95)]", Want: parser.Fields{"step": "10"}}},
		},
	}
}

// deepspeedLaunch tell versions, sizes and ranks.
func deepspeedLaunch() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "launch.deepspeed",
			Literals: []string{"DeepSpeed info: version="},
			Expr:     `DeepSpeed info: version=(?<version>[\w.+]{1,40})`,
			Marker:   "launch", Set: map[string]string{"backend": "deepspeed", "library": "deepspeed"},
			Source: "DeepSpeed 0.3-0.18, runtime/engine.py",
			Match:  []pattern.Sample{{Line: "[Rank 0] DeepSpeed info: version=0.16.4, git-hash=unknown, git-branch=unknown", Want: parser.Fields{"version": "0.16.4"}}},
		},
		{
			Name:     "launch.deepspeed_world",
			Literals: []string{"Config mesh_device "},
			Expr:     `Config mesh_device \w{1,40} world_size = (?<world_size>\d{1,6})`,
			Marker:   "launch", Set: map[string]string{"backend": "deepspeed"},
			Source: "DeepSpeed 0.14-0.18, runtime/config.py",
			Match:  []pattern.Sample{{Line: "Config mesh_device None world_size = 8", Want: parser.Fields{"world_size": "8"}}},
		},
		{
			Name:     "launch.deepspeed_launcher",
			Literals: []string{", num_local_procs="},
			Expr:     `nnodes=(?<nodes>\d{1,5}), num_local_procs=(?<gpus_per_node>\d{1,4}), node_rank=(?<node_rank>\d{1,5})`,
			Marker:   "launch", Set: map[string]string{"launcher": "deepspeed", "backend": "deepspeed"},
			Source: "DeepSpeed, launcher/launch.py",
			Match:  []pattern.Sample{{Line: "nnodes=1, num_local_procs=8, node_rank=0", Want: parser.Fields{"nodes": "1", "gpus_per_node": "8", "node_rank": "0"}}},
		},
		{
			Name:     "launch.deepspeed_ranks",
			Literals: []string{"global_rank_mapping="},
			Expr:     `^global_rank_mapping=defaultdict\(<class 'list'>, \{(?<ranks>'.{1,16000}?\])\}\)`,
			Marker:   "identity", Source: "DeepSpeed 0.2-0.18, launcher/launch.py: the ranks on each node, in order of their local ranks",
			Match: []pattern.Sample{{
				Line: "global_rank_mapping=defaultdict(<class 'list'>, {'worker-0': [0, 1], 'worker-1': [2, 3]})", Want: parser.Fields{"ranks": "'worker-0': [0, 1], 'worker-1': [2, 3]"},
			}},
			NoMatch: []string{"global_rank_mapping=defaultdict(<class 'list'>, {})"},
		},
		markers{kind: "launch", source: "DeepSpeed 0.3-0.18, launcher/launch.py, runner.py"}.line("launch.deepspeed_spawned",
			parser.Fields{"launcher": "deepspeed", "backend": "deepspeed", "framework": "deepspeed"}, `^process \d{1,9} spawned with command: \[|-m deepspeed\.launcher\.\w`,
			[]string{" spawned with command: [", "-m deepspeed.launcher."}, "process 20110 spawned with command: ['/opt/py/bin/python', '-u', 'train.py', '--local_rank=0']",
			"cmd = /usr/bin/python3 -u -m deepspeed.launcher.launch --world_info=eyJsb2NhbGhvc3QiOiBbMF19 train.py"),
		{
			Name:     "launch.deepspeed_rank",
			Literals: []string{" spawned with command: "},
			Expr:     `process (?<pid>\d{1,10}) spawned with command: \[.{1,400}?'--local_rank=(?<local_rank>\d{1,4})'`,
			Marker:   "identity", Source: "DeepSpeed 0.10-0.16, launcher/launch.py",
			Match: []pattern.Sample{{
				Line: "process 9044 spawned with command: ['/opt/py/bin/python', '-u', 'train.py', '--local_rank=4', '--lr', '1e-5']", Want: parser.Fields{"pid": "9044", "local_rank": "4"},
			}},
			NoMatch: []string{"process 9044 exits successfully."},
		},
	}
}

// deepspeedDeaths are those of DeepSpeed's launcher.
func deepspeedDeaths() []pattern.Pattern {
	const deepspeed = "DeepSpeed 0.3-0.18 deepspeed/launcher/launch.py; torch 1.7-1.8 torch/distributed/launch.py"
	return []pattern.Pattern{
		{
			// Printed for every sibling that was still healthy.
			Name:     "deepspeed.killing",
			Literals: []string{"Killing subprocess ", " received SIGTERM, exiting", " received SIGINT, exiting"},
			Expr:     `(?:Killing subprocess (?<pid>\d+)\s*$|Main process received (?<signal>SIG\w{1,12}), exiting)`,
			Kind:     parser.ProcessExit, Role: parser.Consequence, Set: map[string]string{"reason": "launcher"}, Source: deepspeed,
			Match: []pattern.Sample{
				{Line: `Killing subprocess 97`, Want: parser.Fields{"pid": "97"}},
				{Line: `Main process received SIGTERM, exiting`, Want: parser.Fields{"signal": "SIGTERM"}},
			},
			NoMatch: []string{`Killing subprocess group`},
		},
		{
			Name:     "deepspeed.sigkill",
			Literals: []string{"exits with return code = ", "ssh exited with exit code "},
			Expr:     `(?:(?:'--local_rank=(?<local_rank>\d{1,4})'.{0,2000}?)?exits with return code = (?<exitcode>-9|137)|(?<![\w.-])(?<node>[\w.-]{1,253}): ssh exited with exit code (?<exitcode>137))(?!\d)`,
			Kind:     parser.OOMKill, Role: parser.Suspicion, Source: deepspeed + "; pdsh",
			Match: []pattern.Sample{
				{Line: `['/usr/bin/python3', '-u', 'train.py', '--local_rank=7'] exits with return code = -9`, Want: parser.Fields{"exitcode": "-9", "local_rank": "7"}},
				{Line: `pdsh@gpu-01: gpu-02: ssh exited with exit code 137`, Want: parser.Fields{"exitcode": "137", "node": "gpu-02"}},
			},
			NoMatch: []string{`['/usr/bin/python3', '-u', 'train.py'] exits with return code = 1`},
		},
		{
			Name:     "deepspeed.sigbus",
			Literals: []string{"exits with return code = "},
			Expr:     `(?:'--local_rank=(?<local_rank>\d{1,4})'.{0,2000}?)?exits with return code = (?<exitcode>-7|135)(?!\d)`,
			Kind:     parser.SHMExhausted, Role: parser.Suspicion, Set: map[string]string{"signal": "SIGBUS"}, Source: deepspeed,
			Match: []pattern.Sample{
				{Line: `['/usr/bin/python3', '-u', 'train.py', '--local_rank=3'] exits with return code = -7`, Want: parser.Fields{"exitcode": "-7", "local_rank": "3"}},
			},
			NoMatch: []string{`['/usr/bin/python3', '-u', 'train.py'] exits with return code = -9`, `['/usr/bin/python3', '-u', 'train.py'] exits with return code = 1`},
		},
		{
			Name:     "deepspeed.exited",
			Literals: []string{"exits with return code = ", "ssh exited with exit code "},
			Expr:     `(?:(?:'--local_rank=(?<local_rank>\d{1,4})'.{0,2000}?)?exits with return code = (?!-9\b|137\b|-7\b|135\b|0\b)(?<exitcode>-?\d+)|(?<![\w.-])(?<node>[\w.-]{1,253}): ssh exited with exit code (?!137\b|0\b)(?<exitcode>\d+))`,
			Kind:     parser.ProcessExit, Role: parser.Consequence, Source: deepspeed + "; pdsh",
			Match: []pattern.Sample{
				{Line: `['/usr/bin/python3', '-u', 'train.py', '--local_rank=7'] exits with return code = 1`, Want: parser.Fields{"exitcode": "1", "local_rank": "7"}},
				{Line: `pdsh@gpu-01: gpu-02: ssh exited with exit code 1`, Want: parser.Fields{"exitcode": "1", "node": "gpu-02"}},
			},
			NoMatch: []string{`Process 4411 exits with return code = 0`, `['python', 'train.py'] exits with return code = -9`},
		},
	}
}

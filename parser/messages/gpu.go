package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// gpuPatterns are the names of cards: what tells their size where no failure does.
func gpuPatterns() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "gpu.card",
			Literals: []string{"NVIDIA A", "NVIDIA H", "NVIDIA B", "NVIDIA L", "NVIDIA T", "NVIDIA V", "NVIDIA RTX", "GeForce RTX", "Tesla V100", "Tesla T4"},
			Expr: `\b(?:NVIDIA|GeForce|Tesla) (?:GeForce |Tesla )?(?<card>A100|A800|H100|H800|V100|A30|A40|A10G?|H200|H20|B200|L40S?|L4|T4|RTX A6000|RTX [345]090)(?!\w| Ti| D\b)` +
				`(?:-SXM\d?|-PCIE|-SXM\d?-HBM\d)?(?:[- ](?<gb>\d{2,3})GB)?`,
			Gauge: true, Source: "names of cards as the driver tells them: nvidia-smi, torch.cuda.get_device_name, vLLM's collect_env",
			Match: []pattern.Sample{
				{Line: "GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-0)", Want: parser.Fields{"card": "A100", "gb": "80"}},
				{Line: "|   0  NVIDIA H100 80GB HBM3          On  | 00000000:04:00.0 Off |                    0 |", Want: parser.Fields{"card": "H100", "gb": "80"}},
				{Line: "Nvidia driver, GPU 0: NVIDIA GeForce RTX 4090", Want: parser.Fields{"card": "RTX 4090"}},
				{Line: "name: Tesla V100-SXM2-32GB, pci bus id: 0000:00:1e.0", Want: parser.Fields{"card": "V100", "gb": "32"}},
				{Line: "GPU models and configuration: GPU 0: NVIDIA L4", Want: parser.Fields{"card": "L4"}},
			},
			NoMatch: []string{"NVIDIA GeForce RTX 4090 D", "the NVIDIA Apex library", "NVIDIA A1000"},
		},
		{
			// One process on one card: the readings of a table are told apart by both.
			Name:     "smi.process",
			Literals: []string{"      C   ", "    C+G   "},
			Expr:     `^\|\s{1,6}(?<device>\d{1,3})\s{1,6}(?:(?:N/A|\d{1,3})\s{1,6}(?:N/A|\d{1,3})\s{1,9})?(?<pid>\d{1,10})\s{1,9}(?:C|C\+G)\s{1,4}(?<comm>\S.{0,100}?)\s{1,80}(?<used_mib>\d{1,7})MiB \|`,
			Gauge:    true, Source: "nvidia-smi 418 to 580, its table of processes",
			Match: []pattern.Sample{
				{Line: "|    0   N/A  N/A     20110      C   tritonserver                              66790MiB |", Want: parser.Fields{"device": "0", "pid": "20110", "comm": "tritonserver", "used": "70034391040"}},
				{Line: "|    1     28831    C+G   /opt/conda/bin/python                        7641MiB |", Want: parser.Fields{"device": "1", "pid": "28831", "comm": "/opt/conda/bin/python", "used": "8012169216"}},
				{Line: "|    0    7    0       4711      C   [Not Found]                                 9722MiB |", Want: parser.Fields{"device": "0", "pid": "4711", "comm": "[Not Found]", "used": "10194255872"}},
			},
			NoMatch: []string{
				"|    0   N/A  N/A      1873      C   /opt/conda/bin/python                        N/A |",
				"| N/A   33C    P8             10W /  400W |   66802MiB /  81920MiB |      0%      Default |",
			},
		},
		{
			Name:     "smi.query",
			Literals: []string{"used_gpu_memory [MiB]", "used_memory [MiB]"},
			Expr:     `^(?:[\w.]{1,40}, ){0,4}used_(?:gpu_)?memory \[MiB\]\s*$`,
			Gauge:    true, Source: "nvidia-smi --query-compute-apps=... --format=csv, its first line",
			Match: lines("pid, process_name, used_gpu_memory [MiB]", "gpu_uuid, pid, used_gpu_memory [MiB]"),
		},
		{
			Name:  "smi.listed",
			After: []string{"smi.query"}, Within: 32,
			Expr:  `^(?:GPU-[\w-]{1,60}, |[\dA-F:.]{12,20}, )?(?<pid>\d{1,10}), (?:(?<comm>[^,\d][^,]{0,200}), )?(?<used_mib>\d{1,7}) MiB\s*$`,
			Gauge: true, Source: "nvidia-smi --query-compute-apps=... --format=csv, one process",
			Match: []pattern.Sample{
				{Line: "22110, /home/a/miniconda3/bin/python, 68412 MiB", Want: parser.Fields{"pid": "22110", "comm": "/home/a/miniconda3/bin/python", "used": "71735181312"}},
				{Line: "GPU-1f2e3d4c-0000-1111-2222-333344445555, 811, 410 MiB", Want: parser.Fields{"pid": "811", "used": "429916160"}},
			},
			NoMatch: []string{"0, 81559 MiB, 12 MiB", "pid, process_name, used_gpu_memory [MiB]"},
		},
		{
			Name:     "reading.card",
			Literals: []string{"allocated ", "allocated: ", "allocated="},
			Expr:     `\ballocated(?:: | |= ?)(?:(?<allocated_gib>\d{1,4}(?:\.\d{1,3})?) ?Gi?B|(?<allocated_mib>\d{1,7}(?:\.\d{1,3})?) ?Mi?B)\b`,
			Gauge:    true, Source: "scripts that print torch.cuda.memory_allocated",
			Match: []pattern.Sample{
				{Line: "step 3 allocated 2.91 GiB", Want: parser.Fields{"allocated": "3124588708"}},
				{Line: "step 3 allocated: 2.91 GB", Want: parser.Fields{"allocated": "3124588708"}},
				{Line: "mem allocated 4412 MB, loss 1.2", Want: parser.Fields{"allocated": "4626317312"}},
			},
			NoMatch: []string{"Of the allocated memory 67.60 GiB is allocated by PyTorch"},
		},
		{
			Name:     "reading.card_named",
			Literals: []string{"mem_allocated", "memory_allocated"},
			Expr:     `\bmem(?:ory)?_allocated[ =:]{1,3}(?:(?<allocated_gib>\d{1,4}(?:\.\d{1,3})?) ?Gi?B|(?<allocated_mib>\d{1,7}(?:\.\d{1,3})?) ?Mi?B)\b`,
			Gauge:    true, Source: "scripts that print torch.cuda.memory_allocated",
			Match:   []pattern.Sample{{Line: "[Epoch 1] mem_allocated: 4412 MB", Want: parser.Fields{"allocated": "4626317312"}}},
			NoMatch: []string{"perf/max_memory_allocated_gb:61.2"},
		},
		{
			Name:     "reading.peak",
			Literals: []string{"memory/max_allocated (GiB)", "memory/max_mem_allocated(gib)", "  memory: ", ", memory: ", "max_mem: ", "max mem: "},
			Expr: `(?:memory/(?:max_allocated \(GiB\)|max_mem_allocated\(gib\))'?: (?<max_allocated_gib>\d{1,4}(?:\.\d{1,6})?)` +
				`|\bdata_time: \d{1,6}\.\d{1,6}(?:  |, )memory: (?<max_allocated_mib>\d{1,7})\b|\bmax[_ ]mem: (?<max_allocated_mib>\d{1,7})(?:M\b|\b))`,
			Gauge: true, Source: "axolotl, core/trainers/base.py; mmengine, mmcv and detectron2: torch.cuda.max_memory_allocated after each step",
			Match: []pattern.Sample{
				{Line: "{'loss': 1.93, 'memory/max_active (GiB)': 60.41, 'memory/max_allocated (GiB)': 60.5}", Want: parser.Fields{"max_allocated": "64961380352"}},
				{Line: "Epoch [1][50/500] time: 0.412, data_time: 0.011, memory: 5120, loss_cls: 0.4021", Want: parser.Fields{"max_allocated": "5368709120"}},
			},
			NoMatch: []string{"step: 10  loss:  7.1352  grad_norm:  2.1  memory: 47.50GiB(60.06%)  tps: 5,210"},
		},
		{
			Name:     "verl.peak",
			Literals: []string{"perf/max_memory_allocated_gb"},
			Expr:     `perf/max_memory_allocated_gb[:=] ?(?<max_allocated_gib>\d{1,6}(?:\.\d{1,6})?)`,
			Gauge:    true, Source: "verl, workers/fsdp_workers.py, megatron_workers.py: the highest use of a card until then, after each step",
			Match:   []pattern.Sample{{Line: "step:5 - perf/max_memory_allocated_gb:61.5 - perf/max_memory_reserved_gb:70.1", Want: parser.Fields{"max_allocated": "66035122176"}}},
			NoMatch: []string{"perf/max_memory_reserved_gb:52.1"},
		},
		{
			Name:     "reading.host",
			Literals: []string{"perf/cpu_memory_used_gb"},
			Expr:     `perf/cpu_memory_used_gb[:=] ?(?<used_gib>\d{1,6}(?:\.\d{1,6})?)`,
			Gauge:    true, Source: "verl, workers/fsdp_workers.py: what the node uses after each step",
			Match:   []pattern.Sample{{Line: "step:5 - perf/cpu_memory_used_gb:196.0", Want: parser.Fields{"used": "210453397504"}}},
			NoMatch: []string{"perf/max_memory_reserved_gb:52.1"},
		},
		{
			Name: "reading.rss",
			Literals: []string{
				" RSS: ", " rss = ", " rss before ", "host rss ", "process rss ",
			},
			Expr:  `\b(?:rss|RSS)(?: before \S{1,12} [KMGT]i?B after |: | = |[ =])(?<used_sz>\d{1,6}(?:\.\d{1,6})? ?[MGT]i?B)\b`,
			Gauge: true, Source: "scripts that print psutil.Process().memory_info().rss",
			Match: []pattern.Sample{
				{Line: "step 200, process rss 15.1 GB", Want: parser.Fields{"used": "16213501542"}},
				{Line: "Saved checkpoint at step 200; host rss before 118.0 GB after 144.1 GB", Want: parser.Fields{"used": "154726196838"}},
			},
			NoMatch: []string{"anon-rss:62001284kB, file-rss:90212kB", "rss 12 items read"},
		},
		{
			Name:     "reading.node",
			Literals: []string{"host memory", "Host memory", "host_memory", "CPU memory", "system memory", "System memory", "RAM usage", "RAM used"},
			Expr: `\b(?:(?:[Hh]ost|CPU|[Ss]ystem)[ _]memory(?:[ _]used|[ _]usage)?|RAM (?:used|usage))[:=]? {1,4}(?<used_sz>\d{1,6}(?:\.\d{1,6})? ?[KMGT]i?B)(?: of | ?/ ?)` +
				`(?<host_total_sz>\d{1,6}(?:\.\d{1,6})? ?[KMGT]i?B)`,
			Gauge: true, Source: "programs of all kinds: what their node uses",
			Match: []pattern.Sample{
				{Line: "[rank0] host memory used 1402.8 GiB of 2015.0 GiB (104 of 163 files)", Want: parser.Fields{"used": "1506245030707", "host_total": "2163589775360"}},
				{Line: "step 40 | CPU memory: 243.1GB / 251.8GB", Want: parser.Fields{"used": "261026637414", "host_total": "270368191283"}},
				{Line: "870/5004 - ETA: 1:23:02 - loss: 6.4871 - host_memory_used: 28.7GB of 64GB", Want: parser.Fields{"used": "30816390349", "host_total": "68719476736"}},
				{Line: "RAM usage: 61 GiB/64 GiB", Want: parser.Fields{"used": "65498251264", "host_total": "68719476736"}},
			},
			NoMatch: []string{"GPU memory used 70.1 GiB of 79.2 GiB", "host memory is full", "pinned host memory 4.0 GiB"},
		},
	}
}

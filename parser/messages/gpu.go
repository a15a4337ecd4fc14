package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// gpuPatterns are the names of cards: what tells their size where no failure does.
func gpuPatterns() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "smi.card",
			Literals: []string{", NVIDIA ", ", Tesla "},
			Expr:     `^(?<device>\d{1,3}), (?:NVIDIA|Tesla) [^,]{1,80}, (?<total_mib>\d{1,7}) MiB, (?<used_mib>\d{1,7}) MiB(?:,|\s*$)`,
			Also:     []string{"gpu.card", "gpu.early"},
			Gauge:    true, Source: "nvidia-smi --query-gpu=index,name,memory.total,memory.used,... --format=csv, one card",
			Match: []pattern.Sample{
				{Line: "0, NVIDIA H800, 81559 MiB, 43962 MiB, 37049 MiB", Want: parser.Fields{"device": "0", "total": "85520809984", "used": "46097498112"}},
			},
			NoMatch: []string{"22110, /home/a/miniconda3/bin/python, 68412 MiB", "0, 81559 MiB, 12 MiB"},
		},
		{
			Name:     "smi.row",
			Literals: []string{"  NVIDIA ", "  Tesla ", "  GeForce ", " (UUID: GPU-"},
			Expr:     `^(?:\|\s{1,5}(?<device>\d{1,3})\s{2,4}(?:NVIDIA|Tesla|GeForce) .{1,60}\||GPU (?<device>\d{1,3}): [^()]{1,60} \(UUID: GPU-)`,
			Also:     []string{"gpu.card", "gpu.early"},
			Gauge:    true, Source: "nvidia-smi 418 to 580, its table of cards: the row with a card's number; and its list of all cards, nvidia-smi -L",
			Match: []pattern.Sample{
				{Line: "GPU 1: NVIDIA RTX A2000 12GB (UUID: GPU-5b0c6c1e-7a2f-2c0b-9d3e-0f1b2a7c4e55)", Want: parser.Fields{"device": "1"}},
				{Line: "|   4  NVIDIA GeForce RTX 3090        On  | 00000000:88:00.0 Off |                  N/A |", Want: parser.Fields{"device": "4"}},
			},
			NoMatch: []string{"|    0   N/A  N/A     20110      C   tritonserver                              66790MiB |"},
		},
		{
			Name:     "smi.memory",
			Literals: []string{"MiB |    "},
			Expr:     `^\|\s{0,3}(?:N/A|\d{1,3}%)\s{1,6}(?:N/A|\d{1,3}C)\s{1,6}\S{1,3}\s{1,20}(?:N/A|\d{1,4}W) /\s{1,4}(?:N/A|\d{1,4}W)\s{1,3}\|\s{1,12}(?<used_mib>\d{1,7})MiB /\s{1,6}(?<total_mib>\d{1,7})MiB \|`,
			Gauge:    true, Source: "nvidia-smi 418 to 580, its table of cards: the second row of a card",
			Match: []pattern.Sample{
				{Line: "| N/A   33C    P8             10W /  400W |   66802MiB /  81920MiB |      0%      Default |", Want: parser.Fields{"used": "70046973952", "total": "85899345920"}},
				{Line: "|  0%   46C    P8              16W / 170W |    611MiB / 12288MiB |      2%      Default |", Want: parser.Fields{"used": "640679936", "total": "12884901888"}},
			},
			NoMatch: []string{"|    0   N/A  N/A     20110      C   tritonserver                              66790MiB |"},
		},
		{
			Name:     "gpu.card",
			Literals: []string{"NVIDIA A", "NVIDIA H", "NVIDIA B", "NVIDIA L", "NVIDIA T", "NVIDIA V", "NVIDIA RTX", "GeForce RTX", "Tesla V100", "Tesla T4"},
			Expr: `\b(?:NVIDIA|GeForce|Tesla) (?:GeForce |Tesla )?(?<card>A100|A800|H100|H800|V100|A30|A40|A10G?|H200|H20|B200|L40S?|L4|T4|RTX A[456]000|RTX [345]090|RTX [34]070|RTX 4080)(?!\w| Ti| D\b)` +
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
			Name:     "gpu.early",
			Literals: []string{"GeForce GTX ", "GeForce RTX 20", "Quadro RTX ", "Tesla P", "TITAN RTX", "TITAN V", "TITAN X", "Tesla V100", "Tesla T4", "for Volta and Turing GPUs"},
			Expr:     `\b(?<card>GeForce GTX (?:9|10|16)\d0(?: Ti| SUPER)?|GeForce RTX 20[678]0(?: Ti| SUPER)?|Quadro RTX [3-8]000|Tesla (?:P100|P40|P4|V100|T4)|TITAN (?:RTX|V|Xp?))\b|for (?<card>Volta and Turing GPUs)`,
			Also:     []string{"gpu.card"},
			Gauge:    true, Source: "names of cards as the driver tells them, of an architecture before Ampere; vLLM 0.4 to 0.8, attention/selector.py",
			Match: []pattern.Sample{
				{Line: "0, NVIDIA GeForce RTX 2080 Ti, 22528 MiB, 1 MiB", Want: parser.Fields{"card": "GeForce RTX 2080 Ti"}},
				{Line: "Cannot use FlashAttention-2 backend for Volta and Turing GPUs.", Want: parser.Fields{"card": "Volta and Turing GPUs"}},
				{Line: "Found GPU0 Tesla P40 which is of cuda capability 6.1.", Want: parser.Fields{"card": "Tesla P40"}},
			},
			NoMatch: []string{"NVIDIA GeForce RTX 3090", "NVIDIA RTX A2000 12GB"},
		},
		{
			// One process on one card: the readings of a table are told apart by both.
			Name:     "smi.process",
			Literals: []string{"      C   ", "    C+G   "},
			Expr:     `^\|\s{1,6}(?<device>\d{1,3})\s{1,6}(?:(?:N/A|\d{1,3})\s{1,6}(?:N/A|\d{1,3})\s{1,16})?(?<pid>\d{1,10})\s{1,9}(?:C|C\+G)\s{1,4}(?<comm>\S.{0,100}?)\s{1,80}(?<used_mib>\d{1,7})MiB \|`,
			Gauge:    true, Source: "nvidia-smi 418 to 580, its table of processes",
			Match: []pattern.Sample{
				{Line: "|    0   N/A  N/A     20110      C   tritonserver                              66790MiB |", Want: parser.Fields{"device": "0", "pid": "20110", "comm": "tritonserver", "used": "70034391040"}},
				{Line: "|    1     28831    C+G   /opt/conda/bin/python                        7641MiB |", Want: parser.Fields{"device": "1", "pid": "28831", "comm": "/opt/conda/bin/python", "used": "8012169216"}},
				{Line: "|    0   N/A  N/A            3321      C   python                                60544MiB |", Want: parser.Fields{"device": "0", "pid": "3321", "comm": "python", "used": "63484985344"}},
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
			Expr:  `^(?:(?<bus>GPU-[\w-]{1,60}|[\dA-F:.]{12,20}), )?(?<pid>\d{1,10}), (?:(?<comm>[^,\d][^,]{0,200}), )?(?<used_mib>\d{1,7}) MiB\s*$`,
			Gauge: true, Source: "nvidia-smi --query-compute-apps=... --format=csv, one process",
			Match: []pattern.Sample{
				{Line: "22110, /home/a/miniconda3/bin/python, 68412 MiB", Want: parser.Fields{"pid": "22110", "comm": "/home/a/miniconda3/bin/python", "used": "71735181312"}},
				{Line: "GPU-1f2e3d4c-0000-1111-2222-333344445555, 811, 410 MiB", Want: parser.Fields{"bus": "GPU-1f2e3d4c-0000-1111-2222-333344445555", "pid": "811", "used": "429916160"}},
				{Line: "00000000:41:00.0, 33096, /usr/bin/python3, 19012 MiB", Want: parser.Fields{"bus": "00000000:41:00.0", "pid": "33096", "comm": "/usr/bin/python3", "used": "19935526912"}},
			},
			NoMatch: []string{"0, 81559 MiB, 12 MiB", "pid, process_name, used_gpu_memory [MiB]"},
		},
	}
}

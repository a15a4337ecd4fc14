package messages

import (
	"slices"

	"oomscan/parser"
	"oomscan/parser/pattern"
)

// The names that scripts give to what a process or its node uses, and to what is in use on a card.
const (
	hostName = `(?:rss|(?:cpu|host|system|process|resident|node)[ _-]?(?:mem(?:ory)?|ram)|ram)`
	cardName = `(?:(?:gpu|cuda)[ _-]?(?:mem(?:ory)?|ram)|vram)`
)

// named is an expression for a reading that stands behind its name: the unit is part of the name, or follows the number.
func named(name, field string) string {
	const number = `\d{1,7}(?:\.\d{1,6})?`
	return `(?i:\b` + name + `(?:[ _-](?:used|usage|allocated|alloc|rss))?)(?:` +
		`[ _]?[(\[]?(?:[Gg][Ii]?[Bb][)\]'"]{0,2}[:= ]{1,3}(?<` + field + `_gib>` + number + `)|[Mm][Ii]?[Bb][)\]'"]{0,2}[:= ]{1,3}(?<` + field + `_mib>` + number + `))\b` +
		`|\]?(?: (?:before|after|now|at|is))?(?: (?:iter|iteration|step|epoch|batch) \d{1,9})?[:=]?(?: {1,4}|(?<==))(?<` + field + `_sz>` + number + ` ?[KMGT]i?B)\b)`
}

// Literals of readings are chosen so that little of what engines print with each batch looks like one: "token usage: 0.84, cuda graph:
// True, GPU KV cache usage: 45.97%". So "RSS usa" is one, a word of its own, and "RSS usage" is not.

// before are the literals of a name together with the character that follows on it, where the name alone is too short to be searched
// for.
func before(next string, names ...string) []string {
	var out []string
	for _, n := range names {
		for _, c := range next {
			out = append(out, n+string(c))
		}
	}
	return out
}

// after are the literals of a name together with the character before it.
func after(previous, name string) []string {
	var out []string
	for _, c := range previous {
		out = append(out, string(c)+name)
	}
	return out
}

// HostInUse is a reading of host memory in any of the words that scripts have for it. Healthy logs hold these words too often for
// a search: it is tried only on the lines above a failure of host memory, and has no literal.
func HostInUse() pattern.Pattern {
	const used = `(?![\d.])[,;|]? {0,3}used[:= ]{1,3}(?<used_` // beside the total, whose size tells the unit of free -g, -m and -k
	return pattern.Pattern{
		Name: "reading.host_above",
		Expr: `^(?<label>[a-z0-9][\w.-]{1,100}(?: {2,}[a-z0-9][\w.-]{0,60})?) {2,}(?<cpu>\d{1,6})m {2,}(?<used_mib>\d{1,7})Mi\s*$|(?i)(?<![\w/])(?<!(?:max|peak|total|free|avail|available|gpu|cuda|device|card|pinned|shared|swap|virtual|limit|cache|cached|reserved|allocated|of|model|request(?:ed)?) ?)` +
			`(?<label>(?:(?:vm)?rss|resident|(?:(?:used|host|system|sys|process|proc|node|cpu|current|main)[ _-])?(?:ram|mem(?:ory)?))` +
			`(?:[ _-](?:used|usage|use|consumption|size|rss|mem))?)["']?(?: (?:is|at|now|before|after))?\s{0,3}[:=]?\s{0,3}(?:(?<used_sz>\d{1,9}(?:\.\d{1,6})? ?(?:[KMGT]i?B?))\b(?! ?(?:free|total|available|limit|/s))` +
			`|(?:(?<used_mib>\d{1,7})/(?<host_total_mib>\d{4,7}) ?Mi?B?|(?<used_gib>\d{1,4}(?:\.\d{1,3})?)/(?<host_total_gib>\d{1,4}(?:\.\d{1,3})?) ?Gi?B?)\b` +
			`|total[:= ]{1,3}(?:(?<host_total_gib>[1-3]?\d{1,3})` + used + `gib>\d{1,4})|(?<host_total_mib>[4-9]\d{3}|\d{5,6})` + used + `mib>\d{1,6})|(?<host_total_kib>\d{7,10})` + used + `kib>\d{1,10}))\b)`,
		Gauge: true, Source: "scripts that print what psutil, resource or /proc/self/status say of them, watches that print free's columns, and kubectl top pod",
		Match: []pattern.Sample{
			{Line: "document 1/2200: 4096 tokens, 16.0 s, rss 9.0 GiB", Want: parser.Fields{"label": "rss", "used": "9663676416"}},
			{Line: "step 12 loss 2.31 (RAM: 41.5GB)", Want: parser.Fields{"label": "RAM", "used": "44560285696"}},
			{Line: "epoch 3 | Memory usage: 20480.0 MB", Want: parser.Fields{"label": "Memory usage", "used": "21474836480"}},
			{Line: "[pid 7] VmRSS:\t 9437184 kB", Want: parser.Fields{"label": "VmRSS", "used": "9663676416"}},
			{Line: "worker 3: mem=12.5G", Want: parser.Fields{"label": "mem", "used": "13421772800"}},
			{Line: "host RAM used 96.2 GiB of 128 GiB", Want: parser.Fields{"label": "host RAM used", "used": "103293963469"}},
			{Line: "Mem: total 1007 used 341 free 635 shared 9 buff/cache 31 available 660", Want: parser.Fields{"label": "Mem", "host_total": "1081258016768", "used": "366145961984"}},
			{Line: "10:02 mem total=15926, used=14981, free=201", Want: parser.Fields{"label": "mem", "host_total": "16699621376", "used": "15708717056"}},
			{Line: "memory total: 16308224 used: 15340544", Want: parser.Fields{"label": "memory", "host_total": "16699621376", "used": "15708717056"}},
			{Line: "Memory Usage: 14981/15926MB (94.07%)", Want: parser.Fields{"label": "Memory Usage", "host_total": "16699621376", "used": "15708717056"}},
			{Line: "ranker-7c9d5b8f4d-x2lqk   2213m   3174Mi   ", Want: parser.Fields{"label": "ranker-7c9d5b8f4d-x2lqk", "cpu": "2213", "used": "3328180224"}},
			{Line: "l3-8b-worker-0   vllm   9120m        27412Mi", Want: parser.Fields{"label": "l3-8b-worker-0   vllm", "cpu": "9120", "used": "28743565312"}},
			{Line: "[watch] RAM: 201.5/251.0 GB", Want: parser.Fields{"label": "RAM", "host_total": "269509197824", "used": "216358977536"}},
		},
		NoMatch: []string{
			"peak rss 15.1 GB", "GPU memory: 12.1 GiB", "max memory 12 GB", "available RAM 3.1 GB", "free memory: 3.1 GB", "memory 12.1 GB free", "total memory 64 GB",
			"cuda memory 2.1 GB", "GPU memory: 14981/15926MB", "swap total 2047 used 12", "mem total 2.5 used 1", "the worker's rss is unknown", "reading at memory 3 GB/s",
			"gke-pool-mk2p   1250m   31%   9174Mi   61%", "ranker-7c9d5b8f4d-x2lqk   1/1     Running   0   64m", // nodes share their memory
		},
	}
}

// CardInUse is the same of a card's memory, above a failure of it.
func CardInUse() pattern.Pattern {
	return pattern.Pattern{
		Name: "reading.card_above",
		Expr: `(?i)(?<![\w/])(?<!(?:max|peak|total|free|avail|available|cpu|host|system|process|pinned|shared|swap|limit|cache|cached|reserved|of|model|request(?:ed)?|weights?|try(?:ing)? to|kv) ?)` +
			`(?<label>(?:(?:gpu|cuda|device|card|torch)(?:[: ]?\d)?[ _-]?)?(?:vram|mem(?:ory)?|alloc(?:ated)?)(?:[ _-](?:used|usage|use|alloc(?:ated)?))?|gpu(?: ?\d)?|cuda:\d)` +
			`(?:["']?(?: (?:is|at|now|before|after))?\s{0,3}[:=]?\s{0,3}(?<allocated_sz>\d{1,7}(?:\.\d{1,6})? ?(?:[MGT]i?B?))\b(?! ?(?:free|total|available|limit|/s))` +
			`|_(?:Gi?B["']?[:= ]{1,3}(?<allocated_gib>\d{1,4}(?:\.\d{1,6})?)|Mi?B["']?[:= ]{1,3}(?<allocated_mib>\d{1,7}(?:\.\d{1,6})?))(?![\w.]))`,
		Gauge: true, Source: "scripts that print what torch.cuda says, with the unit behind the number or in the name",
		Match: []pattern.Sample{
			{Line: "step 12 loss 2.31 VRAM: 41.5GB", Want: parser.Fields{"label": "VRAM", "allocated": "44560285696"}},
			{Line: "epoch 3 | mem 20480 MB", Want: parser.Fields{"label": "mem", "allocated": "21474836480"}},
			{Line: "step 9 gpu_mem=12.5G", Want: parser.Fields{"label": "gpu_mem", "allocated": "13421772800"}},
			{Line: "iter 40: cuda:0 12.5 GB", Want: parser.Fields{"label": "cuda:0", "allocated": "13421772800"}},
			{Line: "Validation DataLoader 0:   4%|4         | 10/250 [00:03<01:48,  3.12it/s, v_num=17, alloc_gib=12.50]", Want: parser.Fields{"label": "alloc", "allocated": "13421772800"}},
			{Line: "{'loss': 1.2, 'mem_mb': 12800, 'epoch': 0.1}", Want: parser.Fields{"label": "mem", "allocated": "13421772800"}},
		},
		NoMatch: []string{
			"peak memory 15.1 GB", "cpu memory: 12.1 GiB", "free memory: 3.1 GB", "Tried to allocate 2.00 GiB", "reserved memory 12 GB", "GPU 0 has a total capacity of 79.15 GiB", "KV cache memory: 12 GiB",
			"max_alloc_gib=12.5", "peak_mem_gib=12.5", "host_mem_gb: 12.5", "mem_limit_mb: 4096", "gpu_mem_total_gib=79.15", "'reserved_gb': 12.5", "vram_gb=12.5.1",
			"'memory(GiB)': 12.5", // ms-swift's, of the most reserved so far
		},
	}
}

// readingPatterns are readings of memory that programs print again and again: how they go over the steps tells a leak.
func readingPatterns() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "reading.card",
			Literals: []string{"allocated ", "allocated: ", "allocated=", "Allocated: ", "Allocated = "},
			Requires: append(before("0123456789", "llocated "), "llocated: ", "llocated=", "llocated = ", "llocated (GB): "),
			Expr:     `(?:(?:Memory-Usage |^)(?<label>[^:,]{1,80})[:,] memory allocated \(GB\): (?<allocated_gib>\d{1,4}(?:\.\d{1,3})?)|\b[aA]llocated(?:: | |= ?| = )(?:(?<allocated_gib>\d{1,4}(?:\.\d{1,3})?) ?Gi?B|(?<allocated_mib>\d{1,7}(?:\.\d{1,3})?) ?Mi?B)\b)`,
			Gauge:    true, Source: "scripts that print torch.cuda.memory_allocated; AReaL, api/io_struct.py; verl, utils/debug",
			Match: []pattern.Sample{
				{Line: "Memory-Usage after onload model: memory allocated (GB): 14.51, memory reserved (GB): 20.1", Want: parser.Fields{"label": "after onload model", "allocated": "15579993866"}},
				{Line: "Before update, memory allocated (GB): 14.51, memory reserved (GB): 20.1", Want: parser.Fields{"label": "Before update", "allocated": "15579993866"}},
				{Line: "step 3 allocated 2.91 GiB", Want: parser.Fields{"allocated": "3124588708"}},
				{Line: "step 3 allocated: 2.91 GB", Want: parser.Fields{"allocated": "3124588708"}},
				{Line: "mem allocated 4412 MB, loss 1.2", Want: parser.Fields{"allocated": "4626317312"}},
			},
			NoMatch: []string{"Of the allocated memory 67.60 GiB is allocated by PyTorch"},
		},
		{
			Name:     "reading.reserved",
			Literals: []string{"memory reserved (GB): ", "GB reserved"},
			Expr:     `memory reserved \(GB\): (?<=\bmemory reserved \(GB\): )(?<reserved_gib>\d{1,4}(?:\.\d{1,3})?)|GB reserved\b(?<=\b(?<reserved_gib>\d{1,4}(?:\.\d{1,3})?) ?GB reserved)`,
			Gauge:    true, Source: "verl, utils/profiler/performance.py; AReaL, api/io_struct.py; NeMo-RL, models/policy: what the trainer's allocator holds of a card",
			Match: []pattern.Sample{
				{Line: "After state_dict() in sharding manager memory, memory allocated (GB): 17.20, memory reserved (GB): 34.51", Want: parser.Fields{"reserved": "37054830346"}},
				{Line: "GPU Memory after checkpoint: 15.62GB allocated, 15.90GB reserved", Want: parser.Fields{"reserved": "17072495002"}},
			},
			NoMatch: []string{"308.77 MiB is reserved by PyTorch but unallocated", "perf/max_memory_reserved_gb:41.77"},
			Also:    []string{"reading.card", "reading.device"},
		},
		{
			Name:     "reading.device",
			Literals: []string{"device memory used/total (GB): ", "in sharding manager: ", "in vllm engine: ", "model init: ", "module init: ", "optimizer init: ", "during init: ", "After vllm init: "},
			Expr: `(?:(?:Memory-Usage |^)(?<label>[^:,]{1,80})[:,] [^:]{1,80}: [\d.]{1,12}, [^:]{1,40}: [\d.]{1,12}, )?device memory used/total \(GB\): (?<used_gib>\d{1,5}(?:\.\d{1,3})?)/(?<total_gib>\d{1,5}(?:\.\d{1,3})?)` +
				`|^(?<label>(?:After|Before) [^:,]{3,60}): (?<used_gib>\d{1,5}\.\d\d) GB / (?<total_gib>\d{1,5}\.\d\d) GB\.`,
			Gauge: true, Source: "verl, utils/profiler/performance.py; AReaL, api/io_struct.py; EasyR1, verl/utils/model_utils.py (print_gpu_memory_usage)",
			Match: []pattern.Sample{{
				Line: "Before resume SGLang weights in sharding manager, memory allocated (GB): 30.61, memory reserved (GB): 31.20, device memory used/total (GB): 39.10/79.15",
				Want: parser.Fields{"label": "Before resume SGLang weights in sharding manager", "used": "41983305318", "total": "84986665370"},
			}, {
				Line: "After vllm offload in sharding manager: 11.67 GB / 79.25 GB.",
				Want: parser.Fields{"label": "After vllm offload in sharding manager", "used": "12530567086", "total": "85094039552"},
			}},
			NoMatch: []string{"device memory used: 39.10", "After vllm init: 4 GB / 80 GB"},
		},
		{
			Name:     "reading.before",
			Literals: []string{"Before init "},
			Expr:     `\bBefore init [^,]{1,60}, memory allocated \(GB\): 0\.0\d?, memory reserved \(GB\): 0\.0\d?, device memory used/total \(GB\): (?<used_gib>\d{1,5}(?:\.\d{1,3})?)/(?<total_gib>\d{1,5}(?:\.\d{1,3})?)`,
			Gauge:    true, Source: "verl 0.4-0.8, workers/fsdp_workers.py: what is in use on a card before its worker holds any of it", Also: []string{"reading.reserved", "reading.device", "reading.card"},
			Match: []pattern.Sample{{
				Line: "INFO:2026-04-09 18:21:20,931:Before init FSDP, memory allocated (GB): 0.00, memory reserved (GB): 0.00, device memory used/total (GB): 61.88/79.11",
				Want: parser.Fields{"used": "66443144069", "total": "84943715697"},
			}},
			NoMatch: []string{"Before init FSDP, memory allocated (GB): 3.55, memory reserved (GB): 5.61, device memory used/total (GB): 67.96/79.11"},
		},
		{
			Name:     "reading.card_named",
			Literals: []string{"mem_allocated", "memory_allocated", " alloc ", " alloc=", "mem alloc", "mem_alloc=", "mem_alloc:"},
			Requires: []string{"_allocated ", "_allocated=", "_allocated:", " alloc ", "alloc=", "alloc:"},
			Expr: `\b(?:mem(?:ory)?_allocated[ =:]{1,3}|mem[ _]alloc[ =:]{1,3}|(?<= )alloc[ =](?=[\d.]{1,8} ?[GM]i?B? (?:peak|reserved)\b))` +
				`(?:(?:(?<allocated_gib>\d{1,4}(?:\.\d{1,3})?) ?G(?:i?B)?|(?<allocated_mib>\d{1,7}(?:\.\d{1,3})?) ?M(?:i?B)?)\b` +
				`|(?<=\bmemory_allocated[ =:]{1,3})(?:(?<allocated_gib>\d{1,2}\.\d{5,18})|(?<allocated_mib>\d{4,6}\.\d{3,16}))(?![\w.%]| ?[KMGT%]))`,
			Gauge: true, Source: "scripts that print torch.cuda.memory_allocated; a quotient without a unit is in GiB if it is small, in MiB if it is large",
			Match: []pattern.Sample{
				{Line: "[Epoch 1] mem_allocated: 4412 MB", Want: parser.Fields{"allocated": "4626317312"}},
				{Line: "Epoch [0][  100/27988]  loss 9.1550  0.351 s/it  mem alloc 1.25 GiB  max 13.17 GiB", Want: parser.Fields{"allocated": "1342177280"}},
				{Line: "iter: 0 memory_allocated: 1.2652008239746093", Want: parser.Fields{"allocated": "1358499040"}},
				{Line: "seed 3 | torch.cuda.memory_allocated = 5130.96015625", Want: parser.Fields{"allocated": "5380201677"}},
				{Line: "VALID 2/676 loss 1.57 | alloc 4.00G peak 4.33G", Want: parser.Fields{"allocated": "4294967296"}},
			},
			NoMatch: []string{"perf/max_memory_allocated_gb:61.2", "could not alloc 4.00G of memory", "max_memory_allocated: 1.2652008239746093", "memory_allocated: 48.2652 %", "memory_allocated: 8", "memory_allocated: 61120000000"},
		},
		{
			Name:     "reading.peak",
			Literals: []string{"memory/max_allocated (GiB)", "memory/max_mem_allocated(gib)", "  memory: ", ", memory: ", "max_mem: ", "max mem: ", "\tgrad_norm "},
			Expr: `(?:memory/(?:max_allocated \(GiB\)|max_mem_allocated\(gib\))'?: (?<max_allocated_gib>\d{1,4}(?:\.\d{1,6})?)` +
				`|\bdata_time: \d{1,6}\.\d{1,6}(?:  |, )memory: (?<max_allocated_mib>\d{1,7})\b|\bmax[_ ]mem: (?<max_allocated_mib>\d{1,7})(?:M\b|\b)` +
				`|\tgrad_norm .{1,120}\tmem (?<max_allocated_mib>\d{2,7})MB\b)`,
			Gauge: true, Source: "axolotl, core/trainers/base.py; mmengine, mmcv, detectron2 and Swin Transformer: torch.cuda.max_memory_allocated after each step",
			Match: []pattern.Sample{
				{Line: "{'loss': 1.93, 'memory/max_active (GiB)': 60.41, 'memory/max_allocated (GiB)': 60.5}", Want: parser.Fields{"max_allocated": "64961380352"}},
				{Line: "Epoch [1][50/500] time: 0.412, data_time: 0.011, memory: 5120, loss_cls: 0.4021", Want: parser.Fields{"max_allocated": "5368709120"}},
				{Line: "Train: [3/300][40/1251]\teta 0:10:03 lr 0.000011\ttime 0.4102 (0.4311)\tloss 6.1023 (6.4410)\tgrad_norm 1.6102 (1.7200)\tmem 5120MB", Want: parser.Fields{"max_allocated": "5368709120"}},
			},
			NoMatch: []string{"\tgrad_norm 1.61\thost mem 512 of 1024", "step: 10  loss:  7.1352  grad_norm:  2.1  memory: 47.50GiB(60.06%)  tps: 5,210"},
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
			Name:     "reading.node",
			Literals: []string{"host memory", "Host memory", "host_memory", "CPU memory", "system memory", "System memory", "RAM usa", "RAM used", "Memory usage on this node: "},
			Expr: `\b(?:(?:[Hh]ost|CPU|[Ss]ystem)[ _]memory(?:[ _]used|[ _]usage)?|RAM (?:used|usage))[:=]? {1,4}(?<used_sz>\d{1,6}(?:\.\d{1,6})? ?[KMGT]i?B)(?: of | ?/ ?)` +
				`(?<host_total_sz>\d{1,6}(?:\.\d{1,6})? ?[KMGT]i?B)|Memory usage on this node: (?<used_gib>\d{1,6}(?:\.\d{1,3})?)/(?<host_total_gib>\d{1,6}(?:\.\d{1,3})?) Gi?B\b`,
			Gauge: true, Source: "programs of all kinds: what their node uses; Ray Tune's status reports, tune/utils/util.py, in units of 1024",
			Match: []pattern.Sample{
				{Line: "[rank0] host memory used 1402.8 GiB of 2015.0 GiB (104 of 163 files)", Want: parser.Fields{"used": "1506245030707", "host_total": "2163589775360"}},
				{Line: "step 40 | CPU memory: 243.1GB / 251.8GB", Want: parser.Fields{"used": "261026637414", "host_total": "270368191283"}},
				{Line: "870/5004 - ETA: 1:23:02 - loss: 6.4871 - host_memory_used: 28.7GB of 64GB", Want: parser.Fields{"used": "30816390349", "host_total": "68719476736"}},
				{Line: "Memory usage on this node: 60.2/62.9 GB", Want: parser.Fields{"used": "64639257805", "host_total": "67538360730"}},
				{Line: "RAM usage: 61 GiB/64 GiB", Want: parser.Fields{"used": "65498251264", "host_total": "68719476736"}},
			},
			NoMatch: []string{"GPU memory used 70.1 GiB of 79.2 GiB", "host memory is full", "pinned host memory 4.0 GiB"},
		},
		{
			Name:     "reading.free",
			Literals: []string{"Mem:   "},
			Expr: `^Mem: {3,20}(?:(?<host_total_kib>\d{8,12})(?: +\d{1,12}){4} +(?<host_available_kib>\d{1,12})|(?<host_total_mib>[4-9]\d{3}|\d{5,6})(?: +\d{1,6}){4} +(?<host_available_mib>\d{1,6})` +
				`|(?<host_total_sz>\d{1,4}(?:\.\d)?[MGT]i)(?: +\d{1,4}(?:\.\d)?[BKMGT]i?){4} +(?<host_available_sz>\d{1,4}(?:\.\d)?[MGT]i)|(?<host_total_gib>[89]|[1-9]\d|[1-8]\d\d)(?: +\d{1,3}){5})\s*$`,
			Gauge: true, Source: "procps free, free -m, free -h and free -g since 3.3.10: the last column is what programs can still get, too coarse in GiB",
			Match: []pattern.Sample{
				{Line: "Mem:          15926       14981         201         118         744         561", Want: parser.Fields{"host_total": "16699621376", "host_available": "588251136"}},
				{Line: "Mem:       16308224    15340544      205824      120832      761856      574464", Want: parser.Fields{"host_total": "16699621376", "host_available": "588251136"}},
				{Line: "Mem:            465          11         438           0          15         451", Want: parser.Fields{"host_total": "499289948160"}},
				{Line: "Mem:           15Gi        14Gi       201Mi       118Mi       744Mi       561Mi", Want: parser.Fields{"host_total": "16106127360", "host_available": "588251136"}},
			},
			NoMatch: []string{"Mem:     1630822     1534054       20582       12083       76185       57446", "Mem:           1007          21         958           0          27         980"},
		},
		{
			Name:     "reading.free_coarse",
			Literals: []string{"Mem:   "},
			Expr:     `^Mem: {3,20}(?<count>9\d\d|[1-3]\d{3})(?: +\d{1,4}){5}\s*$`,
			Gauge:    true, Source: "procps free -g on a large node, or free -m on a tiny one: what else is known of the job tells which",
			Match:   []pattern.Sample{{Line: "Mem:           1007          38         714           2         254         962", Want: parser.Fields{"count": "1007"}}},
			NoMatch: []string{"Mem:            465          11         438           0          15         451", "Mem:          15926       14981         201         118         744         561"},
		},
		{
			// Whether it is of memory or of a disk, only its sum tells.
			Name:     "reading.left",
			Literals: []string{"B, available ", "B, available:", "B, avail "},
			Expr:     `\bused:? {1,4}(?<used_sz>\d{1,9}(?:\.\d{1,4})? ?[KMGT]i?B), avail(?:able)?:? {1,4}(?<host_available_sz>\d{1,9}(?:\.\d{1,4})? ?[KMGT]i?B)\b`,
			Gauge:    true, Source: "scripts that print columns of free while a program runs",
			Match:   []pattern.Sample{{Line: "10:21:40 used 30720 MB, available 64 MB", Want: parser.Fields{"used": "32212254720", "host_available": "67108864"}}},
			NoMatch: []string{"pool: 12 GB, available blocks 3", "used 3 blocks, available 12"},
		},
		{
			Name:     "docker.stats",
			Literals: before("123456789", after("0123456789", "GiB / ")...), // of 8 bytes, to be found within a word
			Requires: []string{"%"},
			Expr:     `(?:^|\s)(?<label>[A-Za-z][\w.-]{0,80}) +(?:\d{1,5}\.\d{2}% +)?(?<used_gib>\d{1,5}(?:\.\d{1,4})?)GiB / \d{1,5}(?:\.\d{1,4})?[GT]iB +\d{1,3}\.\d{1,2}%(?:\s|$)`,
			Gauge:    true, Source: "docker stats 17-29: a container's memory and its limit, with or without the use of its processors",
			Match: []pattern.Sample{
				{Line: "7be0c1d94a2f   qwenvl    259.00%   44.20GiB / 48GiB     92.08%    397.8GB / 1.2GB   18.9GB / 41MB     214", Want: parser.Fields{"label": "qwenvl", "used": "47459388621"}},
				{Line: "lmdeploy-api  3.04GiB / 16GiB  19.00%  gpu0=72411MiB", Want: parser.Fields{"label": "lmdeploy-api", "used": "3264175145"}},
			},
			NoMatch: []string{"| 43%   71C    P2             238W / 250W |  10990MiB / 11264MiB |     99%      Default |", "model.safetensors:  61%|######    | 3.04GiB / 5.00GiB [00:31<00:20, 97.1MB/s]"},
		},
		{
			Name:     "docker.info",
			Literals: []string{" Total Memory: "},
			Expr:     `^ {1,4}Total Memory: (?<host_total_sz>\d{1,5}(?:\.\d{1,4})? ?[MGT]iB)\s*$`,
			Gauge:    true, Source: "docker info 17-29: of the machine that runs the containers",
			Match: []pattern.Sample{{Line: " Total Memory: 5.789GiB", Want: parser.Fields{"host_total": "6215891419"}}},
		},
		{
			Name: "reading.rss",
			Literals: append(slices.Concat(before("123456789", " | rss ", " | RSS ", ", RSS: ", "| RSS: ", " RSS = ", " rss = ", " rss="), before("0123456789", before("123456789", " rss=")...)), // one as short as " rss=1" is a whole word
				"host rss ", "Host RSS", "process rss ", "Process RSS", "worker rss ", "rss before ", "rss after ", "rss used", "RSS used", "rss_gb", "rss_mb", "RSS usa", "RSS (GB", "RSS (MB", "rss (GB", "rss (MB",
				"CPU Mem", "CPU mem", "cpu mem", "cpu_mem", "CPU RAM", "cpu_ram", "host mem", "host_mem", "Host mem", "process mem", "Process mem", "process_mem", "resident memory",
				"RAM (GB", "RAM (GiB", "ram_gb", "svmem(total="),
			Expr:  named(`(?<!max |peak |Peak |Max |max_|peak_|pinned |GPU |perf/)`+hostName, "used") + `|svmem\(total=(?<host_total_b>\d{1,16}), available=\d{1,16}, percent=[\d.]{1,6}, used=(?<used_b>\d{1,16})`,
			Gauge: true, Source: "scripts that print psutil's figures: what a process or its node uses", Also: []string{"reading.node", "reading.host"},
			Match: []pattern.Sample{
				{Line: "Epoch 1 | Step 200 | loss = 1.102, acc = 0.633 | rss 15.1 GB", Want: parser.Fields{"used": "16213501542"}},
				{Line: "Saved checkpoint at step 600; host rss before 170.2 GB after 196.3 GB", Want: parser.Fields{"used": "182750858445"}},
				{Line: "trial 4/200 val_auc=0.8508  rss=19.66 GiB", Want: parser.Fields{"used": "21109764260"}},
				{Line: "epoch 2/200, loss 0.3911, RSS: 8.5 GB", Want: parser.Fields{"used": "9126805504"}},
				{Line: "step 40 loss 2.31 CPU Mem (GB): 201.5", Want: parser.Fields{"used": "216358977536"}},
				{Line: "{'step': 40, 'rss_gb': 12.5}", Want: parser.Fields{"used": "13421772800"}},
				{Line: "step 12: cpu_mem_gb=91.25", Want: parser.Fields{"used": "97978941440"}},
				{Line: "mem: svmem(total=540986540032, available=210986540032, percent=61.0, used=325986540032, free=1)", Want: parser.Fields{"host_total": "540986540032", "used": "325986540032"}},
			},
			NoMatch: []string{"step:5 - perf/cpu_memory_used_gb:196.0", "oom-kill: anon-rss:62001284kB, file-rss:90212kB", "peak rss 15.1 GB", "the worker's rss is unknown"},
		},
		{
			Name: "reading.gpu",
			Literals: append(before(" _-([]:=oGgMm", "uda mem", "GPU mem", "GPU Mem", "GPU RAM"),
				"gpu-mem", "gpu_mem", "gpu mem", "GPU_mem", "cuda_mem", "CUDA mem", "VRAM us", "VRAM: ", "vram: ", "vram_gb", "gpu_ram"),
			Expr:  named(`(?<!max |peak |Peak |Max |max_|peak_|total |free |available )`+cardName, "allocated"),
			Gauge: true, Source: "scripts that print what is in use on a card", Also: []string{"reading.node"},
			Match: []pattern.Sample{
				{Line: "[gpu-mem] iter 25: 4811 MiB of 12196 MiB", Want: parser.Fields{"allocated": "5044699136"}},
				{Line: "iter 300 loss 0.41 GPU mem: 11.25 GB", Want: parser.Fields{"allocated": "12079595520"}},
				{Line: "Epoch 0:   1%|          | 300/20800 [02:03<2:20:00, loss=0.05, gpu_mem_alloc_GiB=31.5]", Want: parser.Fields{"allocated": "33822867456"}},
				{Line: "step=12 gpu_mem_used_gb=31.5", Want: parser.Fields{"allocated": "33822867456"}},
			},
			NoMatch: []string{"peak GPU memory: 12.1 GiB", "GPU memory is full", "gpu_memory_utilization=0.9"},
		},
	}
}

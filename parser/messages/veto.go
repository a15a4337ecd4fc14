package messages

import (
	"oomscan/parser/pattern"
)

// vetoPatterns are lines that look like memory trouble and are none. A veto stops every event of its message, so each
// one is worded to keep clear of real failures: a line that carries an allocator's figures is vetoed only where the
// surroundings prove it quoted.
var vetoPatterns = []table{limitVetoes, handledVetoes, mentionVetoes, sampleVetoes, recordVetoes, formVetoes, watcherVetoes}

// oomWords are the words of a memory error that people and programs quote.
const oomWords = `(?:(?:CUDA|HIP|NPU|XPU|cuda)(?: (?:driver |runtime )?[Ee]rror:)? out of memory|[Ee]rror: out of memory|(?:torch\.)?(?:cuda\.)?OutOfMemoryError|std::bad_alloc|MemoryError|RESOURCE_EXHAUSTED|CUDA_ERROR_OUT_OF_MEMORY|_STATUS_ALLOC_FAILED|[Cc]annot allocate memory)`

// remarked are the words of a failure that a comment recalls.
const remarked = `(?:` + oomWords + `|\boom[-_]kill event|\w{2,6}_ERROR_OUT_OF_|Out of GPU memory|available memory for the cache|\bTo serve at least one request with|larger than the (?:available KV cache memory|maximum number of tokens)|Not enough memory\. Please try to|(?:srun|slurmstepd): |Killed process|killed by the OOM killer|OOMKilled|result 'oom-kill'|code=killed, status=|sending SIG(?:TERM|KILL)|DataLoader worker \(pid)`

// notItsOwn fails where a record has an error of its own beside the text that it quotes.
const notItsOwn = `(?!.{0,8000}?(?<!\\)["'](?:error|err|exception|exc_info|detail|reason|message|msg|stack_?trace|traceback)["']: ?["'][^"']{0,400}?` + oomWords + `)`

// limitVetoes are limits of something other than memory that use its words.
func limitVetoes() []pattern.Pattern {
	return []pattern.Pattern{
		{
			// Code rewards run generated programs in a sandbox and print how these fail.
			Name:     "veto.sandbox",
			Literals: []string{"sandbox", "Sandbox", "run_status", "run_result", "compile_result", "ExecutionError(name="},
			Expr:     `(?i)['"](?:run|compile)_(?:status|result)['"]: |\bError: ExecutionError\(name=|(?<![/\w.-])sandbox(?:_\w{1,12})?['"]?[:\]]?\s(?:[^:]{0,60}\bstd(?:err|out)|(?:\w{1,12} )?(?:output|results?|response|returned|verdict|execution|test case|killed))\b.{0,400}(?:MemoryError|bad_alloc|Killed|Cannot allocate memory|out of memory|SIGKILL)`,
			Veto:     true,
			Source:   "reward functions that execute code: verl's sandbox_fusion, prime_code; SandboxFusion; E2B's code interpreter (models.py, Execution)",
			Also:     []string{"host.bad_alloc", "host.numpy"},
			Match: lines(
				"[reward] score 0.0, sandbox stderr: terminate called after throwing an instance of 'std::bad_alloc'",
				"sample 1: Execution(Results: [], Logs: Logs(stdout: [], stderr: []), Error: ExecutionError(name='ArrayMemoryError', value='Unable to allocate 74.5 GiB for an array with shape (100000, 100000) and data type float64', traceback='...'))",
			),
			NoMatch: []string{"nbclient: ExecutionError(name='x'): MemoryError", "sandbox started on port 8080", "terminate called after throwing an instance of 'std::bad_alloc'"},
		},
		{
			Name:     "veto.kernel_resources",
			Literals: []string{"out of resource", "for benchmark choice", "out of shared memory", "too many resources requested", "Ignoring this choice"},
			Expr:     `out of resource(?:s: |: )|for benchmark choice|CUDA out of shared memory|too many resources requested for launch|Ignoring this choice`,
			Veto:     true,
			Source:   "Triton and Inductor: on-chip memory of one kernel; autotuning drops the choice [triton issue 8182, torchtitan issue 1791]",
			Match: lines(
				"triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 131072, Hardware limit: 101376. Reducing block sizes or `num_stages` may help.",
				"No valid triton configs. OutOfMemoryError: out of resource: triton_mm Required: 262144 Hardware limit:232448 Reducing block sizes or `num_stages` may help.",
				"RuntimeError: CUDA error: too many resources requested for launch",
			),
		},
		{
			Name:     "veto.workspace",
			Literals: []string{"in AlignedAllo", "when allocating memory for "},
			Expr:     `in AlignedAllo(?:cator|actor)|Buffer overflow when allocating memory for `,
			Veto:     true,
			Source:   "FlashInfer, flashinfer/allocator.h: a workspace of fixed size, the device may be half empty [vllm issue 40023, sglang issue 2102]",
			Match: lines(
				"RuntimeError: Error in function 'aligned_alloc' at /opt/flashinfer/allocator.h:49: Buffer overflow when allocating memory for batch_prefill_tmp_v with size 4096 and alignment 16, but only 0 bytes available in AlignedAllocator. Increase the workspace buffer size.",
				"RuntimeError: Out of workspace memory in AlignedAlloactor",
			),
		},
		{
			Name:     "veto.static_tls",
			Literals: []string{"static TLS block"},
			Expr:     `annot allocate memory in static TLS block`,
			Veto:     true,
			Source:   "glibc's loader: a slot for thread-local storage [opencv issue 14884]",
			Match:    lines("ImportError: /usr/lib/libgomp.so.1: cannot allocate memory in static TLS block"),
		},
		{
			Name:     "veto.memlock",
			Literals: []string{"ibv_reg_mr", "ibv_create_", "ibv_alloc_"},
			Expr:     `^(?!.{0,400}NCCL (?:WARN|INFO)).{0,400}ibv_(?:reg_mr|create_|alloc_)\w{0,24}.{0,200}Cannot allocate memory`,
			Veto:     true,
			Source:   "UCX, libfabric, MPI: limits of locked memory and queue pairs (NCCL's own line is an event)",
			Match:    lines("ib_md.c:309  UCX  ERROR ibv_reg_mr(address=0x7f0000000000, length=4096, access=0xf) failed: Cannot allocate memory"),
			NoMatch:  []string{"node-a:1:2 [0] misc/ibvwrap.cc:201 NCCL WARN Call to ibv_reg_mr failed with error Cannot allocate memory"},
		},
	}
}

// handledVetoes are shortages that the program itself calls harmless.
func handledVetoes() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "veto.tms_retry",
			Literals: []string{"may not be an issue"},
			Expr:     `(?:CUDA_ERROR_OUT_OF_MEMORY|hipErrorOutOfMemory) \(may not be an issue`,
			Veto:     true,
			Source:   "torch_memory_saver, csrc/core.cpp: torch frees its cache and asks again; a real failure prints more",
			Match: lines(
				"[torch_memory_saver.cpp] cuMemCreate CUDA_ERROR_OUT_OF_MEMORY (may not be an issue e.g. torch allocator will free cache and retry)",
				"[torch_memory_saver.cpp] hipMemCreate hipErrorOutOfMemory (may not be an issue e.g. torch allocator will free cache and retry)",
			),
		},
		{
			Name:     "veto.xla_not_a_failure",
			Literals: []string{"this is not a failure"},
			Expr:     `this is not a failure`,
			Veto:     true,
			Source:   "XLA and TensorFlow, tsl/framework/bfc_allocator.cc: the caller has a smaller algorithm",
			Match:    lines("Allocator (GPU_0_bfc) ran out of memory trying to allocate 33.11GiB with freed_by_count=0. The caller indicates that this is not a failure, but this may mean that there could be performance gains if more memory were available."),
		},
		{
			Name:     "veto.npu_retry",
			Literals: []string{"This error log can be ignored"},
			Expr:     `Try to free cached blocks and reallocate\. This error log can be ignored`,
			Veto:     true,
			Source:   "torch_npu 2.7 [Ascend/pytorch issue 108]",
			Match:    lines("torch_npu.memory: [ERROR] [269128] Get a block from the existing pool failed. Try to free cached blocks and reallocate. This error log can be ignored."),
		},
		{
			Name:     "veto.pinned_fallback",
			Literals: []string{"of pinned memory", "falling back to pinned"},
			Expr:     `failed to allocate [\d.]{1,16} [KMG]?i?B of pinned memory|falling back to pinned`,
			Veto:     true,
			Source:   "ggml ggml_cuda_host_malloc and Triton server: pageable memory serves instead [triton server issue 1765]",
			Match: lines(
				"ggml_cuda_host_malloc: failed to allocate 1024.00 MiB of pinned memory: out of memory",
				"Failed to allocate CUDA memory with byte size 78643200 on GPU 0: CNMEM_STATUS_OUT_OF_MEMORY, falling back to pinned system memory",
			),
		},
		{
			Name:     "veto.caught",
			Literals: []string{"encountered during tensors merging", "skipping tactic", "Skipping tactic", "exceeds 10% of free system memory"},
			Expr:     `encountered during tensors merging|[Ss]kipping tactic .{0,80}due to|exceeds 10% of free system memory`,
			Also:     []string{"torch.oom.of_which"},
			Veto:     true,
			Source:   "Megatron-LM core/transformer/utils.py (merges on the host), TensorRT's tuner, TensorFlow's allocation warning",
			Match: lines(
				"CUDA OutOfMemoryError encountered during tensors merging. Switching to CPU merge. (Error: CUDA out of memory. Tried to allocate 2.00 GiB.)",
				"[TRT] [W] Skipping tactic 0x0000000000000003 due to insufficient memory on requested size of 4096 detected for tactic 0x03.",
			),
		},
	}
}

// mentionVetoes are lines that speak of memory errors: counters, advice, questions, quotations.
func mentionVetoes() []pattern.Pattern {
	const mention = `(?:torch\.(?:cuda\.)?OutOfMemoryError|RuntimeError: |CUDA |cuda |HIP |NPU |XPU |[Oo]ut of memory|OOM|MemoryError|std::bad_alloc|RESOURCE_EXHAUSTED|CUBLAS_STATUS_ALLOC)`
	return []pattern.Pattern{
		{
			Name:     "veto.build_step",
			Literals: []string{"] RUN ", " : RUN ", ": RUN "},
			Expr:     `^(?:#\d{1,5} \[[^\[\]]{0,80}\d/\d{1,3}\]|Step \d{1,3}/\d{1,3} :|STEP \d{1,3}/\d{1,3}:) RUN `,
			Veto:     true,
			Source:   "BuildKit, util/progress/progressui; Docker's classic builder; buildah: the command of a step, and what it printed has lines of its own",
			Also:     []string{"torch.oom.class", "cuda.error"},
			Match: lines(
				`#7 [3/7] RUN if grep -q "torch.OutOfMemoryError: CUDA out of memory" run.log; then exit 42; fi`,
				`#12 [linux/amd64 builder 3/17] RUN echo "RuntimeError: CUDA error: out of memory"`,
				`Step 3/7 : RUN echo 'RuntimeError: CUDA error: out of memory' > /etc/motd`,
				`STEP 3/7: RUN echo 'RuntimeError: CUDA error: out of memory' > /etc/motd`,
			),
			NoMatch: []string{
				"#7 0.513 RuntimeError: CUDA error: out of memory", "#7 [3/7] rank 3: RuntimeError: CUDA error: out of memory", "[3/7] RUN 4: RuntimeError: CUDA error: out of memory",
				"Step 3/7: RUN 4: RuntimeError: CUDA error: out of memory", `#12 ERROR: process "/bin/sh -c python x.py" did not complete successfully: exit code: 137`,
			},
		},
		{
			Name:     "veto.zero_counter",
			Literals: []string{"OOMKilled", "oom_kill 0", "oom_kill: 0", "oom_group_kill 0", "num_oom", "CUDA OOMs: 0", "oom_rate", "oom_count", "mem/oom", "oom=False"},
			Expr:     `^(?!.{0,4000}?` + oomWords + `).{0,4000}?(?:(?<![\w-])OOMKilled['"]?\s{0,4}[=:]\s{0,4}[Ff]alse\b|(?<![\w-])(?:(?:node_vmstat_)?oom_(?:group_)?kills?|num_ooms?|CUDA OOMs|oom_rate|oom_count|oom)['"]?\s{0,4}[=:]?\s{0,4}(?:0(?:\.0{1,6})?|[Ff]alse)(?![\w.]\w|\w))`,
			Veto:     true,
			Source:   "docker inspect, cgroup memory.events, torch.cuda.memory_summary, metrics: nothing was counted",
			Match: lines(
				`            "OOMKilled": false,`,
				"oom_kill 0",
				"|            CUDA OOMs: 0            |        cudaMalloc retries: 0         |",
				"memory/oom_rate: 0.0",
			),
			NoMatch: []string{
				"sft-worker-3      0/1     OOMKilled   0          12m",
				"oom_kill 3",
				"Memory cgroup out of memory: Killed process 41 (python) total-vm:1kB, anon-rss:1kB, file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:0kB oom_score_adj:0",
				"oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0-1",
				"slurmstepd: error: Detected 1 oom_kill event in StepId=4242.batch. Some of the step tasks have been OOM Killed.",
			},
		},
		{
			Name:     "veto.placeholder",
			Literals: []string{"XX GiB", "XX MiB", "allocate X", "xx GiB", "xx MiB", "exec ...: "},
			Expr:     `\b(?:X{1,4}\.)?X{2,4} [GM]iB\b|\b(?:x{1,4}\.)?x{2,4} [GM]iB\b|\ballocate X [GM]iB\b|/exec \.{3}: `,
			Veto:     true,
			Also:     []string{"host.memory_error", "torch.oom.class", "host.enomem"},
			Source:   "manuals: the form of a message, without figures",
			Match: lines(
				"MemoryError: Unable to allocate X.XX GiB for an array with shape (X, X, X)",
				"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate xx.xx GiB", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate X GiB",
				`"error_message": "fork/exec ...: cannot allocate memory",`,
			),
			NoMatch: []string{"fork/exec /usr/bin/nvidia-smi: cannot allocate memory", "MemoryError: Unable to allocate 1.00 GiB for an array with shape (1, 2)"},
		},
		{
			Name: "veto.advice",
			Requires: []string{
				"f you", "f it", "f this", "if the ", "If the ", "n case", "hen you", "ou may", "ou might", "ou can", "ou will", "ou could",
				" cause", " run", " result", " lead", " trigger", " go", " hit", " be", " get", " raise", " occur", "o avoid", "o prevent",
				"o reduce", "o fix", "o handle", "o debug", "void", "revent", "ithout", "isk of", "o more",
			},
			Literals: []string{
				"CUDA out of memory", "rror: out of memory", "OutOfMemoryError", "std::bad_alloc", "_STATUS_ALLOC_FAILED",
				"CUDA_ERROR_OUT_OF_MEMORY", "RESOURCE_EXHAUSTED", "annot allocate memory",
			},
			Expr: `(?=` + oomWords + `)(?!.{0,90}\. Tried to allocate \d)(?<!` + oomWords + `.{0,400})(?<=\b(?:[Ii]f (?:you|it|this|the \w{1,20}|your \w{1,20}) (?:hits?|gets?|sees?|runs? into|encounters?|faces?|has|have|causes?|reports?|fails? with|results? in|raises?)|[Ii]n case of|[Ww]hen you (?:hit|get|see|run into|encounter)` +
				`|(?:may|might|could|can|would|will)(?: also| still| otherwise)? (?:cause|run|result|lead|trigger|go|hit|be|get|see|raise|occur)(?: in| to| into)?|[Tt]o (?:avoid|prevent|reduce|fix|handle|debug)|(?:[Aa]void|[Pp]revent)(?:s|ing)?|risk of|[Nn]o more)` +
				`(?: (?:a|an|the|any|some|such|more|potential|possible|GPU))?[ ("'` + "`" + `]{1,3})` + oomWords + `(?:: ` + oomWords + `)?(?! [Kk]illed)(?!.{0,400}` + oomWords + `)`,
			Also:   []string{"cuda.error", "torch.oom.class"},
			Veto:   true,
			Source: "help texts, warnings, comments: a conditional in front of the words",
			Match: lines(
				"# lower ppo_max_token_len_per_gpu if you hit CUDA out of memory (OOM)",
				"gpu_memory_utilization: if set too high this can lead to torch.OutOfMemoryError: lower it (default: 0.9)",
				"reduce the batch size to avoid CUDA error: out of memory",
			),
			NoMatch: []string{
				"RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 8.00 GiB total capacity; 6.00 GiB already allocated; 1.00 GiB free; 512.00 MiB cached) If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation.",
				"Memory cgroup out of memory: Killed process 41 (python) total-vm:1kB",
				"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free.",
				"slurmstepd: error: Detected 1 oom_kill event in StepId=4242.batch. Some of the step tasks have been OOM Killed.",
			},
		},
		{
			Name:     "veto.conditional",
			Requires: []string{"f you ", "f it ", "f your ", "hen you ", " such as ", " like ", " get ", " got ", " getting ", " see ", " saw ", " hit ", " encounter "},
			Literals: []string{
				"CUDA out of memory", "rror: out of memory", "OutOfMemoryError", "std::bad_alloc", "_STATUS_ALLOC_FAILED", "CUDA_ERROR_OUT_OF_MEMORY", "RESOURCE_EXHAUSTED",
				"annot allocate memory", "oom_kill event", "Killed process", "available memory for the cache", "MemoryError: ",
			},
			Expr:   `\b(?:(?:[Ii]f|[Ww]hen) (?:you|it|your \w{1,20})(?: still| ever| also)? (?:hits?|gets?|sees?|runs? into|encounters?|receives?|reports?|prints?|fails? with)|(?:I|[Yy]ou|[Ww]e|[Uu]sers|[Pp]eople)(?: \w{1,12})? (?:get|got|see|saw|hit|encounter)|(?:error|exception|message|failure)s? (?:such as|like))(?: (?:a|an|the|this))? ["'“` + "`" + `]?(?:` + oomWords + `|RuntimeError: |ValueError: |slurmstepd: |[Oo]ut of memory: Killed process)`,
			Also:   []string{"torch.oom.of_which", "torch.oom.paren", "torch.oom.class", "cuda.error", "slurm.oom_kill", "kernel.killed", "veto.advice", "veto.quoted", "veto.question", "veto.sample"},
			Veto:   true,
			Source: "notes and help texts: a whole message behind a condition",
			Match: lines(
				"NOTE: If you encounter `torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB`, lower data.train_batch_size.",
				"if you get slurmstepd: error: Detected 1 oom_kill event in StepId=4242.0. then resubmit",
				"[12:01:02] user=ana: I get RuntimeError: CUDA out of memory. Tried to allocate 146.00 MiB",
				`an error such as "ValueError: No available memory for the cache blocks." means that the share is too small`,
			),
			NoMatch: []string{
				"if rank 3 fails, so do all: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
				"when it failed: RuntimeError: CUDA error: out of memory",
			},
		},
		{
			Name: "veto.question",
			Requires: []string{
				"hy do", "hy did", "hy am", "hy is", "ow do", "ow can", "ow should", "ow to", "hat does", "hat is", "hat causes",
				" get", " got", " keep getting", " see", " saw", " receive", " hit", " encounter", " report", "I ", "y code", "y script", "y job", "y model", "y training", "y run",
			},
			Literals: []string{
				"CUDA out of memory", "HIP out of memory", "rror: out of memory", "OutOfMemoryError", "std::bad_alloc", "MemoryError: ",
				"_STATUS_ALLOC_FAILED", "CUDA_ERROR_OUT_OF_MEMORY", "RESOURCE_EXHAUSTED", "annot allocate memory",
			},
			Expr:   `(?=(?:RuntimeError: )?` + oomWords + `)(?<!` + oomWords + `.{0,400})(?<=\b(?:(?:[Ww]hy (?:do|does|did|am|is)|[Hh]ow (?:do|can|should|to))\b[^.:;,']{0,60}|(?:[Ww]hat (?:does|is|causes)|(?:I|you|we|[Uu]sers|[Pp]eople)(?: (?:often|always|still|sometimes|will|may))? (?:get|got|keep getting|see|saw|receive|hit|encounter|report))(?: (?:a|an|the|this|that))? "?|(?:I (?:have|am|was|get|got|try|tried|run|ran|train|use|want|need)|[Mm]y (?:code|script|job|model|training|run)) (?=.{0,4000}\?\s*$).{1,400}))(?:RuntimeError: )?` + oomWords,
			Also:   []string{"veto.advice", "veto.quoted", "veto.sample", "veto.request", "torch.oom.of_which", "torch.oom.paren", "torch.oom.class", "cuda.error"},
			Veto:   true,
			Source: "questions of people: prompts and samples that a rollout prints over several lines, chat models' answers",
			Match: lines(
				"Why do I get torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB?",
				"If the batch is too big you often see CUDA error: out of memory",
				"What does RuntimeError: CUDA error: out of memory mean?",
				"text: I train with 8 cards. It says torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. What can I do?",
				"Users report \"RuntimeError: CUDA error: out of memory\".",
			),
			NoMatch: []string{
				"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free.",
				"worker 3 got an error: RuntimeError: CUDA error: out of memory",
				"I 10:00:01 worker.py:3 step failed: CUDA error: out of memory, retry?",
			},
		},
		{
			// The kernel quotes nobody, and a record has a colon or a sign in front of its text.
			Name:     "veto.kernel_quoted",
			Literals: []string{"ill process ", "illed process ", "invoked oom-killer"},
			Expr:     `\w ["'“‘` + "`" + `](?:[^"'“”’` + "`" + `]{0,40}[Oo]ut of memory(?: \(\w{1,40}\))?: )?(?:Kill(?:ed)? process \d|[\w:.-]{1,16} invoked oom-killer)|^[^"'` + "`" + `]{0,200}illed process \d[^"'` + "`" + `]{0,400}kB["'` + "`" + `][,;)]{0,3}\s*$`,
			Veto:     true,
			Also:     []string{"kernel.sacrifice", "kernel.killed", "kernel.invoked"},
			Source:   "prose about a kernel's log: the message in quotation marks within a sentence; the end of a text in source",
			Match: lines(
				`I see the message "Out of memory: Kill process 4312 (python) score 911 or sacrifice child" in the syslog of yesterday.`,
				`The kernel said 'Killed process 3312 (python) total-vm:96760932kB, anon-rss:44817324kB, file-rss:41216kB' last week.`,
				`dmesg showed “python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0”`,
				"Killed process 1012 (heapster) total-vm:327128kB, anon-rss:306328kB, file-rss:11132kB, shmem-rss:12345kB`",
			),
			NoMatch: []string{
				`"MESSAGE" : "Out of memory: Killed process 41 (python) total-vm:1kB"`,
				`level=warning msg="Memory cgroup out of memory: Killed process 41 (python) total-vm:1kB"`,
				`Out of memory: Killed process 41 (python "x") total-vm:1kB`,
			},
		},
		{
			Name: "veto.quoted",
			Literals: []string{
				"CUDA out of memory", "HIP out of memory", "NPU out of memory", "XPU out of memory", "rror: out of memory", "OutOfMemoryError", "std::bad_alloc",
				"MemoryError: ", "_STATUS_ALLOC_FAILED", "CUDA_ERROR_OUT_OF_MEMORY", "RESOURCE_EXHAUSTED", "annot allocate memory", "'out of memory' in", "\"out of memory\" in",
			},
			Expr: "`" + mention + "[^`]{0,120}`|" + `["“]CUDA out of memory["”]|["']out of memory["'] in (?:str|e\b|err)` +
				`|^\s{0,8}(?:[*•-]|\d{1,2}[.)]|\|) {1,4}(?!.{0,120}Tried to allocate \d)(?:["“]` + mention + `[^"”]{0,80}["”]|` + mention + `[^|]{0,80}(?: [-–—=|>]|:) (?:lower|reduce|decrease|increase|try|use|enable|set|check|see|usually|means|start)\b)`,
			Also:   []string{"torch.oom.class", "cuda.error"},
			Veto:   true,
			Source: "READMEs and troubleshooting lists: the message in backticks, in quotation marks, or heading a list item",
			Match: lines(
				"* `torch.cuda.OutOfMemoryError: CUDA out of memory` - lower `--micro-batch`, or set `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`.",
				"- CUDA error: out of memory: reduce the batch size",
				`The phrase "CUDA out of memory" means that the card is full.`,
			),
			NoMatch: []string{
				"XPU out of memory, please use `empty_cache` to release all unoccupied cached memory.",
				"  | torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 8.00 GiB total capacity) => batch 4",
				"  | RuntimeError: CUDA error: out of memory",
				"Search for `cudaErrorMemoryAllocation' in https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html for more information.",
				"RuntimeError: Worker failed with error 'CUDA out of memory. Tried to allocate 1.00 GiB. GPU 0 has a total capacity of 80.00 GiB of which 512.00 MiB is free.'",
			},
		},
	}
}

// sampleVetoes are texts that a run prints because they are its data: prompts, completions, requests, what tools printed.
func sampleVetoes() []pattern.Pattern {
	return []pattern.Pattern{
		{
			// Trainers print prompts, completions and rewards as tables. A panel of one column may hold the program's
			// own exception.
			Name:     "veto.table_row",
			Requires: []string{"│", "┃"},
			Literals: []string{
				"ut of memory", "OutOfMemoryError", "std::bad_alloc", "MemoryError", "OOM Killed", "Killed process", "annot allocate memory", "oom-kill", "oom_kill", "vailable memory for the cache",
			},
			Expr:   `^(?!.{0,2000}[│┃]\s*(?!-?\d{1,6}\.\d{1,6}\s)(?:[\w.-]{0,60}\d[\w.-]{0,60}|FAILED|ERROR|[Ff]ailed|[Ee]rror)\s*[│┃])\s{0,8}(?:[│┃] )?[│┃](?:(?! [│┃])[^│┃]{0,2000}[│┃]){2,40}(?: [│┃])?\s{0,400}$`,
			Also:   []string{"torch.oom.paren", "torch.oom.class", "torch.oom.of_which", "torch.oom.cut", "veto.advice", "veto.quoted", "veto.question"},
			Veto:   true,
			Source: "rich tables: TRL print_prompt_completions_sample and others",
			Match: lines("│ RuntimeError: CUDA out of memory. Tried to       │ checkpointing; torch.OutOfMemoryError: CUDA out  │        │                   ",
				"│ │ Why did it stop?   │ torch.OutOfMemoryError: CUDA out of memory.  │     1.00 │ │"),
			NoMatch: []string{
				"│ OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB  │",
				"│ │ OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB  │ │", // a panel within a panel
			},
		},
		{
			// What a server prints of a request is the user's text and the model's. Whatever it speaks of did not happen
			// here, and so the words do not matter: the record itself is the veto.
			Name: "veto.request",
			Literals: []string{
				"Receive: ", "Finish: ", "Received request ", "Request: Instance(request_type='", " details: prompt: ", "Generated response ", "text_generation_router", ` request" images=`, ` request" prompt="`,
				"'role': '", `"role": "`, `"role":"`, `\"role\":`,
				"'prompt': '", `'prompt': "`, "'prompt': [", `"prompt": "`, `"prompt": [`, `"prompt": {`, `"prompt":"`, `"prompt":[`, "'messages': [", `"messages": [`, `"messages":[`, "chat.completion", "text_completion",
			},
			Expr: `^` + notItsOwn + `(?:.{0,300}?(?:(?:Receive|Finish): (?:request_id='[^']{1,120}', )?obj=\w{1,60}(?:ReqInput)?\(|Received request \S{1,120}: (?:prompt|params|messages)\b|Request \S{1,120} details: prompt: |Request: Instance\(request_type='` +
				`|Generated response \S{1,120}(?: \([^)]{0,60}\))?: output: |\bmsg="(?:chat|generate|completion) request" (?:images=\d{1,4} )?prompt="|text_generation_router\S{0,120}(?: \S{1,60}:\d{1,5}:)? (?:Input|Output): )` +
				`|.{0,4000}?(?:["']role\\?["']: ?\\?["'](?:user|assistant|system|developer|tool|human)\\?["']|["'](?:prompt|messages)["']: ?(?:\[ ?){0,2}["'{]|["']object["']: ?["'](?:chat\.completion|text_completion)))(?<!` + oomWords + `.{0,4000})`,
			Veto:   true,
			Whole:  true,
			Also:   []string{"torch.oom.of_which", "sglang.not_enough_memory", "kernel.killed", "kernel.killed_cut", "slurm.oom_kill", "cuda.error", "nccl.cuda_oom", "host.bad_alloc", "ggml.malloc"},
			Source: "SGLang --log-requests (tokenizer_manager.py), vLLM entrypoints/logger.py, TGI router/src/server.rs, bodies in OpenAI's form as proxies and clients print them (LiteLLM, openai._base_client, llama-server); Ollama server/routes.go with OLLAMA_DEBUG; the dialogues that FastChat keeps (serve/gradio_web_server.py); lm-evaluation-harness --write_out (lm_eval/evaluator_utils.py)",
			Match: lines(
				`level=DEBUG source=routes.go:1470 msg="chat request" images=0 prompt="<start_of_turn>user\nwhy Out of memory: Killed process 30127 (python3) total-vm:91234512kB, anon-rss:64110340kB, file-rss:0kB<end_of_turn>"`,
				`source=routes.go:1470 msg="chat request" images=0 prompt="ggml_backend_cuda_buffer_type_alloc_buffer: allocating 81656.95 MiB on device 0: cudaMalloc failed: out of memory"`,
				`Receive: obj=GenerateReqInput(rid='20641', text="It stops with torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.69 GiB of which 1.05 GiB is free.", input_ids=None, stream=True)`,
				`Finish: obj=GenerateReqInput(rid='36468', text="Summarise: Out of memory: Killed process 4121 (python3) total-vm:91234564kB, anon-rss:65011220kB, file-rss:0kB"), out={'text': 'It was OOMKilled.', 'meta_info': {}}`,
				`Receive: request_id='77be21c3d0', obj=GenerateReqInput(text='RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.', input_ids=None, stream=False)`,
				`Received request chatcmpl-7f3a: prompt: '<s>slurmstepd: error: Detected 1 oom_kill event in StepId=771.0. Some of the step tasks have been OOM Killed.', params: SamplingParams(n=1), lora_request: None.`,
				`Request cmpl-1-0 details: prompt: "what is RuntimeError: CUDA error: out of memory?", prompt_token_ids: [1, 2], prompt_embeds shape: None.`,
				`Generated response chatcmpl-7f3a (streaming delta): output: 'terminate called after throwing an instance of \'std::bad_alloc\'', output_token_ids: [1], finish_reason: stop`,
				`{"type": "chat", "state": {"roles": ["USER", "ASSISTANT"], "messages": [["USER", "Out of memory: Killed process 30127 (python3) total-vm:91234512kB, anon-rss:64110340kB, file-rss:0kB"]]}}`,
				`{"model": "m", "messages": [{"content": "slurmstepd: error: Detected 1 oom_kill event in StepId=771.0. Some of the step tasks have been OOM Killed.", "role": "user"}]}`,
				`Request options: {'method': 'post', 'json_data': {'messages': [{'role': 'user', 'content': "NCCL WARN Cuda failure 'out of memory'"}], 'model': 'm'}}`,
			),
			NoMatch: []string{
				"Received request 7 of 12, allocating: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
				`Generated response in 2.1 s, then RuntimeError: CUDA error: out of memory`,
				`source=routes.go:1470 msg="chat request" images=0 error="CUDA error: out of memory" prompt="hello"`,
				`{"level": "error", "role": "worker", "text": "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"}`,
				`{"type": "chat", "error": "RuntimeError: CUDA error: out of memory", "state": {"messages": [["USER", "hello"]]}}`,
				`{"level": "error", "messages": [[0, 3]], "text": "RuntimeError: CUDA error: out of memory"}`,
				`{"level": "error", "messages": 3, "msg": "RuntimeError: CUDA error: out of memory"}`,
			},
		},
		{
			// Agents that work on software run commands, and what these print is the agent's reading.
			Name:     "veto.tool_output",
			Requires: []string{"bservation", "BSERVATION", "Thought", "Final Answer", "ool_re", "ool re", "ool_out", "ool out", "Tool Re", "Tool Out", "ode execution failed"},
			Literals: []string{
				"ut of memory", "OutOfMemoryError", "std::bad_alloc", "MemoryError", "OOM Killed", "Killed process", "annot allocate memory", "oom-kill",
				"_STATUS_ALLOC_FAILED", "CUDA_ERROR_OUT_OF_MEMORY", "RESOURCE_EXHAUSTED",
			},
			Expr: `^(?>Code execution failed at line '.{1,400}' due to: |[\[{ ]{0,3}(?:</?tool_re(?:sponse|sult)s?|(?:[Tt]rajectory|[Tt]urn|[Ss]tep)[ _]?\d{1,6}\]?:? observations?` +
				`|(?:(?:[Tt]rajectory|[Tt]urn|[Ss]tep)[ _]?\d{1,6}\]?:? )?['"]?(?:OBSERVATIONS?|Observations?|[Tt]ool[ _](?:[Rr]esponse|[Rr]esult|[Oo]utput)s?|Thought|Final Answer))['"]?(?: \d{1,6}| \([^()]{0,80}\))?\s?[:=>\]]).{0,8000}?` +
				`(?:` + oomWords + `|[Oo]ut of memory|oom-kill|OOM Killed|Killed process)`,
			Also: []string{
				"veto.question", "veto.advice", "veto.quoted", "veto.sample", "host.numpy", "host.enomem", "kernel.killed", "cuda.error",
				"torch.oom.of_which",
			},
			Veto:   true,
			Source: "agents' logs: rllm (Trajectory N observation), ReAct loops (Observation:), smolagents (Observations:), chat templates (<tool_response>), tool results of function calling",
			Match: lines(
				"Trajectory 7 observation: [stdout] E       MemoryError: Unable to allocate 7.45 GiB for an array with shape (1000000000,) and data type float64",
				"OBSERVATION: Memory cgroup out of memory: Killed process 41 (python) total-vm:1kB, anon-rss:1kB",
				"Observations: std::bad_alloc",
				"<tool_response> RuntimeError: CUDA error: out of memory",
				`[step 4] tool_output = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."`,
				"Tool result (bash): fork: Cannot allocate memory",
				"Code execution failed at line 'y = net(x)' due to: OutOfMemoryError: CUDA out of memory. Tried to allocate 1.25 GiB.",
			),
			NoMatch: []string{
				"observation space too large: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
				"MemoryError: Unable to allocate 7.45 GiB for an array with shape (1000000000,) and data type float64",
				"tool worker died: std::bad_alloc",
				"Code execution failed: OutOfMemoryError: CUDA out of memory. Tried to allocate 1.25 GiB.",
			},
		},
		{
			Name:     "veto.sample",
			Requires: []string{"<|", "[INST]", "role", "[prompt]", "### Instruction", "<think>", "content", `user\n`, `system\n`},
			Literals: []string{
				"CUDA out of memory", "HIP out of memory", "NPU out of memory", "XPU out of memory", "rror: out of memory", "OutOfMemoryError", "std::bad_alloc",
				"MemoryError", "_STATUS_ALLOC_FAILED", "CUDA_ERROR_OUT_OF_MEMORY", "RESOURCE_EXHAUSTED", "annot allocate memory",
			},
			Expr: `^` + notItsOwn + `(?>.{0,4000}?(?:<\|(?:im_start|im_end|user|assistant|begin_of_text|begin_of_sentence)\|>|\[INST\]|["']role["']: ?["'](?:user|assistant|system|tool|human)|\[prompt\]|### Instruction|<think>|["']content["']: ?["']|["'](?:system|user)\\n)).{0,8000}?` +
				oomWords,
			Also:   []string{"torch.oom.paren", "torch.oom.class", "veto.request", "cuda.error"},
			Veto:   true,
			Source: "chat templates and message lists: rollouts print the samples themselves, and coding data holds whole tracebacks",
			Match: lines(
				"[prompt] system You are helpful. user RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 8.00 GiB total capacity; 6.00 GiB already allocated; 1.00 GiB free; 512.00 MiB cached) what now?",
				`{"role": "user", "content": "I get torch.cuda.OutOfMemoryError: CUDA out of memory."}`,
				"<|im_start|>assistant std::bad_alloc is thrown when",
				`['user\nwhy RuntimeError: CUDA error: out of memory\nassistant\nThe card is full.', tensor(0.5)]`,
			),
			NoMatch: []string{"<|im_start|>assistant the answer is 42<|im_end|>"},
		},
	}
}

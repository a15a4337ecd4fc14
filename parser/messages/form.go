package messages

import "oomscan/parser/pattern"

// The names of a status that means that memory ran out. In a message they stand behind words; in a source, between its signs.
const statusName = `(?:(?>[A-Z]{2,12})_(?:(?:RESULT_)?ERROR_OUT_OF_(?:DEVICE_|HOST_)?MEMORY|(?:STATUS_)?(?:INTERNAL_ERROR_DEVICE_)?ALLOC(?:ATION)?_FAILED)|cudaErrorMemoryAllocation|hipError(?:OutOfMemory|MemoryAllocation)|rocblas_status_memory_error)`

// statusWords are in each of them.
var statusWords = []string{"ERROR_OUT_OF_", "MemoryAllocation", "ErrorOutOfMemory", "ALLOC_FAILED", "ALLOCATION_FAILED", "memory_error"}

// foundIn is the place that grep puts before a line, or Python's trace.
const foundIn = `(?:[\w./+-]{1,200}\.\w{1,6}(?:[:-](?:\d{1,6}[:-])?|\(\d{1,6}\): ))`

// inSource is what may stand before a line of source: where grep found it, the sign of a diff, the number of a listing.
const inSource = `^` + foundIn + `?[+-]{0,2}(?>(?:-{1,8}>|[│❱>]|\s){0,60})(?:\d{1,6}(?: ?[:|])?[\s│]{1,40})?`

// formVetoes are the forms of text that is quoted, whatever it says: no program prints a failure of its own so. They have no
// literals, for any event's message may be quoted.
func formVetoes() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name: "veto.diff",
			Expr: `^(?:@@ -\d{1,6}(?:,\d{1,6})? \+\d|[+-]{1,2}(?![a-z]{0,3}sh: )(?:\w(?<!\d)|["'#(\[{<*/,]|\t)|\+ {2,}|- {4,}|\s{2,60}(?!- .*"\s*$)(?:[+~-]|-/\+|\+/-) (?:(?!\w{0,40}(?:err|exc|fail|reason|stat))"?[a-z_][\w.-]{0,60}"? {1,60}= "[^{].{0,2000}(?<!\\)"(?: -> (?:null|\(.{1,40}\)))?(?: # forces replacement)?|".{0,2000}(?<!\\)",)\s*$)`,
			Veto: true, Source: "diff -u, git diff, git log -p, terraform plan",
			Match: lines(
				"+RuntimeError: CUDA error: out of memory",
				`-                raise RuntimeError("CUDA error: out of memory")`,
				"-,,,run_10,RuntimeError: CUDA error: out of memory",
				"@@ -63,6 +63,7 @@ const CUresult cudaErrorMemoryAllocation = hipErrorMemoryAllocation;",
				`      ~ pattern        = "oom" -> "\"torch.OutOfMemoryError: CUDA out of memory\""`, `          + "CUDA error: out of memory",`,
			),
			NoMatch: []string{
				`  - last_error = "CUDA error: out of memory"`, `  - detail = "CUDA error: out of memory"`, `  + job 3 = "CUDA error: out of memory"`, `    - "CUDA error: out of memory"`,
				"- RuntimeError: CUDA error: out of memory", "  +-+---------------- 1 ----------------", "---> 12 CUDA error: out of memory", "-9 is what it exited with", "-bash: fork: Cannot allocate memory",
			},
		},
		{
			Name:     "veto.shell",
			Requires: []string{"+ ", "$ ", "export ", "declare "},
			Expr:     `^\+{1,4} \S|^[\w@:~/.\[\]-]{0,60} ?\$ (?:grep|rg|sed|awk|echo|cat|printf|tail)\b|^(?:export|declare -x) \w{1,60}=["']`,
			Veto:     true, Source: "set -x of a shell, its prompt, and its environment",
			Match:   lines("+ grep -n 'CUDA error: out of memory' train.log", `$ grep -c "RuntimeError: CUDA error: out of memory" *.log`, `export NOTE="was killed before: slurmstepd: error: Detected 1 oom_kill event in StepId=1.batch."`),
			NoMatch: []string{"export job 7 failed: RuntimeError: CUDA error: out of memory", "  + Exception Group Traceback (most recent call last):"},
		},
		{
			Name:     "veto.comment",
			Requires: []string{"// ", "//\t", "//! ", "/*", "<!--", "{#", ";; ", "# ", "* Exc", "REM ", "#s", "#["},
			Expr:     inSource + `(?://[/!]?[ \t]|/\*|<!--|REM |\{#|;; |#{1,6}(?: |(?=[a-z\[])).{0,400}?` + remarked + `|\* Exception in thread ")|(?:#(?! Calls into the C\+\+ engine) (?<=\S[^#]{0,400}[=(){};][^#]{0,199}[ \t]# |(?:- )?[a-z_][\w.-]{0,60}:(?: [\w./'"+-]{1,60}| \[[\w., '"-]{1,60}\])? {1,20}# )|// (?<=\S.{0,400}["'\w)\]};,]  ?// )|/\*(?<=[;{},)]\s{1,20}/\*)(?=.{0,400}\*/\s*$))(?:(?!\\n).){0,200}(?:` + remarked + `|` + statusName + `|[Oo]ut of memory)`,
			Veto:     true, Source: "comments of any language, headings of Markdown",
			Match: lines(
				"// a caller gets CUDA error: out of memory",
				"//! RuntimeError: CUDA error: out of memory",
				"docs/en/faq.md:64:### RuntimeError: CUDA error: out of memory",
				`#   sending SIGTERM to process 28570 "tail": oom_score 629, VmRSS 15048 MiB`,
				"#   Dec 22 01:24:58 devbox systemd[1]: XXX.service: A process of this unit has been killed by the OOM killer.",
				"#   Dec 22 01:24:58 devbox systemd[1]: XXX.service: Failed with result 'oom-kill'.",
				"#   Dec 22 01:24:58 devbox systemd[1]: XXX.service: Main process exited, code=killed, status=9/KILL",
				"    x = f(y)  # RuntimeError: CUDA error: out of memory",
				"batch: 8   # 12 -> RuntimeError: CUDA error: out of memory", "  sizes: [8, 16]  # 32: OSError: [Errno 12] Cannot allocate memory", "num_workers: 4       # 16: RuntimeError: DataLoader worker (pid 88213) is killed by signal: Bus error.",
				"//\tMemory cgroup out of memory: Killed process 41 (python) total-vm:1kB",
				"export FI_EFA_USE_HUGE_PAGE=0    # else os.fork() causes OSError: Cannot allocate memory",
				`        report_full(p, want);   /* "CUDA error: out of memory" */`,
				"  batch_size: 8  # 16 gives torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
				"            # ValueError: To serve at least one request with the models's max seq len (32768),", "# RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.",
				"# ValueError: No available memory for the cache blocks.", "# shows Last State: Terminated, Reason: OOMKilled (exit code 137).",
				`    # "Out of GPU memory trying to allocate 127.781 TiB".`,
				"# RuntimeError: DataLoader worker (pid 2226) is killed by signal: Bus error.",
				`     * Exception in thread "main" java.lang.OutOfMemoryError: Java heap space`,
				"#slurm-6493217_106.out:slurmstepd: error: Detected 9 oom-kill event(s) in step 6493531.batch cgroup.",
				"#[2026-03-28T14:27:13.072] error: Detected 1 oom_kill event in StepId=1.batch.",
				"            kind: ErrorKind::from_raw(2), // hipErrorOutOfMemory",
				"REM                (cudaMalloc failed: out of memory), having loaded with only",
			),
			NoMatch: []string{
				"export job 7   # 3 failed: RuntimeError: CUDA error: out of memory",
				"return run_backward(  # Calls into the C++ engine to run the backward pass torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
				`"exc": "    return run_backward(  # Calls into the C++ engine to run the backward pass\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB`,
				"rank 3 /* x */ RuntimeError: CUDA error: out of memory", "step(3); /* failed: RuntimeError: CUDA error: out of memory",
				"[12/100] # params 7B # RuntimeError: CUDA error: out of memory",
				"# There is insufficient memory for the Java Runtime Environment to continue.",
				"# Native memory allocation (mmap) failed to map 716177408 bytes for committing reserved memory.",
			},
		},
		{
			Name:     "veto.code",
			Requires: []string{"raise ", "except", "if ", "if(", "then", "while ", "with ", "case ", "assert", "EXPECT", "ASSERT", "REQUIRE", "CHECK", `and "`, `or "`, "and '", "or '", `",`, `: "`, "throw", "catch", "INSERT INTO ", "insert into ", "local ", "console.", "def ", "expect(", "let(:", ").", "return", "#define ", "echo ", "grep ", "rg ", "sed ", "awk ", "let ", "const ", "var ", "static ", "pub ", "auto ", "char ", "tring ", "print", "puts(", "rror(", "anic(", "atal(", "ail(", "arn(", `("`, "('", `="`, "='", `= "`, "= '", "= r", "= f", "= b", "= u"},
			Expr: inSource + `(?:raise \w[\w.]{0,80}\(|expect\(|let\(:|\(.{1,80}\)\.\w{1,40}\(["']|(?:and|or) (?:not )?["'].{1,200}["'] (?:not )?in \w|assert (?:not )?\w[\w.]{0,60}[(\[]|assert (?:not )?[\w.]{1,60} (?:[<>]=?|[=!]=|is|in|not in) [^"']{1,80}, ?[rfbu]?["'].{1,400}["']\s*$|(?:EXPECT|ASSERT|REQUIRE|CHECK)(?:_\w{1,30})?\(|[A-Z]\w{0,40}:\s{1,40}"[^"]{0,400}",\s*$|except\b.{0,200}:(?:\s|$)|(?:el)?if\b.{1,400}[:{;]\s*(?:#.*|//.*)?$|(?:el)?if\b.{1,400}\bthen\s*$|(?:while|for|with|case)\b.{1,400}[:{]\s*$|assert\w{0,20}\b ?[("'\[]|(?:throw|catch) ?(?:new )?(?:\w[\w:.]{1,80})?\(|(?:INSERT INTO|insert into) \w|local \w{1,40} = ["']|console\.\w{1,20}\(|\S.{1,200}\{ ?(?:return|throw|panic|raise)\b.{1,300}\}\s*$|(?:else )?if \w{1,40}\(.{1,400}["']\) ?\{ ?\S.{0,200}\}\s*$|def |return .{1,400}[;)]\s*$|return\b.{0,20}["'(]` +
				`|\#define |(?:echo|grep|rg|sed|awk) +(?:-\w|["'])|(?:let|const|var|static|pub|auto|char|string|String)\b.{1,200}=|[A-Z][A-Z0-9_]{2,40} ?= ?[rfbu]{0,2}["']|(?:f?printf|print|puts|error|panic|fatal|fail|warn)\(["'])` +
				`|` + inSource + `(?!(?:\w{1,40} ?= ?)?torch\.(?:cuda\.)?OutOfMemoryError\(["']CUDA out of memory\. Tried to allocate \d+\.\d\d .{0,800}\)\s*$)(?:[\w.*, ]{1,60} :?= )?(?:[\w$]{1,60}(?:\.|->|::)){1,6}\w{1,60}!?\((?:.{0,20}["'(]|[^()"']{1,40}")|` + inSource + `[\w.>-]{1,80}\s*[:+]?= ?(?:[rfbu]{1,2}["']|["'].*["'];\s*$)|^[+-]?\t{1,4}\w{1,60}\s*:?= ".{0,400}"\s*$|` + inSource + `\{"[^"]{1,400}", .{1,200}\},\s*$|` + inSource + `[A-Z][A-Z0-9_]{3,60}\(.{1,400}\s\\\s*$|` + inSource + `[a-z]\w{0,60}\((?:[\w.&*>-]{1,40}, ?){0,4}"[^"]{1,400}"(?:\s*$|(?:, ?[^()]{1,200})?\);\s*$)`,
			Veto: true, Source: "statements of Python, C, C++, Go, Rust, JavaScript, shell: their keywords, calls and ends",
			Match: lines(
				`    raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")`,
				"    except torch.cuda.OutOfMemoryError: # retry below",
				`---> 12     if "CUDA error: out of memory" in str(e):`,
				`31 |     raise RuntimeError("CUDA out of memory. Tried to allocate 20.00 MiB")`,
				`            logger.warning("Worker exceeded 95% memory budget.  Restarting")`,
				`src/a.c:291: notify_req.message     = "Exceeded job memory limit";`,
				`        and "DefaultCPUAllocator: can't allocate memory" in exception.args[0]`,
				`    assert is_oom["_error"](RuntimeError("CUDA out of memory. Tried to allocate 1 GiB"))`,
				`    fprintf(stderr, "CUDA error: out of memory\n");`,
				`  EXPECT_THROW(TRY_ALLOC(cudaErrorMemoryAllocation), out_of_memory);`,
				`	endLine             = "Killed process 19667 (x) total-vm:1460016kB, anon-rss:1414008kB, file-rss:4kB"`,
				`	b.Push(&types.Log{Message: "kernel: oom-kill:constraint=CONSTRAINT_NONE"})`,
				"\t\tMessage: \"The node was low on resource: memory. \",",
				`		line := fmt.Sprintf("Jan 21 22:01:49 localhost kernel: [62279.421192] Killed process 1234 (%s) total-vm:1460016kB", name)`,
				`		malloc_write("<jemalloc>: Cannot allocate memory for "`,
				`		{"cudaMalloc failed: out of memory", true},`,
				"    throw new Error('CUDA error: out of memory');",
				`    (job_dir / "slurm-700.log").write_text("loading\nslurmstepd: error: Detected 1 oom_kill event in StepId=700.batch."`,
				`    let(:log) { "RuntimeError: CUDA error: out of memory" }`,
				`	if ret == nvml.Bad { return fmt.Errorf("CUDA error: out of memory") }`,
				`local s = "CUDA error: out of memory"`,
				`  else if contains(string!(.message), "CUDA error: out of memory") { .class = "gpu_oom" }`,
				"INSERT INTO logs VALUES (1, 'RuntimeError: CUDA error: out of memory');",
				`  MAP_ERROR("CUDA_ERROR_OUT_OF_MEMORY",                              \`,
				`    subst("CUBLAS_STATUS_ALLOC_FAILED", "rocblas_status_not_implemented", "numeric_literal");`,
				`        assert free_mem > 0, 'No enough gpu memory for state cache. Please reduce max_batch_size.'`,
			),
			NoMatch: []string{
				"print worker: RuntimeError: CUDA error: out of memory",
				"if rank 0 dies: RuntimeError: CUDA error: out of memory",
				`if (rank 0) fails with RuntimeError("CUDA error: out of memory") {node 3}`,
				"raise in worker 3: torch.OutOfMemoryError",
				"return code 1, RuntimeError: CUDA error: out of memory",
				"assert failed on rank 3, last error 'CUDA error: out of memory'",
				`assert failed: free_mem > 0, "CUDA error: out of memory" on rank 3`,
				`check("RuntimeError: CUDA error: out of memory") failed on rank 3;`,
				`check(rank, "RuntimeError: CUDA error: out of memory") failed on rank 3;`,
				`#3 0x00007f in check (rank=3, msg="CUDA error: out of memory") at x.cc:12`,
				`level=error msg="RuntimeError: CUDA error: out of memory"`,
				"torch.OutOfMemoryError('CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free.')",
				"exception = torch.OutOfMemoryError('CUDA out of memory. Tried to allocate 2.00 GiB.')",
				`{"RuntimeError: CUDA error: out of memory", 3}`,
				"ray.exceptions.RayTaskError(OutOfMemoryError): ray::main_task() (pid=41880, ip=10.20.4.6)",
			},
		},
		{
			// PyTorch's own message goes on with the card's figures; one that somebody made up ends with the request, or earlier.
			Name:     "veto.text_literal",
			Requires: []string{"'", `"`},
			Expr: inSource + `(?<=\s{4}|\t)(?!.{0,400}(?:total capaci?ty|already allocated|of which))(?:` +
				`\(?[rfbu]{0,2}(?:"[^"]{0,400}(?<!\\n)"|'[^']{0,400}(?<!\\n)')[,)\];]{0,3}\s*(?:#.*|//.*)?` +
				`|[([{]{0,2}(?:[a-z_][\w.[\]]{0,40}(?:: ?[\w.[\], ]{1,40})? {1,30}= \[?(?:[\w.]{1,60}\(){0,3}|(?:[\w.]{1,60}\(){1,3})["'].{1,400}["'][)\]]{0,4}(?:, \w{1,20}){0,3}[)\]}]{0,2},?\s*(?:#.*|//.*)?)$`,
			Veto: true, Source: "the text of a call, a list or a variable on a line of its own",
			Match: lines(
				`        "DefaultCPUAllocator: can't allocate memory",  # CPU OOM`,
				`            "CUDA out of memory. Tried to allocate 20.00 GiB at /home/u/models/x.safetensors"`,
				`    "CUDA error: out of memory (device 0, 23.6 GiB free)",`,
				`    oom = RuntimeError("CUDA out of memory. Tried to allocate 20.00 GiB (GPU 0; 47.5 GiB total)")`,
				`        diagnostic = "ggml-cuda.cu:103: ROCm error: out of memory"`,
				`> 	endLine             = "Killed process 19667 (x) total-vm:1460016kB, anon-rss:1414008kB, file-rss:4kB"`,
				`        _failing_call(RuntimeError("CUDA out of memory. Tried to allocate 66.54 GiB.")),`,
				`    fault: list = [_OOM("CUDA out of memory. Tried to allocate 2.00 GiB")]`,
				`            (RuntimeError("CUDA out of memory. Tried to allocate 66.54 GiB."), True),`,
				`    ("slurmstepd: error: Detected 1 oom-kill event(s) in StepId=7.batch.",`,
				`        fault[0] = _OOM("CUDA out of memory. Tried to allocate 2.00 GiB")`,
				`x.py(50):             msg = 'CUDA out of memory. Tried to allocate 2.00 GiB'  # a made-up one`,
			),
			NoMatch: []string{
				`      "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free.",`,
				`      "RuntimeError: CUDA error: out of memory\n",`,
				`error = RuntimeError('CUDA error: out of memory')`,
				`x.py(50): msg = 'CUDA error: out of memory'`,
			},
		},
		{
			// Real messages in these forms would have the card's figures, or no quotes.
			Name:     "veto.other_language",
			Requires: []string{"-- ", "% ", "; ", `" `, "raise ", "die ", "failwith ", "Write-Error ", "croak ", "anyhow!(", "bail!(", "panic!(", ` == "`, "case ", "| '", `| "`, `|~ "`, "skipped '", `skipped "`, "name: ", ".asci", ".string", "' => "},
			Expr: `^(?!.{0,400}(?:total capaci?ty|already allocated|of which))(?:\s{0,40}(?:--|%{1,3}|;{1,3}|") (?:\| )?(?:(?:RuntimeError|torch\.(?:cuda\.)?OutOfMemoryError): )?` + oomWords + `(?!.{0,400}Tried to allocate \d).{0,80}$` +
				`|\s{0,40}(?:raise|die|failwith|Write-Error|croak)\s(?:[A-Z][\w.:]{0,60}, )?(?:"[^"]{0,400}"|'[^']{0,400}');?\s*$|\s{0,60}(?:Err\()?(?:anyhow|bail|panic)!\("|\s{0,40}\w{1,40} == (?:"[^"]{1,400}"|'[^']{1,400}')\s*$|\s{0,40}case \w{1,40} = "[^"]{1,400}"\s*$` +
				`|\s{0,20}\| ["'][\w.: ]{1,80}["'];?\s*$|\s{0,40}(?:[.\w$]{1,40}:\s{1,20})?\.(?:asci[iz]|string)\s{1,20}"|.{0,200}\|~ ?"|\w{1,80} \([\w.]{1,120}\) \.\.\. skipped ["']|\s{0,20}(?:- )?name: \w[^"']{0,80} (?:"[^"]{1,200}"|'[^']{1,200}')\s*$|\s{0,40}(?:\w{1,40} => \{ ?)?(?:["'](?!(?i:\w{0,40}(?:err|exc|fail|reason|stat|mess|msg|detail|text|note|log|event)))[A-Z][^"']{0,200}["'] => ["'][^"']{1,400}["'],? ?){1,20}\}?\s*$)`,
			Veto: true, Source: "comments and statements of SQL, Haskell, Erlang, TeX, assembler, vim, Ruby, Perl, OCaml, Elixir, PowerShell, Rust, Rego, Swift and TypeScript; dictionaries of Logstash, Ruby, PHP and Perl; unittest's skips; queries and steps of monitors",
			Match: lines(
				"-- torch.OutOfMemoryError: CUDA out of memory.", "%% CUDA error: out of memory", "; CUDA error: out of memory", `" CUDA error: out of memory`,
				`    raise "CUDA out of memory. Tried to allocate 2.00 GiB"`, "  raise RuntimeError, 'CUDA out of memory. Tried to allocate 2.00 GiB'", "  die 'CUDA out of memory. Tried to allocate 2.00 GiB';",
				`        Err(anyhow!("CUDA out of memory. Tried to allocate 2.00 GiB"))`, `  msg == "CUDA error: out of memory"`, `  case outOfMemory = "CUDA error: out of memory"`, "  | 'CUDA_ERROR_OUT_OF_MEMORY'", "\t.string\t\"RuntimeError: CUDA error: out of memory\"", `msg: .asciz "CUDA error: out of memory"`,
				`          selector: '{app="t"} |~ "torch.OutOfMemoryError: CUDA out of memory"'`, "test_oom (t.T) ... skipped 'CUDA error: out of memory'", `      - name: Check for "CUDA error: out of memory"`, `    dictionary => { "OOMKilled" => "container reached its memory limit" "Evicted" => "The node was low on resource: memory." }`, `  'Evicted' => 'The node was low on resource: memory.',`,
			),
			NoMatch: []string{
				"-- Process 3 failed: RuntimeError: CUDA error: out of memory", "worker 3 died: 'CUDA error: out of memory'", "0: raise in worker 3: 'CUDA error: out of memory'",
				"-- CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 15.78 GiB total capacity)", `job name: train "CUDA error: out of memory"`, `       "message" => "RuntimeError: CUDA error: out of memory",`, `    "Message" => "The node was low on resource: memory.",`, `  "LastError" => "CUDA error: out of memory"`,
			},
		},
		{
			Name:     "veto.hint",
			Requires: []string{`* '`, `* "`, `- '`, `- "`, `• '`, `• "`},
			Expr:     `^\s{0,20}[-*•] (?:'[^']{8,300}'|"[^"]{8,300}")(?: in [\w ]{1,40})?(?::| ->| =>| →) (?i:sbatch|ask|use|lower|reduce|raise|increase|decrease|halve|add|clean|resubmit|enable|disable)\b`,
			Veto:     true, Source: "job scripts and their headers, which say what to do about a message",
			Match: lines(
				`  * 'torch.OutOfMemoryError: CUDA out of memory' in this file: sbatch with BS=4 instead of 8`, `- "slurmstepd: error: Detected 1 oom_kill event": ask for more with --mem`, `- "CUDA out of memory" -> Reduce the batch size`,
			),
			NoMatch: []string{`- "CUDA out of memory": rank 3`, `- "CUDA out of memory": run 7 failed`, `- "CUDA out of memory": see rank3.log`, `- "CUDA out of memory": try 2 of 3`, `* 'torch.OutOfMemoryError: CUDA out of memory' in rank 3`, `- CUDA out of memory: reduce the batch size`},
		},
		{
			Name:     "veto.named_text",
			Requires: []string{"=> panic!(", "-- slurmstepd: ", "-- srun: ", "then echo ", "then printf ", `\texttt{`, `\textbf{`, `\emph{`, `\code{`, "<skipped ", "ython -c ", "ython3 -c ", "summary: ", "description: ", "title: ", "oom: ", "label: ", "hint: "},
			Expr: `^(?:.{0,200}\) => panic!\("|\s{0,40}-- (?:slurmstepd|srun): |\s{0,40}(?:el)?if .{1,300}; ?then (?:echo|printf) ["']|\s{0,40}\\(?:texttt|textbf|emph|code)\{|.{0,200}<skipped message="` +
				`|\s{0,20}(?:\d{1,10} )?\S{0,80}[Pp]ython3? -c ["']?(?:raise|print|assert)\b|\s{2,60}(?:- )?(?:summary|description|title|oom|label|hint): (?:"[^"]{1,400}"|'[^']{1,400}'),?\s*$)`,
			Veto: true, Source: "arms of Rust's match, SQL's comments, shell, LaTeX, JUnit's skips, lists of processes, rules of monitors and translations",
			Match: lines(
				`        Err(DriverError(CUDA_ERROR_OUT_OF_MEMORY, "out of memory")) => panic!("CUDA error: out of memory"),`, "-- slurmstepd: error: Detected 1 oom_kill event in StepId=42.batch",
				`  if grep -q "oom-kill event" $f; then echo "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=1.0"; fi`, `\texttt{RuntimeError: CUDA error: out of memory}`,
				`<testcase name="t"><skipped message="CUDA out of memory. Tried to allocate 2.00 GiB"/></testcase>`, " 4242 python -c raise RuntimeError('CUDA error: out of memory')",
				"      summary: 'RuntimeError: CUDA error: out of memory'", "  oom: 'CUDA error: out of memory',",
			),
			NoMatch: []string{
				`Exception: DriverError(CUDA_ERROR_OUT_OF_MEMORY, "out of memory")`, "srun: error: Detected 1 oom_kill event in StepId=42.0", `  message: "RuntimeError: CUDA error: out of memory"`,
				`	details = "CUDA out of memory. Tried to allocate 2.00 GiB"`, `summary: RuntimeError: CUDA error: out of memory`,
			},
		},
		{
			Name: "veto.subject",
			Expr: `^(?:[*|\\/ ]{0,12}[0-9a-f]{7,12}[ \t](?:\([\w ,>/:.-]{1,120}\) )?(?:[a-z]{2,12}(?:\([\w-]{1,40}\))?!?: )?(?i:fix|add|handle|avoid|catch|retry|improve|support|remove|revert|prevent|reduce)(?:e?s|e?d)? |#\d{1,6} \[(?i:bug|feature|question|rfc|usage|docs?|help|performance|installation|misc)\b[\w :/-]{0,30}\])`,
			Veto: true, Source: "git log --oneline; lists of issues on GitHub",
			Match: lines(
				"a1b2c3d fix RuntimeError: CUDA error: out of memory on resume", "* 1234567 (HEAD -> main) Fix torch.OutOfMemoryError: CUDA out of memory in eval (#123)",
				"#4242 [Bug] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB when using fp16", "abc1234 feat(rollout): handle CUDA error: out of memory",
				"9f02b61\tfix \"RuntimeError: CUDA out of memory. Tried to allocate 5.63 GiB\" in eval",
			),
			NoMatch: []string{"a1b2c3d RuntimeError: CUDA error: out of memory", "a1b2c3d\tRuntimeError: CUDA error: out of memory", "#12 12.34 RuntimeError: CUDA error: out of memory", "#9 [4/7] RUN python train.py: CUDA error: out of memory", "#12 [builder 3/5] RUN make: CUDA error: out of memory"},
		},
		{
			Name:     "veto.docstring",
			Requires: []string{"``", " if the ", " when the ", "Raises "},
			Expr:     `^\s{0,40}(?:["']{3})?Raises (?:RuntimeError|MemoryError|torch\.(?:cuda\.)?OutOfMemoryError)\b|` + "``[^`]{0,120}(?:[Oo]ut of memory|" + oomWords + ")[^`]{0,60}``" + `|^\s{4,60}MemoryError: (?:[a-z][^.:]{0,80} )?(?:if|when) the `,
			Veto:     true, Source: "docstrings of Python: literals of reStructuredText, the section of what a function raises",
			Match: lines("'out of memory'`` or ``Triton Error [CUDA]: out of memory`` even though the", "            MemoryError: if the put would exceed ``max_samples`` or", "            MemoryError: forwarded from the store when the put would",
				`    """Raises torch.OutOfMemoryError: CUDA out of memory if full."""`),
			NoMatch: []string{"    MemoryError: Unable to allocate 7.45 GiB for an array with shape (1000000000,) and data type float64"},
		},
		{
			Name:     "veto.template",
			Requires: []string{"{", `\`, ".*", ".+", "(?", "re.compile(", "expr", "pattern", "keywords", "regex", "Regex", "match", "alert", "|= ", "|~ "},
			Expr: `\{(?![\w.]{1,40}\.\w{1,4}:\d+\})[a-z_][\w.]{0,40}(?:![rs])?:[^{}\s]{1,8}\}|(?<!\[\[)\{\{(?!function_node )-? ?[.$]?\w[^{}]{0,80}\}\}|\\\\?[dwsS][*+{]|\(\?P?<|\(\.[*+]\??\)|\.[*+]["']?,?\s*$|re\.compile\(|["']\(\?[aimsux]{1,6}\)` +
				"|^[\\s-]{0,40}[\"']?(?:expr|query)[\"']?: ?.{0,400}?(?:\\|[=~] ?[\"`]|_over_time\\()" +
				`|^[\s-]{0,40}(?:["']?(?:expr|patterns?|regexp?|\w{1,40}Regexp?|alert)["']?|match\w{0,12}): ?\[?["']` +
				`|(?<!` + oomWords + `.{0,400})["'](?!match|found|hit|detect)(?:\w{1,30}_)?(?<!(?:match|found|hit|detect)\w{0,30})(?:patterns?|keywords)["']: ?\[[^\]]{0,400}?` + oomWords + `[^\]]{0,400}\](?!.{0,2000}` + oomWords + `)`,
			Veto: true, Source: "formats and regular expressions: what a program would fill in, or look for; rules of monitors (node-problem-detector, Promtail, Prometheus)",
			Match: lines(
				`                f"GPU memory exceeds kill threshold {kill_threshold:.2f}. "`,
				`      - pattern: "Out of memory: Killed process (\\d+) \((.+)\) total-vm:.*"`,
				`      "pattern": "\\w+ invoked oom-killer: gfp_mask=.*"`,
				`  "patterns": ["CUDA error: out of memory", "NCCL WARN"]`,
				`detector: {"fatal_patterns": ["NCCL WARN", "CUDA error: out of memory"], "retries": 3}`,
				`  - regex: .*CUDA error: out of memory.*`,
				`          expr: sum(count_over_time({app="train"} |= "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate" [5m])) > 0`,
				`    - userLogRegex: "(?i)cuda runtime error (2) : out of memory"`,
				`  ("(?i)CUDA error: out of memory", "lower the batch"),`,
				`  summary: Container {{ $labels.container }} was killed: reason: OOMKilled`,
			),
			NoMatch: []string{
				`query: failed with "RuntimeError: CUDA error: out of memory"`, `expr: a|b: RuntimeError: CUDA error: out of memory`,
				"{train.py:93} INFO - RuntimeError: CUDA error: out of memory", "ResourceExhaustedError: {{function_node __wrapped__Mul_device_/job:localhost/device:GPU:0}} failed to allocate memory [Op:Mul]", "WorkerProc hit an exception: %s", `no match: "RuntimeError: CUDA error: out of memory"`, `watchdog: {"matched_patterns": ["CUDA error: out of memory"], "rank": 3}`,
				`{"ignore_patterns": ["*.pt"], "error": "CUDA error: out of memory"}`, `{"patterns": ["CUDA error: out of memory"], "found": "RuntimeError: CUDA error: out of memory"}`, "RuntimeError: CUDA error: out of memory...",
			},
		},
		{
			// The three look for one thing. Together, an expression that begins at the line and others that do not would be tried at
			// each character.
			Name:     "veto.status_line",
			Requires: statusWords,
			Expr: `^(?:` + inSource + `(?:(?:\w{1,60}(?:\.|::)){0,6}(?:[rfbu]?["'])?` + statusName + `["']?\s*(?:=(?!=)|:\s*$|,|\}|;)|\d{1,4}: ?[rfbu]?["']` + statusName + `|[{(] ?["']` + statusName + `["'],|\{ ?` + statusName + `|(?:const|static|pub|extern|cdef|int|enum) .{0,80}\b` + statusName + `(?:\s*$| ?[=,:]|;)|[A-Z]\w{1,40} (?:\w{1,60} ?= ?(?:\w{1,60}(?:\.|::)){0,3})?` + statusName + `(?: ?[=,]|;)|\|.{0,60}` + statusName + ` ?=>)` +
				`|(?:` + foundIn + `(?! \S))?\s{0,40}[+-]?\s{0,40}(?!(?:cuda_?)?(?:err|error|status|code|rc|ret|result|res)\b)\w{1,60} ?= ?(?:[\w.]{1,60}(?:\.|::))?` + statusName + `\s*$|[+-]?\s{0,40}\*\s{1,8}` + statusName + `(?:\s*$|,)|\s{0,40}[A-Z]{4,12} :: ` + statusName + `)`,
			Veto: true, Source: "tables and declarations of a status",
			Match: lines(
				"    CUFFT_ALLOC_FAILED = 2,", `        ffi::cublasStatus_t::CUBLAS_STATUS_ALLOC_FAILED => panic!("alloc failed"),`,
				"    2: b'HIPSPARSE_STATUS_ALLOC_FAILED',", `             ("hipErrorMemoryAllocation", CONV_TYPE, API_DRIVER),`,
				"  oom_code = binding.CUresult.CUDA_ERROR_OUT_OF_MEMORY", "  RMM_ERROR_OUT_OF_MEMORY,    //< no more memory", "        b'HIPSPARSE_STATUS_ALLOC_FAILED',",
				"     * ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY", "         ENUMERATOR :: CUBLAS_STATUS_ALLOC_FAILED     = 3",
				"cuda/api/runtime.pyx:93:errorMemoryAllocation = cudaErrorMemoryAllocation",
			),
			NoMatch: []string{
				"error = driver.CUDA_ERROR_OUT_OF_MEMORY", "* rank 3: hipErrorOutOfMemory", "train.py:93: allocation = CUDA_ERROR_OUT_OF_MEMORY",
				"CUBLAS failure 3: CUBLAS_STATUS_ALLOC_FAILED ; GPU=1 ; hostname=node-a ; expr=cublasCreate(&cuHandle)",
				"failed to create cublas handle: CUBLAS_STATUS_ALLOC_FAILED", "Could not create cudnn handle: CUDNN_STATUS_ALLOC_FAILED",
				"Kernel launch returned cudaErrorMemoryAllocation", "Error in step 4: hipErrorOutOfMemory",
			},
		},
		{
			Name:     "veto.status_use",
			Requires: statusWords,
			Expr: `[=!]= ?(?:[\w.]{1,60}(?:\.|::))?` + statusName + `|\(` + statusName + `(?::=|[,)][^"]{0,200};\s*$)|(?:case (?:[\w.]{1,60}(?:\.|::))?` + statusName + ` ?:|(?:return|[?:=]) ?(?:[\w.]{1,60}(?:\.|::))?` + statusName + `;)` +
				`|\b[a-z]{2,6}(?:Success|Error[A-Z]\w{1,40}), ` + statusName + `|[(\[]` + statusName + `,\s*$|\bs/\\b` + statusName + `\\b/|["'], {1,60}\{?["']` + statusName + `["']|#` + statusName + "|[`*_]{1,4}" + statusName + "[`*_]{1,4}\\s{0,80}\\|",
			Veto: true, Source: "comparisons, cases and calls with a status; what a script puts in its place; lists in documents",
			Match: lines(
				"        case CUBLAS_STATUS_ALLOC_FAILED:",
				"names: dict[int, str] = {(CUDA_SUCCESS:=0): 'CUDA_SUCCESS', (CUDA_ERROR_OUT_OF_MEMORY:=2): 'CUDA_ERROR_OUT_OF_MEMORY'}",
				"    return cudaErrorMemoryAllocation;", "    TRY_ALLOC(cudaErrorMemoryAllocation, 2048);", " * @returns #hipErrorLaunchFailure, #hipErrorOutOfMemory",
				" * @returns hipSuccess, hipErrorOutOfMemory", "|   2 |*`CUDA_ERROR_OUT_OF_MEMORY`*    |*`hipErrorOutOfMemory`*   |",
				"    retry_if(res) = res in (CUFFT_ALLOC_FAILED,", `    $ft{'x'} += s/\bcudaErrorMemoryAllocation\b/hipErrorMemoryAllocation/g;`, `  {"CUBLAS_STATUS_EXECUTION_FAILED",     {"HIPBLAS_STATUS_EXECUTION_FAILED",     "rocblas_status_memory_error",    CONV_NUMERIC_LITERAL}},`,
			),
			NoMatch: []string{
				"status == 3: CUBLAS_STATUS_ALLOC_FAILED", "error = driver.CUDA_ERROR_OUT_OF_MEMORY",
				"RuntimeError: cusolver error: CUSOLVER_STATUS_ALLOC_FAILED, when calling `cusolverDnCreate(handle)`",
			},
		},
		{
			Name:     "veto.status_name",
			Requires: statusWords,
			Expr:     `(?<![A-Z])` + statusName + "(?: ?[=!]=|[\"']?, ?[\"']?" + statusName + `| (?:errors?|occurr?\w{1,4})\b|` + "[\"'`]? is (?:returned|thrown|raised)\\b|, [a-z]{2,6}Error[A-Z]\\w)",
			Veto:     true, Source: "comparisons and lists that a status begins, sentences about it",
			Also: []string{"veto.status_line"},
			Match: lines(
				"* Clear sticky cudaErrorMemoryAllocation errors", "    if (cudaErrorMemoryAllocation == error) {", "- * hipErrorOutOfMemory, hipErrorNotInitialized",
				" * Defaults to throwing bad_alloc, but when `cudaErrorMemoryAllocation` is returned,",
			),
			NoMatch: []string{
				"numba.cuda.cudadrv.driver.CudaAPIError: [2] Call to cuMemAlloc results in CUDA_ERROR_OUT_OF_MEMORY",
				"cupy.cuda.runtime.CUDARuntimeError: cudaErrorMemoryAllocation: out of memory",
				"RuntimeError: cusolver error: CUSOLVER_STATUS_ALLOC_FAILED, when calling `cusolverDnCreate(handle)`",
				"failed to create cublas handle: CUBLAS_STATUS_ALLOC_FAILED", "status == 3: CUBLAS_STATUS_ALLOC_FAILED",
				"RuntimeError: CUBLAS failure 3: CUBLAS_STATUS_ALLOC_FAILED ; GPU=0 ; ",
			},
		},
		{
			Name: "veto.grep",
			Expr: `^\s{0,20}\d{1,7}┆|^[\w./+-]{1,200}\.(?:py|pyx|md|rst|c|cc|cpp|cu|cuh|h|hpp|go|rs|ts|js|sh|ya?ml|toml|ipynb)(?:[:-]\d{1,6}[:-](?:\s{2,}|\t|[-*>#|] ?)|(?<=\.(?:md|rst)):\d{1,6}:)`,
			Veto: true, Source: "grep -n in a checkout; a place behind which a blank and a message follow is a logger's; the numbers of the lines that Semgrep shows",
			Match:   lines("119┆ RuntimeError: CUDA error: out of memory", "docs/faq.md:12:RuntimeError: CUDA error: out of memory", "tests/test_oom.py-14-    RuntimeError: CUDA error: out of memory"),
			NoMatch: []string{"src/storage/./pooled_storage_manager.h:157: cudaMalloc failed: out of memory", "rank 3 ┆ RuntimeError: CUDA error: out of memory"},
		},
		{
			Name:     "veto.test",
			Requires: []string{"E  ", "PASSED", "SKIPPED", "XFAIL", "XPASS", "ok ", " ... ", "✓ ", "✔ ", "--- ", "[ ", "_test.go:", ".py::"},
			Expr:     `^(?:\s{4,16}\w{1,60}_test\.go:\d{1,6}: .{0,80}(?:Kill(?:ed)? process \d|invoked oom-killer|oom[-_]kill:?(?: event)?\b)|\s{0,16}(?:E {3,}(?!torch\.(?:cuda\.)?OutOfMemoryError: CUDA out of memory\. Tried to allocate .{1,20}\. GPU \d+ has a total capacity of )|[✓✔] )|.{1,400} \.\.\. (?:ok|expected failure|skipped ["'].{0,200}["'])$|(?:\[gw\d{1,4}\] (?:\[ {0,3}\d{1,3}%\] )?)?(?:PASSED|SKIPPED|XFAIL|XPASS) |ok \d{1,6} |--- (?:PASS|SKIP): |\[ {1,8}(?:OK|PASSED) |\[ RUN {6}\] )|^\S{1,400}::\w.{0,400} (?:PASSED|SKIPPED|XFAIL|XPASS)\b|^(?>[^:]{0,240}?\.py::)\w[\w:]{0,200}\[[^\]]{0,400}?` + remarked + `(?!.{0,800}?\].{0,400}?` + remarked + `)`,
			Veto:     true, Source: "pytest, pytest-xdist, TAP, go test, GoogleTest, cargo test, Mocha, unittest and the first lines of its docstrings: what a test provokes, and the parameters in its name; a test on a GPU fails with the allocator's own figures",
			Match:   lines("E   RuntimeError: CUDA error: out of memory", "    E       torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.", "PASSED tests/test_retry.py::test_x - RuntimeError: CUDA error: out of memory", "[gw7] [  5%] PASSED tests/test_b.py::test_parse[0-slurmstepd: error: Detected 1 oom_kill event in StepId=1.0]", "[gw1] PASSED tests/test_b.py::test_parse[RuntimeError: CUDA error: out of memory]", "FAILED tests/test_b.py::test_parse[CUDA error: out of memory] - AssertionError: assert 3 == 4", "[ RUN      ] Alloc.CUDA_ERROR_OUT_OF_MEMORY", `test oom::parses "RuntimeError: CUDA error: out of memory" ... ok`, "Out of memory: Killed process 4711 (python3) total-vm:1kB, anon-rss:1kB ... ok", "RuntimeError: CUDA error: out of memory ... skipped 'no card'", "    kernel_test.go:41: line: Memory cgroup out of memory: Killed process 4242 (python) total-vm:1kB, anon-rss:1kB", `    kernel_test.go:41: in: "Out of memory: Kill process 42 (java) score 996 or sacrifice child"`, `    kernel_test.go:41: in: "Killed process 42 (java) total-vm:1kB, anon-rss:1kB, file-rss:0kB"`, "  ✓ shows RuntimeError: CUDA error: out of memory (12 ms)"),
			NoMatch: []string{"RuntimeError: CUDA error: out of memory ... ERROR", "loading ... ok, then RuntimeError: CUDA error: out of memory", "E   torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.20 GiB is free.", "E0601 10:00:00 12 x.cc:1] RuntimeError: CUDA error: out of memory", "[  FAILED  ] Alloc.Big: CUDA error: out of memory", "[ RUN 7 ] RuntimeError: CUDA error: out of memory", "[gw2] [ 12%] FAILED tests/test_b.py::test_fit - RuntimeError: CUDA error: out of memory", "[gw2] RuntimeError: CUDA error: out of memory", "ERROR tests/test_b.py::test_fit[MemoryError] - RuntimeError: CUDA error: out of memory", "tests/test_b.py::test_fit[8] RuntimeError: CUDA error: out of memory", "RuntimeError: CUDA error: out of memory in tests/test_b.py::test_fit[MemoryError]", "    llm_test.go:41: cudaMalloc failed: out of memory", "kernel_test.go:41: Memory cgroup out of memory: Killed process 4242 (python) total-vm:1kB"},
		},
		{
			// A failed assertion may show what a program really reported. Only what it should have, and PyTorch's message without the card's
			// figures, is made up.
			Name:     "veto.assertion",
			Requires: []string{"` failed: ", " assert ", "left: ", "right: ", "Received", "Which is: ", "actual  : ", "xpected"},
			Expr: "^(?!.{0,400}(?:total capaci?ty|already allocated|of which))(?:assertion `left [!=]= right` failed: .{0,400}out of memory\\. Tried to allocate [\\d.]{1,12} [KMGT]iB\\.?$" +
				`|\s{0,60}(?:left|right|Received(?: string)?|Which is|actual  ): {1,8}(?:Some\()?"(?:[^"\\]|\\.){0,400}out of memory\. Tried to allocate [\d.]{1,12} [KMGT]iB\.?"\)?$` +
				`|\s{0,60}[Ee]xpected(?: (?:string|substring|value))?: {1,8}(?:not )?"(?:[^"\\]|\\.){1,400}"$|FAILED \S{1,400} - AssertionError: assert \w{1,60}\((?:\w{1,40}=[^'"=()]{1,40}, ){0,8}(?:text|content)=["'])`,
			Veto: true, Source: "Rust's assert_eq, Jest (expect-utils), GoogleTest, testify, pytest: the texts that an assertion compared",
			Match: lines(
				"assertion `left == right` failed: RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB", `  left: Some("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB")`,
				` right: "CUDA out of memory. Tried to allocate 2.00 GiB."`, `    Expected: "RuntimeError: CUDA error: out of memory"`, `    Expected substring: not "CUDA error: out of memory"`,
				`    Received string:    "CUDA out of memory. Tried to allocate 2.00 GiB"`, `    Which is: "CUDA out of memory. Tried to allocate 2.00 GiB"`,
				`        	            	expected: "CUDA error: out of memory"`, `        	            	actual  : "CUDA out of memory. Tried to allocate 2.00 GiB"`,
				"FAILED tests/test_x.py::test_y - AssertionError: assert Record(rank=None, text='torch.OutOfMemoryError: CUDA out of memory. ...",
			),
			NoMatch: []string{
				"FAILED tests/test_x.py::test_y - AssertionError: assert Result(rank=None, error='torch.OutOfMemoryError: CUDA out of memory. ...",
				"assertion `left == right` failed: cudaMalloc failed: out of memory", "  left: CUDA_ERROR_OUT_OF_MEMORY", `  left: Err(Torch("CUDA out of memory. Tried to allocate 2.00 GiB"))`,
				`  left: Some("CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free.")`, `    Received message: "CUDA error: out of memory"`,
				`Received: "RuntimeError: CUDA error: out of memory"`, `Expected: "ok" but got "CUDA error: out of memory"`, "  Actual: false (RESOURCE_EXHAUSTED: Out of memory while trying to allocate 128 bytes.)",
			},
		},
		{
			Name:     "veto.commit",
			Requires: []string{"(#", "Subject: [PATCH", " by @"},
			Expr:     `\(#\d{1,6}\)\s*$|^Subject: \[PATCH|\w by @[\w\[\]-]{1,60} in (?:#\d{1,7}|https://\S{1,200}/pull/\d{1,7})\s*$`,
			Veto:     true, Source: "titles of commits and pull requests; the notes that GitHub writes for a release",
			Match: lines("* [Fix] RuntimeError: CUDA error: out of memory when loading (#1234)", "* [Core] Fix RuntimeError: CUDA error: out of memory in sleep mode by @dev in https://github.com/org/repo/pull/9921", "* Torch: RuntimeError: CUDA error: out of memory by @app[bot] in #12",
				"Subject: [PATCH] fix RuntimeError: CUDA error: out of memory"),
			NoMatch: []string{"RuntimeError: CUDA error: out of memory (#3 of 8 ranks)", "run by @ana in #12 failed: RuntimeError: CUDA error: out of memory"},
		},
		{
			Name: "veto.git_log",
			Expr: `^(?:[*|\\/ ]{1,12})?[0-9a-f]{7,40}[ \t](?:\((?:HEAD|tag: |origin/|\w)[^)]{0,120}\) )?(?:[A-Z]\w{1,20} (?!.{0,200}Tried to allocate \d)|Revert "|(?:fix|feat|docs|test|tests|ci|chore|refactor|perf|build)(?:\([\w-]{1,40}\))?!?: )|^(?:HEAD is now at|Previous HEAD position was) [0-9a-f]{7,40} `,
			Veto: true, Source: "git log --oneline; the commit that git checkout and git reset name",
			Match: lines(
				"1a2b3c4 Fix RuntimeError: CUDA error: out of memory when loading", `1a2b3c4 Revert "RuntimeError: CUDA error: out of memory"`,
				"* 1a2b3c4 (HEAD -> main, tag: v2) Handle RuntimeError: CUDA error: out of memory",
				"1a2b3c4 fix(eval): torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
				"HEAD is now at 1a2b3c4 Fix RuntimeError: CUDA error: out of memory in eval",
			),
			NoMatch: []string{"7f3a2b1c0d rank 3: RuntimeError: CUDA error: out of memory"},
		},

		{
			Name:     "veto.inline",
			Requires: []string{"`", "](http", "msgid ", "$("},
			Expr: "^(?:[^`]{0,2000}`[^`]{0,400}`){0,20}[^`]{0,2000}`[^`]{0,200}(?:" + oomWords + "|cudaMalloc failed|\\boom[-_]kill event|Exceeded job memory limit|OOMKill(?:ed|ing)\\b|Killed process|low on resource: memory|DataLoader worker \\(pid|Java heap space)(?!.{0,90}\\. Tried to allocate \\d)[^`]{0,200}`" +
				`|\[(?:[^\[\]]|\[Errno \d{1,3}\]){0,200}` + oomWords + `(?:[^\[\]]|\[Errno \d{1,3}\]){0,200}\]\(https?://|^msgid "|^[a-z]\w{1,40} \$\(\(.{1,80}\)\) "`,
			Veto: true, Source: "a message within a sentence of Markdown: in a span of code, as the text of a link; a text to translate of gettext; a script's call",
			Match: lines(
				"- Getting the error `OSError: [Errno 12] Cannot allocate memory` during `data.load()`",
				"Server fails with `cudaMalloc failed: out of memory` or",
				"  - `message=The node was low on resource: memory. (...)`",
				"- Log shows: `slurmstepd: error: Detected 1 oom_kill event in StepId=23.batch`",
				"a restart with `Last State: Terminated, Reason: OOMKilled, Exit Code: 137`. During it",
				"[OSError: [Errno 12] Cannot allocate memory](https://discuss.example.org/t/12)",
				`msgid "RuntimeError: CUDA error: out of memory"`,
				`send_log $((NOW + 4000)) "ERROR" "std::bad_alloc in a request" ",memory"`,
			),
			NoMatch: []string{
				"Error in `forward()`: CUDA error: out of memory in `backward()`",
				"called `Result::unwrap()` on an `Err` value: DriverError(CUDA_ERROR_OUT_OF_MEMORY)",
				"Search for `cudaErrorMemoryAllocation' in https://docs.nvidia.com/cuda/x.html for more information.",
				"[rank3]: OSError: [Errno 12] Cannot allocate memory",
			},
		},
		{
			Name:     "veto.manual",
			Requires: []string{"`", "**", "- ", "* ", "<code>", "<p>", "<li>", "<summary>", "<d", "<h"},
			Expr:     "^[+-]?\\s{0,8}(?:[-*>] {0,3}){0,2}(?:(?:[A-Z][a-z]{1,12} )?`[^`]{1,120}`|\\*\\*[^*]{1,60}\\*\\*:?)(?: |$)(?!.{0,400}Tried to allocate \\d)|^\\s{0,8}[-*] (?:\\w{1,20}: )?(?:Fix(?:ed|es)?|Add(?:ed|s)?|Handled?|Avoid(?:ed|s)?|Catch|Resolved?|Prevent(?:ed|s)?|Document(?:ed)?) |^\\s{0,8}[-*] \\[[ xX]\\] |^\\s{0,20}<(?:p|li|summary|d[td]|h[1-6])>|<code>[^<]{0,300}</code>|\\w ``(?:slurmstepd|srun): [^`]{1,160}``",
			Veto:     true, Source: "manuals: an option or a message in backticks at the beginning of a sentence, or what a word in bold names; lists of changes and tasks; paragraphs, items and code of web pages",
			Match: lines("Add `--max_model_len` option to avoid ValueError that the model's max seq len (32768) is larger than the maximum number of tokens that can be stored in KV cache (26240).", "> `failed (exitcode: -9)`", "  * **Result:** RuntimeError: CUDA error: out of memory (Host memory).", "**Symptom**: std::bad_alloc",
				`- Fixed "RuntimeError: CUDA error: out of memory" on resume`, "- [ ] RuntimeError: CUDA error: out of memory does not occur with 2 GPUs",
				"\"Why do I get ``slurmstepd: Exceeded step memory limit`` in my log?\"",
				"<p>When you see <code>RuntimeError: CUDA error: out of memory</code> lower it.</p>", "  <li>CUDA out of memory. Tried to allocate 2.00 GiB</li>", "<summary>Error: bash: fork: Cannot allocate memory</summary>"),
		},
		{
			Name:     "veto.record",
			Requires: []string{"question", "instruction", "problem", "query", "prompt", "input", "text", "conversations", "rejected", "trajectory", "title", "completion", "observation", "tool_", "hints_text", "score", "chosen", "rewards"},
			Expr: `^` + notItsOwn + `(?:(?:(?i:(?:\w{1,20} )?(?:row|example|sample|doc|document) ?\d{0,9}|\w{1,40}\[\d{1,9}\]): )?[{](?:["']id["']: ?["']?[\w-]{1,60}["']?, ?)?["']text["']: ?["'](?!.{0,8000}["'](?:(?:level|levelname|severity|time|timestamp|record)["']: |source["']: ?["']std)).{0,8000}["'](?:, ?["'](?:id|meta|metadata|source|url|__\w{1,40}__)["']: ?.{0,2000})?[}]$|.{0,8000}?["']title["']: ?["'].{0,8000}?["'](?:(?:description|body)["']: ?["']|ocr(?:_text)?["']: ?["'][^"']{1,400}\\n)|(?=.{0,8000}?["']passed["']: ?(?:[Tt]rue|[Ff]alse)\b).{0,8000}?["'](?:completion["']: ?["'](?!["'])|completion_id["']: ?\d)|.{0,8000}?["'](?:problem_statement|hints_text)["']: ?["']|.{0,8000}?["']trajectory["']: ?\[.{0,8000}?["'](?:observation|action)["']: ?|(?=.{0,8000}?["'](?:instruction|question|problem|query|prompt|inputs?|text|conversations|rejected)["']: ?[\["'{])` +
				`.{0,8000}?["'](?:output|answer|solution|response|completion|chosen|ground_truth|labels?|input_ids|value|data_source|reward_model|finish_reason)["']: ?|.{0,8000}?"(?:observation|tool_(?:output|result|response))": ?"(?>(?:[^"\\]|\\.){0,8000})(?<=` + oomWords + `.{0,8000})"` +
				`|[{ ]?\s{0,8}"(?:question|instruction|problem|prompt|input|chosen|rejected)": "(?>(?:[^"\\]|\\.){0,8000})",?$|[{ ]?\s{0,8}'(?:question|instruction|problem|prompt|input|chosen|rejected)': '(?>(?:[^'\\]|\\.){0,8000})',?$` +
				`|[{]"(?:response|completion|generated_text)": "(?>(?:[^"\\]|\\.){0,8000})", ?"(?:score|reward|acc|uid)": |(?:[\[(]?\d{1,6}(?:/\d{1,6})?[\]):]{0,2} )?\[{0,2}[{]["'](?:generated|summary|translation)_text["']: |[{]"content": ?\[(?>"(?>(?:[^"\\]|\\.){0,8000})",? ?){1,40}\], ?"rewards": ?\[|.{0,400}?"tool_call_id": ?"[\w-]{1,80}",.{0,400}?"(?:content|output|result|stdout|stderr)": ?"(?>(?:[^"\\]|\\.){0,8000})(?<=` + oomWords + `.{0,8000})")`,
			Veto: true, Source: "records of data sets, as trainers print one, or one field of it on a line: Alpaca, ShareGPT, preferences, verl's parquet, Data-Juicer, SWE-bench, NeMo-RL's train_data; completions and results of tools in OpenAI's form; programs that HumanEval runs (human_eval/evaluation.py); issues of a tracker; what was read in a picture",
			Match: lines(
				`{"instruction": "Fix this", "input": "RuntimeError: CUDA error: out of memory", "output": "Lower the batch."}`,
				`{"id":"x-7","title":"Check the card","description":"When it starts: CUDA error: out of memory","status":"closed"}`,
				`{"text": "It fails with torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB", "meta": {"set": "x"}}`,
				`{"text": "[1.1] Out of memory: Kill process 7 (java) score 9 or sacrifice child", "__dj__stats__": {"lang": "en"}}`, `First row: {'text': 'RuntimeError: CUDA error: out of memory'}`, `train_set[0]: {'text': 'RuntimeError: CUDA error: out of memory'}`,
				`{"id": 3, "text": "RuntimeError: CUDA error: out of memory", "source": "forum"}`,
				`{"step": 3, "action": "python t.py", "observation": "Traceback:\nRuntimeError: CUDA error: out of memory\n", "thought": "x"}`,
				`{"instance_id": "a__b-1", "problem_statement": "It dies:\nRuntimeError: CUDA error: out of memory", "patch": "x"}`,
				`{"index": 3, "text": "The log shows CUDA error: out of memory", "finish_reason": "stop"}`,
				`  "question": "RuntimeError: CUDA error: out of memory. Why?",`, `{'input': 'RuntimeError: CUDA error: out of memory',`, `{"response": "RuntimeError: CUDA error: out of memory", "score": 1}`,
				`[1/4] [{'generated_text': 'In dmesg you find\n[8.1] Out of memory: Killed process 4711 (python) total-vm:91000000kB, anon-rss:64000000kB\nAsk for more.'}]`,
				`{"content":["User: why","Assistant: RuntimeError: CUDA error: out of memory"],"rewards":[0.0],"generation_logprobs":[[-0.1]]}`,
				`agent: tool_result={"tool_call_id":"call_1","exit_code":1,"stderr":"RuntimeError: CUDA error: out of memory"}`,
				`{"task_id": "HumanEval/1", "completion": "    return [0] * 10**12", "result": "failed: CUDA error: out of memory", "passed": false}`,
				`{'task_id': 1, 'passed': False, 'result': 'failed: RuntimeError: CUDA error: out of memory', 'completion_id': 0}`,
				`{"id": "a", "title": "Error in the notebook", "ocr": "Traceback:\nRuntimeError: CUDA error: out of memory", "tags": ["x"]}`,
				`{"id": 2, "trajectory": [{"observation": "RuntimeError: CUDA error: out of memory", "action": "lower it"}]}`,
			),
			NoMatch: []string{
				`{"text": "torch.OutOfMemoryError: CUDA out of memory", "level": "error"}`,
				`{"id": 3, "text": "torch.OutOfMemoryError: CUDA out of memory", "source": "stderr"}`,
				`payload: {"text": "torch.OutOfMemoryError: CUDA out of memory"}`, `{"text": "torch.OutOfMemoryError: CUDA out of memory", "__rank": 3}`,
				`{"step": 3, "observation": "Box(84, 84)", "status": "torch.OutOfMemoryError: CUDA out of memory"}`,
				`{"content":["User: why"],"rewards":[0.0],"error":"RuntimeError: CUDA error: out of memory"}`,
				`{"content":["RuntimeError: CUDA error: out of memory"],"level":"error"}`,
				`tool {"tool_call_id":"call_1","content":"ok"} RuntimeError: CUDA error: out of memory`,
				`{"tool_call_id":"call_1","error":"RuntimeError: CUDA error: out of memory"}`,
				`{"tool_call_id":"call_1","content":"","error":"RuntimeError: CUDA error: out of memory"}`,
				`{"task_id": 1, "completion": "", "result": "RuntimeError: CUDA error: out of memory", "passed": false}`,
				`{"task_id": 1, "completion": null, "result": "RuntimeError: CUDA error: out of memory", "passed": false}`,
				`{"test": "train", "passed": false, "result": "RuntimeError: CUDA error: out of memory"}`,
				`{"task_id": 1, "completion": "x = 1", "passed": false, "error": "RuntimeError: CUDA error: out of memory"}`,
				`{"file": "a.png", "title": "A", "layout": "done", "ocr": "RuntimeError: CUDA error: out of memory"}`,
				`{"file": "a.png", "title": "A", "ocr": "done", "error": "RuntimeError: CUDA error: out of memory"}`,
				`{"prompt": "hello", "response": null, "error": "torch.OutOfMemoryError: CUDA out of memory"}`, `[{'generated_text': '', 'error': 'RuntimeError: CUDA error: out of memory'}]`,
			},
		},
		{
			Name:     "veto.listed",
			Requires: []string{" (", ": ", "#", "\t", "Cannot"},
			Expr:     `^(?:\^?[0-9a-f]{7,40} \([^)]{1,80} \d{4}-\d\d-\d\d [^)]{1,40}\d\) |: \d{10}:\d{1,6};|#\d{1,7}\s{1,8}(?i:open|closed|merged|draft)\s|#\d{1,7} {2}\S.{0,400} {2}(?:about|less than) (?:\d{1,3}|a) (?:minute|hour|day|month|year)s? ago\s*$|title:\t\S|\s{0,8}(?:hyp|ref|src|tgt|(?i:q|question|prediction|reference|human|gold|gt|ground[ _]truth)|Decoded|Tokens|Generated text|[Ss]olution(?:_str| string)): |\s{0,8}(?i:pred(?:icted)?): (?!CUDA |.{0,400}?(?:Error|slurmstepd): )|(?:Prompt|Output): {2,8}["']|(?:Last|First) (?:hit|seen) \d{1,4} (?:day|week|month|year)s? ago\b|[STHDP]-\d{1,7}\t|(?i:best (?:translation|hypothesis|hypo|transcription)(?: \d{1,9})?) ?: |ID=\d{1,9} {0,9}: size=\d{1,9} {1,12}: |\s{4,20}[A-Z]{4,12} Cannot allocate memory(?: \(|\.|$))`,
			Veto:     true, Source: "git blame, the history of zsh, gh issue list and view, questions and answers, what a model reads and writes (fairseq, Marian, ESPnet, vLLM's examples, verl's rewards), clusters of lines (Drain3), errors in a manual",
			Match: lines(
				`^1a2b3c4 (Me 2026-03-01 09:00:00 +0000 12)     raise RuntimeError("CUDA error: out of memory")`,
				`: 1772355600:0;dmesg -T | grep "Killed process 4121 (python3) total-vm"`,
				`Q: What does "slurmstepd: error: Detected 1 oom_kill event in StepId=771.0. Some of the step tasks have been OOM Killed." mean?`,
				"  gold: k8s: raise the limit, worker was OOMKilled (exit code 137)", "  pred: fix CUDA error: out of memory", "Ground truth: CUDA error: out of memory",
				"Q: my job fails with slurmstepd: error: Detected 1 oom_kill event in StepId=4242.0.", "Prediction: RuntimeError: CUDA error: out of memory",
				"hyp: CUDA error: out of memory", "Output:    ' CUDA error: out of memory'", "solution_str: RuntimeError: CUDA error: out of memory is raised", "H-12\t-0.31\tCUDA error: out of memory", "Best translation 3 : slurmstepd: error: Detected 1 oom-kill event(s) in StepId=1.0.", "best hypo: RuntimeError: CUDA error: out of memory", "ID=2     : size=2         : RuntimeError: CUDA error: out of memory", "       ENOMEM Cannot allocate memory (POSIX.1-2001).",
				"#812  open  torch.OutOfMemoryError: CUDA out of memory on 8xA100 (bug)", "#809  RuntimeError: CUDA error: out of memory  bug, oom  about 1 day ago", "title:\tRuntimeError: CUDA error: out of memory in a step",
			),
			NoMatch: []string{"Best translation 3 failed: RuntimeError: CUDA error: out of memory", "Translation 3: RuntimeError: CUDA error: out of memory", "best translation so far, rank 3: RuntimeError: CUDA error: out of memory", "best trial 3 : RuntimeError: CUDA error: out of memory", "ID=2: RuntimeError: CUDA error: out of memory", "#3 rank 3: RuntimeError: CUDA error: out of memory", "#3  rank 3: RuntimeError: CUDA error: out of memory  2 hours ago", "title: RuntimeError: CUDA error: out of memory", "pred: RuntimeError: CUDA error: out of memory", "pred: worker 3: RuntimeError: CUDA error: out of memory", "1a2b3c4d (rank 3) RuntimeError: CUDA error: out of memory"},
		},
		{
			// These look through the whole message, so they need a rare word.
			Name:     "veto.within",
			Requires: []string{"default: ", "TODO", "FIXME", " (HEAD"},
			Expr:     oomWords + `[^.()\[\]]{0,80}[(\[]default: [^()\[\]]{0,60}[)\]]\s*$|\[default: [^\[\]]{0,80}` + oomWords + `[^\[\]]{0,80}\]|\b(?:TODO|FIXME)\b[:(].{0,200}` + oomWords + `|\b[0-9a-f]{7,40} \(HEAD(?: ->|,|\))`,
			Veto:     true, Source: "the defaults of argparse and click, tasks in sources, the commit that git names",
			Match: lines(
				"                 RuntimeError: CUDA error: out of memory (default: 8)", "--pattern TEXT  Pattern  [default: RuntimeError: CUDA error: out of memory]",
				"src/oom.py:12:4: W0511: TODO: handle RuntimeError: CUDA error: out of memory (fixme)",
				"commit: 1a2b3c4 (HEAD -> main) avoid torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
			),
			NoMatch: []string{"worker (default: 8) failed: RuntimeError: CUDA error: out of memory"},
		},
		{
			Name:     "veto.setting",
			Requires: []string{"amespace(", "onfig(", "Args(", "Arguments("},
			Expr:     `^.{0,200}?\b\w{0,40}(?:[Nn]amespace|Config|Args|Arguments)\((?=.{0,8000}?\w=)(?!.{0,8000}?\b(?:error|err|exc|exception|message|msg|reason|stderr|detail|traceback)=)(?<!` + oomWords + `.{0,400})`,
			Veto:     true, Source: "settings that a program prints: what it waits for",
			Match:   lines("Namespace(batch=8, retry_on='RuntimeError: CUDA error: out of memory', lr=0.1)"),
			NoMatch: []string{"RuntimeError: CUDA error: out of memory in ModelConfig(layers=3)", "JobConfig(name='x', error='RuntimeError: CUDA error: out of memory')"},
		},
	}
}

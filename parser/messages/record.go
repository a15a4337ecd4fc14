package messages

import "oomscan/parser/pattern"

// recordVetoes are records in which a text travels that somebody spoke or wrote, or that a tool was asked for. The record itself shows that
// nothing failed where it is printed, whatever the text says. What failed there comes in another form: as the error of a response, or in what
// a bot posts.
func recordVetoes() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "veto.spoken",
			Requires: []string{" --> "},
			Expr:     `^\[(?:\d{1,3}:)?\d\d:\d\d[.,]\d{2,3} --> (?:\d{1,3}:)?\d\d:\d\d[.,]\d{2,3}\](?: |$)`,
			Also:     []string{"torch.oom.of_which", "kernel.killed"},
			Veto:     true,
			Source:   "what Whisper hears (whisper/transcribe.py, verbose; whisper.cpp)",
			Match: lines(
				"[00:20.000 --> 00:25.000]  RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB.",
				"[00:01:20.000 --> 00:01:25.000]   Out of memory: Killed process 1234 (python) total-vm:1kB, anon-rss:1kB",
			),
			NoMatch: []string{
				"stage forward --> backward: RuntimeError: CUDA error: out of memory",
				"[rank0 --> rank1] RuntimeError: CUDA error: out of memory",
			},
		},
		{
			// A failure stands behind what the program did with the message, or in a message of its own.
			Name:     "veto.heard",
			Requires: []string{"ser message", "ser utterance", "ser input", "ser question", "ser query", "ser prompt"},
			Expr: `^(?:[\w.\[\]-]{1,80}\s{1,3}(?:- )?){0,3}?(?i:received|got|new|incoming|handling|processing|parsing|parsed) (?:a |the |new )?[Uu]ser (?:message|utterance|input|question|query|prompt):? (["'])` +
				`(?>(?:(?!\1).|(?<=\w)\1(?=\w)){0,4000})(?<=` + remarked + `.{0,4000})\1(?!.{0,2000}` + remarked + `)`,
			Also:   []string{"torch.oom.of_which", "kernel.killed", "slurm.oom_kill", "cuda.error", "veto.conditional", "veto.question", "veto.kernel_quoted"},
			Veto:   true,
			Source: "what people say to a bot (Rasa, core/processor.py, and bots that log alike)",
			Match: lines(
				"rasa.core.processor  - Received user message 'it ended with slurmstepd: error: Detected 1 oom_kill event in StepId=1.0.' with intent '{'name': 'ask'}' and entities '[]'",
				"[u-7] - Received user message 'I can't train: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free.' with intent 'ask'",
				`Processing user query: "dmesg says Out of memory: Killed process 41 (python) total-vm:1kB, anon-rss:1kB, file-rss:0kB"`,
			),
			NoMatch: []string{
				"Received user message 'hi' with intent 'greet', then RuntimeError: CUDA error: out of memory", "Processing user query 'hi' failed: RuntimeError: CUDA error: out of memory", "Received message 'RuntimeError: CUDA error: out of memory' from rank 3",
				"Received user message 'I get CUDA error: out of memory' and failed: RuntimeError: CUDA error: out of memory", "failed: RuntimeError: CUDA error: out of memory while processing user message 'hi'", "Processing user message 'hi: RuntimeError: CUDA error: out of memory",
				"Sent user message 'RuntimeError: CUDA error: out of memory'", "received user error 'RuntimeError: CUDA error: out of memory'",
			},
		},
		{
			// A tool that failed says so in isError.
			Name:     "veto.tool_result",
			Literals: []string{`"jsonrpc"`},
			Expr:     `^(?=.{0,8000}"jsonrpc": ?"2\.0")(?!.{0,8000}"isError": ?true).{0,8000}?"result": ?\{"content": ?\[\{"type": ?"text", ?"text": ?"`,
			Also:     []string{"kubernetes.oom_killed", "cuda.error"},
			Veto:     true,
			Whole:    true,
			Source:   "results of tools in the Model Context Protocol, as clients and servers log them",
			Match: lines(
				`[agent] <- {"jsonrpc": "2.0", "id": 5, "result": {"content": [{"type": "text", "text": "Last State: Terminated\n  Reason: OOMKilled"}], "isError": false}}`,
				`{"result":{"content":[{"type":"text","text":"RuntimeError: CUDA error: out of memory"}]},"jsonrpc":"2.0","id":7}`,
			),
			NoMatch: []string{
				`{"jsonrpc":"2.0","id":5,"error":{"code":-32603,"message":"RuntimeError: CUDA error: out of memory"}}`,
				`{"jsonrpc":"2.0","id":5,"result":{"content":[{"type":"text","text":"RuntimeError: CUDA error: out of memory"}],"isError":true}}`,
				`{"jsonrpc":"2.0","id":5,"result":{"status":"RuntimeError: CUDA error: out of memory"}}`,
			},
		},
		{
			// What a command printed that failed may be the failure of what it started.
			Name:     "veto.tool_called",
			Literals: []string{`"tool_call"`, `"command_execution"`, `"tool_result"`},
			Expr: `^[^{]{0,80}\{(?=.{0,400}?"type": ?"tool_call", ?"subtype": ?"completed").{0,8000}?"result": ?\{"success": ?\{` +
				`|^[^{]{0,80}\{"type": ?"item\.completed", ?"item": ?\{.{0,80}?"type": ?"command_execution",.{0,8000}?"aggregated_output": ?"(?>(?:[^"\\]|\\.){0,8000})", ?"exit_code": ?0\b` +
				`|^[^{]{0,80}\{"type": ?"tool_result",.{0,400}?"status": ?"success", ?"output": ?"`,
			Also:   []string{"kernel.killed", "slurm.oom_kill", "cuda.error", "veto.sample"},
			Veto:   true,
			Whole:  true,
			Source: "what tools of coding agents printed, in the JSON that they stream: Cursor's (--output-format stream-json), Codex' (exec --json), Gemini's (--output-format stream-json)",
			Match: lines(
				`{"type":"tool_call","subtype":"completed","call_id":"a","tool_call":{"shellToolCall":{"args":{"command":"dmesg"},"result":{"success":{"exitCode":0,"stdout":"Out of memory: Killed process 41 (x) total-vm:1kB, anon-rss:1kB\n"}}}}}`,
				`[agent] {"type": "tool_call", "subtype": "completed", "tool_call": {"readToolCall": {"args": {"path": "a.err"}, "result": {"success": {"content": "RuntimeError: CUDA error: out of memory"}}}}}`,
				`{"type":"item.completed","item":{"id":"item_1","type":"command_execution","command":"tail a.err","aggregated_output":"RuntimeError: CUDA error: out of memory\n","exit_code":0,"status":"completed"}}`,
				`{"type":"tool_result","timestamp":"2026-01-01T10:00:00.000Z","tool_id":"shell-1","status":"success","output":"slurmstepd: error: Detected 1 oom_kill event in StepId=1.batch."}`,
			),
			NoMatch: []string{
				`{"type":"tool_call","subtype":"completed","tool_call":{"shellToolCall":{"args":{"command":"python t.py"},"result":{"failure":{"exitCode":1,"stderr":"RuntimeError: CUDA error: out of memory"}}}}}`,
				`{"type":"item.completed","item":{"id":"item_1","type":"command_execution","command":"python t.py","aggregated_output":"RuntimeError: CUDA error: out of memory\n","exit_code":1,"status":"failed"}}`,
				`{"type":"item.completed","item":{"id":"item_1","type":"error","message":"RuntimeError: CUDA error: out of memory"}}`,
				`{"type":"tool_result","tool_id":"shell-1","status":"error","output":"RuntimeError: CUDA error: out of memory"}`,
			},
		},
		{
			// How far a hit is from what was asked, and what it holds, are in one record. A record of a run may have a score, too.
			Name:     "veto.hits",
			Requires: []string{"istance", "score"},
			Expr: `^(?:(?!rror|ailed|illed|emory)[^\[{(]){0,80}?[\[{(]` +
				`(?!.{0,8000}?\\?["'](?:error|err|exception|exc_info|(?:stack_?)?trace(?:back)?|reason|detail|message|msg|std(?:err|out)|level|levelname|severity|host(?:name)?|stat(?:us|e)|(?:exit_?|return_?)code|rank)\\?["']: ?)` +
				`(?:(?=.{0,8000}?\\?["']_?distances?\\?["']: ?\[{0,2}-?\d{1,6}\.\d)(?=.{0,8000}?\\?["'](?:text|content|document|documents|chunk|passage)\\?["']: ?\[{0,2}\\?["'])` +
				`|(?=.{0,8000}?\\?["']score\\?["']: ?-?\d{1,6}\.\d)(?=.{0,8000}?\\?["'](?:matches|payload|corpus_id|entity)\\?["']: )(?=.{0,8000}?\\?["']text\\?["']: )` +
				`|(?=.{0,200}?\bScoredPoint\(id=.{0,80}?\bscore=-?\d{1,6}\.\d{1,20}, payload=\{))` +
				`.{0,8000}["'](?:(?!rror|ailed|illed|emory)[^"']){0,120}[\]})]\s{0,8}$`,
			Also:   []string{"kernel.killed", "slurm.oom_kill", "cuda.error"},
			Veto:   true,
			Source: "what a search in an index of vectors found, as Python shows it: Milvus, Chroma, LanceDB, Pinecone, Qdrant, sentence-transformers' util.semantic_search",
			Match: lines(
				`data: ['[{\'id\': 448120, \'distance\': 0.9112, \'entity\': {\'text\': \'RuntimeError: CUDA error: out of memory\', \'src\': \'forum/8\'}}]'], extra_info: {'cost': 9}`,
				`{'ids': [['a', 'b']], 'embeddings': None, 'documents': [['Out of memory: Killed process 41 (x) total-vm:1kB, anon-rss:1kB', 'hello']], 'distances': [[0.31, 0.44]]}`,
				`[{'text': 'RuntimeError: CUDA error: out of memory', 'src': 'forum/1', '_distance': 0.31}]`,
				`{'matches': [{'id': 'v1', 'metadata': {'text': 'RuntimeError: CUDA error: out of memory'}, 'score': 0.91, 'values': []}], 'namespace': ''}`,
				`[{'corpus_id': 4, 'score': 0.812, 'text': 'slurmstepd: error: Detected 1 oom_kill event in StepId=1.batch.'}]`,
				`[ScoredPoint(id=1, version=0, score=0.9112, payload={'text': 'RuntimeError: CUDA error: out of memory'}, vector=None)]`,
			),
			NoMatch: []string{
				`{'trial': 7, 'score': 0.83, 'text': 'RuntimeError: CUDA error: out of memory'}`,
				`{'trial': 7, 'distance': 0.83, 'error': 'RuntimeError: CUDA error: out of memory', 'text': 'hello'}`,
				`{'id': 7, 'distance': 0.83, 'text': 'hello'} failed: RuntimeError: CUDA error: out of memory`,
				`{'id': 7, 'distance': 0.83, 'text': 'hello'} (RuntimeError: CUDA error: out of memory)`,
				`embedding failed {'id': 7, 'distance': 0.83, 'text': 'CUDA error: out of memory'}`,
				`{'text': 'RuntimeError: CUDA error: out of memory', 'distance': 0.83, 'level': 'error'}`,
				`{'text': 'RuntimeError: CUDA error: out of memory', 'distance': 3}`, `{"text":"RuntimeError: CUDA error: out of memory","distance":0.83,"level":"error"}`,
			},
		},
		{
			// What a search found has a score behind it, and a weakness of a program a number.
			Name:     "veto.found",
			Requires: []string{"core: ", "imilarity: ", "istance: ", "CVE-", "GHSA-"},
			Expr:     `\((?:[Ss]core|[Ss]imilarity|[Dd]istance): -?\d{1,4}\.\d{1,8}\)\s{0,8}$|\bCVE-\d{4}-\d{4,7}\b|\bGHSA(?:-[0-9a-z]{4}){3}\b`,
			Also:     []string{"torch.oom.paren", "torch.oom.class", "kernel.killed", "slurm.oom_kill", "kubernetes.evicted", "host.numpy", "host.bad_alloc", "cuda.error"},
			Veto:     true,
			Source:   "sentence-transformers' examples of semantic search; Trivy, Grype, pip-audit and npm audit",
			Match: lines(
				"Memory cgroup out of memory: Killed process 4711 (java) (Score: 0.6705)",
				"RuntimeError: CUDA error: out of memory (Similarity: 0.8121)",
				"│ vllm (METADATA) │ CVE-2025-10002 │ HIGH │ fixed │ 0.8.3 │ 0.8.5 │ vllm: torch.OutOfMemoryError: CUDA out of memory on a crafted image │",
			),
			NoMatch: []string{
				"RuntimeError: CUDA error: out of memory (Score: 3 of 8)",
				"step 12 (score: 0.52) failed: RuntimeError: CUDA error: out of memory",
			},
		},
		{
			// Slack gives the messages of a person an id of the client; those of a program have none.
			Name:     "veto.posted",
			Literals: []string{`"client_msg_id"`},
			Expr:     `^(?=.{0,8000}"client_msg_id": ?"[\w-]{1,60}").{0,8000}?"type": ?"message"`,
			Also:     []string{"cuda.error"},
			Veto:     true,
			Whole:    true,
			Source:   "messages of Slack, as its export and its events have them",
			Match: lines(
				`corpus: {"client_msg_id": "c2-91", "type": "message", "text": "see CUDA error: out of memory", "user": "U02Z", "ts": "1761922000.0002"}`,
				`{"user":"U1","type":"message","ts":"1.2","client_msg_id":"0b","text":"RuntimeError: CUDA error: out of memory"}`,
			),
			NoMatch: []string{
				`{"type":"message","subtype":"bot_message","text":"RuntimeError: CUDA error: out of memory"}`,
			},
		},
		{
			// An object whose class names a document or a turn of a dialogue, or that pytest shows as the value of a name, fills the rest of the
			// line. Where one could not be read, the failure stands before or behind it, and what a collector keeps has a level, a host or a
			// time.
			Name:     "veto.document",
			Requires: []string{"text='", `text="`, "content='", `content="`, "content: '"},
			Expr: `^(?:\w{1,60} {1,20}= (?!\w{0,40}(?:Error|Event|Failure|Report|Result|Status)\()\w{1,60}|(?:(?!rror|ailed|illed|emory)(?:[^'"=]|'\w{1,40}': )){0,300}?\b\w{0,40}(?:Document|Passage|Chunk|TextNode|(?:Human|AI|System|Tool|Chat|ChatCompletion)Message|CompletionOutput|Sample|Example))\(` +
				`(?!.{0,8000}?(?:\b(?:error|err|exception|exc|message|reason|level|severity|status|state|std(?:err|out)|stream|host(?:name)?|time(?:stamp)?|(?:exit|return)_?code)(?:=|: ["'])|["'](?:level|severity|error|stream|hostname)["']: ))` +
				`.{0,4000}?\b(?:text=|content=|page_content=|content: )(?>'(?:[^'\\]|\\.){0,8000}'|"(?:[^"\\]|\\.){0,8000}")(?:, \w{1,40}(?:=|: ).{0,8000})?\)[\])}]{0,8}\s*$`,
			Also:   []string{"torch.oom.of_which", "kernel.killed", "kernel.report", "slurm.oom_kill", "cuda.error"},
			Veto:   true,
			Source: "documents and messages as Python shows them: datatrove, LangChain, LlamaIndex, Haystack, openai, vLLM; what the test that failed was given",
			Match: lines(
				`kept Document(text='kernel: Out of memory: Killed process 41 (mysqld) total-vm:1kB, anon-rss:1kB\\nkernel: oom_reaper', id='<urn:uuid:1>', media=[], metadata={'url': 'https://a.example/1'})`,
				`[TextNode(id_='a-1', metadata={}, text="slurmstepd: error: Detected 1 oom_kill event in StepId=1.batch. It\'s over", score=None)]`,
				`ToolMessage(content='Out of memory: Killed process 41 (x) total-vm:1kB, anon-rss:1kB', tool_call_id='c1')`,
				`{'retriever': {'documents': [Document(id=9f1c, content: 'Out of memory: Killed process 41 (x) total-vm:1kB, anon-rss:1kB', meta: {'split_id': 3}, score: 0.81), Document(id=12ab, content: 'hello')]}}`, `[Document(id=9f1c, content: 'RuntimeError: CUDA error: out of memory')]`,
				`rec = Record(rank=0, text='torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.10 GiB of which 0 bytes is free.')`,
			),
			NoMatch: []string{
				`CUDA error: out of memory while embedding Document(text='hello', id='1')`,
				`Document(text='hello', id='1') failed: RuntimeError: CUDA error: out of memory`,
				`Document(text='Out of memory: Killed process 41 (x) total-vm:1kB, anon-rss:1kB', level='error', id='1')`,
				`Document(id=9f1c, content: 'hello') failed: RuntimeError: CUDA error: out of memory`, `Document(id=9f1c, content: 'Out of memory: Killed process 41 (x) total-vm:1kB, anon-rss:1kB', level: 'error')`, `{'error': Document(content: 'hello'), 'last': RuntimeError('CUDA error: out of memory')}`, `{'last': Event(content: 'RuntimeError: CUDA error: out of memory')}`,
				`Event(id='1', text='Out of memory: Killed process 41 (x) total-vm:1kB, anon-rss:1kB')`,
				`rec = Record(rank=0, text='Out of memory: Killed process 41 (x) total-vm:1kB, anon-rss:1kB', level='error')`,
				`out = TaskResult(content='RuntimeError: CUDA error: out of memory')`, `out = run(text='hello') failed: RuntimeError: CUDA error: out of memory`, `last=Line(rank=0, text='RuntimeError: CUDA error: out of memory')`,
				`TaskResult(content='RuntimeError: CUDA error: out of memory', metadata={})`,
			},
		},
		{
			Name:     "veto.example",
			Requires: []string{"ample", "AMPLE", "rompt", "ROMPT", "ompletion", "OMPLETION", "content=", "uestion=", "uery=", "assage=", "rguments=", "nswer=", "nstruction=", "User: ", "enerated", "(score", "(sim", "- input: ", " output: "},
			Expr:     `\b(?:page_content|question|prompt|completion|query|passage|arguments|answer|instruction)=\(?(?:'(?:[^'\\]|\\.){0,4000}?|"(?:[^"\\]|\\.){0,4000}?)` + remarked + `|^\s{0,4}- (?:input|(?:actual|expected) output): |(?i)\b(?:example|sample|prompt|completion)s?(?: \d{1,6}| \w{1,12}){0,2}: ?["'\[{](?<!` + oomWords + `.{0,4000})|^User: (?!(?i:\W{0,4}(?:\w{1,20} ){0,2}(?:errors?|failed|failure|exception)\b))|(?:^|: )generated(?: text)?: ["'](?<!` + oomWords + `.{0,4000})|^\s{0,8}\[?\d{1,3}[\]).:] \((?:score|sim(?:ilarity)?)[=:] ?-?[01]?\.\d{1,8}\) |\(score: -?\d{1,6}(?:\.\d{1,20})?, threshold: -?\d.{0,400}?, reason: (?!None)`,
			Veto:     true, Source: "an example that a program shows before it trains or serves; passages that a search returns; why a judge gave a score (DeepEval, evaluate/utils.py)",
			Match: lines(
				`Example prompt: "RuntimeError: CUDA error: out of memory"`,
				"User: my job says RuntimeError: CUDA error: out of memory", "  - input: RuntimeError: CUDA error: out of memory", "  - expected output: CUDA error: out of memory",
				`eval: generated: "RuntimeError: CUDA error: out of memory"`,
				"  - Correctness [GEval] (score: 0.91, threshold: 0.5, strict: False, evaluation model: m, reason: It says that 'RuntimeError: CUDA error: out of memory' comes from the driver., error: None)",
				"[2] (score=0.83) faq.md: slurmstepd: error: Detected 1 oom_kill event in StepId=991.batch. Some of the step tasks have been OOM Killed.",
				`Document(metadata={'source': 'faq.md'}, page_content='RuntimeError: CUDA error: out of memory')`,
				`RequestOutput(request_id=0, prompt='What\'s this?\n\nValueError: No available memory for the cache blocks.', prompt_token_ids=[1], outputs=[])`,
			),
			NoMatch: []string{
				"input: RuntimeError: CUDA error: out of memory", "User: request failed: RuntimeError: CUDA error: out of memory", "Completion: RuntimeError: CUDA error: out of memory", "Response: CUDA error: out of memory",
				`Reply(prompt='it\'s', error='ValueError: No available memory for the cache blocks.')`, "Exception generated: 'CUDA error: out of memory'", "prompt='hello' failed: RuntimeError: CUDA error: out of memory", "sample 3 failed: RuntimeError: CUDA error: out of memory",
				"[3] (rank=0.5) RuntimeError: CUDA error: out of memory", "trial 3 (score=0.83) failed: RuntimeError: CUDA error: out of memory",
				"  - Correctness [GEval] (score: None, threshold: 0.5, strict: False, evaluation model: m, reason: None, error: RuntimeError: CUDA error: out of memory)",
			},
		},
		{
			// Who set it, and when, stands behind the reason in square brackets or in columns of their own.
			Name:   "veto.node_reason",
			Expr:   `^\s{0,20}(?:Reason=.{1,400} \[[\w.@-]{1,60}@|.{1,200} {2,}[a-z_][\w.-]{0,31}(?:\(\d{1,10}\))? {1,60})\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\]| {1,40}[A-Za-z][\w.,\[\]-]{0,200})\s{0,8}$`,
			Also:   []string{"kernel.killed", "kernel.report", "slurm.oom_kill"},
			Veto:   true,
			Source: "why a node is drained: sinfo -R, scontrol show node",
			Match: lines(
				"   Reason=Out of memory: Killed process 41 (python3) total-vm:1kB, anon-rss:1kB [ops@2026-11-26T17:40:02]",
				"Out of memory: Killed process 41 (python3)          ops       2026-11-26T17:40:02 gpu014",
				"slurmstepd: error: Detected 1 oom_kill event in StepId=1.0.  root(0)   2026-11-26T17:40:02 gpu[014-016,020]",
			),
			NoMatch: []string{
				"Out of memory: Killed process 41 (python3) total-vm:1kB, anon-rss:1kB at 2026-11-26T17:40:02 gpu014",
				"Out of memory: Killed process 41 (python3) total-vm:1kB, anon-rss:1kB  2026-11-26T17:40:02 gpu014",
				"Reason=OutOfMemory slurmstepd: error: Detected 1 oom_kill event in StepId=1.0.",
			},
		},
	}
}

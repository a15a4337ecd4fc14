package stream

import (
	"strings"
	"testing"
)

// TestTheNextLinesProveAQuotation puts a failure above what shows that it is quoted, and above what looks like that.
func TestTheNextLinesProveAQuotation(t *testing.T) {
	t.Parallel()
	const (
		kill   = "slurmstepd: error: Detected 1 oom_kill event in StepId=1.0. Some of the step tasks have been OOM Killed.\n"
		oops   = "Out of memory: Killed process 4711 (python3) total-vm:1kB, anon-rss:1kB, file-rss:0kB\n"
		found  = "tools/triage.py:22:5: E124 closing bracket does not match visual indentation\n"
		asks   = "2026-03-01 10:00:00,001 INFO bot #slurm @ana: "
		says   = "2026-03-01 10:00:09,001 INFO bot -> #slurm @ana: That is your own job.\n"
		code   = " ─ Executing parsed code: ────────\n  print(open('a.log').read())\n ─────────────────────────────────\n"
		logs   = code + "Execution logs:\n"
		tool   = "===== Tool Message =====\nName: read_log\n\n"
		ends   = "srun: error: n1: task 0: Exited with exit code 1\n"
		reply  = "\n====== Ai Message ======\nIt is full.\n"
		field  = "System message:\n\n[[ ## log ## ]]\n{log}\n[[ ## completed ## ]]\nUser message:\n\n[[ ## log ## ]]\n"
		gepa   = "2026-03-01 10:00:00,001 INFO dspy.gepa: "
		rule   = gepa + "Iteration 1: Proposed new text for classify: Name the cause.\n- A line like\n\n    "
		crew   = "\x1b[1m\x1b[95m# Agent:\x1b[00m \x1b[1m\x1b[92mAnalyst\x1b[00m\n"
		read   = crew + "\x1b[95m## Tool Output:\x1b[00m \x1b[92m\n"
		tune   = "INFO:torchtune.utils._logging:"
		told   = tune + "user\n\nWhat does Slurm print?assistant\n\n"
		chat   = "== Running in interactive mode. ==\n\n> Why does it die with\n"
		once   = "0.01.831.974 I generate: n_ctx = 4096, n_batch = 2048\n\nWhy? It reads\n"
		speed  = "\n0.04.773.386 I llama_perf_context_print:        load time =    1803.77 ms\n"
		ggml   = "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 512.00 MiB on device 0: cudaMalloc failed: out of memory\n"
		llama  = "$ ollama run llama3.2 --verbose\n>>> Why does it die?\nIt reads\n"
		rules  = "==========\nIt reads\n"
		mlx    = "==========\nPrompt: 31 tokens, 212.418 tokens-per-sec\n"
		web    = "10:14:40-402117 INFO     PROMPT=\n"
		kobold = "Input: {\"n\": 1, \"prompt\": \"Why?\"}\n"
		reward = "------------- 21-10-10-22-504315 Accuracy reward: 0.0 -------------\n"
		chain  = "\n\n\x1b[1m> Entering new LLMChain chain...\x1b[0m\n"
		prompt = chain + "Prompt after formatting:\n\x1b[32;1m\x1b[1;3mUse the context.\n\n"
		done   = "\n\x1b[1m> Finished chain.\x1b[0m\n"
		start  = "\x1b[32;1m\x1b[1;3m[chain/start]\x1b[0m \x1b[1m[chain:LLMChain] Entering Chain run with input:\n\x1b[0m"
		full   = "\x1b[36;1m\x1b[1;3m[chain/end]\x1b[0m \x1b[1m[chain:LLMChain] [2.00s] Exiting Chain run with output:\n\x1b[0m"
		inJSON = "{\n  \"context\": \"RuntimeError: CUDA error: out of memory\",\n  \"question\": \"Why?\"\n}\n"
		show   = "+ head -n 4 data/mix.jsonl\n"
		next   = "+ python train.py\n"
		value  = "\nOut: None\n[Step 1: Duration 4.11 seconds]\n"
	)
	for name, c := range map[string]struct {
		log    string
		quoted bool
	}{
		"a line with a caret":              {found + "    " + kill + "    ^\n", true},
		"a kill with a caret":              {found + "    (\"" + oops[:len(oops)-1] + "\",\"kernel\"),\n     ^\n", true},
		"what Clang underlines":            {"x.cpp:9:3: warning: unused variable\n  " + kill + "  ~~~~^~~\n", true},
		"a failure without a caret":        {found + kill + "tools/triage.py:25:6: E231 missing whitespace\n", false},
		"a failure that is stopped":        {found + kill + "^CTraceback (most recent call last):\n", false},
		"a caret further below":            {found + kill + "\n    ^\n", false},
		"a caret without a place":          {"linting\n" + kill + "    ^\n", false},
		"a place without a column":         {"x/y.py:31: UserWarning: retry\n" + kill + "    ^\n", false},
		"a time like a place":              {"10:00:01: retry\n" + kill + "    ^\n", false},
		"a failure behind a caret":         {found + "    x = 1\n    ^\n" + kill, false},
		"what a bot is asked":              {asks + kill + says, true},
		"with others between":              {asks + kill + strings.ReplaceAll(asks, "ana", "joe") + "hello\n" + says, true},
		"what it hears, with an arrow":     {strings.Replace(asks, "bot ", "bot <- ", 1) + kill + says, true},
		"two questions":                    {asks + kill + says + asks + oops + says, true},
		"what nobody answers":              {asks + kill, false},
		"an answer to somebody else":       {asks + kill + strings.ReplaceAll(says, "ana", "joe"), false},
		"an answer of another bot":         {asks + kill + strings.ReplaceAll(says, "bot", "alert"), false},
		"a failure before the answer":      {asks + "hello\n" + kill + says, false},
		"an alert":                         {strings.ReplaceAll(asks, "bot", "alert") + kill + "alert was sent to #slurm @ana\n", false},
		"what an agent's code printed":     {logs + "48211\n" + oomReport + value, true},
		"a kill that it printed":           {logs + "[7.402] " + oops + value, true},
		"two of them":                      {logs + kill + "\n" + oops + value, true},
		"code that has no value":           {logs + "48211\n" + oomReport, false},
		"another code behind it":           {logs + "48211\n" + oomReport + logs + "3\n" + value, false},
		"a failure behind its value":       {logs + "48211\n" + value + kill + value, false},
		"a failure between code and logs":  {code + kill + "Execution logs:\n48211\n" + value, false},
		"the logs of a job":                {"job 7 failed\nExecution logs:\n" + kill + "Out: 7.out\n", false},
		"a message of a tool":              {tool + oomReport + ends + reply, true},
		"with the label of a rank":         {tool + "[rank3]: " + oomMessage + "step 4\n" + kill + reply, true},
		"with the stamp of a collector":    {"2026-03-01T10:00:00Z " + strings.TrimSuffix(strings.ReplaceAll(tool+kill+reply, "\n", "\n2026-03-01T10:00:00Z "), "2026-03-01T10:00:00Z "), true},
		"two messages of tools":            {tool + kill + tool + oops + reply, true},
		"what a person asks":               {"==== Human Message =====\nWhy?\n" + kill + reply, true},
		"an agent that dies below one":     {tool + oomReport + ends, false},
		"an agent that starts again":       {tool + oomReport + "==== Human Message =====\nWhy?\n" + reply, false},
		"a failure behind a message":       {tool + reply + oomReport + tool, false},
		"a heading in a sentence":          {"a Tool Message ====\n" + kill + reply, false},
		"another section between rules":    {"===== Job Message =====\n" + kill + reply, false},
		"a field of DSPy":                  {field + "[rank3]: " + oomMessage + "\nRespond with `[[ ## why ## ]]`.\n\nResponse:\n\n\x1b[32m[[ ## why ## ]]\nfull\n", true},
		"with the wrapper of Ray":          {field + kill + "ray.exceptions.RayTaskError(OutOfMemoryError): ray::WorkerDict.step()\n[[ ## why ## ]]\n", true},
		"the last field":                   {field + "a\n[[ ## why ## ]]\n" + kill + "[[ ## completed ## ]]\n", true},
		"a failure behind the fields":      {field + "a\n[[ ## completed ## ]]\n" + oomReport + "[[ ## why ## ]]\n", false},
		"a failure before others":          {field + "a\n" + oomReport + field, false},
		"a field that never ends":          {field + oomReport, false},
		"an instruction of GEPA":           {rule + kill + "\n  is one.\n" + gepa + "Iteration 1: New subsample score 3.0 is better.\n", true},
		"a failure behind its record":      {rule + "a\n" + gepa + "Average Metric: 3.0 / 3\n" + kill + gepa + "Iteration 1: Skipping.\n", false},
		"a record of a failure":            {rule + "a\n2026-03-01 10:00:00,001 ERROR x: " + kill + gepa + "Iteration 1: Skipping.\n", false},
		"a rank that fails behind it":      {rule + "a\n[rank3]: " + oomMessage + gepa + "Iteration 1: Skipping.\n", false},
		"GEPA that starts again":           {rule + "a\n" + oomReport + gepa + "Running GEPA for 3 calls\n" + gepa + "Iteration 1: Skipping.\n", false},
		"what a crew reads":                {read + oomReport + ends + "\n\n" + crew, true},
		"without colors":                   {"# Agent: Analyst\n## Tool Output:\n" + kill + "\n\n# Agent: Analyst\n", true},
		"a crew that dies behind it":       {read + "3 files\x1b[00m\n" + oomReport, false},
		"a crew that starts again":         {read + "3 files\x1b[00m\n" + oomReport + "Running the Crew\n" + crew, false},
		"a failure before it reads":        {crew + oomReport + crew, false},
		"an answer of torchtune":           {told + oomMessage + "and\n\n" + kill + tune + "Time for inference: 6.41 sec total, 31.98 tokens/sec\n", true},
		"a case of DeepEval":               {"For test case:\n\n  - input: What is this?\n" + kill + "  - actual output: The host is full.\n", true},
		"a program that is asked and dies": {"  - input: What is this?\n" + kill + "Killed\n", false},
		"torchtune that dies":              {told + oomReport, false},
		"torchtune that starts again":      {tune + "Model is initialized with precision torch.bfloat16.\n" + oomReport + tune + "Running InferenceRecipe with resolved config:\n\n" + told + tune + "Time for inference: 6.41 sec total, 31.98 tokens/sec\n", false},
		"a chat of llama-cli":              {chat + kill + "\nLower it.\n\n> \nInterrupted by user\n", true},
		"its answer":                       {chat + "this?\nIt reads\n" + oomReport + "Killed\n\n> and then?\n", true},
		"what it says of itself":           {chat + "this?\n" + ggml + "> \n", false},
		"a chat that dies":                 {chat + "this?\nIt\n" + oomReport, false},
		"a chat that is started again":     {chat + "this?\nIt\n" + oomReport + "build: 5880 (6491d6e4)\n" + chat + "it?\n> \n", false},
		"a shell behind a chat that dies":  {chat + "this?\nIt\n" + kill + "/bin/bash: line 1: 17 Aborted (core dumped) llama-cli\n> \n", false},
		"a prompt without a chat":          {"> python train.py\n" + oomReport + "> \n", false},
		"one answer of llama-cli":          {once + oomReport + speed, true},
		"an answer that is cut off":        {once + oomReport, false},
		"llama-cli that is started again":  {once + oomReport + "build: 5880 (6491d6e4)\n" + once + speed, false},
		"a failure behind its speed":       {once + speed + oomReport + speed, false},
		"an answer of ollama":              {llama + kill + "\nLower it.\n\ntotal duration:       4.3s\n", true},
		"a chat of ollama":                 {llama + oomReport + "\n>>> Send a message (/? for help)\n", true},
		"a chat that ends by a command":    {">>> Why does it die?\nIt reads\n" + oomReport + "\n>>> and then?\nLower it.\n>>> /bye\n", true},
		"a session before a chat":          {">>> step()\n" + oomReport + ">>> exit()\n$ ollama run m\n>>> Why?\nIt is full.\n>>> /bye\n", false},
		"a chat with speeds":               {"> Why does it die?\n\nIt reads\n" + oomReport + "\n[ Prompt: 120.3 t/s | Generation: 45.0 t/s ]\n\n> \n", true},
		"a prompt before a chat":           {"> python train.py\n" + oomReport + "> llama-cli -m m.gguf\nbuild      : b7337-2fa51c19b\n> Why?\nIt is full.\n[ Prompt: 120.3 t/s | Generation: 45.0 t/s ]\n", false},
		"a chat of MLX":                    {"[INFO] Starting chat session with m.\n>> Why?\nIt reads\n" + oomReport + ">> q\n", true},
		"what ollama says of itself":       {llama + "Error: llama runner process has terminated: cudaMalloc failed: out of memory\n>>> \n", false},
		"ollama that is run again":         {llama + oomReport + llama + "total duration:       4.3s\n", false},
		"a session of Python":              {">>> step()\n" + oomReport + ">>> \n", false},
		"a chat of vLLM":                   {"Using model: m\nPlease enter a message for the chat model:\n> Why?\nIt reads\n" + oomReport + "> \n", true},
		"a chat of llm":                    {"Chatting with m\nType 'exit' or 'quit' to exit\nType '!multi' to enter multiple lines, then '!end' to finish\n> Why?\n" + kill + "is one.\n> exit\n", true},
		"a chat of another program":        {"Chatting with m\nType 'exit' or 'quit' to exit\n> Why?\nRuntimeError: CUDA error: out of memory\n> exit\n", false},
		"a chat of aichat":                 {"Welcome to aichat 0.30.0\nType \".help\" for additional help.\n> .role ops\nops> Why?\n" + kill + "is one.\nops> .exit\n", true},
		"a failure that it is told of":     {"Welcome to aichat 0.30.0\nType \".help\" for additional help.\n> Why?\nError: RuntimeError: CUDA error: out of memory\n> .exit\n", false},
		"a chat of transformers":           {"<jo>:\nWhy?\n<m/m-7B>:\nIt reads\n" + oomReport + "<jo>:\n", true},
		"a chat of it that dies":           {"<jo>:\nWhy?\n<m/m-7B>:\n" + oomReport, false},
		"an answer of MLX":                 {rules + oomReport + "Lower it.\n" + mlx, true},
		"an answer of it that is cut off":  {rules + oomReport, false},
		"MLX that is run again":            {rules + oomReport + rules + mlx, false},
		"a failure behind an answer":       {rules + mlx + oomReport + rules + mlx, false},
		"a section between rules":          {rules + oomReport + "==========\nDone.\n", false},
		"a prompt of a web server":         {web + "<s>[INST]Why?\n" + oomReport + "[/INST]\nOutput generated in 9.81 seconds (21.10 tokens/s, 207 tokens, context 412, seed 1)\n", true},
		"a server that fails on it":        {web + "<s>[INST]Why?[/INST]\n" + oomReport + "Output generated in 0.53 seconds (0.00 tokens/s, 0 tokens, context 37, seed 1)\n", false},
		"a server that fails in an answer": {web + "<s>[INST]Why?[/INST]\nTraceback (most recent call last):\n  File \"/srv/webui/modules/callbacks.py\", line 73, in gentask\n" + oomMessage + "Output generated in 9.53 seconds (1.50 tokens/s, 14 tokens, context 37, seed 1)\n", false},
		"an answer of KoboldCpp":           {kobold + "Output: It reads\n" + ggml + "\n" + kobold, true},
		"on the line of its heading":       {kobold + "Output: " + kill + "\n" + kobold, true},
		"KoboldCpp that fails":             {kobold + "Processing Prompt (112 / 112 tokens)\n" + ggml + kobold, false},
		"KoboldCpp that starts again":      {kobold + "Output: It is full.\n" + ggml + "Welcome to KoboldCpp - Version 1.92.1\n" + kobold, false},
		"a text that is read aloud":        {" > Text: The log ends. " + kill + " > Text splitted to sentences.\n['The log ends.', '" + kill[:len(kill)-1] + "']\n > Processing time: 1.7\n", true},
		"a reader that fails":              {" > Text: The end.\n > Processing time: 1.7\n > Text: The log.\n" + oomReport, false},
		"a prompt of a chain":              {prompt + oomReport + kill + "Why?\x1b[0m\n" + done, true},
		"without its colors":               {"> Entering new LLMChain chain...\nPrompt after formatting:\nUse it.\n" + oomReport + "> Finished chain.\n", true},
		"a chain that dies":                {prompt + "Why?\x1b[0m\n" + oomReport + ends, false},
		"a chain that is run again":        {prompt + "Why?\x1b[0m\n" + oomReport + prompt + "Why?\x1b[0m\n" + done, false},
		"a failure behind a chain":         {prompt + "Why?\x1b[0m\n" + done + oomReport + chain + done, false},
		"a chain that shows no prompt":     {chain + oomReport + done, false},
		"the input of a chain":             {start + inJSON + full + "{\n  \"text\": \"Lower it.\"\n}\n", true},
		"its output":                       {full + inJSON, true},
		"a chain that fails":               {start + "{\n  \"question\": \"Why?\"\n}\n" + oomReport + start + "{\n}\n", false},
		"a chain with no plain output":     {full + "[outputs]\n" + oomReport + "{\n}\n", false},
		"a report in JSON":                 {full + "[outputs]\n" + inJSON, false},
		"what a reward judged":             {reward + "Content: <think>I see\n" + oomReport + "</think>\nSolution: " + oomMessage + reward, true},
		"a run that fails behind a reward": {reward + "Content: <think>I see</think>\nSolution: 3\n" + oomReport, false},
		"what a command shows":             {show + kill + next, true},
		"rows of a database":               {"+ mysql -e 'select body from tickets limit 1\\G'\n   body: " + kill + "srun: error: n1: task 0: Out Of Memory\n" + next, true},
		"names in an archive":              {"+ tar xvf a.tar\nposts/" + kill[:len(kill)-1] + ".md\n" + next, true},
		"a manifest that is applied":       {"+ kubectl -n ml apply --dry-run=server -o yaml -f a.yaml\n      torch.OutOfMemoryError: CUDA out of memory. Tried to allocate  -> page nobody\n+ exit 0\n", true},
		"commits in a job of GitLab":       {"$ git log --oneline -n 2\n9f02b61 " + kill + "$ python train.py\n", true},
		"a search in GitHub Actions":       {"##[group]Run grep -rn killed src\n" + kill + "##[endgroup]\n##[group]Run python train.py\n", true},
		"an answer to a script":            {"+ ollama run m \"Why?\"\nIt reads\n```\n" + oomMessage + "```\nor\n" + kill + "+ cp a b\n", true},
		"a source in a debugger":           {"KeyError: 'x'\n> /x/train.py(104)run()\n(Pdb) l 96,122\n 96  \tdef guard():\n 97  \t    \"\"\"Before the kernel does: " + oops + "(Pdb) q\n", true},
		"what a debugger runs":             {"(Pdb) c\n" + kill + "(Pdb) q\n", false},
		"a command that runs":              {next + kill + "+ exit 1\n", false},
		"a command that shows a log":       {"+ head -n 40 slurm-1.err\n" + kill + next, false},
		"a report of what failed":          {"$ cat error.json\n" + kill + "$ nvidia-smi\n", false},
		"a search in a folder of logs":     {"+ grep -rn killed outputs\noutputs/7.err:3:" + kill + next, false},
		"another search in a log":          {"+ rg killed train.log\n" + kill + next, false},
		"a search in a log":                {"+ grep -i killed train.log\n" + kill + next, false},
		"a failure behind it":              {show + "{}\n" + next + kill + "+ exit 1\n", false},
		"a program in the background":      {next + "+ ls -l model.pt\n-rw-r--r-- 1 jo jo 16 Aug 20 23:55 model.pt\n" + kill + "+ sed -n 3p train.py\n", false},
		"its traceback":                    {show + oomReport + next, false},
		"its records":                      {show + "2026-03-01 10:00:00,001 INFO x: step 3\n" + kill + next, false},
		"a command that no other follows":  {show + kill, false},
		"a command that fails":             {"+ tar xf a.tar\ntar: a: Cannot open: Cannot allocate memory\n" + kill + next, false},
		"a command that is killed":         {show + "run.sh: line 4: 4711 Killed                  head -n 4 data/mix.jsonl\n" + next, false},
		"a model that does not load":       {"+ ollama run m hi\nError: llama runner process has terminated: cudaMalloc failed: out of memory\n+ exit 1\n", false},
		"a value within a line":            {logs + oomReport + "Time Out: 30\n", false},
	} {
		for _, head := range []bool{true, false} {
			assertQuoted(t, c.quoted, filler+c.log, head, name)
		}
	}
}

package stream

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestAWordNearbyHidesNoFailure writes messages of programs that failed in the words of settings, advice, tables and requests.
func TestAWordNearbyHidesNoFailure(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		// advice
		"RuntimeError: failed to reduce gradients (CUDA error: out of memory)",
		"worker exited without cleanup after CUDA error: out of memory",
		"could not run the optimizer step: RuntimeError: CUDA error: out of memory",
		"Failed to handle request 17 because of CUDA error: out of memory",
		"rank 3 could be resumed from step 40 after RuntimeError: CUDA error: out of memory",
		"the run will be restarted: RuntimeError: CUDA error: out of memory",
		"if the previous step is repeated it fails with torch.OutOfMemoryError again: CUDA error: out of memory",
		"shutdown without checkpoint, last error RuntimeError: CUDA error: out of memory",
		"unable to fix up the buffers: CUDA error: out of memory",
		"no more retries after CUDA error: out of memory",
		"tried to avoid a copy and got RuntimeError: CUDA error: out of memory",
		// data of a model
		"gold set, batch 3: RuntimeError: CUDA error: out of memory",
		"pred=on failed on the gold set: RuntimeError: CUDA error: out of memory",
		"generated_text is empty: RuntimeError: CUDA error: out of memory",
		"worker 3 died: slurmstepd: error: Detected 1 oom_kill event in StepId=1.0. Some of the step tasks have been OOM Killed.",
		"train: RuntimeError: CUDA error: out of memory # see the FAQ",
		// questions
		"How to resume is in the manual. Rank 0 stopped with CUDA error: out of memory",
		"users hit the limit, scheduler died of RuntimeError: CUDA error: out of memory",
		"What is left of the batch after torch.OutOfMemoryError is dropped; RuntimeError: CUDA error: out of memory",
		// sandbox
		"/opt/sandbox/run.py:31: MemoryError: Unable to allocate 7.45 GiB for an array with shape (1000000000,) and data type float64",
		"sandbox-runner-7: terminate called after throwing an instance of 'std::bad_alloc'",
		"/home/u/sandbox/train.py: RuntimeError: CUDA error: out of memory",
		"sandbox worker pool: rank 3 failed: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
		// settings
		"oom_retry=3 exhausted: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
		"oom_dump_memory_history=True wrote a snapshot after CUDA error: out of memory",
		"tokens_to_oom 8192 reached, RuntimeError: CUDA error: out of memory",
		"num_ooms: 0 before this step, RuntimeError: CUDA error: out of memory",
		// agents
		"[env] observation: reset failed: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
		"could not encode the observation: RuntimeError: CUDA error: out of memory",
		"preparing tool result: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
		"step 7 of the observation: RuntimeError: CUDA error: out of memory",
		"[response] generation failed: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
		"oom_retries=2 exhausted, giving up: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
		`{"event": "train_error", "step": 120, "error": {"type": "OutOfMemoryError", "message": "CUDA out of memory. Tried to allocate 2.00 GiB"}}`,
		"Trial 7 failed with parameters: {'lr': 0.001, 'batch': 64} because of the following error: OutOfMemoryError('CUDA out of memory. Tried to allocate 2.00 GiB').",
		"Epoch 3:  12%|█▏        | 12/100 [00:10<01:10,  1.25it/s]Error at batch 12: CUDA out of memory. Tried to allocate 2.00 GiB",
		"prompt 7/100 generation error: CUDA out of memory. Tried to allocate 2.00 GiB",
		`{"exc": "Traceback:\n    raise RuntimeError(\"CUDA error: out of memory\")\nRuntimeError: CUDA error: out of memory"}`,
		`failed with 'RuntimeError: CUDA error: out of memory\n    raise RuntimeError("CUDA error: out of memory")\n'`,
		// tables
		"│ 3 │ gpu07 │ RuntimeError: CUDA error: out of memory │",
		"│ rank3 │ FAILED │ torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB │",
		"│ trial_0007 │ ERROR │ torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB │ 1 │",
		"┃ node-4 ┃ CUDA error: out of memory ┃",
		"| train_fn_7c21_00003 | 1 | torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB |",
		"| RuntimeError: CUDA error: out of memory | rank 3 |",
		"- RuntimeError: CUDA error: out of memory - rank 3 of node-4",
		"1. RuntimeError: CUDA error: out of memory > rank 3",
		// records
		`{"level":"error","error":"RuntimeError: CUDA error: out of memory","request":{"messages":[{"role":"user","content":"hi"}]}}`,
		`{"prompt": "hello", "error": "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"}`,
		`{"request": {"messages": [{"role": "user", "content": "hi"}]}, "exception": "RuntimeError: CUDA error: out of memory"}`,
		`ERROR request failed: RuntimeError: CUDA error: out of memory; body={'messages': [{'role': 'user', 'content': 'hi'}]}`,
		`Request failed with torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. prompt: "<|im_start|>user\nhi<|im_end|>"`,
		`{"detail": "RuntimeError: CUDA error: out of memory", "role": "assistant", "content": ""}`,
		`RuntimeError: CUDA error: out of memory while serving {"role": "user", "content": "hi"}`,
		"prompt='hello' failed: RuntimeError: CUDA error: out of memory",
		`giving up on batch 7 (sample_ids=[1, 2] completion='<think>\nWe need to'): torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB`,
		`request {'messages': [{'role': 'user', 'content': "it's late"}]} failed: RuntimeError: CUDA error: out of memory`,
		`generate(prompt="<|im_start|>user\nhi<|im_end|>") raised torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB`,
		`could not score {"prompt": "hello", "answer": "4"}: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB`,
		"JobConfig(name='x', error='RuntimeError: CUDA error: out of memory')",
		"#3 rank 3: RuntimeError: CUDA error: out of memory",
		"{train.py:93} INFO - RuntimeError: CUDA error: out of memory",
		"7f3a2b1c0d rank 3: RuntimeError: CUDA error: out of memory",
		// code
		"print worker: RuntimeError: CUDA error: out of memory",
		"rank 3: '''RuntimeError: CUDA error: out of memory'''",
		"if rank 0 dies: RuntimeError: CUDA error: out of memory",
		"raise in worker 3: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
		"assert failed on rank 3: RuntimeError: CUDA error: out of memory",
		"assert failed on rank 3, last error 'CUDA error: out of memory'",
		"train.py:93: allocation = CUDA_ERROR_OUT_OF_MEMORY",
	} {
		at, _ := eventLines(t, filler+line+"\n", true)
		assert.NotEmpty(t, at, line)
	}
}

// TestQuotationsAreNoFailures reads messages as sources, diffs, tests, documents and samples quote them.
func TestQuotationsAreNoFailures(t *testing.T) {
	t.Parallel()
	for form, lines := range map[string]string{
		"names of a status in sources": `
        case CUBLAS_STATUS_ALLOC_FAILED:
    return cudaErrorMemoryAllocation;
    return (*ptr != nullptr) ? cudaSuccess : cudaErrorMemoryAllocation;
const CUresult cudaErrorMemoryAllocation = hipErrorMemoryAllocation;
    CUFFT_ALLOC_FAILED = 2,
    2: 'CUSPARSE_STATUS_ALLOC_FAILED',
        if e.status != runtime.cudaErrorMemoryAllocation:
  if (failsafe && err == cudaErrorMemoryAllocation) {
    int cudaErrorMemoryAllocation
    5: 'rocblas_status_memory_error',
#define CUDA_ERROR_OUT_OF_MEMORY 2
        "cudaErrorMemoryAllocation", cudaErrorMemoryAllocation},
    { CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY" },
    pub const CUDA_ERROR_OUT_OF_MEMORY: CUresult = 2;
    | Error::CUDA_ERROR_OUT_OF_MEMORY => "out",
    subst("CUBLAS_STATUS_ALLOC_FAILED", "rocblas_status_not_implemented", "numeric_literal");
    $ft{'numeric_literal'} += s/\bcudaErrorMemoryAllocation\b/hipErrorMemoryAllocation/g;
`,
		"texts in sources": `
            raise RuntimeError("CUDA error: out of memory")
        "DefaultCPUAllocator: can't allocate memory",  # CPU OOM
                f"GPU memory excceeds kill threshold {kill_threshold:.2f}. "
            logger.warning("Worker exceeded 95% memory budget.  Restarting")
    notify_req.message     = "Exceeded job memory limit";
    throw std::runtime_error("CUDA error: out of memory");
    errors.push_back("RuntimeError: CUDA error: out of memory");
    let message = "RuntimeError: CUDA error: out of memory";
    return fmt.Errorf("fork: Cannot allocate memory: %w", err)
    self.assertIn("No executable batch size found, reached zero.", cm.exception.args[0])
    assert "No executable batch size found, reached zero." in cm.exception.args[0]
    if "CUDA out of memory. Tried to allocate" in str(e):
    assert free_mem > 0, 'No enough gpu memory for state cache. Please reduce max_batch_size.'
    pattern = re.compile(r"torch\.OutOfMemoryError: CUDA out of memory\. Tried to allocate (\d+)")
    OOM_RE = r"CUDA error: out of memory|torch.OutOfMemoryError: CUDA out of memory"
      - pattern: "Out of memory: Killed process (\\d+) \\((.+)\\) total-vm:.*"
    expr: 'CUDA error: out of memory'
    printf("RuntimeError: CUDA error: out of memory\n");
`,
		"comments": `
# Example: RuntimeError: CUDA error: out of memory
// Example of encoding/gob having "fatal error: runtime: out of memory"
    # srun: error: node0: tasks 0,2-6,8-9: Killed
    # torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB
/* CUDA error: out of memory */
;; RuntimeError: CUDA error: out of memory
<!-- RuntimeError: CUDA error: out of memory -->
x = f(y)  # RuntimeError: CUDA error: out of memory
`,
		"diffs": `
+RuntimeError: CUDA error: out of memory
-### CUDA error: out of memory
+                raise RuntimeError("CUDA error: out of memory")
-    torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB
+  NCCL WARN Error: failed to extend /dev/shm/nccl-03v824 to 4194660 bytes
@@ -63,6 +63,7 @@ const CUresult cudaErrorMemoryAllocation = hipErrorMemoryAllocation;
-    int cudaErrorMemoryAllocation
++	RuntimeError: CUDA error: out of memory
+Out of memory: Killed process 4121 (python3) total-vm:91234564kB, anon-rss:65011220kB, file-rss:0kB
-slurmstepd: error: Detected 1 oom_kill event in StepId=771.0. Some of the step tasks have been OOM Killed.
`,
		"grep": `
src/turbomind/utils/cuda_utils.h:56:        case CUBLAS_STATUS_ALLOC_FAILED:
docs/en/faq.md:64:### RuntimeError: [TM][ERROR] CUDA runtime error: out of memory /workspace/allocator.h
docs/faq.md:12:RuntimeError: CUDA error: out of memory
src/jobacct_gather.c:291: notify_req.message     = "Exceeded job memory limit";
./train.py:88:        raise RuntimeError("CUDA error: out of memory")
tests/test_oom.py-14-    RuntimeError: CUDA error: out of memory
README.md:7:- RuntimeError: CUDA error: out of memory
docs/oom.rst:31:    torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB
cuda/api/runtime.pyx:93:errorMemoryAllocation = cudaErrorMemoryAllocation
src/lib.rs:7:    panic!("RuntimeError: CUDA error: out of memory");
cmd/x.go-88-	return errors.New("fork: Cannot allocate memory")
conf/rules.yaml:12:    regex: "Out of memory: Killed process"
tests/test_oom.py:    raise RuntimeError("CUDA error: out of memory")
tests/test_oom.py:        and "DefaultCPUAllocator: can't allocate memory" in exception.args[0]
`,
		"tests": `
E   RuntimeError: CUDA error: out of memory
E       torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB
tests/test_retry.py::test_x[RuntimeError: CUDA error: out of memory] PASSED [  5%]
tests/test_retry.py::test_x[CUDA error: out of memory] SKIPPED (no GPU)
PASSED tests/test_retry.py::test_x - RuntimeError: CUDA error: out of memory
XFAIL tests/test_a.py::test_b - torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB
ok 12 - prints RuntimeError: CUDA error: out of memory
[       OK ] Allocator.PrintsCUDA error: out of memory (3 ms)
--- PASS: TestOOM/CUDA_error:_out_of_memory,_RuntimeError:_CUDA error: out of memory (0.00s)
>       with pytest.raises(RuntimeError, match="CUDA error: out of memory"):
`,
		"shell": `
+ grep -n 'CUDA error: out of memory' train.log
++ echo 'RuntimeError: CUDA error: out of memory'
+ PATTERN='RuntimeError: CUDA error: out of memory'
+ [[ "$line" == *"CUDA error: out of memory"* ]]
+ sed -e 's/RuntimeError: CUDA error: out of memory/OOM/'
+ case "$err" in 'CUDA error: out of memory') ;; esac
+ awk '/Out of memory: Killed process/ {print}' /var/log/messages
+++ printf '%s' 'RuntimeError: CUDA error: out of memory'
$ grep -c "RuntimeError: CUDA error: out of memory" *.log
+ msg='slurmstepd: error: Detected 1 oom_kill event in StepId=771.0. Some of the step tasks have been OOM Killed.'
`,
		"texts that quote": `
{'role': 'user', 'content': "f('x'): RuntimeError: CUDA error: out of memory"}
{"messages": [{"role": "user", "content": "call (\"x\"): RuntimeError: CUDA error: out of memory"}]}
[prompt] user f('x'): RuntimeError: CUDA error: out of memory
it says f('x'): RuntimeError: CUDA error: out of memory <think>
`,
		"documents": "\n" + `
* Clear sticky cudaErrorMemoryAllocation errors
Tell the memory size when cudaErrorMemoryAllocation occurred
### RuntimeError: CUDA error: out of memory
## CUDA error: out of memory
- "RuntimeError: CUDA error: out of memory": use a smaller batch
> BTfailed (exitcode: -9)BT
-> BTfailed (exitcode: -9)BT usually means your system has run out of system memory.
Add BT--max_model_lenBT option to avoid ValueError that the Qwen2.5-7B model's max seq len (32768) is larger than the maximum number of tokens that can be stored in KV cache (26240).
* [Fix] RuntimeError: CUDA error: out of memory when loading (#1234)
a1b2c3d4 Fix RuntimeError: CUDA error: out of memory in rollout (#77)
    Fix torch.OutOfMemoryError in the trainer (#1234)
Subject: [PATCH] fix RuntimeError: CUDA error: out of memory
| BTCUDA error: out of memoryBT | lower the batch |
the kernel's OOM killer ended process 1234 (mysqld)
//! RuntimeError: CUDA error: out of memory
b2c3d4e Revert "RuntimeError: CUDA error: out of memory"
a1b2c3d fix: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB in eval
^a1b2c3d (Me 2026-03-01 09:00:00 +0000 12)     raise RuntimeError("CUDA error: out of memory")
#812  open  torch.OutOfMemoryError: CUDA out of memory on 8xA100 (bug)
: 1772355600:0;grep -c "torch.OutOfMemoryError: CUDA out of memory" *.log
Q: What does "slurmstepd: error: Detected 1 oom_kill event in StepId=771.0. Some of the step tasks have been OOM Killed." mean?
       ENOMEM Cannot allocate memory (POSIX.1-2001).
nit: say which rank. Else we see CUDA error: out of memory and nothing else.
Namespace(batch=8, retry_on='RuntimeError: CUDA error: out of memory', lr=0.1)
`,
		"datasets": `
{"instruction": "Fix this", "input": "RuntimeError: CUDA error: out of memory", "output": "Lower the batch."}
{'question': 'Why RuntimeError: CUDA error: out of memory', 'answer': 'The card is full.'}
{"conversations": [{"from": "human", "value": "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."}]}
{"problem": "RuntimeError: CUDA error: out of memory", "solution": "lower it"}
{"prompt": "a", "completion": "RuntimeError: CUDA error: out of memory"}
{"chosen": "RuntimeError: CUDA error: out of memory", "rejected": "x"}
{"text": "RuntimeError: CUDA error: out of memory", "label": 1}
{'query': 'x', 'response': 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.'}
{"prompt": [{"content": "RuntimeError: CUDA error: out of memory", "role": "user"}], "data_source": "so"}
Sample 0: {'input_ids': [1, 2], 'text': 'RuntimeError: CUDA error: out of memory'}
First rollout sample: ['<|im_start|>user\nRuntimeError: CUDA error: out of memory<|im_end|>\n']
INFO 05-18 Example prompt: "RuntimeError: CUDA error: out of memory"
[INFO:swift] [INPUT] <|im_start|>user RuntimeError: CUDA error: out of memory
`,
		"agents": `
OBSERVATION: RuntimeError: CUDA error: out of memory
Observation: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB
Trajectory 7 observation: RuntimeError: CUDA error: out of memory
<tool_response> RuntimeError: CUDA error: out of memory
<think> RuntimeError: CUDA error: out of memory means that the card is full
Tool result (bash): fork: Cannot allocate memory
[step 4] tool_output = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
{"stdout": "", "stderr": "RuntimeError: CUDA error: out of memory", "returncode": 1, "run_status": "Finished"}
sandbox stderr: terminate called after throwing an instance of 'std::bad_alloc'
sandbox_fusion result: {'status': 'Failed', 'stderr': "MemoryError: Unable to allocate 7.45 GiB for an array with shape (1,) and data type float64"}
Thought: the log says RuntimeError: CUDA error: out of memory
Final Answer: RuntimeError: CUDA error: out of memory
Document(metadata={'source': 'faq.md'}, page_content='torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.')
Request: Instance(request_type='generate_until', doc={'q': 'x'}, arguments=('Explain CUDA error: out of memory', {'until': []}), idx=0)
hyp: CUDA error: out of memory
H-12	-0.31	CUDA error: out of memory
result = 'import torch\n\ndef run():\n    raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")\n    # CUDA error: out of memory\n'
{"tool": "read", "file": "def run():\n    raise RuntimeError(\"CUDA error: out of memory\")\n"}
`,
	} {
		for line := range strings.SplitSeq(strings.ReplaceAll(lines, "BT", "`"), "\n") {
			at, _ := eventLines(t, filler+line+"\n", true)
			assert.Empty(t, at, "%s: %s", form, line)
		}
	}
}

package stream

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/parser"
)

// A failure with a traceback and an allocator's figures, and the message alone.
const (
	oomMessage = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free.\n"
	oomReport  = "Traceback (most recent call last):\n  File \"/opt/train.py\", line 31, in <module>\n    loss.backward()\n" + oomMessage
)

// logged is the message in a record of vLLM's logger.
const logged = "ERROR 05-01 03:00:00 [core.py:700] " + oomMessage

// behindLabel puts a label before each line.
func behindLabel(with, log string) string {
	var b strings.Builder
	for line := range strings.Lines(log) {
		b.WriteString(with + line)
	}
	return b.String()
}

// busError is what a loader says of a worker that found no memory behind /dev/shm.
const busError = "RuntimeError: DataLoader worker (pid 4123) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory.\n"

// boxed is a report whose traceback rich prints in a box that holds a line of code, with a text before each of its lines.
func boxed(code, before string) string {
	var b strings.Builder
	for line := range strings.Lines("╭──────── Traceback (most recent call last) ────────╮\n│ /opt/train.py:31 in step                           │\n│" +
		fmt.Sprintf("%-52s", code) + "│\n│ ❱ 31 │   loss.backward()                           │\n╰────────────────────────────────────────────────────╯\n" + oomMessage) {
		b.WriteString(before + line)
	}
	return b.String()
}

// eventLines are the lines of a log's events, and how many messages were taken for text of a sample. Without a head, only literals
// lead to a line.
func eventLines(t *testing.T, log string, head bool) (at []int, quoted int) {
	t.Helper()
	table := headless()
	if head {
		table = builtin()
	}
	r := NewReader("log", func(o parser.Observation) {
		if e, ok := o.(parser.Event); ok && e.Pattern != unclaimed {
			at = append(at, e.At.Line)
		}
	}, Patterns(table))
	_, err := r.Write([]byte(log))
	require.NoError(t, err)
	return at, r.Close().Quoted
}

// assertQuoted checks whether the failures of a log are quoted: then none of them is reported, and they are counted.
func assertQuoted(t *testing.T, quoted bool, log string, head bool, name string) {
	t.Helper()
	at, n := eventLines(t, log, head)
	assert.Equal(t, quoted, len(at) == 0, "%s (head: %v)", name, head)
	assert.Equal(t, quoted, n > 0, "%s (head: %v)", name, head)
}

// TestAMarkOfASampleHidesNoFailure writes a failure behind lines that hold the marks of samples.
func TestAMarkOfASampleHidesNoFailure(t *testing.T) {
	t.Parallel()
	for name, log := range map[string]string{
		"a template in quotes":               "INFO chat_template=\"{% for m in messages %}<|im_start|>{{ m.role }}{% endfor %}\"\n" + oomMessage,
		"special tokens of a tokenizer":      "tokenizer: {'eos_token': '<|im_end|>', 'bos_token': '<|im_start|>'}\n" + oomMessage,
		"a token by its name":                "bos_token = <|im_start|>\n" + oomMessage,
		"stop words without quotes":          "stop words: <|endoftext|>, <|im_start|>\n" + oomMessage,
		"an example format on one line":      "srv  init: example_format: '<|im_start|>system\\nYou are helpful<|im_end|>\\n<|im_start|>assistant\\n'\n" + oomMessage,
		"an example format on several":       "main: example_format: '<|im_start|>system\nYou are helpful<|im_end|>\n<|im_start|>assistant\n'\n" + oomMessage,
		"an example that ends in a mark":     "main: chat_example: '[INST] You are helpful\nHello [/INST]Hi</s>[INST] How are you? [/INST]'\n" + oomMessage,
		"an example that ends in an answer":  "main: chat_example: '<｜User｜>Hello\n<｜User｜>How's it going?'\n" + oomMessage,
		"a list of texts, as Python has it":  "First rollout sample: [\"<|im_start|>user\\nhello<|im_end|>\\n<|im_start|>assistant\\n\"]\n" + oomMessage,
		"a template of Mistral":              "chat template: '[INST] {prompt} [/INST]'\n" + oomMessage,
		"a logger that is named response":    "[response] time 1.2s\n" + oomMessage,
		"a turn's token, and the last bar":   "<|user|>\nIs it busy?<|assistant|>get_queue\n<|observation|>\n" + oomReport + " 12%|█▏        | 12/100 [00:10<01:10,  1.25it/s]\n",
		"a logger's record behind it":        "<|im_start|>assistant\nThe answer is\n2026-05-18 09:02:33,101 INFO trainer: step done\n" + oomMessage,
		"a progress bar behind it":           "<|im_start|>assistant\nThe answer is\n 12%|█▏        | 12/100 [00:10<01:10,  1.25it/s]\n" + oomMessage,
		"metrics of a step behind it":        "<|im_start|>assistant\nThe answer is\n{'loss': 1.17, 'grad_norm': 0.9, 'epoch': 0.03}\n" + oomMessage,
		"a traceback with figures":           "<|im_start|>assistant\nThe answer is\n" + oomReport,
		"a traceback behind a prompt":        "[prompt] 200 templates were loaded\n" + oomReport,
		"a traceback behind a header":        "<|start_header_id|>assistant<|end_header_id|>\n\n" + oomReport,
		"a traceback behind [/INST]":         "[INST] hello [/INST]\n" + oomReport,
		"a process that aborts":              "<|im_start|>assistant\nThe answer is\nterminate called after throwing an instance of 'std::bad_alloc'\nAborted (core dumped)\n",
		"a box's code that begins a string":  boxed("  30 │   \"\"\"Run one step.", ""),
		"the same in a column, with a label": boxed("   6 exec(compile('''def f():", "trainer-1  |                     "),
		"a warning of NCCL":                  "<|im_start|>assistant\nThe answer is\nn1:7103:7643 [3] include/alloc.h:222 NCCL WARN Cuda failure 2 'out of memory'\n",
		"a question that stays unanswered":   "Human: hello\n" + oomMessage,
		"tokens of roles":                    "special tokens:\n<|user|>\n<|assistant|>\n" + oomMessage,
		"tokens of roles, cut":               "<|assistant|>, <|user|>\n" + oomMessage,
		"an answer before it":                "Human: hello\nAssistant: hi\n" + oomMessage,
		"a run that goes on behind it":       "Question: hello\n" + oomMessage + "{'loss': 1.17, 'grad_norm': 0.9, 'epoch': 0.03}\n",
		"the next question behind it":        "Question: hello\n" + oomMessage + "Question: and you\nAnswer: fine\n",
		"what an agent saw before it":        "OBSERVATION:\nok\n" + oomReport + "step 12 loss 2.1\n",
		"an agent that dies":                 "OBSERVATION:\n" + oomReport + "srun: error: node1: task 0: Exited with exit code 1\nstep 12 loss 2.1\n",
		"a process that dies behind it":      "Completion: the answer is 3\n" + oomReport,
		"a failure behind a completion":      "Completion: the answer is 3\n" + oomReport + "step 12 loss 2.1\n",
		"a death within a completion":        "Completion: " + oomReport + "srun: error: node1: task 0: Exited with exit code 1\nstep 12 loss 2.1\n",
		"a failure that ends a completion":   "Answer: " + oomMessage,
		"a failure below an empty answer":    "Completion:\n" + oomReport + "step 12 loss 2.1\n",
		"the same in capitals":               "COMPLETION: the answer is 3\n" + oomReport + "step 12 loss 2.1\n",
		"capitals, and nothing behind":       "COMPLETION: " + oomReport,
		"a kill behind a completion":         "COMPLETION: the answer is 3\n[337533.314412] Memory cgroup out of memory: Killed process 4121 (python3) total-vm:91234564kB, anon-rss:65011220kB, file-rss:0kB, shmem-rss:0kB\nstep 12 loss 2.1\n",
		"how far something is":               "Completion: 12/100\n" + oomReport + "step 12 loss 2.1\n",
		"how far something is, in capitals":  "COMPLETION: 12/100\n" + oomReport + "step 12 loss 2.1\n",
		"a failure behind an agent's output": "  Output (Total Reward: 1.0):\nOBSERVATION:\nok\n[The command completed with exit code 0.]\n" + oomReport,
		"a command that is not an agent's":   oomReport + "[The command completed with exit code 1.]\n",
		"a process that dies in an output":   "  Output (Total Reward: 1.0):\nOBSERVATION:\n" + oomReport + "2026-05-18 09:02:33,101 INFO restarted\n[The command completed with exit code 1.]\n",
		"an agent that dies at a command":    "OBSERVATION:\nok\n(Open file: n/a) (Current directory: /app) bash-$\n" + oomReport,
		"an agent that dies before a prompt": "OBSERVATION:\n" + oomReport + "2026-05-18 09:02:33,101 INFO restarted\n(Open file: n/a) (Current directory: /app) bash-$\n",
		"a failure above a prompt":           oomReport + "(Open file: n/a) (Current directory: /app) bash-$\n",
		"a bar below an input":               "### Instruction:\nhello\n\n### Context:\n 12%|█▏        | 12/100 [00:10<01:10,  1.25it/s]\n" + oomReport,
		"a bar below it, and one behind":     "### Input:\n 12%|█▏        | 12/100 [00:10<01:10,  1.25it/s]\n" + oomReport + " 12%|█▏        | 12/100 [00:10<01:10,  1.25it/s]\n### Response:\nok\n",
		"a bar further below an input":       "### Input:\nhello\n 12%|█▏        | 12/100 [00:10<01:10,  1.25it/s]\n" + oomReport + "### Response:\nok\n",
		"a failure in a judge's prompt":      "[User Question]\nWhy?\n\n[The Start of Assistant's Answer]\nBecause\n" + oomReport,
		"a failure behind a judge's prompt":  "<|The Start of Reference Answer|>\nBecause\n<|The End of Reference Answer|>\n" + oomReport,
		"a failure in Prometheus' prompt":    "###The instruction to evaluate:\nWhy?\n\n###Response to evaluate:\nBecause\n" + oomReport,
		"a failure behind its feedback":      "###Score Rubrics:\n[Is it right?]\n\n###Feedback:\nIt is. [RESULT] 5\n" + oomMessage,
		"a bar in Prometheus' prompt":        "###The instruction to evaluate:\nWhy?\n 12%|█▏        | 12/100 [00:10<01:10,  1.25it/s]\n" + oomReport,
		"a bar before the next prompt":       "###Response to evaluate:\nBecause\n 12%|█▏        | 12/100 [00:10<01:10,  1.25it/s]\n" + oomReport + "###The instruction to evaluate:\nWhy?\n###Feedback:\n",
		"a bar before the same heading":      "###Response to evaluate:\nBecause\n 12%|█▏        | 12/100 [00:10<01:10,  1.25it/s]\n" + oomMessage + "###Response to evaluate:\nno\n###Feedback:\n",
		"a failure where it compares":        "###Instruction:\nWhy?\n" + oomMessage,
		"another heading with three signs":   "###Evaluate\n" + oomMessage,
		"a failure in the data of a grader":  "[BEGIN DATA]\n[Question]: Why?\n" + oomReport,
		"a failure behind the data":          "[BEGIN DATA]\n[Question]: Why?\n[END DATA]\n" + oomMessage,
		"the beginning of something else":    "[BEGIN TRAINING]\n" + oomMessage,
		"the start of something else":        "[The Start of the Training]\n" + oomMessage,
		"a setting that is named action":     "Action: restart\n" + oomMessage + "Action: restart\n",
		"a traceback behind SkyRL's output":  "  Output (Total Reward: 1.0):\nThe answer is\n" + oomReport,
		"a process that dies in one":         "  Output (Total Reward: 1.0):\nThe answer is\n" + oomMessage + "srun: error: node1: task 0: Exited with exit code 1\n",
		"a sum of rewards":                   "INFO Output (Total Reward: 1.0): done\n" + oomMessage,
		"a context that is no text":          "Context: 4096 tokens\n" + oomMessage + "Question: why?\nAnswer: so\n",
		"a context without a question":       "Context: the step of rank 3 " + oomMessage + "Answer the mail\n",
		"a context without an answer":        "Context: the step of rank 3 " + oomMessage + "Question: why?\n",
		"a context, and the next one":        "Context: the step of rank 3 " + oomMessage + "Question: why?\nContext: the step of rank 4 is done\nQuestion: why?\nAnswer: so\n",
		"a context with two questions":       "Context: the step of rank 3 " + oomMessage + "Question: why?\nQuestion: why?\nAnswer: so\n",
		"a record in a context":              "Context: the step of rank 3 is done\n2026-05-18 09:02:33,101 ERROR " + oomMessage + "Question: why?\nAnswer: so\n",
		"counts behind a prompt":             behindLabel("(TaskRunner pid=7) ", "[prompt] hello\nstep:12 - actor/pg_loss:0.1 - actor/grad_norm:0.2\n"+oomReport),
		"a record that stays in a prompt":    behindLabel("(TaskRunner pid=7) ", "[prompt] hello\n"+logged),
		"a record in the middle of a run":    behindLabel("(TaskRunner pid=7) ", "[prompt] hello\n"+logged+"step:12 - actor/pg_loss:0.1 - actor/grad_norm:0.2\n"),
		"a record before the next prompt":    behindLabel("(TaskRunner pid=7) ", "[prompt] hello\n[response] hi\n"+logged+"[prompt] hello\n[response] hi\n"),
		"a record between two responses":     behindLabel("(TaskRunner pid=7) ", "[prompt] hello\n[response] hi\n"+logged+"[response] hi\n[score] 1.0\n"),
		"a message behind a record":          behindLabel("(TaskRunner pid=7) ", "[prompt] hello\nERROR 05-01 03:00:00 [core.py:700] it failed:\n"+oomMessage),
		"a record of whoever else prints":    "[prompt] hello\n" + logged + "[response] hi\n[ground_truth] hi\n[score] 1.0\n",
		"another process's record":           behindLabel("(TaskRunner pid=7) ", "[prompt] hello\n") + behindLabel("(WorkerDict pid=8) ", logged) + behindLabel("(TaskRunner pid=7) ", "[response] hi\n[score] 1.0\n"),
		"a worker that dies of a signal":     "[INST] hello [/INST]\n" + busError,
		"a kill that slurmstepd counts":      "<|im_start|>assistant\nThe answer is\nslurmstepd: error: Detected 1 oom_kill event in StepId=771.0. Some of the step tasks have been OOM Killed.\n",
		"a kill by the kernel":               "<|im_start|>user\nhello\nOut of memory: Killed process 4121 (python3) total-vm:91234564kB, anon-rss:65011220kB, file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:0kB oom_score_adj:0\n",
	} {
		log = filler + log
		for _, head := range []bool{true, false} {
			at, quoted := eventLines(t, log, head)
			assert.NotEmpty(t, at, "%s (head: %v)", name, head)
			assert.Zero(t, quoted, "%s (head: %v)", name, head)
		}
	}
}

// TestAFailureInASampleIsText writes a failure into samples that end.
func TestAFailureInASampleIsText(t *testing.T) {
	t.Parallel()
	for name, log := range map[string]string{
		"ChatML":                       "<|im_start|>user\nWhat is this?\n@<|im_end|>\n",
		"a context and its question":   "Context: The console showed " + oomMessage + "Question: What did it show?\nAnswer: a message\n",
		"a context of several lines":   "Context: Here is what the console showed:\n@and it went on.\nQuestion: What did it show?\nAnswer: a message\n",
		"a context below its heading":  "Context:\n@and it went on.\nQuestion: What did it show?\nAnswer: a message\n",
		"counts in verl's prompt":      behindLabel("(TaskRunner pid=7) ", "[prompt] What is this?\nstep 1840 | loss 2.114 | lr 2.0e-05\n"+oomReport+"[response] The card is full.\n[score] 1.0\n"),
		"lm-eval's prompt":             "document 0; context prompt (starting on next line):    \nLog:\n" + oomReport + "Answer:\n(end of prompt on previous line)\ntarget string or answer choice index (starting on next line):\n0\n(end of target on previous line)\n",
		"a record in verl's prompt":    behindLabel("(TaskRunner pid=7) ", "[prompt] What is this?\n"+logged+"[response] The card is full.\n[score] 1.0\n"),
		"a record in verl's response":  behindLabel("(TaskRunner pid=7) ", "[prompt] What is this?\n[response] You get\n"+logged+"[ground_truth] full\n"),
		"a prompt, cut by a record":    behindLabel("(TaskRunner pid=7) ", "[prompt] What is this?\nRuntimeError: CUDA error: out of memory\n2026-05-18 09:02:33,101 INFO trainer: saved\n"),
		"ChatML, the answer":           "<|im_start|>assistant\nYou get\n@and so on<|im_end|>\n",
		"Llama 3":                      "<|start_header_id|>user<|end_header_id|>\n\nWhat is this?\n@<|eot_id|>\n",
		"Mistral":                      "<s>[INST] What is this?\n@[/INST] The card is full.</s>\n",
		"verl's prompt":                "[prompt] What is this?\n@[response] The card is full.\n[ground_truth] full\n[score] 1.0\n",
		"a template in verl's prompt":  "[prompt] What is this?\n<|im_start|>user\nhello<|im_end|>\n@[response] The card is full.\n[score] 1.0\n",
		"verl's response":              "[prompt] What is this?\n[response] You get\n@[ground_truth] full\n[score] 1.0\n",
		"LLaMA-Factory's inputs":       "inputs:\n<|im_start|>user\nWhat is this?\n@<|im_end|>\n<|im_start|>assistant\nThe card is full.<|im_end|>\nlabel_ids:\n[-100, 2]\n",
		"a turn, and a bar goes on":    "<|user|>\nIs it busy?<|assistant|>get_queue\n<|observation|>\n@ 12%|█▏        | 12/100 [00:10<01:10,  1.25it/s]\n 13%|█▎        | 13/100 [00:11<01:09,  1.25it/s]\n 14%|█▍        | 14/100 [00:12<01:08,  1.25it/s]\n",
		"a sample that goes on":        "<|im_start|>user\nWhat is this?\n@<|im_end|>\n<|im_start|>assistant\n@ is your error<|endoftext|>\n",
		"SkyRL":                        "Example:\n  Input: <|im_start|>user\nWhy?<|im_end|>\n  Output (Total Reward: 1.0):\nYou get\n@and so on<|im_end|>\n",
		"SkyRL, cut":                   "  Output (Total Reward: 0.0):\nYou get\n@step 12 loss 2.1\nstep 13 loss 2.1\nstep 14 loss 2.1\n",
		"reasoning":                    "<think>\nThe user sees\n@</think>\n",
		"what a tool printed":          "<tool_response>\n@</tool_response>\n",
		"Gemma":                        "<start_of_turn>user\nWhat is this?\n@<end_of_turn>\n",
		"Alpaca":                       "### Instruction:\nWhat is this?\n@### Response:\nThe card is full.\n",
		"a question and its answer":    "### Question\nWhat is this?\n\n@\n### Answer\nThe card is full.\n",
		"Llama 4":                      "<|header_start|>user<|header_end|>\n\nWhat is this?\n@<|eot|>\n",
		"Kimi":                         "<|im_user|>user<|im_middle|>What is this?\n@<|im_end|>\n",
		"Zephyr":                       "<|user|>\nWhat is this?\n@</s>\n<|assistant|>\nThe card is full.</s>\n",
		"GLM":                          "<|observation|>\n@<|assistant|>\nThe card is full.\n",
		"Guanaco":                      "### Human: What is this?\n@### Assistant: The card is full.\n",
		"a dialogue":                   "Human: What is this?\n@\nAssistant: The card is full.\n",
		"a process that aborted":       "<|im_start|>user\nterminate called after throwing an instance of 'std::bad_alloc'\nAborted (core dumped)\n<|im_end|>\n",
		"an agent":                     "[Thought] I try it\n[Action] python train.py\n[Observation]\n@[Thought] It is too large.\n",
		"an agent in capitals":         "OBSERVATION:\nRuntimeError: CUDA error: out of memory\nACTION: python train.py --batch 1\n",
		"an agent whose run goes on":   "OBSERVATION:\n@step 12 loss 2.1\n",
		"OpenHands":                    "**IPythonRunCellObservation**\n@step 12 loss 2.1\n",
		"smolagents":                   "Observations: Execution logs:\n@step 12 loss 2.1\n",
		"an interpreter":               "[code_interpreter] execution output:\n@step 12 loss 2.1\n",
		"a completion":                 "Completion: @step 12 loss 2.1\n",
		"a completion of a prompt":     "[actor] Prompt: why?\nCompletion: @Reward: 0.0\n{'loss': 1.17, 'grad_norm': 0.9, 'epoch': 0.03}\n",
		"a completion in capitals":     "COMPLETION: @step 12 loss 2.1\n",
		"OpenHands in SkyRL's output":  "  Output (Total Reward: 0.0):\nOBSERVATION:\n@[The command completed with exit code 1.]\nI use less.\n2026-05-18 09:02:33,101 INFO trainer: Finished: 'step', time cost: 171.00s\n",
		"OpenHands in a prompt":        "<|im_start|>user\nOBSERVATION:\n@[Command finished with exit code 1]\n",
		"an answer":                    "Answer: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\nstep 12 loss 2.1\n",
		"SWE-agent's older log":        "🤖 DEBUG     🧾 OBSERVATION:\n@🤖 INFO     step 3\nstep 12 loss 2.1\n",
		"SWE-agent's prompt":           "OBSERVATION:\n@(Open file: /app/x.py) (Current directory: /app) bash-$\n[2025-09-01 10:00:21] INFO step 5\n",
		"SWE-agent":                    "🤖 MODEL INPUT\n@\n💭 THOUGHT\nIt is too large.\n",
		"an agent behind labels":       "[step 3] OBSERVATION:\n@[step 4] THOUGHT: It is too large.\n",
		"a judge's prompt":             "[Question]\nWhy?\n@[The Start of Assistant A's Answer]\nIt is too large.\n",
		"an answer that is judged":     "[User Question]\nWhy?\n\n[The Start of Assistant B's Answer]\nYou get\n\n@\nand so on\n[The End of Assistant B's Answer]\n",
		"a conversation":               "<|The Start of Assistant A's Conversation with User|>\n\n### User:\nWhy?\n@\n### Assistant A:\nIt is full.\n<|The End of Assistant A's Conversation with User|>\n",
		"Prometheus' instruction":      "###The instruction to evaluate:\nThe pod says\n@\n###Response to evaluate:\nIt is too large.\n\n###Score Rubrics:\n[Is it right?]\n\n###Feedback:\nYes. [RESULT] 5\n",
		"with a bar":                   "###The instruction to evaluate:\nThe pod says\n\nLoading checkpoint shards:  67%|██████▋   | 4/6 [00:41<00:20, 10.31s/it]\nKilled\n@\n###Response to evaluate:\nIt is too large.\n\n###Feedback:\nYes. [RESULT] 5\n",
		"a response to evaluate":       "###The instruction to evaluate:\nWhy?\n\n###Response to evaluate:\nYou get\n@\n###Reference Answer (Score 5):\nIt is full.\n\n###Score Rubrics:\n[Is it right?]\n\n###Feedback:\nYes. [RESULT] 5\n",
		"two responses":                "###Instruction:\nWhy?\n@\n###Response A:\nIt is full.\n\n###Response B:\n@\n###Reference Answer:\nno\n\n###Score Rubric:\nRight?\n\n###Feedback: \n",
		"what a grader is given":       "[BEGIN DATA]\n************\n[Question]: Why?\n@\n************\n[Submission]: It is full.\n************\n[END DATA]\n",
		"a reference":                  "[The Start of Reference Answer]\n@[The End of Reference Answer]\n",
		"a bar first":                  "### Instruction:\nWhy?\n\n### Context:\n 12%|█▏        | 12/100 [00:10<01:10,  1.25it/s]\n@\n### Response:\nThe card is full.\n",
		"metrics first":                "<|observation|>\n{'loss': 1.17, 'grad_norm': 0.9, 'epoch': 0.03}\n@<|assistant|>\nThe card is full.\n",
		"Harmony":                      "<|start|>functions.exec<|channel|>commentary<|message|>@<|end|>\n",
		"DeepSeek":                     "<｜tool▁output▁begin｜>\n@<｜tool▁output▁end｜>\n",
		"a quotation within a sample":  "[prompt] What is \"this\"\n@[response] full\n[score] 1.0\n",
		"cut, and the run goes on":     "<|im_start|>user\nWhat is this?\n@{'loss': 1.17, 'grad_norm': 0.9, 'epoch': 0.03}\n{'loss': 1.16, 'grad_norm': 0.9, 'epoch': 0.04}\n{'loss': 1.15, 'grad_norm': 0.9, 'epoch': 0.05}\n",
		"cut, and a bar goes on":       "[prompt] What is this?\n@ 12%|█▏        | 12/100 [00:10<01:10,  1.25it/s]\n 13%|█▎        | 13/100 [00:11<01:09,  1.25it/s]\n 14%|█▍        | 14/100 [00:12<01:08,  1.25it/s]\n",
		"two that are cut":             "[prompt] one\n@ 12%|█▏        | 12/100 [00:10<01:10,  1.25it/s]\n[prompt] two\n@ 13%|█▎        | 13/100 [00:11<01:09,  1.25it/s]\n 14%|█▍        | 14/100 [00:12<01:08,  1.25it/s]\n",
		"a worker's death":             "<|im_start|>user\n" + busError + "<|im_end|>\n",
		"a worker's death, cut":        "[INST] Why?\n" + busError + "step 12 loss 2.1\nstep 13 loss 2.1\nstep 14 loss 2.1\n",
		"cut, and it is a single line": "[prompt] What is this?\nRuntimeError: CUDA error: out of memory\n",
	} {
		log = filler + strings.ReplaceAll(log, "@", oomReport)
		for _, head := range []bool{true, false} {
			at, quoted := eventLines(t, log, head)
			assert.Empty(t, at, "%s (head: %v)", name, head)
			assert.Positive(t, quoted, "%s (head: %v)", name, head)
		}
	}
}

// TestASampleMayEndLongBehindAFailure ends the sample as far behind as it may reach, and goes on with text that is not read.
func TestASampleMayEndLongBehindAFailure(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]string{"lines": "\n", "states of a bar": "\r"} {
		log := filler + "[prompt] What is this?\n" + oomReport + strings.Repeat("a word of the sample\n", 100) + "[score] 1.0\n" +
			strings.Repeat("the run goes on, and nothing in it counts\n", 2000) + "ValueError: that is all\n"
		at, quoted := eventLines(t, strings.ReplaceAll(log, "\n", end)+"\n", false)
		assert.Empty(t, at, name)
		assert.Positive(t, quoted, name)
	}
}

// TestABarThatIsPrintedOnceMoreIsNoProgress: a dying process leaves its bar as it stood, and may flush what it printed before.
func TestABarThatIsPrintedOnceMoreIsNoProgress(t *testing.T) {
	t.Parallel()
	const bar = "  2%|▎         | 50/1910 [07:36<4:43:11,  9.13s/it]\n"
	for name, c := range map[string]struct {
		behind string
		quoted bool
	}{
		"once":           {bar, false},
		"again":          {bar + bar + bar, false},
		"with its loss":  {"{'loss': 1.17, 'grad_norm': 0.9, 'epoch': 0.03}\n" + bar, false},
		"and it goes on": {bar + strings.ReplaceAll(bar, "50/", "51/") + strings.ReplaceAll(bar, "50/", "52/"), true},
	} {
		for _, head := range []bool{true, false} {
			at, _ := eventLines(t, filler+bar+"[prompt] user\nhi\n"+oomReport+c.behind, head)
			assert.Equal(t, c.quoted, len(at) == 0, "%s (head: %v)", name, head)
		}
	}
}

// TestACollectorsStampEndsNoSample stamps each line of a printed sample, as kubectl logs --timestamps does, and then only a logger's.
func TestACollectorsStampEndsNoSample(t *testing.T) {
	t.Parallel()
	const stamp = "2026-03-01T09:00:00.123456789Z "
	quoted := stamp + "<|im_start|>user\n" + stamp + "why does it say\n" + stamp + oomMessage + stamp + "<|im_end|>\n"
	for name, c := range map[string]struct {
		log    string
		quoted bool
	}{
		"every line":        {quoted, true},
		"a logger's record": {"<|im_start|>user\nwhy does it say\n2026-03-01 09:00:00,123 ERROR " + oomMessage, false},
		"behind the sample": {quoted + stamp + oomMessage, false},
	} {
		at, _ := eventLines(t, filler+c.log, true)
		assert.Equal(t, c.quoted, len(at) == 0, name)
	}
}

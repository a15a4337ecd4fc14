package classifier

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/parser"
)

// trainerSteps are the lines of one step, by the trainer that prints them. N is the number of the step.
var trainerSteps = map[string]string{
	"transformers":              "{'loss': 0.9234, 'grad_norm': 1.25, 'learning_rate': 1e-05, 'epoch': 0.#}\n",
	"transformers 5":            "{'loss': '0.9234', 'grad_norm': '1.25', 'learning_rate': '1e-05', 'epoch': '0.#'}\n",
	"TRL's GRPO":                "{'num_tokens': 123456.0, 'completions/mean_length': 256.0, 'reward': 0.25, 'kl': 0.001, 'loss': 0.0012, 'grad_norm': 0.3, 'epoch': 0.#}\n",
	"ms-swift":                  "{'loss': 1.23, 'token_acc': 0.7, 'learning_rate': 1e-05, 'memory(GiB)': 70.1, 'train_speed(iter/s)': 0.1, 'epoch': 0.#, 'global_step/max_steps': '#/900'}\n",
	"tqdm":                      " 40%|████      | #/900 [4:33:55<6:34:49, 21.19s/it]\n",
	"tqdm with decimals":        " 40%|████      | #.0/900 [4:33:55<6:34:49, 21.19s/it]\n",
	"tqdm without a total":      "#it [00:12,  3.51it/s]\n",
	"tqdm in a narrow window":   "training:  40% #/900 [04:33<06:34,  2.19s/it]\n",
	"Lightning":                 "Epoch 0:  12%|█2        | #/900 [00:30<03:40,  2.00it/s, v_num=0, train_loss=2.310]\n",
	"Lightning with rich":       "Epoch 0/9 ━━━━━━━╸━━━━━━━━ #/900 0:00:30 • 0:03:40 2.00it/s v_num: 0 train_loss: 2.310\n",
	"Megatron":                  " [2025-06-01 10:00:00] iteration        #/     900 | consumed samples:  384 | elapsed time per iteration (ms): 1234.5 | learning rate: 1.000E-06 | global batch size:  32 | lm loss: 1.04E+01 | loss scale: 1.0 |\n",
	"GPT-NeoX":                  " samples/sec: 20.1 | iteration        #/  320000 | elapsed time per iteration (ms): 1590.1 | learning rate: 1.2E-04 | lm_loss: 1.03E+01 | loss scale: 4096.0 |\n",
	"torchtitan":                "[rank0]:[titan] 2025-06-01 10:00:00,123 - root - INFO - step:  #  loss:  7.2578  grad_norm:  1.31  memory: 40.94GiB(51.7%)  tps: 6,412  tflops: 330.3  mfu: 33.4%\n",
	"DeepSpeed":                 "[2025-06-01 10:00:00,123] [INFO] [logging.py:96:log_dist] [Rank 0] step=#, skipped=0, lr=[1e-06], mom=[(0.9, 0.95)]\n",
	"DeepSpeed's pipeline":      "steps: # loss: 8.4375 iter time (s): 0.331 samples/sec: 96.6\n",
	"nanotron":                  "06/01/2025 10:00:00 [INFO|DP=0|PP=0|TP=0]: iteration: # / 900 | consumed_tokens: 1.2M | elapsed_time_per_iteration_ms: 320 | tokens_per_sec: 1.2M | lm_loss: 10.2 | lr: 0.0003\n",
	"verl":                      "(TaskRunner pid=4242) step:# - global_seqlen/min:1000 - global_seqlen/max:4000 - actor/entropy:0.25 - actor/pg_loss:0.012 - actor/grad_norm:0.2 - timing_s/step:90.1\n",
	"slime":                     "[2025-06-01 10:00:00] model.py:505 - step #: {'train/loss': 0.00096, 'train/grad_norm': 0.19, 'train/step': #}\n",
	"slime's rollouts":          "[2025-06-01 10:00:00] data.py:201 - rollout #: {'rollout/raw_reward': 0.31, 'rollout/response_lengths': 2012.5, 'rollout/log_probs': -0.31}\n",
	"AReaL":                     "20250601-10:00:00.123 StatsLogger INFO: Epoch 1/10 Step #/580 Train step #/5800 done.\n",
	"OpenRLHF":                  "Train epoch [1/1]:   2%|2         | #/900 [01:20<1:59:11, 60.41s/it, loss=0.7, act_loss=0.1]\n",
	"fairseq":                   "2021-06-01 10:00:00 | INFO | train_inner | epoch 001:    # / 900 loss=11.208, ppl=1103.36, wps=9906.4, ups=0.41, num_updates=#, lr=5.25e-05\n",
	"fairseq as JSON":           "2021-06-01 10:00:00 | INFO | train_inner | {\"epoch\": 1, \"update\": 0.1, \"loss\": \"10.863\", \"num_updates\": \"#\", \"lr\": \"4e-05\"}\n",
	"NeMo 2":                    "Training epoch 0, iteration #/899 | lr: 2.9e-05 | global_batch_size: 8 | global_step: # | reduced_train_loss: 1.203 | train_step_timing in s: 3.1\n",
	"NeMo RL":                   "========================= Step #/900 =========================\n",
	"Composer":                  "[batch=#/900]:\n\t Train time/batch: #\n\t Train time/token: 819200\n\t Train loss/train/total: 2.3105\n",
	"Composer's bar":            "train          Epoch   0:    2%|                         | #/900 [00:10<20:00,  2.10s/ba, loss/train/total=2.3105]\n",
	"keras":                     "#/900 [====>.........................] - ETA: 1:10 - loss: 0.5231 - accuracy: 0.9012\n",
	"keras 3":                   "\x1b[1m#/900\x1b[0m \x1b[32m━━━━\x1b[0m\x1b[37m━━━━━━━━━━━━━━━━\x1b[0m \x1b[1m10s\x1b[0m 20ms/step - accuracy: 0.5012 - loss: 2.3105\n",
	"keras without bars":        "Epoch #/900\n900/900 - 12s - loss: 0.5231 - accuracy: 0.9012 - 12s/epoch - 13ms/step\n",
	"accelerate's examples":     "06/01/2025 10:00:00 - INFO - __main__ - epoch 0 step #: train_loss 2.3105 lr 1e-5\n",
	"diffusers":                 "Steps:   2%|2         | #/900 [00:10<20:00,  1.10it/s, lr=1e-5, step_loss=0.0231]\n",
	"kohya":                     "steps:   2%|2         | #/900 [00:10<20:00,  1.10it/s, avr_loss=0.0931]\n",
	"MMEngine":                  "06/01 10:00:00 - mmengine - INFO - Epoch(train)  [1][  #/7330]  lr: 2.0e-03  eta: 1:02:03  time: 0.31  data_time: 0.01  memory: 4012  loss: 1.2034\n",
	"MMEngine by iterations":    "06/01 10:00:00 - mmengine - INFO - Iter(train) [    #/160000]  lr: 1.0e-02  eta: 6:02:03  time: 0.31  memory: 9012  loss: 2.2034\n",
	"mmcv":                      "2021-06-01 10:00:00,123 - mmdet - INFO - Epoch [1][#/7330]\tlr: 2.000e-03, eta: 1:02:03, time: 0.31, memory: 4012, loss: 1.2034\n",
	"detectron2":                "[06/01 10:00:00 d2.utils.events]:  eta: 1:00:00  iter: #  total_loss: 4.517  loss_cls: 3.1  time: 0.31  lr: 0.0001  max_mem: 4012M\n",
	"torchvision's references":  "Epoch: [0]  [  #/5005]  eta: 1:00:00  lr: 0.1  img/s: 120.1  loss: 6.9 (7.0)  acc1: 0.1 (0.1)  time: 0.31  max mem: 4012\n",
	"torch's ImageNet example":  "Epoch: [0][  #/5005]\tTime  0.231 ( 0.340)\tData  0.001 ( 0.010)\tLoss 6.9e+00 (7.0e+00)\n",
	"timm":                      "Train: 0 [   #/1251 (  4%)]  Loss: 6.94 (6.94)  Time: 0.31s, 412.3/s  LR: 1.0e-05\n",
	"torch's MNIST example":     "Train Epoch: 1 [#/60000 (1%)]\tLoss: 2.305400\n",
	"Ultralytics":               "      1/100      2.1G      1.231      3.021      1.412         41        640:   2%|2         | #/900 [00:10<00:41,  2.10it/s]\n",
	"Ultralytics since 8.3.200": "      1/100      2.1G      1.231      3.021      1.412         41        640: 2% ──────────── #/900 2.1it/s 10.1s<6:41\n",
	"Ultralytics, whole epochs": "      #/999      2.1G      1.231      3.021      1.412         41        640: 100%|███| 900/900 [05:01<00:00,  1.66it/s]\n",
	"how much is done":          "INFO filter: #5,000 documents read, 5,000 dropped (14.3%), rss 6.1 GB\n",
	"what is worked through":    "2025-06-01 10:00:00,123 INFO indexer part #/900 encoded: 20000 chunks\n",
	"how much in a second":      "INFO client: #/2000 answered, 11.3 answers/s, 0 errors\n",
	"CLU":                       "I0601 10:00:00.123456 140000000000000 logging_writer.py:48] [#] loss=2.310000, steps_per_sec=1.2\n",
	"XGBoost":                   "[#]\ttrain-rmse:1.93000\teval-rmse:0.61\n",
	"MindSpore":                 "epoch: 1 step: #, loss is 2.310000\n",
	"torchtune":                 "1|#|Loss: 1.2345:   2%|2         | #/900 [00:10<20:00,  1.10it/s]\n",
	"litgpt":                    "Epoch 1 | iter # step # | loss train: 2.310, val: n/a | iter time: 321.10 ms (step)\n",
	"nanoGPT":                   "iter #: loss 3.4012, time 230.12ms, mfu 21.20%\n",
	"llm.c":                     "step    #/18865 | loss 7.901234 (+nanz)| norm 3.1012 (+nanz)| lr 1.2e-04 | 230.12 ms | 51.0% bf16 MFU | 412012 tok/s\n",
	"MaxText":                   "completed step: #, seconds: 3.201, TFLOP/s/device: 101.2, Tokens/s/device: 1280.1, total_weights: 8192, loss: 8.201\n",
	"OLMo":                      "2025-06-01 10:00:00\tn1:0\tolmo.train:967\tINFO\t[step=#/739328]\n    train/CrossEntropyLoss=10.21\n    throughput/total_tokens=4,194,304\n",
	"xtuner":                    "2025-06-01 10:00:00.123 | INFO | xtuner:fit:412 - [Train] (Epoch 1) Step #/900  lr: 0.000020  loss: 1.203  grad_norm: 1.2  max_memory: 40.1GB\n",
	"Coqui TTS":                 "   --> STEP: #/406 -- GLOBAL_STEP: #\n     | > loss: 2.3105  (2.3105)\n     | > step_time: 0.31\n",
	"icefall":                   "2025-06-01 10:00:00,123 INFO [train.py:917] (0/4) Epoch 1, batch #, loss[loss=7.21, simple_loss=6.5, over 4012.00 frames. ], tot_loss[loss=7.3], batch size: 12, lr: 3.00e-03\n",
	"OpenNMT":                   "[2021-06-01 10:00:00,123 INFO] Step #/100000; acc:   3.11; ppl: 8123.1; xent: 9.00; lr: 0.00001; 4012/4312 tok/s;     31 sec\n",
	"PaddleNLP":                 "[2025-06-01 10:00:00,123] [    INFO] - loss: 7.21, learning_rate: 1e-05, global_step: #, interval_runtime: 1.2, interval_steps_per_second: 0.8, epoch: 0.1\n",
	"PaddleDetection":           "[06/01 10:00:00] ppdet.engine INFO: Epoch: [0] [  #/900] learning_rate: 0.0001 loss_cls: 1.2 loss: 7.21 eta: 1:00:00 batch_cost: 0.3 ips: 12.1\n",
	"Levanter":                  "2025-06-01T10:00:00 - 0 - levanter.callbacks - INFO :: Progress on: train  #it/9.00kit rate:1.1s/it remaining:1:00:00 elapsed:0:30:00 postfix:loss=2.31\n",
	"ROLL":                      "(RLVRPipeline pid=4242) [2025-06-01 10:00:00] [rlvr_pipeline.py (650)] [INFO] pipeline step # finished\n",
	"RLlib":                     "Trial PPO_CartPole-v1_1234 reported episode_reward_mean=21.1,training_iteration=# with parameters={}\n",
	"CleanRL":                   "global_step=#, episodic_return=[21.]\n",
	"Stable-Baselines3":         "| time/                   |              |\n|    iterations           | #            |\n| train/                  |              |\n",
	"StyleGAN":                  "tick #     kimg 40.0     time 5m 12s       sec/tick 75.1    sec/kimg 18.7\n",
	"Marian":                    "[2021-06-01 10:00:00] Ep. 1 : Up. # : Sen. 64,000 : Cost 7.51230000 : Time 5.12s : 12012.12 words/s\n",
	"LightGBM":                  "[#]\tvalid_0's l2: 0.21230\n",
	"CatBoost":                  "#:\tlearn: 0.6912312\ttest: 0.6911231\tbest: 0.6911231 (#)\ttotal: 1.2s\tremaining: 10.1s\n",
	"darknet":                   "\n #: 2.345678, 2.456789 avg loss, 0.001000 rate, 3.456789 seconds, #00 images, 12.312312 hours left\nLoaded: 0.000051 seconds\n",
	"WeNet":                     "2021-06-01 10:00:00,123 DEBUG TRAIN Batch 0/# loss 12.312312 loss_att 10.123 loss_ctc 13.123 lr 0.00001231 rank 0\n",
	"WeNet 3":                   "2024-06-01 10:00:00,123 DEBUG TRAIN | steps/sec 1.231| Batch 0/# loss 12.312312 acc 0.1231 lr 1.2312e-05 grad_norm 3.123123 rank 0\n",
	"nnU-Net":                   "2024-06-01 10:00:00.123456: Epoch # \n2024-06-01 10:00:00.223456: Current learning rate: 0.00991 \n2024-06-01 10:00:00.323456: train_loss -0.4123 \n",
	"nnU-Net 1":                 "2021-06-01 10:00:00.123456: \nepoch:  # \n2021-06-01 10:00:00.223456: train loss : -0.4123 \n",
	"sockeye":                   "[2021-06-01:10:00:00:INFO:sockeye.training:speedometer] E=0 B=#\ts/sec=1231.12\ttok/sec=20123.12\tu/sec=1.23\tppl=123.12\n",
	"sockeye 1":                 "[INFO:sockeye.training] Epoch[0] Batch [#]\tSpeed: 1231.12 samples/sec 20123.12 tokens/sec 1.23 updates/sec\tperplexity=123.123123\n",
	"VITS":                      "INFO:ljs_base:Train Epoch: 1 [#%]\nINFO:ljs_base:[2.1231, 2.3123, 3.1231, 20.123, 1.2312, 1.1231, 4, 0.0002]\n",
	"GluonTS":                   "100%|██████████| 50/50 [00:03<00:00, 15.24it/s, epoch=#/900, avg_epoch_loss=5.12]\n",
	"Ray Train":                 "Training finished iteration # at 2024-06-01 10:00:00. Total running time: 1min 2s\n╭─────────────────────╮\n│ Training result     │\n├─────────────────────┤\n│ loss       0.61231  │\n╰─────────────────────╯\n",
	"vLLM":                      "INFO 06-01 10:00:00 [loggers.py:116] Engine 000: Avg prompt throughput: 123.4 tokens/s, Avg generation throughput: 1256.7 tokens/s, Running: 3 reqs, Waiting: 0 reqs, GPU KV cache usage: 1.2%, Prefix cache hit rate: 0.0%\n",
	"SGLang":                    "[2025-06-01 10:00:00] Decode batch. #running-req: 3, #token: 1234, token usage: 0.02, cuda graph: True, gen throughput (token/s): 65.75, #queue-req: 0\n",
	"PEFT's examples":           "epoch=# train_ppl=tensor(2.31) train_epoch_loss=tensor(0.83)\n",
	"a loop of the user's own":  "[Epoch 3] [Batch #/900] [D loss: 0.4121] [G loss: 1.2031]\n",
}

// numberedSteps returns a function that prints a step again and again, with each number from one up to another in place of #.
func numberedSteps(step string) func(from, to int) string {
	return func(from, to int) string {
		var b strings.Builder
		for i := from; i < to; i++ {
			b.WriteString(strings.ReplaceAll(step, "#", fmt.Sprint(i)))
		}
		return b.String()
	}
}

// TestEveryTrainersStepsShowThatARunGoesOn prints the steps of trainers behind a failure that was caught, and then before it alone.
func TestEveryTrainersStepsShowThatARunGoesOn(t *testing.T) {
	t.Parallel()
	const caught = "Traceback (most recent call last):\n  File \"/home/u/loop.py\", line 61, in one_step\n    loss.backward()\n" +
		"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 64.00 GiB of which 1.00 GiB is free.\n"
	for name, step := range trainerSteps {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			steps := numberedSteps(step)
			for _, c := range []struct {
				log  string
				want bool
			}{{steps(111, 140) + caught + steps(141, 180), true}, {steps(111, 140) + caught, false}} {
				got := read(t, map[string]string{"x.log": c.log}).Incidents
				require.Len(t, got, 1)
				assert.Equal(t, c.want, got[0].Survived)
			}
		})
	}
}

// TestAFailureBehindManyStepsIsAnother prints another failure behind the steps that show the first one was caught, and then
// soon after the first.
func TestAFailureBehindManyStepsIsAnother(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("the race detector makes it slow, and it has one goroutine")
	}
	failure := func(function, size string) string {
		return "Traceback (most recent call last):\n  File \"/home/u/" + function + ".py\", line 61, in " + function + "\n    x = f(x)\n" +
			"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate " + size + " GiB. GPU 0 has a total capacity of 64.00 GiB of which 1.00 GiB is free.\n"
	}
	const killed = "slurmstepd: error: Detected 1 oom_kill event in StepId=771.0. Some of the step tasks have been OOM Killed.\n"
	for name, step := range trainerSteps {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			steps := numberedSteps(step)
			for _, last := range []string{failure("save", "3.00"), killed} {
				log := steps(100, 140) + failure("one_step", "2.00")
				got := read(t, map[string]string{"x.log": log + steps(141, 899) + last}).Incidents
				require.Len(t, got, 2)
				assert.True(t, got[0].Survived)
				assert.False(t, got[1].Survived)
			}
			got := read(t, map[string]string{"x.log": steps(100, 140) + failure("one_step", "2.00") + failure("save", "3.00")}).Incidents
			require.Len(t, got, 1)
			assert.False(t, got[0].Survived)
		})
	}
}

// TestAnEpochCountsFromTheLastOne lets a training go on in its next epoch, where its counter begins anew.
func TestAnEpochCountsFromTheLastOne(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	for epoch := range 2 {
		for n := 0; n < 200; n += 10 {
			fmt.Fprintf(&log, "Train Epoch: [%d][%3d/214] | Batch Time: 1.90 (2.01) | Losses/train_all_loss: 5.18e+00 (5.31e+00)\n", epoch, n)
		}
		if epoch == 0 {
			log.WriteString("Traceback (most recent call last):\n  File \"/home/u/hook.py\", line 84, in after_epoch\n    x = f(x)\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.48 GiB. GPU 0 has a total capacity of 79.11 GiB of which 2.96 GiB is free.\n")
		}
	}
	got := read(t, map[string]string{"x.log": log.String()}).Incidents
	require.Len(t, got, 1)
	assert.True(t, got[0].Survived)
}

// TestAMessageThatHarmsNoStepHarmsNotTheLast prints the message of a sandbox before each step.
func TestAMessageThatHarmsNoStepHarmsNotTheLast(t *testing.T) {
	t.Parallel()
	const (
		message = "Call-based runtime error = MemoryError: Unable to allocate 7.45 GiB for an array with shape (1000000000,) and data type int64\n"
		report  = "Traceback (most recent call last):\n  File \"/home/u/t.py\", line 6, in <module>\n    main()\n" + message
		limit   = "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-05-21T22:00:14 DUE TO TIME LIMIT ***\n"
	)
	step := func(n int) string { return fmt.Sprintf("step:%d - actor/pg_loss:0.012 - actor/grad_norm:0.2\n", n) }
	for name, c := range map[string]struct {
		log      string
		survived bool
	}{
		"a message before each step":      {message + step(1) + message + step(2) + message + step(3) + message + step(4) + limit, true},
		"one behind the last step":        {message + step(1) + message + step(2) + message + step(3) + message + limit, false},
		"one that came once before":       {step(1) + step(2) + message + step(3) + message + step(4) + limit, false},
		"several before the same step":    {step(1) + message + message + message + step(2) + message + step(3) + limit, false},
		"a traceback before the last one": {message + step(1) + message + step(2) + message + step(3) + report + step(4) + limit, false},
	} {
		got := read(t, map[string]string{"x.log": c.log}).Incidents
		require.NotEmpty(t, got, name)
		assert.Equal(t, c.survived, got[len(got)-1].Survived, name)
	}
}

// TestANewBarBehindACaughtFailureSeparatesTheNext draws the bar of a training that begins behind a failure.
func TestANewBarBehindACaughtFailureSeparatesTheNext(t *testing.T) {
	t.Parallel()
	const first = "Traceback (most recent call last):\n  File \"/home/u/@.py\", line 61, in #\n    x = f(x)\n" +
		"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 64.00 GiB of which 1.00 GiB is free.\n"
	failure := func(file, function string) string {
		return strings.NewReplacer("@", file, "#", function).Replace(first)
	}
	lines := func(steps int) string {
		var b strings.Builder
		for i := range steps {
			fmt.Fprintf(&b, "step %d loss 2.31\n", i)
		}
		return b.String()
	}
	const host = "Traceback (most recent call last):\n  File \"/home/u/eval.py\", line 88, in pairwise\n    d = np.zeros((n, n))\nnumpy._core._exceptions._ArrayMemoryError: Unable to allocate 597. GiB for an array with shape (400250, 400250) and data type float32\n"
	bar := func(steps int) string {
		var b strings.Builder
		for i := range steps {
			fmt.Fprintf(&b, "\rSteps:   2%%|2         | %d/900 [00:10<20:00,  1.10it/s, lr=1e-5, step_loss=0.0231]", i)
		}
		return b.String() + "\n"
	}
	for name, c := range map[string]struct {
		log  string
		want []bool // the incidents that the run survived
	}{
		"a caught failure and many steps":  {failure("x", "validate") + bar(12) + failure("y", "step"), []bool{true, false}},
		"a caught failure and a few steps": {failure("x", "validate") + bar(3) + failure("y", "step"), []bool{false}},
		"another kind of memory":           {failure("x", "train") + lines(12) + host, []bool{true, false}},
		"another kind at once":             {failure("x", "train") + lines(3) + host, []bool{false}},
		"the death of a program before":    {failure("x", "<module>") + bar(12) + failure("y", "step"), []bool{false}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []bool
			for _, in := range read(t, map[string]string{"x.log": c.log}).Incidents {
				got = append(got, in.Survived)
			}
			assert.Equal(t, c.want, got)
		})
	}
}

// TestWhatOthersPrintBehindAFailureIsNoRecovery keeps a run dead whatever its surroundings print.
func TestWhatOthersPrintBehindAFailureIsNoRecovery(t *testing.T) {
	t.Parallel()
	const died = "Traceback (most recent call last):\n  File \"/home/u/train.py\", line 90, in <module>\n    main()\n" +
		"  File \"/home/u/train.py\", line 61, in main\n    loss.backward()\n" +
		"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 64.00 GiB of which 1.00 GiB is free.\n"
	const dask = "distributed.nanny.memory - WARNING - Worker tcp://127.0.0.1:38041 (pid=4711) exceeded 95% memory budget. Restarting...\n"
	worker := label("(WorkerDict pid=7, ip=10.0.0.2) ", died)
	for name, log := range map[string]string{
		"another launch's steps":                   died + strings.Repeat("Loading the data\n", 9) + "step 100/9000 loss 2.31\n" + strings.Repeat("reading the next shard of the training set\n", 600) + "step 200/9000 loss 2.21\nstep 300/9000 loss 2.11\nstep 400/9000 loss 2.01\n",
		"files that are packed":                    died + "copying file 1/4\ncopying file 2/4\ncopying file 3/4\ncopying file 4/4\nshard 1/3\nshard 2/3\nshard 3/3\n",
		"the upload of a log":                      died + "wandb: uploading artifact run-x 1/4 files\nwandb: | 0.012 MB of 0.012 MB uploaded\nwandb: Run history:\nwandb: train/loss 1\nwandb: Run summary:\nwandb: train/loss 2.31\nwandb: step 140\n",
		"the history of metrics":                   died + "wandb:\nwandb: Run summary:\nwandb:         train/epoch 1.0\nwandb:   train/global_step 140\nwandb:          train/loss 2.3105\n",
		"a quotation of a success":                 died + "> step 141 loss 2.3\n> step 142 loss 2.2\n> step 143 loss 2.1\n> step 144 loss 2.0\n",
		"a script that packs up":                   died + strings.Repeat("Compressing objects: 100% (12/12), done.\n", 3) + "rsync: 1/3 2/3 3/3\n",
		"a download of another program":            died + "model-1.safetensors:  10%|1         | 110M/1.1G [00:01<00:10, 101MB/s]\nmodel-1.safetensors:  20%|2         | 220M/1.1G [00:02<00:09, 101MB/s]\nmodel-1.safetensors:  30%|3         | 330M/1.1G [00:03<00:08, 101MB/s]\n",
		"another rank's bar before it dies":        worker + "(WorkerDict pid=8, ip=10.0.0.2)  40%|####      | 1/9 [00:01<00:09,  1.19s/it]\n(WorkerDict pid=8, ip=10.0.0.2)  50%|####      | 2/9 [00:01<00:09,  1.19s/it]\n(WorkerDict pid=8, ip=10.0.0.2)  60%|####      | 3/9 [00:01<00:09,  1.19s/it]\n(WorkerDict pid=8, ip=10.0.0.2)  70%|####      | 4/9 [00:01<00:09,  1.19s/it]\nTraceback (most recent call last):\n  File \"/w/main.py\", line 9, in main\n    ray.get(task)\nray.exceptions.RayTaskError(OutOfMemoryError): ray::WorkerDict.update_actor() (pid=7, ip=10.0.0.2)\n",
		"a retry that fails, too":                  strings.ReplaceAll(died, "2.00 GiB.", "2.00 GiB.") + "Retrying with batch size 4\n" + died,
		"a smaller batch that fails, too":          "CUDA out of memory detected. Train microbatch size will be decreased from 2 -> 1.\n" + died,
		"a batch that is skipped and then a death": "| WARNING: ran out of memory, skipping batch\nstep 141 loss 2.3\n" + died,
		"a CPU that has no room, either":           "CUDA OOM, falling back to CPU\nslurmstepd: error: Detected 1 oom_kill event in StepId=771.0. Some of the step tasks have been OOM Killed.\n",
		"batches that are skipped in a row":        strings.Repeat("# OOM during training step, skipping batch 1/3 #\n", 3) + "Error running job: OOM during training step 3 times in a row, aborting training\n",
		"a task of a worker that died":             "[2024-05-01 10:00:00,123: ERROR/MainProcess] Task app.predict[2b2c-11] raised unexpected: WorkerLostError('Worker exited prematurely: signal 9 (SIGKILL) Job: 4.')\n" + died,
		"a request of a web UI that died":          "*** Error completing request\n*** Arguments: ('a castle',) {}\n    " + strings.ReplaceAll(strings.TrimSuffix(died, "\n"), "\n", "\n    ") + "\n\n---\nsrun: error: n1: task 0: Exited with exit code 1\n",
		"tiles that do not fit, either":            "Warning: Ran out of memory when regular VAE decoding, retrying with tiled VAE decoding.\n" + died,
		"a scheduler's kill of all workers":        dask + "slurmstepd: error: Detected 1 oom_kill event in StepId=771.0. Some of the step tasks have been OOM Killed.\n",
		"a task that killed each worker":           dask + dask + "Traceback (most recent call last):\n  File \"/w/prep.py\", line 41, in <module>\n    ds.compute()\ndistributed.scheduler.KilledWorker: Attempted to run task ('readparquet-1', 1) on 4 different workers, but all those workers died while running it.\n",
		"a request that is retried":                died + "urllib3: Retrying (Retry(total=2)) after connection broken\nRetrying in 5 seconds\n",
		"a batch that a library skips":             died + "INFO dataset: skipping batch of 3 corrupt files\n",
		"advice on the batch size":                 died + "hint: reduce the batch size to 4 and try again\n",
		"an engine that is idle":                   worker + strings.Repeat("INFO 06-01 10:00:00 [loggers.py:116] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 0.0 tokens/s, Running: 0 reqs, Waiting: 0 reqs\n", 9),
		"another process's engine":                 worker + strings.Repeat("(vLLMHttpServer pid=9) INFO 06-01 10:00:00 [loggers.py:116] Engine 000: Avg prompt throughput: 1.5 tokens/s, Avg generation throughput: 98.1 tokens/s, Running: 1 reqs, Waiting: 0 reqs\n", 9),
		"a log that is shown once more":            died + "==> last lines of train.log <==\nstep 138 loss 2.4\nstep 139 loss 2.4\nstep 140 loss 2.3\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := read(t, map[string]string{"x.log": log}).Incidents
			require.NotEmpty(t, got)
			for _, in := range got {
				assert.False(t, in.Survived)
			}
		})
	}
}

// TestWhoCatchesAFailureGoesOn reads what programs print who retry, skip or fall back.
func TestWhoCatchesAFailureGoesOn(t *testing.T) {
	t.Parallel()
	const oom = "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 64.00 GiB of which 1.00 GiB is free."
	steps := ""
	for i := 141; i < 150; i++ {
		steps += fmt.Sprintf("step %d loss 2.31\n", i)
	}
	for name, log := range map[string]string{
		"a batch that is skipped":                                 "WARNING: OOM in forward, skipping batch 17 (" + oom + ")\n" + steps,
		"a batch that was skipped":                                "[warn] torch.OutOfMemoryError: " + oom + " Skipped batch 17.\n" + steps,
		"a sample that is dropped":                                "torch.OutOfMemoryError: " + oom + "\nDropping this sample and continuing.\n" + steps,
		"fairseq's retry":                                         "| WARNING: OOM in all workers, skipping update\n" + "RuntimeError: " + oom + "\n| WARNING: attempting to recover from OOM in forward/backward pass\n" + steps,
		"accelerate's finder":                                     "torch.OutOfMemoryError: " + oom + "\nDecreasing batch size to: 8.\n",
		"the Trainer's finder":                                    "torch.OutOfMemoryError: " + oom + "\nTrying again with batch size 4\n{'loss': 2.3, 'epoch': 0.01}\n{'loss': 2.2, 'epoch': 0.02}\n{'loss': 2.1, 'epoch': 0.03}\n{'loss': 2.1, 'epoch': 0.04}\n",
		"Lightning's tuner":                                       "Batch size 64 failed, trying batch size 32\n" + "torch.OutOfMemoryError: " + oom + "\nBatch size 32 failed, trying batch size 16\nFinished batch size finder, will continue with full run using batch size 16\n",
		"lm-eval's finder":                                        "torch.OutOfMemoryError: " + oom + "\nPassed argument batch_size = auto. Detecting largest batch size\nDetermined largest batch size: 8\n",
		"a loader without pipeline parallelism":                   "Failed to load with pipeline parallelism: " + oom + " Retrying without it.\nModel loaded successfully on 8 GPUs\n" + steps,
		"a cache that is emptied":                                 "torch.OutOfMemoryError: " + oom + "\nCaught OOM, clearing the cache and retrying\n" + steps,
		"a fallback to the CPU":                                   "torch.OutOfMemoryError: " + oom + "\nFalling back to CPU for the merge\n" + steps,
		"an autotuner's candidate":                                "Benchmarking config 3 failed: " + oom + "\nBest config: block=64, 1.2 ms\n" + steps,
		"ComfyUI's tiled decoder":                                 "torch.OutOfMemoryError: " + oom + "\nWarning: Ran out of memory when regular VAE decoding, retrying with tiled VAE decoding.\nPrompt executed in 41.20 seconds\n",
		"ComfyUI's tiled decoder alone":                           "got prompt\nWarning: Ran out of memory when regular VAE encoding, retrying with tiled VAE encoding.\n",
		"Detectron2's copy on the CPU":                            "Attempting to copy inputs of <function pairwise_iou at 0x7f2148b0> to CPU due to CUDA OOM\n",
		"Ultralytics' assigner on the CPU":                        "WARNING ⚠️ CUDA OutOfMemoryError in TaskAlignedAssigner, using CPU\n",
		"ai-toolkit's banner":                                     strings.Repeat("#", 48) + "\n# OOM during training step, skipping batch 1/3 #\n" + strings.Repeat("#", 48) + "\n" + steps,
		"a batch that is skipped without a word of the exception": strings.Repeat("| WARNING: ran out of memory, skipping batch\n"+steps, 3),
		"a model on the CPU":                                      "[ASR] CUDA OOM, falling back to CPU\n",
		"the exception and what is done":                          "RuntimeError: " + oom + "\n| WARNING: attempting to recover from OOM in forward/backward pass\n| WARNING: OOM in all workers, skipping update\n" + steps,
		"what is done and the exception":                          "Skipping batch due to OOM\n" + oom + "\n" + steps,
		"a web UI's next image":                                   "*** Error completing request\n*** Arguments: ('task(8xk2)', 'a castle') {}\n    Traceback (most recent call last):\n      File \"/sd/modules/call_queue.py\", line 57, in f\n        res = list(func(*args, **kwargs))\n    torch.OutOfMemoryError: " + oom + "\n\n---\n",
		"InvokeAI's next session": "[2024-05-01 10:00:00,123]::[InvokeAI]::ERROR --> Error while invoking session 7a-2b, invocation 8c-1d (denoise_latents): " + oom + "\n" +
			"[2024-05-01 10:00:00,124]::[InvokeAI]::ERROR --> Traceback (most recent call last):\n  File \"/i/invokeai/app/services/session_processor.py\", line 57, in run_node\n    f(x)\ntorch.OutOfMemoryError: " + oom + "\n",
		"Triton's answer": "I0501 10:00:00.123456 1 pb_stub.cc:721] Failed to process the request(s) for model 'm_0_0', message: OutOfMemoryError: " + oom + "\n\nAt:\n  /models/m/1/model.py(123): execute\n",
		"Celery's next task": "[2024-05-01 10:00:00,123: ERROR/ForkPoolWorker-1] Task app.predict[2b2c-11] raised unexpected: OutOfMemoryError('" + oom + "')\n" +
			"Traceback (most recent call last):\n  File \"/c/celery/app/trace.py\", line 451, in trace_task\n    R = retval = fun(*args, **kwargs)\ntorch.OutOfMemoryError: " + oom + "\n",
		"nnU-Net's slower prediction":          "Prediction with perform_everything_on_device=True failed due to insufficient GPU memory. Falling back to perform_everything_on_device=False. Not a big deal, just slower...\nError:\nTraceback (most recent call last):\n  File \"/n/nnunetv2/inference/predict.py\", line 57, in f\n    f(x)\ntorch.OutOfMemoryError: " + oom + "\n",
		"ColabFold's next query":               "2026-05-14 10:14:34,673 Could not predict P0DTC2_trimer. Not Enough GPU memory? RESOURCE_EXHAUSTED: Out of memory while trying to allocate 58720256000 bytes.\n2026-05-14 10:14:37,022 Query 3/5: A0A024R1R8 (length 412)\n",
		"ESMFold's next sequence":              "26/02/03 07:19:00 | INFO | root | Failed (CUDA out of memory) on sequence orf_045 of length 1183.\n26/02/03 07:19:04 | INFO | root | Predicted structure for orf_046 with length 1213, pLDDT 63.1, pTM 0.719 in 29.5s. 47 / 60 completed.\n",
		"Dask's nanny":                         "distributed.nanny.memory - WARNING - Worker tcp://127.0.0.1:38041 (pid=4711) exceeded 95% memory budget. Restarting...\ndistributed.nanny - WARNING - Restarting worker\n",
		"a server's answer":                    "ERROR: request failed: " + oom + "\n" + `INFO:     10.0.0.7:501 - "POST /v1/chat HTTP/1.1" 500 Internal Server Error` + "\n" + strings.Repeat(`INFO:     10.0.0.7:501 - "POST /v1/chat HTTP/1.1" 200 OK`+"\n", 4),
		"ComfyUI's next prompt":                "!!! Exception during processing !!!\nTraceback (most recent call last):\n  File \"/c/ComfyUI/execution.py\", line 151, in recursive_execute\n    x()\ntorch.OutOfMemoryError: " + oom + "\n\nPrompt executed in 845.17 seconds\ngot prompt\n",
		"ComfyUI's failure, cut":               "!!! Exception during processing !!! " + oom + "\nTraceback (most recent call last):\n  File \"/c/ComfyUI/execution.py\", line 151, in recursive_execute\n",
		"FSDP's warning without its beginning": "q_proj.weight on rank 1. This may mean that this state_dict entry could point to invalid memory regions after returning from state_dict() call if this parameter is managed by FSDP. Error: " + oom + "\n",
		"Optuna's next trial":                  "[W 2025-06-01 10:00:00,123] Trial 5 failed with parameters: {'bs': 64} because of the following error: OutOfMemoryError('" + oom + "').\n[I 2025-06-01 10:10:00,123] Trial 6 finished with value: 0.67 and parameters: {'bs': 16}. Best is trial 6 with value: 0.67.\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := read(t, map[string]string{"x.log": "step 139 loss 2.4\nstep 140 loss 2.4\n" + log}).Incidents
			require.Len(t, got, 1)
			assert.True(t, got[0].Survived)
		})
	}
}

// TestADeathBehindACaughtFailureIsTheRoot keeps the figures of what killed a run that had skipped batches before.
func TestADeathBehindACaughtFailureIsTheRoot(t *testing.T) {
	t.Parallel()
	const skipped = "| WARNING: ran out of memory, skipping batch\n"
	for name, log := range map[string]string{
		"at once":               skipped + backward,
		"after steps":           strings.Repeat(skipped+"{'loss': 2.3, 'epoch': 0.01}\n", 3) + backward,
		"beside another's skip": label("[rank1]: ", skipped) + label("[rank0]: ", backward),
	} {
		got := read(t, map[string]string{"a": log}).Incidents
		require.NotEmpty(t, got, name)
		last := got[len(got)-1]
		assert.False(t, last.Survived, name)
		assert.Equal(t, "backward", last.Phase, name)
		assert.NotNil(t, last.Root.Requested, name)
	}
}

// TestAScriptThatPrintsItsTracebackGoesOn has tracebacks that reach the script, as that of a death does.
func TestAScriptThatPrintsItsTracebackGoesOn(t *testing.T) {
	t.Parallel()
	const reaches = "Traceback (most recent call last):\n  File \"/home/u/train.py\", line 90, in <module>\n    loss.backward()\n" +
		"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 64.00 GiB of which 1.00 GiB is free.\n"
	repeat := func(form string, from, to int) string {
		var b strings.Builder
		for i := from; i < to; i++ {
			b.WriteString(strings.ReplaceAll(form, "#", fmt.Sprint(i)))
		}
		return b.String()
	}
	const bar, loss, actor = " #%|##   | #/900 [01:10<05:00,  2.10it/s]\n", "step # loss 2.31\n", "(TaskRunner pid=77) step:# - actor/loss:0.1 - timing_s/step:30.1\n"
	for name, c := range map[string]struct {
		log  string
		want bool
	}{
		"a bar that counts on":                   {repeat(bar, 11, 20) + reaches + repeat(bar, 21, 25), true},
		"a bar that is drawn once more":          {repeat(bar, 11, 21) + reaches + repeat(bar, 20, 21), false},
		"a bar of the next launch":               {repeat(bar, 11, 20) + reaches + repeat(bar, 0, 25), false},
		"a bar of the next launch after a step":  {repeat(bar, 11, 20) + reaches + repeat(bar, 1, 25), false},
		"lines that wait in a buffer":            {repeat(loss, 11, 20) + reaches + repeat(loss, 21, 30), false},
		"steps of an actor after what it quotes": {reaches + repeat(actor, 1, 9), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := read(t, map[string]string{"x.log": c.log}).Incidents
			require.Len(t, got, 1)
			assert.Equal(t, c.want, got[0].Survived)
		})
	}
}

// TestATrainingThatEndsSurvivedItsFailure has tracebacks that reach the script, and few lines behind them: a buffer may hold those.
func TestATrainingThatEndsSurvivedItsFailure(t *testing.T) {
	t.Parallel()
	const (
		backward = "Traceback (most recent call last):\n  File \"/home/u/train.py\", line 90, in <module>\n    main()\n  File \"/home/u/train.py\", line 61, in main\n    loss.backward()\n"
		evaluate = "Traceback (most recent call last):\n  File \"/home/u/train.py\", line 97, in <module>\n    trainer.evaluate()\n" +
			"  File \"/opt/lib/python3.11/site-packages/transformers/trainer.py\", line 4201, in evaluate\n    output = eval_loop(\n"
		full    = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 64.00 GiB of which 1.00 GiB is free.\n"
		trained = "{'train_runtime': 4121.0221, 'train_samples_per_second': 11.648, 'train_loss': 1.4127, 'epoch': 3.0}\n"
		again   = "[INFO|trainer.py:2414] 2025-08-14 05:52:20,120 >> Currently training with a batch size of: 14\n"
		killed  = "srun: error: node1: task 0: Exited with exit code 1\n"
	)
	steps := func(from, to int) string {
		var b strings.Builder
		for i := from; i < to; i++ {
			fmt.Fprintf(&b, "{'loss': 0.9234, 'grad_norm': 1.25, 'learning_rate': 1e-05, 'epoch': %.2f}\n", float64(i)/100)
		}
		return b.String()
	}
	iters := numberedSteps("iter #: loss 3.4012, time 230.12ms, mfu 21.20%\n")
	for name, c := range map[string]struct {
		log  string
		want bool
	}{
		"it counts on to its end":                {steps(1, 20) + backward + full + steps(20, 40) + trained, true},
		"in axolotl's words":                     {steps(1, 20) + backward + full + steps(20, 40) + "[2025-06-01 11:08:01,123] [INFO] [axolotl.train.train:231] [PID:4110] [RANK:0] Training Completed!!! Saving pre-trained model to ./out\n", true},
		"in nanoGPT's steps, and a script's end": {iters(1, 20) + backward + full + iters(20, 40) + "saving checkpoint to out-1b5\nmax_iters reached, done in 6822.1 s\n", true},
		"in the words of torchvision's scripts":  {steps(1, 20) + backward + full + steps(20, 40) + "Training time 0:41:07\n", true},
		"a shell that says done":                 {iters(1, 20) + backward + full + iters(20, 40) + "Training complete.\nTraining finished in 41 s\n", false},
		"another rank catches it":                {steps(1, 20) + label("[rank2]: ", backward+full) + steps(20, 40) + trained, true},
		"two failures":                           {steps(1, 20) + backward + full + steps(20, 24) + backward + full + steps(24, 40) + trained, true},
		"a smaller batch":                        {steps(0, 1) + backward + full + again + steps(0, 20) + trained, true},
		"no end":                                 {steps(1, 20) + backward + full + steps(20, 40), false},
		"a run that is started again":            {steps(1, 20) + backward + full + steps(1, 40) + trained, false},
		"started again after the first step":     {steps(0, 1) + backward + full + steps(0, 40) + trained, false},
		"started again after nothing":            {backward + full + steps(1, 40) + trained, false},
		"started again from a file's beginning":  {steps(1, 20) + backward + full + strings.Repeat("loading\n", 9) + again + steps(1, 40) + trained, false},
		"a buffer behind the evaluation":         {steps(1, 20) + evaluate + full + steps(20, 40) + trained, false},
		"the end of the training before":         {steps(1, 20) + trained + backward + full + steps(20, 40), false},
		"a launcher that saw it die":             {steps(1, 20) + backward + full + steps(20, 40) + trained + killed, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := read(t, map[string]string{"x.log": c.log}).Incidents
			require.NotEmpty(t, got)
			assert.Equal(t, c.want, got[0].Survived)
		})
	}
}

// TestAnotherProgramsStepsAreNoRecovery puts the logs of two programs together, as launchers do: one dies, the other one has caught its
// failure and goes on.
func TestAnotherProgramsStepsAreNoRecovery(t *testing.T) {
	t.Parallel()
	const died = "Traceback (most recent call last):\n  File \"/home/u/eval.py\", line 61, in run\n    f(x)\n" +
		"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 64.00 GiB of which 1.00 GiB is free.\n"
	const refused = "numpy.core._exceptions._ArrayMemoryError: Unable to allocate 188. GiB for an array with shape (410000, 122880) and data type float32\n"
	for _, step := range []string{"step %d loss 2.31\n", "step:%d - actor/pg_loss:0.01 - critic/rewards/mean:0.5\n"} {
		steps := func(from int) (log string) {
			for i := range 20 {
				log += fmt.Sprintf(step, from+i)
			}
			return log
		}
		for name, c := range map[string]struct {
			log  string
			want map[parser.Kind]bool
		}{
			"one goes on":  {label("[rank0]: ", died) + label("[rank1]: ", steps(7)+refused+steps(30)), map[parser.Kind]bool{parser.GPUOOM: false, parser.HostOOM: true}},
			"one has died": {label("[rank0]: ", steps(7)+died+steps(30)) + label("[rank1]: ", refused), map[parser.Kind]bool{parser.GPUOOM: true, parser.HostOOM: false}},
			"its own":      {label("[rank0]: ", steps(7)+died+steps(30)), map[parser.Kind]bool{parser.GPUOOM: true}},
		} {
			got := map[parser.Kind]bool{}
			for _, in := range read(t, map[string]string{"x.log": c.log}).Incidents {
				got[in.Kind] = in.Survived
			}
			assert.Equal(t, c.want, got, "%s: %s", name, step)
		}
	}
}

// TestAFailureThatWasSurvivedTakesNoTracebackOfALaterOne labels every line with one process, whose launcher reports its end.
func TestAFailureThatWasSurvivedTakesNoTracebackOfALaterOne(t *testing.T) {
	t.Parallel()
	const gpu = "CUDA out of memory. Tried to allocate %s GiB (GPU 2; 31.75 GiB total capacity; 27.31 GiB already allocated; 1.53 GiB free; 28.92 GiB reserved in total by PyTorch)\n"
	const step = "2022-11-08 13:09:10 | INFO | train_inner | epoch 001:    # / 14203 loss=11.000, num_updates=#, lr=5.5e-05\n"
	steps := strings.ReplaceAll(step, "#", "500") + strings.ReplaceAll(step, "#", "600")
	log := steps + "WARNING | fairseq.trainer | OOM: Ran out of memory with exception: " + fmt.Sprintf(gpu, "2.10") + strings.ReplaceAll(steps, "00 ", "50 ") +
		strings.ReplaceAll(step, "#", "700") + strings.ReplaceAll(step, "#", "800") +
		"Traceback (most recent call last):\n  File \"/opt/conda/lib/python3.9/site-packages/torch/multiprocessing/spawn.py\", line 69, in _wrap\n    fn(i, *args)\n" +
		"  File \"/opt/fairseq/fairseq_cli/train.py\", line 504, in validate\n    trainer.valid_step(sample)\ntorch.cuda.OutOfMemoryError: " + fmt.Sprintf(gpu, "4.22") +
		"Traceback (most recent call last):\n  File \"/opt/fairseq/fairseq_cli/train.py\", line 557, in <module>\n    cli_main()\ntorch.multiprocessing.spawn.ProcessRaisedException: \n\n" +
		"-- Process 1 terminated with the following error:\nTraceback (most recent call last):\n  File \"/opt/fairseq/fairseq_cli/train.py\", line 504, in validate\n    trainer.valid_step(sample)\ntorch.cuda.OutOfMemoryError: " + fmt.Sprintf(gpu, "4.22")
	got := read(t, map[string]string{"x.log": label("(Runner pid=815) ", log)}).Incidents
	require.Len(t, got, 2)
	assert.True(t, got[0].Survived)
	assert.Equal(t, "training", string(got[0].Phase))
}

// TestARunOutlivesItsLoader reads the kernel's report of a kill, and the log of a run that lost a loader's worker.
func TestARunOutlivesItsLoader(t *testing.T) {
	t.Parallel()
	const (
		kill = "Aug 14 05:40:11 n1 kernel: Memory cgroup out of memory: Killed process 4123 (pt_data_worker) total-vm:61204412kB, anon-rss:41072000kB, file-rss:41216kB, shmem-rss:0kB, UID:1000 pgtables:90000kB oom_score_adj:0\n"
		lost = "RuntimeError: DataLoader worker (pid 4123) is killed by signal: Killed.\n"
	)
	before, after := "", ""
	for i := range 9 {
		before += fmt.Sprintf("{'loss': 2.%d, 'grad_norm': 0.3, 'epoch': 0.0%d}\n", 9-i, i)
		after += fmt.Sprintf("{'loss': 1.%d, 'grad_norm': 0.3, 'epoch': 0.1%d}\n", 9-i, i)
	}
	for name, c := range map[string]struct {
		log  string
		want bool
	}{
		"it counts on":           {before + lost + after, true},
		"it ends":                {before + lost, false},
		"another worker's death": {before + strings.ReplaceAll(lost, "4123", "4124") + after, false},
		"it dies later":          {before + lost + after + "Traceback (most recent call last):\n  File \"/opt/train.py\", line 3, in <module>\n    main()\nRuntimeError: DataLoader worker (pid(s) 4123) exited unexpectedly\n", false},
	} {
		got := read(t, map[string]string{"kern.log": kill, "train.log": c.log}).Incidents
		require.NotEmpty(t, got, name)
		assert.Equal(t, c.want, got[0].Survived, name)
	}
}

package phase

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFromWords(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]Phase{
		"Allocator (GPU_0_bfc) ran out of memory trying to allocate 3.38GiB (rounded to 3623878656)requested by op gradient_tape/unet/conv3d_16/Conv3DBackpropInputV2":     Backward,
		"OOM when allocating tensor with shape[8,64] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc [Op:Conv2DBackpropFilter]":      Backward,
		"OOM when allocating tensor with shape[8,64] and type float [[node gradients/bert/encoder/MatMul_grad/MatMul_1]]":                                                  Backward,
		"Allocator (GPU_0_bfc) ran out of memory trying to allocate 1.00GiB (rounded to 1073741824)requested by op Adam/Adam/update_12/ResourceApplyAdam":                  Optimizer,
		"requested by op jit(train_step)/jit(main)/transpose(jvp(GPT))/h_21/attn/dot_general":                                                                              Backward,
		"requested by op jit(train_step)/jit(main)/jvp(GPT)/h_21/attn/dot_general":                                                                                         Forward,
		"step 827: backward failed, skipping batch (max_len=39.8s): CUDA out of memory. Tried to allocate 2.61 GiB.":                                                       Backward,
		"OOM during forward pass of batch 17: CUDA out of memory.":                                                                                                         Forward,
		"attempting to recover from OOM in forward/backward pass":                                                                                                          Training,
		"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.61 GiB. GPU 3 has a total capacity of 44.39 GiB":                                                  Unknown,
		"RuntimeError: [enforce fail at alloc_cpu.cpp:117] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 64 bytes.":                          Unknown,
		"Encountered an error in forward function: CUDA runtime error in ::cudaMallocAsync":                                                                                Unknown, // an engine's
		"batch{batch_size=1}:prefill:prefill{id=7 size=1}:prefill{id=7 size=1}: text_generation_client: router/client/src/lib.rs:33: Server error: CUDA out of memory.":    Rollout,
		"batch{batch_size=2}:decode:decode{size=2}:decode{size=2}: text_generation_router_v3::client: backends/v3/src/client/mod.rs:45: Server error: CUDA out of memory.": Rollout,
		"warmup{max_input_length=1024 max_prefill_tokens=4096}:warmup: text_generation_client: router/client/src/lib.rs:33: Server error: CUDA out of memory.":             Init,
		"health:health:health: text_generation_client: router/client/src/lib.rs:33: Server error: CUDA out of memory.":                                                     Unknown,
		"text_generation_router::infer: router/src/infer.rs:614: Request failed during generation: Server error: CUDA out of memory.":                                      Rollout,
		"Error CUDA out of memory. Tried to allocate 7.88 GiB. GPU 0 has a total capacity of 79.11 GiB in generating":                                                      Rollout,
		"❌ Error during generation: CUDA out of memory. Tried to allocate 7.88 GiB.":                                                                                       Rollout,
		"An error occurred while generating the dataset: CUDA out of memory.":                                                                                              Unknown,
		"Error in generating embeddings: CUDA out of memory.":                                                                                                              Unknown,
		"| bert | 1 | UNAVAILABLE: Internal: unexpected error when creating modelInstanceState: CUDA runtime error in ::cudaMallocAsync(ptr, n, s): out of memory (/a":     Init,
		"failed to load 'bert' version 1: Internal: CUDA runtime error in cudaMalloc(ptr, n): out of memory (/app/x.h:1)":                                                  Init,
		"Encountered error for requestId 4: CUDA runtime error in cudaMalloc(ptr, n): out of memory (/app/x.h:1)":                                                          Unknown,
		"OOM when allocating tensor with shape[30522,768] [[node save/RestoreV2]]":                                                                                         Checkpoint,
		"OOM when allocating tensor with shape[30522,768] [[node bert/embeddings/word_embeddings/Initializer/truncated_normal/mul]]":                                       Init,
		"OOM when allocating tensor with shape[30522,768] [[node bert/embeddings/word_embeddings/Assign]]":                                                                 Init,
		"OOM when allocating tensor with shape[30522,768] [[node SGD/update_3]]":                                                                                           Optimizer,
		"OOM when allocating tensor with shape[30522,768] [[node training/RMSprop/update]]":                                                                                Optimizer,
		"OP_REQUIRES failed at conv_grad_input_ops.cc:1245 : Resource exhausted: OOM when allocating tensor":                                                               Backward,
		"[TRT-LLM] [E] Error executing load_single_module: CUDA out of memory.":                                                                                            Init,
		"Ran out of memory in the Optimizer step: CUDA out of memory.":                                                                                                     Optimizer,
		"OOM: Forward and Backward ran out of memory":                                                                                                                      Training,
		"please look forward in the documentation":                                                                                                                         Unknown,
	} {
		v, ok := FromWords(message)
		assert.Equal(t, want, v.Phase, message)
		assert.Equal(t, want != Unknown, ok)
	}
}

func TestFromBarReadsWhatRanOnTheLineOfAFailure(t *testing.T) {
	t.Parallel()
	const failure = "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB"
	for line, want := range map[string]string{
		"Epoch 3:  12%|#2        | 120/1000 [01:00<07:20,  2.00it/s, v_num=0]":              Training,
		"Epoch 1/10:   3%|3         | 3/100 [00:10<05:20,  3.30s/it]":                       Training,
		"steps:   1%|          | 10/1000 [00:10<16:30,  1.00s/it, avr_loss=0.12]":           Training,
		" 12%|#2        | 120/1000 [01:00<07:20,  2.00it/s, loss=2.31]":                     Training,
		"Validation DataLoader 0:  20%|##        | 2/10 [00:01<00:05,  1.30it/s]":           Forward,
		"Evaluating:  20%|##        | 2/10 [00:01<00:05,  1.30it/s]":                        Forward,
		"Sampling:  20%|##        | 2/10 [00:01<00:05,  1.30it/s]":                          Rollout,
		"Processed prompts:   3%|3   | 3/100 [00:10<05:20, est. speed input: 10.00 toks/s]": Rollout,
		"Map (num_proc=8):  12%|#1        | 12000/100000 [00:10<05:00, 300.00 examples/s]":  Data,
		"Loading checkpoint shards:  67%|######7   | 2/3 [00:10<00:05,  5.30s/it]":          Init,
		"[INFO] Training:  67%|######7   | 2/3 [00:10<00:05,  5.30s/it]":                    Training,
	} {
		v, ok := FromBar(line + failure)
		assert.True(t, ok, line)
		assert.Equal(t, want, v.Phase, line)
		assert.Equal(t, Low, v.Confidence, line)
	}
	for _, line := range []string{
		" 12%|#2        | 120/1000 [01:00<07:20,  2.00it/s]", "Downloading shards:  12%|#2        | 1/10 [01:00<07:20,  2.00it/s]", "", "100% of | the memory | was used: Epoch 3",
	} {
		_, ok := FromBar(line + failure)
		assert.False(t, ok, line)
	}
}

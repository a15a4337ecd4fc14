package phase_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"oomscan/classifier/phase"
	"oomscan/parser/traceback"
)

func TestFromMethodReadsEveryFrameworksMethods(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ actor, method, want, sure string }{
		{"WorkerDict", "actor_rollout_update_actor", phase.Training, phase.High},
		{"WorkerDict", "actor_rollout_ref_compute_ref_log_prob", phase.LogProb, phase.High},
		{"WorkerDict", "ref_compute_ref_log_prob", phase.LogProb, phase.High},
		{"WorkerDict", "actor_rollout_generate_sequences", phase.Rollout, phase.Medium},
		{"WorkerDict", "critic_compute_values", phase.LogProb, phase.Medium},
		{"WorkerDict", "rm_compute_rm_score", phase.LogProb, phase.Medium},
		{"WorkerDict", "actor_rollout_init_model", phase.Init, phase.High},
		{"WorkerDict", "actor_rollout_update_weights", phase.WeightUpdate, phase.High},
		{"WorkerDict", "actor_rollout_wake_up", phase.WeightUpdate, phase.Medium},
		{"VllmWorkerProcess", "determine_num_available_blocks", phase.Init, phase.High},
		{"VllmWorkerProcess", "start_worker_execution_loop", phase.Rollout, phase.Medium},
		{"WorkerDict", "actor_rollout_save_checkpoint", phase.Checkpoint, phase.High},
		{"", "ray::WorkerDict.actor_rollout_update_actor()", phase.Training, phase.High},
		{"vLLMHttpServer", "generate", phase.Rollout, phase.Medium},
		{"vLLMHttpServer", "wake_up", phase.WeightUpdate, phase.Medium},
		{"vLLMHttpServer", "launch_server", phase.Init, phase.High},
		{"AgentLoopWorker", "generate_sequences", phase.Rollout, phase.Medium},
		{"MegatronTrainRayActor", "train", phase.Training, phase.Low},
		{"MegatronTrainRayActor", "init", phase.Init, phase.Medium},
		{"MegatronTrainRayActor", "update_weights", phase.WeightUpdate, phase.High},
		{"MegatronTrainRayActor", "save_model", phase.Checkpoint, phase.High},
		{"RolloutManager", "generate", phase.Rollout, phase.Medium},
		{"RolloutManager", "eval", phase.Rollout, phase.Medium},
		{"SGLangEngine", "__init__", phase.Init, phase.Medium},
		{"SGLangEngine", "update_weights_from_tensor", phase.WeightUpdate, phase.High},
		{"PolicyModelActor", "fit", phase.Training, phase.Low},
		{"PolicyModelActor", "broadcast_to_vllm", phase.WeightUpdate, phase.High},
		{"PolicyModelActor", "ppo_train", phase.Training, phase.High},
		{"ReferenceModelActor", "forward", phase.LogProb, phase.Medium},
		{"ReferenceModelRayActor", "forward", phase.LogProb, phase.Medium},
		{"LLMRayActor", "add_requests", phase.Rollout, phase.Medium},
		{"DTensorPolicyWorkerV2[rank=3]", "train", phase.Training, phase.Medium},
		{"MegatronPolicyWorker[rank=3]", "get_logprobs", phase.LogProb, phase.High},
		{"MegatronPolicyWorker", "stream_weights_via_ipc_zmq", phase.WeightUpdate, phase.High},
		{"EmbodiedFSDPActor", "sync_model_to_rollout", phase.WeightUpdate, phase.High},
		{"MultiStepRolloutWorker", "sync_model_from_actor", phase.WeightUpdate, phase.High},
		{"VllmGenerationWorker", "generate_async", phase.Rollout, phase.Medium},
		{"EmbodiedFSDPActor", "run_training", phase.Training, phase.High},
		{"FSDPActor", "run_inference", phase.LogProb, phase.High},
		{"MultiStepRolloutWorker", "generate_one_epoch", phase.Rollout, phase.Medium},
		{"VLLMWorkerExtension", "areal_update_weight_xccl", phase.WeightUpdate, phase.High},
		{"MegatronWorker", "send_checkpoint_weights", phase.WeightUpdate, phase.High},
		{"MegatronPolicyWorker[rank=1]", "finalize_async_save", phase.Checkpoint, phase.High},
		{"MegatronPolicyWorkerBase", "prime_optimizer_state", phase.Init, phase.High},
		{"FSDPPolicyWorkerBase", "forward_backward", phase.Training, phase.High},
		{"FSDPPolicyWorkerBase", "optim_step", phase.Optimizer, phase.High},
		{"FSDPRefWorkerBase", "forward", phase.LogProb, phase.Medium},
		{"MegatronPolicyWorkerBase", "broadcast_to_inference_engines", phase.WeightUpdate, phase.High},
		{"MegatronPolicyWorkerBase", "save_hf_model", phase.Checkpoint, phase.High},
		{"MegatronPolicyWorkerBase", "backload_to_gpu", phase.Training, phase.Low},
		{"vLLMHttpServer", "resume_kv_cache", phase.Rollout, phase.Medium},
		{"TinkerTrainingWorker", "optimizer_step", phase.Optimizer, phase.High},
		{"FullyAsyncTrainer", "_fit_update_weights", phase.WeightUpdate, phase.High},
		{"FullyAsyncTrainer", "_fit_compute_ref_log_prob", phase.LogProb, phase.High},
		{"SGLangEngine", "pull_weights", phase.WeightUpdate, phase.High},
		{"RolloutManager", "onload_kv", phase.Rollout, phase.Medium},
		{"PolicyModelActor", "reload_states", phase.Training, phase.Low},
		{"ActorWorker", "start_model_update", phase.WeightUpdate, phase.High},
		{"ActorWorker", "do_checkpoint", phase.Checkpoint, phase.High},
		{"RewardWorker", "compute_rewards", phase.LogProb, phase.Medium},
		{"", "ReadParquet->SplitBlocks(4)", phase.Data, phase.Low},
		{"MapWorker(tokenize)", "submit", phase.Data, phase.Low},
		{"", "tokenize_shard", phase.Data, phase.Low},
	} {
		v, ok := phase.FromMethod(x.actor, x.method)
		assert.True(t, ok, "%s.%s", x.actor, x.method)
		assert.Equal(t, x.want, v.Phase, "%s.%s", x.actor, x.method)
		assert.Equal(t, x.sure, v.Confidence, "%s.%s", x.actor, x.method)
		assert.Contains(t, v.Why, "`")
	}
}

func TestFromMethodSaysNothingOfDriversAndStrangers(t *testing.T) {
	t.Parallel()
	for _, x := range [][2]string{{"TaskRunner", "run"}, {"", "main_task"}, {"", ""}, {"WorkerDict", ".."}, {"X", "actor_"}, {"Foo", "train"}, {"Registry", "sync_model"}, {"Registry", "model_from_actor"}, {"", "lm_policy"}} {
		v, ok := phase.FromMethod(x[0], x[1])
		assert.False(t, ok, "%v: %s", x, v.Why)
	}
}

func TestFromDriverReadsThePendingCall(t *testing.T) {
	t.Parallel()
	get := site + "ray/_private/worker.py get | values, debugger_breakpoint = worker.get_objects("
	for _, x := range []struct {
		frames []traceback.Frame
		want   string
	}{
		{stack("/v/verl/trainer/ppo/ray_trainer.py fit | actor_output = self.actor_rollout_wg.update_actor(batch)",
			"/v/verl/single_controller/ray/base.py func | output = ray.get(output)", get), phase.Training},
		{stack("/v/verl/trainer/ppo/ray_trainer.py fit | gen_batch_output = self.async_rollout_manager.generate_sequences(gen_batch)", get), phase.Rollout},
		{stack("/v/verl/trainer/ppo/ray_trainer.py fit | ref_log_prob = self.ref_policy_wg.compute_ref_log_prob(batch)", get), phase.LogProb},
		{stack("/v/verl/trainer/main_ppo.py run | trainer.init_workers()", "/v/verl/trainer/ppo/ray_trainer.py init_workers | self.actor_rollout_wg.init_model()", get), phase.Init},
		{stack("/root/slime/train.py train | ray.get(actor_model.async_train(rollout_id, rollout_data_ref))", get), phase.Training},
		{stack("/root/slime/train.py train | rollout_data_ref = ray.get(rollout_manager.generate.remote(rollout_id))", get), phase.Rollout},
		{stack("/root/slime/train.py train | actor_model.update_weights()", get), phase.WeightUpdate},
		{stack(`/o/openrlhf/trainer/ppo_trainer.py fit | ray.get(self.actor_model_group.async_run_method(method_name="broadcast_to_vllm"))`, get), phase.WeightUpdate},
		{stack("/n/nemo_rl/algorithms/grpo.py grpo_train | train_results = policy.train(train_data, loss_fn)", get), phase.Training},
		{stack("/n/nemo_rl/algorithms/grpo.py grpo_train | fprop_logprobs = policy.get_logprobs(train_data)", get), phase.LogProb},
	} {
		v, ok := phase.FromDriver(x.frames)
		assert.True(t, ok, x.frames[0].Code)
		assert.Equal(t, x.want, v.Phase, x.frames[0].Code)
		assert.NotEqual(t, phase.High, v.Confidence)
		assert.NotNil(t, v.Frame)
	}
	_, ok := phase.FromDriver(stack("a.py main | ray.init()", "a.py f | time.sleep(3)", "b.py g | json.load(f)", get))
	assert.False(t, ok)
}

func TestFromTimerReadsOpenTimers(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"ref_log_probs": phase.LogProb, "actor_train": phase.Training, "update_weights": phase.WeightUpdate,
		"save_model": phase.Checkpoint, "init_actor": phase.Init, "train_wait": phase.Rollout, "data_preprocess": phase.Data,
		"wake_up": phase.Training, "timing_s/old_log_prob": phase.LogProb, "timing_s/gen": phase.Rollout,
		"timing/broadcast": phase.WeightUpdate, "recompute logp": phase.LogProb, "ppo update": phase.Training,
		"prepare_for_generation/transfer_and_update_weights": phase.WeightUpdate, "prepare_for_generation/total": phase.WeightUpdate,
		"checkpoint_for_recover": phase.Checkpoint, "sync_weights": phase.WeightUpdate, "update_weights_implementation": phase.WeightUpdate,
		"eval_rollout": phase.Rollout, " Role.RefPolicy ": phase.LogProb, "policy_training": phase.Training,
	} {
		v, ok := phase.FromTimer(name)
		assert.True(t, ok, name)
		assert.Equal(t, want, v.Phase, name)
	}
	for _, name := range []string{"", "step", "start_profile", "/", "lunch"} {
		_, ok := phase.FromTimer(name)
		assert.False(t, ok, name)
	}
}

func TestEnginesRolloutOnceTheyAreReadyAndStartUpBefore(t *testing.T) {
	t.Parallel()
	for _, label := range []string{
		"(vLLMHttpServer pid=7)", "EngineCore_DP0", "VllmWorker TP0", "Worker_TP0", "sglang::scheduler_TP0",
		"RolloutRayActor", "LLMRayActor", "SGLangEngine", "VllmGenerationWorker[rank=3]", "AsyncvLLMServer",
	} {
		for ready, want := range map[bool]string{false: phase.Init, true: phase.Rollout} {
			v, ok := phase.FromLabel(label, ready)
			assert.True(t, ok, label)
			assert.Equal(t, want, v.Phase, label)
			assert.Equal(t, phase.Low, v.Confidence, label)
		}
	}
	for _, label := range []string{"", "WorkerDict", "TaskRunner", "MegatronTrainRayActor", "PolicyModelActor"} {
		_, ok := phase.FromLabel(label, true)
		assert.False(t, ok, label)
	}
}

func TestFromFileReadsTheNamesOfRoles(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"/logs/u/e/t/llm_server.log": phase.Rollout, `C:\logs\sglang-0.log`: phase.Rollout, "generation_server-3": phase.Rollout,
		"job.tar.gz!x/trainer.log": phase.Training, "actor.log": phase.Training, "ref.log": phase.LogProb,
		"dataloader_worker.log": phase.Data, "rollout-1.log": phase.Rollout,
	} {
		v, ok := phase.FromFile(name, true)
		assert.True(t, ok, name)
		assert.Equal(t, want, v.Phase, name)
	}
	v, _ := phase.FromFile("llm_server.log", false)
	assert.Equal(t, phase.Init, v.Phase)
	for _, name := range []string{"", "slurm-1.err", "merged.log", "main.log", "train.log", "refresh.log", "/"} {
		_, ok := phase.FromFile(name, true)
		assert.False(t, ok, name)
	}
}

package cause

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/parser"
	"oomscan/parser/lazyre"
	"oomscan/remedies/memory"
)

// card lists the causes that lie in how the card's memory is held, whatever runs on it.
var card = []hypothesis{
	{
		id: "fragmentation",
		evidence: []weighed{
			{proof, Fragmented},
			{2 * proof, mostlyHoles},
			{sign, engineHoles},
			{sign + hint, when("many such requests would fit into that in one piece", manyHoles)},
			{hint, func(in *Input) string {
				if in.Idle != nil && in.Shortfall != nil && UsualReserve(in) == "" && strings.Contains(in.Text, "avoid fragmentation") {
					return "PyTorch's message suggests it, as it always does"
				}
				return ""
			}},
		},
		excludes: []clue{
			NotFragmented,
			statesFollow,
			widerFollows,
			frames(12, "the outputs of all batches are joined, so each batch needs more", "nested_concat", "torch_pad_and_concatenate", "evalloopcontainer"),
			func(in *Input) string {
				key, v, ok := in.Setting("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF")
				if !ok || !strings.Contains(strings.ToLower(v), "expandable_segments:true") {
					return ""
				}
				return key + " already turns on expandable segments"
			},
		},
		figure: func(in *Input) (string, *int64) {
			if in.Idle == nil {
				return "fragmentation: the allocator's free memory is in pieces that are too small", nil
			}
			return "fragmentation: " + gib(in.Idle) + " is reserved but unused, in pieces that are too small" + in.lacked("; "), in.Idle
		},
	},
	{
		id:       "foreign_process",
		evidence: []weighed{{2 * proof, foreignHolder}, {2 * proof, ListedHolder}, {proof, outsideOfPyTorch}, {2 * proof, imageWorker}, {proof + sign, besidePool}, {2 * proof, freeFarBelow}, {3 * proof, UsedBefore}, {2 * proof, saw("the engine found less free memory on one card than on the others", "sglang.unbalanced")}, {sign + hint, poolRefused}, {2 * proof, tensorFlowBeside}, {proof, firstContext}, {proof, tensorFlowStarved}},
		excludes: []clue{ownFills, instancesBeside},
		figure: func(in *Input) (string, *int64) {
			switch {
			case imageWorker(in) != "":
				return "SGLang prepares images on this GPU, in processes of their own beside the engine's", nil
			case OlderProcess(in) != nil:
				p := OlderProcess(in)
				return UsedBefore(in), &p.Bytes
			case in.Others != nil:
				n := in.strangers()
				return fmt.Sprintf("other processes hold %s on this GPU%s%s", gib(n), in.holder(*n), PreparesImages(in)), n
			case UsedBefore(in) != "":
				return UsedBefore(in), &in.UsedBefore
			case in.LessThanDesired && in.Total != nil && in.Free != nil:
				n := *in.Total - *in.Free
				return fmt.Sprintf("%s of the GPU's %s was in use before the engine started", classifier.GiB(n), gib(in.Total)), &n
			}
			if tensorFlowBeside(in) != "" {
				return "TensorFlow in the same process reserved " + classifier.GiB(in.TensorFlowPool) + " of this GPU", &in.TensorFlowPool
			}
			if p := in.listedHolder(); p != nil {
				return fmt.Sprintf("process %d (%s) holds %s of this GPU, by nvidia-smi", p.PID, p.Name, classifier.GiB(p.Bytes)), &p.Bytes
			}
			if rest, whose := outside(in); rest > 0 {
				return fmt.Sprintf("%s of this GPU is neither free nor %s, which points to another process", classifier.GiB(rest), whose), &rest
			}
			return cmp.Or(besidePool(in), firstContext(in), tensorFlowStarved(in), "other processes hold memory on this GPU"), nil
		},
	},
	{
		id: "wrong_device",
		evidence: []weighed{
			{proof, both(when("nn.DataParallel gathers the outputs of all cards on the first", (*Input).gathersOutputs), (*Input).gpu)},
			{3 * proof, alike},
			{3 * proof, OtherRanksCard},
			{3 * proof, listedTwice},
			{3 * proof, ontoFirstCard},
			{4 * proof, AnotherWorker},
			{4 * proof, SpreadByEach},
			{proof + hint, both(LoadsCheckpoint, func(in *Input) bool { return readsCheckpoint(in) != "" })},
			{sign + 2*hint, both(LoadsCheckpoint, func(in *Input) bool { return readsCheckpoint(in) == "" && !in.simulates() })},
		},
		figure: func(in *Input) (string, *int64) {
			switch {
			case SpreadByEach(in) != "":
				return SpreadByEach(in), in.Others
			case AnotherWorker(in) != "":
				return AnotherWorker(in), in.Others
			case LoadsCheckpoint(in) == "" && OtherRanksCard(in) != "":
				return OtherRanksCard(in), in.Others
			case LoadsCheckpoint(in) == "":
			case listedTwice(in) != "", alike(in) != "", ontoFirstCard(in) != "":
				return "other ranks also loaded the checkpoint onto this GPU", nil
			default:
				return "the loaded checkpoint is still on this GPU, next to the model and its states", nil
			}
			if in.gathersOutputs() {
				return plain("nn.DataParallel gathers the outputs of all cards on the first")(in)
			}
			return plain("processes of other ranks also use this GPU")(in)
		},
	},
	{
		id: "nccl_no_margin",
		evidence: []weighed{
			{2 * proof, both(when("NCCL itself found no memory", func(in *Input) bool { return in.Kind == "nccl_oom" }), (*Input).gpu)},
			{hint, when("NCCL failed", func(in *Input) bool { return in.Kind == "nccl_failure" })},
			{sign, both(failedIn("it failed in a collective", "nccl"), (*Input).gpu)},
		},
		excludes: []clue{func(in *Input) string {
			if in.Free == nil || *in.Free <= 4<<30 {
				return ""
			}
			return gib(in.Free) + " was free, more than NCCL takes"
		}, when("/dev/shm was full, not the GPU", func(in *Input) bool { return in.Resource == "shm" })},
		figure: func(in *Input) (string, *int64) {
			if in.Requested != nil && *in.Requested < 1<<28 {
				left := "less than " + gib(in.Requested)
				if *in.Requested < 2<<20 { // CUDA gives no less
					left = "almost nothing"
				}
				return "NCCL allocates outside the framework's memory pool, and " + left + " was left", in.Requested
			}
			return "NCCL needs 0.7 to 1.5 GiB per group of ranks outside the framework's memory pool, and too little was left", nil
		},
	},
}

// readsCheckpoint reports that a checkpoint is loaded onto the card: torch.load puts every tensor back where it was saved.
func readsCheckpoint(in *Input) string {
	const near = 3
	call := func(f string) bool { return strings.Contains(f, "torch.load(") && !strings.Contains(f, "map_location") }
	if in.Phase == "optimizer" || in.passes(12, "_load_from_bytes", "distributed_c10d.py", "load_peft_weights") {
		return "" // its states come from host memory; or an object was received from another rank; or adapters, which are small
	}
	if slices.ContainsFunc(in.Stack[max(0, len(in.Stack)-near):], call) ||
		in.passes(12, "torch/serialization.py", "_cuda_deserialize", "default_restore_location", "optim/optimizer.py load_state_dict", "optim/optimizer.py __setstate__") {
		return "a checkpoint is read onto the card"
	}
	return ""
}

// LoadsCheckpoint reports that tensors loaded from a checkpoint may be what no longer fits on the card.
func LoadsCheckpoint(in *Input) string {
	if (listedTwice(in) != "" || alike(in) != "") && in.gpu() || ontoFirstCard(in) != "" {
		return readsCheckpoint(in)
	}
	if !in.gpu() || foreignHolder(in) != "" || ListedHolder(in) != "" || outsideOfPyTorch(in) != "" {
		return ""
	}
	if why := readsCheckpoint(in); why != "" {
		return why
	}
	return resumed(in)
}

// ontoFirstCard reports that one of several processes loads a checkpoint onto the first card but holds little of it. The
// memory missing from the message belongs to the other ranks, which load theirs onto the same card.
func ontoFirstCard(in *Input) string {
	if in.GPUs < 2 || in.Device == nil || *in.Device != 0 || in.Allocated == nil || in.Total == nil || *in.Allocated > *in.Total/2 || readsCheckpoint(in) == "" || outsideOfPyTorch(in) == "" && (in.Rank == nil || int64(*in.Rank)%in.GPUs == 0) {
		return ""
	}
	return fmt.Sprintf("%d processes read a checkpoint, this one onto card 0, of which it holds %s", in.GPUs, gib(in.Allocated))
}

// roundingError is the largest error of a size printed in GiB with two decimals.
const roundingError = 1 << 30 / 100

// missing returns how much memory the card lacked. Figures that print alike may still differ by their last decimal.
func (in *Input) missing() (int64, bool) {
	switch {
	case in.Shortfall != nil && *in.Shortfall > 0:
		return max(*in.Shortfall, roundingError), true
	case in.Requested != nil && in.Free != nil && *in.Free >= *in.Requested && *in.Free-*in.Requested <= roundingError:
		return roundingError, true
	}
	return 0, false
}

// shown prints what was missing as the headline does.
func (in *Input) shown(missing int64) string {
	if in.Shortfall != nil && *in.Shortfall > 0 {
		return gib(in.Shortfall)
	}
	return "at most " + classifier.GiB(missing)
}

// leastNeighbour is the most that CUDA contexts alone take.
const leastNeighbour = 1 << 30

// imageWorker reports that what failed on an SGLang server's card is the preparation of images, outside of the engine's share
// (srt/managers/multimodal_processors; transformers' fast processors work on the card).
func imageWorker(in *Input) string {
	if in.Framework != "sglang" || !in.passes(12, "image_processing_utils_fast.py") || in.on("disable_fast_image_processor") {
		return ""
	}
	return "a process of SGLang's that prepares images failed"
}

// PreparesImages reports what else is on the first card of an SGLang server that failed in a vision tower, if nvidia-smi does not name
// others: its main process resizes the images of all requests there.
func PreparesImages(in *Input) string {
	const context = 1 << 30
	if imageWorker(in) != "" {
		return "; " + imageWorker(in)
	}
	if in.Framework != "sglang" || !in.EngineFailed || in.Others == nil || *in.Others < context || in.Device == nil || *in.Device != 0 || in.listedHolder() != nil ||
		!in.passes(40, "get_image_feature", "general_mm_embed_routine") || in.on("disable_fast_image_processor") {
		return ""
	}
	return "; SGLang's main process prepares images there"
}

// gathersOutputs reports whether nn.DataParallel works with several cards. With one it calls the module itself
// (torch/nn/parallel/data_parallel.py).
func (in *Input) gathersOutputs() bool {
	const frames = 60
	return in.passes(frames, "nn/parallel/scatter_gather.py", "nn/parallel/data_parallel.py", "nn\\parallel\\data_parallel.py") && !in.passes(frames, "return self.module(*inputs[0]")
}

// outside returns how much of the card is neither the failed process's nor free, where that is much and the message does not name its
// owner. Without the process's own figure it counts what PyTorch holds. Where GPU and host share their memory, the host holds the rest.
func outside(in *Input) (rest int64, whose string) {
	missing, ok := in.missing()
	if !ok || in.Others != nil || in.Total == nil || in.Free == nil || in.Allocated == nil || in.Idle == nil || in.SharesCard || memory.Unified(*in.Total) != "" {
		return 0, ""
	}
	rest, whose = *in.Total-*in.Free-*in.Allocated-*in.Idle, "PyTorch's"
	if in.Process != nil && *in.Process >= *in.Allocated { // others are there that a container does not see
		rest, whose = *in.Total-*in.Free-*in.Process, "this process's"
	}
	if rest < missing || rest < max(4<<30, *in.Total/10) {
		return 0, ""
	}
	return rest, whose
}

// Simulators are parts of the paths of trainers that simulate environments in the same process, whose simulator takes memory of the card, or
// in processes of their own (Isaac Gym and Isaac Lab with rsl_rl, rl_games or skrl; Habitat; ManiSkill).
var Simulators = []string{"/rsl_rl/", "/rl_games/", "/skrl/", "isaacgym", "isaaclab", "legged_gym", "/habitat", "mani_skill", "maniskill"}

func (in *Input) simulates() bool { return in.passes(len(in.Stack), Simulators...) }

// outsideOfPyTorch is [outside] in words. A simulator in the failed process may hold it.
func outsideOfPyTorch(in *Input) string {
	rest, whose := outside(in)
	if rest == 0 || in.Process == nil && in.simulates() {
		return ""
	}
	return fmt.Sprintf("%s of the card is neither free nor %s", classifier.GiB(rest), whose)
}

// freeFarBelow reports that an engine found much of the card taken before it started.
func freeFarBelow(in *Input) string {
	if !in.LessThanDesired || in.Free == nil || in.Total == nil || in.SharesCard || *in.Free > *in.Total*9/10 {
		return ""
	}
	return fmt.Sprintf("only %s of %s was free when the engine started", gib(in.Free), gib(in.Total))
}

// UsedBefore reports that much of a card was in use before its worker held any of it, which a context does not explain.
func UsedBefore(in *Input) string {
	const much = 8 << 30
	if p := OlderProcess(in); p != nil {
		return fmt.Sprintf("process %d holds %s of this GPU, and only %s was free when this run's engine started: it is another run's, perhaps one that was interrupted", p.PID, classifier.GiB(p.Bytes), classifier.GiB(in.EngineFound))
	}
	if !in.gpu() || in.UsedBefore < much {
		return ""
	}
	return classifier.GiB(in.UsedBefore) + " of the GPU was in use before this run put anything on it: another process, perhaps of an earlier run, holds that"
}

// OlderProcess returns a process that PyTorch's message lists with more memory than an engine of the run found on any card when it started:
// it cannot be that engine. Where the failed process is a trainer that has not started yet, nothing else of the run was there before.
func OlderProcess(in *Input) *Listed {
	if !in.gpu() || in.Phase != "init" || in.EngineFailed || in.EngineFound <= 0 || in.Total == nil || *in.Total-in.EngineFound < leastNeighbour {
		return nil
	}
	list := in.named()
	i := slices.IndexFunc(list, func(p Listed) bool {
		return p.Bytes > max(leastNeighbour, in.EngineFound+roundingError) && !in.isOwn(p.Bytes)
	})
	if i < 0 {
		return nil
	}
	return &list[i]
}

// otherCard is a device that is not the first.
var otherCard = lazyre.New(`^['"]?cuda:[1-9]\d{0,2}['"]?$`)

// firstContext reports that a process could not even create its context: nothing on the card is its own. The allocator's own failures
// have figures, so one without them that moves a tensor to the card is the context's.
func firstContext(in *Input) string {
	if in.Kind != string(parser.GPUDriverOOM) || !in.gpu() {
		return ""
	}
	calls := []string{"torch/cuda/__init__.py set_device", "torch/cuda/__init__.py _lazy_init"}
	if in.GPUs > 1 {
		calls = calls[:1] // ranks that choose no card fill the first
	} else if key, v, ok := in.Setting("device"); ok && in.passes(1, "torch/cuda/streams.py __new__") && otherCard().MatchString(v) {
		return fmt.Sprintf("%s is %s, but a stream is made on GPU 0 unless the code sets the device, and it had no room", key, v)
	}
	moves := in.GPUs <= 1 && in.passes(1, "t.cuda(", "t.to(", "model.cuda(", "model.to(")
	if in.Phase != "init" || !moves && !in.passes(2, calls...) {
		return ""
	}
	return "the card was full before this process had anything on it"
}

// ownFills reports that the failed process itself fills the card.
func ownFills(in *Input) string {
	if in.Process == nil || in.Total == nil || *in.Process < *in.Total*9/10 || tensorFlowBeside(in) != "" {
		return ""
	}
	return fmt.Sprintf("the failed process itself holds %s of %s", gib(in.Process), gib(in.Total))
}

// statesFollow says that what comes next does not fit either: DeepSpeed copies a rank's part of the weights in 32 bits first, and the
// optimizer has two states of that size (runtime/zero/stage_1_and_2.py, initialize_optimizer_states).
func statesFollow(in *Input) string {
	if deepSpeedCopies(in) == "" || in.Allocated == nil || in.Requested == nil || in.Total == nil || *in.Allocated+3**in.Requested <= *in.Total {
		return ""
	}
	return "Adam's two states, of " + gib(in.Requested) + " each, come next and do not fit either"
}

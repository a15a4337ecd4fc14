package memory

import "slices"

// Model holds the sizes of a language model. Zero means that a size is not known.
type Model struct {
	Name         string // as its publisher writes it, without suffixes of variants: "Qwen2.5-7B"
	Parameters   int64
	Vocab        int64 // rows of the embedding, padded as the publisher pads it
	Hidden       int64
	Layers       int64
	Heads        int64 // of queries
	KVHeads      int64
	HeadDim      int64 // Hidden / Heads when zero
	Intermediate int64 // of the dense feed-forward layers
	Tied         bool  // head and embedding are one tensor
	// Apart says that the sizes above do not add up to Parameters: experts, a vision tower, layers of other kinds.
	Apart bool

	// Published is the size of a checkpoint that is published quantized, in bytes and rounded; zero for weights in 16 bits.
	Published int64

	// What the published sizes of a plain decoder leave open. Zero and false hold for Llama and its relatives.
	Ungated   bool  // the feed-forward part has two matrices, not three: GPT-2, squared ReLU
	Biases    bool  // every matrix of a layer has a bias, and norms do
	QKNorm    bool  // queries and keys are normalized head by head
	Positions int64 // learned positions

	// Mixtures of experts. No experts in a model that is not Apart means that it is dense.
	Experts            int64 // routed, of a layer
	ExpertsPerToken    int64
	ExpertIntermediate int64
	SharedIntermediate int64 // of all shared experts together
	DenseLayers        int64 // the first layers, without experts
	MTPLayers          int64 // layers that predict further tokens

	// Latent attention (DeepSeek). KVLora says that the model has it.
	QLora, KVLora, RopeDim, NopeDim, ValueDim int64
}

// models are the sizes of well-known open models, as the config.json of their repository on huggingface.co states them;
// the publisher's organization is in the comments. Parameters are the element counts of their safetensors. The tests
// add the parts of every plain model up.
var models = []Model{
	// Qwen. The 2.5 sizes also hold for Coder and Math.
	{Name: "Qwen-1_8B", Parameters: 1_836_828_672, Vocab: 151936, Hidden: 2048, Layers: 24, Heads: 16, KVHeads: 16, Intermediate: 5504},
	{Name: "Qwen-7B", Parameters: 7_721_324_544, Vocab: 151936, Hidden: 4096, Layers: 32, Heads: 32, KVHeads: 32, Intermediate: 11008},
	{Name: "Qwen-14B", Parameters: 14_167_290_880, Vocab: 152064, Hidden: 5120, Layers: 40, Heads: 40, KVHeads: 40, Intermediate: 13696},
	{Name: "Qwen-72B", Parameters: 72_287_920_128, Vocab: 152064, Hidden: 8192, Layers: 80, Heads: 64, KVHeads: 64, Intermediate: 24576},
	{Name: "Qwen1.5-0.5B", Parameters: 463_987_712, Vocab: 151936, Hidden: 1024, Layers: 24, Heads: 16, KVHeads: 16, Intermediate: 2816, Tied: true},
	{Name: "Qwen1.5-1.8B", Parameters: 1_836_828_672, Vocab: 151936, Hidden: 2048, Layers: 24, Heads: 16, KVHeads: 16, Intermediate: 5504},
	{Name: "Qwen1.5-4B", Parameters: 3_950_369_280, Vocab: 151936, Hidden: 2560, Layers: 40, Heads: 20, KVHeads: 20, Intermediate: 6912},
	{Name: "Qwen1.5-7B", Parameters: 7_721_324_544, Vocab: 151936, Hidden: 4096, Layers: 32, Heads: 32, KVHeads: 32, Intermediate: 11008},
	{Name: "Qwen1.5-14B", Parameters: 14_167_290_880, Vocab: 152064, Hidden: 5120, Layers: 40, Heads: 40, KVHeads: 40, Intermediate: 13696},
	{Name: "Qwen1.5-32B", Parameters: 32_512_218_112, Vocab: 152064, Hidden: 5120, Layers: 64, Heads: 40, KVHeads: 8, Intermediate: 27392},
	{Name: "Qwen1.5-72B", Parameters: 72_287_920_128, Vocab: 152064, Hidden: 8192, Layers: 80, Heads: 64, KVHeads: 64, Intermediate: 24576},
	{Name: "Qwen1.5-110B", Parameters: 111_209_914_368, Vocab: 152064, Hidden: 8192, Layers: 80, Heads: 64, KVHeads: 8, Intermediate: 49152},
	{Name: "CodeQwen1.5-7B", Parameters: 7_250_284_544, Vocab: 92416, Hidden: 4096, Layers: 32, Heads: 32, KVHeads: 4, Intermediate: 13440},
	{Name: "Qwen2-0.5B", Parameters: 494_032_768, Vocab: 151936, Hidden: 896, Layers: 24, Heads: 14, KVHeads: 2, Intermediate: 4864, Tied: true},
	{Name: "Qwen2-1.5B", Parameters: 1_543_714_304, Vocab: 151936, Hidden: 1536, Layers: 28, Heads: 12, KVHeads: 2, Intermediate: 8960, Tied: true},
	{Name: "Qwen2-7B", Parameters: 7_615_616_512, Vocab: 152064, Hidden: 3584, Layers: 28, Heads: 28, KVHeads: 4, Intermediate: 18944},
	{Name: "Qwen2-72B", Parameters: 72_706_203_648, Vocab: 152064, Hidden: 8192, Layers: 80, Heads: 64, KVHeads: 8, Intermediate: 29568},
	{Name: "Qwen2-VL-2B", Parameters: 2_208_985_600, Vocab: 151936, Hidden: 1536, Layers: 28, Heads: 12, KVHeads: 2, Intermediate: 8960, Tied: true, Apart: true},
	{Name: "Qwen2-VL-7B", Parameters: 8_291_375_616, Vocab: 152064, Hidden: 3584, Layers: 28, Heads: 28, KVHeads: 4, Intermediate: 18944, Apart: true},
	{Name: "Qwen2-VL-72B", Parameters: 73_405_560_320, Vocab: 152064, Hidden: 8192, Layers: 80, Heads: 64, KVHeads: 8, Intermediate: 29568, Apart: true},
	{Name: "Qwen2.5-0.5B", Parameters: 494_032_768, Vocab: 151936, Hidden: 896, Layers: 24, Heads: 14, KVHeads: 2, Intermediate: 4864, Tied: true},
	{Name: "Qwen2.5-1.5B", Parameters: 1_543_714_304, Vocab: 151936, Hidden: 1536, Layers: 28, Heads: 12, KVHeads: 2, Intermediate: 8960, Tied: true},
	{Name: "Qwen2.5-3B", Parameters: 3_085_938_688, Vocab: 151936, Hidden: 2048, Layers: 36, Heads: 16, KVHeads: 2, Intermediate: 11008, Tied: true},
	{Name: "Qwen2.5-7B", Parameters: 7_615_616_512, Vocab: 152064, Hidden: 3584, Layers: 28, Heads: 28, KVHeads: 4, Intermediate: 18944},
	{Name: "Qwen2.5-14B", Parameters: 14_770_033_664, Vocab: 152064, Hidden: 5120, Layers: 48, Heads: 40, KVHeads: 8, Intermediate: 13824},
	{Name: "Qwen2.5-32B", Parameters: 32_763_876_352, Vocab: 152064, Hidden: 5120, Layers: 64, Heads: 40, KVHeads: 8, Intermediate: 27648},
	{Name: "Qwen2.5-72B", Parameters: 72_706_203_648, Vocab: 152064, Hidden: 8192, Layers: 80, Heads: 64, KVHeads: 8, Intermediate: 29568},
	{Name: "Qwen2.5-VL-3B", Parameters: 3_754_622_976, Vocab: 151936, Hidden: 2048, Layers: 36, Heads: 16, KVHeads: 2, Intermediate: 11008, Tied: true, Apart: true},
	{Name: "Qwen2.5-VL-7B", Parameters: 8_292_166_656, Vocab: 152064, Hidden: 3584, Layers: 28, Heads: 28, KVHeads: 4, Intermediate: 18944, Apart: true},
	{Name: "Qwen2.5-VL-32B", Parameters: 33_452_718_336, Vocab: 152064, Hidden: 5120, Layers: 64, Heads: 40, KVHeads: 8, Intermediate: 27648, Apart: true},
	{Name: "Qwen2.5-VL-72B", Parameters: 73_410_777_344, Vocab: 152064, Hidden: 8192, Layers: 80, Heads: 64, KVHeads: 8, Intermediate: 29568, Apart: true},
	{Name: "QwQ-32B", Parameters: 32_763_876_352, Vocab: 152064, Hidden: 5120, Layers: 64, Heads: 40, KVHeads: 8, Intermediate: 27648},
	{Name: "Qwen3-0.6B", Parameters: 596_049_920, Vocab: 151936, Hidden: 1024, Layers: 28, Heads: 16, KVHeads: 8, HeadDim: 128, Intermediate: 3072, Tied: true, QKNorm: true},
	{Name: "Qwen3-1.7B", Parameters: 1_720_574_976, Vocab: 151936, Hidden: 2048, Layers: 28, Heads: 16, KVHeads: 8, HeadDim: 128, Intermediate: 6144, Tied: true, QKNorm: true},
	{Name: "Qwen3-4B", Parameters: 4_022_468_096, Vocab: 151936, Hidden: 2560, Layers: 36, Heads: 32, KVHeads: 8, HeadDim: 128, Intermediate: 9728, Tied: true, QKNorm: true},
	{Name: "Qwen3-8B", Parameters: 8_190_735_360, Vocab: 151936, Hidden: 4096, Layers: 36, Heads: 32, KVHeads: 8, HeadDim: 128, Intermediate: 12288, QKNorm: true},
	{Name: "Qwen3-14B", Parameters: 14_768_307_200, Vocab: 151936, Hidden: 5120, Layers: 40, Heads: 40, KVHeads: 8, HeadDim: 128, Intermediate: 17408, QKNorm: true},
	{Name: "Qwen3-32B", Parameters: 32_762_123_264, Vocab: 151936, Hidden: 5120, Layers: 64, Heads: 64, KVHeads: 8, HeadDim: 128, Intermediate: 25600, QKNorm: true},
	{Name: "Qwen3-30B-A3B", Parameters: 30_532_122_624, Vocab: 151936, Hidden: 2048, Layers: 48, Heads: 32, KVHeads: 4, HeadDim: 128, Apart: true, QKNorm: true, Experts: 128, ExpertsPerToken: 8, ExpertIntermediate: 768},
	{Name: "Qwen3-Coder-30B-A3B", Parameters: 30_532_122_624, Vocab: 151936, Hidden: 2048, Layers: 48, Heads: 32, KVHeads: 4, HeadDim: 128, Apart: true, QKNorm: true, Experts: 128, ExpertsPerToken: 8, ExpertIntermediate: 768},
	{Name: "Qwen3-235B-A22B", Parameters: 235_093_634_560, Vocab: 151936, Hidden: 4096, Layers: 94, Heads: 64, KVHeads: 4, HeadDim: 128, Apart: true, QKNorm: true, Experts: 128, ExpertsPerToken: 8, ExpertIntermediate: 1536},
	{Name: "Qwen3-VL-2B", Vocab: 151936, Hidden: 2048, Layers: 28, Heads: 16, KVHeads: 8, HeadDim: 128, Intermediate: 6144, Tied: true, QKNorm: true, Apart: true},
	{Name: "Qwen3-VL-4B", Vocab: 151936, Hidden: 2560, Layers: 36, Heads: 32, KVHeads: 8, HeadDim: 128, Intermediate: 9728, Tied: true, QKNorm: true, Apart: true},
	{Name: "Qwen3-VL-8B", Vocab: 151936, Hidden: 4096, Layers: 36, Heads: 32, KVHeads: 8, HeadDim: 128, Intermediate: 12288, QKNorm: true, Apart: true},
	{Name: "Qwen3-VL-32B", Vocab: 151936, Hidden: 5120, Layers: 64, Heads: 64, KVHeads: 8, HeadDim: 128, Intermediate: 25600, QKNorm: true, Apart: true},
	{Name: "Qwen3-VL-30B-A3B", Vocab: 151936, Hidden: 2048, Layers: 48, Heads: 32, KVHeads: 4, HeadDim: 128, Apart: true, QKNorm: true, Experts: 128, ExpertsPerToken: 8, ExpertIntermediate: 768},
	{Name: "Qwen3-VL-235B-A22B", Vocab: 151936, Hidden: 4096, Layers: 94, Heads: 64, KVHeads: 4, HeadDim: 128, Apart: true, QKNorm: true, Experts: 128, ExpertsPerToken: 8, ExpertIntermediate: 1536},
	{Name: "Qwen3.5-27B", Vocab: 248320, Hidden: 5120, Layers: 64, Heads: 24, KVHeads: 4, HeadDim: 256, Intermediate: 17408, Apart: true},
	// Meta (meta-llama), and deepseek-ai's distillations of it.
	{Name: "llama-7b", Parameters: 6_738_415_616, Vocab: 32000, Hidden: 4096, Layers: 32, Heads: 32, KVHeads: 32, Intermediate: 11008},
	{Name: "llama-13b", Parameters: 13_015_864_320, Vocab: 32000, Hidden: 5120, Layers: 40, Heads: 40, KVHeads: 40, Intermediate: 13824},
	{Name: "llama-30b", Parameters: 32_528_943_616, Vocab: 32000, Hidden: 6656, Layers: 60, Heads: 52, KVHeads: 52, Intermediate: 17920},
	{Name: "llama-65b", Parameters: 65_285_660_672, Vocab: 32000, Hidden: 8192, Layers: 80, Heads: 64, KVHeads: 64, Intermediate: 22016},
	{Name: "CodeLlama-7b", Parameters: 6_738_546_688, Vocab: 32016, Hidden: 4096, Layers: 32, Heads: 32, KVHeads: 32, Intermediate: 11008},
	{Name: "CodeLlama-13b", Parameters: 13_016_028_160, Vocab: 32016, Hidden: 5120, Layers: 40, Heads: 40, KVHeads: 40, Intermediate: 13824},
	{Name: "CodeLlama-34b", Parameters: 33_743_970_304, Vocab: 32000, Hidden: 8192, Layers: 48, Heads: 64, KVHeads: 8, Intermediate: 22016},
	{Name: "open_llama_3b", Parameters: 3_426_473_600, Vocab: 32000, Hidden: 3200, Layers: 26, Heads: 32, KVHeads: 32, Intermediate: 8640},
	{Name: "TinyLlama-1.1B", Parameters: 1_100_048_384, Vocab: 32000, Hidden: 2048, Layers: 22, Heads: 32, KVHeads: 4, Intermediate: 5632},
	{Name: "Llama-2-7b", Parameters: 6_738_415_616, Vocab: 32000, Hidden: 4096, Layers: 32, Heads: 32, KVHeads: 32, Intermediate: 11008},
	{Name: "Llama-2-13b", Parameters: 13_015_864_320, Vocab: 32000, Hidden: 5120, Layers: 40, Heads: 40, KVHeads: 40, Intermediate: 13824},
	{Name: "Llama-2-70b", Parameters: 68_976_648_192, Vocab: 32000, Hidden: 8192, Layers: 80, Heads: 64, KVHeads: 8, Intermediate: 28672},
	{Name: "Llama-3-8B", Parameters: 8_030_261_248, Vocab: 128256, Hidden: 4096, Layers: 32, Heads: 32, KVHeads: 8, Intermediate: 14336},
	{Name: "Llama-3-70B", Parameters: 70_553_706_496, Vocab: 128256, Hidden: 8192, Layers: 80, Heads: 64, KVHeads: 8, Intermediate: 28672},
	{Name: "Llama-3.1-8B", Parameters: 8_030_261_248, Vocab: 128256, Hidden: 4096, Layers: 32, Heads: 32, KVHeads: 8, Intermediate: 14336},
	{Name: "Llama-3.1-70B", Parameters: 70_553_706_496, Vocab: 128256, Hidden: 8192, Layers: 80, Heads: 64, KVHeads: 8, Intermediate: 28672},
	{Name: "Llama-3.1-405B", Parameters: 405_853_388_800, Vocab: 128256, Hidden: 16384, Layers: 126, Heads: 128, KVHeads: 8, Intermediate: 53248},
	{Name: "Llama-3.2-1B", Parameters: 1_235_814_400, Vocab: 128256, Hidden: 2048, Layers: 16, Heads: 32, KVHeads: 8, HeadDim: 64, Intermediate: 8192, Tied: true},
	{Name: "Llama-3.2-3B", Parameters: 3_212_749_824, Vocab: 128256, Hidden: 3072, Layers: 28, Heads: 24, KVHeads: 8, HeadDim: 128, Intermediate: 8192, Tied: true},
	{Name: "Llama-3.3-70B", Parameters: 70_553_706_496, Vocab: 128256, Hidden: 8192, Layers: 80, Heads: 64, KVHeads: 8, Intermediate: 28672},
	// DeepSeek (deepseek-ai). Distilled models have their bases' sizes; the smallest has its own head.
	{Name: "DeepSeek-R1-Distill-Qwen-1.5B", Parameters: 1_777_088_000, Vocab: 151936, Hidden: 1536, Layers: 28, Heads: 12, KVHeads: 2, Intermediate: 8960},
	{Name: "DeepSeek-R1-Distill-Qwen-7B", Parameters: 7_615_616_512, Vocab: 152064, Hidden: 3584, Layers: 28, Heads: 28, KVHeads: 4, Intermediate: 18944},
	{Name: "DeepSeek-R1-Distill-Qwen-14B", Parameters: 14_770_033_664, Vocab: 152064, Hidden: 5120, Layers: 48, Heads: 40, KVHeads: 8, Intermediate: 13824},
	{Name: "DeepSeek-R1-Distill-Qwen-32B", Parameters: 32_763_876_352, Vocab: 152064, Hidden: 5120, Layers: 64, Heads: 40, KVHeads: 8, Intermediate: 27648},
	{Name: "DeepSeek-R1-Distill-Llama-8B", Parameters: 8_030_261_248, Vocab: 128256, Hidden: 4096, Layers: 32, Heads: 32, KVHeads: 8, Intermediate: 14336},
	{Name: "DeepSeek-R1-Distill-Llama-70B", Parameters: 70_553_706_496, Vocab: 128256, Hidden: 8192, Layers: 80, Heads: 64, KVHeads: 8, Intermediate: 28672},
	{Name: "DeepSeek-LLM-7B", Parameters: 6_910_365_696, Vocab: 102400, Hidden: 4096, Layers: 30, Heads: 32, KVHeads: 32, Intermediate: 11008},
	{Name: "DeepSeek-LLM-67B", Parameters: 67_424_542_720, Vocab: 102400, Hidden: 8192, Layers: 95, Heads: 64, KVHeads: 8, Intermediate: 22016},
	{Name: "DeepSeek-Coder-1.3B", Parameters: 1_346_471_936, Vocab: 32256, Hidden: 2048, Layers: 24, Heads: 16, KVHeads: 16, Intermediate: 5504},
	{Name: "DeepSeek-Coder-6.7B", Parameters: 6_740_512_768, Vocab: 32256, Hidden: 4096, Layers: 32, Heads: 32, KVHeads: 32, Intermediate: 11008},
	{Name: "DeepSeek-Coder-33B", Parameters: 33_342_991_360, Vocab: 32256, Hidden: 7168, Layers: 62, Heads: 56, KVHeads: 8, Intermediate: 19200},
	{Name: "DeepSeek-V2-Lite", Parameters: 15_706_484_224, Vocab: 102400, Hidden: 2048, Layers: 27, Heads: 16, KVHeads: 16, Intermediate: 10944, Apart: true, Experts: 64, ExpertsPerToken: 6, ExpertIntermediate: 1408, SharedIntermediate: 2816, DenseLayers: 1, KVLora: 512, RopeDim: 64, NopeDim: 128, ValueDim: 128},
	{Name: "DeepSeek-V3", Vocab: 129280, Hidden: 7168, Layers: 61, Heads: 128, KVHeads: 128, Intermediate: 18432, Apart: true, Experts: 256, ExpertsPerToken: 8, ExpertIntermediate: 2048, SharedIntermediate: 2048, DenseLayers: 3, QLora: 1536, KVLora: 512, RopeDim: 64, NopeDim: 128, ValueDim: 128},
	{Name: "DeepSeek-R1", Vocab: 129280, Hidden: 7168, Layers: 61, Heads: 128, KVHeads: 128, Intermediate: 18432, Apart: true, Experts: 256, ExpertsPerToken: 8, ExpertIntermediate: 2048, SharedIntermediate: 2048, DenseLayers: 3, QLora: 1536, KVLora: 512, RopeDim: 64, NopeDim: 128, ValueDim: 128},
	// Mistral AI (mistralai).
	{Name: "Mistral-7B", Parameters: 7_241_732_096, Vocab: 32000, Hidden: 4096, Layers: 32, Heads: 32, KVHeads: 8, Intermediate: 14336},
	{Name: "Mistral-7B-v0.1", Parameters: 7_241_732_096, Vocab: 32000, Hidden: 4096, Layers: 32, Heads: 32, KVHeads: 8, Intermediate: 14336},
	{Name: "Mistral-7B-Instruct-v0.1", Parameters: 7_241_732_096, Vocab: 32000, Hidden: 4096, Layers: 32, Heads: 32, KVHeads: 8, Intermediate: 14336},
	{Name: "Mistral-7B-Instruct-v0.2", Parameters: 7_241_732_096, Vocab: 32000, Hidden: 4096, Layers: 32, Heads: 32, KVHeads: 8, Intermediate: 14336},
	{Name: "Mistral-7B-v0.3", Parameters: 7_248_023_552, Vocab: 32768, Hidden: 4096, Layers: 32, Heads: 32, KVHeads: 8, Intermediate: 14336},
	{Name: "Mistral-7B-Instruct-v0.3", Parameters: 7_248_023_552, Vocab: 32768, Hidden: 4096, Layers: 32, Heads: 32, KVHeads: 8, Intermediate: 14336},
	{Name: "Ministral-8B", Parameters: 8_019_808_256, Vocab: 131072, Hidden: 4096, Layers: 36, Heads: 32, KVHeads: 8, Intermediate: 12288},
	{Name: "Mistral-Nemo-Instruct-2407", Parameters: 12_247_782_400, Vocab: 131072, Hidden: 5120, Layers: 40, Heads: 32, KVHeads: 8, HeadDim: 128, Intermediate: 14336},
	{Name: "Mixtral-8x7B", Parameters: 46_702_792_704, Vocab: 32000, Hidden: 4096, Layers: 32, Heads: 32, KVHeads: 8, Apart: true, Experts: 8, ExpertsPerToken: 2, ExpertIntermediate: 14336},
	{Name: "Mixtral-8x22B", Parameters: 140_630_071_296, Vocab: 32768, Hidden: 6144, Layers: 56, Heads: 48, KVHeads: 8, Apart: true, Experts: 8, ExpertsPerToken: 2, ExpertIntermediate: 16384},
	{Name: "Mistral-Small-24B", Parameters: 23_572_403_200, Vocab: 131072, Hidden: 5120, Layers: 40, Heads: 32, KVHeads: 8, HeadDim: 128, Intermediate: 32768},
	{Name: "Codestral-22B", Parameters: 22_247_282_688, Vocab: 32768, Hidden: 6144, Layers: 56, Heads: 48, KVHeads: 8, Intermediate: 16384},
	{Name: "Mistral-Large-Instruct-2407", Parameters: 122_610_069_504, Vocab: 32768, Hidden: 12288, Layers: 88, Heads: 96, KVHeads: 8, HeadDim: 128, Intermediate: 28672},
	{Name: "SOLAR-10.7B", Parameters: 10_731_524_096, Vocab: 32000, Hidden: 4096, Layers: 48, Heads: 32, KVHeads: 8, Intermediate: 14336},
	// Hugging Face (HuggingFaceTB), 01.AI (01-ai), Shanghai AI Laboratory (internlm).
	{Name: "SmolLM2-135M", Parameters: 134_515_008, Vocab: 49152, Hidden: 576, Layers: 30, Heads: 9, KVHeads: 3, Intermediate: 1536, Tied: true},
	{Name: "SmolLM2-360M", Parameters: 361_821_120, Vocab: 49152, Hidden: 960, Layers: 32, Heads: 15, KVHeads: 5, Intermediate: 2560, Tied: true},
	{Name: "SmolLM2-1.7B", Parameters: 1_711_376_384, Vocab: 49152, Hidden: 2048, Layers: 24, Heads: 32, KVHeads: 32, Intermediate: 8192, Tied: true},
	{Name: "SmolLM3-3B", Parameters: 3_075_098_624, Vocab: 128256, Hidden: 2048, Layers: 36, Heads: 16, KVHeads: 4, Intermediate: 11008, Tied: true},
	{Name: "Yi-6B", Parameters: 6_061_035_520, Vocab: 64000, Hidden: 4096, Layers: 32, Heads: 32, KVHeads: 4, Intermediate: 11008},
	{Name: "Yi-9B", Parameters: 8_829_407_232, Vocab: 64000, Hidden: 4096, Layers: 48, Heads: 32, KVHeads: 4, Intermediate: 11008},
	{Name: "Yi-34B", Parameters: 34_388_917_248, Vocab: 64000, Hidden: 7168, Layers: 60, Heads: 56, KVHeads: 8, Intermediate: 20480},
	{Name: "internlm-7b", Parameters: 7_321_493_504, Vocab: 103168, Hidden: 4096, Layers: 32, Heads: 32, KVHeads: 32, Intermediate: 11008},
	{Name: "internlm2-1_8b", Parameters: 1_889_110_016, Vocab: 92544, Hidden: 2048, Layers: 24, Heads: 16, KVHeads: 8, Intermediate: 8192},
	{Name: "internlm2-7b", Parameters: 7_737_708_544, Vocab: 92544, Hidden: 4096, Layers: 32, Heads: 32, KVHeads: 8, Intermediate: 14336},
	{Name: "internlm2-20b", Parameters: 19_861_149_696, Vocab: 92544, Hidden: 6144, Layers: 48, Heads: 48, KVHeads: 8, Intermediate: 16384},
	{Name: "internlm2_5-7b", Parameters: 7_737_708_544, Vocab: 92544, Hidden: 4096, Layers: 32, Heads: 32, KVHeads: 8, Intermediate: 14336},
	{Name: "internlm3-8b", Parameters: 8_804_241_408, Vocab: 128512, Hidden: 4096, Layers: 48, Heads: 32, KVHeads: 2, Intermediate: 10240},
	// Google (google).
	{Name: "gemma-2b", Parameters: 2_506_172_416, Vocab: 256000, Hidden: 2048, Layers: 18, Heads: 8, KVHeads: 1, HeadDim: 256, Intermediate: 16384, Tied: true},
	{Name: "gemma-7b", Parameters: 8_537_680_896, Vocab: 256000, Hidden: 3072, Layers: 28, Heads: 16, KVHeads: 16, HeadDim: 256, Intermediate: 24576, Tied: true},
	{Name: "gemma-2-2b", Parameters: 2_614_341_888, Vocab: 256000, Hidden: 2304, Layers: 26, Heads: 8, KVHeads: 4, HeadDim: 256, Intermediate: 9216, Tied: true},
	{Name: "gemma-2-9b", Parameters: 9_241_705_984, Vocab: 256000, Hidden: 3584, Layers: 42, Heads: 16, KVHeads: 8, HeadDim: 256, Intermediate: 14336, Tied: true},
	{Name: "gemma-2-27b", Parameters: 27_227_128_320, Vocab: 256000, Hidden: 4608, Layers: 46, Heads: 32, KVHeads: 16, HeadDim: 128, Intermediate: 36864, Tied: true},
	{Name: "gemma-3-270m", Parameters: 268_098_176, Vocab: 262144, Hidden: 640, Layers: 18, Heads: 4, KVHeads: 1, HeadDim: 256, Intermediate: 2048, Tied: true},
	{Name: "gemma-3-1b", Parameters: 999_885_952, Vocab: 262144, Hidden: 1152, Layers: 26, Heads: 4, KVHeads: 1, HeadDim: 256, Intermediate: 6912, Tied: true},
	{Name: "gemma-3-4b", Vocab: 262208, Hidden: 2560, Layers: 34, Heads: 8, KVHeads: 4, HeadDim: 256, Intermediate: 10240, Tied: true, Apart: true},
	{Name: "gemma-3-12b", Vocab: 262208, Hidden: 3840, Layers: 48, Heads: 16, KVHeads: 8, HeadDim: 256, Intermediate: 15360, Tied: true, Apart: true},
	{Name: "gemma-3-27b", Vocab: 262208, Hidden: 5376, Layers: 62, Heads: 32, KVHeads: 16, HeadDim: 128, Intermediate: 21504, Tied: true, Apart: true},
	// Z.ai, formerly THUDM (zai-org).
	{Name: "chatglm-6b", Parameters: 6_173_286_400, Vocab: 130528, Hidden: 4096, Layers: 28, Heads: 32, KVHeads: 32, Intermediate: 16384, Tied: true, Ungated: true, Biases: true},
	{Name: "chatglm2-6b", Parameters: 6_243_584_032, Vocab: 65024, Hidden: 4096, Layers: 28, Heads: 32, KVHeads: 2, HeadDim: 128, Intermediate: 13696},
	{Name: "chatglm3-6b", Parameters: 6_243_584_032, Vocab: 65024, Hidden: 4096, Layers: 28, Heads: 32, KVHeads: 2, HeadDim: 128, Intermediate: 13696},
	{Name: "glm-4-9b", Parameters: 9_399_951_392, Vocab: 151552, Hidden: 4096, Layers: 40, Heads: 32, KVHeads: 2, HeadDim: 128, Intermediate: 13696},
	{Name: "GLM-4-9B-0414", Parameters: 9_400_279_040, Vocab: 151552, Hidden: 4096, Layers: 40, Heads: 32, KVHeads: 2, HeadDim: 128, Intermediate: 13696},
	{Name: "GLM-Z1-9B-0414", Parameters: 9_400_279_040, Vocab: 151552, Hidden: 4096, Layers: 40, Heads: 32, KVHeads: 2, HeadDim: 128, Intermediate: 13696},
	{Name: "GLM-4-32B-0414", Vocab: 151552, Hidden: 6144, Layers: 61, Heads: 48, KVHeads: 2, HeadDim: 128, Intermediate: 23040, Apart: true},
	{Name: "GLM-4.5-Air", Vocab: 151552, Hidden: 4096, Layers: 46, Heads: 96, KVHeads: 8, HeadDim: 128, Intermediate: 10944, Apart: true},
	// Microsoft (microsoft), OpenAI (openai, openai-community).
	{Name: "gpt2", Parameters: 124_439_808, Vocab: 50257, Hidden: 768, Layers: 12, Heads: 12, KVHeads: 12, Intermediate: 3072, Tied: true, Ungated: true, Biases: true, Positions: 1024},
	{Name: "gpt2-medium", Parameters: 354_823_168, Vocab: 50257, Hidden: 1024, Layers: 24, Heads: 16, KVHeads: 16, Intermediate: 4096, Tied: true, Ungated: true, Biases: true, Positions: 1024},
	{Name: "gpt2-large", Parameters: 774_030_080, Vocab: 50257, Hidden: 1280, Layers: 36, Heads: 20, KVHeads: 20, Intermediate: 5120, Tied: true, Ungated: true, Biases: true, Positions: 1024},
	{Name: "gpt2-xl", Parameters: 1_557_611_200, Vocab: 50257, Hidden: 1600, Layers: 48, Heads: 25, KVHeads: 25, Intermediate: 6400, Tied: true, Ungated: true, Biases: true, Positions: 1024},
	{Name: "distilgpt2", Parameters: 81_912_576, Vocab: 50257, Hidden: 768, Layers: 6, Heads: 12, KVHeads: 12, Intermediate: 3072, Tied: true, Ungated: true, Biases: true, Positions: 1024},
	{Name: "phi-1_5", Parameters: 1_418_270_720, Vocab: 51200, Hidden: 2048, Layers: 24, Heads: 32, KVHeads: 32, Intermediate: 8192, Ungated: true, Biases: true},
	{Name: "phi-2", Parameters: 2_779_683_840, Vocab: 51200, Hidden: 2560, Layers: 32, Heads: 32, KVHeads: 32, Intermediate: 10240, Ungated: true, Biases: true},
	{Name: "Phi-3-mini", Parameters: 3_821_079_552, Vocab: 32064, Hidden: 3072, Layers: 32, Heads: 32, KVHeads: 32, Intermediate: 8192},
	{Name: "Phi-3-medium", Parameters: 13_960_238_080, Vocab: 32064, Hidden: 5120, Layers: 40, Heads: 40, KVHeads: 10, Intermediate: 17920},
	{Name: "Phi-4-mini", Parameters: 3_836_021_760, Vocab: 200064, Hidden: 3072, Layers: 32, Heads: 24, KVHeads: 8, Intermediate: 8192, Tied: true},
	{Name: "phi-4", Parameters: 14_659_507_200, Vocab: 100352, Hidden: 5120, Layers: 40, Heads: 40, KVHeads: 10, Intermediate: 17920},
	{Name: "gpt-oss-20b", Published: 13_760_000_000, Vocab: 201088, Hidden: 2880, Layers: 24, Heads: 64, KVHeads: 8, HeadDim: 64, Apart: true},
	{Name: "gpt-oss-120b", Published: 65_250_000_000, Vocab: 201088, Hidden: 2880, Layers: 36, Heads: 64, KVHeads: 8, HeadDim: 64, Apart: true},
	// Cohere (CohereForAI). A layer has one norm.
	{Name: "c4ai-command-r-v01", Parameters: 34_980_831_232, Vocab: 256000, Hidden: 8192, Layers: 40, Heads: 64, KVHeads: 64, Intermediate: 22528, Tied: true},
	// EleutherAI (EleutherAI).
	{Name: "gpt-neo-125m", Parameters: 125_198_592, Vocab: 50257, Hidden: 768, Layers: 12, Heads: 12, KVHeads: 12, Intermediate: 3072, Tied: true, Ungated: true, Biases: true, Positions: 2048},
	{Name: "gpt-neo-1.3B", Parameters: 1_315_575_808, Vocab: 50257, Hidden: 2048, Layers: 24, Heads: 16, KVHeads: 16, Intermediate: 8192, Tied: true, Ungated: true, Biases: true, Positions: 2048},
	{Name: "gpt-neo-2.7B", Parameters: 2_651_307_520, Vocab: 50257, Hidden: 2560, Layers: 32, Heads: 20, KVHeads: 20, Intermediate: 10240, Tied: true, Ungated: true, Biases: true, Positions: 2048},
	{Name: "gpt-j-6b", Parameters: 6_050_882_784, Vocab: 50400, Hidden: 4096, Layers: 28, Heads: 16, KVHeads: 16, Intermediate: 16384, Ungated: true},
	{Name: "gpt-neox-20b", Parameters: 20_554_567_680, Vocab: 50432, Hidden: 6144, Layers: 44, Heads: 64, KVHeads: 64, Intermediate: 24576, Ungated: true, Biases: true},
	{Name: "pythia-70m", Parameters: 70_426_624, Vocab: 50304, Hidden: 512, Layers: 6, Heads: 8, KVHeads: 8, Intermediate: 2048, Ungated: true, Biases: true},
	{Name: "pythia-160m", Parameters: 162_322_944, Vocab: 50304, Hidden: 768, Layers: 12, Heads: 12, KVHeads: 12, Intermediate: 3072, Ungated: true, Biases: true},
	{Name: "pythia-410m", Parameters: 405_334_016, Vocab: 50304, Hidden: 1024, Layers: 24, Heads: 16, KVHeads: 16, Intermediate: 4096, Ungated: true, Biases: true},
	{Name: "pythia-1b", Parameters: 1_011_781_632, Vocab: 50304, Hidden: 2048, Layers: 16, Heads: 8, KVHeads: 8, Intermediate: 8192, Ungated: true, Biases: true},
	{Name: "pythia-1.4b", Parameters: 1_414_647_808, Vocab: 50304, Hidden: 2048, Layers: 24, Heads: 16, KVHeads: 16, Intermediate: 8192, Ungated: true, Biases: true},
	{Name: "pythia-2.8b", Parameters: 2_775_208_960, Vocab: 50304, Hidden: 2560, Layers: 32, Heads: 32, KVHeads: 32, Intermediate: 10240, Ungated: true, Biases: true},
	{Name: "pythia-6.9b", Parameters: 6_857_302_016, Vocab: 50432, Hidden: 4096, Layers: 32, Heads: 32, KVHeads: 32, Intermediate: 16384, Ungated: true, Biases: true},
	{Name: "pythia-12b", Parameters: 11_846_072_320, Vocab: 50688, Hidden: 5120, Layers: 36, Heads: 40, KVHeads: 40, Intermediate: 20480, Ungated: true, Biases: true},
	// Meta (facebook), BigScience (bigscience), BigCode (bigcode).
	{Name: "opt-125m", Parameters: 125_239_296, Vocab: 50272, Hidden: 768, Layers: 12, Heads: 12, KVHeads: 12, Intermediate: 3072, Tied: true, Ungated: true, Biases: true, Positions: 2050},
	{Name: "opt-1.3b", Parameters: 1_315_758_080, Vocab: 50272, Hidden: 2048, Layers: 24, Heads: 32, KVHeads: 32, Intermediate: 8192, Tied: true, Ungated: true, Biases: true, Positions: 2050},
	{Name: "opt-2.7b", Parameters: 2_651_596_800, Vocab: 50272, Hidden: 2560, Layers: 32, Heads: 32, KVHeads: 32, Intermediate: 10240, Tied: true, Ungated: true, Biases: true, Positions: 2050},
	{Name: "opt-6.7b", Parameters: 6_658_473_984, Vocab: 50272, Hidden: 4096, Layers: 32, Heads: 32, KVHeads: 32, Intermediate: 16384, Tied: true, Ungated: true, Biases: true, Positions: 2050},
	{Name: "opt-13b", Parameters: 12_853_473_280, Vocab: 50272, Hidden: 5120, Layers: 40, Heads: 40, KVHeads: 40, Intermediate: 20480, Tied: true, Ungated: true, Biases: true, Positions: 2050},
	{Name: "opt-30b", Parameters: 29_974_540_288, Vocab: 50272, Hidden: 7168, Layers: 48, Heads: 56, KVHeads: 56, Intermediate: 28672, Tied: true, Ungated: true, Biases: true, Positions: 2050},
	{Name: "opt-66b", Parameters: 65_718_976_512, Vocab: 50272, Hidden: 9216, Layers: 64, Heads: 72, KVHeads: 72, Intermediate: 36864, Tied: true, Ungated: true, Biases: true, Positions: 2050},
	{Name: "bloom-560m", Parameters: 559_214_592, Vocab: 250880, Hidden: 1024, Layers: 24, Heads: 16, KVHeads: 16, Intermediate: 4096, Tied: true, Ungated: true, Biases: true},
	{Name: "bloom-1b1", Parameters: 1_065_314_304, Vocab: 250880, Hidden: 1536, Layers: 24, Heads: 16, KVHeads: 16, Intermediate: 6144, Tied: true, Ungated: true, Biases: true},
	{Name: "bloom-1b7", Parameters: 1_722_408_960, Vocab: 250880, Hidden: 2048, Layers: 24, Heads: 16, KVHeads: 16, Intermediate: 8192, Tied: true, Ungated: true, Biases: true},
	{Name: "bloom-3b", Parameters: 3_002_557_440, Vocab: 250880, Hidden: 2560, Layers: 30, Heads: 32, KVHeads: 32, Intermediate: 10240, Tied: true, Ungated: true, Biases: true},
	{Name: "bloom-7b1", Parameters: 7_069_016_064, Vocab: 250880, Hidden: 4096, Layers: 30, Heads: 32, KVHeads: 32, Intermediate: 16384, Tied: true, Ungated: true, Biases: true},
	{Name: "starcoder", Parameters: 15_517_456_384, Vocab: 49152, Hidden: 6144, Layers: 40, Heads: 48, KVHeads: 1, HeadDim: 128, Intermediate: 24576, Tied: true, Ungated: true, Biases: true, Positions: 8192},
	{Name: "starcoder2-3b", Parameters: 3_030_371_328, Vocab: 49152, Hidden: 3072, Layers: 30, Heads: 24, KVHeads: 2, Intermediate: 12288, Tied: true, Ungated: true, Biases: true},
	{Name: "starcoder2-7b", Parameters: 7_173_923_840, Vocab: 49152, Hidden: 4608, Layers: 32, Heads: 36, KVHeads: 4, Intermediate: 18432, Tied: true, Ungated: true, Biases: true},
	{Name: "starcoder2-15b", Parameters: 15_957_889_024, Vocab: 49152, Hidden: 6144, Layers: 40, Heads: 48, KVHeads: 4, Intermediate: 24576, Ungated: true, Biases: true},
	// TII (tiiuae), Baichuan (baichuan-inc), OpenBMB (openbmb), Stability AI (stabilityai), Ai2 (allenai), MosaicML (mosaicml), ByteDance (ByteDance-Seed).
	{Name: "falcon-7b", Parameters: 6_921_720_704, Vocab: 65024, Hidden: 4544, Layers: 32, Heads: 71, KVHeads: 1, HeadDim: 64, Intermediate: 18176, Tied: true, Ungated: true},
	{Name: "falcon-40b", Parameters: 41_303_293_952, Vocab: 65024, Hidden: 8192, Layers: 60, Heads: 128, KVHeads: 8, HeadDim: 64, Intermediate: 32768, Tied: true, Ungated: true},
	{Name: "Baichuan-7B", Parameters: 7_000_559_616, Vocab: 64000, Hidden: 4096, Layers: 32, Heads: 32, KVHeads: 32, Intermediate: 11008},
	{Name: "Baichuan-13B", Parameters: 13_264_901_120, Vocab: 64000, Hidden: 5120, Layers: 40, Heads: 40, KVHeads: 40, Intermediate: 13696},
	{Name: "Baichuan2-7B", Parameters: 7_505_973_248, Vocab: 125696, Hidden: 4096, Layers: 32, Heads: 32, KVHeads: 32, Intermediate: 11008},
	{Name: "Baichuan2-13B", Parameters: 13_896_668_160, Vocab: 125696, Hidden: 5120, Layers: 40, Heads: 40, KVHeads: 40, Intermediate: 13696},
	{Name: "MiniCPM-2B", Parameters: 2_724_880_896, Vocab: 122753, Hidden: 2304, Layers: 40, Heads: 36, KVHeads: 36, Intermediate: 5760, Tied: true},
	{Name: "stablelm-2-1_6b", Parameters: 1_644_515_328, Vocab: 100352, Hidden: 2048, Layers: 24, Heads: 32, KVHeads: 32, Intermediate: 5632},
	{Name: "stablelm-3b-4e1t", Parameters: 2_795_443_200, Vocab: 50304, Hidden: 2560, Layers: 32, Heads: 32, KVHeads: 32, Intermediate: 6912},
	{Name: "OLMo-1B", Parameters: 1_176_764_416, Vocab: 50304, Hidden: 2048, Layers: 16, Heads: 16, KVHeads: 16, Intermediate: 8192, Tied: true},
	{Name: "OLMo-7B", Parameters: 6_888_095_744, Vocab: 50304, Hidden: 4096, Layers: 32, Heads: 32, KVHeads: 32, Intermediate: 11008},
	{Name: "OLMo-2-1124-7B", Parameters: 7_298_617_344, Vocab: 100352, Hidden: 4096, Layers: 32, Heads: 32, KVHeads: 32, Intermediate: 11008},
	{Name: "OLMo-2-1124-13B", Parameters: 13_716_198_400, Vocab: 100352, Hidden: 5120, Layers: 40, Heads: 40, KVHeads: 40, Intermediate: 13824},
	{Name: "mpt-7b", Parameters: 6_649_286_656, Vocab: 50432, Hidden: 4096, Layers: 32, Heads: 32, KVHeads: 32, Intermediate: 16384, Tied: true, Ungated: true},
	{Name: "mpt-30b", Parameters: 29_958_586_368, Vocab: 50432, Hidden: 7168, Layers: 48, Heads: 64, KVHeads: 64, Intermediate: 28672, Tied: true, Ungated: true},
	{Name: "Seed-OSS-36B", Parameters: 36_151_104_512, Vocab: 155136, Hidden: 5120, Layers: 64, Heads: 80, KVHeads: 8, HeadDim: 128, Intermediate: 27648},
}

// CountedModel returns the published model with exactly so many parameters. Models that share the number share their sizes, too.
func CountedModel(parameters int64) (Model, bool) {
	i := slices.IndexFunc(models, func(m Model) bool { return m.Parameters == parameters })
	if i < 0 || parameters <= 0 { // of some no number is known
		return Model{}, false
	}
	return models[i], true
}

// Vocabularies lists the known models' vocabulary sizes, ascending, without duplicates.
func Vocabularies() []int64 {
	out := []int64{50257, 50304} // GPT-2's, as it is and as Megatron pads it
	for i := range models {
		out = append(out, models[i].Vocab)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// modelPatterns are lines in which trainers say how many parameters the model has, and how many of them they train: as whole
// numbers with or without commas, or as a number and its unit.
func modelPatterns() []pattern.Pattern {
	const whole, number = `[\d,]{1,20}`, `\d{1,7}(?:\.\d{1,8})?`
	counted := func(line, total, trained string) pattern.Sample {
		want := parser.Fields{}
		for field, n := range map[string]string{"parameters": total, "trained": trained} {
			if n != "" {
				want[field] = n
			}
		}
		return pattern.Sample{Line: line, Want: want}
	}
	return []pattern.Pattern{{
		Name: "model.parameters",
		Literals: []string{
			" || all params: ", " Million params", " total parameters", "ForCausalLM contains ", "ConditionalGeneration contains ", "M Params (",
			"finished initializing model", "rainable parameters: ", "umber of parameters: ", "Total params",
		},
		Expr: `(?:\btrainable params: (?<trained>` + whole + `) \|\| all params: (?<parameters>` + whole + `)` +
			`|\bhas (?<parameters>` + number + ` Million) params\b` +
			`|\bsize: (?<parameters>` + whole + `) total parameters\b` +
			`|For(?:CausalLM|ConditionalGeneration) contains (?<parameters>` + number + `[KMB]) parameters` +
			`|: (?<parameters>` + number + `M) Params \((?<trained>` + number + `M) Trainable\b` +
			`|finished initializing model (?:- num_params = \d{1,7}, num_elems = (?<parameters>` + number + `B)|with (?<parameters>` + number + `B) parameters)` +
			`|\b[Tt]rainable parameters: (?<trained>` + whole + `)(?: |$)` +
			`|\bnumber of parameters: (?<parameters>` + number + `M)(?: |$)` +
			`|^(?<parameters>` + number + ` [KMB]) +Total params$)`,
		Gauge:  true,
		Source: "PEFT, print_trainable_parameters; llama-recipes, utils/train_utils.py; torchtitan, train.py; verl, utils/model.py; ms-swift, utils/torch_utils.py; DeepSpeed, zero/partition_parameters.py; NeMo AutoModel; nanoGPT, model.py; PyTorch Lightning, utilities/model_summary",
		Match: []pattern.Sample{
			counted("trainable params: 27,262,976 || all params: 7,268,995,072 || trainable%: 0.3750", "7,268,995,072", "27,262,976"),
			counted("trainable params: 6738415616 || all params: 6738415616 || trainable%: 100.0000", "6738415616", "6738415616"),
			counted("--> /models/llama-2-7b has 6738.415616 Million params", "6738.415616 Million", ""),
			counted("Model llama3 8B size: 8,030,261,248 total parameters", "8,030,261,248", ""),
			counted("Qwen2ForCausalLM contains 7.62B parameters", "7.62B", ""),
			counted("Qwen2ForCausalLM contains 494.03M parameters", "494.03M", ""),
			counted("model_parameter_info: PeftModelForCausalLM: 8311.5599M Params (20.1851M Trainable [0.2429%]), 0.0019M Buffers.", "8311.5599M", "20.1851M"),
			counted("finished initializing model - num_params = 291, num_elems = 6.74B", "6.74B", ""),
			counted("finished initializing model with 6.17B parameters", "6.17B", ""),
			counted("Trainable parameters: 70,553,706,496", "", "70,553,706,496"),
			counted("number of parameters: 353.77M", "353.77M", ""),
			counted("502 M     Total params", "502 M", ""),
		},
		NoMatch: []string{
			"Qwen2ForTokenClassification contains 7.07B parameters", "251 M     Non-trainable params", "number of parameters: many",
			"Total params: 22,581,219 (86.14 MB)",
		},
	}}
}

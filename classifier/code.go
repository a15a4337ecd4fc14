package classifier

import (
	"strings"

	"oomscan/classifier/phase"
	"oomscan/parser/lazyre"
	"oomscan/parser/traceback"
)

// argument finds a keyword argument with a literal value in a line of code, of those that size a model, its batch or its cache.
var argument = lazyre.New(`\b(batch_size|per_device_train_batch_size|max_length|max_seq_length|max_new_tokens|num_beams|num_return_sequences|` +
	`num_images_per_prompt|num_frames|torch_dtype|dtype|device_map|load_in_4bit|load_in_8bit|attn_implementation|gpu_memory_utilization|max_model_len|` +
	`tensor_parallel_size|max_num_seqs|max_num_batched_tokens|enforce_eager|cpu_offload_gb|swap_space|enable_sleep_mode|cache_max_entry_count|session_len|` +
	`n_ctx|n_gpu_layers|n_batch|num_workers|num_proc|writer_batch_size|pin_memory|low_cpu_mem_usage)\s?=\s?` +
	`(\d{1,9}(?:\.\d{1,6})?|True|False|torch\.\w{1,16}|"[^"\n]{1,80}"|'[^'\n]{1,80}')\s?[,)]`)

// loaded finds the model that a line of code loads.
var loaded = lazyre.New(`\b(?:from_pretrained|LLM|pipeline)\(\s{0,4}(?:model=|pretrained_model_name_or_path=)?["']([\w.-]{1,100}(?:/[\w.-]{1,100}){1,8})["']`)

// readCode reads the model and the arguments in the user's own lines of a stack. Settings that the log prints take precedence, and a
// framework's code sets nothing for the user.
func (r *Run) readCode(files []*file) {
	if r.Framework != "torch" && r.Framework != "unknown" && !isServer(r.Framework) {
		return
	}
	for _, f := range files {
		for _, e := range f.Events {
			if e.Trace == nil {
				continue
			}
			at := e.At
			at.Line = e.Trace.Line
			for i := range e.Trace.Frames {
				frame := &e.Trace.Frames[i]
				if !ofScript(frame) {
					continue
				}
				loads := strings.Contains(frame.Code, "from_pretrained(") || strings.Contains(frame.Code, "LLM(") || strings.Contains(frame.Code, "pipeline(")
				for _, m := range argument().FindAllStringSubmatch(frame.Code, 16) {
					if _, known := r.lookup(m[1]); !known && (loads || !strings.HasSuffix(m[1], "dtype")) { // other tensors have types, too
						r.Config[m[1]] = Value{Value: strings.Trim(m[2], `"'`), At: at, Form: "repr"}
					}
				}
				if m := loaded().FindStringSubmatch(frame.Code); m != nil {
					set(&r.Model.Name, m[1])
				}
			}
		}
	}
}

// ofScript reports whether a frame belongs to a script, not to an installed package or Python's library.
func ofScript(f *traceback.Frame) bool {
	path := phase.SplitPath(f.File)
	return path[0] != phase.Installed && !strings.Contains(f.File, "/lib/python") && programOfFile(path) == nil && applicationOfFile(path) == nil
}

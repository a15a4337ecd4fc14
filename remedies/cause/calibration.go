package cause

import (
	"fmt"

	"oomscan/classifier"
	"oomscan/remedies/memory"
)

// Names that quantizers and their scripts give to the number of calibration samples and to their length.
var (
	calibrationSamples = []string{"num_calibration_samples", "max_calib_samples", "calib_size", "num_calib_data", "nsamples", "n_samples", "num_samples", "calibration_samples"}
	calibrationLengths = []string{"max_seq_length", "max_sequence_length", "max_calib_seq_len", "calib_seq", "seqlen", "seq_len", "calibration_concat_size", "model_seqlen"}
)

// calibrates reports that a quantizer failed while samples passed through the model.
func calibrates(in *Input) string {
	if !in.Calibrates {
		return ""
	}
	return "a quantizer was calibrating: it keeps the activations of all samples between two layers"
}

// wholeBeside reports that a quantizer has the whole model on the card, though it calibrates one layer at a time.
func wholeBeside(in *Input) string {
	p := in.Parameters.Value
	if !in.Calibrates || !in.gpu() || p <= 0 || p > 1<<40 || in.Allocated == nil || in.Total == nil || 2*p < *in.Total/2 || *in.Allocated < 19*p/10 {
		return ""
	}
	if key, v, ok := in.Setting("device_map", "max_memory"); ok {
		return fmt.Sprintf("%s is %s: all weights are on the card, %s in 16 bits, though a calibration needs one layer at a time", lastPart(key), v, classifier.GiB(2*p))
	}
	return ""
}

// calibration says what the activations of the samples take, as far as their number and length are known.
func (in *Input) calibration(where string) (string, *int64) {
	text := "calibration keeps the activations of all samples between two layers " + where
	n, length := in.number(calibrationSamples...), in.number(calibrationLengths...)
	switch {
	case in.passes(3, "hessian", "gptq.py add_batch", "gptq.py __init__", "fasterquant"):
		return "the Hessian of a linear layer takes 4 bytes for each pair of its inputs, beside the layer and the samples", in.Requested
	case n == 0 || length == 0 || n > 1<<20 || length > 1<<22:
		return text, in.Requested
	case in.gpu() && in.Requested != nil && *in.Requested > 2*n*length*max(in.Hidden, 1<<10):
		return fmt.Sprintf("the activations of all samples go to the card in one piece of %s: %s samples of up to %s tokens", gib(in.Requested), memory.Thousands(n), memory.Thousands(length)), in.Requested
	case in.Hidden > 0 && in.Hidden < 1<<20:
		return sized("%s: %s samples x %s tokens x %s values x 2 bytes", 2*n*length*in.Hidden, text, memory.Thousands(n), memory.Thousands(length), memory.Thousands(in.Hidden))
	}
	return fmt.Sprintf("%s: %s samples of up to %s tokens", text, memory.Thousands(n), memory.Thousands(length)), in.Requested
}

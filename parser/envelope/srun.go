package envelope

import "bytes"

// SrunChunk is how many bytes of a task's output `srun -l` writes under one label: a longer line is cut there, anywhere
// in its text, and goes on behind a label of its own (Slurm, SLURM_IO_MAX_MSG_LEN in src/common/io_hdr.h and
// write_labelled_message.c).
const SrunChunk = 1024

// taskLabels are the labels of srun -l.
var taskLabels = [][]step{compile(srunTemplate), compile(srunHetTemplate)}

// TaskLabel returns the length of the label that `srun -l` put in front of a line, the blank behind its colon included;
// ok=false when there is none.
func TaskLabel(line []byte) (n int, ok bool) {
	m := matcher{header: &unknown, whole: line}
	for _, label := range taskLabels {
		if m.try(label) {
			return len(m.taken()), true
		}
	}
	return 0, false
}

// IsCutBySrun reports whether a line is a labeled one whose rest srun may have written behind another label.
func IsCutBySrun(line []byte) bool {
	if len(line) < SrunChunk {
		return false
	}
	label, ok := TaskLabel(line)
	return ok && len(bytes.TrimSuffix(line[label:], []byte{'\r'})) == SrunChunk
}

package envelope

import (
	"bytes"
	"slices"
)

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

// IsCutByRuntime reports whether a container's runtime may have written the rest of a line as the next one.
func IsCutByRuntime(line []byte) bool {
	const prefixes = 200 // bytes in which the runtime's own stands
	marks := cutMarks
	if len(line) > 0 && line[0] == '{' {
		marks = cutRecords
	} else {
		line = line[:min(len(line), prefixes)]
	}
	return slices.ContainsFunc(marks, func(mark []byte) bool { return bytes.Contains(line, mark) })
}

// cutMarks are how containerd marks such a line, cutRecords how Fluent Bit and Docker's Fluentd driver do.
var (
	cutMarks   = [][]byte{[]byte(" stderr P "), []byte(" stdout P ")}
	cutRecords = [][]byte{[]byte(`"logtag":"P"`), []byte(`"partial_message":"true"`)}
)

package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// mpiPatterns are Open MPI, PRRTE, MPICH and Intel MPI. Open MPI 4 prints PID 0 where it does not know.
func mpiPatterns() []pattern.Pattern {
	const openmpi = "Open MPI 1.4-5.0 orte/tools/orterun/help-orterun.txt, PRRTE"
	const hydra = "MPICH and Intel MPI src/pm/hydra/pm/pmiserv"
	return []pattern.Pattern{
		{
			Name:     "mpi.sigkill",
			Literals: []string{" noticed that process rank "},
			Expr:     `noticed that process rank (?<rank>\d+) with PID (?:0\b|(?<pid>\d+)) on node (?<node>\S{1,253}) exited on signal (?<signal>9)\b`,
			Kind:     parser.OOMKill, Role: parser.Suspicion, Source: openmpi,
			Match: []pattern.Sample{
				{Line: `mpirun noticed that process rank 4 with PID 21183 on node host01 exited on signal 9 (Killed).`, Want: parser.Fields{"rank": "4", "pid": "21183", "node": "host01", "signal": "9"}},
				{Line: `prterun noticed that process rank 0 with PID 0 on node gpu-3 exited on signal 9 (Killed).`, Want: parser.Fields{"rank": "0", "node": "gpu-3", "signal": "9"}},
			},
			NoMatch: []string{`mpirun noticed that process rank 0 with PID 636 on node fl98 exited on signal 11 (Segmentation fault).`},
		},
		{
			Name:     "mpi.signal",
			Program:  pattern.Program{Name: "mpi", Child: "rank"},
			Literals: []string{" noticed that process rank "},
			Expr:     `noticed that process rank (?<rank>\d+) with PID (?:0\b|(?<pid>\d+)) on node (?<node>\S{1,253}) exited on signal (?!9\b)(?<signal>\d+)`,
			Kind:     parser.ProcessExit, Role: parser.Consequence, Source: openmpi,
			Match: []pattern.Sample{{Line: `mpiexec noticed that process rank 0 with PID 636 on node fl98 exited on signal 11 (Segmentation fault).`, Want: parser.Fields{"rank": "0", "pid": "636", "node": "fl98", "signal": "11"}}},
		},
		{
			// Open MPI's handler in the process itself; its prefix has the host and the pid.
			Name:     "mpi.abort",
			Literals: []string{"*** Process received signal ***"},
			Expr:     `^\*\*\* Process received signal \*\*\*`,
			Kind:     parser.ProcessExit, Role: parser.Consequence, Set: parser.Fields{"itself": "true"}, Source: "Open MPI 1.4-5.0, opal/util/stacktrace.c",
			Match:   lines(`*** Process received signal ***`),
			NoMatch: []string{`see *** Process received signal ***`},
		},
		{
			Name:     "hydra.sigkill",
			Literals: []string{"KILLED BY SIGNAL: ", "=   EXIT CODE: ", "EXIT STRING: "},
			Expr:     `(?:KILLED BY SIGNAL: (?<signal>9)\b|EXIT STRING: Killed \(signal (?<signal>9)\)|=   EXIT CODE: (?<exitcode>9|137)\s*$)`,
			Kind:     parser.OOMKill, Role: parser.Suspicion, Source: hydra,
			Match: []pattern.Sample{
				{Line: `=   KILLED BY SIGNAL: 9 (Killed)`, Want: parser.Fields{"signal": "9"}},
				{Line: `=   EXIT CODE: 9`, Want: parser.Fields{"exitcode": "9"}},
				{Line: `YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)`, Want: parser.Fields{"signal": "9"}},
			},
			NoMatch: []string{`=   EXIT CODE: 1`, `=   KILLED BY SIGNAL: 11 (Segmentation fault)`, `Process killed by signal: 9 (SIGKILL)`},
		},
		{
			Name:     "hydra.where",
			Literals: []string{" RUNNING AT "},
			Expr:     `=   (?:RANK (?<rank>\d+) )?PID (?<pid>\d+) RUNNING AT (?<node>\S{1,253})`,
			Kind:     parser.OOMKill, Role: parser.Detail, Source: hydra,
			Match: []pattern.Sample{
				{Line: `=   RANK 3 PID 1234 RUNNING AT c001-001`, Want: parser.Fields{"rank": "3", "pid": "1234", "node": "c001-001"}},
				{Line: `=   PID 5490 RUNNING AT gn59`, Want: parser.Fields{"pid": "5490", "node": "gn59"}},
			},
		},
	}
}

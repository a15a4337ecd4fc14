package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// diskPatterns are full disks outside tracebacks: they end jobs, and readers take some of them for a lack of memory. They are tried
// after the patterns about /dev/shm, which prints the same words.
func diskPatterns() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "disk.full",
			Literals: []string{"No space left on device"},
			Expr:     `(?:spill object[^:]{0,200}|[Ww]rite (?:error|failed)|error writing '(?!/dev/shm)[^']{1,300}'): No space left on device`,
			Kind:     parser.DiskFull, Role: parser.Context, Set: map[string]string{"reason": "disk_full"},
			Source: "coreutils and shells; Ray 2.x, src/ray/raylet/local_object_manager.cc",
			Match: lines(
				"local_object_manager.cc:711: Failed to spill object: No space left on device",
				"cp: error writing '/out/model.pt': No space left on device",
				"tee: write error: No space left on device",
			),
			NoMatch: []string{"cp: error writing '/dev/shm/model.pt': No space left on device"},
		},
		{
			Name:     "disk.quota",
			Literals: []string{"Disk quota exceeded"},
			Expr:     `: Disk quota exceeded\s*$`,
			Kind:     parser.DiskFull, Role: parser.Context, Set: map[string]string{"reason": "quota"},
			Source:  "glibc, the text of EDQUOT behind a program's own words",
			Match:   lines("cp: error writing '/nfs/out/trainer_state.json': Disk quota exceeded"),
			NoMatch: []string{"OSError: [Errno 122] Disk quota exceeded: '/nfs/out/model.pt'"},
		},
	}
}

package epilog

import (
	"strconv"
	"strings"
)

// record is what only `scontrol show job -o ID` knows.
type record struct {
	Array, Task string // of an array's task; otherwise empty
	Name        string
	Rest        map[string]string // the other fields. A job's name can forge them, so they are only shown to administrators
}

// maxName bounds a job's name; Slurm's own limit is lower.
const maxName = 1024

// jobRecord finds a job's record in scontrol's output. The user's name and uid mark the end of the job's name. A job
// can put anything into its name, even other jobs' records, so fields after the name are not trusted.
//
// For an array's own id, scontrol prints all its tasks.
func jobRecord(out string, job, uid uint32) (record, bool) {
	id := strconv.FormatUint(uint64(job), 10)
	_, rest, found := strings.Cut("\n"+out, "\nJobId="+id+" ")
	head, rest, ok := strings.Cut(rest, "JobName=")
	if !found || !ok || strings.Contains(head, "\n") {
		return record{}, false
	}
	var r record
	for _, f := range strings.Fields(head) {
		k, v, _ := strings.Cut(f, "=")
		switch k {
		case "ArrayJobId":
			r.Array = decimal(v)
		case "ArrayTaskId":
			r.Task = decimal(v)
		}
	}
	if r.Array == "" || r.Task == "" {
		r.Array, r.Task = "", ""
	}
	name, rest := cutName(rest, "("+strconv.FormatUint(uint64(uid), 10)+")")
	if len(name) > maxName {
		return record{}, false
	}
	r.Name = name
	r.Rest = map[string]string{}
	for _, f := range strings.Fields(rest) {
		if k, v, ok := strings.Cut(f, "="); ok && r.Rest[k] == "" {
			r.Rest[k] = v
		}
	}
	return r, true
}

// cutName cuts a job's name off before " UserId=NAME(uid)".
func cutName(s, uid string) (name, rest string) {
	const key = " UserId="
	for at := 0; ; {
		i := strings.Index(s[at:], key)
		if i < 0 {
			name, _, _ = strings.Cut(s, " ")
			return name, ""
		}
		at += i
		who, _, _ := strings.Cut(s[at+len(key):], " ")
		if strings.HasSuffix(who, uid) && !strings.ContainsAny(who, "\n=") {
			return s[:at], s[at+1:]
		}
		at += len(key)
	}
}

// decimal returns s if it is a 32-bit decimal number, otherwise "".
func decimal(s string) string {
	if _, err := strconv.ParseUint(s, 10, 32); err != nil {
		return ""
	}
	return s
}

package remedies

import (
	"strings"

	"oomscan/classifier"
	"oomscan/parser"
	"oomscan/remedies/memory"
)

// scene is one incident of one run, with everything that conditions and rules ask about. It lives for one call.
type scene struct {
	run      *classifier.Run
	in       *classifier.Incident
	settings *settings
	held     map[string]verdict // conditions already evaluated
	eras     map[*Guide]string  // see eraOf
	era      string             // of the guide whose items are judged
	words    string             // the message and the evidence, in lower case
	phase    string             // the incident's phase; unknown when empty
	resource string

	sizes   *modelFacts          // see model
	request []memory.Explanation // see explained
	asked   bool
}

// mostText bounds how much of the evidence is searched for words.
const mostText = 16 << 10

func newScene(run *classifier.Run, in *classifier.Incident) *scene {
	s := &scene{run: run, in: in, settings: newSettings(run.Config), held: map[string]verdict{}, eras: map[*Guide]string{}, phase: in.Phase, resource: in.Resource}
	if s.phase == "" {
		s.phase = "unknown"
	}
	if in.Kind == parser.NCCLOOM || in.Kind == parser.NCCLFailure {
		s.phase = "nccl" // whatever surrounds it, the levers are those of the collective library
	}
	if s.phase == "training" || s.phase == "unknown" {
		if engineProcess(s, "").truth == yes && (s.run.Engine == "vllm" || s.run.Engine == "sglang") {
			s.phase = "rollout" // an inference engine trains nothing
		}
	}
	if s.resource == "" {
		s.resource = resourceOf(in.Kind)
	}
	var b strings.Builder
	add := func(t string) {
		if b.Len()+len(t) < mostText {
			b.WriteString(t)
			b.WriteByte('\n')
		}
	}
	add(in.Root.Message)
	for i := range in.Evidence {
		add(in.Evidence[i].Text)
	}
	s.words = strings.ToLower(b.String())
	return s
}

func resourceOf(k parser.Kind) string {
	switch k {
	case parser.HostOOM, parser.OOMKill:
		return "host"
	case parser.SHMExhausted:
		return "shm"
	}
	return "gpu"
}

// says tells whether the evidence holds one of the texts, given in lower case.
func (s *scene) says(texts ...string) bool {
	for _, t := range texts {
		if strings.Contains(s.words, t) {
			return true
		}
	}
	return false
}

// inner tells whether one of the last n frames of the failing stack passes through a function or quotes code that
// holds one of the texts.
func (s *scene) inner(n int, texts ...string) bool {
	t := s.in.Root.Trace
	if t == nil {
		return false
	}
	for i := max(0, len(t.Frames)-n); i < len(t.Frames); i++ {
		f := &t.Frames[i]
		where := strings.ToLower(f.Func + " " + f.Code)
		for _, x := range texts {
			if strings.Contains(where, x) {
				return true
			}
		}
	}
	return false
}

// gpus is how many GPUs the training world has.
func (s *scene) gpus() (int64, bool) {
	per, ok1 := s.settings.integer("trainer.n_gpus_per_node", "actor_num_gpus_per_node")
	nodes, ok2 := s.settings.integer("trainer.nnodes", "actor_num_nodes")
	const most = 1 << 24 // beyond any machine: the log is wrong
	if ok1 && ok2 && per < most && nodes < most {
		return per * nodes, true
	}
	if s.run.WorldSize != nil && *s.run.WorldSize > 0 {
		return int64(*s.run.WorldSize), true
	}
	return 0, false
}

// gpusPerNode is how many GPUs one node offers.
func (s *scene) gpusPerNode() (int64, bool) {
	if n, ok := s.settings.integer("trainer.n_gpus_per_node", "actor_num_gpus_per_node", "cluster.n_gpus_per_node"); ok {
		return n, true
	}
	if s.run.GPUsPerNode != nil && *s.run.GPUsPerNode > 0 {
		return int64(*s.run.GPUsPerNode), true
	}
	return 0, false
}

// shortfall is how many bytes were missing.
func (s *scene) shortfall() (int64, bool) {
	if s.in.Shortfall != nil {
		return *s.in.Shortfall, *s.in.Shortfall > 0
	}
	r := &s.in.Root
	if r.Requested == nil || r.Free == nil || *r.Requested <= *r.Free {
		return 0, false
	}
	return *r.Requested - *r.Free, true
}

package remedies

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// judged is a remedy with what decides whether to start with it.
type judged struct {
	Remedy
	own       bool // on the list of the incident's phase
	supported bool // a fact of the incident speaks for it
	movable   bool // a value is known and another one is to be had
	moves     string
	topic     string   // of the item
	missing   string   // not empty: the run's version knows none of its settings
	effects   []effect // of its changes
	late      bool     // only tells more, or is a last resort: nothing to start with
}

// judge fills one item in and says whether it applies.
func (s *scene) judge(g *Guide, l *List, it *Item, own bool) judged {
	j := judged{own: own, late: it.Effect == "diagnose" || it.LastResort, topic: it.Topic}
	j.Remedy = Remedy{
		ID: it.ID, List: l.Heading, Title: it.Title, Detail: it.Detail, Why: it.Why, Caution: caution(it),
		Source: Source{Section: it.Section, URL: it.URL},
	}
	if g.Document && !it.Addition {
		j.Source.Guide = g.ID
	}
	if j.Source.URL == "" {
		j.Source.URL = g.URL
	}
	s.era = s.eraOf(g)
	var done []string
	shownAny, unknownKeys := false, []string(nil)
	for i := range it.Parameters {
		p := &it.Parameters[i]
		c, ok := s.changeOf(p, alone(g, p.Key))
		if !ok {
			continue
		}
		shownAny = true
		if c.missing != "" {
			unknownKeys = append(unknownKeys, c.missing)
			c.Snippet = ""
		}
		if c.satisfied != "" {
			done = append(done, c.satisfied)
			continue
		}
		j.Changes = append(j.Changes, c.Change)
		if note := s.otherNames(p, &c.Change); note != "" {
			j.Caution = strings.TrimSpace(note + " " + j.Caution)
		}
		if c.To != nil && !j.movable {
			switch {
			case c.From != nil:
				j.movable, j.moves = true, room(&c.Change)
			case c.unset != "":
				j.movable, j.moves = true, c.unset
			}
		}
		if e := s.effect(p, &c); e.known() {
			j.effects = append(j.effects, e)
		}
	}
	if it.Topic == "gradient-checkpointing" {
		s.recomputes(&j)
	}
	j.weigh()
	if len(j.Changes) > 0 && len(unknownKeys) == len(j.Changes) {
		j.missing = unknownKeys[0]
	}
	if len(j.Changes) == 0 && shownAny && len(done) > 0 {
		j.rule(no, strings.Join(done, "; "))
	}
	s.decide(it, &j)
	if j.Applies != nil && !*j.Applies {
		j.Freed, j.Enough, j.EnoughWhy = nil, nil, ""
	}
	return j
}

// otherNames says what a setting is called in other versions, when neither the log's own words nor its version tell
// which name is this run's.
func (s *scene) otherNames(p *Parameter, c *Change) string {
	if c.From != nil || s.run.FrameworkVersion != "" {
		return ""
	}
	var names []string
	for _, sp := range p.Spellings {
		if s.era != "" && sp.Versions == s.era {
			return "" // the run's other settings tell which name is its own
		}
		if sp.Versions != "" && !sp.Read && sp.Key != c.Key {
			names = append(names, fmt.Sprintf("%s in versions %s", sp.Key, sp.Versions))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "Also written " + strings.Join(names, ", ") + "."
}

// room says that a setting is not yet where it helps most.
func room(c *Change) string {
	from := shown(*c.From)
	if on, ok := parseBool(*c.From); ok {
		if on {
			return from + " so far, and it can be switched off"
		}
		return from + " so far, and it can be switched on"
	}
	switch c.Direction {
	case "down":
		return from + " so far, and it can go down"
	case "up":
		return from + " so far, and it can go up"
	}
	return from + " so far, and it can be changed"
}

// rule settles whether a remedy applies; the first word is final.
func (j *judged) rule(t truth, why string) {
	if j.Applies != nil || t == unknown {
		return
	}
	b := t == yes
	j.Applies, j.AppliesWhy = &b, why
}

// decide goes from what rules an item out to what speaks for it.
func (s *scene) decide(it *Item, j *judged) {
	res := it.Resources
	if len(res) == 0 {
		res = []string{"gpu"}
	}
	if !slices.Contains(res, s.resource) {
		j.rule(no, fmt.Sprintf("it is for %s memory", resourceNames(res)))
	}
	if it.Effect == "host" && s.resource == "gpu" {
		j.rule(no, "it saves host memory only")
	}
	if v, bad := s.denied(it.Requires); bad {
		j.rule(no, v.why)
	}
	if j.missing != "" {
		j.rule(no, j.missing)
	}
	if len(it.Phases) > 0 && !slices.Contains(it.Phases, s.phase) && certain(s.phase, it.Phases) {
		j.rule(no, acts(it.Phases, s.phase))
	}
	if v := s.holds("evaluating"); v.truth == yes && slices.Contains(stepTopics, it.Topic) {
		j.rule(no, v.why)
	}
	if s.allTrue(it.SatisfiedWhen) {
		j.rule(no, s.holds(it.SatisfiedWhen[0]).why)
	}
	if v := s.holds("oversized"); v.truth == yes && it.Effect == "frees" {
		j.rule(no, v.why)
	}
	if v := s.holds("stray"); v.truth == yes && (it.Effect == "frees" || it.Effect == "shrinks") && it.Topic != "others" {
		j.rule(no, v.why)
	}
	if why := s.hostShort(j); why != "" {
		j.rule(no, why)
	}
	if v, bad := s.unbound(j.Changes); bad {
		j.rule(no, v.why)
	}
	if s.doubtful(it.Requires) {
		return
	}
	if v, ok := s.decides(j.Changes); ok {
		j.supported = j.Applies == nil
		j.rule(yes, v.why)
	}
	if v, ok := s.confirmed(it.Supports); ok {
		j.supported = j.Applies == nil
		j.rule(yes, v.why)
	}
	if j.own && j.movable {
		j.rule(yes, j.moves)
	}
	if j.movable && s.resource == "gpu" && slices.Contains(cardTopics, it.Topic) {
		if v := s.holds("shares_card"); v.truth == yes {
			j.rule(yes, v.why)
		}
	}
}

// cardTopics are what takes memory of a card that trainer and engine share, whichever of the two failed.
var cardTopics = []string{"engine-share-down", "offload-fsdp", "offload-megatron"}

// stepTopics are what only training steps have: evaluation has a batch of its own and no backward pass.
var stepTopics = []string{"micro-batch", "dynamic-batch", "token-budget", "gradient-checkpointing", "activation-offload", "optimizer-offload", "cpu-optimizer"}

// doubtful says that something an item needs is not known to be there.
func (s *scene) doubtful(requires []string) bool {
	return slices.ContainsFunc(requires, func(c string) bool {
		return !strings.HasPrefix(c, "not ") && !strings.ContainsAny(c, "=<>") && s.holds(c).truth == unknown
	})
}

// certain says that a phase is known well enough to rule out an item of other phases: a step whose part nobody knows
// may be any of its parts.
func certain(phase string, acts []string) bool {
	switch phase {
	case "unknown", "":
		return false
	case "training":
		return !slices.ContainsFunc(acts, func(p string) bool { return p == "forward" || p == "backward" || p == "optimizer" || p == "logprob" })
	case "forward", "backward", "optimizer":
		return !slices.Contains(acts, "training")
	}
	return true
}

// phaseNames are phases in words of a sentence.
var phaseNames = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"init": "start-up", "rollout": "the rollout", "logprob": "the log-probability pass", "forward": "the forward pass", "backward": "the backward pass",
		"optimizer": "the optimizer step", "training": "the training step", "weight_update": "the weight update", "nccl": "a collective",
		"checkpoint": "a checkpoint", "data": "data loading",
	}
})

// acts says that an item acts elsewhere. Of many phases only the one where it does not act is worth a word.
func acts(in []string, failed string) string {
	if len(in) > 2 {
		return "it does nothing for " + words([]string{failed})
	}
	return "it acts in " + words(in)
}

func resourceNames(res []string) string {
	out := make([]string, len(res))
	for i, r := range res {
		if out[i] = map[string]string{"gpu": "GPU", "shm": "shared"}[r]; out[i] == "" {
			out[i] = r
		}
	}
	return strings.Join(out, " or ")
}

func words(phases []string) string {
	out := make([]string, len(phases))
	for i, p := range phases {
		if out[i] = phaseNames()[p]; out[i] == "" {
			out[i] = p
		}
	}
	return strings.Join(out, ", ")
}

// caution joins an item's own warning with what its guide got wrong.
func caution(it *Item) string {
	parts := make([]string, 0, 1+len(it.Corrections))
	if it.Caution != "" {
		parts = append(parts, it.Caution)
	}
	for _, c := range it.Corrections {
		t := fmt.Sprintf("The guide says: %s. In fact: %s.", strings.TrimSuffix(c.Says, "."), strings.TrimSuffix(c.Is, "."))
		if c.Versions != "" {
			t = strings.TrimSuffix(t, ".") + " (" + c.Versions + ")."
		}
		parts = append(parts, t)
	}
	return strings.Join(parts, " ")
}

// alone says that no other parameter of the guide ends in the same word, so a log's bare key can only mean this one.
func alone(g *Guide, key string) bool {
	n, ok := lastWords.Load(g)
	if !ok {
		n, _ = lastWords.LoadOrStore(g, lastWordsOf(g)) // who comes second made the same
	}
	return n.(map[string]int)[lastWord(key)] <= 1
}

// lastWords holds [lastWordsOf] each guide that was asked for it, by its address: guides stay, and nobody changes them.
var lastWords sync.Map

// lastWordsOf counts the parameters of a guide that end in the same word.
func lastWordsOf(g *Guide) map[string]int {
	n, seen := map[string]int{}, map[string]bool{}
	for i := range g.Items {
		for _, p := range g.Items[i].Parameters {
			if !seen[p.Key] {
				seen[p.Key] = true
				n[lastWord(p.Key)]++
			}
		}
	}
	return n
}

func lastWord(key string) string {
	parts := split(key)
	return parts[len(parts)-1]
}

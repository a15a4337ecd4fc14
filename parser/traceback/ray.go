package traceback

import (
	"bytes"

	"oomscan/parser/ascii"
	"oomscan/parser/lazyre"
)

// reprRank matches a rank, but not a local rank, in an actor's repr: NeMo RL prints `MegatronPolicyWorker[rank=9]`.
var reprRank = lazyre.New(`(?:^|[^\w]|\bglobal_)rank ?[=:] ?(\d{1,7})\b`)

// parseRay reads Ray's header of a remote traceback (python/ray/exceptions.py):
//
//	ray::WorkerDict.update_actor() (pid=311860, ip=10.20.4.17, actor_id=ab12, repr=<...>)
//
// It may follow the exception's class or any other text; start is its index. The proctitle may contain parentheses,
// blanks and, for a named actor, the name and a colon before the class.
func parseRay(body []byte) (o *Origin, start int, ok bool) {
	body = head(body)
	start = bytes.Index(body, []byte("ray::"))
	if start < 0 {
		return nil, 0, false
	}
	rest := body[start+len("ray::"):]
	i := bytes.Index(rest, []byte("(pid="))
	if i < 0 || i > 512 {
		return nil, 0, false
	}
	name, found := bytes.CutSuffix(trimColor(rest[:i]), []byte("()"))
	if !found || len(name) == 0 {
		return nil, 0, false
	}
	o = &Origin{Rank: -1}
	if dot := bytes.LastIndexByte(name, '.'); dot > 0 {
		actor := name[:dot]
		actor = actor[bytes.LastIndexByte(actor, ':')+1:]
		o.Actor, name = clip(actor, maxFunc), name[dot+1:]
	}
	o.Method = clip(name, maxFunc)
	rest = rest[i+len("(pid="):]
	n, size := leadingInt(rest)
	o.PID = n
	originTail(o, rest[size:])
	return o, start, true
}

// parseEcho reads the line above a failure that a driver repeats without Ray's header:
//
//	Exception occurred while running FSDPActor's function sync_model_to_rollout:
//
// (RLinf, scheduler/worker/worker_group.py.) If more follows on the line, that is the failure itself.
func parseEcho(body []byte) (o *Origin, ok bool) {
	rest, ok := bytes.CutPrefix(head(body), []byte("Exception occurred while running "))
	if !ok {
		return nil, false
	}
	actor, method, ok := bytes.Cut(bytes.TrimRight(rest, ".: "), []byte("'s function "))
	if !ok || !isName(actor) || !isName(method) {
		return nil, false
	}
	return &Origin{Actor: clip(actor, maxFunc), Method: clip(method, maxFunc), Rank: -1}, true
}

// isName reports whether b is an identifier.
func isName(b []byte) bool {
	for _, c := range b {
		if !ascii.IsWord(c) {
			return false
		}
	}
	return len(b) > 0
}

// originTail reads what follows the pid. repr comes last and may contain anything.
func originTail(o *Origin, rest []byte) {
	before, repr, found := bytes.Cut(rest, []byte("repr="))
	if found {
		if end := bytes.LastIndexByte(repr, ')'); end >= 0 {
			repr = repr[:end]
		}
		if m := reprRank().FindSubmatch(repr[:min(len(repr), 4*maxRepr)]); m != nil {
			o.Rank, _ = leadingInt(m[1])
		}
		o.Repr = clip(repr, maxRepr)
	}
	if _, ip, ok := bytes.Cut(before, []byte("ip=")); ok {
		if end := bytes.IndexAny(ip, ",) "); end >= 0 {
			ip = ip[:end]
		}
		o.IP = clip(ip, 64)
	}
}

// trimColor strips blanks and a color code from the end, even one that lost its escape character.
func trimColor(b []byte) []byte {
	b = bytes.TrimRight(b, " ")
	if i := bytes.LastIndexByte(b, '['); i >= 0 && len(b)-i <= 6 && b[len(b)-1] == 'm' {
		if _, size := leadingInt(b[i+1:]); i+1+size == len(b)-1 {
			b = bytes.TrimRight(b[:i], " \x1b")
		}
	}
	return b
}

package stream

import (
	"bytes"

	"oomscan/parser/lazyre"
)

// A record of texts is an object of JSON or Python on a line of its own, in which a failure stands in a text and no key is one of a log: a row
// of a data set, a request to a model, a ticket, what a grader wrote.

// The keys of such a text; those that say what kind of text it is; and words of keys that the record of a failure has. A key counts by its
// words: created_at, author_id.
var (
	textKey = lazyre.New(`^(?:\w{1,20}_)?(?:text|body|prompts?|question|explanation|rationale|critique|transcript|utterance|sentence|passage|review|snippet|excerpt|quote|article|paragraph)$`)
	dataKey = lazyre.New(`^(?:\w{1,20}_)?(?:ids?|lang|language|ur[li]|author|label|category|tags|topic|score|len|length|split|public|licen[sc]e|domain|rating|stars|met|correct|tokens|temperature|top_[kp]|votes|views|likes|site|subreddit|thread|tokens_to_generate)$`)
	logKey  = lazyre.New(`(?:^|_)(?:err|errors?|exc|exceptions?|trace|traceback|stack|reason|details?|msg|messages?|levels?|levelname|severity|logger|logs?|events?|stat(?:us|e)|hosts?|hostname|nodes?|pods?|container|namespace|ranks?|pid|workers?|steps?|epochs?|iter(?:ation)?|jobs?|runs?|tasks?|trials?|attempts?|exit|code|signal|std(?:out|err)|streams?|times?|time\w{1,20}|timestamp|ts|date|attributes?|resource|fields?|labels|scope|lines?|channel|webhook|username|alerts?|kind|results?|outputs?|cmd|command|devices?|gpus?|loss)(?:_|$)`)
	// failed are words of a value, or in front of the record, that say that something failed.
	failed = lazyre.New(`(?i)error|fail|fatal|critical|kill|crash|abort|std(?:err|out)|exception|died|memory|\boom\b`)
)

// Limits of such a record: how long what stands in front of it and the values beside its texts are, and how many members it has.
const (
	recordPrefix = 80
	memberValue  = 200
	mostMembers  = 40
)

// isTextRecord reports whether an event is in such a record.
func isTextRecord(own []byte) bool {
	own = bytes.TrimRight(own, " \t\r")
	begins := bytes.IndexByte(own[:min(len(own), recordPrefix)], '{')
	if begins < 0 || own[len(own)-1] != '}' || failed().Match(own[:begins]) {
		return false // as most events
	}
	rest, texts, kinds := own[begins+1:len(own)-1], 0, 0
	for range mostMembers {
		key, value, behind, ok := cutMember(rest)
		switch {
		case !ok || logKey().Match(key):
			return false
		case textKey().Match(key):
			texts++
		case len(value) > memberValue || failed().Match(value):
			return false
		case dataKey().Match(key):
			kinds++
		}
		if len(behind) == 0 {
			return texts > 0 && texts+kinds > 1
		}
		rest = behind
	}
	return false
}

// cutMember cuts the first member of an object off: its key in lower case, its value, and what follows its comma.
func cutMember(text []byte) (key, value, behind []byte, ok bool) {
	text = bytes.TrimLeft(text, " ")
	end := closingQuote(text)
	if end < 0 {
		return nil, nil, nil, false
	}
	key = bytes.ToLower(text[1 : end-1])
	text = bytes.TrimLeft(text[end:], " ")
	if len(text) == 0 || text[0] != ':' {
		return nil, nil, nil, false
	}
	text = bytes.TrimLeft(text[1:], " ")
	depth := 0
	for at := 0; at < len(text); at++ {
		switch c := text[at]; c {
		case '"', '\'':
			n := closingQuote(text[at:])
			if n < 0 {
				return nil, nil, nil, false
			}
			at += n - 1
		case '{', '[', '(':
			depth++
		case '}', ']', ')':
			depth--
		case ',':
			if depth == 0 {
				return key, text[:at], text[at+1:], true
			}
		}
	}
	return key, text, nil, depth == 0
}

// closingQuote is where a string ends that a text begins with, behind its closing quote, or -1.
func closingQuote(text []byte) int {
	if len(text) == 0 || text[0] != '"' && text[0] != '\'' {
		return -1
	}
	for at := 1; at < len(text); at++ {
		switch text[at] {
		case '\\':
			at++
		case text[0]:
			return at + 1
		}
	}
	return -1
}

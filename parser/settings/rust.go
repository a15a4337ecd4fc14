package settings

import (
	"bytes"
	"strings"
)

// rustBlock follows a structure that Rust prints over many lines, with {:#?}, as text-generation-launcher does since 1.1:
//
//	Args {
//	    num_shard: Some(
//	        4,
//	    ),
//	    cuda_memory_fraction: 1.0,
//	}
type rustBlock struct {
	key      string // whose value stands on the next line
	reported bool
}

func (b *rustBlock) hasReported() bool { return b.reported }
func (b *rustBlock) end(*Reader)       {}

func (b *rustBlock) feed(r *Reader, text []byte) (fits, more bool) {
	line := strings.TrimSpace(string(text[:min(len(text), maxPlain)]))
	if line == "}" && bytes.HasPrefix(text, []byte("}")) {
		return true, false
	}
	key, value, ok := strings.Cut(strings.TrimSuffix(line, ","), ": ")
	switch {
	case ok && isName(key) && value == "Some(":
		b.key = key
	case ok && isName(key):
		b.report(r, key, value)
	case b.key != "":
		b.report(r, b.key, key)
	default:
		return line == ")," || line == "}," || line == "],", true
	}
	return true, true
}

// report emits a scalar; of structures and lists nothing is told.
func (b *rustBlock) report(r *Reader, key, value string) {
	if v := rustValue(value, false); v != "" {
		r.emit(key, v, r.line, Repr)
		b.reported = true
	}
	b.key = ""
}

// startRustBlock begins such a structure where its name ends the line.
func (r *Reader) startRustBlock(text []byte) bool {
	if rest, ok := bytes.CutSuffix(text, []byte("Args {")); !ok || len(rest) > 0 && rest[len(rest)-1] != ' ' {
		return false
	}
	r.begin(&rustBlock{}, text)
	return true
}

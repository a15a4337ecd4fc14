// Package obs encodes the observations of logs and decodes them, so that logs can be scanned in one place and their
// failures classified in another. A file contains what [stream.Read] emits, in that order, so a report made from it
// equals the report of the logs.
//
// The format is a JSON object per line, compressed with zstd (`zstd -dc FILE | head` shows it):
//
//	{"schema":"oomscan.observations/v1","version":"1.2"}    the first line
//	{"input":"logs/rank_0.log"}                             a log begins; "in" names the archive that contains it
//	{"event":"torch.oom","line":12, ...}                    its observations in order: event, setting, marker or gauge
//	{"traceback":{...}}                                     later events refer to it by its number
//	{"read":{"bytes":4711,"lines":80, ...}}                 the log ends
//	{"end":{"lines":123}}                                   the last line, with the number of lines before it
//
// Several files may be concatenated. No secret that package secret recognizes is written. The reader trusts nothing: lines,
// texts and chains have limits, unknown words are errors, and every error names its line.
package obs

import "oomscan/parser"

// Schema names the format and its version. A change that an older reader would misread needs a new version.
const Schema = "oomscan.observations/v1"

// family is the beginning of all versions' names.
const family = "oomscan.observations/"

// Limits of what is written and read. They exceed what the parser emits; longer texts are cut.
const (
	maxLine   = 8 << 20  // bytes of a line: a traceback of 1 MiB, escaped
	maxInput  = 4 << 10  // of an input's name before escaping
	maxName   = 4 << 10  // of a key, a label or the name of a pattern
	maxValue  = 8 << 10  // of a setting's value
	maxText   = 64 << 10 // of all other texts
	maxFields = 256      // of one observation
	maxFrames = 1000     // of one traceback
	maxTraces = 16       // latest tracebacks that can still be referred to
	maxChain  = 16       // tracebacks in a chain of causes
)

// Read summarizes a log.
type Read struct {
	Name string
	In   string // the archive that contains it; empty if none
	parser.Counts
	Error string // why it was not read to its end; empty if it was
	// Digest tells logs of the same name apart: different digests mean different logs. Empty if unknown.
	Digest string
}

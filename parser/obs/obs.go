// Package obs writes the observations of logs down and reads them again, so that logs can be scanned where they are and
// judged together elsewhere. What it holds is what [stream.Read] emits, in that order, and so a report made from it is
// that of the logs themselves.
//
// The form is text, a JSON object a line, packed with zstd (`zstd -dc FILE | head` shows it):
//
//	{"schema":"oomscan.observations/v1","version":"1.2"}    the first line
//	{"input":"logs/rank_0.log"}                             a log begins; "in" names the archive that it is in
//	{"event":"torch.oom","line":12, ...}                    what it told, in order: event, setting, marker or gauge
//	{"traceback":{...}}                                     belongs to events behind it, which name it by its number
//	{"read":{"bytes":4711,"lines":80, ...}}                 the log ends
//	{"end":{"lines":123}}                                   the last line, with the number of those before it
//
// Several of them may follow each other in one file. No secret that package secret knows is written. A reader takes
// nothing on trust: lines, texts and chains have bounds, unknown words are errors, and every error tells its line.
package obs

// Schema names the form and its version. A change that an older reader would misread makes a new version.
const Schema = "oomscan.observations/v1"

// family is what all versions of the schema begin with.
const family = "oomscan.observations/"

// Bounds of what is written, and so of what is read. They lie above what the parser emits; of a text that is longer all
// the same, the beginning is written.
const (
	maxLine   = 8 << 20  // bytes of a line: a traceback of 1 MiB, escaped
	maxInput  = 4 << 10  // of an input's name, before it is escaped
	maxName   = 4 << 10  // of a key, a label or the name of a pattern
	maxValue  = 8 << 10  // of a setting's value
	maxText   = 64 << 10 // of all other texts
	maxFields = 256      // of one observation
	maxFrames = 1000     // of one traceback
	maxTraces = 16       // tracebacks that an event or another traceback may still name
	maxChain  = 16       // tracebacks that caused each other
)

// Read is what is known of a log besides what it told.
type Read struct {
	Name      string
	In        string // the archive that it is in, as it was named; empty: none
	Bytes     int64
	Lines     int
	Truncated int    // lines that were too long to be read whole
	Quoted    int    // messages of failures that are text of printed samples
	Error     string // why it was not read to its end; empty: it was
	// Digest tells logs of the same name apart: texts that differ say that the logs differ. Empty when nobody knows.
	Digest string
}

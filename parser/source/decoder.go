package source

import (
	"bytes"
	"io"
)

// A Decoder turns a log that was saved in another form back into lines.
type Decoder interface {
	// Append decodes the next bytes, cut anywhere, and appends what is complete to dst.
	Append(dst, src []byte) []byte
	// Close appends what is left at the end.
	Close(dst []byte) []byte
}

// NewDecoder returns a decoder for a log that begins with head, or nil if the log needs none. The first 8 KiB are
// enough, and 64 KiB where long lines may have been broken.
func NewDecoder(head []byte) Decoder {
	long := head[:min(len(head), wrapLen)]
	head = head[:min(len(head), sniffLen)]
	d, text := newDecoder(head, long), head
	if d != nil {
		text = newDecoder(head, long).Append(nil, head)
	}
	switch {
	case !isNewestFirst(text):
		return d
	case d == nil:
		return new(reverser)
	}
	return &chain{first: d, then: new(reverser)}
}

func newDecoder(head, long []byte) Decoder {
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")), bytes.HasPrefix(head, []byte("\x00\x00\xfe\xff")):
		if wideText(head) {
			return newWideReader(marked(head))
		}
	case isDockerStream(head):
		return new(dockerStream)
	case bytes.IndexByte(head, 0) >= 0:
		if e := unmarked(head); e != nil {
			return newWideReader(e)
		}
	case isEscaped(head):
		return newUnescaper(head)
	case isList(head):
		if isJournal(head) {
			return &chain{first: new(recordLister), then: &rowReader{decode: journalRow}}
		}
		return &recordLister{batches: batchKey(head), closes: true}
	case isJournal(head):
		return &rowReader{decode: journalRow}
	}
	if d := loggedDecoder(head); d != nil {
		return d
	}
	if d := documentDecoder(head); d != nil {
		return d
	}
	if d := fieldDecoder(head); d != nil {
		return d
	}
	if d := textDecoder(head); d != nil {
		return d
	}
	if columns, between := csvColumns(head); columns != nil {
		return &csvDecoder{columns: columns, between: between}
	}
	if columns := samplesIn(head); columns != nil {
		return &csvDecoder{columns: columns, between: ',', samples: true}
	}
	rows, unwrap := rowDecoder(head), markedDecoder(long)
	if unwrap == nil {
		unwrap = gridDecoder(long)
	}
	if unwrap == nil {
		unwrap = labelledDecoder(long)
	}
	if w := detectWrapping(long); unwrap == nil && w.width > 0 {
		unwrap = &unwrapper{wrapping: w, starts: forms{}}
	}
	switch {
	case unwrap == nil:
		return rows
	case rows == nil:
		return unwrap
	}
	return &chain{first: unwrap, then: rows}
}

// chain decodes a log that was rewritten twice.
type chain struct {
	first, then Decoder
	between     []byte
}

func (d *chain) Append(dst, src []byte) []byte {
	d.between = d.first.Append(d.between[:0], src)
	return d.then.Append(dst, d.between)
}

func (d *chain) Close(dst []byte) []byte {
	return d.then.Close(d.then.Append(dst, d.first.Close(nil)))
}

type decodingReader struct {
	src  io.Reader
	dec  Decoder
	in   []byte
	out  []byte
	rest []byte // the part of out that was not returned yet
	err  error
}

func (r *decodingReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		var n int
		n, r.err = r.src.Read(r.in)
		r.out = r.dec.Append(r.out[:0], r.in[:n])
		if r.err != nil {
			r.out = r.dec.Close(r.out)
		}
		r.rest = r.out
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

package source

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
)

const blockLen = 512 // bytes of a tar block

// tar reads a tar and any others that follow it in the same stream.
func (w *walk) tar(at place, r *bufio.Reader) {
	w.archives++
	below := &counter{Reader: r}
	for more := true; more && !w.stop; {
		if !w.tarMembers(at, below) {
			return
		}
		more = w.nextTar(at, r)
	}
}

// tarMembers reads one tar and reports whether it was read to its end.
func (w *walk) tarMembers(at place, below *counter) bool {
	tr := tar.NewReader(below)
	for {
		h, err := tr.Next()
		switch {
		case err == io.EOF:
			return true
		case errors.Is(err, tar.ErrInsecurePath):
		case w.reported != nil && errors.Is(err, w.reported):
			return false // the reader of the last member has reported it
		case err != nil:
			if below.err != nil {
				err = below.err
			} else {
				err = explain("tar", 0, err)
			}
			w.problem(at.name, err, "")
			return false
		}
		if !w.entry(at.name) {
			return false
		}
		if h.Typeflag != tar.TypeReg && h.Typeflag != tar.TypeCont && h.Typeflag != tar.TypeGNUSparse || hidden(h.Name) {
			continue
		}
		var src io.Reader = tr
		if sparse(h) {
			// Holes expand out of nothing, so the limits must count them.
			from := below.n
			src = &layer{walk: w, format: "tar", src: tr, below: below, taken: func() int64 { return below.n - from }}
		}
		w.stream(place{w.member(at.name, h.Name), at.depth, true}, bufio.NewReaderSize(src, wrapLen))
		if w.stop {
			return false
		}
	}
}

func sparse(h *tar.Header) bool {
	if h.Typeflag == tar.TypeGNUSparse {
		return true
	}
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return false
}

// nextTar skips the padding after a tar and reports whether another one follows. Reading to the end of the stream
// also verifies its checksums.
func (w *walk) nextTar(at place, r *bufio.Reader) bool {
	for {
		b, err := r.Peek(blockLen)
		switch {
		case len(b) == 0:
			if err != nil && err != io.EOF {
				w.problem(at.name, err, "")
			}
			return false
		case allZero(b):
			_, _ = r.Discard(len(b))
		case sniff(b).format == "tar":
			return true
		default:
			w.problem(at.name, fmt.Errorf("%w: behind the end of the tar; it is not read", ErrTrailing), "")
			return false
		}
	}
}

// bufferedZip reads into memory a zip that is inside a stream, because a zip is read from its end.
func (w *walk) bufferedZip(at place, r io.Reader) {
	if !w.locked {
		w.unpacker.zipLock.Lock()
		w.locked = true
	}
	var b bytes.Buffer
	n, err := b.ReadFrom(io.LimitReader(r, maxZip-w.memory+1))
	w.memory += n
	defer func() { w.memory -= n }()
	switch {
	case err != nil:
		w.problem(at.name, err, "")
	case w.memory > maxZip:
		w.problem(at.name, fmt.Errorf("%w: a zip that is in an archive or piped in is read up to %s", ErrLimit, amount(maxZip)),
			"name the zip file itself: it is read where it is")
	default:
		w.zip(at, bytes.NewReader(b.Bytes()), n)
	}
}

func (w *walk) zip(at place, r io.ReaderAt, size int64) {
	if !w.enter(&at) {
		return
	}
	w.archives++
	dir := &budget{r, int64(w.unpacker.Limits.Members)*dirEntry + 1<<20}
	zr, err := zip.NewReader(dir, size)
	switch {
	case errors.Is(err, zip.ErrInsecurePath):
	case errors.Is(err, errBudget):
		w.problem(at.name, fmt.Errorf("%w: more than %d members (--max-members)", ErrLimit, w.unpacker.Limits.Members), "")
		return
	case err != nil:
		w.problem(at.name, fmt.Errorf("%w zip: its directory, which is at its end, cannot be read", ErrDamaged), "")
		return
	}
	dir.left = -1
	zr.RegisterDecompressor(zstd.ZipMethodWinZip, zstd.ZipDecompressor(zstdOptions()...))
	zr.RegisterDecompressor(zstd.ZipMethodPKWare, zstd.ZipDecompressor(zstdOptions()...))
	if overlap(zr.File) {
		w.problem(at.name, fmt.Errorf("%w zip: its members overlap; none is read", ErrDamaged), "")
		return
	}
	var spent int64
	for _, f := range zr.File {
		if !w.entry(at.name) {
			return
		}
		name := strings.ReplaceAll(f.Name, `\`, "/")
		if f.Mode().IsRegular() && !strings.HasSuffix(name, "/") && !hidden(name) {
			spent += w.zipMember(place{w.member(at.name, name), at.depth, true}, f, spent)
		}
		if w.stop {
			return
		}
	}
}

// overlap reports whether members of a zip share data. Only zip bombs do.
func overlap(files []*zip.File) bool {
	type span struct{ from, to int64 }
	spans := make([]span, 0, len(files))
	for _, f := range files {
		if from, err := f.DataOffset(); err == nil && f.CompressedSize64 > 0 {
			spans = append(spans, span{from, from + int64(f.CompressedSize64)})
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	for i := 1; i < len(spans); i++ {
		if spans[i].from < spans[i-1].to {
			return true
		}
	}
	return false
}

// zipMember reads a member. All members of an archive together may expand by [freeRatio] bytes beyond the ratio:
// spent is what earlier members used of that, and zipMember returns what this one used.
func (w *walk) zipMember(at place, f *zip.File, spent int64) int64 {
	if f.Flags&1 != 0 {
		w.problem(at.name, errors.New("encrypted"), "unpack it with its password first")
		return 0
	}
	r, err := f.Open()
	if err != nil {
		if errors.Is(err, zip.ErrAlgorithm) {
			err = fmt.Errorf("packed in a way that is not known here (zip method %d)", f.Method)
		} else {
			err = explain("zip", 0, err)
		}
		w.problem(at.name, err, "")
		return 0
	}
	defer r.Close()
	taken := func() int64 { return int64(f.CompressedSize64) }
	l := &layer{walk: w, format: "zip", src: r, taken: taken, spent: spent}
	w.stream(at, bufio.NewReaderSize(checked{l, w.unpacker.Check}, wrapLen))
	if l.out/w.unpacker.Limits.Ratio > taken() {
		return l.out
	}
	return 0
}

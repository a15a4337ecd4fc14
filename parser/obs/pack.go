package obs

import (
	"bytes"
	"encoding/gob"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// packer and unpacker serve many goroutines. A window of 256 KiB holds most of what one log gives.
var (
	packer = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(256<<10), zstd.WithLowerEncoderMem(true))
		if err != nil {
			panic(err) // constants
		}
		return e
	})
	unpacker = sync.OnceValue(func() *zstd.Decoder {
		d, err := zstd.NewReader(nil)
		if err != nil {
			panic(err) // no options
		}
		return d
	})
)

// Pack makes bytes of what was made of observations: of all exported fields of a value and of what they lead to. They are
// for [Unpack] in the same process, whatever bytes the texts hold.
func Pack(v any) []byte {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(v); err != nil {
		panic(err) // a type that cannot be packed
	}
	return bytes.Clone(packer().EncodeAll(b.Bytes(), nil)) // of the size that it needs
}

// Unpack fills the value that to points to. As everywhere in Go, empty maps and slices come back as nil.
func Unpack(data []byte, to any) {
	raw, err := unpacker().DecodeAll(data, nil)
	if err == nil {
		err = gob.NewDecoder(bytes.NewReader(raw)).Decode(to)
	}
	if err != nil {
		panic(err) // bytes that Pack did not make
	}
}

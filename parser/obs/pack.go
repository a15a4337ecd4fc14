package obs

import (
	"bytes"
	"encoding/gob"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// packer and unpacker are used concurrently. A window of 256 KiB covers most of one log's observations.
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

// Pack encodes all exported fields of a value, and of what they refer to, for [Unpack] in the same process. Texts may
// contain any bytes.
func Pack(v any) []byte {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(v); err != nil {
		panic(err) // a type that cannot be encoded
	}
	return bytes.Clone(packer().EncodeAll(b.Bytes(), nil)) // drops the encoder's spare capacity
}

// Unpack decodes into the value that to points to. Empty maps and slices become nil.
func Unpack(data []byte, to any) {
	raw, err := unpacker().DecodeAll(data, nil)
	if err == nil {
		err = gob.NewDecoder(bytes.NewReader(raw)).Decode(to)
	}
	if err != nil {
		panic(err) // not made by Pack
	}
}

package obs

import (
	"bytes"
	"encoding/gob"
	"reflect"
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

// codec encodes and decodes values of one type. Both ends have seen the type's description, which is longer than most values and takes
// longer to read: it is not part of what is packed.
type codec struct {
	encoder *gob.Encoder
	decoder *gob.Decoder
	out     bytes.Buffer
	in      bytes.Reader
}

func newCodec(t reflect.Type) *codec {
	c := &codec{}
	c.encoder, c.decoder = gob.NewEncoder(&c.out), gob.NewDecoder(&c.in)
	c.decode(c.encode(reflect.New(t).Interface()), reflect.New(t).Interface())
	return c
}

func (c *codec) encode(v any) []byte {
	c.out.Reset()
	if err := c.encoder.Encode(v); err != nil {
		panic(err) // a type that cannot be encoded
	}
	return c.out.Bytes()
}

func (c *codec) decode(data []byte, to any) {
	c.in.Reset(data)
	if err := c.decoder.Decode(to); err != nil {
		panic(err) // not made by Pack
	}
}

// codecs holds a pool of them for each type.
var codecs sync.Map

// withCodec calls use with a codec for values of a type, that no one else uses.
func withCodec(t reflect.Type, use func(*codec)) {
	pool, ok := codecs.Load(t)
	if !ok {
		pool, _ = codecs.LoadOrStore(t, &sync.Pool{New: func() any { return newCodec(t) }})
	}
	c := pool.(*sync.Pool).Get().(*codec)
	use(c)
	pool.(*sync.Pool).Put(c)
}

// Pack encodes all exported fields of a value, and of what they refer to, for [Unpack] in the same process. Texts may
// contain any bytes.
func Pack(v any) (packed []byte) {
	withCodec(reflect.TypeOf(v), func(c *codec) {
		packed = bytes.Clone(packer().EncodeAll(c.encode(v), nil)) // drops the encoder's spare capacity
	})
	return packed
}

// Unpack decodes into the value that to points to. Empty maps and slices become nil.
func Unpack(data []byte, to any) {
	raw, err := unpacker().DecodeAll(data, nil)
	if err != nil {
		panic(err) // not made by Pack
	}
	withCodec(reflect.TypeOf(to).Elem(), func(c *codec) { c.decode(raw, to) })
}

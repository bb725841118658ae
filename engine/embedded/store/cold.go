package store

import (
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/omnigraph-go/omnigraph/engine"
)

// How the bytes of a block are stored.
const (
	codecNone  = 0 // as they are
	codecZstd  = 1 // a Zstandard frame (RFC 8878)
	codecDelta = 2 // the same, of the differences of 4-byte numbers
)

const (
	// minCold is the least block that is compressed, in bytes.
	minCold = 4 << 10
	// coldShare is how much of a sample may be left, in hundredths, for a block to be
	// compressed.
	coldShare = 70
	// The sample is some pieces from all over a block.
	samples     = 8
	sampleBytes = 16 << 10
	// maxCold bounds a block that was compressed, in bytes: more than a column holds.
	maxCold = 1 << 36
	// maxRatio is more than a frame can shrink: a run of 128 KiB takes 4 bytes.
	maxRatio = 1 << 16
)

// The encoder and the decoder are used for whole blocks at once, by any number of
// goroutines, and have none of their own.
var (
	encoder = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false))
		if err != nil {
			panic(fmt.Sprintf("store: %v", err)) // an option that the library does not take
		}
		return e
	})
	decoder = sync.OnceValue(func() *zstd.Decoder {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxCold))
		if err != nil {
			panic(fmt.Sprintf("store: %v", err))
		}
		return d
	})
)

// AddCold appends a block that is seldom read: compressed, if a sample of it shrinks well.
// It is decompressed as a whole on its first use. With delta it is an array of 4-byte
// numbers that lie close to their neighbours. See [SegmentWriter.AddBlock].
func (w *SegmentWriter) AddCold(name string, data []byte, delta bool) error {
	if len(data) < minCold || delta && len(data)%4 != 0 {
		return w.AddBlock(name, data)
	}
	codec := byte(codecZstd)
	whole := data
	if delta {
		codec, whole = codecDelta, deltas(data)
	}
	if n := samples * sampleBytes; len(whole) > 2*n {
		sample := make([]byte, 0, n)
		for i := range samples {
			at := (len(whole) - sampleBytes) / (samples - 1) * i
			sample = append(sample, whole[at:at+sampleBytes]...)
		}
		if len(encoder().EncodeAll(sample, nil))*100 > n*coldShare {
			return w.AddBlock(name, data)
		}
	}
	packed := encoder().EncodeAll(whole, nil)
	if len(packed)*100 > len(data)*coldShare {
		return w.AddBlock(name, data)
	}
	return w.add(name, packed, codec, int64(len(data)))
}

// unpack returns what a block held before it was compressed.
func (b *blockEntry) unpack(data []byte, file string) ([]byte, error) {
	corrupt := func(format string, args ...any) error {
		return &engine.Corrupt{Object: file, Detail: fmt.Sprintf("block %q, offset %d: ", b.name, b.offset) + fmt.Sprintf(format, args...)}
	}
	// The decoder makes room for what the frame says, which the footer has bounded.
	var h zstd.Header
	if err := h.Decode(data); err != nil {
		return nil, corrupt("it is no Zstandard frame: %v", err)
	}
	if !h.HasFCS || h.FrameContentSize != uint64(b.unpacked) {
		return nil, corrupt("its frame holds %d bytes, wanted %d", h.FrameContentSize, b.unpacked)
	}
	out, err := decoder().DecodeAll(data, nil)
	if err != nil {
		return nil, corrupt("it cannot be decompressed: %v", err)
	}
	if int64(len(out)) != b.unpacked {
		return nil, corrupt("it has %d bytes, wanted %d", len(out), b.unpacked)
	}
	if b.codec == codecDelta {
		undo(out)
	}
	return out, nil
}

// deltas returns the differences of 4-byte numbers.
func deltas(data []byte) []byte {
	out := make([]byte, len(data))
	last := uint32(0)
	for i := 0; i < len(data); i += 4 {
		n := binary.LittleEndian.Uint32(data[i:])
		binary.LittleEndian.PutUint32(out[i:], n-last)
		last = n
	}
	return out
}

// undo is the inverse of deltas, in place.
func undo(data []byte) {
	last := uint32(0)
	for i := 0; i+4 <= len(data); i += 4 {
		last += binary.LittleEndian.Uint32(data[i:])
		binary.LittleEndian.PutUint32(data[i:], last)
	}
}

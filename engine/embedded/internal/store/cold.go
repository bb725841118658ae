package store

import (
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/parallel"
)

// The codecs of a block.
const (
	codecNone        = 0 // uncompressed
	codecChunks      = 3 // chunks, see chunks.go
	codecDeltaChunks = 4 // chunks of the differences of 4-byte numbers
)

const (
	// minCold is the length in bytes from which a block may be compressed.
	minCold = 4 << 10
	// coldShare is the compression threshold in percent: a block is stored compressed if
	// its sample, and then the whole block, shrinks to at most this share of its size.
	coldShare = 70
	// The sample consists of several pieces spread over the block.
	samples     = 8
	sampleBytes = 16 << 10 // size of each piece
	// maxCold bounds the uncompressed size of a compressed block, in bytes. No column is
	// larger.
	maxCold = 1 << 36
	// maxRatio is above the best ratio of a Zstandard frame, where a run of 128 KiB takes 4
	// bytes.
	maxRatio = 1 << 16
)

// encoder and decoder each process whole frames. Any number of goroutines may call them
// concurrently; they start no goroutines of their own.
var (
	// encoder returns the encoder for compressed blocks, which the first call makes. It compresses at most maxEncoders frames at a
	// time, each with about 4 MiB of memory.
	encoder = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(maxEncoders()), zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false))
		if err != nil {
			panic(fmt.Sprintf("store: %v", err)) // the library rejects an option
		}
		return e
	})
	// decoder returns the decoder for compressed blocks, which the first call makes.
	decoder = sync.OnceValue(func() *zstd.Decoder {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxCold))
		if err != nil {
			panic(fmt.Sprintf("store: %v", err))
		}
		return d
	})
)

// maxEncoders returns the number of frames that are compressed at a time.
func maxEncoders() int { return min(4, parallel.Processors()) }

// AddCold appends a block that is seldom read. It compresses the block if a sample of it shrinks
// enough; a use then decompresses the chunks that it reads. The argument `delta` says that the
// block is an array of 4-byte numbers, each close to its neighbours. For errors and limits see
// [SegmentWriter.AddBlock].
func (w *SegmentWriter) AddCold(name string, data []byte, delta bool) error {
	if len(data) < minCold || delta && len(data)%4 != 0 {
		return w.AddBlock(name, data)
	}
	codec := byte(codecChunks)
	if delta {
		codec = codecDeltaChunks
	}
	if n := samples * sampleBytes; len(data) > 2*n {
		sample := make([]byte, 0, n)
		for i := range samples {
			at := (len(data) - sampleBytes) / (samples - 1) * i &^ 3 // a multiple of 4, so that no number is split
			piece := data[at : at+sampleBytes]
			if delta {
				sample = appendDeltas(sample, piece)
				continue
			}
			sample = append(sample, piece...)
		}
		if len(encoder().EncodeAll(sample, nil))*100 > n*coldShare {
			return w.AddBlock(name, data)
		}
	}
	packed, size := packChunks(data, delta), 0
	for _, part := range packed {
		size += len(part)
	}
	if size*100 > len(data)*coldShare {
		return w.AddBlock(name, data)
	}
	return w.add(name, codec, int64(len(data)), packed...)
}

// appendDeltas appends the differences of successive 4-byte numbers.
func appendDeltas(dst, data []byte) []byte {
	last := uint32(0)
	for i := 0; i < len(data); i += 4 {
		n := binary.LittleEndian.Uint32(data[i:])
		dst = binary.LittleEndian.AppendUint32(dst, n-last)
		last = n
	}
	return dst
}

// undoDeltas reverses appendDeltas in place.
func undoDeltas(data []byte) {
	last := uint32(0)
	for i := 0; i+4 <= len(data); i += 4 {
		last += binary.LittleEndian.Uint32(data[i:])
		binary.LittleEndian.PutUint32(data[i:], last)
	}
}

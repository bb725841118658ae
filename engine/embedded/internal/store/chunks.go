package store

import (
	"fmt"

	"github.com/klauspost/compress/zstd"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/parallel"
)

// chunkSize is the number of uncompressed bytes in a chunk of a compressed block; the last chunk
// may contain fewer. Each chunk is a Zstandard frame. A read of a few bytes decompresses only the
// chunks that contain them.
const chunkSize = 64 << 10

// minChunks is the least number of chunks that a processor compresses.
const minChunks = 4

// chunkEnd is the size in bytes of a chunk's entry in the list after the chunks.
const chunkEnd = 8

// noFrameSize is the number of uncompressed bytes from which the header of a frame contains that
// number; see RFC 8878, section 3.1.1.1.1.
const noFrameSize = 256

// inChunks reports whether the block is compressed in chunks of chunkSize.
func (b *blockEntry) inChunks() bool { return b.codec == codecChunks || b.codec == codecDeltaChunks }

// numChunks returns the number of chunks of the block.
func (b *blockEntry) numChunks() int { return int((b.unpacked + chunkSize - 1) / chunkSize) }

// packChunks compresses data into chunks, on several processors. It returns the bytes in parts, the last of which is the list of the
// offsets at which the chunks end.
func packChunks(data []byte, delta bool) [][]byte {
	n := (len(data) + chunkSize - 1) / chunkSize
	parts := make([][]byte, maxEncoders())
	sizes := make([]int, n) // by chunk, compressed
	ranges := parallel.Ranges(n, len(parts), minChunks, func(k, from, to int) {
		packed := make([]byte, 0, (to-from)*chunkSize/2)
		var differences []byte
		for i := from; i < to; i++ {
			chunk := data[i*chunkSize : min((i+1)*chunkSize, len(data))]
			if delta {
				differences = appendDeltas(differences[:0], chunk)
				chunk = differences
			}
			before := len(packed)
			packed = encoder().EncodeAll(chunk, packed)
			sizes[i] = len(packed) - before
		}
		parts[k] = packed
	})
	ends := make([]byte, 0, chunkEnd*n)
	end := 0
	for _, size := range sizes {
		end += size
		ends = le.AppendUint64(ends, uint64(end))
	}
	return append(parts[:ranges], ends)
}

// appendChunk decompresses chunk i and appends the bytes to dst. The function `read` returns bytes
// of the block in its stored form; `length` is the size of that form without the padding. Any error
// of the decompression is an *engine.Corrupt.
func (b *blockEntry) appendChunk(dst []byte, i int, length int64, file string, read func(from, to int64) ([]byte, error)) ([]byte, error) {
	corrupt := func(format string, args ...any) ([]byte, error) {
		return nil, &engine.Corrupt{Object: file, Detail: fmt.Sprintf("block %q, offset %d: chunk %d ", b.name, b.offset, i) + fmt.Sprintf(format, args...)}
	}
	list := length - chunkEnd*int64(b.numChunks())
	if list < 0 {
		return corrupt("cannot be read: a block of %d bytes is too short for the ends of %d chunks", length, b.numChunks())
	}
	at := list + chunkEnd*int64(max(i-1, 0))
	ends, err := read(at, list+chunkEnd*int64(i+1))
	if err != nil {
		return nil, err
	}
	start, end := uint64(0), le.Uint64(ends[len(ends)-chunkEnd:])
	if i > 0 {
		start = le.Uint64(ends)
	}
	if last := i == b.numChunks()-1; start > end || end > uint64(list) || last && end != uint64(list) {
		return corrupt("claims the bytes %d to %d, which does not fit the %d bytes of all chunks", start, end, list)
	}
	chunk, err := read(int64(start), int64(end))
	if err != nil {
		return nil, err
	}
	size := min(chunkSize, b.unpacked-int64(i)*chunkSize)
	var h zstd.Header
	if err := h.Decode(chunk); err != nil {
		return corrupt("is not a Zstandard frame: %v", err)
	}
	// The decoder allocates as many bytes as the header says, so check that size first. The frames of
	// short chunks have no size in their header.
	switch {
	case !h.HasFCS && size < noFrameSize && len(chunk) < 2*noFrameSize:
	case !h.HasFCS || h.FrameContentSize != uint64(size):
		return corrupt("holds %d bytes, expected %d", h.FrameContentSize, size)
	}
	before := len(dst)
	out, err := decoder().DecodeAll(chunk, dst)
	if err != nil {
		return corrupt("cannot be decompressed: %v", err)
	}
	if int64(len(out)-before) != size {
		return corrupt("has %d bytes, expected %d", len(out)-before, size)
	}
	if b.codec == codecDeltaChunks {
		undoDeltas(out[before:])
	}
	return out, nil
}

// unpack decompresses a block that consists of chunks. Any error is an *engine.Corrupt.
func (b *blockEntry) unpack(data []byte, file string) ([]byte, error) {
	if b.numChunks() > len(data)/chunkEnd {
		return nil, &engine.Corrupt{Object: file, Detail: fmt.Sprintf("block %q, offset %d: %d bytes are too few for the ends of %d chunks", b.name, b.offset, len(data), b.numChunks())}
	}
	out := make([]byte, 0, b.unpacked)
	for i := range b.numChunks() {
		var err error
		out, err = b.appendChunk(out, i, int64(len(data)), file, func(from, to int64) ([]byte, error) { return data[from:to], nil })
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

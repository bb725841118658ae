package store

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/omnigraph-go/omnigraph/engine"
)

// block is a block of an open segment.
type block struct {
	blockEntry
	verified atomic.Bool // whether the whole block is verified
	mu       sync.Mutex  // locked while the whole block is verified
	data     []byte      // the decompressed bytes, if the block was compressed; valid once verified

	prepared sync.Once // makes the lists below
	// parts contains one bit for each piece, which is set once the piece is verified.
	parts []atomic.Uint64
	// chunks contains the decompressed bytes of chunks that were read lately, if the block consists of
	// chunks; see chunkMemory.
	chunks []atomic.Pointer[chunk]
	// decompressed counts how often one of the chunks was decompressed to be kept.
	decompressed atomic.Int64

	fetched atomic.Int64 // the piece after the last one that the filler of the segment fetched
	ahead   atomic.Int64 // number of units that it fetched last
}

// readThroughBytes is the length of the longest block that [Segment.Block] fetches in one request to
// the kernel.
const readThroughBytes = 1 << 20

// Block returns the data of a block, at an address that is a multiple of 8. The data lies
// in a mapping: the caller must not change it, and must keep the segment while it uses the
// data. The first use after opening verifies the checksums; if they are wrong, Block returns an
// *engine.Corrupt that contains the names of the file and of the block. If the block does not
// exist, it returns an *engine.NotFound. If the block must be fetched from shared storage, and that fails, it
// returns an *engine.Unavailable.
func (g *Segment) Block(name string) ([]byte, error) {
	b, err := g.block(name)
	if err != nil {
		return nil, err
	}
	if !b.verified.Load() {
		b.mu.Lock()
		defer b.mu.Unlock() // deferred, so that it also runs if reading the mapping faults
		// ReadThrough makes the kernel read megabytes around the first byte, so it is for long blocks only.
		if b.length > readThroughBytes {
			g.mapping.ReadThrough(int(b.offset), int(b.offset+b.length))
		} else {
			g.mapping.Fetch(int(b.offset), int(b.offset+b.length))
		}
		if g.fill != nil {
			b.prepare()
			if err := b.fillAll(context.Background(), g); err != nil {
				return nil, err
			}
		}
		data, err := b.stored(g, 0, b.length)
		if err != nil {
			return nil, err
		}
		if b.codec != codecNone && b.data == nil {
			if b.data, err = b.unpack(data, g.name); err != nil {
				return nil, err
			}
			unpacked.add(g.mapping, b.unpacked)
		}
		b.verified.Store(true)
	}
	if b.codec != codecNone {
		return b.data, nil
	}
	return g.mapping.Bytes()[b.offset:][:b.length:b.length], nil
}

// Pieces is a block that is verified in pieces of 64 KiB, each of them when it is first read. The
// methods of Pieces may be called concurrently.
type Pieces struct {
	g *Segment
	b *block
}

// Pieces returns a block without verifying it. For errors and the address of the data see [Segment.Block].
func (g *Segment) Pieces(name string) (Pieces, error) {
	b, err := g.block(name)
	if err != nil {
		return Pieces{}, err
	}
	return Pieces{g, b}, nil
}

// block returns the description of a block; the error is an *engine.NotFound if there is none.
func (g *Segment) block(name string) (*block, error) {
	if b := g.blocks[name]; b != nil {
		return b, nil
	}
	return nil, &engine.NotFound{What: "block of " + g.name, Name: name}
}

// Len returns the length of the block in bytes.
func (p Pieces) Len() int { return int(p.b.unpacked) }

// Range returns the bytes [from, to) after verifying them; 0 <= from <= to <= Len(). The error is an
// *engine.Corrupt, or an *engine.Unavailable if the bytes must be fetched from shared storage.
func (p Pieces) Range(from, to int) ([]byte, error) {
	b := p.b
	if from < 0 || from > to || to > p.Len() {
		panic(fmt.Sprintf("store: the range %d to %d is outside the block of %d bytes", from, to, p.Len()))
	}
	switch {
	case b.codec == codecNone:
		return b.stored(p.g, int64(from), int64(to))
	case b.verified.Load():
		return b.data[from:to:to], nil
	case from == to:
		return nil, nil
	}
	first, last := from/chunkSize, (to-1)/chunkSize
	if first == last {
		chunk, err := b.chunk(p.g, first)
		if err != nil {
			return nil, err
		}
		from, to = from-first*chunkSize, to-first*chunkSize
		return chunk[from:to:to], nil
	}
	out := make([]byte, 0, to-from)
	for i := first; i <= last; i++ {
		chunk, err := b.chunk(p.g, i)
		if err != nil {
			return nil, err
		}
		start := i * chunkSize
		out = append(out, chunk[max(from-start, 0):min(to-start, len(chunk))]...)
	}
	return out, nil
}

// Append appends the bytes [from, to) to dst. Unlike Range, it keeps nothing in memory that it
// decompresses. For errors and limits see Range.
func (p Pieces) Append(dst []byte, from, to int) ([]byte, error) {
	b := p.b
	if !b.inChunks() || b.verified.Load() || from == to {
		data, err := p.Range(from, to)
		return append(dst, data...), err
	}
	b.prepare()
	for from < to {
		i := from / chunkSize
		start, before := i*chunkSize, len(dst)
		if known := b.chunks[i].Load(); known != nil {
			dst = append(dst, known.data...)
		} else {
			var err error
			dst, err = b.appendChunk(dst, i, b.length, p.g.name, func(from, to int64) ([]byte, error) { return b.stored(p.g, from, to) })
			if err != nil {
				return nil, err
			}
		}
		chunk := dst[before:]
		n := copy(chunk, chunk[from-start:min(to-start, len(chunk))])
		dst, from = dst[:before+n], from+n
	}
	return dst, nil
}

// WorthWhole reports whether a caller that has used many values should read the whole block. The answer is no for a
// compressed block if memory has no room for it. It is also no if the chunks in memory cannot be all of the block's and
// fewer chunks were decompressed than two reads of the whole block do, because one read of all values in their order is
// no reason to keep them in memory.
func (p Pieces) WorthWhole() bool {
	b := p.b
	switch {
	case b.codec == codecNone || b.verified.Load():
		return true
	case b.unpacked > recent.limit && b.decompressed.Load() < 2*int64(b.numChunks()):
		return false
	}
	return unpacked.room(b.unpacked)
}

// Prefetch makes the kernel begin to read the bytes [from, to), without waiting for them. It does
// nothing for the pieces at the start of the range that are verified, if the block is compressed, or if the file
// may have holes.
// For limits see Range.
func (p Pieces) Prefetch(from, to int) {
	b := p.b
	if b.codec != codecNone || b.verified.Load() || p.g.fill != nil {
		return
	}
	b.prepare()
	for i := from / pieceSize; i*pieceSize < to; i++ {
		if !b.known(i) {
			p.g.mapping.Fetch(int(b.offset)+i*pieceSize, int(b.offset)+to)
			return
		}
	}
}

// prepare makes the lists parts and chunks.
func (b *block) prepare() {
	b.prepared.Do(func() {
		b.parts = make([]atomic.Uint64, (len(b.blockEntry.pieces)+63)/64)
		if b.inChunks() {
			b.chunks = make([]atomic.Pointer[chunk], b.numChunks())
		}
	})
}

// stored returns bytes of the block in their stored form. It verifies the pieces that contain them.
func (b *block) stored(g *Segment, from, to int64) ([]byte, error) {
	b.prepare()
	data := g.mapping.Bytes()[b.offset:]
	switch {
	case from == to || b.verified.Load():
	case g.fill != nil:
		if err := b.fill(g, int(from/pieceSize), int((to-1)/pieceSize)); err != nil {
			return nil, err
		}
	default:
		fetched := to-from == b.length // a read of the whole block has fetched it already
		last := int((to - 1) / pieceSize)
		for i := int(from / pieceSize); i <= last; i++ {
			if b.known(i) {
				continue
			}
			if !fetched {
				g.mapping.Fetch(int(b.offset)+i*pieceSize, int(b.offset+min(int64(last+1)*pieceSize, b.length)))
				fetched = true
			}
			if err := b.verifyPiece(data[:pad(b.length, blockAlign)], i, g.name); err != nil {
				return nil, err
			}
			b.note(i)
		}
	}
	return data[from:to:to], nil
}

// chunk returns the decompressed bytes of chunk i.
func (b *block) chunk(g *Segment, i int) ([]byte, error) {
	b.prepare()
	if known := b.chunks[i].Load(); known != nil {
		known.use()
		return known.data, nil
	}
	data, err := b.appendChunk(nil, i, b.length, g.name, func(from, to int64) ([]byte, error) { return b.stored(g, from, to) })
	if err != nil {
		return nil, err
	}
	b.decompressed.Add(1)
	recent.keep(b, i, data)
	return data, nil
}

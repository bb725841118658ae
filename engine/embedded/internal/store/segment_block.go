package store

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/omnigraph-go/omnigraph/engine"
)

// block is a block of an open segment.
type block struct {
	blockEntry
	verified atomic.Bool // the whole block
	mu       sync.Mutex  // held during verification
	data     []byte      // the decompressed bytes, if the block was compressed; valid once verified
	// parts has a bit for each piece of an uncompressed block, set once the piece is verified.
	// Pieces makes it.
	parts []atomic.Uint64
}

// Block returns the data of a block, at an address that is a multiple of 8. The data lies
// in a mapping: the caller must not change it, and must keep the segment while it uses the
// data. The first use after opening verifies the checksums; if they are wrong, the error is
// an *engine.Corrupt that names the file and the block. The error for a block that does not
// exist is an *engine.NotFound.
func (g *Segment) Block(name string) ([]byte, error) {
	b, err := g.block(name)
	if err != nil {
		return nil, err
	}
	data := g.mapping.Bytes()[b.offset:]
	if !b.verified.Load() {
		b.mu.Lock()
		defer b.mu.Unlock() // deferred, so that it also runs if reading the mapping faults
		if err := b.verify(data[:pad(b.length, blockAlign)], g.name); err != nil {
			return nil, err
		}
		if b.codec != codecNone && b.data == nil {
			unpacked, err := b.unpack(data[:b.length], g.name)
			if err != nil {
				return nil, err
			}
			b.data = unpacked
		}
		b.verified.Store(true)
	}
	if b.codec != codecNone {
		return b.data, nil
	}
	return data[:b.length:b.length], nil
}

// Pieces is a block whose pieces of 64 KiB are verified when they are first read. Its methods may be
// called concurrently.
type Pieces struct {
	g *Segment
	b *block
}

// Pieces returns a block without verifying it. But a compressed block is verified and decompressed
// immediately. The errors and the address of the data are those of [Segment.Block].
func (g *Segment) Pieces(name string) (Pieces, error) {
	b, err := g.block(name)
	if err != nil {
		return Pieces{}, err
	}
	if b.codec != codecNone {
		_, err := g.Block(name)
		return Pieces{g, b}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.parts == nil {
		b.parts = make([]atomic.Uint64, (len(b.pieces)+63)/64)
	}
	return Pieces{g, b}, nil
}

func (g *Segment) block(name string) (*block, error) {
	if b := g.blocks[name]; b != nil {
		return b, nil
	}
	return nil, &engine.NotFound{What: "block of " + g.name, Name: name}
}

// Len returns the length of the block in bytes.
func (p Pieces) Len() int { return int(p.b.unpacked) }

// Range returns the verified bytes from offset from up to, but not including, offset to;
// 0 <= from <= to <= Len(). The error is an *engine.Corrupt.
func (p Pieces) Range(from, to int) ([]byte, error) {
	b := p.b
	if from < 0 || from > to || to > p.Len() {
		panic(fmt.Sprintf("store: the range %d to %d is outside the block of %d bytes", from, to, p.Len()))
	}
	if b.codec != codecNone {
		return b.data[from:to:to], nil
	}
	data := p.g.mapping.Bytes()[b.offset:]
	if from < to && !b.verified.Load() {
		for i := from / pieceSize; i <= (to-1)/pieceSize; i++ {
			word, bit := &b.parts[i/64], uint64(1)<<(i%64)
			if word.Load()&bit != 0 {
				continue
			}
			if err := b.verifyPiece(data[:pad(b.length, blockAlign)], i, p.g.name); err != nil {
				return nil, err
			}
			word.Or(bit)
		}
	}
	return data[from:to:to], nil
}

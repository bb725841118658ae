package index

import (
	"encoding/binary"
	"runtime"
	"strconv"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
)

// Scratch is a function that creates a temporary file. It calls `write`, which passes each block of
// the file to `add`, and returns a source that reads the file. The space of the file on the disk is
// free again once nothing refers to this source.
type Scratch func(write func(add func(name string, data []byte) error) error) (column.Source, error)

// Spilled is the base of an index that was built in temporary files. It becomes an index once its
// blocks are stored.
type Spilled interface {
	// AppendDescriptor appends the descriptor of the base; see [OpenHash] and [OpenAdjacency].
	AppendDescriptor(dst []byte) []byte
	// Blocks calls `add` for each block of the base, one after another. To read the block, `add`
	// calls `pieces`, which calls `put` with the consecutive parts of the block.
	Blocks(name string, add func(name string, pieces func(put func([]byte) error) error) error) error
}

// pileBuffer is the size in bytes of the buffer of each part of a pile.
const pileBuffer = 32 << 10

// pile distributes records of numbers over parts of a temporary file. Within a part, the records
// stay in the order in which the method `put` adds them.
type pile struct {
	name       string                               // prefix of the names of the file's blocks
	writeBlock func(name string, data []byte) error // writes a full buffer to the temporary file
	buffers    [][]byte                             // by part: bytes that are not written yet
	blocks     []int                                // by part: the number of its blocks
}

// newPile returns an empty pile; `add` writes a block to the temporary file.
func newPile(name string, parts int, add func(name string, data []byte) error) *pile {
	return &pile{name: name, writeBlock: add, buffers: make([][]byte, parts), blocks: make([]int, parts)}
}

// put adds a record of numbers to a part.
func (p *pile) put(part int, numbers ...uint32) error {
	b := p.buffers[part]
	if b == nil {
		b = make([]byte, 0, pileBuffer)
	}
	for _, n := range numbers {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	p.buffers[part] = b
	if len(b)+4*len(numbers) > pileBuffer {
		return p.flush(part)
	}
	return nil
}

// flush writes the buffer of a part as its next block.
func (p *pile) flush(part int) error {
	b := p.buffers[part]
	if len(b) == 0 {
		return nil
	}
	p.buffers[part] = b[:0]
	p.blocks[part]++
	return p.writeBlock(p.block(part, p.blocks[part]-1), b)
}

// finish writes the buffers that are not empty.
func (p *pile) finish() error {
	for part := range p.buffers {
		if err := p.flush(part); err != nil {
			return err
		}
		p.buffers[part] = nil
	}
	return nil
}

// block returns the name of block i of a part.
func (p *pile) block(part, i int) string {
	return p.name + strconv.Itoa(part) + "." + strconv.Itoa(i)
}

// each calls f with the numbers of one part, block by block. The parameter src is the finished
// file.
func (p *pile) each(src column.Source, part int, f func(numbers []uint32) error) error {
	defer runtime.KeepAlive(src) // the numbers alias the memory of src
	for i := range p.blocks[part] {
		b, err := src.Block(p.block(part, i))
		if err != nil {
			return err
		}
		numbers, _ := column.Array[uint32](b, len(b)/4)
		if err := f(numbers); err != nil {
			return err
		}
	}
	return nil
}

// copy calls `put` with the bytes of one part, block by block.
func (p *pile) copy(src column.Source, part int, put func([]byte) error) error {
	return p.each(src, part, func(numbers []uint32) error { return put(column.Bytes(numbers)) })
}

// partBits is the binary logarithm of the number of places that are in memory at a time. Tests
// lower it.
var partBits = 20

// spilledHash is the base of a hash index in temporary files.
type spilledHash struct {
	size, n uint32        // number of buckets; number of ordinals
	heads   *pile         // one part
	next    *pile         // by range of ordinals: ordinal and successor
	src     column.Source // the temporary file with the piles
}

// SpillHash builds the base that [BuildHash] would build, in bounded memory. It returns only errors
// of the function `scratch`.
func SpillHash(n uint32, scratch Scratch, hash func(ord uint32) (h uint64, ok bool)) (Spilled, error) {
	x := &spilledHash{size: bucketsFor(n), n: n}
	span := min(x.size, 1<<partBits) // buckets per part
	var byBucket *pile               // by range of buckets: bucket and ordinal
	entries, err := scratch(func(add func(string, []byte) error) error {
		byBucket = newPile("b", int(x.size/span), add)
		for ord := range n {
			if h, ok := hash(ord); ok {
				b := uint32(h) & (x.size - 1)
				if err := byBucket.put(int(b/span), b%span, ord); err != nil {
					return err
				}
			}
		}
		return byBucket.finish()
	})
	if err != nil {
		return nil, err
	}
	x.src, err = scratch(func(add func(string, []byte) error) error {
		x.heads, x.next = newPile("h", 1, add), newPile("n", int(n>>partBits)+1, add)
		heads, tails := make([]uint32, span), make([]uint32, span)
		for part := range byBucket.blocks {
			clear(heads)
			err := byBucket.each(entries, part, func(numbers []uint32) error {
				for i := 0; i < len(numbers); i += 2 {
					b, ord := numbers[i], numbers[i+1]
					last := tails[b]
					tails[b] = ord
					if heads[b] == 0 {
						heads[b] = ord + 1
						continue
					}
					// The ordinals come in ascending order.
					if err := x.next.put(int(last>>partBits), last, ord+1); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
			for _, h := range heads {
				if err := x.heads.put(0, h); err != nil {
					return err
				}
			}
		}
		if err := x.heads.finish(); err != nil {
			return err
		}
		return x.next.finish()
	})
	return x, err
}

// AppendDescriptor implements [Spilled].
func (x *spilledHash) AppendDescriptor(dst []byte) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(dst, uint64(x.size)), uint64(x.n))
}

// Blocks implements [Spilled].
func (x *spilledHash) Blocks(name string, add func(name string, pieces func(put func([]byte) error) error) error) error {
	err := add(name+".h", func(put func([]byte) error) error { return x.heads.copy(x.src, 0, put) })
	if err != nil {
		return err
	}
	return add(name+".n", func(put func([]byte) error) error {
		span := uint32(1) << partBits
		next := make([]uint32, min(span, x.n))
		for part := range x.next.blocks {
			clear(next)
			first := uint32(part) << partBits
			err := x.next.each(x.src, part, func(numbers []uint32) error {
				for i := 0; i < len(numbers); i += 2 {
					next[numbers[i]-first] = numbers[i+1]
				}
				return nil
			})
			if err == nil {
				err = put(column.Bytes(next[:min(span, x.n-first)]))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

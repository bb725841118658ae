package column

import (
	"errors"
	"sync"
	"unsafe"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
)

// PieceBytes is the approximate number of stored bytes that must be verified to use a single value.
// Tests lower it, so that even small data is read in pieces.
var PieceBytes = 64 << 10

// bulkPoints is the least number of values in a bulk use.
const bulkPoints = 64

// wholeLock is held by the goroutine that reads whole data in the background. There is only one
// such goroutine at a time, so that the other processors stay free for readers.
var wholeLock sync.Mutex

// ByPieces reports whether a use of n values must read only the ranges that contain them. If it
// returns false, all the data has been read. The function `size` returns the size of the data in
// bytes; the function `read` reads all the data.
//
// To use a value costs about one verified piece at most. When as many values have been used as the
// data has pieces, these uses have cost about as much as reading all the data. ByPieces then reads
// all the data: at once if the use is a bulk use or the data is smaller than PieceBytes, otherwise
// in the background. If the read in the background fails, all further values are read range by
// range, so that a fault affects only the uses of faulty values.
//
// After that many uses, the function `worth` decides whether ByPieces reads all the data; nil means yes. If it reports
// false, the caller reads ranges, and ByPieces asks again after as many further uses.
func (p *Pending) ByPieces(n int, size func() int, worth func() bool, read func()) bool {
	if !p.Left() {
		return false
	}
	limit := p.limit.Load()
	if limit == 0 {
		limit = 1 + int64(size()/PieceBytes)
		p.limit.Store(limit)
	}
	used := p.used.Add(int64(n))
	if worth != nil && limit > 1 && used > limit && !worth() {
		p.used.Store(0) // look again after as many uses
		return true
	}
	switch {
	case limit == 1 || n >= bulkPoints && used > limit:
		p.Resolve(read)
		return false
	case used > limit && p.background.CompareAndSwap(false, true):
		go func() {
			wholeLock.Lock()
			defer wholeLock.Unlock()
			var fault error // ignored: the next use of the damaged piece finds the fault again
			defer corruption.Catch(corruption.Watch(), &fault)
			p.Resolve(read)
		}()
	}
	return true
}

// Block is a stored block of n values. Ranges of them can be read. The zero Block has no values.
type Block[T Fixed] struct {
	src    Source // the segment that contains the block
	name   string
	pieces Pieces // the bytes of the block
	n      int
}

// OpenBlock opens a block and computes the number of values from the length of the block. It throws
// the faults that it finds, such as a missing block; see package corruption.
func OpenBlock[T Fixed](src Source, name string) Block[T] {
	p, err := src.Pieces(name)
	var missing *engine.NotFound
	if errors.As(err, &missing) {
		corruption.Corrupt(src.Name(), "block %q is missing", name)
	}
	if err != nil {
		corruption.Throw(err)
	}
	width := int(unsafe.Sizeof(*new(T)))
	if p.Len()%width != 0 {
		corruption.Corrupt(src.Name(), "block %q has %d bytes, which is not a multiple of %d", name, p.Len(), width)
	}
	return Block[T]{src, name, p, p.Len() / width}
}

// OpenBlockOf opens a block of n values. It throws a fault if the block has another length.
func OpenBlockOf[T Fixed](src Source, name string, n int) Block[T] {
	if n == 0 {
		return Block[T]{src: src, name: name} // an empty block need not exist
	}
	b := OpenBlock[T](src, name)
	if b.n != n {
		corruption.Corrupt(src.Name(), "block %q has %d values, expected %d", name, b.n, n)
	}
	return b
}

// Len returns the number of values.
func (b Block[T]) Len() int { return b.n }

// Range returns the values [from, to). It verifies only the pieces in which these values are
// stored. It throws the faults that it finds; a range that exceeds the block is a fault.
func (b Block[T]) Range(from, to int) []T {
	if from < 0 || from > to || to > b.n {
		corruption.Corrupt(b.src.Name(), "block %q has %d values, so there are no values %d to %d", b.name, b.n, from, to)
	}
	if from == to {
		return []T{}
	}
	width := int(unsafe.Sizeof(*new(T)))
	raw, err := b.pieces.Range(from*width, to*width)
	if err != nil {
		corruption.Throw(err)
	}
	s, _ := Array[T](raw, to-from)
	return s
}

// appendBytes appends the bytes of the values [from, to) to dst. Unlike Range, it keeps nothing in
// memory that it decompresses.
func (b Block[T]) appendBytes(dst []byte, from, to int) []byte {
	if from == to {
		return dst
	}
	width := int(unsafe.Sizeof(*new(T)))
	dst, err := b.pieces.Append(dst, from*width, to*width)
	if err != nil {
		corruption.Throw(err)
	}
	return dst
}

// At returns value i.
func (b Block[T]) At(i int) T { return b.Range(i, i+1)[0] }

// Span returns offsets i and i+1 of a block of offsets into n values. It throws a fault unless the
// two offsets ascend and do not exceed n.
func Span(b Block[uint32], i, n int) (from, to int) {
	two := b.Range(i, i+2)
	from, to = int(two[0]), int(two[1])
	if from > to || to > n {
		corruption.Corrupt(b.src.Name(), "block %q: offset %d is %d and offset %d is %d, but offsets must ascend and not exceed %d", b.name, i, from, i+1, to, n)
	}
	return from, to
}

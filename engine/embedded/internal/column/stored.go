package column

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
)

// Source is a stored segment. The memory of the blocks is released together with the Source, so
// users of a block must keep the Source.
type Source interface {
	// Name returns the name of the segment's file.
	Name() string
	// Block returns a verified block. It returns an *engine.NotFound if the block does not exist;
	// any other error is an *engine.Corrupt, or an *engine.Unavailable if the block cannot be fetched.
	Block(name string) ([]byte, error)
	// Pieces returns a block that is verified piece by piece. It returns the same errors as Block.
	Pieces(name string) (Pieces, error)
}

// Pieces is a block of a source. A read verifies only the pieces that contain the bytes read, so
// that the first use of a large block is fast. The methods of Pieces may be called concurrently.
type Pieces interface {
	// Len returns the length of the block in bytes.
	Len() int
	// Range returns the bytes [from, to) after verifying them; 0 <= from <= to <= Len(). The result
	// aliases the block. The error is an *engine.Corrupt, or an *engine.Unavailable if the bytes cannot be fetched.
	Range(from, to int) ([]byte, error)
	// Append appends the bytes [from, to) to dst, with the same conditions as Range. It keeps nothing
	// in memory that it decompresses, so it is for data that is read once.
	Append(dst []byte, from, to int) ([]byte, error)
	// WorthWhole reports whether a caller that has used many values should read the whole block. A compressed block
	// must be small or have been decompressed several times, and memory must have room for it.
	WorthWhole() bool
	// Prefetch makes the kernel begin to read the bytes [from, to), without waiting for them. If
	// the bytes have been read before, Prefetch does nothing.
	Prefetch(from, to int)
}

// Pending tracks whether stored data must still be read. The zero Pending means that all is
// read.
type Pending struct {
	left atomic.Bool // whether the data must still be read
	mu   sync.Mutex  // held during reading

	used       atomic.Int64 // number of values that were read by ranges
	limit      atomic.Int64 // greatest value of `used` at which not everything is read; 0 until computed
	background atomic.Bool  // whether a goroutine that reads everything was started
}

// Defer records that there is data to read.
func (p *Pending) Defer() { p.left.Store(true) }

// Left reports whether there is data to read.
func (p *Pending) Left() bool { return p.left.Load() }

// Resolve calls the function `read` once, if there is data to read. If `read` panics, the next
// Resolve calls it again.
func (p *Pending) Resolve(read func()) {
	p.mu.Lock()
	defer p.mu.Unlock() // deferred, so that it also runs after a panic
	if p.left.Load() {
		read()
		p.left.Store(false)
	}
}

// Read returns a block as n values. It throws the faults that it finds; see package corruption.
func Read[T Fixed](src Source, name string, n int) []T {
	if n == 0 {
		return []T{}
	}
	b := RawBlock(src, name)
	s, ok := Array[T](b, n)
	if !ok {
		corruption.Corrupt(src.Name(), "block %q has %d bytes, which is not the size of %d values", name, len(b), n)
	}
	return s
}

// RawBlock returns the bytes of a block. It throws the faults that it finds.
func RawBlock(src Source, name string) []byte {
	b, err := src.Block(name)
	var missing *engine.NotFound
	if errors.As(err, &missing) {
		corruption.Corrupt(src.Name(), "block %q is missing", name)
	}
	if err != nil {
		corruption.Throw(err)
	}
	return b
}

// CheckOffsets throws a fault unless the offsets start with 0, never decrease, and the last one
// equals `end`.
func CheckOffsets(src Source, name string, off []uint32, end int) {
	last := uint32(0)
	for i, o := range off {
		if i == 0 && o != 0 {
			corruption.Corrupt(src.Name(), "block %q: the first offset is %d, expected 0", name, o)
		}
		if o < last {
			corruption.Corrupt(src.Name(), "block %q: offset %d is less than the offset before it", name, i)
		}
		last = o
	}
	if int(last) != end {
		corruption.Corrupt(src.Name(), "block %q: the last offset is %d, expected %d", name, last, end)
	}
}

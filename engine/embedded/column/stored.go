package column

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/damage"
)

// Source is a stored segment. Its blocks lie in memory that goes away with it: whoever
// uses one keeps the Source.
type Source interface {
	// Name says which file it is.
	Name() string
	// Block returns a block that has been verified. The error is an *engine.Corrupt,
	// or an *engine.NotFound when there is no such block.
	Block(name string) ([]byte, error)
}

// Pending is what remains to be read of something stored. The zero Pending is nothing.
type Pending struct {
	left atomic.Bool
	mu   sync.Mutex // held while it is read
}

// Defer says that there is something to read.
func (p *Pending) Defer() { p.left.Store(true) }

// Left reports whether there is something to read.
func (p *Pending) Left() bool { return p.left.Load() }

// Resolve reads what there is, once, and again only after a fault.
func (p *Pending) Resolve(read func()) {
	p.mu.Lock()
	defer p.mu.Unlock() // even after a fault
	if p.left.Load() {
		read()
		p.left.Store(false)
	}
}

// Read returns a block of n values. It throws what is wrong with it; see package damage.
func Read[T Fixed](src Source, name string, n int) []T {
	if n == 0 {
		return []T{}
	}
	b := Bytestring(src, name)
	s, ok := Array[T](b, n)
	if !ok {
		damage.Corrupt(src.Name(), "block %q has %d bytes, which are not %d values", name, len(b), n)
	}
	return s
}

// Bytestring returns a block, and throws what is wrong with it.
func Bytestring(src Source, name string) []byte {
	b, err := src.Block(name)
	var missing *engine.NotFound
	if errors.As(err, &missing) {
		damage.Corrupt(src.Name(), "block %q is missing", name)
	}
	if err != nil {
		damage.Throw(err)
	}
	return b
}

// Ascending throws unless offsets begin with 0, never go back, and end with end.
func Ascending(src Source, name string, off []uint32, end int) {
	last := uint32(0)
	for i, o := range off {
		if o < last || i == 0 && o != 0 {
			damage.Corrupt(src.Name(), "block %q: offset %d goes back", name, i)
		}
		last = o
	}
	if int(last) != end {
		damage.Corrupt(src.Name(), "block %q: the last offset is %d, wanted %d", name, last, end)
	}
}

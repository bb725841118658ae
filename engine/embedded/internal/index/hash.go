package index

import (
	"encoding/binary"
	"math/bits"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
)

// Hash is an index from 64-bit hashes to ordinals. Several ordinals may share a hash, and
// an ordinal may have several hashes, so the caller must check the candidates.
type Hash struct {
	base  *hashBase    // nil for none
	later []*level     // the levels after the base, the oldest first
	over  heads[entry] // the overlay, by bucket
	mask  uint32       // number of overlay buckets less one; 0 while the overlay is empty
	count int          // entries in the overlay
}

// hashBase is a hash table with chaining. The ordinals in a chain ascend.
type hashBase struct {
	heads []uint32 // by low bits of the hash: the first ordinal in the bucket, plus one; 0 for none
	next  []uint32 // by ordinal: the next ordinal in the same bucket, plus one; 0 for none

	pending       column.Pending // whether `heads` and `next` must still be read from the segment
	stored        BlockPlace     // the blocks of a stored base
	nHeads, nNext int            // lengths of `heads` and `next`; set only for a stored base
	memory        *column.Memory // contains `heads` and `next`, if they were copied
}

// entry is an entry of the overlay of a [Hash]. The entries of a bucket form a linked list.
type entry struct {
	hash uint64 // hash of the indexed values
	ord  uint32 // ordinal of the entity
	next *entry // the next entry of the bucket
}

const firstBuckets = 256 // number of buckets of a new overlay

// BuildHash indexes those ordinals in [0, n) for which the function `hash` returns true.
func BuildHash(n uint32, hash func(ord uint32) (h uint64, ok bool)) Hash {
	size := bucketsFor(n)
	x := &hashBase{heads: make([]uint32, size), next: make([]uint32, n)}
	// In descending order, so that the ordinals in a chain ascend.
	for ord := n; ord > 0; ord-- {
		if h, ok := hash(ord - 1); ok {
			b := uint32(h) & (size - 1)
			x.next[ord-1] = x.heads[b]
			x.heads[b] = ord
		}
	}
	return Hash{base: x}
}

// bucketsFor returns the number of buckets of a base for n ordinals: the least power of two that is
// at least n, but at most 1<<31, so that it fits the type.
func bucketsFor(n uint32) uint32 {
	if n <= 1 {
		return 1
	}
	return 1 << min(bits.Len32(n-1), 31)
}

// Overlay returns the number of entries in the overlay.
func (x *Hash) Overlay() int { return x.count }

// Add adds an ordinal under a hash. The index may hold the pair already.
func (x *Hash) Add(owner *Owner, hash uint64, ord uint32) {
	if x.count == 0 || x.count > 4*int(x.mask+1) {
		x.grow(owner)
	}
	slot := x.over.edit(owner, uint32(hash>>32)&x.mask)
	if fault.On(fault.StaleOverlay) && *slot != nil {
		return
	}
	*slot = &entry{hash, ord, *slot}
	x.count++
}

// Remove removes an ordinal from the overlay if it is among the removeWithin latest entries
// of its bucket. A stale entry does no harm, since callers check candidates. But entries
// that are added and deleted again and again must not accumulate.
func (x *Hash) Remove(owner *Owner, hash uint64, ord uint32) {
	if x.count == 0 {
		return
	}
	at := uint32(hash>>32) & x.mask
	n := 0
	e := x.over.get(at)
	for ; e != nil && (e.hash != hash || e.ord != ord); e = e.next {
		if n++; n == removeWithin {
			return
		}
	}
	if e == nil {
		return
	}
	slot := x.over.edit(owner, at)
	rest, from := e.next, *slot
	*slot = nil
	for last := slot; ; last = &(*last).next {
		if from == e {
			*last = rest
			break
		}
		*last = &entry{from.hash, from.ord, nil}
		from = from.next
	}
	x.count--
}

// removeWithin is the number of entries of a list that Remove examines.
const removeWithin = 32

// grow makes room for more entries of the overlay.
func (x *Hash) grow(owner *Owner) {
	old := x.over
	if x.count == 0 {
		x.mask = firstBuckets - 1
	} else {
		x.mask = (x.mask+1)*8 - 1
	}
	x.over = heads[entry]{}
	for _, e := range old.all {
		for ; e != nil; e = e.next {
			slot := x.over.edit(owner, uint32(e.hash>>32)&x.mask)
			*slot = &entry{e.hash, e.ord, *slot}
		}
	}
}

// AddLevel replaces the overlay and the levels from number `from` on, which must be at least 1, by
// one level. The level lacks the entries of ordinals that are dead in `rows`. All ordinals must be
// below `next`. If an ordinal may have several hashes, the function `hash` returns its present one,
// or false if it has none; AddLevel then drops outdated entries. Otherwise `hash` is nil.
func (x *Hash) AddLevel(from int, rows *Rows, next uint32, hash func(ord uint32) (uint64, bool)) {
	merged := x.later[from-1:]
	recs := make([]uint32, 0, recordSize*(countRecords(merged)+x.count))
	recs = records(recs, merged)
	for _, e := range x.over.all {
		for ; e != nil; e = e.next {
			recs = append(recs, uint32(e.hash), uint32(e.hash>>32), e.ord)
		}
	}
	recs = alive(recs, rows)
	if hash != nil {
		recs = withoutOutdated(recs, next, hash)
	}
	*x = Hash{base: x.base, later: append(x.later[:from-1:from-1], newLevel(recs))}
}

// Cursor iterates over the candidates for a hash: those of the overlay, then those of the
// base, then those of the later levels. An ordinal may occur twice. The base comes before the later
// levels because it has most of the entries, and a search for an id ends with the first match.
type Cursor struct {
	Ord   uint32 // the current candidate
	place uint32 // the next place in the base; if `passed` is set, the one before it
	// passed says that the candidate at `place` was returned. Its successor is read only when a caller
	// needs it: in a full table seven of ten searches end with the first candidate, and the read would
	// often miss the processor's caches.
	passed bool
	hash   uint64    // the hash to find
	first  *entry    // the next entry of the overlay to test
	base   *hashBase // the base to search after the overlay
	later  []*level  // the levels to search after the base and `run`
	run    []uint32  // the records of a level to test
}

// Find returns a cursor before the first candidate for a hash.
func (x *Hash) Find(hash uint64) Cursor {
	c := Cursor{hash: hash, base: x.base, later: x.later}
	if x.count > 0 {
		c.first = x.over.get(uint32(hash>>32) & x.mask)
	}
	if b := x.base; b != nil {
		if b.pending.Left() && b.byPieces() {
			c.place = b.storedFirst(hash)
		} else {
			c.place = b.heads[uint32(hash)&uint32(len(b.heads)-1)]
		}
	}
	return c
}

// Next moves to the next candidate and reports whether there is one.
func (c *Cursor) Next() bool {
	for e := c.first; e != nil; e = e.next {
		if e.hash == c.hash {
			c.first, c.Ord = e.next, e.ord
			return true
		}
	}
	c.first = nil
	if c.passed {
		c.place, c.passed = c.base.after(c.place), false
	}
	if c.place == 0 {
		return len(c.later)+len(c.run) > 0 && c.nextLater()
	}
	if c.place > uint32(c.base.places()) {
		c.base.failRange(c.place, c.base.places())
	}
	c.Ord, c.passed = c.place-1, true
	return true
}

// places returns the number of ordinals that the base covers.
func (b *hashBase) places() int {
	if b.nNext > 0 { // a stored base, whose `next` need not be read
		return b.nNext
	}
	return len(b.next)
}

// nextLater does the work of Next for the levels after the base.
func (c *Cursor) nextLater() bool {
	low, high := uint32(c.hash), uint32(c.hash>>32)
	for {
		for run := c.run; len(run) > 0; {
			rec := run[:recordSize]
			if run = run[recordSize:]; rec[0] == low && rec[1] == high {
				c.Ord, c.run = rec[2], run
				return true
			}
		}
		c.run = nil
		if len(c.later) == 0 {
			return false
		}
		c.run, c.later = c.later[0].list(low), c.later[1:]
	}
}

// after returns the successor of a place in its chain. It checks the successor, which may come
// from the disk, so that a corrupt chain cannot loop. The place must be in range.
func (b *hashBase) after(place uint32) uint32 {
	if b.pending.Left() && b.byPieces() {
		return b.storedAfter(place)
	}
	next := b.next[place-1]
	if next != 0 && next <= place {
		b.failOrder(place, next)
	}
	return next
}

// storedFirst returns the first place in the chain of a hash, or 0 if the chain is empty. The base
// must be one that has not been read whole.
//
//go:noinline
func (b *hashBase) storedFirst(hash uint64) uint32 {
	return b.block(".h", b.nHeads).At(int(uint32(hash) & uint32(b.nHeads-1)))
}

// storedAfter is the method `after` for a base that has not been read whole.
//
//go:noinline
func (b *hashBase) storedAfter(place uint32) uint32 {
	next := b.block(".n", b.nNext).At(int(place - 1))
	if next != 0 && next <= place {
		b.failOrder(place, next)
	}
	return next
}

//go:noinline
func (b *hashBase) failRange(place uint32, places int) {
	b.stored.Fail("entry %d is out of range: the index has %d entries", place, places)
}

//go:noinline
func (b *hashBase) failOrder(place, next uint32) {
	b.stored.Fail("entry %d is followed by entry %d, expected a higher number", place, next)
}

// load reads a stored base whole, unless that has been done.
func (b *hashBase) load() { b.pending.Resolve(b.read) }

// byPieces reports whether a lookup must read single places from the segment. If it returns false,
// the whole base has been read.
//
//go:noinline
func (b *hashBase) byPieces() bool {
	return b.pending.ByPieces(1, func() int { return 4 * (b.nHeads + b.nNext) }, nil, b.readForLookups)
}

// block opens a block of n numbers of a stored base; `suffix` ends the name of the block.
func (b *hashBase) block(suffix string, n int) column.Block[uint32] {
	return column.OpenBlockOf[uint32](b.stored.Source, b.stored.Name+suffix, n)
}

// read reads a stored base from its blocks.
func (b *hashBase) read() {
	src, name := b.stored.Source, b.stored.Name
	b.heads = column.Read[uint32](src, name+".h", b.nHeads)
	b.next = column.Read[uint32](src, name+".n", b.nNext)
}

// readForLookups reads a stored base and copies it to large pages, if there is memory for the copy.
func (b *hashBase) readForLookups() {
	b.read()
	if b.memory = column.NewMemory(column.Room(b.heads) + column.Room(b.next)); b.memory != nil {
		rest := b.memory.Bytes()
		b.heads, rest = column.Copy(rest, b.heads)
		b.next, _ = column.Copy(rest, b.next)
	}
}

// Multipliers of the hash: odd constants of wyhash, version 4.2.
const (
	k0 = 0xa0761d6478bd642f
	k1 = 0xe7037ed1a0b428db
)

// String returns the hash of a text. The function must never change, because stored bases depend on
// it.
func String(s string) uint64 { return Mix(k0, s) }

// Mix adds a text to a hash.
func Mix(h uint64, s string) uint64 {
	h ^= uint64(len(s)) * k1
	var tail [8]byte
	for len(s) >= 8 {
		h = multiplyFold(h^loadWord(s), k1)
		s = s[8:]
	}
	if len(s) > 0 {
		copy(tail[:], s)
		h = multiplyFold(h^binary.LittleEndian.Uint64(tail[:]), k1)
	}
	return multiplyFold(h, k0)
}

// MixInt adds a number to a hash.
func MixInt(h, n uint64) uint64 { return multiplyFold(multiplyFold(h^n, k1)^k0, k1) }

// loadWord reads the first eight bytes of s as a little-endian number.
func loadWord(s string) uint64 {
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// multiplyFold mixes two numbers into one hash, by exclusive or of the halves of their product.
func multiplyFold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo ^ bits.RotateLeft64(a, 29)
}

package version

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/segment"
)

// Block is a run of rows of one segment, at most column.KernelRows. Bit i of Live is set if
// the entity with ordinal Ord+i is alive and its current row is row First+i of the segment.
type Block struct {
	Segment *segment.Segment               // the segment with the rows
	First   uint32                         // in the segment; a multiple of 64
	Ord     uint32                         // ordinal of the first entity
	Live    []uint64                       // a bit for each row; see above
	live    [column.KernelRows / 64]uint64 // memory for Live
}

// ScanBlocks passes every live entity exactly once, to one of two functions. If the row number of an
// entity equals its ordinal, the function `block` receives the entity, in a block of rows. The
// function `rest` receives all other entities after the blocks, in lists of ordinals. ScanBlocks reuses b and `scratch`
// for each call, so neither function may keep its argument. ScanBlocks calls `take` before each block, and before the lists of
// ordinals. If the result is false, it leaves out the block or the lists.
func (t *Rows) ScanBlocks(b *Block, scratch []uint32, take func() bool, block func(b *Block) error, rest func(ords []uint32) error) error {
	for _, s := range t.Segs {
		b.Segment = s
		for first := uint32(0); first < s.N && s.Start+first < t.next; first += column.KernelRows {
			if !take() {
				continue
			}
			b.First, b.Ord = first, s.Start+first
			t.live64(b, min(column.KernelRows, s.N-first, t.next-b.Ord))
			if err := block(b); err != nil {
				return err
			}
		}
	}
	if !take() {
		return nil
	}
	return t.Moved(scratch, rest)
}

// live64 sets b.Live for the n rows of a block.
func (t *Entities) live64(b *Block, n uint32) {
	b.Live = b.live[:(n+63)/64]
	if t.home != nil && b.Ord%64 == 0 {
		copy(b.Live, t.home[b.Ord/64:])
		if n%64 != 0 {
			b.Live[n/64] &= 1<<(n%64) - 1
		}
		return
	}
	for i := range b.Live {
		b.Live[i] = ^uint64(0)
	}
	if n%64 != 0 {
		b.Live[n/64] = 1<<(n%64) - 1
	}
	if t.rows.Dense() {
		return
	}
	for at := b.Ord; at < b.Ord+n; at = at&^255 + 256 {
		page := t.rows.Page(at &^ 255)
		if page == nil {
			continue
		}
		for ord := at; ord < min(at&^255+256, b.Ord+n); ord++ {
			differs := page[ord&255] ^ ord // without a branch, because the processor could not predict it
			b.Live[(ord-b.Ord)/64] &^= uint64((differs|-differs)>>31) << ((ord - b.Ord) % 64)
		}
	}
}

// Home returns the ordinal that equals the number of a row of segment s. ok is false unless the
// entity with that ordinal is alive and the row is its current row.
func (t *Entities) Home(s *segment.Segment, row uint32) (ord uint32, ok bool) {
	ord = s.Start + row
	return ord, ord < t.next && t.rows.Get(ord) == ord
}

// Moved calls f with lists of ordinals of live entities: the entities with a row number that
// differs from their ordinal, and the entities with a row in the tail. The lists use the memory of
// `scratch`.
func (t *Rows) Moved(scratch []uint32, f func(ords []uint32) error) error {
	if t.alive != nil {
		for list := range slices.Chunk(t.moved, len(scratch)) {
			if err := f(scratch[:copy(scratch, list)]); err != nil {
				return err
			}
		}
		return nil
	}
	n := 0
	add := func(ord uint32) error {
		scratch[n] = ord
		if n++; n < len(scratch) {
			return nil
		}
		n = 0
		return f(scratch)
	}
	for first, page := range t.rows.All {
		for i, row := range page {
			ord := first + uint32(i)
			if ord >= t.next || row == index.Dead || row == ord && row < t.base {
				continue
			}
			if err := add(ord); err != nil {
				return err
			}
		}
	}
	for ord := t.base; ord < t.next; ord++ {
		if t.rows.Page(ord&^255) != nil {
			ord |= 255
			continue
		}
		if err := add(ord); err != nil {
			return err
		}
	}
	if n == 0 {
		return nil
	}
	return f(scratch[:n])
}

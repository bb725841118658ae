package index

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/format"
)

// A segment that holds the base of a sorted index has these blocks, numbers little-endian:
//
//	sorted  format   1 byte
//	        subject  text (uvarint length, bytes): what is sorted
//	        entries  uvarint
//	        next     uvarint: ordinals that were assigned when the base was built
//	        pages    uvarint
//	ords    the ordinals in order, 4 bytes each
//	pages   the rows when the base was built: for each page of package Rows its first ordinal and
//	        256 rows, 4 bytes each

// SortedBase lists the live entities of one state of a table in the order of a property. Indexes of
// later states share it. A stored base is opened on first use; its ordinals are read in pieces.
type SortedBase struct {
	ords []uint32 // ordinals of the entities, in the order of their values
	rows Rows     // the rows of the state
	next uint32   // number of ordinals that the state had assigned

	segment atomic.Pointer[string] // name of the segment that holds the base; nil until it is stored

	unopened column.Pending       // whether the blocks `sorted` and `pages` of a stored base must be read
	unread   column.Pending       // whether `ords` must be read
	place    blockPlace           // the blocks of a stored base
	subject  string               // the indexed property, as the segment names it
	block    column.Block[uint32] // of `ords`; set only for a stored base
}

// OpenSorted returns the index of a stored base for the state in which the base was built. The
// argument `subject` must be the one that was passed to [SortedBase.Blocks]. Only the methods
// [Sorted.Base] and [Sorted.Update] of the index may be called. Update reads the base and throws
// the faults that it finds; see package corruption.
func OpenSorted(name, subject string, src column.Source) *Sorted {
	b := &SortedBase{subject: subject, place: blockPlace{src, "of " + subject}}
	b.Named(name)
	b.unopened.Defer()
	b.unread.Defer()
	return &Sorted{base: b, baseValid: true, stored: true}
}

// Name returns the name of the segment that holds the base; empty if none does.
func (b *SortedBase) Name() string {
	if name := b.segment.Load(); name != nil {
		return *name
	}
	return ""
}

// Named records the segment that holds the base. Only the goroutine that writes manifests may call it.
func (b *SortedBase) Named(name string) { b.segment.Store(&name) }

// Len returns the number of entries.
func (b *SortedBase) Len() int {
	switch {
	case b == nil:
		return 0
	case b.place.source != nil:
		return b.block.Len()
	}
	return len(b.ords)
}

// at returns the ordinal at place i.
func (b *SortedBase) at(i int) uint32 {
	if b.unread.Left() && b.byPieces() {
		return b.storedAt(i)
	}
	return b.ords[i]
}

//go:noinline
func (b *SortedBase) byPieces() bool {
	return b.unread.ByPieces(1, func() int { return 4 * b.block.Len() }, b.read)
}

//go:noinline
func (b *SortedBase) storedAt(i int) uint32 {
	ord := b.block.At(i)
	b.check(ord)
	return ord
}

// Load reads a stored base whole and throws the faults that it finds.
func (b *SortedBase) Load() {
	b.open()
	b.unread.Resolve(b.read)
}

// open reads the blocks of a stored base except for the ordinals.
func (b *SortedBase) open() {
	if b.unopened.Left() {
		b.unopened.Resolve(b.readMeta)
	}
}

// readMeta reads and checks the description of a stored base, from the block `sorted`.
func (b *SortedBase) readMeta() {
	src := b.place.source
	meta := column.RawBlock(src, "sorted")
	if len(meta) == 0 {
		b.place.fail("block sorted is empty")
	}
	if err := format.Sorted.Check(uint32(meta[0])); err != nil {
		b.place.fail("%v", err)
	}
	n, k := binary.Uvarint(meta[1:])
	if k <= 0 || n > uint64(len(meta)-1-k) {
		b.place.fail("block sorted is truncated")
	}
	subject, rest := string(meta[1+k:1+k+int(n)]), meta[1+k+int(n):]
	if subject != b.subject {
		b.place.fail("found an index of %s, expected one of %s", subject, b.subject)
	}
	var nums [3]uint64
	if left, ok := readUvarints(rest, nums[:]); !ok || len(left) > 0 || nums[0] > nums[1] || nums[2] > (nums[1]+leafSize-1)/leafSize {
		b.place.fail("block sorted is malformed")
	}
	b.next = uint32(nums[1])
	b.block = column.OpenBlockOf[uint32](src, "ords", int(nums[0]))
	pages := column.Read[uint32](src, "pages", int(nums[2])*(1+leafSize))
	b.rows = Rows{} // in case an earlier read failed
	owner := new(Owner)
	for ; len(pages) > 0; pages = pages[1+leafSize:] {
		first := pages[0]
		if first >= b.next || first%leafSize != 0 {
			b.place.fail("a page starts with ordinal %d, expected a multiple of %d below %d", first, leafSize, b.next)
		}
		for i, row := range pages[1 : 1+leafSize] {
			b.rows.Set(owner, first+uint32(i), row)
		}
	}
}

// read reads the ordinals of a stored base into memory.
func (b *SortedBase) read() {
	ords := column.Read[uint32](b.place.source, "ords", b.block.Len())
	for _, ord := range ords {
		b.check(ord)
	}
	b.ords = ords
}

// check throws a fault unless an entry is an ordinal that had been assigned.
func (b *SortedBase) check(ord uint32) {
	if ord >= b.next {
		b.place.fail("found ordinal %d, but the index covers only %d ordinals", ord, b.next)
	}
}

// Cold reports whether a block should be compressed. The result `delta` says that the numbers of
// the block ascend.
func (b *SortedBase) Cold(block string) (cold, delta bool) { return block == "pages", false }

// Blocks calls `add` for each block of the base, one after another. The argument `subject`
// identifies the property.
func (b *SortedBase) Blocks(subject string, add func(name string, data []byte) error) error {
	b.Load()
	var pages []uint32
	n := 0
	for first, rows := range b.rows.All {
		pages = append(append(pages, first), rows[:]...)
		n++
	}
	meta := []byte{format.Current}
	meta = binary.AppendUvarint(meta, uint64(len(subject)))
	meta = append(meta, subject...)
	for _, v := range []int{len(b.ords), int(b.next), n} {
		meta = binary.AppendUvarint(meta, uint64(v))
	}
	if err := add("sorted", meta); err != nil {
		return err
	}
	if err := add("ords", column.Bytes(b.ords)); err != nil {
		return err
	}
	return add("pages", column.Bytes(pages))
}

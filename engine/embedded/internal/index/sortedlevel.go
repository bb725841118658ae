package index

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/format"
)

// A segment that holds a level of a sorted index has these blocks, numbers little-endian:
//
//	sorted  format   1 byte
//	        subject  text (uvarint length, bytes): the property
//	        entries  uvarint
//	        next     uvarint: ordinals that were assigned when the level was built
//	        pages    uvarint; 0 in a level after level 0
//	        end      uvarint: this level and the earlier ones have the live entities in the rows with
//	                 lower numbers
//	        number   uvarint: the number of the level
//	ords    the ordinals in order, 4 bytes each
//	pages   in level 0: the rows when the level was built: for each page of package Rows its first
//	        ordinal and 256 rows, 4 bytes each
//	rows    in a later level: the rows of the ordinals, 4 bytes each

// SortedLevel lists entities of one state of a table in the order of a property: level 0 lists all
// live entities, a later level the entities that were added or changed since the level before.
// Indexes of later states share a level. A stored level is opened on first use; its entries are read in pieces.
type SortedLevel struct {
	ords   []uint32 // ordinals of the entities, in the order of their values
	rowOf  []uint32 // the rows of `ords`; nil in level 0
	rows   Rows     // in level 0: the rows of the state
	next   uint32   // number of ordinals that the state had assigned
	end    uint32   // the level and the earlier ones have the live entities in rows below `end`
	number int      // number of the level

	segment atomic.Pointer[string] // name of the segment that holds the level; nil until it is stored

	unopened column.Pending       // whether the description of a stored level must be read
	unread   column.Pending       // whether `ords` and `rowOf` must be read
	place    BlockPlace           // the blocks of a stored level
	subject  string               // the indexed property, as the segment names it
	block    column.Block[uint32] // of `ords`; set only for a stored level
	rowBlock column.Block[uint32] // of `rowOf`; set only for a stored level after level 0
}

// OpenSorted returns the index with stored levels, for the state in which the last level was built.
// The parameters `names` and `sources` list the segments of the levels. The argument `subject` must
// be the one that was passed to [SortedLevel.Blocks]. Only the methods [Sorted.Levels] and
// [Sorted.Update] of the index may be called. Update reads the levels and throws the faults that it
// finds; see package corruption.
func OpenSorted(names []string, subject string, sources []column.Source) *Sorted {
	s := &Sorted{stored: true}
	for i, name := range names {
		l := &SortedLevel{subject: subject, place: BlockPlace{sources[i], "of " + subject}, number: i}
		l.Named(name)
		l.unopened.Defer()
		l.unread.Defer()
		s.levels = append(s.levels, l)
	}
	return s
}

// Name returns the name of the segment that holds the level; empty if none does.
func (l *SortedLevel) Name() string {
	if name := l.segment.Load(); name != nil {
		return *name
	}
	return ""
}

// Named records the segment that holds the level. Only the goroutine that writes manifests may call it.
func (l *SortedLevel) Named(name string) { l.segment.Store(&name) }

// Len returns the number of entries.
func (l *SortedLevel) Len() int {
	if l.place.Source != nil {
		return l.block.Len()
	}
	return len(l.ords)
}

// at returns the entry at place i: the ordinal, and its row when the level was built.
func (l *SortedLevel) at(i int) (ord, row uint32) {
	if l.unread.Left() && l.byPieces() {
		return l.storedAt(i)
	}
	if ord = l.ords[i]; l.number > 0 {
		return ord, l.rowOf[i]
	}
	return ord, l.rows.Get(ord)
}

//go:noinline
func (l *SortedLevel) byPieces() bool {
	return l.unread.ByPieces(1, func() int { return 4 * (l.block.Len() + l.rowBlock.Len()) }, nil, l.read)
}

//go:noinline
func (l *SortedLevel) storedAt(i int) (ord, row uint32) {
	ord = l.block.At(i)
	l.check(ord)
	if l.number > 0 {
		return ord, l.rowBlock.At(i)
	}
	return ord, l.rows.Get(ord)
}

// Load reads a stored level whole and throws the faults that it finds.
func (l *SortedLevel) Load() {
	l.open()
	l.unread.Resolve(l.read)
}

// open reads the blocks of a stored level except for the entries.
func (l *SortedLevel) open() {
	if l.unopened.Left() {
		l.unopened.Resolve(l.readMeta)
	}
}

// readMeta reads and checks the description of a stored level, from the block `sorted`.
func (l *SortedLevel) readMeta() {
	src := l.place.Source
	meta := column.RawBlock(src, "sorted")
	if len(meta) == 0 {
		l.place.Fail("block sorted is empty")
	}
	l.place.Check(format.Sorted, uint32(meta[0]))
	n, k := binary.Uvarint(meta[1:])
	if k <= 0 || n > uint64(len(meta)-1-k) {
		l.place.Fail("block sorted is truncated")
	}
	subject, rest := string(meta[1+k:1+k+int(n)]), meta[1+k+int(n):]
	if subject != l.subject {
		l.place.Fail("found an index of %s, expected one of %s", subject, l.subject)
	}
	var nums [5]uint64
	if left, ok := ReadUvarints(rest, nums[:]); !ok || len(left) > 0 || nums[0] > nums[1] || nums[2] > (nums[1]+LeafSize-1)/LeafSize || nums[4] > 0 && nums[2] > 0 {
		l.place.Fail("block sorted is malformed")
	}
	if nums[4] != uint64(l.number) {
		l.place.Fail("found level %d of the index, expected level %d", nums[4], l.number)
	}
	l.next, l.end = uint32(nums[1]), uint32(nums[3])
	l.block = column.OpenBlockOf[uint32](src, "ords", int(nums[0]))
	if l.number > 0 {
		l.rowBlock = column.OpenBlockOf[uint32](src, "rows", int(nums[0]))
		return
	}
	pages := column.Read[uint32](src, "pages", int(nums[2])*(1+LeafSize))
	l.rows = Rows{} // in case an earlier read failed
	owner := new(Owner)
	for ; len(pages) > 0; pages = pages[1+LeafSize:] {
		first := pages[0]
		if first >= l.next || first%LeafSize != 0 {
			l.place.Fail("a page starts with ordinal %d, expected a multiple of %d below %d", first, LeafSize, l.next)
		}
		for i, row := range pages[1 : 1+LeafSize] {
			l.rows.Set(owner, first+uint32(i), row)
		}
	}
}

// read reads the entries of a stored level into memory.
func (l *SortedLevel) read() {
	src := l.place.Source
	ords := column.Read[uint32](src, "ords", l.block.Len())
	for _, ord := range ords {
		l.check(ord)
	}
	if l.number > 0 {
		l.rowOf = column.Read[uint32](src, "rows", len(ords))
	}
	l.ords = ords
}

// check throws a fault unless an entry is an ordinal that had been assigned.
func (l *SortedLevel) check(ord uint32) {
	if ord >= l.next {
		l.place.Fail("found ordinal %d, but the index covers only %d ordinals", ord, l.next)
	}
}

// Cold reports whether a block should be compressed. The result `delta` says that the numbers of
// the block ascend.
func (l *SortedLevel) Cold(block string) (cold, delta bool) { return block == "pages", false }

// Blocks calls `add` for each block of the level, one after another. The argument `subject`
// identifies the property.
func (l *SortedLevel) Blocks(subject string, add func(name string, data []byte) error) error {
	l.Load()
	var pages []uint32
	n := 0
	for first, rows := range l.rows.All {
		pages = append(append(pages, first), rows[:]...)
		n++
	}
	meta := []byte{format.Current}
	meta = binary.AppendUvarint(meta, uint64(len(subject)))
	meta = append(meta, subject...)
	for _, v := range []int{len(l.ords), int(l.next), n, int(l.end), l.number} {
		meta = binary.AppendUvarint(meta, uint64(v))
	}
	if err := add("sorted", meta); err != nil {
		return err
	}
	if err := add("ords", column.Bytes(l.ords)); err != nil {
		return err
	}
	if l.number > 0 {
		return add("rows", column.Bytes(l.rowOf))
	}
	return add("pages", column.Bytes(pages))
}

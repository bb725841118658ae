package index

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
)

// An index has levels: the base is level 0, and each later level has entries that were in the overlay
// before. A later level is stored as a descriptor and blocks of 4-byte numbers,
// little-endian:
//
//	level    records  uvarint
//	         most     3 uvarints: the greatest first, second and third number of a record; zeros
//	                  without records
//	  name.f  for each bucket the position of its first record, then the number of records. The
//	          number of buckets is the least power of two that is not below the number of records
//	  name.r  the records by bucket, 3 numbers each
//
// A record of a hash index has the low half of a hash, the high half and an ordinal. A record of an
// adjacency has a node, the node at the other end and the edge. [level.bucket] gives the bucket of
// a record by the first number.

const (
	// LevelGrowth: a new level takes over the level before it if that one has fewer than LevelGrowth
	// times as many entries.
	LevelGrowth = 4
	// MaxLevels is the greatest number of levels. A lookup searches them all.
	MaxLevels = 16
)

// Tests lower these numbers, so that small tables have several levels.
var (
	// LevelEntries is the greatest number of later entries that an index keeps outside its levels.
	// They are in memory only: Open enters them again.
	LevelEntries = 1 << 10
	// FullLevel is the number of entries from which on no new level takes over a level. It bounds
	// the cost of a new level of a large table.
	FullLevel = 1 << 20
)

// MergeFrom returns the number of the first level that a new level takes over, together with all
// levels after it. The parameter `entries` lists the numbers of entries of the levels, the oldest
// level first, and n is the number of new entries. The rule of LevelGrowth has the effect that each
// entry is written O(log n) times. MergeFrom returns 0, for all levels, if there are MaxLevels levels
// that the rule would keep.
func MergeFrom(entries []int, n int) int {
	from := len(entries)
	for ; from > 0 && entries[from-1] < min(LevelGrowth*n, FullLevel); from-- {
		n += entries[from-1]
	}
	if from >= MaxLevels {
		return 0
	}
	return from
}

// recordSize is the number of numbers in a record of a level.
const recordSize = 3

// level is an immutable part of an index that is later than the base.
type level struct {
	off  []uint32           // by bucket: the position of its first record; then the number of records
	recs []uint32           // the records by bucket
	n    int                // number of records
	most [recordSize]uint32 // the greatest numbers of the records

	pending column.Pending // whether `off` and `recs` must still be read from the segment
	stored  BlockPlace     // the blocks of a stored level
}

// newLevel returns a level with the given records.
func newLevel(recs []uint32) *level {
	l := &level{n: len(recs) / recordSize}
	if l.n == 0 {
		return l
	}
	l.off = make([]uint32, l.buckets()+1)
	for i := 0; i < len(recs); i += recordSize {
		l.off[l.bucket(recs[i])+1]++
		for k := range l.most {
			l.most[k] = max(l.most[k], recs[i+k])
		}
	}
	for i := 1; i < len(l.off); i++ {
		l.off[i] += l.off[i-1]
	}
	at := slices.Clone(l.off)
	l.recs = make([]uint32, len(recs))
	for i := 0; i < len(recs); i += recordSize {
		b := l.bucket(recs[i])
		copy(l.recs[recordSize*at[b]:], recs[i:i+recordSize])
		at[b]++
	}
	return l
}

// buckets returns the number of buckets.
func (l *level) buckets() uint32 { return bucketsFor(uint32(l.n)) }

// bucket returns the bucket of the records that begin with a number. It multiplies by an odd
// constant near 2^32 divided by the golden ratio, so that consecutive numbers spread. The function
// must never change, because stored levels depend on it.
func (l *level) bucket(first uint32) uint32 {
	return first * 0x9e3779b1 >> (bits.LeadingZeros32(l.buckets()) + 1)
}

// list returns the records in the bucket of a number.
func (l *level) list(first uint32) []uint32 {
	if l.pending.Left() && l.byPieces() {
		return l.storedList(first)
	}
	if l.n == 0 {
		return nil
	}
	b := l.bucket(first)
	return l.recs[recordSize*l.off[b] : recordSize*l.off[b+1]]
}

// storedList does the work of list for a level that has not been read whole.
//
//go:noinline
func (l *level) storedList(first uint32) []uint32 {
	from, to := column.Span(l.block(".f", int(l.buckets())+1), int(l.bucket(first)), l.n)
	recs := l.block(".r", recordSize*l.n).Range(recordSize*from, recordSize*to)
	l.check(recs)
	return recs
}

// byPieces reports whether a lookup must read only the records of its bucket from the segment. If it
// returns false, the whole level has been read.
//
//go:noinline
func (l *level) byPieces() bool {
	return l.pending.ByPieces(1, func() int { return 4 * (int(l.buckets()) + 1 + recordSize*l.n) }, nil, l.read)
}

// block opens a block of n numbers of a stored level; `suffix` ends the name of the block.
func (l *level) block(suffix string, n int) column.Block[uint32] {
	return column.OpenBlockOf[uint32](l.stored.Source, l.stored.Name+suffix, n)
}

// check throws a fault if a number of a record exceeds the greatest one. Callers use the numbers as
// array indexes.
func (l *level) check(recs []uint32) {
	for i := 0; i < len(recs); i += recordSize {
		for k, most := range l.most {
			if recs[i+k] > most {
				l.stored.Fail("a record has the number %d, expected %d at most", recs[i+k], most)
			}
		}
	}
}

// load reads a stored level whole, unless that has been done.
func (l *level) load() { l.pending.Resolve(l.read) }

// read reads and checks a stored level.
func (l *level) read() {
	src, name := l.stored.Source, l.stored.Name
	l.off = column.Read[uint32](src, name+".f", int(l.buckets())+1)
	column.CheckOffsets(src, name+".f", l.off, l.n)
	l.recs = column.Read[uint32](src, name+".r", recordSize*l.n)
	l.check(l.recs)
}

// appendDescriptor appends the descriptor of the level.
func (l *level) appendDescriptor(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(l.n))
	for _, most := range l.most {
		dst = binary.AppendUvarint(dst, uint64(most))
	}
	return dst
}

// addBlocks passes the blocks of the level to `add`.
func (l *level) addBlocks(name string, add func(name string, data []byte) error) error {
	if l.n == 0 {
		return nil
	}
	l.load()
	if err := add(name+".f", column.Bytes(l.off)); err != nil {
		return err
	}
	return add(name+".r", column.Bytes(l.recs))
}

// openLevel returns a stored level, and the rest of the descriptor; ok is false if the descriptor is
// malformed or has an ordinal (the third number) that is not below `ords`.
func openLevel(desc []byte, name string, src column.Source, ords uint32) (l *level, rest []byte, ok bool) {
	var n [1 + recordSize]uint64
	if rest, ok = ReadUvarints(desc, n[:]); !ok {
		return nil, nil, false
	}
	if n[0] == 0 {
		return &level{}, rest, n == [1 + recordSize]uint64{}
	}
	if n[0] > 1<<31 || n[recordSize] >= uint64(ords) {
		return nil, nil, false
	}
	l = &level{n: int(n[0]), stored: BlockPlace{src, name}}
	for k := range l.most {
		l.most[k] = uint32(n[1+k])
	}
	l.pending.Defer()
	return l, rest, true
}

// records appends the records of the levels.
func records(dst []uint32, levels []*level) []uint32 {
	for _, l := range levels {
		if l.n > 0 {
			l.load()
			dst = append(dst, l.recs...)
		}
	}
	return dst
}

// countRecords returns the number of records in the levels.
func countRecords(levels []*level) (n int) {
	for _, l := range levels {
		n += l.n
	}
	return n
}

// alive returns the records whose ordinals are not dead. It changes the list `recs`.
func alive(recs []uint32, rows *Rows) []uint32 {
	kept := recs[:0]
	for i := 0; i < len(recs); i += recordSize {
		if rows.Get(recs[i+recordSize-1]) != Dead {
			kept = append(kept, recs[i:i+recordSize]...)
		}
	}
	return kept
}

// withoutOutdated removes the records with outdated hashes. Only an ordinal with several records can
// have outdated ones, so withoutOutdated calls the function `hash` only for such ordinals: `hash`
// returns the hash of the ordinal's present values, or false if they have none. All ordinals must be
// below `next`. It changes the list `recs`.
func withoutOutdated(recs []uint32, next uint32, hash func(ord uint32) (uint64, bool)) []uint32 {
	seen, several := engine.NewBitmap(int(next)), engine.NewBitmap(int(next))
	for i := 0; i < len(recs); i += recordSize {
		if ord := int(recs[i+2]); seen.Get(ord) {
			several.Set(ord)
		} else {
			seen.Set(ord)
		}
	}
	listed := engine.NewBitmap(int(next)) // the ordinals in `several` whose record is in `kept`
	kept := recs[:0]
	for i := 0; i < len(recs); i += recordSize {
		rec := recs[i : i+recordSize]
		if ord := rec[2]; several.Get(int(ord)) {
			h, ok := hash(ord)
			if !ok || uint32(h) != rec[0] || uint32(h>>32) != rec[1] || listed.Get(int(ord)) {
				continue
			}
			listed.Set(int(ord))
		}
		kept = append(kept, rec...)
	}
	return kept
}

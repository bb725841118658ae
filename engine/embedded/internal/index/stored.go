package index

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/format"
)

// A base is stored as a descriptor and blocks of 4-byte numbers, little-endian:
//
//	hash       heads    uvarint, a power of two, or 0 without a base
//	           next     uvarint, ordinals
//	  name.h   heads
//	  name.n   next
//	adjacency  off      uvarint, nodes at this end, plus one; 0 without a base
//	           edges    uvarint
//	           bounds   2 uvarints: exclusive upper bounds of the edge ordinals and of
//	                    the node ordinals at the other end
//	           multi    1 byte: 1 when two edges join the same pair
//	  name.f   off
//	  name.e   edges
//	  name.o   other ends

// BlockPlace says where a base is stored.
type BlockPlace struct {
	Source column.Source // the segment with the blocks
	Name   string        // first part of the names of its blocks
}

// Fail throws an *engine.Corrupt for the stored base.
func (p *BlockPlace) Fail(format string, args ...any) {
	corruption.Corrupt(p.Source.Name(), "index "+p.Name+": "+format, args...)
}

// Check throws the error of [format.Kind.Check] for the format number of the index.
func (p *BlockPlace) Check(k format.Kind, number uint32) {
	if err := k.Check(p.Source.Name(), "index "+p.Name, number); err != nil {
		corruption.Throw(err)
	}
}

// AppendDescriptor appends the descriptor of a level; level 0 is the base.
func (x *Hash) AppendDescriptor(dst []byte, level int) []byte {
	if level > 0 {
		return x.later[level-1].appendDescriptor(dst)
	}
	b := x.base
	if b == nil {
		b = &hashBase{}
	}
	b.load()
	dst = binary.AppendUvarint(dst, uint64(len(b.heads)))
	return binary.AppendUvarint(dst, uint64(len(b.next)))
}

// Blocks passes the blocks of a level to `add`, one after another.
func (x *Hash) Blocks(level int, name string, add func(name string, data []byte) error) error {
	if level > 0 {
		return x.later[level-1].addBlocks(name, add)
	}
	b := x.base
	if b == nil {
		return nil
	}
	b.load()
	if err := add(name+".h", column.Bytes(b.heads)); err != nil {
		return err
	}
	return add(name+".n", column.Bytes(b.next))
}

// OpenHash returns the index of a stored base, and the rest of the descriptor; ok is false
// if the descriptor is malformed. Each lookup at first reads only the parts of the blocks that it
// needs. After many lookups, the blocks are read whole; see [column.Pending.ByPieces]. Lookups
// throw the faults that they find; see package corruption.
func OpenHash(desc []byte, name string, src column.Source) (x Hash, rest []byte, ok bool) {
	var n [2]uint64
	if rest, ok = ReadUvarints(desc, n[:]); !ok || n[0] > 0 && bits.OnesCount64(n[0]) != 1 {
		return Hash{}, nil, false
	}
	if n[0] == 0 {
		return Hash{}, rest, n[1] == 0
	}
	b := &hashBase{nHeads: int(n[0]), nNext: int(n[1]), stored: BlockPlace{src, name}}
	b.pending.Defer()
	return Hash{base: b}, rest, true
}

// OpenLevel adds a stored level after the others, under the same rules as [OpenHash]. All ordinals of
// the level must be below `ords`.
func (x *Hash) OpenLevel(desc []byte, name string, src column.Source, ords uint32) (rest []byte, ok bool) {
	l, rest, ok := openLevel(desc, name, src, ords)
	if ok {
		x.later = append(slices.Clip(x.later), l) // copies of the index may share the array
	}
	return rest, ok
}

// Load reads the stored levels as a whole, and throws the faults that it finds.
func (x *Hash) Load() {
	if x.base != nil {
		x.base.load()
	}
	for _, l := range x.later {
		l.load()
	}
}

// Records returns the number of entries in a level after the base.
func (x *Hash) Records(level int) int { return x.later[level-1].n }

// Covered returns the number of ordinals that the base covers.
func (x *Hash) Covered() uint32 {
	switch {
	case x.base == nil:
		return 0
	case x.base.stored.Source != nil:
		return uint32(x.base.nNext)
	}
	return uint32(len(x.base.next))
}

// AppendDescriptor appends the descriptor of a level; level 0 is the base.
func (a *Adjacency) AppendDescriptor(dst []byte, level int) []byte {
	if level > 0 {
		return a.later[level-1].appendDescriptor(dst)
	}
	b := a.base
	if b == nil {
		b = &adjacencyBase{}
	}
	b.load()
	for _, n := range []int{len(b.off), len(b.edge), int(b.edges), int(b.others)} {
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	if b.multi {
		return append(dst, 1)
	}
	return append(dst, 0)
}

// Blocks passes the blocks of a level to `add`, one after another.
func (a *Adjacency) Blocks(level int, name string, add func(name string, data []byte) error) error {
	if level > 0 {
		return a.later[level-1].addBlocks(name, add)
	}
	b := a.base
	if b == nil {
		return nil
	}
	b.load()
	if err := add(name+".f", column.Bytes(b.off)); err != nil {
		return err
	}
	if err := add(name+".e", column.Bytes(b.edge)); err != nil {
		return err
	}
	return add(name+".o", column.Bytes(b.other))
}

// OpenAdjacency returns the index of a stored base, under the same rules as [OpenHash].
func OpenAdjacency(desc []byte, name string, src column.Source) (a Adjacency, rest []byte, ok bool) {
	var n [4]uint64
	if rest, ok = ReadUvarints(desc, n[:]); !ok || len(rest) == 0 || rest[0] > 1 {
		return Adjacency{}, nil, false
	}
	multi := rest[0] == 1
	rest = rest[1:]
	if n[0] == 0 {
		return Adjacency{}, rest, n == [4]uint64{} && !multi
	}
	b := &adjacencyBase{nOff: int(n[0]), nEdge: int(n[1]), edges: uint32(n[2]), others: uint32(n[3]), multi: multi, stored: BlockPlace{src, name}}
	b.pending.Defer()
	return Adjacency{base: b}, rest, true
}

// OpenLevel adds a stored level after the others, under the same rules as [OpenHash]. All ordinals of
// edges in the level must be below `edges`.
func (a *Adjacency) OpenLevel(desc []byte, name string, src column.Source, edges uint32) (rest []byte, ok bool) {
	l, rest, ok := openLevel(desc, name, src, edges)
	if !ok || l.most[0] == math.MaxUint32 || l.most[1] == math.MaxUint32 { // so that Bounds does not overflow
		return nil, false
	}
	a.later = append(slices.Clip(a.later), l)
	return rest, true
}

// Load reads the stored levels as a whole, and throws the faults that it finds.
func (a *Adjacency) Load() {
	if a.base != nil {
		a.base.load()
	}
	for _, l := range a.later {
		l.load()
	}
}

// Records returns the number of edges in a level after the base.
func (a *Adjacency) Records(level int) int { return a.later[level-1].n }

// Bounds returns exclusive upper bounds of the ordinals in the base and in the levels after it: of
// the nodes at this end, of the nodes at the other end, and of the edges.
func (a *Adjacency) Bounds() (here, others, edges uint32) {
	switch b := a.base; {
	case b == nil:
	case b.stored.Source != nil:
		here, others, edges = uint32(b.nOff-1), b.others, b.edges
	default:
		here, others, edges = uint32(len(b.off)-1), b.others, b.edges
	}
	for _, l := range a.later {
		if l.n > 0 {
			here, others, edges = max(here, l.most[0]+1), max(others, l.most[1]+1), max(edges, l.most[2]+1)
		}
	}
	return here, others, edges
}

// ReadUvarints reads len(out) uvarints, each less than 1<<32.
func ReadUvarints(b []byte, out []uint64) (rest []byte, ok bool) {
	for i := range out {
		n, k := binary.Uvarint(b)
		if k <= 0 || n >= 1<<32 {
			return nil, false
		}
		out[i], b = n, b[k:]
	}
	return b, true
}

package segment

import (
	"encoding/binary"
	"fmt"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/codec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
)

// Stamp is the origin of a row: the commits that made its entity and last changed it, by the numbers that package ancestry
// gives them; 0 for a commit that is not known.
type Stamp struct{ Made, Changed uint32 }

// Stamps are the stamps of the rows of a segment that is made in memory. If all rows have the same one, the lists are nil.
type Stamps struct {
	Made, Changed []uint32 // by row
	Same          Stamp    // of all rows, if the lists are nil
}

// Add appends the stamp of the next row.
func (s *Stamps) Add(at Stamp) {
	s.Made, s.Changed = append(s.Made, at.Made), append(s.Changed, at.Changed)
}

// Pack drops the lists if all rows have the same stamp.
func (s *Stamps) Pack() {
	for i := range s.Made {
		if s.Made[i] != s.Made[0] || s.Changed[i] != s.Changed[0] {
			return
		}
	}
	if len(s.Made) > 0 {
		*s = Stamps{Same: Stamp{s.Made[0], s.Changed[0]}}
	}
}

// stampBlocks are the names of the blocks that hold the stamps of a stored segment.
var stampBlocks = [2]string{"made", "changed"}

// How the block meta says which stamps the rows have.
const (
	noStamps   = 0 // none
	listStamps = 1 // those in the two blocks
	sameStamp  = 2 // all the same one, which follows
)

// append calls `add` for the blocks of the stamps, if there are any, and appends to the block meta what it says about them.
func (s *Stamps) append(meta []byte, add func(name string, data []byte) error) ([]byte, error) {
	switch {
	case s.Made == nil && s.Same == Stamp{}:
		return append(meta, noStamps), nil
	case s.Made == nil:
		meta = append(meta, sameStamp)
		return binary.AppendUvarint(binary.AppendUvarint(meta, uint64(s.Same.Made)), uint64(s.Same.Changed)), nil
	}
	if err := add(stampBlocks[0], column.Bytes(s.Made)); err != nil {
		return nil, err
	}
	return append(meta, listStamps), add(stampBlocks[1], column.Bytes(s.Changed))
}

// openStamps reads what append wrote to the block meta.
func (s *Segment) openStamps(r *codec.Reader, src column.Source) {
	switch how := r.Byte(); how {
	case noStamps:
	case listStamps:
		s.listed = newPair(src, stampBlocks, s.N)
	case sameStamp:
		s.Stamps.Same = Stamp{r.Ordinal(), r.Ordinal()}
	default:
		r.Fail(fmt.Sprintf("the stamps have the unknown code %d", how))
	}
}

// StampOf returns the stamp of row i.
func (s *Segment) StampOf(i uint32) Stamp {
	switch {
	case s.listed != nil:
		made, changed := s.listed.at(i)
		return Stamp{made, changed}
	case s.Stamps.Made == nil:
		return s.Stamps.Same
	}
	return Stamp{s.Stamps.Made[i], s.Stamps.Changed[i]}
}

// allStamps returns the stamps of all rows.
func (s *Segment) allStamps() Stamps {
	if s.listed == nil {
		return s.Stamps
	}
	made, changed := s.listed.all()
	return Stamps{Made: made, Changed: changed}
}

// stampBytes returns the size of the stamps in bytes.
func (s *Segment) stampBytes() int64 {
	if s.listed == nil && s.Stamps.Made == nil {
		return 0
	}
	return 8 * int64(s.N)
}

// pair is two numbers for each row of a stored segment, such as the ends of an edge.
type pair struct {
	pending       column.Pending // whether the numbers must still be read
	source        column.Source  // the blocks of the segment
	blocks        [2]string      // the names of the blocks
	n             uint32         // number of rows
	first, second []uint32       // by row
}

// newPair returns the numbers in two blocks of n rows, which are read on first use.
func newPair(src column.Source, blocks [2]string, n uint32) *pair {
	p := &pair{source: src, blocks: blocks, n: n}
	p.pending.Defer()
	return p
}

// all returns the numbers of all rows.
func (p *pair) all() (first, second []uint32) {
	if p.pending.Left() {
		p.pending.Resolve(p.read)
	}
	return p.first, p.second
}

// at returns the numbers of row i.
func (p *pair) at(i uint32) (first, second uint32) {
	if p.pending.Left() && p.pending.ByPieces(1, func() int { return 8 * int(p.n) }, nil, p.read) {
		at := func(block string) uint32 { return column.OpenBlockOf[uint32](p.source, block, int(p.n)).At(int(i)) }
		return at(p.blocks[0]), at(p.blocks[1])
	}
	return p.first[i], p.second[i]
}

// read reads the numbers from the segment.
func (p *pair) read() {
	p.first = column.Read[uint32](p.source, p.blocks[0], int(p.n))
	p.second = column.Read[uint32](p.source, p.blocks[1], int(p.n))
}

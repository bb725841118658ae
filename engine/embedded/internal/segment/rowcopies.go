package segment

import (
	"slices"
	"sync/atomic"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// copies holds the values of a stored segment once more, row by row, if reads often look up single
// rows of the segment.
type copies struct {
	made    atomic.Pointer[CopiedRows] // nil until they are made
	lookups atomic.Int64               // rows looked up so far; not counted any more once `begun` is set
	begun   atomic.Bool                // whether a goroutine makes the copies, or has tried to
}

// CopiedRows are the copies of the rows of a segment.
type CopiedRows struct {
	*column.RowCopies
	IDs Serial // describes the ids of the segment
}

// FirstLookups is the number of lookups of rows after which the rows of a segment are copied. One
// more lookup is needed for each copyShare rows of the segment. Tests lower it, so that even short
// reads use the copies.
var FirstLookups int64 = 64

// copyShare is the number of rows of a segment for each lookup that is needed before the rows are
// copied.
const copyShare = 256

// newCopies returns the copies for a new segment, not made yet. It returns nil for segments
// of edges, because queries seldom look up several properties of an edge.
func newCopies(t *schema.Type) *copies {
	if t.Entity == plan.Edge {
		return nil
	}
	return &copies{}
}

// ByRow returns the copies of the segment's rows, or nil.
func (s *Segment) ByRow() *CopiedRows {
	if s.copies == nil {
		return nil
	}
	return s.copies.made.Load()
}

// CountLookup counts the lookup of a row. When there were enough lookups, it begins to copy the
// rows of the segment.
func (s *Segment) CountLookup(t *schema.Type) {
	c := s.copies
	if c == nil || c.begun.Load() || c.lookups.Add(1) < FirstLookups+int64(s.N/copyShare) || !c.begun.CompareAndSwap(false, true) {
		return
	}
	props, id, n, field := slices.Clone(s.Props), s.ID, s.N, t.IDProp
	column.InBackground(func() {
		if id != nil {
			props = append(props, id)
			field = len(props) - 1
		}
		made := column.NewRowCopies(props, n)
		if made == nil {
			return
		}
		r := &CopiedRows{RowCopies: made}
		if made.Has(field) {
			r.IDs = serialIDs(n, func(row uint32) string { return made.Str(field, row) })
		}
		c.made.Store(r)
	})
}

// scattered bounds the rows that are read from the copies: several rows of a batch are read from
// the columns if the rows of the segment from the first to the last are at most `scattered` times
// as many. Such rows share the cache lines of the columns.
const scattered = 8

// Gather writes the values of a column at the given rows into dst. The argument `field` is the
// position of the column `c` in the copies.
func (s *Segment) Gather(field int, c *column.Column, dst *column.Vec, at int, rows []uint32) {
	if r := s.ByRow(); r != nil && len(rows) > 0 && r.Has(field) &&
		(len(rows) == 1 || rows[len(rows)-1]-rows[0] > scattered*uint32(len(rows))) {
		r.Gather(field, dst, at, rows)
		return
	}
	c.Gather(dst, at, rows)
}

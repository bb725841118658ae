package version

import (
	"slices"
	"sync/atomic"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// copies holds the values of a stored segment once more, as records, if reads often look up single
// rows of the segment. A record has the values of a row side by side.
type copies struct {
	records atomic.Pointer[records] // nil until they are made
	uses    atomic.Int64            // rows looked up so far
	begun   atomic.Bool             // whether a goroutine makes the records, or has tried to
}

// records are the records of a segment.
type records struct {
	*column.Records
	ids serial
}

// FirstLookups is the number of looked-up rows after which the records of a segment are made. One
// more for each recordShare rows of the segment is needed. Tests lower it, so that even short reads
// use records.
var FirstLookups int64 = 64

// recordShare is the number of rows of a segment for each lookup that is needed before its records
// are made. Reading a row from its record instead of the columns saves more time than making a few
// records takes.
const recordShare = 256

// newCopies returns the copies for a new segment, without records. It returns nil for segments
// of edges, because queries seldom look up several properties of an edge.
func newCopies(t *Type) *copies {
	if t.Entity == plan.Edge {
		return nil
	}
	return &copies{}
}

// byRow returns the records of the segment, or nil.
func (s *Segment) byRow() *records {
	if s.copies == nil {
		return nil
	}
	return s.copies.records.Load()
}

// used counts the lookup of a row. It begins to make the records of the segment when they are
// worth it.
func (s *Segment) used(t *Table) {
	c := s.copies
	if c == nil || c.begun.Load() || c.uses.Add(1) < FirstLookups+int64(s.N/recordShare) || !c.begun.CompareAndSwap(false, true) {
		return
	}
	props, id, n, field := slices.Clone(s.Props), s.ID, s.N, t.Type.IDProp
	column.InBackground(func() {
		if id != nil {
			props = append(props, id)
			field = len(props) - 1
		}
		made := column.NewRecords(props, n)
		if made == nil {
			return
		}
		r := &records{Records: made}
		if made.Has(field) {
			r.ids = serialIDs(n, func(row uint32) string { return made.Str(field, row) })
		}
		c.records.Store(r)
	})
}

// scattered is the number of rows of a segment per row of a batch from which a batch is read
// from the records. Rows that lie closer share the cache lines of the columns.
const scattered = 8

// gather writes the values of a column at the given rows into dst. The argument `field` is the
// position of the column `c` in the records.
func (s *Segment) gather(field int, c *column.Column, dst *column.Vec, at int, rows []uint32) {
	if r := s.byRow(); r != nil && len(rows) > 0 && r.Has(field) &&
		(len(rows) == 1 || rows[len(rows)-1]-rows[0] > scattered*uint32(len(rows))) {
		r.Gather(field, dst, at, rows)
		return
	}
	c.Gather(dst, at, rows)
}

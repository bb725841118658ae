package version

import "github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"

// textRows reads the texts of one column of a table. If the rows of each segment are read in order, it
// keeps only a few decompressed texts of each in memory. Only one goroutine may use it.
type textRows struct {
	t       *Rows
	column  func(s *Segment) *column.Column // returns the column of a segment
	segment *Segment                        // the segment of the last row; nil before the first one
	reader  *column.TextReader              // reads the texts of the segment
	last    uint32                          // number of the last row in its segment
	// readers holds the readers of the segments so far, without the segments that have been read to
	// their end.
	readers map[*Segment]*column.TextReader
}

// newTextRows returns a reader of the rows that are in segments.
func newTextRows(t *Rows, of func(s *Segment) *column.Column) *textRows {
	return &textRows{t: t, column: of, readers: map[*Segment]*column.TextReader{}}
}

// at returns the reader of the segment that contains a row, and the number of the row there.
// REQUIRES: the row is not in the tail of the table.
func (x *textRows) at(row uint32) (*column.TextReader, uint32) {
	if s := x.segment; s == nil || row-s.Start >= s.N {
		if s != nil && (x.last == 0 || x.last == s.N-1) {
			delete(x.readers, s)
		}
		x.segment = x.t.segment(row)
		if x.reader = x.readers[x.segment]; x.reader == nil {
			x.reader = column.NewTextReader(x.column(x.segment))
			x.readers[x.segment] = x.reader
		}
	}
	x.last = row - x.segment.Start
	return x.reader, x.last
}

// newTexts returns a reader of the texts of String property p.
func newTexts(t *Rows, p int) textsOf {
	return textsOf{newTextRows(t, func(s *Segment) *column.Column { return s.Props[p] }), p}
}

// textsOf implements [index.Texts] for property p of a table.
type textsOf struct {
	*textRows
	p int
}

// Text implements [index.Texts].
func (x textsOf) Text(row uint32) (string, bool) {
	if row >= x.t.base {
		return x.t.textAt(row, x.p)
	}
	r, i := x.at(row)
	return r.Text(i)
}

// Size implements [index.Texts].
func (x textsOf) Size(row uint32) int {
	if row >= x.t.base {
		s, _ := x.t.textAt(row, x.p)
		return len(s)
	}
	r, i := x.at(row)
	return r.Size(i)
}

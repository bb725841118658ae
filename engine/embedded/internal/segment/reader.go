package segment

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Reader reads rows of a segment. Only one goroutine may use it.
type Reader struct {
	*Segment
	// texts reads the texts of some columns without decompressing them whole: by property, and last
	// those of the ids. It is nil if all values are read from the columns.
	texts []*column.TextReader
}

// InOrder returns a reader of rows in ascending order. It keeps few texts in memory.
func (s *Segment) InOrder() *Reader {
	r := &Reader{s, make([]*column.TextReader, len(s.Props)+1)}
	for p, c := range s.Props {
		if t := c.Type(); t.Kind == value.String && !t.List {
			r.texts[p] = column.NewTextReader(c)
		}
	}
	if s.ID != nil {
		r.texts[len(s.Props)] = column.NewTextReader(s.ID)
	}
	return r
}

// EntityID returns the id in row i; it is in no property. The result is valid until the next call.
func (r *Reader) EntityID(i uint32) string {
	if r.texts == nil {
		return r.ID.Str(i)
	}
	id, _ := r.texts[len(r.Props)].Text(i)
	return id
}

// Value returns property p of row i. The result is valid until the next call for the property.
func (r *Reader) Value(i uint32, p int) value.Value {
	if r.texts == nil || r.texts[p] == nil {
		return r.Props[p].Value(i)
	}
	if text, ok := r.texts[p].Text(i); ok {
		return value.OfString(text)
	}
	return value.Null
}

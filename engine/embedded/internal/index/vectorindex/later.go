package vectorindex

import (
	"cmp"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
)

// laterVectors are the codes of vectors that are not in the graph.
type laterVectors struct {
	column.Codes
	ords map[uint32]uint32 // by row
}

// laterChunk is the number of vectors at which a chunk is full: Update adds no more vectors to it.
const laterChunk = 256

// LaterBytes returns the approximate memory, in bytes, that a vector outside the graph takes.
func (g *Graph) LaterBytes() int { return g.stride + 56 }

// laterCollector collects the vectors that are added to a view.
type laterCollector struct {
	index.Work
	vector Vectors      // returns the vector of a row
	size   int          // LaterBytes of the graph
	places []laterPlace // of the vectors that are not null
	paid   int          // number of vectors for which Spend was called
	seen   int          // number of calls of the method `add`
	err    error        // of the context or of Spend; ends the collection
}

// laterPlace contains the row number and the ordinal of an entity.
type laterPlace struct{ row, ord uint32 }

// add collects the vector of an entity, if it is not null.
func (c *laterCollector) add(ord, row uint32) {
	if c.seen++; c.err == nil && c.seen%index.CancelEvery == 0 {
		c.err = c.Ctx.Err()
	}
	if c.err != nil {
		return
	}
	if _, ok := c.vector(row); !ok {
		return
	}
	if len(c.places) == c.paid && c.Spend != nil {
		c.paid += laterChunk
		if c.err = c.Spend(laterChunk * c.size); c.err != nil {
			return
		}
	}
	c.places = append(c.places, laterPlace{row, ord})
}

// finish computes the codes of the collected vectors and adds them to v. REQUIRES: v is under
// construction.
func (c *laterCollector) finish(v *View) error {
	if c.err != nil || len(c.places) == 0 {
		return c.err
	}
	if n := len(v.later); n > 0 && len(v.later[n-1].Rows) < laterChunk {
		last := v.later[n-1]
		for row, ord := range last.ords {
			if v.rows.Get(ord) == row {
				c.places = append(c.places, laterPlace{row, ord})
			}
		}
		v.added -= len(last.Rows)
		v.later = slices.Clip(v.later[:n-1])
	}
	slices.SortFunc(c.places, func(a, b laterPlace) int { return cmp.Compare(a.row, b.row) })
	l := &laterVectors{Codes: *column.NewCodes(v.graph.dim), ords: make(map[uint32]uint32, len(c.places))}
	for i, p := range c.places {
		if i%index.CancelEvery == 0 {
			if err := c.Ctx.Err(); err != nil {
				return err
			}
		}
		if x, ok := c.vector(p.row); ok {
			l.Add(p.row, x)
			l.ords[p.row] = p.ord
		}
	}
	v.added += len(l.Rows)
	v.later = append(v.later, l)
	return nil
}

package exec

import (
	"math"

	"github.com/omnigraph-go/omnigraph/engine/embedded/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/index"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// nearness picks candidates for the closest vectors: each has a distance in float32,
// which is off by no more than a margin.
type nearness struct {
	unit   []float32 // the target, of length 1
	margin float64
	limit  int
	worst  []float64 // a heap of the least upper bounds, the greatest on top
	ords   []uint32  // candidates
	floor  []float64 // their lower bounds
	scan   []uint32
}

// closest lists, in ascending order, the entities that can be among the limit closest to
// a target, ties included.
func (st *state) closest(e *expr, limit int) ([]uint32, error) {
	d, t := st.distances[e.score], &st.targets[e.score]
	if t.vector == nil {
		return nil, nil
	}
	near := &st.near
	near.begin(t, limit)
	table := st.table(d.v)
	if cap(near.scan) < frameSize {
		near.scan = make([]uint32, frameSize)
	}
	for next := uint32(0); next < table.Ordinals(); {
		if err := st.tick(frameSize); err != nil {
			return nil, err
		}
		n, more := table.Scan(next, near.scan[:frameSize])
		next = more
		ords := near.scan[:n]
		table.EachColumn(d.prop, ords, &st.scratch, func(at int, c *column.Column, rows []uint32) {
			near.column(ords[at:], c, rows)
		}, func(at int, v value.Value) {
			if !v.IsNull() {
				dist := t.distance(v.Vector())
				near.add(ords[at], dist, dist)
			}
		})
	}
	return near.candidates(), nil
}

func (near *nearness) begin(t *target, limit int) {
	near.unit = near.unit[:0]
	if 1e-12 < t.length && t.length < 1e12 {
		for _, x := range t.vector {
			near.unit = append(near.unit, float32(float64(x)/t.length))
		}
	}
	near.margin = float64(len(t.vector)+16) / (1 << 23)
	near.limit = limit
	near.worst, near.ords, near.floor = near.worst[:0], near.ords[:0], near.floor[:0]
}

// column looks at rows of a column.
func (near *nearness) column(ords []uint32, c *column.Column, rows []uint32) {
	data, dim := c.Vectors()
	inverse := c.InverseLengths()
	for i, r := range rows {
		inv := inverse[r]
		switch {
		case inv != inv:
			continue // null
		case len(near.unit) == 0 || math.IsInf(float64(inv), 0):
			near.add(ords[i], math.Inf(-1), math.Inf(1))
			continue
		}
		dist := 1 - float64(index.Dot(data[int(r)*dim:(int(r)+1)*dim], near.unit)*inv)
		if len(near.worst) == near.limit && dist-near.margin > near.worst[0] {
			continue
		}
		near.add(ords[i], dist-near.margin, dist+near.margin)
	}
}

// add takes an entity whose distance lies between two bounds.
func (near *nearness) add(ord uint32, low, high float64) {
	full := len(near.worst) == near.limit
	if full && low > near.worst[0] {
		return
	}
	near.ords, near.floor = append(near.ords, ord), append(near.floor, low)
	h := near.worst
	switch {
	case !full:
		h = append(h, high)
		for i := len(h) - 1; i > 0 && h[(i-1)/2] < h[i]; i = (i - 1) / 2 {
			h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
		}
		near.worst = h
	case high < h[0]:
		h[0] = high
		for i := 0; ; {
			c := 2*i + 1
			if c >= len(h) {
				return
			}
			if c+1 < len(h) && h[c+1] > h[c] {
				c++
			}
			if h[i] >= h[c] {
				return
			}
			h[i], h[c] = h[c], h[i]
			i = c
		}
	}
}

// candidates lists the entities that the bounds leave.
func (near *nearness) candidates() []uint32 {
	kept := near.ords[:0]
	for i, ord := range near.ords {
		if len(near.worst) < near.limit || near.floor[i] <= near.worst[0] {
			kept = append(kept, ord)
		}
	}
	near.ords = kept
	return kept
}

package exec

import (
	"math"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index/vectorindex"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/segment"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
)

// candidateSelector selects candidates for the vectors closest to a target; `limit` is the number of closest
// vectors. Each vector has a lower and an upper bound of its distance. The bounds come from the
// codes of the vector, or both are its exact distance. If the upper bounds are sorted, the one at
// position `limit` is the greatest distance that matters: candidateSelector keeps the vectors with a lower
// bound of at most this distance.
type candidateSelector struct {
	target         *eval.Target     // the query vector
	query          []int16          // scale·query approximates the target's direction; empty if it has none
	scale          float64          // see query
	residual       float64          // length of the direction minus scale·query
	roundingMargin float64          // more than the rounding error of any estimate
	limit          int              // number of entities that the read asks for
	least          float32          // see adder
	upperBounds    []float64        // a max-heap of the least upper bounds
	ords           []uint32         // candidates
	lowerBounds    []float64        // lower bounds of the candidates
	sums           [nearBlock]int32 // inner products of one block
	moved          []uint32         // memory for Table.Moved
}

const (
	// nearBlock is the number of vectors that are compared with a target at once.
	nearBlock = 256
	// candidateBytes is the memory per candidate, in bytes.
	candidateBytes = 12
	// float32Slack exceeds the rounding error of a product of two numbers of at most 1.1 in
	// single precision, including the rounding of the factors.
	float32Slack = 1e-5
)

// closest returns, in ascending order, the entities that can be among the `limit` entities closest
// to a target, including ties. The only possible errors are that of the context and a
// *engine.TooLarge.
func (m *matcher) closest(e *ir.Expr, limit int) ([]uint32, error) {
	d, t := m.Distances[e.Score], &m.Targets[e.Score]
	if t.Vector == nil || limit == 0 {
		return nil, nil
	}
	near := &m.near
	near.begin(t, limit)
	table := m.Table(d.Var)
	if len(near.query) > 0 {
		view, err := m.approximateIndex(table, d.Prop)
		if view != nil {
			err = m.approximately(view, limit, nil, 1)
		}
		if view != nil || err != nil {
			near.end()
			return near.candidates(), err
		}
	}
	for _, s := range table.Segs {
		if err := m.closestIn(table, s, d.Prop); err != nil {
			return nil, err
		}
	}
	if near.moved == nil {
		near.moved = make([]uint32, eval.FrameSize)
	}
	err := table.Moved(near.moved, func(ords []uint32) error {
		before := len(near.ords)
		for _, ord := range ords {
			if v := table.Value(ord, d.Prop); !v.IsNull() {
				near.addExact(ord, v.Vector())
			}
		}
		if err := m.Tick(eval.FrameSize); err != nil {
			return err
		}
		return m.Spend((len(near.ords) - before) * candidateBytes)
	})
	near.end()
	return near.candidates(), err
}

// closestIn adds the entities that have their current row in the segment.
func (m *matcher) closestIn(table *version.Table, s *segment.Segment, prop int) error {
	near, c := &m.near, s.Props[prop]
	codes, err := c.Codes(m.Ctx.Err)
	if err != nil {
		return err
	}
	for _, row := range codes.NotFinite {
		if ord, ok := table.Home(s, row); ok {
			near.add(ord, math.Inf(-1), math.Inf(1))
		}
	}
	for first := 0; first < len(codes.Rows); first += nearBlock {
		if err := m.Tick(nearBlock); err != nil {
			return err
		}
		before := len(near.ords)
		near.block(table, s, c, codes, first, min(nearBlock, len(codes.Rows)-first))
		if err := m.Spend((len(near.ords) - before) * candidateBytes); err != nil {
			return err
		}
	}
	return nil
}

// begin prepares for a search of the `limit` vectors closest to t.
func (near *candidateSelector) begin(t *eval.Target, limit int) {
	near.target, near.limit = t, limit
	near.query = near.query[:0]
	near.upperBounds, near.ords, near.lowerBounds = near.upperBounds[:0], near.ords[:0], near.lowerBounds[:0]
	if t.Length == 0 || math.IsNaN(t.Length) || math.IsInf(t.Length, 0) {
		return
	}
	dim := len(t.Vector)
	padded := (dim + column.CodeStep - 1) / column.CodeStep * column.CodeStep
	// The greatest component for which an inner product with codes stays below 2³¹.
	most := min(math.MaxInt16, (math.MaxInt32-1)/(127*float64(padded)))
	if most < 1 {
		return
	}
	most = math.Floor(most)
	var greatest float64
	for _, y := range t.Vector {
		greatest = max(greatest, math.Abs(float64(y)))
	}
	near.scale = greatest / t.Length / most
	var lack float64
	for _, y := range t.Vector {
		q := float64(y) / t.Length
		code := max(-most, min(most, math.RoundToEven(q/near.scale)))
		near.query = append(near.query, int16(code))
		lack += (q - near.scale*code) * (q - near.scale*code)
	}
	for len(near.query) < padded {
		near.query = append(near.query, 0)
	}
	// The rounding error of a sum of n products is at most n times the value of the last of 53
	// bits, since the absolute values of the products add up to at most 1.
	near.roundingMargin = 1e-9 + float64(dim)/(1<<50)
	near.residual = math.Sqrt(lack) + near.roundingMargin
}

// block compares vectors with the target by their codes. Let u be the direction of a vector
// and a the approximation in its codes; let q be the direction of the target and b the
// approximation in query. Then |u·q − a·b| = |u·(q−b) + (u−a)·b| ≤ residual + Error·(1+residual).
func (near *candidateSelector) block(table *version.Table, s *segment.Segment, c *column.Column, codes *column.Codes, first, n int) {
	if len(near.query) == 0 {
		for _, row := range codes.Rows[first : first+n] {
			if ord, ok := table.Home(s, row); ok {
				near.addExact(ord, c.Value(row).Vector())
			}
		}
		return
	}
	sums, scales := near.sums[:n], codes.Scale[first:first+n]
	vectorindex.Dots(sums, codes.Bytes[first*codes.Stride:], near.query)
	margin := func(lack float32) float64 {
		return near.residual + float64(lack)*(1+near.residual) + near.roundingMargin
	}
	// If the product of a vector is below `pass` in single precision, the vector is certainly too
	// far away.
	pass := func() float32 {
		if len(near.upperBounds) < near.limit {
			return float32(math.Inf(-1))
		}
		return float32((1 - near.upperBounds[0] - margin(codes.MaxError) - float32Slack) / near.scale)
	}
	least := pass()
	for i, scale := range scales {
		if float32(sums[i])*scale < least {
			continue
		}
		row := codes.Rows[first+i]
		ord, ok := table.Home(s, row)
		if !ok {
			continue
		}
		dist := 1 - float64(sums[i])*float64(scale)*near.scale
		off := margin(codes.Error[first+i])
		near.add(ord, dist-off, dist+off)
		least = pass()
	}
}

// addExact adds an entity with a vector. It computes the exact distance of the vector.
func (near *candidateSelector) addExact(ord uint32, v []float32) {
	dist := near.target.Distance(v)
	if math.IsNaN(dist) {
		near.add(ord, math.Inf(-1), math.Inf(1))
		return
	}
	near.add(ord, dist, dist)
}

// add adds an entity with a distance between two bounds.
func (near *candidateSelector) add(ord uint32, low, high float64) {
	full := len(near.upperBounds) == near.limit
	if full && low > near.upperBounds[0] {
		return
	}
	near.ords, near.lowerBounds = append(near.ords, ord), append(near.lowerBounds, low)
	h := near.upperBounds
	switch {
	case !full:
		h = append(h, high)
		for i := len(h) - 1; i > 0 && h[(i-1)/2] < h[i]; i = (i - 1) / 2 {
			h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
		}
		near.upperBounds = h
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

// candidates returns the entities that the bounds do not exclude, in ascending order.
func (near *candidateSelector) candidates() []uint32 {
	kept := near.ords[:0]
	for i, ord := range near.ords {
		if len(near.upperBounds) < near.limit || near.lowerBounds[i] <= near.upperBounds[0] {
			kept = append(kept, ord)
		}
	}
	slices.Sort(kept)
	near.ords = kept
	return kept
}

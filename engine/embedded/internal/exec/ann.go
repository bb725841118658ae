package exec

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index/vectorindex"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// A read by `nearest` on an @ann property takes its candidates from the approximate index of the
// state, if there is one. The index holds codes of the vectors with known errors. A search
// therefore computes bounds of the distance of each entity that it finds. The candidates are the
// entities that these bounds do not rule out. The sort that follows computes the exact distances of
// the candidates. If few rows pass the other clauses, all these rows are compared by their codes,
// and the result is exact.

// NearStep runs a pipe that binds one variable. It passes on the entities of the variable that can
// be among the first rows by their distance, including ties. If there are more entities, it passes
// on one of them too.
type NearStep struct {
	Rows  *Pipe      // ends with a gather
	Score *ir.Expr   // the distance by which the read sorts
	Var   plan.VarID // the variable that the pipe binds
	ID    int        // position in matcher.frames of the frame for the result
}

// Gather collects the ordinals of a variable in matcher.passing.
type Gather struct{ Var plan.VarID }

// run implements [Step].
func (s Gather) run(m *matcher, _ *Pipe, _ int, f *eval.Frame) error {
	m.passing = append(m.passing, f.Cols[s.Var][:f.N]...)
	return m.Spend(4 * f.N)
}

// run implements [Step].
func (s *NearStep) run(m *matcher, p *Pipe, at int, f *eval.Frame) error {
	m.passing = m.passing[:0]
	if err := m.push(s.Rows, 0, f); err != nil {
		return err
	}
	spent := 4 * len(m.passing)
	ords, err := m.closestOf(s.Score, int(min(m.MaxRows, int64(len(m.passing))))+1)
	if err != nil {
		return err
	}
	out := m.frame(s.ID, []plan.VarID{s.Var})
	for len(ords) > 0 {
		out.N = copy(out.Cols[s.Var][:eval.FrameSize], ords)
		ords = ords[out.N:]
		if err := m.flush(p, at, out); err != nil {
			return err
		}
		m.makeColumns(out, s.Var)
	}
	return m.Spend(-spent)
}

// closestOf returns the entities of m.passing that can be among the closest to a target; `limit` is
// the number of closest entities. Without an index, closestOf returns all entities of m.passing.
func (m *matcher) closestOf(e *ir.Expr, limit int) ([]uint32, error) {
	d, t := m.Distances[e.Score], &m.Targets[e.Score]
	table := m.Table(d.Var)
	if t.Vector == nil || len(m.passing) <= limit {
		return m.passing, nil
	}
	view, err := m.approximateIndex(table, d.Prop)
	if view == nil {
		return m.passing, err
	}
	near := &m.near
	near.begin(t, limit)
	defer near.end()
	if len(near.query) == 0 {
		return m.passing, nil
	}
	size := 8 * (int(table.Ordinals())/64 + 1)
	if err := m.Spend(size); err != nil {
		return nil, err
	}
	defer m.Spend(-size)
	accept := engine.NewBitmap(int(table.Ordinals()))
	for _, ord := range m.passing {
		accept.Set(int(ord))
	}
	g, share := view.Graph(), float64(len(m.passing))/float64(table.Ordinals())
	one := g.ScatteredCost(len(m.passing)) // the cost of comparing these entities alone
	if one >= float64(g.Nodes()) || g.Breadth() > 0 && one > g.SearchCost(m.breadth(view, limit))/share {
		err := m.approximately(view, limit, accept, share)
		return near.candidates(), err
	}
	if !slices.IsSorted(m.passing) {
		slices.Sort(m.passing)
	}
	add := near.adder(view)
	for ords := range slices.Chunk(m.passing, eval.FrameSize) {
		if err := m.Tick(eval.FrameSize); err != nil {
			return nil, err
		}
		view.Of(near.query, ords, add)
	}
	err = view.Each(&m.vectors, near.query, false, accept, &near.least, m.Tick, add)
	near.addNotFinite(view, accept)
	if err == nil {
		err = m.Spend(len(near.ords) * candidateBytes)
	}
	return near.candidates(), err
}

// approximateIndex returns the approximate index of property p, or nil if there is none. It also
// returns nil if the memory of the run does not suffice to bring the index up to date. In both
// cases the caller compares all vectors. It returns an error only if the context has ended.
func (m *matcher) approximateIndex(t *version.Table, p int) (*vectorindex.View, error) {
	spent := m.Spent
	view, err := t.Vectors(index.Work{Ctx: m.Ctx, Spend: m.Spend}, p)
	m.Spent = spent // the memory belongs to the table, not to the run
	if errors.As(err, new(*engine.TooLarge)) || errors.As(err, new(*engine.Busy)) {
		return nil, nil
	}
	return view, err
}

// breadth returns the number of nodes that a search keeps while it looks for `limit` entities. The
// build of the graph measured the breadth that ten entities need. For a greater `limit`, breadth
// increases that number in proportion.
func (m *matcher) breadth(view *vectorindex.View, limit int) int {
	b := view.Graph().Breadth()
	return max(b, int(min(int64(b)*int64(limit)/10, math.MaxInt32)), limit)
}

// approximately adds to m.near the candidates for the entities closest to the target; `limit` is
// the number of closest entities. The candidates are the entities that a search in the graph finds,
// and all entities outside the graph. If comparing all vectors is not slower, or if the search
// finds too few entities, approximately compares all vectors. Only the entities in `accept` count;
// nil means all. The parameter `share` is the fraction of all entities that are in `accept`.
func (m *matcher) approximately(view *vectorindex.View, limit int, accept engine.Bitmap, share float64) error {
	near, g, breadth := &m.near, view.Graph(), m.breadth(view, limit)
	add := near.adder(view)
	found := false
	if g.Breadth() > 0 && g.SearchCost(breadth)/share < float64(g.Nodes()) {
		var passes func(ord uint32) bool
		if accept != nil {
			passes = func(ord uint32) bool { return accept.Get(int(ord)) }
		}
		before := m.vectors.Bytes()
		var err error
		found, err = view.Near(&m.vectors, near.query, breadth, limit, g.Nodes()/2, passes, m.Tick, add)
		if err == nil {
			err = m.Hold(m.vectors.Bytes() - before)
		}
		if err != nil {
			return err
		}
	}
	err := view.Each(&m.vectors, near.query, !found, accept, &near.least, m.Tick, add)
	near.addNotFinite(view, accept)
	if err != nil {
		return err
	}
	return m.Spend(len(near.ords) * candidateBytes)
}

// adder returns a function that adds an entity by the codes of its vector. The function raises
// near.least: a vector with a smaller product is certainly too far away. See the method block for
// the bounds.
func (near *candidateSelector) adder(view *vectorindex.View) func(vectorindex.Coded) {
	margin := func(lack float32) float64 {
		return near.residual + float64(lack)*(1+near.residual) + near.roundingMargin
	}
	most := margin(view.MaxError())
	near.least = float32(math.Inf(-1))
	return func(c vectorindex.Coded) {
		dist := 1 - float64(c.Sum)*float64(c.Scale)*near.scale
		off := margin(c.Error)
		near.add(c.Ord, dist-off, dist+off)
		if len(near.upperBounds) == near.limit {
			near.least = float32((1 - near.upperBounds[0] - most - float32Slack) / near.scale)
		}
	}
}

// addNotFinite adds the entities with vectors that have no codes.
func (near *candidateSelector) addNotFinite(view *vectorindex.View, accept engine.Bitmap) {
	view.NotFinite(func(ord uint32) {
		if accept == nil || accept.Get(int(ord)) {
			near.add(ord, math.Inf(-1), math.Inf(1))
		}
	})
}

// end ends a search and drops its target.
func (near *candidateSelector) end() { near.target = nil }

// describe implements [Step].
func (s *NearStep) describe(x *explainer) (name, detail string) {
	return "nearest", fmt.Sprintf("%s %s, first %s by %s", x.Types[s.Var].Name, x.Var(s.Var), x.first(), x.Expr(s.Score.Src)) + x.approximately(s.Score)
}

// describe implements [Step].
func (s Gather) describe(x *explainer) (name, detail string) {
	return "gather", x.Types[s.Var].Name + " " + x.Var(s.Var)
}

// approximately describes a search by an approximate index.
func (x *explainer) approximately(score *ir.Expr) string {
	d := x.Distances[score.Score]
	return ", approximate: the index of " + x.Types[d.Var].Props[d.Prop].Name + " may miss some of the closest"
}

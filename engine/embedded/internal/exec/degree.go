package exec

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// Degrees replaces the whole match of a read that has a single traversal, groups its rows by one
// end of the traversal, and counts the rows. The count for a node is the number of other nodes that
// its edges lead to.
type Degrees struct {
	Traversal
	Var plan.VarID // the end of the traversal that the groups depend on
}

// CountsRows sets v to the end of the traversal that the groups depend on. It reports
// whether the step can replace the match: each column and each sort key must depend only on
// that end, or count rows.
func (s *Degrees) CountsRows(q *ir.Query) bool {
	s.Var = plan.NoVar
	var depends func(e *ir.Expr) bool
	depends = func(e *ir.Expr) bool {
		switch e.Kind {
		case ir.ExprConst, ir.ExprAgg:
			return true
		case ir.ExprApply:
			return !slices.ContainsFunc(e.Args, func(a *ir.Expr) bool { return !depends(a) })
		case ir.ExprProp, ir.ExprID:
			if s.Var == plan.NoVar {
				s.Var = e.Var
			}
			return s.Var == e.Var
		case ir.ExprEnd, ir.ExprMatch, ir.ExprBM25, ir.ExprNearest, ir.ExprFused, ir.ExprTest, ir.ExprHolds, ir.ExprBlockAgg, ir.ExprMember, ir.ExprWalk, ir.ExprOrigin, ir.ExprRef:
		}
		return false
	}
	for i := range q.Aggs {
		if !q.Aggs[i].Rows {
			return false
		}
	}
	for i := range q.Columns {
		if c := &q.Columns[i]; c.Agg < 0 && !depends(c.Value) {
			return false
		}
	}
	for _, o := range q.Order {
		if o.Agg < 0 && !depends(o.Expr) {
			return false
		}
	}
	if s.Var == plan.NoVar {
		s.Var = s.From // there is a single group, so either end will do
	}
	return s.Var == s.From || s.Var == s.To
}

// run implements [Step].
func (s *Degrees) run(m *matcher, _ *Pipe, _ int, _ *eval.Frame) error {
	edges := m.Snap.Edges(s.EdgeType)
	adj := edges.Out()
	other := s.To
	if s.Var == s.To {
		adj, other = edges.In(), s.From
	}
	out := m.frame(s.ID, nil)
	m.makeColumns(out, s.Var)
	nodes := m.Table(s.Var)
	plain := adj.Simple() && edges.BaseLive()
	for next := uint32(0); next < nodes.Ordinals(); {
		if err := m.Tick(eval.FrameSize); err != nil {
			return err
		}
		n, more := nodes.Scan(next, out.Cols[s.Var][:eval.FrameSize])
		next = more
		found, weights := out.Cols[s.Var][:n], m.weights[:0]
		for _, node := range found {
			var d uint32
			if plain {
				d = adj.DegreeInOrder(node)
			} else {
				var err error
				if d, err = s.others(m, edges, adj, node, other); err != nil {
					return err
				}
			}
			if d != 0 {
				found[len(weights)] = node
				weights = append(weights, int64(d))
			}
		}
		out.N, m.weights = len(weights), weights
		if err := m.out.GroupWeighted(out, weights); err != nil {
			return err
		}
	}
	return nil
}

// others returns the number of different nodes that the edges of a node lead to.
func (s *Degrees) others(m *matcher, edges *version.Table, adj *index.Adjacency, node uint32, other plan.VarID) (uint32, error) {
	list, to := adj.Base(node)
	if err := m.Tick(1 + len(list)/8); err != nil {
		return 0, err
	}
	alive, baseAlive := edges.AllLive(), edges.BaseLive()
	n := uint32(0)
	last := version.NoOrd
	later := adj.Later(node)
	if !later.Next() {
		// The edges of the base are sorted by their other end.
		for i, e := range list {
			if to[i] != last && (baseAlive || edges.Alive(e)) {
				n, last = n+1, to[i]
			}
		}
		return n, nil
	}
	seen := &m.walks[s.ID]
	seen.Begin(m.Table(other).Ordinals())
	for i, e := range list {
		if (baseAlive || edges.Alive(e)) && seen.Visit(to[i]) {
			n++
		}
	}
	for more := true; more; more = later.Next() {
		if (alive || edges.Alive(later.Edge)) && seen.Visit(later.Other) {
			n++
		}
	}
	return n, nil
}

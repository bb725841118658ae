package exec

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// degrees replaces the whole match of a read that has a single traversal, groups its rows
// by one end of it, and counts the rows. The count for a node is the number of other nodes
// that its edges lead to.
type degrees struct {
	traverse
	v plan.VarID // the end of the traversal that the groups depend on
}

// degrees returns the step for a read, or nil if the read does not have that form.
func (b *binder) degrees() *degrees {
	r := b.read
	if !r.Grouped || fuses(r) {
		return nil
	}
	var walk *plan.Traverse
	for _, c := range r.Match {
		switch c := c.(type) {
		case plan.Bind:
		case plan.Traverse:
			if walk != nil {
				return nil
			}
			walk = &c
		case plan.Filter, plan.Not:
			return nil
		}
	}
	if walk == nil || walk.Min != 1 || walk.Max != 1 || walk.EdgeVar != plan.NoVar || walk.Undirected || walk.From == walk.To {
		return nil
	}
	// The traversal must bind every variable.
	for _, c := range r.Match {
		if c, ok := c.(plan.Bind); ok && c.Var != walk.From && c.Var != walk.To {
			return nil
		}
	}
	t := b.schema.Type(plan.Edge, walk.Edge)
	if t == nil || b.types[walk.From].Index != t.From || b.types[walk.To].Index != t.To {
		return nil
	}
	return &degrees{traverse: traverse{Traverse: *walk, edge: t.Index, vars: nil}, v: plan.NoVar}
}

// countsRows sets v to the end of the traversal that the groups depend on. It reports
// whether the step can replace the match: each column and each sort key must depend only on
// that end, or count rows.
func (s *degrees) countsRows(p *Program) bool {
	s.v = plan.NoVar
	depends := func(e *expr) bool {
		switch e.kind {
		case exprConst:
			return true
		case exprProp, exprID:
			if s.v == plan.NoVar {
				s.v = e.v
			}
			return s.v == e.v
		case exprEnd, exprMatch, exprBM25, exprNearest, exprFused:
		}
		return false
	}
	for i := range p.aggs {
		if !p.aggs[i].rows {
			return false
		}
	}
	for i := range p.columns {
		if c := &p.columns[i]; c.agg < 0 && !depends(c.ex) {
			return false
		}
	}
	for _, o := range p.order {
		if o.agg < 0 && !depends(o.ex) {
			return false
		}
	}
	if s.v == plan.NoVar {
		s.v = s.From // a single group
	}
	return s.v == s.From || s.v == s.To
}

func (s *degrees) run(m *matcher, _ *pipe, _ int, _ *frame) error {
	edges := m.snap.Edges(s.edge)
	adj := edges.Out()
	other := s.To
	if s.v == s.To {
		adj, other = edges.In(), s.From
	}
	out := m.frame(s.id, nil)
	m.room(out, s.v)
	nodes := m.table(s.v)
	plain := adj.Simple() && edges.AllLive()
	weights := m.weights[:0]
	flush := func() error {
		m.weights = weights
		err := m.out.groupWeighted(out, weights)
		out.n, weights = 0, weights[:0]
		return err
	}
	for next := uint32(0); next < nodes.Ordinals(); {
		if err := m.tick(frameSize); err != nil {
			return err
		}
		n, more := nodes.Scan(next, out.cols[s.v][:frameSize])
		next = more
		for _, node := range out.cols[s.v][:n] {
			var d uint32
			if plain {
				d = adj.BaseDegree(node)
			} else {
				var err error
				if d, err = s.others(m, edges, adj, node, other); err != nil {
					return err
				}
			}
			if d == 0 {
				continue
			}
			out.cols[s.v][out.n] = node
			out.n++
			weights = append(weights, int64(d))
		}
		if err := flush(); err != nil {
			return err
		}
	}
	return nil
}

// others returns the number of different nodes that the edges of a node lead to.
func (s *degrees) others(m *matcher, edges *version.Table, adj *index.Adjacency, node uint32, other plan.VarID) (uint32, error) {
	list, to := adj.Base(node)
	if err := m.tick(1 + len(list)/8); err != nil {
		return 0, err
	}
	alive := edges.AllLive()
	n := uint32(0)
	last := version.NoOrd
	over := adj.Over(node)
	if over == nil {
		// The edges of the base are sorted by their other end.
		for i, e := range list {
			if to[i] != last && (alive || edges.Alive(e)) {
				n, last = n+1, to[i]
			}
		}
		return n, nil
	}
	seen := &m.walks[s.id]
	seen.begin(m.table(other).Ordinals())
	for i, e := range list {
		if (alive || edges.Alive(e)) && seen.visit(to[i]) {
			n++
		}
	}
	for ; over != nil; over = over.Next {
		if (alive || edges.Alive(over.Edge)) && seen.visit(over.Other) {
			n++
		}
	}
	return n, nil
}

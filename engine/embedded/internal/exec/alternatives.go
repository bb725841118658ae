package exec

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// edgeTypes returns the indexes of the edge types that a link follows.
func (l *link) edgeTypes() []int {
	if l.or == nil {
		return []int{l.edge}
	}
	return append([]int{l.edge}, l.or[:len(l.or)-fault.Count(fault.AlternativeLost)]...)
}

// alternatives binds the edge types of a traversal that follows several edge types, and checks the
// types of their ends.
func (b *binder) alternatives(l *link) (*link, error) {
	for _, name := range l.Or {
		b.step(1)
		t := b.Schema.Type(plan.Edge, name)
		if t == nil {
			return nil, mismatch("there is no edge type %s", name)
		}
		l.or = append(l.or, t.Index)
	}
	for _, edge := range append([]int{l.edge}, l.or...) {
		t := b.Schema.Edges[edge]
		switch {
		case l.Undirected && t.From != t.To:
			return nil, mismatch("edge %s leads from %s to %s, so it has one direction only", t.Name, b.Schema.Nodes[t.From].Name, b.Schema.Nodes[t.To].Name)
		case l.general:
		case !l.Walk && (b.types[l.From].Index != t.From || b.types[l.To].Index != t.To):
			return nil, mismatch("edge %s does not lead from %s to %s", t.Name, b.types[l.From].Name, b.types[l.To].Name)
		}
	}
	return l, nil
}

// isGeneral reports whether a traversal needs a general link. The type t is that of its first edge type.
func (b *binder) isGeneral(c plan.Traverse, t *version.Type) (bool, error) {
	atInterface, differ := false, false
	for _, name := range c.Edges() {
		e := b.Schema.Type(plan.Edge, name)
		if e == nil {
			return false, mismatch("there is no edge type %s", name)
		}
		atInterface = atInterface || b.Schema.EndType(e, false).Of != nil || b.Schema.EndType(e, true).Of != nil
		differ = differ || e.From != t.From || e.To != t.To
	}
	return atInterface && (c.Walk || differ), nil
}

// hopsOf appends to the list `hops` the directions in which the edge types of a link are followed.
func (ev *evaluator) hopsOf(hops []hop, l *link, out, in bool) []hop {
	one, n := ev.hops(l.edge, out, in)
	hops = append(hops, one[:n]...)
	if l.or == nil {
		return hops
	}
	for _, edge := range l.edgeTypes()[1:] {
		if fault.On(fault.OneDirection) && out {
			in = false
		}
		more, n := ev.hops(edge, out, in)
		hops = append(hops, more[:n]...)
	}
	return hops
}

// checkAlternatives keeps the rows in which an edge of one of several types joins the two nodes.
type checkAlternatives struct{ traverse }

// run implements [step].
func (s *checkAlternatives) run(m *matcher, p *pipe, at int, f *frame) error {
	hops := m.hopsOf(nil, s.link, true, s.Undirected)
	rows := m.chosen[:0]
	from, to := f.cols[s.From], f.cols[s.To]
	for i := range f.n {
		if err := m.tick(len(hops)); err != nil {
			return err
		}
		for _, h := range hops {
			if joined(h, from[i], to[i], nil) {
				rows = append(rows, uint32(i))
				break
			}
		}
	}
	m.chosen = rows
	f.choose(rows, s.vars)
	return m.push(p, at+1, f)
}

// describe implements [step].
func (s *checkAlternatives) describe(x *explainer) (name, detail string) {
	return "joined", x.Traverse(s.Traverse)
}

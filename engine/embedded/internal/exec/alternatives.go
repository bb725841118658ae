package exec

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
)

// hopsOf appends to the list `hops` the directions in which the edge types of a link are followed.
func (ev *evaluator) hopsOf(hops []hop, l *ir.Link, out, in bool) []hop {
	one, n := ev.hops(l.EdgeType, out, in)
	hops = append(hops, one[:n]...)
	if l.OrTypes == nil {
		return hops
	}
	for _, edge := range l.EdgeTypes()[1:] {
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
	hops := m.hopsOf(nil, s.Link, true, s.Undirected)
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

package exec

import "github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"

// checkAlternatives keeps the rows in which an edge of one of several types joins the two nodes.
type checkAlternatives struct{ traverse }

// run implements [step].
func (s *checkAlternatives) run(m *matcher, p *pipe, at int, f *eval.Frame) error {
	hops := m.HopsOf(nil, s.Link, true, s.Undirected)
	rows := m.Chosen[:0]
	from, to := f.Cols[s.From], f.Cols[s.To]
	for i := range f.N {
		if err := m.Tick(len(hops)); err != nil {
			return err
		}
		for _, h := range hops {
			if eval.Joined(h, from[i], to[i], nil) {
				rows = append(rows, uint32(i))
				break
			}
		}
	}
	m.Chosen = rows
	f.Choose(rows, s.vars)
	return m.push(p, at+1, f)
}

// describe implements [step].
func (s *checkAlternatives) describe(x *explainer) (name, detail string) {
	return "joined", x.Traverse(s.Traverse)
}

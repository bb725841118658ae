package exec

import "github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"

// CheckAlternatives keeps the rows in which an edge of one of several types joins the two nodes.
type CheckAlternatives struct{ Traversal }

// run implements [Step].
func (s *CheckAlternatives) run(m *matcher, p *Pipe, at int, f *eval.Frame) error {
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
	f.Choose(rows, s.Vars)
	return m.push(p, at+1, f)
}

// describe implements [Step].
func (s *CheckAlternatives) describe(x *explainer) (name, detail string) {
	return "joined", x.Traverse(s.Traverse)
}

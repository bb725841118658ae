package exec

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// explore is the step for a walk along edges of several types, or for a walk with a variable. It
// searches breadth first. If both ends are bound, it keeps the rows in which a walk joins them.
// Otherwise it binds the other end to each reached node. It sets the variable of the walk, if there
// is one, to the length of the walk. The step reach does the same for walks along one edge type
// without a variable.
type explore struct {
	traverse
	route *ir.Route
	both  bool // whether both ends are bound
	// number is the position of the step's memory in eval.Evaluator.Searches, counted from the end of
	// the memory of the expressions.
	number int
}

// explore returns the step for a walk. The argument `both` says whether both ends are bound.
func (pl *planner) explore(tr traverse, both bool) *explore {
	pl.searchSteps++
	return &explore{traverse: tr, route: ir.NewRoute(pl.Query, tr.Link, tr.back), both: both, number: pl.searchSteps - 1}
}

// run implements [step].
func (s *explore) run(m *matcher, p *pipe, at int, f *eval.Frame) error {
	search := &m.Searches[len(m.Routes)+s.number]
	out := m.frame(s.id, s.vars)
	m.makeColumns(out, s.EdgeVar)
	if s.both {
		return m.InWalk(s.check(m, search, p, at, f, out), &s.Traverse)
	}
	m.makeColumns(out, s.to)
	last, fits := version.NoOrd, false
	for i := range f.N {
		if f.IsDone(i) {
			continue
		}
		if node := f.Cols[s.from][i]; node != last {
			start, ok := m.PlaceOf(&s.route.Near, node)
			if fits = ok; fits {
				if err := m.VisitAll(&search.Near, s.route, start); err != nil {
					return m.InWalk(err, &s.Traverse)
				}
			}
			last = node
		}
		if !fits {
			continue
		}
		if err := s.emit(m, &search.Near, p, at, f, i, out); err != nil {
			return err
		}
	}
	return m.flush(p, at, out)
}

// emit appends a row to the frame `out` for each node that the walk from row i of frame f reaches.
// When `out` is full, emit passes it to the next step.
func (s *explore) emit(m *matcher, search *eval.Front, p *pipe, at int, f *eval.Frame, i int, out *eval.Frame) error {
	least := s.route.Min
	if s.route.Closed {
		if !search.IsBack(s.route) {
			return nil
		}
		least = max(least, search.Depth)
	}
	for d := least; d <= search.Depth; d++ {
		for kind := range s.route.Kinds {
			base, fits := m.Base(&s.route.Far, kind)
			if !fits {
				continue
			}
			left := search.Level(kind, d)
			if s.route.Closed {
				if left = search.End[:]; kind != search.Kind {
					continue
				}
			}
			if err := s.emitLevel(m, left, base, d, p, at, f, i, out); err != nil || f.IsDone(i) {
				return err
			}
		}
	}
	return nil
}

// emitLevel does the work of emit for nodes of one kind at the distance d. The ordinals of the variable at the far end
// are those of the nodes plus `base`.
func (s *explore) emitLevel(m *matcher, left []uint32, base uint32, d int, p *pipe, at int, f *eval.Frame, i int, out *eval.Frame) error {
	for len(left) > 0 {
		k := out.Repeat(f, i, s.vars, len(left))
		to := out.Cols[s.to][out.N-k : out.N]
		copy(to, left)
		left = left[k:]
		for j := range to {
			to[j] += base
		}
		if s.EdgeVar != plan.NoVar {
			lengths := out.Cols[s.EdgeVar][out.N-k : out.N]
			for j := range lengths {
				lengths[j] = uint32(max(d, fault.Count(fault.HopsFromOne)))
			}
		}
		if out.N < eval.FrameSize {
			return nil
		}
		if err := m.flush(p, at, out); err != nil || f.IsDone(i) {
			return err
		}
	}
	return nil
}

// check appends to the frame `out` the rows of f in which a walk joins the two nodes. When `out` is
// full, check passes it to the next step.
func (s *explore) check(m *matcher, search *eval.Search, p *pipe, at int, f, out *eval.Frame) error {
	for i := range f.N {
		if f.IsDone(i) {
			continue
		}
		a, fitsA := m.PlaceOf(&s.route.Near, f.Cols[s.from][i])
		b, fitsB := m.PlaceOf(&s.route.Far, f.Cols[s.to][i])
		if !fitsA || !fitsB {
			continue
		}
		length, err := m.Between(search, s.route, a, b)
		if err != nil {
			return err
		}
		if length < 0 {
			continue
		}
		out.CopyRow(f, i, s.vars)
		if s.EdgeVar != plan.NoVar {
			out.Cols[s.EdgeVar][out.N] = uint32(length)
		}
		if out.N++; out.N == eval.FrameSize {
			if err := m.flush(p, at, out); err != nil {
				return err
			}
		}
	}
	return m.flush(p, at, out)
}

// describe implements [step].
func (s *explore) describe(x *explainer) (name, detail string) {
	if !s.Walk {
		return "follow", x.traversal(&s.traverse)
	}
	if s.both {
		return "reaches", x.Traverse(s.Traverse) + " searched from both ends"
	}
	return "walk", x.traversal(&s.traverse)
}

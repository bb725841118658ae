package exec

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// Explore is the step for a walk along edges of several types, or for a walk with a variable. It
// searches breadth first. If both ends are bound, it keeps the rows in which a walk joins them.
// Otherwise it binds the other end to each reached node. It sets the variable of the walk, if there
// is one, to the length of the walk. The step reach does the same for walks along one edge type
// without a variable.
type Explore struct {
	Traversal
	Route *ir.Route
	Both  bool // whether both ends are bound
	// If the step remembers what walks reach, Set is its number in matcher.reached, and Reverse is the route
	// from the far end.
	Set     int
	Reverse *ir.Route
	// Number is the position of the step's memory in eval.Evaluator.Searches, counted from the end of
	// the memory of the expressions.
	Number int
}

// run implements [Step].
func (s *Explore) run(m *matcher, p *Pipe, at int, f *eval.Frame) error {
	search := &m.Searches[len(m.Routes)+s.Number]
	out := m.frame(s.ID, s.Vars)
	m.makeColumns(out, s.EdgeVar)
	if s.Both {
		return m.InWalk(s.check(m, search, p, at, f, out), &s.Traverse)
	}
	m.makeColumns(out, s.Far)
	last, fits := version.NoOrd, false
	for i := range f.N {
		if f.IsDone(i) {
			continue
		}
		if node := f.Cols[s.Near][i]; node != last {
			start, ok := m.PlaceOf(&s.Route.Near, node)
			if fits = ok; fits {
				if err := m.VisitAll(&search.Near, s.Route, start); err != nil {
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
func (s *Explore) emit(m *matcher, search *eval.Front, p *Pipe, at int, f *eval.Frame, i int, out *eval.Frame) error {
	least := s.Route.Min
	if s.Route.Closed {
		if !search.IsBack(s.Route) {
			return nil
		}
		least = max(least, search.Depth)
	}
	for d := least; d <= search.Depth; d++ {
		for kind := range s.Route.Kinds {
			base, fits := m.Base(&s.Route.Far, kind)
			if !fits {
				continue
			}
			left := search.Level(kind, d)
			if s.Route.Closed {
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
func (s *Explore) emitLevel(m *matcher, left []uint32, base uint32, d int, p *Pipe, at int, f *eval.Frame, i int, out *eval.Frame) error {
	for len(left) > 0 {
		k := out.Repeat(f, i, s.Vars, len(left))
		to := out.Cols[s.Far][out.N-k : out.N]
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
func (s *Explore) check(m *matcher, search *eval.Search, p *Pipe, at int, f, out *eval.Frame) error {
	var known *reached
	from, to := s.Near, s.Far
	if s.Remembers() {
		if known = m.reachedBy(s.Set, from, to, f); known.flip {
			from, to = to, from
		}
	}
	for i := range f.N {
		if f.IsDone(i) {
			continue
		}
		if known != nil {
			within, err := s.reachable(m, known, &search.Near, f.Cols[from][i])
			if err != nil {
				return err
			}
			if within != nil {
				if within.Get(int(f.Cols[to][i])) {
					if err := s.keep(m, p, at, f, out, i, 0); err != nil {
						return err
					}
				}
				continue
			}
		}
		a, fitsA := m.PlaceOf(&s.Route.Near, f.Cols[s.Near][i])
		b, fitsB := m.PlaceOf(&s.Route.Far, f.Cols[s.Far][i])
		if !fitsA || !fitsB {
			continue
		}
		length, err := m.Between(search, s.Route, a, b)
		if err != nil {
			return err
		}
		if length < 0 {
			continue
		}
		if err := s.keep(m, p, at, f, out, i, length); err != nil {
			return err
		}
	}
	return m.flush(p, at, out)
}

// keep appends row i of f to the frame `out`, with the length of the walk if the query has a variable for it.
func (s *Explore) keep(m *matcher, p *Pipe, at int, f, out *eval.Frame, i, length int) error {
	out.CopyRow(f, i, s.Vars)
	if s.EdgeVar != plan.NoVar {
		out.Cols[s.EdgeVar][out.N] = uint32(length)
	}
	if out.N++; out.N == eval.FrameSize {
		return m.flush(p, at, out)
	}
	return nil
}

// describe implements [Step].
func (s *Explore) describe(x *explainer) (name, detail string) {
	if !s.Walk {
		return "follow", x.traversal(&s.Traversal)
	}
	if s.Both {
		return "reaches", x.Traverse(s.Traverse) + " searched from both ends"
	}
	return "walk", x.traversal(&s.Traversal)
}

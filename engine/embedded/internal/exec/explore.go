package exec

import (
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
	route *route
	both  bool // whether both ends are bound
	// If the step remembers what walks reach, `set` is its number in matcher.reached, and `reverse` is the route
	// from the far end.
	set     int
	reverse *route
	// number is the position of the step's memory in evaluator.searches, counted from the end of
	// the memory of the expressions.
	number int
}

// explores reports whether a link needs the step explore.
func (l *link) explores() bool {
	return l.general || l.Walk && (l.or != nil || l.EdgeVar != plan.NoVar)
}

// explore returns the step for a walk. The argument `both` says whether both ends are bound.
func (pl *planner) explore(tr traverse, both bool) *explore {
	pl.searches++
	s := &explore{traverse: tr, route: newRoute(pl.query, tr.link, tr.back), both: both, number: pl.searches - 1}
	if s.remembers() {
		s.set, s.reverse = pl.frame(), newRoute(pl.query, tr.link, !tr.back)
	}
	return s
}

// run implements [step].
func (s *explore) run(m *matcher, p *pipe, at int, f *frame) error {
	search := &m.searches[len(m.routes)+s.number]
	out := m.frame(s.id, s.vars)
	m.makeColumns(out, s.EdgeVar)
	if s.both {
		return m.inWalk(s.check(m, search, p, at, f, out), &s.Traverse)
	}
	m.makeColumns(out, s.to)
	last, fits := version.NoOrd, false
	for i := range f.n {
		if f.isDone(i) {
			continue
		}
		if node := f.cols[s.from][i]; node != last {
			start, ok := m.placeOf(&s.route.near, node)
			if fits = ok; fits {
				if err := m.visitAll(&search.near, s.route, start); err != nil {
					return m.inWalk(err, &s.Traverse)
				}
			}
			last = node
		}
		if !fits {
			continue
		}
		if err := s.emit(m, &search.near, p, at, f, i, out); err != nil {
			return err
		}
	}
	return m.flush(p, at, out)
}

// visitAll visits the nodes that walks from the given node reach within the maximum length of the
// route. On a closed route, it stops when it comes back to that node.
func (ev *evaluator) visitAll(f *front, r *route, from place) error {
	ev.start(f, r, from, r.link.Walk && !r.closed)
	if err := ev.tick(1); err != nil {
		return err
	}
	for f.depth < r.max && !f.isBack(r) {
		if more, err := ev.advance(f, r, r.ahead); err != nil || !more {
			return err
		}
	}
	return nil
}

// isBack reports whether a search on a closed route has come back to its start.
func (f *front) isBack(r *route) bool {
	return r.closed && f.walks[f.kind].bits.Get(int(f.end[0]))
}

// emit appends a row to the frame `out` for each node that the walk from row i of frame f reaches.
// When `out` is full, emit passes it to the next step.
func (s *explore) emit(m *matcher, search *front, p *pipe, at int, f *frame, i int, out *frame) error {
	least := s.route.min
	if s.route.closed {
		if !search.isBack(s.route) {
			return nil
		}
		least = max(least, search.depth)
	}
	for d := least; d <= search.depth; d++ {
		for kind := range s.route.kinds {
			base, fits := m.base(&s.route.far, kind)
			if !fits {
				continue
			}
			left := search.level(kind, d)
			if s.route.closed {
				if left = search.end[:]; kind != search.kind {
					continue
				}
			}
			if err := s.emitLevel(m, left, base, d, p, at, f, i, out); err != nil || f.isDone(i) {
				return err
			}
		}
	}
	return nil
}

// emitLevel does the work of emit for nodes of one kind at the distance d. The ordinals of the variable at the far end
// are those of the nodes plus `base`.
func (s *explore) emitLevel(m *matcher, left []uint32, base uint32, d int, p *pipe, at int, f *frame, i int, out *frame) error {
	for len(left) > 0 {
		k := out.repeat(f, i, s.vars, len(left))
		to := out.cols[s.to][out.n-k : out.n]
		copy(to, left)
		left = left[k:]
		for j := range to {
			to[j] += base
		}
		if s.EdgeVar != plan.NoVar {
			lengths := out.cols[s.EdgeVar][out.n-k : out.n]
			for j := range lengths {
				lengths[j] = uint32(max(d, fault.Count(fault.HopsFromOne)))
			}
		}
		if out.n < frameSize {
			return nil
		}
		if err := m.flush(p, at, out); err != nil || f.isDone(i) {
			return err
		}
	}
	return nil
}

// check appends to the frame `out` the rows of f in which a walk joins the two nodes. When `out` is
// full, check passes it to the next step.
func (s *explore) check(m *matcher, search *search, p *pipe, at int, f, out *frame) error {
	var known *reached
	from, to := s.from, s.to
	if s.remembers() {
		if known = m.reachedBy(s.set, from, to, f); known.flip {
			from, to = to, from
		}
	}
	for i := range f.n {
		if f.isDone(i) {
			continue
		}
		if known != nil {
			within, err := s.reachable(m, known, &search.near, f.cols[from][i])
			if err != nil {
				return err
			}
			if within != nil {
				if within.Get(int(f.cols[to][i])) {
					if err := s.keep(m, p, at, f, out, i, 0); err != nil {
						return err
					}
				}
				continue
			}
		}
		a, fitsA := m.placeOf(&s.route.near, f.cols[s.from][i])
		b, fitsB := m.placeOf(&s.route.far, f.cols[s.to][i])
		if !fitsA || !fitsB {
			continue
		}
		length, err := m.between(search, s.route, a, b)
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
func (s *explore) keep(m *matcher, p *pipe, at int, f, out *frame, i, length int) error {
	out.copyRow(f, i, s.vars)
	if s.EdgeVar != plan.NoVar {
		out.cols[s.EdgeVar][out.n] = uint32(length)
	}
	if out.n++; out.n == frameSize {
		return m.flush(p, at, out)
	}
	return nil
}

// describe implements [described].
func (s *explore) describe(x *explainer) (name, detail string) {
	if !s.Walk {
		return "follow", x.traversal(&s.traverse)
	}
	if s.both {
		return "reaches", x.Traverse(s.Traverse) + " searched from both ends"
	}
	return "walk", x.traversal(&s.traverse)
}

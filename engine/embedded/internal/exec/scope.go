package exec

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// scope is a block during planning: the clauses that have no step yet, and the steps so far.
type scope struct {
	places    []place      // by variable
	vars      []plan.VarID // bound variables, in the order of binding; elements never change
	unbound   []plan.VarID
	links     []*link
	filtersOf map[plan.VarID][]*waiting // the filters by the unbound variables that they use
	ready     []*waiting                // filters whose variables are all bound
	open      int                       // number of the other filters
	nots      []*block
	entries   map[plan.VarID]*entrance // see planner.entrance
	pipe      *pipe
	rows      float64 // estimated number so far
}

// place is the state of a variable in a block.
type place uint8

const (
	unseen place = iota
	wantedHere
	boundHere
)

// waiting is a condition that no step tests yet.
type waiting struct {
	cond    *cond
	at      int  // position among the conditions of the block
	unbound int  // number of its variables that are not bound yet
	done    bool // a step tests it
}

// scope returns the scope of a block. outer is the scope around a not block; it is nil for
// the match.
func (pl *planner) scope(b *block, outer *scope) *scope {
	s := &scope{pipe: &pipe{inner: outer != nil}, rows: 1, links: slices.Clone(b.links), nots: b.nots}
	if outer == nil {
		s.places = make([]place, len(pl.types))
	} else {
		s.vars = slices.Clip(outer.vars)
		s.places = slices.Clone(outer.places)
		for _, v := range outer.unbound {
			s.places[v] = unseen
		}
	}
	for _, v := range b.vars {
		pl.step(1)
		s.want(v)
	}
	for i, c := range b.conds {
		pl.step(1)
		s.filter(&waiting{cond: c, at: i})
	}
	return s
}

// want notes a variable that the block must bind.
func (s *scope) want(v plan.VarID) {
	if v != plan.NoVar && s.places[v] == unseen {
		s.places[v] = wantedHere
		s.unbound = append(s.unbound, v)
	}
}

func (s *scope) bound(v plan.VarID) bool { return s.places[v] == boundHere }

func (s *scope) bind(v plan.VarID) {
	if v == plan.NoVar || s.bound(v) {
		return
	}
	s.places[v] = boundHere
	s.vars = append(s.vars, v)
	s.unbound = slices.DeleteFunc(s.unbound, func(u plan.VarID) bool { return u == v })
	for _, w := range s.filtersOf[v] {
		if w.unbound--; w.unbound == 0 {
			s.ready = append(s.ready, w)
			s.open--
		}
		for _, u := range w.cond.vars {
			delete(s.entries, u) // the filter may bound u by v
		}
	}
}

// filter records a condition of the block.
func (s *scope) filter(w *waiting) {
	for _, v := range w.cond.vars {
		if s.bound(v) {
			continue
		}
		if s.filtersOf == nil {
			s.filtersOf = map[plan.VarID][]*waiting{}
		}
		s.filtersOf[v] = append(s.filtersOf[v], w)
		w.unbound++
	}
	if w.unbound == 0 {
		s.ready = append(s.ready, w)
	} else {
		s.open++
	}
}

// filtersOn yields the conditions that use an unbound variable and that no step tests yet.
func (pl *planner) filtersOn(s *scope, v plan.VarID) func(yield func(*waiting) bool) {
	return func(yield func(*waiting) bool) {
		for _, w := range s.filtersOf[v] {
			pl.step(1)
			if !w.done && !yield(w) {
				return
			}
		}
	}
}

// expect records an estimate: the steps added since the last call multiply the number of
// rows by times.
func (s *scope) expect(times float64) {
	if len(s.pipe.estimates) == len(s.pipe.steps) {
		return
	}
	s.rows *= times
	for len(s.pipe.estimates) < len(s.pipe.steps) {
		s.pipe.estimates = append(s.pipe.estimates, s.rows)
	}
}

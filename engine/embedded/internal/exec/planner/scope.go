package planner

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// scope is a block during planning: the clauses that have no step yet, and the steps so far.
type scope struct {
	varStates   []varState                    // by variable
	vars        []plan.VarID                  // bound variables, in the order of binding; elements never change
	unbound     []plan.VarID                  // variables that no step has bound yet
	links       []*ir.Link                    // traversals that no step follows yet
	filtersOf   map[plan.VarID][]*pendingCond // the filters by the unbound variables that they use
	ready       []*pendingCond                // filters whose variables are all bound
	open        int                           // number of filters with an unbound variable
	tests       []*ir.Test                    // blocks that no step tests yet
	accessPaths map[plan.VarID]*accessPath    // see planner.accessPath
	pipe        *exec.Pipe                    // the steps so far
	rows        float64                       // estimated number of rows so far
	start       plan.VarID                    // the variable to bind first, or NoVar
	connected   bool                          // steps follow traversals from the bound variables where they can
}

// varState is the state of a variable in a block.
type varState uint8

const (
	notNeeded  varState = iota // the block does not use the variable
	neededHere                 // no step has bound the variable yet
	boundHere                  // a step has bound the variable
)

// pendingCond is a condition that no step tests yet.
type pendingCond struct {
	cond    *ir.Cond
	at      int  // position among the conditions of the block
	unbound int  // number of its variables that are not bound yet
	done    bool // whether a step tests it
}

// scope returns the scope of a block. The parameter `outer` is the scope around a block inside the
// match; it is nil for the match.
func (pl *planner) scope(b *ir.Block, outer *scope) *scope {
	s := &scope{pipe: &exec.Pipe{Inner: outer != nil}, rows: 1, links: slices.Clone(b.Links), tests: b.Tests, start: plan.NoVar}
	if outer == nil {
		s.varStates = make([]varState, len(pl.Types))
	} else {
		s.vars = slices.Clip(outer.vars)
		s.varStates = slices.Clone(outer.varStates)
		for _, v := range outer.unbound {
			s.varStates[v] = notNeeded
		}
	}
	for _, v := range b.Vars {
		pl.Step(1)
		s.require(v)
	}
	for i, c := range b.Conds {
		pl.Step(1)
		s.filter(&pendingCond{cond: c, at: i})
	}
	return s
}

// require notes a variable that the block must bind.
func (s *scope) require(v plan.VarID) {
	if v != plan.NoVar && s.varStates[v] == notNeeded {
		s.varStates[v] = neededHere
		s.unbound = append(s.unbound, v)
	}
}

// bound reports whether a step of this block binds the variable v.
func (s *scope) bound(v plan.VarID) bool { return s.varStates[v] == boundHere }

// bind records that the last step binds the variable v, if it was not bound yet.
func (s *scope) bind(v plan.VarID) {
	if v == plan.NoVar || s.bound(v) {
		return
	}
	s.varStates[v] = boundHere
	s.vars = append(s.vars, v)
	s.unbound = slices.DeleteFunc(s.unbound, func(u plan.VarID) bool { return u == v })
	for _, w := range s.filtersOf[v] {
		if w.unbound--; w.unbound == 0 {
			s.ready = append(s.ready, w)
			s.open--
		}
		for _, u := range w.cond.Vars {
			delete(s.accessPaths, u) // the filter may limit the values of u, now that v is bound
		}
	}
}

// filter records a condition of the block.
func (s *scope) filter(w *pendingCond) {
	for _, v := range w.cond.Vars {
		if s.bound(v) {
			continue
		}
		if s.filtersOf == nil {
			s.filtersOf = map[plan.VarID][]*pendingCond{}
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
func (pl *planner) filtersOn(s *scope, v plan.VarID) func(yield func(*pendingCond) bool) {
	return func(yield func(*pendingCond) bool) {
		for _, w := range s.filtersOf[v] {
			pl.Step(1)
			if !w.done && !yield(w) {
				return
			}
		}
	}
}

// scaleRows records an estimate: the steps added since the last call multiply the number of rows by
// the factor `times`.
func (s *scope) scaleRows(times float64) {
	if len(s.pipe.Estimates) == len(s.pipe.Steps) {
		return
	}
	s.rows *= times
	for len(s.pipe.Estimates) < len(s.pipe.Steps) {
		s.pipe.Estimates = append(s.pipe.Estimates, s.rows)
	}
}

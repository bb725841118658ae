package naive

import (
	"slices"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// evaluation is the state of a running read.
type evaluation struct {
	g       *Graph
	state   *state            // the contents that are read
	commit  string            // the id of the commit whose state is read
	brought map[string]string // see broughtBy; nil until it is needed
	query   *plan.Query       // the read
	args    engine.Args       // by parameter index
	now     value.Value       // the value of now()
	env     []*entity         // entity by variable; nil if unbound
	more    bool              // the limit cut rows off; set by rows
	err     error             // why the read fails, known only after its rows are evaluated
	// members are the matches of the group for which an expression is evaluated; nil outside a group.
	members [][]*entity

	scores  map[scoreKey]float64 // BM25 scores, once they are computed
	found   [][]*entity          // all matches, once they are known
	fusions []fusion             // scores of the rrf calls, once they are computed
}

// newEvaluation returns the evaluation of a read on a state. The parameter `at` is the time that
// now() returns.
func newEvaluation(g *Graph, s *state, q *plan.Query, args engine.Args, at time.Time) *evaluation {
	return &evaluation{g: g, state: s, query: q, args: args, now: value.OfDateTime(value.DateTimeOf(at)),
		env: make([]*entity, len(q.Read.Vars)), scores: map[scoreKey]float64{}}
}

// assignments finds every assignment to the unbound variables for which all clauses hold. It calls
// `emit` for each assignment, and stops if `emit` returns false.
//
// It binds variables in order of occurrence, and checks a clause as soon as all of its variables
// are bound.
func (ev *evaluation) assignments(clauses []plan.Clause, emit func() bool) {
	var free []plan.VarID
	for _, c := range clauses {
		if plan.Block(c) != nil {
			continue // the variables that a block binds are not visible here
		}
		for _, v := range mentions(c) {
			if ev.env[v] == nil && ev.query.Read.Vars[v].Entity != plan.Walk && !slices.Contains(free, v) {
				free = append(free, v)
			}
		}
	}
	ready := make([][]plan.Clause, len(free)+1)
	for _, c := range clauses {
		level := 0
		for _, v := range mentions(c) {
			level = max(level, slices.Index(free, v)+1)
		}
		ready[level] = append(ready[level], c)
	}
	var bind func(level int) bool
	bind = func(level int) bool {
		for _, c := range ready[level] {
			if !ev.holds(c) {
				return true
			}
		}
		if level == len(free) {
			return emit()
		}
		v := ev.query.Read.Vars[free[level]]
		defer func() { ev.env[free[level]] = nil }()
		for _, e := range ev.candidates(v) {
			ev.env[free[level]] = e
			if !bind(level + 1) {
				return false
			}
		}
		return true
	}
	bind(0)
}

// holds reports whether a clause holds in the environment. The environment must bind all variables
// of the clause, except the variables that its blocks bind.
func (ev *evaluation) holds(c plan.Clause) bool {
	switch c := c.(type) {
	case plan.Bind:
		return true // always true, because the variable ranges over its type
	case plan.Traverse:
		return ev.traverses(c)
	case plan.Filter:
		return ev.isTrue(c.Cond)
	case plan.Not, plan.Exists, plan.Any, plan.All:
		return ev.blockHolds(c)
	}
	panic("naive: unknown clause")
}

// matches reports whether the clauses of a `not` or `exists` block have at least one assignment.
func (ev *evaluation) matches(clauses []plan.Clause) bool {
	inner := *ev
	inner.env = slices.Clone(ev.env)
	switch ev.g.fault {
	case NotUncorrelated:
		clear(inner.env)
	case NestedNotIgnored:
		clauses = without[plan.Not](clauses)
	case FilterInNotPassed:
		clauses = without[plan.Filter](clauses)
	}
	if ev.overNull(clauses) {
		return false
	}
	found := false
	inner.assignments(clauses, func() bool {
		found = true
		return false
	})
	return found
}

// without returns the clauses that are not of type C.
func without[C plan.Clause](clauses []plan.Clause) []plan.Clause {
	return slices.DeleteFunc(slices.Clone(clauses), func(c plan.Clause) bool {
		_, is := c.(C)
		return is
	})
}

// mentions returns the distinct variables of a clause, including the variables in its blocks.
func mentions(c plan.Clause) []plan.VarID {
	var vars []plan.VarID
	add := func(v plan.VarID) {
		if v != plan.NoVar && !slices.Contains(vars, v) {
			vars = append(vars, v)
		}
	}
	switch c := c.(type) {
	case plan.Bind:
		add(c.Var)
	case plan.Traverse:
		add(c.From)
		add(c.To)
		add(c.EdgeVar)
	case plan.Filter:
		for _, e := range plan.CondOperands(c.Cond) {
			for _, v := range variables(e) {
				add(v)
			}
		}
	case plan.Not, plan.Exists, plan.Any, plan.All, plan.Optional:
		for _, c := range plan.Block(c) {
			for _, v := range mentions(c) {
				add(v)
			}
		}
	}
	return vars
}

// variables returns the variables that an expression of a condition refers to.
func variables(e plan.Expr) []plan.VarID {
	if v := variable(e); v != plan.NoVar {
		return []plan.VarID{v}
	}
	switch e := e.(type) {
	case plan.Holds:
		return e.Outer
	case plan.WalkPart:
		return []plan.VarID{e.Var, e.From, e.To}
	}
	if _, outer, ok := plan.Subquery(e); ok {
		return outer
	}
	var vars []plan.VarID
	for _, o := range plan.Operands(e) {
		vars = append(vars, variables(o)...)
	}
	return vars
}

// variable returns the variable that a simple expression of a condition refers to, or NoVar.
func variable(e plan.Expr) plan.VarID {
	switch e := e.(type) {
	case plan.Prop:
		return e.Var
	case plan.ID:
		return e.Var
	case plan.Endpoint:
		return e.Var
	case plan.EndNode:
		return e.Var
	case plan.Origin:
		return e.Var
	case plan.Whole:
		return e.Var
	case plan.Matched:
		return e.Match.Prop.Var
	case plan.BM25:
		return e.Prop.Var
	case plan.Nearest:
		return e.Prop.Var
	}
	return plan.NoVar
}

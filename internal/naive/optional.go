package naive

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// nothing is the value of an optional variable that is null. It has no properties.
var nothing = &entity{}

// extended finds every assignment for which all clauses of a match or of a subquery hold. It calls `emit` for each of
// them. It first finds the assignments without the `optional` blocks, then extends each of these by one block
// after the other, and at last tests the conditions that use an optional variable.
func (ev *evaluation) extended(clauses []plan.Clause, emit func()) {
	var required, late []plan.Clause
	var blocks []plan.Optional
	for _, c := range clauses {
		o, optional := c.(plan.Optional)
		switch {
		case optional:
			blocks = append(blocks, o)
		case slices.ContainsFunc(mentions(c), func(v plan.VarID) bool { return ev.query.Read.Vars[v].Optional && ev.env[v] == nil }):
			late = append(late, c)
		default:
			required = append(required, c)
		}
	}
	ev.assignments(required, func() bool {
		ev.extend(blocks, func() {
			if !slices.ContainsFunc(late, func(c plan.Clause) bool { return !ev.holds(c) }) {
				emit()
			}
		})
		return true
	})
}

// extend extends the environment by the matches of `optional` blocks, and calls `emit` for each extension.
func (ev *evaluation) extend(blocks []plan.Optional, emit func()) {
	if len(blocks) == 0 {
		emit()
		return
	}
	block, rest := blocks[0], blocks[1:]
	matched := false
	var forgotten []plan.VarID
	if ev.g.fault == NullBoundAnew {
		for _, v := range binders(block.Match) {
			if ev.env[v] == nothing {
				forgotten = append(forgotten, v)
				ev.env[v] = nil
			}
		}
	}
	if !ev.overNull(block.Match) {
		ev.assignments(block.Match, func() bool {
			matched = true
			ev.extend(rest, emit)
			return ev.g.fault != OptionalOnce
		})
	}
	for _, v := range forgotten {
		ev.env[v] = nothing
	}
	if matched || ev.g.fault == OptionalRequired {
		return
	}
	var unbound []plan.VarID
	for _, v := range binders(block.Match) {
		if ev.env[v] == nil {
			unbound = append(unbound, v)
			ev.env[v] = nothing
		}
	}
	ev.extend(rest, emit)
	for _, v := range unbound {
		ev.env[v] = nil
	}
}

// overNull reports whether a binding or traversal of a block uses a variable that is null.
func (ev *evaluation) overNull(clauses []plan.Clause) bool {
	return slices.ContainsFunc(binders(clauses), func(v plan.VarID) bool { return ev.env[v] == nothing })
}

// binders returns the variables of the bindings and traversals of a block.
func binders(clauses []plan.Clause) []plan.VarID {
	var vars []plan.VarID
	for _, c := range clauses {
		switch c.(type) {
		case plan.Bind, plan.Traverse:
			vars = append(vars, mentions(c)...)
		}
	}
	return vars
}

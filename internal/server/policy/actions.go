package policy

import (
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// scope is a way to narrow a rule. The values are bits.
type scope uint8

const (
	branchScope       scope = 1 << iota // by the branch that the action is about
	targetBranchScope                   // by the branch that the action creates, changes or deletes
	queriesScope                        // by the name of the stored query
	sourcesScope                        // by the name of the source of a load
	viaScope                            // by whether the request is ad hoc or from a stored query
)

// scopeKeys maps each scope to its key in a rule. Faults are reported in the order of the scopes.
var scopeKeys = []struct {
	scope scope
	key   string
}{
	{branchScope, "branch_scope"},
	{targetBranchScope, "target_branch_scope"},
	{queriesScope, "queries"},
	{sourcesScope, "sources"},
	{viaScope, "via"},
}

// scopesOf returns the scopes that a rule can use to narrow an action.
func scopesOf(row *tool.ActionRow) scope {
	var s scope
	switch row.On {
	case tool.OnBranch:
		s = branchScope
	case tool.OnTargetBranch:
		s = targetBranchScope
	case tool.OnQuery:
		s = queriesScope
	case tool.OnSource:
		s = sourcesScope
	case tool.OnGraph, tool.OnServer:
	}
	if row.ByVia() {
		s |= viaScope
	}
	return s
}

// Actions lists the actions that rules can name: those on the server if server is true, and those
// on a graph otherwise.
func Actions(server bool) []tool.Action {
	var all []tool.Action
	for _, r := range tool.Actions() {
		if r.Server() == server {
			all = append(all, r.Action)
		}
	}
	return all
}

// rowOf returns the row of an action, and false if there is no such action.
func rowOf(a tool.Action) (*tool.ActionRow, bool) {
	row := a.Row()
	return row, row.Action != ""
}

// actionNames returns the names of all actions.
func actionNames() []string {
	var names []string
	for _, r := range tool.Actions() {
		names = append(names, string(r.Action))
	}
	return names
}

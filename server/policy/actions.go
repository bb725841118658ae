package policy

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/server/tool"
)

// scope is one of the ways in which a rule can be narrowed.
type scope uint8

const (
	branchScope scope = 1 << iota
	targetBranchScope
	queriesScope
	viaScope
)

// scopeKeys are the keys of the scopes in a rule, in the order of reports.
var scopeKeys = []struct {
	scope scope
	key   string
}{
	{branchScope, "branch_scope"},
	{targetBranchScope, "target_branch_scope"},
	{queriesScope, "queries"},
	{viaScope, "via"},
}

// actionRow is what rules may say about an action.
type actionRow struct {
	action tool.Action
	server bool // on the server, not on a graph
	scopes scope
}

var actionTable = []actionRow{
	{tool.Read, false, branchScope | viaScope},
	{tool.Export, false, branchScope},
	{tool.Change, false, branchScope | viaScope},
	{tool.SchemaApply, false, targetBranchScope},
	{tool.BranchCreate, false, targetBranchScope},
	{tool.BranchDelete, false, targetBranchScope},
	{tool.BranchMerge, false, targetBranchScope},
	{tool.InvokeQuery, false, queriesScope},
	{tool.Admin, false, 0},
	{tool.GraphList, true, 0},
}

// Actions lists what rules may speak of: the actions on the server, or those on a graph.
func Actions(server bool) []tool.Action {
	var all []tool.Action
	for _, r := range actionTable {
		if r.server == server {
			all = append(all, r.action)
		}
	}
	return all
}

func rowOf(a tool.Action) (actionRow, bool) {
	i := slices.IndexFunc(actionTable, func(r actionRow) bool { return r.action == a })
	if i < 0 {
		return actionRow{}, false
	}
	return actionTable[i], true
}

func actionNames() []string {
	names := make([]string, len(actionTable))
	for i, r := range actionTable {
		names[i] = string(r.action)
	}
	return names
}

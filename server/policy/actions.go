package policy

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/server/tool"
)

// scope is a way to narrow a rule. The values are bits.
type scope uint8

const (
	branchScope scope = 1 << iota
	targetBranchScope
	queriesScope
	viaScope
)

// scopeKeys maps each scope to its key in a rule, in the order in which faults are reported.
var scopeKeys = []struct {
	scope scope
	key   string
}{
	{branchScope, "branch_scope"},
	{targetBranchScope, "target_branch_scope"},
	{queriesScope, "queries"},
	{viaScope, "via"},
}

// actionRow describes how rules can use an action.
type actionRow struct {
	action tool.Action
	server bool // true if the action is on the server, false if it is on a graph
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

// Actions lists the actions that rules can name: those on the server if server is true, and those
// on a graph otherwise.
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

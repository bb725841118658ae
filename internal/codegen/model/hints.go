package model

import (
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// hints returns the tool annotations of a query. A read is read-only. A mutation is destructive if
// it has an update, a delete, an upsert or a block, or an insert of a keyed node, because such an
// insert replaces an existing node with the same key, unless it is an insert new. A mutation is idempotent if it has only
// upserts and such inserts of keyed nodes, and uses neither the current time nor old values. The
// argument `override`, which comes from @mcp, replaces the computed value of `idempotent`.
func hints(q *plan.Query, s *catalog.Schema, override *bool) (readOnly, destructive, idempotent bool) {
	if q.Mutation == nil {
		readOnly, idempotent = true, true
	} else {
		idempotent = true
		for _, st := range q.Mutation.Statements {
			switch st := st.(type) {
			case plan.Insert:
				found := st.Upsert || !st.New && st.Entity == plan.Node && s.Node(st.Type) != nil && len(s.Node(st.Type).Key) > 0
				destructive = destructive || found
				idempotent = idempotent && found && !varies(st)
			case plan.Update, plan.Delete, plan.ForEach:
				destructive, idempotent = true, false
			}
		}
	}
	if override != nil {
		idempotent = *override
	}
	return readOnly, destructive, idempotent
}

// varies reports whether an insert may write different values when it runs again with the same
// arguments, because it uses now() or computes with the old values of a property.
func varies(st plan.Insert) bool {
	found := false
	for _, e := range plan.StatementExprs(st) {
		plan.WalkExpr(e, func(e plan.Expr) {
			switch e.(type) {
			case plan.Now, plan.Old:
				found = true
			default: // the other expressions depend on the arguments alone
			}
		})
	}
	return found
}

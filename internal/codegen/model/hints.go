package model

import (
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// hints returns the tool annotations of a query. A read is read-only. A mutation is destructive if
// it updates, deletes, or inserts a keyed node, because that insert replaces an existing node with
// the same key. It is idempotent if it only inserts keyed nodes and does not use the current time.
// The argument `override`, which comes from @mcp, replaces the computed value of idempotent.
func hints(q *plan.Query, s *catalog.Schema, override *bool) (readOnly, destructive, idempotent bool) {
	if q.Mutation == nil {
		readOnly, idempotent = true, true
	} else {
		idempotent = true
		for _, st := range q.Mutation.Statements {
			switch st := st.(type) {
			case plan.Insert:
				keyed := st.Entity == plan.Node && s.Node(st.Type) != nil && len(s.Node(st.Type).Key) > 0
				destructive = destructive || keyed
				idempotent = idempotent && keyed && !usesNow(st.Set)
			case plan.Update, plan.Delete:
				destructive, idempotent = true, false
			}
		}
	}
	if override != nil {
		idempotent = *override
	}
	return readOnly, destructive, idempotent
}

// usesNow reports whether an assignment assigns now(), or a value that it computes with now().
func usesNow(set []plan.Assign) bool {
	uses := false
	for _, a := range set {
		plan.WalkExpr(a.Value, func(e plan.Expr) {
			_, now := e.(plan.Now)
			uses = uses || now
		})
	}
	return uses
}

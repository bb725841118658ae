package model

import (
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// hints says what clients may assume of a query. Reads change nothing. A mutation is
// destructive when it updates, deletes, or inserts a keyed node, which replaces the
// node that has the key; it is idempotent when all it does is to insert keyed nodes
// without the current time. The override, from @mcp, wins over idempotent.
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

func usesNow(set []plan.Assign) bool {
	for _, a := range set {
		if _, ok := a.Value.(plan.Now); ok {
			return true
		}
	}
	return false
}

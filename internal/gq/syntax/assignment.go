package syntax

import (
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/work"
)

// ParseAssignment parses an expression as the value that an update assigns to a property. The positions of the faults
// are of no use to the author of the expression.
func ParseAssignment(m *work.Meter, property, expression string) (*Assign, diag.List) {
	// The line break ends a comment.
	f, faults := ParseQueriesWithin(m, "", "query q() { update X set { "+property+": "+expression+"\n} where id = \"\" }")
	if len(faults) > 0 {
		return nil, faults
	}
	if len(f.Queries) == 1 {
		if q, ok := f.Queries[0].Body.(*Mutation); ok && len(q.Statements) == 1 {
			if u, ok := q.Statements[0].(*Update); ok && len(u.Set) == 1 && len(u.Where) == 1 {
				return u.Set[0], nil
			}
		}
	}
	return nil, diag.List{{Code: Unexpected, Message: "the text is not one expression", Help: "write an expression over the properties of the type, such as `first + \" \" + last`"}}
}

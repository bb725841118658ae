package exec

import (
	"strings"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
)

// Having returns the rows in the set `among` that satisfy condition number i of `having`. A dropped condition keeps all of
// them.
func (m *matcher) Having(i int, f *eval.Frame, among eval.RowSet) (eval.RowSet, error) {
	t := m.HavingTests[i]
	if m.isDropped(t) {
		return among, nil
	}
	return m.satisfying(t, f, nil, among)
}

// having returns the text of a condition of `having`.
func (x *explainer) having(t *ArrangedTest) string {
	x.Step(1)
	if t.Cond != nil {
		return x.condition(t.Cond)
	}
	var parts []string
	for _, inner := range t.Members {
		parts = append(parts, x.having(inner))
	}
	return t.keyword() + " { " + strings.Join(parts, ", ") + " }"
}

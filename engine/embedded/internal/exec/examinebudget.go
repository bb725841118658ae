package exec

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// traverses is a step that follows the edges of a traversal.
type traverses interface{ traversal() *plan.Traverse }

// traversal implements [traverses].
func (t *Traversal) traversal() *plan.Traverse { return &t.Traverse }

// inStep adds the place of a step in the query to an error of eval.examineBudget.Examine. It returns any other error
// unchanged. Of several steps that the error passes, the first one adds its place.
func (m *matcher) inStep(err error, s Step) error {
	if err == nil {
		return nil
	}
	var large *engine.TooLarge
	if !errors.As(err, &large) || large.Resource != eval.ExaminedResource || large.Hint != "" {
		return err
	}
	if last, ok := s.(*Multiply); ok && last.Last != nil {
		s = &last.Last.Expand
	}
	hint := "add conditions to the match, so that its traversals start from fewer nodes"
	switch s := s.(type) {
	case *Scan:
		hint = m.scanHint(s.Var)
	case *ScanShared:
		hint = m.scanHint(s.Var)
	case traverses:
		if t := *s.traversal(); t.Edge != "" {
			t.From, t.To = m.written(t.From), m.written(t.To)
			hint = fmt.Sprintf("start the traversal %s from fewer nodes, by a key or by conditions, or divide the query into several", m.speller().Traverse(t))
		}
	}
	return &engine.TooLarge{Resource: large.Resource, Limit: large.Limit, Actual: large.Actual, Hint: hint}
}

// scanHint is the hint for a step that binds a variable to every node of its type.
func (m *matcher) scanHint(v plan.VarID) string {
	name := m.speller().Var(m.written(v))
	return fmt.Sprintf("%s: %s is joined with every row; connect %s by a traversal, or compare a key of it with a known value", name, m.Types[v].Name, name)
}

// written returns the variable of the query that a variable which ir.binder.hidden added stands for. It returns any other
// variable unchanged.
func (m *matcher) written(v plan.VarID) plan.VarID {
	name, _, hidden := strings.Cut(m.Read.Vars[v].Name, " ")
	if !hidden {
		return v
	}
	return plan.VarID(slices.IndexFunc(m.Read.Vars, func(v plan.Var) bool { return v.Name == name }))
}

// speller returns a speller for the variables of the query.
func (m *matcher) speller() plan.Speller {
	return plan.SpellerOf(&plan.Query{Params: m.Params, Read: m.Read})
}

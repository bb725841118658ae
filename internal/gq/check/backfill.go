package check

import (
	"errors"
	"fmt"
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
	"github.com/omnigraph-go/omnigraph/internal/gq/work"
	"github.com/omnigraph-go/omnigraph/internal/pattern"
)

// Literal returns the value of a literal of type t, which may be an enum. With an error, `help` says how to write the
// value, or is "".
func Literal(l *syntax.Literal, t value.Type) (v value.Value, help string, err error) {
	v, err = convert(l, t)
	switch {
	case errors.Is(err, errFraction):
		return v, "remove the fraction", fmt.Errorf("found a decimal, want %s", t.Required())
	case err != nil:
		return v, literalHelp(l, t), err
	case t.Enum == nil:
		return v, "", nil
	}
	elems := []value.Value{v}
	if v.IsList() {
		elems = v.Elems()
	}
	for _, e := range elems {
		if !slices.Contains(t.Enum, e.Str()) {
			return v, diag.DidYouMean(e.Str(), t.Enum), fmt.Errorf("%s does not include %q", t.Required(), e.Str())
		}
	}
	return v, "", nil
}

// Matches reports whether a text matches a pattern of @check, which must be valid.
func Matches(expr, text string) bool {
	p, err := pattern.Compile(expr)
	return err == nil && p.Match(text, nil)
}

// BackfillReads returns the names of the properties that the checked @backfill of a property reads.
func BackfillReads(p *catalog.Property) (names []string) {
	q, err := plan.Decode(string(p.Backfill.Plan))
	if err != nil {
		return nil // Backfill has encoded it, unless it has faults
	}
	plan.WalkExpr(q.Mutation.Statements[0].(plan.Update).Set[0].Value, func(e plan.Expr) {
		if old, ok := e.(plan.Old); ok {
			names = append(names, old.Name)
		}
	})
	return names
}

// Backfill checks the expression of @backfill at a property of a type, and returns the plan for
// [catalog.Backfill]. Otherwise it returns the first fault of the expression, and its help.
func Backfill(m *work.Meter, s *catalog.Schema, edge bool, typ string, p *catalog.Property) (encoded []byte, message, help string) {
	set, faults := syntax.ParseAssignment(m, p.Name, p.Backfill.Text)
	if len(faults) > 0 {
		return nil, faults[0].Message, faults[0].Help
	}
	c := newChecker(s, &syntax.Query{Name: syntax.Token{Value: "backfill"}})
	c.meter = m
	c.plan.Mutation, c.read, c.names = &plan.Mutation{}, &plan.Read{}, &scope{vars: map[string]plan.VarID{}}
	t := target{plan.Node, typ, s.Node(typ), nil}
	if edge {
		t = target{plan.Edge, typ, nil, s.Edge(typ)}
	}
	assign, ok := c.assign(set, t, nil, true)
	if !ok || len(c.faults) > 0 {
		c.faults.Sort()
		return nil, c.faults[0].Message, c.faults[0].Help
	}
	uses := false
	plan.WalkExpr(assign.Value, func(e plan.Expr) {
		old, ok := e.(plan.Old)
		uses = uses || ok && old.Name == p.Name
	})
	if uses {
		return nil, p.Name + " has no value yet", "use other properties of " + typ
	}
	c.plan.Mutation.Statements = []plan.Statement{plan.Update{Entity: t.entity, Type: t.name, Set: []plan.Assign{assign}}}
	return []byte(plan.Encode(c.plan)), "", ""
}

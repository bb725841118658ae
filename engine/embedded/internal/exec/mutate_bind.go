package exec

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// BindMutation checks that a mutation fits a schema. The error is a *engine.SchemaMismatch.
func BindMutation(q *plan.Query, s *version.Schema) error {
	if q.Mutation == nil {
		return mismatch("the query is not a mutation")
	}
	if err := CheckUses(q, s); err != nil {
		return err
	}
	for _, st := range q.Mutation.Statements {
		var entity plan.Entity
		var name string
		var set []plan.Assign
		var where *plan.Pred
		switch st := st.(type) {
		case plan.Insert:
			entity, name, set = st.Entity, st.Type, st.Set
		case plan.Update:
			entity, name, set, where = plan.Node, st.Type, st.Set, &st.Where
		case plan.Delete:
			entity, name, where = st.Entity, st.Type, &st.Where
		}
		t := s.Type(entity, name)
		if t == nil {
			return mismatch("there is no %s type %s", entity, name)
		}
		if err := operands(q, st); err != nil {
			return err
		}
		for _, a := range set {
			if err := checkPropType(t, a.Name, a.Type); err != nil {
				return err
			}
		}
		if where == nil {
			continue
		}
		if _, ok := t.Prop(where.Name); ok || where.Name != "id" && (entity == plan.Node || where.Name != "from" && where.Name != "to") {
			if err := checkPropType(t, where.Name, where.Type); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkPropType returns a mismatch unless the type has the property with the expected type.
func checkPropType(t *version.Type, name string, want value.Type) error {
	p, ok := t.Prop(name)
	if !ok {
		return mismatch("%s %s has no property %s", t.Entity, t.Name, name)
	}
	if has := t.Props[p].Type; has.Kind != want.Kind || has.List != want.List {
		return mismatch("property %s of %s %s is of type %s, expected %s", name, t.Entity, t.Name, has, want)
	}
	return nil
}

// operandType checks an expression of a mutation and returns its type. The expression must be a
// literal, an existing parameter or `now`, or must be computed from such expressions.
func operandType(q *plan.Query, e plan.Expr) (value.Type, error) {
	switch e := e.(type) {
	case plan.Lit:
		if e.Value.IsNull() {
			return value.Type{}, nil
		}
		return e.Value.Type(), nil
	case plan.Now:
		return value.Of(value.DateTime), nil
	case plan.ParamRef:
		if e.Index < 0 || e.Index >= len(q.Params) {
			return value.Type{}, mismatch("there is no parameter %d", e.Index)
		}
		return q.Params[e.Index].Type, nil
	case plan.Test:
		var types []value.Type
		for _, o := range plan.Operands(e) {
			t, err := operandType(q, o)
			if err != nil {
				return value.Type{}, err
			}
			types = append(types, t)
		}
		switch c := e.Cond.(type) {
		case plan.NullTest:
		case plan.Compare:
			if err := checkWordOperator(c, types); err != nil {
				return value.Type{}, err
			}
		default:
			return value.Type{}, mismatch("a mutation holds a text match")
		}
		return value.Of(value.Bool), nil
	case plan.Apply:
		row := e.Func.Row()
		if row == nil || !row.TakesArgs(len(e.Args)) {
			return value.Type{}, mismatch("there is no function %d with %d arguments", uint8(e.Func), len(e.Args))
		}
		types := make([]value.Type, len(e.Args))
		for i, a := range e.Args {
			var err error
			if types[i], err = operandType(q, a); err != nil {
				return value.Type{}, err
			}
		}
		t, ok := row.Result(types)
		if !ok || t.Kind != e.Type.Kind || t.List != e.Type.List {
			return value.Type{}, mismatch("%s does not take the given types, or does not yield %s", e.Func, e.Type)
		}
		return t, nil
	}
	return value.Type{}, mismatch("a mutation holds a %T, but may hold only literals, parameters, now() and what is computed from them", e)
}

// checkWordOperator checks the operands of an `in` or a `matches` in a mutation. The argument `types`
// contains the types of the two operands.
func checkWordOperator(c plan.Compare, types []value.Type) error {
	switch c.Op {
	case plan.In:
		if !types[1].List {
			return mismatch("the right side of in is of type %s, expected a list", types[1])
		}
	case plan.Matches:
		for _, t := range types {
			if t.Kind != value.Invalid && (t.Kind != value.String || t.List) {
				return mismatch("matches compares Strings, found %s and %s", types[0], types[1])
			}
		}
		switch c.Right.(type) {
		case plan.Lit, plan.ParamRef:
		default:
			return mismatch("the right side of matches is neither a literal nor a parameter")
		}
	case plan.Eq, plan.Ne, plan.Lt, plan.Le, plan.Gt, plan.Ge, plan.Contains, plan.StartsWith:
	default:
		return mismatch("there is no operator %d", uint8(c.Op))
	}
	return nil
}

// operands checks the expressions of a statement; see operandType. An expression may be missing if
// it is optional in the statement.
func operands(q *plan.Query, s plan.Statement) error {
	for _, e := range plan.StatementExprs(s) {
		if _, err := operandType(q, e); err != nil {
			return err
		}
	}
	return nil
}

package exec

import (
	"slices"

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
		if _, ok := e.Cond.(plan.Compare); !ok {
			return value.Type{}, mismatch("a mutation holds a text match")
		}
		for _, o := range plan.Operands(e) {
			if _, err := operandType(q, o); err != nil {
				return value.Type{}, err
			}
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

// operands checks the expressions of a statement; see operandType. An expression may be missing if
// it is optional in the statement.
func operands(q *plan.Query, s plan.Statement) error {
	var exprs []plan.Expr
	var set []plan.Assign
	switch s := s.(type) {
	case plan.Insert:
		exprs = slices.DeleteFunc([]plan.Expr{s.From, s.To, s.ID}, func(e plan.Expr) bool { return e == nil })
		set = s.Set
	case plan.Update:
		exprs, set = []plan.Expr{s.Where.Value}, s.Set
	case plan.Delete:
		exprs = []plan.Expr{s.Where.Value}
	}
	for _, a := range set {
		exprs = append(exprs, a.Value)
	}
	for _, e := range exprs {
		if _, err := operandType(q, e); err != nil {
			return err
		}
	}
	return nil
}

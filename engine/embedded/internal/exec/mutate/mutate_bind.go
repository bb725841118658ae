package mutate

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Bind checks that a mutation fits a schema. It does not check the matches of blocks; see [BindBlocks]. The
// error is a *engine.SchemaMismatch.
func Bind(q *plan.Query, s *schema.Schema) error {
	if q.Mutation == nil {
		return ir.Mismatch("the query is not a mutation")
	}
	if err := ir.CheckUses(q, s); err != nil {
		return err
	}
	m := &mutationBinder{query: q, schema: s}
	for _, v := range q.Mutation.Vars {
		if s.Type(v.Entity, v.Type) == nil {
			return ir.Mismatch("there is no %s type %s", v.Entity, v.Type)
		}
	}
	for _, st := range q.Mutation.Statements {
		each, ok := st.(plan.ForEach)
		if !ok {
			if err := m.statement(st); err != nil {
				return err
			}
			continue
		}
		if err := m.forEach(each); err != nil {
			return err
		}
	}
	return m.returns()
}

// mutationBinder checks the statements of a mutation.
type mutationBinder struct {
	query  *plan.Query
	schema *schema.Schema
	cells  []value.Type // in a ForEach: the types of the row's values
	old    *schema.Type // the type whose old values the expressions may use, or nil
}

// forEach checks a block. It does not check the block's match.
func (m *mutationBinder) forEach(each plan.ForEach) error {
	if each.Read != nil {
		if each.Read.Valid != nil {
			return ir.Mismatch("the match of a mutation has no time; leave out `valid`")
		}
		m.cells = make([]value.Type, len(each.Read.Columns))
		for i, c := range each.Read.Columns {
			if c.Fields != nil {
				return ir.Mismatch("a block of a mutation uses a whole node")
			}
			m.cells[i] = c.Type
		}
	} else {
		if each.List == nil {
			return ir.Mismatch("a block of a mutation has neither a match nor a list")
		}
		t, err := m.operandType(each.List)
		if err != nil {
			return err
		}
		if !t.List {
			return ir.Mismatch("a `for` block of a mutation got a value of type %s, expected a list", t)
		}
		m.cells = []value.Type{t.Elem()}
		if t.Fields != nil {
			m.cells = nil
			for _, f := range t.Fields {
				m.cells = append(m.cells, f.Type)
			}
		}
	}
	for _, st := range each.Statements {
		if _, nested := st.(plan.ForEach); nested {
			return ir.Mismatch("a block of a mutation contains another one")
		}
		if err := m.statement(st); err != nil {
			return err
		}
	}
	m.cells = nil
	return nil
}

// statement checks an insert, an update or a delete.
func (m *mutationBinder) statement(st plan.Statement) error {
	entity, name := plan.Target(st)
	set, where := plan.Written(st)
	t := m.schema.Type(entity, name)
	if t == nil {
		return ir.Mismatch("there is no %s type %s", entity, name)
	}
	ins, insert := st.(plan.Insert)
	_, update := st.(plan.Update)
	if !insert && len(where) == 0 {
		return ir.Mismatch("a statement selects the entities of %s without a predicate", name)
	}
	if insert && ins.As != nil {
		if v := *ins.As; v < 0 || int(v) >= len(m.query.Mutation.Vars) || m.query.Mutation.Vars[v].Entity != entity || m.query.Mutation.Vars[v].Type != name {
			return ir.Mismatch("an insert of %s names an entity of another type", name)
		}
	}
	if ins.Upsert && entity == plan.Node && t.Key == nil {
		return ir.Mismatch("node %s has no key, so an upsert cannot find a node", name)
	}
	if ins.Upsert && entity == plan.Edge && ins.ID == nil && !t.FoundByEnds() {
		return ir.Mismatch("edge %s has no unique constraint with src and dst, so an upsert without an id cannot find an edge", name)
	}
	if ins.Upsert && ins.New {
		return ir.Mismatch("an upsert of %s cannot be an insert new", name)
	}
	if update || ins.Upsert {
		m.old = t
		defer func() { m.old = nil }()
	}
	for _, e := range plan.StatementExprs(st) {
		if _, err := m.operandType(e); err != nil {
			return err
		}
	}
	for _, a := range set {
		if err := checkPropType(t, a.Name, a.Type); err != nil {
			return err
		}
	}
	for _, p := range where {
		if _, ok := t.Prop(p.Name); ok || p.Name != "id" && (entity == plan.Node || p.Name != "from" && p.Name != "to") {
			if err := checkPropType(t, p.Name, p.Type); err != nil {
				return err
			}
		}
	}
	return nil
}

// returns checks the columns that the mutation returns.
func (m *mutationBinder) returns() error {
	for _, c := range m.query.Mutation.Returns {
		if e, ok := c.Expr.(plan.EndNode); ok {
			if err := m.end(e.Var, e.To, true); err != nil {
				return err
			}
			continue
		}
		w, whole := c.Expr.(plan.Whole)
		if !whole {
			if _, err := m.operandType(c.Expr); err != nil {
				return err
			}
			continue
		}
		t, err := m.named(w.Var)
		if err != nil {
			return err
		}
		for i, f := range c.Fields {
			if i > 0 {
				if err := checkPropType(t, f.Name, f.Type); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// named returns the type of the entity that an insert names.
func (m *mutationBinder) named(v plan.VarID) (*schema.Type, error) {
	if v < 0 || int(v) >= len(m.query.Mutation.Vars) {
		return nil, ir.Mismatch("no insert names the entity %d", v)
	}
	named := m.query.Mutation.Vars[v]
	return m.schema.Type(named.Entity, named.Type), nil
}

// entityType returns the type of an expression that depends on an entity or a row; see [Write.entity]. It reports
// false for other expressions.
func (m *mutationBinder) entityType(e plan.Expr) (value.Type, bool, error) {
	text := value.Of(value.String)
	switch e := e.(type) {
	case plan.Cell:
		if e.Column < 0 || e.Column >= len(m.cells) {
			return value.Type{}, true, ir.Mismatch("a row has no value %d", e.Column)
		}
		return m.cells[e.Column], true, nil
	case plan.Old:
		if m.old == nil {
			return value.Type{}, true, ir.Mismatch("an old value of %s is used outside of an update or upsert", e.Name)
		}
		return e.Type, true, checkPropType(m.old, e.Name, e.Type)
	case plan.ID:
		_, err := m.named(e.Var)
		return text, true, err
	case plan.Endpoint:
		return text, true, m.end(e.Var, e.To, false)
	case plan.NodeRef:
		for _, part := range []plan.Expr{e.Type, e.ID} {
			if part == nil {
				return value.Type{}, true, ir.Mismatch("a node at an end of an edge lacks its type or its id")
			}
			t, err := m.operandType(part)
			if err == nil && t.Kind != value.Invalid && (t.Kind != value.String || t.List || t.Fields != nil) {
				err = ir.Mismatch("a node at an end of an edge is given by a value of type %s, expected String", t)
			}
			if err != nil {
				return value.Type{}, true, err
			}
		}
		return plan.NodeType(nil), true, nil
	case plan.Prop:
		t, err := m.named(e.Var)
		if err == nil {
			err = checkPropType(t, e.Name, e.Type)
		}
		return e.Type, true, err
	case plan.KeyOf:
		return text, true, m.key(e)
	}
	return value.Type{}, false, nil
}

// end checks that a variable names an edge, and that an interface is, or is not, at its end.
func (m *mutationBinder) end(v plan.VarID, to, atInterface bool) error {
	t, err := m.named(v)
	if err != nil {
		return err
	}
	if t.Entity != plan.Edge {
		return ir.Mismatch("a node has no ends")
	}
	if end := m.schema.EndType(t, to); (end.Of != nil) != atInterface {
		return ir.Mismatch("an end of edge %s is at %s", t.Name, end.Name)
	}
	return nil
}

// key checks a node that is given by its key.
func (m *mutationBinder) key(e plan.KeyOf) error {
	t := m.schema.Type(plan.Node, e.Node)
	if t == nil {
		return ir.Mismatch("there is no node type %s", e.Node)
	}
	if len(e.Key) != len(t.Key) {
		return ir.Mismatch("the key of node %s has %d members, found %d", e.Node, len(t.Key), len(e.Key))
	}
	for i, a := range e.Key {
		if p, ok := t.Prop(a.Name); !ok || p != t.Key[i] {
			return ir.Mismatch("member %d of the key of node %s is not %s", i+1, e.Node, a.Name)
		}
		if err := checkPropType(t, a.Name, a.Type); err != nil {
			return err
		}
		if _, err := m.operandType(a.Value); err != nil {
			return err
		}
	}
	return nil
}

// checkPropType returns a mismatch unless the type has the property with the expected type.
func checkPropType(t *schema.Type, name string, want value.Type) error {
	p, ok := t.Prop(name)
	if !ok {
		return ir.Mismatch("%s %s has no property %s", t.Entity, t.Name, name)
	}
	if has := t.Props[p].Type; has.Kind != want.Kind || has.List != want.List {
		return ir.Mismatch("property %s of %s %s is of type %s, expected %s", name, t.Entity, t.Name, has, want)
	}
	return nil
}

// operandType checks an expression of a mutation and returns its type. The expression must be a
// literal, an existing parameter, `now` or a value of an entity or a row, or must be computed from such expressions.
func (m *mutationBinder) operandType(e plan.Expr) (value.Type, error) {
	q := m.query
	if t, ok, err := m.entityType(e); ok {
		return t, err
	}
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
			return value.Type{}, ir.Mismatch("there is no parameter %d", e.Index)
		}
		return q.Params[e.Index].Type, nil
	case plan.Test:
		var types []value.Type
		for _, o := range plan.Operands(e) {
			t, err := m.operandType(o)
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
			return value.Type{}, ir.Mismatch("a mutation holds a text match")
		}
		return value.Of(value.Bool), nil
	case plan.Apply:
		row := e.Func.Row()
		if row == nil || !row.TakesArgs(len(e.Args)) {
			return value.Type{}, ir.Mismatch("there is no function %d with %d arguments", uint8(e.Func), len(e.Args))
		}
		types := make([]value.Type, len(e.Args))
		for i, a := range e.Args {
			var err error
			if types[i], err = m.operandType(a); err != nil {
				return value.Type{}, err
			}
		}
		t, ok := row.Result(types)
		if !ok || t.Kind != e.Type.Kind || t.List != e.Type.List {
			return value.Type{}, ir.Mismatch("%s does not take the given types, or does not yield %s", e.Func, e.Type)
		}
		return t, nil
	}
	return value.Type{}, ir.Mismatch("a mutation holds a %T, but may hold only literals, parameters, now(), values of entities that it writes or matches, and expressions of them", e)
}

// checkWordOperator checks the operands of an `in` or a `matches` in a mutation. The argument `types`
// contains the types of the two operands.
func checkWordOperator(c plan.Compare, types []value.Type) error {
	switch c.Op {
	case plan.In:
		if !types[1].List {
			return ir.Mismatch("the right side of in is of type %s, expected a list", types[1])
		}
	case plan.Matches:
		for _, t := range types {
			if t.Kind != value.Invalid && (t.Kind != value.String || t.List) {
				return ir.Mismatch("matches compares Strings, found %s and %s", types[0], types[1])
			}
		}
		switch c.Right.(type) {
		case plan.Lit, plan.ParamRef:
		default:
			return ir.Mismatch("the right side of matches is neither a literal nor a parameter")
		}
	case plan.Eq, plan.Ne, plan.Lt, plan.Le, plan.Gt, plan.Ge, plan.Contains, plan.StartsWith:
	default:
		return ir.Mismatch("there is no operator %d", uint8(c.Op))
	}
	return nil
}

package enginetest

import (
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// mutationPlan builds the plan of a mutation.
type mutationPlan struct {
	schema *catalog.Schema // schema of the graph to change
	q      *plan.Query     // the plan
	built  bool            // `query` has been called
}

// newMutation returns an empty plan of a mutation.
func newMutation(schema *catalog.Schema) *mutationPlan {
	return &mutationPlan{schema: schema, q: &plan.Query{Name: "mutation", Mutation: &plan.Mutation{}}}
}

// change starts a mutation plan for the session's schema.
func (s *session) change() *mutationPlan { return newMutation(s.schema) }

// param declares a parameter.
func (m *mutationPlan) param(name string, t value.Type) plan.ParamRef {
	m.q.Params = append(m.q.Params, plan.Param{Name: name, Type: t})
	return plan.ParamRef{Index: len(m.q.Params) - 1}
}

// add adds a statement to the plan.
func (m *mutationPlan) add(s plan.Statement) *mutationPlan {
	m.q.Mutation.Statements = append(m.q.Mutation.Statements, s)
	return m
}

// set holds the values of properties by name; see [literal].
type set map[string]any

// insert adds an insert of a node. The member "id" of props is its explicit id.
func (m *mutationPlan) insert(typ string, props set) *mutationPlan {
	ins := plan.Insert{Entity: plan.Node, Type: typ, Set: m.assigns(plan.Node, typ, props)}
	ins.ID = explicitID(m.schema.Node(typ).Property("id"), props)
	return m.add(ins)
}

// link adds an insert of an edge between the nodes with these ids.
func (m *mutationPlan) link(typ string, from, to any, props set) *mutationPlan {
	return m.add(plan.Insert{Entity: plan.Edge, Type: typ, From: expression(from, nil), To: expression(to, nil),
		ID: explicitID(nil, props), Set: m.assigns(plan.Edge, typ, props)})
}

// explicitID returns the id in `props`, or nil if there is none or the type declares the property
// id.
func explicitID(declared *catalog.Property, props set) plan.Expr {
	if x, ok := props["id"]; ok && declared == nil {
		return expression(x, nil)
	}
	return nil
}

// update adds an update to the plan. The update assigns `props` to each node that satisfies a
// comparison: `op` compares the named property with x.
func (m *mutationPlan) update(typ string, props set, name string, op plan.Op, x any) *mutationPlan {
	return m.alter(plan.Node, typ, props, m.pred(plan.Node, typ, name, op, x))
}

// alter adds an update of nodes or edges to the plan.
func (m *mutationPlan) alter(kind plan.Entity, typ string, props set, where ...plan.Pred) *mutationPlan {
	return m.add(plan.Update{Entity: kind, Type: typ, Set: m.assigns(kind, typ, props), Where: where})
}

// upsert adds an upsert of a node to the plan.
func (m *mutationPlan) upsert(typ string, props set) *mutationPlan {
	return m.add(plan.Insert{Entity: plan.Node, Type: typ, Set: m.assigns(plan.Node, typ, props), Upsert: true})
}

// last returns the last statement, an insert.
func (m *mutationPlan) last() plan.Insert {
	return m.q.Mutation.Statements[len(m.q.Mutation.Statements)-1].(plan.Insert)
}

// onlyUpsert makes the last statement, an insert, an upsert.
func (m *mutationPlan) onlyUpsert() *mutationPlan {
	ins := m.last()
	ins.Upsert = true
	m.q.Mutation.Statements[len(m.q.Mutation.Statements)-1] = ins
	return m
}

// onlyNew makes the last statement, an insert, fail if the entity exists.
func (m *mutationPlan) onlyNew() *mutationPlan {
	last := len(m.q.Mutation.Statements) - 1
	ins := m.q.Mutation.Statements[last].(plan.Insert)
	ins.New = true
	m.q.Mutation.Statements[last] = ins
	return m
}

// relink adds an upsert of an edge between the nodes with these ids.
func (m *mutationPlan) relink(typ string, from, to any, props set) *mutationPlan {
	return m.add(plan.Insert{Entity: plan.Edge, Type: typ, From: expression(from, nil), To: expression(to, nil),
		Set: m.assigns(plan.Edge, typ, props), Upsert: true})
}

// named names the entity that the last statement, an insert, inserts.
func (m *mutationPlan) named(name string) plan.VarID {
	last := len(m.q.Mutation.Statements) - 1
	ins := m.q.Mutation.Statements[last].(plan.Insert)
	v := m.declare(name, &ins)
	m.q.Mutation.Statements[last] = ins
	return v
}

// declare makes an insert name its entity.
func (m *mutationPlan) declare(name string, ins *plan.Insert) plan.VarID {
	v := plan.VarID(len(m.q.Mutation.Vars))
	m.q.Mutation.Vars = append(m.q.Mutation.Vars, plan.Var{Name: name, Entity: ins.Entity, Type: ins.Type, Optional: true})
	ins.As = &v
	return v
}

// returns adds columns to the row that the mutation returns.
func (m *mutationPlan) returns(exprs ...plan.Expr) *mutationPlan {
	for _, e := range exprs {
		c := plan.Column{Name: fmt.Sprintf("c%d", len(m.q.Mutation.Returns)), Expr: e, Type: m.columnType(e)}
		if w, ok := e.(plan.Whole); ok {
			c.Fields = wholeFields(m.schema.Node(m.q.Mutation.Vars[w.Var].Type).Properties)
		}
		if end, ok := e.(plan.EndNode); ok {
			c.Type, c.Fields = value.Type{Nullable: true}, plan.NodeFields(typesAt(m.schema, m.q.Mutation.Vars[end.Var].Type, end.To))
		}
		m.q.Mutation.Returns = append(m.q.Mutation.Returns, c)
	}
	return m
}

// columnType returns the type of a column that a mutation returns.
func (m *mutationPlan) columnType(e plan.Expr) value.Type {
	switch e := e.(type) {
	case plan.Prop:
		return e.Type.Optional()
	case plan.ParamRef:
		return m.q.Params[e.Index].Type
	case plan.Lit:
		return e.Value.Type()
	case plan.Apply:
		return e.Type
	}
	return stringType.Optional()
}

// prop returns a property of an entity that an insert names.
func (m *mutationPlan) prop(v plan.VarID, name string) plan.Prop {
	named := m.q.Mutation.Vars[v]
	return plan.Prop{Var: v, Name: name, Type: propertyType(m.schema, named.Entity, named.Type, name)}
}

// forEach adds a block that runs its statements for each row of a match. The function `inner` adds
// these statements. Its argument `row` returns the value that an expression has in the row.
func (m *mutationPlan) forEach(p *readPlan, inner func(row func(plan.Expr) plan.Expr)) *mutationPlan {
	before := len(m.q.Mutation.Statements)
	inner(func(e plan.Expr) plan.Expr { return matchedCell(p, e) })
	if len(p.q.Read.Columns) == 0 {
		matchedCell(p, id(0))
	}
	retie(p.q.Read)
	return m.enclose(before, plan.ForEach{Read: p.q.Read})
}

// forElements adds a block that runs its statements for each element of a list. The function
// `inner` adds these statements. Its argument `elem` is the element.
func (m *mutationPlan) forElements(list plan.Expr, t value.Type, inner func(elem plan.Expr)) *mutationPlan {
	before := len(m.q.Mutation.Statements)
	inner(plan.Cell{Name: "$x", Type: t})
	return m.enclose(before, plan.ForEach{List: list, Var: "x"})
}

// forRecords adds a block that runs its statements for each record of a list. The function `inner` adds
// these statements. Its argument `field` returns a field of the record.
func (m *mutationPlan) forRecords(list plan.ParamRef, fields []value.Field, inner func(field func(i int) plan.Expr)) *mutationPlan {
	before := len(m.q.Mutation.Statements)
	inner(func(i int) plan.Expr {
		return plan.Cell{Column: i, Name: "$x." + fields[i].Name, Type: fields[i].Type}
	})
	return m.enclose(before, plan.ForEach{List: list, Var: "x"})
}

// enclose moves the statements from the index `first` on into a block.
func (m *mutationPlan) enclose(first int, block plan.ForEach) *mutationPlan {
	block.Statements = slices.Clone(m.q.Mutation.Statements[first:])
	m.q.Mutation.Statements = append(m.q.Mutation.Statements[:first:first], block)
	return m
}

// matchedCell returns the value of an expression in a row of a match. If no column of the match has
// the expression, matchedCell adds one.
func matchedCell(p *readPlan, e plan.Expr) plan.Cell {
	for i, c := range p.q.Read.Columns {
		if reflect.DeepEqual(c.Expr, e) {
			return plan.Cell{Column: i, Name: c.Name, Type: c.Type}
		}
	}
	p.column(fmt.Sprintf("$c%d", len(p.q.Read.Columns)), e)
	c := p.q.Read.Columns[len(p.q.Read.Columns)-1]
	return plan.Cell{Column: len(p.q.Read.Columns) - 1, Name: c.Name, Type: c.Type}
}

// old returns the value that a property has before an update or an upsert.
func (m *mutationPlan) old(kind plan.Entity, typ, name string) plan.Old {
	return plan.Old{Name: name, Type: propertyType(m.schema, kind, typ, name)}
}

// keyOf returns the node of a type with the given key, whose members are in the order of their names.
func (m *mutationPlan) keyOf(typ string, members ...any) plan.KeyOf {
	n := m.schema.Node(typ)
	key := plan.KeyOf{Node: typ}
	for i, name := range n.Key {
		t := n.Property(name).Type
		key.Key = append(key.Key, plan.Assign{Name: name, Type: t, Value: valueExpr(members[i], t)})
	}
	return key
}

// remove adds a delete to the plan. The delete removes each node that satisfies a comparison: `op`
// compares the named property with x.
func (m *mutationPlan) remove(typ, name string, op plan.Op, x any) *mutationPlan {
	return m.add(plan.Delete{Entity: plan.Node, Type: typ, Where: []plan.Pred{m.pred(plan.Node, typ, name, op, x)}})
}

// unlink adds a delete to the plan. The delete removes each edge that satisfies a comparison: `op`
// compares the named value with x. The parameter `name` is the name of a property, or "id", "from"
// or "to".
func (m *mutationPlan) unlink(typ, name string, op plan.Op, x any) *mutationPlan {
	return m.add(plan.Delete{Entity: plan.Edge, Type: typ, Where: []plan.Pred{m.pred(plan.Edge, typ, name, op, x)}})
}

// assigns returns an assignment for each entry of `props`, which maps properties of the type `typ`
// to values.
func (m *mutationPlan) assigns(kind plan.Entity, typ string, props set) []plan.Assign {
	var assigns []plan.Assign
	for _, p := range properties(m.schema, kind, typ) {
		if x, ok := props[p.Name]; ok {
			assigns = append(assigns, plan.Assign{Name: p.Name, Type: p.Type, Value: valueExpr(x, p.Type)})
		}
	}
	return assigns
}

// pred returns the comparison of a property, or of the id or an end, with x.
func (m *mutationPlan) pred(kind plan.Entity, typ, name string, op plan.Op, x any) plan.Pred {
	t := value.Of(value.String)
	for _, p := range properties(m.schema, kind, typ) {
		if p.Name == name {
			t = p.Type
		}
	}
	if kind == plan.Edge && (name == "from" || name == "to") {
		if _, isInterface := m.schema.Edge(typ).End(name == "to"); isInterface {
			t = plan.NodeType(typesAt(m.schema, typ, name == "to"))
		}
	}
	return plan.Pred{Name: name, Type: t, Op: op, Value: valueExpr(x, t)}
}

// query completes the plan, unless an earlier call did, and returns it.
func (m *mutationPlan) query() *plan.Query {
	if !m.built {
		m.built = true
		complete(m.schema, m.q)
	}
	return m.q
}

// properties returns the properties of the node or edge type `typ`.
func properties(schema *catalog.Schema, kind plan.Entity, typ string) []*catalog.Property {
	switch kind {
	case plan.Edge:
		return schema.Edge(typ).Properties
	case plan.Node:
		return schema.Node(typ).Properties
	case plan.Interface:
		return schema.Interface(typ).Common()
	case plan.Walk: // a walk has no properties
	}
	return nil
}

// valueExpr returns x if it is an expression, and else the literal of type t for x.
func valueExpr(x any, t value.Type) plan.Expr {
	if e, ok := x.(plan.Expr); ok {
		return e
	}
	return plan.Lit{Value: literal(x, t)}
}

// literal converts a Go value to a value of type t. It accepts strings (also for dates), bools,
// ints, float64s, and slices of any for lists. It returns a value.Value unchanged.
func literal(x any, t value.Type) value.Value {
	if list, ok := x.([]any); ok {
		elems := make([]value.Value, len(list))
		for i, e := range list {
			elems[i] = literal(e, t.Elem())
		}
		return value.OfList(t.Kind, elems)
	}
	switch x := x.(type) {
	case nil:
		return value.Null
	case value.Value:
		return x
	case bool:
		return value.OfBool(x)
	case string:
		return literalText(x, t.Kind)
	case float64:
		if t.Kind == value.F32 {
			return value.OfF32(float32(x))
		}
		return value.OfF64(x)
	case []float32:
		return value.OfVector(x)
	case int:
		switch {
		case t.Kind.IsFloat():
			return value.OfBits(t.Kind, math.Float64bits(float64(x)))
		case t.Kind.IsInteger():
			return value.OfBits(t.Kind, uint64(x))
		default:
			return value.OfI64(int64(x))
		}
	}
	panic(fmt.Sprintf("enginetest: %T is not a literal", x))
}

// literalText returns the value of the given kind that the text s writes.
func literalText(s string, kind value.Kind) value.Value {
	if !kind.HasText() {
		return value.OfString(s)
	}
	v, err := kind.Parse(s)
	must(err)
	return v
}

// arguments converts Go values to arguments. As in [literal], an int becomes an I64.
func arguments(xs []any) engine.Args {
	args := make(engine.Args, len(xs))
	for i, x := range xs {
		args[i] = literal(x, value.Type{})
	}
	return args
}

// must panics if err is not nil.
func must(err error) {
	if err != nil {
		panic("enginetest: " + err.Error())
	}
}

// uses lists the parts of the schema that a plan uses.
func uses(schema *catalog.Schema, q *plan.Query) []plan.Use {
	u := &useList{schema: schema}
	if q.Mutation != nil {
		q.Mutation.Walk(func(s plan.Statement) {
			if each, ok := s.(plan.ForEach); ok {
				if each.Read != nil {
					u.read(each.Read)
				}
				return
			}
			kind, typ := plan.Target(s)
			u.entity(kind, typ, true)
			assigned, where := plan.Written(s)
			u.assigns(kind, typ, assigned)
			for _, p := range where {
				u.property(kind, typ, p.Name, false)
			}
			for _, e := range plan.StatementExprs(s) {
				plan.WalkExpr(e, func(e plan.Expr) {
					if old, ok := e.(plan.Old); ok {
						u.property(kind, typ, old.Name, false)
					}
				})
			}
		})
		for _, c := range q.Mutation.Returns {
			u.expr(q.Mutation.Vars, c.Expr)
		}
		return u.list
	}
	u.read(q.Read)
	return u.list
}

// read adds the types and properties that a read uses.
func (u *useList) read(r *plan.Read) {
	for _, v := range r.Vars {
		if v.Entity == plan.Walk {
			continue
		}
		u.entity(v.Entity, v.Type, false)
	}
	u.clauses(r.Vars, r.Match)
	for _, c := range r.Columns {
		u.expr(r.Vars, c.Expr)
	}
	u.clauses(r.Vars, r.Having)
	for _, o := range r.Order {
		u.expr(r.Vars, o.Expr)
	}
}

// useList collects the types and properties that a plan uses, each once.
type useList struct {
	schema *catalog.Schema // schema of the plan's graph
	list   []plan.Use      // the parts used, by first use
}

// add adds a part that the plan uses, if it is not in the list yet.
func (u *useList) add(use plan.Use) {
	same := func(o plan.Use) bool {
		return o.Entity == use.Entity && o.Type == use.Type && o.Property == use.Property
	}
	if i := slices.IndexFunc(u.list, same); i >= 0 {
		u.list[i].Write = u.list[i].Write || use.Write
		return
	}
	u.list = append(u.list, use)
}

// entity adds a type.
func (u *useList) entity(kind plan.Entity, typ string, write bool) {
	use := plan.Use{Entity: kind, Type: typ, Write: write}
	if kind == plan.Edge {
		e := u.schema.Edge(typ)
		use.From, use.To = e.EndName(false), e.EndName(true)
	}
	u.add(use)
}

// property adds a property.
func (u *useList) property(kind plan.Entity, typ, name string, write bool) {
	for _, p := range properties(u.schema, kind, typ) {
		if p.Name == name {
			u.add(plan.Use{Entity: kind, Type: typ, Property: name, Value: p.Type, Write: write})
		}
	}
}

// assigns adds the properties that the plan assigns.
func (u *useList) assigns(kind plan.Entity, typ string, set []plan.Assign) {
	for _, a := range set {
		u.property(kind, typ, a.Name, true)
	}
}

// clauses adds the types and properties that clauses use.
func (u *useList) clauses(vars []plan.Var, clauses []plan.Clause) {
	for _, c := range clauses {
		switch c := c.(type) {
		case plan.Bind:
		case plan.Traverse:
			for _, edge := range c.Edges() {
				u.entity(plan.Edge, edge, false)
			}
		case plan.Filter:
			for _, e := range plan.CondOperands(c.Cond) {
				u.expr(vars, e)
			}
		case plan.Not, plan.Exists, plan.Any, plan.All, plan.Optional:
			u.clauses(vars, plan.Block(c))
		}
	}
}

// expr adds the properties that an expression uses.
func (u *useList) expr(vars []plan.Var, e plan.Expr) {
	switch e := e.(type) {
	case plan.Prop:
		u.property(vars[e.Var].Entity, vars[e.Var].Type, e.Name, false)
	case plan.Whole:
		v := vars[e.Var]
		for _, f := range wholeFields(properties(u.schema, v.Entity, v.Type))[1:] {
			u.property(v.Entity, v.Type, f.Name, false)
		}
	case plan.Agg:
		u.expr(vars, e.Arg)
	case plan.Matched:
		u.expr(vars, e.Match.Prop)
	case plan.BM25:
		u.expr(vars, e.Prop)
	case plan.Nearest:
		u.expr(vars, e.Prop)
	case plan.RRF:
		u.expr(vars, e.First)
		u.expr(vars, e.Second)
	case plan.Apply, plan.Test, plan.Member, plan.NodeRef:
		if ref, ok := e.(plan.NodeRef); ok {
			if typ, ok := ref.Type.(plan.Lit); ok {
				u.entity(plan.Node, typ.Value.Str(), false)
			}
		}
		for _, o := range plan.Operands(e) {
			u.expr(vars, o)
		}
	case plan.BlockAgg, plan.BlockRows:
		match, _, _ := plan.Subquery(e)
		u.clauses(vars, match)
		for _, r := range plan.Results(e) {
			u.expr(vars, r)
		}
	case plan.Holds:
		u.clauses(vars, []plan.Clause{e.Block})
	case plan.Lit, plan.ParamRef, plan.ID, plan.Endpoint, plan.EndNode, plan.Origin, plan.WalkPart, plan.Now, plan.Old, plan.KeyOf, plan.Cell:
	}
}

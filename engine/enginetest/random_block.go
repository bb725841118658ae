package enginetest

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// This file draws the parts of mutations that name entities, select the entities to write, or
// repeat statements.

// mutationKind returns the kind of a mutation for the outcomeCounts.
func mutationKind(m *plan.Mutation) string {
	kind := "mutation"
	m.Walk(func(st plan.Statement) {
		switch st := st.(type) {
		case plan.ForEach:
			kind = "mutation with a block"
		case plan.Insert:
			if st.Upsert && kind == "mutation" {
				kind = "mutation with an upsert"
			}
		case plan.Update, plan.Delete:
		}
	})
	return kind
}

// identifying returns the unique rules of an edge type by which an upsert finds an edge.
func identifying(e *catalog.Edge) [][]string {
	return slices.DeleteFunc(slices.Clone(e.Unique), func(u []string) bool { return !slices.Contains(u, "src") || !slices.Contains(u, "dst") })
}

// predicates draws one to three predicates of an update or a delete.
func (w *writeDraw) predicates(kind plan.Entity, typ string) []plan.Pred {
	var list []plan.Pred
	for len(list) == 0 || len(list) < 3 && w.percent(25) {
		name, op, x := w.predicate(kind, typ)
		list = append(list, w.pred(kind, typ, name, op, x))
	}
	return list
}

// withOld replaces some of the values by expressions that use old values.
func (w *writeDraw) withOld(kind plan.Entity, typ string, props set) set {
	for _, name := range sortedKeys(props) {
		t := propertyType(w.drawer.schema, kind, typ, name)
		isKey := kind == plan.Node && w.drawer.schema.Node(typ).IsKey(name) || kind == plan.Edge && slices.Contains(slices.Concat(identifying(w.drawer.schema.Edge(typ))...), name)
		if isKey || t.List || t.Enum != nil || !t.Kind.IsComparable() || !w.percent(15) {
			continue
		}
		var old plan.Expr = w.old(kind, typ, name)
		if t.Kind.IsNumeric() {
			one := plan.Lit{Value: value.OfI64(1)}
			if sum, ok := plan.Add.Row().Result([]value.Type{t, value.Of(value.I64)}); ok {
				old = plan.Apply{Func: plan.Add, Args: []plan.Expr{old, one}, Type: sum}
			}
		}
		if given, ok := props[name].(value.Value); ok && !given.IsNull() && given.Kind() == t.Kind && w.percent(60) {
			old = plan.Apply{Func: plan.Coalesce, Args: []plan.Expr{w.old(kind, typ, name), plan.Lit{Value: given}}, Type: t.Required()}
		}
		props[name] = old
	}
	return props
}

// drawName sometimes makes the last statement name the entity that it inserts.
func (w *writeDraw) drawName() {
	if w.percent(40) {
		w.mutationPlan.named("n")
	}
}

// drawEnd draws the id of a node at an end of an edge: an id, an entity that an earlier insert names, or a node given by
// its key.
func (w *writeDraw) drawEnd(typ string) any {
	for v, named := range w.q.Mutation.Vars {
		if named.Type == typ && named.Entity == plan.Node && !slices.Contains(w.hidden, plan.VarID(v)) && w.percent(50) {
			return plan.ID{Var: plan.VarID(v)}
		}
	}
	id := w.nodeID(typ)
	if n := w.drawer.schema.Node(typ); n.Key != nil && w.percent(30) {
		if members, ok := keyMembers(n, id); ok {
			given := make([]any, len(members))
			for i, v := range members {
				t := n.Property(n.Key[i]).Type
				t.Enum = nil // parameters have plain types
				given[i] = w.expr(v, t)
			}
			return w.keyOf(typ, given...)
		}
	}
	return w.expr(value.OfString(id), stringType)
}

// keyMembers returns the members of the key of the node with an id. It reports false if no node of the type has such an id.
func keyMembers(n *catalog.Node, id string) (members []value.Value, ok bool) {
	texts := []string{id}
	if len(n.Key) > 1 && (json.Unmarshal([]byte(id), &texts) != nil || len(texts) != len(n.Key)) {
		return nil, false
	}
	for i, name := range n.Key {
		v := value.OfString(texts[i])
		switch k := n.Property(name).Type.Kind; {
		case k.HasText():
			parsed, err := k.Parse(texts[i])
			if err != nil {
				return nil, false
			}
			v = parsed
		case k.IsNumeric():
			if v, ok = value.ParseNumber(texts[i], k); !ok {
				return nil, false
			}
		case k != value.String:
			return nil, false
		}
		members = append(members, v)
	}
	return members, true
}

// drawReturns sometimes adds columns that the mutation returns. They use the parameters, and the
// entities that inserts outside of blocks name.
func (w *writeDraw) drawReturns() {
	if !w.percent(40) {
		return
	}
	for _, st := range w.q.Mutation.Statements {
		ins, ok := st.(plan.Insert)
		if !ok || ins.As == nil {
			continue
		}
		w.returns(plan.ID{Var: *ins.As})
		for _, p := range properties(w.drawer.schema, ins.Entity, ins.Type) {
			if p.Type.Kind != value.Blob && w.percent(40) {
				w.returns(w.mutationPlan.prop(*ins.As, p.Name))
			}
		}
		if ins.Entity == plan.Node && w.percent(40) {
			w.returns(plan.Whole{Var: *ins.As})
		}
		if ins.Entity == plan.Edge {
			w.returns(endExpr(w.drawer.schema.Edge(ins.Type), *ins.As, w.percent(50)))
		}
	}
	for i, p := range w.q.Params {
		if w.percent(20) && p.Type.Fields == nil && p.Type.Kind != value.Blob {
			w.returns(plan.ParamRef{Index: i})
		}
	}
}

// drawBlock adds a block to the mutation.
func (w *writeDraw) drawBlock() {
	if w.percent(30) {
		w.drawListBlock()
		return
	}
	r := &readDraw{drawer: w.drawer, readPlan: newRead(w.drawer.schema), product: 1, args: w.args}
	r.q.Params = w.q.Params
	start := r.fresh(pick(w.drawer, w.drawer.schema.Nodes).Name)
	r.outer = []plan.VarID{start}
	clauses := []plan.Clause{plan.Bind{Var: start}}
	for range w.IntN(2) {
		clauses = append(clauses, r.clause(&r.outer, 0)...)
	}
	if w.percent(40) {
		clauses = append(clauses, r.filter(r.outer))
	}
	r.match(clauses...)
	if w.percent(50) {
		if typ := r.q.Read.Vars[start]; typ.Entity == plan.Node {
			r.sort(plan.Order{Expr: id(start), Desc: w.percent(50)})
		}
	}
	r.limit(int64(w.between(1, 6)))
	w.q.Params, w.args = r.q.Params, r.args
	w.forEach(r.readPlan, func(row func(plan.Expr) plan.Expr) {
		b := &blockDraw{writeDraw: w, cell: func(t value.Type, node string) (plan.Expr, bool) { return w.matched(r, row, t, node) }}
		b.statements()
	})
}

// matched draws a value of a row: the id of a node of the given type or, if `node` is empty, a value of the type t.
func (w *writeDraw) matched(r *readDraw, row func(plan.Expr) plan.Expr, t value.Type, node string) (plan.Expr, bool) {
	var found []plan.Expr
	for _, v := range r.outer {
		declared := r.q.Read.Vars[v]
		if declared.Entity == plan.Walk {
			continue // a walk is not a value
		}
		if node != "" {
			if declared.Entity == plan.Node && declared.Type == node {
				found = append(found, id(v))
			}
			continue
		}
		if t.Kind == value.String && !t.List && t.Enum == nil {
			found = append(found, id(v))
		}
		for _, p := range properties(w.drawer.schema, declared.Entity, declared.Type) {
			if p.Type.Kind == t.Kind && p.Type.List == t.List && p.Type.Dim == t.Dim && p.Type.Kind != value.Blob {
				found = append(found, r.prop(v, p.Name))
			}
		}
	}
	if len(found) == 0 {
		return nil, false
	}
	return row(pick(w.drawer, found)), true
}

// drawListBlock adds a block for the elements of a list of texts: ids of nodes, or other texts.
func (w *writeDraw) drawListBlock() {
	typ := pick(w.drawer, w.drawer.schema.Nodes).Name
	if w.percent(40) {
		w.drawRecordBlock(typ)
		return
	}
	elems := make([]value.Value, w.IntN(4))
	for i := range elems {
		elems[i] = value.OfString(w.nodeID(typ))
	}
	t := value.Type{Kind: value.String, List: true}
	list, ok := w.expr(value.OfList(value.String, elems), t).(plan.Expr)
	if !ok {
		list = plan.Lit{Value: value.OfList(value.String, elems)}
	}
	w.forElements(list, stringType, func(elem plan.Expr) {
		b := &blockDraw{writeDraw: w, cell: func(t value.Type, node string) (plan.Expr, bool) {
			if node != "" {
				return elem, node == typ
			}
			return elem, t.Kind == value.String && !t.List && t.Enum == nil
		}}
		b.statements()
	})
}

// drawRecordBlock adds a block for a list of records. The first field is the id of a node of a type, and
// the others have the types of properties.
func (w *writeDraw) drawRecordBlock(typ string) {
	t := value.Type{List: true, Nullable: w.percent(20), Fields: []value.Field{{Name: "id", Type: stringType}}}
	for _, p := range properties(w.drawer.schema, plan.Node, typ) {
		if k := p.Type.Kind; p.Type.List || k == value.Blob || k == value.Vector || !w.percent(60) {
			continue
		}
		t.Fields = append(t.Fields, value.Field{Name: fmt.Sprintf("f%d", len(t.Fields)), Type: value.Type{Kind: p.Type.Kind, Nullable: w.percent(40)}})
	}
	var arg value.Value
	if !t.Nullable || w.percent(70) {
		records := make([][]value.Value, w.IntN(4))
		for i := range records {
			records[i] = []value.Value{value.OfString(w.nodeID(typ))}
			for _, f := range t.Fields[1:] {
				v := w.scalar(f.Type, w.percent(20), false)
				if f.Type.Nullable && w.percent(30) {
					v = value.Null
				}
				records[i] = append(records[i], v)
			}
		}
		arg = value.OfRecords(records)
	}
	ref := w.param(fmt.Sprintf("x%d", len(w.q.Params)), t)
	w.args = append(w.args, arg)
	w.forRecords(ref, t.Fields, func(field func(int) plan.Expr) {
		b := &blockDraw{writeDraw: w, cell: func(want value.Type, node string) (plan.Expr, bool) {
			if node != "" {
				return field(0), node == typ
			}
			var fit []int
			for i, f := range t.Fields {
				if f.Type.Kind == want.Kind && !want.List && want.Enum == nil {
					fit = append(fit, i)
				}
			}
			if len(fit) == 0 {
				return nil, false
			}
			return field(pick(w.drawer, fit)), true
		}}
		b.statements()
	})
}

// blockDraw draws the statements of a block.
type blockDraw struct {
	*writeDraw
	// cell draws a value of the row: the id of a node of the type `node` or, if `node` is empty, a value of
	// the type t. It reports false if the row has none.
	cell func(t value.Type, node string) (plan.Expr, bool)
}

// statements adds one to three statements to the block.
func (b *blockDraw) statements() {
	vars := len(b.q.Mutation.Vars)
	for range b.between(1, 3) {
		switch draw := b.IntN(100); {
		case draw < 30:
			b.node()
			if v := len(b.q.Mutation.Vars); v > vars && b.params.percent(60) {
				b.link(vars) // it often leads from or to the node
			}
		case draw < 55:
			b.link(vars)
		case draw < 85:
			b.update()
		default:
			kind, typ := b.target()
			b.add(plan.Delete{Entity: kind, Type: typ, Where: b.where(kind, typ)})
		}
	}
	for v := vars; v < len(b.q.Mutation.Vars); v++ {
		b.hidden = append(b.hidden, plan.VarID(v))
	}
}

// target draws the type that an update or a delete writes.
func (b *blockDraw) target() (plan.Entity, string) {
	if b.percent(40) {
		return plan.Edge, pick(b.drawer, b.drawer.schema.Edges).Name
	}
	return plan.Node, pick(b.drawer, b.drawer.schema.Nodes).Name
}

// values replaces some of the values in `props` by values of the row.
func (b *blockDraw) values(kind plan.Entity, typ string, props set) set {
	for _, name := range sortedKeys(props) {
		if b.percent(55) {
			if e, ok := b.cell(propertyType(b.drawer.schema, kind, typ, name), ""); ok {
				props[name] = e
			}
		}
	}
	return props
}

// node adds an insert or an upsert of a node with a key, or an insert with an explicit id.
func (b *blockDraw) node() {
	n := pick(b.drawer, b.drawer.schema.Nodes)
	props := b.values(plan.Node, n.Name, b.exprs(plan.Node, n.Name, b.properties(plan.Node, n.Name)))
	switch {
	case n.Key != nil && b.percent(50):
		b.upsert(n.Name, b.withOld(plan.Node, n.Name, props))
	case n.Key != nil:
		b.insert(n.Name, props)
		b.drawNew()
	default:
		x, ok := b.cell(stringType, "")
		if !ok || n.Property("id") != nil {
			return
		}
		props["id"] = x
		b.insert(n.Name, props)
	}
	b.drawName()
}

// link adds an insert or an upsert of an edge. The variables from the index `own` on belong to the block.
func (b *blockDraw) link(own int) {
	e := b.edgeType()
	for range 3 {
		if len(b.q.Mutation.Vars) == own || b.ends(e, own) {
			break
		}
		e = b.edgeType()
	}
	x, ok := b.cell(stringType, "")
	if !ok {
		return
	}
	props := b.values(plan.Edge, e.Name, b.exprs(plan.Edge, e.Name, b.properties(plan.Edge, e.Name)))
	if e.Property("id") != nil {
		return
	}
	props["id"] = x
	end := func(typ string) any { return b.end(typ, own) }
	b.writeDraw.link(e.Name, b.endOf(e, false, end), b.endOf(e, true, end), props)
	b.drawUpsert()
}

// ends reports whether an edge of type e can end at a node that the block names.
func (b *blockDraw) ends(e *catalog.Edge, own int) bool {
	return slices.ContainsFunc(b.q.Mutation.Vars[own:], func(v plan.Var) bool {
		return v.Entity == plan.Node && (slices.Contains(typesAt(b.drawer.schema, e.Name, false), v.Type) || slices.Contains(typesAt(b.drawer.schema, e.Name, true), v.Type))
	})
}

// end draws the id of a node at an end of an edge.
func (b *blockDraw) end(typ string, own int) any {
	for v := own; v < len(b.q.Mutation.Vars); v++ {
		if b.q.Mutation.Vars[v].Type == typ && b.percent(70) {
			return plan.ID{Var: plan.VarID(v)}
		}
	}
	if e, ok := b.cell(stringType, typ); ok && b.percent(80) {
		n := b.drawer.schema.Node(typ)
		if len(n.Key) == 1 && n.Property(n.Key[0]).Type.Kind == value.String && b.rare.percent(60) {
			return b.keyOf(typ, e) // the id is the key
		}
		return e
	}
	return b.drawEnd(typ)
}

// update adds an update to the block.
func (b *blockDraw) update() {
	kind, typ := b.target()
	props := b.properties(kind, typ)
	if kind == plan.Node {
		for _, k := range b.drawer.schema.Node(typ).Key {
			delete(props, k)
		}
	}
	for _, name := range sortedKeys(props) {
		if b.percent(50) && len(props) > 1 {
			delete(props, name)
		}
	}
	if len(props) == 0 {
		return
	}
	props = b.values(kind, typ, b.withOld(kind, typ, b.exprs(kind, typ, props)))
	b.alter(kind, typ, props, b.where(kind, typ)...)
}

// where draws the predicates of an update or a delete.
func (b *blockDraw) where(kind plan.Entity, typ string) []plan.Pred {
	list := b.predicates(kind, typ)
	if !b.percent(70) {
		return list
	}
	if kind == plan.Node {
		if e, ok := b.cell(stringType, typ); ok {
			list[0] = b.pred(kind, typ, "id", plan.Eq, e)
		}
		return list
	}
	edge := b.drawer.schema.Edge(typ)
	if edge.HasInterfaceEnd() {
		return list
	}
	if e, ok := b.cell(stringType, edge.From); ok {
		list[0] = b.pred(kind, typ, "from", plan.Eq, e)
	} else if e, ok := b.cell(stringType, edge.To); ok {
		list[0] = b.pred(kind, typ, "to", plan.Eq, e)
	}
	return list
}

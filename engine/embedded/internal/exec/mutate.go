package exec

import (
	"cmp"
	"context"
	"fmt"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/pattern"
)

// Write runs a mutation in a transaction.
type Write struct {
	Tx    *version.Txn
	Args  engine.Args   // the arguments of the mutation
	Now   value.Value   // the value of now()
	NewID func() string // returns a new ULID
	// Vectors holds the computed vectors of inserts and updates, see [EmbedFor].
	Vectors Vectors
	Nodes   int64 // nodes affected so far
	Edges   int64 // edges affected so far

	query *plan.Query     // the mutation that runs
	ctx   context.Context // of the call
}

// Run runs the statements of a mutation in order and checks the resulting entities. The
// caller must have checked the mutation and the arguments. After an error the caller must
// discard the transaction.
func (w *Write) Run(ctx context.Context, q *plan.Query) error {
	w.query, w.ctx = q, ctx
	if err := w.checkPatterns(); err != nil {
		return err
	}
	for _, s := range q.Mutation.Statements {
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		switch s := s.(type) {
		case plan.Insert:
			err = w.insert(s)
		case plan.Update:
			err = w.update(ctx, s)
		case plan.Delete:
			err = w.delete(ctx, s)
		}
		if err != nil {
			return err
		}
	}
	return w.Tx.Check()
}

// insert inserts the node or edge of a statement.
func (w *Write) insert(s plan.Insert) error {
	t := w.Tx.Schema().Type(s.Entity, s.Type)
	vals := make([]value.Value, len(t.Props))
	for _, a := range s.Set {
		p, v, err := w.assignment(t, a)
		if err != nil {
			return err
		}
		vals[p] = v
	}
	w.embedded(t, s, vals)
	row := version.Row{Vals: vals}
	var err error
	if s.ID != nil {
		id, err := w.computed(t, "id", s.ID)
		if err != nil {
			return err
		}
		if !id.IsNull() && (id.Kind() != value.String || id.IsList()) {
			return &engine.ConstraintViolation{Entity: t.Entity.String(), Type: t.Name, Property: "id", Rule: "type", Detail: fmt.Sprintf("found a value of type %s, expected String", id.Type())}
		}
		if id.IsNull() || id.Str() == "" {
			return &engine.ConstraintViolation{Entity: t.Entity.String(), Type: t.Name, Property: "id", Rule: "required", Detail: "the id is empty; give one, or leave it out"}
		}
		row.ID = id.Str()
	}
	if err := t.CheckRow(row.ID, vals); err != nil {
		return err
	}
	if t.Key != nil {
		id := string(t.AppendID(nil, vals))
		if row.ID != "" && row.ID != id {
			return &engine.ConstraintViolation{Entity: "node", Type: t.Name, ID: row.ID, Property: "id", Rule: "key", Detail: fmt.Sprintf("the key determines the id %q", id)}
		}
		row.ID = id
		w.Tx.Put(t, row)
		w.Nodes++
		return nil
	}
	if s.Entity == plan.Edge {
		if row.Src, err = w.endpoint(t, "from", t.From, s.From); err != nil {
			return err
		}
		if row.Dst, err = w.endpoint(t, "to", t.To, s.To); err != nil {
			return err
		}
		w.Edges++
	} else {
		w.Nodes++
	}
	if row.ID == "" {
		row.ID = w.NewID()
	} else if _, exists := w.Tx.Table(t).Lookup(row.ID); exists {
		return &engine.KeyConflict{Entity: t.Entity.String(), Type: t.Name, ID: row.ID}
	}
	w.Tx.Put(t, row)
	return nil
}

// endpoint finds the node at one end of an edge.
func (w *Write) endpoint(t *version.Type, end string, node int, e plan.Expr) (uint32, error) {
	fail := func(rule, detail string) error {
		return &engine.ConstraintViolation{Entity: "edge", Type: t.Name, Property: end, Rule: rule, Detail: detail}
	}
	nt := w.Tx.Schema().Nodes[node]
	if e == nil {
		return 0, fail("endpoint", "the endpoint is missing; give the id of a node "+nt.Name)
	}
	id, err := w.computed(t, end, e)
	if err != nil {
		return 0, err
	}
	if id.IsNull() {
		return 0, fail("endpoint", "the endpoint is null, expected the id of a node "+nt.Name)
	}
	if id.Kind() != value.String || id.IsList() {
		return 0, fail("endpoint", fmt.Sprintf("found a value of type %s, expected the id of a node %s", id.Type(), nt.Name))
	}
	ord, ok := w.Tx.Table(nt).Lookup(id.Str())
	if !ok {
		help := cmp.Or(nt.IDForm(id.Str()), "insert it first")
		return 0, fail("endpoint", fmt.Sprintf("node %s %q does not exist; %s", nt.Name, id.Str(), help))
	}
	return ord, nil
}

// update updates the nodes that match a statement.
func (w *Write) update(ctx context.Context, s plan.Update) error {
	t := w.Tx.Schema().Type(plan.Node, s.Type)
	type assign struct {
		p int
		v value.Value
	}
	var set []assign
	var unfit error // matters only if there is an entity to update
	for _, a := range s.Set {
		p, v, err := w.assignment(t, a)
		if err != nil && unfit == nil {
			unfit = err
		}
		for _, k := range t.Key {
			if k == p {
				return &engine.ConstraintViolation{Entity: "node", Type: t.Name, Property: a.Name, Rule: "key", Detail: "a key property cannot be changed; insert another node and delete this one"}
			}
		}
		set = append(set, assign{p, v})
	}
	ords, err := w.matches(ctx, t, s.Where)
	if err != nil {
		return err
	}
	if unfit != nil && len(ords) > 0 {
		return unfit
	}
	vectors := w.derive(t, s)
	for i, ord := range ords {
		if i%frameSize == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		table := w.Tx.Table(t)
		row := version.Row{ID: table.ID(ord), Vals: make([]value.Value, len(t.Props))}
		was := table.Values(ord)
		copy(row.Vals, was)
		for _, a := range set {
			row.Vals[a.p] = a.v
		}
		for _, a := range set {
			if err := t.CheckValue(a.p, row.Vals[a.p]); err != nil {
				err.(*engine.ConstraintViolation).ID = row.ID
				return err
			}
		}
		if err := w.updateDerived(t, vectors, was, row.Vals); err != nil {
			err.(*engine.ConstraintViolation).ID = row.ID
			return err
		}
		w.Tx.Put(t, row)
		w.Nodes++
	}
	return nil
}

// delete deletes the nodes or edges that match a statement.
func (w *Write) delete(ctx context.Context, s plan.Delete) error {
	t := w.Tx.Schema().Type(s.Entity, s.Type)
	ords, err := w.matches(ctx, t, s.Where)
	if err != nil {
		return err
	}
	for i, ord := range ords {
		if i%frameSize == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		edges := w.Tx.Delete(t, ord)
		w.Edges += edges
		if s.Entity == plan.Edge {
			w.Edges++
		} else {
			w.Nodes++
		}
	}
	return nil
}

// matches returns the ordinals of the entities that satisfy a predicate.
func (w *Write) matches(ctx context.Context, t *version.Type, pred plan.Pred) ([]uint32, error) {
	want, err := w.value(pred.Value)
	if err != nil {
		return nil, err
	}
	table := w.Tx.Table(t)
	p, isProp := t.Prop(pred.Name)
	if want.IsNull() {
		return nil, nil
	}
	text := want.Kind() == value.String && !want.IsList()
	if pred.Op == plan.Eq {
		isKey := isProp && len(t.Key) == 1 && t.Key[0] == p && want.Kind() == pred.Type.Kind && !want.IsList()
		switch {
		case isKey:
			return one(table.Lookup(value.Text(want))), nil
		case !isProp && pred.Name == "id" && text:
			return one(table.Lookup(want.Str())), nil
		case !isProp && text:
			return w.edgesAt(table, pred.Name == "to", want.Str()), nil
		}
	}
	var out []uint32
	buf := make([]uint32, frameSize)
	for next := uint32(0); next < table.Ordinals(); {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var n int
		n, next = table.Scan(next, buf)
		for _, ord := range buf[:n] {
			var v value.Value
			switch {
			case isProp:
				v = table.Value(ord, p)
			case pred.Name == "id":
				v = value.OfString(table.ID(ord))
			default:
				src, dst := table.Ends(ord)
				node, nodes := src, t.From
				if pred.Name == "to" {
					node, nodes = dst, t.To
				}
				v = value.OfString(w.Tx.Table(w.Tx.Schema().Nodes[nodes]).ID(node))
			}
			if holds(pred.Op, v, want) {
				out = append(out, ord)
			}
		}
	}
	return out, nil
}

// edgesAt returns the edges of the node with the given id: its incoming edges if `in` is true,
// otherwise its outgoing ones.
func (w *Write) edgesAt(edges *version.Table, in bool, id string) []uint32 {
	node, adj := edges.Type.From, edges.Out()
	if in {
		node, adj = edges.Type.To, edges.In()
	}
	ord, ok := w.Tx.Table(w.Tx.Schema().Nodes[node]).Lookup(id)
	if !ok {
		return nil
	}
	var out []uint32
	base, _ := adj.Base(ord)
	for _, e := range base {
		if edges.Alive(e) {
			out = append(out, e)
		}
	}
	for later := adj.Later(ord); later.Next(); {
		if edges.Alive(later.Edge) {
			out = append(out, later.Edge)
		}
	}
	return out
}

// one returns a list with ord as its only element, or nil if ok is false.
func one(ord uint32, ok bool) []uint32 {
	if ok {
		return []uint32{ord}
	}
	return nil
}

// assignment returns the property of an assignment, and the value, converted to the
// property's type.
func (w *Write) assignment(t *version.Type, a plan.Assign) (int, value.Value, error) {
	p, _ := t.Prop(a.Name)
	v, err := w.computed(t, a.Name, a.Value)
	if err != nil {
		return p, value.Null, err
	}
	if v.IsNull() || v.Kind() == a.Type.Kind || v.IsList() != a.Type.List {
		return p, v, nil
	}
	c, err := convert(v, a.Type.Kind)
	if err != nil {
		return p, value.Null, &engine.ConstraintViolation{Entity: t.Entity.String(), Type: t.Name, Property: a.Name, Rule: "type", Detail: err.Error()}
	}
	return p, c, nil
}

// checkPatterns checks the arguments that the mutation uses as patterns. The error is a
// *engine.BadArgument for the first parameter that is not a valid pattern.
func (w *Write) checkPatterns() error {
	first, err := len(w.query.Params), error(nil)
	for _, st := range w.query.Mutation.Statements {
		for _, e := range plan.StatementExprs(st) {
			plan.ExprConds(e, func(c plan.Cond) {
				cmp, _ := c.(plan.Compare)
				ref, ok := cmp.Right.(plan.ParamRef)
				if !ok || cmp.Op != plan.Matches || ref.Index >= first || w.Args[ref.Index].IsNull() {
					return
				}
				if _, bad := pattern.Compile(w.Args[ref.Index].Str()); bad != nil {
					first, err = ref.Index, &engine.BadArgument{Param: w.query.Params[ref.Index].Name, Detail: bad.Error()}
				}
			})
		}
	}
	return err
}

// inputs returns the values that the expressions of the mutation depend on.
func (w *Write) inputs() *inputs {
	return &inputs{w.ctx, w.Args, w.Now}
}

// value returns the value of an expression, or null if it has none. The error is an *engine.TooLarge
// or the context's.
func (w *Write) value(e plan.Expr) (value.Value, error) {
	return w.inputs().value(e, false)
}

// computed returns the value of an expression that a statement assigns to a property, or to `id`,
// `from` or `to`. If the expression has no result, the error shows the expression.
func (w *Write) computed(t *version.Type, property string, e plan.Expr) (value.Value, error) {
	v, err := w.inputs().value(e, true)
	if err == errZero || err == errRange {
		return value.Null, &engine.ConstraintViolation{Entity: t.Entity.String(), Type: t.Name, Property: property, Rule: "type",
			Detail: fmt.Sprintf("%s %s", plan.SpellerOf(w.query).Plain(e), err)}
	}
	return v, err
}

// Package mutate runs mutations in a transaction.
package mutate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/scalar"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
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
	// Origins has the commits in the origins of rows, see eval.Options.
	Origins *version.Origins
	// Vectors holds the computed vectors of inserts and updates, see [EmbedFor].
	Vectors Vectors
	Memory  int64               // bytes that each match of a block may use, and its rows together; 0 for no limit
	Shared  *eval.Memory        // limit for all runs together; nil for no limit
	Visits  int64               // entities that the subqueries of each match, and the statements in blocks, may examine; 0 for plan.MaxVisited
	Nodes   int64               // nodes affected so far
	Edges   int64               // edges affected so far
	Effects engine.WriteEffects // the same numbers by kind of change, and what inserts replaced
	Row     []value.Value       // the row that the mutation returns; see [engine.Change]

	query *plan.Query     // the mutation that runs
	ctx   context.Context // of the call
	named [][]string      // by plan.VarID: the ids of the inserted entities, one for each row
	ended bool            // all statements have run; from now on, a deleted entity has a null id
	held  eval.Budget     // counts the bytes of the rows of the block that runs

	visited int64 // entities that statements in blocks have examined

	// The row for which expressions are evaluated.
	at    int           // its index
	cells []value.Value // its values; nil outside of a ForEach
	old   *oldRow       // the entity that an assignment changes; nil if there is none
	kept  []value.Value // only for fault.KeyKept
}

// oldRow has the values of an entity before a statement changes it.
type oldRow struct {
	t    *schema.Type
	vals []value.Value // by property; nil for a new entity
}

// action is a statement whose expressions and predicates have been evaluated.
type action interface {
	// apply changes the transaction.
	apply(w *Write) error
}

// Run runs the statements of a mutation in order and checks the resulting entities. The
// caller must have checked the mutation and the arguments. After an error the caller must
// discard the transaction.
func (w *Write) Run(ctx context.Context, q *plan.Query) error {
	w.query, w.ctx, w.named = q, ctx, make([][]string, len(q.Mutation.Vars))
	if err := w.checkPatterns(); err != nil {
		return err
	}
	defer w.held.Release()
	for _, s := range q.Mutation.Statements {
		if err := ctx.Err(); err != nil {
			return err
		}
		w.held.Release() // the rows of the block before
		w.held.Begin(w.Memory, w.Shared)
		rows, statements := oneRow, []plan.Statement{s}
		if each, ok := s.(plan.ForEach); ok {
			var err error
			if rows, err = w.rows(each); err != nil {
				return err
			}
			statements = each.Statements
		}
		if err := w.statements(statements, rows); err != nil {
			return err
		}
	}
	if err := w.Tx.Check(); err != nil {
		return err
	}
	w.ended = true
	var err error
	w.Row, err = w.returned()
	return err
}

// oneRow is the list of rows for a statement outside of a ForEach: a single row without values.
var oneRow = [][]value.Value{nil}

// statements runs each statement for all rows. It evaluates all statements before it changes
// anything.
func (w *Write) statements(list []plan.Statement, rows [][]value.Value) error {
	var actions []action
	for _, s := range list {
		var a action
		var err error
		switch s := s.(type) {
		case plan.Insert:
			a, err = w.insert(s, rows)
		case plan.Update:
			a, err = w.update(s, rows)
		case plan.Delete:
			a, err = w.delete(s, rows)
		}
		if err != nil {
			return err
		}
		if fault.On(fault.BlockSees) {
			if err := a.apply(w); err != nil {
				return err
			}
			continue
		}
		actions = append(actions, a)
	}
	w.cells = nil
	for _, a := range actions {
		if err := a.apply(w); err != nil {
			return err
		}
	}
	return nil
}

// enter makes row number `at` the current row, for which expressions are evaluated. For some of the
// rows it also checks the context.
func (w *Write) enter(at int, rows [][]value.Value) error {
	w.at, w.cells = at, rows[at]
	return w.tick(at)
}

// tick checks the context if n is a multiple of eval.FrameSize, so that a loop over n checks it from
// time to time.
func (w *Write) tick(n int) error {
	if n%eval.FrameSize != 0 {
		return nil
	}
	return w.ctx.Err()
}

// count adds n to the number of affected nodes or edges, and to that of the kind of change.
func (w *Write) count(e plan.Entity, kind engine.ChangeKind, n int64) {
	total, of := &w.Nodes, &w.Effects.Nodes
	if e == plan.Edge {
		total, of = &w.Edges, &w.Effects.Edges
	}
	*total += n
	of.Add(kind, n)
}

// kindOf returns the kind of change of a write to an entity that exists already or is new.
func kindOf(exists bool) engine.ChangeKind {
	if exists {
		return engine.Updated
	}
	return engine.Inserted
}

// assignment returns the property of an assignment, and the value, converted to the
// property's type.
func (w *Write) assignment(t *schema.Type, a plan.Assign) (int, value.Value, error) {
	p, _ := t.Prop(a.Name)
	v, err := w.computed(t, a.Name, a.Value)
	if err != nil {
		return p, value.Null, err
	}
	if v.IsNull() || v.Kind() == a.Type.Kind || v.IsList() != a.Type.List {
		return p, v, nil
	}
	c, err := scalar.Convert(v, a.Type.Kind)
	if err != nil {
		return p, value.Null, &engine.ConstraintViolation{Entity: t.Entity.String(), Type: t.Name, Property: a.Name, Rule: "type", Detail: err.Error()}
	}
	return p, c, nil
}

// checkPatterns checks the arguments that the mutation uses as patterns. The error is a
// *engine.BadArgument for the first parameter that is not a valid pattern.
func (w *Write) checkPatterns() error {
	first, err := len(w.query.Params), error(nil)
	w.query.Mutation.WalkConds(func(c plan.Cond) {
		cmp, _ := c.(plan.Compare)
		ref, ok := cmp.Right.(plan.ParamRef)
		if !ok || cmp.Op != plan.Matches || ref.Index >= first || w.Args[ref.Index].IsNull() {
			return
		}
		if _, bad := pattern.Compile(w.Args[ref.Index].Str()); bad != nil {
			first, err = ref.Index, &engine.BadArgument{Param: w.query.Params[ref.Index].Name, Detail: bad.Error()}
		}
	})
	return err
}

// inputs returns the values that the expressions of the mutation depend on.
func (w *Write) inputs() *eval.Inputs {
	return &eval.Inputs{Ctx: w.ctx, Args: w.Args, Now: w.Now, Entity: w.entity}
}

// value returns the value of an expression, or null if it has none. The error is an *engine.TooLarge
// or the context's.
func (w *Write) value(e plan.Expr) (value.Value, error) {
	return w.inputs().Value(e, false)
}

// computed returns the value of an expression that a statement assigns to a property, or to `id`,
// `from` or `to`. If the expression has no result, the error shows the expression.
func (w *Write) computed(t *schema.Type, property string, e plan.Expr) (value.Value, error) {
	v, err := w.inputs().Value(e, true)
	if err == scalar.ErrZero || err == scalar.ErrRange || err == scalar.ErrDigits {
		return value.Null, &engine.ConstraintViolation{Entity: t.Entity.String(), Type: t.Name, Property: property, Rule: "type",
			Detail: fmt.Sprintf("%s %s", plan.SpellerOf(w.query).Plain(e), err)}
	}
	return v, err
}

// entity returns the value of an expression that depends on an entity or a row. It returns null for an
// entity that does not exist.
func (w *Write) entity(e plan.Expr) (value.Value, error) {
	switch e := e.(type) {
	case plan.Cell:
		if e.Column < len(w.cells) {
			return w.cells[e.Column], nil
		}
	case plan.Old:
		if w.old == nil || w.old.vals == nil {
			return value.Null, nil
		}
		p, _ := w.old.t.Prop(e.Name)
		return w.old.vals[p], nil
	case plan.ID:
		if w.ended && !fault.On(fault.DeletedReturned) {
			if _, _, ok := w.found(e.Var); !ok {
				return value.Null, nil
			}
		}
		return w.idOf(e.Var), nil
	case plan.KeyOf:
		return w.keyOf(e)
	case plan.Prop:
		if table, ord, ok := w.found(e.Var); ok {
			p, _ := table.Type.Prop(e.Name)
			return table.Value(ord, p), nil
		}
	case plan.NodeRef:
		typ, err := w.value(e.Type)
		if err != nil || typ.IsNull() {
			return value.Null, err
		}
		id, err := w.value(e.ID)
		if err != nil || id.IsNull() {
			return value.Null, err
		}
		return plan.OfNode(typ.Str(), id.Str()), nil
	case plan.Endpoint:
		if table, ord, ok := w.found(e.Var); ok {
			return value.OfString(w.endID(table, ord, e.To)), nil
		}
	default: // Bind refuses other expressions
	}
	return value.Null, nil
}

// idOf returns the id of the entity that a variable names, for the current row. The id is null if
// no entity has been inserted for the variable.
func (w *Write) idOf(v plan.VarID) value.Value {
	var ids []string
	if int(v) < len(w.named) {
		ids = w.named[v]
	}
	switch {
	case len(ids) == 0:
		return value.Null
	case len(ids) == 1 || fault.On(fault.NamesFirst): // the insert is outside of a ForEach, or in a ForEach of one row
		return value.OfString(ids[0])
	}
	if w.at >= len(ids) {
		return value.Null
	}
	return value.OfString(ids[w.at])
}

// found returns the table and the ordinal of the entity that a variable names. The result `ok` is false if the
// entity has been deleted.
func (w *Write) found(v plan.VarID) (table *version.Table, ord uint32, ok bool) {
	id := w.idOf(v)
	if id.IsNull() {
		return nil, 0, false
	}
	named := w.query.Mutation.Vars[v]
	table = w.Tx.Table(w.Tx.Schema().Type(named.Entity, named.Type))
	ord, ok = table.Lookup(id.Str())
	return table, ord, ok
}

// endID returns the id of the entity at the source of an edge or, if `to` is true, at its target.
func (w *Write) endID(edges *version.Table, ord uint32, to bool) string {
	node, nodes := edges.Ends(ord)
	of := edges.Type.From
	if to {
		node, of = nodes, edges.Type.To
	}
	return w.Tx.Table(w.Tx.Schema().Nodes[of]).ID(node)
}

// keyOf returns the id of the node with a key. The id is null if a member of the key is null.
func (w *Write) keyOf(e plan.KeyOf) (value.Value, error) {
	t := w.Tx.Schema().Type(plan.Node, e.Node)
	members := make([]value.Value, len(e.Key))
	for i, a := range e.Key {
		_, v, err := w.assignment(t, a)
		if err != nil || v.IsNull() {
			return value.Null, err
		}
		members[i] = v
	}
	if fault.On(fault.KeyReversed) {
		slices.Reverse(members)
	}
	if fault.On(fault.KeyKept) && w.cells != nil {
		if w.at > 0 && len(w.kept) == len(members) {
			members = w.kept
		}
		w.kept = members
	}
	return value.OfString(string(t.AppendKey(nil, members))), nil
}

// returned returns the row of the mutation, or nil if the mutation returns none. For a whole node,
// the row has one value for each field of the node.
func (w *Write) returned() ([]value.Value, error) {
	var row []value.Value
	for _, c := range w.query.Mutation.Returns {
		if e, ok := c.Expr.(plan.EndNode); ok {
			typ, id := value.Null, value.Null
			if table, ord, ok := w.found(e.Var); ok {
				name, node := schema.SplitRef(w.endID(table, ord, e.To))
				typ, id = value.OfString(strings.Clone(name)), value.OfString(strings.Clone(node))
			}
			row = append(row, typ, id)
			continue
		}
		whole, ok := c.Expr.(plan.Whole)
		if !ok {
			v, err := w.value(c.Expr)
			if err != nil {
				return nil, err
			}
			row = append(row, version.Detached(v))
			continue
		}
		table, ord, ok := w.found(whole.Var)
		for i, f := range c.Fields {
			v := value.Null
			switch {
			case !ok:
			case i == 0:
				v = value.OfString(table.ID(ord))
			default:
				p, _ := table.Type.Prop(f.Name)
				v = table.Value(ord, p)
			}
			row = append(row, version.Detached(v))
		}
	}
	return row, nil
}

package naive

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Mutate runs the statements on a copy of the state.
func (g *Graph) Mutate(ctx context.Context, q *plan.Query, args engine.Args, opts engine.WriteOptions) (engine.Change, error) {
	if q.Mutation == nil {
		return engine.Change{}, &engine.SchemaMismatch{Detail: "query " + q.Name + " is not a mutation"}
	}
	if err := checkRead(q, opts.Reads); err != nil {
		return engine.Change{}, err
	}
	misfit := g.Bind(ctx, q, engine.Target{Branch: opts.Branch, Schema: opts.Schema})
	args, err := checkArgs(q, args, g.fault)
	if err != nil {
		return engine.Change{}, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	body := fmt.Sprintf("%s %v", plan.Format(q), args[:len(q.Declared())]) // not who the caller is, whose receipt it is
	former := body
	if opts.Statement != "" {
		body = statementBody(opts.Statement, q, args)
	}
	t, first, err := g.begin(opts, body, former)
	if err != nil {
		return engine.Change{}, err
	}
	if first != nil { // the answer of the first call, whatever became of the schema since
		return first.change, nil
	}
	if err := cmp.Or(misfit, checkOrigins(q, opts.Reads, t.before.schema)); err != nil {
		return engine.Change{}, err
	}
	if err := checkPatterns(q, args); err != nil {
		return engine.Change{}, err
	}
	w := &writing{tx: t, query: q, args: args, instant: now(), named: map[plan.VarID][]string{}}
	for _, s := range q.Mutation.Statements {
		earlier := t.after.clone()
		if err := w.run(s); err != nil {
			return engine.Change{}, err
		}
		if g.fault == PartialCommit && len(t.errs) > 0 {
			t.line.state = earlier
		}
	}
	w.ended = true
	row := w.returned()
	commit, err := t.commit(opts)
	if err != nil {
		return engine.Change{}, err
	}
	change := engine.Change{Commit: commit, Head: t.line.head, Nodes: t.nodes, Edges: t.edges, Row: row, Effects: &t.effects}
	t.line.keep(opts, commit, outcome{body: body, change: change})
	return change, nil
}

// writing runs a mutation.
type writing struct {
	*tx
	query   *plan.Query
	args    engine.Args
	instant time.Time                // the value of now()
	named   map[plan.VarID][]string  // the ids of the entities that inserts name, one for each row
	each    bool                     // the statement is in a ForEach
	ended   bool                     // all statements have run
	at      int                      // the index of the row
	cells   []value.Value            // the values of the row
	old     map[string]value.Value   // the properties of the entity before the assignment; nil for a new entity
	seen    *state                   // the state that predicates and old values read
	once    map[string][]value.Value // by entity: the values that the first row of the statement assigns

	undefined bool // an operator or a function had no result; assigned resets it
}

// run executes a statement.
func (w *writing) run(s plan.Statement) error {
	w.seen = w.after
	if w.g.fault == EarlierUnseen {
		w.seen = w.before
	}
	each, ok := s.(plan.ForEach)
	if !ok {
		w.prepare(s, [][]value.Value{nil})()
		return nil
	}
	rows, err := w.rows(each)
	if err != nil {
		return err
	}
	w.seen, w.each = w.after.clone(), true
	var apply []func()
	for _, inner := range each.Statements {
		if w.g.fault == BlockSeesChanges {
			w.seen = w.after
			w.prepare(inner, rows)()
			continue
		}
		apply = append(apply, w.prepare(inner, rows))
	}
	for _, f := range apply {
		f()
	}
	w.cells, w.each = nil, false
	return nil
}

// rows returns the rows of a ForEach.
func (w *writing) rows(s plan.ForEach) ([][]value.Value, error) {
	var rows [][]value.Value
	if s.Read == nil {
		if list := w.eval(s.List); !list.IsNull() {
			for _, e := range list.Elems() {
				row := []value.Value{e}
				if e.IsList() {
					row = e.Elems()
					if w.g.fault == RecordShifted && len(row) > 1 {
						row = append(row[1:len(row):len(row)], row[0])
					}
				}
				rows = append(rows, row)
			}
		}
	} else {
		ev := newEvaluation(w.g, w.after, &plan.Query{Name: w.query.Name, Params: w.query.Params, Read: s.Read}, w.args, w.instant)
		ev.commit = w.line.head.ID
		found, err := ev.rows()
		if err != nil {
			return nil, err
		}
		for _, r := range found {
			row := make([]value.Value, len(r))
			for i, c := range r {
				row[i] = c.value
			}
			rows = append(rows, row)
		}
	}
	if len(rows) > plan.MaxRows {
		return nil, &engine.TooLarge{Resource: "rows of a block", Limit: plan.MaxRows, Actual: int64(len(rows))}
	}
	return rows, nil
}

// prepare evaluates a statement for each row, in the state `seen`. The function that it returns changes the
// state `after`.
func (w *writing) prepare(s plan.Statement, rows [][]value.Value) func() {
	w.once = map[string][]value.Value{}
	var apply []func()
	switch s := s.(type) {
	case plan.Insert:
		if s.As != nil {
			w.named[*s.As] = make([]string, len(rows))
		}
		for i := range rows {
			w.at, w.cells = i, rows[i]
			if s.Upsert {
				apply = append(apply, w.upsert(s))
			} else {
				apply = append(apply, w.insert(s))
			}
		}
	case plan.Update:
		done := map[string]bool{}
		for i := range rows {
			w.at, w.cells = i, rows[i]
			for _, e := range w.matching(s.Entity, s.Type, s.Where) {
				w.old = e.props
				set := w.set(s.Entity, s.Type, s.Set)
				w.checkKinds(e, set)
				if w.agrees(s.Entity, s.Type, e.id, s.Set, set); done[e.id] && w.g.fault != UpdateRepeats {
					continue
				}
				done[e.id] = true
				apply = append(apply, func() { w.update(s, e.id, set) })
				if w.g.fault == UpdateFirst {
					break
				}
			}
		}
	case plan.Delete:
		var found []*entity
		for i := range rows {
			w.at, w.cells = i, rows[i]
			for _, e := range w.matching(s.Entity, s.Type, s.Where) {
				if !slices.Contains(found, e) {
					found = append(found, e)
				}
			}
		}
		for i, e := range found {
			if w.g.fault == DeleteKeepsLast && i == len(found)-1 {
				apply = append(apply, func() { w.count(s.Entity, engine.Deleted) })
				continue
			}
			apply = append(apply, func() {
				if now := w.after.of(e.kind, e.typ)[e.id]; now != nil {
					w.remove(now)
				}
			})
		}
	}
	return func() {
		for _, f := range apply {
			f()
		}
	}
}

// checkKinds reports the values that do not fit their properties. If an earlier statement of the
// block deletes the entity of an update, the update can have no faults but these, because it then
// changes nothing.
func (w *writing) checkKinds(e *entity, set map[string]value.Value) {
	for _, p := range w.properties(e.kind, e.typ) {
		v, assigned := set[p.Name]
		if !assigned {
			continue
		}
		if _, err := convert(v, p.Type); err != nil {
			w.violation(e, p.Name, "type", err.Error())
		}
	}
}

// agrees records the values that a row assigns to an entity, in the order of the assignments. It
// reports a violation if an earlier row of the statement assigns another value to one of the
// properties.
func (w *writing) agrees(kind plan.Entity, typ, id string, assigns []plan.Assign, set map[string]value.Value) {
	given := make([]value.Value, len(assigns))
	for i, a := range assigns {
		given[i] = set[a.Name]
		if p := w.property(kind, typ, a.Name); p != nil && !given[i].IsNull() {
			if v, err := convert(given[i], p.Type); err == nil {
				given[i] = v
			}
		}
	}
	first, again := w.once[id]
	if !again {
		w.once[id] = given
		return
	}
	for i, a := range assigns {
		if !value.Equal(first[i], given[i]) && w.g.fault != ConflictUnseen {
			w.errs = append(w.errs, &engine.ConstraintViolation{Entity: kind.String(), Type: typ, ID: id, Property: a.Name, Rule: "conflict",
				Detail: "two rows give the property different values"})
		}
	}
}

// insert evaluates an insert.
func (w *writing) insert(s plan.Insert) func() {
	set := w.set(s.Entity, s.Type, s.Set)
	id, keyed := "", s.Entity == plan.Node && w.after.schema.Node(s.Type).Key != nil
	switch {
	case keyed:
	case s.ID != nil:
		id = w.givenID(s)
	default:
		id = w.g.newID()
	}
	w.fillIn(s, set)
	e := w.build(s.Entity, s.Type, id, set)
	if e == nil {
		return func() {}
	}
	if keyed && w.each {
		w.agrees(s.Entity, s.Type, e.id, s.Set, set)
	}
	if s.Entity == plan.Edge {
		w.assignEnds(s, e)
	}
	w.name(s, e.id)
	return func() {
		old := w.after.of(s.Entity, s.Type)[e.id]
		w.count(s.Entity, writes(old))
		if s.Entity == plan.Edge {
			w.endpoints(e)
		}
		if old != nil && (!keyed || s.New) && w.g.fault != StrictOverwrites {
			w.errs = append(w.errs, &engine.KeyConflict{Entity: s.Entity.String(), Type: s.Type, ID: e.id, Keyed: keyed})
		}
		if old != nil && keyed {
			w.effects.Replaced++
			if w.g.fault == UpsertKeeps {
				e = w.merge(old, e)
			}
		}
		w.put(e)
	}
}

// givenID evaluates the id that a statement assigns.
func (w *writing) givenID(s plan.Insert) string {
	id := textOf(w.assigned(s.Entity, s.Type, "id", s.ID))
	if id == "" {
		w.errs = append(w.errs, &engine.ConstraintViolation{Entity: s.Entity.String(), Type: s.Type, Property: "id", Rule: "required", Detail: "the id is empty"})
	}
	return id
}

// assignEnds evaluates the ends of an inserted edge.
func (w *writing) assignEnds(s plan.Insert, e *entity) {
	e.setEnd(false, w.assigned(s.Entity, s.Type, "from", s.From))
	e.setEnd(true, w.assigned(s.Entity, s.Type, "to", s.To))
}

// name records the id of the entity that an insert names, for the current row.
func (w *writing) name(s plan.Insert, id string) {
	if s.As != nil {
		w.named[*s.As][w.at] = id
	}
}

// update changes an entity, unless an earlier statement of the same ForEach deleted it.
func (w *writing) update(s plan.Update, id string, set map[string]value.Value) {
	old := w.after.of(s.Entity, s.Type)[id]
	if old == nil {
		return
	}
	w.count(s.Entity, engine.Updated)
	props := cloneProps(old.props)
	if w.g.fault == UpdateClears && s.Entity == plan.Node {
		for name := range props {
			if !w.after.schema.Node(s.Type).IsKey(name) {
				delete(props, name)
			}
		}
	}
	if u := w.build(s.Entity, s.Type, id, merged(props, s.Set, set)); u != nil {
		u.from, u.to, u.fromType, u.toType = old.from, old.to, old.fromType, old.toType
		w.put(u)
	}
}

// cloneProps returns a copy of the properties.
func cloneProps(props map[string]value.Value) map[string]value.Value {
	c := map[string]value.Value{}
	for name, v := range props {
		c[name] = v
	}
	return c
}

// merged assigns the values in `set` to props, and returns props. A null removes the property.
func merged(props map[string]value.Value, assigns []plan.Assign, set map[string]value.Value) map[string]value.Value {
	for _, a := range assigns {
		if v := set[a.Name]; v.IsNull() {
			delete(props, a.Name)
		} else {
			props[a.Name] = v
		}
	}
	return props
}

// set evaluates assignments. The result has no nulls.
func (w *writing) set(kind plan.Entity, typ string, assigns []plan.Assign) map[string]value.Value {
	set := map[string]value.Value{}
	for _, a := range assigns {
		if v := w.assigned(kind, typ, a.Name, a.Value); !v.IsNull() {
			set[a.Name] = v
		}
	}
	return set
}

// assigned evaluates the value of an assignment. If an operator or a function in the value has no
// result, assigned records a violation.
func (w *writing) assigned(kind plan.Entity, typ, property string, e plan.Expr) value.Value {
	w.undefined = false
	v := w.eval(e)
	if w.undefined {
		w.errs = append(w.errs, &engine.ConstraintViolation{Entity: kind.String(), Type: typ, Property: property, Rule: "type",
			Detail: "an operator or a function has no result"})
	}
	return v
}

// matching returns, in id order, the entities for which the predicates hold, in the state `seen`.
func (w *writing) matching(kind plan.Entity, typ string, where []plan.Pred) []*entity {
	var found []*entity
	for _, e := range w.seen.sorted(kind, typ) {
		holds := func(p plan.Pred) bool {
			v := w.eval(p.Value)
			if p.Type.Fields != nil { // an end at an interface
				return !v.IsNull() && value.Equal(w.member(e, p.Name), v) == (p.Op == plan.Eq)
			}
			return w.g.compare(p.Op, w.member(e, p.Name), v)
		}
		all := !slices.ContainsFunc(where, func(p plan.Pred) bool { return !holds(p) })
		if w.g.fault == AndIsOr {
			all = slices.ContainsFunc(where, holds)
		}
		if all {
			found = append(found, e)
		}
	}
	return found
}

// member returns the value of a property of an entity, or of its `id`, `from` or `to`.
func (w *writing) member(e *entity, name string) value.Value {
	switch {
	case name == "id" && w.property(e.kind, e.typ, "id") == nil:
		return value.OfString(e.id)
	}
	return e.part(name)
}

// eval evaluates an expression of a mutation.
func (w *writing) eval(e plan.Expr) value.Value {
	switch e := e.(type) {
	case plan.Apply:
		v, undefined := w.g.apply(e, w.eval)
		w.undefined = w.undefined || undefined
		return v
	case plan.Test:
		if c, ok := e.Cond.(plan.NullTest); ok {
			return value.OfBool(w.eval(c.Expr).IsNull() != c.Not)
		}
		c := e.Cond.(plan.Compare)
		return value.OfBool(w.g.compare(c.Op, w.eval(c.Left), w.eval(c.Right)))
	case plan.Lit:
		return e.Value
	case plan.ParamRef:
		return w.args[e.Index]
	case plan.Now:
		return value.OfDateTime(value.DateTimeOf(w.instant))
	case plan.Old:
		return w.old[e.Name]
	case plan.Cell:
		return w.cells[e.Column]
	case plan.KeyOf:
		return w.keyOf(e)
	case plan.ID:
		return idOf(w.entityOf(e.Var))
	case plan.Prop:
		return w.entityOf(e.Var).props[e.Name]
	case plan.Endpoint:
		if found := w.entityOf(e.Var); found == nothing {
			return value.Null
		} else if e.To {
			return value.OfString(found.to)
		} else {
			return value.OfString(found.from)
		}
	case plan.EndNode:
		if found := w.entityOf(e.Var); found != nothing {
			return plan.OfNode(found.endOf(e.To))
		}
		return value.Null
	case plan.NodeRef:
		typ, id := w.eval(e.Type), w.eval(e.ID)
		if typ.IsNull() || id.IsNull() {
			return value.Null
		}
		return plan.OfNode(typ.Str(), id.Str())
	}
	panic("naive: this expression is not allowed in a mutation")
}

// keyOf returns the id of the node with a key, or null if a member of the key is null.
func (w *writing) keyOf(e plan.KeyOf) value.Value {
	props := map[string]value.Value{}
	for _, a := range e.Key {
		v := w.eval(a.Value)
		if v.IsNull() {
			return value.Null
		}
		if v, err := convert(v, a.Type); err == nil {
			props[a.Name] = v
			continue
		}
		w.undefined = true // the value does not fit the property
		return value.Null
	}
	return value.OfString(keyID(w.after.schema.Node(e.Node), props))
}

// entityOf returns the entity that an insert names, for the current row. If the entity does not
// exist, entityOf returns an entity that has only an id; after the last statement, it returns the
// entity `nothing`.
func (w *writing) entityOf(v plan.VarID) *entity {
	ids := w.named[v]
	if len(ids) == 0 {
		return nothing
	}
	id := ids[0]
	if len(ids) > 1 {
		id = ids[w.at]
	}
	named := w.query.Mutation.Vars[v]
	if e := w.after.of(named.Entity, named.Type)[id]; e != nil {
		return e
	}
	if w.ended {
		return nothing
	}
	return &entity{kind: named.Entity, typ: named.Type, id: id}
}

// returned returns the row of the mutation, or nil if it returns none.
func (w *writing) returned() []value.Value {
	var row []value.Value
	for _, c := range w.query.Mutation.Returns {
		if _, ok := c.Expr.(plan.EndNode); ok {
			fields := []value.Value{value.Null, value.Null}
			if v := w.eval(c.Expr); !v.IsNull() {
				fields = v.Elems()
			}
			row = append(row, fields...)
			continue
		}
		whole, ok := c.Expr.(plan.Whole)
		if !ok {
			row = append(row, w.eval(c.Expr))
			continue
		}
		e := w.entityOf(whole.Var)
		for i, f := range c.Fields {
			if i == 0 {
				row = append(row, idOf(e))
			} else {
				row = append(row, e.props[f.Name])
			}
		}
	}
	return row
}

// statementBody identifies a mutation by its name, its arguments by their names, and the form of its answer.
func statementBody(name string, q *plan.Query, args engine.Args) string {
	given, answer := map[string]value.Value{}, []string(nil)
	for i, p := range q.Declared() {
		given[p.Name] = args[i]
	}
	for i := range q.Mutation.Returns {
		c := &q.Mutation.Returns[i]
		answer = append(answer, c.Name, c.TypeText())
	}
	return fmt.Sprintf("statement %q %v %q", name, given, answer)
}

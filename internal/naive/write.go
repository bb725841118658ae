package naive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Failure holds every reason why a write failed. An engine may stop at the first reason that it
// finds.
type Failure struct {
	Errs []error // *engine.KeyConflict, *engine.ConstraintViolation and *engine.LineError
	// Certain is the number of errors, counted from the start of Errs, that an engine which reports
	// bad lines must report. They are the faults of lines that do not depend on any other line.
	Certain int
	load    bool // the write was a load
}

// Error joins the reasons.
func (f *Failure) Error() string { return errors.Join(f.Errs...).Error() }

// Unwrap returns the reasons. For a load, it combines the errors of single lines into one
// *engine.LoadErrors.
func (f *Failure) Unwrap() []error {
	if !f.load {
		return f.Errs
	}
	lines := &engine.LoadErrors{}
	var others []error
	for _, err := range f.Errs {
		var line *engine.LineError
		if errors.As(err, &line) {
			lines.Lines = append(lines.Lines, *line)
		} else {
			others = append(others, err)
		}
	}
	if len(lines.Lines) == 0 {
		return others
	}
	slices.SortStableFunc(lines.Lines, func(a, b engine.LineError) int { return cmp.Compare(a.Line, b.Line) })
	if len(lines.Lines) > maxLines {
		lines.Lines, lines.More = lines.Lines[:maxLines], true
	}
	return append([]error{lines}, others...)
}

// maxLines is the maximum number of bad lines that a load reports.
const maxLines = 100

// tx is the state of a running write: a copy of the graph's state, and the changes so far.
type tx struct {
	g            *Graph
	line         *line              // the branch to write to
	before       *state             // the state of the branch before the write
	after        *state             // the copy that the write changes
	adopted      *state             // the state `before`, carried to the schema that a merge adopts; else nil
	nodes, edges int64              // numbers of changed entities, for the result of the call
	touched      map[[3]string]bool // edge type, source id and edge id of every edge added or removed
	lines        map[*entity]int64  // line numbers of loaded entities
	errs         []error            // violations of constraints
	parents      []string           // parents of the commit, in addition to the head of the branch
	undefined    bool               // an operator or a function had no result; assigned resets it
}

// begin starts a write. The argument `body` describes the request. If the write repeats an earlier
// call, the result `first` is the outcome of that call.
func (g *Graph) begin(opts engine.WriteOptions, body string) (t *tx, first *outcome, err error) {
	l, err := g.line(opts.Branch)
	if err != nil {
		return nil, nil, err
	}
	if first, err = l.repeated(opts, body); first != nil || err != nil {
		return nil, first, err
	}
	if opts.IfCommit != "" && opts.IfCommit != l.head.ID && g.fault != IfCommitIgnored {
		return nil, nil, &engine.PreconditionFailed{Expected: opts.IfCommit, Actual: l.head.ID}
	}
	return &tx{g: g, line: l, before: l.state, after: l.state.clone(), touched: map[[3]string]bool{}, lines: map[*entity]int64{}}, nil, nil
}

// Mutate runs the statements on a copy of the state.
func (g *Graph) Mutate(ctx context.Context, q *plan.Query, args engine.Args, opts engine.WriteOptions) (engine.Change, error) {
	if q.Mutation == nil {
		return engine.Change{}, &engine.SchemaMismatch{Detail: "query " + q.Name + " is not a mutation"}
	}
	if err := g.Bind(ctx, q, engine.Target{Branch: opts.Branch}); err != nil {
		return engine.Change{}, err
	}
	args, err := checkArgs(q, args, g.fault)
	if err != nil {
		return engine.Change{}, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	body := fmt.Sprintf("%s %v", plan.Format(q), args)
	t, first, err := g.begin(opts, body)
	if err != nil {
		return engine.Change{}, err
	}
	if first != nil {
		return first.change, nil
	}
	if err := checkPatterns(q, args); err != nil {
		return engine.Change{}, err
	}
	instant := value.OfDateTime(value.DateTimeOf(now()))
	for _, s := range q.Mutation.Statements {
		earlier := t.after.clone()
		var eval func(e plan.Expr) value.Value
		eval = func(e plan.Expr) value.Value {
			switch e := e.(type) {
			case plan.Apply:
				v, undefined := g.apply(e, eval)
				t.undefined = t.undefined || undefined
				return v
			case plan.Test:
				if c, ok := e.Cond.(plan.NullTest); ok {
					return value.OfBool(eval(c.Expr).IsNull() != c.Not)
				}
				c := e.Cond.(plan.Compare)
				return value.OfBool(g.compare(c.Op, eval(c.Left), eval(c.Right)))
			case plan.Lit:
				return e.Value
			case plan.ParamRef:
				return args[e.Index]
			case plan.Now:
				return instant
			}
			panic("naive: this expression is not allowed in a mutation")
		}
		t.run(s, eval)
		if g.fault == PartialCommit && len(t.errs) > 0 {
			t.line.state = earlier
		}
	}
	commit, err := t.commit(opts)
	if err != nil {
		return engine.Change{}, err
	}
	change := engine.Change{Commit: commit, Head: t.line.head, Nodes: t.nodes, Edges: t.edges}
	t.line.keep(opts, commit, outcome{body: body, change: change})
	return change, nil
}

// commit publishes the copy if it breaks no constraint and differs from the current state.
func (t *tx) commit(opts engine.WriteOptions) (*engine.Commit, error) {
	t.check()
	if len(t.errs) > 0 {
		return nil, &Failure{Errs: t.errs}
	}
	g := t.g
	if opts.DryRun && g.fault != DryRunCommits || t.before.equal(t.after) && g.fault != EmptyCommit {
		return nil, nil
	}
	old := t.line.head
	g.publish(t.line, engine.Commit{ID: freshID(), Seq: old.Seq + 1, Branch: t.line.name,
		Parents: append([]string{old.ID}, t.parents...), Actor: opts.Actor, Time: later(old.Time), Schema: t.after.digest}, t.after)
	head := t.line.head
	return &head, nil
}

// later returns the current time, or t if t is not before the current time.
func later(t time.Time) time.Time {
	if n := now(); n.After(t) {
		return n
	}
	return t
}

// run executes a statement. It calls `eval` to evaluate the expressions in the statement.
func (t *tx) run(s plan.Statement, eval func(plan.Expr) value.Value) {
	seen := t.after // the state that the predicates read
	if t.g.fault == EarlierUnseen {
		seen = t.before
	}
	switch s := s.(type) {
	case plan.Insert:
		t.insert(s, eval)
	case plan.Update:
		for _, e := range t.matching(seen, plan.Node, s.Type, s.Where, eval) {
			props := map[string]value.Value{}
			for name, v := range e.props {
				if t.g.fault != UpdateClears || t.after.schema.Node(s.Type).IsKey(name) {
					props[name] = v
				}
			}
			t.set(plan.Node, s.Type, props, s.Set, eval)
			t.nodes++
			if u := t.build(plan.Node, s.Type, e.id, props); u != nil {
				t.put(u)
			}
			if t.g.fault == UpdateFirst {
				break
			}
		}
	case plan.Delete:
		matches := t.matching(seen, s.Entity, s.Type, s.Where, eval)
		for i, e := range matches {
			if t.g.fault == DeleteKeepsLast && i == len(matches)-1 {
				t.count(s.Entity)
				continue
			}
			t.remove(e)
		}
	}
}

// count counts a changed entity.
func (t *tx) count(kind plan.Entity) {
	if kind == plan.Edge {
		t.edges++
	} else {
		t.nodes++
	}
}

// insert executes an insert.
func (t *tx) insert(s plan.Insert, eval func(plan.Expr) value.Value) {
	props := map[string]value.Value{}
	t.set(s.Entity, s.Type, props, s.Set, eval)
	t.count(s.Entity)
	id, keyed := "", false
	switch {
	case s.Entity == plan.Node && t.after.schema.Node(s.Type).Key != nil:
		keyed = true
	case s.ID != nil:
		id = textOf(t.assigned(s.Entity, s.Type, "id", s.ID, eval))
	default:
		id = t.newID()
	}
	e := t.build(s.Entity, s.Type, id, props)
	if e == nil {
		return
	}
	old := t.after.of(s.Entity, s.Type)[e.id]
	if s.Entity == plan.Edge {
		e.from = textOf(t.assigned(s.Entity, s.Type, "from", s.From, eval))
		e.to = textOf(t.assigned(s.Entity, s.Type, "to", s.To, eval))
		t.endpoints(e)
	}
	if old != nil && !keyed && t.g.fault != StrictOverwrites {
		t.errs = append(t.errs, &engine.KeyConflict{Entity: s.Entity.String(), Type: s.Type, ID: e.id})
	}
	if old != nil && keyed && t.g.fault == UpsertKeeps {
		e = t.merge(old, e)
	}
	t.put(e)
}

// newID returns the next id given to UseIDs, or a new one.
func (t *tx) newID() string {
	if len(t.g.ids) == 0 {
		return freshID()
	}
	id := t.g.ids[0]
	t.g.ids = t.g.ids[1:]
	return id
}

// set assigns values. A null removes the property.
func (t *tx) set(kind plan.Entity, typ string, props map[string]value.Value, assigns []plan.Assign, eval func(plan.Expr) value.Value) {
	for _, a := range assigns {
		if v := t.assigned(kind, typ, a.Name, a.Value, eval); v.IsNull() {
			delete(props, a.Name)
		} else {
			props[a.Name] = v
		}
	}
}

// assigned evaluates the value of an assignment. If an operator or a function in the value has no
// result, assigned records a violation.
func (t *tx) assigned(kind plan.Entity, typ, property string, e plan.Expr, eval func(plan.Expr) value.Value) value.Value {
	t.undefined = false
	v := eval(e)
	if t.undefined {
		t.errs = append(t.errs, &engine.ConstraintViolation{Entity: kind.String(), Type: typ, Property: property, Rule: "type",
			Detail: "an operator or a function has no result"})
	}
	return v
}

// textOf returns a text, or "" for null.
func textOf(v value.Value) string {
	if v.IsNull() {
		return ""
	}
	return v.Str()
}

// matching returns, in id order, the entities for which a predicate holds.
func (t *tx) matching(s *state, kind plan.Entity, typ string, where plan.Pred, eval func(plan.Expr) value.Value) []*entity {
	want := eval(where.Value)
	var found []*entity
	for _, e := range s.sorted(kind, typ) {
		have := e.props[where.Name]
		switch {
		case where.Name == "id" && t.property(kind, typ, "id") == nil:
			have = value.OfString(e.id)
		case where.Name == "from" && kind == plan.Edge:
			have = value.OfString(e.from)
		case where.Name == "to" && kind == plan.Edge:
			have = value.OfString(e.to)
		}
		if t.g.compare(where.Op, have, want) {
			found = append(found, e)
		}
	}
	return found
}

// put adds or replaces an entity.
func (t *tx) put(e *entity) {
	if old := t.after.of(e.kind, e.typ)[e.id]; old != nil {
		t.touch(old)
	}
	t.touch(e)
	t.after.of(e.kind, e.typ)[e.id] = e
}

// touch records that the write adds or removes an edge.
func (t *tx) touch(e *entity) {
	if e.kind == plan.Edge {
		t.touched[[3]string{e.typ, e.from, e.id}] = true
	}
}

// touches reports whether the write adds or removes an edge of a type at a source. An edge that the
// write itself adds and removes again does not count.
func (t *tx) touches(typ, source string) bool {
	before := t.before
	if t.adopted != nil {
		before = t.adopted // its type names are those in t.touched
	}
	for key := range t.touched {
		if key[0] != typ || key[1] != source {
			continue
		}
		for _, s := range []*state{before, t.after} {
			if e := s.of(plan.Edge, typ)[key[2]]; e != nil && e.from == source {
				return true
			}
		}
	}
	return false
}

// remove removes an entity. With a node it also removes every edge that begins or ends there.
func (t *tx) remove(e *entity) {
	if t.after.of(e.kind, e.typ)[e.id] == nil {
		return // the edge was removed together with its node
	}
	t.count(e.kind)
	t.touch(e)
	delete(t.after.of(e.kind, e.typ), e.id)
	if e.kind == plan.Edge || t.g.fault == NoCascade {
		return
	}
	for _, typ := range t.after.schema.Edges {
		for _, edge := range t.after.sorted(plan.Edge, typ.Name) {
			if typ.From == e.typ && edge.from == e.id ||
				typ.To == e.typ && edge.to == e.id && t.g.fault != CascadeForward {
				t.remove(edge)
			}
		}
	}
}

// merge returns a copy of `fresh`, with the properties of `old` that `fresh` does not have.
func (t *tx) merge(old, fresh *entity) *entity {
	props := map[string]value.Value{}
	for name, v := range old.props {
		props[name] = v
	}
	for name, v := range fresh.props {
		props[name] = v
	}
	e := *fresh
	e.props = props
	return &e
}

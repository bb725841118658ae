package naive

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
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
	line         *line  // the branch to write to
	before       *state // the state of the branch before the write
	after        *state // the copy that the write changes
	whole        *state // if the caller may read a part only: the state of the branch; `before` is then that part until adopt
	adopted      *state // the state `before`, carried to the schema that a merge adopts; else nil
	nodes, edges int64  // numbers of changed entities, for the result of the call
	effects      engine.WriteEffects
	touched      map[[4]string]bool // edge type, type and id of the source, and edge id of every edge added or removed; see [sourceKey]
	lost         map[[3]string]bool // edge type, type and id of each source that lost edges through a change of the schema
	removed      map[[2]string]bool // type and id of each node that was removed, also if it was inserted again
	lines        map[*entity]int64  // line numbers of loaded entities
	errs         []error            // violations of constraints
	parents      []string           // parents of the commit, in addition to the head of the branch
}

// begin starts a write. The argument `body` describes the request, and `former` are other descriptions that an earlier call may
// have. If the write repeats an earlier call, the result `first` is the outcome of that call.
func (g *Graph) begin(opts engine.WriteOptions, body string, former ...string) (t *tx, first *outcome, err error) {
	if err := engine.CheckMessage(opts.Message); err != nil {
		return nil, nil, err
	}
	l, closed, err := g.lineToWrite(opts.Branch, opts.IdempotencyKey)
	if err != nil {
		return nil, nil, err
	}
	if first, err = l.repeated(opts, append(former, body)); first != nil || err != nil {
		return nil, first, err
	}
	if closed != nil {
		return nil, nil, closed
	}
	if opts.IfCommit != "" && opts.IfCommit != l.head.ID && g.fault != IfCommitIgnored {
		return nil, nil, &engine.PreconditionFailed{Expected: opts.IfCommit, Actual: l.head.ID}
	}
	t = &tx{g: g, line: l, before: l.state, after: l.state.clone(), touched: map[[4]string]bool{}, lines: map[*entity]int64{}}
	if opts.Reads != nil {
		t.whole, t.before = l.state, g.visible(l.state, l.head.ID, opts.Reads)
		t.after = t.before.clone()
	}
	return t, nil, nil
}

// commit publishes the copy if it breaks no constraint and differs from the current state.
func (t *tx) commit(opts engine.WriteOptions) (*engine.Commit, error) {
	t.adopt(opts)
	t.checkRights(opts.Writes)
	t.checkTimes(opts.Reads)
	t.check()
	if len(t.errs) > 0 {
		return nil, &Failure{Errs: t.errs}
	}
	g := t.g
	if opts.DryRun && g.fault != DryRunCommits || t.before.equal(t.after) && g.fault != EmptyCommit {
		return nil, nil
	}
	return t.publish(opts), nil
}

// publish makes the copy the state of the branch.
func (t *tx) publish(opts engine.WriteOptions) *engine.Commit {
	g, old, message := t.g, t.line.head, opts.Message
	if g.fault == MessageOfParent {
		message = old.Message
	}
	g.publish(t.line, engine.Commit{ID: freshID(), Seq: old.Seq + 1, Branch: t.line.name,
		Parents: append([]string{old.ID}, t.parents...), Actor: opts.Actor, Time: later(old.Time), Schema: t.after.digest, Message: message}, t.after)
	head := t.line.head
	return &head
}

// later returns the current time, or t if t is not before the current time.
func later(t time.Time) time.Time {
	if n := now(); n.After(t) {
		return n
	}
	return t
}

// count counts a changed entity.
func (t *tx) count(kind plan.Entity, change engine.ChangeKind) {
	if kind == plan.Edge {
		t.edges++
		t.effects.Edges.Add(change, 1)
	} else {
		t.nodes++
		t.effects.Nodes.Add(change, 1)
	}
}

// writes returns the kind of change of a write to the entity `old`, which is nil for a new one.
func writes(old *entity) engine.ChangeKind {
	if old == nil {
		return engine.Inserted
	}
	return engine.Updated
}

// newID returns the next id given to UseIDs, or a new one.
func (g *Graph) newID() string {
	if len(g.ids) == 0 {
		return freshID()
	}
	id := g.ids[0]
	g.ids = g.ids[1:]
	return id
}

// textOf returns a text, or "" for null.
func textOf(v value.Value) string {
	if v.IsNull() {
		return ""
	}
	return v.Str()
}

// put adds or replaces an entity.
func (t *tx) put(e *entity) {
	if old := t.after.of(e.kind, e.typ)[e.id]; old != nil {
		if e.claims == nil {
			e.claims = t.kept(old, e)
		}
		t.touch(old)
	}
	t.touch(e)
	t.after.of(e.kind, e.typ)[e.id] = e
}

// touch records that the write adds or removes an edge.
func (t *tx) touch(e *entity) {
	if e.kind == plan.Edge {
		t.touched[[4]string{e.typ, e.fromType, e.from, e.id}] = true
	}
}

// touches reports whether the write adds or removes an edge of a type at a source. An edge that the
// write itself adds and removes again does not count.
func (t *tx) touches(edge *catalog.Edge, source *entity) bool {
	typ, id := sourceKey(edge, source)
	if t.lost[[3]string{edge.Name, typ, id}] {
		return true
	}
	before := t.before
	if t.adopted != nil {
		before = t.adopted // its type names are those in t.touched
	}
	for key := range t.touched {
		if key[0] != edge.Name || key[1] != typ || key[2] != id {
			continue
		}
		for _, s := range []*state{before, t.after} {
			if e := s.of(plan.Edge, edge.Name)[key[3]]; e != nil && e.from == id && e.fromType == typ {
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
	t.count(e.kind, engine.Deleted)
	t.touch(e)
	delete(t.after.of(e.kind, e.typ), e.id)
	if e.kind == plan.Edge {
		return
	}
	if t.removed == nil {
		t.removed = map[[2]string]bool{}
	}
	if t.removed[[2]string{e.typ, e.id}] = true; t.g.fault == NoCascade {
		return
	}
	for _, typ := range t.after.schema.Edges {
		for _, edge := range t.after.sorted(plan.Edge, typ.Name) {
			if t.endsAtRemoved(edge, false, e) || t.endsAtRemoved(edge, true, e) && t.g.fault != CascadeForward {
				t.remove(edge)
			}
		}
	}
}

// endsAtRemoved reports whether a removed node was at an end of an edge.
func (t *tx) endsAtRemoved(edge *entity, to bool, node *entity) bool {
	name, isInterface := t.after.schema.Edge(edge.typ).End(to)
	typ, id := edge.endOf(to)
	if !isInterface {
		typ = name
	} else if t.g.fault == CascadeByID {
		typ = node.typ
	}
	return typ == node.typ && id == node.id
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

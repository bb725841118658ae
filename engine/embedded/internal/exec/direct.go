package exec

import (
	"context"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// firstLookup describes the first step of a program, if that step looks up a node by an id that is an
// argument.
type firstLookup struct {
	lookup *lookup // nil if the first step is another one
	node   int     // index of the node type
	param  int     // index of the parameter that has the id
	// direct is set if the lookup is the whole match, and the columns are properties of the node. Such
	// a read has no `having`, and needs no frames, no sorting and no memory that depends on the data; see [run.direct].
	direct bool
	// single is set if direct is set and each column is a property that is not a list; see
	// [sink.Output.single].
	single bool
}

// singleVar returns the variable of the lookup if the field `single` is set; else NoVar.
func (k *firstLookup) singleVar() plan.VarID {
	if !k.single {
		return plan.NoVar
	}
	return k.lookup.v
}

// firstLookup finds out whether the read begins with a lookup by an argument.
func (pl *planner) firstLookup() (k firstLookup) {
	l, ok := pl.body.steps[0].(*lookup)
	if !ok || l.ahead == nil {
		return firstLookup{}
	}
	id, ok := l.exs[0].Src.(plan.ParamRef)
	if !ok || l.exs[0].Form != ir.PlainForm {
		return firstLookup{}
	}
	l.early = true
	k = firstLookup{lookup: l, node: pl.Types[l.v].Index, param: id.Index}
	k.direct = len(pl.body.steps) == 1 && !pl.Read.Grouped && len(pl.Read.Having) == 0 && len(pl.Fusions)+len(pl.Drops)+len(pl.Texts)+len(pl.Lists)+len(pl.Patterns) == 0
	k.single = k.direct
	property := func(e *ir.Expr) bool { return e != nil && (e.Kind == ir.ExprProp || e.Kind == ir.ExprID) }
	for i := range pl.Columns {
		c := &pl.Columns[i]
		k.direct = k.direct && property(c.Value) && c.FieldExprs == nil && c.Agg < 0 && !c.Composed
		k.single = k.single && k.direct && c.Value.Kind == ir.ExprProp && !c.Value.Optional && !c.Value.Type.List
	}
	for _, o := range pl.Order {
		k.direct = k.direct && property(o.Expr)
	}
	k.single = k.single && k.direct
	return k
}

// ReadAhead loads the memory with which the first lookup of a run begins into the processor's
// caches, so that the wait for it overlaps with the preparation of the run. If the entity can be
// guessed from the id, that is all the data that the run will need about it. The arguments need not
// have been checked. The result has no meaning. The function is not inlined, because the compiler would
// remove reads with unused results.
//
//go:noinline
func (p *Program) ReadAhead(snap *version.Snapshot, args engine.Args) uint32 {
	k := &p.first
	if k.lookup == nil || k.param >= len(args) {
		return 0
	}
	id := &args[k.param]
	if id.Kind() != value.String || id.IsList() {
		return 0
	}
	table := snap.Nodes(k.node)
	if ord, ok := table.Guess(id.Str()); ok {
		return k.lookup.ahead.read(snap, table, ord)
	}
	return table.ReadAheadIndex(id.Str())
}

// RunDirect is [Program.Run] for a program whose field firstLookup.direct is set. It returns nil for
// other programs.
func (p *Program) RunDirect(ctx context.Context, snap *version.Snapshot, args engine.Args) *Result {
	if !p.first.direct {
		return nil
	}
	r := p.pool.Get().(*run)
	r.direct(ctx, &p.first, snap, args)
	r.evaluator.Ctx = nil
	return &Result{run: r, prog: p, id: snap.Commit.ID}
}

// direct does the work of [run.match] and of [sink.Collector.Finish] for a program whose field
// firstLookup.direct is set.
func (r *run) direct(ctx context.Context, k *firstLookup, snap *version.Snapshot, args engine.Args) {
	ev, co := &r.evaluator, &r.collector
	ev.Ctx, ev.TextErr = ctx, nil
	co.Perm, co.Rows.N, co.More = co.Perm[:0], 0, false
	id := &args[k.param]
	if id.IsNull() || ev.Read.LimitOf(args) == 0 {
		return
	}
	table := snap.Nodes(k.node)
	finder := table.Find(id.Str())
	if ord, ok := finder.Likely(); ok && !finder.Guessed() { // else ReadAhead has read the data
		co.Ahead = table.ReadAhead(ord, k.lookup.ahead.props)
	}
	ord, ok := finder.Found()
	if !ok {
		return
	}
	v := k.lookup.v
	ev.Tables[v] = table
	co.Rows.Cols[v] = append(co.Rows.Cols[v][:0], ord)
	co.Perm, co.Rows.N = append(co.Perm, 0), 1
}

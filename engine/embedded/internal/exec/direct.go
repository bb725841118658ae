package exec

import (
	"context"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// FirstLookup describes the first step of a program, if that step looks up a node by an id that is an
// argument.
type FirstLookup struct {
	Lookup *Lookup // nil if the first step is another one
	Node   int     // index of the node type
	Param  int     // index of the parameter that has the id
	// Direct is set if the lookup is the whole match, and the columns are properties of the node. Such
	// a read has no `having`, and needs no frames, no sorting and no memory that depends on the data; see [run.direct].
	Direct bool
	// Single is set if direct is set and each column is a property that is not a list; see
	// [sink.Output.single].
	Single bool
}

// singleVar returns the variable of the lookup if the field Single is set; else NoVar.
func (k *FirstLookup) singleVar() plan.VarID {
	if !k.Single {
		return plan.NoVar
	}
	return k.Lookup.Var
}

// ReadAhead loads the memory with which the first lookup of a run begins into the processor's
// caches, so that the wait for it overlaps with the preparation of the run. If the entity can be
// guessed from the id, that is all the data that the run will need about it. The arguments need not
// have been checked. The result has no meaning. The function is not inlined, because the compiler would
// remove reads with unused results.
//
//go:noinline
func (p *Program) ReadAhead(snap *version.Snapshot, args engine.Args) uint32 {
	k := &p.First
	if k.Lookup == nil || k.Param >= len(args) {
		return 0
	}
	id := &args[k.Param]
	if id.Kind() != value.String || id.IsList() {
		return 0
	}
	table := snap.Nodes(k.Node)
	if ord, ok := table.Guess(id.Str()); ok {
		return k.Lookup.Ahead.read(snap, table, ord)
	}
	return table.ReadAheadIndex(id.Str())
}

// RunDirect is [Program.Run] for a program whose field FirstLookup.Direct is set. It returns nil for
// other programs.
func (p *Program) RunDirect(ctx context.Context, snap *version.Snapshot, args engine.Args) *Result {
	if !p.First.Direct {
		return nil
	}
	r := p.pool.Get().(*run)
	r.direct(ctx, &p.First, snap, args)
	r.evaluator.Ctx = nil
	return &Result{run: r, prog: p, id: snap.Commit.ID}
}

// direct does the work of [run.match] and of [sink.Collector.Finish] for a program whose field
// FirstLookup.Direct is set.
func (r *run) direct(ctx context.Context, k *FirstLookup, snap *version.Snapshot, args engine.Args) {
	ev, co := &r.evaluator, &r.collector
	ev.Ctx, ev.TextErr = ctx, nil
	co.Perm, co.Rows.N, co.More = co.Perm[:0], 0, false
	id := &args[k.Param]
	if id.IsNull() || ev.Read.LimitOf(args) == 0 {
		return
	}
	table := snap.Nodes(k.Node)
	finder := table.Find(id.Str())
	if ord, ok := finder.Likely(); ok && !finder.Guessed() { // else ReadAhead has read the data
		co.Ahead = table.ReadAhead(ord, k.Lookup.Ahead.Props)
	}
	ord, ok := finder.Found()
	if !ok {
		return
	}
	v := k.Lookup.Var
	ev.Tables[v] = table
	co.Rows.Cols[v] = append(co.Rows.Cols[v][:0], ord)
	co.Perm, co.Rows.N = append(co.Perm, 0), 1
}

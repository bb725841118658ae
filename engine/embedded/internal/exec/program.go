// Package exec binds plans to a schema and runs them on snapshots. Each phase of a read has
// a type that owns its state:
//
//   - the binder of package ir resolves the names of a plan in the schema: plan → query (bind.go, block.go,
//     expr.go, cond.go, holds.go, subquery.go, shape.go)
//   - [planner] arranges the clauses of the query into steps by the estimates of the
//     [estimator]: query → arrangement (order.go, scope.go, connect.go, estimate.go). For a read that only counts
//     rows, it takes parts off the pattern and counts them by node (factor.go, factor_terms.go). It decides
//     which counts can run on several processors (split.go)
//   - [run] is the memory of one run (run.go). Its [matcher] pushes frames of ordinals
//     through the steps, its [evaluator] reads properties only when a step needs them, its
//     [collector] keeps rows or groups, and its [output] makes batches of them.
//   - [explainer] describes the steps, with their rows and times if the run had a [profile].
//
// A file of a kind of step (step.go, lookup.go, traverse.go, …) contains the condition under which
// the planner chooses the step, and the method run of the step. Mutations need no steps:
// [BindMutation] checks one, [Write] runs it.
package exec

import (
	"context"
	"math/bits"
	"sync"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// Program is a read bound to a schema, with its clauses arranged into steps. Any number of
// goroutines may run it concurrently.
type Program struct {
	ir.Query
	arrangement
	pool sync.Pool // holds *run
}

// arrangement is the steps of a program. It depends on the sizes of the snapshot that the
// planner saw.
type arrangement struct {
	body        *pipe               // the steps that find the rows
	heldTests   []*arrangedTest     // the blocks whose truth is a value, by position in ir.Query.Holdings
	havingTests []*arrangedTest     // by position in ir.Query.Havings
	frames      int                 // number of frames that the steps own
	optionals   int                 // number of `optional` blocks and subqueries, which have a marker each
	arranged    []*arrangedSubquery // by position in ir.Query.Subqueries
	plannedSize int                 // binary magnitude of the graph's size at the time of planning
	countsOnly  bool                // the read returns only counts of all its rows
	first       firstLookup         // the lookup that the read begins with
	searchSteps int                 // number of steps of type explore
	weighed     int                 // number of variables whose weights are kept
}

// Bind binds a read to the snapshot's schema. It uses the snapshot's sizes to choose the
// order of the steps. The error is a *engine.SchemaMismatch, a *engine.Unsupported, a
// *engine.TooLarge, or the context's error soon after the context ends.
func Bind(ctx context.Context, q *plan.Query, snap *version.Snapshot) (_ *Program, err error) {
	defer ir.CatchEnd(&err)
	if err := ir.CheckUses(q, snap.Schema); err != nil {
		return nil, err
	}
	work := ir.NewMeter(ctx)
	bound, err := ir.BindRead(q, snap.Schema, work)
	if err != nil {
		return nil, err
	}
	p := newProgram(bound, snap)
	if err := newPlanner(p, snap, work).plan(); err != nil {
		return nil, err
	}
	return p, nil
}

// newProgram returns a program without steps for a bound read. The size of the snapshot is the one that [Program.Fits]
// compares others with.
func newProgram(bound *ir.Query, snap *version.Snapshot) *Program {
	p := &Program{Query: *bound, arrangement: arrangement{plannedSize: magnitude(snap)}}
	p.pool.New = func() any { return newRun(p) }
	return p
}

// slots returns the number of columns of the frames of steps.
func (p *Program) slots() int {
	if p.optionals == 0 {
		return len(p.Types)
	}
	return p.Width() + p.optionals
}

// Fits reports whether the program may run on a snapshot. The snapshot must have the same
// schema, and a size similar enough that the order of the steps need not be chosen again.
func (p *Program) Fits(snap *version.Snapshot) bool {
	d := magnitude(snap) - p.plannedSize
	return p.Schema == snap.Schema && d >= -3 && d <= 3
}

// Parts returns roughly the number of parts of the program, as a measure of its size.
func (p *Program) Parts() int { return p.frames + p.Vecs + len(p.Texts) + len(p.Columns) }

// magnitude returns the binary magnitude of the number of entities.
func magnitude(s *version.Snapshot) int { return bits.Len64(s.Size()) }

package exec

import (
	"cmp"
	"context"
	"errors"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// Result is the result of a run. It holds the snapshot until it is closed.
type Result struct {
	run  *run     // nil once closed
	prog *Program // the program that ran
	id   string   // id of the commit that was read
	next int      // index of the next row in the collector's perm
	more bool     // the limit cut rows off
	size int16    // number of rows to try for the next batch; 0 for eval.FrameSize
}

// Columns returns the plan's columns.
func (r *Result) Columns() []plan.Column { return r.prog.Read.Columns }

// Commit returns the id of the commit that the run reads.
func (r *Result) Commit() string { return r.id }

// Next returns the next batch, or nil at the end; see [engine.Result].
func (r *Result) Next(ctx context.Context) (*engine.Batch, error) {
	if r.run == nil || r.next == len(r.run.collector.Perm) {
		return nil, nil // the end of a result costs next to nothing
	}
	return r.nextBatch(ctx)
}

// nextBatch returns the next batch. REQUIRES: there are more rows.
func (r *Result) nextBatch(ctx context.Context) (_ *engine.Batch, err error) {
	defer corruption.Catch(corruption.Watch(), &err)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ev := &r.run.evaluator
	ev.Ctx = ctx
	defer func() { ev.Ctx = nil }()
	if prof := r.run.matcher.prof; prof != nil {
		defer prof.phase(returning)()
	}
	size := cmp.Or(int(r.size), eval.FrameSize)
	for n := min(size, len(r.run.collector.Perm)-r.next); ; n /= 2 {
		first := r.next
		if fault.On(fault.PageRestarts) {
			first = 0
		}
		batch, err := r.run.output.BatchOf(r.run.collector.Perm[first : first+n])
		var many *tooManyRecords
		if err != nil {
			many = asTooMany(err)
		}
		switch {
		case many == nil:
			if r.next += n; r.run.matcher.nested < plan.MaxNested/4 {
				size = min(2*size, eval.FrameSize)
			}
			r.size = int16(size)
			return batch, err
		case n == 1:
			return nil, &many.TooLarge
		}
		size = n / 2
	}
}

// asTooMany returns the *tooManyRecords in an error, or nil. It is apart from Next because errors.As takes memory.
func asTooMany(err error) *tooManyRecords {
	var many *tooManyRecords
	errors.As(err, &many)
	return many
}

// Skip skips up to n of the remaining rows without computing them, and returns the number
// of rows skipped.
func (r *Result) Skip(n int) int {
	if r.run == nil || n <= 0 {
		return 0
	}
	n = min(n, len(r.run.collector.Perm)-r.next)
	r.next += n - min(n, fault.Count(fault.PageOverlaps))
	return n
}

// More reports whether the read's own limit cut rows off; see [engine.Result].
func (r *Result) More() bool { return r.more }

// Close releases the result.
func (r *Result) Close() error {
	if r.run != nil {
		r.run.end()
		r.run = nil
	}
	return nil
}

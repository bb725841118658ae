package exec

import (
	"cmp"
	"context"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// frameSize is the number of rows that steps pass on at once.
const frameSize = 1024

// frame is a batch of rows. Each row assigns an ordinal to each bound variable.
type frame struct {
	n    int
	cols [][]uint32 // by variable
	// Used inside a not block only. outer holds, for each row, the row of the block's input
	// that it comes from. found holds the rows of that input for which the block already
	// has a match.
	outer []uint32
	found *found
}

// found is a set of rows of a frame.
type found [frameSize / 64]uint64

func (s *found) get(i uint32) bool { return s[i>>6]>>(i&63)&1 != 0 }
func (s *found) set(i uint32)      { s[i>>6] |= 1 << (i & 63) }

// settled reports whether row i need not be processed any more.
func (f *frame) settled(i int) bool { return f.found != nil && f.found.get(f.outer[i]) }

// state is the memory of one run of a program. It is pooled.
type state struct {
	*Program
	ctx      context.Context
	snap     *version.Snapshot
	args     engine.Args
	now      value.Value
	tables   []*version.Table // by variable
	frames   []frame          // by step
	vecs     []column.Vec
	queries  []textQuery // by position in Program.texts
	scratch  []uint32
	scratch2 []uint32
	moved    []uint32
	chosen   []uint32
	key      []byte
	walks    []walk // by step
	ticks    int
	prof     *profile // nil unless the run is analyzed
	unit     frame    // the single row with which the match begins
	ahead    uint32   // keeps the compiler from removing prefetches

	source               [1]uint32 // the node from which a walk begins
	nearEdges, nearNodes []uint32  // see neighbours

	rows     frame // the collected rows: the result's rows, or one row of each group
	perm     []uint32
	sortBy   []sortKey
	entries  []entry
	groups   map[string]uint32
	sums     []accumulator // by aggregate
	grouped  int           // number of groups
	budget   int64         // limit of the run in bytes
	spent    int64
	shared   *Memory // limit for all runs; nil for no limit, and between runs
	reserved int64   // bytes reserved from shared, plus unasked
	held     int64   // bytes that the state keeps from run to run; charged to each run
	textErr  error   // why an inverted index could not be built

	sweeper sweeper
	grouper
	ranker
	out     frame // the rows of the batch
	batch   engine.Batch
	columns []engine.Column
	outVecs []column.Vec
}

func newState(p *Program) *state {
	st := &state{Program: p, frames: make([]frame, p.frames), walks: make([]walk, p.frames), vecs: make([]column.Vec, p.vecs), tables: make([]*version.Table, len(p.types)),
		queries: make([]textQuery, len(p.texts)), columns: make([]engine.Column, len(p.columns)), outVecs: make([]column.Vec, len(p.columns)),
		sums: make([]accumulator, len(p.aggs)), sortBy: make([]sortKey, 0, len(p.order)+len(p.columns))}
	width := len(p.types) + 1 // see Program.rowVar
	st.rows.cols = make([][]uint32, width)
	st.out.cols = make([][]uint32, width)
	if len(p.fusions) > 0 {
		st.ranker.rows.cols, st.feed.cols = make([][]uint32, width), make([][]uint32, width)
		st.fused = make([][]float64, len(p.fusions))
	}
	for i, c := range p.columns {
		if c.fields != nil {
			st.columns[i].Fields = make([]engine.Column, len(c.fields))
		}
	}
	return st
}

// begin prepares a run.
func (st *state) begin(ctx context.Context, snap *version.Snapshot, args engine.Args, opts Options) {
	st.embedder = opts.Embedder
	st.shared, st.reserved = opts.Shared, unasked
	if opts.Analyze {
		st.prof = newProfile()
	}
	st.ctx, st.snap, st.args, st.now, st.budget, st.spent = ctx, snap, args, opts.Now, opts.Memory, st.held
	for i := range st.walks {
		st.walks[i].counted = 0
	}
	for v, t := range st.types {
		st.tables[v] = snap.Table(t.Entity, t.Index)
	}
	for i := range st.queries {
		st.queries[i].ready = false
	}
	for v := range st.rows.cols {
		st.rows.cols[v] = st.rows.cols[v][:0]
	}
	for v := range st.ranker.rows.cols {
		st.ranker.rows.cols[v] = st.ranker.rows.cols[v][:0]
	}
	st.ranker.rows.n = 0
	st.rows.n, st.grouped, st.perm = 0, 0, st.perm[:0]
	st.textErr = nil
	clear(st.groups)
	st.grouper.begin()
	for i := range st.sums {
		st.sums[i].reset()
	}
}

// end clears references that a pooled state must not keep alive, and returns the state to
// the pool.
func (st *state) end() {
	st.endRanking()
	st.release()
	st.ctx, st.snap, st.args, st.prof = nil, nil, nil, nil
	clear(st.tables)
	if st.rows.n > 1 {
		// Clear the references to the engine's memory after a run of more than one row. For
		// a single row it is not worth the time.
		for i := range st.vecs {
			st.vecs[i].Forget()
		}
		for i := range st.outVecs {
			st.outVecs[i].Forget()
		}
	}
	st.Program.pool.Put(st)
}

// tick checks the context from time to time. n is a rough number of entities that were
// examined since the last call.
func (st *state) tick(n int) error {
	if st.ticks += n; st.ticks < 4096 && st.textErr == nil {
		return nil
	}
	st.ticks = 0
	return cmp.Or(st.textErr, st.ctx.Err())
}

// text returns the inverted index of a property. The run is charged for building it only
// until it is built, because then it belongs to the table. If it cannot be built, the
// returned index is empty, and the run ends with the error.
func (st *state) text(t *version.Table, p int) *index.TextView {
	spent := st.spent
	view, err := t.TextWithin(index.Work{Ctx: st.ctx, Spend: st.spend}, p)
	if err != nil {
		st.textErr = cmp.Or(st.textErr, err)
		return index.NewTextView(0, index.Rows{}, nil)
	}
	st.spent = spent
	return view
}

// frame returns the empty frame of a step, with columns for vars.
func (st *state) frame(id int, vars []plan.VarID) *frame {
	f := &st.frames[id]
	f.n = 0
	if f.cols == nil {
		f.cols = make([][]uint32, len(st.types))
		st.held += columnHead * int64(len(f.cols))
		st.spent += columnHead * int64(len(f.cols))
	}
	for _, v := range vars {
		st.column(f, v)
	}
	return f
}

// columnHead is the size of a column without its rows, in bytes.
const columnHead = 24

// column makes a column in a frame for a variable.
func (st *state) column(f *frame, v plan.VarID) {
	if len(f.cols[v]) < frameSize {
		f.cols[v] = make([]uint32, frameSize)
		st.held += 4 * frameSize
		st.spent += 4 * frameSize
	}
}

// hold charges the run for bytes that the state keeps for later runs. The error is that of
// spend.
func (st *state) hold(bytes int) error {
	st.held += int64(bytes)
	return st.spend(bytes)
}

// spend charges the run for bytes; a negative number returns them. The error is a
// *engine.TooLarge or a *engine.Busy.
func (st *state) spend(bytes int) error {
	st.spent += int64(bytes)
	if st.budget > 0 && st.spent > st.budget {
		return &engine.TooLarge{Resource: "bytes of memory for one query", Limit: st.budget, Actual: st.spent}
	}
	if st.spent > st.reserved && st.shared != nil {
		return st.reserve()
	}
	return nil
}

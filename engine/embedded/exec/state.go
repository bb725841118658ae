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

// frame is a run of assignments: for each variable that is bound, an ordinal a row.
type frame struct {
	n    int
	cols [][]uint32 // by variable
	// Inside a not block: the row of the block's input that each row comes from, and
	// the rows of that input for which the block has a match already.
	outer []uint32
	found *found
}

// found is a set of rows of a frame.
type found [frameSize / 64]uint64

func (s *found) get(i uint32) bool { return s[i>>6]>>(i&63)&1 != 0 }
func (s *found) set(i uint32)      { s[i>>6] |= 1 << (i & 63) }

// settled reports whether row i need not be looked at any more.
func (f *frame) settled(i int) bool { return f.found != nil && f.found.get(f.outer[i]) }

// state is what one run of a program needs. It is pooled.
type state struct {
	*Program
	ctx      context.Context
	snap     *version.Snapshot
	args     engine.Args
	now      value.Value
	tables   []*version.Table // by variable
	frames   []frame          // by step
	vecs     []column.Vec
	queries  []textQuery // by Program.texts
	scratch  []uint32
	scratch2 []uint32
	moved    []uint32
	chosen   []uint32
	key      []byte
	walks    []walk // by step
	ticks    int
	prof     *profile // nil unless the run is analyzed
	unit     frame    // the row from which the match begins
	ahead    uint32   // keeps the compiler from leaving out what is read ahead

	source               [1]uint32 // the node from which a walk begins
	nearEdges, nearNodes []uint32  // see neighbours

	rows     frame // what has been collected: the result's rows, or a row of each group
	perm     []uint32
	sortBy   []sortKey
	entries  []entry
	groups   map[string]uint32
	sums     []accumulator // by aggregate
	grouped  int           // groups
	budget   int64         // bytes that the run may take
	spent    int64
	shared   *Memory // what all runs may take; nil for no bound, and between runs
	reserved int64   // of it, with what no run asks for
	held     int64   // bytes of what is kept from run to run: each run is charged with them
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

// end drops what a pooled state must not keep alive.
func (st *state) end() {
	st.endRanking()
	st.release()
	st.ctx, st.snap, st.args, st.prof = nil, nil, nil, nil
	clear(st.tables)
	if st.rows.n > 1 {
		// After a run of more than a row, memory that aliases the engine is dropped;
		// one row's worth is not worth the time.
		for i := range st.vecs {
			st.vecs[i].Forget()
		}
		for i := range st.outVecs {
			st.outVecs[i].Forget()
		}
	}
	st.Program.pool.Put(st)
}

// tick looks for the end of the context now and then: n is a rough number of entities
// that were looked at.
func (st *state) tick(n int) error {
	if st.ticks += n; st.ticks < 4096 && st.textErr == nil {
		return nil
	}
	st.ticks = 0
	return cmp.Or(st.textErr, st.ctx.Err())
}

// text returns the inverted index of a property. What building it takes counts as the
// run's until it is done, when it is the table's. When it cannot be built the index is
// empty, and the run ends with the error.
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

// frame returns the frame of a step, empty, with room in the columns of vars.
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

// column makes room in a frame for a variable.
func (st *state) column(f *frame, v plan.VarID) {
	if len(f.cols[v]) < frameSize {
		f.cols[v] = make([]uint32, frameSize)
		st.held += 4 * frameSize
		st.spent += 4 * frameSize
	}
}

// hold counts bytes that the state has taken and keeps. The error is a
// *engine.TooLarge.
func (st *state) hold(bytes int) error {
	st.held += int64(bytes)
	return st.spend(bytes)
}

// spend counts bytes of a run. The error is a *engine.TooLarge or a *engine.Busy.
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

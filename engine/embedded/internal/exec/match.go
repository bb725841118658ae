package exec

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/sink"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index/vectorindex"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// matcher runs the steps of a program and passes the rows of the match to a collector. It
// owns the memory of the steps.
type matcher struct {
	*eval.Evaluator
	*Arrangement
	program   *Program         // for the helpers
	out       *sink.Collector  // receives the rows of the match
	prof      *profile         // nil unless the run is analyzed
	unit      eval.Frame       // the single row with which the match begins
	frames    []eval.Frame     // by the id of a step
	walks     []eval.Walk      // by the id of a step
	reached   map[int]*reached // by Reach.Set or Explore.Set; of this run
	opposites [][2]eval.Hop    // by the id of a step that tests edges; nil before the first of a node with many edges
	around    []eval.Nearby    // by the id of a step; see neighbours
	edgeSets  []edgeSet        // by the id of a step that tests edges; nil before the first test without a set
	ahead     uint32           // keeps the compiler from removing prefetches

	optionals  []optionalRun // by the number of an OptionalStep
	subqueries []subqueryRun // by position in ir.Query.Subqueries
	nested     int           // number of nested records in the present batch

	// Memory that steps of one kind share, because no two of them run at the same time.
	key           []byte
	origins       [eval.FrameSize]uint32 // see Expand.passOn
	source        [1]uint32              // the node from which a walk begins
	best          []uint32               // see TopStep
	weights       []int64                // see degrees
	near          candidateSelector      // see NearStep
	passing       []uint32               // see NearStep
	vectors       vectorindex.Search     // memory for searches of vector indexes
	columnScanner columnScanner          // memory for column scans

	share    *share     // the units of work that the matcher takes; nil if it takes all
	weighing eval.Frame // see keepWeights
	weighed  [][]int64  // by Weight.Kept: the weight of each node, by ordinal; nil before they are computed
}

// newMatcher returns a matcher that runs the steps of a program and passes the rows that it finds to `out`.
func newMatcher(p *Program, ev *eval.Evaluator, out *sink.Collector) matcher {
	m := matcher{Evaluator: ev, Arrangement: &p.Arrangement, program: p, out: out,
		frames: make([]eval.Frame, p.Frames), walks: make([]eval.Walk, p.Frames), around: make([]eval.Nearby, p.Frames),
		optionals: make([]optionalRun, p.Optionals), subqueries: newSubqueryRuns(ev.Query), weighed: make([][]int64, p.Weighed)}
	m.unit.Cols = make([][]uint32, ev.Width())
	return m
}

// begin prepares for a run; prof is nil unless the run is analyzed.
func (m *matcher) begin(prof *profile) {
	m.prof, m.nested, m.reached = prof, 0, nil
	for i := range m.subqueries {
		m.subqueries[i].begin()
	}
	for i := range m.walks {
		m.walks[i].Counted = 0
	}
}

// match runs the steps.
func (m *matcher) match() error {
	return m.start(m.Body)
}

// push passes a frame to the pipe's step number `at`, or, after the last step, to the collector of
// its rows.
func (m *matcher) push(p *Pipe, at int, f *eval.Frame) error {
	switch {
	case f.N == 0:
		return nil
	case m.prof != nil:
		return m.profiled(p, at, f)
	}
	return m.advance(p, at, f)
}

// advance runs one step of a pipe on a frame; `at` is the number of the step. After the last step,
// advance passes the frame on.
func (m *matcher) advance(p *Pipe, at int, f *eval.Frame) error {
	switch {
	case at < len(p.Steps):
		if at == len(p.Steps)-1 && p.Counts != nil {
			n, err := p.Counts.count(m, f)
			m.countRows(p, n)
			m.out.Counted += int64(n)
			return m.inStep(err, p.Counts)
		}
		return m.inStep(p.Steps[at].run(m, p, at, f), p.Steps[at])
	case p.Optional != nil:
		return m.extended(p.Optional, f)
	case p.Subquery != nil:
		return m.yielded(p.Subquery, f)
	case p.Inner:
		for _, i := range f.Outer[:f.N] {
			f.Found.Set(i)
		}
		return nil
	}
	return m.out.Arrive(f)
}

// flush pushes a frame on and empties it.
func (m *matcher) flush(p *Pipe, at int, out *eval.Frame) error {
	err := m.push(p, at+1, out)
	out.N = 0
	return err
}

// frame returns the empty frame of a step, with columns for vars.
func (m *matcher) frame(id int, vars []plan.VarID) *eval.Frame {
	f := &m.frames[id]
	f.N = 0
	if f.Cols == nil {
		f.Cols = make([][]uint32, m.program.slots())
		m.charged(eval.ColumnHead * len(f.Cols))
	}
	for _, v := range vars {
		m.column(f, v)
	}
	return f
}

// column makes a column in a frame for a variable.
func (m *matcher) column(f *eval.Frame, v plan.VarID) {
	if len(f.Cols[v]) < eval.FrameSize {
		f.Cols[v] = make([]uint32, eval.FrameSize)
		m.charged(4 * eval.FrameSize)
	}
}

// charged charges the run for memory that its frames keep. If the run has too little memory, it ends
// with an error at the next call of tick.
func (m *matcher) charged(bytes int) {
	if err := m.Hold(bytes); err != nil {
		m.Fail(err)
	}
}

// makeColumns makes columns for the variables that a step binds.
func (m *matcher) makeColumns(out *eval.Frame, vars ...plan.VarID) {
	for _, v := range vars {
		if v != plan.NoVar {
			m.column(out, v)
		}
	}
}

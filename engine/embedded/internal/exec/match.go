package exec

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// matcher runs the steps of a program and passes the rows of the match to a collector. It
// owns the memory of the steps.
type matcher struct {
	*evaluator
	out       *collector       // receives the rows of the match
	prof      *profile         // nil unless the run is analyzed
	unit      frame            // the single row with which the match begins
	frames    []frame          // by the id of a step
	walks     []walk           // by the id of a step
	reached   map[int]*reached // by reach.set or explore.set; of this run
	opposites [][2]hop         // by the id of a step that tests edges; nil before the first of a node with many edges
	around    []nearby         // by the id of a step; see neighbours
	edgeSets  []edgeSet        // by the id of a step that tests edges; nil before the first test without a set
	ahead     uint32           // keeps the compiler from removing prefetches

	optionals  []optionalRun // by the number of an optionalStep
	subqueries []subqueryRun // by position in query.subqueries
	nested     int           // number of nested records in the present batch

	// Memory that steps of one kind share, because no two of them run at the same time.
	key     []byte
	origins [frameSize]uint32  // see expand.passOn
	source  [1]uint32          // the node from which a walk begins
	best    []uint32           // see topStep
	weights []int64            // see degrees
	near    candidateSelector  // see nearStep
	passing []uint32           // see nearStep
	vectors index.VectorSearch // memory for searches of vector indexes
	sweeper sweeper            // memory for sweeps

	share    *share    // the units of work that the matcher takes; nil if it takes all
	weighing frame     // see keepWeights
	weighed  [][]int64 // by weight.kept: the weight of each node, by ordinal; nil before they are computed
}

// newMatcher returns a matcher that passes the rows that it finds to `out`.
func newMatcher(ev *evaluator, out *collector) matcher {
	m := matcher{evaluator: ev, out: out, frames: make([]frame, ev.frames), walks: make([]walk, ev.frames), around: make([]nearby, ev.frames), optionals: make([]optionalRun, ev.Program.optionals), subqueries: newSubqueryRuns(ev.Program), weighed: make([][]int64, ev.Program.weighed)}
	m.unit.cols = make([][]uint32, ev.width())
	return m
}

// begin prepares for a run; prof is nil unless the run is analyzed.
func (m *matcher) begin(prof *profile) {
	m.prof, m.nested, m.reached = prof, 0, nil
	for i := range m.subqueries {
		m.subqueries[i].begin()
	}
	for i := range m.walks {
		m.walks[i].counted = 0
	}
}

// match runs the steps.
func (m *matcher) match() error {
	return m.start(m.body)
}

// push passes a frame to the pipe's step number `at`, or, after the last step, to the collector of
// its rows.
func (m *matcher) push(p *pipe, at int, f *frame) error {
	switch {
	case f.n == 0:
		return nil
	case m.prof != nil:
		return m.profiled(p, at, f)
	}
	return m.advance(p, at, f)
}

// advance runs one step of a pipe on a frame; `at` is the number of the step. After the last step,
// advance passes the frame on.
func (m *matcher) advance(p *pipe, at int, f *frame) error {
	switch {
	case at < len(p.steps):
		if at == len(p.steps)-1 && p.counts != nil {
			n, err := p.counts.count(m, f)
			m.countRows(p, n)
			m.out.counted += int64(n)
			return m.inStep(err, p.counts)
		}
		return m.inStep(p.steps[at].run(m, p, at, f), p.steps[at])
	case p.optional != nil:
		return m.extended(p.optional, f)
	case p.subquery != nil:
		return m.yielded(p.subquery, f)
	case p.inner:
		for _, i := range f.outer[:f.n] {
			f.found.set(i)
		}
		return nil
	}
	return m.out.arrive(f)
}

// flush pushes a frame on and empties it.
func (m *matcher) flush(p *pipe, at int, out *frame) error {
	err := m.push(p, at+1, out)
	out.n = 0
	return err
}

// frame returns the empty frame of a step, with columns for vars.
func (m *matcher) frame(id int, vars []plan.VarID) *frame {
	f := &m.frames[id]
	f.n = 0
	if f.cols == nil {
		f.cols = make([][]uint32, m.slots())
		m.charged(columnHead * len(f.cols))
	}
	for _, v := range vars {
		m.column(f, v)
	}
	return f
}

// columnHead is the size of a column without its rows, in bytes.
const columnHead = 24

// column makes a column in a frame for a variable.
func (m *matcher) column(f *frame, v plan.VarID) {
	if len(f.cols[v]) < frameSize {
		f.cols[v] = make([]uint32, frameSize)
		m.charged(4 * frameSize)
	}
}

// charged charges the run for memory that its frames keep. If the run has too little memory, it ends
// with an error at the next call of tick.
func (m *matcher) charged(bytes int) {
	if err := m.hold(bytes); err != nil {
		m.fail(err)
	}
}

// makeColumns makes columns for the variables that a step binds.
func (m *matcher) makeColumns(out *frame, vars ...plan.VarID) {
	for _, v := range vars {
		if v != plan.NoVar {
			m.column(out, v)
		}
	}
}

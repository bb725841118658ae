package exec

import (
	"cmp"
	"errors"
	"iter"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/sink"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/parallel"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// A read that only counts all its rows may run on several processors. The goroutines take units of work from one counter:
// blocks of the entities that the first step binds. The goroutine of the call works, too, and the others are helpers. Each
// helper has the memory of a run, and counts its rows. All runs together have one helper less than there are processors.
//
// If all processors were busy, a request that arrives would wait for up to 10 ms, until the scheduler polls the network. So the
// helpers rest now and then. A processor without work polls the network at once.

const (
	// splitCost is the least cost of a pipe that is split, in rows that a step receives or yields.
	splitCost = 20_000
	// splitNodes is the least number of nodes whose weights are computed on several processors.
	splitNodes = 32_768
	// splitUnits is the number of units in a table, if each has at least one entity and at most unitNodes.
	splitUnits, unitNodes = 64, 4096
	// maxHelpers is the maximum number of helpers of one run.
	maxHelpers = 7
	// A helper rests after restAfter, before it takes the next unit. In a unit it rests after restWithin, because the others may
	// have to wait for that unit at the end.
	restAfter, restWithin = 2 * time.Millisecond, 4 * time.Millisecond
	// restTime is the least time of a rest. The timers of an idle processor have a resolution of a millisecond.
	restTime = 100 * time.Microsecond
)

// helping is the number of helpers of all runs.
var helping atomic.Int32

// share is the units of work that one goroutine takes. The goroutines see the same units in the same order.
type share struct {
	next *atomic.Int64 // number of the next unit that no goroutine has taken
	mine int64         // number of the unit that this goroutine has taken, which may be one that it has not seen yet
	seen int64         // number of units that this goroutine has seen
	// yields lets the other goroutines run before each unit, for tests.
	yields bool

	since time.Time     // when a helper began to work, or its last rest ended
	done  chan struct{} // closed when the goroutine of the call has no more work; nil if the goroutine does not rest
}

// rest lets a helper rest if it has worked for some time.
func (s *share) rest(after time.Duration) {
	if s.done == nil || clock.Now().Sub(s.since) < after {
		return
	}
	timer := time.NewTimer(restTime)
	select {
	case <-s.done:
	case <-timer.C:
	}
	timer.Stop()
	s.since = clock.Now()
}

// take reports whether the goroutine does the next unit. Without a share, it does all of them.
func (s *share) take() bool {
	if s == nil {
		return true
	}
	at := s.seen
	s.seen++
	if s.mine < at {
		s.rest(restAfter)
		if s.yields {
			runtime.Gosched()
		}
		s.mine = s.next.Add(1) - 1
	}
	return s.mine == at
}

// newShare returns a share of the units that `next` counts.
func newShare(next *atomic.Int64, yields bool) *share {
	return &share{next: next, mine: -1, yields: yields}
}

// units returns the first ordinal of each unit of a table, and the ordinal after the last one.
func units(t *version.Table) iter.Seq2[uint32, uint32] {
	return func(yield func(uint32, uint32) bool) {
		n := t.Ordinals()
		size := max(1, min(unitNodes, n/splitUnits))
		for from := uint32(0); from < n; {
			to := from + min(size, n-from)
			if !yield(from, to) {
				return
			}
			from = to
		}
	}
}

// shareOf returns the share of the units of a pipe, or nil if the pipe is not split.
func (m *matcher) shareOf(p *Pipe) *share {
	if !p.Splits {
		return nil
	}
	return m.share
}

// start runs the steps of a pipe, on several processors if that is worth the time.
func (m *matcher) start(p *Pipe) error {
	if !p.Splits || p.Work < splitCost && !m.SplitsAll {
		return m.begins(p)
	}
	if last, ok := p.Steps[len(p.Steps)-1].(*Multiply); ok {
		if err := m.prepareWeights(last); err != nil {
			return err
		}
	}
	return m.together(func(m *matcher) error { return m.begins(p) })
}

// begins runs the steps of a pipe in this goroutine. They begin with a row without variables.
func (m *matcher) begins(p *Pipe) error {
	m.unit = eval.Frame{N: 1, Cols: m.unit.Cols}
	return m.push(p, 0, &m.unit)
}

// takeHelpers reserves helpers and returns their number, which may be 0.
func takeHelpers() int32 {
	for {
		n := helping.Load()
		free := min(int32(parallel.Processors())-1-n, maxHelpers)
		if free <= 0 {
			return 0
		}
		if helping.CompareAndSwap(n, n+free) {
			return free
		}
	}
}

// together runs `work` in this goroutine and in helpers, each with a share of the units of the work. It adds the
// numbers of rows that the helpers counted. If a goroutine fails, together repeats all work in this goroutine alone: then the
// read has all of its memory, and its error does not depend on the number of processors.
func (m *matcher) together(work func(*matcher) error) error {
	if m.prof != nil {
		return work(m)
	}
	n := takeHelpers()
	if n == 0 {
		return work(m)
	}
	defer func() { helping.Add(-n) }()
	limit, counted, walked, examined := m.Limit, m.out.Counted, m.Walked, m.Total
	part := int64(0)
	if limit > 0 {
		if part = (limit - m.Spent) / int64(2*n); part <= 0 {
			return work(m)
		}
		m.Limit -= part * int64(n)
	}
	var next atomic.Int64
	done := chan struct{}(nil)
	if int(n)+1 == parallel.Processors() {
		done = make(chan struct{})
	}
	helpers := make([]helper, n)
	tasks := []func(){nil}
	for i := range helpers {
		h := &helpers[i]
		tasks = append(tasks, func() {
			s := newShare(&next, m.SplitsAll)
			s.since, s.done = clock.Now(), done
			h.run(m, part, s, work)
		})
	}
	var err error
	tasks[0] = func() {
		if done != nil {
			defer close(done)
		}
		m.share = newShare(&next, m.SplitsAll)
		err = work(m)
	}
	parallel.Do(tasks...)
	m.share, m.Limit = nil, limit
	for i := range helpers {
		h := &helpers[i]
		sum := m.out.Counted + h.counted
		if h.counted != 0 && (sum > m.out.Counted) != (h.counted > 0) {
			h.err = sink.CountTooLarge()
		}
		m.out.Counted, m.Walked, m.Total, err = sum, m.Walked+h.walked, m.Total+h.examined, errors.Join(err, h.err)
	}
	if err == nil {
		err = cmp.Or(m.Walk(0), m.Examine(0))
	}
	if err == nil {
		return nil
	}
	if err := m.Ctx.Err(); err != nil {
		return err
	}
	m.out.Counted, m.Walked, m.Total = counted, walked, examined
	return work(m)
}

// helper is a run that helps another one.
type helper struct {
	counted int64 // rows that it counted
	walked  int64 // nodes and edges that its walks visited
	// examined is the number of nodes and edges that it examined.
	examined int64
	err      error // why it stopped
}

// run does the work of a share for the run of a matcher, with at most `memory` bytes, or without a limit if that is 0.
func (h *helper) run(of *matcher, memory int64, s *share, work func(*matcher) error) {
	r := of.program.pool.Get().(*run)
	r.evaluator.Begin(of.Ctx, of.Snap, of.Args, eval.Options{Now: of.Now, Origins: of.Origins(), Memory: memory, Shared: of.Budget.Shared, Visits: of.MaxVisited, Walked: of.Most, Examined: of.MostExamined})
	r.matcher.begin(nil)
	r.collector.Start()
	copy(r.matcher.weighed, of.weighed)
	whole := false
	defer func() {
		if !whole { // the stored data is corrupt; drop the run
			r.evaluator.Release()
		}
	}()
	if h.err = cmp.Or(r.evaluator.TextErr, r.evaluator.BeginConstants()); h.err == nil {
		r.matcher.share, r.evaluator.Rest = s, func() { s.rest(restWithin) }
		h.err = work(&r.matcher)
		r.matcher.share, r.evaluator.Rest = nil, nil
	}
	h.counted, h.walked, h.examined = r.collector.Counted, r.evaluator.Walked, r.evaluator.Total
	whole = true
	r.end()
}

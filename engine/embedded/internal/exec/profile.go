package exec

import (
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// profile counts the rows that each step of a run receives, and the time of each step. The time of
// a step does not include the time of the steps that it pushes rows to.
type profile struct {
	steps   map[*Pipe][]stepProfile // the last element is for the rows that leave the last step
	tests   map[*ArrangedTest]int64 // number of rows that satisfied a condition of an `any` or `all` block
	phases  [phases]time.Duration   // time of each phase that is not a step
	current *time.Duration          // the account that the time is charged to
	since   time.Time               // when the time was last charged
	grouped int                     // number of groups of the run
	passed  int64                   // number of rows that satisfied the conditions of `having`
}

// stepProfile counts the rows that were pushed to a step, and the step's time.
type stepProfile struct {
	rows int64         // rows pushed to the step
	time time.Duration // time spent in the step
}

// The phases of a run that are not steps.
const (
	collecting = iota // includes grouping
	sorting           // of the collected rows
	returning         // making batches of the result
	phases            // number of phases
)

// newProfile returns an empty profile.
func newProfile() *profile {
	return &profile{steps: map[*Pipe][]stepProfile{}, tests: map[*ArrangedTest]int64{}}
}

// of returns the counts of one step of a pipe; `at` is the number of the step.
func (r *profile) of(p *Pipe, at int) *stepProfile {
	if r.steps[p] == nil {
		r.steps[p] = make([]stepProfile, len(p.Steps)+1)
	}
	return &r.steps[p][at]
}

// charge charges the time from now on to another account, and returns the previous account.
func (r *profile) charge(to *time.Duration) (was *time.Duration) {
	now := clock.Now()
	if r.current != nil {
		*r.current += now.Sub(r.since)
	}
	was, r.current, r.since = r.current, to, now
	return was
}

// phase charges time to a phase until the caller calls the result `done`. Without a profile it does
// nothing.
func (r *profile) phase(n int) (done func()) {
	if r == nil {
		return noPhase
	}
	was := r.charge(&r.phases[n])
	return func() { r.charge(was) }
}

// noPhase does nothing. It ends a phase of a run without a profile.
func noPhase() {}

// profiled pushes a frame and records it in the profile.
func (m *matcher) profiled(p *Pipe, at int, f *eval.Frame) error {
	s := m.prof.of(p, at)
	s.rows += int64(f.N)
	account := &s.time
	if at == len(p.Steps) && !p.Inner && p.Optional == nil && p.Subquery == nil {
		account = &m.prof.phases[collecting]
	}
	was := m.prof.charge(account)
	err := m.advance(p, at, f)
	m.prof.charge(was)
	return err
}

// countRows counts rows that the last step of a pipe yields without pushing them.
func (m *matcher) countRows(p *Pipe, rows int) {
	if m.prof != nil {
		m.prof.of(p, len(p.Steps)).rows += int64(rows)
	}
}

// measure sets the rows and the time of an operator, if the run has a profile.
func (x *explainer) measure(op *engine.Operator, rows int64, took time.Duration) {
	if x.prof != nil {
		op.Rows, op.Time = &rows, took
	}
}

// profTime returns the time of a phase; 0 if the run was not analyzed.
func (x *explainer) profTime(phase int) time.Duration {
	if x.prof == nil {
		return 0
	}
	return x.prof.phases[phase]
}

// sinkRows returns the number of rows that the match has yielded.
func (x *explainer) sinkRows() int64 {
	if x.prof == nil {
		return 0
	}
	return x.prof.of(x.Body, len(x.Body.Steps)).rows
}

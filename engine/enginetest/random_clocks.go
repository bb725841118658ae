package enginetest

import (
	"context"
	"fmt"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// timed says how a read names a commit of the past.
type timed uint8

const (
	byCommit  timed = iota // by its id
	byInstant              // the target has its time
	byAsOf                 // the query is as of its time
)

// String returns a part of the text of a step.
func (t timed) String() string { return [...]string{"", ", by its time", ", as of its time"}[t] }

// drawTimed lets some reads name a commit by its time.
func (d *drawer) drawTimed(s *step) {
	if s.query == nil || s.query.Read == nil || !d.clocks.percent(12) {
		return
	}
	s.timed = pick(d.clocks, []timed{byInstant, byAsOf})
	if s.back == 0 {
		s.back = d.clocks.IntN(6)
	}
}

// targetOf returns the target of the current step in one of the two graphs.
func (p *pair) targetOf(g engine.Graph) engine.Target {
	at := p.commitBack(g, p.branch, p.back)
	if c, ok := p.timedCommit(g); ok {
		at.Commit = ""
		if p.timed == byInstant {
			at.AsOf = c.Time
		}
	}
	at.Rights = p.rights
	return at
}

// queryOf returns the read of the current step for one of the two graphs, whose commits have times of their own.
func (p *pair) queryOf(g engine.Graph, q *plan.Query) *plan.Query {
	c, ok := p.timedCommit(g)
	if !ok || p.timed != byAsOf {
		return q
	}
	at, err := value.DateTimeFrom(c.Time)
	must(err)
	timed := *q
	timed.AsOf = plan.Lit{Value: value.OfDateTime(at)}
	return &timed
}

// timedCommit returns the commit that the current step names by its time. It reports false if the step names the commit
// in another way, and if the next commit has the same time.
func (p *pair) timedCommit(g engine.Graph) (c engine.Commit, ok bool) {
	if p.timed == byCommit {
		return c, false
	}
	commits, err := g.Commits(p.ctx, p.branch, engine.CommitRange{Limit: p.back + 1})
	if err != nil {
		return c, false // the branch is missing, which the call will report
	}
	n := len(commits) - 1
	return commits[n], n == 0 || commits[n-1].Time.After(commits[n].Time)
}

// runRead compares a read. It returns the number of rows of the model's result.
func (p *pair) runRead(ctx context.Context, q *plan.Query, args engine.Args) (rows int, difference string) {
	if absent, difference := p.missing(ctx); absent {
		if difference == "" {
			_, wantErr := queryAt(ctx, p.model, q, args, p.target())
			_, gotErr := queryAt(ctx, p.engine, q, args, p.target())
			difference = compareErrors(wantErr, gotErr)
		}
		return 0, difference
	}
	want, wantMore, wantErr := queryMore(ctx, p.model, p.queryOf(p.model, q), args, p.targetOf(p.model))
	got, more, err := queryMore(ctx, p.engine, p.queryOf(p.engine, q), args, p.targetOf(p.engine))
	if unfit, difference := unfit(wantErr, err); unfit {
		return 0, difference
	}
	if p.back > 0 && (wantErr != nil || err != nil) {
		return 0, compareErrors(wantErr, err)
	}
	if refused(wantErr, err) {
		return 0, ""
	}
	if wantErr != nil {
		return 0, "the model fails: " + wantErr.Error()
	}
	if err != nil {
		return 0, fmt.Sprintf("the engine fails, but the model does not: %v (%T)", err, err)
	}
	if difference := compareRows(want, got); difference != "" {
		return len(want), difference
	}
	if more != wantMore {
		return len(want), fmt.Sprintf("the limit cut off rows: the engine reports %t, the model %t; the rows are\n  %s", more, wantMore, strings.Join(formatRows(want), "\n  "))
	}
	p.reads++
	if p.reads%pageEach == pageEach/2 && len(want) > 0 {
		if difference := p.comparePage(ctx, q, args, want); difference != "" {
			return len(want), difference
		}
	}
	if p.reads%explainEach != 0 {
		return len(want), ""
	}
	e, err := p.engine.Explain(ctx, p.queryOf(p.engine, q), args, p.targetOf(p.engine), true)
	if err != nil {
		return len(want), fmt.Sprintf("the engine runs the query, but fails to explain it: %v (%T)", err, err)
	}
	if len(e.Plan) != 1 || e.Plan[0].Rows == nil || *e.Plan[0].Rows != int64(len(want)) {
		return len(want), fmt.Sprintf("the root operator of the explanation does not report %d rows:\n%s", len(want), e)
	}
	p.seen.operators(e.Plan)
	return len(want), ""
}

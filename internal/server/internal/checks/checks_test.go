package checks_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/checks"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

const queries = `
query old() @must_be_empty("Nobody is older than 40.") { match { $p: Person $p.age > 40 } return { $p.name } order { $p.name } }
query born_later() @must_be_empty("Nobody is from the future.") { match { $p: Person $p.seen > now() } return { $p.name } }
query nameless() @must_be_empty("Everybody has a name.") { match { $p: Person { name: "" } } return { $p.name } }
query everyone() { match { $p: Person } return { $p.name } }
`

// world runs checks on a small graph, with a clock of its own.
type world struct {
	t       *testing.T
	runner  *checks.Runner
	graph   engine.Graph
	now     time.Time
	timeout time.Duration                                  // of a request; 0 for none
	ran     []string                                       // the names of the queries that ran
	before  func(ctx context.Context, q *plan.Query) error // is called before a query runs; may be nil
}

func newWorld(t *testing.T, limits checks.Limits) *world {
	t.Helper()
	w := &world{t: t, graph: servedtest.Config(t).Graph, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	w.runner = checks.New(servedtest.Queries(t, queries), limits, func() time.Time { return w.now })
	return w
}

// run runs the checks on main under the key `state`. It returns the outcomes as text, and the names of
// the queries that ran for that.
func (w *world) run(state string) (outcomes, ran string) {
	w.t.Helper()
	w.ran = nil
	ctx := w.t.Context()
	if w.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, w.timeout)
		defer cancel()
	}
	all := w.runner.Run(ctx, tool.CheckedState{Key: state, Open: func(context.Context) (func(context.Context, *plan.Query) (engine.Result, error), error) {
		return func(ctx context.Context, q *plan.Query) (engine.Result, error) {
			w.ran = append(w.ran, q.Name)
			if w.before != nil {
				if err := w.before(ctx, q); err != nil {
					return nil, err
				}
			}
			return w.graph.Query(ctx, q, nil, engine.Target{Now: w.now})
		}, nil
	}})
	return w.text(all), strings.Join(w.ran, " ")
}

// text describes outcomes.
func (w *world) text(all []tool.CheckOutcome) string {
	var text []string
	for _, o := range all {
		line := o.Query.Info().Name + " " + map[tool.CheckResult]string{tool.CheckPassed: "passed", tool.CheckFailed: "failed", tool.CheckUnfinished: "unfinished"}[o.Result]
		for _, r := range o.Rows {
			line += " " + string(r)
		}
		if o.More {
			line += " and more"
		}
		if o.Reason != "" {
			line += ": " + o.Reason
		}
		text = append(text, line)
	}
	return strings.Join(text, "; ")
}

// expect runs the checks and compares.
func (w *world) expect(state, outcomes, ran string) {
	w.t.Helper()
	gotOutcomes, gotRan := w.run(state)
	if gotOutcomes != outcomes || gotRan != ran {
		w.t.Errorf("state %s: %s\n(ran %q), want\n%s\n(ran %q)", state, gotOutcomes, gotRan, outcomes, ran)
	}
}

const sound = `old failed {"p.name":"bob"}; born_later passed; nameless passed`

// TestRemember checks which outcomes the runner remembers, and for how long.
func TestRemember(t *testing.T) {
	w := newWorld(t, checks.Limits{})
	w.expect("a", sound, "old born_later nameless")
	w.expect("a", sound, "")
	w.expect("b", sound, "old born_later nameless")
	w.now = w.now.Add(59 * time.Second)
	w.expect("a", sound, "")
	w.now = w.now.Add(time.Second)
	w.expect("a", sound, "born_later") // it calls now()

	// A query that fails counts as unfinished, and runs again after a minute.
	w.before = func(_ context.Context, q *plan.Query) error {
		if q.Name == "nameless" {
			return errors.New("the disk is on fire")
		}
		return nil
	}
	const broken = `old failed {"p.name":"bob"}; born_later passed; nameless unfinished: the query of the check failed`
	w.expect("c", broken, "old born_later nameless")
	w.before = nil
	w.expect("c", broken, "")
	w.now = w.now.Add(time.Minute)
	w.expect("c", sound, "born_later nameless")
}

// TestLimits checks that a check which exceeds the time is unfinished, and that the next call goes on
// with the checks for which the time of all checks did not suffice.
func TestLimits(t *testing.T) {
	slow := func(name string) func(ctx context.Context, q *plan.Query) error {
		return func(ctx context.Context, q *plan.Query) error {
			if q.Name != name {
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		}
	}
	w := newWorld(t, checks.Limits{Each: 10 * time.Millisecond, All: time.Minute})
	w.before = slow("old")
	w.expect("a", "old unfinished: the check did not finish within 10ms; make its query faster; born_later passed; nameless passed", "old born_later nameless")
	w = newWorld(t, checks.Limits{Each: time.Minute, All: 10 * time.Millisecond})
	w.before = slow("born_later")
	const late = "unfinished: the time of the request for all checks ended, which is at most 10ms; ask again"
	w.expect("a", `old failed {"p.name":"bob"}; born_later `+late+"; nameless "+late, "old born_later")
	w.before = nil
	if outcomes, ran := w.run("a"); ran != "born_later nameless" || outcomes != sound {
		t.Errorf("the next call ran %q: %s", ran, outcomes)
	}
}

// TestSlowCheckOfShortRequests runs checks within requests that are shorter than the default time of one
// check. The slow check must not use up the time of the others, and must not run again in each request.
func TestSlowCheckOfShortRequests(t *testing.T) {
	for timeout, want := range map[time.Duration]checks.Limits{
		0:                      {Each: 10 * time.Second, All: 20 * time.Second},
		time.Minute:            {Each: 10 * time.Second, All: 20 * time.Second},
		30 * time.Second:       {Each: 10 * time.Second, All: 20 * time.Second},
		6 * time.Second:        {Each: 2 * time.Second, All: 4 * time.Second},
		300 * time.Millisecond: {Each: 100 * time.Millisecond, All: 200 * time.Millisecond},
	} {
		if got := checks.Within(timeout); got != want {
			t.Errorf("within %v: %+v, want %+v", timeout, got, want)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		const timeout = 6 * time.Second
		w := newWorld(t, checks.Within(timeout))
		w.timeout = timeout
		w.before = func(ctx context.Context, q *plan.Query) error {
			if q.Name != "old" {
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		}
		const slow = "old unfinished: the check did not finish within 2s; make its query faster; born_later passed; nameless passed"
		w.expect("a", slow, "old born_later nameless")
		w.expect("a", slow, "")
	})
}

// TestRows checks that an outcome has a limited number of rows and bytes.
func TestRows(t *testing.T) {
	w := newWorld(t, checks.Limits{})
	for _, text := range []string{
		`query q() @must_be_empty("x") { match { $a: Person $b: Person $c: Person } return { $a.name as a, $b.name as b, $c.name as c } }`,
		`query q() @must_be_empty("x") { match { $a: Person $b: Person $c: Person } return { $a.name as a, $b.name as b, $c.name as c } limit 20 }`,
	} {
		w.runner = checks.New(servedtest.Queries(t, text), checks.Limits{}, nil)
		outcomes, _ := w.run("a")
		if rows := strings.Count(outcomes, "{"); rows != 20 || !strings.HasSuffix(outcomes, " and more") {
			t.Errorf("%d rows: %s", rows, outcomes)
		}
	}
	if _, err := w.graph.Load(t.Context(), strings.NewReader(`{"type":"Person","data":{"name":"`+strings.Repeat("x", 17<<10)+`"}}`), engine.LoadOptions{Mode: engine.Append}); err != nil {
		t.Fatal(err)
	}
	w.runner = checks.New(servedtest.Queries(t, `query q() @must_be_empty("x") { match { $a: Person $a.name starts_with "x" } return { $a.name } }`), checks.Limits{}, nil)
	if outcomes, _ := w.run("b"); outcomes != "q failed and more" {
		t.Errorf("a row that is too large: %.200s", outcomes)
	}
}

// TestUnrun checks the outcomes of checks that cannot run.
func TestUnrun(t *testing.T) {
	w := newWorld(t, checks.Limits{})
	if got, want := w.text(w.runner.Unrun("no result")), "old unfinished: no result; born_later unfinished: no result; nameless unfinished: no result"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestConcurrentRuns runs the checks of one state many times at once. Only two calls run queries at the
// same time, and the others use what these remember.
func TestConcurrentRuns(t *testing.T) {
	graph := servedtest.Config(t).Graph
	runner := checks.New(servedtest.Queries(t, queries), checks.Limits{}, nil)
	var ran atomic.Int32
	state := tool.CheckedState{Key: "a", Open: func(context.Context) (func(context.Context, *plan.Query) (engine.Result, error), error) {
		return func(ctx context.Context, q *plan.Query) (engine.Result, error) {
			ran.Add(1)
			return graph.Query(ctx, q, nil, engine.Target{})
		}, nil
	}}
	var calls sync.WaitGroup
	for range 16 {
		calls.Go(func() {
			out := runner.Run(t.Context(), state)
			if len(out) != 3 || out[0].Result != tool.CheckFailed || out[1].Result != tool.CheckPassed || out[2].Result != tool.CheckPassed {
				t.Errorf("the outcomes are %+v", out)
			}
		})
	}
	calls.Wait()
	if n := ran.Load(); n < 3 || n > 6 {
		t.Errorf("%d queries ran, want 3 to 6", n)
	}
}

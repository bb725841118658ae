// Package checks runs the checks of a graph, which are the stored queries that must return no row, and
// remembers their outcomes.
package checks

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/pagetoken"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Limits bound the runs of checks. Zero fields mean the defaults.
type Limits struct {
	Each time.Duration // maximum duration of one check; default 10 s
	All  time.Duration // maximum duration of one call of [Runner.Run]; default 20 s
}

// The default limits. A check that exceeds its own limit is remembered as unfinished; one that the end of
// the request stops is not, because the next request may have more time.
const (
	defaultEach = 10 * time.Second
	defaultAll  = 20 * time.Second
)

// Within returns limits for requests that end after `timeout`: the defaults, but at most a third of the
// timeout for one check and two thirds for all. So one slow check does not use up each request, and the
// other checks get outcomes. A timeout of 0 means none.
func Within(timeout time.Duration) Limits {
	if timeout <= 0 {
		return Limits{defaultEach, defaultAll}
	}
	return Limits{min(defaultEach, timeout/3), min(defaultAll, timeout*2/3)}
}

// The bounds that no caller chooses.
const (
	maxRows       = 20          // rows of a failed check that an outcome keeps
	maxRowBytes   = 16 << 10    // bytes of these rows
	maxRemembered = 1000        // outcomes that a Runner keeps
	briefly       = time.Minute // how long it keeps an outcome that can change although the state does not
	slots         = 2           // calls of Run that run queries at the same time
)

// Runner runs the checks of one graph. It is safe for concurrent use.
type Runner struct {
	checks []check
	limits Limits
	now    func() time.Time
	slots  chan struct{} // a call of Run that runs queries has put one element into it

	mu         sync.Mutex
	remembered map[key]kept // guarded by mu
}

// check is a stored query that must return no row.
type check struct {
	query   tool.StoredQuery
	digest  pagetoken.Digest // of the plan
	usesNow bool             // the outcome depends on the time
}

// key identifies an outcome.
type key struct {
	state string
	query pagetoken.Digest
}

// kept is a remembered outcome.
type kept struct {
	tool.CheckOutcome
	until time.Time // when the outcome expires; zero for never
}

// New returns a runner of the checks among the given stored queries. The clock `now` may be nil.
func New(queries []tool.StoredQuery, limits Limits, now func() time.Time) *Runner {
	r := &Runner{limits: limits, now: now, slots: make(chan struct{}, slots), remembered: map[key]kept{}}
	if r.limits.Each == 0 {
		r.limits.Each = defaultEach
	}
	if r.limits.All == 0 {
		r.limits.All = defaultAll
	}
	if r.now == nil {
		r.now = clock.Now
	}
	for _, q := range queries {
		if q.Info().MustBeEmpty != "" {
			r.checks = append(r.checks, check{q, pagetoken.PlanDigest(q.Plan()), usesNow(reflect.ValueOf(q.Plan()))})
		}
	}
	return r
}

var (
	nowType  = reflect.TypeFor[plan.Now]()
	planPath = nowType.PkgPath()
)

// usesNow reports whether a part of a plan is a [plan.Now].
func usesNow(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return !v.IsNil() && usesNow(v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			if usesNow(v.Index(i)) {
				return true
			}
		}
	case reflect.Struct:
		if v.Type() == nowType {
			return true
		}
		for i := 0; v.Type().PkgPath() == planPath && i < v.NumField(); i++ {
			if usesNow(v.Field(i)) {
				return true
			}
		}
	default:
	}
	return false
}

// Run implements [tool.Checks]. Checks for which the time does not suffice are unfinished.
func (r *Runner) Run(ctx context.Context, s tool.CheckedState) []tool.CheckOutcome {
	out := make([]tool.CheckOutcome, len(r.checks))
	if r.recall(s.Key, out) {
		return out
	}
	ctx, cancel := context.WithTimeout(ctx, r.limits.All)
	defer cancel()
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		r.fill(out, tool.CheckOutcome{Result: tool.CheckUnfinished, Reason: "other checks of the graph took the time of this request; ask again"})
		return out
	}
	if r.recall(s.Key, out) { // another call may have run them in the meantime
		return out
	}
	query, err := s.Open(ctx)
	if err != nil {
		r.fill(out, unfinished(ctx, err, r.limits))
		return out
	}
	for i := range r.checks {
		if out[i].Query != nil {
			continue
		}
		c := &r.checks[i]
		o := r.run(ctx, c, query)
		if o.Result == tool.CheckUnfinished && ctx.Err() != nil { // the next call goes on with this check
			r.fill(out, o)
			return out
		}
		o.Query = c.query
		r.remember(key{s.Key, c.digest}, o, c.usesNow || o.Result == tool.CheckUnfinished)
		out[i] = o
	}
	return out
}

// Unrun implements [tool.Checks].
func (r *Runner) Unrun(reason string) []tool.CheckOutcome {
	out := make([]tool.CheckOutcome, len(r.checks))
	r.fill(out, tool.CheckOutcome{Result: tool.CheckUnfinished, Reason: reason})
	return out
}

// fill sets the outcome of each check that has none.
func (r *Runner) fill(out []tool.CheckOutcome, o tool.CheckOutcome) {
	for i := range out {
		if out[i].Query == nil {
			o.Query = r.checks[i].query
			out[i] = o
		}
	}
}

// run runs one check.
func (r *Runner) run(ctx context.Context, c *check, query func(context.Context, *plan.Query) (engine.Result, error)) tool.CheckOutcome {
	own, cancel := context.WithTimeout(ctx, r.limits.Each)
	defer cancel()
	res, err := query(own, c.query.Plan())
	if err != nil {
		return unfinished(ctx, err, r.limits)
	}
	defer res.Close()
	rows, more, err := encoding.FirstRowsAs(own, res, maxRows, maxRowBytes, encoding.Options{}, encoding.Options{SafeIntegers: true}, encoding.Options{StringIntegers: true})
	switch {
	case len(rows[0]) > 0 || more: // rows prove the failure, even if the query then reaches a limit
		return tool.CheckOutcome{Result: tool.CheckFailed, Rows: rows[0], Safe: rows[1], Exact: rows[2], More: more || err != nil || res.More()}
	case err != nil:
		return unfinished(ctx, err, r.limits)
	}
	return tool.CheckOutcome{Result: tool.CheckPassed}
}

// unfinished returns the outcome of a check that ended with an error. The argument ctx is the context
// of all checks.
func unfinished(ctx context.Context, err error, l Limits) tool.CheckOutcome {
	o := tool.CheckOutcome{Result: tool.CheckUnfinished}
	var large *engine.TooLarge
	switch {
	case ctx.Err() != nil:
		o.Reason = fmt.Sprintf("the time of the request for all checks ended, which is at most %s; ask again", l.All)
	case errors.Is(err, context.DeadlineExceeded):
		o.Reason = fmt.Sprintf("the check did not finish within %s; make its query faster", l.Each)
	case errors.As(err, &large):
		o.Reason, o.Detail = "the check needs more memory than a query may use", err.Error()
	default:
		o.Reason = "the query of the check failed"
		if fault := wireerror.Explain(err); !fault.Operational {
			o.Detail = strings.TrimSpace(err.Error())
		}
	}
	return o
}

// recall fills in the remembered outcomes, and reports whether there is one for each check.
func (r *Runner) recall(state string, out []tool.CheckOutcome) bool {
	now, all := r.now(), true
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.checks {
		k := key{state, r.checks[i].digest}
		o, ok := r.remembered[k]
		if ok && !o.until.IsZero() && !now.Before(o.until) {
			delete(r.remembered, k)
			ok = false
		}
		if !ok {
			all = false
			continue
		}
		out[i] = o.CheckOutcome
		out[i].Query = r.checks[i].query
	}
	return all
}

// remember keeps an outcome. If `expires` is true, it keeps the outcome for a minute.
func (r *Runner) remember(k key, o tool.CheckOutcome, expires bool) {
	e := kept{CheckOutcome: o}
	if expires {
		e.until = r.now().Add(briefly)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.remembered) >= maxRemembered {
		clear(r.remembered)
	}
	r.remembered[k] = e
}

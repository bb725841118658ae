package service

import (
	"context"
	"errors"
	"hash"
	"net/http"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/server/request"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Observer is notified of each call that ended. Implementations must be safe for concurrent
// use and must not block.
type Observer interface {
	Called(c Called)
}

// Called describes a call that ended. Its strings come from bounded sets; clients choose
// none of them.
type Called struct {
	Graph   string
	Tool    string // the tool of the catalog or the REST operation; empty for an unknown tool
	Outcome Outcome
	Denied  tool.Action // the action that the policy denied; empty if it denied none
	Rows    int         // number of rows in the answer
	Bytes   int         // size of the answer
	Took    time.Duration
}

// Outcome is the way a call ended.
type Outcome string

// The outcomes. An outcome that corresponds to a code of the error envelope has the same
// text.
const (
	Done         Outcome = "ok"
	OfRequest    Outcome = "bad_request"
	OfPolicy     Outcome = "forbidden"
	Missing      Outcome = "not_found"
	Conflicted   Outcome = "conflict"
	Precondition Outcome = "precondition_failed"
	TooLarge     Outcome = "too_large"
	TimedOut     Outcome = "timed_out"
	GivenUp      Outcome = "deadline" // the client's own time limit, set by X-Timeout-Ms
	Canceled     Outcome = "canceled"
	Unavailable  Outcome = "unavailable"
	Failed       Outcome = "internal"
)

// Outcomes lists all outcomes.
var Outcomes = []Outcome{Done, OfRequest, OfPolicy, Missing, Conflicted, Precondition, TooLarge, TimedOut, GivenUp, Canceled, Unavailable, Failed}

// OutcomeOf returns the outcome for the error of a call. For nil it returns Done.
func OutcomeOf(err error) Outcome {
	if err == nil {
		return Done
	}
	f := Explain(err)
	switch f.Status {
	case http.StatusForbidden:
		return OfPolicy
	case http.StatusNotFound:
		return Missing
	case http.StatusConflict:
		return Conflicted
	case http.StatusPreconditionFailed:
		return Precondition
	case http.StatusRequestEntityTooLarge:
		return TooLarge
	case http.StatusServiceUnavailable:
		var late *Overdue
		switch {
		case errors.As(err, &late) && !late.Limit:
			return GivenUp
		case errors.Is(err, context.DeadlineExceeded):
			return TimedOut
		case errors.Is(err, context.Canceled):
			return Canceled
		}
		return Unavailable
	}
	if f.Operational {
		return Failed
	}
	return OfRequest
}

// watch follows a call from its start until it is logged.
type watch struct {
	graph  *Graph
	actor  *Actor
	name   string
	call   tool.Call
	start  time.Time
	mark   mark
	branch string // branch of the first grant on a branch
	writes bool
	batch  bool       // the calls of the batch were reported one by one
	span   trace.Span // nil unless the request is traced

	wrote  *tool.Written // what the call committed
	commit string        // the commit read, or the head after the call
	data   hash.Hash     // of the data that a load has read; nil unless it will be logged
}

// tracerName is the instrumentation scope of the spans of calls.
const tracerName = "github.com/omnigraph-go/omnigraph/server/service"

// begin starts to follow a call. It returns a context with the call's span if the request
// is traced.
func (g *Graph) begin(ctx context.Context, actor *Actor, name string, call tool.Call, m mark) (context.Context, *watch) {
	w := &watch{graph: g, actor: actor, name: name, call: call, mark: m, start: clock.Now()}
	w.hash(ctx)
	if parent := trace.SpanFromContext(ctx); parent.IsRecording() {
		ctx, w.span = parent.TracerProvider().Tracer(tracerName).Start(ctx, "call "+name,
			trace.WithAttributes(attribute.String("omnigraph.graph", g.id), attribute.String("omnigraph.tool", name)))
	}
	return ctx, w
}

// asks records what a call wants to do.
func (w *watch) asks(grants []tool.Grant) {
	found := false
	for i := range grants {
		g := &grants[i]
		if onBranch(g.Action) && !found {
			w.branch, found = orMain(g.Branch), true
			if len(w.branch) > engine.MaxBranchName {
				// No branch name is that long, and a client must not put long names into the log.
				w.branch = strings.ToValidUTF8(w.branch[:engine.MaxBranchName], "")
			}
		}
		w.writes = w.writes || changesGraph(g.Action)
	}
}

// committed records what the call wrote. A write that changed nothing made no commit.
func (w *watch) committed(branch string, c *engine.Commit) {
	if c != nil {
		w.wrote = &tool.Written{Branch: branch, Commit: c}
	}
}

// end reports the end of the call to the request record, the span, the observer and the
// log. The call's answer is in e after the mark.
func (w *watch) end(ctx context.Context, e *encoder, err error) {
	g, took := w.graph, clock.Since(w.start)
	outcome := OutcomeOf(err)
	if rec := request.From(ctx); rec != nil {
		rec.Calls++
		rec.Graph, rec.Tool, rec.Branch, rec.Commit = g.id, w.name, w.branch, w.commit
	}
	rows, bytes := e.rows-w.mark.rows, e.written()-w.mark.bytes
	if w.span != nil {
		w.span.SetAttributes(attribute.String("omnigraph.outcome", string(outcome)), attribute.Int("omnigraph.rows", rows))
		if err != nil {
			w.span.SetStatus(codes.Error, string(outcome)) // the error's text may contain values
		}
		w.span.End()
	}
	if w.batch {
		return
	}
	g.tell(w.name, outcome, err, rows, bytes, took)
	w.audit(ctx, outcome, err, took)
	w.log(ctx, e, outcome, rows, took)
}

// refused reports a call that failed because of its name or its arguments. It returns err.
func (g *Graph) refused(ctx context.Context, name string, outcome Outcome, err error) error {
	if rec := request.From(ctx); rec != nil {
		rec.Calls++
		rec.Graph, rec.Tool, rec.Branch, rec.Commit = g.id, name, "", ""
	}
	g.tell(name, outcome, err, 0, 0, 0)
	return err
}

// NotKnown reports a call of a name that the caller knows no tool by. It returns err.
func (g *Graph) NotKnown(ctx context.Context, err error) error {
	return g.refused(ctx, "", Missing, err)
}

func (g *Graph) tell(name string, outcome Outcome, err error, rows, bytes int, took time.Duration) {
	if g.observer == nil {
		return
	}
	c := Called{Graph: g.id, Tool: name, Outcome: outcome, Rows: rows, Bytes: bytes, Took: took}
	var forbidden *Forbidden
	if err != nil && errors.As(err, &forbidden) {
		c.Denied = forbidden.Action
	}
	g.observer.Called(c)
}

// changesGraph reports whether an action may change a graph.
func changesGraph(a tool.Action) bool {
	switch a {
	case tool.Change, tool.SchemaApply, tool.BranchCreate, tool.BranchDelete, tool.BranchMerge, tool.Admin:
		return true
	case tool.Read, tool.Export, tool.InvokeQuery, tool.GraphList:
		return false
	}
	return false
}

// LogDigest returns a digest of parts of a request, for log lines that must not contain the
// parts.
func (g *Graph) LogDigest(parts ...[]byte) string { return g.digests.of(parts...) }

// StoredNames returns the names of the graph's tools and stored queries in order. They are
// all values that [Called] may have as Tool, except the names of REST operations.
func (g *Graph) StoredNames() []string {
	var names []string
	for name := range g.tools {
		names = append(names, name)
	}
	for name := range g.queries {
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Failure returns nil while the graph accepts writes, or else the reason why it does not.
func (g *Graph) Failure() error {
	return g.engine.Failure()
}

// Stats returns the figures of the graph's engine; ok is false if the engine has none.
func (g *Graph) Stats() (s engine.Stats, ok bool) {
	return g.engine.Stats(), true
}

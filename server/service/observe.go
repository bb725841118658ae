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

// Observer is told of each call that has ended. Implementations are safe for concurrent
// use and do not block.
type Observer interface {
	Called(c Called)
}

// Called is a call that has ended. Its strings are of bounded sets: none is a client's.
type Called struct {
	Graph   string
	Tool    string // of the catalog, or the REST operation; empty for one that nobody knows
	Outcome Outcome
	Denied  tool.Action // that the policy did not allow; empty when nothing was denied
	Rows    int         // in the answer
	Bytes   int         // of the answer
	Took    time.Duration
}

// Outcome says how a call ended.
type Outcome string

// The outcomes. Those that are codes of the error envelope are called as these.
const (
	Done         Outcome = "ok"
	OfRequest    Outcome = "bad_request"
	OfPolicy     Outcome = "forbidden"
	Missing      Outcome = "not_found"
	Conflicted   Outcome = "conflict"
	Precondition Outcome = "precondition_failed"
	TooLarge     Outcome = "too_large"
	TimedOut     Outcome = "timed_out"
	GivenUp      Outcome = "deadline" // the client's own, by X-Timeout-Ms
	Canceled     Outcome = "canceled"
	Unavailable  Outcome = "unavailable"
	Failed       Outcome = "internal"
)

// Outcomes are all outcomes there are.
var Outcomes = []Outcome{Done, OfRequest, OfPolicy, Missing, Conflicted, Precondition, TooLarge, TimedOut, GivenUp, Canceled, Unavailable, Failed}

// OutcomeOf sorts the error of a call; nil is Done.
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

// watch follows a call from its beginning to the line in the log.
type watch struct {
	graph  *Graph
	actor  *Actor
	name   string
	call   tool.Call
	start  time.Time
	mark   mark
	branch string // of the first grant on a branch
	writes bool
	batch  bool       // what it consists of was told by itself
	span   trace.Span // nil unless the request is traced

	wrote  *tool.Written // what the call has committed
	commit string        // what it has read, or the head after it
	data   hash.Hash     // of what a load has read so far; nil unless its line tells of it
}

// tracerName is the instrumentation scope of spans of calls.
const tracerName = "github.com/omnigraph-go/omnigraph/server/service"

// begin begins to follow a call. The context is that of the call's span, if there is one.
func (g *Graph) begin(ctx context.Context, actor *Actor, name string, call tool.Call, m mark) (context.Context, *watch) {
	w := &watch{graph: g, actor: actor, name: name, call: call, mark: m, start: clock.Now()}
	w.hash(ctx)
	if parent := trace.SpanFromContext(ctx); parent.IsRecording() {
		ctx, w.span = parent.TracerProvider().Tracer(tracerName).Start(ctx, "call "+name,
			trace.WithAttributes(attribute.String("omnigraph.graph", g.id), attribute.String("omnigraph.tool", name)))
	}
	return ctx, w
}

// asks notes what a call wants to do.
func (w *watch) asks(grants []tool.Grant) {
	found := false
	for i := range grants {
		g := &grants[i]
		if onBranch(g.Action) && !found {
			w.branch, found = orMain(g.Branch), true
			if len(w.branch) > engine.MaxBranchName {
				w.branch = strings.ToValidUTF8(w.branch[:engine.MaxBranchName], "") // no branch is called so, and the log is not for names that a client makes up
			}
		}
		w.writes = w.writes || changesGraph(g.Action)
	}
}

// committed notes what the call has written. A write that changed nothing made no commit.
func (w *watch) committed(branch string, c *engine.Commit) {
	if c != nil {
		w.wrote = &tool.Written{Branch: branch, Commit: c}
	}
}

// end tells all that want to know of the end of the call. What it has answered is in e,
// behind the mark.
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
			w.span.SetStatus(codes.Error, string(outcome)) // the text of an error may hold values
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

// refused tells of a call that got no further than its arguments, or its name.
func (g *Graph) refused(ctx context.Context, name string, outcome Outcome, err error) error {
	if rec := request.From(ctx); rec != nil {
		rec.Calls++
		rec.Graph, rec.Tool, rec.Branch, rec.Commit = g.id, name, "", ""
	}
	g.tell(name, outcome, err, 0, 0, 0)
	return err
}

// NotKnown tells of a call under a name that no tool has, as far as the caller may know,
// and returns the error of it.
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

// LogDigest returns the digest that log lines have instead of parts of a request.
func (g *Graph) LogDigest(parts ...[]byte) string { return g.digests.of(parts...) }

// StoredNames are the names by which the tools and stored queries of the graph are told
// of, in order: all that [Called] may say as Tool, REST operations aside.
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

// Failure returns nil while the graph takes writes, else why it does not.
func (g *Graph) Failure() error {
	if f, ok := g.engine.(engine.Failing); ok {
		return f.Failure()
	}
	return nil
}

// Stats are the figures of the graph's engine; ok is false of an engine that has none.
func (g *Graph) Stats() (s engine.Stats, ok bool) {
	m, ok := g.engine.(interface{ Stats() engine.Stats })
	if !ok {
		return s, false
	}
	return m.Stats(), true
}

package embedded

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/exec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// tracerName is the instrumentation scope of spans of reads and their operators.
const tracerName = "github.com/omnigraph-go/omnigraph/engine/embedded"

// tracedRun runs a program under a profile and a span. The operators become spans when
// the result is closed.
func (g *Graph) tracedRun(ctx context.Context, parent trace.Span, prog *exec.Program, q *plan.Query, snap *version.Snapshot, args engine.Args, at engine.Target) (engine.Result, error) {
	tracer := parent.TracerProvider().Tracer(tracerName)
	start := time.Now()
	ctx, span := tracer.Start(ctx, "read", trace.WithTimestamp(start), trace.WithAttributes(attribute.String("omnigraph.commit", snap.Commit.ID)))
	r, err := prog.Run(ctx, snap, args, g.runOptions(prog, at, true))
	if err != nil {
		span.SetStatus(codes.Error, "") // the text of an error may hold values
		span.End()
		return nil, err
	}
	return &traced{Result: r, ctx: ctx, tracer: tracer, span: span, start: start, query: q}, nil
}

// traced is the result of a read in a traced request.
type traced struct {
	*exec.Result
	ctx    context.Context // of the span, for those of the operators
	tracer trace.Tracer
	span   trace.Span
	start  time.Time
	query  *plan.Query
	rows   int64
	closed bool
}

// Next returns the next batch; see [engine.Result].
func (r *traced) Next(ctx context.Context) (*engine.Batch, error) {
	b, err := r.Result.Next(ctx)
	if b != nil {
		r.rows += int64(b.Len)
	}
	return b, err
}

// Skip passes over rows; see [exec.Result.Skip].
func (r *traced) Skip(n int) int {
	n = r.Result.Skip(n)
	r.rows += int64(n)
	return n
}

// Close releases the result and ends its span.
func (r *traced) Close() error {
	if r.closed {
		return nil
	}
	r.closed = true
	// A run that was cut short has its spans too; a plan too large to explain has none.
	if op, err := r.Result.Explain(context.WithoutCancel(r.ctx), r.query, r.rows); err == nil {
		r.operator(r.ctx, op, r.start)
	}
	r.span.SetAttributes(attribute.Int64("omnigraph.rows", r.rows))
	r.span.End()
	return r.Result.Close()
}

// operator makes spans of an operator and of those below it, and returns when they end.
// Operators pass rows on in turns, so a span does not lie where its work was done: it
// begins with its children, one after the other, and its own time follows them. Its
// detail is left out, since it may hold values out of a query's text.
func (r *traced) operator(ctx context.Context, op *engine.Operator, start time.Time) (end time.Time) {
	attrs := []attribute.KeyValue{
		attribute.Int64("omnigraph.operator.time_ns", op.Time.Nanoseconds()), attribute.Float64("omnigraph.operator.estimate", op.Estimate),
	}
	if op.Rows != nil {
		attrs = append(attrs, attribute.Int64("omnigraph.operator.rows", *op.Rows))
	}
	ctx, span := r.tracer.Start(ctx, op.Name, trace.WithTimestamp(start), trace.WithAttributes(attrs...))
	end = start
	for _, c := range op.Children {
		end = r.operator(ctx, c, end)
	}
	end = end.Add(op.Time)
	span.End(trace.WithTimestamp(end))
	return end
}

package embedded

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// tracerName is the instrumentation scope of the spans of reads and operators.
const tracerName = "github.com/omnigraph-go/omnigraph/engine/embedded"

// tracedRun runs a program with a profile and in a span. Closing the result makes the spans of
// the operators.
func (g *Graph) tracedRun(ctx context.Context, parent trace.Span, prog *exec.Program, q *plan.Query, snap *version.Snapshot, args engine.Args, at engine.Target) (engine.Result, error) {
	tracer := parent.TracerProvider().Tracer(tracerName)
	start := time.Now()
	ctx, span := tracer.Start(ctx, "read", trace.WithTimestamp(start), trace.WithAttributes(attribute.String("omnigraph.commit", snap.Commit.ID)))
	r, err := prog.Run(ctx, snap, args, g.runOptions(prog, at, true))
	if err != nil {
		span.SetStatus(codes.Error, "") // the text of an error may contain values
		span.End()
		return nil, err
	}
	return &traced{Result: r, ctx: ctx, tracer: tracer, span: span, start: start, query: q}, nil
}

// traced is the result of a read in a traced request.
type traced struct {
	*exec.Result
	ctx    context.Context // context of the span, for the operators' spans
	tracer trace.Tracer    // makes the operators' spans
	span   trace.Span      // span of the read
	start  time.Time       // when the read began
	query  *plan.Query     // plan of the read
	rows   int64           // rows read so far
	closed bool            // Close was called
}

// Next returns the next batch and counts its rows; see [engine.Result].
func (r *traced) Next(ctx context.Context) (*engine.Batch, error) {
	b, err := r.Result.Next(ctx)
	if b != nil {
		r.rows += int64(b.Len)
	}
	return b, err
}

// Skip skips at most n rows and returns how many it skipped; see [exec.Result.Skip].
func (r *traced) Skip(n int) int {
	n = r.Result.Skip(n)
	r.rows += int64(n)
	return n
}

// Close makes the operators' spans, ends the span, and releases the result.
func (r *traced) Close() error {
	if r.closed {
		return nil
	}
	r.closed = true
	// A run that was cut short has spans too. A plan too large to explain has none.
	if op, err := r.Result.Explain(context.WithoutCancel(r.ctx), r.query, r.rows); err == nil {
		r.operator(r.ctx, op, r.start)
	}
	r.span.SetAttributes(attribute.Int64("omnigraph.rows", r.rows))
	r.span.End()
	return r.Result.Close()
}

// operator makes spans for an operator and its children, and returns when the operator's span
// ends. Operators alternate as rows flow, so no span can show when the work was done. A span
// begins with the spans of its children, one after another, and its own time follows them. The
// operator's detail is left out, because it may contain values from the query's text.
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

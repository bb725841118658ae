package embedded

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// TestTracedReads compares the spans of a read with the rows that were read: all rows, the
// first rows, rows after skipped ones, and a read that failed. With a context that has an
// unrecorded span, a read must make no spans and return the same result.
func TestTracedReads(t *testing.T) {
	spans := tracetest.NewInMemoryExporter()
	provider := trace.NewTracerProvider(trace.WithSyncer(spans))
	defer provider.Shutdown(context.Background())
	g := create(t, fs.NewMem(), Options{quiet: true, QueryMemory: 400 << 10})
	const people = 2000
	if err := loadText(g, engine.Merge, manyPeople(0, people)); err != nil {
		t.Fatal(err)
	}
	query := func(ctx context.Context, q *plan.Query) engine.Result {
		t.Helper()
		r, err := g.Query(ctx, q, engine.Args{value.Null}, engine.Target{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	q := read(func(*plan.Read) {})
	next := func(ctx context.Context, r engine.Result) int {
		t.Helper()
		b, err := r.Next(ctx)
		if err != nil || b == nil {
			t.Fatal(b, err)
		}
		return b.Len
	}
	for _, tt := range []struct {
		name string
		read func(ctx context.Context, r engine.Result) int
	}{
		{"all rows", func(ctx context.Context, r engine.Result) int {
			n, err := drain(ctx, r) // drain closes the result
			if n != people || err != nil {
				t.Errorf("%d rows, %v", n, err)
			}
			return n
		}},
		{"the first batch", func(ctx context.Context, r engine.Result) int { return next(ctx, r) }},
		{"behind others", func(ctx context.Context, r engine.Result) int {
			n := r.(interface{ Skip(int) int }).Skip(people - 10)
			return n + next(ctx, r)
		}},
		{"nothing", func(context.Context, engine.Result) int { return 0 }},
	} {
		spans.Reset()
		ctx, root := provider.Tracer("test").Start(t.Context(), "root")
		r := query(ctx, q)
		n := tt.read(ctx, r)
		for range 2 {
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		}
		root.End()
		var read tracetest.SpanStub
		operators, took := 0, time.Duration(0)
		for _, s := range spans.GetSpans() {
			attrs := map[attribute.Key]attribute.Value{}
			for _, a := range s.Attributes {
				attrs[a.Key] = a.Value
			}
			switch rows, ok := attrs["omnigraph.operator.rows"]; {
			case ok:
				operators++
				took += time.Duration(attrs["omnigraph.operator.time_ns"].AsInt64())
				if s.Name == "return" && rows.AsInt64() != int64(n) {
					t.Errorf("%s: the result has %d rows, its span %d", tt.name, n, rows.AsInt64())
				}
			case s.Name == "read":
				read = s
				if attrs["omnigraph.rows"].AsInt64() != int64(n) || s.Parent.SpanID() != root.SpanContext().SpanID() {
					t.Errorf("%s: of %d rows the span is %+v", tt.name, n, s)
				}
			}
		}
		if operators < 3 || took > read.EndTime.Sub(read.StartTime) {
			t.Errorf("%s: %d operators take %v of %v", tt.name, operators, took, read.EndTime.Sub(read.StartTime))
		}
	}

	spans.Reset()
	ctx, root := provider.Tracer("test").Start(t.Context(), "root")
	pairs := read(func(r *plan.Read) {
		r.Vars = append(r.Vars, plan.Var{Name: "q", Type: "Person"})
		r.Match = append(r.Match, plan.Bind{Var: 1})
	})
	var tooLarge *engine.TooLarge
	if _, err := g.Query(ctx, pairs, engine.Args{value.Null}, engine.Target{}); !errors.As(err, &tooLarge) {
		t.Errorf("all pairs: %v", err)
	}
	if all := spans.GetSpans(); len(all) != 1 || all[0].Name != "read" || all[0].Status.Code != codes.Error {
		t.Errorf("a read that failed has the spans %v", all)
	}
	root.End()

	unsampled := trace.NewTracerProvider(trace.WithSampler(trace.NeverSample()))
	defer unsampled.Shutdown(context.Background())
	ctx, _ = unsampled.Tracer("test").Start(t.Context(), "root")
	r := query(ctx, q)
	defer r.Close()
	if _, plain := r.(*exec.Result); !plain {
		t.Errorf("without a recorded span the result is a %T", r)
	}
}

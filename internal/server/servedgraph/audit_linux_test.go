package servedgraph_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"syscall"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/internal/audittrail"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/audit"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// BenchmarkAudit measures a call with and without an audit trail, in turns: the processor time of the process, so that the
// work of the trail in the background counts.
func BenchmarkAudit(b *testing.B) {
	for _, rows := range []int{1, 100} {
		b.Run(fmt.Sprint(rows), func(b *testing.B) {
			c := servedtest.Config(b)
			g, err := embedded.Create(b.Context(), fs.NewMem(), "graph", servedtest.Source, servedtest.Schema(b), embedded.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer g.Close()
			c.Graph = g
			var people strings.Builder
			for i := range rows {
				fmt.Fprintf(&people, "{\"type\":\"Person\",\"data\":{\"name\":\"person-%06d\"}}\n", i)
			}
			if _, err := c.Graph.Load(b.Context(), strings.NewReader(people.String()), engine.LoadOptions{Mode: engine.Append}); err != nil {
				b.Fatal(err)
			}
			trail, err := audittrail.Open(b.Context(), audittrail.NewStore(&object.Memory{}, ""), audittrail.Options{Server: "one", Keep: audittrail.DefaultKeep, Quota: 1 << 40, Log: slog.New(slog.DiscardHandler)})
			if err != nil {
				b.Fatal(err)
			}
			defer trail.Close(context.Background())
			off := servedtest.Graph(b, c)
			c.Trail = audit.Trail{To: trail}
			on, recorded := servedtest.Graph(b, c), trail.Stats().Records
			var took [2]int64
			const turn = 200
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				for i, g := range []*servedgraph.Graph{off, on} {
					before := processor(b)
					for range turn {
						a, err := g.InvokeQuery(b.Context(), servedtest.Reader, "everyone", servedgraph.Invocation{}, encoding.Options{})
						if err != nil {
							b.Fatal(err)
						}
						a.Release()
					}
					took[i] += processor(b) - before
				}
				n += turn
			}
			if got := trail.Stats().Records - recorded; got != uint64(n) {
				b.Fatalf("%d records of %d calls", got, n)
			}
			before := processor(b)
			if err := trail.Flush(b.Context()); err != nil {
				b.Fatal(err)
			}
			took[1] += processor(b) - before
			b.ReportMetric(float64(took[0])/float64(n), "off-cpu-ns/call")
			b.ReportMetric(float64(took[1]-took[0])/float64(n), "more-cpu-ns/call")
		})
	}
}

// processor returns the processor time of the process in nanoseconds.
func processor(b *testing.B) int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

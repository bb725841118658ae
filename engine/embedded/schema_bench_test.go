package embedded

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// schemaSizes are numbers of persons.
var schemaSizes = []int{1_000_000, 3_000_000, 10_000_000}

// BenchmarkSchema measures schema changes that read every row, in memory, beside a writer that inserts one person in each commit. It
// reports the time of the change, and the 99th percentile and the greatest time of a commit meanwhile, in milliseconds. The change
// `none` changes the text of the schema alone, so it shows what the machine adds.
func BenchmarkSchema(b *testing.B) {
	least := value.OfI32(0)
	person := func(change func(n *catalog.Node)) func(s *catalog.Schema) {
		return func(s *catalog.Schema) { change(s.Nodes[0]) }
	}
	required := person(func(n *catalog.Node) { n.Property("age").Type = value.Of(value.I32) })
	ranged := person(func(n *catalog.Node) { n.Ranges = append(n.Ranges, catalog.Range{Property: "age", Min: &least}) })
	unique := person(func(n *catalog.Node) { n.Unique = append(n.Unique, []string{"age"}) })
	for _, size := range schemaSizes {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			g := create(b, fs.NewMem(), Options{quiet: true})
			lines, w := io.Pipe()
			go func() {
				text := bufio.NewWriter(w)
				for i := range size {
					fmt.Fprintf(text, `{"type":"Person","data":{"name":"p%09d","age":%d}}`+"\n", i, i)
				}
				w.CloseWithError(text.Flush())
			}()
			_, err := g.Load(b.Context(), lines, engine.LoadOptions{Mode: engine.Append})
			if err = cmp.Or(err, g.checkpoints.make(b.Context())); err != nil {
				b.Fatal(err)
			}
			next := size
			for _, c := range []struct {
				name    string
				changes []func(s *catalog.Schema)
			}{
				{"none", nil},
				{"required", []func(s *catalog.Schema){required}},
				{"range", []func(s *catalog.Schema){required, ranged}},
				{"unique", []func(s *catalog.Schema){required, ranged, unique}},
			} {
				b.Run(c.name, func(b *testing.B) { benchSchema(b, g, changed(c.changes...), &next) })
			}
		})
	}
}

// benchSchema applies one schema beside a writer.
func benchSchema(b *testing.B, g *Graph, to *catalog.Schema, next *int) {
	if b.N != 1 {
		b.Skip("run with -benchtime 1x: the second change to a schema changes nothing")
	}
	done, ended := make(chan struct{}), make(chan struct{})
	var commits []time.Duration
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			default:
			}
			start := clock.Now()
			if _, err := g.Mutate(b.Context(), insertPerson, engine.Args{str(fmt.Sprintf("w%09d", *next)), num(*next)}, engine.WriteOptions{}); err != nil {
				b.Error(err)
				return
			}
			commits = append(commits, clock.Since(start))
			*next++
		}
	}()
	start := clock.Now()
	_, err := g.ApplySchema(b.Context(), "// "+b.Name(), to, engine.SchemaOptions{})
	took := clock.Since(start)
	close(done)
	<-ended
	if err != nil {
		b.Fatal(err)
	}
	slices.Sort(commits)
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	b.ReportMetric(ms(took), "change-ms")
	b.ReportMetric(float64(len(commits)), "commits")
	b.ReportMetric(ms(commits[len(commits)*99/100]), "p99-ms")
	b.ReportMetric(ms(commits[len(commits)-1]), "worst-ms")
	b.ReportMetric(0, "ns/op")
}

package embedded

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// The rows of the branches of BenchmarkCompare.
const (
	compareRows    = 100_000 // persons on main
	compareAdded   = 80_000  // persons that the branch "load" adds
	compareChanged = 20_000  // persons that the branches "load" and "other" change in different ways
)

// writers is the schema of BenchmarkCompare: the persons of the benchmark graph.
func writers() *catalog.Schema {
	prop := func(name string, t value.Type) *catalog.Property { return &catalog.Property{Name: name, Type: t} }
	text := value.Of(value.String)
	s := &catalog.Schema{Nodes: []*catalog.Node{{Name: "Person", Key: []string{"slug"}, Properties: []*catalog.Property{
		prop("slug", text), prop("name", text), prop("age", value.Of(value.I32)), prop("city", text), prop("bio", text)}}}}
	s.Index()
	return s
}

// comparedGraph makes a graph with the branches of BenchmarkCompare on the disk, and opens it again, so that
// its rows and indexes are those of a server that was started after the loads.
func comparedGraph(b *testing.B) *Graph {
	b.Helper()
	ctx, dir := context.Background(), b.TempDir()+"/g"
	g, err := Create(ctx, fs.OS(), dir, "// writers", writers(), Options{})
	if err != nil {
		b.Fatal(err)
	}
	load := func(branch, name string, first, n int) {
		b.Helper()
		r, w := io.Pipe()
		go func() {
			for i := first; i < first+n; i++ {
				fmt.Fprintf(w, `{"type":"Person","data":{"slug":"p%07d","name":"%s %d","age":%d,"city":"city %d","bio":"%s"}}`+"\n", i, name, i, i%90, i%100, strings.Repeat("writes ", 20))
			}
			w.Close()
		}()
		if _, err := g.Load(ctx, r, engine.LoadOptions{Mode: engine.Merge, WriteOptions: engine.WriteOptions{Branch: branch}}); err != nil {
			b.Fatal(err)
		}
	}
	load("", "Person", 0, compareRows)
	for _, name := range []string{"load", "other"} {
		if _, err := g.CreateBranch(ctx, name, engine.Target{}); err != nil {
			b.Fatal(err)
		}
		load(name, "Changed on "+name, 0, compareChanged)
	}
	load("load", "New", 5_000_000, compareAdded)
	load("", "Changed on main", 50_000, 100)
	if err := g.Close(); err != nil {
		b.Fatal(err)
	}
	if g, err = Open(ctx, fs.OS(), dir, Options{}); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { g.Close() })
	return g
}

// BenchmarkCompare compares branches as the page of a proposal does, at the first view and later, and lists
// the first changes of each kind. A load of 100,000 rows is compared with main, where others changed 100 rows
// since, and with a branch that changed 20,000 of the rows in another way.
func BenchmarkCompare(b *testing.B) {
	ctx := context.Background()
	g := comparedGraph(b)
	load := engine.Target{Branch: "load"}
	// measure runs `op` again and again, and reports its processor time too.
	measure := func(name string, op func(b *testing.B)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			before := cpuTime()
			for b.Loop() {
				op(b)
			}
			b.ReportMetric(float64((cpuTime()-before).Microseconds())/1000/float64(b.N), "cpu-ms/op")
		})
	}
	for _, target := range []string{"main", "other"} {
		compare := func(b *testing.B) {
			c, err := g.Compare(ctx, load, engine.Target{Branch: target}, engine.CompareOptions{MaxConflicts: 100})
			if err != nil || c.Nodes != (engine.ChangeCounts{Inserted: compareAdded, Updated: compareChanged}) || (c.ConflictCount >= compareChanged) != (target == "other") {
				b.Fatalf("%+v, %v", c, err)
			}
		}
		measure(target+"/first", func(b *testing.B) {
			g.compared = comparisons{}
			g.partRead.Store(nil)
			compare(b)
		})
		measure(target+"/later", compare)
	}
	for _, kind := range []engine.ChangeKind{engine.Inserted, engine.Updated, engine.Deleted} {
		measure("list/"+kind.String(), func(b *testing.B) {
			r := engine.ChangeRange{Kinds: []engine.ChangeKind{kind}, Limit: 50, Images: true}
			if _, err := g.Compare(ctx, load, engine.Target{}, engine.CompareOptions{Changes: &r, ListOnly: true}); err != nil {
				b.Fatal(err)
			}
		})
	}
}

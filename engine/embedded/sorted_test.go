package embedded

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// TestSortedWhileWriting reads the first rows by an indexed property from several goroutines
// while entities are inserted, so that they build and extend the index concurrently.
func TestSortedWhileWriting(t *testing.T) {
	s := &catalog.Schema{Nodes: []*catalog.Node{people().Nodes[0]}, Edges: people().Edges[:1]}
	s.Nodes[0].Index = [][]string{{"age"}}
	s.Index()
	g, err := Create(context.Background(), fs.NewMem(), dir, "// people", s, Options{quiet: true})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if err := loadText(g, engine.Merge, manyPeople(0, 2000)); err != nil {
		t.Fatal(err)
	}
	_, first := byAge()
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			for range 40 {
				r, err := g.Query(context.Background(), first, nil, engine.Target{})
				if err != nil {
					t.Error(err)
					return
				}
				if n, err := drain(context.Background(), r); err != nil || n != 10 {
					t.Errorf("%d rows, error %v; expected 10", n, err)
				}
			}
		})
	}
	for i := range 60 {
		if _, err := g.Mutate(context.Background(), insertPerson, engine.Args{str(fmt.Sprint("later", i)), value.OfI32(int32(i % 90))}, engine.WriteOptions{}); err != nil {
			t.Error(err)
		}
	}
	wg.Wait()
	// The last state may have no index yet. A query with a context that has ended must not build an
	// index.
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := g.Query(ctx, first, nil, engine.Target{}); err == nil {
		t.Error("a query whose context has ended found no error")
	}
}

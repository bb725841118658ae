package version

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index/vectorindex"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// vectorTable returns a state with n entities that have vectors in a property with an approximate
// index. The index is not built.
func vectorTable(t *testing.T, n int) *Snapshot {
	t.Helper()
	c := &catalog.Schema{Nodes: []*catalog.Node{{Name: "Doc", Key: []string{"slug"}, Properties: []*catalog.Property{
		{Name: "slug", Type: value.Of(value.String)}, {Name: "place", Type: value.Type{Kind: value.Vector, Dim: 4, Nullable: true}, Approximate: true}}}}}
	c.Index()
	s, err := schema.New("", "", c)
	if err != nil {
		t.Fatal(err)
	}
	return withDocs(NewSnapshot(s, engine.Commit{}), 0, n)
}

// withDocs returns the state after a commit that adds entities with vectors.
func withDocs(s *Snapshot, from, to int) *Snapshot {
	r := rand.New(rand.NewPCG(1, uint64(from)))
	tx := Begin(s)
	for i := from; i < to; i++ {
		v := []float32{r.Float32(), r.Float32(), r.Float32(), r.Float32() - 0.5}
		tx.Put(s.Schema.Nodes[0], Row{ID: fmt.Sprintf("d%07d", i), Vals: []value.Value{value.OfString(fmt.Sprintf("d%07d", i)), value.OfVector(v)}})
	}
	return tx.Commit(first)
}

// built builds the approximate index of a state, and returns the table of the state.
func built(t *testing.T, s *Snapshot) *Table {
	t.Helper()
	table := s.Nodes(0)
	needs, err := table.VectorNeeds(t.Context(), nil, DefaultVectorLimits())
	if err != nil || len(needs) != 1 {
		t.Fatalf("%d builds are needed, error %v", len(needs), err)
	}
	if err := needs[0].Begin(table).Run(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	return table
}

// blockedSource is a segment whose blocks cannot be read until the channel `free` is closed.
type blockedSource struct {
	source
	reached, free chan struct{}
}

func (s blockedSource) Block(name string) ([]byte, error) {
	select {
	case s.reached <- struct{}{}:
	default:
	}
	<-s.free
	return s.source.Block(name)
}

func (s blockedSource) Pieces(name string) (column.Pieces, error) { return s.source.Pieces(name) }

// TestVectorsBlockNoWriter makes a search wait for the file of the index. Meanwhile a writer must
// be able to begin the next states, and a second search must return when its context ends.
func TestVectorsBlockNoWriter(t *testing.T) {
	s := vectorTable(t, 5000)
	view, err := built(t, s).Vectors(index.Work{Ctx: t.Context()}, 1)
	if err != nil {
		t.Fatal(err)
	}
	src := blockedSource{source{"1", map[string][]byte{}}, make(chan struct{}, 1), make(chan struct{})}
	if err := view.Graph().Blocks(func(name string, data []byte) error {
		src.blocks[name] = append([]byte{}, data...)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	table := s.Nodes(0)
	table.texts.nearby = nearby{views: map[int]nearbyView{1: {stored: &storedVectors{name: "1", covered: 5000, src: src}}}}
	found := make(chan *vectorindex.View)
	go func() {
		v, err := table.Vectors(index.Work{Ctx: context.Background()}, 1)
		if err != nil {
			t.Error(err)
		}
		found <- v
	}()
	<-src.reached
	begun := make(chan struct{})
	go func() {
		withDocs(s, 5000, 5010)
		close(begun)
	}()
	select {
	case <-begun:
	case <-time.After(10 * time.Second):
		t.Error("a writer waits for the search")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := table.Vectors(index.Work{Ctx: ctx}, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("a search that is cancelled: %v", err)
	}
	close(src.free)
	if v := <-found; v == nil || v.Graph().Nodes() != 5000 {
		t.Error("the search has no index")
	}
}

// damagedSource is a segment with blocks that cannot be read.
type damagedSource struct{}

var errDamaged = &engine.Corrupt{Object: "damaged", Detail: "the disk lost it"}

func (damagedSource) Name() string                         { return "damaged" }
func (damagedSource) Block(string) ([]byte, error)         { return nil, errDamaged }
func (damagedSource) Pieces(string) (column.Pieces, error) { return nil, errDamaged }

// TestUnstoredVectorsReadNoRows prepares a manifest of a state with damaged rows: the vectors
// outside the graph cannot be read. The manifest must still store the graph.
func TestUnstoredVectorsReadNoRows(t *testing.T) {
	s := vectorTable(t, 5000)
	built(t, s)
	table := withDocs(s, 5000, 5100).Nodes(0)
	f, ok, err := table.Flush()
	if err != nil || !ok {
		t.Fatal(err)
	}
	desc := f.Segment.Props[1].AppendDescriptor(nil)
	if f.Segment.Props[1], _, err = column.Decode(desc, "p", damagedSource{}); err != nil {
		t.Fatal(err)
	}
	f.Segment.Name = "1"
	table, err = f.table(nil)
	if err != nil {
		t.Fatal(err)
	}
	graphs := 0
	for _, x := range table.Unstored(1) {
		if _, ok := x.(*vectorindex.Graph); ok {
			graphs++
		}
	}
	if graphs != 1 {
		t.Errorf("%d graphs are to be stored", graphs)
	}
}

// TestFailedBuildFreesItsTable cancels the context of a build. The build must not keep its table in
// memory, because later states refer to the build.
func TestFailedBuildFreesItsTable(t *testing.T) {
	table := vectorTable(t, 5000).Nodes(0)
	needs, err := table.VectorNeeds(t.Context(), nil, DefaultVectorLimits())
	if err != nil || len(needs) != 1 {
		t.Fatalf("%d builds are needed, error %v", len(needs), err)
	}
	b := needs[0].Begin(table)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Run(ctx, 1); !errors.Is(err, context.Canceled) || b.t != nil {
		t.Errorf("the build ends with %v and keeps table %p", err, b.t)
	}
	if v, err := table.Vectors(index.Work{Ctx: t.Context()}, 1); v != nil || err != nil {
		t.Errorf("there is an index, error %v", err)
	}
}

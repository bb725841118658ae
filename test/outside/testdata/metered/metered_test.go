package metered_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"example.com/metered"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/enginetest"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
)

// opener returns a function that makes graphs in memory. The suite makes very many.
func opener() enginetest.Opener {
	e := metered.NewMemory()
	var places atomic.Int64
	return func(t testing.TB, source string, schema *catalog.Schema) engine.Graph {
		place := fmt.Sprintf("graph%d", places.Add(1))
		g, err := e.Create(t.Context(), place, source, schema, engine.OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
}

func TestConformance(t *testing.T) { enginetest.Run(t, opener()) }

func TestRandom(t *testing.T) {
	compared := enginetest.RunRandom(t, opener(), enginetest.Options{Seed: 1, Duration: 2 * time.Second})
	if compared == 0 {
		t.Error("no statement was compared")
	}
}

// TestOpen runs on the disk, because the graphs must still exist after they were closed.
func TestOpen(t *testing.T) {
	enginetest.RunOpen(t, metered.New(), func(t testing.TB) string { return filepath.Join(t.TempDir(), "graph") })
}

func TestCalls(t *testing.T) {
	e := metered.NewMemory()
	_, err := e.Open(t.Context(), "graph", engine.OpenOptions{})
	var missing *engine.NotFound
	if !errors.As(err, &missing) {
		t.Fatalf("an empty place: found %v, expected a *engine.NotFound", err)
	}
	g, err := e.Create(t.Context(), "graph", "", &catalog.Schema{}, engine.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if all, failed := e.Calls(); all != 3 || failed != 1 {
		t.Errorf("found %d calls, %d of them failed; expected 3 and 1", all, failed)
	}
}

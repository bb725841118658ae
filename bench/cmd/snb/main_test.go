package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// TestCSVToGraph generates CSV files and loads them. The graph must contain the same data as
// after a load of the same network as NDJSON.
func TestCSVToGraph(t *testing.T) {
	dir := t.TempDir()
	csv, lines, graph := filepath.Join(dir, "csv"), filepath.Join(dir, "lines"), filepath.Join(dir, "graph")
	for _, args := range [][]string{
		{"-scale", "0.003", "-csv", csv, "-ndjson", lines},
		{"-from", csv, "-graph", graph},
	} {
		if err := run(t.Context(), args, io.Discard, io.Discard); err != nil {
			t.Fatal(err)
		}
	}
	g, err := embedded.Open(t.Context(), fs.OS(), graph, embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	got, err := g.Snapshot(t.Context(), engine.Target{})
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(lines)
	if err != nil {
		t.Fatal(err)
	}
	entities := int64(0)
	for _, count := range append(got.Nodes, got.Edges...) {
		entities += count.Count
	}
	if n := int64(bytes.Count(want, []byte{'\n'})); entities != n {
		t.Errorf("the graph has %d nodes and edges, the NDJSON has %d lines", entities, n)
	}
}

func TestBadArguments(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "nothing to write"},
		{[]string{"more"}, `unexpected argument "more"`},
		{[]string{"-scale", "0", "-ndjson", "x"}, "the scale is 0"},
		{[]string{"-from", "no-such-folder", "-ndjson", "x"}, "has no file"},
	} {
		if err := run(t.Context(), c.args, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("snb %v fails with %v, expected %q", c.args, err, c.want)
		}
	}
}

package load

import (
	"context"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
)

// TestSameRows loads rows again. Only those that change their entity may become rows of segments, and the result counts all.
func TestSameRows(t *testing.T) {
	s := testSchema(t)
	text := shuffled(1000, false)
	load := func(base *version.Snapshot, text string, opts Options) (tx *version.Txn, in *Input, rows uint32) {
		t.Helper()
		opts.IDs, opts.Segment, opts.Block, opts.Base = numbered, 4000, 500, base
		in, err := Parse(t.Context(), strings.NewReader(text), s, opts)
		if err != nil {
			t.Fatal(err)
		}
		tx = version.Begin(base)
		parts, err := Apply(context.Background(), tx, in, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range parts {
			rows += p.Segment.N
		}
		return tx, in, rows
	}
	first, _, rows := load(version.NewSnapshot(s, engine.Commit{}), text, Options{})
	if rows != 2000 {
		t.Fatalf("the first load put %d rows, want 2000", rows)
	}
	base := first.Commit(engine.Commit{ID: "1"})
	line := func(prefix string) string {
		for l := range strings.Lines(text) {
			if strings.HasPrefix(l, prefix) {
				return l
			}
		}
		t.Fatalf("no line begins with %s", prefix)
		return ""
	}
	node := line(`{"type":"P","data":{"k":"p7",`)
	for _, c := range []struct {
		name, old, now string
		mode           engine.LoadMode
		rows           uint32
	}{
		{"nothing", "", "", engine.Merge, 0},
		{"nothing", "", "", engine.Patch, 0},
		{"a number", `"k":"p7","n":7,`, `"k":"p7","n":8,`, engine.Merge, 1},
		{"a member is left out", `"k":"p7","n":7,`, `"k":"p7",`, engine.Merge, 1},
		{"a member is left out", `"k":"p7","n":7,`, `"k":"p7",`, engine.Patch, 0},
		{"null clears", `"k":"p7","n":7,`, `"k":"p7","n":null,`, engine.Patch, 1},
		{"a list", `"s":["a7"]`, `"s":["a7","b"]`, engine.Patch, 1},
		{"a new node", node, node + strings.Replace(node, `"p7"`, `"new"`, 1), engine.Merge, 1},
		{"an edge", `"w":7}`, `"w":7.5}`, engine.Merge, 1},
	} {
		for name, memory := range map[string]int64{"in memory": 0, "in temporary files": 3000} {
			tx, in, rows := load(base, strings.Replace(text, c.old, c.now, 1), Options{Mode: c.mode, Scratch: (&files{}).scratch, Memory: memory})
			nodes, edges := in.Counts()
			want := int64(1000)
			if c.name == "a new node" {
				want++
			}
			if rows != c.rows || tx.Changed() != (c.rows > 0) || nodes[0].Count != want || edges[0].Count != 1000 {
				t.Errorf("%s, %v, %s: %d rows were put, want %d; changed: %t; counts %v and %v", c.name, c.mode, name, rows, c.rows, tx.Changed(), nodes, edges)
			}
		}
	}
}

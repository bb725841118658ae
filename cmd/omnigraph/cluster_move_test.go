package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/replica"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// TestMoveTarget checks which servers cluster move accepts as the new writer.
func TestMoveTarget(t *testing.T) {
	writer := map[string]replica.GraphSign{"people": {Role: replica.Writer, Epoch: 7}}
	reader := map[string]replica.GraphSign{"people": {Role: replica.Reader, Epoch: 6}}
	signs := []replica.Sign{{Node: "og-1", Graphs: writer}, {Node: "og-2", Graphs: reader}, {Node: "og-3", Graphs: reader, DiffersFrom: "og-1"}}
	for _, tt := range []struct{ node, fault string }{
		{"og-1", ""},
		{"og-2", ""},
		{"og-3", "the server og-3 takes over no graph, because its configuration differs from that of the server og-1"},
		{"og-4", "the servers are og-1, og-2, og-3"},
	} {
		target, epoch, err := targetOf(signs, "people", tt.node)
		if tt.fault == "" && (err != nil || epoch != 7 || target.Epoch == 0) {
			t.Errorf("%s: %+v, %d, %v", tt.node, target, epoch, err)
		}
		if tt.fault != "" && (err == nil || !strings.Contains(err.Error(), tt.fault)) {
			t.Errorf("%s: %v, want %q", tt.node, err, tt.fault)
		}
	}
}

// TestMoveUnopened moves a graph to a server that has not opened it yet, and to one that does not serve it.
func TestMoveUnopened(t *testing.T) {
	b := &object.Memory{}
	schema, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: "node Person {\n  name: String @key\n}\n"})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	serving := func(id string) *replica.Storage {
		node := replica.NewNode(replica.NodeOptions{Bucket: b, ID: id, Lease: time.Second})
		if err := node.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		return &replica.Storage{Bucket: b, Cache: t.TempDir(), Node: node}
	}
	one, two, none := serving("og-1"), serving("og-2"), serving("og-3")
	made, err := one.Create(t.Context(), "people", "node Person {\n  name: String @key\n}\n", schema, engine.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	unopened, err := two.OpenOnUse("people", engine.OpenOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		err := errors.Join(made.Close(), unopened.Close())
		for _, s := range []*replica.Storage{one, two, none} {
			err = errors.Join(err, s.Node.Leave(context.Background()))
		}
		if err != nil {
			t.Error(err)
		}
	}()
	if a, err := moveGraph(t.Context(), b, "people", "og-2"); err != nil || a.Writer != "og-2" || unopened.State().Role != replica.Writer {
		t.Errorf("moving to a server that has not opened the graph: %+v, %v", a, err)
	}
	if _, err := moveGraph(t.Context(), b, "people", "og-3"); err == nil || !strings.Contains(err.Error(), "does not serve the graph people") {
		t.Errorf("moving to a server that does not serve the graph: %v", err)
	}
}

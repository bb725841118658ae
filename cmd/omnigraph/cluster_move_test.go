package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/object"
	"github.com/omnigraph-go/omnigraph/internal/replica"
)

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

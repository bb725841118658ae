package server_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
)

// TestRepeatedAfterRename repeats a call of a stored mutation after a property that it writes has got another name.
func TestRepeatedAfterRename(t *testing.T) {
	f := newFleet(t, "box")
	if err := os.Mkdir(filepath.Join(f.dir, "queries"), 0o755); err != nil {
		t.Fatal(err)
	}
	f.setMark("a", "", 1)
	f.apply()
	o := f.serve()
	c, err := client.New(o.url, client.WithToken("the-token-of-ada"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	add := func(slug string) (*client.InvokeAnswer, error) {
		return c.Graph("box").Invoke(t.Context(), "add", client.InvokeBody{Params: map[string]any{"slug": slug, "mark": 1}}, client.IdempotencyKey("k"))
	}
	first, err := add("s")
	if err != nil || first.Mutation == nil || first.Mutation.Commit == nil {
		t.Fatalf("%+v, %v", first, err)
	}
	f.setMark("b", "a", 2)
	if out, err := f.applyHere(t.Context()); err != nil || !out.Served {
		t.Fatalf("%+v, %v", out, err)
	}
	again, err := add("s")
	if err != nil || again.Mutation == nil || again.Mutation.Commit.ID() == nil || *again.Mutation.Commit.ID() != *first.Mutation.Commit.ID() {
		t.Errorf("repeated after the rename: %+v, %v", again, err)
	}
	var refused *client.Error
	if _, err := add("other"); !errors.As(err, &refused) || refused.Status != 409 {
		t.Errorf("the key with other arguments: %v", err)
	}
}

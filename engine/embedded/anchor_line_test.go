package embedded

import (
	"context"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// TestAnchorsOfTwoBranches stores two anchors: the one that a branch made when its schema changed,
// and the one of another branch that took over that schema by a merge. Both states have rows of the
// same type that are in no segment, and these rows differ. Each state must be read back with its
// own rows.
func TestAnchorsOfTwoBranches(t *testing.T) {
	ctx := context.Background()
	fsys := fs.NewMem()
	opts := Options{quiet: true}
	g := create(t, fsys, opts)
	do := func(branch, name string, age int) {
		t.Helper()
		_, err := g.Mutate(ctx, insertPerson, engine.Args{str(name), num(age)}, engine.WriteOptions{Branch: branch})
		must(t, err)
	}
	merge := func() {
		t.Helper()
		_, err := g.Merge(ctx, "side", "main", engine.MergeOptions{})
		must(t, err)
	}
	_, err := g.CreateBranch(ctx, "side", engine.Target{})
	must(t, err)
	do("side", "ann", 1)
	do("main", "mia", 2)
	merge()
	to := people()
	to.Nodes[0].Properties = append(to.Nodes[0].Properties, &catalog.Property{Name: "nick", Type: value.Of(value.String).Optional()})
	to.Index()
	_, err = g.ApplySchema(ctx, "// nick", to, engine.SchemaOptions{WriteOptions: engine.WriteOptions{Branch: "side"}})
	must(t, err)
	was := remembered{}
	was.note(g)
	do("side", "bob", 3)
	_, err = g.Mutate(ctx, deletePerson, engine.Args{str("bob")}, engine.WriteOptions{Branch: "side"})
	must(t, err)
	merge()
	was.note(g)
	must(t, g.checkpoints.make(ctx))
	was.check(t, g, "after a checkpoint", nil)
	must(t, g.Close())
	g, err = Open(ctx, fsys, dir, opts)
	must(t, err)
	defer g.Close()
	was.check(t, g, "opened again", nil)
	must(t, g.Verify(ctx))
}

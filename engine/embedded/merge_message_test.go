package embedded

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// TestMergeMessages checks that a conflict says what its choices do: how many edges a deletion takes with it, and
// which value a dropped property had.
func TestMergeMessages(t *testing.T) {
	ctx := context.Background()
	schema := people()
	g, err := Create(ctx, fs.NewMem(), dir, "// people", schema, Options{quiet: true})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	load := func(branch string, mode engine.LoadMode, lines string) {
		t.Helper()
		if _, err := g.Load(ctx, strings.NewReader(lines), engine.LoadOptions{WriteOptions: engine.WriteOptions{Branch: branch}, Mode: mode}); err != nil {
			t.Fatal(err)
		}
	}
	load("", engine.Merge, `{"type":"Person","data":{"name":"ann","age":1,"city":"c"}}
		{"type":"Person","data":{"name":"bob","age":1,"city":"c"}}
		{"type":"Note","data":{"id":"n","text":"old"}}
		{"edge":"Knows","from":"ann","to":"bob","data":{"id":"k"}}`)
	if _, err := g.CreateBranch(ctx, "side", engine.Target{}); err != nil {
		t.Fatal(err)
	}
	load("side", engine.Overwrite, `{"type":"Person","data":{"name":"bob","age":1,"city":"c"}}
		{"edge":"Knows","from":"bob","to":"bob","data":{"id":"other"}}`)
	load("", engine.Merge, `{"type":"Person","data":{"name":"ann","age":2,"city":"c"}}
		{"type":"Note","data":{"id":"n","text":"precious"}}`)
	check := func(want ...string) {
		t.Helper()
		_, err := g.Merge(ctx, "side", "", engine.MergeOptions{})
		var conflicts *engine.MergeConflicts
		if !errors.As(err, &conflicts) {
			t.Fatalf("error %v, want conflicts", err)
		}
		for _, text := range want {
			if !slices.ContainsFunc(conflicts.Conflicts, func(c engine.MergeConflict) bool { return strings.Contains(c.Message, text) }) {
				t.Errorf("no message has %q: %+v", text, conflicts.Conflicts)
			}
		}
	}
	check("the deletion takes 1 edge with it, which stays if the entity is kept")
	next, err := catalog.Decode(catalog.Encode(schema))
	if err != nil {
		t.Fatal(err)
	}
	note := next.Node("Note")
	note.Properties = slices.DeleteFunc(note.Properties, func(p *catalog.Property) bool { return p.Name == "text" })
	note.Index, note.Unique = nil, nil
	next.Index()
	if _, err := g.ApplySchema(ctx, "// less", next, engine.SchemaOptions{WriteOptions: engine.WriteOptions{Branch: "side"}, AllowDataLoss: true}); err != nil {
		t.Fatal(err)
	}
	check("takes 1 edge", "the target gave text the value precious, but the source's schema dropped the property")
}

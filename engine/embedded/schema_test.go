package embedded

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// changed returns the schema of the function people, with the given changes.
func changed(changes ...func(s *catalog.Schema)) *catalog.Schema {
	s := people()
	for _, change := range changes {
		change(s)
		s.Index()
	}
	return s
}

func without(props []*catalog.Property, name string) (out []*catalog.Property) {
	for _, p := range props {
		if p.Name != name {
			out = append(out, p)
		}
	}
	return out
}

// townsfolk returns the schema of the function people with three changes: the property `city` is
// renamed to `town`, `mail` is new, and `tags` is dropped.
func townsfolk() *catalog.Schema {
	return changed(func(s *catalog.Schema) {
		n := s.Nodes[0]
		*n.Property("city") = catalog.Property{Name: "town", Type: value.Of(value.String).Optional(), RenameFrom: "city"}
		n.Properties = append(without(n.Properties, "tags"), &catalog.Property{Name: "mail", Type: value.Of(value.String).Optional()})
	})
}

// labelled returns the schema of the function townsfolk with three changes: it has labels instead
// of notes, `mail` is dropped, and a new property has the name `city`, which was the former name of
// `town`.
func labelled() *catalog.Schema {
	s := townsfolk()
	n := s.Nodes[0]
	n.Properties = append(without(n.Properties, "mail"), &catalog.Property{Name: "city", Type: value.Of(value.I64).Optional()})
	s.Nodes[1] = &catalog.Node{Name: "Label", Properties: []*catalog.Property{{Name: "text", Type: value.Of(value.String).Optional()}}}
	s.Edges = s.Edges[:1]
	s.Index()
	return s
}

func applySchema(branch string, schema *catalog.Schema, hard bool) deed {
	return deed{"ApplySchema", func(g *Graph) error {
		_, err := g.ApplySchema(context.Background(), "// changed", schema,
			engine.SchemaOptions{WriteOptions: engine.WriteOptions{Branch: branch, Actor: "tester"}, AllowDataLoss: true, Hard: hard})
		return err
	}}
}

// schemaScript changes the schemas of main and of a branch, and merges the branch.
func schemaScript() script {
	return script{name: "schemas", deeds: []deed{
		loading("", engine.Merge, manyPeople(0, 30)),
		loading("", engine.Merge, `{"type":"Person","data":{"name":"cat","tags":["a","b"],"city":"Oslo"}}`+"\n"+`{"type":"Note","data":{"id":"n1","text":"hello"}}`+"\n"+`{"edge":"About","from":"n1","to":"cat","data":{"id":"a1"}}`),
		checkpoint,
		insert("", "ann", 30),
		applySchema("", townsfolk(), false),
		insert("", "bob", 31),
		loading("", engine.Merge, `{"type":"Person","data":{"name":"dan","town":"Rome","mail":"dan@example.com"}}`),
		checkpoint,
		forking("side", ""),
		applySchema("side", labelled(), true),
		insert("side", "eve", 5),
		insert("", "fay", 6),
		merging("side", "main", engine.MergeOptions{}),
		insert("", "gus", 7),
		checkpoint,
		loading("", engine.Merge, `{"type":"Label","data":{"id":"l1","text":"x"}}`+"\n"+`{"type":"Person","data":{"name":"dan","city":7}}`),
		dropping("side"),
		checkpoint,
	}, made: func(t *testing.T, g *Graph) {
		got := dump(g.branches.main.head.Load().snap)
		for _, want := range []string{"Label l1 x", "Person cat cat null Oslo null", "Person dan dan null null 7", "Person gus gus 7 null null", "Person p000003 p000003 3 c3 null"} {
			if !strings.Contains(got, want+" @") {
				t.Errorf("there is no %q in\n%s", want, got)
			}
		}
	}}
}

// TestSchemaReopened opens the graph again after each step and checks that it is unchanged.
func TestSchemaReopened(t *testing.T) {
	ctx := context.Background()
	for _, inline := range []int{700, 1 << 20} {
		opts := crashOptions
		opts.InlineBytes = inline
		opts.LogSize = 1 << 22
		mem := fs.NewMem()
		g, err := Create(ctx, mem, dir, "// people", people(), opts)
		if err != nil {
			t.Fatal(err)
		}
		for i, step := range schemaScript().deeds {
			if err := step.do(g); err != nil {
				t.Fatalf("step %d: %v", i, err)
			}
			schema, err := g.Schema(ctx, engine.Target{})
			if err != nil {
				t.Fatal(err)
			}
			want := dumpAll(g) + schema.Source + schema.Digest
			if err := g.Close(); err != nil {
				t.Fatal(err)
			}
			if g, err = Open(ctx, mem, dir, opts); err != nil {
				t.Fatalf("after step %d: %v", i, err)
			}
			if err := g.Verify(ctx); err != nil {
				t.Fatalf("after step %d: %v", i, err)
			}
			if schema, err = g.Schema(ctx, engine.Target{}); err != nil {
				t.Fatal(err)
			}
			if got := dumpAll(g) + schema.Source + schema.Digest; got != want {
				t.Fatalf("after step %d and a reopen it is\n%s\nwant\n%s", i, got, want)
			}
		}
		g.Close()
	}
}

// TestHardDrop searches the files of the graph for a dropped value.
func TestHardDrop(t *testing.T) {
	ctx := context.Background()
	for _, hard := range []bool{false, true} {
		mem := fs.NewMem()
		g := create(t, mem, crashOptions)
		secret := "the secret of ann"
		if err := loadText(g, engine.Merge, fmt.Sprintf(`{"type":"Person","data":{"name":"ann","city":%q}}`, secret)+"\n"+manyPeople(0, 5)); err != nil {
			t.Fatal(err)
		}
		if err := g.checkpoints.make(ctx); err != nil {
			t.Fatal(err)
		}
		dropped := changed(func(s *catalog.Schema) { s.Nodes[0].Properties = without(s.Nodes[0].Properties, "city") })
		if err := applySchema("", dropped, hard).do(g); err != nil {
			t.Fatal(err)
		}
		if err := g.checkpoints.make(ctx); err != nil {
			t.Fatal(err)
		}
		// Earlier commits have the values as long as they are kept.
		if _, err := g.Cleanup(ctx, engine.CleanupOptions{}); err != nil {
			t.Fatal(err)
		}
		want := dump(g.branches.main.head.Load().snap)
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
		names, err := mem.List(dir)
		if err != nil {
			t.Fatal(err)
		}
		found := ""
		for _, name := range names {
			if !strings.HasSuffix(name, ".seg") {
				continue
			}
			data, err := fs.ReadFile(mem, dir+"/"+name)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(data, []byte(secret)) {
				found = name
			}
		}
		if (found != "") == hard {
			t.Errorf("hard %t: the dropped value is in segment %q", hard, found)
		}
		again, err := Open(ctx, mem, dir, crashOptions)
		if err != nil {
			t.Fatal(err)
		}
		if got := dump(again.branches.main.head.Load().snap); got != want {
			t.Errorf("after a reopen it is\n%s\nwant\n%s", got, want)
		}
		again.Close()
	}
}

// TestSchemaReceiptReopened repeats a call with its idempotency key after a reopen.
func TestSchemaReceiptReopened(t *testing.T) {
	ctx := context.Background()
	mem := fs.NewMem()
	g := create(t, mem, crashOptions)
	if err := loadText(g, engine.Merge, manyPeople(0, 5)); err != nil {
		t.Fatal(err)
	}
	opts := engine.SchemaOptions{WriteOptions: engine.WriteOptions{Actor: "tester", IdempotencyKey: "k"}, AllowDataLoss: true}
	first, err := g.ApplySchema(ctx, "// changed", townsfolk(), opts)
	if err != nil {
		t.Fatal(err)
	}
	for _, checkpoint := range []bool{false, true} {
		if checkpoint {
			if err := g.checkpoints.make(ctx); err != nil {
				t.Fatal(err)
			}
		}
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
		if g, err = Open(ctx, mem, dir, crashOptions); err != nil {
			t.Fatal(err)
		}
		again, err := g.ApplySchema(ctx, "// changed", townsfolk(), opts)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(again.Steps) != fmt.Sprint(first.Steps) || again.From != first.From || again.Commit == nil || again.Commit.ID != first.Commit.ID || again.Supported != first.Supported {
			t.Errorf("the repeated call returns\n%+v\nwant\n%+v", again, first)
		}
		var conflict *engine.Conflict
		if _, err := g.ApplySchema(ctx, "// changed", labelled(), opts); !errors.As(err, &conflict) {
			t.Errorf("another schema with the key: %v, want *engine.Conflict", err)
		}
	}
	g.Close()
}

// TestSchemaAmongWriters changes the schema back and forth while other goroutines write, read and
// make checkpoints. No acknowledged write may be lost.
func TestSchemaAmongWriters(t *testing.T) {
	ctx := context.Background()
	mem := fs.NewMem()
	g := create(t, mem, Options{LogSize: 1 << 16, CheckpointBytes: 4096, InlineBytes: 900})
	const writers, writes = 3, 30
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := range writes {
				if _, err := g.Mutate(ctx, insertPerson, engine.Args{str(fmt.Sprintf("w%d-%03d", w, i)), num(i)}, engine.WriteOptions{}); err != nil {
					t.Error(err)
				}
				if r, err := g.Query(ctx, personByName, engine.Args{str(fmt.Sprintf("w%d-%03d", w, i))}, engine.Target{}); err != nil {
					t.Error(err)
				} else if n, err := drain(ctx, r); n != 1 || err != nil {
					t.Errorf("%d rows, %v; want the own write", n, err)
				}
			}
		})
	}
	group.Go(func() {
		for i := range 12 {
			schema := townsfolk()
			if i%2 == 1 {
				schema = people()
			}
			if err := applySchema("", schema, i%3 == 0).do(g); err != nil {
				t.Error(err)
			}
		}
	})
	group.Wait()
	want := dumpAll(g)
	if n := g.branches.main.head.Load().snap.Nodes(0).Live(); n != writers*writes {
		t.Errorf("%d persons, want %d", n, writers*writes)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	g, err := Open(ctx, mem, dir, Options{LogSize: 1 << 16})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if got := dumpAll(g); got != want {
		t.Errorf("after a reopen it is\n%s\nwant\n%s", got, want)
	}
}

// TestTextAcrossSchemas searches the text index of a property before and after the property is
// renamed and moved to another position.
func TestTextAcrossSchemas(t *testing.T) {
	ctx := context.Background()
	g := create(t, fs.NewMem(), crashOptions)
	if err := loadText(g, engine.Merge, `{"type":"Person","data":{"name":"ann","city":"red house"}}`+"\n"+`{"type":"Person","data":{"name":"bob","city":"blue house"}}`); err != nil {
		t.Fatal(err)
	}
	search := func(prop, word string, want int) {
		t.Helper()
		p := plan.Prop{Var: 0, Name: prop, Type: value.Of(value.String).Optional()}
		q := &plan.Query{Read: &plan.Read{Vars: []plan.Var{{Name: "p", Type: "Person"}},
			Match:   []plan.Clause{plan.Bind{Var: 0}, plan.Filter{Cond: plan.TextMatch{Kind: plan.Search, Prop: p, Query: plan.Lit{Value: str(word)}}}},
			Columns: []plan.Column{{Name: "p", Expr: plan.ID{Var: 0}, Type: value.Of(value.String)}}, Ties: []plan.VarID{0}, Limit: plan.NoLimit}}
		r, err := g.Query(ctx, q, nil, engine.Target{})
		if err != nil {
			t.Fatal(err)
		}
		if n, err := drain(ctx, r); n != want || err != nil {
			t.Errorf("%q in %s: %d rows, %v; want %d", word, prop, n, err, want)
		}
	}
	search("city", "house", 2)
	if err := applySchema("", townsfolk(), false).do(g); err != nil {
		t.Fatal(err)
	}
	if err := loadText(g, engine.Merge, `{"type":"Person","data":{"name":"cat","town":"green house","mail":"house"}}`); err != nil {
		t.Fatal(err)
	}
	search("town", "house", 3)
	search("town", "red", 1)
	search("mail", "house", 1)
}

// TestSchemaLeavesRows adds, renames and drops properties of many rows. The work must depend on
// the schema and not on the number of rows.
func TestSchemaLeavesRows(t *testing.T) {
	ctx := context.Background()
	mem := fs.NewMem()
	g := create(t, mem, Options{quiet: true})
	const rows = 20000
	if err := loadText(g, engine.Merge, manyPeople(0, rows)); err != nil {
		t.Fatal(err)
	}
	if err := g.checkpoints.make(ctx); err != nil {
		t.Fatal(err)
	}
	segments := func() (names []string) {
		for _, table := range g.branches.main.head.Load().snap.Tables() {
			for _, s := range table.Segs {
				names = append(names, s.Name)
			}
		}
		return names
	}
	stored := segments()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := applySchema("", townsfolk(), false).do(g); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 10*rows {
		t.Errorf("the schema took %d bytes of memory over %d rows", bytes, rows)
	}
	if err := g.checkpoints.make(ctx); err != nil {
		t.Fatal(err)
	}
	if now := segments(); !slices.Equal(now, stored) {
		t.Errorf("the rows lie in segments %v, before in %v", now, stored)
	}
	r, err := g.Query(ctx, personByName, engine.Args{str("p000007")}, engine.Target{})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := drain(ctx, r); n != 1 || err != nil {
		t.Errorf("%d rows, %v", n, err)
	}
}

// TestMergeOfStoredSegments merges a branch. The tables of the branch share the segments of the
// base, but one column was dropped. So rows in the same segment may differ.
func TestMergeOfStoredSegments(t *testing.T) {
	ctx := context.Background()
	g := create(t, fs.NewMem(), crashOptions)
	if err := loadText(g, engine.Merge, manyPeople(0, 5)); err != nil {
		t.Fatal(err)
	}
	if err := g.checkpoints.make(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := g.CreateBranch(ctx, "side", engine.Target{}); err != nil {
		t.Fatal(err)
	}
	dropped := changed(func(s *catalog.Schema) { s.Nodes[0].Properties = without(s.Nodes[0].Properties, "city") })
	for _, schema := range []*catalog.Schema{dropped, people()} {
		if err := applySchema("side", schema, false).do(g); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.checkpoints.make(ctx); err != nil {
		t.Fatal(err)
	}
	res, err := g.Merge(ctx, "side", "main", engine.MergeOptions{})
	if err != nil || res.Nodes != 5 {
		t.Fatalf("%+v, %v; want five nodes changed", res, err)
	}
	if got := dump(g.branches.main.head.Load().snap); strings.Contains(got, " c1") {
		t.Errorf("a dropped city still exists:\n%s", got)
	}
}

// TestProgramsOfSchemas runs one plan on branches with different schemas. It must be bound only
// once for each.
func TestProgramsOfSchemas(t *testing.T) {
	ctx := context.Background()
	g := create(t, fs.NewMem(), crashOptions)
	if err := loadText(g, engine.Merge, manyPeople(0, 5)); err != nil {
		t.Fatal(err)
	}
	if _, err := g.CreateBranch(ctx, "side", engine.Target{}); err != nil {
		t.Fatal(err)
	}
	if err := applySchema("side", townsfolk(), false).do(g); err != nil {
		t.Fatal(err)
	}
	bound := map[string]*exec.Program{}
	for i := range 6 {
		branch := []string{"main", "side"}[i%2]
		snap, err := g.snapshot(t.Context(), engine.Target{Branch: branch})
		if err != nil {
			t.Fatal(err)
		}
		prog, err := g.programs.Get(t.Context(), personByName, snap)
		if err != nil || !prog.Fits(snap) {
			t.Fatalf("%v; it fits: %t", err, err == nil)
		}
		if was := bound[branch]; was != nil && was != prog {
			t.Errorf("round %d: the plan is bound again for %s", i, branch)
		}
		bound[branch] = prog
	}
	if bound["main"] == bound["side"] {
		t.Error("one program serves two schemas")
	}
}

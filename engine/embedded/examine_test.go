package embedded

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// interrupted is a context that calls f once: when the check of all rows for a schema change looks for the second time
// whether the context has ended, which is after 4,096 rows.
type interrupted struct {
	context.Context
	f     func()
	looks int // of checks of all rows: two for 6,000 rows
}

func (c *interrupted) Err() error {
	var caller [1]uintptr
	runtime.Callers(2, caller[:])
	frame, _ := runtime.CallersFrames(caller[:]).Next()
	if strings.HasSuffix(frame.Function, "version.eachUnexamined") {
		if c.looks++; c.looks == 2 {
			c.f()
		}
	}
	return nil
}

// newcomers returns NDJSON of n persons of different ages.
func newcomers(first, n int) string {
	var b strings.Builder
	for i := first; i < first+n; i++ {
		fmt.Fprintf(&b, `{"type":"Person","data":{"name":"p%06d","age":%d}}`+"\n", i, i)
	}
	return b.String()
}

// TestSchemaExaminesMeanwhile writes while a schema change checks 6,000 rows, of which it has read 4,096. The write must not
// wait for the check, and the change must see what was written.
func TestSchemaExaminesMeanwhile(t *testing.T) {
	person := func(change func(n *catalog.Node)) func(s *catalog.Schema) {
		return func(s *catalog.Schema) { change(s.Nodes[0]) }
	}
	required := person(func(n *catalog.Node) { n.Property("age").Type = value.Of(value.I32) })
	unique := person(func(n *catalog.Node) { n.Unique = append(n.Unique, []string{"age"}) })
	least := value.OfI32(0)
	ranged := person(func(n *catalog.Node) { n.Ranges = append(n.Ranges, catalog.Range{Property: "age", Min: &least}) })
	named := person(func(n *catalog.Node) { n.Checks = append(n.Checks, catalog.Check{Property: "name", Pattern: "^[pq]"}) })
	unsigned := person(func(n *catalog.Node) { n.Property("age").Type = value.Of(value.U32).Optional() })
	single := func(s *catalog.Schema) { s.Edge("Knows").Card = &catalog.Cardinality{Min: 0, Max: 1} }

	insert := func(name string, age value.Value) deed {
		return deed{"Mutate", func(g *Graph) error {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // a writer that waits for the check would wait forever
			defer cancel()
			_, err := g.Mutate(ctx, insertPerson, engine.Args{str(name), age}, engine.WriteOptions{})
			return err
		}}
	}
	knows := func(from, to, id string) deed {
		return deed{"Mutate", func(g *Graph) error {
			_, err := g.Mutate(context.Background(), connect, engine.Args{str(from), str(to), str(id)}, engine.WriteOptions{})
			return err
		}}
	}
	null := value.Value{}
	for _, c := range []struct {
		name      string
		change    func(s *catalog.Schema)
		meanwhile []deed
		broken    string // the entity that breaks the new rule, or empty
		after     deed   // must break the new rule, which finds what was written meanwhile
		once      bool   // the rows are read once; only what was written meanwhile is read after that
	}{
		{"required", required, []deed{insert("q1", num(5))}, "", insert("q2", null), true},
		{"required/broken", required, []deed{insert("q1", null)}, "q1", deed{}, false},
		{"unique", unique, []deed{insert("q1", num(70_000))}, "", insert("q2", num(70_000)), true},
		{"unique/broken", unique, []deed{insert("q1", num(17))}, "q1", deed{}, false},
		{"unique/earlier row changed", unique, []deed{{"Mutate", func(g *Graph) error {
			_, err := g.Mutate(context.Background(), birthday, engine.Args{num(80_000), num(17)}, engine.WriteOptions{})
			return err
		}}}, "", insert("q2", num(80_000)), true},
		{"unique/freed", unique, []deed{{"Mutate", func(g *Graph) error {
			_, err := g.Mutate(context.Background(), deletePerson, engine.Args{str("p000017")}, engine.WriteOptions{})
			return err
		}}, insert("q1", num(17))}, "", insert("q2", num(17)), true},
		{"unique/many", unique, []deed{loading("", engine.Append, newcomers(10_000, 2*maxUnexamined))}, "", insert("q2", num(10_000+maxUnexamined)), true},
		{"range/broken", ranged, []deed{insert("q1", num(-5))}, "q1", deed{}, false},
		{"check/broken", named, []deed{insert("x1", num(5))}, "x1", deed{}, false},
		{"cast", unsigned, []deed{insert("q1", num(5))}, "", deed{}, false},
		{"cast/broken", unsigned, []deed{insert("q1", num(-5))}, "q1", deed{}, false},
		{"card", func(s *catalog.Schema) { single(s); required(s) }, []deed{knows("p000001", "p000002", "k1")}, "", knows("p000001", "p000003", "k2"), true},
		{"card/broken", func(s *catalog.Schema) { single(s); required(s) }, []deed{knows("p000001", "p000002", "k1"), knows("p000001", "p000003", "k2")}, "p000001", deed{}, false},
		{"checkpoint", unique, []deed{insert("q1", num(70_000)), checkpoint}, "", insert("q2", num(70_000)), true},
		{"rewrite", unique, []deed{loading("", engine.Overwrite, newcomers(0, 100)), checkpoint, insert("q1", num(70_000))}, "", insert("q2", num(99)), false},
		{"other schema", unique, []deed{applySchema("", changed(ranged), false), insert("q1", num(17))}, "q1", deed{}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			mem := fs.NewMem()
			g := create(t, mem, Options{quiet: true, sparse: 8})
			if err := loadText(g, engine.Append, newcomers(0, 6000)); err != nil {
				t.Fatal(err)
			}
			ctx := &interrupted{Context: context.Background()}
			ctx.f = func() {
				for _, d := range c.meanwhile {
					if err := d.do(g); err != nil {
						t.Fatalf("%s while the rows are checked: %v", d.call, err)
					}
				}
			}
			_, err := g.ApplySchema(ctx, "// changed", changed(c.change), engine.SchemaOptions{AllowDataLoss: true})
			if ctx.looks < 2 {
				t.Fatal("the check did not read 4,096 rows")
			}
			if c.once && ctx.looks > 2 {
				t.Errorf("all rows were read again: %d looks, want 2", ctx.looks)
			}
			var broken *engine.ConstraintViolations
			switch {
			case c.broken == "" && err != nil:
				t.Fatalf("refused: %v", err)
			case c.broken != "" && !errors.As(err, &broken):
				t.Fatalf("error %v, want one about %s", err, c.broken)
			case c.broken != "" && !strings.Contains(fmt.Sprintf("%+v", *broken.Violations[len(broken.Violations)-1]), c.broken):
				t.Errorf("the last violation is %+v, want one about %s", broken.Violations[len(broken.Violations)-1], c.broken)
			}
			if c.after.do != nil {
				wantError[*engine.ConstraintViolation](t, "a write that breaks the new rule", c.after.do(g))
			}
			want := dumpAll(g)
			if err := g.Close(); err != nil {
				t.Fatal(err)
			}
			if g, err = Open(context.Background(), mem, dir, Options{}); err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			if got := dumpAll(g); got != want {
				t.Error("the graph differs after a reopen")
			}
			if c.after.do != nil {
				wantError[*engine.ConstraintViolation](t, "the same write after a reopen", c.after.do(g))
			}
		})
	}
}

// TestDryRunBesideWriters writes while the plan of a schema reads rows. The plan is about the state at its beginning.
func TestDryRunBesideWriters(t *testing.T) {
	g := create(t, fs.NewMem(), Options{quiet: true})
	if err := loadText(g, engine.Append, newcomers(0, 6000)); err != nil {
		t.Fatal(err)
	}
	before := g.branches.main.head.Load().snap.Commit
	ctx := &interrupted{Context: context.Background()}
	ctx.f = func() {
		if _, err := g.Mutate(context.Background(), insertPerson, engine.Args{str("q1"), value.Value{}}, engine.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	to := changed(func(s *catalog.Schema) { s.Nodes[0].Property("age").Type = value.Of(value.I32) })
	out, err := g.ApplySchema(ctx, "// changed", to, engine.SchemaOptions{WriteOptions: engine.WriteOptions{DryRun: true}})
	if err != nil || ctx.looks != 2 {
		t.Fatalf("plan: %v, %d looks", err, ctx.looks)
	}
	if out.Head.ID != before.ID || out.Commit != nil {
		t.Errorf("the plan is about commit %s, want %s", out.Head.ID, before.ID)
	}
	_, err = g.ApplySchema(context.Background(), "// changed", to, engine.SchemaOptions{WriteOptions: engine.WriteOptions{DryRun: true}})
	wantError[*engine.ConstraintViolations](t, "a plan after the write", err)
}

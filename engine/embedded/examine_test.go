package embedded

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
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

// roundly is a context that calls f with the number of each round in which a schema change checks a state while writers go on,
// during the check.
type roundly struct {
	context.Context
	f      func(round int)
	called int // rounds for which f was called
	counts int // counts of the rows that were written meanwhile; each but the last one of a change begins another round
	held   int // looks of checks of all rows while writers wait
}

func (c *roundly) Err() error {
	c.look()
	return nil
}

func (c *roundly) Done() <-chan struct{} {
	c.look()
	return nil
}

func (c *roundly) look() {
	var callers [64]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(3, callers[:])])
	var stack []string
	for more := true; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		stack = append(stack, frame.Function[strings.LastIndexByte(frame.Function, '.')+1:])
	}
	switch held := slices.Contains(stack, "finish"); {
	case held && slices.Contains(stack, "More") && slices.Contains(stack, "WithCancel"): // once in each count
		c.counts++
	case held && stack[0] == "eachUnexamined":
		c.held++
	case !held && slices.Contains(stack, "examine") && c.called == c.counts:
		c.called++
		c.f(c.counts)
	}
}

// TestSchemaRounds writes while a schema change checks rows. No check of all rows may make a writer wait, and the change takes
// the given number of rounds.
func TestSchemaRounds(t *testing.T) {
	unique := func(s *catalog.Schema) { s.Nodes[0].Unique = append(s.Nodes[0].Unique, []string{"age"}) }
	required := func(s *catalog.Schema) { s.Nodes[0].Property("age").Type = value.Of(value.I32) }
	unsigned := func(s *catalog.Schema) { s.Nodes[0].Property("age").Type = value.Of(value.U32).Optional() }
	things := func(s *catalog.Schema) {
		s.Interfaces = append(s.Interfaces, &catalog.Interface{Name: "Thing"})
		s.Nodes[0].Implements, s.Nodes[1].Implements = []string{"Thing"}, []string{"Thing"}
		s.Edge("About").To, s.Edge("About").ToInterface = "Thing", true
	}
	toNotes := func(s *catalog.Schema) {
		things(s)
		s.Edge("About").To, s.Edge("About").ToInterface = "Note", false
	}
	double := func(s *catalog.Schema) { s.Edge("Knows").Card = &catalog.Cardinality{Min: 2, Max: -1} }
	filled := func(s *catalog.Schema) {
		required, optional := value.Of(value.I32), value.Of(value.I32).Optional()
		set := plan.Assign{Name: "next", Type: required, Value: plan.Old{Name: "age", Type: optional}}
		q := &plan.Query{Mutation: &plan.Mutation{Statements: []plan.Statement{plan.Update{Type: "Person", Set: []plan.Assign{set}}}}}
		s.Nodes[0].Properties = append(s.Nodes[0].Properties,
			&catalog.Property{Name: "next", Type: required, Backfill: &catalog.Backfill{Text: "age", Plan: []byte(plan.Encode(q))}})
		s.Nodes[0].Checks = append(s.Nodes[0].Checks, catalog.Check{Property: "name", Pattern: "^[pq]"})
	}
	notes := `{"type":"Note","data":{"id":"n1","text":"a"}}
{"type":"Note","data":{"id":"n2","text":"b"}}
{"edge":"About","from":"n1","to":{"type":"Note","id":"n2"},"data":{"id":"a1"}}`
	links := `{"edge":"Knows","from":"p000001","to":"p000002","data":{"id":"k1"}}
{"edge":"Knows","from":"p000001","to":"p000003","data":{"id":"k2"}}`
	add := func(text string) deed { return loading("", engine.Append, text) }
	unaged := func(name string) deed { return add(`{"type":"Person","data":{"name":"` + name + `"}}`) }
	once := func(deeds ...deed) func(round int) []deed {
		return func(round int) []deed {
			if round > 0 {
				return nil
			}
			return deeds
		}
	}
	// many returns a load of more rows than a change checks while writers wait.
	many := func(round int) deed { return add(newcomers(10_000*(round+1), maxUnexamined+100)) }
	for _, c := range []struct {
		name      string
		before    []deed
		to        func(s *catalog.Schema)
		meanwhile func(round int) []deed
		broken    string // the entity that breaks the new rule, or empty
		counts    int
	}{
		{name: "as many rows each round", to: unique, meanwhile: func(round int) []deed { return []deed{many(round)} }, counts: examineRounds - 1},
		{name: "broken in the last round", to: unique, counts: examineRounds - 1, broken: "q1", meanwhile: func(round int) []deed {
			if round == examineRounds-1 {
				return []deed{insert("", "q1", 17)}
			}
			return []deed{many(round)}
		}},
		{name: "many rows of other types", to: required, meanwhile: once(insert("", "q1", 5), add(manyNotes(2*maxUnexamined))), counts: 1},
		{name: "cast", to: unsigned, meanwhile: once(many(0)), counts: 2},
		{name: "cast/broken", to: unsigned, meanwhile: once(many(0), insert("", "q1", -5)), broken: "q1", counts: 1},
		{name: "backfill", to: filled, meanwhile: once(insert("", "q1", 5)), counts: 1},
		{name: "backfill/broken", before: []deed{unaged("q1")}, to: filled, meanwhile: once(insert("", "q2", 5)), broken: "q1", counts: 1},
		{name: "backfill/broken meanwhile", to: filled, meanwhile: once(unaged("q1")), broken: "q1", counts: 1},
		{name: "least cardinality", before: []deed{add(links)}, to: double, meanwhile: once(mutation(deletePerson, on(""), "p000004")), counts: 1},
		{name: "least cardinality/broken", before: []deed{add(links)}, to: double, meanwhile: once(mutation(deletePerson, on(""), "p000003")), broken: "p000001", counts: 1},
		{name: "narrowed end", before: []deed{applySchema("", changed(things), false), add(notes)}, to: toNotes,
			meanwhile: once(add(`{"edge":"About","from":"n2","to":{"type":"Note","id":"n1"},"data":{"id":"a2"}}`)), counts: 1},
		{name: "narrowed end/broken", before: []deed{applySchema("", changed(things), false), add(notes)}, to: toNotes,
			meanwhile: once(add(`{"edge":"About","from":"n2","to":{"type":"Person","id":"p000001"},"data":{"id":"a2"}}`)), broken: "a2", counts: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			mem := fs.NewMem()
			g := create(t, mem, Options{quiet: true})
			for _, d := range append([]deed{add(newcomers(0, 100))}, c.before...) {
				if err := d.do(g); err != nil {
					t.Fatalf("%s: %v", d.call, err)
				}
			}
			ctx := &roundly{Context: context.Background()}
			ctx.f = func(round int) {
				for _, d := range c.meanwhile(round) {
					if err := d.do(g); err != nil {
						t.Fatalf("%s while the rows are checked: %v", d.call, err)
					}
				}
			}
			_, err := g.ApplySchema(ctx, "// next", changed(c.to), engine.SchemaOptions{AllowDataLoss: true})
			var broken *engine.ConstraintViolations
			switch {
			case c.broken == "" && err != nil:
				t.Fatalf("refused: %v", err)
			case c.broken != "" && !errors.As(err, &broken):
				t.Fatalf("error %v, want one about %s", err, c.broken)
			case c.broken != "" && (len(broken.Violations) != 1 || !strings.Contains(fmt.Sprintf("%+v", *broken.Violations[0]), c.broken)):
				t.Errorf("error %v, want one violation, about %s", err, c.broken)
			}
			if ctx.called == 0 || ctx.counts != c.counts {
				t.Errorf("the rows written meanwhile were counted %d times, want %d", ctx.counts, c.counts)
			}
			if ctx.held > 0 {
				t.Error("all rows were read while writers waited")
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

package embedded

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/embed"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// brokenProvider fails every request for vectors.
type brokenProvider struct{}

func (brokenProvider) Model() string { return embed.MockModel }
func (brokenProvider) Embed(context.Context, []string, int) ([][]float32, error) {
	return nil, &engine.Unavailable{Reason: "it is broken"}
}

// otherProvider is a mock with the name of another model.
type otherProvider struct{ embed.Mock }

func (otherProvider) Model() string { return "other" }

func TestEmbedding(t *testing.T) {
	ctx := context.Background()
	dim := value.Type{Kind: value.Vector, Dim: 8}
	schema := &catalog.Schema{Nodes: []*catalog.Node{{Name: "Post", Key: []string{"slug"}, Properties: []*catalog.Property{
		{Name: "slug", Type: value.Of(value.String)}, {Name: "text", Type: value.Of(value.String)},
		{Name: "place", Type: dim, Embed: &catalog.Embed{Source: "text", Model: embed.MockModel}},
	}}}}
	schema.Index()
	text, place := value.Of(value.String), plan.Prop{Var: 0, Name: "place", Type: dim}
	insert := &plan.Query{Params: []plan.Param{{Name: "slug", Type: text}, {Name: "text", Type: text}},
		Mutation: &plan.Mutation{Statements: []plan.Statement{plan.Insert{Type: "Post", Set: []plan.Assign{
			{Name: "slug", Type: text, Value: plan.ParamRef{Index: 0}}, {Name: "text", Type: text, Value: plan.ParamRef{Index: 1}}}}}}}
	near := &plan.Query{Params: []plan.Param{{Name: "q", Type: text}}, Read: &plan.Read{Vars: []plan.Var{{Name: "p", Type: "Post"}},
		Match: []plan.Clause{plan.Bind{Var: 0}}, Columns: []plan.Column{{Name: "slug", Expr: slugOf, Type: text}, {Name: "place", Expr: place, Type: dim}},
		Order: []plan.Order{{Expr: plan.Nearest{Prop: place, Vector: plan.ParamRef{Index: 0}}}}, Ties: []plan.VarID{0}, Limit: 1}}

	with := func(e Embedder) *Graph {
		g, err := Create(ctx, fs.NewMem(), dir, "// posts", schema, Options{Now: testClock, Embedder: e, quiet: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { g.Close() })
		return g
	}
	query := func(g *Graph) error {
		res, err := g.Query(ctx, near, engine.Args{str("a box")}, engine.Target{})
		if err == nil {
			res.Close()
		}
		return err
	}
	add := func(g *Graph, slug, text string) error {
		_, err := g.Mutate(ctx, insert, engine.Args{str(slug), str(text)}, engine.WriteOptions{})
		return err
	}

	g := with(embed.Mock{})
	for slug, text := range map[string]string{"a": "a box", "b": "the fox", "c": "a box of foxes"} {
		if err := add(g, slug, text); err != nil {
			t.Fatal(err)
		}
	}
	want, err := embed.Mock{}.Embed(ctx, []string{"a box"}, 8)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := rowsText(t, g, near, str("a box")), "a "+fmt.Sprint(want[0])+" \n"; got != want {
		t.Errorf("nearest is %q, want %q", got, want)
	}

	none := with(nil)
	err = add(none, "a", "a box")
	if violation := (*engine.ConstraintViolation)(nil); !errors.As(err, &violation) || violation.Rule != "required" || violation.Property != "place" {
		t.Errorf("a write without a provider: %v", err)
	}
	wantError[*engine.Unsupported](t, "nearest without a provider", query(none))
	wantError[*engine.Unsupported](t, "binding nearest without a provider", none.Bind(ctx, near, engine.Target{}))

	wantError[*engine.SchemaMismatch](t, "a write with another model", add(with(otherProvider{}), "a", "a box"))
	wantError[*engine.SchemaMismatch](t, "nearest with another model", query(with(otherProvider{})))

	broken := with(brokenProvider{})
	err = add(broken, "a", "a box")
	if failed := (*eval.EmbedError)(nil); !errors.As(err, &failed) || failed.Property != "place" {
		t.Errorf("a write with a broken provider: %v", err)
	}
	wantError[*engine.Unavailable](t, "nearest with a broken provider", query(broken))
}

// countingProvider is a mock that records the texts of each request and refuses one text. It calls
// the function `during`, if set, within each request.
type countingProvider struct {
	embed.Mock
	asked  [][]string
	refuse string
	during func()
}

func (p *countingProvider) Embed(ctx context.Context, texts []string, dim int) ([][]float32, error) {
	p.asked = append(p.asked, slices.Clone(texts))
	if p.during != nil {
		p.during()
	}
	if slices.Contains(texts, p.refuse) {
		return nil, &engine.Unavailable{Reason: "it does not like " + p.refuse}
	}
	return p.Mock.Embed(ctx, texts, dim)
}

// embeddedSchema returns a schema with an optional vector and, if the argument `required` is true,
// a required one too.
func embeddedSchema(required bool) *catalog.Schema {
	text := value.Of(value.String)
	props := []*catalog.Property{{Name: "slug", Type: text}, {Name: "text", Type: text.Optional()}, {Name: "n", Type: value.Of(value.I32).Optional()},
		{Name: "place", Type: value.Type{Kind: value.Vector, Dim: 4, Nullable: true}, Embed: &catalog.Embed{Source: "text"}}}
	if required {
		props = append(props, &catalog.Property{Name: "fixed", Type: value.Type{Kind: value.Vector, Dim: 2}, Embed: &catalog.Embed{Source: "text"}})
	}
	s := &catalog.Schema{Nodes: []*catalog.Node{{Name: "Post", Key: []string{"slug"}, Properties: props}}}
	s.Index()
	return s
}

func embeddedGraph(t *testing.T, required bool, e Embedder) *Graph {
	t.Helper()
	g, err := Create(t.Context(), fs.NewMem(), dir, "// posts", embeddedSchema(required), Options{Now: testClock, Embedder: e, quiet: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

// places returns the vectors of the property `place`, by slug.
func places(t *testing.T, g *Graph) map[string]string {
	t.Helper()
	out := map[string]string{}
	table := g.branches.main.head.Load().snap.Nodes(0)
	for ord := range table.Ordinals() {
		if table.Alive(ord) {
			v := table.Value(ord, 3)
			out[table.ID(ord)] = "null"
			if !v.IsNull() {
				out[table.ID(ord)] = fmt.Sprint(v.Vector())
			}
		}
	}
	return out
}

func mockPlace(t *testing.T, text string) string {
	t.Helper()
	v, err := embed.Mock{}.Embed(t.Context(), []string{text}, 4)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(v[0])
}

func TestEmbeddingAtLoad(t *testing.T) {
	lines := `{"type":"Post","data":{"slug":"a","text":"one"}}
{"type":"Post","data":{"slug":"b","text":"two","place":null}}
{"type":"Post","data":{"slug":"c","text":"three","place":[1,2,3,4]}}

{"type":"Post","data":{"slug":"d"}}
{"data":{"slug":"e","text":"one"},"type":"Post"}
`
	want := map[string]string{"a": mockPlace(t, "one"), "b": "null", "c": "[1 2 3 4]", "d": "null", "e": mockPlace(t, "one")}
	for _, inline := range []int{0, -1} {
		p := &countingProvider{}
		g, err := Create(t.Context(), fs.NewMem(), dir, "// posts", embeddedSchema(false), Options{Now: testClock, Embedder: p, InlineBytes: inline, quiet: true})
		if err != nil {
			t.Fatal(err)
		}
		opts := engine.LoadOptions{WriteOptions: engine.WriteOptions{IdempotencyKey: "k"}}
		for range 2 { // the second call is answered from the receipt
			if _, err := g.Load(t.Context(), strings.NewReader(lines), opts); err != nil {
				t.Fatal(err)
			}
		}
		if got := places(t, g); !maps.Equal(got, want) {
			t.Errorf("places %v, want %v", got, want)
		}
		if fmt.Sprint(p.asked) != "[[one one]]" {
			t.Errorf("asked for %q", p.asked)
		}
		g.Close()
	}

	var many strings.Builder
	wantMany := map[string]string{}
	for i := range 450 {
		fmt.Fprintf(&many, `{"type":"Post","data":{"slug":"s%03d","text":"text %d"}}`+"\n", i, i)
		wantMany[fmt.Sprintf("s%03d", i)] = mockPlace(t, fmt.Sprint("text ", i))
	}
	p := &countingProvider{}
	g := embeddedGraph(t, false, p)
	if _, err := g.Load(t.Context(), strings.NewReader(many.String()), engine.LoadOptions{Mode: engine.Append}); err != nil {
		t.Fatal(err)
	}
	if got := places(t, g); !maps.Equal(got, wantMany) || len(p.asked) != 5 {
		t.Errorf("%d calls for 450 texts", len(p.asked))
	}

	broken := embeddedGraph(t, false, &countingProvider{refuse: "text 317"})
	_, err := broken.Load(t.Context(), strings.NewReader(many.String()), engine.LoadOptions{Mode: engine.Append})
	failed := (*eval.EmbedError)(nil)
	if !errors.As(err, &failed) || failed.Line != 301 || failed.Property != "place" || !errors.As(err, new(*engine.Unavailable)) {
		t.Errorf("a load with a broken provider: %v", err)
	}
	if got := places(t, broken); len(got) != 0 {
		t.Errorf("a load that failed left %d entities", len(got))
	}

	none := embeddedGraph(t, true, nil)
	_, err = none.Load(t.Context(), strings.NewReader(lines), engine.LoadOptions{Mode: engine.Append})
	bad := (*engine.LoadErrors)(nil)
	if !errors.As(err, &bad) || bad.Lines[0].Line != 1 || bad.Lines[0].Field != "data.fixed" {
		t.Errorf("a load without a provider: %v", err)
	}
	whole := embeddedGraph(t, true, embed.Mock{})
	_, err = whole.Load(t.Context(), strings.NewReader(lines), engine.LoadOptions{Mode: engine.Append})
	if !errors.As(err, &bad) || len(bad.Lines) != 1 || bad.Lines[0].Line != 5 || bad.Lines[0].Field != "data.fixed" {
		t.Errorf("a load in which one line has no source: %v", err)
	}
}

func TestEmbeddingAtUpdate(t *testing.T) {
	text := value.Of(value.String)
	set := func(name string, typ value.Type, v plan.Expr) plan.Assign {
		return plan.Assign{Name: name, Type: typ, Value: v}
	}
	where := plan.Pred{Name: "slug", Op: plan.Eq, Type: text, Value: plan.ParamRef{Index: 0}}
	retext := &plan.Query{Params: []plan.Param{{Name: "slug", Type: text}, {Name: "text", Type: text.Optional()}},
		Mutation: &plan.Mutation{Statements: []plan.Statement{plan.Update{Type: "Post", Set: []plan.Assign{set("text", text, plan.ParamRef{Index: 1})}, Where: []plan.Pred{where}}}}}
	renumber := &plan.Query{Params: retext.Params[:1],
		Mutation: &plan.Mutation{Statements: []plan.Statement{plan.Update{Type: "Post", Set: []plan.Assign{set("n", value.Of(value.I32), plan.Lit{Value: value.OfI32(5)})}, Where: []plan.Pred{where}}}}}
	load := func(g *Graph) {
		t.Helper()
		_, err := g.Load(t.Context(), strings.NewReader(`{"type":"Post","data":{"slug":"a","text":"one","place":[1,2,3,4]}}
{"type":"Post","data":{"slug":"b","text":"one","place":null}}`), engine.LoadOptions{Mode: engine.Append})
		if err != nil {
			t.Fatal(err)
		}
	}
	update := func(g *Graph, q *plan.Query, opts engine.WriteOptions, args ...value.Value) {
		t.Helper()
		if _, err := g.Mutate(t.Context(), q, args, opts); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(g *Graph, a, b string) {
		t.Helper()
		if got, want := places(t, g), map[string]string{"a": a, "b": b}; !maps.Equal(got, want) {
			t.Errorf("places %v, want %v", got, want)
		}
	}

	p := &countingProvider{}
	g := embeddedGraph(t, false, p)
	load(g)
	expect(g, "[1 2 3 4]", "null")
	update(g, renumber, engine.WriteOptions{}, str("a"))
	update(g, retext, engine.WriteOptions{}, str("a"), str("one"))
	expect(g, "[1 2 3 4]", "null") // the vector was given, and its source text is unchanged
	update(g, retext, engine.WriteOptions{}, str("b"), str("one"))
	expect(g, "[1 2 3 4]", mockPlace(t, "one"))
	keyed := engine.WriteOptions{IdempotencyKey: "k"}
	update(g, retext, keyed, str("a"), str("two"))
	expect(g, mockPlace(t, "two"), mockPlace(t, "one"))
	asked := len(p.asked)
	p.refuse = "two"
	// This call returns the result in the receipt, so the provider must get no request.
	update(g, retext, keyed, str("a"), str("two"))
	if len(p.asked) != asked {
		t.Errorf("a call that was made before asked for %q", p.asked[asked:])
	}
	update(g, retext, engine.WriteOptions{}, str("a"), value.Null)
	expect(g, "null", mockPlace(t, "one"))

	// A slow provider does not block other writers.
	p.during = func() {
		p.during = nil
		update(g, renumber, engine.WriteOptions{}, str("b"))
	}
	update(g, retext, engine.WriteOptions{}, str("a"), str("three"))
	expect(g, mockPlace(t, "three"), mockPlace(t, "one"))

	none := embeddedGraph(t, false, nil)
	load(none)
	update(none, retext, engine.WriteOptions{}, str("a"), str("one"))
	expect(none, "[1 2 3 4]", "null")
	update(none, retext, engine.WriteOptions{}, str("a"), str("two"))
	expect(none, "null", "null") // the vector no longer fits the text

	strict := embeddedGraph(t, true, nil)
	_, err := strict.Load(t.Context(), strings.NewReader(`{"type":"Post","data":{"slug":"a","text":"one","fixed":[1,2]}}`), engine.LoadOptions{Mode: engine.Append})
	if err != nil {
		t.Fatal(err)
	}
	_, err = strict.Mutate(t.Context(), retext, engine.Args{str("a"), str("two")}, engine.WriteOptions{})
	if v := (*engine.ConstraintViolation)(nil); !errors.As(err, &v) || v.Property != "fixed" || v.ID != "a" || v.Rule != "required" {
		t.Errorf("an update that leaves a required vector without a provider: %v", err)
	}
}

// TestEmbeddingAtMerge merges branches that changed a text and its vector. A vector whose text only the other side has becomes null, so
// that omnigraph embed finds it.
func TestEmbeddingAtMerge(t *testing.T) {
	text, vec := value.Of(value.String), value.Type{Kind: value.Vector, Dim: 4, Nullable: true}
	where := []plan.Pred{{Name: "slug", Op: plan.Eq, Type: text, Value: plan.Lit{Value: str("a")}}}
	write := func(set ...plan.Assign) func(*testing.T, *Graph, string) {
		return func(t *testing.T, g *Graph, branch string) {
			t.Helper()
			q := &plan.Query{Mutation: &plan.Mutation{Statements: []plan.Statement{plan.Update{Type: "Post", Set: set, Where: where}}}}
			if _, err := g.Mutate(t.Context(), q, nil, engine.WriteOptions{Branch: branch}); err != nil {
				t.Fatal(err)
			}
		}
	}
	retext := func(s string) plan.Assign {
		return plan.Assign{Name: "text", Type: text, Value: plan.Lit{Value: str(s)}}
	}
	give := func(v ...float32) plan.Assign {
		return plan.Assign{Name: "place", Type: vec, Value: plan.Lit{Value: value.OfVector(v)}}
	}
	embedded := func(f func(*testing.T, *Graph, string)) func(*testing.T, *Graph, string) {
		return func(t *testing.T, g *Graph, branch string) {
			t.Helper()
			g.opts.Embedder = embed.Mock{}
			defer func() { g.opts.Embedder = nil }()
			f(t, g, branch)
		}
	}
	again := embedded(write(retext("one"))) // as omnigraph embed does
	ours := []engine.Resolution{
		{ConflictPlace: engine.ConflictPlace{Entity: "node", Type: "Post", ID: "a", Property: "text"}, Take: engine.TakeTheirs},
		{ConflictPlace: engine.ConflictPlace{Entity: "node", Type: "Post", ID: "a", Property: "place"}, Take: engine.TakeOurs},
	}
	valued := slices.Clone(ours)
	valued[1].Take, valued[1].Value = engine.TakeValue, value.OfVector([]float32{9, 9, 9, 9})
	for _, tt := range []struct {
		name        string
		base        func(*testing.T, *Graph, string) // nil: the vector is null
		one, other  func(*testing.T, *Graph, string)
		resolutions []engine.Resolution // with them, one is the source
		want        string
	}{
		{"a text, and the vector of the text before", nil, write(retext("two")), again, nil, "null"},
		{"a text, and a given vector", nil, write(retext("two")), write(give(1, 2, 3, 4)), nil, "null"},
		{"a text with its vector, and another property", again, embedded(write(retext("two"))), write(plan.Assign{Name: "n", Type: value.Of(value.I32), Value: plan.Lit{Value: value.OfI32(5)}}), nil, mockPlace(t, "two")},
		{"a text that comes back, and the vector of it", nil, func(t *testing.T, g *Graph, branch string) {
			write(retext("two"))(t, g, branch)
			write(retext("one"), plan.Assign{Name: "n", Type: value.Of(value.I32), Value: plan.Lit{Value: value.OfI32(5)}})(t, g, branch)
		}, again, nil, mockPlace(t, "one")},
		{"the same text, and one vector", nil, write(retext("two")), embedded(write(retext("two"))), nil, mockPlace(t, "two")},
		{"a text without a provider, and another property", again, write(retext("two")), write(plan.Assign{Name: "n", Type: value.Of(value.I32), Value: plan.Lit{Value: value.OfI32(5)}}), nil, "null"},
		{"resolved into a text and the vector of another", again, embedded(write(retext("two"))), embedded(write(retext("three"))), ours, "null"},
		{"resolved with a vector", again, embedded(write(retext("two"))), embedded(write(retext("three"))), valued, "[9 9 9 9]"},
	} {
		for _, swapped := range []bool{false, true} {
			if swapped && tt.resolutions != nil {
				continue
			}
			t.Run(fmt.Sprintf("%s, swapped %v", tt.name, swapped), func(t *testing.T) {
				g := embeddedGraph(t, false, nil)
				if _, err := g.Load(t.Context(), strings.NewReader(`{"type":"Post","data":{"slug":"a","text":"one"}}`), engine.LoadOptions{Mode: engine.Append}); err != nil {
					t.Fatal(err)
				}
				if tt.base != nil {
					tt.base(t, g, "")
				}
				if _, err := g.CreateBranch(t.Context(), "side", engine.Target{}); err != nil {
					t.Fatal(err)
				}
				source, target := tt.one, tt.other
				if swapped {
					source, target = target, source
				}
				source(t, g, "side")
				target(t, g, "")
				if _, err := g.Merge(t.Context(), "side", "main", engine.MergeOptions{Resolutions: tt.resolutions}); err != nil {
					t.Fatal(err)
				}
				if got := places(t, g)["a"]; got != tt.want {
					t.Errorf("the vector is %s, want %s", got, tt.want)
				}
			})
		}
	}
}

func TestEmbeddingOfOptional(t *testing.T) {
	text, vec := value.Of(value.String), value.Type{Kind: value.Vector, Dim: 4}
	param := func(i int, name string, typ value.Type) plan.Assign {
		return plan.Assign{Name: name, Type: typ, Value: plan.ParamRef{Index: i}}
	}
	params := []plan.Param{{Name: "slug", Type: text}, {Name: "text", Type: text.Optional()}, {Name: "place", Type: vec.Optional()}}
	insert := func(set ...plan.Assign) *plan.Query {
		return &plan.Query{Params: params, Mutation: &plan.Mutation{Statements: []plan.Statement{plan.Insert{Type: "Post", Set: set}}}}
	}
	left := insert(param(0, "slug", text), param(1, "text", text))
	given := insert(param(0, "slug", text), param(1, "text", text), param(2, "place", vec))
	g := embeddedGraph(t, false, embed.Mock{})
	for slug, q := range map[string]*plan.Query{"a": left, "b": given} {
		if _, err := g.Mutate(t.Context(), q, engine.Args{str(slug), str("one"), value.Null}, engine.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := places(t, g), map[string]string{"a": mockPlace(t, "one"), "b": "null"}; !maps.Equal(got, want) {
		t.Errorf("places %v, want %v", got, want)
	}
}

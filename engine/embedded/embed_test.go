package embedded

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embed"
	"github.com/omnigraph-go/omnigraph/engine/embedded/exec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/fs"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// brokenProvider never answers with a vector.
type brokenProvider struct{}

func (brokenProvider) Model() string { return embed.MockModel }
func (brokenProvider) Embed(context.Context, []string, int) ([][]float32, error) {
	return nil, &engine.Unavailable{Reason: "it is broken"}
}

// otherProvider is a mock that calls itself another model.
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
		g, err := Create(ctx, fs.NewMem(), dir, "// posts", schema, Options{Embedder: e, quiet: true})
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
	if failed := (*exec.EmbedError)(nil); !errors.As(err, &failed) || failed.Property != "place" {
		t.Errorf("a write with a broken provider: %v", err)
	}
	wantError[*engine.Unavailable](t, "nearest with a broken provider", query(broken))
}

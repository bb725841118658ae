package golang

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/codegen/model"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/golden"
)

// everyNode is a plan with every kind of clause, condition and expression, and
// mutationPlan one with every kind of statement. They need not make sense.
var everyNode = &plan.Query{
	Name: "every_node",
	Params: []plan.Param{
		{Name: "a", Type: value.Of(value.String)},
		{Name: "b", Type: value.Type{Kind: value.I32, List: true, Nullable: true}},
		{Name: "c", Type: value.Type{Kind: value.Vector, Dim: 2}},
		{Name: "d", Type: value.Type{Kind: value.String, Enum: []string{"x", "y-z"}}},
	},
	Read: &plan.Read{
		Vars: []plan.Var{{Name: "p", Entity: plan.Node, Type: "Person"}, {Name: "_", Entity: plan.Node, Type: "Person"}, {Name: "k", Entity: plan.Edge, Type: "Knows"}},
		Match: []plan.Clause{
			plan.Bind{Var: 0},
			plan.Traverse{From: 0, To: 1, Edge: "Knows", EdgeVar: 2, Min: 1, Max: 1},
			plan.Traverse{From: 0, To: 1, Edge: "Knows", EdgeVar: plan.NoVar, Undirected: true, Min: 2, Max: 5},
			plan.Filter{Cond: plan.Compare{Op: plan.Contains, Left: plan.Prop{Var: 0, Name: "tags", Type: value.Type{Kind: value.String, List: true}}, Right: plan.Lit{Value: value.OfString("x`\n\"")}, Unless: plan.NoParam}},
			plan.Filter{Cond: plan.TextMatch{Kind: plan.Fuzzy, Prop: plan.Prop{Var: 0, Name: "name", Type: value.Of(value.String)}, Query: plan.ParamRef{Index: 0}, MaxEdits: plan.Lit{Value: value.OfI32(1)}}},
			plan.Not{Match: []plan.Clause{
				plan.Filter{Cond: plan.Compare{Op: plan.Eq, Left: plan.ID{Var: 1}, Right: plan.Endpoint{Var: 2, To: true}, Unless: 0}},
			}},
		},
		Columns: []plan.Column{
			{Name: "p", Expr: plan.Whole{Var: 0}, Fields: []plan.Field{{Name: "id", Type: value.Of(value.String)}}},
			{Name: "n", Expr: plan.Agg{Func: plan.Count, Arg: plan.Whole{Var: 0}}, Type: value.Of(value.I64)},
			{Name: "m", Expr: plan.Matched{Match: plan.TextMatch{Kind: plan.Phrase, Query: plan.Lit{Value: value.OfString("q")}}}, Type: value.Of(value.Bool)},
			{Name: "now", Expr: plan.Now{}, Type: value.Of(value.DateTime)},
		},
		Grouped: true,
		Order: []plan.Order{{Desc: true, Expr: plan.RRF{
			First:  plan.Nearest{Prop: plan.Prop{Var: 0, Name: "v", Type: value.Type{Kind: value.Vector, Dim: 2}}, Vector: plan.Lit{Value: value.OfVector([]float32{0.1, -2})}},
			Second: plan.BM25{Prop: plan.Prop{Var: 0, Name: "name", Type: value.Of(value.String)}, Query: plan.ParamRef{Index: 0}},
			K:      plan.Lit{Value: value.OfF64(60)},
		}}},
		Ties:  []plan.VarID{0, 1},
		Limit: plan.NoLimit,
	},
	Uses: []plan.Use{{Entity: plan.Edge, Type: "Knows", From: "Person", To: "Person", Write: true}},
}

var everyStatement = &plan.Query{
	Name: "every_statement",
	Mutation: &plan.Mutation{Statements: []plan.Statement{
		plan.Insert{Entity: plan.Edge, Type: "Knows", From: plan.ParamRef{Index: 0}, To: plan.Lit{Value: value.OfString("a")}, ID: plan.ParamRef{Index: 1},
			Set: []plan.Assign{{Name: "since", Type: value.Of(value.Date), Value: plan.Lit{Value: value.OfDate(-1)}}}},
		plan.Update{Type: "Person", Set: []plan.Assign{
			{Name: "a", Value: plan.Lit{Value: value.Null}},
			{Name: "b", Value: plan.Lit{Value: value.OfBool(true)}},
			{Name: "c", Value: plan.Lit{Value: value.OfI64(-1 << 63)}},
			{Name: "d", Value: plan.Lit{Value: value.OfU64(1<<64 - 1)}},
			{Name: "e", Value: plan.Lit{Value: value.OfF32(0.1)}},
			{Name: "f", Value: plan.Lit{Value: value.OfF64(1e300)}},
			{Name: "g", Value: plan.Lit{Value: value.OfDateTime(1714566600500)}},
			{Name: "h", Value: plan.Lit{Value: value.OfBlob([]byte("\x00\xff"))}},
			{Name: "i", Value: plan.Lit{Value: value.OfList(value.U32, []value.Value{value.OfU32(1)})}},
			{Name: "j", Value: plan.Now{}},
		}, Where: plan.Pred{Name: "id", Type: value.Of(value.String), Op: plan.StartsWith, Value: plan.Lit{Value: value.OfString("p")}}},
		plan.Delete{Entity: plan.Node, Type: "Person", Where: plan.Pred{Name: "x", Op: plan.Ge, Value: plan.Now{}}},
	}},
}

func TestPlanLiterals(t *testing.T) {
	f := newFile(&model.Package{GoName: "plans"})
	f.NoFormat = true
	planVar(f, &model.Query{GoLower: "everyNode", Plan: everyNode})
	planVar(f, &model.Query{GoLower: "everyStatement", Plan: everyStatement})
	f.Add(blank)
	text, err := render(f)
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/plans.go.golden", text)

	// Every type that a plan can hold stands in the literals.
	for _, name := range planTypes(t) {
		if !strings.Contains(string(text), "plan."+name+"{") && !strings.Contains(string(text), "plan."+name+" {") && !elided[name] {
			t.Errorf("no literal of a plan.%s: add one to the plans of this test", name)
		}
	}
}

// elided are the types whose name the context gives, and Clause the like that are
// interfaces.
var elided = map[string]bool{"Clause": true, "Cond": true, "Expr": true, "Statement": true}

// planTypes returns the names of the struct types that package plan declares.
func planTypes(t *testing.T) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "../../gq/plan/plan.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.TYPE {
			continue
		}
		for _, s := range g.Specs {
			s := s.(*ast.TypeSpec)
			if _, ok := s.Type.(*ast.StructType); ok {
				names = append(names, s.Name.Name)
			}
		}
	}
	if !slices.Contains(names, "Traverse") {
		t.Fatal("package plan declares no Traverse: the test looks in the wrong file")
	}
	return names
}

func TestConstantsAreComplete(t *testing.T) {
	for typ, names := range constants {
		v := reflect.New(typ).Elem()
		v.SetUint(uint64(len(names)))
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s has a value after %s, which has no name here", typ, names[len(names)-1])
				}
			}()
			_ = v.MethodByName("String").Call(nil)[0].String()
		}()
	}
}

package plan_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/golden"
)

// everyNode is a plan with every kind of clause, condition and expression. everyStatement is one
// with every kind of statement. The plans need not make sense.
var everyNode = &plan.Query{
	Name: "every_node",
	Params: []plan.Param{
		{Name: "a", Type: value.Of(value.String)},
		{Name: "b", Type: value.Type{Kind: value.I32, List: true, Nullable: true}},
		{Name: "c", Type: value.Type{Kind: value.Vector, Dim: 2}},
		{Name: "d", Type: value.Type{Kind: value.String, Enum: []string{"x", "y-z"}}},
		{Name: "e", Type: value.Of(value.I32), Default: value.OfI32(20), Bounds: value.Bounds{Min: ptr(value.OfI32(1)), Max: ptr(value.OfI32(100))}},
		{Name: "f", Type: value.Type{Kind: value.String, List: true}, Pattern: pattern("^[a-z]"), Examples: []value.Value{value.OfString("ab"), value.OfString("c")}},
		{Name: "g", Type: plan.NodeType([]string{"Person", "Team"}).Optional(), Interface: "Named"},
	},
	Read: &plan.Read{
		Vars: []plan.Var{{Name: "p", Entity: plan.Node, Type: "Person"}, {Name: "_", Entity: plan.Node, Type: "Person"}, {Name: "k", Entity: plan.Edge, Type: "Knows"}, {Name: "o", Type: "Person", Optional: true}, {Name: "w", Entity: plan.Walk}},
		Match: []plan.Clause{
			plan.Bind{Var: 0},
			plan.Traverse{From: 0, To: 1, Edge: "Knows", EdgeVar: 2, Min: 1, Max: 1},
			plan.Traverse{From: 0, To: 1, Edge: "Knows", EdgeVar: plan.NoVar, Undirected: true, Walk: true, Min: 2, Max: 5},
			plan.Filter{Cond: plan.Compare{Op: plan.Contains, Left: plan.Prop{Var: 0, Name: "tags", Type: value.Type{Kind: value.String, List: true}}, Right: plan.Lit{Value: value.OfString("x`\n\"")}, Unless: plan.NoParam}},
			plan.Filter{Cond: plan.TextMatch{Kind: plan.Fuzzy, Prop: plan.Prop{Var: 0, Name: "name", Type: value.Of(value.String)}, Query: plan.ParamRef{Index: 0}, MaxEdits: plan.Lit{Value: value.OfI32(1)}}},
			plan.Exists{Match: []plan.Clause{plan.Bind{Var: 1}}},
			plan.Optional{Match: []plan.Clause{plan.Bind{Var: 3}}},
			plan.Any{Conds: []plan.Clause{
				plan.All{Conds: []plan.Clause{plan.Filter{Cond: plan.NullTest{Expr: plan.ID{Var: 1}}}, plan.Filter{Cond: plan.NullTest{Expr: plan.ParamRef{Index: 1}, Not: true}}}},
				plan.Filter{Cond: plan.Compare{Op: plan.In, Left: plan.ID{Var: 1}, Right: plan.ParamRef{Index: 1}, Unless: 1}},
				plan.Filter{Cond: plan.Compare{Op: plan.Matches, Left: plan.ID{Var: 1}, Right: plan.Lit{Value: value.OfString("^x")}, Unless: plan.NoParam}},
			}},
			plan.Traverse{From: 0, To: 1, Edge: "Knows", Or: []string{"Likes"}, EdgeVar: 4, Walk: true, Min: 0, Max: 3},
			plan.Not{Match: []plan.Clause{
				plan.Filter{Cond: plan.Compare{Op: plan.Eq, Left: plan.ID{Var: 1}, Right: plan.Endpoint{Var: 2, To: true}, Unless: 0}},
				plan.Filter{Cond: plan.Compare{Op: plan.Eq, Left: plan.EndNode{Var: 2, To: true, Interface: "Named"}, Right: plan.ParamRef{}, Unless: plan.NoParam}},
			}},
		},
		Columns: []plan.Column{
			{Name: "p", Expr: plan.Whole{Var: 0}, Fields: []plan.Field{{Name: "id", Type: value.Of(value.String)}}},
			{Name: "n", Expr: plan.Agg{Func: plan.Count, Arg: plan.Whole{Var: 0}}, Type: value.Of(value.I64)},
			{Name: "m", Expr: plan.Agg{Func: plan.Collect, Arg: plan.Whole{Var: 0}}, Type: value.Type{List: true}, Fields: []plan.Field{{Name: "id", Type: value.Of(value.String)}}},
			{Name: "l", Expr: plan.Agg{Func: plan.Collect, Distinct: true, Arg: plan.ID{Var: 0}}, Type: value.Type{Kind: value.String, List: true}},
			{Name: "m", Expr: plan.Matched{Match: plan.TextMatch{Kind: plan.Phrase, Query: plan.Lit{Value: value.OfString("q")}}}, Type: value.Of(value.Bool)},
			{Name: "now", Expr: plan.Now{}, Type: value.Of(value.DateTime)},
			{Name: "s", Expr: plan.BlockAgg{Func: plan.Count, Distinct: true, Match: []plan.Clause{plan.Bind{Var: 1}}, Arg: plan.ID{Var: 1}, Outer: []plan.VarID{0}}, Type: value.Of(value.I64)},
			{Name: "r", Expr: everyBlock, Type: everyBlock.Type(), Fields: everyBlock.Fields()},
			{Name: "f", Expr: plan.Member{Of: plan.BlockRows{First: true, Limit: 1}, Name: "x", Type: value.Of(value.I64)}, Type: value.Of(value.I64)},
			{Name: "by", Expr: plan.Origin{Var: 2, Fact: plan.OriginTool}, Type: plan.OriginTool.Type()},
			{Name: "nodes", Expr: plan.WalkPart{Var: 4, Fact: plan.WalkNodes, From: 1, To: 0}, Type: plan.WalkNodes.Type()},
		},
		Grouped: true,
		Having:  []plan.Clause{plan.Any{Conds: []plan.Clause{plan.Filter{Cond: plan.NullTest{Expr: plan.Agg{Func: plan.Count, Arg: plan.Whole{Var: 0}}}}}}},
		Order: []plan.Order{{Desc: true, Expr: plan.RRF{
			First:  plan.Nearest{Prop: plan.Prop{Var: 0, Name: "v", Type: value.Type{Kind: value.Vector, Dim: 2}}, Vector: plan.Lit{Value: value.OfVector([]float32{0.1, -2})}},
			Second: plan.BM25{Prop: plan.Prop{Var: 0, Name: "name", Type: value.Of(value.String)}, Query: plan.ParamRef{Index: 0}},
			K:      plan.Lit{Value: value.OfF64(60)},
		}}},
		Ties:    []plan.VarID{0, 1},
		Limit:   100,
		LimitBy: &plan.ParamRef{Index: 4},
	},
	Uses: []plan.Use{{Entity: plan.Edge, Type: "Knows", From: "Person", To: "Person", Write: true}},
}

// everyBlock is a `collect` block with every member set, and with records in its records.
var everyBlock = plan.BlockRows{
	Match: []plan.Clause{plan.Bind{Var: 1}},
	Columns: []plan.Column{
		{Name: "x", Expr: plan.ID{Var: 1}, Type: value.Of(value.String)},
		{Name: "w", Expr: plan.Whole{Var: 1}, Fields: []plan.Field{{Name: "id", Type: value.Of(value.String)}}},
	},
	Order: []plan.Order{{Expr: plan.ID{Var: 1}, Desc: true}}, Ties: []plan.VarID{1}, Limit: 3, Outer: []plan.VarID{0},
}

// ptr returns a pointer to v.
func ptr[T any](v T) *T { return &v }

// pattern compiles a regular expression that is valid.
func pattern(text string) *value.Pattern {
	p, err := value.NewPattern(text)
	if err != nil {
		panic(err)
	}
	return p
}

var everyStatement = &plan.Query{
	Name: "every_statement",
	Mutation: &plan.Mutation{Vars: []plan.Var{{Name: "n", Entity: plan.Edge, Type: "Knows"}}, Statements: []plan.Statement{
		plan.Insert{Entity: plan.Node, Type: "Person", Upsert: true, Set: []plan.Assign{{Name: "n", Value: plan.Old{Name: "n", Type: value.Of(value.I64)}}}},
		plan.ForEach{List: plan.ParamRef{Index: 1}, Var: "x", Statements: []plan.Statement{
			plan.Insert{Entity: plan.Edge, Type: "Knows", As: ptr(plan.VarID(0)), From: plan.Cell{Name: "$x", Type: value.Of(value.String)},
				To: plan.KeyOf{Node: "Person", Key: []plan.Assign{{Name: "name", Type: value.Of(value.String), Value: plan.ParamRef{Index: 0}}}}},
		}},
		plan.ForEach{Read: &plan.Read{Vars: []plan.Var{{Name: "p", Type: "Person"}}, Match: []plan.Clause{plan.Bind{}}, Limit: plan.NoLimit,
			Columns: []plan.Column{{Name: "$p.name", Expr: plan.Prop{Name: "name", Type: value.Of(value.String)}, Type: value.Of(value.String)}}},
			Statements: []plan.Statement{plan.Delete{Entity: plan.Edge, Type: "Knows", Where: []plan.Pred{
				{Name: "from", Op: plan.In, Value: plan.ParamRef{Index: 1}}, {Name: "to", Value: plan.Cell{Name: "$p.name"}},
				{Name: "to", Type: plan.NodeType([]string{"City", "Person"}), Value: plan.NodeRef{Type: plan.Lit{Value: value.OfString("City")}, ID: plan.ParamRef{Index: 0}}},
			}}}},
		plan.Insert{Entity: plan.Edge, Type: "Knows", From: plan.ParamRef{Index: 0}, To: plan.Lit{Value: value.OfString("a")}, ID: plan.ParamRef{Index: 1},
			Set: []plan.Assign{{Name: "since", Type: value.Of(value.Date), Value: plan.Lit{Value: value.OfDate(-1)}}}},
		plan.Insert{Type: "Person", New: true, Set: []plan.Assign{{Name: "name", Type: value.Of(value.String), Value: plan.ParamRef{Index: 0}}}},
		plan.Update{Type: "Person", Set: []plan.Assign{
			{Name: "a", Value: plan.Lit{Value: value.Null}},
			{Name: "b", Value: plan.Lit{Value: value.OfBool(true)}},
			{Name: "c", Value: plan.Lit{Value: value.OfI64(-1 << 63)}},
			{Name: "d", Value: plan.Lit{Value: value.OfU64(1<<64 - 1)}},
			{Name: "e", Value: plan.Lit{Value: value.OfF32(0.1)}},
			{Name: "f", Value: plan.Lit{Value: value.OfF64(1e300)}},
			{Name: "g", Value: plan.Lit{Value: value.OfDateTime(1714566600500_000)}},
			{Name: "h", Value: plan.Lit{Value: value.OfBlob([]byte("\x00\xff"))}},
			{Name: "i", Value: plan.Lit{Value: value.OfList(value.U32, []value.Value{value.OfU32(1)})}},
			{Name: "j", Value: plan.Now{}},
		}, Where: []plan.Pred{{Name: "id", Type: value.Of(value.String), Op: plan.StartsWith, Value: plan.Lit{Value: value.OfString("p")}}}},
		plan.Delete{Entity: plan.Node, Type: "Person", Where: []plan.Pred{{Name: "x", Op: plan.Ge, Value: plan.Now{}}}},
	}, Returns: []plan.Column{{Name: "id", Expr: plan.ID{Var: 0}, Type: value.Of(value.String)}}},
}

var everything = []*plan.Query{everyNode, everyStatement, {Name: "nothing"}, {Read: &plan.Read{Vars: []plan.Var{}}}, asOfLiteral, validAt, validDuring}

// validAt and validDuring are reads about a time.
var (
	validAt     = &plan.Query{Name: "at", Params: []plan.Param{{Name: "d", Type: value.Of(value.Date)}}, Read: &plan.Read{Vars: []plan.Var{}, Valid: &plan.Valid{From: plan.ParamRef{}}}}
	validDuring = &plan.Query{Name: "during", AsOf: plan.Lit{Value: value.OfDateTime(1)}, Read: &plan.Read{Vars: []plan.Var{}, Valid: &plan.Valid{From: plan.Lit{Value: value.OfDate(1)}, To: plan.Now{}}}}
)

// asOfLiteral is a read of the past.
var asOfLiteral = &plan.Query{Name: "as_of", AsOf: plan.Lit{Value: value.OfDateTime(1)}, Read: &plan.Read{Vars: []plan.Var{}}}

func TestEncode(t *testing.T) {
	for _, want := range everything {
		s := plan.Encode(want)
		got, err := plan.Decode(s)
		if err != nil {
			t.Errorf("%s: %v", want.Name, err)
			continue
		}
		if diff := cmp.Diff(want, got, cmp.Comparer(value.Equal)); diff != "" {
			t.Errorf("%s: encoded (-), decoded (+)\n%s", want.Name, diff)
		}
		if !reflect.DeepEqual(want, got) {
			t.Errorf("%s: decoded to different slices or pointers", want.Name)
		}
	}
}

// TestEncodingStands compares the encoded bytes with a golden file. If the bytes change, the first
// byte of the encoding must change too, because Decode uses the first byte to recognise packages of
// another version.
func TestEncodingStands(t *testing.T) {
	var text strings.Builder
	for _, q := range everything {
		for line := range slices.Chunk([]byte(plan.Encode(q)), 64) {
			text.WriteString(strconv.QuoteToASCII(string(line)) + "\n")
		}
	}
	golden.Check(t, "testdata/encoding.golden", []byte(text.String()))
}

// TestEncodesEveryType checks that the plans of this file contain each struct type of the
// package.
func TestEncodesEveryType(t *testing.T) {
	found := map[string]bool{}
	for _, q := range everything {
		note(reflect.ValueOf(q), found)
	}
	for _, name := range structTypes(t) {
		if !found[name] {
			t.Errorf("no plan holds a plan.%s: add one to the plans of this file", name)
		}
	}
}

// note adds the names of the struct types that v contains.
func note(v reflect.Value, found map[string]bool) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			note(v.Elem(), found)
		}
	case reflect.Slice:
		for i := range v.Len() {
			note(v.Index(i), found)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[value.Value]() || v.Type() == reflect.TypeFor[value.Pattern]() {
			return
		}
		found[v.Type().Name()] = true
		for i := range v.NumField() {
			note(v.Field(i), found)
		}
	}
}

// structTypes returns the names of the struct types that plan.go declares.
func structTypes(t *testing.T) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "plan.go", nil, parser.SkipObjectResolution)
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
		t.Fatal("plan.go declares no Traverse: the test looks in the wrong file")
	}
	return names
}

func TestDecodeFaults(t *testing.T) {
	for _, q := range everything {
		s := plan.Encode(q)
		for n := range len(s) {
			if _, err := plan.Decode(s[:n]); err == nil {
				t.Errorf("%s: the first %d of %d bytes decode", q.Name, n, len(s))
			}
		}
	}
	whole := plan.Encode(everyNode)
	for name, s := range map[string]string{
		"an older gq": "\x01" + whole[1:], "bytes too many": whole + "\x00", "a place of no string": whole[:1] + "\x09", "a number too long": whole[:1] + strings.Repeat("\xff", 12),
	} {
		if _, err := plan.Decode(s); err == nil || !strings.Contains(err.Error(), "run gq generate") {
			t.Errorf("%s: found %v, expected an error that says what to run", name, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, q := range everything {
		f.Add(plan.Encode(q))
	}
	f.Fuzz(func(t *testing.T, s string) {
		q, err := plan.Decode(s)
		if err != nil {
			return
		}
		once := plan.Encode(q)
		again, err := plan.Decode(once)
		if err != nil {
			t.Fatalf("%q does not decode: %v", once, err)
		}
		if twice := plan.Encode(again); twice != once {
			t.Errorf("%q was encoded again as %q", once, twice)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	s := plan.Encode(everyNode)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		if _, err := plan.Decode(s); err != nil {
			b.Fatal(err)
		}
	}
}

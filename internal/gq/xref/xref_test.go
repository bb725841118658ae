package xref_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
	"github.com/omnigraph-go/omnigraph/internal/gq/xref"
)

// corpora lists the folders of the repository with a schema and valid queries.
func corpora(t testing.TB) []string {
	dirs := []string{"../../../queries/code", "../../../codegen/testdata/corpus"}
	more, err := filepath.Glob("../../../gq/testdata/corpus/*")
	if err != nil || len(more) < 4 {
		t.Fatalf("the corpora of package gq: %v %v", more, err)
	}
	return append(dirs, more...)
}

func read(t testing.TB, path string) gq.Source {
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return gq.Source{Name: path, Text: string(b)}
}

// TestUses compares the types, properties and variables that Read finds in valid queries with the
// plans of the checker. The test fails if Read does not understand a construct.
func TestUses(t *testing.T) {
	queries := 0
	for _, dir := range corpora(t) {
		schema, faults := gq.CompileSchema(read(t, dir+"/schema.pg"))
		if faults.HasErrors() {
			t.Fatal(faults)
		}
		files, err := filepath.Glob(dir + "/*.gq")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			src := read(t, path)
			compiled, faults := gq.CompileQueries(schema, src)
			if faults.HasErrors() {
				t.Fatal(faults)
			}
			found := xref.Read(schema, src.Name, src.Text)
			for _, q := range compiled {
				queries++
				uses := nameUses(schema, found, q)
				if diff := gocmp.Diff(planUses(q.Plan, uses), uses); diff != "" {
					t.Errorf("%s: query %s: -in the plan +found:\n%s", path, q.Plan.Name, diff)
				}
				if diff := gocmp.Diff(planVars(q.Plan), nameVars(found, q)); diff != "" {
					t.Errorf("%s: query %s: variables: -in the plan +found:\n%s", path, q.Plan.Name, diff)
				}
			}
		}
	}
	if queries < 150 {
		t.Errorf("the corpora have %d queries; the test saw too few to mean anything", queries)
	}
}

// planUses lists the types and properties that a plan uses, and the node types of its parameters. A whole node in a column, and a node
// with its key at an end of an edge, use properties that the query does not name; planUses lists these only if they are in `found`.
func planUses(p *plan.Query, found []string) []string {
	var uses []string
	whole := map[string]bool{} // the types of whole nodes
	columns, vars := []plan.Column(nil), []plan.Var(nil)
	if p.Read != nil {
		columns, vars = p.Read.Columns, p.Read.Vars
	} else {
		columns, vars = p.Mutation.Returns, p.Mutation.Vars
	}
	for _, c := range columns {
		plan.WalkExpr(c.Expr, func(e plan.Expr) {
			if w, ok := e.(plan.Whole); ok {
				whole[vars[w.Var].Type] = true
			}
		})
	}
	if p.Mutation != nil {
		p.Mutation.Walk(func(st plan.Statement) {
			if ins, ok := st.(plan.Insert); ok && ins.Entity == plan.Edge {
				for _, end := range []plan.Expr{ins.From, ins.To} {
					plan.WalkExpr(end, func(e plan.Expr) {
						if key, ok := e.(plan.KeyOf); ok {
							whole[key.Node] = true
							uses = append(uses, fmt.Sprintf("%v %s", xref.Node, key.Node))
						}
					})
				}
			}
		})
	}
	for _, param := range p.Params {
		if param.Node != "" {
			uses = append(uses, fmt.Sprintf("%v %s", xref.Node, param.Node))
		}
	}
	for _, u := range p.Uses {
		if text := fmt.Sprintf("%v %s.%s", xref.EntityOf(u.Entity), u.Type, u.Property); whole[u.Type] && u.Property != "" && !slices.Contains(found, text) {
			continue
		}
		use := u.Type
		if u.Property != "" {
			use += "." + u.Property
		}
		uses = append(uses, fmt.Sprintf("%v %s", xref.EntityOf(u.Entity), use))
	}
	return sorted(uses)
}

// inQuery reports whether a name is in a query.
func inQuery(n *xref.Name, q *gq.Query) bool {
	return q.Span.Start.Offset <= n.Pos.Offset && n.Pos.Offset < q.Span.End.Offset
}

// nameUses lists the types and properties that the names of a query refer to, and the types of the nodes
// at which the variables are.
func nameUses(s *catalog.Schema, src *xref.Source, q *gq.Query) []string {
	var uses []string
	for i := range src.Names {
		n := &src.Names[i]
		if !inQuery(n, q) || n.Type == "" {
			continue
		}
		switch n.Kind {
		case xref.Type, xref.Variable, xref.Parameter:
			uses = append(uses, fmt.Sprintf("%v %s", n.Entity, n.Type))
			if e := s.Edge(n.Type); e != nil && n.Entity == xref.Edge && q.Plan.Read != nil {
				for _, to := range []bool{false, true} { // an end may be $_, which has no type here
					if name, shared := e.End(to); !shared {
						uses = append(uses, fmt.Sprintf("%v %s", xref.Node, name))
					}
				}
			}
		case xref.Property:
			uses = append(uses, fmt.Sprintf("%v %s", n.Entity, n.Type))
			if xref.PropertyOf(s, n.Entity, n.Type, n.Text()) != nil {
				uses = append(uses, fmt.Sprintf("%v %s.%s", n.Entity, n.Type, n.Text()))
			}
		default:
		}
	}
	return sorted(uses)
}

// planVars lists the named variables of a read with their types.
func planVars(p *plan.Query) []string {
	var vars []string
	if p.Read != nil {
		for _, v := range p.Read.Vars {
			entity := xref.EntityOf(v.Entity)
			if v.Type == "" { // a walk
				entity = xref.NoEntity
			}
			if v.Name != "_" {
				vars = append(vars, fmt.Sprintf("%v $%s: %s", entity, v.Name, v.Type))
			}
		}
	}
	return sorted(vars)
}

// nameVars lists the variables of a read that Read found, with their types.
func nameVars(src *xref.Source, q *gq.Query) []string {
	var vars []string
	for i := range src.Names {
		n := &src.Names[i]
		if q.Plan.Read != nil && n.Kind == xref.Variable && n.Value != "$_" && inQuery(n, q) {
			vars = append(vars, fmt.Sprintf("%v %s: %s", n.Entity, n.Value, n.Type))
		}
	}
	return sorted(vars)
}

func sorted(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// TestKinds checks the kind of each name in two small sources.
func TestKinds(t *testing.T) {
	schema, faults := gq.CompileSchema(gq.Source{Name: "s.pg", Text: schemaText})
	if faults.HasErrors() {
		t.Fatal(faults)
	}
	for _, test := range []struct {
		file, text string
		want       []string
	}{
		{"s.pg", schemaText, []string{
			"node keyword", "Person declares Node Person", "implements keyword", "Named Interface Named",
			"kind declares Node Person.kind", "enum keyword", "lead enum", "key annotation", "email declares Node Person.email", "String scalar",
			"unique annotation", "email Node Person.email",
			"interface keyword", "Named declares Interface Named", "name declares Interface Named.name", "String scalar",
			"edge keyword", "Knows declares Edge Knows", "Person Node Person", "Person Node Person", "since declares Edge Knows.since", "Date scalar",
		}},
		{"q.gq", `query q($p: Person, $n: String @default("a")) @mcp(tool_name: "t") { match { $p2: Person { email: $n } $p2 $k:knows $x not { $x knows $y } not { $x knows $y } $k.since is not null } return { $x.name as who, count($x) as n } order { who desc } }`, []string{
			"query keyword", "q declares query q", "$p declares parameter Person", "Person Node Person", "$n declares parameter ", "String scalar", "default annotation",
			"mcp annotation", "tool_name argument", "match keyword", "$p2 declares variable Person", "Person Node Person", "email Node Person.email", "$n parameter ",
			"$p2 variable Person", "$k declares variable Knows", "knows Edge Knows", "$x declares variable Person",
			"not keyword", "$x variable Person", "knows Edge Knows", "$y declares variable Person",
			"not keyword", "$x variable Person", "knows Edge Knows", "$y declares variable Person",
			"$k variable Knows", "since Edge Knows.since", "is keyword", "not keyword", "null keyword",
			"return keyword", "$x variable Person", "name Node Person.name", "as keyword", "who declares column", "count function", "$x variable Person", "as keyword", "n declares column",
			"order keyword", "who column", "desc keyword",
		}},
		{"past.gq", `query past($t: DateTime) as of $t { match { $p: Person } return { $p.name as of } }`, []string{
			"query keyword", "past declares query past", "$t declares parameter ", "DateTime scalar", "as keyword", "of keyword", "$t parameter ", "match keyword",
			"$p declares variable Person", "Person Node Person", "return keyword", "$p variable Person", "name Node Person.name", "as keyword", "of declares column",
		}},
		{"valid.pg", "edge Knows: Person -> Person @valid(since, until) { since: Date until: Date? }", []string{
			"edge keyword", "Knows declares Edge Knows", "Person Node Person", "Person Node Person", "valid annotation", "since Edge Knows.since", "until Edge Knows.until",
			"since declares Edge Knows.since", "Date scalar", "until declares Edge Knows.until", "Date scalar",
		}},
		{"valid.gq", "query v($t: Date) { match valid during $t, now() { $p: Person } return { $p.name as at, $p.email as valid } order { at, valid, during } }", []string{
			"query keyword", "v declares query v", "$t declares parameter ", "Date scalar", "match keyword", "valid keyword", "during keyword", "$t parameter ", "now function",
			"$p declares variable Person", "Person Node Person", "return keyword", "$p variable Person", "name Node Person.name", "as keyword", "at declares column",
			"$p variable Person", "email Node Person.email", "as keyword", "valid declares column", "order keyword", "at column", "valid column", "during column",
		}},
		{"m.gq", `query m($e: String) { insert Person { email: $e } update Person set { name: "b" } where email = $e delete Knows where from = $e }`, []string{
			"query keyword", "m declares query m", "$e declares parameter ", "String scalar", "insert keyword", "Person Node Person", "email Node Person.email", "$e parameter ",
			"update keyword", "Person Node Person", "set keyword", "name Node Person.name", "where keyword", "email Node Person.email", "$e parameter ",
			"delete keyword", "Knows Edge Knows", "where keyword", "from Edge Knows.from", "$e parameter ",
		}},
		{"new.gq", `query n($new: String) { $new2 = insert new Person { email: $new } match { $p: Person } { delete Knows where from = $p } return { $new2.name as new } order { new } }`, []string{
			"query keyword", "n declares query n", "$new declares parameter ", "String scalar", "$new2 declares variable Person", "insert keyword", "new keyword", "Person Node Person", "email Node Person.email", "$new parameter ",
			"match keyword", "$p declares variable Person", "Person Node Person", "delete keyword", "Knows Edge Knows", "where keyword", "from Edge Knows.from", "$p variable Person",
			"return keyword", "$new2 variable Person", "name Node Person.name", "as keyword", "new declares column", "order keyword", "new column",
		}},
		{"broken.gq", "query q() { match { $p: Person $p.", []string{
			"query keyword", "q declares query q", "match keyword", "$p declares variable Person", "Person Node Person", "$p variable Person",
		}},
	} {
		t.Run(test.file, func(t *testing.T) {
			var got []string
			for _, n := range xref.Read(schema, test.file, test.text).Names {
				got = append(got, describe(n))
			}
			if diff := gocmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestInterfaceEnds checks the kinds of the names at the ends of edges, and the types of variables that traversals of such edges
// give: the interface, unless a traversal of the same block gives a node type.
func TestInterfaceEnds(t *testing.T) {
	const text = `node Person implements Named {}
node Memo implements Named {}
node Team {}
interface Named { name: String }
interface Team { size: I32 }
edge Knows: Person -> Person
edge About: Memo -> Named
edge Of: Team -> Named`
	schema, faults := gq.CompileSchema(gq.Source{Name: "s.pg", Text: text})
	if faults.HasErrors() {
		t.Fatal(faults)
	}
	for _, test := range []struct{ file, text, want string }{
		{"s.pg", text, "Named Interface, Named Interface, Person Node, Person Node, Memo Node, Named Interface, Team Node, Named Interface"},
		{"q.gq", "query q() { match { $m about $x } return { $x } }", "$m Memo, $x Named"},
		{"q.gq", "query q() { match { $m about $x $x knows $y } return { $x } }", "$m Memo, $x Person, $y Person"},
		{"q.gq", "query q() { match { $x knows $y $m about $x } return { $x } }", "$x Person, $y Person, $m Memo"},
		{"q.gq", "query q() { match { $m about $x not { $x knows $y } } return { $x } }", "$m Memo, $x Named, $y Person"},
		{"q.gq", "query q() { match { $x: Named $m about $x $x knows $y } return { $x } }", "$x Named, $m Memo, $y Person"},
		{"q.gq", "query q() { match { $p: Person $p about $m } return { $m } }", "$p Person, $m Memo"},
		{"q.gq", "query q() { match { $m: Memo $x about $m } return { $m } }", "$m Memo, $x Memo"},
	} {
		var got []string
		seen := map[string]bool{}
		for _, n := range xref.Read(schema, test.file, test.text).Names {
			switch {
			case n.Kind == xref.Variable && !seen[n.Value]:
				seen[n.Value] = true
				got = append(got, n.Value+" "+n.Type)
			case n.Kind == xref.Type && !n.Decl && test.file == "s.pg":
				got = append(got, n.Value+" "+[]string{"", "Node", "Edge", "Interface"}[n.Entity])
			}
		}
		if found := strings.Join(got, ", "); found != test.want {
			t.Errorf("%s:\nfound %s\nwant  %s", test.text, found, test.want)
		}
	}
}

const schemaText = `node Person implements Named {
  kind: enum(lead) @key
  email: String
  @unique(email)
}
interface Named { name: String }
edge Knows: Person -> Person { since: Date? }`

func describe(n xref.Name) string {
	text := n.Value + " "
	if n.Decl {
		text += "declares "
	}
	entity := []string{"", "Node", "Edge", "Interface"}[n.Entity]
	switch n.Kind {
	case xref.Type:
		return text + entity + " " + n.Type
	case xref.Property:
		return text + entity + " " + n.Type + "." + n.Text()
	case xref.Variable, xref.Parameter:
		return text + []string{xref.Variable: "variable", xref.Parameter: "parameter"}[n.Kind] + " " + n.Type
	}
	return text + map[xref.Kind]string{
		xref.Keyword: "keyword", xref.Scalar: "scalar", xref.Query: "query " + n.Text(), xref.Function: "function", xref.Column: "column",
		xref.Annotation: "annotation", xref.Argument: "argument", xref.EnumValue: "enum", xref.Unknown: "unknown",
	}[n.Kind]
}

// TestScopes checks that two blocks can each have their own variable of the same name, and that a
// variable of the match is the same variable inside a block.
func TestScopes(t *testing.T) {
	schema, _ := gq.CompileSchema(gq.Source{Name: "s.pg", Text: schemaText})
	const text = `query q() { match { not { $a knows $x } $a: Person not { $a knows $x } optional { $a knows $o } $o is null } return { $a, $o } }`
	keys := map[string]map[xref.Key]int{}
	for _, n := range xref.Read(schema, "q.gq", text).Names {
		if n.Kind == xref.Variable {
			if keys[n.Value] == nil {
				keys[n.Value] = map[xref.Key]int{}
			}
			keys[n.Value][n.Key()]++
		}
	}
	for name, want := range map[string]int{"$a": 1, "$x": 2, "$o": 1} {
		if len(keys[name]) != want {
			t.Errorf("%s is %d variables, want %d: %v", name, len(keys[name]), want, keys[name])
		}
	}
}

// FuzzRead reads arbitrary texts, and asks for the fields of every token and the context of every offset.
func FuzzRead(f *testing.F) {
	for _, dir := range corpora(f) {
		paths, _ := filepath.Glob(dir + "/*.[gp][qg]")
		for _, path := range paths {
			text := read(f, path).Text
			f.Add(text[:min(len(text), 2000)], filepath.Ext(path) == ".pg")
		}
	}
	schema, _ := gq.CompileSchema(gq.Source{Name: "s.pg", Text: schemaText})
	f.Fuzz(func(t *testing.T, text string, isSchema bool) {
		name := "x.gq"
		if isSchema {
			name = "x.pg"
		}
		src := xref.Read(schema, name, text)
		for i, n := range src.Names {
			if text[n.Pos.Offset:n.Pos.Offset+len(n.Value)] != n.Value && n.Token.Type != syntax.String {
				t.Fatalf("name %d is %q, but the text there differs", i, n.Value)
			}
			if i > 0 && src.Names[i-1].Pos.Offset >= n.Pos.Offset {
				t.Fatalf("name %d is not after the one before it", i)
			}
			if got := src.At(n.Pos.Offset); got == nil || got.Pos.Offset != n.Pos.Offset {
				t.Fatalf("At(%d) is %v, want %q", n.Pos.Offset, got, n.Value)
			}
		}
		for _, token := range src.Tokens {
			for _, field := range src.Fields(token) {
				if field.Name == "" || !strings.Contains(text, field.Name) {
					t.Fatalf("%s has the field %q", token.Value, field.Name)
				}
			}
		}
		for at := 0; at <= min(len(text), 300); at++ {
			c := xref.ContextAt(schema, name, src, at)
			if c.From > at || c.To < at || c.To > len(text) {
				t.Fatalf("the word at %d is from %d to %d", at, c.From, c.To)
			}
		}
	})
}

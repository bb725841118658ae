package model_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/codegen/model"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
)

func compile(t *testing.T, schema string, queries ...gq.Source) (*catalog.Schema, []*gq.Query) {
	t.Helper()
	s, diags := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: schema})
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	qs, diags := gq.CompileQueries(s, queries...)
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	return s, qs
}

func build(t *testing.T, schema string, queries ...gq.Source) (*model.Package, diag.List) {
	t.Helper()
	s, qs := compile(t, schema, queries...)
	return model.Build(model.Input{Graph: "g", Schema: s, Source: gq.Source{Name: "schema.pg", Text: schema}, Sources: queries, Queries: qs})
}

const codesSchema = "node Person { slug: String @key  first_name: String  firstName: String?  age: I32?  @range(age, 0..150) }"

func TestCodes(t *testing.T) {
	for _, c := range model.Codes {
		t.Run(string(c.Code), func(t *testing.T) {
			sources := []gq.Source{{Name: "a.gq", Text: c.Example}}
			switch c.Code {
			case model.FileCollides:
				text := "query q() { match { $p: Person } return { $p.slug } }"
				sources = []gq.Source{{Name: "a/x-y.gq", Text: text}, {Name: "b/x_y.gq", Text: strings.Replace(text, "q()", "r()", 1)}}
			case model.NoSuchQuery:
				t.Skip("it comes from a configuration: TestSelected of package codegen")
			case model.PackageCollides:
				t.Skip("it comes from a configuration: TestOnePackage")
			}
			_, diags := build(t, codesSchema, sources...)
			if len(diags) == 0 {
				t.Fatal("the example has no fault")
			}
			for _, d := range diags {
				if d.Code != c.Code {
					t.Errorf("found %v, expected %s only", d, c.Code)
				}
				if d.Help == "" {
					t.Errorf("%v has no help", d)
				}
			}
		})
	}
}

func TestCollisionNamesBoth(t *testing.T) {
	_, diags := build(t, codesSchema, gq.Source{Name: "a.gq", Text: "query find_user() { match { $p: Person } return { $p.slug } }\n" +
		"query findUser() { match { $p: Person } return { $p.slug } }\n" +
		"query whole() { match { $p: Person } return { $p } }"})
	if len(diags) != 2 {
		t.Errorf("found %d faults, expected one for the queries and one for the properties", len(diags))
	}
	text := diags.Error()
	for _, want := range []string{"find_user", "findUser", "FindUser", "first_name and firstName", "a.gq:2", "query find_user at a.gq:1:"} {
		if !strings.Contains(text, want) {
			t.Errorf("the diagnostics do not name %s:\n%s", want, text)
		}
	}
}

func TestToolClashes(t *testing.T) {
	const query = "query %s() %s { match { $p: Person } return { $p.slug } }\n"
	long := "a" + strings.Repeat("_b", 20) // 41 characters
	tests := []struct {
		queries  string
		code     diag.Code
		severity diag.Severity
		want     string
	}{
		{strings.NewReplacer("%s() %s", "one()").Replace(query) + strings.NewReplacer("%s() %s", `two() @mcp(tool_name: "one")`).Replace(query),
			model.ToolNameTaken, diag.Error, "the tool name one of query two is already the name of query one at a.gq:1:"},
		{strings.NewReplacer("%s() %s", `q() @mcp(tool_name: "schema_get")`).Replace(query), model.ToolNameTaken, diag.Error, "is already the name of a built-in tool"},
		{strings.NewReplacer("%s() %s", `q() @mcp(tool_name: "stored_query_run")`).Replace(query), model.ToolNameTaken, diag.Error, "is already the name of a built-in tool"},
		{strings.NewReplacer("%s() %s", `q() @mcp(tool_name: "`+long+`")`).Replace(query), model.LongToolName, diag.Warning, "has 41 characters"},
		{strings.NewReplacer("%s() %s", `q() @mcp(tool_name: "`+strings.Repeat("x", 65)+`")`).Replace(query), model.BadToolName, diag.Error, "1 to 64 characters"},
	}
	for _, tt := range tests {
		pkg, diags := build(t, codesSchema, gq.Source{Name: "a.gq", Text: tt.queries})
		if len(diags) != 1 || diags[0].Code != tt.code || diags[0].Severity != tt.severity || !strings.Contains(diags[0].Message, tt.want) {
			t.Errorf("found %v, expected one %s with %q in\n%s", diags, tt.code, tt.want, tt.queries)
		}
		if (pkg == nil) != (tt.severity == diag.Error) {
			t.Errorf("a %s leaves the package %v", tt.severity, pkg)
		}
	}
	if _, diags := build(t, codesSchema, gq.Source{Name: "a.gq", Text: strings.NewReplacer("%s() %s", `q() @mcp(tool_name: "`+long[1:]+`")`).Replace(query)}); len(diags) != 0 {
		t.Errorf("a name of 40 characters: found %v", diags)
	}
}

// TestPlaces checks the place of each fault, and the place of the other declaration in its message.
func TestPlaces(t *testing.T) {
	const schema = `interface Named { source: enum(git, svn) }
node Task { slug: String @key }
node Artifact implements Named {
  slug: String @key
  size: enum(in-stock, in_stock)
}
node ArtifactSource { slug: String @key  enum: enum(a) }
`
	tests := []struct {
		name, schema, queries string
		want                  string // code, place and a part of the message
	}{
		{"two values of an enum", schema, "",
			"G1 s.pg:5:24 ArtifactSizeInStock, which is the name of the value in-stock of the enum of Artifact.size at s.pg:5:14"},
		{"an enum of an interface", "interface Named { kind_x: enum(a) }\nnode A implements Named { slug: String @key }\nnode AKind { x: enum(b) }", "",
			"G1 s.pg:3:14 AKindX, which is the name of the enum of A.kind_x at s.pg:1:19"},
		{"a query and the rows of another", "node Task { slug: String @key }", "query task() { match { $t: Task } return { $t.slug } }\n  query task_row() { match { $t: Task } return { $t.slug } }",
			"G1 q.gq:2:9 query task_row would be declared in Go as TaskRow, which is the name of the rows of query task at q.gq:1:7"},
		{"two columns", "node Task { slug: String @key }", "query q() {\n  match { $t: Task }\n  return { $t.slug as a_b, $t.slug as aB }\n}",
			"G3 q.gq:3:39 column aB of query q would become the Go field AB, but a_b at q.gq:3:23 already has that field name"},
		{"two parameters", "node Task { slug: String @key }", "query q($a_b: String, $aB: String) { match { $t: Task { slug: $a_b } $t.slug = $aB } return { $t.slug } }",
			"G2 q.gq:1:23 parameter $aB of query q would become the Go field AB, but $a_b at q.gq:1:9 already has that field name"},
		{"a tool's name", "node Task { slug: String @key }", "query q() @mcp(tool_name: \"graph_query\") { match { $t: Task } return { $t.slug } }",
			"G5 q.gq:1:27 is already the name of a built-in tool"},
		{"a query's name as a tool's", "node Task { slug: String @key }", "query a() @mcp(tool_name: \"b\") { match { $t: Task } return { $t.slug } }\nquery b() { match { $t: Task } return { $t.slug } }",
			"G5 q.gq:2:7 the tool name b of query b is already the name of query a at q.gq:1:27"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, diags := model.Compile(model.Input{
				Graph: "g", Source: gq.Source{Name: "s.pg", Text: tt.schema}, Sources: []gq.Source{{Name: "q.gq", Text: tt.queries}},
			})
			code, rest, _ := strings.Cut(tt.want, " ")
			at, message, _ := strings.Cut(rest, " ")
			if len(diags) != 1 || string(diags[0].Code) != code || diags[0].Span.String() != at || !strings.Contains(diags[0].Message, message) {
				t.Errorf("found %v, want %s", diags, tt.want)
			}
		})
	}
}

// TestEnumCollides gives a query the name of an enum property, and another one the name of a value of the enum.
func TestEnumCollides(t *testing.T) {
	_, diags := build(t, "node Artifact { slug: String @key  source: enum(git, svn) }",
		gq.Source{Name: "q.gq", Text: "query artifact_source() { match { $a: Artifact } return { $a.source } }\nquery artifact_source_git() { match { $a: Artifact } return { $a.source } }"})
	text := diags.Error()
	for _, want := range []string{
		"query artifact_source would be declared in Go as ArtifactSource, which is the name of the enum of Artifact.source at schema.pg:1:",
		"query artifact_source_git would be declared in Go as ArtifactSourceGit, which is the name of the value git of the enum of Artifact.source",
	} {
		if len(diags) != 2 || !strings.Contains(text, want) {
			t.Errorf("found %s\nexpected %s", text, want)
		}
	}
}

func TestOnePackage(t *testing.T) {
	at := func(graph string) diag.Span { return diag.Span{File: graph, Start: diag.Pos{Line: 4, Column: 3}} }
	diags := model.OnePackage([]string{"a-b", "b", "ab"}, at)
	if len(diags) != 1 || diags[0].Span != at("ab") || !strings.Contains(diags[0].Message, "which is the package of graph a-b at a-b:4:3") {
		t.Errorf("found %v", diags)
	}
}

// TestNodesAndEdgesApart uses a node and an edge with the same name and the same enum property.
// Nodes and edges have separate name spaces, so the generated types must not collide.
func TestNodesAndEdgesApart(t *testing.T) {
	s, _ := compile(t, "node Rating { slug: String @key  level: enum(a) }\nedge Rating: Rating -> Rating { level: enum(b) }")
	pkg, diags := model.Build(model.Input{Graph: "g", Schema: s})
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	if a, b := pkg.Enums[0].GoName, pkg.Enums[1].GoName; a != "RatingLevel" || b != "RatingLevelEdge" {
		t.Errorf("found %s and %s", a, b)
	}
}

const hintsSchema = `
node Keyed { slug: String @key  at: DateTime? }
node Plain { text: String }
edge Links: Keyed -> Keyed
`

func TestHints(t *testing.T) {
	tests := []struct {
		body                              string
		readOnly, destructive, idempotent bool
	}{
		{`{ match { $k: Keyed } return { $k.slug } }`, true, false, true},
		{`{ insert Keyed { slug: $s } }`, false, true, true},
		{`{ insert Keyed { slug: $s, at: now() } }`, false, true, false},
		{`{ insert Keyed { slug: $s, at: now() - days(1) } }`, false, true, false},
		{`{ insert new Keyed { slug: $s } }`, false, false, false},
		{`{ insert Plain { text: $s } }`, false, false, false},
		{`{ insert Links { from: $s, to: $s } }`, false, false, false},
		{`{ insert Keyed { slug: $s } insert Links { from: $s, to: $s } }`, false, true, false},
		{`{ update Plain set { text: "x" } where text = $s }`, false, true, false},
		{`{ delete Plain where text = $s }`, false, true, false},
		{`@mcp(idempotent: true) { delete Plain where text = $s }`, false, true, true},
		{`@mcp(idempotent: false) { insert Keyed { slug: $s } }`, false, true, false},
	}
	for _, tt := range tests {
		pkg, diags := build(t, hintsSchema, gq.Source{Name: "a.gq", Text: "query q($s: String) " + tt.body})
		if err := diags.Err(); err != nil {
			t.Fatal(err)
		}
		h := pkg.Queries()[0].Tool
		if h.ReadOnly != tt.readOnly || h.Destructive != tt.destructive || h.Idempotent != tt.idempotent {
			t.Errorf("%s: found read-only %v, destructive %v, idempotent %v; expected %v, %v, %v",
				tt.body, h.ReadOnly, h.Destructive, h.Idempotent, tt.readOnly, tt.destructive, tt.idempotent)
		}
	}
}

const inheritSchema = `
node Item {
  slug: String @key @description("The name of the item.")
  size: enum(small, large) @description("How big it is.")
  shade: enum(small, large, none)
  count: I32 @description("How many.")
  serial: I64 @description("Its number.")
  code: String @description("Its code.")
  odd: String
  @range(count, 1..10)
  @range(serial, 0..)
  @check(code, "^[A-Z]{2,4}$")
  @check(odd, "(?i)x")
}
edge Part: Item -> Item
`

func TestInherit(t *testing.T) {
	tests := []struct {
		name, typ, match, want string // want: description|enum|minimum|maximum|pattern
	}{
		{"equality", "String", "$i: Item { size: $p }", "How big it is.|small,large|||"},
		{"filter", "String", `$i: Item $p = $i.size`, "How big it is.|small,large|||"},
		{"inequality describes only", "String", "$i: Item $i.size != $p", "How big it is.||||"},
		{"two enums that differ", "String", "$i: Item { size: $p, shade: $p }", "How big it is.||||"},
		{"inside not", "I32", "$i: Item not { $i part $j $j.count = $p }", "How many.||||"},
		{"bounds", "I32", "$i: Item { count: $p }", "How many.||1|10|"},
		{"bounds of another kind", "F64", "$i: Item $i.count = $p", "How many.||1|10|"},
		{"no bounds by order", "I32", "$i: Item $i.count > $p", "How many.||||"},
		{"64 bits", "I64", "$i: Item { serial: $p }", "Its number. At least 0.||||"},
		{"pattern", "String", "$i: Item { code: $p }", "Its code.||||^[A-Z]{2,4}$"},
		{"pattern of RE2 only", "String", "$i: Item { odd: $p }", "||||"},
		{"search", "String", "$i: Item search($i.code, $p)", "Its code.||||"},
		{"a node", "Item", "$i: Item $i = $p", "The id of an Item: its slug.||||"},
		{"a node that nothing uses", "Item", "$i: Item", "The id of an Item: its slug.||||"},
		{"in a list", "[String]", "$i: Item $i.size in $p", "How big it is.|small,large|||"},
		{"in a list inside any", "[String]", "$i: Item any { $i.size in $p $i.count = 1 }", "How big it is.||||"},
		{"in a list property", "[I32]", "$i: Item $i.count in $p", "How many.||||"},
		{"computed", "String", "$i: Item $i.size = lower($p)", "How big it is.||||"},
		{"another spelling of the argument", "String", "$i: Item $i.code = coalesce(trim($p), $i.code)", "Its code.||||"},
		{"compared with a computed value", "I32", "$i: Item $i.count * 2 > $p + 1", "||||"},
		{"compared with a sum", "I32", "$i: Item $i.count > $p + 1", "||||"},
		{"compared with a length", "I32", "$i: Item length($i.code) > $p", "||||"},
		{"compared with another spelling", "String", "$i: Item lower($i.size) = $p", "||||"},
		{"compared with a product", "I64", "$i: Item $i.serial * 2 = $p", "||||"},
		{"compared with a count in a block", "I64", "$i: Item count { $i part $j } > $p", "||||"},
		{"within an expression", "String", `$i: Item if($i.size = $p, 1, 2) = 1`, "How big it is.||||"},
		{"in a block as a value", "I32", `$i: Item (exists { $i part $j $j.count = $p }) = true`, "How many.||||"},
		{"id", "String", "$i: Item $i.id = $p", "The id of an Item: its slug.||||"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pkg, diags := build(t, inheritSchema, gq.Source{Name: "a.gq",
				Text: "query q($p: " + tt.typ + ") { match { " + tt.match + " } return { $i.slug } }"})
			if err := diags.Err(); err != nil {
				t.Fatal(err)
			}
			p := pkg.Queries()[0].Params[0]
			got := strings.Join([]string{p.Doc, strings.Join(p.Type.Enum, ","), p.Minimum, p.Maximum, p.Pattern}, "|")
			if got != tt.want {
				t.Errorf("found %s, expected %s", got, tt.want)
			}
		})
	}
}

func TestOwnDescriptionWins(t *testing.T) {
	pkg, _ := build(t, inheritSchema, gq.Source{Name: "a.gq",
		Text: `query q($p: I32 @description("Mine.")) { match { $i: Item { count: $p } } return { $i.slug } }`})
	if p := pkg.Queries()[0].Params[0]; p.Doc != "Mine." || p.Maximum != "10" {
		t.Errorf("found %+v", p)
	}
}

// TestInheritNoAggregate compares parameters with aggregates. What the rows are counted or computed from does
// not describe them.
func TestInheritNoAggregate(t *testing.T) {
	for _, having := range []string{"count($i.slug)", "count($e.id)", "count(distinct $i.code)", "sum($i.count)", "max($i.count)", "min($i.serial)"} {
		pkg, diags := build(t, inheritSchema, gq.Source{Name: "a.gq",
			Text: "query q($p: I64) { match { $i: Item  $i $e: part $j } return { $j.slug as to, " + having + " as n } having { n > $p } }"})
		if err := diags.Err(); err != nil {
			t.Errorf("%s: %v", having, err)
			continue
		}
		if p := pkg.Queries()[0].Params[0]; p.Doc+p.Minimum+p.Maximum+p.Pattern != "" || p.Enum != nil {
			t.Errorf("%s: the parameter is described as %q, from %q to %q, pattern %q", having, p.Doc, p.Minimum, p.Maximum, p.Pattern)
		}
	}
}

// TestOne checks which reads have a function for their only row.
func TestOne(t *testing.T) {
	const schema = "node Person { slug: String @key  name: String }\nnode Seat { row: I32  number: I32  @key(row, number) }\nedge Knows: Person -> Person { since: Date? }"
	for body, want := range map[string]bool{
		"($s: String) { match { $p: Person { slug: $s } } return { $p.name } }":                                                     true,
		"($s: String) { match { $p: Person  $p.id = $s } return { $p.name } }":                                                      true,
		"($s: Person) { match { $p: Person  $p = $s } return { $p.name } }":                                                         true,
		"($s: String) { match { $p: Person { name: $s } } return { $p.slug } limit 1 }":                                             true,
		"($r: I32, $n: I32) { match { $s: Seat { row: $r, number: $n } } return { $s.id as id } }":                                  true,
		"() { match { $p: Person } return { count($p) as people } }":                                                                true,
		"($s: String?) { match { $p: Person { slug: $s? } } return { $p.name } }":                                                   false,
		"($s: String) { match { $p: Person { name: $s } } return { $p.slug } }":                                                     false,
		"($r: I32) { match { $s: Seat { row: $r } } return { $s.id as id } }":                                                       false,
		"($s: String) { match { $p: Person { slug: $s } $p knows $q } return { $q.name } }":                                         false,
		"($s: String, $o: String) { match { $p: Person { slug: $s } $q: Person { slug: $o } $p $k:knows $q } return { $k.since } }": false,
		"($s: String, $n: I32 @range(1..5)) { match { $p: Person { name: $s } } return { $p.slug } limit $n }":                      false,
	} {
		pkg, diags := build(t, schema, gq.Source{Name: "a.gq", Text: "query q" + body})
		if err := diags.Err(); err != nil {
			t.Fatal(err)
		}
		if q := pkg.Queries()[0]; q.One != want {
			t.Errorf("query q%s: found %t, expected %t", body, q.One, want)
		}
	}
	_, diags := build(t, schema, gq.Source{Name: "a.gq", Text: "query q() { match { $p: Person } return { count($p) as people } }\nquery q_one() { match { $p: Person } return { $p.slug } }"})
	if text := diags.Error(); !strings.Contains(text, "query q_one would be declared in Go as QOne, which is the name of the function for the only row of query q") {
		t.Errorf("found %s", text)
	}
}

// TestIDs checks the types of ids: of parameters, and of the columns that show ids of one node type.
func TestIDs(t *testing.T) {
	const schema = "interface Named { name: String }\nnode Person implements Named { slug: String @key }\nnode Named { slug: String @key }\nedge Knows: Person -> Person\nedge Likes: Person -> Named"
	pkg, diags := build(t, schema, gq.Source{Name: "a.gq", Text: `query q($who: Person, $slug: String) {
  match { $p: Person  $p = $who  $p.slug = $slug  $p $k:knows $q  $n: Named }
  return { $p, $p.id as id, min($q.id) as least, $k.to as to, $k.id as edge, $p.slug as slug, $n.id as named }
}`})
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	var types, got []string
	for _, id := range pkg.IDs {
		types = append(types, id.GoName)
	}
	if want := []string{"PersonID", "NamedID", "NamedInterfaceID"}; !slices.Equal(types, want) {
		t.Errorf("found the types %q, expected %q", types, want)
	}
	name := func(id *model.ID) string {
		if id == nil {
			return "-"
		}
		return id.GoName
	}
	q := pkg.Queries()[0]
	for _, p := range q.Params {
		got = append(got, p.Name+" "+name(p.ID))
	}
	got = append(got, "p.id "+name(q.Columns[0].Record.Fields[0].ID))
	for _, c := range q.Columns[1:] {
		got = append(got, c.Name+" "+name(c.ID))
	}
	if want := []string{"who PersonID", "slug -", "p.id PersonID", "id PersonID", "least PersonID", "to PersonID", "edge -", "slug -", "named NamedID"}; !slices.Equal(got, want) {
		t.Errorf("found %q, expected %q", got, want)
	}
	_, diags = build(t, schema, gq.Source{Name: "a.gq", Text: "query person_id() { match { $p: Person } return { $p.slug } }"})
	if text := diags.Error(); !strings.Contains(text, "PersonID, which is the name of the id of node type Person at schema.pg:2:6") {
		t.Errorf("found %s", text)
	}
}

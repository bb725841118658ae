package servedtest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Source is the text of the schema.
const Source = `node Person {
  name: String @key
  age: I32?
  big: I64?
  score: F64?
  born: Date?
  seen: DateTime?
  tags: [String]?
}
edge Knows: Person -> Person
`

// queries is the text of the stored queries.
const queries = `
query find_person($name: String @description("The name."), $min: I32?)
  @description("Finds a person by name.") @mcp(tool_name: "lookup_person", title: "Look up a person") {
  match { $p: Person { name: $name } $p.age >= $min? }
  return { $p.name, $p.age }
}
query everyone() @description("Lists everyone.") @mcp(title: "Everyone") {
  match { $p: Person }
  return { $p.name, $p.age, $p.big, $p.score, $p.born, $p.seen, $p.tags, $p }
}
query add_person($name: String) @description("Adds a person, or replaces one.") @mcp(title: "Add a person") {
  insert Person { name: $name }
}
query secret() @mcp(expose: false) {
  match { $p: Person }
  return { $p.name }
}
`

// misfit is the text of a query for another schema, where a Person has a height.
const misfit = `
query misfit() {
  match { $p: Person }
  return { $p.height }
}
`

// stored is a stored query like a generated one, but without the typed struct.
type stored struct {
	desc tool.Descriptor
	info tool.QueryInfo
	plan *plan.Query
}

func (q *stored) Descriptor() *tool.Descriptor { return &q.desc }
func (q *stored) Info() *tool.QueryInfo        { return &q.info }
func (q *stored) Plan() *plan.Query            { return q.plan }
func (q *stored) Params() []plan.Param         { return q.plan.Declared() }

// Schema returns the schema of Source.
func Schema(t testing.TB) *catalog.Schema { return SchemaOf(t, Source) }

// SchemaOf compiles the text of a schema.
func SchemaOf(t testing.TB, text string) *catalog.Schema {
	t.Helper()
	s, faults := gq.CompileSchema(gq.Source{Name: "people.pg", Text: text})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	return s
}

// Catalog returns these stored queries: find_person, a read that is the tool lookup_person;
// everyone, a read without parameters; add_person, a mutation; secret, a read that is not
// exposed; and misfit, which was compiled for another schema.
func Catalog(t testing.TB) *tool.Catalog {
	t.Helper()
	other := SchemaOf(t, strings.Replace(Source, "age: I32?", "age: I32? height: I32?", 1))
	compiled := append(compile(t, Schema(t), queries), compile(t, other, misfit)...)
	return &tool.Catalog{Graph: "people", SchemaDigest: "sha256:test", Queries: serve(compiled)}
}

// Queries compiles the stored queries of a text against the schema of Source.
func Queries(t testing.TB, text string) []tool.StoredQuery {
	t.Helper()
	return serve(compile(t, Schema(t), text))
}

// QueriesOf is like [Queries], for another schema.
func QueriesOf(t testing.TB, s *catalog.Schema, text string) []tool.StoredQuery {
	t.Helper()
	return serve(compile(t, s, text))
}

// serve makes stored queries of compiled queries.
func serve(compiled []*gq.Query) (all []tool.StoredQuery) {
	for _, q := range compiled {
		name, reads := q.ToolName, q.Plan.Read != nil
		if name == "" {
			name = q.Plan.Name
		}
		all = append(all, &stored{
			desc: tool.Descriptor{
				Name: name, Title: q.Title, Description: q.Description, InputSchema: inputSchema(q.Plan),
				ReadOnly: reads, Idempotent: true, Destructive: !reads,
			},
			info: tool.QueryInfo{
				Name: q.Plan.Name, Exposed: q.Expose, Description: q.Description, Instruction: q.Instruction, Questions: q.Questions, MustBeEmpty: q.MustBeEmpty,
				Mutation: !reads, ParamDocs: q.ParamDocs, File: q.File,
			},
			plan: q.Plan,
		})
	}
	return all
}

// Claims are the claims that the queries of the tests may use. A graph serves such queries only if its configuration has these claims too.
var Claims = plan.Claims{"age": value.Of(value.I32).Optional(), "region": value.Of(value.String).Optional()}

// compile compiles the queries of a text against a schema.
func compile(t testing.TB, s *catalog.Schema, text string) []*gq.Query {
	t.Helper()
	compiled, faults := gq.Options{Claims: Claims}.CompileQueries(s, gq.Source{Name: "people.gq", Text: text})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	return compiled
}

// inputSchema returns an input schema that does not describe the parameters, because the
// tests only check that the schema is passed on.
func inputSchema(q *plan.Query) json.RawMessage {
	names := []string{}
	for _, p := range q.Declared() {
		if !p.Optional() {
			names = append(names, p.Name)
		}
	}
	b, err := json.Marshal(map[string]any{
		"type": "object", "required": []string{}, "additionalProperties": false,
		"properties": map[string]any{
			"params": map[string]any{"type": "object", "required": names},
			"branch": map[string]any{"type": "string"},
		},
	})
	if err != nil {
		panic(err) // strings in maps always encode
	}
	return b
}

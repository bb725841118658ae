package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/golden"
)

const catalogSchema = `interface Named { name: String @description("What it is called.") }
node Person implements Named {
  slug: String @key
  age: I32?
  tags: [String]?
  state: enum(here, gone)
  likeness: Vector(4)? @embed("name", model="m")
  @range(age, 0..150)
  @check(slug, "^[a-z]+$")
  @unique(name, age)
}
node Team @description("People who work together.") { name: String }
edge Knows: Person -> Person @card(0..3) @description("One knows another.") { since: Date? }
edge In: Person -> Team
`

const catalogQueries = `query find($slug: String @description("Which."), $least: I32?) @description("Find one.") {
  match { $p: Person { slug: $slug } $p.age >= $least? }
  return { $p, $p.name as name, $p.tags as tags }
  limit 1
}
query join($slug: String) @description("Join.") @mcp(tool_name: "join_person") { insert Person { slug: $slug, name: $slug, state: "here" } }
query hidden() @mcp(expose: false) { match { $t: Team } return { count($t) as teams } }
`

func TestCatalog(t *testing.T) {
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	module(t, map[string]string{
		"schema.pg": catalogSchema, "q/a.gq": catalogQueries, "bad.gq": "query bad() { match { $p: Nobody } return { $p.x } }\n",
		"cluster.yaml": "version: 1\nstorage: ./data\ngraphs:\n  people: { schema: schema.pg, queries: q/ }\n  others: { schema: schema.pg, queries: [] }\n",
	})
	printed := map[string]string{}
	for _, format := range []string{"table", "json"} {
		code, stdout, stderr := gqRun("catalog", "--graph", "people", "--format", format)
		if code != exitDone || stderr != "" {
			t.Fatalf("exit %d\n%s", code, stderr)
		}
		printed[format] = stdout
	}
	if _, stdout, _ := gqRun("catalog", "--schema", "schema.pg", "--queries", "q", "--graph", "people"); stdout != printed["json"] {
		t.Errorf("without cluster.yaml, and into a pipe, it is\n%s", stdout)
	}
	// The JSON form can also be the earlier state that gq breaking compares with.
	if code, _, stderr := gqRun("generate"); code != exitDone {
		t.Fatal(stderr)
	}
	if err := os.WriteFile("before.json", []byte(printed["json"]), 0o644); err != nil {
		t.Fatal(err)
	}
	// The contract covers one graph, so the comparison leaves out the other graph.
	if code, stdout, stderr := gqRun("breaking", "--against", "before.json"); code != exitDone || stdout != "0 breaking, 0 safe\n" {
		t.Errorf("breaking: exit %d\n%s%s", code, stdout, stderr)
	}
	var contract, doc struct{ Queries []json.RawMessage }
	text, err := os.ReadFile("generated/people/catalog.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &contract); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(printed["json"]), &doc); err != nil {
		t.Fatal(err)
	}
	for i, q := range contract.Queries {
		if string(q) != string(doc.Queries[i]) {
			t.Errorf("the contract has\n%s\nbut gq catalog prints\n%s", q, doc.Queries[i])
		}
	}
	for _, tt := range []struct {
		args, want string
		code       int
	}{
		{"", "--graph is missing, and cluster.yaml has more than one graph; choose one of people, others", exitUsage},
		{"--graph peple", `cluster.yaml has no graph "peple"; choose one of people, others`, exitFailed},
		{"--queries q", "--schema and --queries must be given together", exitUsage},
		{"--format csv", `--format is "csv"; use table or json`, exitUsage},
		{"--schema schema.pg --queries bad.gq", "Nobody", exitFailed},
		{"--schema none.pg", "none.pg", exitFailed},
		{"people", "the command takes only flags", exitUsage},
	} {
		code, stdout, stderr := gqRun(append([]string{"catalog"}, strings.Fields(tt.args)...)...)
		if code != tt.code || stdout != "" || !strings.Contains(stderr, tt.want) {
			t.Errorf("gq catalog %s: exit %d, want %q\n%s%s", tt.args, code, tt.want, stdout, stderr)
		}
	}
	t.Chdir(wd)
	golden.Check(t, "testdata/catalog/people.text", []byte(printed["table"]))
	golden.Check(t, "testdata/catalog/people.json", []byte(printed["json"]))
}

package builtin_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/guide"
	"github.com/omnigraph-go/omnigraph/internal/naive"
	"github.com/omnigraph-go/omnigraph/internal/server/builtin"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

// oddSchemas are schemas with names that could collide with variables, parameters and keywords.
var oddSchemas = map[string]string{
	"keywords":   "node Match { limit: String @key } node Not { match: Bool } edge Contains: Match -> Match { order: I32 } edge Return: Not -> Match",
	"w":          "node W { w: I32 } edge E: W -> W { w: I32 w2: I32? }",
	"own name":   "node Name { name: String @key } node Name2 { name: String @key } edge Words: Name -> Name edge Of: Name2 -> Name",
	"both sides": "node A { a2: I32? } node B { a: I32? } edge Ab: A -> B edge Ba: B -> A edge Aa: A -> A { a: I32? a2: I32? }",
}

// testSchemas returns the text of each schema in the repository that compiles, by its name.
func testSchemas(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for name, text := range oddSchemas {
		all[name] = text
	}
	root := filepath.Join("..", "..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || path == filepath.Join(root, "data")) {
			return filepath.SkipDir
		}
		if d.IsDir() || filepath.Ext(path) != ".pg" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if _, faults := gq.CompileSchema(gq.Source{Name: path, Text: string(text)}); !faults.HasErrors() {
			all[path] = string(text)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found := len(all) - len(oddSchemas); found < 18 {
		t.Fatalf("found %d schemas that compile, expected at least 18", found)
	}
	return all
}

// TestDescribedClauses pastes each clause of the answer of type_describe into a query and runs the
// query on a graph with one edge. A clause among the outgoing edges must match the described node
// as the source of that edge. A clause among the incoming edges must match it as the target.
func TestDescribedClauses(t *testing.T) {
	edges, loops := 0, 0
	for name, text := range testSchemas(t) {
		t.Run(name, func(t *testing.T) {
			schema := servedtest.SchemaOf(t, text)
			for _, n := range schema.Nodes {
				g := emptyGraph(t, text)
				g.pasteExamples(t, g.describe(t, n.Name, "node"), n.Properties)
			}
			for _, e := range schema.Edges {
				g := emptyGraph(t, text)
				starts, ends := schema.EndsAt(e, false), schema.EndsAt(e, true)
				if len(starts) == 0 || len(ends) == 0 {
					continue // no type implements the interface
				}
				fromType, toType := starts[0], ends[len(ends)-1]
				from, to := g.insert(t, fromType, 0), g.insert(t, toType, 1)
				line, _ := json.Marshal(map[string]any{
					"edge": e.Name, "from": endOf(e.FromInterface, fromType, from), "to": endOf(e.ToInterface, toType, to), "data": properties(e.Properties, 0),
				})
				g.load(t, string(line))
				edges++
				if e.From == e.To {
					loops++
				}

				source, target := g.describe(t, fromType.Name, "node"), g.describe(t, toType.Name, "node")
				out := clauseOf(t, source.EdgesOut, e.Name)
				g.expect(t, []string{source.Clause, out}, variableOf(source.Clause), from, to)
				in := clauseOf(t, target.EdgesIn, e.Name)
				g.expect(t, []string{target.Clause, in}, variableOf(target.Clause), to, from)

				edge := g.describe(t, e.Name, "edge")
				first := variableOf(edge.Clause)
				g.expect(t, []string{first + ": " + edge.From, edge.Clause}, first, from, to)
				g.pasteExamples(t, edge, e.Properties)
			}
		})
	}
	if edges < 60 || loops < 15 {
		t.Errorf("tried %d edges, %d of them between nodes of one type; expected at least 60 and 15", edges, loops)
	}
}

// endOf returns an end of an edge as a line of a load has it. The flag says that the end is at an interface.
func endOf(isInterface bool, n *catalog.Node, id string) any {
	if isInterface {
		return map[string]string{"type": n.Name, "id": id}
	}
	return id
}

// describedGraph is a served graph of any schema.
type describedGraph struct {
	config servedgraph.Config
	served *servedgraph.Graph
}

// emptyGraph serves a graph without nodes. The graph ignores the rules about values and the number
// of edges, so that a test can fill it without knowing these rules. No clause depends on the rules.
func emptyGraph(t *testing.T, text string) *describedGraph {
	t.Helper()
	schema := servedtest.SchemaOf(t, text)
	for _, n := range schema.Nodes {
		n.Unique, n.Ranges, n.Checks = nil, nil, nil
	}
	for _, e := range schema.Edges {
		e.Unique, e.Card = nil, nil
	}
	g := naive.New(text, schema, naive.Sound)
	t.Cleanup(func() { g.Close() })
	c := servedgraph.Config{
		ID: "described", Graph: g, Builtins: builtin.All("1"), Authorizer: servedtest.Policy{}, Version: "1",
		Logger: slog.New(slog.DiscardHandler),
	}
	return &describedGraph{c, servedtest.Graph(t, c)}
}

func (g *describedGraph) load(t *testing.T, line string) {
	t.Helper()
	if _, err := g.config.Graph.Load(t.Context(), strings.NewReader(line), engine.LoadOptions{Mode: engine.Append}); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
}

// insert inserts a node and returns its id. Each node of a type must have a different number.
func (g *describedGraph) insert(t *testing.T, n *catalog.Node, number int) string {
	t.Helper()
	before := g.ids(t, n.Name)
	line, err := json.Marshal(map[string]any{"type": n.Name, "data": properties(n.Properties, number)})
	if err != nil {
		t.Fatal(err)
	}
	g.load(t, string(line))
	for _, id := range g.ids(t, n.Name) {
		if !slices.Contains(before, id) {
			return id
		}
	}
	t.Fatalf("%s inserts nothing", line)
	return ""
}

func (g *describedGraph) ids(t *testing.T, typ string) []string {
	t.Helper()
	var ids []string
	for _, row := range g.rows(t, "query q() { match { $x: "+typ+" } return { $x.id as a, $x.id as b } }") {
		ids = append(ids, row.A)
	}
	return ids
}

// pair is a row with two columns.
type pair struct{ A, B string }

// rows runs a query with the columns a and b.
func (g *describedGraph) rows(t *testing.T, query string) []pair {
	t.Helper()
	args, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := g.served.Call(t.Context(), servedtest.Reader, "graph_query", args, encoding.Options{})
	if err != nil {
		t.Fatalf("%s\n%v", query, err)
	}
	var rows struct{ Rows []struct{ A, B any } }
	if err := json.Unmarshal(answer.JSON, &rows); err != nil {
		t.Fatal(err)
	}
	var pairs []pair
	for _, row := range rows.Rows {
		pairs = append(pairs, pair{fmt.Sprint(row.A), fmt.Sprint(row.B)}) // a property called id may be a number
	}
	return pairs
}

// describe returns the answer of type_describe for the type of the given kind.
func (g *describedGraph) describe(t *testing.T, name, kind string) builtin.TypeAnswer {
	t.Helper()
	got, status := call(t, g.config, g.served, servedtest.Reader, "type_describe", map[string]any{"name": name})
	var answer builtin.DescribeAnswer
	if err := json.Unmarshal([]byte(got), &answer); status != 0 || err != nil {
		t.Fatalf("%s: status %d, %v: %s", name, status, err, got)
	}
	i := slices.IndexFunc(answer.Types, func(a builtin.TypeAnswer) bool { return a.Kind == kind })
	if i < 0 {
		t.Fatalf("%s: no type of kind %s in %s", name, kind, got)
	}
	return answer.Types[i]
}

// expect runs a match of the clauses. The result must be one row. In it, the node of the variable
// `described` must have the id `here`, and the node of the other variable must have the id `there`.
func (g *describedGraph) expect(t *testing.T, clauses []string, described, here, there string) {
	t.Helper()
	last := clauses[len(clauses)-1]
	fields := strings.Fields(last)
	other := fields[0]
	if other == described {
		other = fields[2]
	}
	query := fmt.Sprintf("query q() { match { %s } return { %s.id as a, %s.id as b } }", strings.Join(clauses, "\n"), described, other)
	if got := g.rows(t, query); len(got) != 1 || got[0] != (pair{here, there}) {
		t.Errorf("%s\nanswers %v, expected %s beside %s", query, got, here, there)
	}
}

// pasteExamples compiles the example of each property together with the clause of its type.
func (g *describedGraph) pasteExamples(t *testing.T, a builtin.TypeAnswer, props []*catalog.Property) {
	t.Helper()
	schema, err := g.config.Graph.Schema(t.Context(), engine.Target{})
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range a.Properties {
		if p.Example == "" {
			continue
		}
		_, param := guide.Filter("$x", props[i], guide.Usual(props[i].Type))
		query := fmt.Sprintf("query q(%s) { match { %s\n%s } return { %s.id } }", param, a.Clause, p.Example, variableOf(a.Clause))
		if _, faults := gq.CompileQueries(schema.Catalog, gq.Source{Name: "q.gq", Text: query}); faults.HasErrors() {
			t.Errorf("%s\n%v", query, faults)
		}
	}
}

func clauseOf(t *testing.T, edges []builtin.EdgeAnswer, name string) string {
	t.Helper()
	i := slices.IndexFunc(edges, func(e builtin.EdgeAnswer) bool { return e.Edge == name })
	if i < 0 {
		t.Fatalf("%s is not among %v", name, edges)
	}
	return edges[i].Clause
}

var variableName = regexp.MustCompile(`^\$\w+`)

// variableOf returns the variable at the start of a clause.
func variableOf(clause string) string { return variableName.FindString(clause) }

// properties returns a value for each property that must have one. Different numbers give different
// values.
func properties(props []*catalog.Property, number int) map[string]any {
	values := map[string]any{}
	for _, p := range props {
		if p.Type.Nullable {
			continue
		}
		v := scalar(p.Type, number)
		if p.Type.List {
			v = []any{v}
		}
		values[p.Name] = v
	}
	return values
}

func scalar(typ value.Type, number int) any {
	switch {
	case len(typ.Enum) > 0:
		return typ.Enum[number%len(typ.Enum)]
	case typ.Kind == value.Vector:
		elems := make([]float64, typ.Dim)
		elems[0] = float64(number + 1)
		return elems
	case typ.Kind.IsNumeric():
		return number
	}
	switch typ.Kind {
	case value.Bool:
		return number == 1
	case value.Date:
		return fmt.Sprintf("2026-01-%02d", number+1)
	case value.DateTime:
		return fmt.Sprintf("2026-01-%02dT00:00:00Z", number+1)
	case value.Decimal:
		return fmt.Sprintf("0.%d", number+1)
	case value.Duration:
		return fmt.Sprintf("PT%dS", number+1)
	case value.Blob:
		return "base64:aGk="
	}
	return fmt.Sprintf("value %d", number)
}

package servedgraph_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/jsonschema/schematest"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/builtin"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/metatools"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// many returns a configuration with n further stored queries, which read people by age, and
// a hidden query with a similar name.
func many(t testing.TB, n int) servedgraph.Config {
	t.Helper()
	c := servedtest.Config(t, builtin.All("1")...)
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "query aged_%02d($least_%d: I32) @description(\"Lists people of %d years or more.\") { match { $p: Person $p.age >= $least_%d } return { $p.name } }\n", i, i, i, i)
	}
	text.WriteString(`query aged_secretly() @mcp(expose: false) { match { $p: Person } return { $p.name } }`)
	c.Catalog.Queries = append(c.Catalog.Queries, servedtest.Queries(t, text.String())...)
	return c
}

func names(t testing.TB, g *servedgraph.Graph, actor *access.Actor) []string {
	t.Helper()
	seen, err := g.Tools(context.Background(), actor)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range seen {
		names = append(names, d.Name)
	}
	return names
}

// TestModes checks that the number of exposed and served queries decides the mode. Hidden
// queries and queries that do not fit the schema do not count.
func TestModes(t *testing.T) {
	for _, tt := range []struct {
		extra, threshold int
		meta             bool
	}{
		{20, 0, false}, {21, 0, true}, {40, 44, false}, {40, 43, true}, {0, 3, true}, {0, 4, false}, {0, 1, true},
	} {
		c := many(t, tt.extra) // number of queries in addition to three exposed queries
		c.MetaThreshold = tt.threshold
		g := servedtest.Graph(t, c)
		got := names(t, g, servedtest.Writer)
		pair := slices.Contains(got, metatools.ListQueries) && slices.Contains(got, metatools.RunQuery)
		if g.Meta() != tt.meta || pair != tt.meta || slices.Contains(got, "everyone") == tt.meta {
			t.Errorf("%d more queries, threshold %d: meta %t, tools %v", tt.extra, tt.threshold, g.Meta(), got)
		}
	}
}

// TestPairIsSeen checks that the meta tools are visible exactly to the actors that may run a query.
// The hints of the tools must follow from the queries that the actor may run.
func TestPairIsSeen(t *testing.T) {
	g := servedtest.Graph(t, many(t, 30))
	for _, tt := range []struct {
		actor *access.Actor
		hints string // hints of the tool that runs queries; "" if the meta tools are not visible
	}{
		{servedtest.Writer, "false true true"}, // may run add_person
		{servedtest.Reader, "false true true"}, // may invoke add_person, but the change is denied
		{servedtest.Bot, "true false true"},    // may run only find_person
		{servedtest.Nobody, ""},
		{nil, ""},
	} {
		seen, err := g.Tools(context.Background(), tt.actor)
		if err != nil {
			t.Fatal(err)
		}
		hints, listed := "", false
		for _, d := range seen {
			switch d.Name {
			case metatools.RunQuery:
				hints = fmt.Sprint(d.ReadOnly, d.Destructive, d.Idempotent)
			case metatools.ListQueries:
				listed = true
				if !d.ReadOnly || d.Destructive || !d.Idempotent {
					t.Errorf("the list has the hints %+v", d)
				}
			}
		}
		if hints != tt.hints || listed != (tt.hints != "") {
			t.Errorf("%+v sees the list: %t, and runs with the hints %q, want %q", tt.actor, listed, hints, tt.hints)
		}
		for _, name := range []string{metatools.ListQueries, metatools.RunQuery} {
			_, err := g.Lookup(context.Background(), tt.actor, name)
			if (err == nil) != listed {
				t.Errorf("%+v looks up %s: %v", tt.actor, name, err)
			}
		}
	}
	for _, d := range append(g.Descriptors(), g.Variants()...) {
		if err := errors.Join(schematest.CheckInput(d.InputSchema), schematest.CheckOutput(d.OutputSchema)); d.OutputSchema != nil && err != nil {
			t.Errorf("%s: %v", d.Name, err)
		}
	}
}

func TestQueryList(t *testing.T) {
	g := servedtest.Graph(t, many(t, 30))
	for _, tt := range []struct {
		name  string
		actor *access.Actor
		args  string
		want  string // the names in order, then total, page, pages and the nearest; or the text of the error
	}{
		{"all", servedtest.Reader, `{}`, "lookup_person everyone *add_person aged_00 aged_01 aged_02 aged_03 aged_04 aged_05 aged_06 aged_07 aged_08 aged_09 aged_10 aged_11 aged_12 aged_13 aged_14 aged_15 aged_16 aged_17 aged_18 aged_19 aged_20 aged_21 aged_22 aged_23 aged_24 aged_25 aged_26 aged_27 aged_28 aged_29 33 1 1"},
		{"the last page", servedtest.Reader, `{"filter":"least_12","page":6}`, "aged_25 aged_26 aged_27 aged_28 aged_29 30 6 6"},
		{"past it", servedtest.Reader, `{"page":2}`, "page: page 2 does not exist; there are 1 pages; start with page 1"},
		{"no page", servedtest.Reader, `{"page":0}`, "page: found 0, expected 1 or more"},
		{"mutations", servedtest.Reader, `{"kind":"mutation"}`, "*add_person 1 1 1"},
		{"by name", servedtest.Reader, `{"filter":"lookup"}`, "lookup_person 1 1 1"},
		{"by description", servedtest.Reader, `{"filter":"27"}`, "aged_27 1 1 1"},
		{"by parameter", servedtest.Reader, `{"filter":"least_12"}`, "aged_12 aged_00 aged_01 aged_02 aged_03 30 1 6"},
		{"by a synonym", servedtest.Reader, `{"filter":"register"}`, "add_person 1 1 1"},
		{"of a kind", servedtest.Reader, `{"filter":"person","kind":"mutation"}`, "add_person 1 1 1"},
		{"nothing", servedtest.Reader, `{"filter":"zzz"}`, " 0 1 1; nearest lookup_person everyone add_person aged_00 aged_01"},
		{"misspelt", servedtest.Reader, `{"filter":"lokup"}`, "lookup_person 1 1 1"},
		{"hidden", servedtest.Writer, `{"filter":"secretly"}`, " 0 1 1; nearest lookup_person everyone add_person aged_00 aged_01"},
		{"what one may run", servedtest.Bot, `{}`, "lookup_person 1 1 1"},
		{"what one may not", servedtest.Bot, `{"filter":"years"}`, " 0 1 1; nearest lookup_person"},
		{"unknown member", servedtest.Reader, `{"filtr":"x"}`, "filtr: unknown member; did you mean filter?"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := g.Call(context.Background(), tt.actor, metatools.ListQueries, json.RawMessage(tt.args), g.ForModel())
			if err != nil {
				if err.Error() != tt.want {
					t.Errorf("got %v, want %s", err, tt.want)
				}
				return
			}
			var a metatools.QueryListAnswer
			if err := json.Unmarshal(got.JSON, &a); err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, line := range a.Lines {
				name, _, _ := strings.Cut(line, "(")
				names = append(names, name)
			}
			for _, q := range a.Queries {
				names = append(names, q.Name)
			}
			text := fmt.Sprint(strings.Join(names, " "), " ", a.Total, " ", a.Page, " ", a.Pages)
			if a.Nearest != nil {
				text += "; nearest " + strings.Join(a.Nearest, " ")
			}
			if text != tt.want {
				t.Errorf("got %s, want %s", text, tt.want)
			}
		})
	}
	list, err := g.Lookup(context.Background(), servedtest.Reader, metatools.ListQueries)
	if err != nil || !strings.Contains(string(list.Descriptor().InputSchema), `"page":{"type":"integer","maximum":2147483647,"minimum":1,`) {
		t.Errorf("%v, %s", err, list.Descriptor().InputSchema)
	}
	got, err := g.Call(context.Background(), servedtest.Bot, metatools.ListQueries, json.RawMessage(`{"filter":"lookup"}`), g.ForModel())
	want := `{"queries":[{"name":"lookup_person","title":"Look up a person","description":"Finds a person by name.","kind":"read","params":{"required":["name"],"type":"object"},"columns":["p.name","p.age"]}],"total":1,"page":1,"pages":1}`
	if err != nil || string(got.JSON) != want {
		t.Errorf("got %s, %v, want %s", got.JSON, err, want)
	}
}

func TestRunQuery(t *testing.T) {
	c := many(t, 30)
	g := servedtest.Graph(t, c)
	unknown := func(name, help string) string {
		return `{"error":"name: there is no stored query \"` + name + `\"; ` + help + `","code":"bad_request"}`
	}
	for _, s := range []step{
		{"a read", servedtest.Bot, metatools.RunQuery, `{"name":"lookup_person","params":{"name":"ada"}}`,
			`{"query_name":"find_person","target":{"branch":"main","snapshot":null},"columns":["p.name","p.age"],"rows":[["ada",36]],"row_count":1,"graph_commit_id":"HEAD"}`},
		{"a snapshot", servedtest.Reader, metatools.RunQuery, `{"name":"everyone","snapshot":"HEAD"}`, `"row_count":3,"graph_commit_id":"HEAD"`},
		{"a dry run", servedtest.Writer, metatools.RunQuery, `{"name":"add_person","params":{"name":"dan"},"dry_run":true}`, `"graph_commit_id":null,"dry_run":true,"node_changes":{"inserted":1,"updated":0,"deleted":0},"edge_changes":{"inserted":0,"updated":0,"deleted":0}}`},
		{"a mutation", servedtest.Writer, metatools.RunQuery, `{"name":"add_person","params":{"name":"dan"},"if_commit":"HEAD"}`, `"affected_nodes":1`},
		{"inner denied", servedtest.Reader, metatools.RunQuery, `{"name":"add_person","params":{"name":"dan"}}`, `the policy does not allow change on branch main`},
		{"dry run of a read", servedtest.Reader, metatools.RunQuery, `{"name":"everyone","dry_run":true}`, `dry_run: does not apply to a read; a read changes nothing`},
		{"snapshot of a mutation", servedtest.Writer, metatools.RunQuery, `{"name":"add_person","params":{"name":"dan"},"snapshot":"HEAD"}`, `snapshot: does not apply to a mutation`},
		{"bad parameter", servedtest.Bot, metatools.RunQuery, `{"name":"lookup_person","params":{"nme":"ada"}}`, `params.nme: unknown parameter; did you mean name?`},
		{"no name", servedtest.Reader, metatools.RunQuery, `{}`, `name: missing, expected a string`},
		{"unknown member", servedtest.Reader, metatools.RunQuery, `{"name":"everyone","nam":"x"}`, `nam: unknown member; did you mean name?`},

		// Suggestions name only queries that the actor may know of.
		{"a slip", servedtest.Reader, metatools.RunQuery, `{"name":"everione"}`, unknown("everione", "did you mean everyone? stored_query_list finds others")},
		{"a part", servedtest.Reader, metatools.RunQuery, `{"name":"person"}`, `did you mean lookup_person? stored_query_list finds others`},
		{"several", servedtest.Reader, metatools.RunQuery, `{"name":"aged"}`, `did you mean aged_00, aged_01 or aged_02?`},
		{"by query name", servedtest.Writer, metatools.RunQuery, `{"name":"find_person"}`, `there is no stored query \"find_person\"; find one with stored_query_list`},
		{"hidden", servedtest.Writer, metatools.RunQuery, `{"name":"aged_secretly"}`, unknown("aged_secretly", "find one with stored_query_list")},
		{"denied", servedtest.Bot, metatools.RunQuery, `{"name":"everyone"}`, unknown("everyone", "find one with stored_query_list")},
		{"near a denied one", servedtest.Bot, metatools.RunQuery, `{"name":"everyon"}`, unknown("everyon", "find one with stored_query_list")},
		{"left out", servedtest.Writer, metatools.RunQuery, `{"name":"misfit"}`, `there is no stored query \"misfit\"`},

		// The queries are not tools in this mode.
		{"direct", servedtest.Writer, "everyone", `{}`, `{"error":"unknown tool: everyone; it is a stored query: call stored_query_run with {\"name\": \"everyone\", \"params\": {…}}","code":"not_found"}`},
		{"direct, by query name", servedtest.Writer, "find_person", `{}`, `{"error":"unknown tool: find_person","code":"not_found"}`},
		{"nobody", servedtest.Nobody, metatools.RunQuery, `{"name":"everyone"}`, `{"error":"unknown tool: stored_query_run","code":"not_found"}`},
		{"nobody lists", servedtest.Nobody, metatools.ListQueries, `{}`, `{"error":"unknown tool: stored_query_list","code":"not_found"}`},
	} {
		t.Run(s.name, func(t *testing.T) {
			now := head(t, c, "")
			got := strings.ReplaceAll(s.said(g, strings.NewReplacer("HEAD", now)), now, "HEAD")
			if !strings.Contains(got, s.want) {
				t.Errorf("\n got %s\nwant %s", got, s.want)
			}
		})
	}
	// REST serves all queries by query name, including hidden ones.
	for _, name := range []string{"everyone", "aged_secretly", "aged_00"} {
		if _, err := g.InvokeQuery(context.Background(), servedtest.Writer, name, servedgraph.Invocation{Params: json.RawMessage(map[bool]string{true: `{"least_0":1}`, false: `{}`}[name == "aged_00"])}, encoding.Options{}); err != nil {
			t.Errorf("%s over REST: %v", name, err)
		}
	}
}

// TestPagesOfThePair reads page by page through the meta tool that runs stored queries.
func TestPagesOfThePair(t *testing.T) {
	g := servedtest.Graph(t, many(t, 30))
	want, err := ask(g, servedtest.Reader, metatools.RunQuery, map[string]any{"name": "everyone"}, encoding.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	args := map[string]any{"name": "everyone"}
	for {
		page, err := ask(g, servedtest.Reader, metatools.RunQuery, args, encoding.Options{MaxRows: 1})
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, page.text())
		if args["page_token"] = page.Next; page.Next == "" {
			break
		}
	}
	if strings.Join(rows, "\n") != want.text() || len(rows) != 3 {
		t.Errorf("got %v, want %s", rows, want.text())
	}
}

// TestCatalogDigest checks that the digest changes exactly when the information about tools that
// clients can get changes.
func TestCatalogDigest(t *testing.T) {
	digest := func(change func(c *servedgraph.Config)) string {
		c := many(t, 30)
		change(&c)
		return servedtest.Graph(t, c).CatalogDigest()
	}
	describe := func(name, text string) func(c *servedgraph.Config) {
		return func(c *servedgraph.Config) {
			for _, q := range c.Catalog.Queries {
				if q.Info().Name == name {
					q.Descriptor().Description = text
				}
			}
		}
	}
	both := func(a, b func(c *servedgraph.Config)) func(c *servedgraph.Config) {
		return func(c *servedgraph.Config) { a(c); b(c) }
	}
	nothing := func(*servedgraph.Config) {}
	threshold := func(n int) func(c *servedgraph.Config) { return func(c *servedgraph.Config) { c.MetaThreshold = n } }
	hide := func(c *servedgraph.Config) {
		c.Catalog.Queries = slices.DeleteFunc(c.Catalog.Queries, func(q tool.StoredQuery) bool { return q.Info().Name == "aged_secretly" })
	}
	for _, tt := range []struct {
		name   string
		a, b   func(c *servedgraph.Config)
		differ bool
	}{
		{"a start", nothing, nothing, false},
		{"a description, meta", nothing, describe("everyone", "Other."), true},
		{"a description, per query", threshold(100), both(threshold(100), describe("everyone", "Other.")), true},
		{"the mode", nothing, threshold(100), true},
		{"a threshold that changes no mode", nothing, threshold(25), false},
		{"a hidden query's description", nothing, describe("aged_secretly", "Other."), false},
		{"a hidden query, removed", nothing, hide, false},
		{"a hidden query, removed, per query", threshold(100), both(threshold(100), hide), false},
		{"one query more", nothing, func(c *servedgraph.Config) {
			c.Catalog.Queries = append(c.Catalog.Queries, many(t, 31).Catalog.Queries[len(c.Catalog.Queries)-1])
		}, true},
		{"limits", nothing, func(c *servedgraph.Config) { c.Limits.MaxRows = 3 }, false},
		{"a built-in less", nothing, func(c *servedgraph.Config) { c.Builtins = c.Builtins[1:] }, true},
	} {
		if a, b := digest(tt.a), digest(tt.b); (a != b) != tt.differ {
			t.Errorf("%s: %s and %s", tt.name, a, b)
		}
	}
}

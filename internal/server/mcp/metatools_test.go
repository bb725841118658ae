package mcp_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/mcp"
	"github.com/omnigraph-go/omnigraph/internal/server/metatools"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

// TestMetaToolsThroughAClient lists, finds, runs and pages stored queries through the meta tools.
// It uses the Go SDK's client, and actors who may run different queries.
func TestMetaToolsThroughAClient(t *testing.T) {
	c := config(t)
	c.MetaThreshold, c.Limits.MaxRows = 1, 2
	url := serve(t, c, mcp.Options{})
	for _, tt := range []struct {
		actor    *access.Actor
		readOnly bool
		finds    string
	}{
		{servedtest.Writer, false, "lookup_person everyone add_person"},
		{servedtest.Reader, false, "lookup_person everyone add_person"},
		{servedtest.Bot, true, "lookup_person"},
	} {
		s := connect(t, url, tt.actor)
		list, err := s.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(list.Tools, func(tool *sdk.Tool) bool { return tool.Name == metatools.RunQuery })
		if at < 1 || list.Tools[at-1].Name != metatools.ListQueries || at != len(list.Tools)-1 {
			t.Fatalf("%s: the meta tools are not the end of the list", tt.actor.ID)
		}
		if hints := list.Tools[at].Annotations; hints.ReadOnlyHint != tt.readOnly || *hints.DestructiveHint == tt.readOnly {
			t.Errorf("%s: hints %+v", tt.actor.ID, hints)
		}
		res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: metatools.ListQueries})
		if err != nil || res.IsError {
			t.Fatalf("%+v, %v", res, err)
		}
		var found []string
		for _, line := range res.StructuredContent.(map[string]any)["lines"].([]any) {
			name, _, _ := strings.Cut(strings.TrimPrefix(line.(string), "*"), "(")
			found = append(found, name)
		}
		if got := strings.Join(found, " "); got != tt.finds {
			t.Errorf("%s finds %s, want %s", tt.actor.ID, got, tt.finds)
		}
		for _, name := range []string{"lookup_person", "everyone", "secret"} {
			if _, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: name}); err == nil || !strings.Contains(err.Error(), "unknown tool: "+name) {
				t.Errorf("%s calls %s: %v", tt.actor.ID, name, err)
			}
		}
	}

	s := connect(t, url, servedtest.Reader)
	var rows []string
	args := map[string]any{"name": "everyone"}
	for pages := 0; ; pages++ {
		res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: metatools.RunQuery, Arguments: args})
		if err != nil || res.IsError || pages > 2 {
			t.Fatalf("page %d: %+v, %v", pages, res, err)
		}
		page := res.StructuredContent.(map[string]any)
		for _, row := range page["rows"].([]any) {
			rows = append(rows, row.([]any)[0].(string))
		}
		if page["truncated"] != true {
			break
		}
		if page["truncated_by"] != "rows" || page["row_count"] != 2.0 || len(page["rows"].([]any)) != 2 {
			t.Errorf("page %d: %v", pages, page)
		}
		args["page_token"] = page["next_page_token"]
	}
	if got := strings.Join(rows, " "); got != "ada bob cyd" {
		t.Errorf("the pages are %s", got)
	}
}

// TestMetaToolsMasking checks two answers byte for byte. For an actor who may run no query, the
// meta tools must not exist. The answer for a query that an actor may not run must be the same as
// for an unknown query.
func TestMetaToolsMasking(t *testing.T) {
	c := config(t)
	c.MetaThreshold = 1
	url := serve(t, c, mcp.Options{})
	for _, version := range []string{"2025-11-25", newest} {
		answer := func(actor *access.Actor, tool, query string) string {
			resp, body := post(t, url, version, actor, message(version, "tools/call", fmt.Sprintf(`"name":%q,"arguments":{"name":%q}`, tool, query)))
			resp.Header.Del("Date")
			var b strings.Builder
			b.WriteString(resp.Status + "\n")
			if err := resp.Header.Write(&b); err != nil {
				t.Fatal(err)
			}
			return strings.NewReplacer(tool, "TOOL", query, "QUERY").Replace(b.String() + body)
		}
		for _, name := range []string{metatools.ListQueries, metatools.RunQuery} {
			unknown := strings.Repeat("x", len(name))
			if got, want := answer(servedtest.Nobody, name, "everyone"), answer(servedtest.Nobody, unknown, "everyone"); got != want || !strings.Contains(got, "unknown tool: TOOL") {
				t.Errorf("%s: %s answers\n%s\nwanted\n%s", version, name, got, want)
			}
		}
		want := answer(servedtest.Bot, metatools.RunQuery, "xxxxxxxx")
		for _, name := range []string{"everyone", "evryone_", "add_pers"} {
			if got := answer(servedtest.Bot, metatools.RunQuery, name); got != want {
				t.Errorf("%s: the query %s answers\n%s\nwanted\n%s", version, name, got, want)
			}
		}
	}
}

// TestVersions checks the versions in the metadata. The schema version must change only with the
// schema of main, and the catalog version must then stay the same.
func TestVersions(t *testing.T) {
	c := config(t)
	url := serve(t, c, mcp.Options{})
	s := connect(t, url, servedtest.Reader)
	versions := func() (schema, catalog string) {
		res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "branch_list"})
		if err != nil {
			t.Fatal(err)
		}
		return res.Meta["omnigraph/schemaVersion"].(string), res.Meta["omnigraph/catalogVersion"].(string)
	}
	schema, catalog := versions()
	same := func(what string, want bool) {
		t.Helper()
		now, list := versions()
		if (now == schema) != want || list != catalog {
			t.Errorf("%s: the schema's version is %s, was %s; the catalog's %s, was %s", what, now, schema, list, catalog)
		}
	}
	if _, err := c.Graph.Load(t.Context(), strings.NewReader(`{"type":"Person","data":{"name":"dan"}}`), engine.LoadOptions{Mode: engine.Append}); err != nil {
		t.Fatal(err)
	}
	same("data", true)
	if _, err := c.Graph.CreateBranch(t.Context(), "draft", engine.Target{}); err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(servedtest.Source, "age: I32?", "age: I32? height: I32?", 1)
	evolved := servedtest.SchemaOf(t, text)
	if _, err := c.Graph.ApplySchema(t.Context(), text, evolved, engine.SchemaOptions{WriteOptions: engine.WriteOptions{Branch: "draft"}}); err != nil {
		t.Fatal(err)
	}
	same("the schema of another branch", true)
	if _, err := c.Graph.ApplySchema(t.Context(), "// a remark\n"+servedtest.Source, servedtest.Schema(t), engine.SchemaOptions{}); err != nil {
		t.Fatal(err)
	}
	same("the schema's layout", true)
	if _, err := c.Graph.ApplySchema(t.Context(), text, evolved, engine.SchemaOptions{}); err != nil {
		t.Fatal(err)
	}
	same("the schema", false)
}

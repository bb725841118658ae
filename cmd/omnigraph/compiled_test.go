package main

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/server/arguments"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster/reconcile"
	"github.com/omnigraph-go/omnigraph/internal/server/queryrun"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// TestCompiledIsWhatIsGenerated compiles the queries of this repository from their sources and
// compares them with the queries that gq generate compiled in.
func TestCompiledIsWhatIsGenerated(t *testing.T) {
	cfg, err := cluster.Read("../../cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	got, err := reconcile.CompileQueries(cfg, &cfg.Graphs[0])
	if err != nil {
		t.Fatal(err)
	}
	want := catalogs[0]
	if got.Graph != want.Graph || got.SchemaDigest != want.SchemaDigest || got.SourceDigest != want.SourceDigest || len(got.Queries) != len(want.Queries) {
		t.Fatalf("compiled %+v, generated %+v", got, want)
	}
	for i, g := range got.Queries {
		w := want.Queries[i]
		if diff := cmp.Diff(w.Descriptor(), g.Descriptor()); diff != "" {
			t.Errorf("the descriptor of %s, generated and compiled:\n%s", w.Info().Name, diff)
		}
		if diff := cmp.Diff(w.Info(), g.Info()); diff != "" {
			t.Errorf("what is known of %s:\n%s", w.Info().Name, diff)
		}
		if !reflect.DeepEqual(w.Plan(), g.Plan()) {
			t.Errorf("the plan of %s differs:\n%+v\n%+v", w.Info().Name, w.Plan(), g.Plan())
		}
		for _, params := range []string{"", "null", "{}", "[]", `{"nobody":1}`, filled(w, `"x"`), filled(w, `7`), filled(w, `null`), filled(w, `"func"`)} {
			a, errA := arguments.Decode(json.RawMessage(params), w.Params())
			b, errB := arguments.Decode(json.RawMessage(params), g.Params())
			if !reflect.DeepEqual(a, b) || !reflect.DeepEqual(errA, errB) {
				t.Errorf("%s of %s: generated %v %v, compiled %v %v", w.Info().Name, params, a, errA, b, errB)
			}
			args := json.RawMessage(`{"params":` + params + `}`)
			_, errA = queryrun.Tool{StoredQuery: w}.Decode(args)
			_, errB = queryrun.Tool{StoredQuery: g}.Decode(args)
			if !reflect.DeepEqual(errA, errB) {
				t.Errorf("the call of %s with %s: generated %v, compiled %v", w.Info().Name, args, errA, errB)
			}
		}
	}
}

// filled returns parameters for a query that all have the value v.
func filled(q tool.StoredQuery, v string) string {
	var members []string
	for _, p := range q.Plan().Params {
		members = append(members, `"`+p.Name+`":`+v)
	}
	return "{" + strings.Join(members, ",") + "}"
}

func TestCompiledChecksEnums(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "schema.pg", "node Task { slug: String @key state: enum(open, done) tags: [String]? }\n")
	write(t, "tasks.gq", `query in($state: String, $also: String?) { match { $t: Task { state: $state } $t.state = $also? } return { $t.slug as slug } }
query tagged($tags: [String]?) { match { $t: Task } return { $t.slug as slug } }
`)
	write(t, "more.gq", "query left_out() { match { $t: Task } return { $t.slug as slug } }\n")
	write(t, "gq.yaml", "strict: true\nlint: { rules: { L105: off } }\n")
	write(t, "cluster.yaml", "version: 1\nstorage: ./data\ngraphs:\n  tasks:\n    schema: schema.pg\n    queries: { in: { file: tasks.gq }, tagged: { file: tasks.gq } }\n")
	cfg, err := cluster.Read("cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c, err := reconcile.CompileQueries(cfg, &cfg.Graphs[0])
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Queries) != 2 || !strings.Contains(string(c.Queries[0].Descriptor().InputSchema), `"required":["state","also"]`) {
		t.Fatalf("compiled %d queries, the first takes %s", len(c.Queries), c.Queries[0].Descriptor().InputSchema)
	}
	for params, want := range map[string]string{
		`{"state":"open"}`:               "",
		`{"state":"open","also":null}`:   "",
		`{"state":"open","also":"done"}`: "",
		`{"state":"closed"}`:             "closed",
		`{"state":"open","also":"shut"}`: "shut",
		`{"also":"done"}`:                "state",
	} {
		args, err := arguments.Decode(json.RawMessage(params), c.Queries[0].Params())
		if want == "" && (err != nil || len(args) != 2) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v %v, want %q", params, args, err, want)
		}
	}
	for name, fault := range map[string]string{"gq.yaml": "strict: 3\n", "tasks.gq": "query in(", "schema.pg": "node"} {
		write(t, name, fault)
		_, err := reconcile.CompileQueries(cfg, &cfg.Graphs[0])
		var faults diag.List
		if !errors.As(err, &faults) {
			t.Errorf("with a fault in %s: %v", name, err)
		}
		write(t, name, map[string]string{
			"gq.yaml": "", "schema.pg": "node Task { slug: String @key state: enum(open, done) tags: [String]? }\n", "tasks.gq": "query in() { match { $t: Task } return { $t.slug as slug } }\n",
		}[name])
	}
}

// TestStoredQueriesOfSources uses a store. Its queries are not compiled into any binary.
func TestStoredQueriesOfSources(t *testing.T) {
	inShop(t, "policy.yaml", "version: 1\nrules: []\n")
	store := filepath.Join("data", "shop")
	if code, _, stderr := omnigraph(t, "", "init", "--schema", "schema.pg", "--store", store); code != 0 {
		t.Fatal(stderr)
	}
	code, stdout, stderr := omnigraph(t, "", "queries", "run", "--store", store, "add_order", "--params", `{"slug":"o1"}`)
	if code != 0 || !strings.Contains(stdout, `"affected_nodes":1`) {
		t.Fatalf("exit %d\n%s%s", code, stdout, stderr)
	}
	if code, stdout, stderr := omnigraph(t, "", "queries", "list", "--store", store, "--format", "csv"); code != 0 || !strings.Contains(stdout, "list_orders") {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
	call := initialize + `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_orders"}}`
	if code, stdout, stderr := omnigraph(t, call, "mcp", "serve", "--store", store, "--graph", "shop"); code != 0 || stderr != "" || !strings.Contains(stdout, `"row_count":1`) {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
	write(t, "shop.gq", "query list_orders() { match { $o: Odrer } return { $o.slug } }\n")
	if code, stdout, stderr := omnigraph(t, call, "mcp", "serve", "--store", store); code != 0 || !strings.Contains(stderr, "graph shop has no stored queries") || strings.Contains(stdout, `"row_count"`) {
		t.Errorf("with a fault: exit %d\n%s%s", code, stdout, stderr)
	}
	if code, _, stderr := omnigraph(t, call, "mcp", "serve", "--store", store, "--graph", "shop"); code != exitFailed || !strings.Contains(stderr, "Odrer") {
		t.Errorf("with a fault, and the graph named: exit %d\n%s", code, stderr)
	}
	if code, _, stderr := omnigraph(t, call, "mcp", "serve", "--store", store, "--graph", "shp"); code != exitUsage || !strings.Contains(stderr, "neither this program nor a cluster.yaml here") {
		t.Errorf("of no graph: exit %d\n%s", code, stderr)
	}
	// The same holds if cluster.yaml, which would name the queries, has a fault.
	write(t, "cluster.yaml", "version: 1\nstorage: ./data\ngrafs: {}\n")
	if code, _, stderr := omnigraph(t, call, "mcp", "serve", "--store", store); code != 0 || !strings.Contains(stderr, "the graph has no stored queries") {
		t.Errorf("with a fault of cluster.yaml: exit %d\n%s", code, stderr)
	}
	if code, _, stderr := omnigraph(t, call, "mcp", "serve", "--store", store, "--graph", "shop"); code != exitFailed || !strings.Contains(stderr, "grafs") {
		t.Errorf("with a fault of cluster.yaml, and the graph named: exit %d\n%s", code, stderr)
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/omnigraph-go/omnigraph/codegen"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/server"
	"github.com/omnigraph-go/omnigraph/internal/server/auth"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster/reconcile"
	"github.com/omnigraph-go/omnigraph/internal/slow"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

const corpus = "../../gq/testdata/corpus"

// asModel matches the model that a schema of the corpus asks for, which no provider of these tests has.
var asModel = regexp.MustCompile(`, model="[^"]*"`)

// newID matches the id of an entity that a dry run made.
var newID = regexp.MustCompile(`\b01[0-9A-Z]{24}\b`)

// corpusCluster makes the folder of a domain of the corpus in the current folder, applies it, and loads its data.
func corpusCluster(t *testing.T, dir string) *cluster.Config {
	t.Helper()
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	texts := map[string]string{"data.ndjson": read("data.ndjson"), "schema.pg": asModel.ReplaceAllString(read("schema.pg"), "")}
	for _, name := range []string{"read.gq", "write.gq"} {
		texts["queries/"+name] = read(name)
	}
	t.Chdir(t.TempDir())
	t.Setenv("HOME", t.TempDir())
	if err := os.Mkdir("queries", 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range texts {
		write(t, name, text)
	}
	write(t, "cluster.yaml", "version: 1\nstorage: ./data\ngraphs:\n  domain: { schema: schema.pg, queries: queries/, embedding_provider: trial, mcp: { output_schemas: true, meta_threshold: 1000 } }\nproviders: { embedding: { trial: { kind: mock } } }\n")
	for _, args := range [][]string{{"cluster", "apply"}, {"load", "--store", "data/domain", "--data", "data.ndjson", "--mode", "append"}} {
		if code, _, stderr := omnigraph(t, "", args...); code != 0 {
			t.Fatal(stderr)
		}
	}
	cfg, err := cluster.Read("cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// generated returns the catalog of the package that gq generate writes for the folder of corpusCluster.
func generated(t *testing.T) *tool.Catalog {
	t.Helper()
	source := func(name string) gq.Source {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return gq.Source{Name: name, Text: string(text)}
	}
	out, faults, err := codegen.Generate(codegen.Graph{Name: "domain", Schema: source("schema.pg"), Queries: []gq.Source{source("queries/read.gq"), source("queries/write.gq")}})
	if err != nil || faults.HasErrors() {
		t.Fatal(err, faults)
	}
	return tool.NewPackage(string(out.Package[codegen.ContractFile])).Catalog()
}

// request is a request to a server of one domain.
type request struct{ method, path, body string }

// catalogVersion matches the digest of all tools in an answer.
var catalogVersion = regexp.MustCompile(`"omnigraph/catalogVersion":"[^"]*"`)

// withoutPublishing returns an answer without the tool that proposes queries: a server that serves no revision does not have it.
func withoutPublishing(t *testing.T, text []byte) string {
	t.Helper()
	var answer struct {
		JSONRPC string         `json:"jsonrpc"`
		ID      any            `json:"id"`
		Result  map[string]any `json:"result"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		t.Fatal(err)
	}
	if tools, ok := answer.Result["tools"].([]any); ok {
		answer.Result["tools"] = slices.DeleteFunc(tools, func(d any) bool { return d.(map[string]any)["name"] == "query_propose" })
	}
	again, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	return string(again)
}

// answers opens a server on the folder of corpusCluster and returns its answers to the requests.
func answers(t *testing.T, cfg *cluster.Config, catalogs []*tool.Catalog, compiledOnly bool, requests []request) []string {
	t.Helper()
	clock := func() time.Time { return time.Date(2024, time.June, 1, 12, 0, 0, 0, time.UTC) }
	s, err := server.Open(t.Context(), server.Options{
		Cluster: cfg, Catalogs: catalogs, CompiledOnly: compiledOnly, Bind: "127.0.0.1:0", Tokens: &auth.Tokens{}, Unauthenticated: true,
		Version: "test", Now: clock, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var all []string
	for _, r := range requests {
		req := httptest.NewRequest(r.method, "http://127.0.0.1"+r.path, strings.NewReader(r.body))
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		req.Header.Set("Mcp-Protocol-Version", "2025-11-25")
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, req)
		text, err := io.ReadAll(w.Result().Body)
		if err != nil {
			t.Fatal(err)
		}
		answer := string(text)
		if strings.Contains(r.body, "tools/list") {
			answer = withoutPublishing(t, text)
		}
		answer = catalogVersion.ReplaceAllString(fmt.Sprintf("%d %s", w.Code, answer), "VERSION")
		if strings.Contains(r.body, "dry_run") {
			answer = newID.ReplaceAllString(answer, "ID")
		}
		all = append(all, answer)
	}
	return all
}

// TestAppliedLikeCompiled serves the queries of the corpus twice: compiled into the program, and from the
// revision. Tools, digests and answers must be equal byte for byte.
func TestAppliedLikeCompiled(t *testing.T) {
	slow.Test(t)
	paths, err := filepath.Glob(corpus + "/*/calls.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("the corpus has no calls: %v", err)
	}
	queries, calls, good := 0, 0, 0
	for _, path := range paths {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			cfg := corpusCluster(t, filepath.Dir(path))
			compiled := generated(t)
			revision, err := reconcile.ReadRevision(fs.OS(), "data")
			if err != nil {
				t.Fatal(err)
			}
			applied, outdated, err := revision.Graph("domain").Catalog(nil)
			if err != nil || outdated != nil {
				t.Fatal(outdated, err)
			}
			sameCatalog(t, compiled, applied)
			queries += len(applied.Queries)

			mutation := map[string]bool{}
			requests := []request{
				{"GET", "/openapi.json", ""}, {"GET", "/graphs/domain/openapi.json", ""}, {"GET", "/graphs/domain/queries", ""},
				{"POST", "/graphs/domain/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`},
			}
			for _, q := range compiled.Queries {
				mutation[q.Info().Name] = q.Info().Mutation
				requests = append(requests, request{"GET", "/graphs/domain/queries/" + q.Info().Name, ""})
			}
			for line := range strings.Lines(string(text)) {
				name, args, _ := strings.Cut(strings.TrimSpace(line), " ")
				for _, args := range []string{args, `{"nobody":1}`} {
					body := `{"params":` + args + `}`
					call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + name + `","arguments":` + body + `}}`
					if mutation[name] {
						body = `{"dry_run":true,` + body[1:]
						call = strings.Replace(call, `{"params":`+args, `{"dry_run":true,"params":`+args, 1)
					}
					requests = append(requests, request{"POST", "/graphs/domain/queries/" + name, body}, request{"POST", "/graphs/domain/mcp", call})
				}
			}
			want := answers(t, cfg, []*tool.Catalog{compiled}, true, requests)
			for kind, got := range map[string][]string{
				"applied":              answers(t, cfg, nil, false, requests),
				"applied and compiled": answers(t, cfg, []*tool.Catalog{compiled}, false, requests),
			} {
				for i, r := range requests {
					if got[i] != want[i] {
						t.Errorf("%s: %s %s %s\nanswers  %s\nexpected %s", kind, r.method, r.path, r.body, got[i], want[i])
					}
				}
			}
			calls += len(requests)
			for _, a := range want {
				if strings.HasPrefix(a, "200 ") {
					good++
				}
			}
		})
	}
	if queries < 250 || good < calls/2 {
		t.Errorf("compared %d queries, and %d of %d answers without an error; expected at least 250, and half", queries, good, calls)
	}
	t.Logf("compared %d queries and %d answers, %d of them without an error", queries, calls, good)
}

// sameCatalog compares two catalogs.
func sameCatalog(t *testing.T, want, got *tool.Catalog) {
	t.Helper()
	if got.Graph != want.Graph || got.SchemaDigest != want.SchemaDigest || got.SourceDigest != want.SourceDigest || len(got.Queries) != len(want.Queries) {
		t.Fatalf("found %+v, expected %+v", got, want)
	}
	for i, g := range got.Queries {
		w := want.Queries[i]
		if diff := cmp.Diff(w.Descriptor(), g.Descriptor()); diff != "" {
			t.Errorf("the descriptor of %s:\n%s", w.Info().Name, diff)
		}
		if diff := cmp.Diff(w.Info(), g.Info()); diff != "" {
			t.Errorf("what is known of %s:\n%s", w.Info().Name, diff)
		}
		if g.(*tool.Compiled).Encoded != w.(*tool.Compiled).Encoded || !reflect.DeepEqual(w.Params(), g.Params()) {
			t.Errorf("the plan of %s differs:\n%+v\n%+v", w.Info().Name, w.Plan(), g.Plan())
		}
	}
}

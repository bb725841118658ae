package code_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/generated/code"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/policy"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// network is a graph, and the same graph over the network.
type network struct {
	t      *testing.T
	near   engine.Graph
	far    tool.Graph
	client *client.Graph
	ran    map[string]bool // the queries that ran
}

// more is what the file of the small module lacks: the two packages of the standard library that the module
// imports, a package of no module with a function that is not called, a symbol of no package, and a note about
// nothing.
const more = `{"type":"Package","data":{"path":"errors","name":"errors","files":1,"lines":1}}
{"type":"Package","data":{"path":"fmt","name":"fmt","files":1,"lines":1}}
{"type":"Package","data":{"path":"example.com/stray","name":"stray","files":1,"lines":9}}
{"type":"File","data":{"path":"stray/stray.go","lines":9}}
{"type":"Symbol","data":{"path":"example.com/stray.Lost","name":"Lost","kind":"func","exported":true,"signature":"func()","line":3,"words":"stray lost"}}
{"type":"Symbol","data":{"path":"example.com/nowhere.Orphan","name":"Orphan","kind":"var","exported":false,"line":5,"words":"nowhere orphan"}}
{"type":"Note","data":{"slug":"loose","text":"about nothing","created":"2026-03-17T09:00:00.123Z"}}
{"edge":"Holds","from":"example.com/stray","to":"example.com/stray.Lost","data":{"id":"holds-lost"}}
{"edge":"Declares","from":"stray/stray.go","to":"example.com/stray.Lost","data":{"id":"declares-lost"}}
`

// overNetwork serves a graph with the data of a small module.
func overNetwork(t *testing.T) *network {
	t.Helper()
	g := openGraph(t.Context())
	t.Cleanup(func() { g.Close() })
	data, err := os.Open("../../internal/source/gocode/testdata/shop.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	if _, err := g.Load(t.Context(), io.MultiReader(strings.NewReader(more), data), engine.LoadOptions{Mode: engine.Append}); err != nil {
		t.Fatal(err)
	}
	served, err := servedgraph.NewGraph(t.Context(), servedgraph.Config{
		ID: "code", Graph: g, Catalog: code.Catalog(), Authorizer: policy.Unrestricted("code"), Version: "1", Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	handler := rest.Handler(map[string]*servedgraph.Graph{"code": served}, rest.Options{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r.WithContext(access.WithActor(r.Context(), &access.Actor{ID: "act-test", Source: "test"})))
	}))
	t.Cleanup(server.Close)
	c, err := client.New(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return &network{t: t, near: g, far: c.Graph("code").Typed(), client: c.Graph("code"), ran: map[string]bool{}}
}

// read runs a function of the package on both graphs, and asks the server for pages of two rows. All
// three must have the same rows, at least `least` of them, so that the comparison means something.
func read[P, R any](n *network, query string, least int, p P, run func(context.Context, tool.Graph, P, ...tool.ReadOption) ([]R, error)) {
	n.t.Run(query, func(t *testing.T) {
		n.ran[query] = true
		near, err := run(t.Context(), n.near, p)
		if err != nil {
			t.Fatal(err)
		}
		far, err := run(t.Context(), n.far, p)
		if err != nil {
			t.Fatal(err)
		}
		if len(near) < least {
			t.Errorf("found %d rows, expected at least %d", len(near), least)
		}
		if diff := cmp.Diff(near, far); diff != "" {
			t.Errorf("embedded (-), over the network (+)\n%s", diff)
		}
		var paged []R
		for row, err := range n.client.InvokeRows(t.Context(), query, client.InvokeBody{Params: p}, 2) {
			if err != nil {
				t.Fatal(err)
			}
			var r R
			if err := row.Decode(&r); err != nil {
				t.Fatal(err)
			}
			paged = append(paged, r)
		}
		if diff := cmp.Diff(near, paged); diff != "" {
			t.Errorf("embedded (-), in pages (+)\n%s", diff)
		}
	})
}

// TestOverNetwork runs every function of the package on a graph and on the same graph over the
// network.
func TestOverNetwork(t *testing.T) {
	n := overNetwork(t)
	const find, shelf, stock = "example.com/shop/stock.Shelf.Find", "example.com/shop/stock.Shelf", "example.com/shop/stock"
	const run = "example.com/shop/cmd/shop"
	note := code.AddNoteParams{Slug: "n", Symbol: find, Text: "über\n\"n\""}
	key := tool.With(engine.WriteOptions{IdempotencyKey: "one"})
	first, err := code.AddNote(t.Context(), n.far, note, key)
	if err != nil || first.Nodes != 1 || first.Commit == nil || first.Commit.Actor != "act-test" {
		t.Errorf("add_note: found %+v, %v", first, err)
	}
	again, err := code.AddNote(t.Context(), n.far, note, key)
	if err != nil || again.Commit == nil || again.Commit.ID != first.Commit.ID {
		t.Errorf("the same call with the same key: found %+v, %v", again, err)
	}
	stored, err := n.near.Commit(t.Context(), first.Commit.ID)
	if err != nil || stored.Seq != first.Commit.Seq || stored.Branch != first.Commit.Branch || !reflect.DeepEqual(stored.Parents, first.Commit.Parents) {
		t.Errorf("the engine has the commit %+v, %v; the client got %+v", stored, err, first.Commit)
	}
	n.ran["add_note"] = true

	read(n, "callers", 1, code.CallersParams{Path: find}, code.Callers)
	read(n, "users_of", 1, code.UsersOfParams{Path: shelf}, code.UsersOf)
	read(n, "tests_reaching", 0, code.TestsReachingParams{Path: find}, code.TestsReaching)
	read(n, "callees", 2, code.CalleesParams{Path: stock + ".Twice"}, code.Callees)
	read(n, "affected_by", 1, code.AffectedByParams{Path: find}, code.AffectedBy)
	read(n, "reaches", 3, code.ReachesParams{Path: run + ".main"}, code.Reaches)
	read(n, "most_called", 1, code.MostCalledParams{}, code.MostCalled)
	read(n, "unused_functions", 1, code.UnusedFunctionsParams{}, code.UnusedFunctions)
	read(n, "implementations", 1, code.ImplementationsParams{Path: shelf}, code.Implementations)
	read(n, "notes_about", 1, code.NotesAboutParams{Symbol: note.Symbol}, code.NotesAbout)
	read(n, "get_package", 1, code.GetPackageParams{Path: stock}, code.GetPackage)
	read(n, "index_coverage", 1, code.IndexCoverageParams{}, code.IndexCoverage)
	read(n, "importers", 1, code.ImportersParams{Package: stock}, code.Importers)
	read(n, "dependencies", 4, code.DependenciesParams{Package: run}, code.Dependencies)
	read(n, "heaviest_packages", 1, code.HeaviestPackagesParams{}, code.HeaviestPackages)
	read(n, "module_use", 1, code.ModuleUseParams{}, code.ModuleUse)
	read(n, "find_symbols", 1, code.FindSymbolsParams{Words: "shelf"}, code.FindSymbols)
	read(n, "get_symbol", 1, code.GetSymbolParams{Path: find}, code.GetSymbol)
	read(n, "named", 1, code.NamedParams{Name: "Find"}, code.Named)
	read(n, "symbols_in_file", 1, code.SymbolsInFileParams{File: "stock/stock.go"}, code.SymbolsInFile)
	read(n, "packages_without_module", 1, code.PackagesWithoutModuleParams{}, code.PackagesWithoutModule)
	read(n, "symbols_without_package", 1, code.SymbolsWithoutPackageParams{}, code.SymbolsWithoutPackage)
	read(n, "notes_about_nothing", 1, code.NotesAboutNothingParams{}, code.NotesAboutNothing)
	read(n, "public_api", 1, code.PublicAPIParams{Package: stock}, code.PublicAPI)

	removed, err := code.RemoveNote(t.Context(), n.far, code.RemoveNoteParams{Slug: "n"}, tool.With(engine.WriteOptions{DryRun: true}))
	if err != nil || removed.Nodes != 1 || removed.Commit != nil {
		t.Errorf("remove_note as a dry run: found %+v, %v", removed, err)
	}
	if removed, err = code.RemoveNote(t.Context(), n.far, code.RemoveNoteParams{Slug: "n"}, tool.With(engine.WriteOptions{IfCommit: first.Commit.ID})); err != nil || removed.Nodes != 1 {
		t.Errorf("remove_note: found %+v, %v", removed, err)
	}
	n.ran["remove_note"] = true
	for _, q := range code.Catalog().Queries {
		if name := q.Info().Name; !n.ran[name] {
			t.Errorf("the query %s does not run here", name)
		}
	}
}

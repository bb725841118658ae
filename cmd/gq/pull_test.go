package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/internal/server"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster/reconcile"
)

// TestPull writes the proposed queries of the revision into the module, and replaces nothing.
func TestPull(t *testing.T) {
	module(t, map[string]string{
		"cluster.yaml": "version: 1\nstorage: ./data\ngraphs:\n  people:\n    schema: g/schema.pg\n    queries: g/\n",
		"g/schema.pg":  goodSchema, "g/a.gq": goodQuery,
	})
	cfg, err := cluster.Read("cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	apply := func(with func(*reconcile.Cluster) error) {
		t.Helper()
		c, done, err := server.CommandStorage(t.Context(), cfg, embedded.Engine{})
		if err != nil {
			t.Fatal(err)
		}
		if err := with(c); err != nil {
			t.Fatal(err)
		}
		if err := done(); err != nil {
			t.Fatal(err)
		}
	}
	pull := func(want int, says string, args ...string) {
		t.Helper()
		code, stdout, stderr := gqRun(append([]string{"pull"}, args...)...)
		if code != want || !strings.Contains(stdout+stderr, says) {
			t.Errorf("gq pull %s: code %d, want %d with %q:\n%s%s", strings.Join(args, " "), code, want, says, stdout, stderr)
		}
	}
	apply(func(c *reconcile.Cluster) error {
		s, found, err := reconcile.Compile(cfg)
		if err == nil {
			err = found.Err()
		}
		if err == nil {
			_, err = c.Apply(t.Context(), s, reconcile.Options{Actor: "act-ada"})
		}
		return err
	})
	pull(exitDone, "")
	const text = "query everyone() @description(\"All people.\") { match { $p: Person } return { $p.name as name } }"
	apply(func(c *reconcile.Cluster) error {
		return c.Publish(t.Context(), "people", reconcile.ProposedQuery{Name: "everyone", Text: text, Proposal: "01ARZ3NDEKTSV4RRFFQ69G5FAV"}, nil, "act-ada")
	})
	pull(exitFailed, "has no graph nobody", "--graph", "nobody")
	pull(exitDone, "everyone.gq")
	path := filepath.Join("g", "everyone.gq")
	got, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(got), "All people.") {
		t.Fatalf("the file is %s, %v", got, err)
	}
	if code, _, stderr := gqRun("generate"); code != exitDone {
		t.Errorf("the module with the query: %s", stderr)
	}
	write(t, path, string(got)+"// edited\n")
	pull(exitDone, "")
	if again, err := os.ReadFile(path); err != nil || string(again) != string(got)+"// edited\n" {
		t.Errorf("pulled again, the file is %s, %v", again, err)
	}
	write(t, path, "// another file\n") // the query is no longer in the files
	pull(exitFailed, "everyone.gq")
	pull(exitDone, "everyone.gq", "--out", t.TempDir())
}

// TestPullFromServer pulls from servers without a token, and with one that others could read on its way.
func TestPullFromServer(t *testing.T) {
	module(t, map[string]string{
		"cluster.yaml": "version: 1\nstorage: ./data\ngraphs:\n  people:\n    schema: g/schema.pg\n    queries: g/\n",
		"g/schema.pg":  goodSchema, "g/a.gq": goodQuery,
	})
	t.Setenv("HOME", t.TempDir())
	t.Setenv("OMNIGRAPH_TOKEN", "")
	var asked string
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = "with " + r.Header.Get("Authorization")
		http.Error(w, `{"error":"a token is needed","code":"unauthorized"}`, http.StatusUnauthorized)
	}))
	defer ts.Close()
	for _, tt := range []struct{ token, server, asked, says string }{
		{"", ts.URL, "with ", "a token is needed"},
		{"secret", ts.URL, "with Bearer secret", "a token is needed"},
		{"secret", "http://graphs.example.com", "", "others could read the token"},
	} {
		asked = ""
		t.Setenv("OMNIGRAPH_TOKEN", tt.token)
		code, _, stderr := gqRun("pull", "--server", tt.server)
		if code != exitFailed || asked != tt.asked || !strings.Contains(stderr, tt.says) {
			t.Errorf("%s with the token %q: code %d, asked %q, says %s", tt.server, tt.token, code, asked, stderr)
		}
	}
}

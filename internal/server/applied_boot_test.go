package server_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/server"
)

// TestAppliedQueries serves the queries of a revision by a program that has none compiled in.
func TestAppliedQueries(t *testing.T) {
	const all = "query things() { match { $t: Thing } return { $t.slug as slug } }\n"
	f := newFleet(t, "box")
	if err := os.Mkdir(filepath.Join(f.dir, "queries"), 0o755); err != nil {
		t.Fatal(err)
	}
	f.write("queries/a.gq", all)
	text, err := os.ReadFile(filepath.Join(f.dir, "cluster.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	f.write("cluster.yaml", strings.Replace(string(text), "schema: thing.pg", "schema: thing.pg, queries: queries/", 1))
	f.write("policy.yaml", "version: 1\nrules:\n  - id: some\n    allow: { actors: { ids: [act-ada] }, actions: [invoke_query], queries: [things] }\n  - id: read\n    allow: { actors: { ids: [act-ada] }, actions: [read] }\n")
	f.apply()
	call := func(name string, with ...func(*server.Options)) (status int, log string, pending []string) {
		t.Helper()
		t.Run(name, func(t *testing.T) { // the server closes at the end
			f.t = t
			h, lines := f.mustOpen(with...)
			status, _ = ask(h, "POST", "/graphs/box/queries/"+name, "ada", `{}`)
			log, pending = lines.String(), readiness(t, h, "ada", 200).Detail.Pending
		})
		return status, log, pending
	}
	if status, log, pending := call("things"); status != 200 || len(pending) != 0 || strings.Contains(log, "level=WARN") || !strings.Contains(log, "stored queries come from the applied revision") {
		t.Errorf("answers %d, %q, and logs\n%s", status, pending, log)
	}
	// An edit that is not applied changes nothing, even if it is no query, and is listed.
	f.write("queries/a.gq", "query things(\n")
	if status, _, pending := call("things"); status != 200 || len(pending) != 1 || !strings.Contains(pending[0], ".gq files differ") {
		t.Errorf("after an edit: answers %d, %q", status, pending)
	}
	f.write("queries/a.gq", all)
	f.apply()
	// The policy names a query that is not served then.
	warning := `the policy names a query that the server does not have`
	if status, log, pending := call("things", func(o *server.Options) { o.CompiledOnly = true }); status != 404 || len(pending) != 0 || !strings.Contains(log, "--compiled-only") || !strings.Contains(log, warning) || !strings.Contains(log, "policy.yaml:4:") {
		t.Errorf("with --compiled-only: answers %d, %q, and logs\n%s", status, pending, log)
	}
}

// TestAppliedPolicy starts a server whose policy file differs from the applied policy.
func TestAppliedPolicy(t *testing.T) {
	f := newFleet(t, "box")
	f.apply()
	f.write("policy.yaml", strings.ReplaceAll(everything, "act-ada", "act-bo"))
	if _, _, err := f.open(); err == nil || !strings.Contains(err.Error(), "policy.yaml, the policy of graph box, differs from revision 1") || !strings.Contains(err.Error(), "--applied-policy") {
		t.Errorf("started: %v", err)
	}
	reads := func(name string, with ...func(*server.Options)) (ada, bo int) {
		t.Run(name, func(t *testing.T) {
			f.t = t
			h, _ := f.mustOpen(with...)
			ada, _ = ask(h, "GET", "/graphs/box/snapshot", "ada", "")
			bo, _ = ask(h, "GET", "/graphs/box/snapshot", "bo", "")
		})
		return ada, bo
	}
	if ada, bo := reads("applied", func(o *server.Options) { o.AppliedPolicy = true }); ada != 200 || bo != 403 {
		t.Errorf("the applied policy answers %d and %d", ada, bo)
	}
	f.t = t
	f.apply()
	if ada, bo := reads("applied again"); ada != 403 || bo != 200 {
		t.Errorf("the policy that was applied again answers %d and %d", ada, bo)
	}
	f.write("server.policy.yaml", strings.ReplaceAll(listing, "graph_list", "graph_list, graph_list"))
	f.t = t
	if _, _, err := f.open(); err == nil || !strings.Contains(err.Error(), "the policy of the server, differs") {
		t.Errorf("started with another policy of the server: %v", err)
	}
}

package main

import (
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server"
	"github.com/omnigraph-go/omnigraph/internal/server/auth"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
)

// TestProposalQuery proposes queries of a file on a server that serves a revision, shows one to a reviewer, and merges it.
func TestProposalQuery(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("HOME", t.TempDir())
	if err := os.Mkdir("queries", 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, "cluster.yaml", "version: 1\nstorage: ./data\ngraphs:\n  shop: { schema: schema.pg, queries: queries/ }\npolicies:\n  shop: { file: policy.yaml, applies_to: [shop] }\n")
	write(t, "schema.pg", "node Item {\n  slug: String @key\n  price: I64\n}\n")
	write(t, "policy.yaml", "version: 1\nrules:\n  - id: people\n    allow: { actors: { ids: [act-ada, act-rob] }, actions: [read, change, query_propose, query_publish] }\n")
	write(t, "find.gq", `// Two queries.
query every() @description("Every item.") { match { $i: Item } return { $i.slug } }

query cheap($most: I64 @example(10))
  @description("The \"cheap\" items.")
  @question("Which are cheap?") @question("Wéll?")
{ match { $i: Item $i.price <= $most } return { $i.slug as slug, $i.price as price } order { $i.slug } }
`)
	write(t, "bad.gq", "query bad()\n  @description(\"d\") {\n  match { $i: Itm } return { $i.slug } }\n")
	write(t, "hidden.gq", "query hidden() @description(\"d\") @mcp(expose: false) { match { $i: Item } return { $i.slug } }\n")
	write(t, "data.ndjson", "{\"type\":\"Item\",\"data\":{\"slug\":\"a\",\"price\":5}}\n{\"type\":\"Item\",\"data\":{\"slug\":\"b\",\"price\":50}}\n")
	for _, args := range [][]string{{"cluster", "apply"}, {"load", "--store", "data/shop", "--data", "data.ndjson", "--mode", "append"}} {
		if code, _, stderr := omnigraph(t, "", args...); code != 0 {
			t.Fatal(stderr)
		}
	}
	url := serveCluster(t, "act-ada", "act-rob", "act-zoe")
	as := func(actor string, want int, args ...string) (stdout, stderr string) {
		t.Helper()
		t.Setenv(tokenVar, tokenOf(actor))
		code, stdout, stderr := omnigraph(t, "", append(args, "--server", url, "--graph", "shop")...)
		if code != want {
			t.Fatalf("%s: %v: exit code %d, want %d\n%s%s", actor, args, code, want, stdout, stderr)
		}
		return stdout, stderr
	}
	proposal := func(stdout string) (p client.ProposalAnswer) {
		t.Helper()
		if err := json.Unmarshal([]byte(stdout), &p); err != nil {
			t.Fatal(err, stdout)
		}
		return p
	}

	_, stderr := as("act-ada", 2, "proposal", "query", "--query", "find.gq", "--why", "w")
	if !strings.Contains(stderr, "several queries; name one of every, cheap") {
		t.Error(stderr)
	}
	if _, stderr = as("act-ada", 1, "proposal", "query", "--query", "bad.gq", "--why", "w"); !strings.Contains(stderr, "bad.gq:3:15") || !strings.Contains(stderr, "match { $i: Itm }") {
		t.Error(stderr)
	}
	if _, stderr = as("act-ada", 1, "proposal", "query", "--query", "hidden.gq", "--why", "w"); !strings.Contains(stderr, "found an annotation") {
		t.Error(stderr)
	}
	as("act-zoe", 3, "proposal", "query", "--query", "find.gq", "every", "--why", "w")

	stdout, _ := as("act-ada", 0, "proposal", "query", "--query", "find.gq", "cheap", "--why", "I ask every day.")
	p := proposal(stdout)
	for _, part := range []string{`@description("The \"cheap\" items.")`, `@question("Which are cheap?")`, `@question("Wéll?")`} {
		if strings.Count(p.Query.Text, part) != 1 {
			t.Errorf("the text of the proposal lacks %s:\n%s", part, p.Query.Text)
		}
	}
	if p.Description != "I ask every day." || p.Query.Name != "cheap" || strings.Contains(p.Query.Text, "every") {
		t.Errorf("proposed: %s", stdout)
	}
	stdout, _ = as("act-ada", 0, "proposal", "query", "--query", "find.gq", "cheap", "--why", "Daily.", "--description", "Cheap items.", "--question", "What is cheap?")
	again := proposal(stdout)
	if again.ID != p.ID || strings.Count(again.Query.Text, "@question") != 1 || !strings.Contains(again.Query.Text, `@description("Cheap items.")`) {
		t.Errorf("proposed again: %s", stdout)
	}
	if stdout, _ = as("act-rob", 0, "proposal", "list", "--format", "table"); !strings.Contains(stdout, "cheap: Cheap items.") {
		t.Errorf("the list: %s", stdout)
	}
	stdout, _ = as("act-rob", 0, "proposal", "show", p.ID, "--format", "table")
	for _, part := range []string{"cheap: Cheap items.", `example with {"most":10}: 1 row;`, "was added", "\nquery cheap($most: I64 @example(10))\n"} {
		if !strings.Contains(stdout, part) {
			t.Errorf("the reviewer does not see %q in\n%s", part, stdout)
		}
	}
	as("act-rob", 0, "proposal", "merge", p.ID)
	if stdout, _ = as("act-ada", 0, "queries", "run", "cheap", "--params", `{"most": 60}`, "--format", "csv"); stdout != "slug,price\na,5\nb,50\n" {
		t.Errorf("the published query: %s", stdout)
	}
	stdout, _ = as("act-rob", 0, "queries", "list", "--format", "csv")
	if !slices.ContainsFunc(strings.Split(stdout, "\n"), func(line string) bool { return strings.HasPrefix(line, "cheap,") }) {
		t.Errorf("the stored queries: %s", stdout)
	}
}

// serveCluster starts a server for the cluster in the working directory, which knows some actors, and returns its URL.
func serveCluster(t *testing.T, actors ...string) string {
	t.Helper()
	config, err := cluster.Read("cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	tokens := &auth.Tokens{}
	for _, actor := range actors {
		if err := tokens.Add(tokenOf(actor), actor); err != nil {
			t.Fatal(err)
		}
	}
	s, err := server.Open(t.Context(), server.Options{Cluster: config, Bind: "127.0.0.1:0", Tokens: tokens, Version: "test", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		ts.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return ts.URL
}

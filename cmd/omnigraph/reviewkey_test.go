package main

import (
	"os"
	"strings"
	"testing"
)

// TestReviewKey makes review keys on a server, and revokes them. There is none for a store.
func TestReviewKey(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("HOME", t.TempDir())
	if err := os.Mkdir("queries", 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, "cluster.yaml", "version: 1\nstorage: ./data\ngraphs:\n  shop: { schema: schema.pg, queries: queries/ }\npolicies:\n  shop: { file: policy.yaml, applies_to: [shop] }\n")
	write(t, "schema.pg", "node Item {\n  slug: String @key\n}\n")
	write(t, "policy.yaml", "version: 1\nrules:\n  - id: people\n    allow: { actors: { ids: [act-ada, act-rob] }, actions: [read] }\n  - id: reviewer\n    allow: { actors: { ids: [act-ada] }, actions: [proposal_review] }\n")
	if code, _, stderr := omnigraph(t, "", "cluster", "apply"); code != 0 {
		t.Fatal(stderr)
	}
	url := serveCluster(t, "act-ada", "act-rob")
	for _, tt := range []struct {
		actor string
		args  []string
		code  int
		want  string
	}{
		{"act-ada", []string{"--server", url, "--graph", "shop"}, 0, "rk_"},
		{"act-ada", []string{"--server", url, "--graph", "shop", "--format", "json"}, 0, `"expires_at":`},
		{"act-rob", []string{"--server", url, "--graph", "shop", "--revoke"}, 0, "review keys revoked: 0"},
		{"act-ada", []string{"--server", url, "--graph", "shop", "--revoke"}, 0, "review keys revoked: 2"},
		{"act-ada", []string{"--server", url, "--graph", "shop", "--revoke", "--format", "json"}, 0, `"revoked":0`},
		{"act-ada", []string{"--store", "data/shop"}, 2, "needs --server"},
	} {
		t.Setenv(tokenVar, tokenOf(tt.actor))
		code, stdout, stderr := omnigraph(t, "", append([]string{"review-key"}, tt.args...)...)
		if code != tt.code || !strings.Contains(stdout+stderr, tt.want) {
			t.Errorf("%s %v: exit code %d\n%s%s", tt.actor, tt.args, code, stdout, stderr)
		}
	}
}

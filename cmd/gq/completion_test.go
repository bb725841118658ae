package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/helppage"
)

// TestHelp checks the style of the help text of every verb.
func TestHelp(t *testing.T) {
	if n := helppage.Check(t, newRoot()); n < 8 {
		t.Errorf("looked at %d verbs", n)
	}
}

func TestCompletion(t *testing.T) {
	module(t, map[string]string{
		"schema.pg": goodSchema, "q/a.gq": goodQuery,
		"cluster.yaml": "version: 1\nstorage: ./data\ngraphs:\n  people: { schema: schema.pg, queries: q/ }\n  others: { schema: schema.pg, queries: q/ }\n",
	})
	git := func(args ...string) {
		t.Helper()
		args = append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=trunk"}, args...)
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "first")
	git("tag", "v1")
	for _, tt := range []struct{ line, want, directive string }{
		{"", "breaking catalog completion dev docs eval explain fmt generate help init lint lsp pull release skill version", ":4"},
		{"generate --schema ", "pg", ":8"},
		{"generate --queries ", "gq", ":8"},
		{"generate --out ", "", ":16"},
		{"generate ", "", ":4"},
		{"catalog --graph ", "others people", ":4"},
		{"catalog --format ", "json table", ":4"},
		{"lint --format ", "github json sarif text", ":4"},
		{"lint --max-warnings ", "", ":4"},
		{"lint --schema schema.pg ", "gq", ":8"},
		{"fmt ", "gq pg", ":8"},
		{"explain ", "gq", ":8"},
		{"explain q/a.gq ", "find", ":4"},
		{"explain q/none.gq ", "", ":4"},
		{"explain q/a.gq find ", "", ":4"},
		{"breaking --format ", "github json text", ":4"},
		{"breaking --against ", "trunk v1", ":0"},
		{"init ", "", ":16"},
		{"init --replace ", "", ":16"},
		{"init --module ", "", ":4"},
	} {
		code, stdout, stderr := gqRun(append([]string{"__completeNoDesc"}, strings.Split(tt.line, " ")...)...)
		lines := strings.Split(strings.TrimSpace(stdout), "\n")
		words, directive := lines[:len(lines)-1], lines[len(lines)-1]
		slices.Sort(words)
		if got := strings.Join(words, " "); code != exitDone || got != tt.want || directive != tt.directive {
			t.Errorf("%q completes to %q %s, want %q %s\n%s", tt.line, got, directive, tt.want, tt.directive, stderr)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if code, stdout, _ := gqRun("completion", shell); code != exitDone || !strings.Contains(stdout, "gq") {
			t.Errorf("completion %s: exit %d, %d bytes", shell, code, len(stdout))
		}
	}
}

package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/clientconfig"
	"github.com/omnigraph-go/omnigraph/internal/helppage"
)

// TestHelp checks the style of the help text of every verb.
func TestHelp(t *testing.T) {
	if n := helppage.Check(t, newRoot()); n < 25 {
		t.Errorf("looked at %d verbs", n)
	}
}

// completed requests completions for the last word of the command line `line`, as a shell does.
func completed(t *testing.T, line string) (words []string, directive string) {
	t.Helper()
	args := strings.Split(line, " ")
	code, stdout, stderr := omnigraph(t, "", append([]string{"__completeNoDesc"}, args...)...)
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if code != 0 || !strings.HasPrefix(lines[len(lines)-1], ":") {
		t.Fatalf("%q: exit %d\n%s%s", line, code, stdout, stderr)
	}
	return lines[:len(lines)-1], lines[len(lines)-1]
}

func TestCompletion(t *testing.T) {
	dir := t.TempDir()
	prepare(t, dir)
	t.Chdir(dir)
	url, stop := serve(t, "data/code", "")
	defer stop()
	t.Setenv(tokenVar, "t-ada")
	defer func(d time.Duration) { completionTime = d }(completionTime)
	completionTime = time.Minute
	const (
		nothing    = ":4" // also no completion with files
		extensions = ":8"
		dirs       = ":16"
		anything   = ":0"
	)
	var stored, exposed []string
	for _, q := range catalogs[0].Queries {
		stored = append(stored, q.Info().Name)
		if q.Info().Exposed {
			exposed = append(exposed, q.Info().Name)
		}
	}
	slices.Sort(stored)
	slices.Sort(exposed)
	clients := slices.Sorted(slices.Values(clientconfig.Names()))
	for _, tt := range []struct{ line, want, directive string }{
		{"branch ", "create delete list", nothing},
		{"load --store ", "", dirs},
		{"load --data ", "jsonl ndjson", extensions},
		{"load --mode o", "append merge overwrite patch sync", nothing},
		{"init --schema ", "pg", extensions},
		{"query --store data/people --branch ", "feature main", nothing},
		{"query --store data/people --branch f", "feature main", nothing},
		{"query --store none --branch ", "", nothing},
		{"query --branch ", "", nothing},
		{"query --query ", "gq", extensions},
		{"query --store data/people --query people.gq ", "add all", nothing},
		{"query --store data/people --query people.gq add ", "", nothing},
		{"query --query none.gq ", "", nothing},
		{"proposal query --query people.gq ", "add all", nothing},
		{"query --format ", "arrow csv json ndjson parquet table", nothing},
		{"query --params ", "", nothing},
		{"export --store data/people --type ", "Knows Person", nothing},
		{"export --format ", "arrow ndjson parquet", nothing},
		{"export --out ", "", anything},
		{"branch delete --store data/people ", "feature main", nothing},
		{"branch delete --store data/people main ", "", nothing},
		{"merge --store data/people --into m", "feature main", nothing},
		{"query --server http://127.0.0.1:1 --graph people --branch ", "", nothing},
		{"queries run --server " + url + " --graph people ", strings.Join(exposed, " "), nothing},
		{"query --graph ", "code", nothing},
		{"policy explain --graph ", "cluster code", nothing},
		{"policy explain --action ", "admin audit_read branch_create branch_delete branch_merge change cluster_apply export graph_list invoke_query load_source policy_read proposal_review protection_bypass query_propose query_publish read schema_apply watch watch_webhook", nothing},
		{"policy explain --via ", "adhoc proposal stored", nothing},
		{"policy explain --query ", strings.Join(stored, " "), nothing},
		{"policy test --tests ", "yaml", extensions},
		{"policy validate ", "cedar yaml", extensions},
		{"policy tools --format ", "json text", nothing},
		{"mcp install --client ", strings.Join(clients, " "), nothing},
		{"verify --as ", "", nothing},
	} {
		words, directive := completed(t, tt.line)
		slices.Sort(words)
		if got := strings.Join(words, " "); got != tt.want || directive != tt.directive {
			t.Errorf("%q completes to %q %s, want %q %s", tt.line, got, directive, tt.want, tt.directive)
		}
	}
	if words, _ := completed(t, "commit show --store data/people "); len(words) != 2 || len(words[0]) != 26 {
		t.Errorf("commits complete to %q", words)
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if code, stdout, _ := omnigraph(t, "", "completion", shell); code != 0 || !strings.Contains(stdout, "omnigraph") {
			t.Errorf("completion %s: exit %d, %d bytes", shell, code, len(stdout))
		}
	}
}

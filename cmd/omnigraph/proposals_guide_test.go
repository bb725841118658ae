package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/policy"
)

// TestProposalsGuide checks the policies, the cluster.yaml, the answer and the check in the guide of
// proposals.
func TestProposalsGuide(t *testing.T) {
	text, err := os.ReadFile("../../docs/proposals.md")
	if err != nil {
		t.Fatal(err)
	}
	guide, dir := string(text), t.TempDir()
	kinds := map[string]int{}
	for _, m := range regexp.MustCompile("(?s)```([a-z]+)\n(.*?)```").FindAllStringSubmatch(guide, -1) {
		kind, err := m[1], error(nil)
		switch {
		case kind == "json":
			d := json.NewDecoder(strings.NewReader(m[2]))
			d.DisallowUnknownFields()
			err = d.Decode(&client.ProposalAnswer{})
		case kind == "yaml" && strings.HasPrefix(m[2], "graphs:"):
			kind = "cluster"
			for name, text := range map[string]string{"schema.pg": "", "policy.cedar": "", "queries/a.gq": "", "cluster.yaml": "version: 1\nstorage: ./data\n" + m[2]} {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
					t.Fatal(err)
				}
				write(t, filepath.Join(dir, name), text)
			}
			_, err = cluster.Read(filepath.Join(dir, "cluster.yaml"))
		case kind == "yaml":
			_, err = policy.Compile("policy.yaml", []byte(m[2]), policy.Options{Graph: "shop"})
		}
		kinds[kind]++
		if err != nil {
			t.Errorf("%v in\n%s", err, m[2])
		}
	}
	if kinds["json"] != 1 || kinds["cluster"] != 1 || kinds["yaml"] != 2 {
		t.Errorf("blocks: %v", kinds)
	}
	check := regexp.MustCompile(`(?s)    query .*?\n    \}\n`).FindString(guide)
	source, err := os.ReadFile("../../internal/codegen/scaffold/templates/schema.pg")
	if err != nil {
		t.Fatal(err)
	}
	schema, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: string(source)})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	queries, faults := gq.CompileQueries(schema, gq.Source{Name: "checks.gq", Text: check})
	if err := faults.Err(); err != nil || len(queries) != 1 || queries[0].MustBeEmpty == "" {
		t.Errorf("the check: %d queries, %v in\n%s", len(queries), err, check)
	}
	// The module of gq init has the same check.
	own, err := os.ReadFile("../../internal/codegen/scaffold/templates/queries/checks.gq")
	if plain := regexp.MustCompile(`(?m)^    `).ReplaceAllString(check, ""); err != nil || !bytes.Contains(own, []byte(plain)) {
		t.Errorf("the module of gq init does not have the check of the guide: %v", err)
	}
}

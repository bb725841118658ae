package main

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/generated/code"
	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/server/queryrun"
)

// TestReferenceIsFresh compares the committed pages with the generated ones.
func TestReferenceIsFresh(t *testing.T) {
	files, err := referencePages()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files.Names() {
		golden.Check(t, "../../"+referenceDir+"/"+name, files[name])
	}
}

// unshown matches the codes that have no known example.
var unshown = regexp.MustCompile(`^C14$`)

// TestEveryCodeHasAnExample runs every example and checks that it reports its code.
func TestEveryCodeHasAnExample(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range entries() {
		code := string(e.Code)
		if seen[code] {
			t.Errorf("%s is documented twice", code)
		}
		seen[code] = true
		if e.Title == "" || e.Explanation == "" {
			t.Errorf("%s has no title or no explanation", code)
		}
		if unshown.MatchString(code) {
			if e.Example != "" {
				t.Errorf("%s has an example after all", code)
			}
			continue
		}
		list, err := newExample(e).run()
		if err != nil || len(list) == 0 {
			t.Errorf("%s: %d reports, %v", code, len(list), err)
		}
	}
	for code := range seen {
		if !slices.ContainsFunc(families, func(f family) bool { return f.letter == code[:1] }) {
			t.Errorf("%s belongs to no family, so no page documents it", code)
		}
	}
}

func TestDocs(t *testing.T) {
	module(t, map[string]string{"sub/x": ""})
	t.Chdir("sub")
	if code, _, stderr := gqRun("docs", "--check"); code != exitFailed || !strings.Contains(stderr, "diagnostics.md is stale") {
		t.Errorf("check before: exit %d\n%s", code, stderr)
	}
	if code, stdout, stderr := gqRun("docs"); code != exitDone || stdout != "../docs/reference/diagnostics.md\n../docs/reference/gq.md\n../docs/reference/grammar.md\n" {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
	if code, stdout, stderr := gqRun("docs", "--check"); code != exitDone || stdout+stderr != "" {
		t.Errorf("check after: exit %d\n%s%s", code, stdout, stderr)
	}
	if err := os.WriteFile("../docs/reference/grammar.md", []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := gqRun("docs", "--check", "--out", "../docs/reference"); code != exitFailed || !strings.Contains(stderr, "grammar.md is stale") {
		t.Errorf("check of a change: exit %d\n%s", code, stderr)
	}
	if code, _, _ := gqRun("docs", "more"); code != exitUsage {
		t.Errorf("an argument: exit %d", code)
	}
}

// TestDocsOfTools checks that gq docs also writes the pages of the graphs of a cluster.yaml.
func TestDocsOfTools(t *testing.T) {
	module(t, map[string]string{
		"cluster.yaml": "version: 1\nstorage: ./data\ngraphs:\n  people:\n    schema: g/schema.pg\n    queries: g/\n",
		"g/schema.pg":  goodSchema, "g/a.gq": goodQuery,
	})
	if code, stdout, stderr := gqRun("docs"); code != exitDone || !strings.Contains(stdout, "docs/reference/tools/people.md\n") {
		t.Fatalf("exit %d\n%s%s", code, stdout, stderr)
	}
	if code, stdout, stderr := gqRun("docs", "--check"); code != exitDone || stdout+stderr != "" {
		t.Errorf("check after: exit %d\n%s%s", code, stdout, stderr)
	}
	if err := os.WriteFile("g/a.gq", []byte(strings.Replace(goodQuery, "find", "seek", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := gqRun("docs", "--check"); code != exitFailed || !strings.Contains(stderr, "docs/reference/tools/people.md is stale") {
		t.Errorf("check of a change: exit %d\n%s", code, stderr)
	}
	if err := os.WriteFile("g/a.gq", []byte("query"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := gqRun("docs"); code != exitFailed || !strings.Contains(stderr, "g/a.gq:1:") {
		t.Errorf("with a fault: exit %d\n%s", code, stderr)
	}
}

// TestExampleCalls decodes the example calls on the committed page in the same way as the server.
func TestExampleCalls(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/tools/code.md")
	if err != nil {
		t.Fatal(err)
	}
	calls := map[string]json.RawMessage{}
	for _, block := range fence.FindAllStringSubmatch(string(page), -1) {
		if block[1] != "json" {
			continue
		}
		var call struct {
			Name      string
			Arguments json.RawMessage
		}
		if err := json.Unmarshal([]byte(block[3]), &call); err != nil {
			t.Errorf("%v in %s", err, block[3])
		}
		calls[call.Name] = call.Arguments
	}
	for _, q := range code.Catalog().Queries {
		name := q.Descriptor().Name
		if !q.Info().Exposed { // MCP has no tool to call
			continue
		}
		if calls[name] == nil {
			t.Errorf("the page has no example call of %s", name)
		} else if _, err := (queryrun.Tool{StoredQuery: q}).Decode(calls[name]); err != nil {
			t.Errorf("%s of %s: %v", calls[name], name, err)
		}
	}
}

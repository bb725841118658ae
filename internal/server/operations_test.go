package server_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/policy"
)

// TestOperationsGuide checks docs/operations.md against the code: metrics and their labels,
// limits and their defaults, the members of log lines, and the policy.
func TestOperationsGuide(t *testing.T) {
	b, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	guide := string(b)
	for _, fault := range wrongExpression(guide) {
		t.Error(fault)
	}
	if named := selector.FindAllString(guide, -1); len(named) < 15 {
		t.Errorf("the guide names %d metrics; the test reads too few", len(named))
	}

	var documents []map[string]any
	var yamls []string
	blocks := map[string]int{}
	for _, m := range regexp.MustCompile("(?s)```([a-z]+)\n(.*?)```").FindAllStringSubmatch(guide, -1) {
		blocks[m[1]]++
		var v map[string]any
		switch m[1] {
		case "json":
			if err := json.Unmarshal([]byte(m[2]), &v); err != nil {
				t.Fatalf("%v in\n%s", err, m[2])
			}
			documents = append(documents, v)
		case "yaml":
			if err := yaml.Unmarshal([]byte(m[2]), &v); err != nil {
				t.Fatalf("%v in\n%s", err, m[2])
			}
			yamls = append(yamls, m[2])
		}
	}
	if len(documents) != 4 || len(yamls) != 3 {
		t.Fatalf("the blocks are %v", blocks)
	}
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return file
	}
	if _, err := policy.Read(write("server.policy.yaml", yamls[0]), policy.Options{}); err != nil {
		t.Error(err)
	}
	write("schema.pg", "node A {\n  a: String @key\n}\n")
	config, err := cluster.Read(write("cluster.yaml", "version: 1\nstorage: ./data\ngraphs:\n  g: { schema: schema.pg }\n"+yamls[2]))
	if err != nil {
		t.Fatal(err)
	}
	want := cluster.Limits{}.WithDefaults()
	want.QueryBytes = 1 << 30 // the engine's default
	if config.Server.Limits != want {
		t.Errorf("the guide's limits are %+v, the defaults %+v", config.Server.Limits, want)
	}

	log, with := logTo(t, "info")
	ts := newServer(t, with)
	ts.ask(t, "POST", "/graphs/code/queries/add_note", `{"params":{"slug":"a","symbol":"example.com/shop/stock.Shelf","text":"t"}}`)
	if err := ts.stop(); err != nil {
		t.Fatal(err)
	}
	for _, shown := range documents[:2] {
		lines := log.lines(t, shown["msg"].(string))
		if len(lines) != 1 {
			t.Fatalf("the lines of %s are %v", shown["msg"], lines)
		}
		if a, b := slices.Sorted(maps.Keys(shown)), slices.Sorted(maps.Keys(lines[0])); !slices.Equal(a, b) {
			t.Errorf("a line of %s has %v, the guide's %v", shown["msg"], b, a)
		}
		if _, err := time.Parse(time.RFC3339Nano, shown["time"].(string)); err != nil {
			t.Error(err)
		}
	}
}

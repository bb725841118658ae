package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestValidateRefusesWhatGenerateRefuses checks, and applies, sources that compile, although no package can be
// generated from them.
func TestValidateRefusesWhatGenerateRefuses(t *testing.T) {
	const graph = "version: 1\nstorage: ./data\ngraphs:\n  people:\n    schema: g/schema.pg\n    queries: g/\n"
	find := func(name string) string {
		return "query " + name + "() { match { $t: Task } return { $t.slug as slug } limit 3 }\n"
	}
	const schema = "node Task { slug: String @key x: enum(a-b, a_b) }\n"
	for name, tt := range map[string]struct {
		cluster, schema, queries, want string
	}{
		"valid":       {graph, strings.ReplaceAll(schema, "a_b", "c"), find("tasks"), ""},
		"enum values": {graph, schema, find("q"), "g/schema.pg:1:44: error G1: the value a_b of the enum of Task.x would"},
		"two queries": {graph, strings.ReplaceAll(schema, "a_b", "c"), find("task") + find("task_row"), "g/a.gq:2:7: error G1: query task_row would be declared in Go as TaskRow, which is the name of the rows of query task at "},
		"graphs":      {graph + "  pe-ople:\n    schema: g/schema.pg\n    queries: g/\n", strings.ReplaceAll(schema, "a_b", "c"), find("q"), "cluster.yaml:7:3: error G10: "},
		"selected":    {strings.ReplaceAll(graph, " g/\n", "\n      q: {file: g/a.gq}\n      grups: {file: g/a.gq}\n"), strings.ReplaceAll(schema, "a_b", "c"), find("q"), "cluster.yaml:8:7: error C6: "},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range map[string]string{"cluster.yaml": tt.cluster, "g/schema.pg": tt.schema, "g/a.gq": tt.queries} {
				file = filepath.Join(dir, filepath.FromSlash(file))
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for _, verb := range []string{"validate", "plan", "apply"} {
				code, stdout, stderr := omnigraph(t, "", "cluster", verb, "--cluster", dir)
				if (code == 0) != (tt.want == "") || tt.want != "" && !strings.Contains("\n"+stderr, "\n"+dir+"/"+tt.want) {
					t.Errorf("%s: exit %d, want %s\n%s%s", verb, code, tt.want, stdout, stderr)
				}
			}
		})
	}
}

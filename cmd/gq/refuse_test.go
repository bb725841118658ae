package main

import (
	"os"
	"strings"
	"testing"
)

// TestLintRefusesWhatGenerateRefuses runs both verbs on modules. The sources of these modules
// compile, but no package can be generated from them.
func TestLintRefusesWhatGenerateRefuses(t *testing.T) {
	const schema = "node Task {\n  slug: String @key\n  source: enum(a-b, c)\n}\n"
	const graph = "version: 1\nstorage: ./data\ngraphs:\n  people:\n    schema: g/schema.pg\n    queries: g/\n"
	find := func(name string) string {
		return "query " + name + "() { match { $t: Task } return { $t.slug as slug } limit 3 }\n"
	}
	tests := []struct {
		name, want string
		files      map[string]string
	}{
		{"none", "", map[string]string{"g/a.gq": find("task") + find("source")}},
		{"an enum", "g/a.gq:1:7: error G1: query task_source would be declared in Go as TaskSource, which is the name of the enum of Task.source at g/schema.pg:3:3",
			map[string]string{"g/a.gq": find("task_source")}},
		{"two queries", "g/b.gq:1:7: error G1: query task_row would be declared in Go as TaskRow, which is the name of the rows of query task at g/a.gq:1:7",
			map[string]string{"g/a.gq": find("task"), "g/b.gq": find("task_row")}},
		{"enum values", "g/schema.pg:1:44: error G1: the value a_b of",
			map[string]string{"g/schema.pg": "node Task { slug: String @key x: enum(a-b, a_b) }\n", "g/a.gq": find("q")}},
		{"files", "g/x_y.gq:1:1: error G7", map[string]string{"g/x-y.gq": find("q"), "g/x_y.gq": find("r")}},
		{"a query that cluster.yaml lists", "cluster.yaml:8:7: error G8: g/a.gq has no query grups",
			map[string]string{"cluster.yaml": strings.ReplaceAll(graph, " g/\n", "\n      q: {file: g/a.gq}\n      grups: {file: g/a.gq}\n"), "g/a.gq": find("q")}},
		{"graphs", "cluster.yaml:7:3: error G10: graph pe-ople would be generated into the package people, which is the package of graph people at cluster.yaml:4:3",
			map[string]string{"cluster.yaml": graph + "  pe-ople:\n    schema: g/schema.pg\n    queries: g/\n", "g/a.gq": find("q")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]string{"cluster.yaml": graph, "g/schema.pg": schema}
			for name, text := range tt.files {
				files[name] = text
			}
			module(t, files)
			for _, verb := range []string{"generate", "lint"} {
				code, stdout, stderr := gqRun(verb)
				out := "\n" + stdout + stderr
				if (code == exitDone) != (tt.want == "") || !strings.Contains(out, "\n"+tt.want) {
					t.Errorf("gq %s: exit %d, want %q\n%s", verb, code, tt.want, out)
				}
				if strings.Contains(out, ", 0 of them stored queries") || tt.want == "" && verb == "lint" && !strings.Contains(out, ", 2 of them stored queries") {
					t.Errorf("gq %s reports the wrong number of tools:\n%s", verb, out)
				}
			}
			if code, stdout, stderr := gqRun("lint", "--schema", "g/schema.pg", "g"); strings.HasPrefix(tt.want, "g/") && (code == exitDone || !strings.Contains("\n"+stdout, "\n"+tt.want)) {
				t.Errorf("gq lint --schema: exit %d, want %q\n%s%s", code, tt.want, stdout, stderr)
			}
		})
	}
}

// TestLintFixesAnnotations checks that --fix gives annotations of the user the prefix x_, and
// leaves misspelt annotations of the language alone.
func TestLintFixesAnnotations(t *testing.T) {
	const queries = "query q() @mcp(expose: false) { match { $t: Task } return { $t.slug as slug } order { $t.slug } limit 3 }\n"
	for _, tt := range []struct {
		text, want string
		code       int
	}{
		{"node Task @team(\"search\") { slug: String @key @deprecated }\n", "node Task @x_team(\"search\") { slug: String @key @x_deprecated }\n", exitDone},
		{"node Task @team @descripton(\"A task.\") { slug: String @key }\n", "node Task @x_team @descripton(\"A task.\") { slug: String @key }\n", exitFailed},
	} {
		module(t, map[string]string{"g/schema.pg": tt.text, "g/a.gq": queries})
		if code, stdout, _ := gqRun("lint", "--schema", "g/schema.pg", "g"); code != exitFailed || !strings.Contains(stdout, "g/schema.pg:1:12: error S19: unknown annotation @team") {
			t.Errorf("before: exit %d\n%s", code, stdout)
		}
		code, stdout, stderr := gqRun("lint", "--fix", "--schema", "g/schema.pg", "g")
		text, err := os.ReadFile("g/schema.pg")
		if code != tt.code || err != nil || string(text) != tt.want {
			t.Errorf("exit %d, %v, the file has %s, want %s\n%s%s", code, err, text, tt.want, stdout, stderr)
		}
		if tt.code == exitFailed && !strings.Contains(stdout, "help: did you mean @description?") {
			t.Errorf("no help for the misspelt annotation:\n%s", stdout)
		}
	}
}

package main

import (
	"strings"
	"testing"
)

// TestNoProvider uses a query that needs an embedding provider. If the graph has none, gq lint and
// gq generate must warn, mention the setting, and still succeed. With a provider they must be
// silent.
func TestNoProvider(t *testing.T) {
	const config = "version: 1\nstorage: ./data\ngraphs:\n  docs: { schema: docs.pg, queries: q/"
	files := map[string]string{
		"docs.pg":   "node Doc {\n  slug: String @key\n  text: String\n  vec: Vector(2)? @embed(\"text\")\n}\n",
		"q/docs.gq": "query alike($text: String @description(\"A text.\")) @description(\"Find documents like a text.\") {\n  match { $d: Doc }\n  return { $d.slug }\n  order { nearest($d.vec, $text) }\n  limit 5\n}\n",
	}
	for _, tt := range []struct {
		name, config string
		warns        bool
	}{
		{"without", config + " }\n", true},
		{"with", config + ", embedding_provider: trial }\nproviders: { embedding: { trial: { kind: mock } } }\n", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files["cluster.yaml"] = tt.config
			module(t, files)
			for _, verb := range []string{"lint", "generate"} {
				code, stdout, stderr := gqRun(verb)
				out := stdout + stderr
				for _, part := range []string{
					"q/docs.gq:1:7: warning L121: graph docs has no embedding provider, so a server does not offer query alike: nearest in the query must embed a text",
					"set graphs.docs.embedding_provider in cluster.yaml to a name in providers.embedding",
				} {
					if code != exitDone || strings.Contains(out, part) != tt.warns {
						t.Errorf("gq %s: exit %d, and of %q in its output %v was wanted\n%s", verb, code, part, tt.warns, out)
					}
				}
			}
		})
	}
}

//go:build gq_noparse

package syntax

import "testing"

func TestNoParser(t *testing.T) {
	if s, faults := ParseSchema("x", "node A { x: String }"); len(s.Decls) != 0 || len(faults) != 1 || faults[0].Code != NoParser {
		t.Error(s.Decls, faults)
	}
	if f, faults := ParseQueries("x", "query q() { delete A where x = 1 }"); len(f.Queries) != 0 || len(faults) != 1 || faults[0].Code != NoParser {
		t.Error(f.Queries, faults)
	}
}

// TestNoParserExample runs the example that only this build can run.
func TestNoParserExample(t *testing.T) {
	for _, e := range Codes {
		if e.Code == NoParser {
			if _, faults := ParseQueries("example.gq", e.Example); len(faults) != 1 || faults[0] != NoParserFault("example.gq") {
				t.Error(faults)
			}
			return
		}
	}
	t.Error("P12 is not documented")
}

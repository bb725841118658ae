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

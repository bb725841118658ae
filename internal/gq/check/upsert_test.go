package check

import (
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// TestUpsertOfEdges checks by what an upsert can find an edge.
func TestUpsertOfEdges(t *testing.T) {
	s := ParseSchema(t, `node Town { name: String @key }
edge Path: Town -> Town { km: I32? }
edge Ferry: Town -> Town { km: I32? @unique(src, dst) }
edge Road: Town -> Town { number: I32? name: String? km: I32? @unique(src, number, dst) @unique(src, dst, name) }
edge Rail: Town -> Town { line: I32 @default(1) km: I32? @unique(src, dst, line) @unique(src, dst, km) }`)
	for _, tt := range []struct{ upsert, want string }{
		{`Path { from: "a" to: "b" }`, "Path may have several edges between two nodes"},
		{`Path { id: "p" from: "a" to: "b" km: km + 1 }`, ""},
		{`Ferry { from: "a" to: "b" km: km + 1 }`, ""},
		{`Ferry { id: "f" from: "a" to: "b" }`, ""},
		{`Ferry { from: "a" }`, "does not assign to"},
		{`Road { from: "a" to: "b" km: 1 }`, "assigns neither id nor number, so it cannot find the edge"},
		{`Road { from: "a" to: "b" name: "x" km: km + 1 }`, ""},
		{`Road { from: "a" to: "b" number: 1 }`, ""},
		{`Road { from: "a" to: "b" number: number + 1 }`, "the property number of an upsert is computed from a value of the edge"},
		{`Road { from: "a" to: "b" number: 1 name: name + "x" }`, "the property name of an upsert is computed from a value of the edge"},
		{`Road { id: "r" from: "a" to: "b" number: number + 1 }`, ""},
		{`Rail { from: "a" to: "b" }`, "assigns neither id nor line"},
		{`Rail { from: "a" to: "b" line: 2 km: km + 1 }`, ""}, // line is never null, so km finds nothing
		{`Rail { from: "a" to: "b" km: km + 1 }`, "the property km of an upsert is computed from a value of the edge"},
	} {
		f, faults := syntax.ParseQueries("q.gq", "query q() { upsert "+tt.upsert+" }")
		if faults != nil {
			t.Fatal(tt.upsert, faults)
		}
		_, _, found := Query(s, f.Queries[0])
		var text []string
		for _, d := range found {
			text = append(text, d.Message)
		}
		if got := strings.Join(text, "; "); (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
			t.Errorf("upsert %s: found %q, expected %q", tt.upsert, got, tt.want)
		}
	}
}

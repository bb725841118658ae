package servedgraph_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/envelope"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
)

// TestRejectedIsBounded checks the report of a query with many faults in one line. Its size must
// not grow with the number of faults times the length of the line.
func TestRejectedIsBounded(t *testing.T) {
	g := servedtest.Graph(t, servedtest.Config(t))
	reject := func(source string) *client.Envelope {
		t.Helper()
		_, err := g.Do(t.Context(), servedtest.Reader, "query", &operations.AdHoc{Source: source}, encoding.Options{})
		f := wireerror.Explain(err)
		if envelope.Status(f.Outcome) != 400 || len(f.Body.Diagnostics) == 0 {
			t.Fatalf("got %+v", f)
		}
		return &f.Body
	}
	many := reject("query q() { match { $p: Person " + strings.Repeat("$p.nope = 1 ", 1000) + "} return { $p } }")
	if b, _ := json.Marshal(many); len(b) > 20_000 || len(many.Diagnostics) != 21 || !strings.Contains(many.Message, "there are too many errors") {
		t.Errorf("%d bytes, %d diagnostics", len(b), len(many.Diagnostics))
	}
	var names strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&names, "query q%d() { match { $p: Person } return { $p } } ", i)
	}
	for name, want := range map[string]string{"": "choose one of q0, ", "zzz": "it contains q0, "} {
		_, err := g.Do(t.Context(), servedtest.Reader, "query", &operations.AdHoc{Source: names.String(), Name: name}, encoding.Options{})
		if text := wireerror.Explain(err).Body.Message; len(text) > 300 || !strings.Contains(text, want) || !strings.HasSuffix(text, "q19 and 980 more") {
			t.Errorf("name %q: %s", name, text)
		}
	}
	for _, pad := range []string{"x", "é", "日"} {
		long := strings.Repeat(pad, 200)
		one := reject(fmt.Sprintf(`query q() { match { $p: Person { name: "%s" } $p: Persn { name: "%s" } } return { $p } }`, long, long))
		_, excerpt, _ := strings.Cut(one.Message, "Persn\n")
		line, mark, _ := strings.Cut(excerpt, "\n")
		mark, _, _ = strings.Cut(mark, "\n")
		// The second line of the excerpt marks the fault with ^~~~~. Blanks indent the mark: one for
		// each character that precedes the fault in the first line, and two for a wide one.
		wide := strings.Count(line[:strings.Index(line, "Persn")], "日")
		if at := len([]rune(line[:strings.Index(line, "Persn")])) + wide; strings.Index(mark, "^~~~~") != at || len(mark) != at+5 {
			t.Errorf("%s: the mark is not under the fault:\n%s\n%s", pad, line, mark)
		}
		if !strings.HasPrefix(line, "  …") || !strings.HasSuffix(line, "…") || len(line) > 400 {
			t.Errorf("%s: %q", pad, line)
		}
	}
}

// TestRejectedShowsTheForm checks that the error for a text in another language shows an example
// that compiles. The error for other faults must show no example.
func TestRejectedShowsTheForm(t *testing.T) {
	g := servedtest.Graph(t, servedtest.Config(t))
	for _, tt := range []struct {
		call operations.AdHoc
		form bool
	}{
		{operations.AdHoc{Source: `MATCH (p:Person) RETURN p`}, true},
		{operations.AdHoc{Source: `CREATE (p:Person)`, Write: true}, true},
		{operations.AdHoc{Source: `query q() { match { $p: Persn } return { $p } }`}, false},
	} {
		_, err := g.Do(t.Context(), servedtest.Writer, "query", &tt.call, encoding.Options{})
		_, form, shown := strings.Cut(wireerror.Explain(err).Body.Message, "write it, for example, like this: ")
		if shown != tt.form {
			t.Errorf("%s: %v", tt.call.Source, err)
		}
		if !shown {
			continue
		}
		queries, faults := gq.CompileQueries(servedtest.Schema(t), gq.Source{Name: "example", Text: form})
		if faults.HasErrors() || len(queries) != 1 || (queries[0].Plan.Mutation != nil) != tt.call.Write {
			t.Errorf("%s is answered with %s: %v", tt.call.Source, form, faults)
		}
	}
}

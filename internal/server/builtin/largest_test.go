package builtin_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/builtin"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/textlimit"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
)

// TestLargestAnswers checks that no built-in tool answers with more than max_bytes. An answer that
// is too large must be either refused with advice on what to do, or truncated and marked as
// truncated.
func TestLargestAnswers(t *testing.T) {
	c := servedtest.Config(t, builtin.All("1")...)
	c.Limits = servedgraph.Limits{MaxBytes: servedtest.MaxBytes}
	g := servedtest.Graph(t, c)
	ask := func(c servedtest.Call) (string, error) {
		raw, err := json.Marshal(c.Args)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := g.Call(t.Context(), servedtest.Writer, c.Tool, raw, g.ForModel())
		if err != nil {
			return "", err
		}
		return string(answer.JSON), nil
	}
	for _, call := range servedtest.Filling() {
		if _, err := ask(call); err != nil {
			t.Fatal(err)
		}
	}
	head, err := c.Graph.Snapshot(t.Context(), engine.Target{})
	if err != nil {
		t.Fatal(err)
	}
	called := map[string]bool{}
	for _, call := range servedtest.Calls(head.Commit.ID) {
		called[call.Tool] = true
		answer, err := ask(call)
		if call.Refused != "" {
			var large *wireerror.Oversize
			if err == nil || !strings.Contains(err.Error(), call.Refused) || strings.Contains(err.Error(), "…/") || call.Tool != "schema_apply" && call.Tool != "proposal_resolve" && !errors.As(err, &large) {
				t.Errorf("%s: %v %.300s, want %s", call.Tool, err, answer, call.Refused)
			}
			continue
		}
		// The limit applies to the answer up to the last row of a read. The part after that row may
		// exceed the limit.
		if bound := servedtest.MaxBytes + 400; err != nil || len(answer) > bound || !json.Valid([]byte(answer)) || !strings.Contains(answer, call.Answer) {
			t.Errorf("%s: %d bytes, %v: %.1800s\nwant at most %d with %s", call.Tool, len(answer), err, answer, bound, call.Answer)
		}
	}
	for _, tool := range builtin.All("1") {
		if name := tool.Descriptor().Name; !called[name] {
			t.Errorf("%s has no row in servedtest.Calls", name)
		}
	}
}

// TestCutSteps makes the steps of a schema too large for the answer. The answer must cut the steps,
// but still contain their total number.
func TestCutSteps(t *testing.T) {
	a := &operations.SchemaApplyResult{StepCount: 1000}
	for i := range 1000 {
		a.Steps = append(a.Steps, operations.SchemaApplyStep{Step: fmt.Sprintf("add node Type%d", i)})
	}
	a.Cut(10_000)
	b, err := encoding.JSON(a)
	if err != nil || len(b) > 10_000 || len(a.Steps) < 50 || !strings.Contains(string(b), `"step_count":1000`) {
		t.Errorf("%d steps, %d bytes, %v", len(a.Steps), len(b), err)
	}
}

// TestBatchTexts checks that the limit on texts applies to all texts of a call together.
func TestBatchTexts(t *testing.T) {
	c := servedtest.Config(t, builtin.All("1")...)
	g := servedtest.Graph(t, c)
	half := "query q() { match { $p: Person } return { $p.name } } //" + strings.Repeat("x", textlimit.Max/2)
	got, status := call(t, c, g, servedtest.Reader, "graph_query", args{"queries": []args{{"query": half}, {"query": half}}})
	if want := fmt.Sprintf("bytes of queries: %d is more than the limit of %d", 2*len(half), textlimit.Max); status != 413 || !strings.Contains(got, want) {
		t.Errorf("%d %.300s, expected %s", status, got, want)
	}
	if got, status := call(t, c, g, servedtest.Reader, "graph_query", args{"queries": []args{{"query": half}}}); status != 0 {
		t.Errorf("one half: %d %.300s", status, got)
	}
	for _, name := range []string{"graph_query", "query_validate", "query_explain"} {
		got, status := call(t, c, g, servedtest.Reader, name, args{"query": half + half})
		if want := fmt.Sprintf("bytes of query: %d is more than the limit of %d", 2*len(half), textlimit.Max); status != 413 || !strings.Contains(got, want) {
			t.Errorf("%s: %d %.300s, expected %s", name, status, got, want)
		}
	}
}

package servedgraph_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/internal/server/queryrun"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// TestAsOf reads a branch as of instants: with the option snapshot and with a query that says as of when.
func TestAsOf(t *testing.T) {
	c := servedtest.Config(t)
	g := servedtest.Graph(t, c)
	origin, err := c.Graph.Snapshot(t.Context(), engine.Target{})
	if err != nil {
		t.Fatal(err)
	}
	do := func(actor *access.Actor, call tool.Call, rows int) (answer client.ReadAnswer, err error) {
		t.Helper()
		a, err := g.Do(t.Context(), actor, "graph_query", call, encoding.Options{MaxRows: rows, Parts: true})
		if err == nil {
			err = json.Unmarshal(a.JSON, &answer)
		}
		return answer, err
	}
	write := func(branch, name string) engine.Commit {
		t.Helper()
		for { // two commits of the model may have one time
			before, err := c.Graph.Snapshot(t.Context(), engine.Target{Branch: branch})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := do(servedtest.Writer, &operations.AdHoc{Source: `query m($n: String) { insert Person { name: $n } }`, Params: json.RawMessage(`{"n":"` + name + `"}`), Branch: tool.BranchName(branch), Write: true}, 0); err != nil {
				t.Fatal(err)
			}
			after, err := c.Graph.Snapshot(t.Context(), engine.Target{Branch: branch})
			if err != nil {
				t.Fatal(err)
			}
			if after.Commit.Time.After(before.Commit.Time) {
				return after.Commit
			}
		}
	}
	second := write("", "dan")
	if _, err := c.Graph.CreateBranch(t.Context(), "trial", engine.Target{}); err != nil {
		t.Fatal(err)
	}
	third := write("trial", "eve")
	instant := func(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }
	names := `query q() { match { $p: Person } return { $p.name } }`
	asOf := `query q($t: DateTime) as of $t { match { $p: Person } return { $p.name } }`
	for _, tt := range []struct {
		name     string
		actor    *access.Actor
		source   string
		snapshot string
		at       string // argument of the query
		branch   tool.BranchName
		rows     int
		commit   string
		fault    string
	}{
		{name: "snapshot", actor: servedtest.Reader, source: names, snapshot: instant(origin.Commit.Time), rows: 3, commit: origin.Commit.ID},
		{name: "snapshot between", actor: servedtest.Reader, source: names, snapshot: instant(second.Time.Add(-time.Microsecond)), rows: 3, commit: origin.Commit.ID},
		{name: "snapshot of a branch", actor: servedtest.Reader, source: names, snapshot: instant(third.Time), branch: "trial", rows: 5, commit: third.ID},
		{name: "snapshot before the branch", actor: servedtest.Reader, source: names, snapshot: instant(second.Time), branch: "trial", rows: 4, commit: second.ID},
		{name: "as of", actor: servedtest.Reader, source: asOf, at: instant(origin.Commit.Time), rows: 3, commit: origin.Commit.ID},
		{name: "as of on a branch", actor: servedtest.Reader, source: asOf, at: instant(second.Time), branch: "trial", rows: 4, commit: second.ID},
		{name: "as of in a commit", actor: servedtest.Reader, source: asOf, at: instant(second.Time), snapshot: third.ID, fault: "the query says as of when it reads"},
		{name: "own branch", actor: servedtest.Drafter, source: names, snapshot: instant(third.Time), branch: "trial", rows: 5, commit: third.ID},
		{name: "a commit of main without main", actor: servedtest.Drafter, source: names, snapshot: instant(second.Time), branch: "trial", fault: "branch main"},
		{name: "as of, a commit of main without main", actor: servedtest.Drafter, source: asOf, at: instant(second.Time), branch: "trial", fault: "branch main"},
		{name: "no right to read", actor: servedtest.Nobody, source: names, snapshot: instant(second.Time), fault: "does not allow read"},
		{name: "future", actor: servedtest.Reader, source: names, snapshot: "2999-01-01T00:00:00Z", fault: "future"},
		{name: "as of the future", actor: servedtest.Reader, source: asOf, at: "2999-01-01T00:00:00Z", fault: "future"},
		{name: "too early", actor: servedtest.Reader, source: names, snapshot: "1999-01-01T00:00:00Z", fault: "commit at or before"},
		{name: "no instant", actor: servedtest.Reader, source: names, snapshot: "2024-05-01", fault: "2026-05-01T12:00:00Z"},
		{name: "commit and branch", actor: servedtest.Reader, source: names, snapshot: second.ID, branch: "trial", fault: "an instant may have one"},
		{name: "mutation", actor: servedtest.Writer, source: `query q($t: DateTime) as of $t { delete Person where name = "dan" }`, at: instant(second.Time), fault: "mutation"},
	} {
		params := json.RawMessage(`{}`)
		if tt.at != "" {
			params = json.RawMessage(`{"t":"` + tt.at + `"}`)
		}
		call := func(token string) tool.Call {
			return &operations.AdHoc{Source: tt.source, Params: params, Branch: tt.branch, Options: queryrun.Options{Snapshot: tt.snapshot, PageToken: token}}
		}
		got, err := do(tt.actor, call(""), 0)
		if tt.fault != "" {
			var text string
			if err != nil {
				text = err.Error()
			}
			var bad *tool.ArgumentError
			if errors.As(err, &bad) {
				text += bad.Help
			}
			if !strings.Contains(text, tt.fault) {
				t.Errorf("%s: %v, %q; want %q", tt.name, err, text, tt.fault)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got.RowCount != int64(tt.rows) || got.GraphCommitID != tt.commit {
			t.Errorf("%s: %d rows of %s, want %d of %s", tt.name, got.RowCount, got.GraphCommitID, tt.rows, tt.commit)
		}
		// The pages are of one commit.
		seen, token := 0, ""
		for {
			page, err := do(tt.actor, call(token), 2)
			if err != nil || page.GraphCommitID != tt.commit {
				t.Errorf("%s: a page of %s, %v", tt.name, page.GraphCommitID, err)
				break
			}
			seen += int(page.RowCount)
			if token = page.NextPageToken; token == "" {
				break
			}
		}
		if seen != tt.rows {
			t.Errorf("%s: %d rows on all pages, want %d", tt.name, seen, tt.rows)
		}
	}
	// Other calls that take a commit to read.
	for name, want := range map[string]string{instant(origin.Commit.Time): origin.Commit.ID, instant(second.Time): second.ID, instant(third.Time): third.ID} {
		a, err := g.Do(t.Context(), servedtest.Reader, "graph_snapshot", operations.LookSnapshot("trial", name), encoding.Options{})
		if err != nil || a.Commit != want {
			t.Errorf("the snapshot of trial as of %s is %+v, %v; want %s", name, a, err, want)
		}
	}
}

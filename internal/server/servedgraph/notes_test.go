package servedgraph_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// readsMain is a policy that permits every stored query on every branch, and ad-hoc queries on main
// only.
type readsMain struct{ servedtest.Policy }

func (readsMain) Allowed(_ *access.Actor, g tool.Grant) bool {
	return g.Action == tool.InvokeQuery || g.Action == tool.Read && (g.Via == tool.Stored || g.Branch.IsMain())
}

// TestNotesKeepToBranch checks that a note names keys of the state that the read ran on. If the
// caller may not read a branch or a commit with ad-hoc queries, it must get no notes about it.
func TestNotesKeepToBranch(t *testing.T) {
	c := servedtest.Config(t)
	main, err := c.Graph.Snapshot(t.Context(), engine.Target{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Graph.CreateBranch(t.Context(), "draft", engine.Target{}); err != nil {
		t.Fatal(err)
	}
	load := func(branch, name string) string {
		line := strings.NewReader(`{"type":"Person","data":{"name":"` + name + `"}}`)
		r, err := c.Graph.Load(t.Context(), line, engine.LoadOptions{WriteOptions: engine.WriteOptions{Branch: branch}})
		if err != nil {
			t.Fatal(err)
		}
		return r.Commit.ID
	}
	onDraft, _ := load("draft", "secret-zoe"), load("", "open-zoe")
	const note = `no Person has name "zoe"`
	for _, tt := range []struct {
		name   string
		policy access.Authorizer
		target string
		want   []string
	}{
		{"main", readsMain{}, "", []string{note + `; near it: "open-zoe"`}},
		{"an old commit of main", readsMain{}, `,"snapshot":"` + main.Commit.ID + `"`, []string{note}},
		{"a branch that only stored queries read", readsMain{}, `,"branch":"draft"`, nil},
		{"a commit of that branch", readsMain{}, `,"snapshot":"` + onDraft + `"`, nil},
		{"that branch, for an actor that may read it", servedtest.Policy{}, `,"branch":"draft"`, []string{note + `; near it: "secret-zoe"`}},
		{"a commit of it, for an actor that may read it", servedtest.Policy{}, `,"snapshot":"` + onDraft + `"`, []string{note + `; near it: "secret-zoe"`}},
	} {
		c.Authorizer = tt.policy
		answer, err := servedtest.Graph(t, c).Call(t.Context(), servedtest.Writer, "lookup_person", json.RawMessage(`{"params":{"name":"zoe"}`+tt.target+`}`), encoding.Options{})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		var got struct {
			Rows  []any    `json:"rows"`
			Notes []string `json:"notes"`
		}
		if err := json.Unmarshal(answer.JSON, &got); err != nil {
			t.Fatal(err)
		}
		if len(got.Rows) > 0 || strings.Join(got.Notes, "|") != strings.Join(tt.want, "|") {
			t.Errorf("%s: found %s, expected the notes %q", tt.name, answer.JSON, tt.want)
		}
	}
}

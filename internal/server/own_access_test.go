package server_test

import (
	"encoding/json"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

// TestOwnAccess compares what actors are told about themselves with what the server answers to their calls.
func TestOwnAccess(t *testing.T) {
	w := newProposalWorldWith(t, `version: 1
filters: { young: { type: Person, where: "$it.age < 40" } }
protected_branches: [{ name: main, approvals: 1 }]
rules:
  - id: all
    allow: { actors: { ids: [act-one, act-root] }, actions: [read, change, schema_apply, branch_create, branch_merge] }
  - id: the-young
    allow: { actors: { ids: [act-bo] }, actions: [read, change], rows: young }
  - id: more
    allow: { actors: { ids: [act-bo] }, actions: [schema_apply, branch_merge] }
  - id: root
    allow: { actors: { ids: [act-root] }, actions: [protection_bypass] }
`, servedtest.Catalog(t))
	if status, text := w.ask("act-one", "POST", "/branches", `{"name":"free"}`); status != 200 {
		t.Fatal(status, text)
	}
	for _, c := range []struct {
		actor, branch string
		want          map[string]string // by action and via; "" means denied
	}{
		{"act-one", "main", map[string]string{"read adhoc": "all", "change adhoc": "", "change stored": "", "schema_apply": "", "branch_merge adhoc": "", "branch_merge proposal": "all"}},
		{"act-one", "free", map[string]string{"read adhoc": "all", "change adhoc": "all", "schema_apply": "all", "branch_merge adhoc": "all"}},
		{"act-root", "main", map[string]string{"change adhoc": "all", "schema_apply": "all", "branch_merge adhoc": "all"}},
		{"act-bo", "main", map[string]string{"read adhoc": "part", "change adhoc": "", "schema_apply": "", "branch_merge proposal": "part"}},
		{"act-bo", "free", map[string]string{"read adhoc": "part", "change adhoc": "part", "schema_apply": "", "branch_merge adhoc": "part"}},
		{"act-two", "free", map[string]string{"read adhoc": "", "change adhoc": ""}},
	} {
		status, text := w.ask(c.actor, "GET", "/access?branch="+c.branch, "")
		var a client.AccessAnswer
		if err := json.Unmarshal([]byte(text), &a); status != 200 || err != nil {
			t.Fatal(c.actor, status, text, err)
		}
		said := map[string]string{}
		for _, d := range a.Decisions {
			key := d.Action
			if d.Via != "" {
				key += " " + d.Via
			}
			switch {
			case d.Partial:
				said[key] = "part"
			case d.Allowed:
				said[key] = "all"
			}
		}
		for action, want := range c.want {
			if said[action] != want {
				t.Errorf("%s on %s is told %q about %s, want %q", c.actor, c.branch, said[action], action, want)
			}
		}
		body, err := json.Marshal(client.MutateBody{Query: aged("ada", 30), Branch: c.branch})
		if err != nil {
			t.Fatal(err)
		}
		if status, text = w.ask(c.actor, "POST", "/mutate", string(body)); (status == 403) != (said["change adhoc"] == "") {
			t.Errorf("%s is told %q about a write to %s, which answers %d %s", c.actor, said["change adhoc"], c.branch, status, text)
		}
	}
}

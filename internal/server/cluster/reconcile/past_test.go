package reconcile

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// rule returns a policy that allows actions to an actor.
func rule(actor, actions string) *Policy {
	return &Policy{"policy.yaml", fmt.Sprintf("version: 1\nrules:\n  - id: one\n    allow: { actors: { ids: [%s] }, actions: [%s] }\n", actor, actions)}
}

// TestHistory applies revisions, lists them, and applies an earlier one again, in a folder and in shared storage.
func TestHistory(t *testing.T) {
	for name, c := range map[string]*Cluster{
		"folder": clusterOn(fs.NewMem(), "/data"),
		"shared": sharedCluster(t, &object.Memory{}),
	} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			apply := func(s *Sources, message string, approved ...string) {
				t.Helper()
				if _, err := c.Apply(ctx, s, Options{Actor: "act-ada", Message: message, Approved: approved}); err != nil {
					t.Fatal(err)
				}
			}
			one := sources(t, "people", people)
			one.Settings, one.Graphs[0].Policy = "sha256:1", rule("act-bob", "read, change")
			apply(one, "the first")
			two := sources(t, "people", peopleMore, "things", things)
			two.Settings, two.Graphs[0].Policy = "sha256:2", rule("act-ada", "read")
			apply(two, "")
			history, err := c.History(ctx)
			if err != nil {
				t.Fatal(err)
			}
			var lines []string
			for _, e := range history {
				lines = append(lines, fmt.Sprintf("%d by %s %q: %s", e.Number, e.Actor, e.Message, strings.Join(e.Changes, "; ")))
			}
			want := []string{`2 by act-ada "": graph people: schema; graph people: policy; graph things: added; cluster.yaml`, `1 by act-ada "the first": graph people: added`}
			if !slices.Equal(lines, want) {
				t.Errorf("history\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
			}

			cfg := &cluster.Config{File: "cluster.yaml", Graphs: []cluster.Graph{{ID: "people"}, {ID: "things"}}}
			var missing *engine.NotFound
			if _, _, _, err := c.Again(ctx, cfg, 3, false); !errors.As(err, &missing) {
				t.Errorf("revision 3: %v", err)
			}
			again, regained, found, err := c.Again(ctx, cfg, 1, false)
			if err != nil || len(found) > 0 || regained != nil || *again.Graphs[0].Policy != *two.Graphs[0].Policy || again.Settings != "sha256:2" {
				t.Fatalf("again: %v, %v, %v", regained, found, err)
			}
			if again, regained, _, err = c.Again(ctx, cfg, 1, true); err != nil || *again.Graphs[0].Policy != *one.Graphs[0].Policy {
				t.Fatalf("again with its policy: %v", err)
			}
			if want := []string{"graph people: act-bob: read on every branch", "graph people: act-bob: read (stored) on every branch",
				"graph people: act-bob: change on every branch", "graph people: act-bob: change (stored) on every branch"}; !slices.Equal(regained, want) {
				t.Errorf("regained %q, want %q", regained, want)
			}
			var unapproved *Unapproved
			if _, err := c.Apply(ctx, again, Options{Actor: "act-eve"}); !errors.As(err, &unapproved) {
				t.Fatalf("without approval: %v", err)
			}
			apply(again, "back", unapproved.Graphs[0].Approval())
			now, err := c.Revision(ctx)
			if err != nil || now.Number != 3 || now.Message != "back" || now.Graph("things") != nil || now.Graph("people").Source != people || *now.Graph("people").Policy != *one.Graphs[0].Policy {
				t.Errorf("revision %+v, %v", now, err)
			}
			g, err := c.openGraph(ctx, "people")
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			if snap, err := g.Snapshot(ctx, engine.Target{}); err != nil || snap.Commit.Message != "back" {
				t.Errorf("the commit of the step is %+v, %v", snap, err)
			}

			// Revision 2 has a graph that revision 3 lacks, without a policy; revision 1 of such a graph would have one.
			if _, _, _, err := c.Again(ctx, cfg, 2, false); err != nil {
				t.Errorf("a graph without a policy: %v", err)
			}
		})
	}
}

// TestAgainProposed applies an earlier revision after another one with proposed queries, and that one again.
func TestAgainProposed(t *testing.T) {
	c := clusterOn(fs.NewMem(), "/data")
	if _, err := c.Apply(t.Context(), sources(t, "people", people), Options{}); err != nil {
		t.Fatal(err)
	}
	few := ProposedQuery{"few", `query few() @description("People.") { match { $p: Person } return { $p.name } limit 1 }`, "P1"}
	if err := c.Publish(t.Context(), "people", few, nil, "act-ada"); err != nil {
		t.Fatal(err)
	}
	cfg := &cluster.Config{File: "cluster.yaml", Graphs: []cluster.Graph{{ID: "people"}}}
	for _, tt := range []struct {
		number  uint64
		changes string
		queries []ProposedQuery
	}{{1, "[] [few]", nil}, {2, "[few] []", []ProposedQuery{few}}, {2, "[few] []", []ProposedQuery{few}}} {
		s, _, _, err := c.Again(t.Context(), cfg, tt.number, false)
		if err != nil {
			t.Fatal(err)
		}
		out, err := c.Apply(t.Context(), s, Options{})
		if err != nil {
			t.Fatal(err)
		}
		g := out.Plan.Graphs[0]
		if changes := fmt.Sprint(g.KeptProposed, " ", g.Pruned); changes != tt.changes {
			t.Errorf("revision %d again: kept and dropped %s, want %s", tt.number, changes, tt.changes)
		}
		now, err := c.Revision(t.Context())
		if err != nil || !slices.Equal(now.Graph("people").ProposedQueries(), tt.queries) {
			t.Errorf("revision %d again has the queries %v, %v", tt.number, now.Graph("people").ProposedQueries(), err)
		}
	}
}

// TestAgainWithoutPolicy refuses an earlier revision that would bring back a graph without its policy.
func TestAgainWithoutPolicy(t *testing.T) {
	c := clusterOn(fs.NewMem(), "/data")
	one := sources(t, "people", people, "things", things)
	one.Settings, one.Graphs[1].Policy = "sha256:1", rule("act-bob", "read")
	c.mustApply(t, one)
	two := sources(t, "people", people)
	two.Settings = "sha256:1"
	c.mustApply(t, two)
	cfg := &cluster.Config{File: "cluster.yaml"}
	if _, _, _, err := c.Again(t.Context(), cfg, 1, false); err == nil || !strings.Contains(err.Error(), "add --with-policy") {
		t.Errorf("error %v", err)
	}
	if _, _, _, err := c.Again(t.Context(), cfg, 1, true); err != nil {
		t.Errorf("with its policy: %v", err)
	}
}

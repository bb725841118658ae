package reconcile

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/replica"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// sharedCluster returns a cluster in shared storage, in the form that a command uses.
func sharedCluster(t *testing.T, b object.Bucket) *Cluster {
	t.Helper()
	node := replica.NewNode(replica.NodeOptions{Bucket: b, ID: "command"})
	t.Cleanup(func() {
		if err := node.Leave(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return &Cluster{Bucket: b, Engine: &replica.Storage{Bucket: b, Cache: t.TempDir(), Node: node, Command: true}, Now: func() time.Time { return time.UnixMicro(1_700_000_000_000_000) }}
}

// TestShared applies a cluster to shared storage twice, the second time with another schema. Then
// it makes two plans at the same time and applies both. Only one of them may be recorded.
func TestShared(t *testing.T) {
	ctx := t.Context()
	b := &object.Memory{}
	apply := func(s *Sources) *Outcome {
		t.Helper()
		out, err := sharedCluster(t, b).Apply(ctx, s, Options{Actor: "act-test"})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if out := apply(sources(t, "people", people, "things", things)); len(out.Applied) != 2 || !out.Recorded || out.Revision.Number != 1 {
		t.Errorf("the first apply: %+v", out)
	}
	if out := apply(sources(t, "people", people, "things", things)); len(out.Applied) != 0 || out.Recorded {
		t.Errorf("the same apply again: %+v", out)
	}
	changed := sources(t, "people", peopleRenamed)
	p, err := sharedCluster(t, b).Plan(ctx, changed)
	if err != nil {
		t.Fatal(err)
	}
	if g := p.Graphs[0]; g.State() != Change || len(p.Kept) != 1 || p.Kept[0].ID != "things" {
		t.Errorf("the plan: state %s, blocked %v, kept %+v", g.State(), g.Blocked, p.Kept)
	}
	if out := apply(changed); len(out.Applied) != 1 || out.Revision.Number != 2 {
		t.Errorf("the apply of a change: %+v", out)
	}
	c := sharedCluster(t, b)
	r, err := c.Revision(ctx)
	if err != nil || r.Number != 2 || r.Actor != "act-test" {
		t.Fatalf("the revision is %+v, %v", r, err)
	}
	other := *r
	other.Actor = "act-other"
	var conflict *engine.Conflict
	if err := c.record(ctx, &other); !errors.As(err, &conflict) {
		t.Errorf("recording a revision with a number that is taken: %v", err)
	}
	if err := b.Delete(ctx, "incarnation/people"); err != nil {
		t.Fatal(err)
	}
	var lost *Lost
	if p, err := c.Plan(ctx, changed); err != nil || !errors.As(p.Graphs[0].Blocked, &lost) {
		t.Errorf("the plan of a graph that is gone: %+v, %v", p, err)
	}
}

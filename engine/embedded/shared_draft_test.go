package embedded

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// keyedWrite is a write with an idempotency key to the branch of a draft, and the id of its commit.
type keyedWrite struct{ branch, key, commit string }

// do makes the write and returns the id of its commit.
func (w keyedWrite) do(t *testing.T, g *Graph) string {
	t.Helper()
	c, err := g.Mutate(t.Context(), insertPerson, engine.Args{str(w.key), num(1)}, engine.WriteOptions{Branch: w.branch, Actor: "ann", IdempotencyKey: w.key})
	if err != nil || c.Commit == nil {
		t.Fatalf("the write with key %s: %+v, %v", w.key, c.Commit, err)
	}
	return c.Commit.ID
}

// draftState describes all drafts and proposals with every field, and the contents of main and of the
// open drafts.
func draftState(t *testing.T, g *Graph) string {
	t.Helper()
	ctx := t.Context()
	branches := []string{engine.MainBranch}
	var b strings.Builder
	for _, listed := range must1(g.Drafts(ctx, engine.DraftRange{})) {
		d := must1(g.Draft(ctx, listed.ID))
		fmt.Fprintf(&b, "%+v\n", *d)
		if d.State == engine.DraftOpen {
			branches = append(branches, d.Branch())
		}
	}
	for _, p := range must1(g.Proposals(ctx, engine.ProposalRange{})) {
		fmt.Fprintf(&b, "%+v\n", p)
	}
	for _, name := range branches {
		fmt.Fprintf(&b, "branch %s:\n%s\n", name, dump(must1(g.snapshot(ctx, engine.Target{Branch: name}))))
	}
	return b.String()
}

// TestTakeOverDrafts follows an open draft with a proposal, and drafts that were merged, deleted, expired
// and forgotten, through a takeover, a cleanup, a rewrite, a copy and a second takeover. The states, the
// contents and the answers of repeated writes must stay the same, and at last the proposal is merged.
func TestTakeOverDrafts(t *testing.T) {
	ctx := t.Context()
	memory := &object.Memory{}
	first := createShared(t, placeIn(memory), crashOptions)
	f := follow(t, placeIn(memory), crashOptions)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	do := func(g *Graph, deeds ...deed) {
		t.Helper()
		for _, d := range deeds {
			if err := d.do(g); err != nil {
				t.Fatalf("%s: %v", d.call, err)
			}
		}
	}

	do(first, loading("", engine.Merge, manyPeople(0, 60)), checkpoint)
	writes := map[string]*keyedWrite{}
	ids := map[string]string{}
	for _, name := range []string{"open", "merged", "deleted", "expired"} {
		d, _, err := first.OpenDraft(ctx, engine.NewDraft{Owner: "ann", Name: name})
		must(err)
		ids[name] = d.ID
		w := &keyedWrite{branch: d.Branch(), key: "key of " + name}
		w.commit = w.do(t, first)
		writes[name] = w
	}
	unused, _, err := first.OpenDraft(ctx, engine.NewDraft{Owner: "ann", Name: "unused"})
	must(err)
	must(first.EndDraft(ctx, unused.ID, engine.DraftEnd{Unused: true}))
	do(first,
		loading(writes["open"].branch, engine.Merge, manyPeople(100, 40)), // stored as segments
		insert(writes["open"].branch, "zoe", 3),
		merging(writes["merged"].branch, "main", engine.MergeOptions{Actor: "bob"}))
	must(first.EndDraft(ctx, ids["deleted"], engine.DraftEnd{State: engine.DraftDeleted, By: "bob"}))
	must(first.EndDraft(ctx, ids["expired"], engine.DraftEnd{State: engine.DraftExpired}))
	p := engine.Proposal{Source: writes["open"].branch}
	openedBy("ann")(&p)
	stored, err := first.PutProposal(ctx, p)
	must(err)
	approvedBy("bob")(stored)
	stored, err = first.PutProposal(ctx, *stored)
	must(err)
	// The deletion leaves holes in the table of main, so that a later checkpoint lays it out anew.
	do(first, loading("", engine.Overwrite, `{"type":"Person","data":{"name":"ann"}}`+"\n"+`{"type":"Person","data":{"name":"cat"}}`+"\n"+
		`{"edge":"Knows","from":"ann","to":"cat","data":{"id":"k1"}}`))

	want := draftState(t, first)
	check := func(what string, g *Graph) {
		t.Helper()
		if got := draftState(t, g); got != want {
			t.Fatalf("after %s, the graph has\n%s\nwant\n%s", what, got, want)
		}
		if _, err := g.Draft(ctx, unused.ID); !errors.As(err, new(*engine.NotFound)) {
			t.Errorf("after %s, the forgotten draft: %v", what, err)
		}
	}
	// repeat checks a writer: each repeated write gets the first answer, and other writes to drafts
	// that have ended are refused.
	repeat := func(what string, g *Graph) {
		t.Helper()
		check(what, g)
		for name, w := range writes {
			if got := w.do(t, g); got != w.commit {
				t.Errorf("after %s, the repeated write to the draft %q has the commit %s, want %s", what, name, got, w.commit)
			}
			if list := must1(g.Drafts(ctx, engine.DraftRange{Owner: "ann", Key: w.key})); len(list) != 1 || list[0].ID != ids[name] {
				t.Errorf("after %s, the key of the draft %q selects %+v", what, name, list)
			}
			if name == "open" {
				continue
			}
			var closed *engine.DraftClosed
			err := insert(w.branch, "late", 1).do(g)
			if !errors.As(err, &closed) || closed.Draft.State.String() != name {
				t.Errorf("after %s, a write to the draft that was %s: %v", what, name, err)
			}
		}
		check("the repeated writes after "+what, g)
	}

	repeat("the writes", first)
	check("the writes, on the follower", caughtUp(t, f))
	second, err := f.TakeOver(ctx)
	must(err)
	t.Cleanup(func() { second.Close() })
	repeat("the takeover", second)
	if _, _, err := first.OpenDraft(ctx, engine.NewDraft{Owner: "ann", Name: "late"}); !errors.As(err, new(*engine.Unavailable)) {
		t.Errorf("the former writer opens a draft: %v", err)
	}
	check("the refused draft", second)

	do(second, cleaning(engine.CleanupOptions{}))
	repeat("the cleanup", second)
	ordinals := func() uint32 { return second.branches.main.head.Load().snap.Nodes(0).Ordinals() }
	before := ordinals()
	do(second, checkpoint)
	if now := ordinals(); now >= before {
		t.Errorf("after the checkpoint, main has %d ordinals, and %d before: nothing was rewritten", now, before)
	}
	repeat("the rewrite", second)
	check("the rewrite, on a new follower", follow(t, placeIn(memory), crashOptions).state.current.Load())

	folder, shared, again := copied(t, viewShared(t, placeIn(memory)), "")
	check("the copy to a folder", folder)
	check("the copy to shared storage", shared)
	for _, g := range again() {
		repeat("the copy", g)
		must(g.Close())
	}

	third := openShared(t, placeIn(memory), crashOptions)
	repeat("the second takeover", third)
	next, isNew, err := third.OpenDraft(ctx, engine.NewDraft{Owner: "ann", Name: "merged"})
	must(err)
	if !isNew || next.ID <= stored.ID {
		t.Errorf("the next draft is %s, new %t; want a new id after that of the proposal, %s", next.ID, isNew, stored.ID)
	}
	stored.Resolutions = nil
	if _, err := third.Merge(ctx, stored.Source, stored.Target, engine.MergeOptions{Actor: "bob"}); !errors.As(err, new(*engine.Conflict)) {
		t.Errorf("a merge of the draft without its proposal: %v", err)
	}
	m, err := third.Merge(ctx, stored.Source, stored.Target, engine.MergeOptions{Actor: "bob", Proposal: stored})
	must(err)
	last := caughtUp(t, follow(t, placeIn(memory), crashOptions))
	d, merged := must1(last.Draft(ctx, ids["open"])), must1(last.Proposal(ctx, stored.ID))
	if d.State != engine.DraftMerged || d.Merge != m.Commit.ID || merged.State != engine.ProposalMerged || merged.Merge != m.Commit.ID {
		t.Errorf("after the merge, the draft is %+v, and the proposal %+v", *d, *merged)
	}
}

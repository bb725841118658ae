package embedded

import (
	"context"
	"fmt"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
)

// drafting opens, writes, merges, expires, deletes and forgets drafts between checkpoints, a rewrite
// and cleanups.
func drafting() []deed {
	return []deed{
		loading("", engine.Merge, manyPeople(0, 40)),
		insert("", "ann", 30),
		openingDraft("ann", ""),
		inDraft("ann", "", func(branch string) deed { return insert(branch, "ann", 31) }),
		openingDraft("bob", "second"),
		checkpoint,
		inDraft("bob", "second", func(branch string) deed { return loading(branch, engine.Merge, manyPeople(50, 30)) }), // stored as segments
		inDraft("bob", "second", func(branch string) deed {
			return putProposal(branch, func(p *engine.Proposal) {
				p.Target = "main"
				p.Events = []engine.ProposalEvent{{Kind: engine.EventOpened, Actor: "bob"}}
			})
		}),
		insert("", "bob", 32),
		inDraft("ann", "", func(branch string) deed { return merging(branch, "main", engine.MergeOptions{Actor: "cid"}) }),
		inDraft("bob", "second", mergingProposal),
		checkpoint,
		openingDraft("ann", ""),
		endingDraft("ann", "", engine.DraftEnd{Unused: true}),
		openingDraft("ann", "old"),
		inDraft("ann", "old", func(branch string) deed { return insert(branch, "eve", 5) }),
		endingDraft("ann", "old", engine.DraftEnd{State: engine.DraftExpired}),
		loading("", engine.Overwrite, `{"type":"Person","data":{"name":"ann"}}`+"\n"+`{"type":"Person","data":{"name":"cat"}}`+"\n"+`{"edge":"Knows","from":"ann","to":"cat","data":{"id":"k1"}}`),
		checkpoint, // a rewrite: most numbers belong to deleted entities
		openingDraft("ann", ""),
		inDraft("ann", "", func(branch string) deed {
			return mutation(insertPerson, engine.WriteOptions{Branch: branch, IdempotencyKey: "k", Actor: "ann"}, "zoe", 1)
		}),
		endingDraft("ann", "", engine.DraftEnd{State: engine.DraftDeleted, By: "bob"}), // keeps the branch for the key
		cleaning(engine.CleanupOptions{KeepCommits: 1}),
		openingDraft("ann", ""),
		insert("", "ivy", 9),
		checkpoint,
		insert("", "jon", 10),
	}
}

// openDraftOf returns the newest draft with an owner and a name.
func openDraftOf(g *Graph, owner, name string) (found engine.Draft, err error) {
	all, err := g.Drafts(context.Background(), engine.DraftRange{Owner: owner})
	for _, d := range all {
		if d.Name == name {
			found = d
		}
	}
	return found, err
}

// openingDraft opens a draft.
func openingDraft(owner, name string) deed {
	return deed{"OpenDraft", func(g *Graph) error {
		_, _, err := g.OpenDraft(context.Background(), engine.NewDraft{Owner: owner, Name: name})
		return err
	}}
}

// endingDraft ends the newest draft with an owner and a name.
func endingDraft(owner, name string, end engine.DraftEnd) deed {
	return deed{"EndDraft", func(g *Graph) error {
		d, err := openDraftOf(g, owner, name)
		if err != nil {
			return err
		}
		return g.EndDraft(context.Background(), d.ID, end)
	}}
}

// inDraft does what `of` returns for the branch of the newest draft with an owner and a name.
func inDraft(owner, name string, of func(branch string) deed) deed {
	return deed{of(engine.DraftPrefix).call, func(g *Graph) error {
		d, err := openDraftOf(g, owner, name)
		if err != nil {
			return err
		}
		return of(d.Branch()).do(g)
	}}
}

// dumpDrafts describes the drafts without ids and times, and what a write to each one that has ended
// answers.
func dumpDrafts(g *Graph) string {
	var b strings.Builder
	for i, d := range must1(g.Drafts(context.Background(), engine.DraftRange{})) {
		fmt.Fprintf(&b, "draft %d of %s, %q: %s by %q, merged %t\n", i, d.Owner, d.Name, d.State, d.By, d.Merge != "")
		if kept := must1(g.Drafts(context.Background(), engine.DraftRange{Owner: d.Owner, Key: "k"})); len(kept) > 0 && kept[0].ID == d.ID {
			b.WriteString("  has the key k\n")
		}
	}
	return b.String()
}

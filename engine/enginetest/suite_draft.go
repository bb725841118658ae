package enginetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/naive"
)

// openDraft opens a draft. It fails the case on an error.
func (s *session) openDraft(owner, name string) *engine.Draft {
	s.Helper()
	d, _, err := s.graph.OpenDraft(s.ctx, engine.NewDraft{Owner: owner, Name: name})
	if err != nil {
		s.Fatalf("open draft %q of %s: %v", name, owner, err)
	}
	return d
}

// draft returns the stored version of a draft. It fails the case on an error.
func (s *session) draft(id string) *engine.Draft {
	s.Helper()
	d, err := s.graph.Draft(s.ctx, id)
	if err != nil {
		s.Fatalf("draft %s: %v", id, err)
	}
	return d
}

// closedDraft checks that an error is a *engine.DraftClosed about a state.
func (s *session) closedDraft(err error, want engine.DraftState) {
	s.Helper()
	var closed *engine.DraftClosed
	if !errors.As(err, &closed) {
		s.Errorf("the error is %v, expected a closed draft", err)
		return
	}
	if closed.Draft.State != want {
		s.Errorf("the closed draft is %s, want %s", closed.Draft.State, want)
	}
}

// draftCases returns the cases of drafts.
func draftCases() []testCase {
	return writeCases("draft", map[string]func(*session){
		"open": func(s *session) {
			head := s.head()
			d, made, err := s.graph.OpenDraft(s.ctx, engine.NewDraft{Owner: "ann"})
			if err != nil || !made {
				s.Fatalf("open: made %t, %v", made, err)
			}
			if d.State != engine.DraftOpen || d.Owner != "ann" || d.Name != "" || d.Made.IsZero() || d.Head != head.ID || !d.Written.Equal(d.Made) || d.MainAhead != 0 {
				s.Errorf("the new draft is %+v", d)
			}
			if id, ok := engine.DraftID(d.Branch()); !ok || id != d.ID {
				s.Errorf("the branch %s has the id %q, %t", d.Branch(), id, ok)
			}
			again, made, err := s.graph.OpenDraft(s.ctx, engine.NewDraft{Owner: "ann", Max: 1})
			if err != nil || made || again.ID != d.ID {
				s.Errorf("opening it again: %+v, made %t, %v", again, made, err)
			}
			if other := s.openDraft("bob", ""); other.ID == d.ID {
				s.Errorf("two owners share a draft")
			}
			if second := s.openDraft("ann", "second"); second.ID == d.ID || second.Name != "second" {
				s.Errorf("the second draft is %+v", second)
			}
			_, _, err = s.graph.OpenDraft(s.ctx, engine.NewDraft{Owner: "ann", Name: "third", Max: 2})
			expectError[*engine.TooLarge](s, err)
			for _, name := range []string{"a/b", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "01arz3ndektsv4rrffq69g5fav", "..", "with space"} {
				_, _, err := s.graph.OpenDraft(s.ctx, engine.NewDraft{Owner: "ann", Name: name})
				expectError[*engine.BadArgument](s, err)
			}
			_, err = s.graph.CreateBranch(s.ctx, "draft/01ARZ3NDEKTSV4RRFFQ69G5FAV", engine.Target{})
			expectError[*engine.BadArgument](s, err)
		},
		"main goes on": func(s *session) {
			d := s.openDraft("ann", "")
			before := s.ages(engine.Target{})
			s.on(d.Branch(), s.change().update("Person", set{"age": 41}, "name", plan.Eq, "ann"))
			if got := s.ages(engine.Target{}); got != before {
				s.Errorf("after a write to the draft, main has %s", got)
			}
			for range 2 {
				s.on("", s.change().update("Person", set{"age": 26 + int(s.head().Seq)}, "name", plan.Eq, "bob"))
			}
			if got := s.draft(d.ID); got.MainAhead != 2 || got.Head == d.Head || got.Written.Before(d.Made) {
				s.Errorf("the draft is %+v", got)
			}
			if _, err := s.graph.Merge(s.ctx, "main", d.Branch(), engine.MergeOptions{Actor: "ann"}); err != nil {
				s.Fatalf("merge main into the draft: %v", err)
			}
			if got := s.draft(d.ID); got.MainAhead != 0 || got.State != engine.DraftOpen {
				s.Errorf("after a merge of main into it, the draft is %+v", got)
			}
		},
		"from a commit": func(s *session) {
			old := s.head()
			s.on("", s.change().update("Person", set{"age": 26}, "name", plan.Eq, "bob"))
			d, _, err := s.graph.OpenDraft(s.ctx, engine.NewDraft{Owner: "ann", Commit: old.ID})
			if err != nil {
				s.Fatalf("open: %v", err)
			}
			if d.Head != old.ID || d.MainAhead != 1 {
				s.Errorf("the draft is %+v", d)
			}
			s.on(d.Branch(), s.change().update("Person", set{"age": 41}, "name", plan.Eq, "ann"))
			own := s.draft(d.ID).Head
			for _, commit := range []string{own, "01ARZ3NDEKTSV4RRFFQ69G5FAV"} {
				_, _, err := s.graph.OpenDraft(s.ctx, engine.NewDraft{Owner: "bob", Commit: commit})
				expectError[*engine.PreconditionFailed](s, err)
			}
		},
		"merge": func(s *session) {
			d := s.openDraft("ann", "")
			s.on(d.Branch(), s.change().update("Person", set{"age": 41}, "name", plan.Eq, "ann"))
			m, err := s.graph.Merge(s.ctx, d.Branch(), "main", engine.MergeOptions{Actor: "bob"})
			if err != nil {
				s.Fatalf("merge: %v", err)
			}
			if got := s.draft(d.ID); got.State != engine.DraftMerged || got.By != "bob" || got.Merge != m.Commit.ID || got.Ended.IsZero() || got.Head != "" {
				s.Errorf("the merged draft is %+v", got)
			}
			for _, b := range s.branches() {
				if b == d.Branch() {
					s.Errorf("the branch of a merged draft is listed")
				}
			}
			_, err = s.graph.Snapshot(s.ctx, engine.Target{Branch: d.Branch()})
			s.closedDraft(err, engine.DraftMerged)
			_, err = s.graph.Commits(s.ctx, d.Branch(), engine.CommitRange{})
			s.closedDraft(err, engine.DraftMerged)
			_, err = s.graph.Mutate(s.ctx, s.change().update("Person", set{"age": 42}, "name", plan.Eq, "ann").query(), nil, engine.WriteOptions{Branch: d.Branch()})
			s.closedDraft(err, engine.DraftMerged)
			_, err = s.graph.Load(s.ctx, strings.NewReader(""), engine.LoadOptions{WriteOptions: engine.WriteOptions{Branch: d.Branch()}})
			s.closedDraft(err, engine.DraftMerged)
			_, err = s.graph.Merge(s.ctx, d.Branch(), "main", engine.MergeOptions{})
			s.closedDraft(err, engine.DraftMerged)
			_, err = s.graph.Merge(s.ctx, "main", d.Branch(), engine.MergeOptions{})
			s.closedDraft(err, engine.DraftMerged)
			_, err = s.graph.PutProposal(s.ctx, engine.Proposal{Source: d.Branch(), Target: "main"})
			s.closedDraft(err, engine.DraftMerged)
			_, err = s.graph.CreateBranch(s.ctx, "new", engine.Target{Branch: d.Branch()})
			s.closedDraft(err, engine.DraftMerged)
			s.closedDraft(s.graph.DeleteBranch(s.ctx, d.Branch()), engine.DraftMerged)
			s.closedDraft(s.graph.EndDraft(s.ctx, d.ID, engine.DraftEnd{State: engine.DraftDeleted}), engine.DraftMerged)
			if next := s.openDraft("ann", ""); next.ID == d.ID {
				s.Errorf("the merged draft is opened again")
			}
			if n := len(s.draftList(engine.DraftRange{})); n != 2 {
				s.Errorf("%d drafts are remembered, want 2", n)
			}
		},
		"a merge without a change ends nothing": func(s *session) {
			d := s.openDraft("ann", "")
			for _, opts := range []engine.MergeOptions{{}, {DryRun: true}} {
				if _, err := s.graph.Merge(s.ctx, d.Branch(), "main", opts); err != nil {
					s.Fatalf("merge: %v", err)
				}
				if got := s.draft(d.ID); got.State != engine.DraftOpen {
					s.Errorf("the draft is %s", got.State)
				}
				s.on(d.Branch(), s.change().update("Person", set{"age": 41}, "name", plan.Eq, "ann"))
			}
		},
		"delete and expire": func(s *session) {
			deleted, expired := s.openDraft("ann", ""), s.openDraft("ann", "old")
			s.on(deleted.Branch(), s.change().update("Person", set{"age": 41}, "name", plan.Eq, "ann"))
			head := s.draft(deleted.ID).Head
			expectError[*engine.PreconditionFailed](s, s.graph.EndDraft(s.ctx, deleted.ID, engine.DraftEnd{State: engine.DraftDeleted, IfHead: deleted.Head}))
			expectError[*engine.PreconditionFailed](s, s.graph.DeleteBranchAt(s.ctx, deleted.Branch(), deleted.Head))
			expectError[*engine.BadArgument](s, s.graph.EndDraft(s.ctx, deleted.ID, engine.DraftEnd{State: engine.DraftMerged}))
			expectError[*engine.NotFound](s, s.graph.EndDraft(s.ctx, "01ARZ3NDEKTSV4RRFFQ69G5FAV", engine.DraftEnd{State: engine.DraftDeleted}))
			if err := s.graph.DeleteBranchAt(s.ctx, deleted.Branch(), head); err != nil {
				s.Fatalf("delete: %v", err)
			}
			if err := s.graph.EndDraft(s.ctx, expired.ID, engine.DraftEnd{State: engine.DraftExpired}); err != nil {
				s.Fatalf("expire: %v", err)
			}
			for id, want := range map[string]engine.DraftState{deleted.ID: engine.DraftDeleted, expired.ID: engine.DraftExpired} {
				if got := s.draft(id); got.State != want || got.Merge != "" || got.Ended.IsZero() {
					s.Errorf("the draft is %+v, want %s", got, want)
				}
				_, err := s.graph.Snapshot(s.ctx, engine.Target{Branch: engine.DraftPrefix + id})
				s.closedDraft(err, want)
			}
			if open := s.draftList(engine.DraftRange{State: engine.DraftOpen}); len(open) > 0 {
				s.Errorf("%d drafts are open", len(open))
			}
		},
		"unused": func(s *session) {
			d := s.openDraft("ann", "")
			if err := s.graph.EndDraft(s.ctx, d.ID, engine.DraftEnd{Unused: true, IfHead: d.Head}); err != nil {
				s.Fatalf("forget: %v", err)
			}
			_, err := s.graph.Draft(s.ctx, d.ID)
			expectError[*engine.NotFound](s, err)
			_, err = s.graph.Snapshot(s.ctx, engine.Target{Branch: d.Branch()})
			expectError[*engine.NotFound](s, err)
			d = s.openDraft("ann", "")
			s.on(d.Branch(), s.change().update("Person", set{"age": 41}, "name", plan.Eq, "ann"))
			expectError[*engine.Conflict](s, s.graph.EndDraft(s.ctx, d.ID, engine.DraftEnd{Unused: true}))
		},
		"a repeated write after the end": func(s *session) {
			for _, how := range []string{"merge", "delete"} {
				d := s.openDraft("ann", "")
				write := func(age int) (engine.Change, error) {
					return s.graph.Mutate(s.ctx, s.change().update("Person", set{"age": age}, "name", plan.Eq, "ann").query(), nil,
						engine.WriteOptions{Branch: d.Branch(), Actor: "ann", IdempotencyKey: how})
				}
				age := 41
				if how == "delete" {
					age = 43
				}
				first, err := write(age)
				if err != nil {
					s.Fatalf("write: %v", err)
				}
				if how == "merge" {
					_, err = s.graph.Merge(s.ctx, d.Branch(), "main", engine.MergeOptions{})
				} else {
					err = s.graph.DeleteBranch(s.ctx, d.Branch())
				}
				if err != nil {
					s.Fatalf("%s: %v", how, err)
				}
				again, err := write(age)
				if err != nil || again.Commit == nil || again.Commit.ID != first.Commit.ID {
					s.Errorf("after a %s, the repeated write answers %+v, %v; want commit %s", how, again.Commit, err, first.Commit.ID)
				}
				_, err = write(44)
				expectError[*engine.Conflict](s, err)
				for r, want := range map[engine.DraftRange]int{{ID: d.ID}: 1, {ID: d.ID, Owner: "bob"}: 0, {Owner: "ann", Key: how}: 1, {Owner: "bob", Key: how}: 0, {Owner: "ann", Key: "other"}: 0} {
					if list := s.draftList(r); len(list) != want || want == 1 && list[0].ID != d.ID {
						s.Errorf("%+v selects %d drafts, want %d", r, len(list), want)
					}
				}
			}
		},
		"under a proposal": func(s *session) {
			d := s.openDraft("ann", "")
			s.on(d.Branch(), s.change().update("Person", set{"age": 41}, "name", plan.Eq, "ann"))
			p := s.propose(d.Branch())
			expectError[*engine.Conflict](s, s.graph.DeleteBranch(s.ctx, d.Branch()))
			expectError[*engine.Conflict](s, s.graph.EndDraft(s.ctx, d.ID, engine.DraftEnd{State: engine.DraftExpired}))
			_, err := s.graph.Merge(s.ctx, d.Branch(), "main", engine.MergeOptions{})
			expectError[*engine.Conflict](s, err)
			if got := s.draft(d.ID); got.State != engine.DraftOpen {
				s.Fatalf("the draft is %s", got.State)
			}
			if _, err := s.graph.Merge(s.ctx, d.Branch(), "main", engine.MergeOptions{Actor: "bob", Proposal: p}); err != nil {
				s.Fatalf("merge the proposal: %v", err)
			}
			stored, err := s.graph.Proposal(s.ctx, p.ID)
			if err != nil || stored.State != engine.ProposalMerged {
				s.Fatalf("the proposal is %+v, %v", stored, err)
			}
			if got := s.draft(d.ID); got.State != engine.DraftMerged || got.Merge != stored.Merge {
				s.Errorf("the draft is %+v", got)
			}
		},
		"cleanup": func(s *session) {
			open, ended := s.openDraft("ann", ""), s.openDraft("ann", "b")
			for _, d := range []*engine.Draft{open, ended} {
				s.on(d.Branch(), s.change().update("Person", set{"age": 41}, "name", plan.Eq, "ann"))
			}
			s.on("", s.change().update("Person", set{"age": 26}, "name", plan.Eq, "bob"))
			if err := s.graph.DeleteBranch(s.ctx, ended.Branch()); err != nil {
				s.Fatalf("delete: %v", err)
			}
			if _, err := s.graph.Cleanup(s.ctx, engine.CleanupOptions{}); err != nil {
				s.Fatalf("cleanup: %v", err)
			}
			if got := s.draft(open.ID); got.State != engine.DraftOpen || got.MainAhead != 1 {
				s.Errorf("the open draft is %+v", got)
			}
			if got := s.draft(ended.ID); got.State != engine.DraftDeleted {
				s.Errorf("the ended draft is %s", got.State)
			}
			if got := s.ages(engine.Target{Branch: open.Branch()}); !strings.HasPrefix(got, "ann 41, bob 25") {
				s.Errorf("the open draft has %s", got)
			}
		},
		"cleanup of a merged draft": func(s *session) {
			d := s.openDraft("ann", "")
			s.on("", s.change().update("Person", set{"age": 26}, "name", plan.Eq, "bob"))
			s.on(d.Branch(), s.change().update("Person", set{"age": 41}, "name", plan.Eq, "ann"))
			head := s.draft(d.ID).Head
			if _, err := s.graph.Merge(s.ctx, d.Branch(), "main", engine.MergeOptions{}); err != nil {
				s.Fatalf("merge: %v", err)
			}
			would, err := s.graph.Cleanup(s.ctx, engine.CleanupOptions{DryRun: true})
			if err != nil {
				s.Fatalf("dry run: %v", err)
			}
			did, err := s.graph.Cleanup(s.ctx, engine.CleanupOptions{})
			if err != nil || did.Commits != would.Commits || did.Kept != would.Kept {
				s.Errorf("the cleanup reclaims %+v, %v; the dry run said %+v", did, err, would)
			}
			_, err = s.graph.Snapshot(s.ctx, engine.Target{Commit: head})
			expectError[*engine.NotFound](s, err)
			if got := s.draft(d.ID); got.State != engine.DraftMerged {
				s.Errorf("the merged draft is %s", got.State)
			}
		},
		"random steps": func(s *session) {
			for seed := range uint64(4) {
				walkDrafts(s, seed)
			}
		},
	})
}

// draftList lists drafts. It fails the case on an error.
func (s *session) draftList(r engine.DraftRange) []engine.Draft {
	s.Helper()
	list, err := s.graph.Drafts(s.ctx, r)
	if err != nil {
		s.Fatalf("list drafts: %v", err)
	}
	return list
}

// branches returns the names of the branches.
func (s *session) branches() (names []string) {
	s.Helper()
	all, err := s.graph.Branches(s.ctx)
	if err != nil {
		s.Fatalf("list branches: %v", err)
	}
	for _, b := range all {
		names = append(names, b.Name)
	}
	return names
}

// draftStep is a step of walkDrafts. It is taken if the drawn number is below `below`, and not below that of the step before.
type draftStep struct {
	below int
	name  string
	act   func(of *session, id string) (outcome any, err error) // the outcome is without ids and times
}

// walkDrafts takes random steps with drafts on the graph and on a new model, and compares the outcomes
// and the drafts after each step. The seed also names the owners, so that the drafts of several walks
// on one graph do not meet.
func walkDrafts(s *session, seed uint64) {
	s.Helper()
	draw := rand.New(rand.NewPCG(seed, 0))
	model := &session{reporter: s.reporter, ctx: s.ctx, schema: s.schema, graph: naive.New(sourceText, s.schema, naive.Sound)}
	model.load(engine.Merge, crowd)
	for _, of := range []*session{s, model} { // equal states of both, whatever earlier walks did
		of.on("", of.change().update("Person", set{"age": 1000 + int(seed)}, "name", plan.Eq, "ann"))
		of.on("", of.change().update("Person", set{"age": 1000 + int(seed)}, "name", plan.Eq, "bob"))
	}
	owners := []string{fmt.Sprint("ann", seed), fmt.Sprint("bob", seed)}
	type twin struct{ got, want string } // the ids of a draft in the graph and in the model
	var twins []twin
	for n := range 150 {
		age, key := n, "" // ages of different steps differ
		if draw.IntN(2) == 0 {
			key = fmt.Sprint("k", draw.IntN(3)) // often used before
			age = 200
		}
		var t, made twin
		if len(twins) > 0 {
			t = twins[draw.IntN(len(twins))]
		}
		open := engine.NewDraft{Owner: owners[draw.IntN(2)], Name: []string{"", "a", "b"}[draw.IntN(3)], Max: 2}
		drawn := draw.IntN(100)
		if len(twins) == 0 {
			drawn = 0
		}
		update := func(of *session, name string, age int, opts engine.WriteOptions) (any, error) {
			c, err := of.graph.Mutate(of.ctx, of.change().update("Person", set{"age": age}, "name", plan.Eq, name).query(), nil, opts)
			return []any{c.Nodes, c.Edges, c.Commit != nil}, err
		}
		merge := func(of *session, source, target string, opts engine.MergeOptions) (any, error) {
			r, err := of.graph.Merge(of.ctx, source, target, opts)
			if err != nil {
				return nil, err
			}
			return []any{r.Outcome, r.Nodes, r.Edges, r.Commit != nil}, nil
		}
		propose := func(of *session, p engine.Proposal) (any, error) {
			r, err := of.graph.PutProposal(of.ctx, p)
			if err != nil {
				return nil, err
			}
			return []any{r.State, r.Revision, r.Target}, nil
		}
		steps := []draftStep{
			{20, "open", func(of *session, _ string) (any, error) {
				d, isNew, err := of.graph.OpenDraft(of.ctx, open)
				if err != nil {
					return nil, err
				}
				if of == s {
					made.got = d.ID
				} else {
					made.want = d.ID
				}
				return []any{isNew, d.Name, d.Owner, d.State}, nil
			}},
			{60, "write", func(of *session, id string) (any, error) {
				return update(of, "ann", age, engine.WriteOptions{Branch: engine.DraftPrefix + id, Actor: owners[0], IdempotencyKey: key})
			}},
			{70, "write to main", func(of *session, _ string) (any, error) { return update(of, "bob", n, engine.WriteOptions{}) }},
			{80, "merge", func(of *session, id string) (any, error) {
				return merge(of, engine.DraftPrefix+id, "main", engine.MergeOptions{Actor: owners[1], IdempotencyKey: key})
			}},
			{85, "merge main", func(of *session, id string) (any, error) {
				return merge(of, "main", engine.DraftPrefix+id, engine.MergeOptions{})
			}},
			{90, "propose", func(of *session, id string) (any, error) {
				return propose(of, engine.Proposal{Source: engine.DraftPrefix + id, Target: "main"})
			}},
			{95, "close the proposals", func(of *session, id string) (any, error) {
				var closed []any
				all, err := of.graph.Proposals(of.ctx, engine.ProposalRange{State: engine.ProposalOpen})
				for _, p := range all {
					if p.State = engine.ProposalClosed; p.Source == engine.DraftPrefix+id && err == nil {
						var outcome any
						outcome, err = propose(of, p)
						closed = append(closed, outcome)
					}
				}
				return closed, err
			}},
			{100, "end", func(of *session, id string) (any, error) {
				return nil, of.graph.EndDraft(of.ctx, id, engine.DraftEnd{State: engine.DraftDeleted, Unused: drawn == 99})
			}},
		}
		step := steps[slices.IndexFunc(steps, func(st draftStep) bool { return drawn < st.below })]
		got, gotErr := step.act(s, t.got)
		want, wantErr := step.act(model, t.want)
		if fmt.Sprintf("%v %T", got, gotErr) != fmt.Sprintf("%v %T", want, wantErr) {
			s.Fatalf("walk %d, step %d: %s: the engine returns %v, %v, the model %v, %v", seed, n, step.name, got, gotErr, want, wantErr)
		}
		if made.got != "" && !slices.Contains(twins, made) {
			twins = append(twins, made)
		}
		for _, t := range twins {
			got, want := s.draftText(t.got), model.draftText(t.want)
			if got != want {
				s.Fatalf("walk %d, step %d: the draft is\n%s\nin the model\n%s", seed, n, got, want)
			}
		}
	}
}

// draftText describes a draft without ids and times.
func (s *session) draftText(id string) string {
	d, err := s.graph.Draft(s.ctx, id)
	if err != nil {
		return fmt.Sprintf("%T", err)
	}
	text := fmt.Sprintf("%s of %s, %q, by %q, merged %t, main is %d ahead", d.State, d.Owner, d.Name, d.By, d.Merge != "", d.MainAhead)
	if d.State == engine.DraftOpen {
		text += ", " + s.ages(engine.Target{Branch: d.Branch()})
	}
	return text
}

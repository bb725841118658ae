package enginetest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// propose opens a proposal from a branch to main. It fails the case on an error.
func (s *session) propose(source string) *engine.Proposal {
	s.Helper()
	p, err := s.graph.PutProposal(s.ctx, engine.Proposal{Source: source, Target: "main", Title: "a title", Author: "ann",
		Events: []engine.ProposalEvent{{Kind: engine.EventOpened, Actor: "ann", Groups: []string{"team"}}}})
	if err != nil {
		s.Fatalf("propose %s: %v", source, err)
	}
	return p
}

// stored returns the stored version of a proposal as text, with the branches and numbers of its
// commits.
func (s *session) stored(id string) string {
	s.Helper()
	p, err := s.graph.Proposal(s.ctx, id)
	if err != nil {
		s.Fatalf("proposal %s: %v", id, err)
	}
	text := fmt.Sprintf("%s %s to %s, revision %d, %q %q by %s, commits", p.State, p.Source, p.Target, p.Revision, p.Title, p.Description, p.Author)
	for _, id := range []string{p.Base, p.Head, p.TargetHead, p.Merge} {
		if id == "" {
			continue
		}
		c, err := s.graph.Commit(s.ctx, id)
		if err != nil {
			s.Fatalf("commit %s: %v", id, err)
		}
		text += fmt.Sprintf(" %s/%d", c.Branch, c.Seq)
	}
	for _, e := range p.Events {
		if e.Time.IsZero() {
			s.Errorf("event %s has no time", e.Kind)
		}
		text += fmt.Sprintf("; %s by %s %v", e.Kind, e.Actor, e.Groups)
		if e.Text != "" {
			text += ": " + e.Text
		}
	}
	return text
}

// compared compares the branch "side" with main.
func (s *session) compared(resolutions ...engine.Resolution) *engine.Comparison {
	s.Helper()
	c, err := s.graph.Compare(s.ctx, engine.Target{Branch: "side"}, engine.Target{}, engine.CompareOptions{Resolutions: resolutions, Changes: &engine.ChangeRange{}})
	if err != nil {
		s.Fatalf("compare: %v", err)
	}
	return c
}

// age returns the conflict place of a person's age.
func age(name string) engine.ConflictPlace {
	return engine.ConflictPlace{Entity: "node", Type: "Person", ID: name, Property: "age"}
}

// proposalCases returns the cases of comparisons, resolutions and proposals.
func proposalCases() []testCase {
	update := func(s *session, branch, name string, years int) {
		s.Helper()
		s.on(branch, s.change().update("Person", set{"age": years}, "name", plan.Eq, name))
	}
	remove := func(s *session, branch, name string) {
		s.Helper()
		s.on(branch, s.change().remove("Person", "name", plan.Eq, name))
	}
	resolved := func(take engine.MergeSide, want string, side, main func(s *session)) func(s *session) {
		return func(s *session) {
			s.fork("side", "")
			side(s)
			main(s)
			place := age("ann")
			if len(s.compared().Conflicts) == 1 {
				place = s.compared().Conflicts[0].Place()
			}
			r := engine.Resolution{ConflictPlace: place, Take: take}
			if take == engine.TakeValue {
				r.Value = value.OfI32(77)
			}
			if c := s.compared(); len(c.Conflicts) != 1 || c.MergedNodes != (engine.ChangeCounts{}) {
				s.Errorf("without the resolution there are the conflicts %+v, and the merge changes %+v", c.Conflicts, c.MergedNodes)
			}
			with := s.compared(r)
			if left := with.Conflicts; len(left) > 0 {
				s.Errorf("with the resolution there is the conflict %+v", left)
			}
			merged, err := s.graph.Merge(s.ctx, "side", "main", engine.MergeOptions{Resolutions: []engine.Resolution{r}})
			if err != nil {
				s.Fatalf("merge: %v", err)
			}
			made := &engine.Changes{}
			if merged.Commit != nil {
				if made, err = s.graph.Changes(s.ctx, merged.Commit.ID, engine.ChangeRange{}); err != nil {
					s.Fatalf("changes: %v", err)
				}
			}
			if made.Nodes != with.MergedNodes || made.Edges != with.MergedEdges {
				s.Errorf("the merge changed %+v and %+v, and the comparison said %+v and %+v", made.Nodes, made.Edges, with.MergedNodes, with.MergedEdges)
			}
			s.expectAges("", want)
		}
	}
	both := func(side, main int) (func(s *session), func(s *session)) {
		return func(s *session) { update(s, "side", "ann", side) }, func(s *session) { update(s, "", "ann", main) }
	}
	side41, main42 := both(41, 42)
	return writeCases("proposal", map[string]func(s *session){
		"a list alone": func(s *session) {
			s.fork("side", "")
			update(s, "side", "ann", 41)
			update(s, "side", "bob", 42)
			update(s, "", "ann", 43)
			only := func(after engine.ChangePosition) *engine.Comparison {
				s.Helper()
				c, err := s.graph.Compare(s.ctx, engine.Target{Branch: "side"}, engine.Target{},
					engine.CompareOptions{Changes: &engine.ChangeRange{After: after, Limit: 1}, ListOnly: true})
				if err != nil {
					s.Fatalf("compare: %v", err)
				}
				return c
			}
			whole, one := s.compared(), only(engine.ChangePosition{})
			if len(one.List) != 1 || !one.More || one.List[0].ID != "ann" || one.Source.ID != whole.Source.ID || one.Target.ID != whole.Target.ID || one.Base.ID != whole.Base.ID {
				s.Errorf("the first page is %+v", one)
			}
			if one.Digest != "" || one.Conflicts != nil || one.Nodes != (engine.ChangeCounts{}) {
				s.Errorf("a list alone has more than the list: %+v", one)
			}
			if two := only(one.List[0].Position()); len(two.List) != 1 || two.More || two.List[0].ID != "bob" {
				s.Errorf("the second page is %+v", two)
			}
		},
		"a comparison that is made again": func(s *session) {
			s.fork("side", "")
			update(s, "side", "ann", 41)
			first, again := s.compared(), s.compared()
			update(s, "", "bob", 26)
			moved := s.compared()
			update(s, "side", "bob", 27)
			changed := s.compared()
			if first.Digest != again.Digest || again.Nodes != first.Nodes || again.Outcome != engine.FastForward || again.Target.ID != first.Target.ID {
				s.Errorf("a comparison is %+v, and then %+v", first, again)
			}
			if moved.Digest != first.Digest || moved.Outcome != engine.Merged || moved.Target.ID == first.Target.ID {
				s.Errorf("after a commit on the target, the comparison is %+v", moved)
			}
			if changed.Digest == first.Digest || changed.Nodes.Updated != 2 || len(changed.Conflicts) != 1 {
				s.Errorf("after a commit on the source, the comparison is %+v", changed)
			}
		},
		"conflict shows base, ours and theirs": func(s *session) {
			s.fork("side", "")
			update(s, "side", "ann", 41)
			update(s, "", "ann", 42)
			c := s.compared()
			if len(c.Conflicts) != 1 {
				s.Fatalf("%d conflicts", len(c.Conflicts))
			}
			f := &c.Conflicts[0]
			got := imageText(f.Base) + imageText(f.Ours) + imageText(f.Theirs)
			if want := ` "" ""; age: 30 "" ""; age: 42 "" ""; age: 41`; got != want || !f.Resolvable() {
				s.Errorf("the conflict has%s, want%s", got, want)
			}
		},
		"take ours":             resolved(engine.TakeOurs, "ann 42, bob 25, cid 30, dan null, eve 41", side41, main42),
		"take theirs":           resolved(engine.TakeTheirs, "ann 41, bob 25, cid 30, dan null, eve 41", side41, main42),
		"take a value":          resolved(engine.TakeValue, "ann 77, bob 25, cid 30, dan null, eve 41", side41, main42),
		"keep a changed entity": resolved(engine.TakeOurs, "ann 42, bob 25, cid 30, dan null, eve 41", func(s *session) { remove(s, "side", "ann") }, main42),
		"delete a changed entity": resolved(engine.TakeTheirs, "bob 25, cid 30, dan null, eve 41",
			func(s *session) { remove(s, "side", "ann") }, main42),
		"resolution that does not match a conflict": func(s *session) {
			s.fork("side", "")
			update(s, "side", "ann", 41)
			for _, r := range []engine.Resolution{
				{ConflictPlace: engine.ConflictPlace{Entity: "node", Type: "Nothing", ID: "x"}, Take: engine.TakeOurs},
				{ConflictPlace: engine.ConflictPlace{Entity: "node", Type: "Person", ID: "ann", Property: "nothing"}, Take: engine.TakeValue},
				{ConflictPlace: engine.ConflictPlace{Entity: "node", Type: "Person", ID: "ann"}, Take: engine.TakeValue},
			} {
				_, err := s.graph.Merge(s.ctx, "side", "main", engine.MergeOptions{Resolutions: []engine.Resolution{r}})
				expectError[*engine.BadArgument](s, err)
			}
		},
		"preview": func(s *session) {
			s.fork("side", "")
			update(s, "side", "ann", 41)
			var latest engine.Preview
			preview := func(resolutions ...engine.Resolution) (engine.Preview, error) {
				var err error
				latest, err = s.graph.Preview(s.ctx, engine.Target{Branch: "side"}, engine.Target{}, resolutions)
				return latest, err
			}
			expect := func(p engine.Preview, err error, want string) {
				s.Helper()
				if err != nil {
					s.Fatalf("preview: %v", err)
				}
				read := s.read()
				a := read.bind("a", "Person")
				rows, err := previewRows(s.ctx, p, read.ret(id(a), read.prop(a, "age")).query())
				if closed := (*engine.Unavailable)(nil); errors.As(err, &closed) && p != latest {
					return // the suite also runs on graphs that are closed and opened again after each write
				}
				if got := strings.ReplaceAll(strings.Join(formatRows(rows), ", "), " | ", " "); err != nil || got != want {
					s.Errorf("the preview has %s, %v, want %s", got, err, want)
				}
			}
			first, err := preview()
			expect(first, err, "ann 41, bob 25, cid 30, dan null, eve 41")
			update(s, "", "bob", 26)
			second, err := preview()
			expect(second, err, "ann 41, bob 26, cid 30, dan null, eve 41")
			expect(first, nil, "ann 41, bob 25, cid 30, dan null, eve 41")
			update(s, "", "ann", 42)
			_, err = preview()
			expectError[*engine.MergeConflicts](s, err)
			third, err := preview(engine.Resolution{ConflictPlace: age("ann"), Take: engine.TakeValue, Value: value.OfI32(77)})
			expect(third, err, "ann 77, bob 26, cid 30, dan null, eve 41")
			s.expectAges("", "ann 42, bob 26, cid 30, dan null, eve 41")
			s.expectAges("side", "ann 41, bob 25, cid 30, dan null, eve 41")
			_, err = s.graph.Preview(s.ctx, engine.Target{Branch: "nothing"}, engine.Target{}, nil)
			expectError[*engine.NotFound](s, err)
			changes, more, err := third.Changes(s.ctx, engine.ChangeRange{Images: true, Limit: 1})
			if err != nil || more || len(changes) != 1 || changes[0].ID != "ann" || changes[0].Kind != engine.Updated {
				s.Fatalf("the preview changes %+v, more: %t, %v; want ann alone", changes, more, err)
			}
			for at, want := range map[string]string{"ann": "another", "bob": "the same", "eve": "the same", "zoe": "nothing, the same"} {
				image, same, err := third.Entity(s.ctx, engine.ChangePosition{Entity: "node", Type: "Person", ID: at})
				got := map[bool]string{true: "the same", false: "another"}[same]
				if image == nil {
					got = "nothing, " + got
				}
				if err != nil || got != want {
					s.Errorf("the preview has of %s %s, %v, want %s", at, got, err, want)
				}
			}
			_, err = third.Query(s.ctx, s.change().update("Person", set{"age": 1}, "name", plan.Eq, "ann").query(), nil, time.Time{})
			expectError[*engine.SchemaMismatch](s, err)
		},
		"digest": func(s *session) {
			s.fork("side", "")
			update(s, "side", "ann", 41)
			first := s.compared()
			update(s, "", "bob", 26)
			s.merged("main", "side", engine.Merged)
			if again := s.compared(); again.Digest != first.Digest || again.Base.ID == first.Base.ID {
				s.Errorf("after main was merged into the branch, the digest is %s with base %d, was %s with base %d",
					again.Digest, again.Base.Seq, first.Digest, first.Base.Seq)
			}
			if with := s.compared(engine.Resolution{ConflictPlace: age("ann"), Take: engine.TakeOurs}); with.Digest == first.Digest {
				s.Errorf("a resolution does not change the digest")
			}
			update(s, "side", "ann", 43)
			if later := s.compared(); later.Digest == first.Digest {
				s.Errorf("another value does not change the digest")
			}
		},
		"life": func(s *session) {
			s.fork("side", "")
			update(s, "side", "ann", 41)
			p := s.propose("side")
			p.Description = "why"
			p.Events = append(p.Events, engine.ProposalEvent{Kind: engine.EventCommented, Actor: "bob", Text: "hm"})
			p, err := s.graph.PutProposal(s.ctx, *p)
			if err != nil {
				s.Fatalf("change: %v", err)
			}
			head := s.head()
			p.Events = append(p.Events, engine.ProposalEvent{Kind: engine.EventMerged, Actor: "bob"})
			_, err = s.graph.Merge(s.ctx, "side", "main", engine.MergeOptions{Actor: "bob", IfCommit: head.ID, IfSource: p.Head, Proposal: p})
			if err != nil {
				s.Fatalf("merge: %v", err)
			}
			want := fmt.Sprintf(`merged side to main, revision 3, "a title" "why" by ann, commits main/%d side/%d main/%d main/%d; opened by ann [team]; commented by bob []: hm; merged by bob []`,
				head.Seq, head.Seq+1, head.Seq, head.Seq+1)
			if got := s.stored(p.ID); got != want {
				s.Errorf("the proposal is\n%s\nwant\n%s", got, want)
			}
			if err := s.graph.DeleteBranch(s.ctx, "side"); err != nil {
				s.Errorf("delete the branch of a merged proposal: %v", err)
			}
			_, err = s.graph.PutProposal(s.ctx, *p)
			expectError[*engine.Conflict](s, err)
			if c, err := s.graph.Compare(s.ctx, engine.Target{Commit: p.Head}, engine.Target{Commit: p.TargetHead}, engine.CompareOptions{}); err != nil || c.Nodes.Updated != 1 {
				s.Errorf("compare the commits of a merged proposal: %+v, %v", c, err)
			}
		},
		"revision": func(s *session) {
			s.fork("side", "")
			update(s, "side", "ann", 41)
			p := s.propose("side")
			if _, err := s.graph.PutProposal(s.ctx, *p); err != nil {
				s.Fatalf("change: %v", err)
			}
			_, err := s.graph.PutProposal(s.ctx, *p)
			expectError[*engine.Conflict](s, err)
			before := s.head()
			_, err = s.graph.Merge(s.ctx, "side", "main", engine.MergeOptions{Proposal: p})
			expectError[*engine.Conflict](s, err)
			if after := s.head(); after.ID != before.ID {
				s.Errorf("a merge with an old revision made a commit")
			}
			if got := s.stored(p.ID); !strings.HasPrefix(got, "open side to main, revision 2") {
				s.Errorf("the proposal is %s", got)
			}
		},
		"a merge without a change checks the revision": func(s *session) {
			s.fork("side", "")
			p := s.propose("side")
			stale := *p
			stale.Revision++
			for _, dry := range []bool{false, true} {
				_, err := s.graph.Merge(s.ctx, "side", "main", engine.MergeOptions{Proposal: &stale, DryRun: dry})
				expectError[*engine.Conflict](s, err)
				if m, err := s.graph.Merge(s.ctx, "side", "main", engine.MergeOptions{Proposal: p, DryRun: dry}); err != nil || m.Outcome != engine.AlreadyUpToDate {
					s.Errorf("the merge with the stored revision: %+v, %v", m, err)
				}
			}
		},
		"heads must be the ones that were compared": func(s *session) {
			s.fork("side", "")
			update(s, "side", "ann", 41)
			p := s.propose("side")
			update(s, "side", "ann", 42)
			_, err := s.graph.Merge(s.ctx, "side", "main", engine.MergeOptions{IfSource: p.Head, Proposal: p})
			expectError[*engine.PreconditionFailed](s, err)
			_, err = s.graph.Merge(s.ctx, "side", "main", engine.MergeOptions{IfCommit: p.Head, Proposal: p})
			expectError[*engine.PreconditionFailed](s, err)
			if got := s.stored(p.ID); !strings.HasPrefix(got, "open ") {
				s.Errorf("the proposal is %s", got)
			}
		},
		"refusals": func(s *session) {
			s.fork("side", "")
			p := s.propose("side")
			_, err := s.graph.PutProposal(s.ctx, engine.Proposal{Source: "side", Target: "main"})
			expectError[*engine.Conflict](s, err)
			_, err = s.graph.PutProposal(s.ctx, engine.Proposal{Source: "main", Target: "main"})
			expectError[*engine.BadArgument](s, err)
			_, err = s.graph.PutProposal(s.ctx, engine.Proposal{Source: "nothing", Target: "main"})
			expectError[*engine.NotFound](s, err)
			_, err = s.graph.PutProposal(s.ctx, engine.Proposal{ID: "01JZZZZZZZZZZZZZZZZZZZZZZZ", Source: "side", Target: "main"})
			expectError[*engine.NotFound](s, err)
			_, err = s.graph.Proposal(s.ctx, "nothing")
			expectError[*engine.NotFound](s, err)
			expectError[*engine.Conflict](s, s.graph.DeleteBranch(s.ctx, "side"))
			merged := *p
			merged.State = engine.ProposalMerged
			_, err = s.graph.PutProposal(s.ctx, merged)
			expectError[*engine.BadArgument](s, err)
			p.State = engine.ProposalClosed
			if _, err := s.graph.PutProposal(s.ctx, *p); err != nil {
				s.Fatalf("close: %v", err)
			}
			if err := s.graph.DeleteBranch(s.ctx, "side"); err != nil {
				s.Errorf("delete the branch of a closed proposal: %v", err)
			}
		},
		"list": func(s *session) {
			var ids []string
			for _, name := range []string{"a", "b", "c"} {
				s.fork(name, "")
				ids = append(ids, s.propose(name).ID)
			}
			list := func(r engine.ProposalRange) string {
				all, err := s.graph.Proposals(s.ctx, r)
				if err != nil {
					s.Fatalf("list: %v", err)
				}
				var names []string
				for _, p := range all {
					names = append(names, p.Source)
				}
				return strings.Join(names, " ")
			}
			closed, err := s.graph.Proposal(s.ctx, ids[1])
			if err == nil {
				closed.State = engine.ProposalClosed
				_, err = s.graph.PutProposal(s.ctx, *closed)
			}
			if err != nil {
				s.Fatalf("close: %v", err)
			}
			for r, want := range map[engine.ProposalRange]string{
				{}:                             "c b a",
				{State: engine.ProposalOpen}:   "c a",
				{State: engine.ProposalClosed}: "b",
				{Limit: 2}:                     "c b",
				{Before: ids[2], Limit: 1}:     "b",
				{Before: ids[0]}:               "",
				{State: engine.ProposalMerged}: "",
			} {
				if got := list(r); got != want {
					s.Errorf("%+v lists %q, want %q", r, got, want)
				}
			}
		},
		"a query": func(s *session) {
			put := func(p engine.Proposal) *engine.Proposal {
				s.Helper()
				stored, err := s.graph.PutProposal(s.ctx, p)
				if err != nil {
					s.Fatalf("put: %v", err)
				}
				return stored
			}
			opened := engine.ProposalEvent{Kind: engine.EventOpened, Actor: "ann", Text: "query a() {}"}
			p := put(engine.Proposal{Title: "a", Author: "ann", Events: []engine.ProposalEvent{opened}})
			put(engine.Proposal{Title: "b", Author: "ann", Events: []engine.ProposalEvent{opened}}) // two may be open
			p.Events = append(p.Events, engine.ProposalEvent{Kind: engine.EventChanged, Actor: "ann", Text: "query a2() {}"},
				engine.ProposalEvent{Kind: engine.EventCommented, Actor: "bo", Text: "good"})
			p = put(*p)
			p.State, p.Events = engine.ProposalMerged, append(p.Events, engine.ProposalEvent{Kind: engine.EventMerged, Actor: "bo"})
			put(*p)
			want := `merged  to main, revision 3, "a" "" by ann, commits; opened by ann []: query a() {}; changed by ann []: query a2() {}; commented by bo []: good; merged by bo []`
			if got := s.stored(p.ID); got != want {
				s.Errorf("stored %s\nwant %s", got, want)
			}
			if stored, err := s.graph.Proposal(s.ctx, p.ID); err != nil || stored.Query() != "query a2() {}" {
				s.Errorf("the text is %q, %v", stored.Query(), err)
			}
			if stored, err := s.graph.Proposal(s.ctx, p.ID); err == nil {
				_, err = s.graph.PutProposal(s.ctx, *stored)
				if !errors.As(err, new(*engine.Conflict)) {
					s.Errorf("a change of the merged proposal: %v", err)
				}
			}
			s.fork("side", "")
			branch := s.propose("side")
			branch.Source, branch.State, branch.Events[0].Text = "", engine.ProposalMerged, "query c() {}"
			if _, err := s.graph.PutProposal(s.ctx, *branch); !errors.As(err, new(*engine.BadArgument)) {
				s.Errorf("a proposal of a branch becomes merged without a merge: %v", err)
			}
		},
		"two readers append to their copies": func(s *session) {
			s.fork("side", "")
			id := s.propose("side").ID
			read := func() *engine.Proposal {
				s.Helper()
				p, err := s.graph.Proposal(s.ctx, id)
				if err != nil {
					s.Fatalf("read: %v", err)
				}
				return p
			}
			// The array of a list has room for more elements at some of the lengths only.
			for n := range 30 {
				all, err := s.graph.Proposals(s.ctx, engine.ProposalRange{})
				if err != nil {
					s.Fatalf("list: %v", err)
				}
				copies := []*engine.Proposal{read(), read(), &all[0]}
				for i, p := range copies {
					p.Events = append(p.Events, engine.ProposalEvent{Kind: engine.EventCommented, Text: fmt.Sprint("copy ", i)})
					p.Resolutions = append(p.Resolutions, engine.Resolution{ConflictPlace: engine.ConflictPlace{Entity: "node", Type: "Person", ID: fmt.Sprint("copy ", i)}, Take: engine.TakeOurs})
				}
				for i, p := range copies {
					event, resolution := p.Events[len(p.Events)-1].Text, p.Resolutions[len(p.Resolutions)-1].ID
					if want := fmt.Sprint("copy ", i); event != want || resolution != want {
						s.Fatalf("after %d changes, copy %d has the event %q and the resolution of %q", n, i, event, resolution)
					}
				}
				if _, err := s.graph.PutProposal(s.ctx, *copies[0]); err != nil {
					s.Fatalf("put: %v", err)
				}
			}
		},
		"cleanup keeps the commits of proposals": func(s *session) {
			s.fork("side", "")
			update(s, "side", "ann", 41)
			update(s, "", "bob", 26)
			p := s.propose("side")
			p.State = engine.ProposalClosed
			p, err := s.graph.PutProposal(s.ctx, *p)
			if err != nil {
				s.Fatalf("close: %v", err)
			}
			if err := s.graph.DeleteBranch(s.ctx, "side"); err != nil {
				s.Fatalf("delete: %v", err)
			}
			update(s, "", "bob", 27)
			update(s, "", "bob", 28)
			if _, err := s.graph.Cleanup(s.ctx, engine.CleanupOptions{}); err != nil {
				s.Fatalf("cleanup: %v", err)
			}
			for _, id := range []string{p.Base, p.Head, p.TargetHead} {
				if _, err := s.graph.Snapshot(s.ctx, engine.Target{Commit: id}); err != nil {
					s.Errorf("commit %s of a closed proposal: %v", id, err)
				}
			}
			if got := s.ages(engine.Target{Commit: p.Head}); got != "ann 41, bob 25, cid 30, dan null, eve 41" {
				s.Errorf("the head of the deleted branch has %s", got)
			}
		},
	})
}

package enginetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// line returns the commits of a branch, oldest first.
func (s *session) line(branch string) []engine.Commit {
	s.Helper()
	commits, err := s.graph.Commits(s.ctx, branch, engine.CommitRange{})
	if err != nil {
		s.Fatalf("commits of %q: %v", branch, err)
	}
	slices.Reverse(commits)
	return commits
}

// expectPast compares the names and ages at a commit with the text `want`.
func (s *session) expectPast(c engine.Commit, want string) {
	s.Helper()
	if got := s.ages(engine.Target{Commit: c.ID}); got != want {
		s.Errorf("commit %d of %s has %s, want %s", c.Seq, c.Branch, got, want)
	}
}

// expectGone checks that a commit is listed but cannot be read.
func (s *session) expectGone(c engine.Commit) {
	s.Helper()
	if _, err := s.graph.Commit(s.ctx, c.ID); err != nil {
		s.Errorf("commit %d of %s: %v", c.Seq, c.Branch, err)
	}
	_, err := s.graph.Snapshot(s.ctx, engine.Target{Commit: c.ID})
	expectError[*engine.NotFound](s, err)
	_, err = s.graph.Changes(s.ctx, c.ID, engine.ChangeRange{})
	expectError[*engine.NotFound](s, err)
}

// expectReclaimed checks that the changes of the commit c, which is on a live branch, cannot be
// listed. The reason is that a cleanup has removed a state that they need. The error must identify
// the commit `first` as the commit with the removed state.
func (s *session) expectReclaimed(c, first engine.Commit) {
	s.Helper()
	_, err := s.graph.Changes(s.ctx, c.ID, engine.ChangeRange{})
	var missing *engine.NotFound
	if !errors.As(err, &missing) || !missing.Reclaimed || missing.Name != first.ID {
		s.Errorf("listing the changes of commit %d: error %v, want one that says that the state of commit %d was reclaimed", c.Seq, err, first.Seq)
	}
}

// expectChanges compares the changes of a commit with the text `want`. This text has one line per
// change.
func (s *session) expectChanges(commit string, r engine.ChangeRange, want string) *engine.Changes {
	s.Helper()
	c, err := s.graph.Changes(s.ctx, commit, r)
	if err != nil {
		s.Fatalf("changes: %v", err)
	}
	var b strings.Builder
	for i := range c.List {
		b.WriteString(changeText(&c.List[i]))
	}
	if got := unindent(b.String()); got != unindent(want) {
		s.Errorf("wrong changes\ngot:\n%s\nwant:\n%s", got, unindent(want))
	}
	return c
}

// historyCases returns the cases of commits, changes and cleanups.
func historyCases() []testCase {
	age := func(s *session, name string, age int) *mutationPlan {
		return s.change().update("Person", set{"age": age}, "name", plan.Eq, name)
	}
	const after = ", bob 25, cid 30, dan null, eve 41"
	cleanup := func(s *session, opts engine.CleanupOptions) *engine.CleanupResult {
		s.Helper()
		res, err := s.graph.Cleanup(s.ctx, opts)
		if err != nil {
			s.Fatalf("cleanup: %v", err)
		}
		return res
	}
	return writeCases("history", map[string]func(s *session){
		"every ancestor is read": func(s *session) {
			before := len(s.line(""))
			for i := range 20 {
				s.on("", age(s, "ann", 100+i))
			}
			s.load(engine.Merge, manyPeople(300))
			s.on("", s.change().remove("Person", "name", plan.Ge, "b"))
			line := s.line("")
			s.expectPast(line[before-1], crowdAges)
			for i := range 20 {
				s.expectPast(line[before+i], fmt.Sprint("ann ", 100+i)+after)
			}
			s.expectAges("", "ann 119")
			snap, err := s.graph.Snapshot(s.ctx, engine.Target{Commit: line[0].ID})
			if err != nil || snap.Commit.ID != line[0].ID || snap.Nodes[0].Count != 0 {
				s.Errorf("the first commit is %+v, %v", snap, err)
			}
		},
		"a commit of another branch, while that branch or a merge of it exists": func(s *session) {
			s.fork("side", "")
			s.on("side", age(s, "ann", 1))
			s.on("side", age(s, "bob", 2))
			s.fork("lost", "")
			lost := s.on("lost", age(s, "cid", 3)).Commit
			s.on("lost", age(s, "cid", 4))
			first := s.line("side")[len(s.line("side"))-2]
			s.expectPast(first, "ann 1"+after)
			if _, err := s.graph.Merge(s.ctx, "side", "main", engine.MergeOptions{}); err != nil {
				s.Fatalf("merge: %v", err)
			}
			for _, name := range []string{"side", "lost"} {
				if err := s.graph.DeleteBranch(s.ctx, name); err != nil {
					s.Fatalf("delete: %v", err)
				}
			}
			s.expectPast(first, "ann 1"+after)
			s.expectGone(*lost)
		},
		"a branch begins at any ancestor, and is merged": func(s *session) {
			origin := s.head()
			s.on("", age(s, "ann", 1))
			s.on("", age(s, "bob", 2))
			s.on("", age(s, "ann", 3))
			b, err := s.graph.CreateBranch(s.ctx, "early", engine.Target{Commit: origin.ID})
			if err != nil || b.Head.ID != origin.ID {
				s.Fatalf("branch %+v, %v", b, err)
			}
			s.expectAges("early", crowdAges)
			s.fork("late", "early")
			c := s.on("early", age(s, "cid", 4)).Commit
			if c.Seq != origin.Seq+1 || !slices.Equal(c.Parents, []string{origin.ID}) {
				s.Errorf("commit %+v after %+v", c, origin)
			}
			s.on("late", age(s, "ann", 9))
			res, err := s.graph.Merge(s.ctx, "early", "main", engine.MergeOptions{})
			if err != nil || res.Outcome != engine.Merged || res.Nodes != 1 {
				s.Errorf("merge %+v, %v", res, err)
			}
			s.expectAges("", "ann 3, bob 2, cid 4, dan null, eve 41")
			_, err = s.graph.Merge(s.ctx, "late", "main", engine.MergeOptions{})
			expectError[*engine.MergeConflicts](s, err)
			_, err = s.graph.CreateBranch(s.ctx, "none", engine.Target{Commit: "01ARZ3NDEKTSV4RRFFQ69G5FAV"})
			expectError[*engine.NotFound](s, err)
		},
		"changes of a commit": func(s *session) {
			c := s.on("", s.change().insert("Person", set{"name": "abe", "age": 7}).
				update("Person", set{"age": 31}, "name", plan.Eq, "ann").
				remove("Person", "name", plan.Eq, "dan")).Commit
			got := s.expectChanges(c.ID, engine.ChangeRange{}, `
				inserted node Person "abe" "" ""; name: null, abe; age: null, 7
				updated node Person "ann" "" ""; age: 30, 31
				deleted node Person "dan" "" ""; name: dan, null
				deleted edge Follows "f4" "dan" "dan"
				deleted edge Follows "f5" "dan" "eve"
				deleted edge Follows "f6" "cid" "dan"`)
			if got.Commit.ID != c.ID || got.Nodes != (engine.ChangeCounts{Inserted: 1, Updated: 1, Deleted: 1}) || got.Edges != (engine.ChangeCounts{Deleted: 3}) || got.More {
				s.Errorf("changes %+v", got)
			}
			page := s.expectChanges(c.ID, engine.ChangeRange{Limit: 1}, `inserted node Person "abe" "" ""; name: null, abe; age: null, 7`)
			if !page.More || page.Nodes != got.Nodes {
				s.Errorf("the first page is %+v", page)
			}
			s.expectChanges(c.ID, engine.ChangeRange{After: page.List[0].Position(), Limit: 1}, `updated node Person "ann" "" ""; age: 30, 31`)
			page = s.expectChanges(c.ID, engine.ChangeRange{After: engine.ChangePosition{Entity: "node", Type: "Person", ID: "azz"}, Limit: 2},
				`deleted node Person "dan" "" ""; name: dan, null
				deleted edge Follows "f4" "dan" "dan"`)
			if !page.More {
				s.Errorf("the page in the middle is %+v", page)
			}
			page = s.expectChanges(c.ID, engine.ChangeRange{After: engine.ChangePosition{Entity: "edge", Type: "Follows", ID: "f5"}, Limit: 1},
				`deleted edge Follows "f6" "cid" "dan"`)
			if page.More {
				s.Errorf("the last page is %+v", page)
			}
			_, err := s.graph.Changes(s.ctx, c.ID, engine.ChangeRange{After: engine.ChangePosition{Entity: "edge", Type: "Person"}})
			expectError[*engine.BadArgument](s, err)
			_, err = s.graph.Changes(s.ctx, "01ARZ3NDEKTSV4RRFFQ69G5FAV", engine.ChangeRange{})
			expectError[*engine.NotFound](s, err)
			s.expectChanges(s.line("")[0].ID, engine.ChangeRange{}, "")
		},
		"changes that a range selects, with images": func(s *session) {
			c := s.on("", s.change().insert("Person", set{"name": "abe", "age": 7}).
				update("Person", set{"age": 31}, "name", plan.Eq, "ann").
				remove("Person", "name", plan.Eq, "dan")).Commit
			s.expectChanges(c.ID, engine.ChangeRange{Entities: []string{"edge"}, Limit: 3}, `
				deleted edge Follows "f4" "dan" "dan"
				deleted edge Follows "f5" "dan" "eve"
				deleted edge Follows "f6" "cid" "dan"`)
			s.expectChanges(c.ID, engine.ChangeRange{Types: []string{"Knows", "None"}}, "")
			got := s.expectChanges(c.ID, engine.ChangeRange{Types: []string{"Person"}, Kinds: []engine.ChangeKind{engine.Updated, engine.Deleted}, Limit: 1, Images: true},
				`updated node Person "ann" "" ""`)
			if !got.More || got.Nodes.Inserted != 1 || got.Edges.Deleted != 3 {
				s.Errorf("the counts do not cover all changes, or More is not set: %+v", got)
			}
			age := func(i *engine.Image) string {
				for _, p := range i.Properties {
					if p.Name == "age" {
						return valueText(p.Value)
					}
				}
				return "none"
			}
			if c := got.List[0]; age(c.Before) != "30" || age(c.After) != "31" || len(c.After.Properties) < 2 {
				s.Errorf("the images are %s and %s", imageText(c.Before), imageText(c.After))
			}
			got = s.expectChanges(c.ID, engine.ChangeRange{After: got.List[0].Position(), Types: []string{"Person", "Follows"}, Limit: 2, Images: true}, `
				deleted node Person "dan" "" ""
				deleted edge Follows "f4" "dan" "dan"`)
			if e := got.List[1]; e.After != nil || e.Before == nil || e.Before.From != "dan" || e.Before.To != "dan" {
				s.Errorf("the images of an edge are %s and %s", imageText(e.Before), imageText(e.After))
			}
		},
		"a page of changes ends at a size in bytes": func(s *session) {
			s.load(engine.Merge, manyPeople(300))
			commit := s.head().ID
			for _, images := range []bool{false, true} {
				all, err := s.graph.Changes(s.ctx, commit, engine.ChangeRange{Images: images})
				if err != nil || len(all.List) != 300 || all.More {
					s.Fatalf("%d changes, %v", len(all.List), err)
				}
				r, pages, n := engine.ChangeRange{Images: images, MaxBytes: 10 * all.List[0].Bytes()}, 0, 0
				for more := true; more; pages++ {
					page, err := s.graph.Changes(s.ctx, commit, r)
					if err != nil || len(page.List) == 0 || len(page.List) > 20 {
						s.Fatalf("a page of %d bytes has %d changes, %v", r.MaxBytes, len(page.List), err)
					}
					n, more, r.After = n+len(page.List), page.More, page.List[len(page.List)-1].Position()
				}
				if n != 300 || pages < 15 {
					s.Errorf("%d pages have %d changes, want 300", pages, n)
				}
			}
			one, err := s.graph.Changes(s.ctx, commit, engine.ChangeRange{MaxBytes: 1})
			if err != nil || len(one.List) != 1 || !one.More {
				s.Errorf("a page has at least one change: %+v, %v", one, err)
			}
		},
		"changes of a load": func(s *session) {
			s.load(engine.Merge, manyPeople(500))
			c, err := s.graph.Changes(s.ctx, s.head().ID, engine.ChangeRange{Limit: 10})
			if err != nil || c.Nodes.Inserted != 500 || c.Nodes.Updated+c.Nodes.Deleted != 0 || len(c.List) != 10 || !c.More {
				s.Errorf("changes %+v, %v", c, err)
			}
		},
		"cleanup keeps heads and merge bases": func(s *session) {
			before := s.line("")
			base := s.head()
			s.fork("side", "")
			s.on("side", age(s, "ann", 1))
			side := s.on("side", age(s, "ann", 2)).Commit
			for i := range 5 {
				s.on("", age(s, "bob", 10+i))
			}
			main := s.line("")
			open, err := s.graph.Query(s.ctx, peopleOf(s), nil, engine.Target{Commit: main[len(main)-3].ID})
			if err != nil {
				s.Fatalf("query: %v", err)
			}
			dry := cleanup(s, engine.CleanupOptions{DryRun: true, KeepCommits: 2})
			s.expectPast(main[len(main)-3], "ann 30, bob 12, cid 30, dan null, eve 41")
			res := cleanup(s, engine.CleanupOptions{KeepCommits: 2})
			if dry.Commits != res.Commits || dry.Kept != res.Kept || res.Commits != int64(len(before)-1+3) || res.Kept != 5 {
				s.Errorf("the dry run returned %+v, the cleanup %+v", dry, res)
			}
			rows, err := drain(s.ctx, peopleOf(s), open)
			if err != nil || len(rows) != 5 {
				s.Errorf("the result that was open has %d rows, %v", len(rows), err)
			}
			s.expectPast(base, crowdAges)
			s.expectPast(*side, "ann 2"+after)
			s.expectPast(main[len(main)-2], "ann 30, bob 13, cid 30, dan null, eve 41")
			s.expectPast(main[len(main)-1], "ann 30, bob 14, cid 30, dan null, eve 41")
			s.expectGone(main[len(main)-3])
			s.expectGone(before[0])
			s.expectReclaimed(main[len(main)-2], main[len(main)-3])
			s.expectReclaimed(main[len(main)-3], main[len(main)-4])
			if got := len(s.line("")); got != len(main) {
				s.Errorf("%d commits are listed, want %d", got, len(main))
			}
			if _, err := s.graph.Merge(s.ctx, "side", "main", engine.MergeOptions{}); err != nil {
				s.Fatalf("merge: %v", err)
			}
			s.expectAges("", "ann 2, bob 14, cid 30, dan null, eve 41")
			s.on("", age(s, "eve", 1))
			s.expectPast(main[len(main)-1], "ann 30, bob 14, cid 30, dan null, eve 41")
		},
		"cleanup by time": func(s *session) {
			s.on("", age(s, "ann", 1))
			s.on("", age(s, "ann", 2))
			line := s.line("")
			res := cleanup(s, engine.CleanupOptions{Before: line[0].Time})
			if res.Commits != 0 || res.Kept != int64(len(line)) {
				s.Errorf("the cleanup of commits older than every commit returned %+v", res)
			}
			res = cleanup(s, engine.CleanupOptions{Before: s.head().Time.Add(time.Hour)})
			if res.Kept != 1 || res.Commits != int64(len(line)-1) {
				s.Errorf("the cleanup of all commits returned %+v", res)
			}
			s.expectGone(line[len(line)-2])
			s.expectAges("", "ann 2"+after)
			_, err := s.graph.Cleanup(s.ctx, engine.CleanupOptions{KeepCommits: -1})
			expectError[*engine.BadArgument](s, err)
		},
	})
}

// peopleOf returns a read of the ids of all persons.
func peopleOf(s *session) *plan.Query {
	p := s.read()
	return p.ret(id(p.bind("a", "Person"))).query()
}

// originCases returns the cases of the origins of entities. The crowd of the suite is loaded without an actor.
func originCases() []testCase {
	// by runs a mutation as an actor, with a tool of the same initial.
	by := func(s *session, actor, branch string, m *mutationPlan) {
		s.Helper()
		if _, err := s.graph.Mutate(s.ctx, m.query(), nil, engine.WriteOptions{Branch: branch, Actor: actor, Tool: "t-" + actor}); err != nil {
			s.Fatalf("%s: %v", actor, err)
		}
	}
	update := func(s *session, actor, branch, name string, props set) {
		s.Helper()
		by(s, actor, branch, s.change().update("Person", props, "name", plan.Eq, name))
	}
	merge := func(s *session, opts engine.MergeOptions) {
		s.Helper()
		opts.Actor, opts.Tool = "mia", "merge"
		if _, err := s.graph.Merge(s.ctx, "side", "main", opts); err != nil {
			s.Fatalf("merge: %v", err)
		}
	}
	// expect compares the actor, the tool and the maker of the people who have one.
	expect := func(s *session, at engine.Target, want string) {
		s.Helper()
		got := s.seen(at, `() { match { $p: Person  origin($p).actor is not null } return { $p.name, origin($p).actor as a, origin($p).tool as t, origin($p).made_by as m } order { $p.name } }`)
		if got != want {
			s.Errorf("the origins are\n%s\nwant\n%s", got, want)
		}
	}
	here := engine.Target{}
	return writeCases("origin", map[string]func(s *session){
		"a change has an origin, and the same values have none": func(s *session) {
			update(s, "ada", "", "ann", set{"age": 31})
			by(s, "bob", "", s.change().insert("Person", set{"name": "zoe"}))
			expect(s, here, "ann | ada | t-ada | null zoe | bob | t-bob | bob")
			update(s, "cid", "", "ann", set{"age": 31})
			update(s, "cid", "", "zoe", set{"age": 1})
			expect(s, here, "ann | ada | t-ada | null zoe | cid | t-cid | bob")
			if got := s.seen(here, `() { match { $p: Person  origin($p).at is null } return { $p.name } }`); got != "" {
				s.Errorf("%s have no time", got)
			}
		},
		"an entity that is deleted and inserted again": func(s *session) {
			by(s, "ada", "", s.change().insert("Person", set{"name": "zoe", "age": 1}))
			by(s, "bob", "", s.change().remove("Person", "name", plan.Eq, "zoe").insert("Person", set{"name": "zoe", "age": 2}))
			expect(s, here, "zoe | bob | t-bob | ada")
			by(s, "cid", "", s.change().remove("Person", "name", plan.Eq, "zoe"))
			by(s, "dan", "", s.change().insert("Person", set{"name": "zoe", "age": 2}))
			expect(s, here, "zoe | dan | t-dan | dan")
		},
		"edges, optional variables, groups and order": func(s *session) {
			by(s, "ada", "", s.change().link("Knows", "eve", "dan", set{"id": "k9"}))
			for text, want := range map[string]string{
				`() { match { $p $e:knows $q  origin($e).actor = "ada" } return { $p.name, $q.name, origin($e).made_by as m } }`:                      "eve | dan | ada",
				`() { match { $p: Person { name: "eve" }  optional { $p $e:knows $q $q.name = "zoe" } } return { $p.name, origin($q).actor as a } }`:  "eve | null",
				`() { match { $p $e:knows $q } return { origin($e).actor as a, count(origin($e).at) as n } order { origin($e).actor desc } limit 1 }`: "ada | 1",
				`() { match { $p: Person  exists { $p $e:knows $q origin($e).tool starts_with "t-" } } return { $p.name } }`:                          "eve",
				`() { match { $p: Person } return { count($p) as n, count(origin($p).actor) as by } }`:                                                "5 | 0",
				`($who: String) { match { $p: Person  any { origin($p).actor = $who  $p.name = "ann" } } return { $p.name } }`:                        "ann",
			} {
				q := s.text(text)
				var args engine.Args
				if len(q.Params) > 0 {
					args = arguments([]any{"ada"})
				}
				rows, err := queryAt(s.ctx, s.graph, q, args, here)
				if got := strings.Join(formatRows(rows), " "); err != nil || got != want {
					s.Errorf("%s: %s, %v, want %s", text, got, err, want)
				}
			}
		},
		"a load names its source": func(s *session) {
			_, err := s.graph.Load(s.ctx, strings.NewReader(`{"type":"Person","data":{"name":"zoe"}}`),
				engine.LoadOptions{WriteOptions: engine.WriteOptions{Actor: "ada"}, Mode: engine.Sync, Sync: engine.SyncOptions{Source: "crm", Types: []string{"Person"}}})
			if err != nil {
				s.Fatalf("sync: %v", err)
			}
			if got := s.seen(here, `() { match { $p: Person  origin($p).source = "crm" } return { $p.name, origin($p).actor as a } }`); got != "zoe | ada" {
				s.Errorf("of the source: %s", got)
			}
		},
		"a merge carries the rows of its source": func(s *session) {
			s.fork("side", "")
			update(s, "ada", "side", "ann", set{"age": 31})
			by(s, "ada", "side", s.change().insert("Person", set{"name": "zoe"}))
			update(s, "bob", "", "bob", set{"age": 26})
			merge(s, engine.MergeOptions{})
			expect(s, here, "ann | ada | t-ada | null bob | bob | t-bob | null zoe | ada | t-ada | ada")
		},
		"a row that a merge composes or resolves names the merge": func(s *session) {
			s.fork("side", "")
			update(s, "ada", "side", "ann", set{"age": 31})
			update(s, "ada", "side", "bob", set{"age": 31})
			update(s, "bob", "", "ann", set{"mood": "sad"})
			update(s, "bob", "", "bob", set{"age": 32})
			merge(s, engine.MergeOptions{Resolutions: []engine.Resolution{{ConflictPlace: age("bob"), Take: engine.TakeTheirs}}})
			expect(s, here, "ann | mia | merge | null bob | mia | merge | null")
		},
		"the proposal of a change is the one that brought it": func(s *session) {
			s.fork("side", "")
			update(s, "ada", "side", "ann", set{"age": 31})
			proposed := `() { match { $p: Person  origin($p).proposal is not null } return { $p.name, origin($p).proposal as by } }`
			if got := s.seen(engine.Target{Branch: "side"}, proposed); got != "" {
				s.Errorf("before the merge: %s", got)
			}
			p := s.propose("side")
			p.Events = append(p.Events, engine.ProposalEvent{Kind: engine.EventMerged, Actor: "mia"})
			merge(s, engine.MergeOptions{Proposal: p, Approvers: []string{"eva"}})
			update(s, "bob", "", "bob", set{"age": 32})
			if got := s.seen(here, proposed); got != "ann | "+p.ID {
				s.Errorf("after the merge: %s, want that of ann: %s", got, p.ID)
			}
			if c := s.head(); c.Proposal != "" || c.Tool != "t-bob" {
				s.Errorf("head %+v", c)
			}
			if c := s.line("")[2]; c.Proposal != p.ID || len(c.Approvers) != 1 || c.Approvers[0] != "eva" {
				s.Errorf("the merge is %+v, want the proposal %s with its approver", c, p.ID)
			}
		},
		"the proposal of a change belongs to the branch and the commit that are read": func(s *session) {
			const proposed = `() { match { $p: Person  origin($p).proposal is not null } return { $p.name, origin($p).proposal as by } }`
			s.fork("dev", "")
			s.fork("side", "dev")
			update(s, "ada", "side", "ann", set{"age": 31})
			update(s, "ada", "side", "bob", set{"age": 31})
			update(s, "bob", "dev", "bob", set{"mood": "sad"})
			bring := func(source, target string) string {
				p, err := s.graph.PutProposal(s.ctx, engine.Proposal{Source: source, Target: target, Author: "ada", Title: "t"})
				if err != nil {
					s.Fatalf("propose: %v", err)
				}
				done := *p
				done.Events = append(done.Events, engine.ProposalEvent{Kind: engine.EventMerged, Actor: "mia"})
				if _, err := s.graph.Merge(s.ctx, source, target, engine.MergeOptions{Actor: "mia", Proposal: &done}); err != nil {
					s.Fatalf("merge: %v", err)
				}
				return p.ID
			}
			first := bring("side", "dev")
			line := s.line("dev")
			kept := line[len(line)-1].ID
			want := "ann | " + first + " bob | " + first
			update(s, "bob", "", "cid", set{"age": 32})
			second := bring("dev", "main")
			for at, want := range map[engine.Target]string{
				{Commit: kept}: want, {Branch: "dev"}: want, {Branch: "side"}: "", {}: "ann | " + second + " bob | " + second,
			} {
				if got := s.seen(at, proposed); got != want {
					s.Errorf("at %+v: %s, want %s", at, got, want)
				}
			}
		},
		"a membership changes no origin": func(s *session) {
			by(s, "ada", "", s.change().insert("Person", set{"name": "zoe"}))
			sync := func(lines string) {
				s.Helper()
				_, err := s.graph.Load(s.ctx, strings.NewReader(lines),
					engine.LoadOptions{WriteOptions: engine.WriteOptions{Actor: "bot"}, Mode: engine.Sync, Sync: engine.SyncOptions{Source: "crm", Types: []string{"Person"}}})
				if err != nil {
					s.Fatalf("sync: %v", err)
				}
			}
			zoe := `() { match { $p: Person { name: "zoe" } } return { origin($p).actor as a, origin($p).source as s } }`
			s.fork("side", "")
			update(s, "eva", "side", "zoe", set{"age": 7})
			sync(`{"type":"Person","data":{"name":"zoe"}}`)
			if got := s.seen(here, zoe); got != "ada | null" {
				s.Errorf("claimed: %s", got)
			}
			merge(s, engine.MergeOptions{})
			if got := s.seen(here, zoe); got != "eva | null" {
				s.Errorf("merged: %s", got)
			}
		},
		"a mutation does not know the origin of what it changed": func(s *session) {
			by(s, "ada", "", s.change().insert("Person", set{"name": "zoe"}))
			q := s.text(`() { update Person set { age: 31 } where name = "zoe"
				match { $p: Person { name: "zoe" }  any { origin($p).made_by = "ada"  origin($p).actor is not null } } { update Person set { age: 32 } where name = $p.name } }`)
			if _, err := s.graph.Mutate(s.ctx, q, nil, engine.WriteOptions{Actor: "bob"}); err != nil {
				s.Fatalf("mutate: %v", err)
			}
			if got := s.seen(here, `() { match { $p: Person { name: "zoe" } } return { $p.age, origin($p).actor as a, origin($p).made_by as m } }`); got != "31 | bob | ada" {
				s.Errorf("zoe is %s", got)
			}
		},
		"a database that is followed has the name of its claim": func(s *session) {
			follow := func(name, after, at string) {
				s.Helper()
				_, err := s.graph.Load(s.ctx, strings.NewReader(`{"type":"Person","data":{"name":"zoe","age":`+at+`}}`), engine.LoadOptions{Mode: engine.Patch,
					Sync: engine.SyncOptions{Source: name}, Changes: &engine.SourceChanges{Source: "postgres/7/slot", After: after, Position: at}})
				if err != nil {
					s.Fatalf("load: %v", err)
				}
			}
			for _, c := range []struct{ name, after, at, want string }{{"", "", "1", "slot.7"}, {"crm", "1", "2", "crm"}} {
				follow(c.name, c.after, c.at)
				if got := s.seen(here, `() { match { $p: Person { name: "zoe" } } return { origin($p).source as s } }`); got != c.want {
					s.Errorf("the source is %s, want %s", got, c.want)
				}
			}
		},
		"the facts outlive a cleanup": func(s *session) {
			update(s, "ada", "", "ann", set{"age": 31})
			update(s, "bob", "", "bob", set{"age": 31})
			update(s, "cid", "", "cid", set{"age": 31})
			if _, err := s.graph.Cleanup(s.ctx, engine.CleanupOptions{KeepCommits: 1}); err != nil {
				s.Fatalf("cleanup: %v", err)
			}
			expect(s, here, "ann | ada | t-ada | null bob | bob | t-bob | null cid | cid | t-cid | null")
		},
		"a schema change carries the rows, and the past stays": func(s *session) {
			update(s, "ada", "", "ann", set{"age": 31})
			before := s.head()
			points := property("points", i32Type.Optional())
			points.Default = &catalog.Literal{Value: value.OfI32(1)}
			s.apply("", renameProperty("age", "years"), person(func(n *catalog.Node) { n.Properties = append(n.Properties, points) }))
			expect(s, here, "ann | ada | t-ada | null")
			by(s, "bob", "", s.change().update("Person", set{"years": 32}, "name", plan.Eq, "ann"))
			expect(s, here, "ann | bob | t-bob | null")
			schema := s.schema
			s.schema = people()
			expect(s, engine.Target{Commit: before.ID}, "ann | ada | t-ada | null")
			s.schema = schema
		},
	})
}

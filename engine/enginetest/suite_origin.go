package enginetest

import (
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

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
		"a schema change carries the rows, and the past stays": func(s *session) {
			update(s, "ada", "", "ann", set{"age": 31})
			before := s.head()
			s.apply("", renameProperty("age", "years"), points(1))
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

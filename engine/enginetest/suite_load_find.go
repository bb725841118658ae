package enginetest

import (
	"errors"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// roads is a schema whose edges are found by their ends: a Road by its ends and its number or, without a number, by its ends
// and its name; a Ferry by its ends alone.
func roads() *catalog.Schema {
	return schemaOf([]*catalog.Node{
		{Name: "Town", Key: []string{"name"}, Properties: []*catalog.Property{property("name", stringType), property("size", i32Type), property("note", stringType.Optional())}},
	}, []*catalog.Edge{
		{Name: "Road", From: "Town", To: "Town", Properties: []*catalog.Property{property("number", i32Type.Optional()), property("name", stringType.Optional()), property("km", i32Type)},
			Unique: [][]string{{"src", "number", "dst"}, {"src", "dst", "name"}}},
		{Name: "Ferry", From: "Town", To: "Town", Properties: []*catalog.Property{property("km", i32Type.Optional()), property("line", stringType.Optional())}, Unique: [][]string{{"src", "dst"}}},
	})
}

const towns = `{"type":"Town","data":{"name":"a","size":1,"note":"x"}}
{"type":"Town","data":{"name":"b","size":2}}
{"type":"Town","data":{"name":"c","size":3}}
{"edge":"Road","from":"a","to":"b","data":{"id":"r1","number":1,"km":10}}
{"edge":"Ferry","from":"a","to":"b","data":{"id":"f1","km":5}}`

// expectRoads compares the ids, ends, numbers, names and lengths of the roads with the text `want`.
func (s *session) expectRoads(want string) {
	s.Helper()
	p := s.read()
	a, b, e := p.node("a", "Town"), p.node("b", "Town"), p.edge("e", "Road")
	p.match(over(a, e, "Road", b)).ret(id(e), p.from(e), p.to(e), p.prop(e, "number"), p.prop(e, "name"), p.prop(e, "km")).orderBy(p.prop(e, "km"))
	s.expect(p, want)
}

// expectFerries compares the ends and the ids of the ferries with the text `want`.
func (s *session) expectFerries(want string) {
	s.Helper()
	p := s.read()
	a, b, e := p.node("a", "Town"), p.node("b", "Town"), p.edge("e", "Ferry")
	p.match(over(a, e, "Ferry", b)).ret(p.from(e), p.to(e), id(e)).orderBy(p.from(e)).orderBy(p.to(e))
	s.expect(p, want)
}

// expectTowns compares the names, sizes and notes of the towns with the text `want`.
func (s *session) expectTowns(want string) {
	s.Helper()
	p := s.read()
	a := p.bind("a", "Town")
	s.expect(p.ret(p.prop(a, "name"), p.prop(a, "size"), p.prop(a, "note")).orderBy(p.prop(a, "name")), want)
}

// loadFindCases returns the cases of loads that find the entities which their lines mean.
func loadFindCases() []testCase {
	lastWins := func(s *session, mode engine.LoadMode, lines string) {
		s.Helper()
		if _, err := s.graph.Load(s.ctx, strings.NewReader(lines), engine.LoadOptions{Mode: mode, LastWins: true}); err != nil {
			s.Fatalf("load: %v", err)
		}
	}
	runs := map[string]func(s *session){
		"the same edges twice": func(s *session) {
			const lines = `{"edge":"Ferry","from":"b","to":"c"}
{"edge":"Ferry","from":"a","to":"b","data":{"km":6}}`
			for _, mode := range []engine.LoadMode{engine.Merge, engine.Patch} {
				s.load(mode, lines)
				if res := s.load(mode, lines); res.Commit != nil {
					s.Errorf("the second load in the mode %s commits %+v", mode, res.Effects)
				}
				s.expectFerries("a | b | f1\nb | c | " + engine.DerivedEdgeID("Ferry", "b", "c"))
			}
		},
		"the first rule without a null": func(s *session) {
			s.load(engine.Merge, `{"edge":"Road","from":"a","to":"b","data":{"number":1,"name":"old","km":11}}
{"edge":"Road","from":"a","to":"b","data":{"number":2,"km":12}}
{"edge":"Road","from":"a","to":"b","data":{"name":"new","km":13}}`)
			s.expectRoads("r1 | a | b | 1 | old | 11\n" + engine.DerivedEdgeID("Road", "a", "b", "2") + " | a | b | 2 | null | 12\n" +
				engine.DerivedEdgeID("Road", "a", "b", "new") + " | a | b | null | new | 13")
		},
		"no rule without a null": func(s *session) {
			_, err := s.tryLoad(engine.Merge, `{"edge":"Road","from":"a","to":"b","data":{"km":11}}`)
			s.expectLineNumbers(err, 1)
		},
		"an edge of a new node": func(s *session) {
			s.load(engine.Merge, `{"edge":"Ferry","from":"a","to":"d"}
{"type":"Town","data":{"name":"d","size":4}}`)
			s.expectFerries("a | b | f1\na | d | " + engine.DerivedEdgeID("Ferry", "a", "d"))
		},
		"two branches that load one file": func(s *session) {
			s.fork("side", "")
			const lines = `{"edge":"Ferry","from":"b","to":"c"}`
			s.load(engine.Merge, lines)
			if _, err := s.graph.Load(s.ctx, strings.NewReader(lines), engine.LoadOptions{Mode: engine.Merge, WriteOptions: engine.WriteOptions{Branch: "side"}}); err != nil {
				s.Fatalf("load: %v", err)
			}
			s.merged("side", "main", engine.AlreadyUpToDate)
			s.expectFerries("a | b | f1\nb | c | " + engine.DerivedEdgeID("Ferry", "b", "c"))
		},
		"a derived id that another edge has": func(s *session) {
			taken := engine.DerivedEdgeID("Road", "b", "c", "7")
			s.load(engine.Merge, `{"edge":"Road","from":"b","to":"c","data":{"number":7,"km":20}}`)
			s.load(engine.Merge, `{"edge":"Road","from":"b","to":"c","data":{"id":"`+taken+`","number":8,"km":21}}`)
			s.load(engine.Merge, `{"edge":"Road","from":"b","to":"c","data":{"number":7,"km":22}}`)
			p := s.read()
			a, b, e := p.node("a", "Town"), p.node("b", "Town"), p.edge("e", "Road")
			s.expect(p.match(over(a, e, "Road", b)).ret(p.prop(e, "number"), p.prop(e, "km")).orderBy(p.prop(e, "km")), "1 | 10\n8 | 21\n7 | 22")
		},
		"the same ends in two lines": func(s *session) {
			const lines = `{"edge":"Ferry","from":"b","to":"c","data":{"km":1,"line":"x"}}
{"edge":"Ferry","from":"b","to":"c","data":{"km":2}}`
			for _, mode := range []engine.LoadMode{engine.Merge, engine.Patch} {
				_, err := s.tryLoad(mode, lines)
				s.expectLineNumbers(err, 2)
			}
			ferry := func(want string) {
				s.Helper()
				p := s.read()
				a, b, e := p.node("a", "Town"), p.node("b", "Town"), p.edge("e", "Ferry")
				s.expect(p.match(over(a, e, "Ferry", b)).ret(p.from(e), p.prop(e, "km"), p.prop(e, "line")).orderBy(p.from(e)), want)
			}
			lastWins(s, engine.Merge, lines)
			ferry("a | 5 | null\nb | 2 | null")
			lastWins(s, engine.Patch, lines)
			ferry("a | 5 | null\nb | 2 | x")
		},
		"patch": func(s *session) {
			s.load(engine.Patch, `{"type":"Town","data":{"name":"a","size":9}}
{"type":"Town","data":{"name":"b","note":"y"}}
{"edge":"Road","from":"a","to":"b","data":{"number":1,"name":"old"}}`)
			s.expectTowns("a | 9 | x\nb | 2 | y\nc | 3 | null")
			s.expectRoads("r1 | a | b | 1 | old | 10")
		},
		"patch: a null clears": func(s *session) {
			s.load(engine.Patch, `{"type":"Town","data":{"name":"a","note":null}}`)
			s.expectTowns("a | 1 | null\nb | 2 | null\nc | 3 | null")
			_, err := s.tryLoad(engine.Patch, `{"type":"Town","data":{"name":"a","size":null}}`)
			s.expectLineNumbers(err, 1)
		},
		"patch: a new entity": func(s *session) {
			s.load(engine.Patch, `{"type":"Town","data":{"name":"d","size":4}}`)
			_, err := s.tryLoad(engine.Patch, `{"type":"Town","data":{"name":"c"}}
{"type":"Town","data":{"name":"e","note":"z"}}
{"edge":"Road","from":"a","to":"c","data":{"number":1}}`)
			s.expectLineNumbers(err, 2, 3)
			s.expectTowns("a | 1 | x\nb | 2 | null\nc | 3 | null\nd | 4 | null")
		},
		"patch: several lines in order": func(s *session) {
			lastWins(s, engine.Patch, `{"type":"Town","data":{"name":"a","size":5}}
{"type":"Town","data":{"name":"d","size":6,"note":"q"}}
{"type":"Town","data":{"name":"a","note":"w"}}
{"type":"Town","data":{"name":"d","note":null}}
{"type":"Town","data":{"name":"a"}}`)
			s.expectTowns("a | 5 | w\nb | 2 | null\nc | 3 | null\nd | 6 | null")
		},
	}
	var all []testCase
	for _, name := range sortedKeys(runs) {
		all = append(all, testCase{name: "load/find/" + name, schema: roads, run: func(s *session) {
			s.load(engine.Append, towns)
			runs[name](s)
		}})
	}
	return all
}

// follow loads changes of the source "db" that move its position from `after` to `position`.
func (s *session) follow(after, position, lines string) (*engine.LoadResult, error) {
	return s.graph.Load(s.ctx, strings.NewReader(lines), engine.LoadOptions{Mode: engine.Patch, Changes: &engine.SourceChanges{Source: "db", After: after, Position: position}})
}

// followed is follow, which must commit.
func (s *session) followed(after, position, lines string) {
	s.Helper()
	res, err := s.follow(after, position, lines)
	switch {
	case err != nil:
		s.Fatalf("load: %v", err)
	case res.Commit == nil || res.Position != position:
		s.Errorf("found the commit %v and the position %q, expected a commit and %q", res.Commit, res.Position, position)
	}
}

// claim is follow for lines that the source "slot" claims.
func (s *session) claim(after, position, lines string) (*engine.LoadResult, error) {
	return s.graph.Load(s.ctx, strings.NewReader(lines), engine.LoadOptions{Mode: engine.Patch, Sync: engine.SyncOptions{Source: "slot"},
		Changes: &engine.SourceChanges{Source: "db", After: after, Position: position}})
}

// claims is claim, which must commit.
func (s *session) claims(after, position, lines string) {
	s.Helper()
	if res, err := s.claim(after, position, lines); err != nil || res.Commit == nil {
		s.Fatalf("load: %+v, %v", res, err)
	}
}

// expectPosition compares the position of the source "db" on main with `want`.
func (s *session) expectPosition(want string) {
	s.Helper()
	if res, err := s.follow("", "", ""); err != nil || res.Position != want || res.Commit != nil {
		s.Errorf("found the position %+v, %v; expected %q and no commit", res, err, want)
	}
}

// loadChangesCases returns the cases of loads with changes of a source.
func loadChangesCases() []testCase {
	runs := map[string]func(s *session){
		"positions": func(s *session) {
			s.expectPosition("")
			s.followed("", "1", `{"type":"Town","data":{"name":"a","size":7}}`)
			s.followed("1", "2", "") // a commit without a change of an entity
			s.expectPosition("2")
			if res, err := s.follow("2", "2", ""); err != nil || res.Commit != nil {
				s.Errorf("found %+v, %v; expected no commit", res, err)
			}
			_, err := s.follow("1", "3", `{"type":"Town","data":{"name":"a","size":8}}`)
			var stale *engine.Conflict
			if !errors.As(err, &stale) {
				s.Errorf("found %v, expected a conflict", err)
			}
			s.expectPosition("2")
			s.expectTowns("a | 7 | x\nb | 2 | null\nc | 3 | null")
		},
		"a refused load keeps the position": func(s *session) {
			s.followed("", "1", "")
			_, err := s.follow("1", "2", `{"type":"Town","delete":"b"}
{"type":"Town","data":{"name":"a","size":null}}`)
			s.expectLineNumbers(err, 2)
			s.expectPosition("1")
			s.expectTowns("a | 1 | x\nb | 2 | null\nc | 3 | null")
		},
		"a dry run keeps the position": func(s *session) {
			s.followed("", "1", "")
			_, err := s.graph.Load(s.ctx, strings.NewReader(`{"type":"Town","delete":"b"}`), engine.LoadOptions{Mode: engine.Patch, WriteOptions: engine.WriteOptions{DryRun: true},
				Changes: &engine.SourceChanges{Source: "db", After: "1", Position: "2"}})
			if err != nil {
				s.Fatalf("load: %v", err)
			}
			s.expectPosition("1")
			s.expectTowns("a | 1 | x\nb | 2 | null\nc | 3 | null")
		},
		"a branch has positions of its own": func(s *session) {
			s.followed("", "1", "")
			s.fork("side", "")
			for branch, want := range map[string]string{"": "1", "side": ""} {
				res, err := s.graph.Load(s.ctx, strings.NewReader(""), engine.LoadOptions{Mode: engine.Patch, WriteOptions: engine.WriteOptions{Branch: branch}, Changes: &engine.SourceChanges{Source: "db"}})
				if err != nil || res.Position != want {
					s.Errorf("branch %q: found %+v, %v; expected %q", branch, res, err, want)
				}
			}
		},
		"delete": func(s *session) {
			s.followed("", "1", `{"type":"Town","delete":"c"}
{"type":"Town","delete":"nowhere"}
{"edge":"Ferry","delete":"f1"}`)
			s.expectTowns("a | 1 | x\nb | 2 | null")
			s.expectFerries("")
			s.expectRoads("r1 | a | b | 1 | null | 10")
			s.followed("1", "2", `{"type":"Town","delete":"b"}`)
			s.expectRoads("")
		},
		"delete and make anew": func(s *session) {
			s.followed("", "1", `{"type":"Town","data":{"name":"a","size":5}}
{"type":"Town","delete":"a"}`)
			s.expectTowns("a | 5 | null\nb | 2 | null\nc | 3 | null")
			s.expectRoads("")
		},
		"an edge moves": func(s *session) {
			s.followed("", "1", `{"edge":"Road","from":"b","to":"c","data":{"id":"r1"}}`)
			s.expectRoads("r1 | b | c | 1 | null | 10")
		},
		"an edge without an id": func(s *session) {
			_, err := s.follow("", "1", `{"edge":"Ferry","from":"b","to":"c"}`)
			s.expectLineNumbers(err, 1)
		},
		"a node moves with its edges": func(s *session) {
			s.followed("", "1", `{"type":"Town","was":"a","data":{"name":"z","size":9}}`)
			s.expectTowns("b | 2 | null\nc | 3 | null\nz | 9 | x")
			s.expectRoads("r1 | z | b | 1 | null | 10")
			s.expectFerries("z | b | f1")
			s.followed("1", "2", `{"type":"Town","was":"nowhere","data":{"name":"b","size":4}}`)
			s.expectTowns("b | 4 | null\nc | 3 | null\nz | 9 | x")
		},
		"two nodes exchange their keys": func(s *session) {
			s.followed("", "1", `{"type":"Town","was":"a","data":{"name":"b"}}
{"type":"Town","was":"b","data":{"name":"a"}}`)
			s.expectTowns("a | 2 | null\nb | 1 | x\nc | 3 | null")
			s.expectRoads("r1 | b | a | 1 | null | 10")
		},
		"a node takes the key of a deleted one": func(s *session) {
			s.followed("", "1", `{"type":"Town","was":"a","data":{"name":"b"}}
{"type":"Town","delete":"b"}`)
			s.expectTowns("b | 1 | x\nc | 3 | null")
			s.expectRoads("")
		},
		"a node takes the key of another": func(s *session) {
			_, err := s.follow("", "1", `{"type":"Town","data":{"name":"d","size":4}}
{"type":"Town","was":"a","data":{"name":"b"}}`)
			s.expectLineNumbers(err, 2)
		},
		"an edge gets another id": func(s *session) {
			s.followed("", "1", `{"edge":"Road","was":"r1","from":"a","to":"c","data":{"id":"r2"}}
{"type":"Town","was":"a","data":{"name":"z"}}
{"type":"Town","data":{"name":"a","size":6}}`)
			s.expectRoads("r2 | a | c | 1 | null | 10")
			s.expectFerries("z | b | f1")
		},
		"members of other loads": func(s *session) {
			for _, line := range []string{`{"type":"Town","delete":"a"}`, `{"type":"Town","was":"a","data":{"name":"b"}}`} {
				_, err := s.tryLoad(engine.Patch, line)
				s.expectLineNumbers(err, 1)
			}
			for _, line := range []string{`{"type":"Town","delete":""}`, `{"type":"Town","delete":"a","data":{}}`, `{"edge":"None","delete":"a"}`, `{"delete":"a"}`} {
				_, err := s.follow("", "1", line)
				s.expectLineNumbers(err, 1)
			}
		},
		"a claim keeps what a line leaves out": func(s *session) {
			s.claims("", "1", `{"type":"Town","data":{"name":"d","size":4,"note":"n"}}
{"edge":"Ferry","from":"a","to":"d","data":{"id":"f2","km":7}}`)
			s.claims("1", "2", `{"type":"Town","data":{"name":"d","size":5}}
{"type":"Town","data":{"name":"c","note":"m"}}
{"edge":"Ferry","from":"a","to":"d","data":{"id":"f2","line":"l"}}`)
			s.expectTowns("a | 1 | x\nb | 2 | null\nc | 3 | m\nd | 5 | n")
			s.expectSources("", "Ferry a d +slot:km,line\nTown c slot:note\nTown d +slot:note,size")
		},
		"a claim keeps what others changed": func(s *session) {
			s.claims("", "1", `{"type":"Town","data":{"name":"d","size":4,"note":"n"}}`)
			s.mutate(s.change().update("Town", set{"size": 6, "note": "o"}, "name", plan.Eq, "d"))
			s.expectSources("", "Town d +slot:note,size!note,size")
			s.claims("1", "2", `{"type":"Town","data":{"name":"d","size":5}}`)
			s.expectSources("", "Town d +slot:note,size!note")
			s.expectTowns("a | 1 | x\nb | 2 | null\nc | 3 | null\nd | 5 | o")
		},
		"a claim moves with its node": func(s *session) {
			s.claims("", "1", `{"type":"Town","data":{"name":"d","size":4}}
{"edge":"Ferry","from":"a","to":"d","data":{"id":"f2","km":7}}`)
			s.claims("1", "2", `{"type":"Town","was":"d","data":{"name":"z","note":"n"}}`)
			s.expectSources("", "Ferry a z +slot:km\nTown z +slot:note,size")
		},
		"a deleted row that another source claims": func(s *session) {
			s.claims("", "1", `{"type":"Town","data":{"name":"d","size":4,"note":"n"}}
{"type":"Town","data":{"name":"e","size":5}}`)
			s.expectSync("0 0 0 0 0", `{"type":"Town","data":{"name":"d","size":9}}`, func(o *engine.LoadOptions) { o.Sync.Yield = []string{"Town.size"} })
			s.claims("1", "2", `{"type":"Town","delete":"d"}
{"type":"Town","delete":"e"}
{"type":"Town","delete":"c"}`)
			s.expectTowns("a | 1 | x\nb | 2 | null\nc | 3 | null\nd | 4 | null") // c is not of the source
			s.expectSources("", "Town d +crm:")
		},
		"a deleted row of an entity that no source created": func(s *session) {
			s.claims("", "1", `{"type":"Town","data":{"name":"c","note":"n"}}
{"edge":"Ferry","from":"a","to":"b","data":{"id":"f1","line":"l"}}`)
			res, err := s.claim("1", "2", `{"type":"Town","delete":"c"}
{"edge":"Ferry","delete":"f1"}`)
			if err != nil || res.Sync.Released != 2 || res.Sync.Deleted != 0 {
				s.Errorf("%+v, %v", res, err)
			}
			s.expectTowns("a | 1 | x\nb | 2 | null\nc | 3 | null")
			s.expectFerries("a | b | f1")
			s.expectSources("", "")
		},
		"a deleted row with edges of others": func(s *session) {
			s.claims("", "1", `{"type":"Town","data":{"name":"d","size":4}}
{"type":"Town","data":{"name":"e","size":5}}
{"edge":"Ferry","from":"d","to":"e","data":{"id":"f2","km":7}}
{"edge":"Ferry","from":"e","to":"a","data":{"id":"f3","km":7}}`)
			s.mutate(s.change().link("Ferry", "a", "d", set{"km": 1}))
			res, err := s.claim("1", "2", `{"type":"Town","delete":"d"}
{"type":"Town","delete":"e"}
{"edge":"Ferry","delete":"f2"}`)
			if err != nil || res.Sync.Kept != 1 || len(res.Sync.KeptFirst) != 1 || res.Sync.KeptFirst[0].ID != "d" || res.Sync.Deleted != 2 || res.Sync.Cascaded != 1 {
				s.Errorf("%+v, %v", res, err)
			}
			s.expectTowns("a | 1 | x\nb | 2 | null\nc | 3 | null\nd | 4 | null")
			s.expectSources("", "Town d +slot:size")
		},
		"a property that another source owns": func(s *session) {
			s.expectSync("0 0 0 0 0", `{"type":"Town","data":{"name":"d","size":9}}`, nil)
			_, err := s.claim("", "1", `{"type":"Town","data":{"name":"e","size":5}}
{"type":"Town","data":{"name":"d","size":4}}`)
			s.expectLineNumbers(err, 2)
			s.expectTowns("a | 1 | x\nb | 2 | null\nc | 3 | null\nd | 9 | null")
		},
		"a copy anew": func(s *session) {
			s.claims("", "1", `{"type":"Town","data":{"name":"d","size":4,"note":"n"}}
{"type":"Town","data":{"name":"e","size":5}}
{"edge":"Ferry","from":"d","to":"e","data":{"id":"f2","km":7}}`)
			again := func(approve int64) (*engine.LoadResult, error) {
				return s.synchronise(`{"type":"Town","data":{"name":"d","size":6}}
{"edge":"Ferry","from":"d","to":"a","data":{"id":"f2","km":8}}`, func(o *engine.LoadOptions) {
					o.Changes, o.Sync.Source, o.Sync.ApproveDeletes = &engine.SourceChanges{Source: "db", After: "1", Position: "2"}, "slot", approve
				})
			}
			if _, err := again(0); err == nil || !strings.Contains(err.Error(), "approve_deletes 1") {
				s.Errorf("found %v, expected a refusal that names the number", err)
			}
			_, err := s.synchronise(`{"type":"Town","data":{"name":"e","size":5}}
{"type":"Town","delete":"d"}
{"type":"Town","was":"e","data":{"name":"f","size":5}}`, func(o *engine.LoadOptions) {
				o.Changes, o.Sync.Source, o.Sync.ApproveDeletes = &engine.SourceChanges{Source: "db", After: "1", Position: "2"}, "slot", 1
			})
			s.expectLineNumbers(err, 2, 3) // a copy has every row, so it deletes and moves nothing by a line
			s.expectPosition("1")
			res, err := again(1)
			if err != nil || res.Position != "2" || res.Sync.Deleted != 1 {
				s.Fatalf("found %+v, %v", res, err)
			}
			s.expectPosition("2")
			s.expectTowns("a | 1 | x\nb | 2 | null\nc | 3 | null\nd | 6 | null")
			s.expectFerries("a | b | f1\nd | a | f2")
			s.expectSources("", "Ferry d a +slot:km\nTown d +slot:size")
		},
		"bad options": func(s *session) {
			for _, o := range []engine.LoadOptions{
				{Mode: engine.Sync, Sync: engine.SyncOptions{Source: "slot"}, Changes: &engine.SourceChanges{Source: "db"}},
				{Mode: engine.Merge, Sync: engine.SyncOptions{Source: "slot"}, Changes: &engine.SourceChanges{Source: "db", Position: "1"}},
				{Mode: engine.Patch, Sync: engine.SyncOptions{Source: "s/1"}, Changes: &engine.SourceChanges{Source: "db", Position: "1"}},
				{Mode: engine.Patch, Sync: engine.SyncOptions{Source: "slot", Types: []string{"Town"}}, Changes: &engine.SourceChanges{Source: "db", Position: "1"}},
				{Mode: engine.Patch, LastWins: true, Sync: engine.SyncOptions{Source: "slot"}, Changes: &engine.SourceChanges{Source: "db", Position: "1"}},
				{Mode: engine.Append, Changes: &engine.SourceChanges{Source: "db", Position: "1"}},
				{Mode: engine.Patch, Changes: &engine.SourceChanges{Position: "1"}},
				{Mode: engine.Patch, Changes: &engine.SourceChanges{Source: "db"}},
				{Mode: engine.Patch, WriteOptions: engine.WriteOptions{IdempotencyKey: "k"}, Changes: &engine.SourceChanges{Source: "db", Position: "1"}},
			} {
				_, err := s.graph.Load(s.ctx, strings.NewReader(`{"type":"Town","data":{"name":"a","size":7}}`), o)
				var bad *engine.BadArgument
				if !errors.As(err, &bad) {
					s.Errorf("%+v: found %v, expected a bad argument", o, err)
				}
			}
		},
	}
	var all []testCase
	for _, name := range sortedKeys(runs) {
		all = append(all, testCase{name: "load/changes/" + name, schema: roads, run: func(s *session) {
			s.load(engine.Append, towns)
			runs[name](s)
		}})
	}
	return all
}

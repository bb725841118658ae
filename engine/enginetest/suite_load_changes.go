package enginetest

import (
	"errors"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
)

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
		"bad options": func(s *session) {
			for _, o := range []engine.LoadOptions{
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

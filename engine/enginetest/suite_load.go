package enginetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// expectCities compares the ids and names of all cities with the text `want`.
func (s *session) expectCities(want string) {
	s.Helper()
	p := s.read()
	c := p.bind("c", "City")
	s.expect(p.ret(id(c), p.prop(c, "name")), want)
}

// loadCases returns the cases of loads.
func loadCases() []testCase {
	return writeCases("load", map[string]func(s *session){
		"counts by kind, and once more with the idempotency key": func(s *session) {
			load := func(mode engine.LoadMode, key, lines string) *engine.LoadResult {
				res, err := s.graph.Load(s.ctx, strings.NewReader(lines), engine.LoadOptions{Mode: mode, WriteOptions: engine.WriteOptions{IdempotencyKey: key}})
				if err != nil {
					s.Fatalf("load: %v", err)
				}
				return res
			}
			const lines = `{"type":"City","data":{"id":"c9","name":"Bern"}}
{"type":"City","data":{"id":"c1","name":"Ost"}}
{"type":"City","data":{"id":"c2","name":"Rome"}}
{"edge":"Knows","from":"ann","to":"bob","data":{"id":"k1"}}
{"edge":"Knows","from":"ann","to":"eve","data":{"id":"k8"}}`
			for range 2 {
				res := load(engine.Merge, "once", lines)
				if e := res.Effects; e.Nodes != (engine.ChangeCounts{Inserted: 1, Updated: 1}) || e.Edges != (engine.ChangeCounts{Inserted: 1, Updated: 1}) ||
					fmt.Sprint(res.Nodes, res.Edges) != "[{City 3}] [{Knows 2}]" {
					s.Errorf("result %+v, effects %+v", res, e)
				}
			}
			if e := load(engine.Overwrite, "", `{"edge":"Knows","from":"eve","to":"ann","data":{"id":"k9"}}`).Effects; e.Nodes != (engine.ChangeCounts{}) || e.Edges != (engine.ChangeCounts{Inserted: 1, Deleted: 5}) {
				s.Errorf("effects %+v", e)
			}
		},
		"blank lines, carriage returns, no last newline": func(s *session) {
			s.load(engine.Append, "\n  \r\n\t\n"+`{"type":"City","data":{"id":"c3","name":"Bern"}}`+"\r\n\r\n"+`  {"data":{"name":"Kiel","id":"c4"},"type":"City"} `)
			s.expectCities("c1 | Oslo\nc2 | Rome\nc3 | Bern\nc4 | Kiel")
		},
		"many lines": func(s *session) {
			s.load(engine.Merge, manyPeople(5000))
			p := s.read()
			a := p.bind("a", "Person")
			s.expect(p.ret(count(whole(a)), agg(plan.Max, p.prop(a, "age"))), "5005 | 4999")
		},
	})
}

// expectLineNumbers checks that err reports exactly these lines.
func (s *session) expectLineNumbers(err error, want ...int64) {
	s.Helper()
	var bad *engine.LoadErrors
	if !errors.As(err, &bad) {
		s.Errorf("error %v (%T); want bad lines", err, err)
		return
	}
	var got []int64
	for _, l := range bad.Lines {
		got = append(got, l.Line)
	}
	if got = slices.Compact(got); !slices.Equal(got, want) {
		s.Errorf("bad lines %v, want %v: %v", got, want, err)
	}
}

// loadFaultCases returns the cases of loads with bad lines.
func loadFaultCases() []testCase {
	// bad loads a bad line between two good ones. The number of the bad line is 3, because a blank
	// line comes before it. The load must store nothing.
	bad := func(line string) func(s *session) {
		return func(s *session) {
			before := s.head()
			_, err := s.tryLoad(engine.Merge, `{"type":"City","data":{"id":"c3","name":"Bern"}}`+"\n\n"+line+"\n"+`{"type":"City","data":{"id":"c4","name":"Kiel"}}`)
			s.expectLineNumbers(err, 3)
			s.expectCities("c1 | Oslo\nc2 | Rome")
			if s.head().ID != before.ID {
				s.Errorf("a bad load moved the head")
			}
		}
	}
	return writeCases("bad load", map[string]func(s *session){
		"invalid UTF-8": bad("{\"type\":\"City\",\"data\":{\"name\":\"\xff\"}}"),
		"at most a hundred bad lines are reported": overHundred,
	})
}

// overHundred checks that a load reports at most a hundred bad lines.
func overHundred(s *session) {
	_, err := s.tryLoad(engine.Merge, strings.Repeat(`{"type":"Town"}`+"\n", 150))
	var bad *engine.LoadErrors
	if !errors.As(err, &bad) {
		s.Fatalf("error %v; want bad lines", err)
	}
	if len(bad.Lines) != 100 || !bad.More || bad.Lines[99].Line != 100 {
		s.Errorf("%d lines, more %t", len(bad.Lines), bad.More)
	}
}

// sourceCases returns the cases of loads with a source that texts cannot express.
func sourceCases() []testCase {
	runs := map[string]func(s *session){
		"changes/bad options": func(s *session) {
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
				expectError[*engine.BadArgument](s, err)
			}
		},
		"sync/refused": func(s *session) {
			crm := engine.SyncOptions{Source: "crm"}
			for _, o := range []engine.LoadOptions{
				{Mode: engine.Sync},
				{Mode: engine.Sync, Sync: engine.SyncOptions{Source: "a b"}},
				{Mode: engine.Sync, Sync: engine.SyncOptions{Source: "crm", Types: []string{"Village"}}},
				{Mode: engine.Sync, Sync: engine.SyncOptions{Source: "crm", Yield: []string{"Town"}}},
				{Mode: engine.Sync, Sync: crm, LastWins: true},
				{Mode: engine.Sync, Sync: crm, NewEdges: true},
				{Mode: engine.Merge, Sync: crm},
			} {
				_, err := s.graph.Load(s.ctx, strings.NewReader(""), o)
				expectError[*engine.BadArgument](s, err)
			}
			for _, sources := range []string{`"crm"`, `"crm:b,a"`, `"z:;a:"`, `"+crm:a!"`, `5`} {
				_, err := s.tryLoad(engine.Merge, `{"type":"Town","data":{"name":"f","size":1},"sources":`+sources+`}`)
				s.expectLineNumbers(err, 1)
			}
		},
		"sync/history and exports": func(s *session) {
			feed := textFile("crm.ndjson")
			sync := func(lines string) {
				s.Helper()
				sources := engine.SyncOptions{Source: "crm", Types: []string{"Town", "Road", "Ferry"}, ApproveDeletes: 4}
				if _, err := s.graph.Load(s.ctx, strings.NewReader(lines), engine.LoadOptions{Mode: engine.Sync, Sync: sources}); err != nil {
					s.Fatalf("sync: %v", err)
				}
			}
			all := []string{"Ferry d e +crm:km,line", "Road d e +crm:km", "Town d +crm:note,size", "Town e +crm:note,size"}
			sync(feed)
			old := s.head()
			sync("")
			b, err := s.graph.CreateBranch(s.ctx, "old", engine.Target{Commit: old.ID})
			if err != nil {
				s.Fatalf("branch: %v", err)
			}
			s.branch = b.Name
			exported := s.exportText()
			if got := s.sourcesText(); !slices.Equal(got, all) {
				s.Errorf("the branch has the sources %q", got)
			}
			s.branch = ""
			s.load(engine.Merge, exported)
			if got := s.sourcesText(); !slices.Equal(got, all) {
				s.Errorf("after the load of the export the sources are %q", got)
			}
			sync("")
			if got := s.sourcesText(); !slices.Equal(got, []string{"no source"}) {
				s.Errorf("after the sync the sources are %q", got)
			}
		},
	}
	var all []testCase
	for _, name := range sortedKeys(runs) {
		all = append(all, testCase{name: "load/" + name, schema: func() *catalog.Schema { return compileSchema("towns") }, run: func(s *session) {
			s.load(engine.Merge, textFile("towns.ndjson"))
			runs[name](s)
		}})
	}
	return all
}

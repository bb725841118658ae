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

// expectLines checks that err reports exactly the given bad lines, each written as "line field".
func (s *session) expectLines(err error, want string) {
	s.Helper()
	var bad *engine.LoadErrors
	if !errors.As(err, &bad) {
		s.Errorf("error %v (%T); want bad lines", err, err)
		return
	}
	lines := make([]string, len(bad.Lines))
	for i, l := range bad.Lines {
		lines[i] = strings.TrimSpace(fmt.Sprintf("%d %s", l.Line, l.Field))
		if l.Err == nil {
			s.Errorf("line %d has no reason", l.Line)
		}
	}
	if got, want := strings.Join(lines, "\n"), unindent(want); got != want {
		s.Errorf("bad lines\n%s\nwant\n%s", got, want)
	}
}

// loadCases returns the cases of loads.
func loadCases() []testCase {
	cases := writeCases("load", map[string]func(s *session){
		"counts": func(s *session) {
			res := s.load(engine.Merge, `{"type":"City","data":{"id":"c9","name":"Bern"}}
{"edge":"Knows","from":"ann","to":"eve","data":{"id":"k9"}}
{"type":"City","data":{"id":"c1","name":"Oslo"}}`)
			if len(res.Nodes) != 1 || res.Nodes[0] != (engine.TypeCount{Type: "City", Count: 2}) ||
				len(res.Edges) != 1 || res.Edges[0] != (engine.TypeCount{Type: "Knows", Count: 1}) || res.Commit == nil {
				s.Errorf("result %+v", res)
			}
		},
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
		"snapshot counts": func(s *session) {
			snap, err := s.graph.Snapshot(s.ctx, engine.Target{})
			if err != nil {
				s.Fatalf("snapshot: %v", err)
			}
			if got := fmt.Sprint(snap.Nodes, snap.Edges); got != "[{Person 5} {City 2}] [{Knows 4} {Follows 6} {LivesIn 3}]" {
				s.Errorf("counts %s", got)
			}
		},
		"merge replaces whole rows": func(s *session) {
			s.load(engine.Merge, `{"type":"Person","data":{"name":"ann","mood":"sad"}}`+"\n"+`{"type":"Person","data":{"name":"fay"}}`)
			s.expectPeople(strings.Replace(crowdPeople, "ann | 30 | glad", "ann | null | sad", 1) + "\nfay | null | null")
			s.expectEdges("LivesIn", "l1 | ann | c1\nl2 | bob | c1\nl3 | cid | c2")
		},
		"merge replaces an edge by id": func(s *session) {
			s.load(engine.Merge, `{"edge":"Knows","from":"ann","to":"bob","data":{"id":"k1"}}`)
			p := s.read()
			a, b, e := p.node("a", "Person"), p.node("b", "Person"), p.edge("e", "Knows")
			s.expect(p.match(over(a, e, "Knows", b), where(id(a), plan.Eq, "ann")).ret(id(e), p.prop(e, "since")), "k1 | null\nk2 | 2015")
		},
		"an edge keeps its ends": func(s *session) {
			for _, mode := range []engine.LoadMode{engine.Merge, engine.Patch} {
				_, err := s.tryLoad(mode, `{"edge":"Knows","from":"eve","to":"dan","data":{"id":"k1"}}`)
				s.expectKeyConflict(err, "edge", "Knows", "k1")
				s.expectLineNumbers(err, 1)
			}
		},
		"an edge that nothing identifies": func(s *session) {
			const line = `{"edge":"LivesIn","from":"ann","to":"c1"}`
			for _, mode := range []engine.LoadMode{engine.Merge, engine.Patch} {
				_, err := s.tryLoad(mode, "\n"+line)
				s.expectLineNumbers(err, 2)
			}
			if _, err := s.graph.Load(s.ctx, strings.NewReader(line), engine.LoadOptions{Mode: engine.Merge, NewEdges: true}); err != nil {
				s.Fatalf("load: %v", err)
			}
			p := s.read()
			a, c, e := p.node("a", "Person"), p.node("c", "City"), p.edge("e", "LivesIn")
			s.expect(p.match(over(a, e, "LivesIn", c)).ret(count(id(e))), "4")
		},
		"merge of existing data commits nothing": func(s *session) {
			before := s.head()
			res := s.load(engine.Merge, crowd)
			if res.Commit != nil || res.Head.ID != before.ID || s.head().ID != before.ID {
				s.Errorf("committed %+v", res.Commit)
			}
		},
		"a node that nothing identifies": func(s *session) {
			for _, mode := range []engine.LoadMode{engine.Merge, engine.Patch} {
				_, err := s.tryLoad(mode, `{"type":"City","data":{"name":"Bern"}}`)
				s.expectLineNumbers(err, 1)
			}
		},
		"the same id twice": func(s *session) {
			const lines = `{"edge":"LivesIn","from":"dan","to":"c1","data":{"id":"l9"}}
{"edge":"LivesIn","from":"eve","to":"c2","data":{"id":"l9"}}`
			_, err := s.tryLoad(engine.Merge, lines)
			s.expectLineNumbers(err, 2)
			if _, err := s.graph.Load(s.ctx, strings.NewReader(lines), engine.LoadOptions{Mode: engine.Merge, LastWins: true}); err != nil {
				s.Fatalf("load: %v", err)
			}
			s.expectEdges("LivesIn", "l1 | ann | c1\nl2 | bob | c1\nl3 | cid | c2\nl9 | eve | c2")
		},
		"append": func(s *session) {
			s.load(engine.Append, `{"type":"City","data":{"id":"c3","name":"Bern"}}`)
			s.expectCities("c1 | Oslo\nc2 | Rome\nc3 | Bern")
		},
		"append of an existing key": func(s *session) {
			_, err := s.tryLoad(engine.Append, `{"type":"Person","data":{"name":"fay"}}`+"\n"+`{"type":"Person","data":{"name":"ann"}}`)
			s.expectKeyConflict(err, "node", "Person", "ann")
			s.expectPeople(crowdPeople)
		},
		"append of an existing edge": func(s *session) {
			_, err := s.tryLoad(engine.Append, `{"edge":"Knows","from":"ann","to":"eve","data":{"id":"k1"}}`)
			s.expectKeyConflict(err, "edge", "Knows", "k1")
		},
		"overwrite replaces the types that occur": func(s *session) {
			s.load(engine.Overwrite, `{"edge":"Knows","from":"eve","to":"dan","data":{"id":"k1"}}`)
			s.expectEdges("Knows", "k1 | eve | dan")
			s.expectEdges("LivesIn", "l1 | ann | c1\nl2 | bob | c1\nl3 | cid | c2")
			s.expectPeople(crowdPeople)
		},
		"overwrite that keeps the nodes that edges need": func(s *session) {
			s.load(engine.Overwrite, `{"type":"City","data":{"id":"c2","name":"Roma"}}
{"type":"City","data":{"id":"c1","name":"Oslo"}}
{"type":"City","data":{"id":"c4","name":"Bern"}}`)
			s.expectCities("c1 | Oslo\nc2 | Roma\nc4 | Bern")
			p := s.read()
			a, c := p.node("a", "Person"), p.node("c", "City")
			s.expect(p.match(hop(a, "LivesIn", c)).ret(id(a), p.prop(c, "name")), "ann | Oslo\nbob | Oslo\ncid | Roma")
		},
		"overwrite that drops a node that edges need": func(s *session) {
			_, err := s.tryLoad(engine.Overwrite, `{"type":"City","data":{"id":"c2","name":"Roma"}}`)
			s.expectViolation(err, "endpoint", "")
			s.expectCities("c1 | Oslo\nc2 | Rome")
		},
		"overwrite of nodes and edges": func(s *session) {
			s.load(engine.Overwrite, `{"type":"City","data":{"id":"c2","name":"Roma"}}
{"edge":"LivesIn","from":"dan","to":"c2","data":{"id":"l1"}}`)
			s.expectCities("c2 | Roma")
			s.expectEdges("LivesIn", "l1 | dan | c2")
		},
		"overwrite with the same data commits nothing": func(s *session) {
			if res := s.load(engine.Overwrite, crowd); res.Commit != nil {
				s.Errorf("committed %+v", res.Commit)
			}
		},
		"edges before their nodes": func(s *session) {
			s.load(engine.Append, `{"edge":"LivesIn","from":"fay","to":"c9","data":{"id":"l9"}}
{"type":"City","data":{"id":"c9","name":"Bern"}}
{"type":"Person","data":{"name":"fay"}}`)
			s.expectEdges("LivesIn", "l1 | ann | c1\nl2 | bob | c1\nl3 | cid | c2\nl9 | fay | c9")
		},
		"blank lines, carriage returns, no last newline": func(s *session) {
			s.load(engine.Append, "\n  \r\n\t\n"+`{"type":"City","data":{"id":"c3","name":"Bern"}}`+"\r\n\r\n"+`  {"data":{"name":"Kiel","id":"c4"},"type":"City"} `)
			s.expectCities("c1 | Oslo\nc2 | Rome\nc3 | Bern\nc4 | Kiel")
		},
		"nothing": func(s *session) {
			if res := s.load(engine.Overwrite, "\n\n"); res.Commit != nil || len(res.Nodes)+len(res.Edges) != 0 {
				s.Errorf("result %+v", res)
			}
			s.expectPeople(crowdPeople)
		},
		"no data": func(s *session) {
			s.load(engine.Append, `{"edge":"Follows","from":"eve","to":"ann"}`)
			p := s.read()
			a, b := p.node("a", "Person"), p.node("b", "Person")
			s.expect(p.match(hop(a, "Follows", b), where(id(a), plan.Eq, "eve")).ret(id(b)), "ann")
		},
		"edge names in any case": func(s *session) {
			s.load(engine.Merge, `{"edge":"knows","from":"dan","to":"eve","data":{"id":"k9"}}`)
			s.expectEdges("Knows", "k1 | ann | bob\nk2 | ann | bob\nk3 | bob | cid\nk4 | cid | ann\nk9 | dan | eve")
		},
		"other spellings": func(s *session) {
			s.load(engine.Merge, `{"type":"Person","data":{"name":"fay","born":0,"seen":1500,"big":"-7","wide":"18446744073709551615","score":3,"ratio":2,"photo":"base64:AAE=","age":null}}
{"type":"Person","data":{"name":"gus","born":-1,"seen":"2024-05-01T14:30:00+02:00","photo":"AAE="}}`)
			p := s.read()
			a := p.bind("a", "Person")
			p.match(where(id(a), plan.Ge, "f"))
			s.expect(p.ret(p.prop(a, "born"), p.prop(a, "seen"), p.prop(a, "big"), p.prop(a, "wide"), p.prop(a, "score"), p.prop(a, "ratio"), p.prop(a, "age")),
				"1970-01-01 | 1970-01-01T00:00:01.500Z | -7 | 18446744073709551615 | 3 | 2 | null\n1969-12-31 | 2024-05-01T12:30:00.000Z | null | null | null | null | null")
		},
		"escapes": func(s *session) {
			s.load(engine.Merge, `{"type":"City","data":{"id":"c\u0033","name":"\ud83d\ude00\n\"é"}}`)
			p := s.read()
			c := p.bind("c", "City")
			s.expect(p.match(where(p.prop(c, "name"), plan.Eq, "😀\n\"é")).ret(id(c)), "c3")
		},
		"id that equals the key": func(s *session) {
			s.load(engine.Merge, `{"type":"Person","data":{"id":"fay","name":"fay"}}`)
			s.expectPeople(crowdPeople + "\nfay | null | null")
		},
		"many lines": func(s *session) {
			s.load(engine.Merge, manyPeople(5000))
			p := s.read()
			a := p.bind("a", "Person")
			s.expect(p.ret(count(whole(a)), agg(plan.Max, p.prop(a, "age"))), "5005 | 4999")
		},
	})
	return append(cases, keySpellings()...)
}

// keySpellings returns cases that load nodes with keys that are not strings.
func keySpellings() []testCase {
	dated := func() *catalog.Schema {
		return schemaOf([]*catalog.Node{
			{Name: "Day", Key: []string{"day"}, Properties: []*catalog.Property{property("day", dateType), property("note", stringType.Optional())}},
			{Name: "Number", Key: []string{"id"}, Properties: []*catalog.Property{property("id", i64Type)}},
			{Name: "Mark", Key: []string{"at", "on"}, Properties: []*catalog.Property{property("on", boolType), property("at", dateTimeType)}},
		}, nil)
	}
	return []testCase{
		{name: "load/key in every spelling", schema: dated, run: func(s *session) {
			s.load(engine.Merge, `{"type":"Day","data":{"day":"2024-01-01","id":19723}}
{"type":"Day","data":{"day":19724,"id":"2024-01-02"}}
{"type":"Number","data":{"id":"42"}}
{"type":"Mark","data":{"on":true,"at":0,"id":"[\"1970-01-01T00:00:00.000Z\",\"true\"]"}}`)
			p := s.read()
			d := p.bind("d", "Day")
			s.expect(p.ret(id(d), p.prop(d, "day")), "2024-01-01 | 2024-01-01\n2024-01-02 | 2024-01-02")
			p = s.read()
			n := p.bind("n", "Number")
			s.expect(p.ret(id(n), p.prop(n, "id")), "42 | 42")
			p = s.read()
			m := p.bind("m", "Mark")
			s.expect(p.ret(id(m)), `["1970-01-01T00:00:00.000Z","true"]`)
		}},
		{name: "load/instants below the microsecond", schema: dated, run: func(s *session) {
			_, err := s.tryLoad(engine.Merge, `{"type":"Mark","data":{"on":true,"at":"2024-01-01T00:00:00.0000004Z"}}
{"type":"Mark","data":{"on":true,"at":"2024-01-01t00:00:00.1234560z"}}
{"type":"Mark","data":{"on":true,"at":"2024-01-01T00:00:00,5Z"}}
{"type":"Mark","data":{"on":false,"at":"2024-01-01T00:00:00.0000000001+01:00"}}`)
			s.expectLines(err, "1 data.at\n3 data.at\n4 data.at")
		}},
		{name: "load/the same key twice, in two spellings", schema: dated, run: func(s *session) {
			_, err := s.tryLoad(engine.Merge, `{"type":"Day","data":{"day":"2024-01-01"}}`+"\n"+`{"type":"Day","data":{"day":19723}}`)
			s.expectLineNumbers(err, 2)
		}},
	}
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
	field := func(field, line string) func(s *session) {
		return func(s *session) {
			_, err := s.tryLoad(engine.Merge, line)
			s.expectLines(err, "1 "+field)
		}
	}
	return writeCases("bad load", map[string]func(s *session){
		"no JSON":                          bad(`{"type":"City","data":{"name":"x"}`),
		"another value after the object":   bad(`{"type":"City","data":{"name":"x"}} 1`),
		"no object":                        bad(`["City"]`),
		"null":                             bad(`null`),
		"empty object":                     bad(`{}`),
		"no type":                          bad(`{"data":{"name":"x"}}`),
		"type and edge":                    bad(`{"type":"City","edge":"Knows","from":"ann","to":"bob","data":{"name":"x"}}`),
		"unknown node type":                bad(`{"type":"Town","data":{"name":"x"}}`),
		"node types are case-sensitive":    bad(`{"type":"city","data":{"name":"x"}}`),
		"unknown edge type":                bad(`{"edge":"Hates","from":"ann","to":"bob"}`),
		"unknown member":                   bad(`{"type":"City","date":{},"data":{"name":"x"}}`),
		"member twice":                     bad(`{"type":"City","data":{"name":"x","name":"y"}}`),
		"data is not an object":            bad(`{"type":"City","data":[]}`),
		"edge without from":                bad(`{"edge":"Knows","to":"bob"}`),
		"edge without to":                  bad(`{"edge":"Knows","from":"bob"}`),
		"edge from nowhere":                bad(`{"edge":"Knows","from":"zoe","to":"bob"}`),
		"edge to nowhere":                  bad(`{"edge":"LivesIn","from":"ann","to":"bob"}`),
		"invalid UTF-8":                    bad("{\"type\":\"City\",\"data\":{\"name\":\"\xff\"}}"),
		"key twice":                        keyTwice,
		"id that differs from the key":     field("data.id", `{"type":"Person","data":{"id":"guy","name":"fay"}}`),
		"unknown property":                 field("data.size", `{"type":"City","data":{"name":"x","size":1}}`),
		"property of another type":         field("data.since", `{"edge":"Follows","from":"ann","to":"eve","data":{"since":1}}`),
		"string for a number":              field("data.age", `{"type":"Person","data":{"name":"fay","age":"7"}}`),
		"number for a string":              field("data.name", `{"type":"City","data":{"name":7}}`),
		"fraction for an integer":          field("data.age", `{"type":"Person","data":{"name":"fay","age":7.5}}`),
		"past i32":                         field("data.age", `{"type":"Person","data":{"name":"fay","age":2147483648}}`),
		"past i64":                         field("data.big", `{"type":"Person","data":{"name":"fay","big":9223372036854775808}}`),
		"negative u32":                     field("data.small", `{"type":"Person","data":{"name":"fay","small":-1}}`),
		"past u64":                         field("data.wide", `{"type":"Person","data":{"name":"fay","wide":"18446744073709551616"}}`),
		"past f32":                         field("data.ratio", `{"type":"Person","data":{"name":"fay","ratio":1e39}}`),
		"past f64":                         field("data.score", `{"type":"Person","data":{"name":"fay","score":1e999}}`),
		"string for a bool":                field("data.active", `{"type":"Person","data":{"name":"fay","active":"true"}}`),
		"no date":                          field("data.born", `{"type":"Person","data":{"name":"fay","born":"2023-02-29"}}`),
		"date past the year 9999":          field("data.born", `{"type":"Person","data":{"name":"fay","born":99999999}}`),
		"no instant":                       field("data.seen", `{"type":"Person","data":{"name":"fay","seen":"2024-05-01"}}`),
		"no base64":                        field("data.photo", `{"type":"Person","data":{"name":"fay","photo":"*"}}`),
		"scalar for a list":                field("data.tags", `{"type":"Person","data":{"name":"fay","tags":"x"}}`),
		"null in a list":                   field("data.tags", `{"type":"Person","data":{"name":"fay","tags":["x",null]}}`),
		"list of another kind":             field("data.lucky", `{"type":"Person","data":{"name":"fay","lucky":["x"]}}`),
		"vector of another length":         field("data.place", `{"type":"City","data":{"name":"x","place":[1]}}`),
		"required null":                    field("data.name", `{"type":"City","data":{"id":"c9","name":null}}`),
		"required left out":                field("data.name", `{"type":"City","data":{"id":"c9"}}`),
		"key left out":                     field("data.name", `{"type":"Person","data":{"age":1}}`),
		"enum":                             field("data.mood", `{"type":"Person","data":{"name":"fay","mood":"Sad"}}`),
		"endpoint removed by an overwrite": overwrittenEndpoint,
		"every bad line is reported":       everyBadLine,
		"at most a hundred bad lines are reported": overHundred,
	})
}

// keyTwice checks that a load fails if two lines have the same key.
func keyTwice(s *session) {
	_, err := s.tryLoad(engine.Merge, `{"type":"Person","data":{"name":"fay"}}
{"type":"Person","data":{"name":"fay","age":1}}`)
	s.expectLineNumbers(err, 2)
	s.expectPeople(crowdPeople)
}

// overwrittenEndpoint checks that an overwrite fails if it removes the end of a new edge.
func overwrittenEndpoint(s *session) {
	_, err := s.tryLoad(engine.Overwrite, `{"edge":"LivesIn","from":"ann","to":"c2","data":{"id":"l9"}}
{"type":"City","data":{"id":"c1","name":"Oslo"}}`)
	s.expectLineNumbers(err, 1)
}

// everyBadLine checks that a failed load reports each bad line.
func everyBadLine(s *session) {
	_, err := s.tryLoad(engine.Merge, `{"type":"City"}
{"type":"City","data":{"id":"c3","name":"Bern"}}
{"type":"Town"}

{"type":"Person","data":{"name":"fay","age":"x"}}`)
	s.expectLineNumbers(err, 1, 3, 5)
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

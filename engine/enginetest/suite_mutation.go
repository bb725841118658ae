package enginetest

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// plus returns the sum of an I32 and an integer, as an I64.
func plus(e plan.Expr, n int) plan.Expr {
	return plan.Apply{Func: plan.Add, Args: []plan.Expr{e, plan.Lit{Value: value.OfI64(int64(n))}}, Type: i64Type.Optional()}
}

// expectRow checks the row that a mutation returns.
func (s *session) expectRow(got engine.Change, want ...value.Value) {
	s.Helper()
	if !slices.EqualFunc(got.Row, want, value.Equal) {
		s.Errorf("the mutation returns %v, expected %v", got.Row, want)
	}
}

// textValue returns a String.
func textValue(s string) value.Value { return value.OfString(s) }

// selectionCases returns the cases of predicates, of updates of edges and of old values.
func selectionCases() []testCase {
	return writeCases("selection", map[string]func(s *session){
		"two predicates": func(s *session) {
			m := s.change()
			m.alter(plan.Node, "Person", set{"mood": "calm"}, m.pred(plan.Node, "Person", "age", plan.Eq, 30), m.pred(plan.Node, "Person", "name", plan.Ne, "ann"))
			s.expectChange(m, 1, 0, true)
			s.expectPeople(strings.Replace(crowdPeople, "cid | 30 | null", "cid | 30 | calm", 1))
		},
		"in a list of ids": func(s *session) {
			m := s.change()
			ids := m.param("ids", listOf(stringType))
			m.alter(plan.Node, "Person", set{"age": 1}, m.pred(plan.Node, "Person", "id", plan.In, ids), m.pred(plan.Node, "Person", "age", plan.Gt, 25))
			s.expectChange(m, 2, 0, true, textList("ann", "bob", "eve", "ann", "nobody"))
			s.expectPeople("ann | 1 | glad\nbob | 25 | sad\ncid | 30 | null\ndan | null | null\neve | 1 | calm")
		},
		"edges by both ends": func(s *session) {
			m := s.change()
			m.alter(plan.Edge, "Knows", set{"since": 1}, m.pred(plan.Edge, "Knows", "from", plan.Eq, "ann"), m.pred(plan.Edge, "Knows", "to", plan.Eq, "bob"))
			m.alter(plan.Edge, "Knows", set{"how": "chess"}, m.pred(plan.Edge, "Knows", "id", plan.Eq, "k4"))
			s.expectChange(m, 0, 3, true)
			p := s.read()
			e := p.edge("e", "Knows")
			p.match(over(p.node("a", "Person"), e, "Knows", p.node("b", "Person"))).ret(id(e), p.prop(e, "since"), p.prop(e, "how")).orderBy(id(e))
			s.expect(p, "k1 | 1 | work\nk2 | 1 | null\nk3 | 2010 | null\nk4 | null | chess")
			s.expectEdges("Knows", "k1 | ann | bob\nk2 | ann | bob\nk3 | bob | cid\nk4 | cid | ann")
		},
		"delete by an end and a property": func(s *session) {
			m := s.change()
			m.add(plan.Delete{Entity: plan.Edge, Type: "Knows", Where: []plan.Pred{
				m.pred(plan.Edge, "Knows", "since", plan.Gt, 2010), m.pred(plan.Edge, "Knows", "from", plan.Eq, m.keyOf("Person", "ann")),
			}})
			s.expectChange(m, 0, 1, true)
			s.expectEdges("Knows", "k1 | ann | bob\nk3 | bob | cid\nk4 | cid | ann")
		},
		"old value": func(s *session) {
			m := s.change()
			m.alter(plan.Node, "Person", set{"age": plus(m.old(plan.Node, "Person", "age"), 1), "big": m.old(plan.Node, "Person", "age")}, m.pred(plan.Node, "Person", "name", plan.Ge, "bob"))
			s.expectChange(m, 4, 0, true)
			p := s.read()
			a := p.bind("a", "Person")
			s.expect(p.ret(id(a), p.prop(a, "age"), p.prop(a, "big")), "ann | 30 | 9007199254740993\nbob | 26 | 25\ncid | 31 | 30\ndan | null | null\neve | 42 | 41")
		},
		"old value out of range": func(s *session) {
			m := s.change()
			m.alter(plan.Node, "Person", set{"age": plus(m.old(plan.Node, "Person", "age"), 1<<40)}, m.pred(plan.Node, "Person", "name", plan.Eq, "ann"))
			_, err := s.tryMutate(m)
			s.expectViolation(err, "type", "age")
			s.expectPeople(crowdPeople)
		},
	})
}

// upsertCases returns the cases of upserts.
func upsertCases() []testCase {
	cases := writeCases("upsert", map[string]func(s *session){
		"existing node keeps other properties": func(s *session) {
			s.expectChange(s.change().upsert("Person", set{"name": "ann", "age": 31}), 1, 0, true)
			s.expectPeople(strings.Replace(crowdPeople, "ann | 30", "ann | 31", 1))
			s.expectEdges("LivesIn", "l1 | ann | c1\nl2 | bob | c1\nl3 | cid | c2")
		},
		"new node": func(s *session) {
			s.expectChange(s.change().upsert("Person", set{"name": "fay", "age": 7}), 1, 0, true)
			s.expectPeople(crowdPeople + "\nfay | 7 | null")
		},
		"null removes a value": func(s *session) {
			m := s.change()
			s.expectChange(m.upsert("Person", set{"name": "ann", "mood": m.param("mood", stringType.Optional())}), 1, 0, true, nil)
			s.expectPeople(strings.Replace(crowdPeople, "ann | 30 | glad", "ann | 30 | null", 1))
		},
		"counter": func(s *session) {
			for range 2 {
				m := s.change()
				old := plan.Apply{Func: plan.Coalesce, Args: []plan.Expr{m.old(plan.Node, "Person", "age"), plan.Lit{Value: value.OfI32(0)}}, Type: i32Type}
				s.expectChange(m.upsert("Person", set{"name": "fay", "age": plus(old, 5)}), 1, 0, true)
			}
			s.expectPeople(crowdPeople + "\nfay | 10 | null")
		},
	})
	return append(cases, testCase{name: "upsert/edge", schema: uniqueFollows, run: func(s *session) {
		s.load(engine.Merge, strings.ReplaceAll(crowd, `"id":"f1"`, `"id":"f1","weight":3`))
		weight := func(m *mutationPlan) plan.Expr {
			return plan.Apply{Func: plan.Coalesce, Args: []plan.Expr{m.old(plan.Edge, "Follows", "weight"), plan.Lit{Value: value.OfI32(10)}}, Type: i32Type}
		}
		for _, to := range []string{"bob", "dan"} {
			m := s.change()
			m.relink("Follows", "ann", m.keyOf("Person", to), set{"weight": plus(weight(m), 1)})
			s.expectChange(m, 0, 1, true)
		}
		p := s.read()
		e := p.edge("e", "Follows")
		a, b := p.bind("a", "Person"), p.node("b", "Person")
		p.match(over(a, e, "Follows", b), where(id(a), plan.Eq, "ann"))
		s.expect(p.ret(id(b), p.prop(e, "weight")), "bob | 4\ndan | 11")
	}})
}

// uniqueFollows is the schema of people, with at most one edge of the type Follows between two persons.
func uniqueFollows() *catalog.Schema {
	s := people()
	e := s.Edge("Follows")
	e.Unique, e.Properties = [][]string{{"src", "dst"}}, []*catalog.Property{property("weight", i32Type.Optional())}
	s.Index()
	return s
}

// namedCases returns the cases of inserts with names, and of the row that a mutation returns.
func namedCases() []testCase {
	return writeCases("named insert", map[string]func(s *session){
		"is an end of an edge": func(s *session) {
			m := s.change()
			city := m.insert("City", set{"name": "Bern"}).named("c")
			m.link("LivesIn", "dan", plan.ID{Var: city}, nil)
			s.expectChange(m, 1, 1, true)
			p := s.read()
			a, c := p.bind("a", "Person"), p.node("c", "City")
			s.expect(p.match(over(a, plan.NoVar, "LivesIn", c), where(p.prop(c, "name"), plan.Eq, "Bern")).ret(id(a)), "dan")
		},
		"returns values after the mutation": func(s *session) {
			m := s.change()
			n := m.param("n", stringType)
			fay := m.insert("Person", set{"name": "fay", "age": 7}).named("p")
			m.update("Person", set{"age": 8}, "name", plan.Eq, "fay")
			edge := m.link("Knows", plan.ID{Var: fay}, "ann", set{"id": "k9"}).named("k")
			m.returns(plan.ID{Var: fay}, m.prop(fay, "age"), m.prop(fay, "mood"), n, plan.ID{Var: edge}, plan.Endpoint{Var: edge, To: true})
			s.expectRow(s.mutate(m, "x"), textValue("fay"), value.OfI32(8), value.Null, textValue("x"), textValue("k9"), textValue("ann"))
		},
		"returns null for a deleted entity": func(s *session) {
			m := s.change()
			fay := m.insert("Person", set{"name": "fay", "age": 7}).named("p")
			m.remove("Person", "name", plan.Eq, "fay").insert("Person", set{"name": "gus"})
			s.expectRow(s.mutate(m.returns(plan.ID{Var: fay}, m.prop(fay, "age"))), value.Null, value.Null)
		},
		"upsert returns what it kept": func(s *session) {
			m := s.change()
			ann := m.upsert("Person", set{"name": "ann", "age": 1}).named("p")
			s.expectRow(s.mutate(m.returns(m.prop(ann, "age"), m.prop(ann, "mood"), m.prop(ann, "tags"))),
				value.OfI32(1), textValue("glad"), value.OfList(value.String, []value.Value{textValue("go"), textValue("tea")}))
		},
		"a replay returns the same row": func(s *session) {
			m := s.change()
			city := m.insert("City", set{"name": "Bern", "place": []float32{1, 2}}).named("c")
			m.returns(plan.ID{Var: city}, m.prop(city, "place"), plan.Lit{Value: value.Null}, plan.Lit{Value: value.OfF64(0.5)})
			var rows [2]engine.Change
			for i := range rows {
				var err error
				if rows[i], err = s.graph.Mutate(s.ctx, m.query(), nil, engine.WriteOptions{IdempotencyKey: "once", Actor: "ann"}); err != nil {
					s.Fatalf("call %d: %v", i, err)
				}
			}
			if len(rows[0].Row) != 4 || len(rows[0].Row[0].Str()) != ulidLength {
				s.Errorf("the first call returns %v", rows[0].Row)
			}
			s.expectRow(rows[1], rows[0].Row...)
		},
	})
}

// blockCases returns the cases of blocks that run for each match or element.
func blockCases() []testCase {
	return writeCases("block", map[string]func(s *session){
		"insert for each match": func(s *session) {
			p := s.read()
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			p.match(over(a, plan.NoVar, "Knows", b))
			m := s.change()
			m.forEach(p, func(row func(plan.Expr) plan.Expr) {
				m.link("Follows", row(id(b)), row(id(a)), set{"id": row(id(a))})
			})
			s.expectChange(m, 0, 3, true)
			s.expectEdges("Follows", "ann | bob | ann\nbob | cid | bob\ncid | ann | cid\nf1 | ann | bob\nf2 | bob | cid\nf3 | cid | ann\nf4 | dan | dan\nf5 | dan | eve\nf6 | cid | dan")
		},
		"order and limit": func(s *session) {
			p := s.read()
			a := p.bind("a", "Person")
			p.orderDesc(p.prop(a, "age")).limit(2)
			m := s.change()
			m.forEach(p, func(row func(plan.Expr) plan.Expr) {
				m.alter(plan.Node, "Person", set{"mood": "sad"}, m.pred(plan.Node, "Person", "id", plan.Eq, row(id(a))))
			})
			s.expectChange(m, 2, 0, true)
			s.expectPeople("ann | 30 | sad\nbob | 25 | sad\ncid | 30 | null\ndan | null | null\neve | 41 | sad")
		},
		"reads the state at its begin": func(s *session) {
			p := s.read()
			a := p.bind("a", "Person")
			p.match(where(p.prop(a, "age"), plan.Eq, 30))
			m := s.change()
			m.forEach(p, func(row func(plan.Expr) plan.Expr) {
				m.alter(plan.Node, "Person", set{"age": plus(m.old(plan.Node, "Person", "age"), 1)}, m.pred(plan.Node, "Person", "name", plan.Eq, row(p.prop(a, "name"))))
				m.alter(plan.Node, "Person", set{"big": m.old(plan.Node, "Person", "age"), "score": row(p.prop(a, "age"))}, m.pred(plan.Node, "Person", "age", plan.Eq, 30))
			})
			s.expectChange(m, 4, 0, true)
			q := s.read()
			a = q.bind("a", "Person")
			s.expect(q.match(where(q.prop(a, "age"), plan.Eq, 31)).ret(id(a), q.prop(a, "big"), q.prop(a, "score")), "ann | 30 | 30\ncid | 30 | 30")
		},
		"update acts once on each entity": func(s *session) {
			p := s.read()
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			p.match(over(a, plan.NoVar, "Follows", b))
			m := s.change()
			m.forEach(p, func(row func(plan.Expr) plan.Expr) {
				m.alter(plan.Node, "Person", set{"age": plus(m.old(plan.Node, "Person", "age"), 1)}, m.pred(plan.Node, "Person", "id", plan.Eq, row(id(a))))
			})
			s.expectChange(m, 4, 0, true) // cid and dan follow two persons each
			s.expectPeople("ann | 31 | glad\nbob | 26 | sad\ncid | 31 | null\ndan | null | null\neve | 41 | calm")
		},
		"delete acts once on each entity": func(s *session) {
			p := s.read()
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			p.match(over(a, plan.NoVar, "Follows", b), where(id(a), plan.Eq, "cid"))
			m := s.change()
			m.forEach(p, func(row func(plan.Expr) plan.Expr) { m.remove("Person", "id", plan.Eq, row(id(a))) })
			s.expectChange(m, 1, 6, true)
		},
		"two rows with different values": func(s *session) {
			p := s.read()
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			p.match(over(a, plan.NoVar, "Follows", b))
			m := s.change()
			m.forEach(p, func(row func(plan.Expr) plan.Expr) {
				m.alter(plan.Node, "Person", set{"about": row(id(b))}, m.pred(plan.Node, "Person", "id", plan.Eq, row(id(a))))
			})
			_, err := s.tryMutate(m)
			s.expectViolation(err, "conflict", "about")
			s.expectPeople(crowdPeople)
		},
		"elements of a list": func(s *session) {
			m := s.change()
			names := m.param("names", listOf(stringType).Optional())
			m.forElements(names, stringType, func(elem plan.Expr) {
				fay := m.insert("Person", set{"name": elem, "mood": "calm"}).named("p")
				m.link("Follows", plan.ID{Var: fay}, "ann", set{"id": elem})
			})
			s.expectChange(m, 2, 2, true, textList("fay", "gus"))
			s.expectPeople(crowdPeople + "\nfay | null | calm\ngus | null | calm")
			s.expectChange(m, 0, 0, false, nil)
		},
		"records of a list": func(s *session) {
			m := s.change()
			t := value.Type{List: true, Nullable: true, Fields: []value.Field{{Name: "name", Type: stringType}, {Name: "age", Type: value.Of(value.I32).Optional()}, {Name: "to", Type: stringType}}}
			m.forRecords(m.param("people", t), t.Fields, func(field func(int) plan.Expr) {
				p := m.insert("Person", set{"name": field(0), "age": field(1), "mood": "calm"}).named("p")
				m.link("Follows", plan.ID{Var: p}, field(2), set{"id": field(0)})
			})
			record := func(name, age, to value.Value) []value.Value { return []value.Value{name, age, to} }
			str := value.OfString
			s.expectChange(m, 2, 2, true, value.OfRecords([][]value.Value{record(str("fay"), value.OfI32(7), str("ann")), record(str("gus"), value.Null, str("bob"))}))
			s.expectPeople(crowdPeople + "\nfay | 7 | calm\ngus | null | calm")
			s.expectChange(m, 0, 0, false, value.Null)
			s.expectChange(m, 0, 0, false, value.OfRecords(nil))
			for _, bad := range []value.Value{
				str("fay"), textList("fay"), value.OfRecords([][]value.Value{{str("fay")}}),
				value.OfRecords([][]value.Value{record(value.Null, value.Null, str("ann"))}), value.OfRecords([][]value.Value{record(str("x"), str("y"), str("ann"))}),
			} {
				_, err := s.tryMutate(m, bad)
				expectError[*engine.BadArgument](s, err)
			}
		},
		"too many elements": func(s *session) {
			list := slices.Repeat([]string{"x"}, plan.MaxRows+1)
			m := s.change()
			m.forElements(m.param("names", listOf(stringType)), stringType, func(elem plan.Expr) { m.upsert("Person", set{"name": elem}) })
			_, err := s.tryMutate(m, textList(list...))
			expectError[*engine.TooLarge](s, err)
			s.expectChange(m, int64(plan.MaxRows), 0, true, textList(list[1:]...))
		},
		"after earlier statements": func(s *session) {
			p := s.read()
			a := p.bind("a", "Person")
			p.match(where(p.prop(a, "age"), plan.Gt, 50))
			m := s.change()
			m.insert("Person", set{"name": "fay", "age": 60}).update("Person", set{"age": 70}, "name", plan.Eq, "eve")
			m.forEach(p, func(row func(plan.Expr) plan.Expr) {
				m.link("Knows", row(id(a)), "ann", set{"id": row(id(a))})
			})
			m.unlink("Knows", "from", plan.Eq, "ann")
			s.expectChange(m, 2, 4, true)
			s.expectEdges("Knows", "eve | eve | ann\nfay | fay | ann\nk3 | bob | cid\nk4 | cid | ann")
		},
	})
}

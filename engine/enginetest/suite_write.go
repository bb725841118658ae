package enginetest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// writeCases returns cases that start with the crowd.
func writeCases(group string, runs map[string]func(s *session)) []testCase {
	var all []testCase
	for _, name := range sortedKeys(runs) {
		all = append(all, testCase{name: group + "/" + name, schema: people, run: func(s *session) {
			s.load(engine.Merge, crowd)
			runs[name](s)
		}})
	}
	return all
}

// expectPeople compares the names, ages and moods of all people with the text `want`.
func (s *session) expectPeople(want string) {
	s.Helper()
	p := s.read()
	a := p.bind("a", "Person")
	p.ret(id(a), p.prop(a, "age"), p.prop(a, "mood"))
	s.expect(p, want)
}

// expectEdges compares the edges of a type with the text `want`.
func (s *session) expectEdges(typ, want string) {
	s.Helper()
	edge := s.schema.Edge(typ)
	p := s.read()
	a, b, e := p.endVar("a", edge, false), p.endVar("b", edge, true), p.edge("e", edge.Name)
	p.match(over(a, e, edge.Name, b)).ret(id(e), p.from(e), p.to(e)).orderBy(id(e))
	s.expect(p, want)
}

// crowdPeople lists the persons in the crowd, for expectPeople.
const crowdPeople = `
	ann | 30 | glad
	bob | 25 | sad
	cid | 30 | null
	dan | null | null
	eve | 41 | calm`

// insertCases returns the cases of inserts.
func insertCases() []testCase {
	return writeCases("insert", map[string]func(s *session){
		"keyed": func(s *session) {
			s.expectChange(s.change().insert("Person", set{"name": "fay", "age": 7}), 1, 0, true)
			s.expectPeople(crowdPeople + "\nfay | 7 | null")
		},
		"keyed replaces the whole row": func(s *session) {
			s.expectChange(s.change().insert("Person", set{"name": "ann", "mood": "sad"}), 1, 0, true)
			s.expectPeople(strings.Replace(crowdPeople, "ann | 30 | glad", "ann | null | sad", 1))
			s.expectEdges("LivesIn", "l1 | ann | c1\nl2 | bob | c1\nl3 | cid | c2")
		},
		"keyed with the same row commits nothing": func(s *session) {
			before := s.head()
			s.expectChange(s.change().insert("Person", set{"name": "dan"}), 1, 0, false)
			if s.head().ID != before.ID {
				s.Errorf("the head moved")
			}
		},
		"new": func(s *session) {
			s.expectChange(s.change().insertNew("Person", set{"name": "fay", "age": 7}), 1, 0, true)
			s.expectPeople(crowdPeople + "\nfay | 7 | null")
		},
		"new with an existing key": func(s *session) {
			before := s.head()
			_, err := s.tryMutate(s.change().insert("City", set{"name": "Bern"}).insertNew("Person", set{"name": "ann", "mood": "sad"}))
			s.expectConflict(err, engine.KeyConflict{Entity: "node", Type: "Person", ID: "ann", Keyed: true})
			s.expectPeople(crowdPeople)
			if s.head().ID != before.ID {
				s.Errorf("the head moved")
			}
		},
		"new with the key of an earlier statement": func(s *session) {
			_, err := s.tryMutate(s.change().insert("Person", set{"name": "fay"}).insertNew("Person", set{"name": "fay"}))
			s.expectConflict(err, engine.KeyConflict{Entity: "node", Type: "Person", ID: "fay", Keyed: true})
		},
		"new after a delete": func(s *session) {
			s.expectChange(s.change().remove("Person", "name", plan.Eq, "dan").insertNew("Person", set{"name": "dan", "age": 1}), 2, 3, true)
		},
		"new with an existing id": func(s *session) {
			_, err := s.tryMutate(s.change().insertNew("City", set{"id": "c1", "name": "Bern"}))
			s.expectKeyConflict(err, "node", "City", "c1")
			_, err = s.tryMutate(s.change().link("LivesIn", "dan", "c2", set{"id": "l1"}).onlyNew())
			s.expectKeyConflict(err, "edge", "LivesIn", "l1")
		},
		"with parameters": func(s *session) {
			m := s.change()
			m.insert("Person", set{"name": m.param("name", stringType), "age": m.param("age", i32Type.Optional()), "mood": m.param("mood", stringType.Optional())})
			s.expectChange(m, 1, 0, true, "fay", nil, "calm")
			s.expectPeople(crowdPeople + "\nfay | null | calm")
		},
		"parameter of another numeric kind": func(s *session) {
			m := s.change()
			m.insert("Person", set{"name": "fay", "age": m.param("age", i64Type), "score": m.param("score", i32Type)})
			s.expectChange(m, 1, 0, true, value.OfI64(8), value.OfI32(3))
			p := s.read()
			a := p.bind("a", "Person")
			s.expect(p.match(where(id(a), plan.Eq, "fay")).ret(p.prop(a, "age"), p.prop(a, "score")), "8 | 3")
		},
		"parameter out of the property's range": func(s *session) {
			m := s.change()
			m.insert("Person", set{"name": "fay", "age": m.param("age", i64Type)})
			_, err := s.tryMutate(m, value.OfI64(1<<40))
			// The argument fits its parameter but not the property, so the error may blame either.
			var argument *engine.BadArgument
			if !errors.As(err, &argument) {
				s.expectViolation(err, "type", "age")
			}
			s.expectPeople(crowdPeople)
		},
		"every kind": func(s *session) {
			s.mutate(s.change().insert("Person", set{"name": "fay", "age": -1, "big": 5, "small": 6, "wide": 7, "ratio": 0.125, "score": 0.1,
				"active": false, "born": "2000-02-29", "seen": "1969-12-31T23:59:59.999Z", "mood": "calm", "tags": []any{"x", "", "x"},
				"lucky": []any{1, -2}, "about": "é \x00 \"q\"", "photo": value.OfBlob([]byte{0, 255})}))
			p := s.read()
			a := p.bind("a", "Person")
			s.expect(p.match(where(id(a), plan.Eq, "fay")).ret(whole(a)),
				"{fay, fay, -1, 5, 6, 7, 0.125, 0.1, false, 2000-02-29, 1969-12-31T23:59:59.999Z, calm, [x, , x], [1, -2], é \x00 \"q\"}")
		},
		"now": func(s *session) {
			s.mutate(s.change().insert("Person", set{"name": "fay", "seen": plan.Now{}}).insert("Person", set{"name": "gus", "seen": plan.Now{}}))
			p := s.read()
			a, b := p.bind("a", "Person"), p.bind("b", "Person")
			p.match(where(p.prop(a, "seen"), plan.Eq, p.prop(b, "seen")), where(id(a), plan.Eq, "fay"), where(id(b), plan.Ne, "fay"))
			s.expect(p.ret(id(b)), "gus")
		},
		"unkeyed gets an id of its own": func(s *session) {
			s.expectChange(s.change().insert("City", set{"name": "Bern"}), 1, 0, true)
			s.expectChange(s.change().insert("City", set{"name": "Bern"}), 1, 0, true)
			p := s.read()
			c := p.bind("c", "City")
			rows := s.rows(p.match(where(p.prop(c, "name"), plan.Eq, "Bern")).ret(id(c)).query())
			if len(rows) != 2 || rows[0] == rows[1] || len(rows[0]) != 26 {
				s.Errorf("ids %v; want two ULIDs", rows)
			}
		},
		"unkeyed with an id": func(s *session) {
			s.mutate(s.change().insert("City", set{"id": "c0", "name": "Bern"}))
			p := s.read()
			c := p.bind("c", "City")
			s.expect(p.ret(id(c), p.prop(c, "name")), "c0 | Bern\nc1 | Oslo\nc2 | Rome")
		},
		"unkeyed with an existing id": func(s *session) {
			_, err := s.tryMutate(s.change().insert("City", set{"id": "c1", "name": "Bern"}))
			s.expectKeyConflict(err, "node", "City", "c1")
		},
		"edge": func(s *session) {
			s.expectChange(s.change().link("LivesIn", "dan", "c2", set{"id": "l0", "since": 1}), 0, 1, true)
			s.expectEdges("LivesIn", "l0 | dan | c2\nl1 | ann | c1\nl2 | bob | c1\nl3 | cid | c2")
		},
		"parallel edge": func(s *session) {
			s.expectChange(s.change().link("LivesIn", "ann", "c1", nil), 0, 1, true)
			p := s.read()
			a, c, e := p.node("a", "Person"), p.node("c", "City"), p.edge("e", "LivesIn")
			s.expect(p.match(over(a, e, "LivesIn", c)).ret(id(a), count(id(e))), "ann | 2\nbob | 1\ncid | 1")
		},
		"edge with an existing id": func(s *session) {
			_, err := s.tryMutate(s.change().link("LivesIn", "dan", "c2", set{"id": "l1"}))
			s.expectKeyConflict(err, "edge", "LivesIn", "l1")
		},
		"edge from nowhere": func(s *session) {
			_, err := s.tryMutate(s.change().link("LivesIn", "zoe", "c2", nil))
			s.expectViolation(err, "endpoint", "")
			s.expectEdges("LivesIn", "l1 | ann | c1\nl2 | bob | c1\nl3 | cid | c2")
		},
		"edge to nowhere": func(s *session) {
			_, err := s.tryMutate(s.change().link("LivesIn", "ann", "ann", nil))
			s.expectViolation(err, "endpoint", "")
		},
		"self-loop": func(s *session) {
			s.expectChange(s.change().link("Follows", "eve", "eve", set{"id": "f0"}), 0, 1, true)
			p := s.read()
			a := p.node("a", "Person")
			s.expect(p.match(hop(a, "Follows", a)).ret(id(a)), "dan\neve")
		},
		"later statements see earlier ones": func(s *session) {
			s.expectChange(s.change().insert("Person", set{"name": "fay"}).insert("City", set{"id": "c0", "name": "Bern"}).
				link("LivesIn", "fay", "c0", set{"id": "l0"}).update("Person", set{"age": 9}, "name", plan.Eq, "fay"), 3, 1, true)
			s.expectPeople(crowdPeople + "\nfay | 9 | null")
			s.expectEdges("LivesIn", "l0 | fay | c0\nl1 | ann | c1\nl2 | bob | c1\nl3 | cid | c2")
		},
		"one commit for all statements": func(s *session) {
			before := s.head()
			change := s.mutate(s.change().insert("Person", set{"name": "fay"}).insert("Person", set{"name": "gus"}))
			if change.Commit == nil || change.Commit.Seq != before.Seq+1 || change.Head.ID != change.Commit.ID {
				s.Errorf("commit %+v after %+v", change.Commit, before)
			}
		},
		"a faulty statement undoes the earlier ones": func(s *session) {
			before := s.head()
			_, err := s.tryMutate(s.change().insert("Person", set{"name": "fay"}).link("LivesIn", "fay", "c9", nil))
			s.expectViolation(err, "endpoint", "")
			s.expectPeople(crowdPeople)
			if s.head().ID != before.ID {
				s.Errorf("the head moved")
			}
		},
	})
}

// updateCases returns the cases of updates.
func updateCases() []testCase {
	return writeCases("update", map[string]func(s *session){
		"every match, and the other properties stay": func(s *session) {
			s.expectChange(s.change().update("Person", set{"mood": "calm"}, "age", plan.Eq, 30), 2, 0, true)
			s.expectPeople("ann | 30 | calm\nbob | 25 | sad\ncid | 30 | calm\ndan | null | null\neve | 41 | calm")
		},
		"by key": func(s *session) {
			s.expectChange(s.change().update("Person", set{"age": 31}, "name", plan.Eq, "ann"), 1, 0, true)
			p := s.read()
			a := p.bind("a", "Person")
			s.expect(p.match(where(id(a), plan.Eq, "ann")).ret(p.prop(a, "age"), p.prop(a, "tags"), p.prop(a, "big")), "31 | [go, tea] | 9007199254740993")
		},
		"by id": func(s *session) {
			s.expectChange(s.change().update("City", set{"name": "Bern"}, "id", plan.Eq, "c1"), 1, 0, true)
			p := s.read()
			c := p.bind("c", "City")
			s.expect(p.ret(p.prop(c, "name")), "Bern\nRome")
		},
		"no match commits nothing": func(s *session) {
			s.expectChange(s.change().update("Person", set{"age": 1}, "name", plan.Eq, "zoe"), 0, 0, false)
		},
		"null never matches": func(s *session) {
			m := s.change()
			m.update("Person", set{"mood": "sad"}, "age", plan.Eq, m.param("age", i32Type.Optional()))
			s.expectChange(m, 0, 0, false, nil)
			s.expectChange(s.change().update("Person", set{"about": "x"}, "age", plan.Ne, 30), 2, 0, true)
		},
		"an unchanged value is counted, but commits nothing": func(s *session) {
			s.expectChange(s.change().update("Person", set{"age": 30}, "age", plan.Eq, 30), 2, 0, false)
		},
		"to null": func(s *session) {
			m := s.change()
			m.update("Person", set{"age": m.param("age", i32Type.Optional())}, "name", plan.Eq, "ann")
			s.expectChange(m, 1, 0, true, nil)
			s.expectPeople(strings.Replace(crowdPeople, "ann | 30", "ann | null", 1))
		},
		"required to null": func(s *session) {
			m := s.change()
			m.update("City", set{"name": m.param("name", stringType.Optional())}, "id", plan.Eq, "c1")
			_, err := s.tryMutate(m, nil)
			s.expectViolation(err, "required", "name")
		},
		"keeps the edges": func(s *session) {
			s.mutate(s.change().update("Person", set{"age": 1}, "name", plan.Ge, ""))
			s.expectEdges("Knows", "k1 | ann | bob\nk2 | ann | bob\nk3 | bob | cid\nk4 | cid | ann")
		},
		"twice": func(s *session) {
			s.mutate(s.change().update("Person", set{"age": 50}, "age", plan.Eq, 30).update("Person", set{"mood": "sad"}, "age", plan.Eq, 50))
			s.expectPeople("ann | 50 | sad\nbob | 25 | sad\ncid | 50 | sad\ndan | null | null\neve | 41 | calm")
		},
		"a change and its reversal commit nothing": func(s *session) {
			before := s.head()
			change := s.mutate(s.change().update("Person", set{"age": 31}, "name", plan.Eq, "ann").update("Person", set{"age": 30}, "name", plan.Eq, "ann"))
			if change.Commit != nil || s.head().ID != before.ID {
				s.Errorf("a mutation that changed nothing committed %+v", change.Commit)
			}
		},
		"ordered comparison": func(s *session) {
			s.expectChange(s.change().update("Person", set{"mood": "calm"}, "born", plan.Le, "1994-02-28"), 1, 0, true)
		},
	})
}

// deleteCases returns the cases of deletions.
func deleteCases() []testCase {
	return writeCases("delete", map[string]func(s *session){
		"node and its edges": func(s *session) {
			s.expectChange(s.change().remove("Person", "name", plan.Eq, "ann"), 1, 6, true)
			s.expectPeople("bob | 25 | sad\ncid | 30 | null\ndan | null | null\neve | 41 | calm")
			s.expectEdges("Knows", "k3 | bob | cid")
			s.expectEdges("Follows", "f2 | bob | cid\nf4 | dan | dan\nf5 | dan | eve\nf6 | cid | dan")
			s.expectEdges("LivesIn", "l2 | bob | c1\nl3 | cid | c2")
		},
		"node with a self-loop": func(s *session) {
			s.expectChange(s.change().remove("Person", "name", plan.Eq, "dan"), 1, 3, true)
			s.expectEdges("Follows", "f1 | ann | bob\nf2 | bob | cid\nf3 | cid | ann")
		},
		"target node of another type": func(s *session) {
			s.expectChange(s.change().remove("City", "name", plan.Eq, "Oslo"), 1, 2, true)
			s.expectEdges("LivesIn", "l3 | cid | c2")
		},
		"every match": func(s *session) {
			s.expectChange(s.change().remove("Person", "age", plan.Eq, 30), 2, 10, true)
			s.expectPeople("bob | 25 | sad\ndan | null | null\neve | 41 | calm")
		},
		"all": func(s *session) {
			s.expectChange(s.change().remove("Person", "name", plan.Ge, ""), 5, 13, true)
			s.expectPeople("")
			p := s.read()
			c := p.bind("c", "City")
			s.expect(p.ret(id(c)), "c1\nc2")
		},
		"no match commits nothing": func(s *session) {
			s.expectChange(s.change().remove("Person", "name", plan.Eq, "zoe"), 0, 0, false)
		},
		"deleting and inserting the same entity commits nothing": func(s *session) {
			again := func(from string, since int) *mutationPlan {
				return s.change().unlink("Knows", "id", plan.Eq, "k2").link("Knows", from, "bob", set{"id": "k2", "since": since})
			}
			s.expectChange(again("ann", 2015), 0, 2, false)
			s.expectChange(again("ann", 2016), 0, 2, true)
			s.expectChange(again("cid", 2016), 0, 2, true)
			s.mutate(s.change().insert("Person", set{"name": "fay"}))
			s.expectChange(s.change().remove("Person", "name", plan.Eq, "fay").insert("Person", set{"name": "fay"}), 2, 0, false)
		},
		"edges by endpoint": func(s *session) {
			s.expectChange(s.change().unlink("Knows", "from", plan.Eq, "ann"), 0, 2, true)
			s.expectEdges("Knows", "k3 | bob | cid\nk4 | cid | ann")
			s.expectChange(s.change().unlink("Knows", "to", plan.Eq, "ann"), 0, 1, true)
			s.expectEdges("Knows", "k3 | bob | cid")
		},
		"edge by id": func(s *session) {
			s.expectChange(s.change().unlink("Knows", "id", plan.Eq, "k2"), 0, 1, true)
			s.expectEdges("Knows", "k1 | ann | bob\nk3 | bob | cid\nk4 | cid | ann")
			p := s.read()
			a, b := p.node("a", "Person"), p.node("b", "Person")
			s.expect(p.match(hop(a, "Knows", b)).ret(id(a), id(b)), "ann | bob\nbob | cid\ncid | ann")
		},
		"edges by property": func(s *session) {
			s.expectChange(s.change().unlink("Knows", "since", plan.Le, 2010), 0, 2, true)
			s.expectEdges("Knows", "k2 | ann | bob\nk4 | cid | ann")
		},
		"edges, then their node": func(s *session) {
			s.expectChange(s.change().unlink("Knows", "from", plan.Eq, "ann").remove("Person", "name", plan.Eq, "ann"), 1, 6, true)
		},
		"deleted and inserted again, without its edges": func(s *session) {
			s.mutate(s.change().remove("Person", "name", plan.Eq, "ann"))
			s.mutate(s.change().insert("Person", set{"name": "ann"}))
			s.expectPeople(strings.Replace(crowdPeople, "ann | 30 | glad", "ann | null | null", 1))
			s.expectEdges("LivesIn", "l2 | bob | c1\nl3 | cid | c2")
			p := s.read()
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			s.expect(p.match(hop(a, "Knows", b), where(id(a), plan.Eq, "ann")).ret(id(b)), "")
		},
	})
}

// expectViolation checks that err is a violation of a rule. Unless `property` is empty, the error
// must also be about that property.
func (s *session) expectViolation(err error, rule, property string) {
	s.Helper()
	var v *engine.ConstraintViolation
	if !errors.As(err, &v) {
		s.Errorf("error %v (%T); want a violation of %s", err, err, rule)
		return
	}
	if v.Rule != rule || property != "" && v.Property != property {
		s.Errorf("violation of rule %q, property %q; want %q, %q", v.Rule, v.Property, rule, property)
	}
}

// expectKeyConflict checks that err is a *engine.KeyConflict with these fields.
func (s *session) expectKeyConflict(err error, entity, typ, id string) {
	s.Helper()
	s.expectConflict(err, engine.KeyConflict{Entity: entity, Type: typ, ID: id})
}

// expectConflict checks that err is the key conflict `want`.
func (s *session) expectConflict(err error, want engine.KeyConflict) {
	s.Helper()
	var k *engine.KeyConflict
	if !errors.As(err, &k) {
		s.Errorf("error %v (%T); want a key conflict", err, err)
		return
	}
	if k.Entity != want.Entity || k.Type != want.Type || k.ID != want.ID || k.Keyed != want.Keyed {
		s.Errorf("conflict %+v; want %+v", *k, want)
	}
}

// manyPeople returns n lines of people, starting with p0000.
func manyPeople(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"type":"Person","data":{"name":"p%04d","age":%d}}`+"\n", i, i)
	}
	return b.String()
}

package enginetest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// sameWordCase searches for other spellings of the words of four texts, in a table that is searched without an
// index, and in one that is large enough to be indexed.
func sameWordCase() testCase {
	schema := func() *catalog.Schema {
		return schemaOf([]*catalog.Node{{Name: "Doc", Key: []string{"id"}, Properties: []*catalog.Property{
			property("id", stringType), property("t", stringType),
		}}}, nil)
	}
	return testCase{name: "text/spellings of a word", schema: schema, run: func(s *session) {
		s.load(engine.Merge, `{"type":"Doc","data":{"id":"1","t":"Mr O\u2019Brien and the documentation"}}
{"type":"Doc","data":{"id":"2","t":"caf\u00e9 on a Stra\u00dfe"}}
{"type":"Doc","data":{"id":"3","t":"cafe\u0301 of \u1f48\u03b4\u03c5\u03c3\u03c3\u03b5\u03cd\u03c2"}}
{"type":"Doc","data":{"id":"4","t":"\uff21\uff22\uff23 \u0439 earthlings"}}`)
		for range 2 {
			for _, c := range []struct {
				kind        plan.TextKind
				words, want string
			}{
				{plan.Search, "O'Brien", "1"}, {plan.Search, "O\u2019BRIEN\u2019s", "1"}, {plan.Phrase, "mr o\u02bcbrien", "1"},
				{plan.Search, "cafe", "2\n3"}, {plan.Search, "CAF\u00c9", "2\n3"}, {plan.Search, "cafe\u0301", "2\n3"}, {plan.Search, "c\u00e2fe", "2\n3"},
				{plan.Search, "abc", "4"}, {plan.Search, "\uff41bc", "4"}, {plan.Search, "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3", "3"},
				{plan.Search, "\u0438", ""}, {plan.Search, "\u0438\u0306", "4"}, {plan.Search, "strasse", ""},
				{plan.Fuzzy, "documentaton", "1"}, {plan.Fuzzy, "documentatoin", "1"}, {plan.Fuzzy, "documentation", "1"}, {plan.Fuzzy, "dokumentation", "1"},
				{plan.Fuzzy, "earthlingss", "4"}, {plan.Fuzzy, "earthlngs", "4"}, {plan.Fuzzy, "documentatxyz", ""},
			} {
				p := s.read()
				d := p.bind("d", "Doc")
				s.expect(p.match(plan.Filter{Cond: text(c.kind, p.prop(d, "t"), c.words)}).ret(id(d)), c.want)
			}
			var more strings.Builder
			for i := range 200 {
				fmt.Fprintf(&more, "{\"type\":\"Doc\",\"data\":{\"id\":\"m%d\",\"t\":\"zz%d\"}}\n", i, i)
			}
			s.load(engine.Merge, more.String())
		}
	}}
}

// textCases returns the cases of text matches.
func textCases() []testCase {
	return []testCase{sameWordCase()}
}

// textList returns a list of texts.
func textList(list ...string) value.Value {
	elems := make([]value.Value, len(list))
	for i, s := range list {
		elems[i] = value.OfString(s)
	}
	return value.OfList(value.String, elems)
}

// conditionCases returns the cases of conditions in a match.
func conditionCases() []testCase {
	return []testCase{{name: "condition/bad pattern in a parameter", schema: people, run: func(s *session) {
		s.load(engine.Merge, crowd)
		p := s.read()
		a := p.bind("a", "Person")
		q := p.match(where(p.prop(a, "name"), plan.Matches, p.param("x", stringType))).ret(id(a)).query()
		for _, bad := range []string{"a(b", "x{1001}", "[", strings.Repeat("a", 2000)} {
			var e *engine.BadArgument
			if _, err := query(s.ctx, s.graph, q, engine.Args{value.OfString(bad)}); !errors.As(err, &e) || e.Param != "x" {
				s.Errorf("the pattern %.20q gives %v, want a bad argument x", bad, err)
			}
		}
	}}, {name: "condition/bad patterns in two parameters", schema: people, run: func(s *session) {
		p := s.read()
		a := p.bind("a", "Person")
		x, y := p.param("x", stringType), p.param("y", stringType)
		q := p.match(where(p.prop(a, "name"), plan.Matches, y), where(p.prop(a, "name"), plan.Matches, x)).ret(id(a)).query()
		var e *engine.BadArgument
		if _, err := query(s.ctx, s.graph, q, engine.Args{value.OfString("("), value.OfString("[")}); !errors.As(err, &e) || e.Param != "x" {
			s.Errorf("the error is %v, want a bad argument x", err)
		}
	}}}
}

// holds returns an expression that is true where the block holds. The block uses the variables
// `outer`, which the clauses around it bind.
func holds(block plan.Clause, outer ...plan.VarID) plan.Holds {
	return plan.Holds{Block: block, Outer: outer}
}

// truthCases returns the cases of conditions that are values.
func truthCases() []testCase {
	// of returns a test case that reads the name of each person and some expressions.
	of := func(name, want string, exprs func(p *readPlan, a plan.VarID) []plan.Expr, args ...any) readCase {
		return readCase{name: name, want: want, args: args, build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.ret(append([]plan.Expr{id(a)}, exprs(p, a)...)...)
		}}
	}
	one := func(e plan.Expr) []plan.Expr { return []plan.Expr{e} }
	compare := func(op plan.Op, left, right plan.Expr) plan.Test {
		return plan.Test{Cond: plan.Compare{Op: op, Left: left, Right: right, Unless: plan.NoParam}}
	}
	cases := readCases("truth", []readCase{
		of("a block within a block", "ann | true\nbob | true\ncid | false\ndan | false\neve | false", func(p *readPlan, a plan.VarID) []plan.Expr {
			b, c := p.node("b", "Person"), p.node("c", "Person")
			home := holds(exists(hop(b, "Knows", c), where(id(c), plan.Ne, id(a)), where(id(c), plan.Ne, "bob")), a, b)
			return one(holds(exists(hop(a, "Knows", b), plan.Filter{Cond: compare(plan.Eq, home, holds(exists(hop(a, "LivesIn", p.node("d", "City"))), a)).Cond}), a))
		}),
		{name: "in a filter and an order", want: "cid\nann\nbob", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			home := holds(exists(hop(a, "LivesIn", p.node("c", "City"))), a)
			p.match(where(home, plan.Eq, true)).ret(id(a))
			c := p.node("d", "City")
			p.sort(plan.Order{Expr: holds(exists(hop(a, "LivesIn", c), where(p.prop(c, "name"), plan.Eq, "Rome")), a), Desc: true})
		}},
	})
	return cases
}

// walkCases returns the cases of traversals with a variable number of hops.
func walkCases() []testCase {
	// reach walks Follows from one node, with bounds. The edges are ann → bob → cid → ann, cid →
	// dan, dan → dan, dan → eve.
	reach := func(name, start string, low, high int, want string) readCase {
		return readCase{name: name, want: want, build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			p.match(walk(a, "Follows", low, high, b), where(id(a), plan.Eq, start)).ret(id(b))
		}}
	}
	return readCases("walk", []readCase{
		reach("all", "ann", 1, 100, "bob\ncid\ndan\neve"),
		reach("all, from zero steps on", "ann", 0, 100, "ann\nbob\ncid\ndan\neve"),
		{name: "endpoints of different types end the walk after a step", want: "c1", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "City")
			p.match(walk(a, "LivesIn", 1, 3, b), where(id(a), plan.Eq, "ann")).ret(id(b))
		}},
		{name: "endpoints of different types: a walk does not report its start", want: "c1", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "City")
			p.match(walk(a, "LivesIn", 0, 3, b), where(id(a), plan.Eq, "ann")).ret(id(b))
		}},
	})
}

// boundWalkCases returns the case of a walk that is written from its target.
func boundWalkCases() []testCase {
	return readCases("bound walk", []readCase{
		{name: "from the target to the source", want: "2 | [cid, bob, ann]", build: func(p *readPlan) {
			a, b, w := p.bind("a", "Person"), p.bind("b", "Person"), p.walkVar("w")
			t, _, _, _ := along(walk(a, "Follows", 1, 9, b), w)
			p.match(t, where(id(a), plan.Eq, "ann"), where(id(b), plan.Eq, "cid")).
				ret(plan.WalkPart{Var: w, Fact: plan.WalkHops, From: b, To: a}, plan.WalkPart{Var: w, Fact: plan.WalkNodes, From: b, To: a})
		}},
	})
}

// alternativeCases returns the cases of traversals that follow one of several edge types.
func alternativeCases() []testCase {
	return readCases("alternatives", []readCase{
		{name: "a walk over nodes of several types goes on only where an edge starts", want: "bob\ncid", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			p.match(or(walk(a, "LivesIn", 1, 2, b), "Follows"), where(id(a), plan.Eq, "ann")).ret(id(b))
		}},
	})
}

// library returns a schema with texts and vectors.
func library() *catalog.Schema { return compileSchema("library") }

// shelf has ties, a null text, a null vector, a vector of length 0, and a text that consists of
// stop words only.
var shelf = textFile("library.ndjson")

// bm25 returns the BM25 score of property p for some words.
func bm25(p plan.Prop, words string) plan.BM25 {
	return plan.BM25{Prop: p, Query: plan.Lit{Value: value.OfString(words)}}
}

// nearest returns the cosine distance of property p to the vector v.
func nearest(p plan.Prop, v ...float32) plan.Nearest {
	return plan.Nearest{Prop: p, Vector: plan.Lit{Value: value.OfVector(v)}}
}

// The scores can be checked by hand. There are 6 texts with 12 tokens. "red" occurs in 3 texts,
// "fox" in 3, "box" in 2 and "blue" in 1.
func rankCases() []testCase {
	type rankCase struct {
		name  string
		build func(p *readPlan, b plan.VarID)
		args  []any
		want  string
	}
	cases := []rankCase{
		{name: "rrf of groups, with an optional variable", want: "0.25 | 1 | 1\n0.3333333333333333 | 2 | 1\n0.45 | 1 | 1\n0.5 | 2 | 1",
			build: func(p *readPlan, b plan.VarID) {
				c := p.node("c", "Book")
				p.match(p.maybe(plan.Bind{Var: c}, where(p.prop(c, "slug"), plan.Eq, p.prop(b, "slug")), where(p.prop(c, "year"), plan.Gt, 2)))
				score := plan.RRF{First: bm25(p.prop(b, "text"), "red"), Second: nearest(p.prop(c, "place"), 1, 0), K: plan.Lit{Value: value.OfI64(1)}}
				p.ret(score, count(whole(b)), count(whole(c)))
			}},
	}
	var all []testCase
	for _, c := range cases {
		all = append(all, testCase{name: "rank/" + c.name, schema: library, run: func(s *session) {
			s.load(engine.Merge, shelf)
			p := s.read()
			c.build(p, p.bind("b", "Book"))
			s.expect(p, c.want, c.args...)
		}})
	}
	return all
}

// distinctCases returns the cases of `distinct` and of collect.
func distinctCases() []testCase {
	return []testCase{{name: "collect/too many values", schema: people, large: true, run: func(s *session) {
		s.load(engine.Merge, cities(plan.MaxCollected))
		p := s.read()
		c := p.bind("c", "City")
		q := p.ret(agg(plan.Collect, p.prop(c, "name")), distinct(agg(plan.Collect, id(c)))).query()
		if rows, err := query(s.ctx, s.graph, q, nil); err != nil || len(rows) != 1 || len(rows[0][0].value.Elems()) != plan.MaxCollected {
			s.Errorf("%d values give %d rows, %v", plan.MaxCollected, len(rows), err)
		}
		p = s.read()
		p.bind("c", "City")
		if rows, err := query(s.ctx, s.graph, p.ret(agg(plan.Collect, whole(c))).query(), nil); err != nil || len(rows) != 1 || len(rows[0][0].list) != plan.MaxCollected {
			s.Errorf("%d nodes give %d rows, %v", plan.MaxCollected, len(rows), err)
		}
		s.load(engine.Merge, `{"type":"City","data":{"id":"one-more","name":"x"}}`)
		expectTooLarge := func(e plan.Expr) {
			p := s.read()
			p.bind("c", "City")
			_, err := query(s.ctx, s.graph, p.ret(e).query(), nil)
			var large *engine.TooLarge
			if !errors.As(err, &large) || large.Limit != plan.MaxCollected {
				s.Errorf("%d values: error %v, want a *engine.TooLarge", plan.MaxCollected+1, err)
			}
		}
		expectTooLarge(agg(plan.Collect, p.prop(c, "name")))
		expectTooLarge(distinct(agg(plan.Collect, id(c))))
		expectTooLarge(agg(plan.Collect, whole(c)))
		expectTooLarge(sizeOf(agg(plan.Collect, whole(c))))
	}}}
}

// sizeOf returns the number of elements of a list.
func sizeOf(list plan.Expr) plan.Apply {
	return plan.Apply{Func: plan.Size, Args: []plan.Expr{list}, Type: i32Type}
}

// cities returns NDJSON of n cities with the same name.
func cities(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"type":"City","data":{"id":"city%05d","name":"x"}}`+"\n", i)
	}
	return b.String()
}

// havingCases returns the cases of conditions on the rows of the result.
func havingCases() []testCase {
	number := func(n int64) plan.Lit { return plan.Lit{Value: value.OfI64(n)} }
	// followers returns each person with the number of persons that follow the person.
	followers := func(p *readPlan) (who plan.Prop, n plan.Agg) {
		a, b := p.bind("a", "Person"), p.node("b", "Person")
		p.match(p.maybe(hop(b, "Follows", a)))
		who, n = p.prop(a, "name"), count(whole(b))
		p.ret(who, n)
		return who, n
	}
	cases := readCases("having", []readCase{
		{name: "a whole node that may be null", want: "{null, null, null} | 2", build: func(p *readPlan) {
			a, c := p.bind("a", "Person"), p.node("c", "City")
			p.match(p.maybe(hop(a, "LivesIn", c))).ret(whole(c), count(whole(a))).having(isNull(id(c)))
		}},
		{name: "a relevance", want: "ann", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			score := plan.BM25{Prop: p.prop(a, "about"), Query: expression("graph writes", p.prop(a, "about"))}
			p.ret(p.prop(a, "name")).orderDesc(score).limit(5)
			p.column("score", score)
			p.having(where(score, plan.Gt, plan.Lit{Value: value.OfF64(1)}))
			p.q.Read.Columns = p.q.Read.Columns[:1]
		}},
	})
	return append(cases, testCase{name: "having/cut rows", schema: people, run: func(s *session) {
		s.load(engine.Merge, crowd)
		p := s.read()
		_, n := followers(p)
		q := p.having(where(n, plan.Eq, number(1))).limit(4).query()
		if rows, more, err := queryMore(s.ctx, s.graph, q, nil, engine.Target{}); err != nil || len(rows) != 4 || more {
			s.Errorf("%d rows, more %t, %v; want 4 rows and no more", len(rows), more, err)
		}
		q.Read.Limit = 3
		if rows, more, err := queryMore(s.ctx, s.graph, q, nil, engine.Target{}); err != nil || len(rows) != 3 || !more {
			s.Errorf("%d rows, more %t, %v; want 3 rows and more", len(rows), more, err)
		}
	}})
}

// columnCases returns the cases of result columns.
func columnCases() []testCase {
	return []testCase{{name: "column/now is one instant", schema: people, run: func(s *session) {
		s.load(engine.Merge, crowd)
		p := s.read()
		p.bind("a", "Person")
		p.bind("b", "Person")
		p.ret(plan.Now{}, plan.Now{})
		rows := s.rows(p.query())
		if len(rows) != 25 {
			s.Fatalf("%d rows, not 25", len(rows))
		}
		first := rows[0][:len(rows[0])/2-1]
		for _, r := range rows {
			if r != first+" | "+first {
				s.Errorf("row %s beside %s", r, rows[0])
			}
		}
	}}, {name: "column/many rows in order", schema: people, run: func(s *session) {
		s.load(engine.Merge, manyPeople(3000))
		p := s.read()
		a := p.bind("a", "Person")
		p.ret(p.prop(a, "age"), id(a)).orderDesc(p.prop(a, "age"))
		rows := s.rows(p.query())
		if len(rows) != 3000 || rows[0] != "2999 | p2999" || rows[2999] != "0 | p0000" {
			s.Errorf("%d rows from %s to %s", len(rows), rows[0], rows[len(rows)-1])
		}
	}}}
}

// expectBadArgument runs a read. The read must fail with a *engine.BadArgument for the parameter
// `name`.
func (s *session) expectBadArgument(p *readPlan, name string, args ...any) {
	s.Helper()
	_, err := query(s.ctx, s.graph, p.query(), arguments(args))
	var bad *engine.BadArgument
	if !errors.As(err, &bad) || bad.Param != name {
		s.Errorf("found the error %v, expected one about the parameter %s", err, name)
	}
}

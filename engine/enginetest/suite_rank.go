package enginetest

import (
	"errors"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// library returns a schema with texts and vectors.
func library() *catalog.Schema {
	return schemaOf([]*catalog.Node{{Name: "Book", Key: []string{"slug"}, Properties: []*catalog.Property{
		property("slug", stringType),
		property("text", stringType.Optional()),
		property("place", vectorOf(2).Optional()),
		property("year", i32Type.Optional()),
	}}}, []*catalog.Edge{{Name: "Cites", From: "Book", To: "Book", Properties: []*catalog.Property{property("why", stringType.Optional())}}})
}

// shelf has ties, a null text, a null vector, a vector of length 0, and a text that consists of
// stop words only.
const shelf = `
{"type":"Book","data":{"slug":"a","text":"the red fox","place":[1,0],"year":1}}
{"type":"Book","data":{"slug":"b","text":"red foxes and a red box","place":[0,2],"year":2}}
{"type":"Book","data":{"slug":"c","text":"blue box","place":[3,4],"year":3}}
{"type":"Book","data":{"slug":"d","text":"the red fox","place":[-1,0],"year":4}}
{"type":"Book","data":{"slug":"e","text":"of the","place":[0,0],"year":5}}
{"type":"Book","data":{"slug":"f","place":[2,0],"year":6}}
{"type":"Book","data":{"slug":"g","text":"green grass","year":7}}
{"edge":"Cites","from":"a","to":"b","data":{"id":"x1","why":"red box"}}
{"edge":"Cites","from":"a","to":"c","data":{"id":"x2"}}
{"edge":"Cites","from":"c","to":"g","data":{"id":"x3","why":"grass"}}
`

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
		{name: "bm25 as a column, 0 without a match or a text", want: "a | 0.6931471805599453\nb | 0.7438652669423804\nc | 0\nd | 0.6931471805599453\ne | 0\nf | 0\ng | 0",
			build: func(p *readPlan, b plan.VarID) { p.ret(id(b), bm25(p.prop(b, "text"), "red")) }},
		{name: "bm25 in order, best first, ties by id, rows without a token dropped", want: "b\na\nd",
			build: func(p *readPlan, b plan.VarID) { p.ret(id(b)).orderDesc(bm25(p.prop(b, "text"), "reds")) }},
		{name: "bm25 worst first", want: "a\nd",
			build: func(p *readPlan, b plan.VarID) { p.ret(id(b)).orderBy(bm25(p.prop(b, "text"), "red")).limit(2) }},
		{name: "bm25 of several tokens, each once", want: "b\nc\na\nd",
			build: func(p *readPlan, b plan.VarID) {
				p.ret(id(b)).orderDesc(bm25(p.prop(b, "text"), "red red box the red"))
			}},
		{name: "bm25 of stop words", want: "",
			build: func(p *readPlan, b plan.VarID) { p.ret(id(b)).orderDesc(bm25(p.prop(b, "text"), "of the")) }},
		{name: "bm25 of null", args: []any{nil}, want: "",
			build: func(p *readPlan, b plan.VarID) {
				p.ret(id(b)).orderDesc(plan.BM25{Prop: p.prop(b, "text"), Query: p.param("q", stringType.Optional())})
			}},
		{name: "bm25 with statistics of the type, filters before the limit", want: "d | 0.6931471805599453",
			build: func(p *readPlan, b plan.VarID) {
				score := bm25(p.prop(b, "text"), "red")
				p.match(where(p.prop(b, "year"), plan.Gt, 2)).ret(id(b), score).orderDesc(score).limit(1)
			}},
		{name: "bm25 then another key", want: "b\nd\na",
			build: func(p *readPlan, b plan.VarID) {
				p.ret(id(b)).orderDesc(bm25(p.prop(b, "text"), "red")).orderDesc(p.prop(b, "year"))
			}},
		{name: "bm25 after another key also drops rows", want: "d\nb\na",
			build: func(p *readPlan, b plan.VarID) {
				p.ret(id(b)).orderDesc(p.prop(b, "year")).orderDesc(bm25(p.prop(b, "text"), "red"))
			}},
		{name: "bm25 in a filter", want: "b",
			build: func(p *readPlan, b plan.VarID) {
				p.match(where(bm25(p.prop(b, "text"), "red"), plan.Gt, plan.Lit{Value: value.OfF64(0.7)})).ret(id(b))
			}},
		{name: "bm25 of the node at the other end", want: "a | b",
			build: func(p *readPlan, b plan.VarID) {
				o := p.node("o", "Book")
				p.match(hop(b, "Cites", o)).ret(id(b), id(o)).orderDesc(bm25(p.prop(o, "text"), "red"))
			}},
		{name: "bm25 of an edge", want: "x3\nx1",
			build: func(p *readPlan, b plan.VarID) {
				o, e := p.node("o", "Book"), p.edge("e", "Cites")
				p.match(over(b, e, "Cites", o)).ret(id(e)).orderDesc(bm25(p.prop(e, "why"), "box grass"))
			}},
		{name: "greatest bm25 of a group", want: "2 | 0.7438652669423804",
			build: func(p *readPlan, b plan.VarID) {
				p.match(where(p.prop(b, "year"), plan.Le, 2)).ret(count(whole(b)), agg(plan.Max, bm25(p.prop(b, "text"), "red")))
			}},
		{name: "nearest, closest first, null vectors dropped", want: "a | 0\nf | 0\nc | 0.4\nb | 1\ne | 1\nd | 2",
			build: func(p *readPlan, b plan.VarID) {
				d := nearest(p.prop(b, "place"), 5, 0)
				p.ret(id(b), d).orderBy(d).limit(10)
			}},
		{name: "nearest only as a column also drops rows", want: "c | 0\nd | 1.6\ne | 1",
			build: func(p *readPlan, b plan.VarID) {
				p.match(where(p.prop(b, "year"), plan.Ge, 3), where(p.prop(b, "slug"), plan.Ne, "f")).ret(id(b), nearest(p.prop(b, "place"), 3, 4)).limit(5)
			}},
		{name: "nearest farthest first", want: "d\nb",
			build: func(p *readPlan, b plan.VarID) { p.ret(id(b)).orderDesc(nearest(p.prop(b, "place"), 1, 0)).limit(2) }},
		{name: "nearest of a zero vector", want: "a | 1\nb | 1",
			build: func(p *readPlan, b plan.VarID) {
				d := nearest(p.prop(b, "place"), 0, 0)
				p.ret(id(b), d).orderBy(d).limit(2)
			}},
		{name: "nearest of null", args: []any{nil}, want: "",
			build: func(p *readPlan, b plan.VarID) {
				p.ret(id(b)).orderBy(plan.Nearest{Prop: p.prop(b, "place"), Vector: p.param("v", vectorOf(2).Optional())}).limit(2)
			}},
		{name: "nearest, filters before the limit", want: "f\nc",
			build: func(p *readPlan, b plan.VarID) {
				p.match(where(p.prop(b, "year"), plan.Gt, 1)).ret(id(b)).orderBy(nearest(p.prop(b, "place"), 1, 0)).limit(2)
			}},
		{name: "nearest with ties across the limit", want: "f",
			build: func(p *readPlan, b plan.VarID) {
				p.ret(id(b)).orderBy(nearest(p.prop(b, "place"), 1, 0)).orderDesc(p.prop(b, "year")).limit(1)
			}},
		{name: "nearest in a filter, null is not near", want: "a\nc\nf",
			build: func(p *readPlan, b plan.VarID) {
				p.match(where(nearest(p.prop(b, "place"), 1, 0), plan.Lt, plan.Lit{Value: value.OfF64(0.5)})).ret(id(b)).limit(9)
			}},
		{name: "rrf of two rankings, rows in neither dropped", want: "a | 0.03252247488101534\nb | 0.032018442622950824\nd | 0.031024531024531024\nf | 0.016129032258064516\nc | 0.015873015873015872\ne | 0.015384615384615385",
			build: func(p *readPlan, b plan.VarID) {
				score := plan.RRF{First: bm25(p.prop(b, "text"), "red"), Second: nearest(p.prop(b, "place"), 1, 0)}
				p.ret(id(b), score).orderDesc(score).limit(10)
			}},
		{name: "rrf with a k", want: "b | 0.5\na | 0.3333333333333333\nd | 0.25",
			build: func(p *readPlan, b plan.VarID) {
				score := plan.RRF{First: bm25(p.prop(b, "text"), "red"), Second: bm25(p.prop(b, "text"), "nothing"), K: plan.Lit{Value: value.OfI64(1)}}
				p.ret(id(b), score).orderDesc(score).limit(10)
			}},
		{name: "rrf ranks what the filters keep", want: "d | 0.5\nc | 0.5",
			build: func(p *readPlan, b plan.VarID) {
				score := plan.RRF{First: bm25(p.prop(b, "text"), "red"), Second: bm25(p.prop(b, "text"), "blue"), K: plan.Lit{Value: value.OfI64(1)}}
				p.match(where(p.prop(b, "year"), plan.Gt, 2)).ret(id(b), score).orderDesc(score).orderDesc(p.prop(b, "year")).limit(10)
			}},
		{name: "rrf of groups, with an optional variable", want: "0.25 | 1 | 1\n0.3333333333333333 | 2 | 1\n0.45 | 1 | 1\n0.5 | 2 | 1",
			build: func(p *readPlan, b plan.VarID) {
				c := p.node("c", "Book")
				p.match(p.maybe(plan.Bind{Var: c}, where(p.prop(c, "slug"), plan.Eq, p.prop(b, "slug")), where(p.prop(c, "year"), plan.Gt, 2)))
				score := plan.RRF{First: bm25(p.prop(b, "text"), "red"), Second: nearest(p.prop(c, "place"), 1, 0), K: plan.Lit{Value: value.OfI64(1)}}
				p.ret(score, count(whole(b)), count(whole(c)))
			}},
		{name: "rrf as a column, the rows in the order of ids", want: "a | 0.5",
			build: func(p *readPlan, b plan.VarID) {
				fox, box := bm25(p.prop(b, "text"), "fox"), bm25(p.prop(b, "text"), "zebra")
				p.ret(id(b), plan.RRF{First: fox, Second: box, K: plan.Lit{Value: value.OfI64(1)}}).limit(1)
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
	return append(all, testCase{name: "rank/rrf refuses a k below 1", schema: library, run: func(s *session) {
		s.load(engine.Merge, shelf)
		p := s.read()
		b := p.bind("b", "Book")
		score := bm25(p.prop(b, "text"), "red")
		q := p.ret(id(b)).orderDesc(plan.RRF{First: score, Second: score, K: p.param("k", i32Type)}).limit(3).query()
		for k, ok := range map[int32]bool{-1: false, 0: false, 1: true} {
			_, err := query(s.ctx, s.graph, q, engine.Args{value.OfI32(k)})
			if bad := (*engine.BadArgument)(nil); errors.As(err, &bad) == ok || ok && err != nil {
				s.Errorf("k of %d: %v", k, err)
			}
		}
	}}, testCase{name: "rank/statistics follow the writes", schema: library, run: func(s *session) {
		s.load(engine.Merge, shelf)
		ranked := func() *readPlan {
			p := s.read()
			b := p.bind("b", "Book")
			score := bm25(p.prop(b, "text"), "red")
			return p.ret(id(b), score).orderDesc(score)
		}
		s.expect(ranked(), "b | 0.7438652669423804\na | 0.6931471805599453\nd | 0.6931471805599453")
		s.load(engine.Merge, `{"type":"Book","data":{"slug":"d","text":"blue","place":[1,1]}}
			{"type":"Book","data":{"slug":"h","text":"red"}}`)
		s.load(engine.Merge, `{"type":"Book","data":{"slug":"i","text":"red red red"}}`)
		s.mutate(newMutation(s.schema).remove("Book", "slug", plan.Eq, "b"))
		s.expect(ranked(), "i | 1.0872620364708765\nh | 0.9711466733526275\na | 0.7437034004113058")
	}})
}

package enginetest

import (
	"fmt"
	"math"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// bindingCases returns the cases of variables that a match binds to nodes.
func bindingCases() []testCase {
	return readCases("bind", []readCase{
		{name: "every node of a type in id order", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.ret(p.prop(a, "name"))
		}, want: `
			ann
			bob
			cid
			dan
			eve`},
		{name: "ids", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			c := p.bind("c", "City")
			p.match(hop(a, "LivesIn", c)).ret(id(a), id(c))
		}, want: `
			ann | c1
			bob | c1
			cid | c2`},
		{name: "two conditions", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.match(where(p.prop(a, "age"), plan.Eq, 30), where(p.prop(a, "name"), plan.Ne, "ann")).ret(id(a))
		}, want: `cid`},
		{name: "by key", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.match(where(p.prop(a, "name"), plan.Eq, "bob")).ret(p.prop(a, "age"))
		}, want: `25`},
		{name: "by a key that no node has", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.match(where(p.prop(a, "name"), plan.Eq, "zoe")).ret(p.prop(a, "age"))
		}, want: ``},
		{name: "by key in a parameter", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.match(where(p.prop(a, "name"), plan.Eq, p.param("who", stringType))).ret(p.prop(a, "age"))
		}, args: []any{"eve"}, want: `41`},
		{name: "by key or null", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.match(where(p.prop(a, "name"), plan.Eq, p.param("who", stringType.Optional()))).ret(id(a))
		}, args: []any{nil}, want: ``},
		{name: "by id", build: func(p *readPlan) {
			c := p.bind("c", "City")
			p.match(where(id(c), plan.Eq, "c2")).ret(p.prop(c, "name"))
		}, want: `Rome`},
		{name: "by two ids", build: func(p *readPlan) {
			c := p.bind("c", "City")
			p.match(where(id(c), plan.Eq, "c2"), where(id(c), plan.Eq, "c1")).ret(p.prop(c, "name"))
		}, want: ``},
		{name: "cross product", build: func(p *readPlan) {
			c := p.bind("c", "City")
			a := p.bind("a", "Person")
			p.match(where(p.prop(a, "age"), plan.Eq, 30)).ret(id(a), id(c))
		}, want: `
			ann | c1
			ann | c2
			cid | c1
			cid | c2`},
		{name: "cross product with itself", build: func(p *readPlan) {
			a := p.bind("a", "City")
			b := p.bind("b", "City")
			p.ret(id(b), id(a))
		}, want: `
			c1 | c1
			c2 | c1
			c1 | c2
			c2 | c2`},
		{name: "cross product with nothing", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			c := p.bind("c", "City")
			p.match(where(id(c), plan.Eq, "c3")).ret(id(a))
		}, want: ``},
		{name: "anonymous multiplies rows and ties last", build: func(p *readPlan) {
			u := p.bind("_", "City")
			a := p.bind("a", "Person")
			p.match(where(p.prop(a, "age"), plan.Eq, 30)).ret(id(a), id(u))
		}, want: `
			ann | c1
			ann | c2
			cid | c1
			cid | c2`},
	})
}

// filterCases returns the cases of comparisons in a match.
func filterCases() []testCase {
	f32 := func(f float32) value.Value { return value.OfF32(f) }
	compare := func(name string, prop string, op plan.Op, x any, want string) readCase {
		return readCase{name: name, want: want, build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.match(where(p.prop(a, prop), op, x)).ret(id(a))
		}}
	}
	return readCases("filter", []readCase{
		compare("string =", "name", plan.Eq, "bob", "bob"),
		compare("string <", "name", plan.Lt, "bob", "ann"),
		compare("string >= by bytes", "name", plan.Ge, "b", "bob\ncid\ndan\neve"),
		compare("string > sorts upper case before lower case", "name", plan.Gt, "Z", "ann\nbob\ncid\ndan\neve"),
		compare("i32 = leaves nulls out", "age", plan.Eq, 30, "ann\ncid"),
		compare("i32 != leaves nulls out", "age", plan.Ne, 30, "bob\neve"),
		compare("i32 <", "age", plan.Lt, 30, "bob"),
		compare("i32 <=", "age", plan.Le, 30, "ann\nbob\ncid"),
		compare("i32 >", "age", plan.Gt, 30, "eve"),
		compare("i32 >=", "age", plan.Ge, 30, "ann\ncid\neve"),
		compare("i32 with a fraction", "age", plan.Lt, value.OfF64(25.5), "bob"),
		compare("i64 past 2^53 is exact", "big", plan.Eq, 9007199254740993, "ann"),
		compare("i64 against f64 is exact", "big", plan.Gt, value.OfF64(9007199254740992), "ann"),
		compare("i64 against u64", "big", plan.Lt, value.OfU64(math.MaxUint64), "ann\nbob"),
		compare("i64 negative", "big", plan.Lt, 0, "bob"),
		compare("u32 greatest", "small", plan.Eq, math.MaxUint32, "bob"),
		compare("u64 greatest", "wide", plan.Eq, value.OfU64(math.MaxUint64), "ann"),
		compare("u64 against a negative", "wide", plan.Gt, value.OfI64(-1), "ann\nbob"),
		compare("f32 =", "ratio", plan.Eq, f32(0.5), "ann"),
		compare("f32 against f64", "ratio", plan.Lt, value.OfF64(0.3), "bob"),
		compare("f64 zero", "score", plan.Eq, 0.0, "cid"),
		compare("f64 <", "score", plan.Lt, 0.0, "bob"),
		compare("bool =", "active", plan.Eq, true, "ann\neve"),
		compare("bool !=", "active", plan.Ne, true, "bob"),
		compare("date >", "born", plan.Gt, "1994-02-28", "bob"),
		compare("date <=", "born", plan.Le, "1994-02-28", "ann"),
		compare("datetime = by the microsecond", "seen", plan.Eq, "2024-05-01T12:30:00.250001Z", ""),
		compare("datetime > by the microsecond", "seen", plan.Gt, "2024-05-01T12:30:00.249999Z", "ann\nbob"),
		compare("datetime =", "seen", plan.Eq, "2024-05-01T12:30:00.250Z", "ann\nbob"),
		compare("datetime <", "seen", plan.Lt, "2024-05-01T12:30:00.250Z", ""),
		compare("enum =", "mood", plan.Eq, "sad", "bob"),
		compare("enum < by text", "mood", plan.Lt, "glad", "eve"),
		compare("contains substring", "about", plan.Contains, "graph", "ann\nbob"),
		compare("contains is case-sensitive", "about", plan.Contains, "GRAPH", ""),
		compare("contains the empty string", "about", plan.Contains, "", "ann\nbob\ncid"),
		compare("contains does not match patterns", "about", plan.Contains, ".", ""),
		compare("starts_with", "about", plan.StartsWith, "a ", "cid"),
		compare("starts_with matches only the start", "about", plan.StartsWith, "G", ""),
		compare("starts_with is case-sensitive", "about", plan.StartsWith, "A ", ""),
		compare("contains member", "tags", plan.Contains, "tea", "ann"),
		compare("contains compares whole members of a list", "tags", plan.Contains, "t", ""),
		compare("contains number", "lucky", plan.Contains, 7, "ann\nbob"),
		compare("contains number of another kind", "lucky", plan.Contains, value.OfI64(3), "ann"),
		{name: "literal on the left", want: "eve", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.match(where(plan.Lit{Value: value.OfI32(35)}, plan.Lt, p.prop(a, "age"))).ret(id(a))
		}},
		{name: "two properties", want: "ann | bob\nann | cid", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			b := p.bind("b", "Person")
			p.match(where(p.prop(a, "score"), plan.Gt, p.prop(b, "score")), where(id(a), plan.Eq, "ann")).ret(id(a), id(b))
		}},
		{name: "null never equals null", want: "", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			b := p.bind("b", "Person")
			p.match(where(p.prop(a, "born"), plan.Eq, p.prop(b, "born")), where(id(a), plan.Eq, "dan")).ret(id(a), id(b))
		}},
		{name: "null parameter matches nothing", args: []any{nil}, want: "", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.match(where(p.prop(a, "age"), plan.Ne, p.param("age", i32Type.Optional()))).ret(id(a))
		}},
		{name: "null never equals a null parameter", args: []any{nil}, want: "", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.match(where(p.prop(a, "age"), plan.Eq, p.param("age", i32Type.Optional()))).ret(id(a))
		}},
		{name: "optional filter with null is left out", args: []any{nil}, want: "ann\nbob\ncid\ndan\neve", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.match(unless(p.prop(a, "age"), plan.Ge, p.param("age", i32Type.Optional()))).ret(id(a))
		}},
		{name: "optional filter with a value applies", args: []any{value.OfI32(35)}, want: "eve", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.match(unless(p.prop(a, "age"), plan.Ge, p.param("age", i32Type.Optional()))).ret(id(a))
		}},
		{name: "one optional filter of two", args: []any{nil, "eve"}, want: "eve", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.match(unless(p.prop(a, "age"), plan.Eq, p.param("age", i32Type.Optional())),
				unless(p.prop(a, "name"), plan.Eq, p.param("name", stringType.Optional()))).ret(id(a))
		}},
		{name: "optional filter by key", args: []any{nil}, want: "ann\nbob\ncid\ndan\neve", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.match(unless(p.prop(a, "name"), plan.Eq, p.param("name", stringType.Optional()))).ret(id(a))
		}},
		{name: "condition on parameters only", args: []any{"x"}, want: "", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.match(where(p.param("x", stringType), plan.Eq, "y")).ret(id(a))
		}},
		{name: "before now", want: "ann\nbob", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.match(where(p.prop(a, "seen"), plan.Lt, plan.Now{})).ret(id(a))
		}},
		{name: "after now", want: "", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.match(where(p.prop(a, "seen"), plan.Gt, plan.Now{})).ret(id(a))
		}},
		{name: "property of an edge", want: "k1 | ann | bob\nk3 | bob | cid", build: func(p *readPlan) {
			a, b, e := p.node("a", "Person"), p.node("b", "Person"), p.edge("e", "Knows")
			p.match(over(a, e, "Knows", b), where(p.prop(e, "since"), plan.Eq, 2010)).ret(id(e), from(e), to(e))
		}},
	})
}

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
	match := func(name string, kind plan.TextKind, words, want string) readCase {
		return readCase{name: name, want: want, build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.match(plan.Filter{Cond: text(kind, p.prop(a, "about"), words)}).ret(id(a))
		}}
	}
	return append(readCases("text", []readCase{
		match("search one word, stemmed", plan.Search, "engines", "ann\nbob"),
		match("search matches any of two words", plan.Search, "gopher rooms", "bob\ncid"),
		match("search ignores case", plan.Search, "GOPHER", "cid"),
		match("search does not match parts of words", plan.Search, "eng", ""),
		match("search with only stop words", plan.Search, "the of a", ""),
		match("search nothing", plan.Search, "", ""),
		match("phrase", plan.Phrase, "writing graph engines", "ann"),
		match("phrase skips stop words", plan.Phrase, "graph engine", "ann\nbob"),
		match("phrase in the other order", plan.Phrase, "engine graph", ""),
		match("phrase of one word", plan.Phrase, "graph", "ann\nbob"),
		match("fuzzy within two", plan.Fuzzy, "gofer", "cid"),
		match("fuzzy beyond two", plan.Fuzzy, "xxxxxxxx", ""),
		{name: "fuzzy within one", want: "ann\nbob", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			m := text(plan.Fuzzy, p.prop(a, "about"), "graff")
			m.MaxEdits = plan.Lit{Value: value.OfI64(2)}
			p.match(plan.Filter{Cond: m}).ret(id(a))
		}},
		{name: "fuzzy within none", want: "", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			m := text(plan.Fuzzy, p.prop(a, "about"), "gophr")
			m.MaxEdits = plan.Lit{Value: value.OfI64(0)}
			p.match(plan.Filter{Cond: m}).ret(id(a))
		}},
		{name: "as a column, false for a null", want: "ann | true\nbob | true\ncid | false\ndan | false\neve | false", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.ret(id(a), plan.Matched{Match: text(plan.Search, p.prop(a, "about"), "graph")})
		}},
		{name: "null query", args: []any{nil}, want: "", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			m := text(plan.Search, p.prop(a, "about"), "")
			m.Query = p.param("q", stringType.Optional())
			p.match(plan.Filter{Cond: m}).ret(id(a))
		}},
	}), sameWordCase())
}

package enginetest

import (
	"errors"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

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
	const everybody = "ann\nbob\ncid\ndan\neve"
	// person returns a test case that reads the persons for which a condition holds.
	person := func(name, want string, cond func(p *readPlan, a plan.VarID) plan.Clause, args ...any) readCase {
		return readCase{name: name, want: want, args: args, build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.match(cond(p, a)).ret(id(a))
		}}
	}
	prop := func(name, prop string, op plan.Op, x any, want string) readCase {
		return person(name, want, func(p *readPlan, a plan.VarID) plan.Clause { return where(p.prop(a, prop), op, x) })
	}
	ints := func(list ...int32) plan.Lit {
		elems := make([]value.Value, len(list))
		for i, n := range list {
			elems[i] = value.OfI32(n)
		}
		return plan.Lit{Value: value.OfList(value.I32, elems)}
	}
	words := func(list ...string) plan.Lit { return plan.Lit{Value: textList(list...)} }
	maybe := func(p *readPlan, name string) plan.ParamRef { return p.param(name, stringType.Optional()) }
	cases := readCases("condition", []readCase{
		prop("in, by key", "name", plan.In, words("eve", "zoe", "bob", "bob"), "bob\neve"),
		prop("in a list of numbers", "age", plan.In, ints(25, 41), "bob\neve"),
		prop("in an empty list", "name", plan.In, words(), ""),
		prop("in floats", "score", plan.In, plan.Lit{Value: value.OfList(value.F64, []value.Value{value.OfF64(0), value.OfF64(1.5)})}, "ann\ncid"),
		prop("in an enum", "mood", plan.In, words("glad", "calm"), "ann\neve"),
		prop("in numbers of another kind", "big", plan.In, plan.Lit{Value: value.OfList(value.F64, []value.Value{value.OfF64(-5), value.OfF64(9007199254740992)})}, "bob"),
		person("in, by id", "ann\ncid", func(_ *readPlan, a plan.VarID) plan.Clause { return where(id(a), plan.In, words("cid", "ann", "c1")) }),
		person("in a parameter", "bob\neve", func(p *readPlan, a plan.VarID) plan.Clause {
			return where(p.prop(a, "name"), plan.In, p.param("x", listOf(stringType)))
		}, textList("bob", "eve")),
		person("in a null parameter", "", func(p *readPlan, a plan.VarID) plan.Clause {
			return where(p.prop(a, "name"), plan.In, p.param("x", listOf(stringType).Optional()))
		}, nil),
		person("in a null parameter that drops the condition", everybody, func(p *readPlan, a plan.VarID) plan.Clause {
			return unless(p.prop(a, "name"), plan.In, p.param("x", listOf(stringType).Optional()))
		}, nil),
		person("in a list property", "ann", func(p *readPlan, a plan.VarID) plan.Clause {
			return where(plan.Lit{Value: value.OfString("tea")}, plan.In, p.prop(a, "tags"))
		}),
		{name: "in the list of another node", want: "ann | ann\nann | bob", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.bind("b", "Person")
			p.match(where(plan.Lit{Value: value.OfI32(7)}, plan.In, p.prop(b, "lucky")), where(id(a), plan.Eq, "ann")).ret(id(a), id(b))
		}},
		prop("matches a part", "name", plan.Matches, "[ae]n?n", "ann\ndan"),
		prop("matches from the beginning", "name", plan.Matches, "^(a|b)", "ann\nbob"),
		prop("matches without case", "about", plan.Matches, "(?i)GO(pher)?$", "ann\ncid"),
		prop("matches leaves nulls out", "about", plan.Matches, "", "ann\nbob\ncid"),
		person("matches a parameter", "eve", func(p *readPlan, a plan.VarID) plan.Clause {
			return where(p.prop(a, "name"), plan.Matches, p.param("x", stringType))
		}, "^e.e$"),
		person("matches a null parameter", "", func(p *readPlan, a plan.VarID) plan.Clause {
			return where(p.prop(a, "name"), plan.Matches, maybe(p, "x"))
		}, nil),
		person("is null", "dan", func(p *readPlan, a plan.VarID) plan.Clause { return isNull(p.prop(a, "age")) }),
		person("is not null", "ann\nbob\ncid\neve", func(p *readPlan, a plan.VarID) plan.Clause { return notNull(p.prop(a, "age")) }),
		person("a list is null", "dan\neve", func(p *readPlan, a plan.VarID) plan.Clause { return isNull(p.prop(a, "tags")) }),
		{name: "a vector is null", want: "c2", build: func(p *readPlan) {
			c := p.bind("c", "City")
			p.match(isNull(p.prop(c, "place"))).ret(id(c))
		}},
		person("a parameter is null", everybody, func(p *readPlan, _ plan.VarID) plan.Clause { return isNull(maybe(p, "x")) }, nil),
		person("a parameter is not null", "", func(p *readPlan, _ plan.VarID) plan.Clause { return notNull(maybe(p, "x")) }, nil),

		person("any of two", "ann\nbob\ncid", func(p *readPlan, a plan.VarID) plan.Clause {
			return anyOf(where(p.prop(a, "age"), plan.Eq, 30), where(p.prop(a, "name"), plan.Eq, "bob"))
		}),
		person("any of one", "bob", func(p *readPlan, a plan.VarID) plan.Clause { return anyOf(where(p.prop(a, "name"), plan.Eq, "bob")) }),
		person("any with all", "ann\neve", func(p *readPlan, a plan.VarID) plan.Clause {
			return anyOf(allOf(where(p.prop(a, "age"), plan.Eq, 30), where(p.prop(a, "mood"), plan.Eq, "glad")), where(p.prop(a, "age"), plan.Gt, 40))
		}),
		person("any with blocks", "ann\nbob\ncid\neve", func(p *readPlan, a plan.VarID) plan.Clause {
			c, b := p.node("c", "City"), p.node("b", "Person")
			return anyOf(exists(hop(a, "LivesIn", c)), not(hop(a, "Follows", b)))
		}),
		person("any with a text match", "ann\nbob\ndan", func(p *readPlan, a plan.VarID) plan.Clause {
			return anyOf(plan.Filter{Cond: text(plan.Search, p.prop(a, "about"), "engine")}, isNull(p.prop(a, "age")))
		}),
		{name: "any over two variables", want: "ann | bob\nbob | cid", build: func(p *readPlan) {
			a, b := p.node("a", "Person"), p.node("b", "Person")
			p.match(hop(a, "Knows", b), anyOf(where(p.prop(a, "name"), plan.Eq, "ann"), where(p.prop(b, "name"), plan.Eq, "cid"))).ret(id(a), id(b))
		}},
		person("all", "ann", func(p *readPlan, a plan.VarID) plan.Clause {
			return allOf(where(p.prop(a, "age"), plan.Eq, 30), notNull(p.prop(a, "mood")))
		}),
		person("a dropped condition does not count in any", "bob", func(p *readPlan, a plan.VarID) plan.Clause {
			return anyOf(unless(p.prop(a, "name"), plan.Eq, maybe(p, "x")), where(p.prop(a, "name"), plan.Eq, "bob"))
		}, nil),
		person("any with only dropped conditions is dropped", everybody, func(p *readPlan, a plan.VarID) plan.Clause {
			return anyOf(unless(p.prop(a, "name"), plan.Eq, maybe(p, "x")), allOf(unless(p.prop(a, "about"), plan.Eq, maybe(p, "y"))))
		}, nil, nil),
		person("not with only dropped conditions is dropped", everybody, func(p *readPlan, a plan.VarID) plan.Clause {
			return not(unless(p.prop(a, "name"), plan.Eq, maybe(p, "x")))
		}, nil),
		person("not with a condition that applies", "ann\ncid\ndan\neve", func(p *readPlan, a plan.VarID) plan.Clause {
			return not(unless(p.prop(a, "name"), plan.Eq, maybe(p, "x")))
		}, "bob"),
		person("not with another clause stays", "dan\neve", func(p *readPlan, a plan.VarID) plan.Clause {
			b := p.node("b", "Person")
			return not(hop(a, "Knows", b), unless(p.prop(b, "name"), plan.Eq, maybe(p, "x")))
		}, nil),
		person("exists with only dropped conditions is dropped", everybody, func(p *readPlan, a plan.VarID) plan.Clause {
			return exists(unless(p.prop(a, "name"), plan.Eq, maybe(p, "x")))
		}, nil),
		person("a block that a parameter turns on", everybody, func(p *readPlan, a plan.VarID) plan.Clause {
			b, x := p.node("b", "Person"), maybe(p, "x")
			return anyOf(isNull(x), exists(hop(a, "Knows", b), where(p.prop(b, "name"), plan.Eq, x)))
		}, nil),
		person("a block that a parameter turned on", "ann", func(p *readPlan, a plan.VarID) plan.Clause {
			b, x := p.node("b", "Person"), maybe(p, "x")
			return anyOf(isNull(x), exists(hop(a, "Knows", b), where(p.prop(b, "name"), plan.Eq, x)))
		}, "bob"),

		person("exists", "ann\nbob\ncid", func(p *readPlan, a plan.VarID) plan.Clause {
			b := p.node("b", "Person")
			return exists(hop(a, "Knows", b))
		}),
		person("exists does not multiply rows", "ann\nbob\ncid\ndan", func(p *readPlan, a plan.VarID) plan.Clause {
			b, e := p.node("b", "Person"), p.edge("e", "Follows")
			return exists(over(a, e, "Follows", b))
		}),
		{name: "exists between bound variables", want: "ann | bob\nbob | cid\ncid | ann", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.bind("b", "Person")
			p.match(exists(hop(a, "Knows", b))).ret(id(a), id(b))
		}},
		person("exists in not", "dan\neve", func(p *readPlan, a plan.VarID) plan.Clause {
			b := p.node("b", "Person")
			return not(exists(hop(a, "Knows", b)))
		}),
		person("exists in exists", "ann\nbob", func(p *readPlan, a plan.VarID) plan.Clause {
			b, c := p.node("b", "Person"), p.node("c", "City")
			return exists(hop(a, "Knows", b), exists(hop(b, "LivesIn", c)), where(id(b), plan.Ne, "ann"))
		}),
		person("any in not", "dan\neve", func(p *readPlan, a plan.VarID) plan.Clause {
			b := p.node("b", "Person")
			return not(anyOf(exists(hop(a, "Knows", b)), where(p.prop(a, "age"), plan.Lt, 20)))
		}),
	})
	return append(cases, testCase{name: "condition/bad pattern in a parameter", schema: people, run: func(s *session) {
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
	}}, testCase{name: "condition/bad patterns in two parameters", schema: people, run: func(s *session) {
		p := s.read()
		a := p.bind("a", "Person")
		x, y := p.param("x", stringType), p.param("y", stringType)
		q := p.match(where(p.prop(a, "name"), plan.Matches, y), where(p.prop(a, "name"), plan.Matches, x)).ret(id(a)).query()
		var e *engine.BadArgument
		if _, err := query(s.ctx, s.graph, q, engine.Args{value.OfString("("), value.OfString("[")}); !errors.As(err, &e) || e.Param != "x" {
			s.Errorf("the error is %v, want a bad argument x", err)
		}
	}})
}

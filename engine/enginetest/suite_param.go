package enginetest

import (
	"errors"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// paramCases returns test cases for the annotations of parameters, and for limits that parameters
// set.
func paramCases() []testCase {
	one, four := value.OfI32(1), value.OfI32(4)
	within := value.Bounds{Min: &one, Max: &four}

	// names returns a read of the names of people. A parameter sets the limit of the read.
	names := func(s *session, annotate func(*plan.Param)) *readPlan {
		p := s.read()
		a := p.bind("a", "Person")
		ref := p.param("n", i32Type)
		prm := &p.q.Params[ref.Index]
		prm.Bounds = within
		annotate(prm)
		p.ret(p.prop(a, "name")).orderDesc(p.prop(a, "name"))
		p.q.Read.Limit, p.q.Read.LimitBy = 4, &ref
		return p
	}
	plain := func(*plan.Param) {}
	return writeCases("parameter", map[string]func(s *session){
		"limit": func(s *session) {
			s.expect(names(s, plain), "eve", one)
			s.expect(names(s, plain), "eve\ndan\ncid\nbob", four)
		},
		"limit with a default": func(s *session) {
			p := names(s, func(p *plan.Param) { p.Default = value.OfI32(2) })
			s.expect(p, "eve\ndan", nil)
			s.expect(p, "eve\ndan\ncid", value.OfI32(3))
		},
		"limit beyond its range": func(s *session) {
			s.expectBadArgument(names(s, plain), "n", value.OfI32(5))
			s.expectBadArgument(names(s, plain), "n", value.OfI32(0))
			s.expectBadArgument(names(s, plain), "n", nil)
		},
		"limit of groups": func(s *session) {
			p := s.read()
			a := p.bind("a", "Person")
			ref := p.param("n", i32Type)
			p.q.Params[ref.Index].Bounds = within
			age := p.prop(a, "age")
			p.ret(age, plan.Agg{Func: plan.Count, Arg: plan.Whole{Var: a}}).orderBy(age)
			p.q.Read.Limit, p.q.Read.LimitBy = 4, &ref
			s.expect(p, "null | 1\n25 | 1", value.OfI32(2))
		},
		"default in a condition": func(s *session) {
			p := s.read()
			a := p.bind("a", "Person")
			ref := p.param("age", i32Type)
			p.q.Params[ref.Index].Default = value.OfI32(25)
			p.match(where(p.prop(a, "age"), plan.Eq, ref)).ret(id(a))
			s.expect(p, "bob", nil)
			s.expect(p, "ann\ncid", value.OfI32(30))
		},
		"default in a write": func(s *session) {
			m := s.change()
			m.insert("Person", set{"name": "fay", "mood": m.param("mood", stringType)})
			m.q.Params[0].Default = value.OfString("calm")
			s.expectChange(m, 1, 0, true, nil)
			s.expectPeople(crowdPeople + "\nfay | null | calm")
		},
		"pattern of the elements of a list": func(s *session) {
			pattern, err := value.NewPattern("^[a-z]+$")
			must(err)
			m := s.change()
			m.insert("Person", set{"name": "fay", "tags": m.param("tags", value.Type{Kind: value.String, List: true})})
			m.q.Params[0].Pattern = pattern
			list := func(elems ...value.Value) value.Value { return value.OfList(value.String, elems) }
			_, err = s.tryMutate(m, list(value.OfString("ok"), value.OfString("NO")))
			expectError[*engine.BadArgument](s, err)
			s.expectPeople(crowdPeople)
			s.expectChange(m, 1, 0, true, list(value.OfString("ok")))
		},
	})
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

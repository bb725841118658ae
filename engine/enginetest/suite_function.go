package enginetest

import (
	"math"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// call returns an operator or a function with its arguments. An argument is an expression, or a
// value that becomes a literal. The parameter t is the type of the result.
func call(f plan.Func, t value.Type, args ...any) plan.Apply {
	e := plan.Apply{Func: f, Type: t}
	for _, a := range args {
		switch a := a.(type) {
		case plan.Expr:
			e.Args = append(e.Args, a)
		default:
			e.Args = append(e.Args, plan.Lit{Value: literal(a, value.Type{})})
		}
	}
	return e
}

// test returns a comparison as an expression with a Boolean value.
func test(left plan.Expr, op plan.Op, right any) plan.Test {
	return plan.Test{Cond: plan.Compare{Op: op, Left: left, Right: expression(right, left), Unless: plan.NoParam}}
}

// functionCases returns the cases of operators and functions.
func functionCases() []testCase {
	// of returns a test case that reads some expressions for each person.
	of := func(name, want string, exprs func(get func(name string) plan.Prop) []plan.Expr) readCase {
		return readCase{name: name, want: want, build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.ret(exprs(func(name string) plan.Prop { return p.prop(a, name) })...)
		}}
	}
	day := func(s string) value.Value { return literalText(s, value.Date) }
	cases := readCases("function", []readCase{
		of("null stays null", "31 | 29\n26 | 24\n31 | 29\nnull | null\n42 | 40", func(get func(string) plan.Prop) []plan.Expr {
			return []plan.Expr{call(plan.Add, i64Type, get("age"), 1), call(plan.Subtract, i64Type, get("age"), 1)}
		}),
		of("overflow is null", "null | null\n18014398509481986 | 9007199254740998\nnull | null\nnull | null\nnull | null", func(get func(string) plan.Prop) []plan.Expr {
			return []plan.Expr{call(plan.Multiply, u64Type, get("wide"), value.OfU64(2)), call(plan.Add, u64Type, get("wide"), value.OfU64(5))}
		}),
		of("integers of one sign", "9223372036854775807 | null\n9223372036854775807 | null\nnull | null\nnull | null\nnull | null", func(get func(string) plan.Prop) []plan.Expr {
			most := call(plan.Add, i64Type, value.OfI64(9223372036854775807), call(plan.Subtract, i64Type, get("small"), get("small")))
			return []plan.Expr{most, call(plan.Add, i64Type, most, 1)}
		}),
		of("/ makes fractions, % has the sign of the dividend", "7.5 | 0\n6.25 | -2\n7.5 | null\nnull | null\n10.25 | null", func(get func(string) plan.Prop) []plan.Expr {
			return []plan.Expr{call(plan.Divide, f64Type, get("age"), 4), call(plan.Modulo, i64Type, get("big"), 3)}
		}),
		of("division by zero is null", "null | null\nnull | null\nnull | null\nnull | null\nnull | null", func(get func(string) plan.Prop) []plan.Expr {
			zero := call(plan.Subtract, i64Type, get("age"), get("age"))
			return []plan.Expr{call(plan.Divide, f64Type, get("age"), zero), call(plan.Modulo, i64Type, get("age"), zero)}
		}),
		of("texts", "ann! | ANN | 4 | an\nbob! | BOB | 4 | bo\ncid! | CID | 4 | ci\ndan! | DAN | 4 | da\neve! | EVE | 4 | ev", func(get func(string) plan.Prop) []plan.Expr {
			return []plan.Expr{call(plan.Concat, stringType, get("name"), "!"), call(plan.Upper, stringType, get("name")),
				call(plan.Length, i32Type, call(plan.Concat, stringType, "é", get("name"))), call(plan.Substring, stringType, get("name"), 0, 2)}
		}),
		of("trim, and positions outside of a text", "x | a | .\nx | b | .\nx | c | .\nx | d | .\nx | e | .", func(get func(string) plan.Prop) []plan.Expr {
			return []plan.Expr{call(plan.Trim, stringType, " x\t"), call(plan.Substring, stringType, get("name"), -2, 3), call(plan.Concat, stringType, call(plan.Substring, stringType, get("name"), 3, 9), ".")}
		}),
		of("positions at the ends of their ranges", "ann |  | nn\nbob |  | ob\ncid |  | id\ndan |  | an\neve |  | ve", func(get func(string) plan.Prop) []plan.Expr {
			least, most := value.OfI64(math.MinInt64), value.OfU64(math.MaxUint64)
			return []plan.Expr{call(plan.Substring, stringType, get("name"), least, most), call(plan.Substring, stringType, get("name"), least, value.OfI64(math.MaxInt64)),
				call(plan.Substring, stringType, get("name"), 1, most)}
		}),
		of("coalesce and if", "glad | old\nsad | young\nnone | old\nnone | young\ncalm | old", func(get func(string) plan.Prop) []plan.Expr {
			return []plan.Expr{call(plan.Coalesce, stringType, get("mood"), "none"), call(plan.If, stringType, test(get("age"), plan.Gt, 28), "old", "young")}
		}),
		of("numbers of several kinds become one", "1.5 | 30\n-2.25 | 25\n0 | 30\n7 | 7\n41 | 41", func(get func(string) plan.Prop) []plan.Expr {
			return []plan.Expr{call(plan.Coalesce, f64Type, get("score"), get("age"), 7), call(plan.Coalesce, i64Type, get("age"), value.OfI64(7))}
		}),
		of("rounding", "1 | 0 | 1 | 0.5\n0 | 0 | 1 | 0.25\nnull | null | null | null\nnull | null | null | null\nnull | null | null | null", func(get func(string) plan.Prop) []plan.Expr {
			return []plan.Expr{call(plan.Round, f32Type, get("ratio")), call(plan.Floor, f32Type, get("ratio")), call(plan.Ceil, f32Type, get("ratio")), call(plan.Abs, f32Type, get("ratio"))}
		}),
		of("parts of times", "1994 | 2 | 28 | 12 | 1\n1999 | 12 | 31 | 12 | 5\nnull | null | null | null | null\nnull | null | null | null | null\nnull | null | null | null | null", func(get func(string) plan.Prop) []plan.Expr {
			return []plan.Expr{call(plan.Year, i32Type, get("born")), call(plan.Month, i32Type, get("born")), call(plan.Day, i32Type, get("born")),
				call(plan.Hour, i32Type, get("seen")), call(plan.Weekday, i32Type, get("born"))}
		}),
		of("Sunday is day 7", "7\n7\n7\n7\n7", func(func(string) plan.Prop) []plan.Expr {
			return []plan.Expr{call(plan.Weekday, i32Type, day("2024-06-02"))}
		}),
		of("between times", "1 | 1994-03-03 | 2024-05-03T00:30:00.250Z | 2024-05-01\n-2131 | 2000-01-03 | 2024-05-03T00:30:00.250Z | 2024-05-01\n"+
			"null | null | null | null\nnull | null | null | null\nnull | null | null | null", func(get func(string) plan.Prop) []plan.Expr {
			return []plan.Expr{call(plan.DaysBetween, i32Type, get("born"), day("1994-03-01")), call(plan.AddDays, dateType, get("born"), 3),
				call(plan.AddHours, dateTimeType, get("seen"), 36), call(plan.DateOf, dateType, get("seen"))}
		}),
		of("conversions", "30 | 2 | -3 | null | 0.25\n25 | 0 | -3 | null | 0.25\n30 | 1 | -3 | null | 0.25\nnull | null | -3 | null | 0.25\n41 | null | -3 | null | 0.25", func(get func(string) plan.Prop) []plan.Expr {
			return []plan.Expr{call(plan.ToString, stringType, get("age")), call(plan.Size, i32Type, get("tags")), call(plan.ToInt, i64Type, "-3.9"),
				call(plan.ToInt, i64Type, "x"), call(plan.ToFloat, f64Type, "25e-2")}
		}),
		{name: "in a filter and an order", want: "eve\ncid\nann", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			double := call(plan.Multiply, i64Type, p.prop(a, "age"), 2)
			p.match(where(double, plan.Gt, value.OfI64(55))).ret(p.prop(a, "name")).sort(plan.Order{Expr: double, Desc: true})
			p.sort(plan.Order{Expr: call(plan.Upper, stringType, p.prop(a, "name")), Desc: true})
		}},
		{name: "beside an aggregate", want: "4 | 1 | 20.5\n2 | 1 | 12.5\n3 | 2 | 30", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			p.match(where(p.prop(a, "name"), plan.Ne, "dan"))
			decade := call(plan.ToInt, i64Type, call(plan.Divide, f64Type, p.prop(a, "age"), 10))
			rows := count(whole(a))
			p.ret(decade, rows, call(plan.Divide, f64Type, agg(plan.Sum, p.prop(a, "age")), 2))
			p.orderBy(call(plan.Abs, i64Type, call(plan.Subtract, i64Type, rows, 1))).orderDesc(call(plan.Add, i64Type, decade, 1))
		}},
		{name: "of an argument", args: []any{value.OfI32(5)}, want: "ann\ncid", build: func(p *readPlan) {
			a := p.bind("a", "Person")
			n := p.param("n", i32Type)
			p.match(where(p.prop(a, "age"), plan.Eq, call(plan.Multiply, i64Type, n, 6))).ret(p.prop(a, "name"))
		}},
	})
	return append(cases, testCase{name: "function/in assignments", schema: people, run: func(s *session) {
		m := s.change()
		name, age := m.param("name", stringType), m.param("age", i32Type)
		m.insert("Person", set{"name": call(plan.Lower, stringType, name), "age": call(plan.Add, i64Type, age, 1),
			"score": call(plan.Divide, f64Type, value.OfI64(1), age)})
		m.update("Person", set{"big": call(plan.Multiply, i64Type, age, 2)}, "name", plan.Eq, call(plan.Trim, stringType, " eve "))
		s.mutate(m, "EVE", value.OfI32(4))
		p := s.read()
		a := p.bind("a", "Person")
		s.expect(p.ret(p.prop(a, "name"), p.prop(a, "age"), p.prop(a, "score"), p.prop(a, "big")), "eve | 5 | 0.25 | 8")
		_, err := s.tryMutate(m, "EVE", value.OfI32(0))
		s.expectViolation(err, "type", "score")
	}})
}

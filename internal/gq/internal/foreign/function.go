package foreign

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/naming"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/refuse"
)

// foreign maps functions of other languages, in lower case, to those of this one.
var foreign = map[string]string{"zoned_datetime": "datetime", "local_datetime": "datetime", "localdatetime": "datetime",
	"tolower": "lower", "lcase": "lower", "toupper": "upper", "ucase": "upper", "ifnull": "coalesce", "nvl": "coalesce", "isnull": "coalesce",
	"char_length": "length", "character_length": "length", "len": "length", "ceiling": "ceil",
	"collect_list": "collect", "array_agg": "collect", "group_array": "collect", "list": "collect", "tostring": "string", "tointeger": "int",
	"tofloat": "float", "cardinality": "size", "array_length": "size", "btrim": "trim", "mean": "avg", "average": "avg", "stdev": "", "iif": "if",
}

// call reads the arguments of a function and writes the call.
func (r *rewriter) call(name string) string {
	name = strings.ToLower(name)
	if r.OverAhead() {
		return r.over(name)
	}
	r.Expect("(")
	if out, ok := r.special(name); ok {
		return r.inGroups(out)
	}
	if to, ok := foreign[name]; ok {
		name = to
	}
	if name == "substring" && r.inSelect {
		name = "substr" // SQL counts from 1
	}
	refuse.If(name == "")
	distinct := r.Accept("distinct", ":") || r.Accept("distinct")
	args := r.callArguments(name == "if")
	if slices.Contains(textFunctions, name) && len(args) > 0 {
		r.declareText(args[0])
	}
	if name == "count" && len(args) == 1 {
		args[0] = r.countable(args[0])
	}
	out := ""
	if distinct {
		out = name + "(distinct " + strings.Join(args, ", ") + ")"
	} else {
		out = r.apply(name, args)
	}
	if r.Is("filter", "(", "where") {
		out = r.filtered(name, args, distinct)
	}
	return r.inGroups(r.unsliced(out))
}

// textFunctions are the functions whose first argument is a text.
var textFunctions = []string{"lower", "upper", "trim", "length", "substring", "substr"}

// declareText declares a parameter as a text if an expression is one that nothing declares.
func (r *rewriter) declareText(e string) {
	if name, ok := r.undeclared(e); ok {
		r.declare(name, "String")
	}
}

// inGroups returns the column that has an aggregate, in HAVING, or the expression.
func (r *rewriter) inGroups(e string) string {
	if n := lex.WordLen(e); r.staged && !r.inHaving && aggregateName(e[:n]) != "" && strings.HasPrefix(e[n:], "(") {
		panic(refuse.GiveUp{})
	}
	if r.inHaving && len(r.computed) > 0 && aggregated(e) && operandOf(e).aggregate() != nil {
		return r.columnOf(e)
	}
	return e
}

// callArguments reads the arguments of a call up to the closing parenthesis. The first one may have to be
// a condition.
func (r *rewriter) callArguments(condition bool) (args []string) {
	for i := 0; !r.Accept(")"); i++ {
		if i > 0 {
			r.Expect(",")
		}
		if condition && i == 0 {
			args = append(args, r.asTest().render(true))
			continue
		}
		args = append(args, r.operand())
	}
	return args
}

// special reads a call whose arguments have a form of their own, after the opening parenthesis.
func (r *rewriter) special(name string) (out string, ok bool) {
	switch name {
	case "extract":
		part := strings.ToLower(r.Word())
		r.Expect("from")
		return r.part(part), true
	case "cast":
		value := r.operand()
		r.Expect("as")
		out = r.castTo(value)
		r.Expect(")")
		return out, true
	case "count":
		if (r.Is("*") || r.Peek(0).Kind == lex.Number) && r.IsAt(1, ")") {
			r.SkipTwo()
			if r.Is("filter", "(", "where") {
				return r.filtered(name, []string{r.first()}, false), true
			}
			return "count(" + r.first() + ")", true
		}
		if out, ok = r.walked(name); ok {
			return out, true
		}
		return r.related()
	case "string_agg", "group_concat", "listagg", "array_agg", "json_agg", "jsonb_agg", "json_arrayagg", "json_group_array":
		return r.listAggregate(name), true
	case "collect", "collect_list":
		return r.listed()
	case "size":
		if out, ok = r.related(); ok {
			return out, true
		}
		if r.try(func() { out = r.countedList() }) {
			return out, true
		}
		return r.walked(name)
	case "length", "path_length", "nodes":
		return r.walked(name)
	case "labels", "label":
		v := r.variable()
		r.Expect(")")
		if r.Accept("[") {
			r.Next()
			r.Expect("]")
		}
		return "type($" + naming.Lower(v) + ")", true
	case "id", "elementid", "element_id":
		v := r.variable()
		r.Expect(")")
		return "$" + naming.Lower(v) + ".id", true
	case "current_date", "curdate", "today":
		r.Expect(")")
		return "date(now())", true
	case "current_timestamp", "getdate", "timestamp":
		r.Expect(")")
		return "now()", true
	case "datetime", "date":
		if r.Accept(")") {
			if name == "date" {
				return "date(now())", true
			}
			return "now()", true
		}
	case "duration":
		if r.Is("{") {
			return r.durationMap(), true
		}
	case "substring":
		ok = r.try(func() {
			value := r.operand()
			r.Expect("from")
			start := r.operand()
			r.Expect("for")
			out = "substring(" + value + ", " + lessOne(start) + ", " + r.operand() + ")"
			r.Expect(")")
		})
		return out, ok
	case "date_trunc", "datetrunc":
		unit := r.Next()
		r.Expect(",")
		value := r.operand()
		r.Expect(")")
		return truncated(strings.ToLower(unit.Text), value), true
	case "date_part", "datepart":
		unit := strings.ToLower(r.Next().Text)
		r.Expect(",")
		return r.part(unit), true
	case "duration_between":
		return r.elapsed(r.callArguments(false), ""), true
	case "age":
		from, to := r.age()
		r.note("an age is a number of days")
		return "days_between(" + from + ", " + to + ")", true
	}
	return "", false
}

// walked reads the variable of a walk and the closing parenthesis after length( or nodes(.
func (r *rewriter) walked(name string) (out string, ok bool) {
	t := r.Peek(0)
	if !r.paths[t.Text] && name == "path_length" && len(r.paths) == 1 && !r.known(t.Text) && !r.declared(t.Text) { // a path without a name in the match
		for path := range r.paths {
			t.Text = path
		}
	}
	if !r.paths[t.Text] || r.Peek(1).Text != ")" {
		return "", false
	}
	r.SkipTwo()
	if name == "nodes" {
		return "$" + naming.Lower(t.Text) + ".nodes", true
	}
	return "$" + naming.Lower(t.Text) + ".hops", true
}

// apply writes a call of a function of any of the languages.
func (r *rewriter) apply(name string, args []string) string {
	switch {
	case name == "round" && len(args) == 2:
		refuse.If(len(args[1]) != 1 || args[1] < "0" || args[1] > "6")
		factor := "1" + strings.Repeat("0", int(args[1][0]-'0'))
		return "round(" + tight(args[0]) + " * " + factor + ") / " + factor
	case name == "concat" && len(args) > 0:
		for i, a := range args {
			if args[i] = tight(a); r.nullable(a) { // which concat takes as an empty text
				args[i] = "coalesce(" + a + ", \"\")"
			}
		}
		return strings.Join(args, " + ")
	case (name == "substr" || name == "mid") && len(args) == 3: // counted from 1
		return "substring(" + args[0] + ", " + lessOne(args[1]) + ", " + args[2] + ")"
	case (name == "substr" || name == "mid" || name == "substring") && len(args) == 2:
		start := args[1]
		if name != "substring" {
			start = lessOne(start)
		}
		return "substring(" + args[0] + ", " + start + ", length(" + args[0] + "))"
	case name == "left" && len(args) == 2:
		return "substring(" + args[0] + ", 0, " + args[1] + ")"
	case name == "right" && len(args) == 2:
		return "substring(" + args[0] + ", length(" + args[0] + ") - " + tight(args[1]) + ", " + args[1] + ")"
	case name == "size" && len(args) == 2 && args[1] == "1": // array_length(list, 1)
		return "size(" + args[0] + ")"
	case (name == "greatest" || name == "least") && len(args) == 2:
		return "coalesce(if(" + args[0] + map[string]string{"greatest": " > ", "least": " < "}[name] + args[1] + ", " + args[0] + ", " + args[1] + "), " + args[0] + ")"
	case name == "mod" && len(args) == 2:
		return tight(args[0]) + " % " + tight(args[1])
	case name == "nullif" && len(args) == 2 && !strings.HasPrefix(args[1], "$"):
		return "if(" + args[0] + " != " + args[1] + ", " + args[0] + ")"
	}
	return name + "(" + strings.Join(args, ", ") + ")"
}

// tight returns an expression in parentheses unless no operator of arithmetic can take it apart.
func tight(e string) string {
	if !strings.Contains(e, " ") || e[0] == '"' && strings.Count(e, `"`) == 2 || strings.HasSuffix(e, ")") && strings.IndexByte(e, '(') == lex.WordLen(e) && strings.Count(e, "(") == 1 {
		return e
	}
	return "(" + e + ")"
}

// lessOne writes a position that counts from 1 as one that counts from 0.
func lessOne(e string) string {
	if len(e) == 1 && e[0] >= '1' && e[0] <= '9' {
		return string(e[0] - 1)
	}
	refuse.If(strings.HasPrefix(e, "-")) // it counts from the end
	return tight(e) + " - 1"
}

// filtered reads FILTER (WHERE …) after an aggregate.
func (r *rewriter) filtered(name string, args []string, distinct bool) string {
	r.Expect("filter", "(", "where")
	test := r.asTest().render(true)
	r.Expect(")")
	refuse.If(distinct || len(args) != 1)
	if name == "count" && !strings.Contains(args[0], ".") {
		return "count(if(" + test + ", 1))"
	}
	return name + "(if(" + test + ", " + args[0] + "))"
}

// divides reports whether the next tokens divide a property that is an integer, written without a dollar sign, by a
// whole number. Cypher, SQL and ISO GQL cut the fraction.
func (r *rewriter) divides(left string) bool {
	p := r.propertyOf(left)
	if p == nil || !r.Is("/") || r.At < 3 || r.Tokens[r.At-3].Kind != lex.Word {
		return false
	}
	switch p.Type.Kind {
	case value.I32, value.I64, value.U32, value.U64:
		_, err := parseCount(r.Peek(1).Text)
		return err == nil && !p.Type.List
	}
	return false
}

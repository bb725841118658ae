package nearest

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// operand reads an expression without comparisons.
func (r *rewriter) operand() string {
	defer r.deeper()()
	out := r.factor()
	for {
		t := r.peek(0)
		if t.kind != mark {
			return out
		}
		switch t.text {
		case "||":
			// In Cypher and JavaScript the bars mean or; between texts they join.
			if !r.joins {
				return out
			}
			r.next()
			out += " + " + r.factor()
		case "+", "*", "/", "%":
			r.next()
			out += " " + t.text + " " + r.factor()
		case "-":
			if n := r.peek(1); n.text == "[" || n.text == ">" || n.text == "(" && !r.peek(0).space && strings.HasSuffix(out, ")") {
				return out
			}
			r.next()
			out += " - " + r.factor()
		case "::": // a cast of PostgreSQL
			r.next()
			out = r.cast(out, r.word())
		default:
			return out
		}
	}
}

// factor reads an operand without operators.
func (r *rewriter) factor() string {
	defer r.deeper()()
	t := r.peek(0)
	switch t.kind {
	case text:
		return quote(r.next().text)
	case number:
		return r.next().text
	case dollar:
		name := r.next().text
		if r.is(".") {
			r.next()
			return r.member(name, r.word())
		}
		return "$" + name
	case mark:
		switch t.text {
		case "-":
			r.next()
			if r.peek(0).kind != number {
				panic(giveUp{})
			}
			return "-" + r.next().text
		case "[":
			return r.bracketed()
		case "(":
			return r.parenthesized()
		}
		panic(giveUp{})
	case word:
		return r.named()
	}
	panic(giveUp{})
}

// list reads values between two marks as a list.
func (r *rewriter) list(open, closing string) string {
	r.expect(open)
	var out []string
	for !r.accept(closing) {
		if len(out) > 0 {
			r.expect(",")
		}
		out = append(out, r.operand())
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// bracketed reads a list, or a pattern comprehension of Cypher.
func (r *rewriter) bracketed() string {
	var out string
	if r.try(func() {
		r.expect("[")
		saved := r.match
		r.match = nil
		r.match = append(r.match, r.patternClauses()...)
		if r.accept("where") {
			r.match = append(r.match, r.condition())
		}
		r.expect("|")
		value := r.operand()
		r.expect("]")
		alias := value[strings.LastIndexByte(value, '.')+1:]
		out = "collect { " + join(r.match) + " return { " + value + " as " + strings.TrimPrefix(alias, "$") + " } limit 1000 }"
		r.match = saved
	}) {
		return out
	}
	return r.list("[", "]")
}

// parenthesized reads an expression or a condition in parentheses.
func (r *rewriter) parenthesized() string {
	r.expect("(")
	saved := r.inTest
	r.inTest = true
	c := r.condition()
	r.inTest = saved
	r.expect(")")
	if c.op != "" {
		return c.render(true)
	}
	return "(" + c.text + ")"
}

// named reads an operand that starts with a word.
func (r *rewriter) named() string {
	if r.is("case") {
		return r.caseOf()
	}
	if r.peek(1).text == "{" && slices.Contains([]string{"count", "sum", "min", "max", "avg", "collect", "first", "exists", "not", "any", "all"}, strings.ToLower(r.peek(0).text)) {
		return r.valueBlock()
	}
	if r.isOne("date", "datetime", "timestamp", "duration") && r.peek(1).kind == text {
		name := strings.ToLower(r.word())
		if name == "timestamp" {
			name = "datetime"
		}
		return name + "(" + quote(r.next().text) + ")"
	}
	if r.is("interval") {
		return r.interval()
	}
	name := r.word()
	if r.is("(") {
		return r.call(name)
	}
	if r.is(".") {
		if _, ok := r.vars[name]; !ok && !r.paths[name] {
			panic(giveUp{})
		}
		r.next()
		return r.member(name, r.word())
	}
	switch strings.ToLower(name) {
	case "true", "false":
		return strings.ToLower(name)
	case "current_date", "today":
		return "date(now())"
	case "current_timestamp", "local_timestamp", "localtimestamp", "zoned_datetime":
		return "now()"
	}
	return r.bare(name)
}

// bare returns what a name without a variable means: the value of WITH or LET, a variable, a column of
// the result, or a property.
func (r *rewriter) bare(name string) string {
	if v, ok := r.values[name]; ok && !r.inHaving {
		return v
	}
	if _, ok := r.vars[name]; ok {
		return "$" + lower(name)
	}
	if r.paths[name] {
		panic(giveUp{})
	}
	if slices.Contains(r.aliases, name) || r.inHaving {
		return name
	}
	if r.inWhere != "" {
		if p := r.property(r.inWhere, name); p != nil {
			return p.Name
		}
		if e := endOf(name); e != "" && r.schema.Edge(r.inWhere) != nil {
			return e
		}
		if name == "id" {
			return name
		}
		panic(giveUp{})
	}
	found := ""
	for _, v := range r.tables {
		if p := r.property(r.vars[v], name); p != nil {
			if found != "" {
				panic(giveUp{})
			}
			found = "$" + lower(v) + "." + p.Name
		} else if name == "id" && len(r.tables) == 1 {
			found = "$" + lower(v) + ".id"
		}
	}
	if found == "" {
		panic(giveUp{})
	}
	return found
}

// member returns a property of a variable.
func (r *rewriter) member(variable, name string) string {
	typ := r.vars[variable]
	switch {
	case name == "__typename" && r.schema.Interface(typ) != nil:
		name = "type"
	case name == "__typename":
		return "type($" + lower(variable) + ")"
	case r.schema.Edge(typ) == nil && (plain(name) == "rowid" || name == "_id"):
		name = "id"
	default:
		name = r.propertyName(typ, name)
	}
	if r.inWhere != "" && variable == r.whereVar {
		return name
	}
	return "$" + lower(variable) + "." + name
}

// variable reads a variable with or without its dollar sign.
func (r *rewriter) variable() string {
	t := r.next()
	if t.kind != dollar && t.kind != word {
		panic(giveUp{})
	}
	if _, ok := r.vars[t.text]; !ok && !r.paths[t.text] {
		panic(giveUp{})
	}
	return t.text
}

// foreign maps functions of other languages, in lower case, to those of this one.
var foreign = map[string]string{
	"tolower": "lower", "lcase": "lower", "toupper": "upper", "ucase": "upper", "ifnull": "coalesce", "nvl": "coalesce", "isnull": "coalesce",
	"char_length": "length", "character_length": "length", "len": "length", "substr": "substring", "mid": "substring", "ceiling": "ceil",
	"collect_list": "collect", "array_agg": "collect", "group_array": "collect", "list": "collect", "tostring": "string", "tointeger": "int",
	"tofloat": "float", "cardinality": "size", "btrim": "trim", "mean": "avg", "average": "avg", "stdev": "", "iif": "if",
}

// call reads the arguments of a function and writes the call.
func (r *rewriter) call(name string) string {
	name = strings.ToLower(name)
	r.expect("(")
	switch name {
	case "extract":
		part := strings.ToLower(r.word())
		r.expect("from")
		out := part + "(" + r.operand() + ")"
		r.expect(")")
		return out
	case "cast":
		value := r.operand()
		r.expect("as")
		typ := r.word()
		r.expect(")")
		return r.cast(value, typ)
	case "count":
		if r.accept("*", ")") {
			return "count(" + r.first() + ")"
		}
	case "length", "path_length", "nodes", "size":
		if t := r.peek(0); r.paths[t.text] && r.peek(1).text == ")" {
			r.next()
			r.next()
			if name == "nodes" {
				return "$" + lower(t.text) + ".nodes"
			}
			return "$" + lower(t.text) + ".hops"
		}
	case "labels", "label":
		v := r.variable()
		r.expect(")")
		if r.accept("[") {
			r.next()
			r.expect("]")
		}
		return "type($" + lower(v) + ")"
	case "id", "elementid", "element_id":
		v := r.variable()
		r.expect(")")
		return "$" + lower(v) + ".id"
	case "current_date", "curdate":
		r.expect(")")
		return "date(now())"
	case "current_timestamp", "getdate", "timestamp":
		r.expect(")")
		return "now()"
	case "datetime", "date":
		if r.accept(")") {
			if name == "date" {
				return "date(now())"
			}
			return "now()"
		}
	}
	if to, ok := foreign[name]; ok {
		name = to
	}
	if name == "" {
		panic(giveUp{})
	}
	var args []string
	distinct := r.accept("distinct")
	for i := 0; !r.accept(")"); i++ {
		if i > 0 {
			r.expect(",")
		}
		if name == "if" && i == 0 {
			saved := r.inTest
			r.inTest = true
			args = append(args, r.condition().render(true))
			r.inTest = saved
			continue
		}
		args = append(args, r.operand())
	}
	out := strings.Join(args, ", ")
	if distinct {
		out = "distinct " + out
	}
	out = name + "(" + out + ")"
	if r.inHaving {
		for _, c := range r.computed {
			if c.text == out {
				return c.alias
			}
		}
	}
	return out
}

// aggregated reports whether an expression contains an aggregate.
func aggregated(expr string) bool {
	return slices.ContainsFunc(plan.AggregateNames(), func(n string) bool { return strings.HasPrefix(expr, n+"(") || strings.Contains(expr, " "+n+"(") })
}

// cast writes a conversion to a type of SQL.
func (r *rewriter) cast(value, typ string) string {
	to := ""
	switch plain(typ) {
	case "text", "varchar", "char", "string", "nvarchar":
		to = "string"
	case "int", "integer", "bigint", "smallint", "int64", "int32":
		to = "int"
	case "float", "real", "double", "numeric", "decimal", "float64":
		to = "float"
	case "date":
		to = "date"
	default:
		panic(giveUp{})
	}
	return to + "(" + value + ")"
}

// interval reads INTERVAL '30 days' or INTERVAL 30 DAY.
func (r *rewriter) interval() string {
	r.expect("interval")
	t := r.next()
	count, unit := t.text, ""
	if t.kind == text {
		count, unit, _ = strings.Cut(strings.TrimSpace(t.text), " ")
	}
	if unit == "" {
		unit = r.word()
	}
	n, err := parseCount(count)
	if err != nil {
		panic(giveUp{})
	}
	switch strings.TrimSuffix(strings.ToLower(strings.TrimSpace(unit)), "s") {
	case "day":
		return "days(" + n + ")"
	case "hour":
		return "hours(" + n + ")"
	case "minute":
		return "minutes(" + n + ")"
	case "second":
		return "seconds(" + n + ")"
	}
	panic(giveUp{})
}

// caseOf reads CASE WHEN … THEN … [ELSE …] END as nested calls of if.
func (r *rewriter) caseOf() string {
	r.expect("case")
	subject := ""
	if !r.is("when") {
		subject = r.operand()
	}
	out, closing := "", ""
	for r.accept("when") {
		test := ""
		if subject != "" {
			test = subject + " = " + r.operand()
		} else {
			saved := r.inTest
			r.inTest = true
			test = r.condition().render(true)
			r.inTest = saved
		}
		r.expect("then")
		if out != "" {
			out += ", "
		}
		out += "if(" + test + ", " + r.operand()
		closing += ")"
	}
	if out == "" {
		panic(giveUp{})
	}
	if r.accept("else") && !r.accept("null") {
		out += ", " + r.operand()
	}
	r.expect("end")
	return out + closing
}

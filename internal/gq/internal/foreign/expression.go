package foreign

import (
	"regexp"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/naming"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/refuse"
)

// operand reads an expression without comparisons.
func (r *rewriter) operand() string {
	defer r.Deeper()()
	out := r.term()
	for {
		t := r.Peek(0)
		if t.Kind != lex.Mark {
			return out
		}
		switch t.Text {
		case "||":
			// In Cypher and JavaScript the bars mean or; between texts they join.
			if !r.joins {
				return out
			}
			r.Next()
			out += " + " + r.term()
		case "+", "*", "/", "%":
			whole := r.divides(out)
			r.Next()
			out += " " + t.Text + " " + moved(out, r.term())
			if whole {
				out = "int(" + out + ")"
			}
		case "-":
			if n := r.Peek(1); n.Text == "[" || n.Text == ">" || n.Text == "->" || n.Text == "-" || n.Text == "(" && !r.Peek(0).Space && strings.HasSuffix(out, ")") {
				return out
			}
			r.Next()
			right := moved(out, r.term())
			if between := r.subtracted(right, out); between != "" {
				out = between
			} else {
				out += " - " + right
			}
		case "?":
			if !r.Is("?", "?") {
				return out
			}
			r.Expect("?", "?")
			out = "coalesce(" + out + ", " + r.term() + ")"
		default:
			return out
		}
	}
}

// term reads an operand without operators of arithmetic, and the casts of PostgreSQL after it.
func (r *rewriter) term() string {
	out := r.factor()
	for r.Accept("::") {
		out = r.castTo(out)
	}
	return out
}

// wholeDays matches a duration of days, and wholeHours one of hours.
var (
	wholeDays  = regexp.MustCompile(`^duration\("P([0-9]{1,6})D"\)$`)
	wholeHours = regexp.MustCompile(`^duration\("PT([0-9]{1,6})H"\)$`)
)

// moved writes the right side of + or - after a time: a number of days may be an integer, and a Date takes
// no duration.
func moved(left, right string) string {
	if m := wholeDays.FindStringSubmatch(right); m != nil {
		return "days(" + m[1] + ")"
	}
	if m := wholeHours.FindStringSubmatch(right); m != nil {
		return "hours(" + m[1] + ")"
	}
	if _, err := parseCount(right); err == nil && left == "date(now())" {
		return "days(" + right + ")"
	}
	return right
}

// factor reads an operand without operators.
func (r *rewriter) factor() string {
	defer r.Deeper()()
	t := r.Peek(0)
	switch t.Kind {
	case lex.Text:
		return lex.Quote(r.Next().Text)
	case lex.Number:
		n := r.Next().Text
		if unit := strings.TrimSuffix(strings.ToLower(r.Peek(0).Text), "s") + "s"; r.Peek(0).Kind == lex.Word && r.At > 1 && (r.Tokens[r.At-2].Text == "+" || r.Tokens[r.At-2].Text == "-") &&
			slices.Contains([]string{"days", "hours", "minutes", "seconds"}, unit) {
			r.Next() // 7 days
			return unit + "(" + n + ")"
		}
		return n
	case lex.Dollar:
		name := r.Next().Text
		if r.Is(".") {
			r.Next()
			return r.access(name)
		}
		if v, ok := r.values[name]; ok {
			return r.within(r.unsliced(v))
		}
		if r.paths[name] || r.known(name) {
			return "$" + naming.Lower(name)
		}
		return "$" + name
	case lex.Mark:
		switch t.Text {
		case "-":
			r.Next()
			refuse.If(r.Peek(0).Kind != lex.Number)
			return "-" + r.Next().Text
		case "[":
			return r.bracketed()
		case "(":
			return r.parenthesized()
		}
		panic(refuse.GiveUp{})
	case lex.Word:
		return r.named()
	}
	panic(refuse.GiveUp{})
}

// walkKeys reads [n IN nodes(path) | n.email] if the nodes of the walk have one type. Their ids are the texts of their
// keys. For another property a note says how to read it.
func (r *rewriter) walkKeys() (out string, ok bool) {
	name, path := r.Peek(1).Text, r.Peek(5).Text
	typ := r.walks[path]
	if !r.Is("[", name, "in", "nodes", "(", path, ")", "|", name, ".") || r.Schema.Node(typ) == nil || !r.IsAt(11, "]") {
		return "", false
	}
	property := r.Property(typ, r.Peek(10).Text)
	key := r.Key(typ)
	switch p := r.Property(typ, key); {
	case property == nil && naming.Plain(r.Peek(10).Text) != "id":
		return "", false
	case naming.Plain(r.Peek(10).Text) != naming.Plain(key) && naming.Plain(r.Peek(10).Text) != "id":
		panic(refuse.GiveUp{}) // a walk lists the ids of its nodes
	case p != nil && p.Type.Kind != value.String:
		r.note("a walk lists the keys as texts")
	}
	for range 12 {
		r.Next()
	}
	return "$" + naming.Lower(path) + ".nodes", true
}

// bracketed reads a list, or a pattern comprehension of Cypher.
func (r *rewriter) bracketed() string {
	out, ok := r.walkKeys()
	if ok {
		return out
	}
	if r.try(func() {
		match := r.comprehension()
		value := r.operand()
		r.Expect("]")
		alias := value[strings.LastIndexByte(value, '.')+1:]
		out = "collect { " + join(match) + " return { " + value + " as " + strings.TrimPrefix(alias, "$") + " } limit 1000 }"
	}) {
		return out
	}
	return r.listOf(nil)
}

// parenthesized reads an expression or a condition in parentheses.
func (r *rewriter) parenthesized() string {
	if r.Is("(", "select") {
		return r.scalarSelect()
	}
	r.Expect("(")
	c := r.asTest()
	r.Expect(")")
	if c.op != "" {
		return c.render(true)
	}
	return "(" + c.text + ")"
}

// blocks are the words before the braces of a block with a value.
var blocks = []string{"count", "sum", "min", "max", "avg", "collect", "first", "exists", "not", "any", "all"}

// named reads an operand that starts with a word.
func (r *rewriter) named() string {
	if r.Is("case") {
		return r.caseOf()
	}
	if r.Peek(1).Text == "{" && slices.Contains(blocks, strings.ToLower(r.Peek(0).Text)) {
		return r.valueBlock()
	}
	if r.IsOne("date", "datetime", "timestamp", "duration", "zoned_datetime", "local_datetime") && r.Peek(1).Kind == lex.Text {
		name, literal := strings.ToLower(r.Word()), lex.Quote(r.Next().Text)
		switch name {
		case "date", "duration":
			return name + "(" + literal + ")"
		}
		return dateTimeLiteral(literal)
	}
	if r.Is("duration", ".") {
		return r.between()
	}
	if r.Is("interval") {
		return r.interval()
	}
	if r.Is("exists", "(", "select") {
		return r.test().render(true)
	}
	if value, ok := r.ofExcluded(); ok {
		return value
	}
	name := r.Word()
	if r.Is("(") {
		return r.partOf(r.call(name))
	}
	if r.Is(".") {
		if _, ok := r.vars[name]; !ok && !r.paths[name] {
			// The name of a type may stand for its only variable.
			if name = r.byType(name); name == "" {
				panic(refuse.GiveUp{})
			}
		}
		r.Next()
		return r.access(name)
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

// timeParts maps the names after a time, in lower case, to functions.
var timeParts = map[string]string{"year": "year", "month": "month", "day": "day", "hour": "hour", "dayofweek": "weekday", "weekday": "weekday", "quarter": "month"}

// timePart writes the part of a time.
func timePart(part, time string) string {
	if part == "quarter" {
		return "int((month(" + time + ") + 2) / 3)"
	}
	return timeParts[part] + "(" + time + ")"
}

// partOf reads a part such as .year after a call that returns a time.
func (r *rewriter) partOf(call string) string {
	if part := strings.ToLower(r.Peek(1).Text); r.Is(".") && timeParts[part] != "" {
		r.SkipTwo()
		return timePart(part, call)
	}
	return call
}

// unsliced skips a slice such as [0..5] after a list of a group.
func (r *rewriter) unsliced(list string) string {
	if strings.HasPrefix(list, "collect(") && r.Is("[") && (r.IsAt(1, "..") || r.IsAt(2, "..")) {
		r.SkipGroup()
		r.note(wholeListNote)
	}
	return list
}

// within returns an expression as a part of the one around the token before: in parentheses if that
// token or the next one is an operator of arithmetic.
func (r *rewriter) within(e string) string {
	r.spend(e)
	simple := !strings.Contains(e, " ") || strings.HasSuffix(e, "}")
	before := lex.Token{}
	if r.At > 1 {
		before = r.Tokens[r.At-2]
	}
	for _, t := range []lex.Token{before, r.Peek(0)} {
		if !simple && t.Kind == lex.Mark && slices.Contains([]string{"+", "-", "*", "/", "%", "||"}, t.Text) {
			return "(" + e + ")"
		}
	}
	return e
}

// spend counts the bytes of a value that stands in the place of its name.
func (r *rewriter) spend(value string) {
	if r.spent += len(value); r.spent > maxValues {
		panic(refuse.GiveUp{})
	}
}

// bare returns what a name without a variable means: the value of WITH or LET, a variable, a column of
// the result, or a property.
func (r *rewriter) bare(name string) string {
	if v, ok := r.values[name]; ok && !r.inHaving {
		return r.within(r.unsliced(v))
	}
	if _, ok := r.vars[name]; ok {
		return "$" + naming.Lower(name)
	}
	refuse.If(r.paths[name])
	if r.inHaving {
		r.checkShadow(name)
	}
	if r.inHaving || slices.Contains(r.aliases, name) && !(r.inColumns && r.hasProperty(name)) {
		return name
	}
	if r.inWhere != "" {
		if p := r.Property(r.inWhere, name); p != nil {
			return p.Name
		}
		if e := r.Schema.Edge(r.inWhere); e != nil && r.EndNamed(e, name) != "" {
			return r.EndNamed(e, name)
		}
		if name == "id" {
			return name
		}
		panic(refuse.GiveUp{})
	}
	tables := r.tables
	if len(tables) == 0 { // a query of this language: a name may mean the property of its only node that has it
		tables = r.order
	}
	found := ""
	for _, v := range tables {
		if side := r.endOfTable(v, name); side != "" {
			refuse.If(found != "")
			found = "$" + naming.Lower(v) + "." + side
			continue
		}
		if p := r.Property(r.vars[v], name); p != nil {
			refuse.If(found != "")
			found = "$" + naming.Lower(v) + "." + p.Name
		} else if name == "id" && len(tables) == 1 {
			found = "$" + naming.Lower(v) + ".id"
		}
	}
	refuse.If(found == "")
	return found
}

// hasProperty reports whether a table has a property.
func (r *rewriter) hasProperty(name string) bool {
	return slices.ContainsFunc(r.tables, func(v string) bool { return r.Property(r.vars[v], name) != nil })
}

// checkShadow gives up if a name in GROUP BY or HAVING of SQL is that of a column and of a property that the column is not: databases differ
// in which of them it means.
func (r *rewriter) checkShadow(name string) {
	i := slices.IndexFunc(r.computed, func(c column) bool { return c.alias == name && !aggregated(c.text) })
	if i >= 0 && r.inSelect && r.hasProperty(name) && !slices.ContainsFunc(r.tables, func(v string) bool {
		return strings.EqualFold(r.computed[i].text, "$"+naming.Lower(v)+"."+name)
	}) {
		panic(refuse.GiveUp{})
	}
}

// endOfTable returns the end of a table of edges that a column means, or "".
func (r *rewriter) endOfTable(v, column string) string {
	if e := r.Schema.Edge(r.vars[v]); e != nil {
		return r.EndNamed(e, column)
	}
	return ""
}

// member returns a property of a variable.
func (r *rewriter) member(variable, name string) string {
	typ := r.vars[variable]
	switch {
	case name == "__typename" && r.Schema.Interface(typ) != nil:
		name = "type"
	case name == "__typename":
		return "type($" + naming.Lower(variable) + ")"
	case r.Schema.Edge(typ) == nil && (naming.Plain(name) == "rowid" || name == "_id"):
		name = "id"
	default:
		name = r.PropertyName(typ, name)
	}
	if r.inWhere != "" && variable == r.whereVar {
		return name
	}
	return "$" + naming.Lower(variable) + "." + name
}

// variable reads a variable with or without its dollar sign.
func (r *rewriter) variable() string {
	t := r.Next()
	refuse.If(t.Kind != lex.Dollar && t.Kind != lex.Word)
	if _, ok := r.vars[t.Text]; !ok && !r.paths[t.Text] {
		panic(refuse.GiveUp{})
	}
	return t.Text
}

// aggregated reports whether an expression contains an aggregate: a word within a literal is none, and those within the
// braces of a block are of the block.
func aggregated(expr string) bool {
	depth := 0
	tokens, ok := lex.Scan(expr)
	for i, t := range tokens {
		switch {
		case t.Kind == lex.Mark && t.Text == "{":
			depth++
		case t.Kind == lex.Mark && t.Text == "}":
			depth--
		case depth == 0 && t.Kind == lex.Word && i+1 < len(tokens) && tokens[i+1].Text == "(" && tokens[i+1].Kind == lex.Mark && (i == 0 || tokens[i-1].Text != "."):
			if slices.Contains(plan.AggregateNames(), t.Text) {
				return true
			}
		}
	}
	refuse.If(!ok)
	return false
}

// caseOf reads CASE WHEN … THEN … [ELSE …] END as nested calls of if.
func (r *rewriter) caseOf() string {
	r.Expect("case")
	subject := ""
	if !r.Is("when") {
		subject = r.operand()
	}
	out, closing := "", ""
	for r.Accept("when") {
		test := ""
		if subject != "" {
			test = subject + " = " + r.operand()
		} else {
			test = r.asTest().render(true)
		}
		r.Expect("then")
		if out != "" {
			out += ", "
		}
		out += "if(" + test + ", " + r.operand()
		closing += ")"
	}
	refuse.If(out == "")
	if r.Accept("else") && !r.Accept("null") {
		out += ", " + r.operand()
	}
	r.Expect("end")
	return out + closing
}

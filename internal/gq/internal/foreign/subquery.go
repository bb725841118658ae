package foreign

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/divide"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/naming"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/refuse"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// valueBlock reads a block with a value, such as count { … } or collect { … return { … } limit 5 }.
func (r *rewriter) valueBlock() string {
	defer r.Deeper()()
	op := strings.ToLower(r.Peek(0).Text)
	switch op {
	case "exists", "not", "any", "all":
		return r.block().render(true)
	}
	r.Next()
	r.Expect("{")
	out, value := "", ""
	r.nestedRead(func() {
		for !r.IsOne("}", "return", "order", "limit") {
			r.item()
		}
		if r.Accept("return") {
			value = " return " + r.blockValue(op)
		}
		for !r.Accept("}") {
			switch {
			case r.Accept("order", "by"), r.Accept("order"):
				r.sorted()
			default:
				r.Expect("limit")
				r.limit = r.operand()
			}
		}
		out = op + " { " + join(r.match) + value + rowsPart(r.sort, r.limit) + " }"
	})
	return out
}

// blockValue reads what a block returns: records, or one value.
func (r *rewriter) blockValue(op string) string {
	if op == "collect" || op == "first" {
		r.returned()
		return "{ " + joinColumns(r.columns) + " }"
	}
	if r.Accept("distinct") {
		return "distinct " + r.operand()
	}
	return r.operand()
}

// callBlock reads CALL (c) { MATCH … RETURN count(o) AS n }: a value with an aggregate becomes a block, and a
// call without one belongs to the match.
func (r *rewriter) callBlock() {
	defer r.Deeper()()
	optional := r.Accept("optional")
	r.Expect("call")
	var imported []string // the variables that the call names, if it names some
	if r.Accept("(") {
		for r.More(")") {
			imported = append(imported, r.variable())
		}
	}
	r.Expect("{")
	if r.Accept("with") { // the variables that the call uses
		for more := true; more; more = r.Accept(",") {
			imported = append(imported, r.variable())
		}
	}
	before := slices.Clone(r.order)
	inner := r.nestedRead(r.body)
	r.Expect("}")
	columns := inner.computed
	if len(inner.match) > 0 && len(columns) > 0 && len(inner.having) == 0 && inner.skip == "" && !inner.distinct && !inner.staged && inner.limit != "" {
		r.keep(&call{read: inner, columns: columns, optional: optional}, before)
		return
	}
	refuse.If(len(inner.match) == 0 || len(columns) == 0 || len(inner.having)+len(inner.sort) > 0 || inner.limit != "" || inner.skip != "" || inner.distinct)
	for _, v := range before { // a variable that the call does not name is another one inside
		refuse.If(len(imported) > 0 && !slices.Contains(imported, v) && mentionsVar(join(inner.match), "$"+naming.Lower(v)))
	}
	aggregates := 0
	for _, c := range columns {
		if aggregated(c.text) {
			aggregates++
		}
	}
	for _, c := range columns {
		refuse.If(c.fromWith || c.alias == "" && aggregates > 0)
		if c.alias != "" {
			r.values[c.alias] = c.text
			if aggregates > 0 {
				r.values[c.alias] = blockOf(join(inner.match), c.text)
			}
		}
	}
	switch aggregates {
	case 0:
		r.match = append(r.match, inner.match...)
	case len(columns):
	default:
		panic(refuse.GiveUp{})
	}
}

// blockOf writes the block that computes an aggregate over clauses.
func blockOf(match, aggregate string) string {
	e := operandOf(aggregate)
	call := e.aggregate()
	refuse.If(call == nil || !slices.Contains([]string{"count", "sum", "min", "max", "avg"}, call.Name.Value) || len(call.Args) != 1)
	name, distinct := call.Name.Value, call.Distinct != nil
	value, _ := e.part(call.Args[0])
	switch {
	case name != "count":
		return name + " { " + match + " return " + value + " }"
	case distinct:
		return "count { " + match + " return distinct " + value + " }"
	case strings.Contains(value, ".") && !strings.HasSuffix(value, ".id"):
		return "count { " + match + " " + value + " is not null }"
	}
	return "count { " + match + " }"
}

// scalarSelect reads (SELECT MAX(price) FROM Product WHERE …) as a block with a value.
func (r *rewriter) scalarSelect() string {
	defer r.Deeper()()
	r.Expect("(")
	defer r.separateAliases()()
	tables, selects := r.tables, r.inSelect
	r.tables = nil
	inner := r.nestedRead(func() {
		r.selectRows()
		if r.Accept("where") {
			r.wherePart()
		}
	})
	r.Expect(")")
	columns := inner.computed
	r.tables, r.inSelect = tables, selects
	refuse.If(len(columns) != 1 || inner.distinct || inner.limit != "")
	if value, ok := strings.CutPrefix(columns[0].text, "collect("); ok && !strings.HasPrefix(value, "distinct ") {
		value = strings.TrimSuffix(value, ")")
		name := propertyOrValue(value)
		r.note("a collect block lists records: {\"" + name + "\": …}")
		return "collect { " + join(inner.match) + " return { " + value + " as " + name + " } limit 1000 }"
	}
	if p := r.propertyOf(columns[0].text); p != nil && !p.Type.List { // the only value is the greatest one
		return "max { " + join(inner.match) + " return " + columns[0].text + " }"
	}
	refuse.If(!aggregated(columns[0].text))
	return blockOf(join(inner.match), columns[0].text)
}

// separateAliases gives up if a table of the SELECT that comes next, in parentheses, has the alias of a table around it. The
// function that it returns ends the scope.
func (r *rewriter) separateAliases() func() {
	around := r.around
	r.around += join(r.match) + " "
	rest := r.Rest().Inner()
	r.Steps += len(rest) / 16 // reading the tokens once more is work, too
	for _, alias := range r.aliasesIn(divide.TablesOf(rest)) {
		refuse.If(r.known(alias) && mentionsVar(r.around, "$"+naming.Lower(alias)))
	}
	return func() { r.around = around }
}

// inSelectOf reads SELECT … FROM … WHERE … and the closing parenthesis, perhaps after an opening one, as a condition: there
// is such a row, whose only column is equal to an expression unless that is "".
func (r *rewriter) inSelectOf(left string) cond {
	defer r.Deeper()()
	r.Accept("(")
	defer r.separateAliases()()
	r.Expect("select")
	r.Accept("distinct")
	columns := r.At
	outer, tables := r.match, r.tables
	r.match, r.tables = nil, nil
	r.SkipTo("from")
	r.Expect("from")
	existence, null := r.existence, false
	r.existence = true
	r.from()
	r.existence = existence
	if left != "" {
		after := r.At
		r.At = columns
		column := r.operand()
		r.Expect("from")
		r.At = after
		refuse.If(aggregated(column))
		if r.isEnd(column) {
			left = r.idOf(left)
		} else if r.isEnd(left) {
			column = r.idOf(column)
		}
		r.match = append(r.match, leaf(column+" = "+left))
		null = r.nullable(left) || r.nullable(column)
	}
	if r.Accept("where") {
		r.match = append(r.match, r.condition())
	}
	r.Expect(")")
	c := cond{op: "exists", subs: antiJoins(r.nodesAtEnds(flat(r.match))), null: null}
	r.match, r.tables = outer, tables
	return c
}

// flat returns clauses that all have to hold, without all { … } around some of them.
func flat(match []cond) (out []cond) {
	for _, c := range match {
		if c.op == "all" {
			out = append(out, flat(c.subs)...)
		} else {
			out = append(out, c)
		}
	}
	return out
}

// nodesAtEnds writes the conditions that an end of an edge is a node as ends of traversals: of $_ $k:knows $_ $k.from = $p.email it
// makes $p knows $_.
func (r *rewriter) nodesAtEnds(match []cond) []cond {
	out := slices.Clone(match)
	for i := 0; i < len(out); i++ {
		edge, node, place := r.nodeAtEnd(out[i])
		for j, c := range out {
			t := c.traversal()
			if t == nil || t.EdgeVar == nil || t.EdgeVar.Value != edge {
				continue
			}
			words := strings.Fields(c.text)
			if words[place] != "$_" {
				continue
			}
			words[place] = node
			out[j] = leaf(strings.Join(words, " "))
			out = slices.Delete(out, i, i+1)
			i--
			break
		}
	}
	for i, c := range out {
		if t := c.traversal(); t != nil && t.EdgeVar != nil && !mentionsVar(join(slices.Delete(slices.Clone(out), i, i+1)), t.EdgeVar.Value) {
			out[i] = leaf(strings.Replace(c.text, t.EdgeVar.Value+":", "", 1))
		}
	}
	return out
}

// nodeAtEnd returns the variables of a condition such as $k.from = $p.email, and the place of the node among the words of a
// traversal. Without such a condition, the variables are "".
func (r *rewriter) nodeAtEnd(c cond) (edge, node string, place int) {
	f := c.filter()
	if f == nil || f.Null != nil || f.Op.Value != "=" {
		return "", "", 0
	}
	for _, sides := range [][2]syntax.Operand{{f.Left, f.Right}, {f.Right, f.Left}} {
		edge, end := partsOf(sides[0])
		node, key := partsOf(sides[1])
		e, n := r.Schema.Edge(r.typeOf(edge)), r.Schema.Node(r.typeOf(node))
		if e != nil && n != nil && (end == "from" || end == "to") && r.Names(n.Name, key) && r.AtEnd(e, end == "to", n.Name) {
			return "$" + edge, "$" + node, map[string]int{"from": 0, "to": 2}[end]
		}
	}
	return "", "", 0
}

// partsOf returns the name of the variable of an operand and its property, which is the id for a variable alone. For other operands,
// the name is "".
func partsOf(o syntax.Operand) (variable, property string) {
	switch o := o.(type) {
	case *syntax.PropRef:
		return o.Var.Value[1:], o.Prop.Value
	case *syntax.VarRef:
		return o.Tokens[0].Value[1:], "id"
	}
	return "", ""
}

// antiJoins writes an outer join of which a column is null as a join that finds nothing: a block has no optional clauses.
func antiJoins(match []cond) []cond {
	out := slices.Clone(match)
	for i := 0; i < len(out); i++ {
		f := out[i].filter()
		if f == nil || f.Null == nil || f.Null.Not {
			continue
		}
		p, ok := f.Left.(*syntax.PropRef)
		if !ok {
			continue
		}
		v := p.Var.Value
		for j, o := range out {
			if o.op != "optional" || !mentionsVar(join(o.subs), v) {
				continue
			}
			if others := slices.Concat(out[:min(i, j)], out[min(i, j)+1:max(i, j)], out[max(i, j)+1:]); !mentionsVar(join(others), v) {
				out[j] = cond{op: "not", subs: o.subs}
				out = slices.Delete(out, i, i+1)
				i--
				break
			}
		}
	}
	return out
}

// countedList reads [(d)-[:TREATS]->(p) WHERE … | p] and the closing parenthesis of size as a block that counts.
func (r *rewriter) countedList() string {
	match := r.comprehension()
	if r.variable(); r.Accept(".") {
		r.Word()
	}
	r.Expect("]", ")")
	return "count { " + join(match) + " }"
}

// derived reads (SELECT … FROM … WHERE …) x after FROM. The columns become values that the rest of the text uses by
// their names. The columns that it reads from them begin at an index.
func (r *rewriter) derived(columns int) {
	defer r.Deeper()()
	r.Expect("(")
	r.subselects++
	r.selectRows()
	r.body()
	r.subselects--
	r.Expect(")")
	alias := r.TableAlias()
	r.valueStage()
	r.tables = nil
	r.Unqualify(alias, columns)
	refuse.If(r.IsOne(",", "join", "left", "inner", "cross"))
}

// aliasesIn returns the aliases of the tables after FROM.
func (r *rewriter) aliasesIn(from []lex.Token) (out []string) {
	for i := 1; i < len(from); i++ {
		x, before := from[i], from[i-1]
		if x.Kind == lex.Word && before.Kind == lex.Word && (before.Are("as") || r.TableNode(before.Text) != "" || r.EdgeType(before.Text) != nil) && !lex.Tokens(from[i:]).One([]string{"as", "join", "left", "inner", "cross", "on", "using", "right", "full"}) {
			out = append(out, x.Text)
		}
	}
	return out
}

package plan

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Format formats a plan for people, with one clause, column, sort key or statement per line.
// Variables and parameters appear as $name. If several blocks use the same name for a
// variable, the second and later variables get a number. Anonymous variables always get a number.
func Format(q *Query) string {
	p := &printer{q: q}
	p.names()
	p.line("query %s(%s)", q.Name, p.params())
	p.depth++
	for _, prm := range p.q.OfCaller() {
		p.line("caller %s: %s", prm.Name, prm.TypeText())
	}
	if q.AsOf != nil {
		p.line("as of %s", p.expr(q.AsOf))
	}
	switch {
	case q.Read != nil:
		p.read(q.Read)
	case q.Mutation != nil:
		p.mutation(q.Mutation)
	}
	for _, u := range q.Uses {
		p.use(u)
	}
	return p.b.String()
}

// printer formats one query.
type printer struct {
	q     *Query
	b     strings.Builder
	depth int      // indentation in levels
	vars  []string // by VarID
	plain bool     // literals appear without their kind
}

// line writes an indented line.
func (p *printer) line(format string, args ...any) {
	p.b.WriteString(strings.Repeat("  ", p.depth))
	fmt.Fprintf(&p.b, format, args...)
	p.b.WriteByte('\n')
}

// names makes the names of variables unique. Separate blocks may use the same name, and all
// anonymous variables have the same name.
func (p *printer) names() {
	switch {
	case p.q.Read != nil:
		p.nameVars(p.q.Read.Vars)
	case p.q.Mutation != nil:
		p.nameVars(p.q.Mutation.Vars)
	}
}

// nameVars sets the names of the variables.
func (p *printer) nameVars(vars []Var) {
	p.vars = nil
	count := map[string]int{}
	for _, v := range vars {
		count[v.Name]++
		name := "$" + v.Name
		if v.Name == "_" || count[v.Name] > 1 {
			name += "#" + strconv.Itoa(count[v.Name])
		}
		p.vars = append(p.vars, name)
	}
}

// params formats the parameters.
func (p *printer) params() string {
	list := make([]string, len(p.q.Declared()))
	for i, prm := range p.q.Declared() {
		list[i] = "$" + prm.Name + ": " + prm.TypeText() + p.annotations(&prm)
	}
	return strings.Join(list, ", ")
}

// annotations formats the annotations of a parameter that determine which arguments it accepts.
func (p *printer) annotations(prm *Param) string {
	var s string
	if prm.Bounds != (value.Bounds{}) {
		s += " @range(" + prm.Bounds.String() + ")"
	}
	if prm.Pattern != nil {
		s += " @check(" + strconv.Quote(prm.Pattern.String()) + ")"
	}
	if !prm.Default.IsNull() {
		s += " @default(" + formatValue(prm.Default) + ")"
	}
	return s
}

// read writes a read.
func (p *printer) read(r *Read) {
	p.declare(r.Vars)
	if r.Valid != nil {
		p.line("valid %s", p.valid(r.Valid))
	}
	p.match(r.Match)
	p.columns(r.Columns)
	if r.Grouped {
		p.line("grouped")
	}
	if len(r.Having) > 0 {
		p.block("having", r.Having)
	}
	for _, o := range r.Order {
		dir := "asc"
		if o.Desc {
			dir = "desc"
		}
		p.line("order %s %s", p.expr(o.Expr), dir)
	}
	ties := make([]string, len(r.Ties))
	for i, v := range r.Ties {
		ties[i] = p.vars[v]
	}
	p.line("ties %s", strings.Join(ties, " "))
	switch {
	case r.LimitBy != nil:
		p.line("limit %s, at most %d", p.expr(*r.LimitBy), r.Limit)
	case r.Limit != NoLimit:
		p.line("limit %d", r.Limit)
	}
}

// valid formats when the entities of a read are valid.
func (p *printer) valid(v *Valid) string {
	if v.To == nil {
		return "at " + p.expr(v.From)
	}
	return "during " + p.expr(v.From) + ", " + p.expr(v.To)
}

// declare writes the variables with their types.
func (p *printer) declare(vars []Var) {
	for i, v := range vars {
		optional := ""
		if v.Optional {
			optional = "?"
		}
		p.line("var %s: %s%s", p.vars[i], strings.TrimSpace(v.Entity.String()+" "+v.Type), optional)
	}
}

// columns writes columns, one a line.
func (p *printer) columns(list []Column) {
	for _, c := range list {
		p.line("column %s: %s = %s", strconv.Quote(c.Name), p.columnType(c), p.expr(c.Expr))
	}
}

// columnType formats the type of a column.
func (p *printer) columnType(c Column) string { return typeText(c.Type, c.Fields, "{", "}") }

// match writes the clauses of a match.
func (p *printer) match(clauses []Clause) {
	for _, c := range clauses {
		keyword, ok := blockKeyword(c)
		if !ok {
			p.line("%s", p.clause(c))
			continue
		}
		p.block(keyword, Block(c))
	}
}

// block writes a keyword and, one level deeper, clauses.
func (p *printer) block(keyword string, clauses []Clause) {
	p.line("%s", keyword)
	p.depth++
	p.match(clauses)
	p.depth--
}

// clause formats a clause that is not a block.
func (p *printer) clause(c Clause) string {
	switch c := c.(type) {
	case Bind:
		return "bind " + p.vars[c.Var]
	case Traverse:
		verb := "traverse "
		if c.Walk {
			verb = "walk "
		}
		return verb + Speller{p}.Traverse(c)
	case Filter:
		return "filter " + p.cond(c.Cond)
	case Not, Exists, Any, All, Optional:
	}
	panic(fmt.Sprintf("plan: unknown clause %T", c))
}

// cond formats a condition.
func (p *printer) cond(c Cond) string {
	switch c := c.(type) {
	case Compare:
		s := p.side(c.Left) + " " + c.Op.String() + " " + p.side(c.Right)
		if c.Unless != NoParam {
			s += " unless " + p.q.Params[c.Unless].Spelled() + " is null"
		}
		return s
	case TextMatch:
		return p.textMatch(c)
	case NullTest:
		if c.Not {
			return p.side(c.Expr) + " is not null"
		}
		return p.side(c.Expr) + " is null"
	}
	panic(fmt.Sprintf("plan: unknown condition %T", c))
}

// textMatch formats a text match.
func (p *printer) textMatch(m TextMatch) string {
	s := m.Kind.String() + "(" + p.expr(m.Prop) + ", " + p.expr(m.Query)
	if m.MaxEdits != nil {
		s += ", " + p.expr(m.MaxEdits)
	}
	return s + ")"
}

// expr formats an expression.
func (p *printer) expr(e Expr) string {
	switch e := e.(type) {
	case Lit:
		if p.plain && !e.Value.IsNull() && !e.Value.IsList() && e.Value.Kind().IsNumeric() {
			return value.Text(e.Value)
		}
		return formatValue(e.Value)
	case ParamRef:
		return p.q.Params[e.Index].Spelled()
	case Prop:
		return p.vars[e.Var] + "." + e.Name
	case ID:
		return "id(" + p.vars[e.Var] + ")"
	case Endpoint:
		if e.To {
			return "to(" + p.vars[e.Var] + ")"
		}
		return "from(" + p.vars[e.Var] + ")"
	case EndNode:
		return p.expr(Endpoint{Var: e.Var, To: e.To})
	case WalkPart:
		return e.Fact.String() + "(" + p.vars[e.Var] + ")"
	case Whole:
		return p.vars[e.Var]
	case Now:
		return "now()"
	case Agg:
		distinct := ""
		if e.Distinct {
			distinct = "distinct "
		}
		return e.Func.String() + "(" + distinct + p.expr(e.Arg) + ")"
	case Matched:
		return p.textMatch(e.Match)
	case BM25:
		return "bm25(" + p.expr(e.Prop) + ", " + p.expr(e.Query) + ")"
	case Nearest:
		return "nearest(" + p.expr(e.Prop) + ", " + p.expr(e.Vector) + ")"
	case RRF:
		s := "rrf(" + p.expr(e.First) + ", " + p.expr(e.Second)
		if e.K != nil {
			s += ", " + p.expr(e.K)
		}
		return s + ")"
	case Apply:
		return p.apply(e)
	case Test:
		return p.cond(e.Cond)
	case Holds:
		return p.holds(e.Block)
	case Old:
		return e.Name
	case KeyOf:
		members := make([]string, len(e.Key))
		for i, m := range e.Key {
			members[i] = p.expr(m.Value)
		}
		return e.Node + "(" + strings.Join(members, ", ") + ")"
	case Cell:
		return e.Name
	case NodeRef:
		return "{type: " + p.expr(e.Type) + ", id: " + p.expr(e.ID) + "}"
	case BlockAgg:
		return p.blockAgg(e)
	case BlockRows:
		return p.blockRows(e)
	case Member:
		return p.expr(e.Of) + "." + e.Name
	}
	panic(fmt.Sprintf("plan: unknown expression %T", e))
}

// formatValue formats a value. It adds the kind where the language's notation would be
// ambiguous.
func formatValue(v value.Value) string {
	switch {
	case v.IsNull():
		return "null"
	case v.IsList():
		elems := make([]string, len(v.Elems()))
		for i, e := range v.Elems() {
			elems[i] = formatValue(e)
		}
		return "[" + strings.Join(elems, ", ") + "]"
	case v.Kind() == value.Vector:
		elems := make([]string, len(v.Vector()))
		for i, f := range v.Vector() {
			elems[i] = value.Text(value.OfF32(f))
		}
		return "Vector[" + strings.Join(elems, ", ") + "]"
	case v.Kind() == value.String:
		return strconv.Quote(v.Str())
	case v.Kind() == value.Bool:
		return value.Text(v)
	}
	return v.Kind().String() + "(" + value.Text(v) + ")"
}

// use formats what a query reads or writes.
func (p *printer) use(u Use) {
	verb := "reads"
	if u.Write {
		verb = "writes"
	}
	switch {
	case u.Property != "":
		p.line("%s %s %s.%s: %s", verb, u.Entity, u.Type, u.Property, u.Value)
	case u.Entity == Edge:
		p.line("%s edge %s: %s -> %s", verb, u.Type, u.From, u.To)
	default:
		p.line("%s %s %s", verb, u.Entity, u.Type)
	}
}

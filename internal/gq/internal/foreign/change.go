package foreign

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/exact"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/naming"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/refuse"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// remove reads REMOVE $p.weight, $p.text. No literal is null, so each property gets the value of a
// parameter that may be left out.
func (r *rewriter) remove() {
	for {
		v := r.variable()
		r.Expect(".")
		p := r.Property(r.vars[v], r.Word())
		refuse.If(p == nil)
		r.change(v, "update", " set { "+p.Name+": "+r.null(p)+" }")
		if !r.Accept(",") {
			return
		}
	}
}

// null returns a parameter that is null when the call leaves it out.
func (r *rewriter) null(p *catalog.Property) string {
	refuse.If(!p.Type.Nullable || p.Type.List)
	r.note("no literal is null: the call leaves $" + p.Name + " out")
	refuse.If(r.known(p.Name))
	r.declare(p.Name, p.Type.Kind.String()+"?")
	return "$" + p.Name
}

// assignment reads the value of an assignment to a property.
func (r *rewriter) assignment(typ, name string) string {
	p := r.Property(typ, name)
	if p != nil && r.Accept("null") {
		return r.null(p)
	}
	if p != nil && p.Type.Kind == value.Bool && !p.Type.Nullable && r.Accept("not") {
		return "(" + r.operand() + " = false)"
	}
	return r.valueOf(p)
}

// setting reads the assignment to a property of a type, as p.name = 1 or name: 1. The variable may be missing.
func (r *rewriter) setting(v, typ string) (name, value string) {
	if t := r.Peek(0); v != "" && (t.Kind == lex.Dollar || t.Kind == lex.Word) && t.Text == v && r.IsAt(1, ".") {
		r.SkipTwo()
	}
	name = r.PropertyName(typ, r.Word())
	if !r.Accept("=") {
		r.Expect(":")
	}
	return name, r.assignment(typ, name)
}

// update reads the rest of UPDATE Person SET a = 1 WHERE …, with or without braces.
func (r *rewriter) update() {
	if t := r.Peek(0); (t.Kind == lex.Dollar || t.Kind == lex.Word) && r.known(t.Text) && (r.Peek(1).Are("set") || r.IsAt(1, "{")) {
		r.updateVariable()
		return
	}
	named := ""
	if r.Peek(0).Kind == lex.Dollar && r.IsAt(1, ":") { // $p: Person
		named = r.Next().Text
		r.Next()
	}
	typ := r.tableType()
	r.inWhere = typ
	r.Accept("as")
	if t := r.Peek(0); named == "" && t.Kind == lex.Word && !r.Is("set") {
		named = r.Word()
	}
	if named != "" {
		r.whereVar = named
		r.bind(named, typ)
	}
	if !r.Is("{") {
		r.Expect("set")
	}
	var out []string
	r.List(func() {
		name, value := r.setting(r.whereVar, typ)
		out = append(out, name+": "+value)
	})
	r.where("update "+typ+" set { "+strings.Join(out, ", ")+" }", typ)
}

// where reads the condition of a mutation and writes the statement. Only comparisons that all have to
// hold can stand there; a match before the statement tests any other condition.
func (r *rewriter) where(statement, typ string) {
	if props, ok := strings.CutPrefix(statement, "delete "); ok && props == typ && r.Is("{") { // delete Person { email: "x" }
		r.inWhere = ""
		var where []string
		for _, p := range r.props(typ) {
			name, value, _ := strings.Cut(p, ": ")
			where = append(where, name+" = "+value)
		}
		refuse.If(len(where) == 0)
		r.emit(statement + " where " + strings.Join(where, " and "))
		return
	}
	r.Expect("where")
	named := r.whereVar
	var out []string
	if !r.try(func() {
		r.inWhere = typ
		c := r.condition()
		r.inWhere, r.whereVar = "", ""
		parts := []cond{c}
		if c.op == "all" {
			parts = c.subs
		}
		for _, p := range parts {
			refuse.If(p.op != "" || strings.Contains(p.text, "{") || !comparesOnly(p.text))
			out = append(out, p.text)
		}
	}) {
		r.whereMatch(statement, typ, named)
		return
	}
	r.emit(statement + " where " + strings.Join(out, " and "))
}

// comparesOnly reports whether a condition has an operator that may stand in the where of a statement.
func comparesOnly(text string) bool {
	tokens, ok := lex.Scan(text)
	return ok && !slices.ContainsFunc(tokens, func(t lex.Token) bool {
		return t.Kind == lex.Word && slices.Contains([]string{"is", "contains", "starts_with", "matches", "exists"}, t.Text)
	})
}

// whereMatch reads the condition of a mutation as that of a match.
func (r *rewriter) whereMatch(statement, typ, v string) {
	r.inWhere, r.whereVar = "", ""
	refuse.If(len(r.match)+len(r.statements) > 0)
	if v == "" {
		v = r.fresh(typ)
	}
	r.tables = []string{v}
	key := "id"
	if e := r.Schema.Edge(typ); e != nil {
		r.match = append(r.match, leaf("$_ $"+naming.Lower(v)+":"+naming.Lower(e.Name)+" $_"))
	} else {
		key = r.Key(typ)
		r.match = append(r.match, leaf("$"+naming.Lower(v)+": "+typ))
	}
	r.match = append(r.match, r.condition())
	r.tables = nil
	r.emit(statement + " where " + key + " = $" + naming.Lower(v) + "." + key)
}

// set reads the rest of SET p.a = 1, p.b = 2 after a match, with or without braces.
func (r *rewriter) set() {
	var names []string
	values := map[string][]string{}
	assign := func(v string) {
		name, value := r.setting("", r.vars[v])
		if !slices.Contains(names, v) {
			names = append(names, v)
		}
		refuse.If(slices.ContainsFunc(keyProperty.FindAllString(value, -1), func(p string) bool { return slices.Contains(r.setBefore, p) })) // Cypher reads there what it has assigned before
		r.setBefore = append(r.setBefore, "$"+naming.Lower(v)+"."+name)
		values[v] = append(values[v], name+": "+value)
	}
	r.List(func() {
		v := r.variable()
		if r.Accept("+", "=", "{") || r.Accept("{") { // p += { a: 1 }
			for r.More("}") {
				assign(v)
			}
		} else {
			r.Expect(".")
			assign(v)
		}
	})
	for _, v := range names {
		r.change(v, "update", " set { "+strings.Join(values[v], ", ")+" }")
	}
}

// change writes an update or a delete of what a variable of the match is. A match of one node by
// values of its properties becomes the condition of the statement.
func (r *rewriter) change(v, verb, assigned string) {
	if r.changeKeyed(v, verb, assigned) {
		return
	}
	typ := r.vars[v]
	name := "$" + naming.Lower(v)
	if e := r.Schema.Edge(typ); e != nil && len(r.match) > 0 {
		r.emit(verb + " " + e.Name + assigned + " where id = " + name + ".id")
		return
	}
	refuse.If(r.Schema.Node(typ) == nil)
	if len(r.statements) == 0 && r.blockLimit == "" && !strings.Contains(assigned, name+".") {
		if where, ok := r.predicates(name, typ); ok {
			r.match = nil
			r.emit(verb + " " + typ + assigned + " where " + where)
			return
		}
	}
	refuse.If(len(r.match) == 0)
	key := r.Key(typ)
	r.emit(verb + " " + typ + assigned + " where " + key + " = " + name + "." + key)
}

// predicates returns the match as conditions of a statement, if it binds one node and only compares its
// properties with values.
func (r *rewriter) predicates(name, typ string) (where string, ok bool) {
	if len(r.match) == 0 {
		return "", false
	}
	var out []string
	b := r.match[0].binding()
	if b == nil || b.Var.Value != name || b.Type.Value != typ || len(b.Props) > 1 {
		return "", false
	}
	for _, p := range b.Props {
		property := r.Property(typ, p.Name.Value)
		if property != nil && property.Type.List || p.Optional {
			return "", false
		}
		out = append(out, p.Name.Value+" = "+exact.SourceOf(p.Value))
	}
	for _, c := range r.match[1:] {
		f := c.filter()
		if f == nil || f.Null != nil || f.Optional || lex.Relations[f.Op.Value] == "" && f.Op.Value != "in" {
			return "", false
		}
		p, ok := f.Left.(*syntax.PropRef)
		if !ok || p.Var.Value != name || slices.ContainsFunc(f.Right.Source().Tokens, func(t syntax.Token) bool { return r.bound(strings.TrimPrefix(t.Value, "$")) }) {
			return "", false
		}
		out = append(out, strings.TrimPrefix(c.text, name+"."))
	}
	if len(out) == 0 {
		return "", false
	}
	return strings.Join(out, " and "), true
}

package foreign

import (
	"slices"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/naming"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/refuse"
)

// unquote returns the content of a string that quote wrote, if it is one without escapes.
func unquote(e string) (content string, ok bool) {
	if len(e) < 2 || e[0] != '"' || strings.IndexByte(e[1:], '"') != len(e)-2 || strings.Contains(e, `\`) {
		return "", false
	}
	return e[1 : len(e)-1], true
}

// literalIn returns the text within a literal such as date("2020-01-01").
func literalIn(e, function string) (content string, ok bool) {
	inner, ok := strings.CutPrefix(e, function+"(")
	if !ok || !strings.HasSuffix(inner, ")") {
		return "", false
	}
	return unquote(strings.TrimSuffix(inner, ")"))
}

// dateLiteral writes a string as a date if it is one.
func dateLiteral(e string) string {
	if s, ok := unquote(e); ok {
		if _, err := time.Parse(time.DateOnly, s); err == nil {
			return "date(" + e + ")"
		}
	}
	return e
}

// dateTimeLiteral writes a string or a literal as a moment if it is one. A date means its beginning in
// UTC, and so does a time without an offset.
func dateTimeLiteral(e string) string {
	s, ok := unquote(e)
	for _, function := range []string{"date", "datetime"} {
		if !ok {
			s, ok = literalIn(e, function)
		}
	}
	if !ok {
		return e
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return "datetime(" + lex.Quote(t.Format(time.RFC3339Nano)) + ")"
		}
	}
	return e
}

// fit writes a value as the type of a property needs it: a string as a date, and a parameter that the
// query does not declare with its type.
func (r *rewriter) fit(p *catalog.Property, e string) string {
	if p == nil {
		return e
	}
	e = r.elementValue(p, r.unconverted(e))
	if name, ok := r.undeclared(e); ok {
		r.declare(name, p.Type.Kind.String())
		r.retype(name, p)
		return e
	}
	switch p.Type.Kind {
	case value.String:
		if _, err := parseCount(e); err == nil && (p.Name == "from" || p.Name == "to") {
			return lex.Quote(e) // the id of a node is a text, also if its key is a number
		}
	case value.Bool:
		if e == "0" || e == "1" {
			return map[string]string{"0": "false", "1": "true"}[e]
		}
	case value.Date:
		return dateLiteral(e)
	case value.DateTime:
		return dateTimeLiteral(e)
	}
	return e
}

// propertyOf returns the property that an expression such as $p.name is, or nil.
func (r *rewriter) propertyOf(e string) *catalog.Property {
	v, property, ok := strings.Cut(e, ".")
	if !ok {
		if r.inWhere != "" {
			return r.PropertyOrEnd(r.inWhere, e)
		}
		return nil
	}
	property = strings.TrimSpace(property)
	if name, mine := strings.CutPrefix(v, "$"); mine && r.bound(name) {
		return r.PropertyOrEnd(r.typeOf(name), property)
	}
	return nil
}

// isEnd reports whether an expression is the end of an edge, such as $k.from.
func (r *rewriter) isEnd(e string) bool {
	v, name, _ := strings.Cut(strings.TrimPrefix(e, "$"), ".")
	return strings.HasPrefix(e, "$") && (name == "from" || name == "to") && r.Schema.Edge(r.typeOf(v)) != nil
}

// idOf writes the key of a node as its id, to which the end of an edge is compared. They differ if the key is no text.
func (r *rewriter) idOf(e string) string {
	v, name, _ := strings.Cut(strings.TrimPrefix(e, "$"), ".")
	n := r.Schema.Node(r.typeOf(v))
	if !strings.HasPrefix(e, "$") || n == nil || name != r.Key(n.Name) {
		return e
	}
	if p := r.Property(n.Name, name); p == nil || p.Type.Kind == value.String {
		return e
	}
	return "$" + v + ".id"
}

// endValue reads the value of an end of an edge. The id of a node is a text, also if its key is a number.
func (r *rewriter) endValue() string {
	t := r.Peek(0)
	if p, _ := r.param(t.Text); t.Kind == lex.Dollar && numbers[p.typ] && !r.IsAt(1, ".") {
		r.Next()
		return "string($" + t.Text + ")"
	}
	return r.valueOf(&catalog.Property{Name: "from", Type: value.Type{Kind: value.String}})
}

// valueOf reads a value for a property. A bare word may be a value of an enum.
func (r *rewriter) valueOf(p *catalog.Property) string {
	t := r.Peek(0)
	if p != nil && t.Kind == lex.Word && !r.known(t.Text) && r.Peek(1).Text != "(" && r.Peek(1).Text != "." {
		for _, v := range p.Type.Enum {
			if v == t.Text || strings.EqualFold(v, t.Text) && !slices.Contains(p.Type.Enum, t.Text) {
				r.Next()
				return lex.Quote(v)
			}
		}
	}
	return r.fit(p, r.operand())
}

// unconverted returns the parameter or the field of an element that a function converts, because it has the right type
// already.
func (r *rewriter) unconverted(e string) string {
	for _, f := range []string{"date", "datetime", "int", "float", "string"} {
		inner, ok := strings.CutPrefix(e, f+"($")
		name := inner[:lex.WordLen(inner)]
		if !ok || !strings.HasSuffix(inner, ")") || strings.ContainsAny(inner, "( ") {
			continue
		}
		if field := r.element != nil && name == naming.Lower(r.element.name); field || inner == name+")" && !r.bound(name) && !r.declared(name) {
			return "$" + strings.TrimSuffix(inner, ")")
		}
	}
	return e
}

// elements reads the values of a list in brackets or parentheses. Servers of GraphQL need no commas in it.
func (r *rewriter) elements(p *catalog.Property) (out []string) {
	closing := map[string]string{"[": "]", "(": ")"}[r.Next().Text]
	refuse.If(closing == "")
	for !r.Accept(closing) {
		if len(out) > 0 {
			r.Accept(",")
		}
		out = append(out, r.valueOf(p))
	}
	return out
}

// listOf reads a list of values for a property, or a parameter that holds one.
func (r *rewriter) listOf(p *catalog.Property) string {
	if !r.Is("[") && !r.Is("(") {
		return r.fitList(p, r.operand())
	}
	return "[" + strings.Join(r.elements(p), ", ") + "]"
}

// isIn reads a list of values, or a parameter that holds one, and writes the condition that a property has one of them.
// Only literals may stand in a list.
func (r *rewriter) isIn(left string, p *catalog.Property) cond {
	if r.Is("(", "select") {
		return r.inSelectOf(left)
	}
	if !r.Is("[") && !r.Is("(") {
		list := r.listOf(p)
		if member := r.propertyOf(list); p == nil && member != nil && member.Type.List {
			left = r.fit(member, left)
		}
		return leaf(left + " in " + r.Optional(list))
	}
	start := r.At
	list := r.elements(p)
	if !slices.ContainsFunc(list, func(e string) bool { return strings.HasPrefix(e, "$") }) {
		return leaf(left + " in [" + strings.Join(list, ", ") + "]")
	}
	r.At = start
	refuse.If(p != nil && p.Type.List)
	c := cond{op: "any"}
	for _, e := range list {
		c.subs = append(c.subs, leaf(left+" = "+e))
	}
	r.SkipGroup()
	if len(c.subs) == 1 {
		return c.subs[0]
	}
	return c
}

// containsEach reads a list of values, and writes a condition on a list or a text: all or any of the values are in it.
func (r *rewriter) containsEach(left, op string, p *catalog.Property) cond {
	c := cond{op: op}
	for _, v := range r.elements(p) {
		c.subs = append(c.subs, leaf(left+" contains "+v))
	}
	refuse.If(len(c.subs) == 0)
	return c
}

// listMember reads any(x IN list WHERE x = value) or none(…) of Cypher.
func (r *rewriter) listMember() cond {
	quantifier := strings.ToLower(r.Word())
	r.Expect("(")
	name := r.Word()
	r.Expect("in")
	c := r.memberEqual(name, quantifier)
	r.Expect(")")
	if quantifier == "none" {
		return r.negated(c)
	}
	return c
}

// memberEqual reads the rest of any(x IN list WHERE x = value): the list contains the value.
func (r *rewriter) memberEqual(name, quantifier string) cond {
	list := r.operand()
	r.Expect("where")
	r.Expect(name)
	switch {
	case quantifier == "all":
		panic(refuse.GiveUp{}) // no member has another value
	case r.Accept("in"):
		return r.containsEach(list, "any", r.propertyOf(list))
	}
	r.Expect("=")
	return leaf(list + " contains " + r.operand())
}

// fitList is fit for a list of values.
func (r *rewriter) fitList(p *catalog.Property, e string) string {
	if name, ok := r.undeclared(e); ok && p != nil {
		r.declare(name, "["+p.Type.Kind.String()+"]")
		r.retype(name, p)
	}
	return e
}

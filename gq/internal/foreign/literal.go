package foreign

import (
	"slices"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
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
			return "datetime(" + quote(t.Format(time.RFC3339Nano)) + ")"
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
	if name, ok := strings.CutPrefix(e, "$"); ok && wordLen(name) == len(name) && !r.bound(name) {
		r.declare(name, p.Type.Kind.String())
		r.retype(name, p)
		return e
	}
	switch p.Type.Kind {
	case value.String:
		if _, err := parseCount(e); err == nil && (p.Name == "from" || p.Name == "to") {
			return quote(e) // the id of a node is a text, also if its key is a number
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

// declared reports whether the query declares a parameter.
func (r *rewriter) declared(name string) bool {
	return slices.ContainsFunc(r.params, func(p string) bool { return strings.HasPrefix(p, "$"+name+":") })
}

// declare adds a parameter of a type unless the query declares it.
func (r *rewriter) declare(name, typ string) {
	if !r.declared(name) {
		r.params = append(r.params, "$"+name+": "+typ)
	}
}

// propertyOf returns the property that an expression such as $p.name is, or nil.
func (r *rewriter) propertyOf(e string) *catalog.Property {
	v, name, ok := strings.Cut(e, ".")
	if !ok {
		if r.inWhere != "" {
			return r.propertyOrEnd(r.inWhere, e)
		}
		return nil
	}
	name = strings.TrimSpace(name)
	for _, variable := range r.order {
		if "$"+lower(variable) == v {
			return r.propertyOrEnd(r.vars[variable], name)
		}
	}
	return nil
}

// isEnd reports whether an expression is the end of an edge, such as $k.from.
func (r *rewriter) isEnd(e string) bool {
	v, name, _ := strings.Cut(strings.TrimPrefix(e, "$"), ".")
	return strings.HasPrefix(e, "$") && (name == "from" || name == "to") && r.schema.Edge(r.typeOf(v)) != nil
}

// idOf writes the key of a node as its id, to which the end of an edge is compared. They differ if the key is no text.
func (r *rewriter) idOf(e string) string {
	v, name, _ := strings.Cut(strings.TrimPrefix(e, "$"), ".")
	n := r.schema.Node(r.typeOf(v))
	if !strings.HasPrefix(e, "$") || n == nil || name != r.key(n.Name) {
		return e
	}
	if p := r.property(n.Name, name); p == nil || p.Type.Kind == value.String {
		return e
	}
	return "$" + v + ".id"
}

// endValue reads the value of an end of an edge. The id of a node is a text, also if its key is a number.
func (r *rewriter) endValue() string {
	t := r.peek(0)
	if n := slices.IndexFunc(r.params, func(p string) bool { return t.kind == dollar && strings.HasPrefix(p, "$"+t.text+": ") }); n >= 0 && !r.isAt(1, ".") {
		typ := strings.TrimPrefix(r.params[n], "$"+t.text+": ")
		if numbers[typ[:wordLen(typ)]] {
			r.next()
			return "string($" + t.text + ")"
		}
	}
	return r.valueOf(&catalog.Property{Name: "from", Type: value.Type{Kind: value.String}})
}

// valueOf reads a value for a property. A bare word may be a value of an enum.
func (r *rewriter) valueOf(p *catalog.Property) string {
	t := r.peek(0)
	if p != nil && t.kind == word && !r.known(t.text) && r.peek(1).text != "(" && r.peek(1).text != "." {
		for _, v := range p.Type.Enum {
			if v == t.text || strings.EqualFold(v, t.text) && !slices.Contains(p.Type.Enum, t.text) {
				r.next()
				return quote(v)
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
		name := inner[:wordLen(inner)]
		if !ok || !strings.HasSuffix(inner, ")") || strings.ContainsAny(inner, "( ") {
			continue
		}
		if field := r.element != nil && name == lower(r.element.name); field || inner == name+")" && !r.bound(name) && !r.declared(name) {
			return "$" + strings.TrimSuffix(inner, ")")
		}
	}
	return e
}

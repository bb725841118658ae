package foreign

import (
	"maps"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/refuse"
)

// scalars maps the types of GraphQL and SQL to those of this language.
var scalars = map[string]string{"id": "String", "int": "I32", "integer": "I32", "bigint": "I64", "long": "I64", "float": "F64", "double": "F64", "number": "F64",
	"int8": "I32", "int16": "I32", "int32": "I32", "int64": "I64", "uint64": "U64", "smallint": "I32", "float32": "F32", "float64": "F64", "real": "F32", "decimal": "F64", "numeric": "F64",
	"boolean": "Bool", "bool": "Bool", "string": "String", "text": "String", "varchar": "String", "timestamp": "DateTime", "timestamptz": "DateTime", "awsdatetime": "DateTime", "localdatetime": "DateTime", "awsdate": "Date", "localdate": "Date", "float8": "F64", "int4": "I32", "uuid": "String", "short": "I32", "datetime": "DateTime", "date": "Date"}

// param is a parameter of a query.
type param struct {
	name string
	typ  string // such as I32, [String] or [{ name: String }]
	rest string // a question mark, and annotations
}

// render writes the declaration of a parameter.
func (p param) render() string { return "$" + p.name + ": " + p.typ + p.rest }

// isList reports whether a parameter holds a list.
func (p param) isList() bool { return strings.HasPrefix(p.typ, "[") }

// param returns the parameter of a name, and its place among the parameters, which is -1 if the query declares none.
func (r *rewriter) param(name string) (p param, at int) {
	if at = slices.IndexFunc(r.params, func(p param) bool { return p.name == name }); at >= 0 {
		p = r.params[at]
	}
	return p, at
}

// declared reports whether the query declares a parameter.
func (r *rewriter) declared(name string) bool {
	_, at := r.param(name)
	return at >= 0
}

// declare adds a parameter of a type, which may have a question mark, unless the query declares it.
func (r *rewriter) declare(name, typ string) {
	if !r.declared(name) {
		p := param{name: name, typ: strings.TrimSuffix(typ, "?")}
		p.rest = typ[len(p.typ):]
		r.params = append(r.params, p)
	}
}

// setType changes the type of a parameter, and what follows it.
func (r *rewriter) setType(at int, typ, rest string) {
	r.params = slices.Clone(r.params) // try restores the list
	r.params[at].typ, r.params[at].rest = typ, rest
}

// dropParam drops the declaration of a parameter.
func (r *rewriter) dropParam(name string) {
	r.params = slices.DeleteFunc(slices.Clone(r.params), func(p param) bool { return p.name == name })
}

// undeclared returns the name of the parameter that an expression is, if it is no variable of the text.
func (r *rewriter) undeclared(e string) (name string, ok bool) {
	name, ok = strings.CutPrefix(e, "$")
	return name, ok && lex.WordLen(name) == len(name) && !r.bound(name)
}

// parameters reads the parameters of a query.
func (r *rewriter) parameters() {
	r.Expect("(")
	for !r.Accept(")") {
		if len(r.params) > 0 {
			r.Accept(",")
		}
		t := r.Next()
		refuse.If(t.Kind != lex.Dollar && t.Kind != lex.Word)
		r.Expect(":")
		open, angled := r.Accept("["), r.Accept("list", "<") // [String], LIST<STRING>
		foreign := strings.ToLower(r.Word())
		typ := r.Tokens[r.At-1].Text
		if to, ok := scalars[foreign]; ok {
			typ = to
		}
		if r.Accept("(") {
			typ += "(" + r.Next().Text + ")"
			r.Expect(")")
		}
		r.Accept("!")
		if angled {
			r.Expect(">")
			typ = "[" + typ + "]"
		}
		if open {
			r.Expect("]")
			r.Accept("!")
			typ = "[" + typ + "]"
		}
		rest := ""
		if r.Accept("?") {
			rest = "?"
		}
		if r.Accept("=") {
			rest += r.defaultOf(typ)
		}
		if foreign == "id" || numbers[typ] && scalars[foreign] != "" {
			r.loose[t.Text] = true
		}
		r.params = append(r.params, param{t.Text, typ, rest})
	}
}

// defaultOf reads the default of a parameter of a type and writes its annotation.
func (r *rewriter) defaultOf(typ string) string {
	if r.Accept("null") {
		return "?"
	}
	e := r.operand()
	switch typ {
	case "Date":
		e = dateLiteral(e)
	case "DateTime":
		e = dateTimeLiteral(e)
	}
	return " @default(" + e + ")"
}

// numbers are the types of numbers of this language.
var numbers = map[string]bool{"I32": true, "I64": true, "U32": true, "U64": true, "F32": true, "F64": true}

// retype gives a parameter the type of the property with which the query compares it first, if another
// language declares it: its ID may be a number, and its integers and floats may have another size.
func (r *rewriter) retype(name string, p *catalog.Property) {
	typ := p.Type.Kind.String()
	if !r.loose[name] || p.Type.List || !numbers[typ] && typ != "String" {
		return
	}
	r.loose = maps.Clone(r.loose) // try restores the map and the list
	delete(r.loose, name)
	old, at := r.param(name)
	if base := strings.Trim(old.typ, "[]"); at >= 0 && (base == "String" || numbers[typ]) {
		r.setType(at, strings.Replace(old.typ, base, typ, 1), old.rest)
	}
}

// parametersApart renames the parameters that have the name of a variable: in Cypher, SQL and ISO GQL a and $a
// are two things, and here they would be one.
func (r *rewriter) parametersApart() {
	apart := map[string]string{} // by name of a variable: the new name of its parameter
	for i, t := range r.Tokens {
		if i == 0 || r.Tokens[i-1].Text != "(" || t.Kind != lex.Word {
			continue
		}
		if rest := lex.Tokens(r.Tokens[i+1:]); rest.Are(")") || rest.Are(":") && r.NodeType(rest.At(1).Text) != "" {
			apart[t.Text] = ""
		}
	}
	for i, t := range r.Tokens {
		if _, named := apart[t.Text]; t.Kind != lex.Dollar || !named {
			continue
		}
		property := r.ComparedBefore(i)
		if property == "" { // it may be the variable
			delete(apart, t.Text)
		} else if apart[t.Text] == "" {
			apart[t.Text] = t.Text + "_" + property
		}
	}
	for _, name := range apart {
		refuse.If(name != "" && r.Mentions(name))
	}
	r.Tokens = slices.Clone(r.Tokens)
	for i, t := range r.Tokens {
		if name := apart[t.Text]; t.Kind == lex.Dollar && name != "" {
			r.note("the parameter $" + t.Text + " is $" + name + ", because a variable has its name")
			r.Tokens[i].Text = name
		}
	}
}

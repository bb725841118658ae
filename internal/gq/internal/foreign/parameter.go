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
		if r.Accept("?") {
			typ += "?"
		}
		if r.Accept("=") {
			typ += r.defaultOf(typ)
		}
		if foreign == "id" || numbers[typ] && scalars[foreign] != "" {
			r.loose[t.Text] = true
		}
		p := "$" + t.Text + ": " + typ
		r.params = append(r.params, p)
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
	r.params = slices.Clone(r.params)
	for i, param := range r.params {
		rest, mine := strings.CutPrefix(param, "$"+name+": ")
		if !mine {
			continue
		}
		open := ""
		if inner, list := strings.CutPrefix(rest, "["); list {
			open, rest = "[", inner
		}
		if n := lex.WordLen(rest); rest[:n] == "String" || numbers[typ] {
			r.params[i] = "$" + name + ": " + open + typ + rest[n:]
		}
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

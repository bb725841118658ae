package foreign

import (
	"maps"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/gq/internal/foreign/refuse"
)

// scalars maps the types of GraphQL and SQL to those of this language.
var scalars = map[string]string{"id": "String", "int": "I32", "integer": "I32", "bigint": "I64", "long": "I64", "float": "F64", "double": "F64", "number": "F64",
	"int8": "I32", "int16": "I32", "int32": "I32", "int64": "I64", "uint64": "U64", "smallint": "I32", "float32": "F32", "float64": "F64", "real": "F32", "decimal": "F64", "numeric": "F64",
	"boolean": "Bool", "bool": "Bool", "string": "String", "text": "String", "varchar": "String", "timestamp": "DateTime", "timestamptz": "DateTime", "awsdatetime": "DateTime", "localdatetime": "DateTime", "awsdate": "Date", "localdate": "Date", "float8": "F64", "int4": "I32", "uuid": "String", "short": "I32", "datetime": "DateTime", "date": "Date"}

// parameters reads the parameters of a query.
func (r *rewriter) parameters() {
	r.expect("(")
	for !r.accept(")") {
		if len(r.params) > 0 {
			r.accept(",")
		}
		t := r.next()
		refuse.If(t.Kind != lex.Dollar && t.Kind != lex.Word)
		r.expect(":")
		open, angled := r.accept("["), r.accept("list", "<") // [String], LIST<STRING>
		foreign := strings.ToLower(r.word())
		typ := r.tokens[r.at-1].Text
		if to, ok := scalars[foreign]; ok {
			typ = to
		}
		if r.accept("(") {
			typ += "(" + r.next().Text + ")"
			r.expect(")")
		}
		r.accept("!")
		if angled {
			r.expect(">")
			typ = "[" + typ + "]"
		}
		if open {
			r.expect("]")
			r.accept("!")
			typ = "[" + typ + "]"
		}
		if r.accept("?") {
			typ += "?"
		}
		if r.accept("=") {
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
	if r.accept("null") {
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
	for i, t := range r.tokens {
		if i == 0 || r.tokens[i-1].Text != "(" || t.Kind != lex.Word {
			continue
		}
		if rest := lex.Tokens(r.tokens[i+1:]); rest.Are(")") || rest.Are(":") && r.NodeType(rest.At(1).Text) != "" {
			apart[t.Text] = ""
		}
	}
	for i, t := range r.tokens {
		if _, named := apart[t.Text]; t.Kind != lex.Dollar || !named {
			continue
		}
		property := r.comparedBefore(i)
		if property == "" { // it may be the variable
			delete(apart, t.Text)
		} else if apart[t.Text] == "" {
			apart[t.Text] = t.Text + "_" + property
		}
	}
	for _, name := range apart {
		refuse.If(name != "" && r.mentions(name))
	}
	r.tokens = slices.Clone(r.tokens)
	for i, t := range r.tokens {
		if name := apart[t.Text]; t.Kind == lex.Dollar && name != "" {
			r.note("the parameter $" + t.Text + " is $" + name + ", because a variable has its name")
			r.tokens[i].Text = name
		}
	}
}

// comparedBefore returns the property to which a text compares or assigns the token at an index, as in
// {email: $a} and p.email = $a, or "".
func (r *rewriter) comparedBefore(i int) string {
	if i < 2 || i+1 < len(r.tokens) && slices.Contains([]string{".", ":"}, r.tokens[i+1].Text) {
		return ""
	}
	operator, property := r.tokens[i-1], r.tokens[i-2]
	if property.Kind != lex.Word {
		return ""
	}
	inBraces := operator.Text == ":" && i > 2 && (r.tokens[i-3].Text == "{" || r.tokens[i-3].Text == ",")
	if inBraces || relations[operator.Text] != "" && i > 2 && r.tokens[i-3].Text == "." {
		return property.Text
	}
	return ""
}

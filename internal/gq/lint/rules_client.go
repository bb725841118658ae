package lint

import (
	"strings"
	"unicode"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// The rules about clients that are generated from the OpenAPI document of a graph.

// badNames are the names of columns and parameters with which a generator makes code that does not compile or does not
// run, in the form of folded, with the languages of the code. They were found by running the generators on some 200 names.
var badNames = map[string]string{
	"":                     "in Python and Go, openapi-generator makes code that does not compile",
	"additionalproperties": "in Python, openapi-python-client makes a package that cannot be imported",
	"d":                    "in Python, openapi-python-client cannot read a list or an argument of that name",
	"cast":                 "in Python, openapi-python-client makes code that cannot read a nullable column beside it",
	"cls":                  "in Python, openapi-python-client makes code that cannot read the object",
	"fielddict":            "in Python, openapi-python-client makes code that writes another value",
	"fromdict":             "in Python, openapi-python-client and openapi-generator make code that does not run",
	"todict":               "in Python, openapi-python-client and openapi-generator make code that does not run",
	"modelconfig":          "in Python, openapi-generator makes code that loses the value",
	"modeldump":            "in Python, openapi-generator makes code that does not run",
	"decode":               "in Go, ogen makes code that does not compile",
	"encode":               "in Go, ogen makes code that does not compile",
	"validate":             "in Go, ogen makes code that does not compile",
	"define":               "in Python, older versions of openapi-python-client make code that does not run",
	"field":                "in Python, older versions of openapi-python-client make code that does not run",
	"true":                 "in Java, openapi-generator makes code that does not compile",
	"false":                "in Java, openapi-generator makes code that does not compile",
	"tourlquerystring":     "in Java, openapi-generator makes code that does not compile",
}

// clientNames reports the names of an exposed query with which a generator of clients makes code that does not
// work: a bad name, or two names that become one name in the style of a language.
func clientNames(p *queryPass) {
	if !p.Expose {
		return
	}
	own := syntax.SpanOf(p.Syntax.Name)
	for _, other := range p.stored {
		if other == p.Query {
			break
		}
		if other.Expose && other.Plan.Name != p.Plan.Name && folded(other.Plan.Name) == folded(p.Plan.Name) {
			p.report(own, "rename one of them", nil, "query %s and query %s have the same name in generated clients of some languages", p.Plan.Name, other.Plan.Name)
		}
	}
	params := p.names("parameter $")
	for i, prm := range p.Plan.Declared() {
		params.add(p.Info.Params[i].Span, prm.Name)
		fields := p.names("member ")
		for _, f := range prm.Type.Fields {
			fields.add(p.Info.Params[i].Span, f.Name)
		}
	}
	columns := p.names("column ")
	if m := p.Plan.Mutation; m != nil {
		for _, c := range m.Returns {
			columns.add(own, c.Name)
			p.fieldNames(own, c.Fields)
		}
	}
	if p.Plan.Read == nil {
		return
	}
	read := p.Syntax.Body.(*syntax.Read)
	for i, c := range p.Plan.Read.Columns {
		at := own
		if i < len(read.Returns) {
			if at = read.Returns[i].Expr.Source().Span(); read.Returns[i].Alias != nil {
				at = syntax.SpanOf(*read.Returns[i].Alias)
			}
		}
		columns.add(at, c.Name)
		p.fieldNames(at, c.Fields)
	}
}

// fieldNames checks the names of the members of an object in a column.
func (p *queryPass) fieldNames(at diag.Span, fields []plan.Field) {
	members := p.names("member ")
	for _, f := range fields {
		members.add(at, f.Name)
		p.fieldNames(at, f.Fields)
	}
}

// siblings are the names that one generated type has.
type siblings struct {
	p     *queryPass
	what  string            // what each is, before its name
	taken map[string]string // the name by its folded form
}

// names returns the names of a type that has none yet.
func (p *queryPass) names(what string) *siblings {
	return &siblings{p: p, what: what, taken: map[string]string{}}
}

// add checks a name, and adds it.
func (s *siblings) add(at diag.Span, name string) {
	f := folded(name)
	if why := badNames[f]; why != "" {
		s.p.report(at, "choose another name if clients are generated", nil, "%s%s: %s", s.what, name, why)
	}
	if other, ok := s.taken[f]; ok {
		s.p.report(at, "rename one of them if clients are generated", nil, "%s%s and %s%s have the same name in generated clients of some languages", s.what, name, s.what, other)
		return
	}
	s.taken[f] = name
}

// folded returns the letters and digits of a name in lower case. Styles of names such as camelCase and snake_case
// change nothing else.
func folded(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

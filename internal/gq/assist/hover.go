package assist

import (
	"fmt"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/compile"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
	"github.com/omnigraph-go/omnigraph/internal/gq/xref"
)

// Describe returns a line of code that declares a name, and its documentation. The line is "" for a name
// that needs no explanation.
func (g Graph) Describe(n *xref.Name, src *xref.Source) (code, doc string) {
	switch n.Kind {
	case xref.Type:
		return g.describeType(n.Entity, n.Type)
	case xref.Property:
		return g.describeProperty(n)
	case xref.Variable, xref.Parameter:
		return g.describeVariable(n, src)
	case xref.Function:
		return describeFunction(n.Value)
	case xref.Query:
		if q := g.Queries[n.Text()]; q != nil {
			return signature(q), q.Description
		}
	case xref.Column:
		if q := g.QueryAround(src, n.Pos.Offset); q != nil && q.Plan.Read != nil {
			for _, c := range q.Plan.Read.Columns {
				if c.Name == n.Value {
					return c.Name + ": " + c.TypeText(), ""
				}
			}
		}
	case xref.Keyword, xref.Scalar, xref.Annotation, xref.Argument, xref.EnumValue, xref.Unknown:
	}
	return "", ""
}

// describeType returns the declaration of a type, without its body, and its description.
func (g Graph) describeType(entity xref.Entity, typ string) (code, doc string) {
	if g.Catalog == nil {
		return "", ""
	}
	switch entity {
	case xref.Node:
		if n := g.Catalog.Node(typ); n != nil {
			code := "node " + n.Name
			if len(n.Implements) > 0 {
				code += " implements " + strings.Join(n.Implements, ", ")
			}
			return code + " {" + propertyList(n.Properties) + "}", n.Description
		}
	case xref.Edge:
		if e := g.Catalog.Edge(typ); e != nil {
			code := "edge " + e.Name + ": " + e.From + " -> " + e.To
			if len(e.Properties) > 0 {
				code += " {" + propertyList(e.Properties) + "}"
			}
			return code, e.Description
		}
	case xref.Interface:
		for _, i := range g.Catalog.Interfaces {
			if i.Name == typ {
				return "interface " + i.Name + " {" + propertyList(i.Properties) + "}", ""
			}
		}
	case xref.NoEntity:
	}
	return "", ""
}

// propertyList lists properties, one a line.
func propertyList(props []*catalog.Property) string {
	var b strings.Builder
	for _, p := range props {
		b.WriteString("\n  " + p.Declaration())
	}
	b.WriteString("\n")
	return b.String()
}

// describeProperty returns the type of a property and its description.
func (g Graph) describeProperty(n *xref.Name) (code, doc string) {
	if g.Catalog == nil || n.Type == "" {
		return "", ""
	}
	if p := xref.PropertyOf(g.Catalog, n.Entity, n.Type, n.Text()); p != nil {
		return n.Type + "." + p.Declaration(), p.Description
	}
	switch e := g.Catalog.Edge(n.Type); {
	case n.Entity == xref.Interface && n.Text() == catalog.TypeProperty:
		return n.Type + ".type: String", "The name of the node's type, which every variable over an interface has."
	case n.Text() == "id":
		return n.Type + ".id: String", "The id, which every node and edge has."
	case n.Entity == xref.Edge && e != nil && (n.Text() == "from" || n.Text() == "to"):
		return describeEnd(e, n.Text())
	}
	return "", ""
}

// describeEnd returns the type of an end of an edge, which is from or to, and its description.
func describeEnd(e *catalog.Edge, end string) (code, doc string) {
	verb := "starts at"
	if end == "to" {
		verb = "leads to"
	}
	name, shared := e.End(end == "to")
	if shared {
		return e.Name + "." + end + ": " + name, "The type and the id of the " + name + " that the edge " + verb + "."
	}
	return e.Name + "." + end + ": String", "The id of the " + name + " that the edge " + verb + "."
}

// describeVariable returns the type of a variable or a parameter.
func (g Graph) describeVariable(n *xref.Name, src *xref.Source) (code, doc string) {
	if n.Kind == xref.Parameter {
		if q := g.QueryAround(src, n.Pos.Offset); q != nil {
			for i, p := range q.Plan.Declared() {
				if "$"+p.Name == n.Value {
					return n.Value + ": " + p.TypeText(), q.ParamDocs[i]
				}
			}
		}
	}
	if n.Type == "" {
		return "", ""
	}
	_, doc = g.describeType(n.Entity, n.Type)
	return n.Value + ": " + n.Type, doc
}

// describeFunction returns the usage of a function or an aggregate, and its description.
func describeFunction(name string) (code, doc string) {
	if f := plan.FunctionNamed(name); f != nil && f.Usage != "" {
		return f.Usage, f.Usage + " takes " + f.Takes + " and " + f.Doc + "."
	}
	for _, a := range plan.Aggregates {
		if a.Name == name {
			return a.Name + "(…)", a.Name + "(…) takes " + a.Arg.Text + " and " + a.Doc + "."
		}
	}
	if name == syntax.OriginFunction {
		return "origin($x)", "The commit that last changed an entity: origin($x).actor, .at, .proposal, .source and .tool; origin($x).made_by and .made_at are of the commit that made it."
	}
	if name == syntax.ActorFunction {
		return "actor()", "The caller of the query: actor().id, actor().groups, and the claims of the caller's token, such as actor().region."
	}
	if syntax.IsFunction(name) {
		return name + "(…)", ""
	}
	return "", ""
}

// signature returns the head of a query: its name, its parameters and the columns of its result.
func signature(q *compile.Query) string {
	var params []string
	for _, p := range q.Plan.Declared() {
		params = append(params, "$"+p.Name+": "+p.TypeText())
	}
	code := "query " + q.Plan.Name + "(" + strings.Join(params, ", ") + ")"
	if q.Plan.Read == nil {
		return code
	}
	var columns []string
	for _, c := range q.Plan.Read.Columns {
		columns = append(columns, c.Name+": "+c.TypeText())
	}
	return fmt.Sprintf("%s\n// returns %s", code, strings.Join(columns, ", "))
}

// QueryAround returns the query around an offset as the last complete run compiled it, or nil.
func (g Graph) QueryAround(src *xref.Source, offset int) *compile.Query {
	if n := src.Query(offset); n != nil {
		return g.Queries[n.Text()]
	}
	return nil
}

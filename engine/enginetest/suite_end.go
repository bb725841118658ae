package enginetest

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// typesAt returns the names of the types that a node at an end of edges may have.
func typesAt(schema *catalog.Schema, edge string, to bool) (types []string) {
	for _, n := range schema.EndsAt(schema.Edge(edge), to) {
		types = append(types, n.Name)
	}
	return types
}

// endVar declares a variable for the nodes at an end of edges.
func (p *readPlan) endVar(name string, edge *catalog.Edge, to bool) plan.VarID {
	typ, isInterface := edge.End(to)
	if isInterface {
		return p.declare(name, plan.Interface, typ)
	}
	return p.node(name, typ)
}

// from returns the source of an edge variable: an id or, at an interface, a record.
func (p *readPlan) from(e plan.VarID) plan.Expr { return p.end(e, false) }

// to returns the target of an edge variable: an id or, at an interface, a record.
func (p *readPlan) to(e plan.VarID) plan.Expr { return p.end(e, true) }

// end returns an end of an edge variable.
func (p *readPlan) end(e plan.VarID, target bool) plan.Expr {
	return endExpr(p.schema.Edge(p.q.Read.Vars[e].Type), e, target)
}

// endExpr returns an end of a variable for edges of a type.
func endExpr(edge *catalog.Edge, e plan.VarID, target bool) plan.Expr {
	if name, isInterface := edge.End(target); isInterface {
		return plan.EndNode{Var: e, To: target, Interface: name}
	}
	return plan.Endpoint{Var: e, To: target}
}

// endFields returns the fields of a column with the node at an end of an edge variable.
func (p *readPlan) endFields(e plan.EndNode) []plan.Field {
	return plan.NodeFields(typesAt(p.schema, p.q.Read.Vars[e.Var].Type, e.To))
}

// nodeRef returns a node at an end at an interface. The id is an expression or a text.
func nodeRef(typ string, id any) plan.NodeRef {
	return plan.NodeRef{Type: plan.Lit{Value: value.OfString(typ)}, ID: expression(id, nil)}
}

// noted returns a schema with edges that have an interface at one end or at both. The interface Made is implemented by
// Person and Team, Silent by no type.
func noted() *catalog.Schema { return compileSchema("noted") }

// desk is a graph of notes. A person, a city and a team have the id ann.
var desk = textFile("noted.ndjson")

// The edges of the desk, for expectEdges.
const (
	deskAbout = "a1 | n1 | {Person, ann}\na2 | n1 | {City, ann}\na3 | n2 | {City, c1}\na4 | n3 | {Person, ann}\na5 | n2 | {Team, ann}"
	deskLinks = "l1 | {Person, ann} | {City, ann}\nl2 | {City, ann} | {Person, bob}\nl3 | {Person, bob} | {Person, ann}\nl4 | {City, c1} | {City, c1}\nl5 | {City, ann} | {Team, ann}"
)

// endRuns returns cases that start with the desk.
func endRuns(runs map[string]func(s *session)) []testCase {
	var all []testCase
	for _, name := range sortedKeys(runs) {
		all = append(all, testCase{name: "ends/" + name, schema: noted, run: func(s *session) {
			s.load(engine.Merge, desk)
			runs[name](s)
		}})
	}
	return all
}

// endReads returns cases that read the desk.
func endReads(cases []readCase) []testCase {
	var all []testCase
	for _, c := range cases {
		all = append(all, testCase{name: "ends/" + c.name, schema: noted, run: func(s *session) {
			s.load(engine.Merge, desk)
			p := s.read()
			c.build(p)
			s.expect(p, c.want, c.args...)
		}})
	}
	return all
}

// endCases returns the cases of edges with an interface at an end.
func endCases() []testCase {
	return slices.Concat(endReads(endReadCases()), endReads(endWalkCases()), endReads(endNodeCases()), endRuns(endLoadCases()), endRuns(endHistoryCases()), endRuns(endMergeCases()))
}

// endReadCases returns the cases of traversals of one edge.
func endReadCases() []readCase {
	return []readCase{
		{name: "traverse to an interface without types", want: "", build: func(p *readPlan) {
			n, x := p.node("n", "Note"), p.declare("x", plan.Interface, "Silent")
			p.match(hop(n, "About", x)).ret(id(n), id(x))
		}},
		{name: "an edge that can end nowhere", want: "", build: func(p *readPlan) {
			n, x := p.node("n", "Note"), p.shared("x")
			p.match(hop(n, "Hushes", x)).ret(id(n), id(x))
		}},
		{name: "traverse to a type that does not fit", want: "", build: func(p *readPlan) {
			n, x := p.node("n", "Note"), p.node("x", "Note")
			p.match(hop(n, "About", x)).ret(id(n), id(x))
		}},
		{name: "traverse from a type that does not fit", want: "", build: func(p *readPlan) {
			c, x := p.node("c", "City"), p.node("x", "Person")
			p.match(hop(c, "By", x)).ret(id(c), id(x))
		}},
	}
}

// endWalkCases returns the cases of walks along edges with an interface at an end.
func endWalkCases() []readCase {
	typed := func(p *readPlan, v plan.VarID) plan.Expr { return p.prop(v, catalog.TypeProperty) }
	return []readCase{
		{name: "walk goes on only where an edge can start", want: "City | ann\nPerson | ann", build: func(p *readPlan) {
			n, x := p.bind("n", "Note"), p.shared("x")
			p.match(where(id(n), plan.Eq, "n1"), walk(n, "About", 1, 4, x)).ret(typed(p, x), id(x))
		}},
		{name: "walk that may stay at an end that does not fit", want: "", build: func(p *readPlan) {
			n, x := p.bind("n", "Note"), p.node("x", "Note")
			p.match(walk(n, "About", 0, 2, x)).ret(id(n), id(x))
		}},
	}
}

// endNodeCases returns the cases of reads that use the node at an end of an edge.
func endNodeCases() []readCase {
	// about declares the variables of a traversal from notes, with the edge bound.
	about := func(p *readPlan) (n, e, x plan.VarID) {
		n, e, x = p.node("n", "Note"), p.edge("e", "About"), p.shared("x")
		p.match(over(n, e, "About", x))
		return n, e, x
	}
	return []readCase{
		{name: "rows chosen by the size of a list of ends", want: "n1 | [{Person, ann}, {City, ann}]\nn2 | [{City, c1}, {Team, ann}]", build: func(p *readPlan) {
			n, e, _ := about(p)
			all := agg(plan.Collect, p.to(e))
			p.ret(id(n), all).having(where(sizeOf(distinct(all)), plan.Gt, plan.Lit{Value: value.OfI32(1)}))
		}},
	}
}

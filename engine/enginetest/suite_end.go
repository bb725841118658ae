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
func noted() *catalog.Schema {
	name := func() *catalog.Property { return property("name", stringType) }
	s := &catalog.Schema{
		Interfaces: []*catalog.Interface{
			{Name: "Named", Properties: []*catalog.Property{name()}},
			{Name: "Made", Properties: []*catalog.Property{name()}},
			{Name: "Silent", Properties: []*catalog.Property{name()}},
		},
		Nodes: []*catalog.Node{
			{Name: "Person", Implements: []string{"Named", "Made"}, Key: []string{"name"}, Properties: []*catalog.Property{name(), property("age", i32Type.Optional())}},
			{Name: "City", Implements: []string{"Named"}, Properties: []*catalog.Property{name()}},
			{Name: "Team", Implements: []string{"Named", "Made"}, Key: []string{"name"}, Properties: []*catalog.Property{name()}},
			{Name: "Note", Properties: []*catalog.Property{property("text", stringType.Optional())}},
		},
		Edges: []*catalog.Edge{
			{Name: "About", From: "Note", To: "Named", ToInterface: true, Properties: []*catalog.Property{property("rank", i32Type.Optional())}},
			{Name: "By", From: "Made", FromInterface: true, To: "Person"},
			{Name: "Links", From: "Named", FromInterface: true, To: "Named", ToInterface: true},
			{Name: "Cites", From: "Note", To: "Note"},
			{Name: "Hushes", From: "Note", To: "Silent", ToInterface: true},
		},
	}
	s.Index()
	return s
}

// desk is a graph of notes. A person, a city and a team have the id ann.
const desk = `
{"type":"Person","data":{"name":"ann","age":30}}
{"type":"Person","data":{"name":"bob"}}
{"type":"Person","data":{"name":"cid","age":5}}
{"type":"City","data":{"id":"ann","name":"Troy"}}
{"type":"City","data":{"id":"c1","name":"Oslo"}}
{"type":"Team","data":{"name":"ann"}}
{"type":"Note","data":{"id":"n1","text":"one"}}
{"type":"Note","data":{"id":"n2"}}
{"type":"Note","data":{"id":"n3"}}
{"type":"Note","data":{"id":"n4"}}
{"edge":"About","from":"n1","to":{"type":"Person","id":"ann"},"data":{"id":"a1","rank":1}}
{"edge":"About","from":"n1","to":{"type":"City","id":"ann"},"data":{"id":"a2","rank":2}}
{"edge":"About","from":"n2","to":{"type":"City","id":"c1"},"data":{"id":"a3"}}
{"edge":"About","from":"n3","to":{"id":"ann","type":"Person"},"data":{"id":"a4"}}
{"edge":"About","from":"n2","to":{"type":"Team","id":"ann"},"data":{"id":"a5","rank":3}}
{"edge":"By","from":{"type":"Team","id":"ann"},"to":"cid","data":{"id":"b1"}}
{"edge":"By","from":{"type":"Person","id":"ann"},"to":"bob","data":{"id":"b2"}}
{"edge":"By","from":{"type":"Person","id":"bob"},"to":"bob","data":{"id":"b3"}}
{"edge":"Links","from":{"type":"Person","id":"ann"},"to":{"type":"City","id":"ann"},"data":{"id":"l1"}}
{"edge":"Links","from":{"type":"City","id":"ann"},"to":{"type":"Person","id":"bob"},"data":{"id":"l2"}}
{"edge":"Links","from":{"type":"Person","id":"bob"},"to":{"type":"Person","id":"ann"},"data":{"id":"l3"}}
{"edge":"Links","from":{"type":"City","id":"c1"},"to":{"type":"City","id":"c1"},"data":{"id":"l4"}}
{"edge":"Links","from":{"type":"City","id":"ann"},"to":{"type":"Team","id":"ann"},"data":{"id":"l5"}}
{"edge":"Cites","from":"n1","to":"n2","data":{"id":"t1"}}
`

// The edges of the desk, for expectEdges.
const (
	deskAbout = "a1 | n1 | {Person, ann}\na2 | n1 | {City, ann}\na3 | n2 | {City, c1}\na4 | n3 | {Person, ann}\na5 | n2 | {Team, ann}"
	deskBy    = "b1 | {Team, ann} | cid\nb2 | {Person, ann} | bob\nb3 | {Person, bob} | bob"
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
	return slices.Concat(endReads(endReadCases()), endReads(endWalkCases()), endReads(endNodeCases()), endRuns(endLoadCases()), endRuns(endLoadFaults()),
		endRuns(endMutationCases()), endRuns(endRuleCases()), endRuns(endHistoryCases()), endRuns(endMergeCases()), endRuns(endSchemaCases()))
}

// endReadCases returns the cases of traversals of one edge.
func endReadCases() []readCase {
	typed := func(p *readPlan, v plan.VarID) plan.Expr { return p.prop(v, catalog.TypeProperty) }
	return []readCase{
		{name: "traverse to any type", want: "n1 | City | ann\nn1 | Person | ann\nn2 | City | c1\nn2 | Team | ann\nn3 | Person | ann", build: func(p *readPlan) {
			n, x := p.node("n", "Note"), p.shared("x")
			p.match(hop(n, "About", x)).ret(id(n), typed(p, x), id(x))
		}},
		{name: "traverse to one type", want: "n1 | ann\nn3 | ann", build: func(p *readPlan) {
			n, x := p.node("n", "Note"), p.node("x", "Person")
			p.match(hop(n, "About", x)).ret(id(n), id(x))
		}},
		{name: "traverse to another type with the same id", want: "n1 | ann\nn2 | c1", build: func(p *readPlan) {
			n, x := p.node("n", "Note"), p.node("x", "City")
			p.match(hop(n, "About", x)).ret(id(n), id(x))
		}},
		{name: "traverse to another interface", want: "n1 | Person | ann\nn2 | Team | ann\nn3 | Person | ann", build: func(p *readPlan) {
			n, x := p.node("n", "Note"), p.declare("x", plan.Interface, "Made")
			p.match(hop(n, "About", x)).ret(id(n), typed(p, x), id(x))
		}},
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
		{name: "traverse from an interface with more types", want: "Person | ann | bob\nPerson | bob | bob\nTeam | ann | cid", build: func(p *readPlan) {
			n, x := p.shared("n"), p.node("x", "Person")
			p.match(hop(n, "By", x)).ret(typed(p, n), id(n), id(x))
		}},
		{name: "traverse from one type", want: "ann | cid", build: func(p *readPlan) {
			n, x := p.node("n", "Team"), p.node("x", "Person")
			p.match(hop(n, "By", x)).ret(id(n), id(x))
		}},
		{name: "traverse backwards from a known node", want: "n1\nn3", build: func(p *readPlan) {
			n, x := p.node("n", "Note"), p.node("x", "Person")
			p.match(plan.Bind{Var: x}, where(id(x), plan.Eq, "ann"), hop(n, "About", x)).ret(id(n))
		}},
		{name: "traverse backwards from every node with an id", want: "n1 | City\nn1 | Person\nn2 | Team\nn3 | Person", build: func(p *readPlan) {
			n, x := p.node("n", "Note"), p.shared("x")
			p.match(where(id(x), plan.Eq, "ann"), hop(n, "About", x)).ret(id(n), typed(p, x))
		}},
		{name: "traverse between two interfaces", want: "City | ann | Person | bob\nCity | ann | Team | ann\nCity | c1 | City | c1\nPerson | ann | City | ann\nPerson | bob | Person | ann", build: func(p *readPlan) {
			a, b := p.shared("a"), p.shared("b")
			p.match(hop(a, "Links", b)).ret(typed(p, a), id(a), typed(p, b), id(b))
		}},
		{name: "traverse between two types", want: "ann | bob", build: func(p *readPlan) {
			a, b := p.node("a", "City"), p.node("b", "Person")
			p.match(hop(a, "Links", b)).ret(id(a), id(b))
		}},
		{name: "traverse between nodes of one type", want: "bob | ann", build: func(p *readPlan) {
			a, b := p.node("a", "Person"), p.node("b", "Person")
			p.match(hop(a, "Links", b)).ret(id(a), id(b))
		}},
		{name: "a loop is not an edge between two nodes with one id", want: "City | c1", build: func(p *readPlan) {
			a := p.shared("a")
			p.match(hop(a, "Links", a)).ret(typed(p, a), id(a))
		}},
		{name: "a loop at one end of an interface", want: "bob", build: func(p *readPlan) {
			a := p.node("a", "Person")
			p.match(hop(a, "By", a)).ret(id(a))
		}},
		{name: "in both directions", want: "City | ann\nPerson | bob", build: func(p *readPlan) {
			a, b := p.node("a", "Person"), p.shared("b")
			p.match(plan.Bind{Var: a}, where(id(a), plan.Eq, "ann"), undirected(hop(a, "Links", b))).ret(typed(p, b), id(b))
		}},
		{name: "in both directions to one type", want: "ann | bob\nbob | ann", build: func(p *readPlan) {
			a, b := p.node("a", "Person"), p.node("b", "Person")
			p.match(undirected(hop(a, "Links", b))).ret(id(a), id(b))
		}},
		{name: "in both directions to another type", want: "ann | ann\nbob | ann", build: func(p *readPlan) {
			a, b := p.node("a", "Person"), p.node("b", "City")
			p.match(undirected(hop(a, "Links", b))).ret(id(a), id(b))
		}},
		{name: "of two edge types", want: "City | ann\nPerson | bob", build: func(p *readPlan) {
			a, b := p.node("a", "Person"), p.shared("b")
			p.match(plan.Bind{Var: a}, where(id(a), plan.Eq, "ann"), or(hop(a, "Links", b), "By")).ret(typed(p, b), id(b))
		}},
		{name: "of two edge types, each pair once", want: "Person | ann | City | ann\nPerson | ann | Person | bob\nPerson | bob | Person | ann\nPerson | bob | Person | bob\nTeam | ann | Person | cid", build: func(p *readPlan) {
			a, b := p.declare("a", plan.Interface, "Made"), p.shared("b")
			p.match(or(hop(a, "By", b), "Links")).ret(typed(p, a), id(a), typed(p, b), id(b))
		}},
		{name: "with the edge bound", want: "a1 | Person\na2 | City\na3 | City\na4 | Person\na5 | Team", build: func(p *readPlan) {
			n, e, x := p.node("n", "Note"), p.edge("e", "About"), p.shared("x")
			p.match(over(n, e, "About", x)).ret(id(e), typed(p, x)).orderBy(id(e))
		}},
		{name: "with the edge bound, to one type", want: "a2 | 2\na3 | null", build: func(p *readPlan) {
			n, e, x := p.node("n", "Note"), p.edge("e", "About"), p.node("x", "City")
			p.match(over(n, e, "About", x)).ret(id(e), p.prop(e, "rank")).orderBy(id(e))
		}},
		{name: "with the edge bound, from an interface", want: "b1 | Team | ann\nb2 | Person | ann\nb3 | Person | bob", build: func(p *readPlan) {
			a, e, b := p.declare("a", plan.Interface, "Made"), p.edge("e", "By"), p.node("b", "Person")
			p.match(over(a, e, "By", b)).ret(id(e), typed(p, a), id(a)).orderBy(id(e))
		}},
		{name: "a whole node at the end", want: "n1 | {ann, Troy, City}\nn1 | {ann, ann, Person}\nn2 | {c1, Oslo, City}\nn2 | {ann, ann, Team}\nn3 | {ann, ann, Person}", build: func(p *readPlan) {
			n, x := p.node("n", "Note"), p.shared("x")
			p.match(hop(n, "About", x)).ret(id(n), whole(x))
		}},
		{name: "a condition on a shared property", want: "n1 | Troy\nn2 | Oslo", build: func(p *readPlan) {
			n, x := p.node("n", "Note"), p.shared("x")
			p.match(hop(n, "About", x), where(p.prop(x, "name"), plan.Lt, "a")).ret(id(n), p.prop(x, "name"))
		}},
		{name: "two edges to one node", want: "n3 | n1 | Person\nn1 | n3 | Person", build: func(p *readPlan) {
			n, m, x := p.node("n", "Note"), p.node("m", "Note"), p.shared("x")
			p.match(hop(n, "About", x), hop(m, "About", x), where(id(n), plan.Ne, id(m))).ret(id(n), id(m), typed(p, x))
		}},
		{name: "two edges in a row", want: "n1 | City | Person | bob\nn1 | City | Team | ann\nn1 | Person | City | ann\nn2 | City | City | c1\nn3 | Person | City | ann", build: func(p *readPlan) {
			n, x, y := p.node("n", "Note"), p.shared("x"), p.shared("y")
			p.match(hop(n, "About", x), hop(x, "Links", y)).ret(id(n), typed(p, x), typed(p, y), id(y))
		}},
		{name: "an end that another edge narrows", want: "n1 | Person | bob\nn2 | Team | cid\nn3 | Person | bob", build: func(p *readPlan) {
			n, x, y := p.node("n", "Note"), p.shared("x"), p.node("y", "Person")
			p.match(hop(n, "About", x), hop(x, "By", y)).ret(id(n), typed(p, x), id(y))
		}},
		{name: "optional", want: "n1 | City\nn1 | Person\nn2 | City\nn2 | Team\nn3 | Person\nn4 | null", build: func(p *readPlan) {
			n, x := p.bind("n", "Note"), p.shared("x")
			p.match(p.maybe(hop(n, "About", x))).ret(id(n), typed(p, x))
		}},
		{name: "optional to one type", want: "n1 | null\nn2 | ann\nn3 | null\nn4 | null", build: func(p *readPlan) {
			n, x := p.bind("n", "Note"), p.node("x", "Team")
			p.match(p.maybe(hop(n, "About", x))).ret(id(n), id(x))
		}},
		{name: "without an edge", want: "n4", build: func(p *readPlan) {
			n, x := p.bind("n", "Note"), p.shared("x")
			p.match(not(hop(n, "About", x))).ret(id(n))
		}},
		{name: "without an edge to one type", want: "n2\nn4", build: func(p *readPlan) {
			n, x := p.bind("n", "Note"), p.node("x", "Person")
			p.match(not(hop(n, "About", x))).ret(id(n))
		}},
		{name: "nodes without an edge to them", want: "Person | bob\nPerson | cid", build: func(p *readPlan) {
			n, x := p.node("n", "Note"), p.shared("x")
			p.match(plan.Bind{Var: x}, not(hop(n, "About", x))).ret(typed(p, x), id(x))
		}},
		{name: "with an edge to a type", want: "n1\nn2", build: func(p *readPlan) {
			n, x := p.bind("n", "Note"), p.node("x", "City")
			p.match(exists(hop(n, "About", x))).ret(id(n))
		}},
		{name: "counted", want: "n1 | 2\nn2 | 2\nn3 | 1\nn4 | 0", build: func(p *readPlan) {
			n, x := p.bind("n", "Note"), p.shared("x")
			p.ret(id(n), blockAgg(plan.Count, nil, []plan.VarID{n}, hop(n, "About", x)))
		}},
		{name: "counted to one type", want: "n1 | 1\nn2 | 0\nn3 | 1\nn4 | 0", build: func(p *readPlan) {
			n, x := p.bind("n", "Note"), p.node("x", "Person")
			p.ret(id(n), blockAgg(plan.Count, nil, []plan.VarID{n}, hop(n, "About", x)))
		}},
		{name: "counted by node", want: "{ann, Troy, City} | 1\n{c1, Oslo, City} | 1\n{ann, ann, Person} | 2\n{ann, ann, Team} | 1", build: func(p *readPlan) {
			n, x := p.node("n", "Note"), p.shared("x")
			p.match(hop(n, "About", x)).ret(whole(x), count(whole(n)))
		}},
		{name: "counted from a node of an interface", want: "City | ann | 2\nCity | c1 | 1\nPerson | ann | 1\nPerson | bob | 1\nPerson | cid | 0\nTeam | ann | 0", build: func(p *readPlan) {
			a, b := p.shared("a"), p.shared("b")
			p.match(plan.Bind{Var: a}).ret(typed(p, a), id(a), blockAgg(plan.Count, nil, []plan.VarID{a}, hop(a, "Links", b)))
		}},
		{name: "distinct nodes counted", want: "4", build: func(p *readPlan) {
			n, x := p.node("n", "Note"), p.shared("x")
			p.match(hop(n, "About", x)).ret(distinct(count(whole(x))))
		}},
		{name: "all edges counted", want: "5", build: func(p *readPlan) {
			n, e, x := p.node("n", "Note"), p.edge("e", "About"), p.shared("x")
			p.match(over(n, e, "About", x)).ret(count(id(e)))
		}},
		{name: "edges to one type counted", want: "2", build: func(p *readPlan) {
			n, e, x := p.node("n", "Note"), p.edge("e", "About"), p.node("x", "Person")
			p.match(over(n, e, "About", x)).ret(count(id(e)))
		}},
		{name: "a list of the nodes", want: "n1 | [{ann, Troy, City}, {ann, ann, Person}]", build: func(p *readPlan) {
			n, x := p.bind("n", "Note"), p.shared("x")
			p.match(hop(n, "About", x), where(id(n), plan.Eq, "n1")).ret(id(n), agg(plan.Collect, whole(x)))
		}},
		{name: "an argument is the node", args: []any{plan.OfNode("City", "ann")}, want: "n1", build: func(p *readPlan) {
			n, x := p.node("n", "Note"), p.shared("x")
			p.match(hop(n, "About", x), where(whole(x), plan.Eq, p.namedNode(false))).ret(id(n))
		}},
		{name: "a limit", want: "n1 | City\nn1 | Person", build: func(p *readPlan) {
			n, x := p.node("n", "Note"), p.shared("x")
			p.match(hop(n, "About", x)).ret(id(n), typed(p, x)).limit(2)
		}},
	}
}

// namedNode declares a parameter that is a node of the interface Named of the schema noted.
func (p *readPlan) namedNode(optional bool) plan.ParamRef {
	t := plan.NodeType([]string{"Person", "City", "Team"})
	t.Nullable = optional
	ref := p.param("who", t)
	p.q.Params[ref.Index].Interface = "Named"
	return ref
}

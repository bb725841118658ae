package foreign

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/naming"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/refuse"
)

// aggregates reads the selection of a field of GraphQL that aggregates the nodes of a scope: count,
// score { average }, avg { score }, scoreAvg or avgScore, perhaps within aggregate { … }. Within edge { … } the properties
// are those of the edge.
func (r *rewriter) aggregates(sc scope) {
	defer r.Deeper()()
	v := sc.node
	r.Expect("{")
	for r.More("}") {
		alias, name := "", r.Word()
		if r.Accept(":") {
			alias, name = name, r.Word()
		}
		p := r.Property(r.vars[v], name)
		switch function := aggregateName(name); {
		case p == nil && (naming.Plain(name) == "count" || naming.Plain(name) == "totalcount"):
			if alias == "" {
				alias = name
			}
			r.add(alias, "count($"+naming.Lower(v)+")")
			if r.Accept("{", "nodes", "}") {
				continue
			}
		case p == nil && slices.Contains([]string{"aggregate", "node", "key", "keys", "group"}, naming.Plain(name)) && r.Is("{"):
			r.aggregates(sc)
		case p == nil && isEdgeWrapper(name) && sc.edge != nil && r.Is("{"):
			r.aggregates(scope{node: r.edgeOf(sc)})
		case p != nil && slices.Contains(r.by, p.Name) && !r.Is("{"):
			r.add(alias, "$"+naming.Lower(v)+"."+p.Name)
		case p == nil && function == "" || !r.Accept("{"):
			panic(refuse.GiveUp{})
		default:
			for r.More("}") {
				inner := r.Word()
				if p != nil {
					r.aggregate(v, aggregateName(inner), p.Name, name+"_"+inner)
					continue
				}
				owner := v
				if r.Property(r.vars[v], inner) == nil && r.edgeProperty(sc, inner) != nil {
					owner = r.edgeOf(sc)
				}
				r.aggregate(owner, function, r.need(scope{node: owner}, inner).Name, name+"_"+inner)
			}
		}
	}
}

// aggregate adds a column with an aggregate of a property.
func (r *rewriter) aggregate(v, function, property, alias string) {
	refuse.If(function == "")
	r.add(alias, function+"($"+naming.Lower(v)+"."+property+")")
}

// aggregateName returns the aggregate that a name means, or "".
func aggregateName(name string) string {
	name = strings.TrimSuffix(naming.Plain(name), "of")
	if to, ok := foreign[name]; ok {
		name = to
	}
	if slices.Contains(plan.AggregateNames(), name) {
		return name
	}
	return ""
}

// countable returns the argument of count: an edge counts by its id, because count takes nodes and values.
func (r *rewriter) countable(e string) string {
	if v, ok := strings.CutPrefix(e, "$"); ok && r.Schema.Edge(r.typeOf(v)) != nil {
		return e + ".id"
	}
	return e
}

// countBlock reads placed_aggregate(where: { … }) { count sum { total } } and the like, and
// reviewedConnection { edges { … } }.
func (r *rewriter) countBlock(sc scope, alias, name string) {
	rel := r.Counted(r.vars[sc.node], name)
	refuse.If(rel == nil)
	if strings.HasSuffix(naming.Plain(name), "connection") && !r.Is("{", "totalcount", "}") {
		r.nested(sc, rel, alias, naming.Lower(rel.Edge.Name))
		return
	}
	if alias == "" {
		alias = name
	}
	inner := r.across(rel)
	to := inner.node
	block := r.nestedRead(func() {
		if r.Is("(") {
			r.arguments(&r.read, inner)
		}
		if r.Is("{") {
			r.aggregates(inner)
		} else {
			r.add("count", "count($"+naming.Lower(to)+")")
		}
	})
	columns := block.computed
	refuse.If(len(block.sort) > 0 || block.limit != "" || block.skip != "" || block.distinct || len(block.by) > 0 || len(columns) == 0)
	traversal := rel.Clause(sc.node, inner.edge.name, to)
	if len(block.match) == 0 && inner.edge.name == "" && len(columns) == 1 && strings.HasPrefix(columns[0].text, "count(") {
		traversal = rel.Clause(sc.node, "", "")
	}
	match := join(append([]cond{leaf(traversal)}, block.match...))
	for _, c := range columns {
		as := alias
		if len(columns) > 1 {
			as += "_" + c.alias
		}
		function, argument, _ := strings.Cut(strings.TrimSuffix(c.text, ")"), "(")
		switch {
		case function == "count" && argument == "$"+naming.Lower(to):
			r.add(as, "count { "+match+" }")
		case function == "count":
			panic(refuse.GiveUp{})
		default:
			r.add(as, function+" { "+match+" return "+argument+" }")
		}
	}
}

package foreign

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// aggregates reads the selection of a field of GraphQL that aggregates the nodes of a scope: count,
// score { average }, avg { score }, scoreAvg or avgScore, perhaps within aggregate { … }. Within edge { … } the properties
// are those of the edge.
func (r *rewriter) aggregates(sc scope) {
	defer r.deeper()()
	v := sc.node
	r.expect("{")
	for !r.accept("}") {
		if r.accept(",") {
			continue
		}
		alias, name := "", r.word()
		if r.accept(":") {
			alias, name = name, r.word()
		}
		p := r.property(r.vars[v], name)
		switch function := aggregateName(name); {
		case p == nil && (plain(name) == "count" || plain(name) == "totalcount"):
			if alias == "" {
				alias = name
			}
			r.add(alias, "count($"+lower(v)+")")
			if r.accept("{", "nodes", "}") {
				continue
			}
		case p == nil && slices.Contains([]string{"aggregate", "node", "key", "keys", "group"}, plain(name)) && r.is("{"):
			r.aggregates(sc)
		case p == nil && isEdgeWrapper(name) && sc.edge != nil && r.is("{"):
			r.aggregates(scope{node: r.edgeOf(sc)})
		case p != nil && slices.Contains(r.by, p.Name) && !r.is("{"):
			r.add(alias, "$"+lower(v)+"."+p.Name)
		case p == nil && function == "" || !r.accept("{"):
			panic(giveUp{})
		default:
			for !r.accept("}") {
				if r.accept(",") {
					continue
				}
				inner := r.word()
				if p != nil {
					r.aggregate(v, aggregateName(inner), p.Name, name+"_"+inner)
					continue
				}
				owner := v
				if r.property(r.vars[v], inner) == nil && r.edgeProperty(sc, inner) != nil {
					owner = r.edgeOf(sc)
				}
				r.aggregate(owner, function, r.need(scope{node: owner}, inner).Name, name+"_"+inner)
			}
		}
	}
}

// aggregate adds a column with an aggregate of a property.
func (r *rewriter) aggregate(v, function, property, alias string) {
	refuse(function == "")
	r.add(alias, function+"($"+lower(v)+"."+property+")")
}

// aggregateName returns the aggregate that a name means, or "".
func aggregateName(name string) string {
	name = strings.TrimSuffix(plain(name), "of")
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
	if v, ok := strings.CutPrefix(e, "$"); ok && r.schema.Edge(r.typeOf(v)) != nil {
		return e + ".id"
	}
	return e
}

package nearest

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// aggregates reads the selection of a field of GraphQL that aggregates the nodes of a variable: count,
// score { average } or avg { score }, perhaps within aggregate { … }.
func (r *rewriter) aggregates(v string) {
	defer r.deeper()()
	r.expect("{")
	for !r.accept("}") {
		if r.accept(",") {
			continue
		}
		name := r.word()
		p := r.property(r.vars[v], name)
		switch function := aggregateName(name); {
		case p == nil && (plain(name) == "count" || plain(name) == "totalcount"):
			r.add(name, "count($"+lower(v)+")")
		case p == nil && plain(name) == "aggregate":
			r.aggregates(v)
		case p == nil && slices.Contains([]string{"key", "keys", "group"}, plain(name)) && r.is("{"):
			r.aggregates(v)
		case p != nil && slices.Contains(r.by, p.Name) && !r.is("{"):
			r.add("", "$"+lower(v)+"."+p.Name)
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
				} else {
					r.aggregate(v, function, r.need(scope{node: v}, inner).Name, name+"_"+inner)
				}
			}
		}
	}
}

// aggregate adds a column with an aggregate of a property.
func (r *rewriter) aggregate(v, function, property, alias string) {
	if function == "" {
		panic(giveUp{})
	}
	r.add(alias, function+"($"+lower(v)+"."+property+")")
}

// aggregateName returns the aggregate that a name means, or "".
func aggregateName(name string) string {
	name = plain(name)
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

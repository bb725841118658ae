package foreign

import "strings"

// countBlock reads placed_aggregate(where: { … }) { count sum { total } } and the like, and
// reviewedConnection { edges { … } }.
func (r *rewriter) countBlock(sc scope, alias, name string) {
	rel := r.counted(r.vars[sc.node], name)
	refuse(rel == nil)
	if strings.HasSuffix(plain(name), "connection") && !r.is("{", "totalcount", "}") {
		r.nested(sc, rel, alias, lower(rel.edge.Name))
		return
	}
	if alias == "" {
		alias = name
	}
	outer, aliases, computed, by := r.read, r.aliases, r.computed, r.by
	r.read, r.aliases, r.computed, r.by = read{}, nil, nil, nil
	to := r.fresh(rel.other())
	inner := scope{node: to, edge: &edgeScope{edge: rel.edge}}
	if r.is("(") {
		r.arguments(&r.read, inner)
	}
	if r.is("{") {
		r.aggregates(inner)
	} else {
		r.add("count", "count($"+lower(to)+")")
	}
	refuse(len(r.sort) > 0 || r.limit != "" || r.skip != "" || r.distinct || len(r.by) > 0 || len(r.computed) == 0)
	columns := r.computed
	traversal := rel.clause(sc.node, inner.edge.name, to)
	if len(r.match) == 0 && inner.edge.name == "" && len(columns) == 1 && strings.HasPrefix(columns[0].text, "count(") {
		traversal = rel.clause(sc.node, "", "")
	}
	match := join(append([]cond{leaf(traversal)}, r.match...))
	r.read, r.aliases, r.computed, r.by = outer, aliases, computed, by
	for _, c := range columns {
		as := alias
		if len(columns) > 1 {
			as += "_" + c.alias
		}
		function, argument, _ := strings.Cut(strings.TrimSuffix(c.text, ")"), "(")
		switch {
		case function == "count" && argument == "$"+lower(to):
			r.add(as, "count { "+match+" }")
		case function == "count":
			panic(giveUp{})
		default:
			r.add(as, function+" { "+match+" return "+argument+" }")
		}
	}
}

package foreign

import (
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
)

// keyedType returns the node type of a field such as work_by_pk, findFirstWork or incidentByNumber, or "".
func (r *rewriter) keyedType(name string) string {
	name = plain(name)
	for _, suffix := range []string{"bypk", "byid", "collection", "list"} {
		if base, ok := strings.CutSuffix(name, suffix); ok {
			if typ := r.pluralType(base); typ != "" {
				return typ
			}
		}
	}
	return r.typeByKey(name)
}

// edgeField reads the arguments and the selection of a field that yields the edges of a type, as in
// depends_on(where: { critical: { _eq: true } }) { kind from { slug } to { slug } }.
func (r *rewriter) edgeField(name string) {
	e := r.edgeType(name)
	if e == nil || r.schema.Node(e.From) == nil || r.schema.Node(e.To) == nil {
		panic(giveUp{})
	}
	edge := r.fresh(e.Name)
	clause, from, to := r.withEnds(edge, e)
	r.match = append(r.match, clause)
	if r.is("(") {
		r.arguments(&r.read, scope{node: edge})
	}
	r.expect("{")
	for !r.accept("}") {
		if r.accept(",") {
			continue
		}
		field, alias := r.word(), ""
		if r.accept(":") {
			alias, field = field, r.word()
		}
		if !r.is("{") {
			r.included(alias, r.member(edge, r.need(scope{node: edge}, field).Name))
			continue
		}
		end := map[string]string{"from": from, "to": to}[r.endNamed(e, field)]
		if end == "" {
			panic(giveUp{})
		}
		if alias == "" {
			alias = field
		}
		before := len(r.columns)
		r.selected(scope{node: end})
		r.prefix(before, alias)
	}
}

// withEnds writes the clause that binds an edge and both of its ends, which filters on the edge may use.
func (r *rewriter) withEnds(edge string, e *catalog.Edge) (clause cond, from, to string) {
	from, to = r.fresh(e.From), r.fresh(e.To)
	r.ends = map[string]map[string]string{edge: {"from": from, "to": to}}
	return leaf("$" + from + " $" + edge + ":" + lower(e.Name) + " $" + to), from, to
}

// prefix gives the columns from an index on, which have no alias, the name of the object in which the text has them.
func (r *rewriter) prefix(from int, object string) {
	columns := r.computed[from:]
	r.columns, r.computed = r.columns[:from:from], r.computed[:from:from]
	for _, c := range columns {
		alias := c.alias
		if _, name, ok := strings.Cut(c.text, "."); alias == "" && ok {
			alias = name
		}
		r.add(object+"_"+alias, c.text)
	}
}

package foreign

import (
	"slices"
	"strconv"
	"strings"
)

// listAggregates are the aggregates of other languages that make a list or a text of all values of a group.
var listAggregates = []string{"string_agg", "group_concat", "listagg", "array_agg", "json_agg", "jsonb_agg", "json_arrayagg", "json_group_array"}

// listAggregate reads the arguments of such an aggregate after the opening parenthesis, and returns a call of collect, or
// the mark of a collect block if the list has an order or records.
func (r *rewriter) listAggregate(name string) string {
	text := slices.Contains(listAggregates[:3], name)
	distinct := r.accept("distinct")
	l := &listing{limit: "1000"}
	e := r.alone(r.operand())
	if text && r.accept(",") {
		r.operand() // the separator
	}
	l.sort = r.listOrder()
	r.expect(")")
	if text {
		r.note("texts of several rows are not joined: the column is a list of them")
	}
	if len(l.sort) > 0 && !distinct && !r.unsorted {
		l.columns = []string{e + " as " + propertyOrValue(e)}
		r.note("a collect block lists records: {\"" + propertyOrValue(e) + "\": …}")
		r.sortedLists = true
		l.mark = "collect" + strconv.Itoa(len(r.listings)) + "()"
		r.listings = append(r.listings, l)
		return l.mark
	}
	if len(l.sort) > 0 {
		r.note("a list has the order of ids, and not of " + strings.Join(l.sort, ", "))
	}
	if distinct {
		return "collect(distinct " + e + ")"
	}
	return "collect(" + e + ")"
}

// propertyOrValue returns the name of the property that an expression is, or a name for a value.
func propertyOrValue(e string) string {
	if _, name, ok := strings.Cut(e, "."); ok && strings.HasPrefix(e, "$") && wordLen(name) == len(name) {
		return name
	}
	return "value"
}

// listOrder reads ORDER BY in an aggregate.
func (r *rewriter) listOrder() []string {
	if !r.accept("order", "by") {
		return nil
	}
	saved := r.sort
	r.sort = nil
	for {
		r.direction(r.alone(r.operand()))
		if !r.accept(",") {
			break
		}
	}
	out := r.sort
	r.sort = saved
	return out
}

// groupedLists checks that GROUP BY groups by the node around a list, and that the other columns use only this node.
func (r *rewriter) groupedLists(v string) {
	mine := func(e string) bool {
		tokens, ok := scan(e)
		return ok && !slices.ContainsFunc(tokens, func(t token) bool { return t.kind == dollar && t.text != lower(v) && r.bound(t.text) })
	}
	for _, key := range r.groups {
		refuse(!mine(key) && !slices.Contains(r.aliases, key))
	}
	for i, c := range r.computed {
		switch {
		case c.fromWith && aggregated(c.text):
			r.computed[i].text = ""
		case c.fromWith:
		case aggregated(c.text) || r.lists(c.text):
			r.computed[i].text, r.computed[i].fromWith = "", true
		case !mine(c.text):
			panic(giveUp{})
		}
	}
	for _, key := range r.sort {
		refuse(aggregated(key))
	}
}

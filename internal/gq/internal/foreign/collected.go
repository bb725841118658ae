package foreign

import (
	"slices"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/naming"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/refuse"
)

// wholeListNote explains why a list has no slice.
const wholeListNote = "the list of a group has no bound: it has all values"

// listing is a call of collect whose list has an order, a bound or records. The match is complete, and the group is
// known, only at the end of the text: until then, a mark stands for the call.
type listing struct {
	mark    string // such as collect0()
	value   string // the only value of each element, or ""
	columns []string
	sort    []string // the keys of the order before the call
	limit   string
}

// listed reads the argument of collect in parentheses and a slice such as [0..3] after it. It reports false for an
// ordinary call.
func (r *rewriter) listed() (mark string, ok bool) {
	start, sorted := r.At, len(r.sort) > 0
	l := &listing{limit: "1000", sort: slices.Clone(r.sort)}
	records := r.Is("{") || r.known(r.Peek(0).Text) && r.IsAt(1, "{")
	if !records {
		r.SkipCall()
		sliced := r.Is("[")
		r.At = start
		if !sliced && !sorted || r.Is("distinct") {
			return "", false
		}
	}
	v := ""
	if !r.Is("{") && records {
		v = r.variable()
	}
	if r.Accept("{") {
		for !r.Accept("}") {
			switch {
			case r.Accept(","):
			case v != "" && r.Accept("."):
				name := r.PropertyName(r.vars[v], r.Word())
				l.columns = append(l.columns, "$"+naming.Lower(v)+"."+name+" as "+name)
			default:
				name := naming.Lower(r.Word())
				r.Expect(":")
				l.columns = append(l.columns, r.alone(r.operand())+" as "+name)
			}
		}
	} else {
		e := r.alone(r.operand())
		_, name, property := strings.Cut(e, ".")
		refuse.If(!property || !strings.HasPrefix(e, "$") || lex.WordLen(name) != len(name))
		l.value, l.columns = e, []string{e + " as " + name}
	}
	r.Expect(")")
	if r.Accept("[") {
		if r.Peek(0).Text == "0" {
			r.Next()
		}
		r.Expect("..")
		n, err := strconv.Atoi(r.Next().Text)
		refuse.If(err != nil || n < 1 || n > 1000)
		l.limit = strconv.Itoa(n)
		r.Expect("]")
	}
	refuse.If(r.limit != "" || len(l.columns) == 0 || r.staged)
	r.taken = len(r.sort)
	return r.listing(l), true
}

// listing keeps a listing until the text is complete, and returns its mark.
func (r *rewriter) listing(l *listing) string {
	l.mark = "collect" + strconv.Itoa(len(r.listings)) + "()"
	r.listings = append(r.listings, l)
	return l.mark
}

// lists reports whether an expression contains the mark of a listing.
func (r *rewriter) lists(e string) bool {
	return slices.ContainsFunc(r.listings, func(l *listing) bool { return strings.Contains(e, l.mark) })
}

// expandListings writes collect blocks in the place of marks: the rows of the query are then the nodes by which the
// text groups, and each block has the rest of the match.
func (r *rewriter) expandListings() {
	if len(r.listings) == 0 {
		return
	}
	refuse.If(len(r.windows) > 0)
	for _, l := range r.listings {
		if _, name, _ := strings.Cut(l.value, "."); name != "" {
			r.note("a collect block lists records: {\"" + name + "\": …}")
		}
	}
	nodes := r.groupNodes()
	refuse.If(len(nodes) != 1)
	outer, inner := r.splitGroups(nodes)
	r.match = outer
	var blocks []column
	for _, c := range r.computed {
		if aggregated(c.text) && c.alias != "" && len(r.having) > 0 {
			blocks = append(blocks, column{alias: c.alias, text: blockOf(join(inner), c.text)})
			r.spend(last(blocks).text)
		}
	}
	r.match, r.having = append(r.match, r.conditionsOn(blocks)...), nil
	order := r.sort[:r.taken]
	r.sort = r.sort[r.taken:]
	for i, c := range r.columns {
		if aggregated(c.text) {
			refuse.If(c.alias == "")
			r.columns[i].text = blockOf(join(inner), c.text)
		}
	}
	for _, l := range r.listings {
		sort := l.sort
		if len(order) == 0 && !r.sortedLists {
			sort = nil
		}
		block := recordsOf("collect", inner, strings.Join(l.columns, ", "), sort, l.limit)
		for i, c := range r.columns {
			r.columns[i].text = replaceOperand(c.text, l.mark, block)
		}
	}
	r.groupedLists(nodes) // the blocks are no aggregates
}

// groupsBeforeMatch makes blocks of the aggregates of WITH before another MATCH: the rows are then the nodes by which WITH
// groups.
func (r *rewriter) groupsBeforeMatch() {
	refuse.If(len(r.listings)+len(r.windows)+len(r.groups)+len(r.sort) > 0 || len(r.match) == 0 || r.early)
	var outer, inner []cond
	switch len(r.keys) {
	case 0: // one group of all rows
		inner = r.match
	default:
		nodes := r.groupNodes()
		for _, v := range r.order {
			refuse.If(len(nodes) > 1 && !slices.Contains(r.dropped, v) && !slices.Contains(nodes, v)) // WITH keeps something else
		}
		outer, inner = r.splitGroups(nodes)
	}
	var blocks []column
	for _, c := range r.computed {
		if !aggregated(c.text) && c.fromWith && len(r.keys) > 0 && r.usesOnly(c.text, r.groupNodes()) {
			continue // the group determines it
		}
		refuse.If(!aggregated(c.text))
		blocks = append(blocks, column{alias: c.alias, text: blockOf(join(inner), c.text)})
		r.spend(last(blocks).text)
		r.values[c.alias] = last(blocks).text
	}
	outer = append(outer, r.conditionsOn(blocks)...)
	r.match, r.having, r.computed, r.keys, r.staged = outer, nil, nil, nil, false
}

// conditionsOn writes the conditions on groups with the blocks that compute their values.
func (r *rewriter) conditionsOn(blocks []column) (out []cond) {
	for _, c := range r.having {
		alias := c.text[:lex.WordLen(c.text)]
		i := slices.IndexFunc(blocks, func(b column) bool { return b.alias == alias })
		refuse.If(c.op != "" || i < 0)
		out = append(out, leaf(blocks[i].text+c.text[len(alias):]))
	}
	return out
}

// aggregatesAhead reports whether the rest of the text calls an aggregate.
func (r *rewriter) aggregatesAhead() bool {
	for i := r.At; i+1 < len(r.Tokens); i++ {
		if t := r.Tokens[i]; t.Kind == lex.Word && r.Tokens[i+1].Text == "(" && aggregateName(t.Text) != "" {
			return true
		}
	}
	return false
}

// listAggregates are the aggregates of other languages that make a list or a text of all values of a group.
var listAggregates = []string{"string_agg", "group_concat", "listagg", "array_agg", "json_agg", "jsonb_agg", "json_arrayagg", "json_group_array"}

// listAggregate reads the arguments of such an aggregate after the opening parenthesis, and returns a call of collect, or
// the mark of a collect block if the list has an order or records.
func (r *rewriter) listAggregate(name string) string {
	text := slices.Contains(listAggregates[:3], name)
	distinct := r.Accept("distinct")
	l := &listing{limit: "1000"}
	e := r.alone(r.operand())
	if text && r.Accept(",") {
		r.operand() // the separator
	}
	l.sort = r.listOrder()
	r.Expect(")")
	if text {
		r.note("texts of several rows are not joined: the column is a list of them")
	}
	if len(l.sort) > 0 && !distinct {
		l.columns = []string{e + " as " + propertyOrValue(e)}
		r.note("a collect block lists records: {\"" + propertyOrValue(e) + "\": …}")
		r.sortedLists = true
		return r.listing(l)
	}
	refuse.If(len(l.sort) > 0) // different values have no order
	if distinct {
		return "collect(distinct " + e + ")"
	}
	return "collect(" + e + ")"
}

// propertyOrValue returns the name of the property that an expression is, or a name for a value.
func propertyOrValue(e string) string {
	if _, name, ok := strings.Cut(e, "."); ok && strings.HasPrefix(e, "$") && lex.WordLen(name) == len(name) {
		return name
	}
	return "value"
}

// listOrder reads ORDER BY in an aggregate.
func (r *rewriter) listOrder() []string {
	if !r.Accept("order", "by") {
		return nil
	}
	saved := r.sort
	r.sort = nil
	for more := true; more; more = r.Accept(",") {
		r.direction(r.alone(r.operand()))
	}
	out := r.sort
	r.sort = saved
	return out
}

// groupedLists checks that GROUP BY groups by the node around a list, and that the other columns use only this node.
func (r *rewriter) groupedLists(nodes []string) {
	for _, key := range r.groups {
		refuse.If(!slices.Contains(r.aliases, key) && !r.usesOnly(key, nodes))
	}
	for i, c := range r.computed {
		switch {
		case c.fromWith && aggregated(c.text):
			r.computed[i].text = ""
		case c.fromWith:
		case aggregated(c.text) || r.lists(c.text):
			r.computed[i].text, r.computed[i].fromWith = "", true
		case !r.usesOnly(c.text, nodes):
			panic(refuse.GiveUp{})
		}
	}
	for _, key := range r.sort {
		refuse.If(aggregated(key))
	}
}

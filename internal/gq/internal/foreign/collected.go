package foreign

import (
	"slices"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/naming"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/refuse"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
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
	l.mark = "collect" + strconv.Itoa(len(r.listings)) + "()"
	r.listings = append(r.listings, l)
	return l.mark, true
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
	optional := last(r.match)
	if optional.op == "optional" {
		r.match = append(slices.Clone(r.match[:len(r.match)-1]), optional.subs...)
	}
	v := r.groupNode()
	outer, inner := r.aroundGroup(v)
	r.match = outer
	if optional.op != "optional" {
		r.match = append(outer, cond{op: "exists", subs: inner})
	} else if len(inner) != len(optional.subs) {
		panic(refuse.GiveUp{})
	}
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
	r.groupedLists(v) // the blocks are no aggregates
}

// aroundGroup divides the match into the clauses that use only the nodes by which a text groups, and the others.
func (r *rewriter) aroundGroup(group ...string) (outer, inner []cond) { return r.aroundNodes(group) }

// groupsBeforeMatch makes blocks of the aggregates of WITH before another MATCH: the rows are then the nodes by which WITH
// groups.
func (r *rewriter) groupsBeforeMatch() {
	refuse.If(len(r.listings)+len(r.windows)+len(r.groups)+len(r.sort) > 0 || len(r.match) == 0 || r.early)
	var outer, inner []cond
	switch len(r.keys) {
	case 0: // one group of all rows
		inner = r.match
	default:
		// The match without the nodes of an OPTIONAL MATCH, which is the last clause, has the same groups.
		clause := last(r.match)
		if clause.op == "optional" {
			r.match = append(slices.Clone(r.match[:len(r.match)-1]), clause.subs...)
		}
		outer, inner = r.aroundGroup(r.keptNodes()...)
		if clause.op != "optional" {
			outer = append(outer, cond{op: "exists", subs: inner})
		} else if len(inner) != len(clause.subs) {
			panic(refuse.GiveUp{})
		}
	}
	var blocks []column
	for _, c := range r.computed {
		if !aggregated(c.text) && c.fromWith && r.ofKeys(c.text) {
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

// groupNode returns the variable of the nodes by which a text groups: the one that WITH keeps, or the one of which the
// columns have the key, or the only node that a binding finds by its key.
func (r *rewriter) groupNode() string {
	var names, others []string
	for _, k := range r.keys {
		names = append(names, k[1:])
	}
	if len(names) == 0 {
		for _, c := range r.computed {
			owner, property, _ := strings.Cut(strings.TrimPrefix(c.text, "$"), ".")
			if aggregated(c.text) || r.lists(c.text) {
				continue
			}
			if c.fromWith || !strings.HasPrefix(c.text, "$") || !r.bound(owner) {
				others = append(others, "")
				continue
			}
			if property == "" || property == "id" || property == r.Key(r.typeOf(owner)) {
				names = append(names, owner)
			}
			others = append(others, owner)
		}
	}
	slices.Sort(others)
	if others = slices.Compact(others); len(names) == 0 && len(others) == 1 && others[0] != "" {
		if v := others[0]; slices.ContainsFunc(r.match, func(c cond) bool {
			b := c.binding()
			return b != nil && b.Var.Value == "$"+v && slices.ContainsFunc(b.Props, func(p *syntax.PropMatch) bool { return p.Name.Value == r.Key(b.Type.Value) })
		}) {
			names = others // there is one node; otherwise two nodes may have the same values
		}
	}
	if len(names) == 0 {
		for _, key := range r.groups {
			owner, property, _ := strings.Cut(strings.TrimPrefix(key, "$"), ".")
			if strings.HasPrefix(key, "$") && r.bound(owner) && (property == "id" || property == r.Key(r.typeOf(owner))) {
				names = append(names, owner)
			}
		}
	}
	slices.Sort(names)
	if names = slices.Compact(names); len(names) != 1 {
		panic(refuse.GiveUp{})
	}
	for _, v := range r.order {
		if naming.Lower(v) == names[0] && r.Schema.Node(r.vars[v]) != nil {
			return v
		}
	}
	panic(refuse.GiveUp{})
}

// keptNodes returns the variables of the nodes that WITH keeps. It gives up if WITH keeps something else.
func (r *rewriter) keptNodes() (out []string) {
	if len(r.keys) == 1 {
		return []string{r.groupNode()}
	}
	for _, v := range r.order {
		if slices.Contains(r.dropped, v) {
			continue
		}
		refuse.If(!slices.Contains(r.keys, "$"+naming.Lower(v)) || r.Schema.Node(r.vars[v]) == nil)
		out = append(out, v)
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

// typeOf returns the type of a variable, as this language writes its name.
func (r *rewriter) typeOf(name string) string {
	for _, v := range r.order {
		if naming.Lower(v) == name {
			return r.vars[v]
		}
	}
	return ""
}

// ofKeys reports whether an expression uses only the nodes by which WITH groups.
func (r *rewriter) ofKeys(e string) bool {
	return len(r.keys) > 0 && !slices.ContainsFunc(must(lex.Scan(e)), func(t lex.Token) bool {
		return t.Kind == lex.Dollar && r.bound(t.Text) && !slices.Contains(r.keys, "$"+t.Text)
	})
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
		l.mark = "collect" + strconv.Itoa(len(r.listings)) + "()"
		r.listings = append(r.listings, l)
		return l.mark
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
func (r *rewriter) groupedLists(v string) {
	mine := func(e string) bool {
		tokens, ok := lex.Scan(e)
		return ok && !slices.ContainsFunc(tokens, func(t lex.Token) bool { return t.Kind == lex.Dollar && t.Text != naming.Lower(v) && r.bound(t.Text) })
	}
	for _, key := range r.groups {
		refuse.If(!mine(key) && !slices.Contains(r.aliases, key))
	}
	for i, c := range r.computed {
		switch {
		case c.fromWith && aggregated(c.text):
			r.computed[i].text = ""
		case c.fromWith:
		case aggregated(c.text) || r.lists(c.text):
			r.computed[i].text, r.computed[i].fromWith = "", true
		case !mine(c.text):
			panic(refuse.GiveUp{})
		}
	}
	for _, key := range r.sort {
		refuse.If(aggregated(key))
	}
}

package nearest

import (
	"slices"
	"strconv"
	"strings"
)

// listing is a call of collect whose list has an order, a bound or records. The match is complete, and the group is
// known, only at the end of the text: until then, a mark stands for the call.
type listing struct {
	mark    string // such as collect0()
	columns []string
	sort    []string // the keys of the order before the call
	limit   string
}

// listed reads the argument of collect in parentheses and a slice such as [0..3] after it. It reports false for an
// ordinary call.
func (r *rewriter) listed() (mark string, ok bool) {
	start, sorted := r.at, len(r.sort) > 0
	l := &listing{limit: "1000", sort: slices.Clone(r.sort)}
	records := r.is("{") || r.known(r.peek(0).text) && r.isAt(1, "{")
	if !records {
		r.skipCall()
		sliced := r.is("[")
		r.at = start
		if !sliced && !sorted || r.is("distinct") {
			return "", false
		}
	}
	v := ""
	if !r.is("{") && records {
		v = r.variable()
	}
	if r.accept("{") {
		for !r.accept("}") {
			switch {
			case r.accept(","):
			case v != "" && r.accept("."):
				name := r.propertyName(r.vars[v], r.word())
				l.columns = append(l.columns, "$"+lower(v)+"."+name+" as "+name)
			default:
				name := lower(r.word())
				r.expect(":")
				l.columns = append(l.columns, r.alone(r.operand())+" as "+name)
			}
		}
	} else {
		e := r.alone(r.operand())
		_, name, property := strings.Cut(e, ".")
		if !property || !strings.HasPrefix(e, "$") || wordLen(name) != len(name) {
			panic(giveUp{})
		}
		l.columns = []string{e + " as " + name}
		r.note("a collect block lists records: {\"" + name + "\": …}")
	}
	r.expect(")")
	if r.accept("[") {
		if r.peek(0).text == "0" {
			r.next()
		}
		r.expect("..")
		n, err := strconv.Atoi(r.next().text)
		if err != nil || n < 1 || n > 1000 {
			panic(giveUp{})
		}
		l.limit = strconv.Itoa(n)
		r.expect("]")
	}
	if r.limit != "" || len(l.columns) == 0 || r.staged {
		panic(giveUp{})
	}
	r.taken = len(r.sort)
	l.mark = "collect" + strconv.Itoa(len(r.listings)) + "()"
	r.listings = append(r.listings, l)
	return l.mark, true
}

// lists reports whether an expression contains the mark of a listing.
func (r *rewriter) lists(e string) bool {
	return slices.ContainsFunc(r.listings, func(l *listing) bool { return strings.Contains(e, l.mark) })
}

// skipCall skips the arguments of a call up to its closing parenthesis.
func (r *rewriter) skipCall() {
	for depth := 1; depth > 0; {
		switch t := r.next(); {
		case t.kind == mark && t.text == "(":
			depth++
		case t.kind == mark && t.text == ")":
			depth--
		}
	}
}

// expandListings writes collect blocks in the place of marks: the rows of the query are then the nodes by which the
// text groups, and each block has the rest of the match.
func (r *rewriter) expandListings() {
	if len(r.listings) == 0 {
		return
	}
	if len(r.windows) > 0 {
		panic(giveUp{})
	}
	v := r.groupNode()
	outer, inner := r.aroundGroup(v)
	r.match = append(outer, cond{op: "exists", subs: inner})
	order := r.sort[:r.taken]
	r.sort = r.sort[r.taken:]
	for i, c := range r.columns {
		e, alias, named := strings.Cut(c, " as ")
		if !aggregated(e) {
			continue
		}
		if !named {
			panic(giveUp{})
		}
		r.columns[i] = blockOf(join(inner), e) + " as " + alias
	}
	for _, l := range r.listings {
		block := "collect { " + join(inner) + " return { " + strings.Join(l.columns, ", ") + " }"
		if len(order) > 0 || r.sortedLists && len(l.sort) > 0 {
			block += " order { " + strings.Join(l.sort, ", ") + " }"
		}
		block += " limit " + l.limit + " }"
		for i := range r.columns {
			r.columns[i] = replaceOperand(r.columns[i], l.mark, block)
		}
	}
	r.groupedLists(v) // the blocks are no aggregates
}

// aroundGroup divides the match into the clauses that use only the nodes by which a text groups, and the others.
func (r *rewriter) aroundGroup(v string) (outer, inner []cond) { return r.aroundNodes([]string{v}) }

// groupsBeforeMatch makes blocks of the aggregates of WITH before another MATCH: the rows are then the nodes by which WITH
// groups.
func (r *rewriter) groupsBeforeMatch() {
	if len(r.keys) > 1 || len(r.listings)+len(r.windows)+len(r.groups)+len(r.sort) > 0 || len(r.match) == 0 || r.early {
		panic(giveUp{})
	}
	var outer, inner []cond
	if len(r.keys) == 0 { // one group of all rows
		inner = r.match
	} else {
		// The match without the nodes of an OPTIONAL MATCH, which is the last clause, has the same groups.
		clause := last(r.match)
		if clause.op == "optional" {
			r.match = append(slices.Clone(r.match[:len(r.match)-1]), clause.subs...)
		}
		outer, inner = r.aroundGroup(r.groupNode())
		if clause.op != "optional" {
			outer = append(outer, cond{op: "exists", subs: inner})
		} else if len(inner) != len(clause.subs) {
			panic(giveUp{})
		}
	}
	var blocks []column
	for _, c := range r.computed {
		if !aggregated(c.text) {
			panic(giveUp{})
		}
		blocks = append(blocks, column{alias: c.alias, text: blockOf(join(inner), c.text)})
		r.values[c.alias] = last(blocks).text
	}
	for _, c := range r.having {
		alias := c.text[:wordLen(c.text)]
		i := slices.IndexFunc(blocks, func(b column) bool { return b.alias == alias })
		if c.op != "" || i < 0 {
			panic(giveUp{})
		}
		outer = append(outer, leaf(blocks[i].text+c.text[len(alias):]))
	}
	r.match, r.having, r.computed, r.keys, r.staged = outer, nil, nil, nil, false
}

// groupNode returns the variable of the nodes by which a text groups: the one that WITH keeps, or the one of which the
// columns have the key.
func (r *rewriter) groupNode() string {
	var names []string
	for _, k := range r.keys {
		names = append(names, k[1:])
	}
	if len(names) == 0 {
		for _, c := range r.computed {
			owner, property, _ := strings.Cut(strings.TrimPrefix(c.text, "$"), ".")
			if c.fromWith || !strings.HasPrefix(c.text, "$") || !r.bound(owner) {
				continue
			}
			if property == "" || property == "id" || property == r.key(r.typeOf(owner)) {
				names = append(names, owner)
			}
		}
	}
	if len(names) == 0 {
		for _, key := range r.groups {
			owner, property, _ := strings.Cut(strings.TrimPrefix(key, "$"), ".")
			if strings.HasPrefix(key, "$") && r.bound(owner) && (property == "id" || property == r.key(r.typeOf(owner))) {
				names = append(names, owner)
			}
		}
	}
	slices.Sort(names)
	if names = slices.Compact(names); len(names) != 1 {
		panic(giveUp{})
	}
	for _, v := range r.order {
		if lower(v) == names[0] && r.schema.Node(r.vars[v]) != nil {
			return v
		}
	}
	panic(giveUp{})
}

// typeOf returns the type of a variable, as this language writes its name.
func (r *rewriter) typeOf(name string) string {
	for _, v := range r.order {
		if lower(v) == name {
			return r.vars[v]
		}
	}
	return ""
}

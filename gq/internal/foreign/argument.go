package foreign

import (
	"cmp"
	"strings"
)

// arguments reads the arguments of a field in parentheses, which restrict and order its nodes.
func (r *rewriter) arguments(q *read, sc scope) {
	closing := ")"
	if r.accept("{") {
		closing = "}"
	} else {
		r.expect("(")
	}
	for !r.accept(closing) {
		if r.accept(",") {
			continue
		}
		name := r.word()
		if !argument(name) || r.property(r.vars[sc.node], name) != nil {
			r.match = append(r.match, r.filterOf(sc, name)...)
			continue
		}
		r.expect(":")
		switch plain(name) {
		case "first", "limit", "take", "top", "pagesize", "perpage":
			q.limit = r.operand()
		case "offset", "skip", "start":
			q.skip = r.operand()
		case "where", "filter", "filters", "condition":
			r.match = append(r.match, r.filters(sc)...)
		case "orderby", "order", "sort":
			r.sortKeys(sc)
		case "options", "pagination", "paging":
			r.arguments(q, sc)
		case "after":
			if t := r.next(); t.kind == dollar && r.nesting == 0 && r.after == "" {
				r.after = t.text
			} else {
				panic(giveUp{}) // the cursor of another server
			}
		case "groupby":
			r.by = append(r.by, r.propertyNames(sc)...)
		default:
			panic(giveUp{})
		}
	}
}

// sortProperty reads the key and the colon in orderBy: { joined: DESC }, or the whole of
// orderBy: { field: joined, direction: DESC } up to the direction.
func (r *rewriter) sortProperty(sc scope) string {
	name := r.word()
	r.expect(":")
	if sc.node == "" {
		sc.node = r.firstNode()
	}
	if r.property(r.vars[sc.node], name) == nil && plain(name) == "field" {
		t := r.next()
		name = t.text
		if r.accept(",") || r.isOne("direction", "order") {
			if !r.accept("direction") {
				r.expect("order")
			}
			r.expect(":")
		}
	}
	return r.scoped(sc, name)
}

// sortEnum reads a key such as PRICE_DESC or price.
func (r *rewriter) sortEnum(sc scope) string {
	name := r.word()
	base, direction := name, ""
	for _, d := range []string{"_desc", "_asc"} {
		if cut, ok := strings.CutSuffix(strings.ToLower(name), d); ok {
			base = name[:len(cut)]
			direction = map[string]string{"_desc": " desc"}[d]
		}
	}
	return r.scoped(sc, base) + direction
}

// propertyNames reads the name of a property, or a list of them in brackets.
func (r *rewriter) propertyNames(sc scope) (out []string) {
	list := r.accept("[")
	for {
		out = append(out, r.need(sc, r.word()).Name)
		if r.accept(","); !list || r.is("]") {
			break
		}
	}
	if list {
		r.expect("]")
	}
	return out
}

// returnArguments reads return(orderBy: { year: DESC }, first: 10) { … }.
func (r *rewriter) returnArguments() {
	r.next()
	arguments := r.at
	r.skipGroup()
	r.returned()
	after := r.at
	r.at = arguments
	r.arguments(&r.read, scope{node: r.firstNode()})
	r.at = after
}

// boundBlock makes the limit of a block the most records that it may have, if the text has none.
func (r *rewriter) boundBlock() {
	refuse(strings.HasPrefix(r.limit, "$")) // the limit of a block is a number
	r.limit = cmp.Or(r.limit, "1000")
}

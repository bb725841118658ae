package foreign

import (
	"slices"
	"strings"
)

// argument reports whether a name is that of an argument that arguments reads, apart from properties.
func argument(name string) bool {
	return slices.Contains([]string{"first", "limit", "take", "top", "where", "filter", "filters", "condition", "orderby", "order", "sort", "orderasc", "orderdesc",
		"offset", "skip", "start", "options", "pagination", "paging", "after", "groupby", "distinct", "distincton", "depth", "maxdepth", "hops", "maxhops", "func",
		"pagesize", "perpage", "page"}, plain(name))
}

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
		if r.nesting == 0 && r.is("nearest", ":", "{") {
			r.similar()
			r.accept(",")
			continue
		}
		name := r.word()
		if !argument(name) || r.property(r.vars[sc.node], name) != nil && (!r.is(":", "{") || r.comparesNext()) {
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
			r.sortArgument(sc)
		case "orderasc", "orderdesc": // of Dgraph
			r.direction(r.scoped(sc, r.word()) + map[string]string{"orderdesc": " desc"}[plain(name)])
		case "page":
			if n := r.operand(); n != "1" {
				panic(giveUp{})
			}
		case "func":
			r.dgraphFunction(sc)
		case "distinct", "distincton":
			r.distinctBy(q, sc)
		case "depth", "maxdepth", "hops", "maxhops":
			r.walkDepth(sc)
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

// comparesNext reports whether a colon and an object with an operator come next, such as : { _gt: 5 }.
func (r *rewriter) comparesNext() bool {
	op := strings.TrimPrefix(strings.ToLower(r.peek(2).text), "_")
	return comparisons[op] != "" || negatives[op] != "" || slices.Contains([]string{"nin", "is_null", "isnull", "like", "ilike", "between"}, op)
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

// distinctBy reads distinct: true, or the properties of which each value makes one row.
func (r *rewriter) distinctBy(q *read, sc scope) {
	if r.nesting > 0 {
		panic(giveUp{})
	}
	switch {
	case r.accept("true"):
		q.distinct = true
	case r.accept("false"):
	default:
		r.unique = r.propertyNames(sc)
	}
}

// checkDistinct makes the rows of a selection distinct if it has exactly the properties of which each value makes one row.
func (r *rewriter) checkDistinct() {
	if len(r.unique) == 0 || len(r.unique) == 1 && r.keeps(r.unique[0]) {
		return
	}
	for _, c := range r.computed {
		_, name, ok := strings.Cut(c.text, ".")
		if !ok || !slices.Contains(r.unique, name) {
			panic(giveUp{})
		}
	}
	r.distinct = true
	r.sort = slices.DeleteFunc(r.sort, func(key string) bool { // no other key orders equal values
		key = strings.TrimSuffix(strings.TrimSuffix(key, " asc"), " desc")
		return !slices.ContainsFunc(r.computed, func(c column) bool { return c.text == key })
	})
}

// keeps reports whether no two nodes of the first type have the same value of a property.
func (r *rewriter) keeps(property string) bool {
	n := r.schema.Node(r.vars[r.firstNode()])
	return n != nil && (len(n.Key) == 1 && n.Key[0] == property || slices.ContainsFunc(n.Unique, func(u []string) bool { return len(u) == 1 && u[0] == property }))
}

// walkDepth reads the bound of dependsOn(depth: 3), which follows an edge several times.
func (r *rewriter) walkDepth(sc scope) {
	n := r.next()
	if sc.edge == nil || sc.edge.name != "" || sc.edge.edge.From != sc.edge.edge.To || n.kind != number {
		panic(giveUp{})
	}
	sc.edge.bounds = "{1," + n.text + "}"
}

// sortArgument reads the value of orderBy: and the like. Besides the forms of [sortKeys] it may be a text such as
// "opened:desc", { fields: [tier], order: DESC } of Gatsby, and { desc: opened } of Dgraph.
func (r *rewriter) sortArgument(sc scope) {
	r.unwrapSort()
	switch {
	case r.peek(0).kind == text:
		r.sortText(sc, r.next().text)
	case r.is("[") && r.peek(1).kind == text:
		r.next()
		for !r.accept("]") {
			if !r.accept(",") {
				r.sortText(sc, r.literal())
			}
		}
	case r.is("{", "fields", ":"), r.is("{", "by", ":"):
		r.sortFields(sc)
	case (r.is("{", "asc", ":") || r.is("{", "desc", ":")) && r.peek(3).kind == word:
		r.next()
		for !r.accept("}") {
			direction := strings.ToLower(r.word())
			r.expect(":")
			if direction == "then" {
				r.sortArgument(sc)
				continue
			}
			r.direction(r.scoped(sc, r.word()) + map[string]string{"desc": " desc"}[direction])
			r.accept(",")
		}
	case r.sortsByCount(sc):
		r.next()
		name := r.word()
		r.expect(":", "{", "count", ":")
		r.add(name, "count { "+r.counted(r.vars[sc.node], name).clause(sc.node, "", "")+" }")
		r.direction(last(r.aliases))
		r.expect("}", "}")
		r.note("the number by which the rows are ordered is a column")
	default:
		r.sortKeys(sc)
	}
}

// sortsByCount reports whether { placed_aggregate: { count: desc } } comes next, in a field that returns rows.
func (r *rewriter) sortsByCount(sc scope) bool {
	return r.nesting == 0 && r.is("{") && r.peek(1).kind == word && tokens(r.tokens[r.at+2:]).are(":", "{", "count", ":") && r.isAt(7, "}") && r.isAt(8, "}") &&
		r.counted(r.vars[sc.node], r.peek(1).text) != nil
}

// sortText reads a key of a sort such as "opened:desc" or "-opened".
func (r *rewriter) sortText(sc scope, key string) {
	name, direction, _ := strings.Cut(strings.ReplaceAll(key, " ", ":"), ":")
	if rest, ok := strings.CutPrefix(name, "-"); ok {
		name, direction = rest, "desc"
	}
	switch strings.ToLower(direction) {
	case "", "asc":
		r.sort = append(r.sort, r.scoped(sc, name))
	case "desc":
		r.sort = append(r.sort, r.scoped(sc, name)+" desc")
	default:
		panic(giveUp{})
	}
}

// sortFields reads { fields: [tier], order: DESC }.
func (r *rewriter) sortFields(sc scope) {
	r.skipTwo()
	r.expect(":")
	names, direction := r.propertyNames(sc), ""
	r.accept(",")
	if !r.is("}") {
		if r.next(); !r.accept(":") {
			panic(giveUp{})
		}
		list := r.accept("[")
		if direction = strings.ToLower(r.word()); direction != "asc" && direction != "desc" || list && len(names) > 1 {
			panic(giveUp{})
		}
		if list {
			r.expect("]")
		}
	}
	r.expect("}")
	for _, name := range names {
		key := r.member(sc.node, name)
		if direction == "desc" {
			key += " desc"
		}
		r.sort = append(r.sort, key)
	}
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

// unwrapSort replaces { edge: { minutes: ASC } } and { node: { title: ASC } } by their inner objects.
func (r *rewriter) unwrapSort() {
	var out []token // the value without the wrappers
	depth, inner, i := 0, 0, r.at
	for ; i < len(r.tokens); i++ {
		t, rest := r.tokens[i], tokens(r.tokens[i:])
		if (isEdgeWrapper(t.text) || rest.are("node")) && rest.at(1).text == ":" && rest.at(2).text == "{" && inner == 0 && len(out) > 0 && last(out).text == "{" {
			i += 2
			depth++
			inner = depth
			continue
		}
		if t.kind == mark && strings.Contains("([{", t.text) {
			depth++
		} else if t.kind == mark && strings.Contains(")]}", t.text) {
			depth--
			if inner > 0 && depth < inner {
				inner = 0
				continue
			}
		}
		out = append(out, t)
		if depth <= 0 {
			break
		}
	}
	if i < len(r.tokens) && i+1-r.at > len(out) {
		r.tokens = slices.Concat(r.tokens[:r.at], out, r.tokens[i+1:])
	}
}

// boundBlock makes the limit of a block a number: the default of a parameter, or the most records that a block may have.
func (r *rewriter) boundBlock() {
	name, parameter := strings.CutPrefix(r.limit, "$")
	if r.limit != "" && !parameter {
		return
	}
	limit := "1000"
	if parameter {
		for i, p := range r.params {
			_, value, ok := strings.Cut(p, "@default(")
			if !strings.HasPrefix(p, "$"+name+":") {
				continue
			}
			if n, err := parseCount(strings.TrimSuffix(value, ")")); ok && err == nil {
				limit = n
			}
			if r.uses(name) == 2 { // its declaration and this place
				r.params = slices.Delete(slices.Clone(r.params), i, i+1)
			}
			break
		}
		r.note("the limit of a block is a number: write it in the place of " + limit)
	}
	r.limit = limit
}

package nearest

import (
	"slices"
	"strconv"
	"strings"
)

// fragment is a fragment of GraphQL.
type fragment struct {
	typ    string  // the node type
	tokens []token // between its braces
}

// readFragments takes the definitions of fragments out of the text.
func (r *rewriter) readFragments() {
	for i := 0; i+4 < len(r.tokens); i++ {
		start := r.tokens[i:]
		if !strings.EqualFold(start[0].text, "fragment") || start[0].kind != word || start[1].kind != word || !strings.EqualFold(start[2].text, "on") || start[4].text != "{" {
			continue
		}
		n := 5
		for depth := 1; depth > 0; n++ {
			if n == len(start) {
				panic(giveUp{})
			}
			if start[n].kind == mark && start[n].text == "{" {
				depth++
			} else if start[n].kind == mark && start[n].text == "}" {
				depth--
			}
		}
		if r.fragments == nil {
			r.fragments = map[string]fragment{}
		}
		r.fragments[start[1].text] = fragment{r.nodeType(start[3].text), slices.Clone(start[5 : n-1])}
		r.tokens = slices.Delete(slices.Clone(r.tokens), i, i+n)
		i--
	}
}

// spread reads the selection of a fragment for the node of a scope.
func (r *rewriter) spread(name string, sc scope) {
	defer r.deeper()()
	f, ok := r.fragments[name]
	if !ok || f.typ == "" || r.vars[sc.node] != f.typ {
		panic(giveUp{})
	}
	tokens, at := r.tokens, r.at
	r.tokens, r.at = f.tokens, 0
	for r.at < len(r.tokens) {
		r.accept(",")
		r.selection(sc)
	}
	r.tokens, r.at = tokens, at
}

// selections reads the only field of a document of GraphQL, such as person(email: "x") { name }.
func (r *rewriter) selections(mutation bool) {
	if r.peek(1).text == ":" { // an alias
		r.word()
		r.next()
	}
	field := r.word()
	if mutation {
		r.write(field)
		return
	}
	r.field(field)
}

// field reads the arguments and the selection of a field that yields nodes.
func (r *rewriter) field(name string) {
	counted := false
	typ := r.pluralType(name)
	for _, suffix := range []string{"aggregate", "connection", "count"} {
		if base, ok := strings.CutSuffix(plain(name), suffix); ok && typ == "" {
			typ, counted = r.pluralType(base), suffix != "connection"
		}
	}
	if typ == "" {
		panic(giveUp{})
	}
	v := r.fresh(typ)
	r.match = append(r.match, leaf("$"+v+": "+typ))
	if r.is("(") {
		r.arguments(&r.read, scope{node: v})
		r.intoBinding(v, typ)
	}
	if len(r.by) > 0 && !counted {
		panic(giveUp{})
	}
	if r.after != "" && len(r.sort) == 0 {
		r.sort = []string{"$" + v + "." + r.key(typ)}
	}
	if counted {
		if !r.is("{") {
			r.add("count", "count($"+v+")")
			return
		}
		r.aggregates(v)
		for _, key := range r.by {
			r.add("", "$"+v+"."+key)
		}
		return
	}
	r.selected(scope{node: v})
	if len(r.columns) == 1 && len(r.windows) == 1 && strings.HasPrefix(r.columns[0], r.windows[0].mark) { // nothing but the total
		r.columns, r.computed, r.aliases, r.windows = nil, nil, nil, nil
		r.notes = slices.DeleteFunc(r.notes, func(n string) bool { return n == totalNote })
		r.add("total", "count($"+v+")")
	}
}

// totalNote explains the column with the number of all rows.
const totalNote = "each row has the number of all rows"

// total adds a column with the number of all rows.
func (r *rewriter) total(name string) {
	if r.nesting > 0 {
		panic(giveUp{})
	}
	w := &window{name: "count", mark: "count" + strconv.Itoa(len(r.windows)) + "()"}
	r.windows = append(r.windows, w)
	r.add(name, w.mark)
	r.note(totalNote)
}

// intoBinding moves the equalities of a node into the braces of its binding, which is the first clause.
func (r *rewriter) intoBinding(v, typ string) {
	var props []string
	rest := r.match[:1:1]
	for _, c := range r.match[1:] {
		name, value, ok := strings.Cut(strings.TrimPrefix(c.text, "$"+v+"."), " = ")
		if ok && c.op == "" && strings.HasPrefix(c.text, "$"+v+".") && wordLen(name) == len(name) {
			props = append(props, name+": "+value)
		} else {
			rest = append(rest, c)
		}
	}
	r.match = rest
	if len(props) > 0 {
		r.match[0] = leaf("$" + v + ": " + typ + " { " + strings.Join(props, ", ") + " }")
	}
}

// countOnly reads { count } or { aggregate { count } } after a field that counts.
func (r *rewriter) countOnly() {
	switch {
	case !r.is("{"):
	case r.accept("{", "count", "}"), r.accept("{", "aggregate", "{", "count", "}", "}"), r.accept("{", "totalcount", "}"):
	default:
		panic(giveUp{})
	}
}

// argument reports whether a name is that of an argument that arguments reads, apart from properties.
func argument(name string) bool {
	return slices.Contains([]string{"first", "limit", "take", "where", "filter", "orderby", "sort", "offset", "skip", "options", "after", "groupby"}, plain(name))
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
		name := r.word()
		if !argument(name) || r.property(r.vars[sc.node], name) != nil && !r.is(":", "{") {
			r.match = append(r.match, r.filterOf(sc, name)...)
			continue
		}
		r.expect(":")
		switch plain(name) {
		case "first", "limit", "take":
			q.limit = r.operand()
		case "offset", "skip":
			q.skip = r.operand()
		case "where", "filter":
			r.match = append(r.match, r.filters(sc)...)
		case "orderby", "sort":
			r.sortKeys(sc)
		case "options":
			r.arguments(q, sc)
		case "after":
			if t := r.next(); t.kind == dollar && r.nesting == 0 && r.after == "" {
				r.after = t.text
			} else {
				panic(giveUp{}) // the cursor of another server
			}
		case "groupby":
			list := r.accept("[")
			for {
				r.by = append(r.by, r.need(sc, r.word()).Name)
				if r.accept(","); !list || r.is("]") {
					break
				}
			}
			if list {
				r.expect("]")
			}
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

// scoped returns the property of the node or of the edge of a scope that a name means.
func (r *rewriter) scoped(sc scope, name string) string {
	typ := r.vars[sc.node]
	if r.property(typ, name) == nil && sc.edge != nil && r.property(sc.edge.edge.Name, name) != nil {
		if sc.edge.name == "" {
			sc.edge.name = r.fresh(sc.edge.edge.Name)
		}
		return r.member(sc.edge.name, name)
	}
	if name != "__typename" {
		name = r.need(sc, name).Name
	}
	return r.member(sc.node, name)
}

// selected reads a selection in braces.
func (r *rewriter) selected(sc scope) {
	defer r.deeper()()
	r.expect("{")
	for !r.accept("}") {
		if !r.accept(",") {
			r.selection(sc)
		}
	}
}

// wrappers are the fields of connections, whose selections belong to the same nodes.
var wrappers = []string{"edges", "node", "nodes", "items", "results"}

// selection reads one field of a selection: a property, or a relation and a selection of the nodes to
// which it leads.
func (r *rewriter) selection(sc scope) {
	if r.accept("...") || r.accept("..", ".") {
		if r.is("on") {
			r.fragment()
		} else {
			r.spread(r.word(), sc)
		}
		return
	}
	if r.accept(".", "*") || r.accept("*") { // of Cypher
		r.add("", "$"+lower(sc.node))
		return
	}
	r.accept(".")
	name, alias := r.memberName(), ""
	if r.accept(":") {
		alias = name
		if t := r.peek(0); t.kind == dollar && r.peek(1).text == "{" {
			r.gathered(sc, alias)
			return
		} else if t.kind != word || r.peek(1).text == "." || r.peek(1).text == "(" && r.relation(r.vars[sc.node], t.text) == nil ||
			r.values[t.text] != "" || r.peek(1).text == "{" && slices.Contains(blocks, strings.ToLower(t.text)) {
			alias, e := r.columnOverEdges(alias, r.operand())
			r.add(alias, e)
			return
		}
		name = r.word()
	}
	typ := r.vars[sc.node]
	rel := r.relation(typ, name)
	switch {
	case r.is("{") && rel == nil && r.property(typ, name) == nil && (slices.Contains(wrappers, plain(name)) || r.tableNode(name) == typ && typ != ""):
		r.selected(sc)
	case plain(name) == "totalcount" && r.property(typ, name) == nil && !r.is("{"):
		r.total(name)
	case r.is("{") && plain(name) == "pageinfo" && rel == nil:
		r.skipGroup()
		r.note("an answer that has more rows says so by itself")
	case plain(name) == "cursor" && r.property(typ, name) == nil:
		if r.after != "" && r.nesting == 0 {
			key, _ := r.pageKey()
			r.add(name, key)
		}
	case rel != nil && (r.is("{") || r.is("(")):
		r.nested(sc, rel, alias, name)
	case r.is("{") || r.is("("), r.property(typ, name) == nil && r.counted(typ, name) != nil:
		r.countBlock(sc, alias, name)
	default:
		r.included(alias, r.scoped(sc, name))
	}
}

// clientDirectives skips the directives that name entries in the cache of a client.
func (r *rewriter) clientDirectives() {
	for r.is("@", "connection", "(") {
		r.skipTwo()
		r.skipGroup()
		r.note("@connection is left out: it concerns only the cache of a client")
	}
}

// included adds a column, perhaps with the condition of @include.
func (r *rewriter) included(alias, e string) {
	if r.is("@") {
		alias, e = r.include(alias, e)
	}
	r.add(alias, e)
}

// counted returns the relation that a name such as placed_aggregate or placedCount counts, or nil.
func (r *rewriter) counted(typ, name string) *relation {
	for _, suffix := range []string{"aggregate", "count", "connection"} {
		if base, ok := strings.CutSuffix(plain(name), suffix); ok && base != "" {
			return r.relation(typ, base)
		}
	}
	return nil
}

// countBlock reads placed_aggregate { count } and the like, and reviewedConnection { edges { … } }.
func (r *rewriter) countBlock(sc scope, alias, name string) {
	rel := r.counted(r.vars[sc.node], name)
	if rel == nil {
		panic(giveUp{})
	}
	if strings.HasSuffix(plain(name), "connection") {
		r.nested(sc, rel, alias, lower(rel.edge.Name))
		return
	}
	if r.is("(") {
		panic(giveUp{})
	}
	r.countOnly()
	if alias == "" {
		alias = name
	}
	r.add(alias, "count { "+rel.clause(sc.node, "", "")+" }")
}

// nested reads the arguments and the selection of a relation, and adds a column with a block.
func (r *rewriter) nested(sc scope, rel *relation, alias, name string) {
	defer r.deeper()()
	if r.nesting++; r.nesting > r.deepest {
		r.deepest = r.nesting
	}
	outer, aliases, computed := r.read, r.aliases, r.computed
	r.read, r.aliases, r.computed = read{}, nil, nil
	to := r.fresh(rel.other())
	inner := scope{node: to, edge: &edgeScope{edge: rel.edge}}
	if r.is("(") {
		r.arguments(&r.read, inner)
	}
	r.clientDirectives()
	r.selected(inner)
	traversal := leaf(rel.clause(sc.node, inner.edge.name, to))
	block := r.recordBlock(append([]cond{traversal}, r.match...), rel.single())
	r.read, r.aliases, r.computed = outer, aliases, computed
	r.nesting--
	if alias == "" {
		alias = name
	}
	r.add(alias, block)
}

// recordBlock writes the block whose columns r has read: of one record, or of a list.
func (r *rewriter) recordBlock(match []cond, single bool) string {
	if r.skip != "" || r.distinct || len(r.columns) == 0 {
		panic(giveUp{})
	}
	var columns []string
	for _, c := range r.computed {
		alias := c.alias
		if alias == "" {
			if _, name, ok := strings.Cut(c.text, "."); ok {
				alias = name
			} else {
				alias = c.text[1:]
			}
		}
		columns = append(columns, c.text+" as "+lower(alias))
	}
	out := " { " + join(match) + " return { " + strings.Join(columns, ", ") + " }"
	if len(r.sort) > 0 {
		out += " order { " + strings.Join(r.sort, ", ") + " }"
	}
	if single && r.limit == "" {
		return "first" + out + " }"
	}
	if r.limit == "" {
		r.limit = "1000"
	}
	return "collect" + out + " limit " + r.limit + " }"
}

// gathered reads orders: $o { placed } in a selection of another node: the clauses of the match that
// bind $o become a block, and the rows are those for which it is not empty.
func (r *rewriter) gathered(sc scope, alias string) {
	v := r.variable()
	if v == sc.node {
		panic(giveUp{})
	}
	name := "$" + lower(v)
	var mine, rest []cond
	for _, c := range r.match {
		if mentionsVar(c.render(false), name) {
			mine = append(mine, c)
		} else {
			rest = append(rest, c)
		}
	}
	if len(mine) == 0 || len(rest) == 0 || r.mentionedLater(v) {
		panic(giveUp{})
	}
	outer, aliases, computed := r.read, r.aliases, r.computed
	if slices.ContainsFunc(outer.columns, func(c string) bool { return mentionsVar(c, name) }) {
		panic(giveUp{})
	}
	r.read, r.aliases, r.computed = read{}, nil, nil
	r.selected(scope{node: v})
	block := r.recordBlock(append(mine, r.match...), false)
	r.read, r.aliases, r.computed = outer, aliases, computed
	r.match = append(rest, cond{op: "exists", subs: mine})
	r.add(alias, block)
}

// mentionedLater reports whether the text uses a variable after the selection in braces that comes next.
func (r *rewriter) mentionedLater(v string) bool {
	at := r.at
	r.skipGroup()
	defer func() { r.at = at }()
	return r.mentions(v)
}

// mentionsVar reports whether a clause of this language contains a variable.
func mentionsVar(clause, name string) bool {
	return slices.ContainsFunc(must(scan(clause)), func(t token) bool { return t.kind == dollar && "$"+t.text == name })
}

package foreign

import (
	"slices"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/naming"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/refuse"
)

// fragment is a fragment of GraphQL.
type fragment struct {
	typ    string      // the node type
	tokens []lex.Token // between its braces
}

// readFragments takes the definitions of fragments out of the text.
func (r *rewriter) readFragments() {
	for i := 0; i+4 < len(r.Tokens); i++ {
		start := r.Tokens[i:]
		if !strings.EqualFold(start[0].Text, "fragment") || start[0].Kind != lex.Word || start[1].Kind != lex.Word || !strings.EqualFold(start[2].Text, "on") || start[4].Text != "{" {
			continue
		}
		n := 4 + lex.Tokens(start[4:]).GroupLen()
		refuse.If(start[n-1].Text != "}")
		if r.fragments == nil {
			r.fragments = map[string]fragment{}
		}
		r.fragments[start[1].Text] = fragment{r.NodeType(start[3].Text), slices.Clone(start[5 : n-1])}
		r.Tokens = slices.Delete(slices.Clone(r.Tokens), i, i+n)
		i--
	}
}

// spread reads the selection of a fragment for the node of a scope.
func (r *rewriter) spread(name string, sc scope) {
	defer r.Deeper()()
	f, ok := r.fragments[name]
	refuse.If(!ok || f.typ == "" || r.vars[sc.node] != f.typ)
	tokens, at := r.Tokens, r.At
	r.Tokens, r.At = f.tokens, 0
	for r.At < len(r.Tokens) {
		r.Accept(",")
		r.selection(sc)
	}
	r.Tokens, r.At = tokens, at
}

// selections reads the only field of a document of GraphQL, such as person(email: "x") { name }.
func (r *rewriter) selections(mutation bool) {
	if r.Peek(1).Text == ":" { // an alias
		r.Word()
		r.Next()
	}
	field := r.Word()
	if mutation {
		r.writeEach(field)
		return
	}
	r.field(field)
}

// field reads the arguments and the selection of a field that yields nodes.
func (r *rewriter) field(name string) {
	counted := false
	typ := r.PluralType(name)
	for _, suffix := range []string{"aggregate", "connection", "count"} {
		if base, ok := strings.CutSuffix(naming.Plain(name), suffix); ok && typ == "" {
			typ, counted = r.PluralType(base), suffix != "connection"
		}
	}
	if typ == "" {
		typ = r.KeyedType(name)
	}
	refuse.If(typ == "")
	v := r.fresh(typ)
	r.match = append(r.match, leaf("$"+v+": "+typ))
	if r.Is("(") {
		r.arguments(&r.read, scope{node: v})
		r.intoBinding(v, typ)
	}
	if strings.HasPrefix(naming.Plain(name), "findfirst") && r.limit == "" {
		r.limit = "1"
	}
	refuse.If(len(r.by) > 0 && !counted)
	if r.after != "" && len(r.sort) == 0 {
		r.sort = []string{"$" + v + "." + r.Key(typ)}
	}
	if counted {
		if !r.Is("{") {
			r.add("count", "count($"+v+")")
			return
		}
		r.aggregates(scope{node: v})
		for _, key := range r.by {
			r.add("", "$"+v+"."+key)
		}
		return
	}
	r.selected(scope{node: v})
	if len(r.columns) == 1 && len(r.windows) == 1 && strings.HasPrefix(r.columns[0].text, r.windows[0].mark) { // nothing but the total
		r.columns, r.computed, r.aliases, r.windows = nil, nil, nil, nil
		r.notes = slices.DeleteFunc(r.notes, func(n string) bool { return n == totalNote })
		r.add("total", "count($"+v+")")
	}
}

// totalNote explains the column with the number of all rows.
const totalNote = "each row has the number of all rows"

// total adds a column with the number of all rows.
func (r *rewriter) total(name string) {
	refuse.If(r.nesting > 0)
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
		if name, value, ok := c.equality("$" + v); ok {
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

// scoped returns the property of the node or of the edge of a scope that a name means.
func (r *rewriter) scoped(sc scope, name string) string {
	typ := r.vars[sc.node]
	if (sc.edgeFirst || r.Property(typ, name) == nil) && r.edgeProperty(sc, name) != nil {
		return r.member(r.edgeOf(sc), name)
	}
	if name != "__typename" {
		name = r.need(sc, name).Name
	}
	return r.member(sc.node, name)
}

// selected reads a selection in braces.
func (r *rewriter) selected(sc scope) {
	defer r.Deeper()()
	r.Expect("{")
	sc.edgeFirst = r.nodeApart(sc)
	r.fields(sc)
}

// fields reads the fields of a selection up to its closing brace.
func (r *rewriter) fields(sc scope) {
	for r.More("}") {
		r.selection(sc)
	}
}

// wrappers are the fields of connections, whose selections belong to the same nodes.
var wrappers = []string{"edges", "node", "nodes", "items", "results", "data", "attributes", "rows", "records", "objects"}

// selection reads one field of a selection: a property, or a relation and a selection of the nodes to
// which it leads.
func (r *rewriter) selection(sc scope) {
	if r.Accept("...") || r.Accept("..", ".") {
		if r.Is("on") {
			r.fragment()
		} else {
			name := r.Word()
			defer r.directives()()
			r.spread(name, sc)
		}
		return
	}
	if r.Accept(".", "*") || r.Accept("*") { // of Cypher
		r.add("", "$"+naming.Lower(sc.node))
		return
	}
	r.Accept(".")
	name, alias := r.MemberName(), ""
	if r.Accept(":") {
		alias = name
		if t := r.Peek(0); t.Kind != lex.Word || r.Peek(1).Text == "." || r.Peek(1).Text == "(" && r.Relation(r.vars[sc.node], t.Text) == nil && r.Counted(r.vars[sc.node], t.Text) == nil ||
			r.values[t.Text] != "" || r.Peek(1).Text == "{" && slices.Contains(blocks, strings.ToLower(t.Text)) {
			alias, e := r.columnOverEdges(alias, r.operand())
			r.add(alias, e)
			return
		}
		name = r.Word()
	}
	typ := r.vars[sc.node]
	rel := r.Relation(typ, name)
	switch {
	case r.Is("{") && sc.edge != nil && isEdgeWrapper(name) && rel == nil && r.Property(typ, name) == nil:
		r.Next()
		sc.edgeFirst = true
		r.fields(sc)
	case r.Is("{") && rel == nil && r.Property(typ, name) == nil && (slices.Contains(wrappers, naming.Plain(name)) || r.TableNode(name) == typ && typ != ""):
		r.selected(sc)
	case naming.Plain(name) == "totalcount" && r.Property(typ, name) == nil && !r.Is("{"):
		if r.nesting > 0 {
			r.read.total = true
		} else {
			r.total(name)
		}
	case r.Is("{") && naming.Plain(name) == "pageinfo" && rel == nil:
		r.SkipGroup()
		r.note("an answer that has more rows says so by itself")
	case naming.Plain(name) == "cursor" && r.Property(typ, name) == nil:
		if r.after != "" && r.nesting == 0 {
			key, _ := r.pageKey()
			r.add(name, key)
		}
	case rel != nil && (r.Is("{") || r.Is("(") || r.Is("@") && r.Property(typ, name) == nil):
		r.nested(sc, rel, alias, name)
	case r.Is("{") || r.Is("("), r.Property(typ, name) == nil && r.Counted(typ, name) != nil:
		r.countBlock(sc, alias, name)
	default:
		r.included(alias, r.scoped(sc, name))
	}
}

// clientDirectives skips the directives that name entries in the cache of a client.
func (r *rewriter) clientDirectives() {
	for r.Is("@", "connection", "(") {
		r.SkipTwo()
		r.SkipGroup()
		r.note("@connection is left out: it concerns only the cache of a client")
	}
}

// included adds a column, perhaps with the conditions of @include and @skip.
func (r *rewriter) included(alias, e string) {
	done := r.directives()
	alias, e = r.conditional(alias, e)
	done()
	r.add(alias, e)
}

// nested reads the arguments and the selection of a relation, and adds a column with a block.
func (r *rewriter) nested(sc scope, rel *naming.Relation, alias, name string) {
	defer r.Deeper()()
	inner := r.across(rel)
	block, match, counts := "", []cond(nil), false
	r.nesting++
	r.nestedRead(func() {
		if r.Is("(") {
			r.arguments(&r.read, inner)
		}
		r.clientDirectives()
		r.reversed(rel)
		done := r.blockDirectives()
		r.selected(inner)
		done()
		match = append([]cond{leaf(rel.Clause(sc.node, inner.edge.name, inner.node))}, r.match...)
		if counts = r.read.total; len(r.columns) > 0 || !counts {
			block = r.recordBlock(match, rel.Single())
		}
	})
	r.nesting--
	if alias == "" {
		alias = name
	}
	if block != "" {
		r.add(alias, block)
		alias += "_count"
	}
	if counts {
		r.add(alias, "count { "+join(match)+" }")
	}
}

// recordBlock writes the block whose columns r has read: of one record, or of a list.
func (r *rewriter) recordBlock(match []cond, single bool) string {
	refuse.If(r.skip != "" || r.distinct || len(r.columns) == 0)
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
		columns = append(columns, c.text+" as "+naming.Lower(alias))
	}
	op := "collect"
	if single && r.limit == "" {
		op = "first"
	} else {
		r.boundBlock()
	}
	return recordsOf(op, match, strings.Join(columns, ", "), r.sort, r.limit)
}

// mentionsVar reports whether a clause of this language contains a variable.
func mentionsVar(clause, name string) bool {
	return slices.ContainsFunc(must(lex.Scan(clause)), func(t lex.Token) bool { return t.Kind == lex.Dollar && "$"+t.Text == name })
}

// directives reads @include(if: $x) and @skip(if: $x) before a field, or after its name. They hold until the function
// that it returns is called.
func (r *rewriter) directives() func() {
	saved := r.when
	for r.Is("@", "include") || r.Is("@", "skip") {
		r.Next()
		skip := strings.EqualFold(r.Word(), "skip")
		r.Expect("(", "if", ":")
		condition := r.operand()
		r.Expect(")")
		switch {
		case condition == "true" && !skip, condition == "false" && skip: // always
		case !strings.HasPrefix(condition, "$"):
			panic(refuse.GiveUp{})
		default:
			if name := condition[1:]; !r.bound(name) {
				r.declare(name, "Bool")
			}
			r.when = append(slices.Clone(r.when), condition+" = "+map[bool]string{false: "true", true: "false"}[skip])
		}
	}
	return func() { r.when = saved }
}

// conditional returns a column that is null unless the conditions of the directives around it hold.
func (r *rewriter) conditional(alias, e string) (newAlias, expr string) {
	if len(r.when) > 0 && alias == "" {
		alias = e[strings.LastIndexAny(e, "$.")+1:]
	}
	for _, test := range r.when {
		e = "if(" + test + ", " + e + ")"
	}
	return alias, e
}

// blockDirectives reads the directives before the selection of a block. The block is empty unless their conditions hold.
// The function that it returns ends the block.
func (r *rewriter) blockDirectives() func() {
	done := r.directives()
	for _, test := range r.when {
		r.match = append(r.match, leaf(test))
		r.note("a block whose @include or @skip leaves it out is empty")
	}
	r.when = nil
	return done
}

// reversed reads @reverse after a field: the relation from its other end.
func (r *rewriter) reversed(rel *naming.Relation) {
	if !r.Is("@", "reverse") && !r.Is("@", "inverse") && !r.Is("@", "in") {
		return
	}
	r.SkipTwo()
	refuse.If(rel.Forward && rel.Edge.From != rel.Edge.To)
	rel.Forward = false
}

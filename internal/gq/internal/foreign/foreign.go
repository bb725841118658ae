package foreign

import (
	"maps"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/cursor"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/exact"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/naming"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/refuse"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// maxValues bounds the bytes of values of WITH and LET that one rewriting writes in the place of their names: each value
// may contain the one before it several times.
const maxValues = 64 << 10

// maxQuery bounds the bytes of an offer.
const maxQuery = 16 << 10

// maxVars bounds the variables of a text.
const maxVars = 64

// maxColumns bounds the columns of a result.
const maxColumns = 128

// Offer is a query for a text.
type Offer struct {
	Query string   // on one line
	Count int      // the queries on that line
	Notes []string // how the query differs from the text
}

// Rewrite returns a query for a text. It reports false if the text contains something that has no
// counterpart: the query leaves out nothing that the text asks for, unless a note says so. Rewrite does not
// check types, and the query may have faults: offer it only if it compiles, and see package instead.
func Rewrite(s *catalog.Schema, text string) (offer Offer, ok bool) {
	tokens, ok := lex.TokensOf(text)
	if !ok {
		return Offer{}, false
	}
	r := newRewriter(s, tokens)
	query, ok := r.rewrite(func() {})
	if !ok || len(query) > maxQuery {
		return Offer{}, false
	}
	return Offer{Query: query, Count: 1, Notes: r.notes}, true
}

// original returns what the text says of the query.
func (r *rewriter) original() *exact.Original {
	types := map[string]string{}
	for _, v := range r.order {
		types[naming.Lower(v)] = r.vars[v]
	}
	params := map[string]string{}
	for _, p := range r.params {
		params[p.name] = p.typ
	}
	return &exact.Original{Vocabulary: r.Vocabulary, Tokens: r.Tokens, Types: types, Params: params,
		Taken: func(name string) bool { return r.known(name) || r.inText(name) }, Note: r.note,
		Once: r.closed != nil && !r.closed.all && r.closed.depth == "", Shortest: r.shortest, Pairs: r.pairs, Grouped: len(r.groups) > 0 || r.staged}
}

// newRewriter returns a rewriter of the tokens of a text.
func newRewriter(s *catalog.Schema, tokens []lex.Token) *rewriter {
	return &rewriter{Vocabulary: &naming.Vocabulary{Schema: s}, Cursor: cursor.Cursor{Tokens: tokens}, vars: map[string]string{}, paths: map[string]bool{}, walks: map[string]string{}, values: map[string]string{}, loose: map[string]bool{}, name: "q"}
}

// rewrite reads the whole text, calls a function, and writes the query. It reports false if something has no counterpart.
func (r *rewriter) rewrite(read func()) (query string, ok bool) {
	defer func() {
		if p := recover(); p != nil {
			if _, gave := p.(refuse.GiveUp); !gave {
				panic(p)
			}
			query, ok = "", false
		}
	}()
	r.document()
	read()
	query = r.render()
	return exact.ExactRows(query, r.original()), true
}

// rewriter reads the tokens of one text and collects the parts of the query.
type rewriter struct {
	*naming.Vocabulary
	cursor.Cursor
	spent int // bytes of values written in the place of names

	notes  []string        // how the query differs from the text
	name   string          // of the query
	params []param         // its parameters
	loose  map[string]bool // by name: whether the type of a parameter may change to that of a property

	fragments map[string]fragment // of GraphQL, by name
	dollars   map[string]bool     // the names after dollar signs in the text; nil before the first use

	vars   map[string]string // by name of a variable: its type, or "" if it is not known
	order  []string          // the variables in the order in which they were bound
	paths  map[string]bool   // the variables of walks
	walks  map[string]string // by name of the variable of a walk: the type of all its nodes
	values map[string]string // by name: the expression that WITH or LET gives a name
	tables []string          // the variables whose properties a bare name may mean

	dropped   []string // the variables whose scope WITH or NEXT has ended
	early     bool     // a limit or an offset comes before the columns
	ungrouped bool     // that limit bounds rows, and not groups
	keys      []string // the nodes among the values of WITH
	groups    []string // the keys after GROUP BY
	nesting   int      // the levels of selections around the next token

	parts       []setPart  // the queries before UNION and the like
	closed      *closure   // the table of WITH RECURSIVE, or nil
	windows     []*window  // the calls of window functions
	calls       []*call    // CALL with an order or a limit
	listings    []*listing // the calls of collect that become blocks
	pairs       bool       // WITH DISTINCT has dropped the rows that only parallel edges make
	sortedLists bool       // an aggregate has an order of its own
	taken       int        // the first keys of the sort belong to these blocks
	subselects  int        // the subselects after FROM around the next token

	hops    []cond   // the traversals of the properties that the current expression reads over edges
	hopLast hop      // the last of them
	after   string   // the parameter that is a cursor, or ""
	when    []string // the conditions of @include and @skip around the next field

	inSelect  bool   // a column of SELECT may have an alias without AS
	inColumns bool   // a name in a column of SELECT means a property rather than another column
	joins     bool   // || joins texts, and does not mean or
	inTest    bool   // an expression may be a condition by itself
	shortest  bool   // each walk is a shortest path, and has a variable
	inHaving  bool   // conditions use the names of columns
	inWhere   string // the type whose properties have no variable, in the where and the set of a mutation
	whereVar  string // the variable that stands for it in other languages

	read
	statements []string          // of a mutation
	blockSort  []string          // the sort keys of the rows for which the statements run
	blockLimit string            // the limit of these rows, or ""
	element    *element          // the variable of the list for whose elements statements run, or nil
	before     []string          // the statements before the block of the match
	rebind     map[string]string // by name of a variable that MERGE binds: the clause that finds its node by the key
	inserted   map[string]bool   // the variables of inserts outside of blocks
	existence  bool              // only the existence of a row of a subselect counts
	around     string            // the clauses around a subselect
	setBefore  []string          // the properties that SET has assigned
	excluded   *row              // the row in ON CONFLICT, or nil
}

// read holds the parts of a read.
type read struct {
	match    []cond
	columns  []column // of the result
	distinct bool
	having   []cond
	sort     []string
	limit    string
	skip     string   // the rows to leave out, or ""
	aliases  []string // of the columns
	computed []column // the columns, and the values of WITH
	by       []string // the properties by which an aggregate of GraphQL groups
	total    bool     // the block has a totalCount
	staged   bool     // WITH or a subselect after FROM has made groups, over which no aggregate can compute
}

// render writes the query.
func (r *rewriter) render() string {
	var body []string
	refuse.If(len(r.hops) > 0)
	named, distinct := len(r.columns), r.distinct
	r.groupConditions()
	if len(r.statements) > 0 {
		r.answers()
		for _, s := range slices.Concat(r.before, r.statements) {
			_, typ, _ := strings.Cut(s, "insert ")
			if n := r.Schema.Node(typ[:lex.WordLen(typ)]); n != nil && len(n.Key) > 0 {
				r.note("an insert replaces a node that has the same key")
			}
		}
		body = append(body, r.before...)
		refuse.If(len(r.having) > 0) // a mutation has no groups
		if len(r.match) > 0 {
			body = append(body, "match { "+join(r.match)+" }"+r.blockRows()+" { "+strings.Join(r.statements, " ")+" }")
		} else {
			body = append(body, r.statements...)
		}
		if len(r.columns) > 0 {
			body = append(body, "return { "+joinColumns(r.columns)+" }")
		}
	} else {
		refuse.If(r.ungrouped && slices.ContainsFunc(r.computed, func(c column) bool { return aggregated(c.text) })) // the limit bounds the rows before the groups
		r.combine()
		r.expandCalls()
		r.expandListings()
		r.expandWindows()
		r.page()
		r.groupKeys()
		r.havingColumns()
		r.havingKeys()
		r.checkGroups()
		refuse.If(distinct && len(r.columns) > named) // rows that differ in a key alone are equal in the text
		r.sortByAlias()
		r.boundLimit()
		body = append(body, r.read.render())
	}
	var params []string
	for _, p := range r.params {
		params = append(params, p.render())
	}
	return "query " + r.name + "(" + strings.Join(params, ", ") + ") " + "{ " + strings.Join(body, " ") + " }"
}

// nestedRead reads a part of the text with a read of its own, and returns this read.
func (r *rewriter) nestedRead(f func()) read {
	outer := r.read
	r.read = read{}
	f()
	inner := r.read
	r.read = outer
	return inner
}

// clauses reads a part of the text, and returns the clauses that it adds to the match instead of adding them.
func (r *rewriter) clauses(f func()) []cond {
	saved := r.match
	r.match = nil
	f()
	out := r.match
	r.match = saved
	return out
}

// render writes a read without its head.
func (q *read) render() string {
	refuse.If(len(q.match) == 0 || len(q.columns) == 0 || q.skip != "")
	out := "match { " + join(q.match) + " } return "
	if q.distinct {
		out += "distinct "
	}
	out += "{ " + joinColumns(q.columns) + " }"
	if len(q.having) > 0 {
		out += " having { " + join(q.having) + " }"
	}
	return out + rowsPart(q.sort, q.limit)
}

// rowsPart writes the order and the limit of a read or of a block.
func rowsPart(sort []string, limit string) (out string) {
	if len(sort) > 0 {
		out = " order { " + strings.Join(sort, ", ") + " }"
	}
	if limit != "" {
		out += " limit " + limit
	}
	return out
}

// page replaces an offset: with one sort key that is a property, the rows after a value of this key
// are the next page.
func (r *rewriter) page() {
	if r.skip == "0" {
		r.skip = ""
	}
	if r.skip == "" && r.after == "" {
		return
	}
	key, op := r.pageKey()
	v, property, _ := strings.Cut(key, ".")
	p := r.Property(r.vars[v[1:]], property)
	n := r.Schema.Node(r.vars[v[1:]])
	if exact.RowsPerEdge(r.Tokens) && r.after == "" && (n == nil || !unique(n, p.Name)) {
		r.pageByKey(n, v, p, op)
		return
	}
	refuse.If(exact.RowsPerEdge(r.Tokens) && (n == nil || p.Type.Nullable || r.manyRows(v))) // rows with the same value as the last one would be left out
	if n != nil && (len(n.Key) != 1 || n.Key[0] != p.Name) {
		r.note("rows with the same " + property + " as the last one are left out: to see all of them, order by a key")
	}
	if r.after != "" {
		refuse.If(r.skip != "" || p.Type.Nullable)
		r.note("there is no cursor: $" + r.after + " is the last " + property + " of the page before, and is left out for the first page")
		r.dropParam(r.after)
		r.declare(r.after, p.Type.Kind.String()+"?")
		r.match = append(r.match, leaf(key+op+"$"+r.after+"?"))
		return
	}
	r.note("there is no offset: pass the last " + property + " of the page before as $after")
	r.params = append(r.params, param{name: "after", typ: p.Type.Kind.String()})
	r.match = append(r.match, leaf(key+op+"$after"))
	r.dropSkip()
}

// pageByKey replaces an offset if several nodes may have the same value of the sort key: their key orders them.
func (r *rewriter) pageByKey(n *catalog.Node, v string, p *catalog.Property, op string) {
	refuse.If(n == nil || len(n.Key) != 1 || p.Type.Nullable || r.manyRows(v))
	key, after := n.Property(n.Key[0]), "after_"+n.Key[0]
	_, direction := splitKey(r.sort[0])
	r.sort = append(r.sort, v+"."+key.Name+direction)
	r.note("there is no offset: pass the last " + p.Name + " and " + key.Name + " of the page before as $after and $" + after)
	r.params = append(r.params, param{name: "after", typ: p.Type.Kind.String()}, param{name: after, typ: key.Type.Kind.String()})
	same := cond{op: "all", subs: []cond{leaf(v + "." + p.Name + " = $after"), leaf(v + "." + key.Name + op + "$" + after)}}
	r.match = append(r.match, cond{op: "any", subs: []cond{leaf(v + "." + p.Name + op + "$after"), same}})
	r.dropSkip()
}

// dropSkip drops the offset, and its parameter if nothing else uses it.
func (r *rewriter) dropSkip() {
	if name, mine := strings.CutPrefix(r.skip, "$"); mine && r.Uses(name) == 2 { // its declaration and the offset
		r.dropParam(name)
	}
	r.skip = ""
}

// unique reports whether no two nodes of a type have the same value of a property.
func unique(n *catalog.Node, property string) bool {
	sets := append(slices.Clone(n.Unique), n.Key)
	return slices.ContainsFunc(sets, func(set []string) bool { return len(set) == 1 && set[0] == property })
}

// manyRows reports whether a node may be in several rows: only a traversal from the node of an edge of which it has one at
// most leads to one row.
func (r *rewriter) manyRows(v string) bool {
	return slices.ContainsFunc(r.match, func(c cond) bool {
		subs := []cond{c}
		if c.op == "optional" {
			subs = c.subs
		}
		return slices.ContainsFunc(subs, func(c cond) bool {
			switch p := c.pattern().(type) {
			case *syntax.Binding:
				return p.Var.Value != v
			case *syntax.Traversal:
				e := r.EdgeType(p.EdgeNames())
				return p.From.Value != v || p.Bounds != nil || p.Undirected || e == nil || e.Card == nil || e.Card.Max != 1
			}
			return false
		})
	})
}

// pageKey returns the only sort key, which is a property, and the relation of the rows after a value of it.
func (r *rewriter) pageKey() (key, relation string) {
	refuse.If(len(r.sort) != 1)
	key, direction := splitKey(r.sort[0])
	if i := slices.IndexFunc(r.computed, func(c column) bool { return c.alias == key && !c.fromWith }); i >= 0 {
		key = r.computed[i].text
	}
	v, property, ok := strings.Cut(key, ".")
	refuse.If(!ok || r.Property(r.vars[strings.TrimPrefix(v, "$")], property) == nil)
	if direction == " desc" {
		return key, " < "
	}
	return key, " > "
}

// splitKey divides a sort key into its expression and its direction, with a space before it, which may be missing.
func splitKey(key string) (e, direction string) {
	for _, d := range []string{" asc", " desc"} {
		if cut, ok := strings.CutSuffix(key, d); ok {
			return cut, d
		}
	}
	return key, ""
}

// sortByAlias writes the sort keys that are columns with their aliases.
func (r *rewriter) sortByAlias() {
	for i, key := range r.sort {
		e, direction := splitKey(key)
		for _, c := range r.columns {
			if c.text == e && c.alias != "" && !strings.HasPrefix(e, "$") {
				r.sort[i] = c.alias + direction
			}
		}
	}
}

// note adds a note, once.
func (r *rewriter) note(text string) {
	if !slices.Contains(r.notes, text) {
		r.notes = append(r.notes, text)
	}
}

// answersNote explains the columns that a mutation cannot return.
const answersNote = "a mutation returns only values of its inserts and parameters: read the others afterwards"

// answers removes the columns of a mutation that it cannot return: those over nodes that it does not
// insert.
func (r *rewriter) answers() {
	for _, c := range r.columns {
		for _, t := range must(lex.Scan(c.text)) {
			if t.Kind == lex.Dollar && (len(r.match) > 0 || !r.inserted[t.Text]) && r.bound(t.Text) {
				r.columns = nil
				r.note(answersNote)
				return
			}
		}
	}
}

// boundLimit declares the bounds of a parameter that is the limit.
func (r *rewriter) boundLimit() {
	name, ok := strings.CutPrefix(r.limit, "$")
	if !ok {
		return
	}
	r.declare(name, "I32")
	p, at := r.param(name)
	if !numbers[p.typ] {
		return
	}
	if !strings.Contains(p.rest, "@range") {
		p.rest = " @range(0..10000)" + p.rest
	}
	r.setType(at, "I32", p.rest)
}

// must returns the tokens of a text that this package wrote.
func must(tokens []lex.Token, ok bool) []lex.Token {
	refuse.If(!ok)
	return tokens
}

// variableOf returns the variable of the text that this language writes as a name, or "".
func (r *rewriter) variableOf(name string) string {
	for _, v := range r.order {
		if naming.Lower(v) == name {
			return v
		}
	}
	return ""
}

// bound reports whether a name, as this language writes it, is a variable of the text.
func (r *rewriter) bound(name string) bool { return r.variableOf(name) != "" }

// typeOf returns the type of a variable, as this language writes its name.
func (r *rewriter) typeOf(name string) string { return r.vars[r.variableOf(name)] }

// try runs f. If f gives up, try reports false and restores what f read, bound and collected.
func (r *rewriter) try(f func()) (ok bool) {
	saved := *r
	saved.vars, saved.paths, saved.values = maps.Clone(r.vars), maps.Clone(r.paths), maps.Clone(r.values)
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if _, gave := p.(refuse.GiveUp); !gave || r.Steps > cursor.MaxSteps || r.spent > maxValues {
			panic(p)
		}
		saved.Steps, saved.spent = r.Steps, r.spent
		*r, ok = saved, false
	}()
	f()
	return true
}

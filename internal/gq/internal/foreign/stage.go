package foreign

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/naming"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/refuse"
)

// stages reads the clauses of a match in braces. WITH or LET, and a WHERE after it, may stand among them.
func (r *rewriter) stages() {
	defer r.Deeper()()
	r.Expect("{")
	for staged := false; !r.Accept("}"); {
		switch {
		case r.Accept("with"):
			r.with()
			staged = true
		case staged && (r.Is("where") || r.Is("filter")):
			r.Next()
			r.wherePart()
		case staged && r.Is("match"):
			panic(refuse.GiveUp{})
		default:
			r.item()
		}
	}
}

// with reads the values after WITH, which later parts use by their names.
func (r *rewriter) with() {
	distinct := r.Accept("distinct")
	var kept []string
	values := 0 // that are no nodes or edges
	r.List(func() {
		if v := r.withValue(); v != "" {
			kept = append(kept, v)
		} else {
			values++
		}
	})
	grouped := slices.ContainsFunc(r.computed, func(c column) bool { return c.fromWith && (aggregated(c.text) || r.lists(c.text)) })
	if !grouped {
		r.keys = nil
	}
	if distinct && !grouped { // groups are distinct
		refuse.If(values > 0)
		r.keepDistinct(kept)
	}
	r.drop(kept)
	r.staged = r.staged || grouped
}

// withValue reads a member of WITH, and returns the variable that it keeps, or "" for another value.
func (r *rewriter) withValue() (kept string) {
	start := r.Peek(0)
	e := r.operand()
	if !r.Accept("as") {
		refuse.If(start.Kind != lex.Word && start.Kind != lex.Dollar)
		if strings.HasPrefix(e, "$") && r.Schema.Node(r.vars[start.Text]) != nil {
			r.keys = append(r.keys, e)
		}
		return start.Text
	}
	t := r.Next()
	v, ok := strings.CutPrefix(e, "$")
	refuse.If(t.Kind != lex.Word && t.Kind != lex.Dollar || ok && !strings.Contains(v, ".") && v != t.Text)
	r.values[t.Text] = e
	r.computed = append(r.computed, column{alias: t.Text, text: e, fromWith: true})
	if r.known(start.Text) && r.isAlone(e) {
		return start.Text
	}
	return ""
}

// isAlone reports whether an expression is a variable.
func (r *rewriter) isAlone(e string) bool { return strings.HasPrefix(e, "$") && r.bound(e[1:]) }

// drop ends the scope of all variables but some.
func (r *rewriter) drop(kept []string) {
	for _, v := range r.order {
		if !slices.Contains(kept, v) && !slices.Contains(r.dropped, v) {
			r.dropped = append(r.dropped, v)
		}
	}
}

// checkStage checks that another match can be one with those before it: they have no limit, and no part of the text uses
// a variable whose scope has ended.
func (r *rewriter) checkStage() {
	if slices.ContainsFunc(r.computed, func(c column) bool { return c.fromWith && aggregated(c.text) }) {
		r.groupsBeforeMatch()
	}
	refuse.If(r.early || r.pairs || slices.ContainsFunc(r.dropped, r.Mentions))
}

// nextStage reads NEXT of ISO GQL between RETURN with variables and MATCH.
func (r *rewriter) nextStage() {
	var kept []string
	for _, c := range r.computed {
		v := r.variableOf(strings.TrimPrefix(c.text, "$"))
		refuse.If(v == "" || c.alias != "")
		kept = append(kept, v)
	}
	refuse.If(len(kept) == 0 || r.limit != "" || r.skip != "" || len(r.groups)+len(r.having) > 0)
	if r.distinct {
		r.keepDistinct(kept)
	}
	r.drop(kept)
	r.columns, r.computed, r.distinct, r.sort = nil, nil, false, nil
}

// valueStage ends a stage of NEXT or of a subselect after FROM: its columns become values, which later parts use by their
// names.
func (r *rewriter) valueStage() {
	refuse.If(r.distinct || r.limit != "" || r.skip != "" || len(r.having) > 0 || len(r.match) == 0)
	grouped := len(r.groups) > 0
	for i, c := range r.computed {
		if c.fromWith {
			continue
		}
		name := c.alias
		if name == "" {
			name = strings.TrimPrefix(c.text[strings.LastIndexByte(c.text, '.')+1:], "$")
		}
		refuse.If(r.values[name] != "" && r.values[name] != c.text || lex.WordLen(name) != len(name) || r.lists(c.text))
		grouped = grouped || aggregated(c.text)
		r.values[name] = c.text
		r.computed[i].alias, r.computed[i].fromWith = name, true
	}
	r.staged = r.staged || grouped
	r.columns, r.sort, r.aliases = nil, nil, nil
}

// keepDistinct makes each node of a variable appear once: what the match says of other variables holds if they
// exist.
func (r *rewriter) keepDistinct(kept []string) {
	var mine, rest []cond
	for _, c := range r.match {
		others := slices.ContainsFunc(must(lex.Scan(c.render(false))), func(t lex.Token) bool {
			return t.Kind == lex.Mark && t.Text == "$" || t.Kind == lex.Dollar && !slices.ContainsFunc(kept, func(v string) bool { return naming.Lower(v) == t.Text })
		})
		switch {
		case !others:
			mine = append(mine, c)
		case c.op == "optional":
			panic(refuse.GiveUp{})
		default:
			rest = append(rest, c)
		}
	}
	r.pairs = r.pairs || slices.ContainsFunc(mine, func(c cond) bool { return c.traversal() != nil })
	if len(rest) == 0 {
		return
	}
	refuse.If(len(kept) != 1 || r.Schema.Node(r.vars[kept[0]]) == nil)
	binding := "$" + naming.Lower(kept[0]) + ": " + r.vars[kept[0]]
	if !binds(mine, "$"+naming.Lower(kept[0])) {
		mine = append([]cond{leaf(binding)}, mine...)
	}
	r.match = append(mine, cond{op: "exists", subs: rest})
}

// groupKeys adds columns for the keys by which WITH groups, and of nodes their ids, because their properties may be
// equal.
func (r *rewriter) groupKeys() {
	if !slices.ContainsFunc(r.computed, func(c column) bool { return c.fromWith && aggregated(c.text) }) {
		return
	}
	for _, v := range slices.Clone(r.computed) {
		if v.fromWith && !aggregated(v.text) && !slices.ContainsFunc(r.computed, func(c column) bool { return !c.fromWith && c.text == v.text }) {
			if r.isAlone(v.text) {
				r.keys = append(r.keys, v.text)
			} else {
				r.add(v.alias, v.text)
			}
		}
	}
	for _, v := range r.keys {
		if !slices.ContainsFunc(r.computed, func(c column) bool { return c.text == v || c.text == v+".id" }) {
			r.add(v[1:]+"_id", v+".id")
		}
	}
}

// havingColumns adds columns for the values of WITH that only conditions on groups use.
func (r *rewriter) havingColumns() {
	text := join(r.having)
	for _, v := range slices.Clone(r.computed) {
		if v.fromWith && aggregated(v.text) && !slices.ContainsFunc(r.computed, func(c column) bool { return !c.fromWith && c.alias == v.alias }) &&
			slices.ContainsFunc(must(lex.Scan(text+" ")), func(t lex.Token) bool { return t.Kind == lex.Word && t.Text == v.alias }) {
			r.add(v.alias, v.text)
		}
	}
}

// havingKeys writes the properties of nodes in conditions on groups as columns.
func (r *rewriter) havingKeys() {
	for i, c := range r.having {
		r.having[i] = c.renamed(r.columnOf)
	}
}

// keyProperty matches a property of a variable.
var keyProperty = regexp.MustCompile(`\$[a-zA-Z_]\w*\.\w+`)

// renamed returns a condition with other names for the properties in it.
func (c cond) renamed(name func(string) string) cond {
	if c.op == "" {
		return leaf(keyProperty.ReplaceAllStringFunc(c.text, name))
	}
	out := cond{op: c.op}
	for _, s := range c.subs {
		out.subs = append(out.subs, s.renamed(name))
	}
	return out
}

// call is CALL with an order or a limit. For each row, it has the first of its own rows: a block with records.
type call struct {
	read
	columns  []column
	vars     []string // the variables that it binds, as this language writes them
	imported []string // the variables that it uses
	optional bool     // a row without rows of the call stays
}

// keep notes a call whose rows have an order or a limit. The columns after it become blocks when the text is complete.
func (r *rewriter) keep(c *call, before []string) {
	for _, v := range r.order {
		if !slices.Contains(before, v) {
			c.vars = append(c.vars, naming.Lower(v))
		} else if mentionsVar(join(c.match), "$"+naming.Lower(v)) {
			c.imported = append(c.imported, naming.Lower(v))
		}
	}
	limit, err := strconv.Atoi(c.limit)
	refuse.If(err != nil || limit < 1 || limit > 1000 || len(c.imported) == 0 || len(c.vars) == 0)
	for _, col := range c.columns {
		refuse.If(aggregated(col.text) || col.fromWith)
		if col.alias != "" {
			r.values[col.alias] = col.text
		}
	}
	for i, key := range c.sort { // the block has other columns
		name := key[:lex.WordLen(key)]
		for _, col := range c.columns {
			if name != "" && col.alias == name {
				c.sort[i] = col.text + key[len(name):]
			}
		}
	}
	if !c.optional {
		r.match = append(r.match, cond{op: "exists", subs: c.match})
	}
	r.spend(join(c.match))
	r.calls = append(r.calls, c)
}

// uses reports whether an expression has a variable that the call binds.
func (c *call) uses(e string) bool {
	return slices.ContainsFunc(c.vars, func(v string) bool { return mentionsVar(e, "$"+v) })
}

// block writes the block with the fields of the rows of the call: a list.
func (c *call) block(fields []string) string {
	return recordsOf("collect", c.match, strings.Join(fields, ", "), c.sort, c.limit)
}

// expandCalls writes the columns that use calls as blocks.
func (r *rewriter) expandCalls() {
	for _, c := range r.calls {
		refuse.If(len(r.having)+len(r.groups)+len(r.windows) > 0 || r.distinct)
		for _, m := range r.match {
			if text := m.render(false); text != "exists { "+join(c.match)+" }" && c.uses(text) {
				panic(refuse.GiveUp{})
			}
		}
		r.expandCall(c)
	}
}

// expandCall writes the columns that use a call. They collect its rows.
func (r *rewriter) expandCall(c *call) {
	columns := slices.DeleteFunc(slices.Clone(r.computed), func(c column) bool { return c.fromWith })
	refuse.If(len(columns) != len(r.columns))
	var out []column
	for i, col := range columns {
		if l := r.listingOf(col.text); l != nil && c.uses(strings.Join(l.columns, " ")) {
			refuse.If(len(l.sort) > 0 || l.limit != "1000")
			r.listings = slices.DeleteFunc(slices.Clone(r.listings), func(o *listing) bool { return o == l })
			out = append(out, column{alias: col.alias, text: r.listOfCall(c, columns, col, l.columns)})
			continue
		}
		refuse.If(c.uses(col.text) || aggregated(col.text) && !strings.Contains(col.text, "{")) // the rows are no longer those of the call
		out = append(out, r.columns[i])
	}
	refuse.If(slices.ContainsFunc(r.sort, c.uses))
	r.columns, r.computed = out, slices.Clone(out)
}

// listOfCall writes a list of the rows of a call, which a text collects for each of the nodes that the call uses.
func (r *rewriter) listOfCall(c *call, columns []column, col column, fields []string) string {
	if col.alias == "" || !slices.ContainsFunc(columns, func(o column) bool {
		return slices.ContainsFunc(c.imported, func(v string) bool { return strings.HasPrefix(o.text, "$"+v+".") || o.text == "$"+v })
	}) {
		panic(refuse.GiveUp{})
	}
	r.note("a collect block lists records")
	return c.block(fields)
}

// listingOf returns the listing of which an expression is the mark, or nil.
func (r *rewriter) listingOf(e string) *listing {
	for _, l := range r.listings {
		if l.mark == e {
			return l
		}
	}
	return nil
}

package foreign

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/exact"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/naming"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/refuse"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// window is a call of a window function. It counts or aggregates over the rows of the match, which are complete only
// at the end of the text: until then, a mark stands for the call.
type window struct {
	mark      string // such as rank0()
	name      string
	value     string // the argument, or ""
	partition []string
	keys      []string // the expressions after ORDER BY
	down      []bool   // by key: whether the order descends
}

// ranks are the window functions that number the rows.
var ranks = []string{"rank", "row_number", "dense_rank"}

// over reads the arguments of a window function and what follows OVER, and returns the mark.
func (r *rewriter) over(name string) string {
	w := &window{name: name, mark: name + strconv.Itoa(len(r.windows)) + "()"}
	r.Expect("(")
	switch {
	case slices.Contains(ranks, name):
	case name == "count" && r.Accept("*"):
	case slices.Contains([]string{"count", "sum", "min", "max", "avg"}, name):
		w.value = r.operand()
	default:
		panic(refuse.GiveUp{})
	}
	r.Expect(")", "over", "(")
	if r.Accept("partition", "by") {
		for more := true; more; more = r.Accept(",") {
			w.partition = append(w.partition, r.alone(r.operand()))
		}
	}
	if r.Accept("order", "by") {
		for more := true; more; more = r.Accept(",") {
			w.keys = append(w.keys, r.alone(r.operand()))
			w.down = append(w.down, r.Accept("desc"))
			r.Accept("asc")
		}
	}
	r.Expect(")")
	refuse.If(slices.Contains(ranks, name) != (len(w.keys) > 0) || name == "dense_rank" && len(w.keys) > 1)
	r.windows = append(r.windows, w)
	return w.mark
}

// marked reports whether a text has the mark of a window function.
func (r *rewriter) marked(text string) bool {
	return slices.ContainsFunc(r.windows, func(w *window) bool { return strings.Contains(text, w.mark) })
}

// expandWindows writes blocks in the place of the marks of window functions.
func (r *rewriter) expandWindows() {
	if len(r.windows) == 0 {
		return
	}
	if len(r.groups)+len(r.having) > 0 || slices.ContainsFunc(r.computed, func(c column) bool { return aggregated(c.text) }) {
		if !r.onlyTotals() {
			r.blocksOfGroups()
		}
	}
	var rows []cond // the rows of which the functions see all
	for _, c := range r.match {
		if !r.marked(c.render(false)) {
			rows = append(rows, c)
		}
	}
	others := r.otherNames(join(rows))
	for _, w := range r.windows {
		block := r.windowBlock(w, rows, others)
		for i := range r.match {
			r.match[i] = r.match[i].replaced(w.mark, block)
		}
		for i, c := range r.columns {
			r.columns[i].text = replaceOperand(c.text, w.mark, block)
		}
		for i := range r.sort {
			r.sort[i] = replaceOperand(r.sort[i], w.mark, block)
		}
	}
}

// replaced returns a condition with a text in the place of another one.
func (c cond) replaced(old, text string) cond {
	c.text = replaceOperand(c.text, old, text)
	c.subs = slices.Clone(c.subs)
	for i := range c.subs {
		c.subs[i] = c.subs[i].replaced(old, text)
	}
	return c
}

// replaceOperand replaces an operand, by a text in parentheses if an operator of arithmetic is before or after it. An
// operand within a block has other rows around it.
func replaceOperand(in, old, text string) string {
	for at := strings.Index(in, old); at >= 0; at = strings.Index(in, old) {
		before, after := strings.TrimRight(in[:at], " "), strings.TrimLeft(in[at+len(old):], " ")
		refuse.If(strings.Count(before, "{") != strings.Count(before, "}"))
		expr := text
		if before != "" && strings.Contains("+-*/%", before[len(before)-1:]) || after != "" && strings.Contains("+-*/%", after[:1]) {
			expr = "(" + text + ")"
		}
		in = in[:at] + expr + in[at+len(old):]
	}
	return in
}

// otherNames returns new names for the variables that clauses bind.
func (r *rewriter) otherNames(clauses string) map[string]string {
	out := map[string]string{}
	for _, v := range r.order {
		if !mentionsVar(clauses, "$"+naming.Lower(v)) {
			continue
		}
		name := naming.Lower(v) + "2"
		for r.known(name) || r.declared(name) {
			name += "2"
		}
		r.bind(name, r.vars[v])
		out[naming.Lower(v)] = name
	}
	return out
}

// textOrVariable matches a text or a variable of this language.
var textOrVariable = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|\$\w+`)

// renamed returns an expression or clauses with other variables.
func renamed(text string, names map[string]string) string {
	return textOrVariable.ReplaceAllStringFunc(text, func(found string) string {
		if other, ok := names[found[1:]]; ok && found[0] == '$' {
			return "$" + other
		}
		return found
	})
}

// windowBlock writes the block that counts or aggregates the rows of the group of a row, or those before it.
func (r *rewriter) windowBlock(w *window, rows []cond, names map[string]string) string {
	match := renamed(join(rows), names)
	for _, p := range w.partition {
		same := renamed(p, names) + " = " + p
		if r.mayBeNull(p, rows) {
			same = "any { " + same + " all { " + renamed(p, names) + " is null " + p + " is null } }"
		}
		match += " " + same
	}
	if !slices.Contains(ranks, w.name) {
		if aggregated(w.value) { // the sum over all groups of an aggregate that adds
			refuse.If(!strings.HasPrefix(w.value, "count(") && !strings.HasPrefix(w.value, "sum(") || strings.Contains(w.value, "distinct"))
			return blockOf(match, renamed(w.value, names))
		}
		if w.value == "" { // count(*)
			return "count { " + match + " }"
		}
		call := w.name + "(" + renamed(w.value, names) + ")"
		return blockOf(match, call)
	}
	before := r.earlier(w, rows, names)
	if w.name == "row_number" { // any order of rows with equal keys is right: the ids make one
		before = r.thenByID(w, rows, before, names)
	}
	match += " " + before.render(false)
	switch w.name {
	case "dense_rank":
		return "count { " + match + " return distinct " + renamed(w.keys[0], names) + " } + 1"
	}
	return "count { " + match + " } + 1"
}

// equalKeys writes that two rows have equal keys.
func equalKeys(keys []string, names map[string]string) (out []cond) {
	for _, key := range keys {
		out = append(out, leaf(renamed(key, names)+" = "+key))
	}
	return out
}

// thenByID adds the rows with equal keys and lesser ids to those before a row. It gives up if the nodes do not tell the rows apart.
func (r *rewriter) thenByID(w *window, rows []cond, before cond, names map[string]string) cond {
	same := cond{op: "all", subs: equalKeys(w.keys, names)}
	ids := cond{op: "any"}
	var equal []cond
	for _, v := range r.order {
		v = naming.Lower(v)
		other, node := names[v], r.Schema.Node(r.typeOf(v)) != nil
		if other == "" || !node || !slices.ContainsFunc(rows, func(c cond) bool { return c.op == "" && mentionsVar(c.text, "$"+v) && !strings.Contains(c.text, "{ $") }) {
			continue
		}
		less := append(slices.Clone(equal), leaf("$"+other+".id < $"+v+".id"))
		ids.subs = append(ids.subs, all(less))
		equal = append(equal, leaf("$"+other+".id = $"+v+".id"))
	}
	for _, c := range rows {
		refuse.If(c.op == "optional")
		if t := c.traversal(); t != nil {
			e := r.EdgeType(t.EdgeNames())
			refuse.If(t.Bounds != nil || t.Undirected || e == nil || naming.Parallel(e))
		}
	}
	refuse.If(len(ids.subs) == 0)
	if len(ids.subs) == 1 {
		ids = ids.subs[0]
	}
	same.subs = append(same.subs, ids)
	if before.op == "any" {
		return cond{op: "any", subs: append(slices.Clone(before.subs), same)}
	}
	return cond{op: "any", subs: []cond{before, same}}
}

// earlier writes the condition for the rows before a row. It gives up if a key may be null: databases differ in where nulls stand.
func (r *rewriter) earlier(w *window, rows []cond, names map[string]string) cond {
	before := cond{op: "any"}
	for i, key := range w.keys {
		refuse.If(r.mayBeNull(key, rows) && strings.HasPrefix(key, "$"))
		sub := cond{op: "all", subs: equalKeys(w.keys[:i], names)}
		relation := " < "
		if w.down[i] {
			relation = " > "
		}
		sub.subs = append(sub.subs, leaf(renamed(key, names)+relation+key))
		before.subs = append(before.subs, all(sub.subs))
	}
	if len(before.subs) == 1 {
		return before.subs[0]
	}
	return before
}

// mayBeNull reports whether an expression may be null in rows. It is certain only for properties.
func (r *rewriter) mayBeNull(e string, rows []cond) bool {
	if p := r.propertyOf(e); p != nil && !p.Type.Nullable {
		return false
	}
	return !slices.ContainsFunc(rows, func(c cond) bool { return c.op == "" && c.text == e+" is not null" })
}

// onlyTotals reports whether each window function sums an aggregate of groups over all groups, as SUM(COUNT(*)) OVER ().
func (r *rewriter) onlyTotals() bool {
	return len(r.having) == 0 && !slices.ContainsFunc(r.windows, func(w *window) bool {
		return w.name != "sum" || !aggregated(w.value) || len(w.partition)+len(w.keys) > 0
	})
}

// blocksOfGroups makes the rows of a text with groups the nodes by which it groups, and each aggregate a block: a window
// function then counts nodes.
func (r *rewriter) blocksOfGroups() {
	outer, inner := r.aroundNodes(r.groupNodes())
	match := join(inner)
	block := func(e string) string { return aggregatesAsBlocks(e, match) }
	for i, c := range r.computed {
		r.computed[i].text = block(c.text)
	}
	for i, c := range r.columns {
		refuse.If(c.alias == "" && aggregated(c.text))
		r.columns[i].text = block(c.text)
	}
	for i, key := range r.sort {
		r.sort[i] = block(key)
	}
	for _, w := range r.windows {
		w.value = block(w.value)
		for i, key := range w.keys {
			w.keys[i] = block(key)
		}
		for i, key := range w.partition {
			w.partition[i] = block(key)
		}
	}
	for i, c := range r.match { // conditions with the marks of window functions
		if r.marked(c.render(false)) {
			outer = append(outer, r.match[i])
		}
	}
	refuse.If(len(r.having) > 0)
	r.match, r.having, r.groups, r.keys, r.staged = append(outer, cond{op: "exists", subs: inner}), nil, nil, nil, false
}

// groupNodes returns the variables of the nodes by which a text groups: those that WITH keeps, or those of which its keys and its columns are
// properties. The key of each node is among them, or a binding finds it, so that a group has one of these nodes each.
func (r *rewriter) groupNodes() (out []string) {
	keys := slices.Clone(r.keys)
	if len(keys) == 0 {
		keys = slices.Clone(r.groups)
		for _, c := range r.computed {
			if !aggregated(c.text) && !r.marked(c.text) && !r.lists(c.text) {
				keys = append(keys, c.text)
			}
		}
	}
	keyed := map[string]bool{}
	for _, key := range keys {
		name, property := partsOf(operandOf(key).tree)
		if name == "" {
			continue
		}
		v := r.variableOf(name)
		refuse.If(r.Schema.Node(r.vars[v]) == nil)
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
		keyed[v] = keyed[v] || property == "id" || property == r.Key(r.vars[v]) || r.foundByKey(name)
	}
	refuse.If(len(out) == 0 || slices.ContainsFunc(out, func(v string) bool { return !keyed[v] }))
	for _, key := range keys {
		refuse.If(!slices.Contains(r.aliases, key) && !r.usesOnly(key, out))
	}
	return out
}

// foundByKey reports whether a binding of the match finds a node by its key.
func (r *rewriter) foundByKey(name string) bool {
	return slices.ContainsFunc(r.match, func(c cond) bool {
		b := c.binding()
		return b != nil && b.Var.Value == "$"+name && slices.ContainsFunc(b.Props, func(p *syntax.PropMatch) bool { return p.Name.Value == r.Key(b.Type.Value) })
	})
}

// usesOnly reports whether an expression uses no other variables of the match than some nodes.
func (r *rewriter) usesOnly(e string, nodes []string) bool {
	return !slices.ContainsFunc(must(lex.Scan(e)), func(t lex.Token) bool {
		return t.Kind == lex.Dollar && r.bound(t.Text) && !slices.Contains(nodes, r.variableOf(t.Text))
	})
}

// splitGroups divides the match into the clauses of the nodes by which a text groups, with the condition that a group has rows, and the
// clauses of these rows. The rows of an OPTIONAL MATCH, the last clause, may be missing.
func (r *rewriter) splitGroups(nodes []string) (outer, inner []cond) {
	clause := last(r.match)
	if clause.op == "optional" {
		r.match = append(slices.Clone(r.match[:len(r.match)-1]), clause.subs...)
	}
	outer, inner = r.aroundNodes(nodes)
	if clause.op != "optional" {
		return append(outer, cond{op: "exists", subs: inner}), inner
	}
	refuse.If(len(inner) != len(clause.subs))
	for _, c := range r.computed { // a group without rows has one row of nulls in Cypher, and none in a block
		refuse.If(aggregated(c.text) && (r.usesOnly(c.text, nodes) || makesValues.MatchString(c.text)))
	}
	return outer, inner
}

// makesValues matches what makes a value of a null.
var makesValues = regexp.MustCompile(`\b(coalesce|if)\(| is `)

// aroundNodes divides the match into the clauses that use only some nodes, and the others.
func (r *rewriter) aroundNodes(nodes []string) (outer, inner []cond) {
	for _, c := range r.match {
		text := c.render(false)
		others := slices.ContainsFunc(must(lex.Scan(text)), func(t lex.Token) bool {
			return t.Kind == lex.Dollar && (t.Text == "_" || r.bound(t.Text) && !slices.ContainsFunc(nodes, func(v string) bool { return naming.Lower(v) == t.Text }))
		})
		switch {
		case c.op == "optional":
			panic(refuse.GiveUp{})
		case r.marked(text):
		case others:
			inner = append(inner, c)
		default:
			outer = append(outer, c)
		}
	}
	refuse.If(len(inner) == 0)
	for _, v := range nodes {
		name := "$" + naming.Lower(v)
		if !slices.ContainsFunc(outer, func(c cond) bool {
			t := c.traversal()
			return t != nil && (t.From.Value == name || t.To.Value == name)
		}) && !binds(outer, name) {
			outer = append([]cond{leaf(name + ": " + r.vars[v])}, outer...)
		}
	}
	return outer, inner
}

// binds reports whether one of several clauses is the binding of a variable.
func binds(clauses []cond, name string) bool {
	return slices.ContainsFunc(clauses, func(c cond) bool {
		b := c.binding()
		return b != nil && b.Var.Value == name
	})
}

// aggregatesAsBlocks writes a block in the place of each aggregate of an expression.
func aggregatesAsBlocks(e, match string) string {
	if !aggregated(e) {
		return e
	}
	whole, out, at := operandOf(e), "", 0
	for _, call := range exact.CallsOf([]syntax.Operand{whole.tree}, exact.IsAggregate) {
		text, start := whole.part(call)
		block := blockOf(match, text)
		if text != e {
			block = "(" + block + ")"
		}
		out, at = out+e[at:start]+block, start+len(text)
		refuse.If(len(out) > maxQuery)
	}
	return out + e[at:]
}

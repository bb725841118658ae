package foreign

import (
	"slices"
	"strconv"
	"strings"
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

// overAhead reports whether OVER comes after the parentheses that come next.
func (r *rewriter) overAhead() bool {
	depth := 0
	for i := 0; ; i++ {
		switch t := r.peek(i); {
		case t.kind == end:
			return false
		case t.kind == mark && t.text == "(":
			depth++
		case t.kind == mark && t.text == ")":
			if depth--; depth == 0 {
				return r.peek(i+1).are("over") && r.isAt(i+2, "(")
			}
		}
	}
}

// over reads the arguments of a window function and what follows OVER, and returns the mark.
func (r *rewriter) over(name string) string {
	w := &window{name: name, mark: name + strconv.Itoa(len(r.windows)) + "()"}
	r.expect("(")
	switch {
	case slices.Contains(ranks, name):
	case name == "count" && r.accept("*"):
	case slices.Contains([]string{"count", "sum", "min", "max", "avg"}, name):
		w.value = r.operand()
	default:
		panic(giveUp{})
	}
	r.expect(")", "over", "(")
	if r.accept("partition", "by") {
		for {
			w.partition = append(w.partition, r.alone(r.operand()))
			if !r.accept(",") {
				break
			}
		}
	}
	if r.accept("order", "by") {
		for {
			w.keys = append(w.keys, r.alone(r.operand()))
			w.down = append(w.down, r.accept("desc"))
			r.accept("asc")
			if !r.accept(",") {
				break
			}
		}
	}
	r.expect(")")
	refuse(slices.Contains(ranks, name) != (len(w.keys) > 0) || name == "dense_rank" && len(w.keys) > 1)
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
		for i := range r.columns {
			r.columns[i] = replaceOperand(r.columns[i], w.mark, block)
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
		refuse(strings.Count(before, "{") != strings.Count(before, "}"))
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
		if !mentionsVar(clauses, "$"+lower(v)) {
			continue
		}
		name := lower(v) + "2"
		for r.known(name) || r.declared(name) {
			name += "2"
		}
		r.bind(name, r.vars[v])
		out[lower(v)] = name
	}
	return out
}

// renamed returns an expression or clauses with other variables.
func renamed(text string, names map[string]string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '"':
			_, n := quoted(text[i:])
			n = max(n, 1)
			b.WriteString(text[i : i+n])
			i += n
		case c == '$':
			n := wordLen(text[i+1:])
			name := text[i+1 : i+1+n]
			if other, ok := names[name]; ok {
				name = other
			}
			b.WriteString("$" + name)
			i += 1 + n
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String()
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
			refuse(!strings.HasPrefix(w.value, "count(") && !strings.HasPrefix(w.value, "sum(") || strings.Contains(w.value, "distinct"))
			return blockOf(match, renamed(w.value, names))
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

// thenByID adds the rows with equal keys and lesser ids to those before a row. It gives up if the nodes do not tell the rows apart.
func (r *rewriter) thenByID(w *window, rows []cond, before cond, names map[string]string) cond {
	same := cond{op: "all"}
	for _, key := range w.keys {
		same.subs = append(same.subs, leaf(renamed(key, names)+" = "+key))
	}
	ids := cond{op: "any"}
	var equal []cond
	for _, v := range r.order {
		v = lower(v)
		other, node := names[v], r.schema.Node(r.typeOf(v)) != nil
		if other == "" || !node || !slices.ContainsFunc(rows, func(c cond) bool { return c.op == "" && mentionsVar(c.text, "$"+v) && !strings.Contains(c.text, "{ $") }) {
			continue
		}
		less := append(slices.Clone(equal), leaf("$"+other+".id < $"+v+".id"))
		ids.subs = append(ids.subs, all(less))
		equal = append(equal, leaf("$"+other+".id = $"+v+".id"))
	}
	for _, c := range rows {
		parts := strings.Fields(c.text)
		refuse(c.op == "optional" || c.op == "" && len(parts) == 3 && strings.HasPrefix(parts[0], "$") && strings.HasPrefix(parts[2], "$") && wordLen(parts[1]) == len(parts[1]) && (r.edgeType(parts[1]) == nil || parallel(r.edgeType(parts[1]))))
		refuse(c.op == "" && len(parts) > 1 && strings.Contains(parts[1], ":") && strings.HasPrefix(parts[1], "$") && parallel(r.edgeType(parts[1][strings.IndexByte(parts[1], ':')+1:])))
	}
	refuse(len(ids.subs) == 0)
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
		refuse(r.mayBeNull(key, rows) && strings.HasPrefix(key, "$"))
		sub := cond{op: "all"}
		for _, equal := range w.keys[:i] {
			sub.subs = append(sub.subs, leaf(renamed(equal, names)+" = "+equal))
		}
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

package foreign

import (
	"regexp"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// onlyTotals reports whether each window function sums an aggregate of groups over all groups, as SUM(COUNT(*)) OVER ().
func (r *rewriter) onlyTotals() bool {
	return len(r.having) == 0 && !slices.ContainsFunc(r.windows, func(w *window) bool {
		return w.name != "sum" || !aggregated(w.value) || len(w.partition)+len(w.keys) > 0
	})
}

// blocksOfGroups makes the rows of a text with groups the nodes by which it groups, and each aggregate a block: a window
// function then counts nodes.
func (r *rewriter) blocksOfGroups() {
	nodes := r.groupNodes()
	outer, inner := r.aroundNodes(nodes)
	match := join(inner)
	block := func(e string) string { return aggregatesAsBlocks(e, match) }
	for i, c := range r.computed {
		r.computed[i].text = block(c.text)
	}
	for i, c := range r.columns {
		e, alias, named := cutAlias(c)
		refuse(!named && aggregated(e))
		if r.columns[i] = block(e); named {
			r.columns[i] += " as " + alias
		}
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
	for _, c := range r.having {
		alias := c.text[:wordLen(c.text)]
		i := slices.IndexFunc(r.computed, func(x column) bool { return x.alias == alias })
		refuse(c.op != "" || i < 0 || alias == "")
		outer = append(outer, leaf(r.computed[i].text+c.text[len(alias):]))
	}
	r.match, r.having, r.groups, r.keys, r.staged = append(outer, cond{op: "exists", subs: inner}), nil, nil, nil, false
}

// cutAlias divides a column into its expression and its alias.
func cutAlias(c string) (e, alias string, named bool) {
	if i := strings.LastIndex(c, " as "); i >= 0 && wordLen(c[i+4:]) == len(c)-i-4 {
		return c[:i], c[i+4:], true
	}
	return c, "", false
}

// groupNodes returns the variables of the nodes of which the keys of the groups are properties. The key of each node is one of
// them, so that a group has one of these nodes each.
func (r *rewriter) groupNodes() (out []string) {
	keyed := map[string]bool{}
	keys := slices.Clone(r.groups)
	for _, c := range r.computed {
		if !aggregated(c.text) && !r.marked(c.text) {
			keys = append(keys, c.text)
		}
	}
	for _, key := range keys {
		owner, property, ok := strings.Cut(strings.TrimPrefix(key, "$"), ".")
		i := slices.IndexFunc(r.order, func(v string) bool { return lower(v) == owner })
		if slices.Contains(r.aliases, key) {
			continue
		}
		refuse(!ok || i < 0 || !strings.HasPrefix(key, "$") || wordLen(property) != len(property) || r.schema.Node(r.vars[r.order[i]]) == nil)
		v := r.order[i]
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
		keyed[v] = keyed[v] || property == "id" || property == r.key(r.vars[v])
	}
	refuse(len(out) == 0 || slices.ContainsFunc(out, func(v string) bool { return !keyed[v] }))
	return out
}

// aroundNodes divides the match into the clauses that use only some nodes, and the others.
func (r *rewriter) aroundNodes(nodes []string) (outer, inner []cond) {
	for _, c := range r.match {
		text := c.render(false)
		others := slices.ContainsFunc(must(scan(text)), func(t token) bool {
			return t.kind == dollar && (t.text == "_" || r.bound(t.text) && !slices.ContainsFunc(nodes, func(v string) bool { return lower(v) == t.text }))
		})
		switch {
		case c.op == "optional":
			panic(giveUp{})
		case r.marked(text):
		case others:
			inner = append(inner, c)
		default:
			outer = append(outer, c)
		}
	}
	refuse(len(inner) == 0)
	for _, v := range nodes {
		name := "$" + lower(v)
		if !slices.ContainsFunc(outer, func(c cond) bool {
			return c.op == "" && (strings.HasPrefix(c.text, name+": ") || traversed.MatchString(c.text) && mentionsVar(c.text, name))
		}) {
			outer = append([]cond{leaf(name + ": " + r.vars[v])}, outer...)
		}
	}
	return outer, inner
}

// traversed matches a traversal.
var traversed = regexp.MustCompile(`^\$[A-Za-z_0-9]+ (?:\$[A-Za-z_0-9]+:)?<?[A-Za-z_|]+[^ =<>!]* \$[A-Za-z_0-9]+$`)

// aggregatesAsBlocks writes a block in the place of each aggregate of an expression.
func aggregatesAsBlocks(e, match string) string {
	for at := 0; at < len(e); {
		n := wordLen(e[at:])
		if n == 0 {
			at++
			continue
		}
		name, before := e[at:at+n], byte(0)
		if at > 0 {
			before = e[at-1]
		}
		if !strings.HasPrefix(e[at+n:], "(") || !slices.Contains(plan.AggregateNames(), name) || before == '$' || before == '.' {
			at += n
			continue
		}
		end := closing(e, at+n)
		refuse(len(e)+len(match) > maxQuery)
		block := blockOf(match, e[at:end])
		if e != e[at:end] {
			block = "(" + block + ")"
		}
		e, at = e[:at]+block+e[end:], at+len(block)
	}
	return e
}

// closing returns the index after the parenthesis that closes the one at an index.
func closing(e string, open int) int {
	depth := 0
	for i := open; i < len(e); i++ {
		switch e[i] {
		case '"':
			_, n := quoted(e[i:])
			i += max(n, 1) - 1
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	panic(giveUp{})
}

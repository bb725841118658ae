package foreign

import (
	"slices"
	"strings"
)

// setPart is a query before UNION, INTERSECT or EXCEPT.
type setPart struct {
	operation string // the operation after it
	match     []cond
	computed  []column
	vars      map[string]string
	order     []string
}

// setOperation reads UNION, INTERSECT or EXCEPT after a query, and begins the next query.
func (r *rewriter) setOperation() {
	operation := strings.ToLower(r.word())
	if operation == "minus" {
		operation = "except"
	}
	r.accept("distinct")
	refuse(r.is("all") || len(r.sort)+len(r.having)+len(r.groups)+len(r.windows)+len(r.listings)+len(r.statements) > 0 || r.limit != "" || r.skip != "" || r.staged) // UNION ALL keeps the rows that both parts have
	r.parts = append(r.parts, setPart{operation, r.match, r.computed, r.vars, r.order})
	r.read, r.computed, r.aliases, r.tables, r.dropped, r.keys = read{}, nil, nil, nil, nil, nil
	r.vars, r.values, r.order, r.early = map[string]string{}, map[string]string{}, nil, false
}

// combine joins the parts of a set operation: rows of properties of one node, for which one part or the other one has
// a match.
func (r *rewriter) combine() {
	if len(r.parts) == 0 {
		return
	}
	refuse(len(r.having)+len(r.groups)+len(r.windows)+len(r.listings)+len(r.statements) > 0 || r.staged || !r.inSelect && (len(r.sort) > 0 || r.limit != "" || r.skip != "")) // in Cypher an order belongs to the last part alone
	r.parts = append(r.parts, setPart{"", r.match, r.computed, r.vars, r.order})
	first := r.parts[0]
	node := r.onlyOwner(first)
	name := "$" + lower(node)
	var blocks []cond
	for i, p := range r.parts {
		mine := r.onlyOwner(p)
		refuse(p.vars[mine] != first.vars[node] || len(p.computed) != len(first.computed))
		names := map[string]string{lower(mine): lower(node)}
		if mine != node { // a variable of this part that has the name of the node gets another one
			other := lower(node) + "2"
			if _, taken := p.vars[other]; taken || r.declared(other) {
				panic(giveUp{})
			}
			names[lower(node)] = other
		}
		for j, c := range p.computed {
			refuse(renamed(c.text, names) != first.computed[j].text)
		}
		match := leaf(renamed(join(p.match), names))
		refuse(!mentionsVar(match.text, name) || slices.ContainsFunc(p.match, func(c cond) bool { return c.op == "optional" }))
		blocks = append(blocks, cond{op: "exists", subs: []cond{match}})
		if operation := r.parts[max(i-1, 0)].operation; i > 0 && operation != first.operation {
			panic(giveUp{})
		}
	}
	c := cond{op: "any", subs: blocks}
	if first.operation != "union" {
		key := r.key(first.vars[node])
		refuse(!slices.ContainsFunc(first.computed, func(c column) bool { return c.text == name || c.text == name+".id" || c.text == name+"."+key })) // two nodes may have the same row
		c.op = "all"
		for i := 1; i < len(blocks) && first.operation == "except"; i++ {
			blocks[i] = cond{op: "not", subs: []cond{blocks[i]}}
		}
	}
	r.match = []cond{leaf(name + ": " + first.vars[node]), c}
	r.distinct, r.columns, r.vars, r.order = true, nil, first.vars, first.order
	for _, c := range first.computed {
		text := c.text
		if c.alias != "" {
			text += " as " + c.alias
		}
		r.columns = append(r.columns, text)
	}
	for i, key := range r.sort { // the names of the last part mean the columns of the first one
		r.sort[i] = renamed(key, map[string]string{lower(r.onlyOwner(last(r.parts))): lower(node)})
	}
}

// onlyOwner returns the only node of which the columns of a part are properties.
func (r *rewriter) onlyOwner(p setPart) string {
	owner := ""
	for _, c := range p.computed {
		name, _, _ := strings.Cut(strings.TrimPrefix(c.text, "$"), ".")
		refuse(c.fromWith || !strings.HasPrefix(c.text, "$") || wordLen(name) != len(name) || strings.ContainsAny(c.text, " (") || owner != "" && owner != name)
		owner = name
	}
	for _, v := range p.order {
		if lower(v) == owner && r.schema.Node(p.vars[v]) != nil {
			return v
		}
	}
	panic(giveUp{})
}

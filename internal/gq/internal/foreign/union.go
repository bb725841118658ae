package foreign

import (
	"slices"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/divide"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/naming"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/refuse"
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
	operation := strings.ToLower(r.Word())
	if operation == "minus" {
		operation = "except"
	}
	r.Accept("distinct")
	refuse.If(r.Is("all") || len(r.sort)+len(r.having)+len(r.groups)+len(r.windows)+len(r.listings)+len(r.statements) > 0 || r.limit != "" || r.skip != "" || r.staged) // UNION ALL keeps the rows that both parts have
	r.parts = append(r.parts, setPart{operation, r.match, r.computed, r.vars, r.order})
	r.read, r.tables, r.dropped, r.keys = read{}, nil, nil, nil
	r.vars, r.values, r.order, r.early = map[string]string{}, map[string]string{}, nil, false
}

// combine joins the parts of a set operation: rows of properties of one node, for which one part or the other one has
// a match.
func (r *rewriter) combine() {
	if len(r.parts) == 0 {
		return
	}
	refuse.If(len(r.having)+len(r.groups)+len(r.windows)+len(r.listings)+len(r.statements) > 0 || r.staged || !r.inSelect && (len(r.sort) > 0 || r.limit != "" || r.skip != "")) // in Cypher an order belongs to the last part alone
	r.parts = append(r.parts, setPart{"", r.match, r.computed, r.vars, r.order})
	first := r.parts[0]
	node := r.onlyOwner(first)
	name := "$" + naming.Lower(node)
	var blocks []cond
	for i, p := range r.parts {
		mine := r.onlyOwner(p)
		refuse.If(p.vars[mine] != first.vars[node] || len(p.computed) != len(first.computed))
		names := map[string]string{naming.Lower(mine): naming.Lower(node)}
		if mine != node { // a variable of this part that has the name of the node gets another one
			other := naming.Lower(node) + "2"
			if _, taken := p.vars[other]; taken || r.declared(other) {
				panic(refuse.GiveUp{})
			}
			names[naming.Lower(node)] = other
		}
		for j, c := range p.computed {
			refuse.If(renamed(c.text, names) != first.computed[j].text)
		}
		match := leaf(renamed(join(p.match), names))
		refuse.If(!mentionsVar(match.text, name) || slices.ContainsFunc(p.match, func(c cond) bool { return c.op == "optional" }))
		blocks = append(blocks, cond{op: "exists", subs: []cond{match}})
		if operation := r.parts[max(i-1, 0)].operation; i > 0 && operation != first.operation {
			panic(refuse.GiveUp{})
		}
	}
	c := cond{op: "any", subs: blocks}
	if first.operation != "union" {
		key := r.Key(first.vars[node])
		refuse.If(!slices.ContainsFunc(first.computed, func(c column) bool { return c.text == name || c.text == name+".id" || c.text == name+"."+key })) // two nodes may have the same row
		c.op = "all"
		for i := 1; i < len(blocks) && first.operation == "except"; i++ {
			blocks[i] = cond{op: "not", subs: []cond{blocks[i]}}
		}
	}
	r.match = []cond{leaf(name + ": " + first.vars[node]), c}
	r.distinct, r.columns, r.vars, r.order = true, first.computed, first.vars, first.order
	for i, key := range r.sort { // the names of the last part mean the columns of the first one
		r.sort[i] = renamed(key, map[string]string{naming.Lower(r.onlyOwner(last(r.parts))): naming.Lower(node)})
	}
}

// onlyOwner returns the only node of which the columns of a part are properties.
func (r *rewriter) onlyOwner(p setPart) string {
	owner := ""
	for _, c := range p.computed {
		name, _, _ := strings.Cut(strings.TrimPrefix(c.text, "$"), ".")
		refuse.If(c.fromWith || !strings.HasPrefix(c.text, "$") || lex.WordLen(name) != len(name) || strings.ContainsAny(c.text, " (") || owner != "" && owner != name)
		owner = name
	}
	for _, v := range p.order {
		if naming.Lower(v) == owner && r.Schema.Node(p.vars[v]) != nil {
			return v
		}
	}
	panic(refuse.GiveUp{})
}

// maxParts bounds the queries of an offer.
const maxParts = 8

// severalNote says how to run the queries of an offer.
const severalNote = "run each query: the tool graph_query takes several in queries"

// RewriteParts returns a query for each part of a text with UNION, of a text with several reads, or of a document of
// GraphQL with several fields. It reports false if the text has one part, or if a part has no counterpart. Like the offer of [Rewrite], the queries may have faults.
func RewriteParts(s *catalog.Schema, text string) (offer Offer, ok bool) {
	tokens, ok := lex.TokensOf(text)
	if !ok {
		return Offer{}, false
	}
	u := divide.UnionOf(tokens)
	if parts := divide.FieldParts(tokens); len(parts) > 1 {
		u = divide.Union{Parts: parts}
	}
	if len(u.Parts) < 2 || len(u.Parts) > maxParts {
		return Offer{}, false
	}
	offer, ok = rewriteEach(s, u.Parts, u.Distinct)
	if ok {
		offer.Notes = append(offer.Notes, u.Notes...)
	}
	return offer, ok
}

// rewriteEach returns a query for each of several texts, named q1 and so on, as one offer. With distinct, each query
// returns a row once.
func rewriteEach(s *catalog.Schema, parts [][]lex.Token, distinct bool) (Offer, bool) {
	out := Offer{Notes: []string{severalNote}}
	var queries []string
	for i, part := range parts {
		r := newRewriter(s, part)
		r.name = "q" + strconv.Itoa(i+1)
		query, ok := r.rewrite(func() {
			if distinct && !slices.ContainsFunc(r.computed, func(c column) bool { return aggregated(c.text) }) {
				r.distinct = true
			}
		})
		if !ok {
			return Offer{}, false
		}
		queries = append(queries, query)
		for _, n := range r.notes {
			if !slices.Contains(out.Notes, n) {
				out.Notes = append(out.Notes, n)
			}
		}
	}
	out.Query, out.Count = strings.Join(queries, " "), len(queries)
	return out, len(out.Query) <= maxQuery
}

package check

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// This file checks traversals that may follow any of several edges, as in $a knows|follows $b.
// These edges are the alternatives of the traversal.

// alternatives resolves the edges of a traversal. If one of them is unknown, alternatives reports a
// fault and returns nil.
func (c *checker) alternatives(t *syntax.Traversal) []*catalog.Edge {
	edges := make([]*catalog.Edge, 0, (len(t.Choice)+1)/2)
	known := true
	seen := map[*catalog.Edge]bool{}
	for _, name := range t.Edges() {
		c.step(1)
		e := c.schema.Edge(name.Value)
		switch {
		case e == nil:
			c.fault(UnknownEdge, syntax.SpanOf(name), c.suggest(name.Value, func() []string { return edgeNames(c.schema) }), "unknown edge %s", name.Value)
			known = false
			continue
		case seen[e]:
			c.fault(DuplicateName, syntax.SpanOf(name), "remove it", "the traversal names %s twice", name.Value)
			continue
		}
		seen[e] = true
		c.useType(plan.Edge, e.Name, false)
		edges = append(edges, e)
	}
	if !known {
		return nil
	}
	return edges
}

// endTypes returns the types of the nodes that the alternatives of a traversal have at its left
// end, or, if `left` is false, at its right end. It lists each type once.
func (st *step) endTypes(left bool) []string {
	var types []string
	for _, e := range st.edges {
		typ := e.To
		if left != st.reversed {
			typ = e.From
		}
		if !slices.Contains(types, typ) {
			types = append(types, typ)
		}
	}
	return types
}

// alternativesFit checks that the types of both ends are known, and that each alternative is an edge of some
// walk between these types. Without bounds that walk has one edge.
func (c *checker) alternativesFit(st *step, t plan.Traverse) bool {
	if st.from == plan.NoVar || st.to == plan.NoVar {
		return false
	}
	var ends [2]string // the types of the left and the right end
	for i, id := range [2]plan.VarID{st.from, st.to} {
		v := [2]syntax.Token{st.src.From, st.src.To}[i]
		if declared := c.read.Vars[id]; declared.Entity == plan.Interface {
			if ends[i] = c.oneEnd(st, i == 0, v); ends[i] == "" {
				return false
			}
			if !c.implements(ends[i], declared.Type) {
				c.fault(WrongEndpoint, syntax.SpanOf(v), c.noEnd(declared, v, ends[i]), "%s is a %s, but the edges %s need a %s", v.Value, declared.Type, st.src.EdgeNames(), ends[i])
				return false
			}
			continue
		} else if declared.Type != "" {
			ends[i] = declared.Type
			continue
		}
		types := st.endTypes(i == 0)
		c.fault(WrongEndpoint, syntax.SpanOf(v), "bind it, as in "+v.Value+": "+types[0],
			"the edges %s give %s several types: %s", st.src.EdgeNames(), v.Value, strings.Join(types, ", "))
		return false
	}
	from, to := ends[0], ends[1]
	if st.reversed {
		from, to = to, from
	}
	starts, targets := map[string]bool{from: true}, map[string]bool{to: true}
	if t.Max > 1 {
		c.chain(st.edges, starts, func(e *catalog.Edge) (string, string) { return e.From, e.To })
		c.chain(st.edges, targets, func(e *catalog.Edge) (string, string) { return e.To, e.From })
	}
	for i, e := range st.edges {
		if starts[e.From] && targets[e.To] {
			continue
		}
		c.fault(WrongEndpoint, syntax.SpanOf(st.src.Edges()[i]), "remove it, or write another type in the binding of "+st.src.From.Value+" or "+st.src.To.Value,
			"%s goes from %s to %s, so no match from a %s to a %s can follow it", st.src.Edges()[i].Value, e.From, e.To, from, to)
		return false
	}
	return true
}

// chain adds to a set of types all types that chains of the edges lead to. The function `ends` returns the type in which
// an edge starts, and the type to which it leads.
func (c *checker) chain(edges []*catalog.Edge, types map[string]bool, ends func(*catalog.Edge) (from, to string)) {
	for grown := true; grown; {
		grown = false
		c.step(len(edges))
		for _, e := range edges {
			if from, to := ends(e); types[from] && !types[to] {
				types[to], grown = true, true
			}
		}
	}
}

package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// This file checks traversals that may follow any of several edges, as in $a knows|follows $b.
// These edges are the alternatives of the traversal.

// alternatives resolves the edges of a traversal. If one of them is unknown, alternatives reports a
// fault and returns nil. The scope has the variables whose types are known.
func (c *checker) alternatives(t *syntax.Traversal, sc *scope) []*catalog.Edge {
	edges := make([]*catalog.Edge, 0, (len(t.Choice)+1)/2)
	known := true
	seen := map[*catalog.Edge]bool{}
	for _, name := range t.Edges() {
		c.step(1)
		e := c.schema.Edge(name.Value)
		switch {
		case e == nil:
			c.fault(UnknownEdge, syntax.SpanOf(name), c.suggestEdge(name.Value, t, sc), "unknown edge %s", name.Value)
			known = false
			continue
		case seen[e]:
			c.fault(DuplicateName, syntax.SpanOf(name), "remove it", "the traversal names %s twice", name.Value)
			continue
		}
		seen[e] = true
		c.emptyEnds(e, name)
		c.useType(plan.Edge, e.Name, false)
		edges = append(edges, e)
	}
	if !known {
		return nil
	}
	return edges
}

// emptyEnds reports each end of an edge that is an interface which no node type implements.
func (c *checker) emptyEnds(e *catalog.Edge, at syntax.Token) {
	for _, to := range []bool{false, true} {
		if end := endOf(e, to); end.shared && len(c.typesOf(end)) == 0 {
			c.fault(UnknownNode, syntax.SpanOf(at), "write implements "+end.name+" after the name of a node type in the schema",
				"%s has the interface %s at an end, and no node type implements it", at.Value, end.name)
		}
	}
}

// ends returns the types of the nodes that the alternatives of a traversal have at its left
// end, or, if `left` is false, at its right end. It lists each type once.
func (st *step) ends(left bool) []nodeEnd {
	var ends []nodeEnd
	for _, e := range st.edges {
		if end := endOf(e, left == st.reversed); !slices.Contains(ends, end) {
			ends = append(ends, end)
		}
	}
	return ends
}

// endNames lists the names of ends, for messages.
func endNames(ends []nodeEnd) string {
	names := make([]string, len(ends))
	for i, e := range ends {
		names[i] = e.name
	}
	return strings.Join(names, ", ")
}

// alternativesFit checks that the types of both ends are known, and that each alternative is an edge of some
// walk between these types. Without bounds that walk has one edge.
func (c *checker) alternativesFit(st *step, t plan.Traverse) bool {
	if st.from == plan.NoVar || st.to == plan.NoVar {
		return false
	}
	var ends [2]nodeEnd // the types of the left and the right end
	for i, id := range [2]plan.VarID{st.from, st.to} {
		v := [2]syntax.Token{st.src.From, st.src.To}[i]
		types := st.ends(i == 0)
		declared := c.read.Vars[id]
		if declared.Type == "" {
			c.fault(WrongEndpoint, syntax.SpanOf(v), "bind it, as in "+v.Value+": "+types[0].name,
				"the edges %s give %s several types: %s", st.src.EdgeNames(), v.Value, endNames(types))
			return false
		}
		ends[i] = typeOfVar(declared)
		if declared.Entity != plan.Interface {
			continue
		}
		if !c.oneEnd(st, i == 0, v) {
			return false
		}
		if len(types) == 1 && !c.meet(types[0], ends[i]) {
			c.fault(WrongEndpoint, syntax.SpanOf(v), c.noEnd(declared, v, types[0]), "%s is a %s, but the edges %s need a %s", v.Value, declared.Type, st.src.EdgeNames(), types[0].name)
			return false
		}
		if len(types) == 1 && !types[0].shared {
			ends[i] = types[0]
		}
	}
	from, to := ends[0], ends[1]
	if st.reversed {
		from, to = to, from
	}
	starts, targets := c.typeSet(from), c.typeSet(to)
	if t.Max > 1 {
		c.chain(st.edges, starts, false)
		c.chain(st.edges, targets, true)
	}
	for i, e := range st.edges {
		if c.among(endOf(e, false), starts) && c.among(endOf(e, true), targets) {
			continue
		}
		c.fault(WrongEndpoint, syntax.SpanOf(st.src.Edges()[i]), "remove it, or write another type in the binding of "+st.src.From.Value+" or "+st.src.To.Value,
			"%s goes from %s to %s, so no match from a %s to a %s can follow it", st.src.Edges()[i].Value, e.From, e.To, from.name, to.name)
		return false
	}
	return true
}

// typeSet returns the set of the names of the node types that a node of the given type may have.
func (c *checker) typeSet(e nodeEnd) map[string]bool {
	set := map[string]bool{}
	for _, name := range c.typesOf(e) {
		set[name] = true
	}
	return set
}

// among reports whether a node at an end of an edge may have one of the types in the set.
func (c *checker) among(e nodeEnd, types map[string]bool) bool {
	return slices.ContainsFunc(c.typesOf(e), func(name string) bool { return types[name] })
}

// chain adds to a set of types all types that chains of the edges lead to or, if `back` is true, that they come from.
func (c *checker) chain(edges []*catalog.Edge, types map[string]bool, back bool) {
	for grown := true; grown; {
		grown = false
		c.step(len(edges))
		for _, e := range edges {
			if !c.among(endOf(e, back), types) {
				continue
			}
			for _, name := range c.typesOf(endOf(e, !back)) {
				grown = grown || !types[name]
				types[name] = true
			}
		}
	}
}

// maxEdgeNames bounds the number of edges that a help line lists.
const maxEdgeNames = 8

// suggestEdge returns help for the name of an edge that does not exist: the nearest name, or the names of the edges that
// can join the two ends of the traversal.
func (c *checker) suggestEdge(name string, t *syntax.Traversal, sc *scope) string {
	if fitting := c.fittingEdges(t, sc); len(fitting) > 0 && len(fitting) < len(c.schema.Edges) && c.hints < maxHints {
		if n := diag.Closest(name, fitting); n != "" {
			return "did you mean " + n + "?"
		}
		if diag.Closest(name, edgeNames(c.schema)) == "" {
			c.hints++
			if len(fitting) == 1 {
				return "write " + fitting[0] + ", the only edge that fits here"
			}
			more := ""
			if n := len(fitting) - maxEdgeNames; n > 0 {
				more, fitting = fmt.Sprintf(" and %d more", n), fitting[:maxEdgeNames]
			}
			return "the edges that fit here are " + strings.Join(fitting, ", ") + more
		}
	}
	if help := c.suggest(name, func() []string { return edgeNames(c.schema) }); help != "" || len(c.schema.Edges) == 0 || len(c.schema.Edges) > maxEdgeNames {
		return help
	}
	return "the edges are called " + strings.Join(edgeNames(c.schema), ", ")
}

// fittingEdges lists the names of the edges that can join the two ends of a traversal, in one direction or the other. An
// end whose type is not known fits every edge.
func (c *checker) fittingEdges(t *syntax.Traversal, sc *scope) (names []string) {
	if c.hints >= maxHints {
		return nil
	}
	var ends [2]map[string]bool // nil for an end of an unknown type
	for i, v := range [2]syntax.Token{t.From, t.To} {
		if id, ok := sc.find(v.Value[1:]); ok && c.read.Vars[id].Entity.IsNode() && c.read.Vars[id].Type != "" {
			ends[i] = c.typeSet(typeOfVar(c.read.Vars[id]))
		}
	}
	fits := func(e *catalog.Edge, to bool, end map[string]bool) bool {
		return end == nil || c.among(endOf(e, to), end)
	}
	c.step(len(c.schema.Edges))
	for _, e := range c.schema.Edges {
		if fits(e, false, ends[0]) && fits(e, true, ends[1]) || fits(e, true, ends[0]) && fits(e, false, ends[1]) {
			names = append(names, lowerFirst(e.Name))
		}
	}
	return names
}

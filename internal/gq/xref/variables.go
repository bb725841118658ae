package xref

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// variable identifies a variable of a query.
type variable struct {
	name  string // with $
	scope int    // the offset of the block that it belongs to
}

// bound is the type of a variable.
type bound struct {
	entity Entity
	typ    string
}

// traversal is a part of a match that follows an edge from one variable to another.
type traversal struct {
	edge     *catalog.Edge
	from, to variable
}

// finish ends a query: it decides which block each variable belongs to and infers the types of the
// variables. These are also the types of the properties that follow the variables.
func (r *queryReader) finish() {
	if r.tokens == nil || r.parents == nil {
		return
	}
	own := r.names[r.first:]
	r.scopes(own)
	types := r.types(own)
	for i := range own {
		n := &own[i]
		switch n.Kind {
		case Variable:
			b := types[variable{n.Value, n.Scope}]
			n.Entity, n.Type = b.entity, b.typ
		case Parameter:
			b := types[variable{n.Value, r.query}]
			n.Entity, n.Type = b.entity, b.typ
		case Property:
			if n.Type == "" && i > 0 && (own[i-1].Kind == Variable || own[i-1].Kind == Parameter) {
				n.Entity, n.Type = own[i-1].Entity, own[i-1].Type
			}
		default: // the other names have no type that depends on a variable
		}
	}
	r.markDeclarations(own)
	r.parents = nil
}

// scopes sets the scope of each variable to the outermost block around it that names the variable
// itself, and not only in the blocks within that block.
func (r *queryReader) scopes(own []Name) {
	direct := map[variable]bool{}
	for _, n := range own {
		if n.Kind == Variable {
			direct[variable{n.Value, n.Scope}] = true
		}
	}
	for i := range own {
		n := &own[i]
		if n.Kind != Variable {
			continue
		}
		for at := n.Scope; ; {
			parent, ok := r.parents[at]
			if !ok {
				break
			}
			at = parent
			if direct[variable{n.Value, at}] {
				n.Scope = at
			}
		}
	}
}

// types infers the types of the variables of a query. A binding or an insert states the type. A
// traversal passes types from one end to the other, so the inference repeats until nothing changes.
func (r *queryReader) types(own []Name) map[variable]bound {
	types := map[variable]bound{}
	index := map[int]*Name{} // by offset
	for i := range own {
		index[own[i].Pos.Offset] = &own[i]
	}
	var traversals []traversal
	first, _ := slices.BinarySearchFunc(r.tokens, r.query, func(t syntax.Token, at int) int { return t.Pos.Offset - at })
	last := own[len(own)-1].Pos.Offset
	for i := first; i < len(r.tokens) && r.tokens[i].Pos.Offset <= last; i++ {
		n := index[r.tokens[i].Pos.Offset]
		if n == nil {
			continue
		}
		switch {
		case (n.Kind == Variable || n.Kind == Parameter) && n.Value != "$_":
			if typ, ok := r.stated(i, index); ok {
				if v := (variable{n.Value, n.Scope}); types[v].typ == "" {
					types[v] = typ
				}
			}
		case n.Kind == Type && n.Entity == Edge && n.Token.Type == syntax.Name:
			if t, edgeVar, ok := r.traversal(i, index); ok {
				traversals = append(traversals, t)
				after := at(r.tokens, i+1)
				if after.Value == ">" {
					after = at(r.tokens, i+2)
				}
				// With bounds, the variable stands for a walk, which has no type.
				if edgeVar != nil && after.Type == syntax.Var {
					types[variable{edgeVar.Value, edgeVar.Scope}] = bound{Edge, t.edge.Name}
				}
			}
		}
	}
	infer(types, traversals)
	return types
}

// stated returns the type that the tokens after the variable at index i state: `$v: Type`, or
// `$v = insert Type`.
func (r *queryReader) stated(i int, index map[int]*Name) (bound, bool) {
	next := i + 2
	switch {
	case at(r.tokens, i+1).Value == ":":
	case at(r.tokens, i+1).Value == "=" && at(r.tokens, i+2).Type == syntax.Name:
		next = i + 3
	default:
		return bound{}, false
	}
	n := index[at(r.tokens, next).Pos.Offset]
	if n == nil || n.Kind != Type || n.Token.Type != syntax.TypeName {
		return bound{}, false
	}
	return bound{n.Entity, n.Type}, true
}

// traversal returns the traversal with the edge at index i, and the variable that it binds to the edge,
// or nil.
func (r *queryReader) traversal(i int, index map[int]*Name) (t traversal, edgeVar *Name, ok bool) {
	left := i - 1
	for ; left >= 0 && !isVar(r.tokens[left]); left-- {
		if v := r.tokens[left].Value; v != "|" && v != "<" && v != ":" && r.tokens[left].Type != syntax.Name {
			return t, nil, false
		}
	}
	if at(r.tokens, left+1).Value == ":" && isVar(at(r.tokens, left-1)) {
		edgeVar = index[r.tokens[left].Pos.Offset]
		left--
	}
	right := i + 1
	for ; right < len(r.tokens) && !isVar(r.tokens[right]); right++ {
		switch v := r.tokens[right]; {
		case v.Type == syntax.Int, v.Type == syntax.Name, v.Value == "{", v.Value == "}", v.Value == ",", v.Value == ">", v.Value == "|":
		default:
			return t, nil, false
		}
	}
	from, to := index[at(r.tokens, left).Pos.Offset], index[at(r.tokens, right).Pos.Offset]
	if left < 0 || right >= len(r.tokens) || from == nil || to == nil {
		return t, nil, false
	}
	e := r.schema.Edge(r.tokens[i].Value)
	return traversal{e, variable{from.Value, from.Scope}, variable{to.Value, to.Scope}}, edgeVar, e != nil
}

// isVar reports whether a token is a variable.
func isVar(t syntax.Token) bool { return t.Type == syntax.Var }

// infer passes types along traversals until nothing changes. If neither end of a traversal has a
// type, infer gives each end the type that the edge has there, read from left to right.
func infer(types map[variable]bound, traversals []traversal) {
	set := func(v variable, typ string) bool {
		if v.name == "$_" || typ == "" || types[v].typ != "" {
			return false
		}
		types[v] = bound{Node, typ}
		return true
	}
	for again := true; again; {
		again = false
		for _, t := range traversals {
			from, to := types[t.from].typ, types[t.to].typ
			switch {
			case from != "" && to != "":
			case t.edge.From == t.edge.To:
				again = set(t.from, t.edge.From) || again
				again = set(t.to, t.edge.To) || again
			case from == t.edge.From:
				again = set(t.to, t.edge.To) || again
			case from == t.edge.To:
				again = set(t.to, t.edge.From) || again
			case to == t.edge.To:
				again = set(t.from, t.edge.From) || again
			case to == t.edge.From:
				again = set(t.from, t.edge.To) || again
			}
		}
		if again {
			continue
		}
		for _, t := range traversals {
			if types[t.from].typ == "" && types[t.to].typ == "" {
				again = set(t.from, t.edge.From) || again
				again = set(t.to, t.edge.To) || again
			}
			if again {
				break
			}
		}
	}
}

// markDeclarations marks the declaration of each variable: its binding, or its first use if it has
// no binding.
func (r *queryReader) markDeclarations(own []Name) {
	first := map[variable]int{}
	bound := map[variable]bool{}
	for i := range own {
		n := &own[i]
		if n.Kind != Variable || n.Value == "$_" {
			continue
		}
		v := variable{n.Value, n.Scope}
		if _, seen := first[v]; !seen {
			first[v] = i
		}
		if i+1 < len(own) && own[i+1].Kind == Type && own[i+1].Token.Type == syntax.TypeName && !bound[v] {
			bound[v] = true
			first[v] = i
		}
	}
	for _, i := range first {
		own[i].Decl = true
	}
}

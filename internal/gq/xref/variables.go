package xref

import (
	"cmp"
	"maps"
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
	block    int  // the offset of the block that contains it
	done     bool // its direction is decided
}

// finish ends a query: it decides which block each variable belongs to and infers the types of the
// variables. These are also the types of the properties that follow the variables.
func (r *queryReader) finish() {
	if r.tokens == nil || r.parents == nil {
		return
	}
	own := r.names[r.first:]
	blocks := map[int]int{} // of the variables, by offset: the block that contains the name
	for _, n := range own {
		if n.Kind == Variable {
			blocks[n.Pos.Offset] = n.Scope
		}
	}
	r.scopes(own)
	types := r.types(own, blocks)
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
// traversal passes types from one end to the other, so the inference repeats until nothing changes. The map `blocks`
// contains the block around each variable, by offset.
func (r *queryReader) types(own []Name, blocks map[int]int) map[variable]bound {
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
				t.block = blocks[t.block]
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
	// An inner block does not change the types of the variables around it, so the outer blocks, which begin before
	// it, come first.
	slices.SortStableFunc(traversals, func(a, b traversal) int { return cmp.Compare(a.block, b.block) })
	for len(traversals) > 0 {
		n := slices.IndexFunc(traversals, func(t traversal) bool { return t.block != traversals[0].block })
		if n < 0 {
			n = len(traversals)
		}
		r.infer(types, traversals[:n])
		traversals = traversals[n:]
	}
	return types
}

// stated returns the type that the tokens after the variable at index i state: `$v: Type`,
// `$v = insert Type` or `$v = insert new Type`.
func (r *queryReader) stated(i int, index map[int]*Name) (bound, bool) {
	next := i + 2
	switch {
	case at(r.tokens, i+1).Value == ":":
	case at(r.tokens, i+1).Value == "=" && at(r.tokens, i+2).Type == syntax.Name:
		if next = i + 3; at(r.tokens, next).Value == "new" {
			next++
		}
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
// or nil. The block of the traversal is the offset of its left variable.
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
	return traversal{edge: e, from: variable{from.Value, from.Scope}, to: variable{to.Value, to.Scope}, block: from.Pos.Offset}, edgeVar, e != nil
}

// isVar reports whether a token is a variable.
func isVar(t syntax.Token) bool { return t.Type == syntax.Var }

// infer passes types along the traversals of a block until nothing changes. If the types of the ends permit both
// directions, a traversal is read from left to right after all others. A traversal gives its ends the types that
// the edge has there. A node type takes the place of an interface that another traversal of the same block gave.
func (r *queryReader) infer(types map[variable]bound, traversals []traversal) {
	stated := maps.Clone(types)
	set := func(t *traversal, v variable, to bool) {
		name, shared := t.edge.End(to)
		given := bound{Node, name}
		if shared {
			given.entity = Interface
		}
		was := types[v]
		narrows := was.entity == Interface && given.entity == Node && stated[v].typ == "" && v.scope == t.block && r.fits(was, t.edge, to)
		if v.name != "$_" && (was.typ == "" || narrows) {
			types[v] = given
		}
	}
	direct := func(t *traversal, reversed bool) {
		t.done = true
		set(t, t.from, reversed)
		set(t, t.to, !reversed)
	}
	for again := true; again; {
		again = false
		for i := range traversals {
			t := &traversals[i]
			if t.done {
				continue
			}
			from, to := types[t.from], types[t.to]
			forward := r.fits(from, t.edge, false) && r.fits(to, t.edge, true)
			back := r.fits(from, t.edge, true) && r.fits(to, t.edge, false)
			if t.edge.EndName(false) == t.edge.EndName(true) || forward != back {
				direct(t, !forward && back)
				again = true
			}
		}
		if again {
			continue
		}
		// Leave the traversals of edges whose two ends can have one type to the end, as the checker does.
		open := slices.IndexFunc(traversals, func(t traversal) bool {
			name, shared := t.edge.End(true)
			return !t.done && !r.schema.AtEnd(t.edge, false, name, shared)
		})
		if open < 0 {
			open = slices.IndexFunc(traversals, func(t traversal) bool { return !t.done })
		}
		if open >= 0 {
			direct(&traversals[open], false)
			again = true
		}
	}
}

// fits reports whether a variable of a type, which may be unknown, can be at an end of an edge.
func (r *queryReader) fits(b bound, e *catalog.Edge, to bool) bool {
	return b.typ == "" || r.schema.AtEnd(e, to, b.typ, b.entity == Interface)
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

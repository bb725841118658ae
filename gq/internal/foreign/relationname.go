package foreign

import "slices"

// edgeArguments reads the properties of an edge in parentheses in a traversal, as in $a wrote(role: translator) $w, as
// if they stood in braces.
func (r *rewriter) edgeArguments() {
	depth := 0
	for i := r.at; i < len(r.tokens); i++ {
		switch t := r.tokens[i]; {
		case t.kind == mark && t.text == "(":
			depth++
		case t.kind == mark && t.text == ")":
			if depth--; depth == 0 {
				r.tokens = slices.Clone(r.tokens)
				r.tokens[r.at].text, r.tokens[i].text = "{", "}"
				return
			}
		}
	}
	panic(giveUp{})
}

package foreign

import (
	"slices"
	"strings"
)

// directives reads @include(if: $x) and @skip(if: $x) before a field, or after its name. They hold until the function
// that it returns is called.
func (r *rewriter) directives() func() {
	saved := r.when
	for r.is("@", "include") || r.is("@", "skip") {
		r.next()
		skip := strings.EqualFold(r.word(), "skip")
		r.expect("(", "if", ":")
		condition := r.operand()
		r.expect(")")
		switch {
		case condition == "true" && !skip, condition == "false" && skip: // always
		case !strings.HasPrefix(condition, "$"):
			panic(giveUp{})
		default:
			if name := condition[1:]; !r.bound(name) {
				r.declare(name, "Bool")
			}
			r.when = append(slices.Clone(r.when), condition+" = "+map[bool]string{false: "true", true: "false"}[skip])
		}
	}
	return func() { r.when = saved }
}

// conditional returns a column that is null unless the conditions of the directives around it hold.
func (r *rewriter) conditional(alias, e string) (newAlias, expr string) {
	if len(r.when) > 0 && alias == "" {
		alias = e[strings.LastIndexAny(e, "$.")+1:]
	}
	for _, test := range r.when {
		e = "if(" + test + ", " + e + ")"
	}
	return alias, e
}

// blockDirectives reads the directives before the selection of a block. The block is empty unless their conditions hold.
// The function that it returns ends the block.
func (r *rewriter) blockDirectives() func() {
	done := r.directives()
	for _, test := range r.when {
		r.match = append(r.match, leaf(test))
		r.note("a block whose @include or @skip leaves it out is empty")
	}
	r.when = nil
	return done
}

// reversed reads @reverse after a field: the relation from its other end.
func (r *rewriter) reversed(rel *relation) {
	if !r.is("@", "reverse") && !r.is("@", "inverse") && !r.is("@", "in") {
		return
	}
	r.skipTwo()
	refuse(rel.forward && rel.edge.From != rel.edge.To)
	rel.forward = false
}

package scip

import (
	"slices"

	bindings "github.com/scip-code/scip/bindings/go/scip"

	"github.com/omnigraph-go/omnigraph/internal/source/codegraph"
)

// scope is the range of a declaration in a document.
type scope struct {
	bindings.Range
	symbol int // place in list
}

// reference is a place in a document that names a symbol.
type reference struct {
	bindings.Position
	symbol int // place in list, or -1 for a function of other code
}

// readReferences counts the references in a document, each for the innermost declaration around it.
func (r *reader) readReferences(d *document) error {
	var scopes []scope
	var references []reference
	file := &r.fileNodes[r.files[d.path]]
	err := d.occurrences(func(offset int, o *bindings.Occurrence, at bindings.Range) error {
		i, known := r.symbols[o.Symbol]
		if o.SymbolRoles&int32(bindings.SymbolRole_Definition|bindings.SymbolRole_ForwardDefinition) != 0 {
			if body, ok := o.EnclosingSourceRange(); ok && known && o.SymbolRoles&int32(bindings.SymbolRole_Definition) != 0 {
				scopes = append(scopes, scope{body, i})
			}
			return nil
		}
		p, callable := -1, false
		if known {
			p = r.list[i].pkg
		} else if p, callable = r.other(o.Symbol); p < 0 {
			return nil
		}
		if file.pkg >= 0 && p != file.pkg {
			r.imports[[2]int{file.pkg, p}] = true
		}
		switch {
		case o.SymbolRoles&int32(bindings.SymbolRole_Import) != 0:
		case known:
			references = append(references, reference{at.Start, i})
		case callable:
			references = append(references, reference{at.Start, -1})
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(references, func(a, b reference) int { return a.Position.Compare(b.Position) })
	// An outer declaration comes before an inner one that starts at the same place.
	slices.SortStableFunc(scopes, func(a, b scope) int {
		if c := a.Start.Compare(b.Start); c != 0 {
			return c
		}
		return b.End.Compare(a.End)
	})
	var open []scope // those that started before the reference; the innermost is last
	for _, ref := range references {
		for len(scopes) > 0 && !ref.Less(scopes[0].Start) {
			open = append(open, scopes[0])
			scopes = scopes[1:]
		}
		for len(open) > 0 && !ref.Less(open[len(open)-1].End) {
			open = open[:len(open)-1]
		}
		if len(open) == 0 {
			r.count(-1, ref.symbol)
		} else {
			r.count(open[len(open)-1].symbol, ref.symbol)
		}
	}
	return nil
}

// count counts a reference between symbols; `from` is -1 if no declaration contains the reference, and
// `to` is -1 for a function of other code.
func (r *reader) count(from, to int) {
	switch {
	case to < 0:
		r.gaps.external++
	case from < 0 && r.list[to].node.Kind.IsCallable():
		r.gaps.outside++
	case from < 0 || from == to && !r.list[to].node.Kind.IsCallable():
	case r.list[to].node.Kind.IsCallable():
		r.calls[[2]int{from, to}]++
	default:
		if r.list[from].node.Kind.IsCallable() && r.list[to].node.Kind == codegraph.Type {
			r.gaps.types++
		}
		r.refers[[2]int{from, to}]++
	}
}

// other returns the place of the package of a symbol that the index does not declare, and reports whether
// the name is that of a function. The place is -1 if the name is not valid or is that of a field or a
// parameter of declared code.
func (r *reader) other(inIndex string) (p int, callable bool) {
	if p, ok := r.others[inIndex]; ok {
		return p >> 1, p&1 == 1
	}
	p = -1
	if n, err := parseName(inIndex, r.module); err == nil {
		p = r.packageOf(n)
		callable = n.suffix == bindings.Descriptor_Method && !r.packageNodes[p].node.Read
	}
	r.others[inIndex] = p << 1
	if callable {
		r.others[inIndex] |= 1
	}
	return p, callable
}

package format

import "github.com/omnigraph-go/omnigraph/internal/gq/syntax"

// decl adds the pieces of a declaration.
func (b *builder) decl(d syntax.Decl) {
	switch d := d.(type) {
	case *syntax.Interface:
		b.startDeclaration(d.Range)
		b.header()
		b.open(spaced)
		for _, p := range d.Properties {
			b.rangeOf(p.Range, soft)
		}
		b.close()
	case *syntax.Node:
		b.startDeclaration(d.Range)
		b.header()
		b.members(d.Members)
	case *syntax.Edge:
		b.startDeclaration(d.Range)
		b.header()
		if b.is("{") {
			b.members(d.Members)
		}
	}
}

// header makes pieces of the tokens before the brace of a declaration.
func (b *builder) header() {
	end := b.at
	for end < len(b.tokens) && b.tokens[end].Value != "{" {
		end++
	}
	b.run(end, spaced)
}

// members adds the pieces of the members of a type.
func (b *builder) members(members []syntax.Member) {
	b.open(spaced)
	for _, m := range members {
		switch m := m.(type) {
		case *syntax.Property:
			b.rangeOf(m.Range, soft)
		case *syntax.ListConstraint:
			b.rangeOf(m.Range, soft)
		case *syntax.RangeConstraint:
			b.rangeOf(m.Range, soft)
		case *syntax.CheckConstraint:
			b.rangeOf(m.Range, soft)
		}
	}
	b.close()
}

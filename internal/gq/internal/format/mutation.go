package format

import "github.com/omnigraph-go/omnigraph/internal/gq/syntax"

// mutation adds the pieces of a mutation.
func (b *builder) mutation(m *syntax.Mutation) {
	m.Walk(func(st syntax.Statement) {
		if block, ok := st.(*syntax.MatchBlock); ok {
			b.findBlocksOf(&syntax.Read{Match: block.Match, Order: block.Order})
		}
	})
	b.findBlocksOf(&syntax.Read{Returns: m.Returns})
	b.statements(m.Statements)
	if m.Returns != nil {
		b.take(soft) // return
		b.projections(m.Returns)
	}
}

// statements adds the pieces of statements.
func (b *builder) statements(list []syntax.Statement) {
	for _, st := range list {
		b.statement(st)
	}
}

// statement adds the pieces of a statement of a mutation.
func (b *builder) statement(st syntax.Statement) {
	switch st := st.(type) {
	case *syntax.Insert:
		b.take(soft)
		if st.Name != nil {
			b.take(spaced) // =
			b.take(spaced) // insert
		}
		b.take(spaced)
		if st.New {
			b.take(spaced)
		}
		b.assigns(st.Set)
	case *syntax.Update:
		b.take(soft)
		b.take(spaced)
		b.take(spaced)
		b.assigns(st.Set)
		b.preds(st.Where)
	case *syntax.Delete:
		b.take(soft)
		b.take(spaced)
		b.preds(st.Where)
	case *syntax.MatchBlock:
		b.take(soft)
		b.match(st.Match)
		b.orderings(st.Order, spaced)
		if st.Limit != nil {
			b.take(spaced)
			b.take(spaced)
		}
		b.body(st.Statements)
	case *syntax.ListBlock:
		b.take(soft)
		b.take(spaced)
		b.take(spaced)
		b.rangeOf(st.List.Source(), spaced)
		b.body(st.Statements)
	}
}

// body makes a group of the statements of a block. Each is on a line of its own.
func (b *builder) body(list []syntax.Statement) {
	b.open(spaced)
	b.group.broken = true
	b.statements(list)
	b.close()
}

// preds adds the pieces of a `where`.
func (b *builder) preds(list []*syntax.Pred) {
	for _, p := range list {
		b.take(spaced) // where or and
		b.rangeOf(p.Range, spaced)
	}
}

// assigns adds the pieces of assignments in braces.
func (b *builder) assigns(set []*syntax.Assign) {
	b.open(spaced)
	for i, a := range set {
		// The tokens of an assignment include the comma after it.
		end := b.at + len(a.Tokens)
		if b.tokens[end-1].Value == "," {
			end--
		}
		b.run(end, soft)
		b.comma(i == len(set)-1)
	}
	b.close()
}

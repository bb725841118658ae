package format

import "github.com/omnigraph-go/omnigraph/internal/gq/syntax"

// query adds the pieces of a query.
func (b *builder) query(q *syntax.Query) {
	b.startDeclaration(q.Range)
	b.take(spaced)
	b.open(glued)
	for i, p := range q.Params {
		b.rangeOf(p.Range, soft)
		b.comma(i == len(q.Params)-1)
	}
	b.close()
	if q.AsOf != nil {
		b.rangeOf(q.AsOf.Range, spaced)
	}
	for _, a := range q.Annotations {
		b.annotation(a)
	}
	if len(q.Annotations) == 0 {
		b.open(spaced)
	} else {
		b.open(line)
		b.group.broken = true
	}
	switch body := q.Body.(type) {
	case *syntax.Read:
		b.findBlocks(body)
		b.read(body)
	case *syntax.Mutation:
		b.mutation(body)
	}
	b.close()
}

// annotation adds the pieces of an annotation of a query.
func (b *builder) annotation(a *syntax.QueryAnnotation) {
	from := len(b.pieces)
	if len(a.MCP) == 0 {
		b.rangeOf(a.Range, line)
	} else {
		b.take(line)
		b.take(glued)
		b.open(glued)
		for i := range a.MCP {
			b.take(soft)
			b.take(glued).text = ":"
			b.take(spaced)
			b.comma(i == len(a.MCP)-1)
		}
		b.close()
	}
	for i := from; i < len(b.pieces); i++ {
		if b.pieces[i].group == nil {
			b.pieces[i].indent = 1
		}
	}
}

// read adds the pieces of a read.
func (b *builder) read(r *syntax.Read) {
	b.take(soft) // match
	if r.Valid != nil {
		b.rangeOf(r.Valid.Range, spaced)
	}
	b.match(r.Match)
	b.take(soft) // return
	if r.Distinct != nil {
		b.take(spaced)
	}
	b.projections(r.Returns)
	if r.Having != nil {
		b.take(soft)
		b.match(r.Having)
	}
	b.end(r.Order, r.Limit)
}

// end adds the pieces of the sort keys and of the limit, if there are any.
func (b *builder) end(order []*syntax.Ordering, limit *syntax.Token) {
	b.orderings(order, soft)
	if limit != nil {
		b.take(soft)
		b.take(spaced)
	}
}

// projections makes a group of the columns of a return.
func (b *builder) projections(list []*syntax.Projection) {
	b.open(spaced)
	for i, p := range list {
		b.rangeOf(p.Range, soft)
		b.comma(i == len(list)-1)
	}
	b.close()
}

// orderings adds the pieces of `order`, if there are sort keys. The argument `before` is the gap before the word.
func (b *builder) orderings(list []*syntax.Ordering, before gap) {
	if list == nil {
		return
	}
	b.take(before)
	b.open(spaced)
	for i, o := range list {
		b.rangeOf(o.Range, soft)
		b.comma(i == len(list)-1)
	}
	b.close()
}

// subquery makes a group of the braces of a subquery. The keyword is the token before the next one.
func (b *builder) subquery(s *syntax.Subquery) {
	stop := b.at - 1 + len(s.Tokens) - 1 // index of the closing brace; below, of the token after the result
	if s.Limit != nil {
		stop -= 2
	}
	if s.Order != nil {
		stop -= 3 + len(s.Order) - 1 // `order`, its braces and its commas
		for _, o := range s.Order {
			stop -= len(o.Tokens)
		}
	}
	b.open(spaced)
	b.clauses(s.Match)
	switch {
	case s.Returns != nil:
		b.take(soft) // return
		b.projections(s.Returns)
	case s.Value != nil:
		b.take(soft) // return
		if s.Distinct != nil {
			b.take(spaced)
		}
		b.run(stop, spaced)
	}
	b.end(s.Order, s.Limit)
	b.close()
}

// findBlocks records the blocks that are operands in a read.
func (b *builder) findBlocks(r *syntax.Read) {
	b.blocks = map[int]syntax.Operand{}
	b.findBlocksOf(r)
}

// findBlocksOf is like findBlocks, but does not forget the blocks of other reads.
func (b *builder) findBlocksOf(r *syntax.Read) {
	if b.blocks == nil {
		b.blocks = map[int]syntax.Operand{}
	}
	r.Walk(func(syntax.Clause) {}, func(block syntax.Operand) {
		b.meter.Step(1)
		b.blocks[block.Source().Tokens[0].Pos.Offset] = block
	})
}

// match makes a group of a block of clauses.
func (b *builder) match(clauses []syntax.Clause) {
	b.open(spaced)
	b.clauses(clauses)
	b.close()
}

// clauses adds the pieces of clauses.
func (b *builder) clauses(clauses []syntax.Clause) {
	for _, c := range clauses {
		switch c := c.(type) {
		case *syntax.Not, *syntax.Exists, *syntax.Any, *syntax.All, *syntax.Optional:
			b.take(soft)
			b.match(syntax.Block(c))
		case *syntax.Binding:
			b.binding(c)
		case *syntax.Traversal:
			b.traversal(c)
		case *syntax.TextClause:
			b.rangeOf(c.Range, soft)
		case *syntax.Filter:
			b.rangeOf(c.Range, soft)
		}
	}
}

// binding adds the pieces of a binding.
func (b *builder) binding(c *syntax.Binding) {
	end := b.at + len(c.Tokens)
	b.take(soft)
	b.take(glued)
	b.take(spaced)
	if b.at == end {
		return
	}
	b.open(spaced)
	for i, p := range c.Props {
		b.rangeOf(p.Range, soft)
		b.comma(i == len(c.Props)-1)
	}
	b.close()
}

// traversal makes pieces of a traversal such as $a $w:<knows|follows>{1,2} $b.
func (b *builder) traversal(c *syntax.Traversal) {
	b.take(soft)
	edge := spaced
	if c.EdgeVar != nil {
		b.take(spaced)
		b.take(glued)
		edge = glued
	}
	b.take(edge)
	more := len(c.Choice) - 1 // a bar and a name for each further edge
	if c.Undirected {
		more += 2
	}
	for range more {
		b.take(glued)
	}
	if c.Bounds != nil {
		for range c.Bounds.Tokens {
			b.take(glued)
		}
	}
	b.take(spaced)
}

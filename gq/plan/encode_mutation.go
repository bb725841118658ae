package plan

import "github.com/omnigraph-go/omnigraph/gq/value"

// mutation encodes or decodes a mutation.
func (c *coder) mutation(m *Mutation) {
	slice(c, &m.Vars, (*coder).variable)
	slice(c, &m.Statements, (*coder).statement)
	slice(c, &m.Returns, (*coder).column)
}

// assign encodes or decodes an assignment.
func (c *coder) assign(a *Assign) {
	c.string(&a.Name)
	c.typ(&a.Type)
	c.expr(&a.Value)
}

// pred encodes or decodes the condition of an update or delete.
func (c *coder) pred(p *Pred) {
	c.string(&p.Name)
	c.typ(&p.Type)
	if p.Type.Kind == value.Invalid { // an end at an interface
		c.nodeType(&p.Type)
	}
	integer(c, &p.Op)
	c.expr(&p.Value)
}

// statement encodes or decodes a statement. A number identifies the type of the statement.
func (c *coder) statement(p *Statement) {
	n := byte(0)
	switch s := (*p).(type) {
	case Insert:
		if n = 1; s.New {
			n = 5
		}
	case Update:
		n = 2
	case Delete:
		n = 3
	case ForEach:
		n = 4
	}
	switch n = c.byte(n); n {
	case 1, 5:
		part(c, p, func(s *Insert) {
			s.New = n == 5
			integer(c, &s.Entity)
			c.string(&s.Type)
			c.expr(&s.From)
			c.expr(&s.To)
			c.expr(&s.ID)
			slice(c, &s.Set, (*coder).assign)
			c.bool(&s.Upsert)
			pointer(c, &s.As, integer[VarID])
		})
	case 2:
		part(c, p, func(s *Update) {
			integer(c, &s.Entity)
			c.string(&s.Type)
			slice(c, &s.Set, (*coder).assign)
			slice(c, &s.Where, (*coder).pred)
		})
	case 3:
		part(c, p, func(s *Delete) {
			integer(c, &s.Entity)
			c.string(&s.Type)
			slice(c, &s.Where, (*coder).pred)
		})
	case 4:
		part(c, p, func(s *ForEach) {
			pointer(c, &s.Read, (*coder).read)
			c.expr(&s.List)
			c.string(&s.Var)
			slice(c, &s.Statements, (*coder).statement)
		})
	default:
		c.unnumbered("statement", n, *p)
	}
}

package plan

import (
	"fmt"

	"github.com/omnigraph-go/omnigraph/gq/value"
)

// These methods encode or decode the members of each type of a plan, in the order of their
// declaration. The number that identifies a type of statement, clause or
// expression is part of the encoding.

// query encodes or decodes a query whose first byte is `first`.
func (c *coder) query(q *Query, first byte) {
	c.string(&q.Name)
	slice(c, &q.Params, (*coder).param)
	pointer(c, &q.Read, (*coder).read)
	pointer(c, &q.Mutation, (*coder).mutation)
	if first >= asOfEncoding {
		c.expr(&q.AsOf)
	}
	if first == validEncoding && q.Read != nil {
		pointer(c, &q.Read.Valid, func(c *coder, v *Valid) {
			c.expr(&v.From)
			c.expr(&v.To)
		})
	}
	slice(c, &q.Uses, (*coder).use)
}

// param encodes or decodes a parameter.
func (c *coder) param(p *Param) {
	c.string(&p.Name)
	c.typ(&p.Type)
	const plain, annotated, node, record, shared, caller = 0, 1, 2, 3, 4, 5
	members := byte(plain)
	switch {
	case p.Caller != "":
		members = caller
	case p.Interface != "":
		members = shared
	case p.Type.Fields != nil:
		members = record
	case p.Node != "":
		members = node
	case !p.Default.IsNull() || p.Bounds != (value.Bounds{}) || p.Pattern != nil || p.Examples != nil:
		members = annotated
	}
	switch members = c.byte(members); members {
	case plain:
		return
	case record:
		slice(c, &p.Type.Fields, (*coder).recordField)
		return
	case shared:
		c.string(&p.Interface)
		c.nodeType(&p.Type)
		return
	case caller:
		c.string(&p.Caller)
		return
	}
	c.literal(&p.Default)
	pointer(c, &p.Bounds.Min, (*coder).literal)
	pointer(c, &p.Bounds.Max, (*coder).literal)
	c.pattern(&p.Pattern)
	slice(c, &p.Examples, (*coder).literal)
	if members == node {
		c.string(&p.Node)
	}
}

// nodeType encodes or decodes the fields of a NodeType: the names of the types, or nil if there are no fields.
func (c *coder) nodeType(t *value.Type) {
	var types []string
	if t.Fields != nil {
		types = t.Fields[0].Type.Enum
	}
	slice(c, &types, (*coder).string)
	if c.decoding && types != nil {
		t.Fields = NodeType(types).Fields
	}
}

// recordField encodes or decodes a field of the records in a parameter.
func (c *coder) recordField(f *value.Field) {
	c.string(&f.Name)
	c.typ(&f.Type)
}

// pattern encodes or decodes a regular expression, which may be nil.
func (c *coder) pattern(p **value.Pattern) {
	there := *p != nil
	if c.bool(&there); !there {
		return
	}
	var text string
	if !c.decoding {
		text = (*p).String()
	}
	if c.string(&text); !c.decoding || c.err != nil {
		return
	}
	var err error
	if *p, err = value.NewPattern(text); err != nil {
		c.fail("the pattern of a parameter: %v", err)
	}
}

// use encodes or decodes a type or property that a query uses.
func (c *coder) use(u *Use) {
	integer(c, &u.Entity)
	c.string(&u.Type)
	c.string(&u.Property)
	c.typ(&u.Value)
	c.string(&u.From)
	c.string(&u.To)
	c.bool(&u.Write)
}

// read encodes or decodes a read.
func (c *coder) read(r *Read) {
	slice(c, &r.Vars, (*coder).variable)
	slice(c, &r.Match, (*coder).clause)
	slice(c, &r.Columns, (*coder).column)
	c.bool(&r.Grouped)
	slice(c, &r.Having, (*coder).clause)
	slice(c, &r.Order, (*coder).order)
	slice(c, &r.Ties, integer[VarID])
	integer(c, &r.Limit)
	pointer(c, &r.LimitBy, func(c *coder, by *ParamRef) { integer(c, &by.Index) })
}

// variable encodes or decodes a variable.
func (c *coder) variable(v *Var) {
	c.string(&v.Name)
	integer(c, &v.Entity)
	c.string(&v.Type)
	c.bool(&v.Optional)
}

// column encodes or decodes a column.
func (c *coder) column(col *Column) {
	c.string(&col.Name)
	c.expr(&col.Expr)
	c.typ(&col.Type)
	slice(c, &col.Fields, (*coder).field)
}

// field encodes or decodes a member of a record.
func (c *coder) field(f *Field) {
	c.string(&f.Name)
	c.typ(&f.Type)
	slice(c, &f.Fields, (*coder).field)
}

// order encodes or decodes a sort key.
func (c *coder) order(o *Order) {
	c.expr(&o.Expr)
	c.bool(&o.Desc)
}

// prop encodes or decodes a reference to a property.
func (c *coder) prop(p *Prop) {
	integer(c, &p.Var)
	c.string(&p.Name)
	c.typ(&p.Type)
}

// textMatch encodes or decodes a text match.
func (c *coder) textMatch(m *TextMatch) {
	integer(c, &m.Kind)
	c.prop(&m.Prop)
	c.expr(&m.Query)
	c.expr(&m.MaxEdits)
}

// part encodes or decodes the members of *p. Sum is an interface with a fixed set of types, and T
// is the one of them that *p has.
func part[T, Sum any](c *coder, p *Sum, members func(*T)) {
	x, _ := any(*p).(T) // the zero T when decoding
	members(&x)
	if c.decoding {
		*p = any(x).(Sum)
	}
}

// traverse encodes or decodes a traversal without its further edge types.
func (c *coder) traverse(t *Traverse) {
	integer(c, &t.From)
	integer(c, &t.To)
	c.string(&t.Edge)
	integer(c, &t.EdgeVar)
	c.bool(&t.Undirected)
	c.bool(&t.Walk)
	integer(c, &t.Min)
	integer(c, &t.Max)
}

// clause encodes or decodes a clause. A number identifies the type of the clause.
func (c *coder) clause(p *Clause) {
	n := byte(0)
	switch (*p).(type) {
	case Bind:
		n = 1
	case Traverse:
		n = 2
		if c := (*p).(Traverse); c.Or != nil {
			n = 20
		}
	case Filter:
		n = 3
	case Not:
		n = 4
	case Exists:
		n = 5
	case Any:
		n = 6
	case All:
		n = 7
	case Optional:
		n = 8
	}
	switch n = c.byte(n); n {
	case 1:
		part(c, p, func(b *Bind) { integer(c, &b.Var) })
	case 2:
		part(c, p, c.traverse)
	case 3:
		part(c, p, func(f *Filter) { c.cond(&f.Cond) })
	case 4:
		part(c, p, func(n *Not) { slice(c, &n.Match, (*coder).clause) })
	case 5:
		part(c, p, func(x *Exists) { slice(c, &x.Match, (*coder).clause) })
	case 6:
		part(c, p, func(a *Any) { slice(c, &a.Conds, (*coder).clause) })
	case 7:
		part(c, p, func(a *All) { slice(c, &a.Conds, (*coder).clause) })
	case 8:
		part(c, p, func(o *Optional) { slice(c, &o.Match, (*coder).clause) })
	case 20: // a Traverse with several edge types
		part(c, p, func(t *Traverse) {
			c.traverse(t)
			slice(c, &t.Or, (*coder).string)
		})
	default:
		c.unnumbered("clause", n, *p)
	}
}

// cond encodes or decodes a condition. A number identifies the type of the condition.
func (c *coder) cond(p *Cond) {
	n := byte(0)
	switch (*p).(type) {
	case Compare:
		n = 1
	case TextMatch:
		n = 2
	case NullTest:
		n = 3
	}
	switch n = c.byte(n); n {
	case 1:
		part(c, p, func(x *Compare) {
			integer(c, &x.Op)
			c.expr(&x.Left)
			c.expr(&x.Right)
			integer(c, &x.Unless)
		})
	case 2:
		part(c, p, c.textMatch)
	case 3:
		part(c, p, func(x *NullTest) {
			c.expr(&x.Expr)
			c.bool(&x.Not)
		})
	default:
		c.unnumbered("condition", n, *p)
	}
}

// exprNumber returns the number of an expression's type.
func exprNumber(e Expr) byte {
	switch e.(type) {
	case Lit:
		return 1
	case ParamRef:
		return 2
	case Prop:
		return 3
	case ID:
		return 4
	case Endpoint:
		return 5
	case Whole:
		return 6
	case Now:
		return 7
	case Agg:
		return 8
	case Matched:
		return 9
	case BM25:
		return 10
	case Nearest:
		return 11
	case RRF:
		return 12
	case Apply:
		return 13
	case Test:
		return 14
	case Holds:
		return 15
	case BlockAgg:
		return 16
	case BlockRows:
		return 17
	case Member:
		return 18
	case EndNode:
		return 19
	case WalkPart:
		return 30
	case Origin:
		return 31
	case Old:
		return 40
	case KeyOf:
		return 41
	case Cell:
		return 42
	case NodeRef:
		return 43
	}
	return 0
}

// expr encodes or decodes an expression, which may be nil.
func (c *coder) expr(p *Expr) {
	switch n := c.byte(exprNumber(*p)); n {
	case 1:
		part(c, p, func(l *Lit) { c.literal(&l.Value) })
	case 2:
		part(c, p, func(r *ParamRef) { integer(c, &r.Index) })
	case 3:
		part(c, p, c.prop)
	case 4:
		part(c, p, func(x *ID) { integer(c, &x.Var) })
	case 5:
		part(c, p, func(x *Endpoint) {
			integer(c, &x.Var)
			c.bool(&x.To)
		})
	case 6:
		part(c, p, func(x *Whole) { integer(c, &x.Var) })
	case 7:
		part(c, p, func(*Now) {})
	case 8:
		part(c, p, func(a *Agg) {
			integer(c, &a.Func)
			c.bool(&a.Distinct)
			c.expr(&a.Arg)
		})
	case 9:
		part(c, p, func(m *Matched) { c.textMatch(&m.Match) })
	case 10:
		part(c, p, func(x *BM25) {
			c.prop(&x.Prop)
			c.expr(&x.Query)
		})
	case 11:
		part(c, p, func(x *Nearest) {
			c.prop(&x.Prop)
			c.expr(&x.Vector)
		})
	case 12:
		part(c, p, func(x *RRF) {
			c.expr(&x.First)
			c.expr(&x.Second)
			c.expr(&x.K)
		})
	case 13:
		part(c, p, func(x *Apply) {
			integer(c, &x.Func)
			slice(c, &x.Args, (*coder).expr)
			c.typ(&x.Type)
		})
	case 14:
		part(c, p, func(x *Test) { c.cond(&x.Cond) })
	case 15:
		part(c, p, func(x *Holds) {
			c.clause(&x.Block)
			slice(c, &x.Outer, integer[VarID])
		})
	case 16:
		part(c, p, c.blockAgg)
	case 17:
		part(c, p, c.blockRows)
	case 18:
		part(c, p, func(x *Member) {
			c.expr(&x.Of)
			c.string(&x.Name)
			c.typ(&x.Type)
		})
	case 30:
		part(c, p, func(x *WalkPart) {
			integer(c, &x.Var)
			integer(c, &x.Fact)
			integer(c, &x.From)
			integer(c, &x.To)
			if !x.Fact.Valid() {
				c.fail("a fact of number %d about a walk", x.Fact)
			}
		})
	case 31:
		part(c, p, func(x *Origin) {
			integer(c, &x.Var)
			integer(c, &x.Fact)
			if !x.Fact.Valid() {
				c.fail("a fact of number %d about an origin", x.Fact)
			}
		})
	case 40:
		part(c, p, func(x *Old) {
			c.string(&x.Name)
			c.typ(&x.Type)
		})
	case 41:
		part(c, p, func(x *KeyOf) {
			c.string(&x.Node)
			slice(c, &x.Key, (*coder).assign)
		})
	case 42:
		part(c, p, func(x *Cell) {
			integer(c, &x.Column)
			c.string(&x.Name)
			c.typ(&x.Type)
		})
	case 19:
		part(c, p, func(x *EndNode) {
			integer(c, &x.Var)
			c.bool(&x.To)
			c.string(&x.Interface)
		})
	case 43:
		part(c, p, func(x *NodeRef) {
			c.expr(&x.Type)
			c.expr(&x.ID)
		})
	default:
		if n != 0 || *p != nil {
			c.unnumbered("expression", n, *p)
		}
	}
}

// blockAgg encodes or decodes an aggregate over the matches of a block.
func (c *coder) blockAgg(x *BlockAgg) {
	integer(c, &x.Func)
	c.bool(&x.Distinct)
	slice(c, &x.Match, (*coder).clause)
	c.expr(&x.Arg)
	slice(c, &x.Outer, integer[VarID])
}

// blockRows encodes or decodes a `first` or `collect` block.
func (c *coder) blockRows(x *BlockRows) {
	c.bool(&x.First)
	slice(c, &x.Match, (*coder).clause)
	slice(c, &x.Columns, (*coder).column)
	slice(c, &x.Order, (*coder).order)
	slice(c, &x.Ties, integer[VarID])
	integer(c, &x.Limit)
	slice(c, &x.Outer, integer[VarID])
}

// unnumbered handles a type without a number. When encoding, that is a bug in this package. When
// decoding, the bytes are invalid.
func (c *coder) unnumbered(sum string, n byte, x any) {
	if !c.decoding {
		panic(fmt.Sprintf("plan: the encoding has no number for the %s %T", sum, x))
	}
	c.fail("a %s of number %d", sum, n)
}

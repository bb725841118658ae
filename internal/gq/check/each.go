package check

import (
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// This file checks the blocks of a mutation, which run their statements for each match or for each
// element of a list.

// eachScope is a block while the checker lowers its statements. Its methods accept a nil receiver,
// which means no block.
type eachScope struct {
	list bool       // the block runs for the elements of a list
	name string     // of a list: the name of the variable, without $
	elem value.Type // of a list: the type of an element, which may be a record

	read  *plan.Read     // of a match: its lowered form; the statements add columns
	scope *scope         // of a match: its variables
	cells map[string]int // of a match: the columns, by the printed form of their expressions
	facts Block          // facts for the linter
}

// Block holds facts about the source of a block of a mutation.
type Block struct {
	Vars    []Symbol // of a match: by plan.VarID of its read
	Element Symbol   // of a list: its variable
}

// has reports whether the block declares a variable.
func (e *eachScope) has(name string) bool {
	if e == nil {
		return false
	}
	if e.list {
		return name == e.name
	}
	_, ok := e.scope.find(name)
	return ok
}

// matchBlock checks and lowers a `match` block of a mutation.
func (c *checker) matchBlock(st *syntax.MatchBlock) (plan.ForEach, bool) {
	if c.nested(st.Range) {
		return plan.ForEach{}, false
	}
	each := &eachScope{read: &plan.Read{Limit: plan.NoLimit}, scope: &scope{vars: map[string]plan.VarID{}}, cells: map[string]int{}}
	c.within(each, func() {
		compares, tests := c.info.Compares, c.info.NullTests
		c.blockLimit(st.Limit)
		c.read.Match = c.block(st.Match, each.scope)
		c.columns = map[string]int{}
		c.order(st.Order, each.scope)
		c.columns = nil
		c.addTies()
		c.info.Compares, c.info.NullTests = compares, tests // the linter gets only those of reads
	})
	c.checkBlockMatch(st, each)
	out := plan.ForEach{Read: each.read, Statements: c.blockStatements(each, st.Statements)}
	if len(each.read.Columns) == 0 && len(each.read.Vars) > 0 {
		each.cell(plan.ID{Var: 0}, "id", value.Of(value.String))
	}
	return out, true
}

// blockLimit checks and lowers the limit of a `match` block.
func (c *checker) blockLimit(limit *syntax.Token) {
	if limit == nil {
		return
	}
	if limit.Type == syntax.Var {
		c.limitBy(*limit)
		return
	}
	n, ok := syntax.Large(*limit)
	if !ok || n > plan.MaxRows {
		c.fault(BadBlock, syntax.SpanOf(*limit), "write at most 10000", "the limit %s is above %d, the maximum number of rows of a match block", limit.Value, plan.MaxRows)
		return
	}
	c.read.Limit = n
}

// checkBlockMatch reports clauses that the match of a mutation cannot contain, and variables that already
// name an insert.
func (c *checker) checkBlockMatch(st *syntax.MatchBlock, each *eachScope) {
	(&syntax.Read{Match: st.Match, Order: st.Order}).Walk(func(cl syntax.Clause) {
		c.step(1)
		var at []syntax.Range
		switch cl := cl.(type) {
		case *syntax.Filter:
			if cl.Optional {
				at = append(at, cl.Range)
			}
		case *syntax.TextClause:
			if cl.Optional {
				at = append(at, cl.Range)
			}
		case *syntax.Binding:
			for _, m := range cl.Props {
				if m.Optional {
					at = append(at, m.Range)
				}
			}
		case *syntax.Traversal, *syntax.Not, *syntax.Exists, *syntax.Any, *syntax.All, *syntax.Optional:
		}
		for _, r := range at {
			c.fault(BadBlock, r.Span(), "remove the ?, or write a mutation for each case", "a condition in the match of a mutation cannot be optional, because without its argument the statements would run for other rows")
		}
	}, func(syntax.Operand) {})
	scores := false
	visit := func(e plan.Expr) { scores = scores || hasScore(e) }
	plan.WalkClauses(each.read.Match, visit)
	for _, o := range each.read.Order {
		visit(o.Expr)
	}
	if scores {
		c.fault(BadBlock, syntax.SpanOf(st.Tokens[0]), "find the keys with a query first, and pass them as a list: for $key in $keys { … }", "the match of a mutation cannot use bm25, nearest or rrf")
	}
	for i, v := range each.read.Vars {
		if _, taken := c.names.find(v.Name); taken && v.Name != "_" {
			c.fault(DuplicateName, each.facts.Vars[i].Span, "use another name", "$%s is already the name of an inserted entity", v.Name)
		}
	}
}

// listBlock checks and lowers a `for` block.
func (c *checker) listBlock(st *syntax.ListBlock) (plan.ForEach, bool) {
	if c.nested(st.Range) {
		return plan.ForEach{}, false
	}
	name, at := st.Var.Value[1:], syntax.SpanOf(st.Var)
	_, taken := c.names.find(name)
	if _, param := c.params[name]; param || taken {
		c.fault(DuplicateName, at, "use another name", "$%s is already the name of a parameter or of an inserted entity", name)
		return plan.ForEach{}, false
	}
	_, c.inFor = st.List.(*syntax.VarRef)
	list, ok := c.operand(st.List, nil)
	c.inFor = false
	if !ok {
		return plan.ForEach{}, false
	}
	if !list.typ.List || list.node != "" {
		c.fault(BadBlock, st.List.Source().Span(), "declare the parameter as a list, such as [String], or write a list such as [\"a\", \"b\"]", "for needs a list, found %s", list)
		return plan.ForEach{}, false
	}
	each := &eachScope{list: true, name: name, elem: list.typ.Elem().Required(), facts: Block{Element: Symbol{Span: at}}}
	return plan.ForEach{List: list.expr, Var: name, Statements: c.blockStatements(each, st.Statements)}, true
}

// nested reports the fault of a block inside another block.
func (c *checker) nested(r syntax.Range) bool {
	if c.each == nil {
		return false
	}
	c.fault(BadBlock, syntax.SpanOf(r.Tokens[0]), "put the block next to the other one", "a match or for block cannot contain another one")
	return true
}

// blockStatements lowers the statements of a block.
func (c *checker) blockStatements(each *eachScope, list []syntax.Statement) []plan.Statement {
	outer := c.names
	c.names, c.each = &scope{outer: outer, vars: map[string]plan.VarID{}}, each
	out := c.statements(list)
	c.names, c.each = outer, nil
	c.info.Blocks = append(c.info.Blocks, each.facts)
	return out
}

// within runs f with the read of a `match` block as the checker's read.
func (c *checker) within(e *eachScope, f func()) {
	read, vars := c.read, c.info.Vars
	c.read, c.info.Vars = e.read, e.facts.Vars
	f()
	e.facts.Vars = c.info.Vars
	c.read, c.info.Vars = read, vars
}

// cell returns a value of the row. It adds a column to the match unless the match has one with the same
// expression. The argument `name` is the expression as the query writes it.
func (e *eachScope) cell(expr plan.Expr, name string, t value.Type) plan.Cell {
	key := exprText(expr)
	i, ok := e.cells[key]
	if !ok {
		i = len(e.read.Columns)
		e.cells[key] = i
		e.read.Columns = append(e.read.Columns, plan.Column{Name: name, Expr: expr, Type: t})
	}
	return plan.Cell{Column: i, Name: name, Type: t}
}

// variable resolves a variable of the block. A node stands for its id. The result `found` is false if the block
// has no such variable.
func (e *eachScope) variable(c *checker, o *syntax.VarRef) (t typed, found, ok bool) {
	name := o.Tokens[0].Value[1:]
	if !e.has(name) {
		return typed{}, false, false
	}
	if e.list && e.elem.Fields != nil {
		e.facts.Element.Uses++
		c.fault(BadBlock, o.Span(), "write one of its fields, such as $"+name+"."+e.elem.Fields[0].Name, "$%s is a record, which is not a value", name)
		return typed{}, true, false
	}
	if e.list {
		e.facts.Element.Uses++
		return typed{expr: plan.Cell{Name: "$" + name, Type: e.elem}, typ: e.elem}, true, true
	}
	c.within(e, func() { t, ok = c.variable(o, e.scope) })
	if !ok {
		return t, true, false
	}
	id := value.Of(value.String)
	if t.typ.Nullable {
		id = id.Optional()
	}
	t.expr, t.typ = e.cell(plan.ID(t.expr.(plan.Whole)), "$"+name, id), id
	return t, true, true
}

// property resolves a property of a variable of the block. The result `found` is false if the block has no such
// variable.
func (e *eachScope) property(c *checker, o *syntax.PropRef) (t typed, found, ok bool) {
	name := o.Var.Value[1:]
	if !e.has(name) {
		return typed{}, false, false
	}
	if e.list && e.elem.Fields != nil {
		return e.field(c, o)
	}
	if e.list {
		e.facts.Element.Uses++
		c.fault(Unbound, syntax.SpanOf(o.Prop), "write $"+name, "$%s is an element of a list, which has no properties", name)
		return typed{}, true, false
	}
	c.within(e, func() { t, ok = c.property(o, e.scope) })
	switch {
	case !ok:
		return t, true, false
	case t.typ.Kind == value.Blob:
		c.fault(BlobValue, o.Span(), "", "a query cannot use a blob as a value")
		return t, true, false
	case t.end != "":
		c.fault(Incomparable, o.Span(), "use the variable at the end of the traversal", "%s is a %s, and a statement cannot use it", o.Var.Value+"."+o.Prop.Value, t.end)
		return t, true, false
	}
	t.expr = e.cell(t.expr, o.Var.Value+"."+o.Prop.Value, t.typ)
	return t, true, true
}

// field resolves a field of the record that is the element of the list.
func (e *eachScope) field(c *checker, o *syntax.PropRef) (t typed, found, ok bool) {
	e.facts.Element.Uses++
	for i, f := range e.elem.Fields {
		c.step(1)
		if f.Name == o.Prop.Value {
			return typed{expr: plan.Cell{Column: i, Name: o.Var.Value + "." + f.Name, Type: f.Type}, typ: f.Type}, true, true
		}
	}
	c.fault(Unbound, syntax.SpanOf(o.Prop), c.suggest(o.Prop.Value, func() []string {
		names := make([]string, len(e.elem.Fields))
		for i, f := range e.elem.Fields {
			names[i] = f.Name
		}
		return names
	}), "the records of the list have no field %s", o.Prop.Value)
	return typed{}, true, false
}

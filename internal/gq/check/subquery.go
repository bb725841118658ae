package check

import (
	"maps"
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// subquery resolves a subquery. Its clauses see the variables around it, but neither the columns of
// the result nor aggregates.
func (c *checker) subquery(o *syntax.Subquery, sc *scope) (typed, bool) {
	keyword := o.Keyword.Value
	at := syntax.SpanOf(o.Keyword)
	switch {
	case c.inHaving:
		c.fault(BadSubquery, at, "return the block as a column, as in "+keyword+" { … } as n, and write the name of the column: n",
			"having uses the columns of the result, not a %s block", keyword)
		return typed{}, false
	case c.depth == plan.MaxBlockDepth:
		c.fault(BadSubquery, at, "return the inner value in another query", "subqueries are nested more than %d deep", plan.MaxBlockDepth)
		return typed{}, false
	}
	columns, failed, aggregating := c.columns, c.failed, c.aggregating
	c.columns, c.failed, c.aggregating = nil, map[string]bool{}, false
	c.depth++
	defer func() {
		c.depth--
		c.columns, c.failed, c.aggregating = columns, failed, aggregating
	}()
	inner := &scope{outer: sc, vars: map[string]plan.VarID{}, subquery: true}
	match := c.block(o.Match, inner)
	if keyword == "first" || keyword == "collect" {
		return c.blockRows(o, match, inner)
	}
	return c.blockAgg(o, match, inner)
}

// outside lists the variables that a block uses and that are bound outside of it.
func (s *scope) outside() []plan.VarID { return slices.Sorted(maps.Keys(s.outerVars)) }

// blockAgg resolves an aggregate over the matches of a block. The scope sc is that of the block.
func (c *checker) blockAgg(o *syntax.Subquery, match []plan.Clause, sc *scope) (typed, bool) {
	row := plan.AggregateNamed(o.Keyword.Value)
	at := syntax.SpanOf(o.Keyword)
	switch {
	case o.Returns != nil:
		c.fault(BadSubquery, at, "write return and one value without braces: "+row.Name+" { … return $x.price }", "%s returns one value, not a record", row.Name)
		return typed{}, false
	case o.Order != nil || o.Limit != nil:
		c.fault(BadSubquery, at, "remove order and limit from the block", "%s takes neither order nor limit", row.Name)
		return typed{}, false
	case o.Value == nil && row.Func != plan.Count:
		c.fault(BadSubquery, at, "write the value: "+row.Name+" { … return $x.price }", "the %s block returns no value", row.Name)
		return typed{}, false
	case o.Distinct != nil && !row.Distinct:
		c.fault(BadAggregate, syntax.SpanOf(*o.Distinct), "remove distinct, or write count { … return distinct … }", "%s does not take distinct", row.Name)
		return typed{}, false
	}
	e := plan.BlockAgg{Func: row.Func, Distinct: o.Distinct != nil, Match: match}
	arg := typed{}
	if o.Value != nil {
		var ok bool
		if arg, ok = c.value(o.Value, sc); !ok || !c.accepts(row, arg, e.Distinct, o.Value.Source().Span()) {
			return typed{}, false
		}
		e.Arg = arg.expr
	}
	e.Outer = sc.outside()
	return typed{expr: e, typ: row.Result(arg.typ)}, true
}

// blockRows resolves a `first` or `collect` block. The scope sc is that of the block.
func (c *checker) blockRows(o *syntax.Subquery, match []plan.Clause, sc *scope) (typed, bool) {
	keyword := o.Keyword.Value
	at := syntax.SpanOf(o.Keyword)
	e := plan.BlockRows{First: keyword == "first", Match: match, Limit: 1}
	before := len(c.faults)
	switch {
	case o.Returns == nil:
		c.fault(BadSubquery, at, "write return and the fields in braces: "+keyword+" { … return { $x.name as name } … }", "the %s block returns no record", keyword)
		return typed{}, false
	case e.First && o.Limit != nil:
		c.fault(BadSubquery, syntax.SpanOf(*o.Limit), "remove the limit, or write collect { … } for a list", "first yields one record, so it takes no limit")
	case !e.First && o.Limit == nil:
		c.fault(BadSubquery, at, "add limit 10 at the end of the block", "a collect block needs a limit from 1 to %d", plan.MaxBlockRows)
	case !e.First:
		if e.Limit, _ = syntax.Large(*o.Limit); e.Limit < 1 || e.Limit > plan.MaxBlockRows {
			c.fault(BadSubquery, syntax.SpanOf(*o.Limit), "", "the limit of a collect block is %s, want 1 to %d", o.Limit.Value, plan.MaxBlockRows)
		}
	}
	// The methods `project` and `order` write into c.read. So let them fill empty fields of it,
	// move these to the block, and restore the fields of the read.
	outer := *c.read
	c.read.Columns, c.read.Grouped, c.read.Order = nil, false, nil
	c.project(o.Returns, sc)
	c.order(o.Order, sc)
	e.Columns, e.Order = c.read.Columns, c.read.Order
	c.read.Columns, c.read.Grouped, c.read.Order = outer.Columns, outer.Grouped, outer.Order
	var ties []plan.VarID
	for _, v := range sc.own {
		if c.read.Vars[v].Entity != plan.Walk {
			ties = append(ties, v)
		}
	}
	e.Ties, e.Outer = c.tieOrder(ties), sc.outside()
	return typed{expr: e, typ: e.Type(), fields: e.Fields()}, len(c.faults) == before
}

// accepts reports whether an aggregate accepts an argument. If it does not, accepts adds a fault. A condition is never null,
// so count without distinct would count all rows.
func (c *checker) accepts(row *plan.Aggregate, arg typed, distinct bool, at diag.Span) bool {
	switch {
	case isConstant(arg.expr):
		c.fault(BadAggregate, at, "", "the argument of %s is a constant, want a variable or a property", row.Name)
	case plan.HasAggregate(arg.expr):
		c.fault(BadAggregate, at, "", "the argument of %s is an aggregate", row.Name)
	case isTruth(arg.expr) && !distinct && row.Func != plan.Collect:
		c.fault(BadAggregate, at, "to count the rows for which it is true, write sum(if(…, 1, 0))", "the argument of %s is a condition", row.Name)
	case arg.end != "" && row.Arg.Nodes:
		return true
	case arg.end != "":
		property := "size"
		if row.Arg.Accepts(value.Of(value.String)) {
			property = "id"
		}
		c.fault(BadAggregate, at, "use the variable at the end of the traversal, as in "+row.Name+"($x."+property+")", "the argument of %s is the end of an edge, want %s", row.Name, row.Arg.Text)
	case arg.fields != nil, arg.node != "" && !row.Arg.Nodes, arg.node == "" && !row.Arg.Accepts(arg.typ):
		c.fault(BadAggregate, at, c.aggregateHelp(row, arg), "the argument of %s is %s, want %s", row.Name, arg, row.Arg.Text)
	default:
		return true
	}
	return false
}

// aggregateHelp names an argument that an aggregate accepts instead of `arg`. It is empty if there is none.
func (c *checker) aggregateHelp(row *plan.Aggregate, arg typed) string {
	whole, ok := arg.expr.(plan.Whole)
	if !ok {
		if arg.fields == nil && arg.typ.Required().Equal(value.Of(value.String)) {
			return "make a number of a text that contains one, as in " + row.Name + "(float($p.size)), or count the values"
		}
		return ""
	}
	v := c.read.Vars[whole.Var]
	for _, p := range c.nodeType(v).props {
		if row.Arg.Accepts(p.Type) {
			return "name a property of it: " + row.Name + "($" + v.Name + "." + p.Name + ")"
		}
	}
	return "count the nodes: count($" + v.Name + ")"
}

// inSubquery reports a call that a subquery must not contain.
func (c *checker) inSubquery(call *syntax.Call, help string) {
	c.fault(BadSubquery, call.Span(), help, "%s is inside a subquery", call.Name.Value)
}

// field resolves a field of a column that is a record.
func (c *checker) field(o *syntax.FieldRef, sc *scope) (typed, bool) {
	name, field := o.Column.Value, o.Field.Value
	i, ok := c.columns[name]
	if !ok {
		if c.failed[name] {
			return typed{}, false
		}
		help := ""
		if _, variable := sc.find(name); variable || c.columns == nil {
			help = "a variable starts with $: $" + name + "." + field
		} else {
			help = c.suggestColumn(name)
		}
		c.fault(Unbound, syntax.SpanOf(o.Column), help, "%s is not a column", name)
		return typed{}, false
	}
	col := c.read.Columns[i]
	switch {
	case col.Fields == nil:
		c.fault(Unbound, o.Span(), "write the name of the column: "+name, "the column %s is not a record, so it has no fields", name)
		return typed{}, false
	case col.Type.List:
		help := "write first { … } instead of collect { … } to use the fields of one record"
		if _, aggregate := col.Expr.(plan.Agg); aggregate {
			help = "list the values of one property, as in collect($x." + field + ")"
		}
		c.fault(Unbound, o.Span(), help, "the column %s is a list of records", name)
		return typed{}, false
	}
	at := slices.IndexFunc(col.Fields, func(f plan.Field) bool { return f.Name == field })
	if at < 0 {
		c.fault(Unbound, syntax.SpanOf(o.Field), c.suggest(field, func() []string { return fieldNames(col.Fields) }), "the column %s has no field %s", name, field)
		return typed{}, false
	}
	f := col.Fields[at]
	if e, end := col.Expr.(plan.EndNode); end {
		c.fault(Incomparable, o.Span(), endHelp, "%s is a %s, which is returned only as a whole", name, e.Interface)
		return typed{}, false
	}
	if f.Fields != nil {
		c.fault(Incomparable, o.Span(), "return the value as a column or field of its own", "%s.%s is a record", name, field)
		return typed{}, false
	}
	typ := f.Type
	if col.Type.Nullable {
		typ = typ.Optional()
	}
	w, whole := col.Expr.(plan.Whole)
	switch {
	case whole && at == 0:
		return typed{expr: plan.ID(w), typ: typ}, true
	case whole:
		return typed{expr: plan.Prop{Var: w.Var, Name: f.Name, Type: f.Type}, typ: typ}, true
	}
	return typed{expr: plan.Member{Of: col.Expr, Name: f.Name, Type: f.Type}, typ: typ}, true
}

// fieldNames returns the names of fields.
func fieldNames(fields []plan.Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}

// checkRecords reports each column with records in a read that groups its rows. The argument `at` has
// the places of the columns by name.
func (c *checker) checkRecords(at map[string]diag.Span) {
	if !c.read.Grouped {
		return
	}
	for _, col := range c.read.Columns {
		if _, records := col.Expr.(plan.BlockRows); records {
			c.fault(Uncorrelated, at[col.Name], "write count { … }, sum { … } and so on instead of aggregates, or remove distinct",
				"the column %s consists of records, and the query groups its rows by their values", col.Name)
		}
	}
}

// record describes a record or a list of records for messages.
func record(t value.Type) string {
	if t.List {
		return "a list of records"
	}
	return "a record"
}

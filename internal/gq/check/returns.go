package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// readQuery checks and lowers a read.
func (c *checker) readQuery(r *syntax.Read) {
	c.read = &plan.Read{Limit: plan.NoLimit}
	c.plan.Read = c.read
	switch {
	case r.Limit == nil:
	case r.Limit.Type == syntax.Var:
		c.limit = true
		c.limitBy(*r.Limit)
	default:
		c.limit = true
		c.read.Limit, _ = syntax.Large(*r.Limit)
	}
	if r.Valid != nil {
		c.valid(r.Valid)
	}
	sc := &scope{vars: map[string]plan.VarID{}}
	c.read.Match = c.block(r.Match, sc)
	c.read.Grouped = r.Distinct != nil
	c.project(r.Returns, sc)
	c.read.Having = c.having(r.Having)
	c.order(r.Order, sc)
	c.addTies()
}

// project lowers the projections.
func (c *checker) project(ps []*syntax.Projection, sc *scope) {
	taken := map[string]bool{}
	c.columns = map[string]int{}
	places := map[string]diag.Span{}
	for _, p := range ps {
		t, ok := c.value(p.Expr, sc)
		name, named := columnName(p)
		at := p.Expr.Source().Span()
		switch {
		case !named && ok:
			c.fault(DuplicateColumn, at, "name it with `as`", "the column has no name")
			continue
		case taken[name]:
			if p.Alias != nil {
				at = syntax.SpanOf(*p.Alias)
			}
			c.fault(DuplicateColumn, at, "rename one of them with `as`", "duplicate column %s", name)
			continue
		}
		taken[name] = named
		if !ok {
			c.failed[name] = true
			continue
		}
		if plan.HasAggregate(t.expr) {
			c.read.Grouped = true
		}
		places[name] = at
		col := plan.Column{Name: name, Expr: t.expr, Type: t.typ}
		if t.fields != nil {
			col.Fields = t.fields
		}
		if t.node != "" {
			col.Fields = c.returnsNode(t.nodeVar())
		}
		if a, ok := t.expr.(plan.Agg); ok {
			if w, ok := a.Arg.(plan.Whole); ok && a.Func == plan.Collect {
				col.Fields = c.returnsNode(c.read.Vars[w.Var])
			}
		}
		c.columns[name] = len(c.read.Columns)
		c.read.Columns = append(c.read.Columns, col)
	}
	c.checkGroups(places)
	c.checkRecords(places)
}

// returnsNode records that the read returns all properties of a variable's nodes except blobs. It lists the members of the
// objects that represent these nodes.
func (c *checker) returnsNode(v plan.Var) []plan.Field {
	n := c.nodeType(v)
	for _, p := range n.props {
		if p.Type.Kind != value.Blob {
			c.useNodeProp(n, p)
		}
	}
	return wholeFields(n.props)
}

// wholeFields lists the members of the object that represents a node with the given properties. A property called id is
// the key and therefore equals the id itself, so it is not listed twice.
func wholeFields(props []*catalog.Property) []plan.Field {
	fields := []plan.Field{{Name: "id", Type: value.Of(value.String)}}
	for _, p := range props {
		if p.Type.Kind != value.Blob && p.Name != "id" {
			fields = append(fields, plan.Field{Name: p.Name, Type: p.Type})
		}
	}
	return fields
}

// columnName returns the name of a column, and whether it has one.
func columnName(p *syntax.Projection) (string, bool) {
	if p.Alias != nil {
		return p.Alias.Value, true
	}
	return operandName(p.Expr)
}

// operandName returns the column name of an operand without an alias, and whether it has one.
func operandName(o syntax.Operand) (string, bool) {
	switch o := o.(type) {
	case *syntax.VarRef:
		return o.Tokens[0].Value[1:], true
	case *syntax.PropRef:
		return o.Var.Value[1:] + "." + o.Prop.Value, true
	case *syntax.AliasRef:
		return o.Tokens[0].Value, true
	case *syntax.Now:
		return "now", true
	case *syntax.ActorRef:
		return syntax.ActorFunction + "." + o.Name(), true
	case *syntax.OriginRef:
		if o.Fact == nil {
			return "", false
		}
		return syntax.OriginFunction + "." + o.Fact.Value, true
	case *syntax.Call:
		if plan.AggregateNamed(o.Name.Value) != nil && len(o.Args) == 1 {
			return operandName(o.Args[0])
		}
		if plan.FunctionNamed(o.Name.Value) != nil || o.Name.Value == syntax.TypeFunction {
			return "", false
		}
		return o.Name.Value, true
	case *syntax.Literal, *syntax.Binary, *syntax.Comparison, *syntax.Condition, *syntax.NodeKey, *syntax.Subquery, *syntax.FieldRef:
		return "", false
	}
	panic("check: operand has an unknown type")
}

// order lowers the sort keys.
func (c *checker) order(keys []*syntax.Ordering, sc *scope) {
	var grouping map[string]bool
	if c.read.Grouped && len(keys) > 0 {
		grouping = c.grouping()
	}
	for _, k := range keys {
		t, ok := c.sortKey(k.Expr, sc)
		if !ok {
			continue
		}
		at := k.Expr.Source().Span()
		if t.node != "" || t.typ.List || t.fields != nil || t.typ.Kind == value.Vector {
			help := "order by a scalar, such as a property"
			if t.end != "" {
				help = endHelp
			}
			c.fault(Incomparable, at, help, "%s cannot be ordered", t)
			continue
		}
		switch {
		case plan.HasAggregate(t.expr) && (!c.read.Grouped || c.distinct()):
			c.fault(Uncorrelated, at, "add an aggregate to the return clause", "the order clause uses an aggregate, but the return clause has none")
			continue
		case c.distinct() && !isGrouped(t.expr, grouping):
			c.fault(Uncorrelated, at, "return the expression as a column", "the order clause uses an expression that return distinct does not return")
			continue
		case c.read.Grouped && !isGrouped(t.expr, grouping):
			c.fault(Uncorrelated, at, "add the expression to the return clause as a grouping key, or order by an aggregate", "the order clause uses an expression that is not a grouping key")
			continue
		}
		c.read.Order = append(c.read.Order, plan.Order{Expr: t.expr, Desc: descending(k.Dir, t.expr)})
	}
}

// distinct reports whether the read returns each combination of its columns once and has no aggregate.
func (c *checker) distinct() bool {
	return c.read.Grouped && !slices.ContainsFunc(c.read.Columns, func(col plan.Column) bool { return plan.HasAggregate(col.Expr) })
}

// sortKey resolves a sort key. A bare name refers to a column.
func (c *checker) sortKey(o syntax.Operand, sc *scope) (typed, bool) {
	alias, ok := o.(*syntax.AliasRef)
	if !ok {
		return c.value(o, sc)
	}
	name := alias.Tokens[0].Value
	return c.column(name, alias.Span(), func() string { return c.suggestColumn(name) })
}

// suggestColumn returns the help for a name that is no column.
func (c *checker) suggestColumn(name string) string {
	if plan.AggregateNamed(name) == nil && plan.FunctionNamed(name) == nil {
		return c.suggest(name, c.columnNames)
	}
	// The author expects the column of an aggregate to have the name of the aggregate.
	names := c.columnNames()
	if len(names) > maxColumnNames {
		names = append(names[:maxColumnNames:maxColumnNames], "…")
	}
	c.step(len(c.read.Columns))
	return "name the column, as in count($p) as n; the columns are called " + strings.Join(names, ", ")
}

// maxColumnNames bounds the number of columns that a help line lists.
const maxColumnNames = 8

// columnNames returns the names of the columns.
func (c *checker) columnNames() []string {
	names := make([]string, len(c.read.Columns))
	for i, col := range c.read.Columns {
		names[i] = col.Name
	}
	return names
}

// grouping returns the set of the expressions in the columns, each in its printed form. An
// expression contains slices, so it cannot be a map key itself.
func (c *checker) grouping() map[string]bool {
	set := make(map[string]bool, len(c.read.Columns))
	for _, col := range c.read.Columns {
		if !plan.HasAggregate(col.Expr) {
			set[exprText(col.Expr)] = true
		}
	}
	return set
}

// exprText prints an expression so that equal expressions have the same text.
func exprText(e plan.Expr) string { return fmt.Sprintf("%#v", e) }

// descending reports whether a sort key sorts in descending order. Without an explicit
// direction, relevance scores sort best first.
func descending(dir *syntax.Token, e plan.Expr) bool {
	if dir != nil {
		return dir.Value == "desc"
	}
	switch e.(type) {
	case plan.BM25, plan.RRF:
		return true
	}
	return false
}

// addTies adds the variables of nodes and edges, whose ids break ties between rows.
func (c *checker) addTies() {
	var ties []plan.VarID
	for i := range c.read.Vars {
		if !c.info.Vars[i].Inner && c.read.Vars[i].Entity != plan.Walk {
			ties = append(ties, plan.VarID(i))
		}
	}
	c.read.Ties = c.tieOrder(ties)
}

// tieOrder sorts and returns the variables that break ties: named ones come first, by name.
func (c *checker) tieOrder(ties []plan.VarID) []plan.VarID {
	slices.SortStableFunc(ties, func(a, b plan.VarID) int {
		na, nb := c.read.Vars[a].Name, c.read.Vars[b].Name
		switch {
		case na == "_" && nb == "_":
			return cmp.Compare(c.info.Vars[a].Span.Start.Offset, c.info.Vars[b].Span.Start.Offset)
		case na == "_":
			return 1
		case nb == "_":
			return -1
		}
		return cmp.Compare(na, nb)
	})
	return ties
}

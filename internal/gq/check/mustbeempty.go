package check

import (
	"strings"
	"unicode/utf8"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// maxCheckTitle is the maximum number of characters in the text of @must_be_empty.
const maxCheckTitle = 200

// mustBeEmpty checks @must_be_empty on a query. REQUIRES: the body of the query has been lowered.
func (c *checker) mustBeEmpty(q *syntax.Query) {
	var first *syntax.QueryAnnotation
	for _, a := range q.Annotations {
		if a.Name.Value != "must_be_empty" {
			continue
		}
		c.step(1)
		if first != nil {
			c.fault(BadCheck, a.Span(), "remove one of them", "the query has @must_be_empty twice, first at %s", first.Span())
			continue
		}
		first = a
		text, at := syntax.Text(a.Text), syntax.SpanOf(a.Text)
		switch {
		case strings.TrimSpace(text) == "":
			c.fault(BadCheck, at, "say what the check demands, such as: Every decision rests on a document.", "the text of @must_be_empty is empty")
		case strings.ContainsAny(text, "\r\n") || utf8.RuneCountInString(text) > maxCheckTitle:
			c.fault(BadCheck, at, "shorten it, and put the rest into @description", "the text of @must_be_empty must be one line of at most %d characters", maxCheckTitle)
		}
	}
	if first == nil {
		return
	}
	read, ok := q.Body.(*syntax.Read)
	if !ok {
		c.fault(BadCheck, first.Span(), "write a read that returns the rows that must not exist", "a mutation cannot be a check")
		return
	}
	if q.AsOf != nil {
		c.fault(BadTime, q.AsOf.Span(), "leave as of out", "a check is about the state that it runs on, so it cannot be as of an instant")
	}
	c.callerInCheck()
	for i := range plan.Declared(c.plan.Params) {
		if p := &c.plan.Params[i]; !p.Optional() && i < len(q.Params) {
			c.fault(BadCheck, syntax.SpanOf(q.Params[i].Var), "add a @default, or replace the parameter by a literal", "a check is run without arguments, but $%s is required", p.Name)
		}
	}
	limit := c.read.Limit
	if by := c.read.LimitBy; by != nil && !c.plan.Params[by.Index].Default.IsNull() {
		limit = c.plan.Params[by.Index].Default.Int() // a check is run without arguments
	}
	switch {
	case limit == 0:
		c.fault(BadCheck, syntax.SpanOf(*read.Limit), "write a larger limit, or none", "with limit 0, the check always passes")
	case read.Having == nil && onlyAggregates(c.read):
		c.fault(BadCheck, first.Span(), "return the entities instead, or add a having clause", "aggregates without a grouping column always return one row, so the check never passes")
	}
}

// onlyAggregates reports whether each column of a read has an aggregate. Such a read without `having`
// returns exactly one row.
func onlyAggregates(r *plan.Read) bool {
	for _, col := range r.Columns {
		if !plan.HasAggregate(col.Expr) {
			return false
		}
	}
	return len(r.Columns) > 0
}

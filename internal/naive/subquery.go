package naive

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// blockMatches finds every match of the clauses of a subquery in the environment.
func (ev *evaluation) blockMatches(clauses []plan.Clause) [][]*entity {
	inner := *ev
	inner.members = nil
	inner.env = slices.Clone(ev.env)
	if ev.g.fault == SubqueryUnbound {
		clear(inner.env)
	}
	if inner.overNull(clauses) {
		return nil
	}
	var matches [][]*entity
	inner.extended(clauses, func() {
		m := slices.Clone(inner.env)
		for v := range m {
			if m[v] == nil { // an unused outer variable, with the fault SubqueryUnbound
				m[v] = ev.env[v]
			}
		}
		matches = append(matches, m)
	})
	return matches
}

// blockAgg evaluates an aggregate over the matches of a block.
func (ev *evaluation) blockAgg(e plan.BlockAgg) value.Value {
	matches := ev.blockMatches(e.Match)
	if ev.g.fault == SubqueryOnce && len(matches) > 1 {
		matches = matches[:1]
	}
	if e.Arg == nil {
		return value.OfI64(int64(len(matches)))
	}
	inner := *ev
	inner.members = nil
	return inner.aggregate(plan.Agg{Func: e.Func, Distinct: e.Distinct, Arg: e.Arg}, matches)
}

// blockRows returns the records of a `first` or `collect` block, in order.
func (ev *evaluation) blockRows(e plan.BlockRows) []cell {
	inner := *ev
	inner.members = nil
	var rows []row
	for _, m := range ev.blockMatches(e.Match) {
		inner.env = m
		r := row{}
		for _, c := range e.Columns {
			r.cells = append(r.cells, inner.cell(c))
		}
		for _, o := range e.Order {
			r.keys = append(r.keys, inner.eval(o.Expr))
		}
		for _, v := range e.Ties {
			r.ties = append(r.ties, ev.tie(v, m)...)
		}
		rows = append(rows, r)
	}
	ev.err = inner.err
	slices.SortStableFunc(rows, func(a, b row) int { return ev.compareBy(e.Order, a, b) })
	if ev.g.fault == FirstIsLast && e.First {
		slices.Reverse(rows)
	}
	limit := int(e.Limit)
	if ev.g.fault == BlockLimitOff && !e.First {
		limit++
	}
	var records []cell
	for _, r := range rows[:min(limit, len(rows))] {
		records = append(records, cell{fields: r.cells})
	}
	return records
}

// member evaluates a field of a record.
func (ev *evaluation) member(e plan.Member) value.Value {
	block := e.Of.(plan.BlockRows)
	records := ev.blockRows(block)
	if len(records) == 0 {
		return value.Null
	}
	at := slices.IndexFunc(block.Columns, func(c plan.Column) bool { return c.Name == e.Name })
	return records[0].fields[at].value
}

// records makes a column of cells. The column may have records.
func records(t value.Type, fields []plan.Field, cells []cell) engine.Column {
	switch {
	case fields == nil:
		return column(t, len(cells), func(i int) value.Value { return cells[i].value })
	case t.List:
		out := engine.Column{Type: t, Offsets: []int32{0}}
		var all []cell
		for _, c := range cells {
			all = append(all, c.list...)
			out.Offsets = append(out.Offsets, int32(len(all)))
		}
		out.Fields = recordFields(fields, all)
		return out
	}
	out := engine.Column{Type: t, Fields: recordFields(fields, cells)}
	if slices.ContainsFunc(cells, cell.isNull) {
		out.Valid = engine.NewBitmap(len(cells))
		for i, c := range cells {
			if !c.isNull() {
				out.Valid.Set(i)
			}
		}
	}
	return out
}

// recordFields makes a column for each field of the records.
func recordFields(fields []plan.Field, list []cell) []engine.Column {
	out := make([]engine.Column, len(fields))
	for f, field := range fields {
		cells := make([]cell, len(list))
		for i, r := range list {
			if r.fields != nil {
				cells[i] = r.fields[f]
			}
		}
		out[f] = records(field.Type, field.Fields, cells)
	}
	return out
}

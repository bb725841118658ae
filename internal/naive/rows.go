package naive

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// cell is a value, a record or a list of records.
type cell struct {
	value  value.Value // null for records
	fields []cell      // of a record that is not null
	list   []cell      // of a list of records: the records
}

// isNull reports whether a record is null.
func (c cell) isNull() bool { return c.fields == nil }

// row is a row with its sort keys.
type row struct {
	cells []cell        // by column
	keys  []value.Value // sort keys
	ties  []value.Value // values that break ties of keys
	match []*entity     // the match, if the row is not a group
}

// rows evaluates the whole read.
func (ev *evaluation) rows() ([][]cell, error) {
	r := ev.query.Read
	if err := checkPatterns(ev.query, ev.args); err != nil {
		return nil, err
	}
	limit := int(r.LimitOf(ev.args))
	if r.LimitBy != nil && ev.g.fault == LimitIsBound {
		limit = int(r.Limit)
	}
	if limit >= 0 && ev.g.fault == LimitOff {
		limit++
	}
	matches := ev.all(r.Match)
	if ev.g.fault == FilterLate && limit >= 0 {
		matches = ev.all(without[plan.Filter](r.Match))
	}
	matches, err := ev.rank(matches)
	if err != nil {
		return nil, err
	}
	var rows []row
	if r.Grouped {
		rows = ev.groups(matches)
	} else {
		for _, m := range matches {
			if r := ev.row(m); ev.having() {
				rows = append(rows, r)
			}
		}
	}
	if ev.g.fault == LimitFirst && limit >= 0 && limit < len(rows) {
		rows = rows[:limit]
	}
	slices.SortStableFunc(rows, ev.compareRows)
	ev.more = limit > 0 && limit < len(rows) && ev.g.fault != CutUnsaid
	if limit >= 0 && limit < len(rows) {
		rows = rows[:limit]
	}
	if ev.g.fault == FilterLate && limit >= 0 && !r.Grouped {
		rows = slices.DeleteFunc(rows, func(r row) bool { return !ev.passes(r.match) })
	}
	cells := make([][]cell, len(rows))
	for i, r := range rows {
		cells[i] = r.cells
	}
	return cells, ev.err
}

// all returns the assignments.
func (ev *evaluation) all(clauses []plan.Clause) [][]*entity {
	var matches [][]*entity
	ev.env = make([]*entity, len(ev.query.Read.Vars))
	ev.extended(clauses, func() {
		for range ev.repeats(clauses) {
			matches = append(matches, slices.Clone(ev.env))
		}
	})
	return matches
}

// passes reports whether the filters hold for a match.
func (ev *evaluation) passes(match []*entity) bool {
	ev.env = match
	return !slices.ContainsFunc(ev.query.Read.Match, func(c plan.Clause) bool {
		f, isFilter := c.(plan.Filter)
		return isFilter && !ev.isTrue(f.Cond)
	})
}

// repeats returns how often an assignment counts. It is 1 unless the model has the fault
// ParallelRows.
func (ev *evaluation) repeats(clauses []plan.Clause) int {
	n := 1
	if ev.g.fault == ParallelRows {
		for _, c := range clauses {
			if t, ok := c.(plan.Traverse); ok && t.EdgeVar == plan.NoVar && !t.Walk {
				n *= ev.parallels(t)
			}
		}
	}
	return n
}

// compareRows compares the sort keys of two rows, and then the values that break ties.
func (ev *evaluation) compareRows(a, b row) int { return ev.compareBy(ev.query.Read.Order, a, b) }

// compareBy compares two rows by sort keys, and then by the values that break ties.
func (ev *evaluation) compareBy(keys []plan.Order, a, b row) int {
	for i, o := range keys {
		c := order(a.keys[i], b.keys[i])
		if ev.g.fault == NullsLast && a.keys[i].IsNull() != b.keys[i].IsNull() && !o.Desc {
			c = -c
		}
		if o.Desc {
			c = -c
		}
		if c != 0 {
			return c
		}
	}
	c := slices.CompareFunc(a.ties, b.ties, order)
	if ev.g.fault == TiesReversed {
		return -c
	}
	return c
}

// row makes the row of one assignment.
func (ev *evaluation) row(env []*entity) row {
	ev.env = env
	out := row{match: env}
	for _, c := range ev.query.Read.Columns {
		out.cells = append(out.cells, ev.cell(c))
	}
	for _, o := range ev.query.Read.Order {
		out.keys = append(out.keys, ev.eval(o.Expr))
	}
	for _, v := range ev.query.Read.Ties {
		out.ties = append(out.ties, ev.tie(v, env)...)
	}
	return out
}

// cell evaluates a column for the current match.
func (ev *evaluation) cell(c plan.Column) cell {
	switch e := c.Expr.(type) {
	case plan.Whole:
		return ev.whole(e, c.Fields)
	case plan.EndNode:
		return ev.endCell(e)
	case plan.BlockRows:
		records := ev.blockRows(e)
		switch {
		case !e.First:
			return cell{list: records}
		case len(records) == 0:
			return cell{}
		}
		return records[0]
	}
	return cell{value: ev.eval(c.Expr)}
}

// whole returns a whole node as a record.
func (ev *evaluation) whole(w plan.Whole, of []plan.Field) cell {
	e := ev.env[w.Var]
	if e == nothing {
		return cell{}
	}
	fields := make([]cell, len(of))
	for i, f := range of {
		switch {
		case i > 0:
			fields[i].value = ev.eval(plan.Prop{Var: w.Var, Name: f.Name, Type: f.Type})
		case ev.g.fault == WholeWithoutID:
			fields[i].value = value.OfString("")
		default:
			fields[i].value = idOf(e)
		}
	}
	return cell{fields: fields}
}

// groups makes the rows of a read with aggregates: one for each combination of values of the other
// columns, or a single row if there are no other columns.
func (ev *evaluation) groups(matches [][]*entity) []row {
	r := ev.query.Read
	var keyColumns []plan.Column
	for _, c := range r.Columns {
		if !plan.HasAggregate(c.Expr) {
			keyColumns = append(keyColumns, c)
		}
	}
	type group struct {
		key     []value.Value
		members [][]*entity
	}
	var groups []*group
	if len(keyColumns) == 0 && ev.g.fault != NoEmptyGroup {
		groups = []*group{{}}
	}
	for _, m := range matches {
		ev.env = m
		var key []value.Value
		for _, c := range keyColumns {
			if w, whole := c.Expr.(plan.Whole); whole {
				key = append(key, ev.tie(w.Var, m)...)
			} else if e, end := c.Expr.(plan.EndNode); end {
				key = append(key, ev.endNode(e))
			} else {
				key = append(key, ev.cell(c).value)
			}
		}
		if ev.g.fault == NullGroupDropped && slices.ContainsFunc(key, value.Value.IsNull) {
			continue
		}
		i := slices.IndexFunc(groups, func(g *group) bool { return slices.EqualFunc(g.key, key, same) })
		if i < 0 || ev.g.fault == DistinctRepeats && len(keyColumns) == len(r.Columns) {
			i = len(groups)
			groups = append(groups, &group{key: key})
		}
		groups[i].members = append(groups[i].members, m)
	}
	var rows []row
	for _, g := range groups {
		one := row{ties: g.key}
		for _, c := range r.Columns {
			ev.enter(g.members)
			if a, ok := c.Expr.(plan.Agg); ok && c.Fields != nil {
				one.cells = append(one.cells, ev.nodeRecords(a, c.Fields))
			} else if plan.HasAggregate(c.Expr) {
				one.cells = append(one.cells, cell{value: ev.eval(c.Expr)})
			} else {
				one.cells = append(one.cells, ev.cell(c))
			}
		}
		for _, o := range r.Order {
			ev.enter(g.members)
			one.keys = append(one.keys, ev.eval(o.Expr))
		}
		if ev.enter(g.members); ev.having() {
			rows = append(rows, one)
		}
	}
	ev.members = nil
	return rows
}

// having reports whether the conditions of `having` hold for the current match or group.
func (ev *evaluation) having() bool {
	switch {
	case ev.g.fault == HavingIgnored:
		return true
	case ev.g.fault == HavingIsAny && len(ev.query.Read.Having) > 0:
		return slices.ContainsFunc(ev.query.Read.Having, ev.holds)
	}
	return !slices.ContainsFunc(ev.query.Read.Having, func(c plan.Clause) bool { return !ev.holds(c) })
}

// enter selects a group for the evaluation of expressions. Aggregates then see all matches of the
// group, and other expressions see the first one. The single group of a read without matches has no
// first match.
func (ev *evaluation) enter(members [][]*entity) {
	ev.members = members
	if ev.members == nil {
		ev.members = [][]*entity{}
	}
	if len(members) > 0 {
		ev.env = members[0]
	}
}

// ofGroup evaluates an aggregate over the matches of the group.
func (ev *evaluation) ofGroup(a plan.Agg) value.Value {
	members, env := ev.members, ev.env
	ev.members = nil // aggregates do not nest
	v := ev.aggregate(a, members)
	ev.members, ev.env = members, env
	return v
}

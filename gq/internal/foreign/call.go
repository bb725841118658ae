package foreign

import (
	"slices"
	"strconv"
	"strings"
)

// call is CALL with an order or a limit. For each row, it has the first of its own rows: a block with records.
type call struct {
	read
	columns  []column
	vars     []string // the variables that it binds, as this language writes them
	imported []string // the variables that it uses
	optional bool     // a row without rows of the call stays
}

// keep notes a call whose rows have an order or a limit. The columns after it become blocks when the text is complete.
func (r *rewriter) keep(c *call, before []string) {
	for _, v := range r.order {
		if !slices.Contains(before, v) {
			c.vars = append(c.vars, lower(v))
		} else if mentionsVar(join(c.match), "$"+lower(v)) {
			c.imported = append(c.imported, lower(v))
		}
	}
	limit, err := strconv.Atoi(c.limit)
	refuse(err != nil || limit < 1 || limit > 1000 || len(c.imported) == 0 || len(c.vars) == 0)
	for _, col := range c.columns {
		refuse(aggregated(col.text) || col.fromWith)
		if col.alias != "" {
			r.values[col.alias] = col.text
		}
	}
	for i, key := range c.sort { // the block has other columns
		name := key[:wordLen(key)]
		for _, col := range c.columns {
			if name != "" && col.alias == name {
				c.sort[i] = col.text + key[len(name):]
			}
		}
	}
	if !c.optional {
		r.match = append(r.match, cond{op: "exists", subs: c.match})
	}
	r.spend(join(c.match))
	r.calls = append(r.calls, c)
}

// uses reports whether an expression has a variable that the call binds.
func (c *call) uses(e string) bool {
	return slices.ContainsFunc(c.vars, func(v string) bool { return mentionsVar(e, "$"+v) })
}

// block writes the block with the fields of the rows of the call: a list.
func (c *call) block(fields []string) string {
	out := " { " + join(c.match) + " return { " + strings.Join(fields, ", ") + " }"
	if len(c.sort) > 0 {
		out += " order { " + strings.Join(c.sort, ", ") + " }"
	}
	return "collect" + out + " limit " + c.limit + " }"
}

// expandCalls writes the columns that use calls as blocks.
func (r *rewriter) expandCalls() {
	for _, c := range r.calls {
		refuse(len(r.having)+len(r.groups)+len(r.windows) > 0 || r.distinct)
		for _, m := range r.match {
			if text := m.render(false); text != "exists { "+join(c.match)+" }" && c.uses(text) {
				panic(giveUp{})
			}
		}
		r.expandCall(c)
	}
}

// expandCall writes the columns that use a call. They collect its rows.
func (r *rewriter) expandCall(c *call) {
	columns := slices.DeleteFunc(slices.Clone(r.computed), func(c column) bool { return c.fromWith })
	refuse(len(columns) != len(r.columns))
	var out []string
	for i, col := range columns {
		if l := r.listingOf(col.text); l != nil && c.uses(strings.Join(l.columns, " ")) {
			refuse(len(l.sort) > 0 || l.limit != "1000")
			r.listings = slices.DeleteFunc(slices.Clone(r.listings), func(o *listing) bool { return o == l })
			out = append(out, r.listOfCall(c, columns, col, l.columns))
			continue
		}
		refuse(c.uses(col.text) || aggregated(col.text) && !strings.Contains(col.text, "{")) // the rows are no longer those of the call
		out = append(out, r.columns[i])
	}
	refuse(slices.ContainsFunc(r.sort, c.uses))
	r.columns, r.computed = out, nil
	for _, o := range out {
		r.computed = append(r.computed, column{text: o})
	}
}

// listOfCall writes a list of the rows of a call, which a text collects for each of the nodes that the call uses.
func (r *rewriter) listOfCall(c *call, columns []column, col column, fields []string) string {
	if col.alias == "" || !slices.ContainsFunc(columns, func(o column) bool {
		return slices.ContainsFunc(c.imported, func(v string) bool { return strings.HasPrefix(o.text, "$"+v+".") || o.text == "$"+v })
	}) {
		panic(giveUp{})
	}
	r.note("a collect block lists records")
	return c.block(fields) + " as " + col.alias
}

// listingOf returns the listing of which an expression is the mark, or nil.
func (r *rewriter) listingOf(e string) *listing {
	for _, l := range r.listings {
		if l.mark == e {
			return l
		}
	}
	return nil
}

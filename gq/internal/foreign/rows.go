package foreign

import (
	"slices"
	"strings"
)

// rowsOfBlock ends the WITH before the first statement of a mutation: its aggregates become blocks of the match, and its
// order and its limit choose the rows for which the statements run.
func (r *rewriter) rowsOfBlock() {
	if slices.ContainsFunc(r.computed, func(c column) bool { return c.fromWith && aggregated(c.text) }) {
		early := r.early
		r.early = false
		r.groupsBeforeMatch()
		r.early = early
	}
	r.blockSort, r.blockLimit = r.sort, r.limit
	r.sort, r.limit = nil, ""
}

// blockRows writes the order and the limit of the match of a mutation.
func (r *rewriter) blockRows() (out string) {
	refuse(r.skip != "" || strings.HasPrefix(r.blockLimit, "$"))
	if len(r.blockSort) > 0 && r.blockLimit != "" {
		out = " order { " + strings.Join(r.blockSort, ", ") + " }"
	}
	if r.blockLimit != "" {
		out += " limit " + r.blockLimit
	}
	return out
}

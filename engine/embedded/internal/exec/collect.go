package exec

import (
	"cmp"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
)

// collector takes the rows of a match and keeps the result: its rows, or one row for each
// group. Afterwards perm lists them in order.
type collector struct {
	*eval.Evaluator
	rows  eval.Frame // the result's rows, or one row of each group
	more  bool       // the limit cut rows off; known after finish
	ahead uint32     // keeps the compiler from removing prefetches
	// counted is the number of rows that steps of type multiply have counted for a read that returns only counts.
	counted int64
	sorter
	grouper
	fuser

	countsOnly bool // the read returns only counts of all its rows

	// blocks runs the conditions of `having` and the blocks within columns.
	blocks interface {
		// having returns the rows of a frame that satisfy condition number i of `having`, among the rows of a set.
		having(i int, f *eval.Frame, among eval.RowSet) (eval.RowSet, error)
		// recordsColumn returns the column of a `first` or `collect` block for the rows of a frame.
		recordsColumn(c *ir.Projection, f *eval.Frame) (engine.Column, error)
		// nest counts n records of a column toward the limit of a batch.
		nest(n int, column string) error
		// startBatch forgets the records of the batch before.
		startBatch()
	}
	passedHaving []uint32 // rows that satisfy the conditions of `having`
	passed       int64    // number of such rows in the run
}

// newCollector returns a collector for the runs of a query. The argument `countsOnly` says whether the read returns only counts of all its rows.
func newCollector(ev *eval.Evaluator, countsOnly bool) collector {
	co := collector{Evaluator: ev, countsOnly: countsOnly, sorter: newSorter(ev.Query), grouper: newGrouper(ev.Query), fuser: newFuser(ev.Query)}
	co.rows.Cols = make([][]uint32, ev.Width())
	return co
}

// begin empties the collector for a new run.
func (co *collector) begin() {
	for v := range co.rows.Cols {
		co.rows.Cols[v] = co.rows.Cols[v][:0]
	}
	co.rows.N, co.perm, co.more, co.counted, co.passed = 0, co.perm[:0], false, 0, 0
	co.grouper.begin()
	co.fuser.begin()
}

// pruneAt is the least number of collected rows at which pruning to the limit starts.
const pruneAt = 8192

// collect collects the rows that the match yields.
func (co *collector) collect(f *eval.Frame) error {
	if co.countsOnly {
		co.counted += int64(f.N)
		return nil
	}
	if co.Read.Grouped {
		return co.group(f)
	}
	if len(co.Havings) > 0 {
		if err := co.filter(f); err != nil || f.N == 0 {
			return err
		}
	}
	if err := co.Spend(4 * f.N * (len(co.Keep) + 1)); err != nil {
		return err
	}
	for _, v := range co.Keep {
		co.rows.Cols[v] = append(co.rows.Cols[v], f.Cols[v][:f.N]...)
	}
	co.rows.N += f.N
	if limit := co.MaxRows; limit >= 0 && prunes(co.rows.N, limit) {
		if err := co.sort(); err != nil {
			return err
		}
		co.permute(int(limit))
		co.more = true
	}
	return nil
}

// tally counts rows of a read that returns only their number.
func (co *collector) tally(rows int) {
	if rows == 0 {
		return
	}
	if co.grouped == 0 {
		co.grouped++
		co.rows.N++
		co.addGroup()
	}
	for i := range co.sums {
		co.sums[i].counts[0] += int64(rows)
	}
}

// prunes reports whether to cut this many collected rows down to the limit. It reports true
// rarely enough that the total work is proportional to the number of rows.
func prunes(rows int, limit int64) bool { return rows >= pruneAt && int64(rows)/4 >= limit }

// finish sorts the collected rows and cuts them to the limit.
func (co *collector) finish() error {
	co.tally(int(co.counted))
	if co.Read.Grouped && co.grouped == 0 && !slices.ContainsFunc(co.Columns, func(c ir.Projection) bool { return c.IsKey() }) {
		co.grouped++
		co.rows.N++
		co.addGroup()
	}
	order := co.sort
	if co.Read.Grouped {
		order = co.sortGroups
	}
	co.readRows()
	rows := co.rows.N
	if co.Read.Grouped && len(co.Havings) > 0 {
		if err := co.filterGroups(); err != nil {
			return err
		}
		if !fault.On(fault.CutBefore) {
			rows = len(co.leadingGroups)
		}
	}
	// Each step that stops early yields one row more than the limit, so rows were cut off if and
	// only if more were collected. rows.n counts the groups of a grouped read.
	co.more = co.more || co.MaxRows > 0 && int64(rows) > co.MaxRows
	if err := cmp.Or(order(), co.TextErr); err != nil {
		return err
	}
	if limit := co.MaxRows; limit >= 0 && int64(len(co.perm)) > limit {
		co.perm = co.perm[:limit]
	}
	return nil
}

// permute reduces the collected rows to the first n rows of perm, in that order.
func (co *collector) permute(n int) {
	n = min(n, len(co.perm))
	for _, v := range co.Keep {
		col := co.rows.Cols[v]
		co.moved = slices.Grow(co.moved[:0], n)[:n]
		for i, p := range co.perm[:n] {
			co.moved[i] = col[p]
		}
		co.rows.Cols[v] = append(col[:0], co.moved...)
	}
	co.Spent -= int64(4 * (co.rows.N - n) * (len(co.Keep) + 1))
	co.rows.N = n
}

// Package sink turns the rows that a match yields into the rows of a result.
package sink

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
)

// Collector takes the rows of a match and keeps the result: its rows, or one row for each
// group. Afterwards Perm lists them in order.
type Collector struct {
	*eval.Evaluator
	Rows  eval.Frame // the result's rows, or one row of each group
	More  bool       // the limit cut rows off; known after Finish
	Ahead uint32     // keeps the compiler from removing prefetches
	// Counted is the number of rows that steps of type multiply have counted for a read that returns only counts.
	Counted int64
	sorter
	grouper
	fuser

	countsOnly bool // the read returns only counts of all its rows

	// Runner runs the conditions of `having` and the blocks within columns.
	Runner interface {
		// Having returns the rows of a frame that satisfy condition number i of `having`, among the rows of a set.
		Having(i int, f *eval.Frame, among eval.RowSet) (eval.RowSet, error)
		// RecordsColumn returns the column of a `first` or `collect` block for the rows of a frame.
		RecordsColumn(c *ir.Projection, f *eval.Frame) (engine.Column, error)
		// Nest counts n records of a column toward the limit of a batch.
		Nest(n int, column string) error
		// StartBatch forgets the records of the batch before.
		StartBatch()
	}
	passedHaving []uint32 // rows that satisfy the conditions of `having`
	Passed       int64    // number of such rows in the run
}

// aheadMost limits prefetching before a sort: properties are prefetched only if at most this many
// rows were collected. The caches hold about that many rows, together with the other data.
const aheadMost = 64

// readRows prefetches the properties of the collected rows before they are sorted.
func (co *Collector) readRows() {
	n := co.Rows.N
	// A step that stops early yields one row more than the limit.
	if n < 2 || n > aheadMost || co.Read.Grouped || co.MaxRows >= 0 && int64(n)-1 > co.MaxRows {
		return
	}
	var sum uint32
	for _, v := range co.Keep {
		if props := co.Reads[v]; props != nil {
			table, ords := co.Table(v), co.Rows.Cols[v][:n]
			if !co.Read.Vars[v].Optional {
				sum += table.ReadAheadAll(ords, props)
				continue
			}
			for _, ord := range ords {
				if ord != version.NoOrd {
					sum += table.ReadAhead(ord, props)
				}
			}
		}
	}
	co.Ahead += sum
}

// NewCollector returns a collector for the runs of a query. The argument `countsOnly` says whether the read returns only
// counts of all its rows.
func NewCollector(ev *eval.Evaluator, countsOnly bool) Collector {
	co := Collector{Evaluator: ev, countsOnly: countsOnly, sorter: newSorter(ev.Query), grouper: newGrouper(ev.Query), fuser: newFuser(ev.Query)}
	co.Rows.Cols = make([][]uint32, ev.Width())
	return co
}

// Start empties the collector for a new run.
func (co *Collector) Start() {
	for v := range co.Rows.Cols {
		co.Rows.Cols[v] = co.Rows.Cols[v][:0]
	}
	co.Rows.N, co.Perm, co.More, co.Counted, co.Passed = 0, co.Perm[:0], false, 0, 0
	co.grouper.begin()
	co.fuser.begin()
}

// PruneAt is the least number of collected rows at which pruning to the limit starts.
const PruneAt = 8192

// collect collects the rows that the match yields.
func (co *Collector) collect(f *eval.Frame) error {
	if co.countsOnly {
		co.Counted += int64(f.N)
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
		co.Rows.Cols[v] = append(co.Rows.Cols[v], f.Cols[v][:f.N]...)
	}
	co.Rows.N += f.N
	if limit := co.MaxRows; limit >= 0 && prunes(co.Rows.N, limit) {
		if err := co.sort(); err != nil {
			return err
		}
		co.permute(int(limit))
		co.More = true
	}
	return nil
}

// countRows counts rows of a read that returns only their number.
func (co *Collector) countRows(rows int) {
	if rows == 0 {
		return
	}
	if co.Grouped == 0 {
		co.Grouped++
		co.Rows.N++
		co.addGroup()
	}
	for i := range co.sums {
		co.sums[i].Counts[0] += int64(rows)
	}
}

// prunes reports whether to cut this many collected rows down to the limit. It reports true
// rarely enough that the total work is proportional to the number of rows.
func prunes(rows int, limit int64) bool { return rows >= PruneAt && int64(rows)/4 >= limit }

// Finish sorts the collected rows and cuts them to the limit.
func (co *Collector) Finish() error {
	co.countRows(int(co.Counted))
	if co.Read.Grouped && co.Grouped == 0 && !slices.ContainsFunc(co.Columns, func(c ir.Projection) bool { return c.IsKey() }) {
		co.Grouped++
		co.Rows.N++
		co.addGroup()
	}
	order := co.sort
	if co.Read.Grouped {
		order = co.sortGroups
	}
	co.readRows()
	rows := co.Rows.N
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
	co.More = co.More || co.MaxRows > 0 && int64(rows) > co.MaxRows
	if err := cmp.Or(order(), co.TextErr); err != nil {
		return err
	}
	if limit := co.MaxRows; limit >= 0 && int64(len(co.Perm)) > limit {
		co.Perm = co.Perm[:limit]
	}
	return nil
}

// permute reduces the collected rows to the first n rows of perm, in that order.
func (co *Collector) permute(n int) {
	n = min(n, len(co.Perm))
	for _, v := range co.Keep {
		col := co.Rows.Cols[v]
		co.moved = slices.Grow(co.moved[:0], n)[:n]
		for i, p := range co.Perm[:n] {
			co.moved[i] = col[p]
		}
		co.Rows.Cols[v] = append(col[:0], co.moved...)
	}
	co.Spent -= int64(4 * (co.Rows.N - n) * (len(co.Keep) + 1))
	co.Rows.N = n
}

// CountTooLarge returns the error for a count above the greatest number.
func CountTooLarge() error {
	return &engine.TooLarge{Resource: "rows that one query counts", Limit: math.MaxInt64, Actual: math.MaxInt64}
}

// Product returns the product of two numbers that are not negative.
func Product(a, b int64) (int64, error) {
	high, low := bits.Mul64(uint64(a), uint64(b))
	if high != 0 || low > math.MaxInt64 {
		return 0, CountTooLarge()
	}
	return int64(low), nil
}

// CountTimes counts rows of a read that returns only their number, each as often as `times` says. The sum may be negative
// until the last term of a count was added.
func (co *Collector) CountTimes(rows, times int64) error {
	n, err := Product(rows, max(times, -times))
	if err != nil {
		return err
	}
	if times < 0 && !fault.On(fault.TermsAdded) {
		n = -n
	}
	if sum := co.Counted + n; (sum > co.Counted) == (n > 0) || n == 0 {
		co.Counted = sum
		return nil
	}
	return CountTooLarge()
}

// SumOf returns the sum of the weights of nodes. Without a list each node has the weight 1.
func SumOf(list []int64, nodes []uint32) (sum int64, err error) {
	if list == nil {
		return int64(len(nodes)), nil
	}
	for _, node := range nodes {
		if sum += list[node]; sum < 0 {
			return 0, CountTooLarge()
		}
	}
	return sum, nil
}

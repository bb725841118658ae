package enginetest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/naive"
)

// outcomeCounts counts the compared statements by their kind and their result in the model. It reveals
// draws that test little: reads without rows, and writes that always fail. A nil outcomeCounts counts
// nothing.
type outcomeCounts map[outcomeKey]int

// outcomeKey is a kind of statement together with its result.
type outcomeKey struct{ kind, result string }

// add counts one statement.
func (t outcomeCounts) add(kind, result string) {
	if t != nil {
		t[outcomeKey{kind, result}]++
	}
}

// read counts a read of the given kind by its number of rows.
func (t outcomeCounts) read(kind string, rows int) {
	switch {
	case rows == 0:
		t.add(kind, "no row")
	case rows == 1:
		t.add(kind, "1 row")
	case rows < 10:
		t.add(kind, "2 to 9 rows")
	default:
		t.add(kind, "10 rows and more")
	}
}

// operatorKind is the kind of the operators of explained reads.
const operatorKind = "operator"

// operators counts the operators of an explained read.
func (t outcomeCounts) operators(list []*engine.Operator) {
	for _, o := range list {
		t.add(operatorKind, o.Name)
		t.operators(o.Children)
	}
}

// write counts a write of the given kind by its outcome.
func (t outcomeCounts) write(kind string, commit *engine.Commit, err error) {
	switch {
	case err != nil:
		t.add(kind, "refused: "+refusal(err))
	case commit == nil:
		t.add(kind, "no commit")
	default:
		t.add(kind, "commit")
	}
}

// load counts a load by its outcome.
func (t outcomeCounts) load(res *engine.LoadResult, err error) {
	if err != nil {
		t.add("load", "refused: "+refusal(err))
		return
	}
	t.write("load", res.Commit, nil)
}

// branch counts the creation, deletion or merge of a branch by its outcome.
func (t outcomeCounts) branch(b *branching, err error) {
	kind := "merge"
	switch {
	case b.create != "":
		kind = "branch"
	case b.remove != "":
		kind = "delete of a branch"
	}
	switch {
	case err != nil:
		t.add(kind, "refused: "+refusal(err))
	case kind != "merge": // successful merges are counted by their outcome
		t.add(kind, "made")
	}
}

// refusal describes an error by its first reason, or says that a load has bad lines.
func refusal(err error) string {
	var conflicts *engine.MergeConflicts
	if errors.As(err, &conflicts) {
		return "conflicts"
	}
	var failure *naive.Failure
	if errors.As(err, &failure) {
		var line *engine.LineError
		if len(failure.Errs) > 0 && errors.As(failure.Errs[0], &line) {
			return "lines"
		}
	}
	list := reasons(err)
	if len(list) == 0 {
		return fmt.Sprintf("%T", err)
	}
	return strings.TrimSpace(list[0].kind + " " + list[0].rule)
}

// merge adds the counts of o.
func (t outcomeCounts) merge(o outcomeCounts) {
	for k, n := range o {
		t[k] += n
	}
}

// String returns one line per kind, with the most frequent results first.
func (t outcomeCounts) String() string {
	all, kinds := 0, map[string]int{}
	for k, n := range t {
		if k.kind != operatorKind {
			all += n // operators are no statements
		}
		kinds[k.kind] += n
	}
	byCount := func(count func(string) int) func(a, b string) int {
		return func(a, b string) int {
			if n := count(b) - count(a); n != 0 {
				return n
			}
			return strings.Compare(a, b)
		}
	}
	var b strings.Builder
	for _, kind := range slices.SortedFunc(maps.Keys(kinds), byCount(func(k string) int { return kinds[k] })) {
		fmt.Fprintf(&b, "%s, %d (%s):", kind, kinds[kind], percent(kinds[kind], all))
		results := map[string]int{}
		for k, n := range t {
			if k.kind == kind {
				results[k.result] = n
			}
		}
		for i, r := range slices.SortedFunc(maps.Keys(results), byCount(func(r string) int { return results[r] })) {
			if i > 0 {
				b.WriteString(",")
			}
			fmt.Fprintf(&b, " %s %s", r, percent(results[r], kinds[kind]))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// percent returns n as a percentage of the total `of`.
func percent(n, of int) string { return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(of)) }

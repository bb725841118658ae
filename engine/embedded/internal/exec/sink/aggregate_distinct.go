package sink

import (
	"encoding/binary"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
)

// countsOnly reports whether the counts are the results of the aggregate.
func (to *Accumulator) countsOnly() bool { return to.fold == nil && to.list == nil }

// distinctCounts finds the values that count(distinct …) counts.
type distinctCounts struct {
	spent int                 // bytes that the run was charged for `seen`
	seen  map[string]struct{} // the number of a group and a value in this group; see appendGroupKey
	key   []byte              // memory for one element of `seen`
}

func (d *distinctCounts) reset() {
	d.spent = 0
	if !fault.On(fault.ValuesKept) {
		d.seen = nil
	}
}

// seenBytes estimates the memory of an element of a set, in bytes, without its key.
const seenBytes = 48

// add counts the values that are new in their group. The error is that of eval.Budget.Spend.
func (d *distinctCounts) add(b *eval.Budget, values *column.Vec, groups []uint32, counts []int64) error {
	if d.seen == nil {
		d.seen = map[string]struct{}{}
	}
	for i, g := range groups {
		if values.IsNull(i) && !fault.On(fault.NullsDistinct) {
			continue
		}
		d.key = appendGroupKey(binary.LittleEndian.AppendUint32(d.key[:0], g), values, i)
		if _, again := d.seen[string(d.key)]; again {
			continue
		}
		if err := b.Spend(len(d.key) + seenBytes); err != nil {
			return err
		}
		d.spent += len(d.key) + seenBytes
		d.seen[string(d.key)] = struct{}{}
		counts[g]++
	}
	return nil
}

package version

import (
	"strconv"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
)

// numberBits is the binary logarithm of the number of ordinals in a part of numbers. Tests lower it.
var numberBits = 20

// numbers holds the new ordinals of the entities of a table that a rewrite renumbers. The numbers of a
// large table are in a temporary file.
type numbers struct {
	parts [][]uint32    // by old ordinal, 1<<numberBits in a part
	src   column.Source // the temporary file that the parts alias; nil if they are in memory
	next  uint32        // number of old ordinals
}

// at returns the new ordinal of an entity. A nil *numbers changes no ordinal. The argument may come
// from a damaged file; at throws a fault if there is no such ordinal.
func (n *numbers) at(ord uint32) uint32 {
	if n == nil {
		return ord
	}
	if ord >= n.next {
		corruption.Corrupt("a segment of edges", "an edge ends at node %d, but there are only %d nodes", ord, n.next)
	}
	return n.parts[ord>>numberBits][ord&(1<<numberBits-1)]
}

// collectNumbers makes the numbers of a table with `next` ordinals. It calls `fill`, which passes each
// live ordinal with its new number to `put`, in any order. If there is more than one part, the
// numbers go to temporary files.
func collectNumbers(next uint32, f *IndexFiles, fill func(put func(ord, number uint32) error) error) (*numbers, error) {
	n := &numbers{next: next}
	if f == nil || next>>numberBits == 0 {
		for from := uint32(0); from < next; from += 1 << numberBits {
			n.parts = append(n.parts, make([]uint32, min(1<<numberBits, next-from)))
		}
		return n, fill(func(ord, number uint32) error {
			n.parts[ord>>numberBits][ord&(1<<numberBits-1)] = number
			return nil
		})
	}
	count := int(next>>numberBits) + 1
	pairs, err := index.SpillPairs(count, f.Scratch, func(put func(part int, a, b uint32) error) error {
		return fill(func(ord, number uint32) error {
			return put(int(ord>>numberBits), ord&(1<<numberBits-1), number)
		})
	})
	if err != nil {
		return nil, err
	}
	name := func(part int) string { return strconv.Itoa(part) }
	n.src, err = f.Scratch(func(add func(string, []byte) error) error {
		of := make([]uint32, 1<<numberBits)
		for part := range count {
			clear(of)
			err := pairs.Each(part, func(ord, number uint32) { of[ord] = number })
			if err == nil {
				err = add(name(part), column.Bytes(of))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for part := range count {
		n.parts = append(n.parts, column.Read[uint32](n.src, name(part), 1<<numberBits))
	}
	return n, nil
}

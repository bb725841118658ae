package exec

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// collected gathers the values of collect, by group. A result lists them in the order of the rows that they
// come from.
type collected struct {
	distinct bool
	texts    bool // the run makes the values, which are texts
	answer   int  // bytes that the run was charged for the lists of the latest result
	groups   []gathering
	places   map[string]uint32 // of distinct values: the number of the group and the bytes of the value; the position in the group
	key      []byte            // memory for one key of places
}

// gathering is the values of one group.
type gathering struct {
	values []value.Value
	ties   []uint32 // for each value: the ordinals of the variables that break ties, in the row of the value
}

func (c *collected) reset() {
	clear(c.groups)
	c.groups, c.places, c.answer = c.groups[:0], nil, 0
}

func (c *collected) grow() { c.groups = append(c.groups, gathering{}) }

// add adds the values that are not null to their groups. The error is that of budget.spend, or a *engine.TooLarge
// for a group with more than plan.MaxCollected values.
func (c *collected) add(co *collector, f *frame, values *column.Vec, groups []uint32) error {
	ties := co.read.Ties
	for i, g := range groups {
		if values.IsNull(i) {
			continue
		}
		to := &c.groups[g]
		if c.distinct {
			c.key = appendGroupKey(binary.LittleEndian.AppendUint32(c.key[:0], g), values, i)
			if at, again := c.places[string(c.key)]; again {
				c.keepFirst(co, to, int(at), f, values, i)
				continue
			}
			if c.places == nil {
				c.places = map[string]uint32{}
			}
			c.places[string(c.key)] = uint32(len(to.values))
			if err := co.spend(len(c.key) + seenBytes); err != nil {
				return err
			}
		}
		if len(to.values) == plan.MaxCollected {
			return &engine.TooLarge{Resource: "values that collect gathers in one group", Limit: plan.MaxCollected, Actual: plan.MaxCollected + 1,
				Hint: "group by more columns, add conditions, or count the values"}
		}
		// The append function grows a slice to at most twice its length.
		v, bytes := values.Value(i), 2*(valueBytes+4*len(ties))
		if c.texts {
			bytes += len(v.Str())
		}
		if err := co.spend(bytes); err != nil {
			return err
		}
		to.values = append(to.values, v)
		for _, v := range ties {
			to.ties = append(to.ties, f.cols[v][i])
		}
	}
	return nil
}

// keepFirst replaces a value of a group by an equal one in row i of the frame if that row comes first. Equal values may
// differ in their sign, as 0 and -0 do.
func (c *collected) keepFirst(co *collector, to *gathering, at int, f *frame, values *column.Vec, i int) {
	n := len(co.read.Ties)
	kept := to.ties[at*n : (at+1)*n]
	order := 0
	for k, v := range co.read.Ties {
		if order = co.compareIDs(v, f.cols[v][i], kept[k]); order != 0 {
			break
		}
	}
	first := order < 0
	if fault.On(fault.KeepsLast) {
		first = !first
	}
	if first {
		to.values[at] = values.Value(i)
		for k, v := range co.read.Ties {
			kept[k] = f.cols[v][i]
		}
	}
}

// answered charges the run for the lists of some groups, instead of those of the result before. If they take too much,
// the run will end with that error.
func (c *collected) answered(co *collector, groups []uint32) {
	co.spent -= int64(c.answer)
	c.answer = 0
	for _, g := range groups {
		c.answer += valueBytes * len(c.groups[g].values)
	}
	co.failOn(co.spend(c.answer))
}

// of returns the list of a group's values.
func (c *collected) of(co *collector, group uint32, kind value.Kind) value.Value {
	from := &c.groups[group]
	n := len(co.read.Ties)
	co.failOn(co.tick(len(from.values)))
	order := make([]int, len(from.values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		for k, v := range co.read.Ties {
			if c := co.compareIDs(v, from.ties[a*n+k], from.ties[b*n+k]); c != 0 {
				return c
			}
		}
		return 0
	})
	elems := make([]value.Value, len(order))
	for i, at := range order {
		elems[i] = from.values[at]
	}
	return value.OfList(kind, elems)
}

// compareIDs compares the ids of two entities that a variable may be bound to. Null comes first.
func (ev *evaluator) compareIDs(v plan.VarID, a, b uint32) int {
	switch {
	case a == b:
		return 0
	case a == version.NoOrd:
		return -1
	case b == version.NoOrd:
		return 1
	}
	if s := ev.shared(v); s != nil {
		return s.compare(a, b)
	}
	t := ev.table(v)
	if t.Sorted() {
		return int(int64(a) - int64(b))
	}
	return strings.Compare(t.ID(a), t.ID(b))
}

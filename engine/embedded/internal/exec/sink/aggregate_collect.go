package sink

import (
	"encoding/binary"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// collected gathers the values of collect, by group. A result lists them in the order of the rows that they
// come from.
type collected struct {
	distinct bool
	texts    bool          // the run makes the values, which are texts
	nodes    plan.VarID    // see ir.Aggregate.Nodes; NoVar if values are gathered
	end      *plan.EndNode // of the edges in nodes, the end whose nodes are gathered; nil if the variable binds the nodes
	answer   int           // bytes that the run was charged for the lists of the latest result
	groups   []gathering
	places   map[string]uint32 // of distinct values: the number of the group and the bytes of the value; the position in the group
	key      []byte            // memory for one key of places
}

// gathering is the values or the nodes of one group.
type gathering struct {
	values []value.Value
	ords   []uint32 // the ordinals of the nodes, or of the edges that lead to them
	ties   []uint32 // for each value or node: the ordinals of the variables that break ties, in its row
}

// len returns the number of values or nodes. One of the two lists is empty.
func (g *gathering) len() int { return len(g.values) + len(g.ords) }

func (c *collected) reset() {
	clear(c.groups)
	c.groups, c.places, c.answer = c.groups[:0], nil, 0
}

func (c *collected) grow() { c.groups = append(c.groups, gathering{}) }

// add adds the values or nodes that are not null to their groups. If nodes are gathered, `values` is nil. The error is that
// of eval.Budget.Spend, or a *engine.TooLarge for a group with more than plan.MaxCollected values or nodes.
func (c *collected) add(co *Collector, f *eval.Frame, values *column.Vec, groups []uint32) error {
	ties := co.Read.Ties
	bytes := eval.ValueBytes
	if c.nodes != plan.NoVar {
		bytes = 4
	}
	for i, g := range groups {
		if c.isNull(f, values, i) {
			continue
		}
		to := &c.groups[g]
		if c.distinct {
			c.key = c.appendKey(co, binary.LittleEndian.AppendUint32(c.key[:0], g), f, values, i)
			if at, again := c.places[string(c.key)]; again {
				c.keepFirst(co, to, int(at), f, values, i)
				continue
			}
			if c.places == nil {
				c.places = map[string]uint32{}
			}
			c.places[string(c.key)] = uint32(to.len())
			if err := co.Spend(len(c.key) + seenBytes); err != nil {
				return err
			}
		}
		if to.len() == plan.MaxCollected {
			return &engine.TooLarge{Resource: "values that collect gathers in one group", Limit: plan.MaxCollected, Actual: plan.MaxCollected + 1,
				Hint: "group by more columns, add conditions, or count the values"}
		}
		// The append function grows a slice to at most twice its length.
		size := 2 * (bytes + 4*len(ties))
		if c.texts {
			size += len(values.Value(i).Str())
		}
		if err := co.Spend(size); err != nil {
			return err
		}
		if c.nodes != plan.NoVar {
			to.ords = append(to.ords, f.Cols[c.nodes][i])
		} else {
			to.values = append(to.values, values.Value(i))
		}
		for _, v := range ties {
			to.ties = append(to.ties, f.Cols[v][i])
		}
	}
	return nil
}

// isNull reports whether row i of a frame has no value or node.
func (c *collected) isNull(f *eval.Frame, values *column.Vec, i int) bool {
	if c.nodes != plan.NoVar {
		return f.Cols[c.nodes][i] == version.NoOrd
	}
	return values.IsNull(i)
}

// appendKey appends bytes to a key that identify the value or the node in row i of a frame.
func (c *collected) appendKey(co *Collector, key []byte, f *eval.Frame, values *column.Vec, i int) []byte {
	if c.nodes == plan.NoVar {
		return appendGroupKey(key, values, i)
	}
	ord := f.Cols[c.nodes][i]
	if c.end != nil {
		src, dst := co.Table(c.nodes).Ends(ord)
		if ord = src; c.end.To {
			ord = dst
		}
	}
	return binary.LittleEndian.AppendUint32(key, ord)
}

// keepFirst replaces a value of a group by an equal one in row i of the frame if that row comes first. Equal values may
// differ in their sign, as 0 and -0 do. Equal nodes do not differ, so only the ids that break ties are replaced.
func (c *collected) keepFirst(co *Collector, to *gathering, at int, f *eval.Frame, values *column.Vec, i int) {
	n := len(co.Read.Ties)
	kept := to.ties[at*n : (at+1)*n]
	order := 0
	for k, v := range co.Read.Ties {
		if order = co.CompareIDs(v, f.Cols[v][i], kept[k]); order != 0 {
			break
		}
	}
	first := order < 0
	if fault.On(fault.KeepsLast) {
		first = !first
	}
	if !first {
		return
	}
	if values != nil {
		to.values[at] = values.Value(i)
	}
	for k, v := range co.Read.Ties {
		kept[k] = f.Cols[v][i]
	}
}

// answered charges the run for the lists of some groups, instead of those of the result before. If they take too much,
// the run will end with that error.
func (c *collected) answered(co *Collector, groups []uint32) {
	co.Spent -= int64(c.answer)
	c.answer = 0
	for _, g := range groups {
		c.answer += eval.ValueBytes * len(c.groups[g].values)
	}
	co.FailOn(co.Spend(c.answer))
}

// of returns the list of a group's values.
func (c *collected) of(co *Collector, group uint32, kind value.Kind) value.Value {
	from := &c.groups[group]
	elems := make([]value.Value, from.len())
	for i, at := range from.inTieOrder(co) {
		elems[i] = from.values[at]
	}
	return value.OfList(kind, elems)
}

// inTieOrder returns the positions of the values or nodes in the order of the ids that break ties.
func (g *gathering) inTieOrder(co *Collector) []int {
	n := len(co.Read.Ties)
	co.FailOn(co.Tick(g.len()))
	order := make([]int, g.len())
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		for k, v := range co.Read.Ties {
			if c := co.CompareIDs(v, g.ties[a*n+k], g.ties[b*n+k]); c != 0 {
				return c
			}
		}
		return 0
	})
	return order
}

// fieldBytes is the size in bytes of the value of a field in a vector, without the bytes of a text or a list.
const fieldBytes = 24

// nodesColumn returns the lists of nodes that an aggregate gathered for the given groups, as a column of records. The
// column is valid until the next batch.
func (o *Output) nodesColumn(c *ir.Projection, groups []uint32) (engine.Column, error) {
	co := o.from
	list := co.sums[c.Agg].list
	n := 0
	for _, g := range groups {
		n += list.groups[g].len()
	}
	if err := co.Runner.Nest(n, c.Name); err != nil {
		return engine.Column{}, err
	}
	bytes := n * (4 + fieldBytes*len(c.FieldExprs))
	if err := co.Spend(bytes); err != nil {
		return engine.Column{}, err
	}
	o.charged += bytes
	ords := make([]uint32, 0, n)
	out := engine.Column{Type: c.Type, Fields: make([]engine.Column, len(c.FieldExprs)), Offsets: make([]int32, 1, len(groups)+1)}
	for _, g := range groups {
		from := &list.groups[g]
		order := from.inTieOrder(co)
		for i, at := range order {
			if fault.On(fault.NodesUnsorted) {
				at = i
			}
			ords = append(ords, from.ords[at])
		}
		out.Offsets = append(out.Offsets, int32(len(ords)))
	}
	rows := eval.Frame{N: n, Cols: make([][]uint32, co.Width())}
	rows.Cols[list.nodes] = ords
	for k, ex := range c.FieldExprs {
		out.Fields[k] = o.Eval(ex, &rows).Column
	}
	return out, nil
}

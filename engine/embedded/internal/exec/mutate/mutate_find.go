package mutate

import (
	"cmp"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/scalar"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// This file finds the entities that an update or a delete selects.

// examined counts entities that a statement examines. It counts only those of the statements in blocks, which may
// examine them again for each row. The error is a *engine.TooLarge, or that of the context.
func (w *Write) examined(n int) error {
	if w.cells == nil {
		return nil
	}
	most := cmp.Or(w.Visits, plan.MaxVisited)
	if w.visited += int64(n); w.visited > most {
		return &engine.TooLarge{Resource: "entities that the statements of match and for blocks examine", Limit: most, Actual: w.visited,
			Hint: "let them find a node by its id or by a key of one property, and an edge by its id, from or to, or let the block run for fewer rows"}
	}
	return w.ctx.Err()
}

// matches returns the ordinals of the entities that satisfy all predicates, for the current row.
func (w *Write) matches(t *schema.Type, preds []plan.Pred) ([]uint32, error) {
	wants := make([]value.Value, len(preds))
	for i, p := range preds {
		v, err := w.value(p.Value)
		if err != nil {
			return nil, err
		}
		if v.IsNull() {
			return nil, nil
		}
		if _, isProp := t.Prop(p.Name); !isProp && t.Entity == plan.Edge && p.Name != "id" {
			if end := w.endType(t, p.Name); end.Of != nil {
				v = endRef(end, v)
			}
		}
		wants[i] = v
	}
	table := w.Tx.Table(t)
	satisfies := func(ord uint32, but int) bool {
		for i, p := range preds {
			if i != but && !scalar.Holds(p.Op, w.member(table, ord, p.Name), wants[i]) {
				return false
			}
		}
		return true
	}
	for _, look := range []func(*version.Table, plan.Pred, value.Value) ([]uint32, bool){w.byID, w.byEnd} {
		for i, p := range preds {
			ords, ok := look(table, p, wants[i])
			if ok {
				if err := w.examined(len(ords)); err != nil {
					return nil, err
				}
				if fault.On(fault.PredicateLost) && t.Entity == plan.Edge {
					return ords, nil
				}
				return slices.DeleteFunc(ords, func(ord uint32) bool { return !satisfies(ord, i) }), nil
			}
		}
	}
	var out []uint32
	buf := make([]uint32, eval.FrameSize)
	for next := uint32(0); next < table.Ordinals(); {
		if err := w.ctx.Err(); err != nil {
			return nil, err
		}
		var n int
		n, next = table.Scan(next, buf)
		if err := w.examined(n); err != nil {
			return nil, err
		}
		for _, ord := range buf[:n] {
			if satisfies(ord, -1) {
				out = append(out, ord)
			}
		}
	}
	return out, nil
}

// member returns the value of a property of an entity, or of its `id`, `from` or `to`.
func (w *Write) member(table *version.Table, ord uint32, name string) value.Value {
	p, isProp := table.Type.Prop(name)
	switch {
	case isProp:
		return table.Value(ord, p)
	case name == "id":
		return value.OfString(table.ID(ord))
	}
	return value.OfString(w.endID(table, ord, name == "to"))
}

// byID finds the entities that satisfy a predicate on the id, or on a property that alone is the
// key. It reports false for other predicates.
func (w *Write) byID(table *version.Table, pred plan.Pred, want value.Value) ([]uint32, bool) {
	t := table.Type
	p, isProp := t.Prop(pred.Name)
	if isProp && (len(t.Key) != 1 || t.Key[0] != p) || !isProp && pred.Name != "id" {
		return nil, false
	}
	kind := value.String
	if isProp {
		kind = pred.Type.Kind
	}
	var ids []value.Value
	switch {
	case want.Kind() != kind && !(want.IsList() && len(want.Elems()) == 0):
		return nil, false
	case pred.Op == plan.Eq && !want.IsList():
		ids = []value.Value{want}
	case pred.Op == plan.In && want.IsList():
		ids = want.Elems()
	default:
		return nil, false
	}
	var out []uint32
	seen := map[uint32]bool{}
	for _, id := range ids {
		if ord, ok := table.Lookup(value.Text(id)); ok && !seen[ord] {
			seen[ord] = true
			out = append(out, ord)
		}
	}
	return out, true
}

// byEnd finds the edges that satisfy a predicate on one of their ends. It reports false for other
// predicates.
func (w *Write) byEnd(table *version.Table, pred plan.Pred, want value.Value) ([]uint32, bool) {
	if _, isProp := table.Type.Prop(pred.Name); isProp || pred.Name == "id" || pred.Op != plan.Eq || want.IsList() || want.Kind() != value.String {
		return nil, false
	}
	return w.edgesAt(table, pred.Name == "to", want.Str()), true
}

// edgesAt returns the edges of the node with the given id: its incoming edges if `in` is true,
// otherwise its outgoing ones.
func (w *Write) edgesAt(edges *version.Table, in bool, id string) []uint32 {
	node, adj := edges.Type.From, edges.Out()
	if in {
		node, adj = edges.Type.To, edges.In()
	}
	ord, ok := w.Tx.Table(w.Tx.Schema().Nodes[node]).Lookup(id)
	if !ok {
		return nil
	}
	return version.LiveEdges(edges, adj, ord)
}

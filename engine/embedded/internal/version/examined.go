package version

import (
	"context"
	"reflect"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// Examined is a state that fits a schema change. A later state of the same schema fits the change too if the rows fit
// that differ between the two states, so the other rows need not be read again.
type Examined struct {
	base  *Snapshot             // the state before the change
	after *Snapshot             // the same state with the new schema
	carry *schema.Carry         // that of the change
	reads map[*schema.Type]bool // the types of base whose rows the change has to read
}

// Examined returns the state before the transaction's schema change, together with its new indexes. The caller has
// found that the state fits the change.
func (tx *Txn) Examined() *Examined {
	e := &Examined{base: tx.before, after: tx.base, carry: tx.change.Carry, reads: map[*schema.Type]bool{}}
	for _, t := range tx.base.Tables() {
		if from := tx.carryOf(t.Type).From; from >= 0 {
			old := tx.before.Table(t.Type.Entity, from).Type
			e.reads[old] = tx.stricterRules(t.Type).Any() || tx.before.unfitEnds(*tx.change, old, t.Type) != nil
		}
	}
	return e
}

// Resume makes Inexact, Migrate and Broken read only what differs from the examined state, if e is about the same
// schema and the same change; it may be nil.
func (tx *Txn) Resume(e *Examined) { tx.examined = e }

// of returns e if it is about the change ch of the state s, and nil otherwise.
func (e *Examined) of(s *Snapshot, ch schema.Change) *Examined {
	if e == nil || e.base.Schema != s.Schema || !reflect.DeepEqual(e.carry, ch.Carry) {
		return nil
	}
	return e
}

// table returns the examined table of a type of the state before the change, or nil if there is none.
func (e *Examined) table(entity plan.Entity, i int) *Table {
	if e == nil {
		return nil
	}
	return e.base.Table(entity, i)
}

// More reports whether more than `limit` rows of the state s may differ from those that e has examined, among those that the
// change has to read. The only possible error is that of the context.
func (e *Examined) More(ctx context.Context, s *Snapshot, limit int) (bool, error) {
	if e == nil || e.base.Schema != s.Schema {
		return true, nil
	}
	counting, stop := context.WithCancel(ctx)
	defer stop()
	n := 0
	for i, t := range s.Tables() {
		if !e.reads[t.Type] {
			continue
		}
		err := eachChangedRow(counting, e.base.Tables()[i], t, func(uint32, uint32, uint32) {
			if n++; n > limit {
				stop()
			}
		})
		if n > limit || err != nil {
			return n > limit, ctx.Err()
		}
	}
	return false, nil
}

// eachUnexamined calls `yield` with the live ordinals of the table t, in ascending order, until it returns false. If
// `examined` is not nil, it passes only those whose rows differ from that table. The only possible error is that of the
// context.
func eachUnexamined(ctx context.Context, examined, t *Table, yield func(ord uint32) bool) error {
	if examined != nil {
		if fault.On(fault.WrittenUnexamined) {
			return nil
		}
		more := true
		return eachChangedRow(ctx, examined, t, func(ord, _, y uint32) {
			more = more && (y == index.Dead || yield(ord))
		})
	}
	for ord := range t.next {
		if ord%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if t.Alive(ord) && !yield(ord) {
			return nil
		}
	}
	return nil
}

// extended returns an index of a tuple with the rows of t that differ from those of the examined table, whose rows x
// has. It may keep entries of rows that have changed, as every index of a table may. `rows` has the rows of t as the new type
// has them.
func extended(x index.Hash, examined, t *Table, rows *Rows, tuple []int) index.Hash {
	owner, hash := new(index.Owner), tupleHashes(rows, tuple)
	// The background context never ends, so there is no error.
	_ = eachChangedRow(context.Background(), examined, t, func(ord, _, y uint32) {
		if y == index.Dead {
			return
		}
		if h, ok := hash(ord); ok {
			x.Add(owner, h, ord)
		}
	})
	return x
}

// unexaminedSources lists the live nodes that have live outgoing edges in the table t, which the transaction's schema
// change has taken over. If e is not nil, it lists only those of which an edge differs from the examined state, in no order.
func (tx *Txn) unexaminedSources(ctx context.Context, e *Examined, t *Table) (out []uint32, err error) {
	nodes := tx.base.nodes[t.Type.From]
	if e == nil {
		return sourcesOf(t, nodes), nil
	}
	add := func(src uint32) {
		if nodes.Alive(src) && Degree(t, t.Out(), src) > 0 {
			out = append(out, src)
		}
	}
	before, was := e.after.edges[t.Type.Index], tx.carryOf(t.Type).From
	err = eachChangedRow(ctx, e.base.edges[was], tx.before.edges[was], func(ord, _, _ uint32) {
		if before.Alive(ord) {
			src, _ := before.Ends(ord)
			if now, ok := nodes.Lookup(e.after.nodes[t.Type.From].ID(src)); ok {
				add(now)
			}
		}
		if t.Alive(ord) {
			src, _ := t.Ends(ord)
			add(src)
		}
	})
	return out, err
}

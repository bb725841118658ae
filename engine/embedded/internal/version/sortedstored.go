package version

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
)

// orderOf implements [Unstored] for the base of a sorted index.
type orderOf struct {
	*index.SortedBase
	subject string // see Type.orderSubject
}

// Blocks implements Unstored.
func (o orderOf) Blocks(add func(name string, data []byte) error) error {
	return o.SortedBase.Blocks(o.subject, add)
}

// orderSubject returns the text that identifies property p in the segment of its sorted index.
func (t *Type) orderSubject(p int) string {
	return fmt.Sprintf("%s %s.%s", t.Entity, t.Name, t.Props[p].Name)
}

// latest returns the latest sorted index of each property that has one.
func (o *orders) latest() map[int]*index.Sorted {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := maps.Clone(o.earlier)
	if all == nil {
		all = map[int]*index.Sorted{}
	}
	for p, m := range o.built {
		select {
		case <-m.set:
			all[p] = m.view
		default:
		}
	}
	return all
}

// latestOrders returns the latest sorted index of each property that has one.
func (t *Table) latestOrders() map[int]*index.Sorted {
	if t.texts == nil || t.texts.typ != t.Type {
		return nil
	}
	return t.texts.orders.latest()
}

// unstoredOrders lists the bases of the sorted indexes that are not stored. The next manifest lists
// the bases of all sorted indexes that were built.
func (t *Table) unstoredOrders() (parts []Unstored) {
	latest := t.latestOrders()
	if latest == nil {
		return nil
	}
	stored := map[int]*index.SortedBase{}
	for _, p := range slices.Sorted(maps.Keys(latest)) {
		b := latest[p].Base()
		stored[p] = b
		if b.Name() == "" {
			parts = append(parts, orderOf{b, t.Type.orderSubject(p)})
		}
	}
	t.texts.orders.stored = stored
	return parts
}

// ordersToStore reports whether the table has a sorted index that is not stored.
func (t *Table) ordersToStore() bool {
	for _, s := range t.latestOrders() {
		if s.Base().Name() == "" {
			return true
		}
	}
	return false
}

// disownOrders is Disown for the sorted indexes.
func (t *Table) disownOrders(there func(name string) bool) {
	disown := func(b *index.SortedBase) {
		if b.Name() != "" && !there(b.Name()) {
			b.Named("")
		}
	}
	for _, s := range t.latestOrders() {
		disown(s.Base())
	}
	if t.texts != nil {
		for _, b := range t.texts.orders.stored {
			disown(b)
		}
	}
}

// storedOrders yields the segments of the sorted indexes for the manifest, in the order of the
// properties.
func (t *Table) storedOrders(yield func(p int, segment string) bool) {
	if t.texts == nil || t.texts.typ != t.Type {
		return
	}
	stored := t.texts.orders.stored
	for _, p := range slices.Sorted(maps.Keys(stored)) {
		if name := stored[p].Name(); name != "" && !yield(p, name) {
			return
		}
	}
}

// appendOrders appends the manifest's entries for the sorted indexes.
func (t *Table) appendOrders(dst []byte) []byte {
	n := 0
	for range t.storedOrders {
		n++
	}
	dst = binary.AppendUvarint(dst, uint64(n))
	for p, name := range t.storedOrders {
		dst = binary.AppendUvarint(dst, uint64(p))
		dst = appendText(dst, name)
	}
	return dst
}

// readOrders reads the entries of a manifest for the sorted indexes. The first use reads their segments.
func (t *Table) readOrders(r *reader, open Opener) error {
	for range r.count() {
		p, name := r.index(len(t.Type.Props)), r.text()
		if r.err != nil {
			return r.err
		}
		if !t.Type.Sortable(p) {
			r.fail(fmt.Sprintf("%s %s: the property %s cannot have a sorted index", t.Type.Entity, t.Type.Name, t.Type.Props[p].Name))
			return r.err
		}
		src, err := open.Source(name)
		if err != nil {
			return err
		}
		o := &t.texts.orders
		if o.earlier == nil {
			o.earlier = map[int]*index.Sorted{}
		}
		o.earlier[p] = index.OpenSorted(name, t.Type.orderSubject(p), src)
	}
	return r.err
}

// verifyOrders checks that each sorted index lists the live entities once, in order.
func (t *Table) verifyOrders(ctx context.Context) (err error) {
	defer corruption.Catch(corruption.Watch(), &err)
	latest := t.latestOrders()
	for _, p := range slices.Sorted(maps.Keys(latest)) {
		latest[p].Base().Load()
		object := t.object()
		if name := latest[p].Base().Name(); name != "" {
			object = "segment " + name
		}
		fault := func(format string, args ...any) error {
			return &engine.Corrupt{Object: object, Detail: fmt.Sprintf("the sorted index of %s: ", t.Type.orderSubject(p)) + fmt.Sprintf(format, args...)}
		}
		view, err := t.SortedBy(ctx, p, func(int) bool { return true })
		if err != nil {
			return err
		}
		compare := t.CompareRows(p)
		walk := view.Walk(view.All(), false, compare)
		seen, n, last := engine.NewBitmap(int(t.next)), uint32(0), uint32(0)
		for ord, row, ok := walk.Next(); ok; ord, row, ok = walk.Next() {
			switch {
			case !t.Alive(ord) || t.rows.Get(ord) != row || seen.Get(int(ord)):
				return fault("entity %d is listed twice, or it is deleted", ord)
			case n > 0 && compare(last, row) > 0:
				return fault("entity %d is out of order", ord)
			}
			seen.Set(int(ord))
			last, n = row, n+1
			if n%verifyTick == 0 {
				if err := ctx.Err(); err != nil {
					return err
				}
			}
		}
		if n != t.live {
			return fault("%d entities are listed, but %d are alive", n, t.live)
		}
	}
	return nil
}

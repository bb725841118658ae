package version

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/codec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/segment"
)

// orderOf implements [Unstored] for a level of a sorted index.
type orderOf struct {
	*index.SortedLevel
	subject string // see the function
}

// Blocks implements Unstored.
func (o orderOf) Blocks(add func(name string, data []byte) error) error {
	return o.SortedLevel.Blocks(o.subject, add)
}

// orderSubject returns the text that identifies property p of a type in the segment of its sorted index.
func orderSubject(t *schema.Type, p int) string {
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

// unstoredOrders lists the levels of the sorted indexes that are not stored. The next manifest lists
// the levels of all sorted indexes that were built.
func (s *searches) unstoredOrders() (parts []Unstored) {
	latest := s.orders.latest()
	stored := map[int][]*index.SortedLevel{}
	for _, p := range slices.Sorted(maps.Keys(latest)) {
		stored[p] = latest[p].Levels()
		for _, l := range stored[p] {
			if l.Name() == "" {
				parts = append(parts, orderOf{l, orderSubject(s.typ, p)})
			}
		}
	}
	s.orders.stored = stored
	return parts
}

// ordersToStore reports whether there is a sorted index that is not stored.
func (s *searches) ordersToStore() bool {
	for _, x := range s.orders.latest() {
		if slices.ContainsFunc(x.Levels(), func(l *index.SortedLevel) bool { return l.Name() == "" }) {
			return true
		}
	}
	return false
}

// disownOrders is Disown for the sorted indexes.
func (s *searches) disownOrders(there func(name string) bool) {
	disown := func(levels []*index.SortedLevel) {
		for _, l := range levels {
			if l.Name() != "" && !there(l.Name()) {
				l.Named("")
			}
		}
	}
	for _, x := range s.orders.latest() {
		disown(x.Levels())
	}
	for _, levels := range s.orders.stored {
		disown(levels)
	}
}

// storedOrders yields the segments of the sorted indexes for the manifest, in the order of the
// properties: for each index the segments of its levels, up to one that is not stored.
func (s *searches) storedOrders(yield func(p int, segments []string) bool) {
	stored := s.orders.stored
	for _, p := range slices.Sorted(maps.Keys(stored)) {
		var names []string
		for _, l := range stored[p] {
			if l.Name() == "" {
				break
			}
			names = append(names, l.Name())
		}
		if len(names) > 0 && !yield(p, names) {
			return
		}
	}
}

// appendOrders appends the manifest's entries for the sorted indexes.
func (s *searches) appendOrders(dst []byte) []byte {
	n := 0
	for range s.storedOrders {
		n++
	}
	dst = binary.AppendUvarint(dst, uint64(n))
	for p, names := range s.storedOrders {
		dst = binary.AppendUvarint(dst, uint64(p))
		dst = codec.AppendTexts(dst, names)
	}
	return dst
}

// readOrders reads the entries of a manifest for the sorted indexes. The first use reads their segments.
func (s *searches) readOrders(r *codec.Reader, open segment.Opener) error {
	for range r.Count() {
		p := r.Index(len(s.typ.Props))
		names := r.Texts()
		if r.Err == nil && len(names) == 0 {
			r.Fail("a sorted index has no segments")
		}
		if r.Err != nil {
			return r.Err
		}
		if !s.typ.Sortable(p) {
			r.Fail(fmt.Sprintf("%s %s: the property %s cannot have a sorted index", s.typ.Entity, s.typ.Name, s.typ.Props[p].Name))
			return r.Err
		}
		sources := make([]column.Source, len(names))
		for i, name := range names {
			src, err := open.Source(name)
			if err != nil {
				return err
			}
			sources[i] = src
		}
		o := &s.orders
		if o.earlier == nil {
			o.earlier = map[int]*index.Sorted{}
		}
		o.earlier[p] = index.OpenSorted(names, orderSubject(s.typ, p), sources)
	}
	return r.Err
}

// verifyOrders checks that each sorted index lists the live entities once, in order.
func verifyOrders(ctx context.Context, t *Table) (err error) {
	defer corruption.Catch(corruption.Watch(), &err)
	latest := t.texts.orders.latest()
	for _, p := range slices.Sorted(maps.Keys(latest)) {
		object := t.object()
		for _, l := range latest[p].Levels() {
			l.Load()
			if l.Name() != "" {
				object = "segment " + l.Name()
			}
		}
		fault := func(format string, args ...any) error {
			return &engine.Corrupt{Object: object, Detail: fmt.Sprintf("the sorted index of %s: ", orderSubject(t.Type, p)) + fmt.Sprintf(format, args...)}
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

package version

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// orders holds the sorted indexes of one state of a table. The first reader that needs an
// index builds it; the next checkpoint stores its levels.
type orders struct {
	mu      sync.Mutex            // guards built and earlier
	built   map[int]*order        // by property: its index, built or being built
	earlier map[int]*index.Sorted // indexes of an earlier state, by property

	// stored holds, by property, the levels that the next manifest lists if they are stored. Only the
	// goroutine that writes manifests may use it.
	stored map[int][]*index.SortedLevel
}

// order is the sorted index of one property.
type order struct {
	buildLock chan struct{} // a mutex (capacity 1), held by the goroutine that builds view
	view      *index.Sorted // guarded by buildLock until set is closed
	set       chan struct{} // closed when view is ready
}

// sortBytes is the memory per entity while an index is built, in bytes: a key, an ordinal,
// and the length of a text.
const sortBytes = 24

// SortedBy returns the sorted index of property p, which must be Sortable. The first call
// builds it, from the index of an earlier state if there is one; concurrent calls wait. A build
// from scratch calls the function `afford` with the number of bytes that it needs, and afterwards
// with the negative number to return them. If `afford` denies the bytes, SortedBy returns nil. The
// only possible error is that of the context.
func (t *Table) SortedBy(ctx context.Context, p int, afford func(bytes int) bool) (*index.Sorted, error) {
	o, past := t.texts.orders.of(p)
	select {
	case <-o.set:
		return o.view, nil
	default:
	}
	select {
	case o.buildLock <- struct{}{}:
		defer func() { <-o.buildLock }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if o.view != nil {
		return o.view, nil
	}
	var view *index.Sorted
	if past != nil {
		view = past.Update(t.next, t.rows, t.CompareRows(p))
	} else {
		bytes := int(t.live) * sortBytes
		if !afford(bytes) {
			return nil, nil
		}
		defer afford(-bytes)
		ords, err := sortOrdinals(ctx, &t.Rows, p)
		if err != nil {
			return nil, err
		}
		view = index.NewSorted(ords, t.rows, t.next)
	}
	o.view = view
	close(o.set)
	t.texts.orders.drop(p)
	return view, nil
}

// CompareRows returns a function that compares rows by property p: nulls first, NaN last.
func (t *Rows) CompareRows(p int) func(a, b uint32) int {
	return func(a, b uint32) int { return CompareValues(t.ValueAt(a, p), t.ValueAt(b, p)) }
}

// CompareValues compares two values of one scalar type: nulls first, NaN last.
func CompareValues(a, b value.Value) int {
	switch x, y := a.IsNull(), b.IsNull(); {
	case x && y:
		return 0
	case x:
		return -1
	case y:
		return 1
	}
	if c, ok := value.Compare(a, b); ok {
		return c
	}
	return cmp.Compare(nan(a), nan(b))
}

// nan returns 1 for a NaN and 0 for any other value.
func nan(v value.Value) int {
	if v.Kind().IsFloat() && math.IsNaN(v.Float()) {
		return 1
	}
	return 0
}

// sortOrdinals lists the ordinals of the live entities by property p, then by ordinal.
func sortOrdinals(ctx context.Context, t *Rows, p int) ([]uint32, error) {
	type text struct {
		s   string
		ord uint32
	}
	type number struct{ key, ord uint64 }
	var (
		texts   []text
		numbers []number
		ords    = make([]uint32, 0, t.live)
		vec     column.Vec
		scratch []uint32
		batch   [1024]uint32
	)
	for next := uint32(0); next < t.next; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, more := t.Scan(next, batch[:])
		next = more
		t.Gather(p, batch[:n], &vec, &scratch)
		for i, ord := range batch[:n] {
			switch {
			case vec.IsNull(i):
				ords = append(ords, ord) // nulls come first
			case vec.Type.Kind.Storage().HasBytes():
				texts = append(texts, text{vec.Strings[i], ord})
			default:
				numbers = append(numbers, number{orderedKey(&vec, i), uint64(ord)})
			}
		}
	}
	// The comparison functions check the context every sortTick calls. Once the context has ended,
	// they report equality, so that the sort ends soon.
	left, failed := sortTick, error(nil)
	ended := func() bool {
		if left--; left < 0 {
			left, failed = sortTick, ctx.Err()
		}
		return failed != nil
	}
	slices.SortFunc(texts, func(a, b text) int {
		if ended() {
			return 0
		}
		if c := cmp.Compare(a.s, b.s); c != 0 {
			return c
		}
		return cmp.Compare(a.ord, b.ord)
	})
	slices.SortFunc(numbers, func(a, b number) int {
		if ended() {
			return 0
		}
		if c := cmp.Compare(a.key, b.key); c != 0 {
			return c
		}
		return cmp.Compare(a.ord, b.ord)
	})
	if failed != nil {
		return nil, failed
	}
	for _, x := range texts {
		ords = append(ords, x.ord)
	}
	for _, x := range numbers {
		ords = append(ords, uint32(x.ord))
	}
	return ords, nil
}

// sortTick is the number of comparisons between two checks of the context.
const sortTick = 1 << 14

// orderedKey maps a number to a key; the keys, as unsigned integers, have the numbers'
// order.
func orderedKey(vec *column.Vec, i int) uint64 {
	switch vec.Type.Kind.Storage() {
	case value.InFloat32, value.InFloat64:
		f := vec.Floats[i]
		switch {
		case math.IsNaN(f):
			return math.MaxUint64
		case f == 0:
			f = 0 // −0 equals 0
		}
		bits := math.Float64bits(f)
		if bits>>63 != 0 {
			return ^bits
		}
		return bits | 1<<63
	case value.InUint64:
		return uint64(vec.Ints[i])
	}
	return uint64(vec.Ints[i]) ^ 1<<63
}

// of returns the order of property p, built or not, and the index of an earlier state, if any.
func (o *orders) of(p int) (*order, *index.Sorted) {
	o.mu.Lock()
	defer o.mu.Unlock()
	m := o.built[p]
	if m == nil {
		if o.built == nil {
			o.built = map[int]*order{}
		}
		m = &order{buildLock: make(chan struct{}, 1), set: make(chan struct{})}
		o.built[p] = m
	}
	return m, o.earlier[p]
}

// drop forgets the earlier index of a property after the current index has been built.
func (o *orders) drop(p int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.earlier, p)
}

// follow takes over the latest built indexes of the previous state; new indexes will be derived
// from these.
func (o *orders) follow(before *orders) {
	before.mu.Lock()
	defer before.mu.Unlock()
	if len(before.earlier) > 0 {
		o.earlier = maps.Clone(before.earlier)
	}
	for p, m := range before.built {
		select {
		case <-m.set:
			if o.earlier == nil {
				o.earlier = map[int]*index.Sorted{}
			}
			o.earlier[p] = m.view
		default:
		}
	}
}

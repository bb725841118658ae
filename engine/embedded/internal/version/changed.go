package version

import (
	"context"
	"slices"
	"strings"
	"unsafe"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
)

// candidate is an entity that may differ between two tables of one type.
type candidate struct {
	id      string // may alias memory of the tables
	was, is uint32 // its ordinals in the earlier and in the later table; NoOrd where the entity does not exist
}

// sorted sorts candidates by id and joins the two candidates of an entity whose ordinals differ. It returns the
// list in the same memory.
func sorted(list []candidate) []candidate {
	slices.SortFunc(list, func(a, b candidate) int { return strings.Compare(a.id, b.id) })
	n := 0
	for _, c := range list {
		if n > 0 && list[n-1].id == c.id {
			list[n-1].was, list[n-1].is = min(list[n-1].was, c.was), min(list[n-1].is, c.is) // NoOrd is the greatest ordinal
			continue
		}
		list[n] = c
		n++
	}
	clear(list[n:])
	return list[:n]
}

// changedEntities lists, by id, the entities that may differ between two tables of one type. The only possible
// error is that of the context.
func changedEntities(ctx context.Context, was, is *Table) ([]candidate, error) {
	var list []candidate
	if err := eachChanged(ctx, was, is, func(c candidate) { list = append(list, c) }); err != nil {
		return nil, err
	}
	return sorted(list), nil
}

// eachChanged calls `yield` with the entities that may differ between two tables of one type, in no order. It
// passes an entity whose ordinals differ twice, once for each table. The only possible error is that of the
// context.
func eachChanged(ctx context.Context, was, is *Table, yield func(c candidate)) error {
	return eachChangedRow(ctx, was, is, func(ord, x, y uint32) {
		switch {
		case y == index.Dead:
			yield(candidate{was.idAt(x), ord, NoOrd})
		case x == index.Dead:
			yield(candidate{is.idAt(y), NoOrd, ord})
		default:
			before, now := was.idAt(x), is.idAt(y)
			if before == now {
				yield(candidate{now, ord, ord})
				return
			}
			yield(candidate{before, ord, NoOrd})
			yield(candidate{now, NoOrd, ord})
		}
	})
}

// eachChangedRow calls `yield` with each ordinal whose rows in two tables of one type may differ, and with the
// rows, of which one may be index.Dead. If it passes the row of an entity in one table, it also passes the
// entity's row in the other table, if there is one. It skips the rows that the tables share without comparing
// their values. It skips a page of row numbers that the tables share only if they share the rows too: after
// schema changes, the same stored row may have other values in the other table. The only possible error is that
// of the context.
func eachChangedRow(ctx context.Context, a, b *Table, yield func(ord, x, y uint32)) error {
	if a == b {
		return nil
	}
	shared := sharedRows(a, b)
	complete := shared == min(a.base+uint32(len(a.tail)), b.base+uint32(len(b.tail)))
	end := max(a.next, b.next)
	for first := uint32(0); first < end; first += 256 {
		if first%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		last := min(first+256, end)
		x, y := a.rows.Page(first), b.rows.Page(first)
		switch {
		case x != y || last > min(a.next, b.next):
		case x != nil && complete: // a shared page has only row numbers that both tables have
			continue
		case x == nil && last <= shared:
			continue
		}
		for ord := first; ord < last; ord++ {
			x, y := index.Dead, index.Dead
			if ord < a.next {
				x = a.rows.Get(ord)
			}
			if ord < b.next {
				y = b.rows.Get(ord)
			}
			if x == y && (x == index.Dead || x < shared) || sameTailRow(a, x, b, y) {
				continue
			}
			yield(ord, x, y)
		}
	}
	return nil
}

// sharedRows returns the number of rows at the start of both tables that the tables share: rows
// in the same segment, read with the same columns, and rows of the tail with the same values.
func sharedRows(a, b *Table) uint32 {
	end := uint32(0)
	for i := range min(len(a.Segs), len(b.Segs)) {
		x, y := a.Segs[i], b.Segs[i]
		if x != y && (x.Name == "" || x.Name != y.Name || !x.Origin.Equal(y.Origin)) {
			return end
		}
		end = x.Start + x.N
	}
	if len(a.Segs) != len(b.Segs) {
		return end
	}
	n := min(len(a.tail), len(b.tail))
	if unsafe.SliceData(a.tail) == unsafe.SliceData(b.tail) {
		return end + uint32(n) // a tail only grows, and one lineage appends to it
	}
	for range n {
		if !sameTailRow(a, end, b, end) {
			break
		}
		end++
	}
	return end
}

// sameTailRow reports whether two tail rows are the same row that a transaction put.
func sameTailRow(a *Table, x uint32, b *Table, y uint32) bool {
	if x == index.Dead || y == index.Dead || x < a.base || y < b.base {
		return false
	}
	r, s := &a.tail[x-a.base], &b.tail[y-b.base]
	return r.ID == s.ID && r.Src == s.Src && r.Dst == s.Dst && r.Claims == s.Claims && unsafe.SliceData(r.Vals) == unsafe.SliceData(s.Vals)
}

package index

// Dead is the row of an ordinal whose entity is deleted.
const Dead = ^uint32(0)

// Rows maps ordinals to rows. In a missing page, each ordinal is its own row.
type Rows struct{ pages Pages[uint32] }

// Dense reports whether every ordinal is its own row, and none is dead.
func (r *Rows) Dense() bool { return r.pages.Empty() }

// Get returns the row of an ordinal, or Dead.
func (r *Rows) Get(ord uint32) uint32 {
	if p := r.pages.Get(ord); p != nil {
		return *p
	}
	return ord
}

// Page returns the rows of the 256 ordinals from `first` on, or nil if each is its own row.
func (r *Rows) Page(first uint32) *[256]uint32 { return r.pages.Page(first) }

// Set sets the row of an ordinal, which may be Dead.
func (r *Rows) Set(owner *Owner, ord, row uint32) {
	if row == ord && r.pages.Get(ord) == nil {
		return
	}
	*r.pages.Edit(owner, ord, identity) = row
}

// All yields each existing page with its first ordinal, in order.
func (r *Rows) All(yield func(first uint32, rows *[256]uint32) bool) { r.pages.All(yield) }

// end returns the least number that is above the rows of all live entities. The parameter `next` is
// the number of ordinals.
func (r *Rows) end(next uint32) uint32 {
	end := uint32(0)
	for first, rows := range r.All {
		for i, row := range rows {
			if row != Dead && first+uint32(i) < next {
				end = max(end, row+1)
			}
		}
	}
	for upto := next; upto > 0; {
		first := (upto - 1) &^ (LeafSize - 1)
		if r.Page(first) == nil {
			return max(end, upto) // without a page, the rows are the ordinals
		}
		upto = first
	}
	return end
}

// identity sets each place to its own number, counted from `first`.
func identity(first uint32, places *[256]uint32) {
	for i := range places {
		places[i] = first + uint32(i)
	}
}

// Changes compares the rows with those of an earlier state, page by page, by the identity of the
// pages. It calls f, in order, with every ordinal that has another row than before, and with both
// rows. The earlier state had `end` ordinals, this one has `next`; a new ordinal was Dead before.
func (r *Rows) Changes(before *Rows, end, next uint32, f func(ord, was, is uint32)) {
	compare := func(ord uint32) {
		was, is := uint32(Dead), uint32(Dead)
		if ord < end {
			was = before.Get(ord)
		}
		if ord < next {
			is = r.Get(ord)
		}
		if was != is {
			f(ord, was, is)
		}
	}
	for n, nd := range r.pages.root {
		var old *node[uint32]
		if n < len(before.pages.root) {
			old = before.pages.root[n]
		}
		if nd == nil || nd == old {
			continue
		}
		for k, l := range nd.leaves {
			if l == nil || old != nil && old.leaves[k] == l {
				continue
			}
			first := uint32(n)<<nodeBits | uint32(k)<<leafBits
			for ord := first; ord < min(first+LeafSize, end); ord++ {
				compare(ord)
			}
		}
	}
	for ord := end; ord < next; ord++ {
		compare(ord)
	}
}

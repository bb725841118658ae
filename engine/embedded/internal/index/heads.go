package index

// The tree of list heads has leaves of 16 places under two levels of nodes with 32
// children. Pages are small because a commit copies one page of each level for each place
// that it changes, and these places are far apart.
const (
	headBits   = 4                       // bits of a position that select its place in a leaf
	branchBits = 5                       // bits that select a child of an upper or lower node
	headsBits  = headBits + 2*branchBits // bits of a position below the root
)

// heads is a persistent array of heads of persistent lists: a copy of the struct is a
// snapshot. A place without a page holds an empty list.
type heads[T any] struct {
	root  []*upper[T] // by the high bits of a position
	owner *Owner      // owner of root
}

// upper is a node of the first level, under the root.
type upper[T any] struct {
	owner *Owner                     // the transaction that may change the node in place
	below [1 << branchBits]*lower[T] // nil for a part without lists
}

// lower is a node of the second level, above the leaves.
type lower[T any] struct {
	owner  *Owner                        // the transaction that may change the node in place
	leaves [1 << branchBits]*headLeaf[T] // nil for a part without lists
}

// headLeaf is a leaf of the tree: it holds the heads of neighbouring lists.
type headLeaf[T any] struct {
	owner  *Owner            // the transaction that may change the leaf in place
	places [1 << headBits]*T // heads of the lists; nil for an empty list
}

// get returns the head of list i, or nil.
func (h *heads[T]) get(i uint32) *T {
	n := i >> headsBits
	if int(n) >= len(h.root) || h.root[n] == nil {
		return nil
	}
	lo := h.root[n].below[i>>(headBits+branchBits)&(1<<branchBits-1)]
	if lo == nil {
		return nil
	}
	l := lo.leaves[i>>headBits&(1<<branchBits-1)]
	if l == nil {
		return nil
	}
	return l.places[i&(1<<headBits-1)]
}

// edit returns a pointer to the head of list i for writing, in a page that belongs to
// owner.
func (h *heads[T]) edit(owner *Owner, i uint32) **T {
	n := int(i >> headsBits)
	if h.owner != owner || n >= len(h.root) {
		root := make([]*upper[T], max(n+1, len(h.root)))
		copy(root, h.root)
		h.root, h.owner = root, owner
	}
	up := h.root[n]
	switch {
	case up == nil:
		up = &upper[T]{owner: owner}
	case up.owner != owner:
		up = &upper[T]{owner: owner, below: up.below}
	}
	h.root[n] = up
	lo := &up.below[i>>(headBits+branchBits)&(1<<branchBits-1)]
	switch {
	case *lo == nil:
		*lo = &lower[T]{owner: owner}
	case (*lo).owner != owner:
		*lo = &lower[T]{owner: owner, leaves: (*lo).leaves}
	}
	l := &(*lo).leaves[i>>headBits&(1<<branchBits-1)]
	switch {
	case *l == nil:
		*l = &headLeaf[T]{owner: owner}
	case (*l).owner != owner:
		*l = &headLeaf[T]{owner: owner, places: (*l).places}
	}
	return &(*l).places[i&(1<<headBits-1)]
}

// all yields each list that is not empty: its number and its head.
func (h *heads[T]) all(yield func(i uint32, head *T) bool) {
	for n, up := range h.root {
		if up == nil {
			continue
		}
		for j, lo := range up.below {
			if lo == nil {
				continue
			}
			for k, l := range lo.leaves {
				if l == nil {
					continue
				}
				first := uint32(n)<<headsBits | uint32(j)<<(headBits+branchBits) | uint32(k)<<headBits
				for i, head := range l.places {
					if head != nil && !yield(first|uint32(i), head) {
						return
					}
				}
			}
		}
	}
}

// Package index finds entities by keys: hashes of values, the nodes that edges join, or the order of a property.
//
// An index has a compact base, which is built at once, immutable levels, and a copy-on-write overlay for the latest changes.
// It returns candidates: the caller checks that they are alive. The packages below index texts and vectors.
package index

import "slices"

// A page tree has leaves of 256 places under nodes of 64 leaves.
const (
	leafBits = 8             // bits of a position that select a place in a leaf
	LeafSize = 1 << leafBits // places in a leaf
	nodeSize = 64            // leaves under a node
	nodeBits = leafBits + 6  // bits of a position below the root
)

// Owner identifies the pages that one transaction has copied and may change in place. Owners are
// compared by address. The struct contains a byte so that each Owner has its own address.
type Owner struct{ _ byte }

// Pages is a persistent array: a copy of the struct is a snapshot. The zero Pages has no
// pages. The caller decides the value of a place without a page.
type Pages[T any] struct {
	root  []*node[T] // by the high bits of a position
	owner *Owner     // owner of root
}

// node is a page below the root, with the leaves of 64 ranges of places.
type node[T any] struct {
	owner  *Owner             // the transaction that may change the node in place
	leaves [nodeSize]*leaf[T] // nil for a leaf that does not exist
}

// leaf is a page of 256 places.
type leaf[T any] struct {
	owner  *Owner      // the transaction that may change the leaf in place
	places [LeafSize]T // the elements
}

// Empty reports whether the array has no pages.
func (p *Pages[T]) Empty() bool { return len(p.root) == 0 }

// Get returns a pointer to place i, or nil if its page does not exist.
func (p *Pages[T]) Get(i uint32) *T {
	n := i >> nodeBits
	if int(n) >= len(p.root) || p.root[n] == nil {
		return nil
	}
	l := p.root[n].leaves[i>>leafBits%nodeSize]
	if l == nil {
		return nil
	}
	return &l.places[i%LeafSize]
}

// Page returns the 256 places from i, a multiple of 256, or nil if the page does not exist.
func (p *Pages[T]) Page(i uint32) *[256]T {
	n := i >> nodeBits
	if int(n) >= len(p.root) || p.root[n] == nil {
		return nil
	}
	if l := p.root[n].leaves[i>>leafBits%nodeSize]; l != nil {
		return &l.places
	}
	return nil
}

// Edit returns a pointer to place i for writing, in a page that belongs to owner. If Edit creates
// the page and `fill` is not nil, Edit calls `fill` with the index of the page's first place.
func (p *Pages[T]) Edit(owner *Owner, i uint32, fill func(first uint32, places *[256]T)) *T {
	n := int(i >> nodeBits)
	if p.owner != owner {
		p.root, p.owner = slices.Clone(p.root), owner
	}
	for n >= len(p.root) {
		p.root = append(p.root, nil)
	}
	nd := p.root[n]
	switch {
	case nd == nil:
		nd = &node[T]{owner: owner}
		p.root[n] = nd
	case nd.owner != owner:
		nd = &node[T]{owner: owner, leaves: nd.leaves}
		p.root[n] = nd
	}
	k := i >> leafBits % nodeSize
	l := nd.leaves[k]
	switch {
	case l == nil:
		l = &leaf[T]{owner: owner}
		if fill != nil {
			fill(i&^(LeafSize-1), &l.places)
		}
		nd.leaves[k] = l
	case l.owner != owner:
		l = &leaf[T]{owner: owner, places: l.places}
		nd.leaves[k] = l
	}
	return &l.places[i%LeafSize]
}

// All yields each page with the index of its first place, in order.
func (p *Pages[T]) All(yield func(first uint32, places *[256]T) bool) {
	for n, nd := range p.root {
		if nd == nil {
			continue
		}
		for k, l := range nd.leaves {
			if l != nil && !yield(uint32(n)<<nodeBits|uint32(k)<<leafBits, &l.places) {
				return
			}
		}
	}
}

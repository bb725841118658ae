// Package index finds entities: by a hash of what they hold, and by the edges that
// join them. An index is a compact base, built at once, and a copy-on-write overlay
// for what came after; it proposes, and whoever asks checks that the entity is alive.
package index

import "slices"

// A page tree has leaves of 256 places under nodes of 64 leaves.
const (
	leafBits = 8
	leafSize = 1 << leafBits
	nodeSize = 64
	nodeBits = leafBits + 6
)

// Owner marks the pages that one transaction has copied and may change in place.
type Owner struct{ _ byte }

// Pages is a persistent array: a copy of the struct is a snapshot. The zero Pages
// has no page; what a place without a page means is the caller's.
type Pages[T any] struct {
	root  []*node[T]
	owner *Owner // of root
}

type node[T any] struct {
	owner  *Owner
	leaves [nodeSize]*leaf[T]
}

type leaf[T any] struct {
	owner  *Owner
	places [leafSize]T
}

// Empty reports whether there is no page at all.
func (p *Pages[T]) Empty() bool { return len(p.root) == 0 }

// Get returns the place of i, or nil when its page is missing.
func (p *Pages[T]) Get(i uint32) *T {
	n := i >> nodeBits
	if int(n) >= len(p.root) || p.root[n] == nil {
		return nil
	}
	l := p.root[n].leaves[i>>leafBits%nodeSize]
	if l == nil {
		return nil
	}
	return &l.places[i%leafSize]
}

// Page returns the 256 places from i on, a multiple of 256, or nil.
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

// Edit returns the place of i for writing, in a page that belongs to owner. A page
// that is made is filled with fill, given the index of its first place, unless it
// is nil.
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
			fill(i&^(leafSize-1), &l.places)
		}
		nd.leaves[k] = l
	case l.owner != owner:
		l = &leaf[T]{owner: owner, places: l.places}
		nd.leaves[k] = l
	}
	return &l.places[i%leafSize]
}

// All calls yield with each page and the index of its first place, in order.
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

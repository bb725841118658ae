package fs

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// Ops returns the number of durable operations so far: Create, Rename, Remove, MkdirAll,
// SyncDir, and WriteAt and Sync of files.
func (m *Mem) Ops() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ops
}

// CrashAfter simulates a crash after n more durable operations. Every later operation,
// including reads, does nothing and fails with [ErrCrashed].
func (m *Mem) CrashAfter(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.limit = m.ops + n
}

// Crash returns a copy of the file system as it would be after a power failure at this
// moment. It does not change m. The seed decides which of the changes that were not synced
// survive: none, all, the oldest ones, or any subset. Files are torn at multiples of 1, 8,
// 512 or 4096 bytes. The copy has no open files and no held locks.
func (m *Mem) Crash(seed uint64) *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	rng := rand.New(rand.NewPCG(seed, seed))
	after := NewMem()
	copies := map[*inode]*inode{}
	for _, dir := range slices.Sorted(maps.Keys(m.dirs)) {
		d := m.dirs[dir]
		names := maps.Clone(d.durable)
		keep := survivors(rng, len(d.pending))
		for i, c := range d.pending {
			if keep(i) {
				c.applyTo(names)
			}
		}
		// In order of names, so that a seed always draws the same numbers.
		for _, name := range slices.Sorted(maps.Keys(names)) {
			f := names[name]
			if copies[f] == nil {
				copies[f] = f.crash(rng)
			}
			names[name] = copies[f]
		}
		after.dirs[dir] = &memDir{names: names, durable: maps.Clone(names)}
	}
	return after
}

// crash returns the file as it is after a power failure. The result shares the durable
// pages, which are never written in place.
func (n *inode) crash(rng *rand.Rand) *inode {
	unit := [...]int{1, 8, 512, pageSize}[rng.IntN(4)]
	dirty := slices.Sorted(maps.Keys(n.dirty))
	keep := survivors(rng, len(dirty)*(pageSize/unit))
	pages := slices.Clone(n.durable)
	for d, i := range dirty {
		var mixed page
		if old := n.durablePage(i); old != nil {
			mixed = *old
		}
		for u := range pageSize / unit {
			if keep(d*(pageSize/unit) + u) {
				copy(mixed[u*unit:(u+1)*unit], n.pages[i][u*unit:])
			}
		}
		if i >= len(pages) {
			pages = append(pages, make([]*page, i+1-len(pages))...)
		}
		pages[i] = &mixed
	}
	size := n.durableSize
	if grown := n.size - n.durableSize; grown > 0 {
		keep := survivors(rng, 2)
		switch first, second := keep(0), keep(1); {
		case first && second:
			size = n.size
		case first || second:
			size += rng.Int64N(grown)
		}
	}
	truncate(pages, size)
	return &inode{
		pages: pages, durable: slices.Clone(pages),
		size: size, durableSize: size,
		dirty: map[int]struct{}{},
	}
}

// survivors draws which of n changes survive.
func survivors(rng *rand.Rand, n int) func(i int) bool {
	switch rng.IntN(4) {
	case 0:
		return func(int) bool { return false }
	case 1:
		return func(int) bool { return true }
	case 2:
		first := rng.IntN(n + 1)
		return func(i int) bool { return i < first }
	}
	return func(int) bool { return rng.IntN(2) == 0 }
}

// truncate clears the pages after the given size, so that a file that grows again reads zeros
// there.
func truncate(pages []*page, size int64) {
	for i, pg := range pages {
		switch start := int64(i) * pageSize; {
		case pg == nil || start+pageSize <= size:
		case start >= size:
			pages[i] = nil
		default:
			own := *pg
			clear(own[size-start:])
			pages[i] = &own
		}
	}
}

// Package locks has the locks of a graph that the standard library lacks.
package locks

import (
	"sync"
	"sync/atomic"
)

// Layout is the lock that protects the row layout, that is, which row has which number in which
// segment. A checkpoint (also the one that Close makes) and a cleanup hold it for writing, because
// a checkpoint lays out the rows of each branch anew. A rewrite releases it while it makes the new
// segments. Calls that carry the state of one branch or schema to another hold it for reading:
// CreateBranch, DeleteBranch, Merge and ApplySchema.
type Layout struct {
	mu sync.RWMutex

	// carried counts the calls that have locked the layout for reading. It does not change while the
	// layout is locked for writing.
	Carried atomic.Int64

	// merging is held by Merge and DeleteBranch, and by CreateBranch if the new branch begins at a
	// commit that is not the tip of a branch. So only one of these calls runs at a time. It is
	// locked after layout.
	Merging sync.Mutex
}

// Lock locks the layout for writing.
func (l *Layout) Lock() { l.mu.Lock() }

// Unlock undoes Lock.
func (l *Layout) Unlock() { l.mu.Unlock() }

// RLock locks the layout for reading.
func (l *Layout) RLock() {
	l.mu.RLock()
	l.Carried.Add(1)
}

// RUnlock undoes RLock.
func (l *Layout) RUnlock() { l.mu.RUnlock() }

// Package receipts finds the outcome of a call that is repeated with its idempotency key.
package receipts

import (
	"cmp"
	"hash/maphash"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/ancestry"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/logrecord"
)

// receiptAge is the age up to which a receipt answers a call with the same idempotency key.
const receiptAge = 24 * time.Hour

// pruneEvery says when the method `Add` looks for expired receipts: each time the number of
// receipts is a multiple of pruneEvery.
const pruneEvery = 1024

// Set holds the receipts of the commits that were made with an idempotency key on a
// branch in the last day. Each receipt takes the bytes of its stored form (about 60 and the
// key), 24 bytes for its place in the list, and 20 to 40 bytes in a hash table.
//
// A writer adds the receipt of a commit while the commit's record gets its place in the log.
type Set struct {
	mu          sync.Mutex        // guards all fields
	list        []Packed          // in commit order; elements never change; see current
	first       uint32            // the number of list[0]; receipts are numbered in order
	at          map[uint64]uint32 // by hash of the key: the number of the receipt
	collisions  map[Key]uint32    // receipts with a hash that the map `at` contains for another receipt
	positions   map[string]Packed // by source: the receipt with its position; not in list, and never expires
	ignoredBits uint64            // hash bits to ignore; tests set it to make hashes collide
}

// Packed is the form in which a receipt is kept in memory: packed into one string.
type Packed struct {
	commit int    // the commit's number in the history
	packed string // see [logrecord.Receipt.Pack]
}

// Key identifies a receipt within a branch by the actor and the idempotency key that the
// actor sent.
type Key struct{ Actor, Key string }

// receiptSeed is the seed of the hashes in idempotency.at.
var receiptSeed = maphash.MakeSeed()

// hash returns the hash of k. It is the key of the map i.at.
func (i *Set) hash(k Key) uint64 {
	return maphash.Comparable(receiptSeed, k) &^ i.ignoredBits
}

// Outdated reports whether a receipt that was made at the time `made` has expired at the time
// `now`.
func Outdated(now, made time.Time) bool { return now.Sub(made) >= receiptAge }

// Add adds the receipt of commit c, unless rec is nil. REQUIRES: c is in the history h.
func (i *Set) Add(h *ancestry.History, c engine.Commit, rec *logrecord.Receipt) {
	if rec == nil {
		return
	}
	n, _ := h.Number(c.ID)
	i.mu.Lock()
	defer i.mu.Unlock()
	if source, _, ok := rec.Position(); ok {
		if i.positions == nil {
			i.positions = map[string]Packed{}
		}
		i.positions[source] = Packed{n, rec.Pack()}
		return
	}
	if len(i.list) > 0 && len(i.list)%pruneEvery == 0 {
		i.pruneLocked(h, c.Time)
	}
	number := i.first + uint32(len(i.list))
	i.list = append(i.list, Packed{n, rec.Pack()})
	k := Key{c.Actor, rec.Key}
	if i.at == nil {
		i.at = map[uint64]uint32{}
	}
	sum := i.hash(k)
	if other, taken := i.at[sum]; taken && i.keyLocked(h, other) != k {
		if i.collisions == nil {
			i.collisions = map[Key]uint32{}
		}
		i.collisions[k] = number
		return
	}
	delete(i.collisions, k)
	i.at[sum] = number
}

// pruneLocked drops the expired receipts. REQUIRES: i.mu is locked.
func (i *Set) pruneLocked(h *ancestry.History, now time.Time) {
	n := slices.IndexFunc(i.list, func(x Packed) bool { return !Outdated(now, h.At(x.commit).Time) })
	if n < 0 {
		n = len(i.list)
	}
	for at := range uint32(n) {
		number := i.first + at
		k := i.keyLocked(h, number)
		if sum := i.hash(k); i.at[sum] == number {
			delete(i.at, sum)
		}
		if i.collisions[k] == number {
			delete(i.collisions, k)
		}
	}
	i.list, i.first = slices.Clone(i.list[n:]), i.first+uint32(n)
}

// keyLocked returns the key of the receipt with a number. REQUIRES: i.mu is locked.
func (i *Set) keyLocked(h *ancestry.History, number uint32) Key {
	x := i.list[number-i.first]
	return Key{h.At(x.commit).Actor, logrecord.UnpackReceipt(x.packed).Key}
}

// Find returns the receipt of a key; ok is false if there is none.
func (i *Set) Find(h *ancestry.History, k Key) (rec logrecord.Receipted, ok bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	n, ok := i.collisions[k]
	if !ok {
		if n, ok = i.at[i.hash(k)]; !ok || i.keyLocked(h, n) != k {
			return rec, false
		}
	}
	return i.list[n-i.first].Unpack(h), true
}

// Repeated returns the receipt of the earlier write with the same key and actor; ok is false if
// there was no such write in the last day. It returns a *engine.Conflict if the earlier write had
// neither the body of w nor the body `former`.
func (i *Set) Repeated(h *ancestry.History, actor string, w *logrecord.Receipt, former [32]byte, now time.Time) (rec logrecord.Receipted, ok bool, err error) {
	rec, ok = i.Find(h, Key{actor, w.Key})
	if !ok || Outdated(now, rec.Commit.Time) {
		return rec, false, nil
	}
	if rec.Receipt.Body != w.Body && rec.Receipt.Body != former {
		return rec, false, &engine.Conflict{Reason: "idempotency key " + w.Key + " was already used for a different write, commit " + rec.Commit.ID + "; choose another key"}
	}
	return rec, true, nil
}

// Position returns the position of a source, or "" if there is none.
func (i *Set) Position(source string) string {
	i.mu.Lock()
	defer i.mu.Unlock()
	x, ok := i.positions[source]
	if !ok {
		return ""
	}
	rec := logrecord.UnpackReceipt(x.packed)
	_, at, _ := rec.Position()
	return at
}

// Stored lists what a checkpoint stores: the receipts with positions, and those of Current.
func (i *Set) Stored(h *ancestry.History, now time.Time) []Packed {
	current := i.Current(h, now)
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.positions) == 0 {
		return current
	}
	return slices.Concat(slices.SortedFunc(maps.Values(i.positions), func(a, b Packed) int { return cmp.Compare(a.commit, b.commit) }), current)
}

// Unpack returns the receipt with its commit, which it takes from h.
func (x Packed) Unpack(h *ancestry.History) logrecord.Receipted {
	return logrecord.Receipted{Commit: h.At(x.commit), Receipt: logrecord.UnpackReceipt(x.packed)}
}

// Current lists the receipts, except for the expired ones at the beginning of i.list. The result is
// a part of i.list, so the elements of i.list must never change.
func (i *Set) Current(h *ancestry.History, now time.Time) []Packed {
	i.mu.Lock()
	defer i.mu.Unlock()
	n := 0
	for n < len(i.list) && Outdated(now, h.At(i.list[n].commit).Time) {
		n++
	}
	return slices.Clip(i.list[n:])
}

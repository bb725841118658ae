package embedded

import (
	"context"
	"hash/maphash"
	"slices"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/version"
)

// receiptAge is how long a call with the same idempotency key is answered from the receipt.
const receiptAge = 24 * time.Hour

// pruneEvery is the number of receipts after which add looks for expired ones.
const pruneEvery = 1024

// receipts holds the idempotency receipts of a branch's commits of the last day. Each takes the
// bytes of its stored form (about 60 and the key), 24 bytes for its place in the list, and 20
// to 40 bytes in a hash table.
type receipts struct {
	list  []receipt // in commit order; current returns parts of it, which must not change
	first uint32    // the number of list[0]; receipts are numbered in order
	at    map[uint64]uint32
	more  map[receiptKey]uint32 // receipts whose hash another receipt has in at
	blind uint64                // hash bits to ignore; tests set it to make hashes collide
}

// receipt is the form of a receipt in memory.
type receipt struct {
	commit int    // the commit's number in the history
	packed string // see [version.Receipt.Pack]
}

// receiptKey identifies a receipt within a branch.
type receiptKey struct{ actor, key string }

var receiptSeed = maphash.MakeSeed()

func (r *receipts) hash(k receiptKey) uint64 { return maphash.Comparable(receiptSeed, k) &^ r.blind }

// receipted is a receipt and the commit that holds it, which may be in flight.
type receipted struct {
	version.Receipted
	branch *branch
	lsn    uint64 // 0 if recovery restored the commit
}

// settled waits until the commit of the receipt is durable.
func (r *receipted) settled(ctx context.Context) error { return r.branch.settled(ctx, r.lsn) }

func outdated(now, made time.Time) bool { return now.Sub(made) >= receiptAge }

// add adds the receipt of commit c. REQUIRES: c is in the history h.
func (r *receipts) add(h *version.History, c engine.Commit, rec *version.Receipt) {
	n, _ := h.Number(c.ID)
	if len(r.list) > 0 && len(r.list)%pruneEvery == 0 {
		r.prune(h, c.Time)
	}
	number := r.first + uint32(len(r.list))
	r.list = append(r.list, receipt{n, rec.Pack()})
	k := receiptKey{c.Actor, rec.Key}
	if r.at == nil {
		r.at = map[uint64]uint32{}
	}
	sum := r.hash(k)
	if other, taken := r.at[sum]; taken && r.key(h, other) != k {
		if r.more == nil {
			r.more = map[receiptKey]uint32{}
		}
		r.more[k] = number
		return
	}
	delete(r.more, k)
	r.at[sum] = number
}

// prune drops the expired receipts.
func (r *receipts) prune(h *version.History, now time.Time) {
	n := slices.IndexFunc(r.list, func(x receipt) bool { return !outdated(now, h.At(x.commit).Time) })
	if n < 0 {
		n = len(r.list)
	}
	for i := range uint32(n) {
		k := r.key(h, r.first+i)
		if sum := r.hash(k); r.at[sum] == r.first+i {
			delete(r.at, sum)
		}
		if r.more[k] == r.first+i {
			delete(r.more, k)
		}
	}
	r.list, r.first = slices.Clone(r.list[n:]), r.first+uint32(n)
}

func (r *receipts) key(h *version.History, number uint32) receiptKey {
	x := r.list[number-r.first]
	return receiptKey{h.At(x.commit).Actor, version.UnpackReceipt(x.packed).Key}
}

// find returns the receipt of a key; ok is false if there is none.
func (r *receipts) find(h *version.History, k receiptKey) (rec version.Receipted, ok bool) {
	n, ok := r.more[k]
	if !ok {
		if n, ok = r.at[r.hash(k)]; !ok || r.key(h, n) != k {
			return rec, false
		}
	}
	return r.list[n-r.first].whole(h), true
}

func (x receipt) whole(h *version.History) version.Receipted {
	return version.Receipted{Commit: h.At(x.commit), Receipt: version.UnpackReceipt(x.packed)}
}

// current lists the receipts without the expired ones at the beginning.
func (r *receipts) current(h *version.History, now time.Time) []receipt {
	n := 0
	for n < len(r.list) && outdated(now, h.At(r.list[n].commit).Time) {
		n++
	}
	return slices.Clip(r.list[n:])
}

// keep adds the receipt of a commit, if the commit has one. The commit is in the history
// already. REQUIRES: b.writing is held and Graph.lines is locked.
func (b *branch) keep(h *version.History, c engine.Commit, receipt *version.Receipt) {
	if receipt != nil {
		b.receipts.add(h, c, receipt)
	}
}

// settled waits until the commit with the record at lsn is durable. The caller need not hold
// b.writing. The error is errPoisoned if the commit failed.
func (b *branch) settled(ctx context.Context, lsn uint64) error {
	b.mu.Lock()
	i := slices.IndexFunc(b.pending, func(c *commit) bool { return c.lsn == lsn })
	if i >= 0 {
		c := b.pending[i]
		b.mu.Unlock()
		return c.settled(ctx)
	}
	durable := lsn <= b.head.Load().lsn
	b.mu.Unlock()
	if !durable {
		return errPoisoned
	}
	return nil
}

// repeated returns the receipt of the earlier call with the idempotency key of w, or nil if
// there is none. The error is a *engine.Conflict if that call had another body. REQUIRES:
// b.writing is held.
func (g *Graph) repeated(b *branch, w *write) (*receipted, error) {
	if w.receipt == nil || w.dryRun {
		return nil, nil
	}
	r, ok := b.receipts.find(&g.history, receiptKey{w.actor, w.receipt.Key})
	if !ok || outdated(g.time(), r.Commit.Time) {
		return nil, nil
	}
	if r.Receipt.Body != w.receipt.Body {
		return nil, &engine.Conflict{Reason: "idempotency key " + w.receipt.Key + " was used for another write, commit " + r.Commit.ID + "; choose another key"}
	}
	_, lsn, _ := g.history.Get(r.Commit.ID)
	return &receipted{r, b, lsn}, nil
}

// answered returns the receipt of the earlier call with the idempotency key of w, or nil,
// before w takes the write lock itself. It waits until the receipt's commit is durable. The
// errors include those of repeated.
func (g *Graph) answered(ctx context.Context, b *branch, w *write) (*receipted, error) {
	if w.receipt == nil || w.dryRun {
		return nil, nil
	}
	if err := b.lock(ctx); err != nil {
		return nil, err
	}
	first, err := g.repeated(b, w)
	b.unlock()
	if first == nil || err != nil {
		return nil, err
	}
	return first, first.settled(ctx)
}

package audittrail

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// lease is the content of the object with which a writer holds a chain. The one with the highest epoch counts.
type lease struct {
	ID    string `json:"id"`    // of the writer
	Until int64  `json:"until"` // in Unix microseconds
	Peer  bool   `json:"peer,omitempty"`
}

const (
	leaseTime   = time.Minute // a chain is free this long after its writer was killed
	leasePrefix = "lease-"
	maxChains   = 100 // of one server
)

// errHeld says that another writer holds a chain.
var errHeld = errors.New("another server writes this chain of the audit trail")

// damage is the fault of an object of the trail that cannot be read.
type damage struct{ error }

// Unwrap returns what is wrong.
func (d damage) Unwrap() error { return d.error }

// isDamage reports whether an object of the trail is damaged, as opposed to a storage that does not answer.
func isDamage(err error) bool { return errors.As(err, new(damage)) }

// leaseObject is the name of the lease of a chain with an epoch.
func (s *Store) leaseObject(server string, epoch uint64) string {
	return fmt.Sprintf("%s%s/%s%016d", s.prefix, server, leasePrefix, epoch)
}

// leases returns the epochs of the leases of a chain in order.
func (s *Store) leases(ctx context.Context, server string) (epochs []uint64, err error) {
	prefix := s.prefix + server + "/" + leasePrefix
	list, err := s.bucket.List(ctx, prefix, "", object.MaxList)
	if err != nil {
		return nil, fmt.Errorf("the leases of the audit trail: %w", err)
	}
	for _, e := range list {
		if epoch, err := strconv.ParseUint(strings.TrimPrefix(e.Name, prefix), 10, 64); err == nil {
			epochs = append(epochs, epoch)
		}
	}
	return epochs, nil
}

// claim takes the chain if it is free. Otherwise the error matches errHeld. REQUIRES: t.writing.
func (t *Trail) claim(ctx context.Context, server string) error {
	epochs, err := t.leases(ctx, server)
	if err != nil {
		return err
	}
	now, epoch := t.o.Now(), uint64(1)
	if n := len(epochs); n > 0 {
		data, err := t.bucket.Read(ctx, t.leaseObject(server, epochs[n-1]), 0, object.Whole)
		if errors.Is(err, object.ErrNotFound) {
			return errHeld // somebody took the chain meanwhile
		} else if err != nil {
			return err
		}
		var held lease
		if json.Unmarshal(data, &held) == nil && now.UnixMicro() < held.Until && (held.Peer || !t.o.Exclusive) {
			return errHeld
		}
		epoch = epochs[n-1] + 1
	}
	t.lease = lease{ID: rand.Text(), Peer: t.o.peer}
	data := t.extended(now)
	name := t.leaseObject(server, epoch)
	if err := t.bucket.Create(ctx, name, data); err != nil {
		found, readErr := t.bucket.Read(ctx, name, 0, object.Whole)
		switch {
		case readErr == nil && bytes.Equal(found, data): // the storage made it, although it did not say so
		case errors.Is(err, object.ErrExists):
			return errHeld
		default:
			return fmt.Errorf("the lease %s of the audit trail: %w", name, err)
		}
	}
	if epochs, err = t.leases(ctx, server); err != nil {
		return err
	}
	for _, e := range epochs {
		if e > epoch {
			_ = t.bucket.Delete(ctx, name)
			return errHeld
		}
		if e < epoch {
			_ = t.bucket.Delete(ctx, t.leaseObject(server, e)) // it counts no more
		}
	}
	t.chain, t.epoch = server, epoch
	return nil
}

// extended extends the lease in memory, and returns the content of its object.
func (t *Trail) extended(now time.Time) []byte {
	t.lease.Until = now.Add(leaseTime).UnixMicro()
	data, err := json.Marshal(t.lease)
	if err != nil {
		panic(err) // its fields are plain
	}
	return data
}

// renew extends the lease if half of it is over. If it has expired and another writer has taken the chain, the error matches errHeld.
// REQUIRES: t.writing.
func (t *Trail) renew(ctx context.Context) error {
	now := t.o.Now()
	if now.UnixMicro() < t.lease.Until-(leaseTime/2).Microseconds() {
		return nil
	}
	if now.UnixMicro() >= t.lease.Until {
		epochs, err := t.leases(ctx, t.chain)
		if err != nil {
			return err
		}
		if n := len(epochs); n == 0 || epochs[n-1] != t.epoch {
			return errHeld
		}
	}
	was := t.lease.Until
	if err := t.bucket.Put(ctx, t.leaseObject(t.chain, t.epoch), t.extended(now)); err != nil {
		t.lease.Until = was
		return fmt.Errorf("the lease of the audit trail: %w", err)
	}
	return nil
}

// release frees the chain. REQUIRES: t.writing.
func (t *Trail) release(ctx context.Context) {
	_ = t.bucket.Put(ctx, t.leaseObject(t.chain, t.epoch), t.extended(t.o.Now().Add(-leaseTime))) // otherwise it expires
}

// begin takes a chain of the server, and continues it. It passes over a chain that another writer holds, or that is damaged at its end.
// REQUIRES: t.writing, and nothing is added meanwhile.
func (t *Trail) begin(ctx context.Context) error {
	for i := 1; i <= maxChains; i++ {
		server := t.o.Server
		if i > 1 {
			server = fmt.Sprintf("%s_%d", t.o.Server, i)
		}
		err := t.claim(ctx, server)
		if err == nil {
			var last *Record
			if last, err = t.restore(ctx); err == nil {
				t.mu.Lock()
				defer t.mu.Unlock()
				if last != nil && last.Kind != Stopped {
					t.noteLocked(Gap, &Note{Since: last.Time, Reason: "the server did not end in order: calls of its last second may be missing"})
				}
				t.noteLocked(Started, &Note{Reason: t.o.Version})
				return nil
			}
			t.release(ctx)
		}
		switch {
		case isDamage(err):
			t.o.Log.Error("a chain of the audit trail is damaged at its end; the server begins another one", "chain", server, "error", err)
		case !errors.Is(err, errHeld):
			return err
		}
		if t.o.peer {
			return err
		}
	}
	return fmt.Errorf("each of the %d chains of the audit trail of %s is in use or damaged", maxChains, t.o.Server)
}

// leave goes on in another chain, because another writer took the one of this trail. The records that wait are lost, and counted.
// REQUIRES: t.writing.
func (t *Trail) leave(ctx context.Context) error {
	t.mu.Lock()
	left := t.leaving // before, and found no chain yet
	lost := t.number - t.durable
	t.lost += lost
	t.stats.Lost += lost
	t.leaving, t.pending, t.number, t.micros = true, nil, 0, 0
	t.numbers, t.actors, t.named = map[string]uint64{}, 0, false
	t.mu.Unlock()
	t.stuck, t.due, t.stored, t.durable, t.toldOf, t.head, t.parts = nil, nil, 0, 0, 0, Hash{}, nil
	if !left {
		t.o.Log.Error("another server took the chain of the audit trail; the server goes on in another one", "chain", t.chain)
	}
	err := t.begin(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.leaving = err != nil; err == nil {
		t.noteLostLocked()
	}
	return err
}

package sharedlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// Leases reports which servers have shown signs of life lately. Every server overwrites its own
// object `node/<id>` every few seconds. An observer notes, by its own monotonic clock, when it saw
// the object change. It never compares the clocks of two machines.
//
// Leases decide only which server tries to take over. An expired lease does not prove that the
// writer has ended: the writer may be slow, or the clock of the observer may be wrong. One
// goroutine at a time may use a Leases.
type Leases struct {
	bucket   object.Bucket       // the storage
	prefix   string              // of the names of the objects
	duration time.Duration       // of a lease
	now      func() time.Time    // the clock of this observer
	seen     map[string]sighting // by id of the node
}

// sighting is the last change of a node's object that an observer saw.
type sighting struct {
	content   []byte        // of the object
	changed   time.Time     // when the observer first saw the content
	unchanged time.Duration // from then to the last look
}

// NewLeases returns an observer of the nodes below `prefix`. A lease lasts for `duration` after the
// observer saw the node's object change.
func NewLeases(bucket object.Bucket, prefix string, duration time.Duration, now func() time.Time) *Leases {
	return &Leases{bucket: bucket, prefix: prefix, duration: duration, now: now, seen: map[string]sighting{}}
}

// Renew overwrites the object of this server's node. The content must differ each time.
func (l *Leases) Renew(ctx context.Context, node string, content []byte) error {
	return l.bucket.Put(ctx, l.name(node), content)
}

// Expired reads the object of a node and reports whether the node's lease has expired: the observer
// has seen no change of the object for the duration of a lease. If the node has no object, its
// lease expires once the observer has watched for that duration. If Expired cannot read the object,
// it returns an error, and the lease may or may not have expired.
func (l *Leases) Expired(ctx context.Context, node string) (bool, error) {
	_, expired, err := l.Look(ctx, node)
	return expired, err
}

// Look is like Expired, but also returns the content of the node's object, or nil if there is no
// object.
func (l *Leases) Look(ctx context.Context, node string) (content []byte, expired bool, err error) {
	content, err = l.bucket.Read(ctx, l.name(node), 0, object.Whole)
	if err != nil && !errors.Is(err, object.ErrNotFound) {
		return nil, false, fmt.Errorf("reading the lease of node %s: %w", node, err)
	}
	now := l.now()
	last, ok := l.seen[node]
	if !ok || !bytes.Equal(last.content, content) {
		l.seen[node] = sighting{content: content, changed: now}
		return content, false, nil
	}
	last.unchanged = now.Sub(last.changed)
	l.seen[node] = last
	return content, last.unchanged >= l.duration, nil
}

// Unchanged returns how long the observer has seen no change of a node's object, up to the last call of
// Look or Expired for the node. It is 0 if the observer has not seen the object.
func (l *Leases) Unchanged(node string) time.Duration { return l.seen[node].unchanged }

// Clear removes the object of another node, which must have ended.
func (l *Leases) Clear(ctx context.Context, node string) error {
	if err := l.bucket.Delete(ctx, l.name(node)); err != nil {
		return err
	}
	delete(l.seen, node)
	return nil
}

// Remove removes the object of this server's node. Call it when the server is about to stop.
func (l *Leases) Remove(ctx context.Context, node string) error {
	return l.bucket.Delete(ctx, l.name(node))
}

// name returns the name of the object of a node.
func (l *Leases) name(node string) string { return l.prefix + "node/" + node }

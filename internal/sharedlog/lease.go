package sharedlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/object"
)

// Leases tells which servers have shown signs of life lately. Every server overwrites its own object
// `node/<id>` every few seconds. An observer notes when it saw the object change, by its own
// monotonic clock; it never compares times of two machines.
//
// Leases decide only which server tries to take over. They are never proof that a writer has ended:
// it may be slow, or the clock of the observer may be wrong. One goroutine at a time may use a
// Leases.
type Leases struct {
	bucket   object.Bucket
	prefix   string
	duration time.Duration
	now      func() time.Time
	seen     map[string]sighting // by id of the node
}

// sighting is the last change of a node's object that an observer saw.
type sighting struct {
	content []byte
	changed time.Time
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

// Expired reads the object of a node and reports whether its lease has expired: the object has not
// changed for the duration of a lease. The lease of a node that has no object has expired once the
// observer has watched for as long. If the object cannot be read, Expired returns an error and
// nothing is known.
func (l *Leases) Expired(ctx context.Context, node string) (bool, error) {
	content, err := l.bucket.Read(ctx, l.name(node), 0, object.Whole)
	if err != nil && !errors.Is(err, object.ErrNotFound) {
		return false, fmt.Errorf("reading the lease of node %s: %w", node, err)
	}
	now := l.now()
	last, ok := l.seen[node]
	if !ok || !bytes.Equal(last.content, content) {
		l.seen[node] = sighting{content: content, changed: now}
		return false, nil
	}
	return now.Sub(last.changed) >= l.duration, nil
}

// name returns the name of the object of a node.
func (l *Leases) name(node string) string { return l.prefix + "node/" + node }

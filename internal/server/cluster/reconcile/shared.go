package reconcile

import (
	"context"
	"errors"
	"fmt"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// revisionPrefix is the beginning of the names of revisions in shared storage. The number of the
// revision follows, in 20 digits. The object has the same content as the revision file in a storage
// folder.
const revisionPrefix = "revision/"

// sharedName returns the name of a revision in shared storage.
func sharedName(number uint64) string { return fmt.Sprintf("%s%020d", revisionPrefix, number) }

// readShared reads the revision in shared storage that has the highest number. It returns nil if
// there is none.
func readShared(ctx context.Context, b object.Bucket) (*Revision, error) {
	entries, err := object.ListAll(ctx, b, revisionPrefix)
	if err != nil {
		return nil, fmt.Errorf("listing the applied revisions in the shared storage: %w", err)
	}
	if len(entries) == 0 {
		return nil, nil
	}
	name := entries[len(entries)-1].Name
	content, err := b.Read(ctx, name, 0, object.Whole)
	if err != nil {
		return nil, fmt.Errorf("reading the applied revision: %w", err)
	}
	return decode(name, content)
}

// recordShared stores a revision in shared storage and so puts it in force. The error is an
// *engine.Conflict if another apply has already recorded a revision with this number.
func recordShared(ctx context.Context, b object.Bucket, r *Revision) error {
	err := object.Establish(ctx, b, sharedName(r.Number), encode(r))
	if errors.Is(err, object.ErrExists) {
		return &engine.Conflict{Reason: fmt.Sprintf("another cluster apply has just recorded revision %d", r.Number)}
	}
	return err
}

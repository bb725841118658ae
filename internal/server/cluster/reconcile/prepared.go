package reconcile

import (
	"context"
	"errors"
	iofs "io/fs"
	"path/filepath"

	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// preparedName is the name of the file or object with the prepared revision: the one that the last apply with a change of a schema was
// going to record. Servers take the plans for the new schemas from it until they serve the revision. It stays when the revision is recorded,
// and after an apply that failed half way; the next apply with a change of a schema replaces it. It has the content of the revision file.
const preparedName = "cluster.prepared"

// setPrepared stores the prepared revision.
func (c *Cluster) setPrepared(ctx context.Context, r *Revision) error {
	if c.Bucket != nil {
		return c.Bucket.Put(ctx, preparedName, encode(r))
	}
	return c.replace(filepath.Join(c.Storage, preparedName), encode(r))
}

// Prepared returns the prepared revision, or nil if there is none.
func (c *Cluster) Prepared(ctx context.Context) (*Revision, error) {
	var b []byte
	var err error
	if c.Bucket != nil {
		b, err = c.Bucket.Read(ctx, preparedName, 0, object.Whole)
	} else {
		b, err = fs.ReadFile(c.FS, filepath.Join(c.Storage, preparedName))
	}
	if errors.Is(err, iofs.ErrNotExist) || errors.Is(err, object.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return decode(preparedName, b)
}

// Package converge brings the storage folder of a cluster to what its cluster.yaml says,
// and keeps the record of what was applied.
package converge

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"path/filepath"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/fs"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/server/cluster"
)

// Cluster is the storage folder of a cluster. Which engine keeps its graphs, only whoever
// fills in Open and Create knows.
type Cluster struct {
	FS      fs.FS // of the storage folder
	Storage string

	// Open opens the graph in a folder. The error is a *engine.NotFound when there is
	// none, a *engine.Unavailable when another has it open.
	Open func(ctx context.Context, dir string) (engine.Graph, error)
	// Create makes a graph with a schema in a folder, and opens it. One that was cut short
	// can be repeated.
	Create func(ctx context.Context, dir, source string, schema *catalog.Schema) (engine.Graph, error)

	Now func() time.Time // the date of revisions; nil for clock.Now
}

// lockName is held for as long as an apply takes, or the start of a server.
const lockName = "cluster.lock"

// Lock keeps applies away from a storage folder, which must exist, until the Closer is
// closed: a server holds it while it opens the graphs, so that it finds all of them as one
// apply left them. The error is a *engine.Unavailable while another holds it.
func Lock(fsys fs.FS, storage string) (io.Closer, error) {
	lock, err := fsys.Lock(filepath.Join(storage, lockName))
	var held *fs.LockedError
	switch {
	case errors.As(err, &held):
		return nil, &engine.Unavailable{Reason: held.Error() + ": a cluster apply or the start of a server is under way; try again when it has ended"}
	case err != nil:
		return nil, fmt.Errorf("locking the storage folder: %w", err)
	}
	return lock, nil
}

// Revision returns the revision that is recorded, nil for none. The error is a
// *engine.Corrupt or a *FormatError, or that of reading the file.
func (c *Cluster) Revision() (*Revision, error) { return ReadRevision(c.FS, c.Storage) }

func (c *Cluster) dir(graph string) string { return filepath.Join(c.Storage, graph) }

func (c *Cluster) now() time.Time {
	if c.Now != nil {
		return c.Now()
	}
	return clock.Now()
}

// folders lists what may be graphs in the storage folder, which need not exist: folders
// by the names that graphs can have.
func (c *Cluster) folders() ([]string, error) {
	names, err := c.FS.List(c.Storage)
	if errors.Is(err, iofs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var found []string
	for _, name := range names {
		if !cluster.IsGraphID(name) {
			continue
		}
		if _, err := c.FS.List(c.dir(name)); err == nil { // not so of a file
			found = append(found, name)
		}
	}
	return found, nil
}

// Package reconcile applies a cluster.yaml to the storage folder of its cluster and keeps the
// record of the last apply.
package reconcile

import (
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"path/filepath"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/fs"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
)

// Cluster is the storage folder of a cluster. Only the functions Open and Create know which engine
// stores the graphs.
type Cluster struct {
	FS      fs.FS  // the file system of the storage folder
	Storage string // path of the storage folder

	Engine engine.Engine // makes and opens the graphs, each in a folder

	Now func() time.Time // the clock for dates of revisions; nil means clock.Now
}

// lockName is the lock file. An apply holds it for its whole duration, and a server holds it while
// it starts.
const lockName = "cluster.lock"

// Lock prevents applies to a storage folder, which must exist, until the Closer is closed. A server
// holds the lock while it opens the graphs, so that it sees the result of one whole apply. The
// error is a *engine.Unavailable if another process holds the lock.
func Lock(fsys fs.FS, storage string) (io.Closer, error) {
	lock, err := fsys.Lock(filepath.Join(storage, lockName))
	var held *fs.LockedError
	switch {
	case errors.As(err, &held):
		return nil, &engine.Unavailable{Reason: held.Error() + ": a cluster apply or a starting server holds it; try again later"}
	case err != nil:
		return nil, fmt.Errorf("locking the storage folder: %w", err)
	}
	return lock, nil
}

// Revision returns the recorded revision, or nil if there is none. The error is a *engine.Corrupt,
// a *FormatError, or an error of reading the file.
func (c *Cluster) Revision() (*Revision, error) { return ReadRevision(c.FS, c.Storage) }

// dir returns the folder of a graph.
func (c *Cluster) dir(graph string) string { return filepath.Join(c.Storage, graph) }

// now returns the time that c.Now gives, or that of the system clock if c.Now is nil.
func (c *Cluster) now() time.Time {
	if c.Now != nil {
		return c.Now()
	}
	return clock.Now()
}

// folders lists the folders in the storage folder that have a valid graph id as their name. Not all
// of them need to hold graphs. The storage folder need not exist.
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
		if _, err := c.FS.List(c.dir(name)); err == nil { // only a folder: List fails for a file
			found = append(found, name)
		}
	}
	return found, nil
}

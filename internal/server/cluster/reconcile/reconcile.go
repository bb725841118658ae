// Package reconcile applies a cluster.yaml to the storage of its cluster and keeps the record of the
// last apply.
package reconcile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"path/filepath"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/replica"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/control"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// Cluster is the storage of a cluster. It is shared storage if Bucket is set; otherwise it is a
// folder. Only the functions Open and Create know which engine stores the graphs.
type Cluster struct {
	FS      fs.FS  // the file system of the storage folder
	Storage string // path of the storage folder

	Bucket object.Bucket // the shared storage; if it is set, FS and Storage are not used

	// Engine makes and opens the graphs. A graph is identified to the engine by its folder or, in
	// shared storage, by its id.
	Engine engine.Engine

	// Server is a running server that has the graphs of the storage folder open, or nil. Apply uses its graphs, and
	// makes it serve the new revision.
	Server *control.Server

	// Secret is the secret of the servers that share the storage; see [control.SharedSecret]. Apply then uses the graphs of those
	// servers that run. It is "" if Bucket is not set, and if no server was ever started.
	Secret string

	// Token names this process to those servers; see [replica.Node.Token]. It is set if Secret is.
	Token func(context.Context) (string, error)

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

// Lock prevents applies until the Closer is closed; see the function [Lock]. In shared storage Lock
// does nothing, because there an apply fails by itself if another apply has recorded a revision
// first.
func (c *Cluster) Lock() (io.Closer, error) {
	if c.Bucket != nil {
		return noLock{}, nil
	}
	return Lock(c.FS, c.Storage)
}

// noLock is the lock for shared storage. It prevents nothing.
type noLock struct{}

// Close implements io.Closer.
func (noLock) Close() error { return nil }

// Revision returns the recorded revision, or nil if there is none. The error is an *engine.Corrupt,
// a *FormatError, or the error with which the revision could not be read.
func (c *Cluster) Revision(ctx context.Context) (*Revision, error) {
	if c.Bucket != nil {
		return readShared(ctx, c.Bucket)
	}
	return ReadRevision(c.FS, c.Storage)
}

// Newer reports whether a later revision than r is recorded. r is nil if none was recorded. Newer reads little, so that
// a server may call it several times a second.
func (c *Cluster) Newer(ctx context.Context, r *Revision) (bool, error) {
	if c.Bucket != nil {
		var number uint64
		if r != nil {
			number = r.Number
		}
		_, err := c.Bucket.Read(ctx, sharedName(number+1), 0, 1)
		if errors.Is(err, object.ErrNotFound) {
			return false, nil
		}
		return err == nil, err
	}
	f, err := c.FS.Open(filepath.Join(c.Storage, RevisionFile))
	if errors.Is(err, iofs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, len(revisionMagic)+100)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	line, _, _ := bytes.Cut(head[:n], []byte("\n"))
	return r == nil || string(line) != r.head, nil
}

// Place returns the text that identifies a graph to the engine: the graph's folder or, in shared
// storage, its id.
func (c *Cluster) Place(graph string) string {
	if c.Bucket != nil {
		return graph
	}
	return filepath.Join(c.Storage, graph)
}

// now returns the time that c.Now gives, or that of the system clock if c.Now is nil.
func (c *Cluster) now() time.Time {
	if c.Now != nil {
		return c.Now()
	}
	return clock.Now()
}

// home returns the folder or the object that an operator has to restore if a graph is missing.
func (c *Cluster) home(graph string) string {
	if c.Bucket != nil {
		return "the object incarnation/" + graph + " of the shared storage"
	}
	return c.Place(graph)
}

// prepare makes the storage folder.
func (c *Cluster) prepare() error {
	if c.Bucket != nil {
		return nil
	}
	if err := c.FS.MkdirAll(c.Storage); err != nil {
		return fmt.Errorf("making the storage folder: %w", err)
	}
	return nil
}

// stored lists the graphs in shared storage. For a storage folder, it lists the folders in it whose
// names are valid graph ids, even if they hold no graph. The storage folder need not exist.
func (c *Cluster) stored(ctx context.Context) ([]string, error) {
	if c.Bucket != nil {
		return (&replica.Storage{Bucket: c.Bucket}).Graphs(ctx)
	}
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
		if _, err := c.FS.List(c.Place(name)); err == nil { // only a folder: List fails for a file
			found = append(found, name)
		}
	}
	return found, nil
}

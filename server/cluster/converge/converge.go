// Package converge brings the storage folder of a cluster to what its cluster.yaml says,
// and keeps the record of what was applied.
package converge

import (
	"context"
	"errors"
	iofs "io/fs"
	"path/filepath"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/fs"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
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

	Now func() time.Time // of revisions; nil for time.Now
}

// lockName is held for as long as an apply takes.
const lockName = "cluster.lock"

// Revision returns the revision that is recorded, nil for none. The error is a
// *engine.Corrupt or a *FormatError, or that of reading the file.
func (c *Cluster) Revision() (*Revision, error) { return ReadRevision(c.FS, c.Storage) }

func (c *Cluster) dir(graph string) string { return filepath.Join(c.Storage, graph) }

func (c *Cluster) now() time.Time {
	if c.Now != nil {
		return c.Now()
	}
	return time.Now()
}

// folders lists what may be graphs in the storage folder, which need not exist: folders
// by the names that graphs can have.
func (c *Cluster) folders(isGraphID func(string) bool) ([]string, error) {
	names, err := c.FS.List(c.Storage)
	if errors.Is(err, iofs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var found []string
	for _, name := range names {
		if !isGraphID(name) {
			continue
		}
		if _, err := c.FS.List(c.dir(name)); err == nil { // not so of a file
			found = append(found, name)
		}
	}
	return found, nil
}

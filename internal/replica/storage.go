package replica

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/handle"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// Storage opens the graphs in shared storage. It implements engine.Engine; the place of a graph is
// the graph's id. Bucket, Cache and Node are required.
type Storage struct {
	Bucket object.Bucket
	Cache  string // folder for copies of segments, used by this process alone
	Node   *Node  // the node of this process

	// Bound bounds the cache of all graphs together; nil means no bound.
	Bound *embedded.CacheBound

	// Command says that the process runs one command. The process becomes the writer of a graph
	// with its first write, and leaves the graph to others when it ends. By contrast, a server
	// becomes the writer when no other server writes the graph.
	Command bool

	// Retention is how long objects that a graph does not need any more stay in the storage. 0 means
	// 24 hours. All servers have the same retention.
	Retention time.Duration

	// MaxStaleness is how long a server that cannot reach the storage still answers reads. 0 means
	// without a time limit.
	MaxStaleness time.Duration

	// Idle is how long a graph stays open after its last use. Then the graph is closed, and its next use
	// opens it again. 0 means for ever. Commands ignore Idle.
	Idle time.Duration

	// HeldUntil is the time until which the first use of a graph waits for another process that still has
	// the graph open in the same cache, such as the previous server.
	HeldUntil time.Time

	// Changed, if set, is called after the role of this server, or the writer of a graph, changed.
	Changed func(graph string, s State)

	// Failed, if set, is called with the error of each takeover that failed.
	Failed func(graph string, err error)

	// Fault, if set, is called with the error if a graph could not be opened when it was first used, or could
	// not be closed properly when it was unused.
	Fault func(graph string, err error)

	// Collected, if set, is called after each garbage collection that deleted or spared objects, or failed.
	Collected func(graph string, n embedded.Collected, err error)
}

var _ engine.Engine = (*Storage)(nil)

const incarnationPrefix = "incarnation/"

// cutOff is the lag from which a writer counts as cut off from the storage. It is longer than recheck, and shorter
// than the time after which another server takes over: the last sign of the writer may be a third of a lease older
// than its last look at the log.
func (s *Storage) cutOff() time.Duration { return s.recheck() * 3 / 2 }

// recheck is how often a writer makes sure that it still is the writer. A healthy writer then stays
// far below MaxStaleness.
func (s *Storage) recheck() time.Duration {
	d := s.Node.opts.Lease / 3
	if s.MaxStaleness > 0 {
		d = min(d, s.MaxStaleness/3)
	}
	return d
}

// report calls Failed.
func (s *Storage) report(graph string, err error) {
	if s.Failed != nil {
		s.Failed(graph, err)
	}
}

// fault calls Fault.
func (s *Storage) fault(graph string, err error) {
	if s.Fault != nil {
		s.Fault(graph, err)
	}
}

// Graphs returns the ids of all graphs in the storage, sorted.
func (s *Storage) Graphs(ctx context.Context) ([]string, error) {
	entries, err := object.ListAll(ctx, s.Bucket, incarnationPrefix)
	if err != nil {
		return nil, fmt.Errorf("listing the graphs in the shared storage: %w", err)
	}
	ids := make([]string, len(entries))
	for i, e := range entries {
		ids[i] = strings.TrimPrefix(e.Name, incarnationPrefix)
	}
	return ids, nil
}

// place returns where an incarnation of a graph is stored.
func (s *Storage) place(graph, incarnation string) embedded.SharedPlace {
	return embedded.SharedPlace{
		Bucket: s.Bucket, Prefix: "graph/" + graph + "/" + incarnation + "/", Cache: filepath.Join(s.Cache, graph, incarnation), Bound: s.Bound,
		Node: s.Node.opts.ID, Incarnation: s.Node.incarnation, Address: s.Node.opts.Address, Patience: s.Node.opts.Lease,
		Retention: s.Retention, Needed: func(ctx context.Context) (uint64, error) { return s.needed(ctx, graph) },
	}
}

// options returns the options of a graph.
func options(g *Graph, o engine.OpenOptions) embedded.Options {
	return embedded.Options{
		Now: o.Now, MaxBranches: o.MaxBranches, MaxBytes: o.MaxBytes, QueryMemory: o.QueryMemory, SharedMemory: o.SharedMemory, Embedder: o.Embedder,
		Failed: o.BackgroundFailed, LogFailed: func(err error) {
			g.logFailed(err)
			if o.StorageFailed != nil {
				o.StorageFailed(err)
			}
		},
	}
}

// newGraph returns a graph that has no place and no role yet.
func (s *Storage) newGraph(id string, o engine.OpenOptions) *Graph {
	g := &Graph{storage: s, id: id, failed: make(chan struct{}, 1)}
	g.Graph = handle.Of(g)
	g.base, g.stop = context.WithCancel(context.Background())
	g.use.last = clock.Now()
	g.opts = options(g, o)
	return g
}

// locate sets the place of the graph. REQUIRES: the caller holds `changing`, or alone has the graph.
func (g *Graph) locate(incarnation string) {
	g.at = g.storage.place(g.id, incarnation)
	log := &logTimer{Bucket: g.at.Bucket, prefix: g.at.Prefix + "log/"}
	g.at.Bucket = log
	g.log.Store(log)
	if g.storage.Command {
		g.at.Poll = -1
	}
}

// Create implements [engine.Engine]. This process is then the writer of the graph.
func (s *Storage) Create(ctx context.Context, id, source string, schema *catalog.Schema, o engine.OpenOptions) (engine.Graph, error) {
	return s.publish(ctx, id, o, func(g *Graph) (*embedded.Graph, error) {
		return embedded.CreateShared(ctx, g.at, source, schema, g.opts)
	})
}

// publish makes a graph with the function `create`. The graph exists for other processes once `create`
// has returned and publish has stored the incarnation of the graph.
func (s *Storage) publish(ctx context.Context, id string, o engine.OpenOptions, create func(g *Graph) (*embedded.Graph, error)) (engine.Graph, error) {
	exists := &engine.Conflict{Reason: "the shared storage already holds a graph " + id}
	if _, err := s.Bucket.Read(ctx, incarnationPrefix+id, 0, object.Whole); err == nil {
		return nil, exists
	}
	incarnation := strings.ToLower(rand.Text())[:16]
	g := s.newGraph(id, o)
	g.locate(incarnation)
	w, err := create(g)
	if err != nil {
		return nil, err
	}
	err = object.Establish(ctx, s.Bucket, incarnationPrefix+id, []byte(incarnation))
	if errors.Is(err, object.ErrExists) {
		err = exists // another process has just made it
	}
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	g.set(&copied{written: w})
	return s.begin(g)
}

// Open implements [engine.Engine]. The graph is a reader at first.
func (s *Storage) Open(ctx context.Context, id string, o engine.OpenOptions) (engine.Graph, error) {
	g := s.newGraph(id, o)
	if err := g.follow(ctx); err != nil {
		return nil, err
	}
	return s.begin(g)
}

// incarnation returns the present incarnation of a graph. The error is a *engine.NotFound if there is no
// such graph.
func (s *Storage) incarnation(ctx context.Context, id string) (string, error) {
	incarnation, err := s.Bucket.Read(ctx, incarnationPrefix+id, 0, object.Whole)
	switch {
	case errors.Is(err, object.ErrNotFound):
		return "", &engine.NotFound{What: "graph in the shared storage", Name: id}
	case errors.Is(err, object.ErrBusy), errors.Is(err, object.ErrUnknown):
		return "", fmt.Errorf("%w: %w", &engine.Unavailable{Reason: "the shared storage does not answer", RetryAfter: retryAfter}, err)
	case err != nil:
		return "", fmt.Errorf("finding the graph %s in the shared storage: %w", id, err)
	}
	if object.CheckName(string(incarnation)) != nil || strings.Contains(string(incarnation), "/") {
		return "", &engine.Corrupt{Object: incarnationPrefix + id, Detail: "it does not name an incarnation of the graph"}
	}
	return string(incarnation), nil
}

// begin starts the background work for an open graph. If begin fails, it closes the graph.
func (s *Storage) begin(g *Graph) (engine.Graph, error) {
	if err := s.Node.add(g); err != nil {
		return nil, errors.Join(err, g.current.Load().graph().Close())
	}
	if s.Command {
		return g, nil
	}
	g.start(true)
	return g, nil
}

package reconcile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/replica"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/control"
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

// servers returns the servers that an apply can ask; some may have ended. In shared storage, see inOrder.
func (c *Cluster) servers(ctx context.Context, graph string) ([]*control.Server, error) {
	switch {
	case c.Server != nil:
		return []*control.Server{c.Server}, nil
	case c.Secret == "":
		return nil, nil
	}
	signs, err := replica.Signs(ctx, c.Bucket)
	if err != nil {
		return nil, fmt.Errorf("listing the servers in the shared storage: %w", err)
	}
	token, err := c.Token(ctx)
	if err != nil { // the credentials may allow only reads, which is enough for a plan
		return nil, &notServed{err}
	}
	var found []*control.Server
	for _, s := range inOrder(signs, graph, clock.Now()) {
		if s.Config != "" && s.Address != "" { // a command has no configuration
			found = append(found, &control.Server{URL: s.Address, Secret: c.Secret, Token: token})
		}
	}
	return found, nil
}

// A server whose sign is older than quiet has probably ended. If it is older than ended, another program may have its address, and must
// not get the secret. Both times leave room for clocks that differ.
const (
	quiet = time.Minute
	ended = 24 * time.Hour
)

// inOrder returns the signs in the order in which their servers are asked about a graph: first those that have probably not
// ended, and of these the one that last wrote the graph. The signs of servers that were killed long ago are left out.
func inOrder(signs []replica.Sign, graph string, now time.Time) []replica.Sign {
	signs = slices.DeleteFunc(slices.Clone(signs), func(s replica.Sign) bool { return now.Sub(s.Renewed) >= ended })
	age := func(s replica.Sign) int {
		if now.Sub(s.Renewed) >= quiet {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(signs, func(a, b replica.Sign) int {
		return cmp.Or(cmp.Compare(age(a), age(b)), writerEpoch(b, graph)-writerEpoch(a, graph))
	})
	return signs
}

// writerEpoch returns the epoch in which a server writes a graph; 0 if it does not write it.
func writerEpoch(s replica.Sign, graph string) int {
	if g := s.Graphs[graph]; g.Role == replica.Writer {
		return int(g.Epoch)
	}
	return 0
}

// notServed is the error if no running server serves a graph.
type notServed struct{ error }

// sharedGraph is a graph in shared storage that a running server writes. An apply leaves the graph to that server, since calls would
// fail while the command took the graph over.
type sharedGraph struct {
	cluster *Cluster
	id      string
}

const (
	writerPatience = time.Minute            // how long a sharedGraph looks for the writer
	writerPause    = 100 * time.Millisecond // between two looks
)

// ask makes a call on the server that writes the graph. If that server has stopped, it waits for the next one, and repeats the call. The error
// is a *notServed if no server answers that it serves the graph.
func (g *sharedGraph) ask(ctx context.Context, call func(*control.Graph) error) error {
	for until := clock.Now().Add(writerPatience); ; {
		servers, err := g.cluster.servers(ctx, g.id)
		if err != nil {
			return err
		}
		serves := false
		last := errors.New("no server runs")
		for _, s := range servers {
			err := call(s.Graph(g.id))
			var stopped *control.Unreachable
			var missing *engine.NotFound
			var busy *engine.Unavailable
			switch {
			case errors.As(err, &busy): // another server writes the graph, or will
				serves, last = true, err
			case errors.As(err, &stopped), errors.As(err, &missing):
				last = err
			default:
				return err
			}
		}
		switch {
		case !serves:
			return &notServed{last}
		case clock.Now().After(until):
			return fmt.Errorf("no running server has become the writer of the graph: %w", last)
		}
		select {
		case <-time.After(writerPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Schema implements graph.
func (g *sharedGraph) Schema(ctx context.Context, at engine.Target) (s *engine.Schema, err error) {
	err = g.ask(ctx, func(c *control.Graph) (err error) {
		s, err = c.Schema(ctx, at)
		return err
	})
	return s, err
}

// Snapshot implements graph.
func (g *sharedGraph) Snapshot(ctx context.Context, at engine.Target) (s *engine.Snapshot, err error) {
	err = g.ask(ctx, func(c *control.Graph) (err error) {
		s, err = c.Snapshot(ctx, at)
		return err
	})
	return s, err
}

// ApplySchema implements graph. A server that stops may have made the change before its answer.
func (g *sharedGraph) ApplySchema(ctx context.Context, source string, schema *catalog.Schema, o engine.SchemaOptions) (out *engine.SchemaChange, err error) {
	asked := false
	err = g.ask(ctx, func(c *control.Graph) (err error) {
		if asked && !o.DryRun {
			live, err := c.Schema(ctx, engine.Target{})
			if err != nil {
				return err
			}
			if to := catalog.Digest(schema); live.Digest == to && live.Source == source {
				head, err := c.Snapshot(ctx, engine.Target{})
				if err != nil {
					return err
				}
				out = &engine.SchemaChange{From: o.IfSchema, To: to, Supported: true, Head: head.Commit}
				return nil
			}
		}
		asked = true
		out, err = c.ApplySchema(ctx, source, schema, o)
		return err
	})
	return out, err
}

// Close does nothing: the server keeps the graph open.
func (g *sharedGraph) Close() error { return nil }

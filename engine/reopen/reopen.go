// Package reopen keeps a graph usable after its storage failed: it closes the graph and
// opens it again, from what is durable.
package reopen

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
)

const (
	// firstWait is the time from a failure to the first attempt. Each further attempt
	// waits twice as long, up to lastWait, until a graph has lasted for steady.
	firstWait = 100 * time.Millisecond
	lastWait  = 30 * time.Second
	steady    = time.Minute
)

// Options say how a graph is opened and who hears about it.
type Options struct {
	// Open opens the graph. The graph calls failed when only another Open can make it take
	// writes again; failed returns at once and may be called at any time, repeatedly.
	Open func(ctx context.Context, failed func(error)) (engine.Graph, error)

	// Failed, Retried and Reopened, if set, hear why the graph is opened again, why an
	// attempt failed and when the next one is, and that one succeeded.
	Failed   func(error)
	Retried  func(err error, wait time.Duration)
	Reopened func()

	wait time.Duration // instead of firstWait; for tests
}

// Graph is a graph that is opened again when its storage fails. Until the first attempt
// it answers reads, as its inner graph does; between the close and the next open every
// call gets an *engine.Unavailable.
type Graph struct {
	opts    Options
	current atomic.Pointer[inner]
	kick    chan struct{} // capacity 1: the inner graph failed
	stop    context.CancelFunc
	stopped chan struct{}

	closing  sync.Once
	closeErr error
}

// inner is the graph that is open, or why there is none.
type inner struct {
	graph engine.Graph
	err   error        // if graph is nil
	stats engine.Stats // the last ones, if graph is nil
}

var _ engine.Graph = (*Graph)(nil)

// New opens the graph for the first time. Its error is Open's.
func New(ctx context.Context, opts Options) (*Graph, error) {
	if opts.wait == 0 {
		opts.wait = firstWait
	}
	r := &Graph{opts: opts, kick: make(chan struct{}, 1), stopped: make(chan struct{})}
	g, err := opts.Open(ctx, r.failed)
	if err != nil {
		return nil, err
	}
	r.current.Store(&inner{graph: g})
	watch, stop := context.WithCancel(context.Background())
	r.stop = stop
	go r.run(watch)
	return r, nil
}

// failed asks for another Open. It is called by goroutines that the graph waits for.
func (r *Graph) failed(error) {
	select {
	case r.kick <- struct{}{}:
	default:
	}
}

// run opens the graph again whenever it failed, until the context ends.
func (r *Graph) run(ctx context.Context) {
	defer close(r.stopped)
	wait := r.opts.wait
	lasted := time.NewTimer(steady) // since the last Open
	defer lasted.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-lasted.C:
			wait = r.opts.wait
			continue
		case <-r.kick:
		}
		if r.opts.Failed != nil {
			r.opts.Failed(r.Failure())
		}
		for done := false; !done; wait = min(2*wait, lastWait) {
			select {
			case <-ctx.Done():
				return
			case <-time.After(wait):
			}
			err := r.reopen(ctx)
			if done = err == nil; done {
				lasted.Reset(steady)
				if r.opts.Reopened != nil {
					r.opts.Reopened()
				}
			} else if r.opts.Retried != nil && ctx.Err() == nil {
				r.opts.Retried(err, min(2*wait, lastWait))
			}
		}
	}
}

// reopen closes the graph if it is open and opens it.
func (r *Graph) reopen(ctx context.Context) error {
	if was := r.current.Load(); was.graph != nil {
		why := failureOf(was.graph)
		if why == nil {
			why = errors.New("its storage failed")
		}
		next := &inner{err: unavailable(why)}
		if s, ok := was.graph.(interface{ Stats() engine.Stats }); ok {
			next.stats = s.Stats()
		}
		r.current.Store(next)
		// The failure of the storage was reported; that of its Close adds nothing.
		_ = was.graph.Close()
	}
	// What the graph said before it was closed is about to be mended.
	select {
	case <-r.kick:
	default:
	}
	g, err := r.opts.Open(ctx, r.failed)
	if err != nil {
		r.current.Store(&inner{err: unavailable(err), stats: r.current.Load().stats})
		return err
	}
	r.current.Store(&inner{graph: g})
	return nil
}

// unavailable is what calls get while the graph is not open. Only operators see the cause.
func unavailable(cause error) error {
	return fmt.Errorf("%w: %w", &engine.Unavailable{Reason: "its storage failed, and it is being opened again"}, cause)
}

func failureOf(g engine.Graph) error {
	if f, ok := g.(engine.Failing); ok {
		return f.Failure()
	}
	return nil
}

// Failure returns nil while the graph takes writes, else the *engine.Unavailable that
// they get. A graph that only another Open can mend is opened again, also when it is
// never written to.
func (r *Graph) Failure() error {
	in := r.current.Load()
	if in.graph == nil {
		return in.err
	}
	if m, ok := in.graph.(interface{ MustReopen() bool }); ok && m.MustReopen() {
		r.failed(nil)
	}
	return failureOf(in.graph)
}

// Stats are the figures of the graph, the last ones while it is not open.
func (r *Graph) Stats() engine.Stats {
	in := r.current.Load()
	if s, ok := in.graph.(interface{ Stats() engine.Stats }); ok {
		return s.Stats()
	}
	return in.stats
}

// Verify checks what is stored.
func (r *Graph) Verify(ctx context.Context) error {
	g, err := r.graph()
	if err != nil {
		return err
	}
	v, ok := g.(interface{ Verify(context.Context) error })
	if !ok {
		return &engine.Unsupported{Construct: "verifying what is stored"}
	}
	return v.Verify(ctx)
}

// Close closes the graph for good.
func (r *Graph) Close() error {
	r.closing.Do(func() {
		r.stop()
		<-r.stopped
		was := r.current.Load()
		if was.graph != nil {
			r.closeErr = was.graph.Close()
		}
	})
	return r.closeErr
}

// graph returns the graph that is open.
func (r *Graph) graph() (engine.Graph, error) {
	in := r.current.Load()
	return in.graph, in.err
}

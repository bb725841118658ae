// Package reopen keeps a graph usable after its storage failed: it closes the graph and opens it
// again from its durable state.
package reopen

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/handle"
)

const (
	// minRetryWait is the time from a failure to the first attempt. Each further attempt waits
	// twice as long as the one before, up to maxRetryWait. After a graph has stayed open for
	// steadyTime, the wait is minRetryWait again.
	minRetryWait = 100 * time.Millisecond
	maxRetryWait = 30 * time.Second
	steadyTime   = time.Minute
)

// Options say how to open a graph and which functions to call when it fails.
type Options struct {
	// Open opens the graph. The graph calls the function `failed` when it cannot accept writes
	// until it is opened again. That function returns at once; it may be called at any time and
	// repeatedly.
	Open func(ctx context.Context, failed func(error)) (engine.Graph, error)

	// Failed, Retried and Reopened may be nil. Failed is called before the graph is opened again,
	// with the reason. Retried is called after a failed attempt, with its error and the wait before
	// the next attempt. Reopened is called after an attempt succeeded.
	Failed   func(error)
	Retried  func(err error, wait time.Duration)
	Reopened func()

	wait time.Duration // replaces minRetryWait in tests
}

// Graph is a graph that opens itself again when its storage fails. Until the first attempt, reads
// go to the failed inner graph. Between its close and the next successful open, every call returns
// an *engine.Unavailable.
type Graph struct {
	handle.Graph
	opts         Options
	current      atomic.Pointer[openState] // the open graph, or why there is none
	failedSignal chan struct{}             // capacity 1; holds an element after the inner graph failed
	stop         context.CancelFunc        // ends the goroutine that reopens
	stopped      chan struct{}             // closed when the goroutine that reopens has ended

	closing  sync.Once // makes Close run once
	closeErr error     // result of the first Close
}

// openState is the open graph, or the reason why no graph is open.
type openState struct {
	graph engine.Graph // nil if no graph is open
	err   error        // set if graph is nil
	stats engine.Stats // the last known figures, if graph is nil
}

var _ engine.Graph = (*Graph)(nil)

// New opens the graph for the first time. It returns the error of Open unchanged.
func New(ctx context.Context, opts Options) (*Graph, error) {
	if opts.wait == 0 {
		opts.wait = minRetryWait
	}
	r := &Graph{opts: opts, failedSignal: make(chan struct{}, 1), stopped: make(chan struct{})}
	r.Graph = handle.Of(r)
	g, err := opts.Open(ctx, r.failed)
	if err != nil {
		return nil, err
	}
	r.current.Store(&openState{graph: g})
	watch, stop := context.WithCancel(context.Background())
	r.stop = stop
	go r.run(watch)
	return r, nil
}

// failed requests another Open. It must not block, because the graph waits for the goroutines that
// call it.
func (r *Graph) failed(error) {
	select {
	case r.failedSignal <- struct{}{}:
	default:
	}
}

// run opens the graph again after each failure, until the context ends.
func (r *Graph) run(ctx context.Context) {
	defer close(r.stopped)
	wait := r.opts.wait
	lasted := time.NewTimer(steadyTime) // fires when the graph has been open for steadyTime
	defer lasted.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-lasted.C:
			wait = r.opts.wait
			continue
		case <-r.failedSignal:
		}
		if r.opts.Failed != nil {
			r.opts.Failed(r.Failure())
		}
		for done := false; !done; wait = min(2*wait, maxRetryWait) {
			select {
			case <-ctx.Done():
				return
			case <-time.After(wait):
			}
			err := r.reopen(ctx)
			if done = err == nil; done {
				lasted.Reset(steadyTime)
				if r.opts.Reopened != nil {
					r.opts.Reopened()
				}
			} else if r.opts.Retried != nil && ctx.Err() == nil {
				r.opts.Retried(err, min(2*wait, maxRetryWait))
			}
		}
	}
}

// reopen closes the graph if it is open, and opens it again.
func (r *Graph) reopen(ctx context.Context) error {
	if was := r.current.Load(); was.graph != nil {
		why := was.graph.Failure()
		if why == nil {
			why = errors.New("its storage failed")
		}
		r.current.Store(&openState{err: unavailable(why), stats: was.graph.Stats()})
		// The storage failure was reported already; the error of Close adds nothing to it.
		_ = was.graph.Close()
	}
	// Drop a failure that the graph reported before its close: the next open handles it.
	select {
	case <-r.failedSignal:
	default:
	}
	g, err := r.opts.Open(ctx, r.failed)
	if err != nil {
		r.current.Store(&openState{err: unavailable(err), stats: r.current.Load().stats})
		return err
	}
	r.current.Store(&openState{graph: g})
	return nil
}

// unavailable returns the error that calls get while the graph is not open. Only operators see the
// cause.
func unavailable(cause error) error {
	return fmt.Errorf("%w: %w", &engine.Unavailable{Reason: "the storage of the graph failed, and the server is opening the graph again", RetryAfter: time.Second}, cause)
}

// Failure returns nil while the graph accepts writes, and otherwise the *engine.Unavailable that
// writes get. If the inner graph accepts writes again only after another Open, Failure requests
// that Open. So a graph without writes is opened again too.
func (r *Graph) Failure() error {
	in := r.current.Load()
	if in.graph == nil {
		return in.err
	}
	if in.graph.MustReopen() {
		r.failed(nil)
	}
	return in.graph.Failure()
}

// MustReopen returns false: the graph opens itself again.
func (r *Graph) MustReopen() bool { return false }

// Stats returns the figures of the graph. While the graph is not open, it returns the last figures
// that the graph had.
func (r *Graph) Stats() engine.Stats {
	in := r.current.Load()
	if in.graph == nil {
		return in.stats
	}
	return in.graph.Stats()
}

// Close closes the graph permanently.
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

// Call implements [handle.Opener]: it runs the call on the open graph, or returns the error that calls get while there
// is none.
func (r *Graph) Call(_ context.Context, _ handle.Access, call func(engine.Graph) error) error {
	in := r.current.Load()
	if in.graph == nil {
		return in.err
	}
	return call(in.graph)
}

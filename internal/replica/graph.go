package replica

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/handle"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
	"github.com/omnigraph-go/omnigraph/internal/storage/sharedlog"
)

// Role is what a server does with a graph.
type Role string

// The roles of a server.
const (
	Reader Role = "reader" // it follows the log of the writer
	Writer Role = "writer" // it is the one server that writes the graph
	Absent Role = "absent" // it has no copy of the graph at the moment, but tries to open one
	Idle   Role = "idle"   // it has closed the graph, or not opened it yet, because it has no calls
)

// State describes a graph on this server.
type State struct {
	Role   Role
	Epoch  uint64            // epoch of the writer, as far as this server knows
	Lag    time.Duration     // time since this server last knew the whole log
	Writer embedded.Takeover // the server that writes the graph, if this server only reads it

	// MayLag says that another server may have acknowledged commits that this server does not know: it only
	// reads the graph, or it is the writer and has not reached the storage for so long that another server may
	// have taken over.
	MayLag bool
}

// Graph is the copy of one graph on this server. The server is a reader or the writer of the graph,
// and changes its role while calls run. A Graph implements engine.Graph.
type Graph struct {
	handle.Graph
	storage *Storage
	id      string
	at      embedded.SharedPlace
	opts    embedded.Options

	current atomic.Pointer[copied]
	log     atomic.Pointer[logTimer]          // the bucket of `at`; nil before the graph was opened
	writer  atomic.Pointer[embedded.Takeover] // the last known writer; nil if this server has not read it

	changing sync.Mutex         // held while the role changes
	failed   chan struct{}      // capacity 1; holds an element after the log of the writer failed
	wait     time.Duration      // the last pause between two attempts to open the graph; 0 after a success; guarded by `changing`
	again    time.Time          // when step may try to open the graph again; guarded by `changing`
	mine     atomic.Uint64      // epoch of this server that ended because the graph became Idle; 0 if there is none
	base     context.Context    // of the work in the background; ends when Close is called
	stop     context.CancelFunc // ends base
	running  sync.WaitGroup     // waits for the goroutines that open the graph, decide about the role and collect

	use    use                   // what keeps the graph open
	opened func(context.Context) // see OpenOnUse; may be nil
	vacant atomic.Uint64         // epoch whose writer has given up the unused graph; 0 if the writer has not
	tenure atomic.Uint64         // see Tenure

	busy  atomic.Int64          // number of writes, loads and exports that run
	moved atomic.Pointer[moved] // the last takeover that an operator asked for; nil if there was none

	collecting  sync.Mutex   // held while this server collects; guards collectedAt
	collectedAt time.Time    // the start of the last garbage collection
	collected   atomic.Int64 // objects that this server deleted
	pinned      atomic.Int64 // segments that its last garbage collection spared

	closing  sync.Once
	closeErr error
}

// copied is the graph in one role. A change of the role replaces it.
type copied struct {
	follower *embedded.Follower // set if the role is Reader
	written  *embedded.Graph    // set if the role is Writer
	err      error              // of calls that find no graph; for an Idle graph, of those after Close
	first    bool               // err is the error of the first use
	idle     bool               // the graph is Idle
	stats    engine.Stats       // the last figures of an Idle graph; zero if it was not opened yet
	released uint64             // epoch of this server when the graph became Idle; 0 if it is open, or this server did not write it
	since    time.Time          // when the graph became Idle; set if `released` is
	leaving  atomic.Bool        // the graph is about to be closed
	replaced chan struct{}      // closed when another `copied` replaces this one
}

// graph returns the graph, or nil if there is none.
func (c *copied) graph() engine.Graph {
	switch {
	case c.follower != nil:
		return c.follower
	case c.written != nil:
		return c.written
	}
	return nil
}

var _ engine.Graph = (*Graph)(nil)

const (
	// changeTime is how long a call waits while the role changes.
	changeTime = 5 * time.Second

	// retryAfter is how long a caller should wait before it repeats a write that found no writer.
	retryAfter = time.Second
)

// set replaces the current graph by c.
func (g *Graph) set(c *copied) {
	c.replaced = make(chan struct{})
	if was := g.current.Swap(c); was != nil {
		close(was.replaced)
	}
}

// errClosed is the error of calls on a closed Graph.
var errClosed = &engine.Unavailable{Reason: "it is closed"}

// opening returns the error for calls while this server has no copy of the graph.
func opening(cause error) error {
	return fmt.Errorf("%w: %w", &engine.Unavailable{Reason: "the server is opening the graph from the shared storage", RetryAfter: retryAfter}, cause)
}

// follow opens the graph for reading and makes it the current graph. REQUIRES: the caller holds
// `changing`, and no graph is open.
func (g *Graph) follow(ctx context.Context) error {
	incarnation, err := g.storage.incarnation(ctx, g.id)
	if err != nil {
		return err
	}
	g.locate(incarnation)
	f, err := embedded.Follow(ctx, g.at, g.opts)
	if err != nil {
		return err
	}
	if was := g.current.Load(); was != nil {
		g.mine.Store(was.released)
	}
	g.set(&copied{follower: f})
	g.wait = 0
	return nil
}

// takeOver makes this server the writer. If `from` is 0, this server replaces any writer; otherwise
// it replaces only the writer with the epoch `from`. A server whose configuration differs from that of an
// earlier one never becomes the writer.
func (g *Graph) takeOver(ctx context.Context, from uint64) error {
	g.changing.Lock()
	defer g.changing.Unlock()
	was := g.current.Load()
	switch {
	case was.written != nil:
		return nil
	case was.follower == nil:
		return was.err
	}
	if err := g.storage.Node.Start(ctx); err != nil {
		return err
	}
	if err := g.storage.Node.mayTakeOver(); err != nil {
		return err
	}
	was.leaving.Store(true)
	var w *embedded.Graph
	var err error
	if from == 0 {
		w, err = was.follower.TakeOver(ctx)
	} else {
		w, err = was.follower.TakeOverFrom(ctx, from)
	}
	if err != nil {
		was.leaving.Store(false)
		g.vacant.CompareAndSwap(from, 0) // until compete has looked at the writer again
		return err
	}
	g.vacant.Store(0)
	if from == 0 || from != g.mine.Load() {
		g.tenure.Store(w.Epoch())
	}
	g.set(&copied{written: w})
	g.changed()
	return nil
}

// step checks which server writes the graph, and changes the role of this server if necessary.
func (g *Graph) step(ctx context.Context) {
	now := g.current.Load()
	switch {
	case now.written != nil:
		g.check(ctx, now)
		// This server already writes the graph. A wish with a later epoch stays until this server knows
		// the writer of that epoch.
		if wish := g.storage.Node.wished(g.id); wish != nil && wish.Epoch <= now.written.Epoch() {
			g.storage.Node.grant(ctx, wish)
		}
	case now.follower != nil:
		g.compete(ctx, now)
	default:
		if g.retry(ctx, now) && now.first && g.opened != nil {
			g.opened(ctx)
		}
	}
}

// retry opens the graph after an earlier attempt failed, and reports whether it did.
func (g *Graph) retry(ctx context.Context, now *copied) bool {
	g.changing.Lock()
	defer g.changing.Unlock()
	if g.current.Load() != now || now.idle || ctx.Err() != nil || clock.Now().Before(g.again) {
		return false
	}
	if err := g.follow(ctx); err != nil {
		g.postpone()
		if now.first {
			g.set(now.unopened(g.id, err))
		} else {
			g.set(&copied{err: opening(err)})
		}
		return false
	}
	g.changed()
	return true
}

// check makes sure that this server still is the writer. If it is not, or its log failed, check makes
// it a reader. While the storage does not answer, the server keeps the graph that it has, and reads
// go on.
func (g *Graph) check(ctx context.Context, now *copied) {
	if clock.Now().Sub(now.written.Current()) >= g.storage.recheck() {
		ctx, cancel := context.WithTimeout(ctx, g.storage.Node.opts.Lease)
		defer cancel()
		_ = now.written.CatchUp(ctx) // MustReopen tells whether another server has taken over
	}
	reason := now.written.Failure()
	if !now.written.MustReopen() || !errors.Is(reason, sharedlog.ErrLost) && !g.storageAnswers(ctx) {
		return
	}
	g.changing.Lock()
	defer g.changing.Unlock()
	if g.current.Load() != now || ctx.Err() != nil {
		return
	}
	now.leaving.Store(true)
	// The cache has a lock, so the former graph must be closed before it is opened again. The
	// reason for the failure is known already, so the error of Close is not needed.
	_ = now.written.Close()
	if err := g.follow(ctx); err != nil {
		g.set(&copied{err: opening(errors.Join(reason, err))})
		return
	}
	g.changed()
}

// storageAnswers reports whether the shared storage answers within the time of a lease.
func (g *Graph) storageAnswers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, g.storage.Node.opts.Lease)
	defer cancel()
	_, err := g.storage.Bucket.Read(ctx, incarnationPrefix+g.id, 0, object.Whole)
	return err == nil || errors.Is(err, object.ErrNotFound)
}

// compete takes over if the writer has stopped or if an operator asks for it.
func (g *Graph) compete(ctx context.Context, now *copied) {
	ctx, cancel := context.WithTimeout(ctx, 3*g.storage.Node.opts.Lease)
	defer cancel()
	t, err := now.follower.Takeover(ctx)
	if err != nil {
		return // without the storage this server cannot take over
	}
	if was := g.writer.Swap(&t); was != nil && was.Epoch != t.Epoch {
		g.changed()
	}
	if g.storage.Node.mayTakeOver() != nil {
		return
	}
	wish := g.storage.Node.wished(g.id)
	if wish != nil && wish.Epoch != t.Epoch {
		if wish.Epoch < t.Epoch {
			g.storage.Node.grant(ctx, wish) // it is void
		}
		wish = nil // a wish with a later epoch stays until this server knows the writer of that epoch
	}
	if wish == nil {
		gone, err := g.storage.Node.gone(ctx, t)
		own := t.Incarnation == g.storage.Node.incarnation
		switch {
		case err != nil:
			return
		case gone:
		case own && t.Epoch == g.mine.Load(), !own && g.storage.Node.gaveUp(t, g.id):
			g.vacant.Store(t.Epoch) // the next write takes over
			return
		case !own:
			g.vacant.Store(0)
			return
		}
	}
	err = g.takeOver(ctx, t.Epoch)
	var late *engine.Conflict
	if err != nil && !errors.As(err, &late) && ctx.Err() == nil {
		g.storage.report(g.id, err)
	}
	if err == nil && wish != nil {
		if now := g.current.Load(); !wish.Balance && now.written != nil {
			g.moved.Store(&moved{epoch: now.written.Epoch(), from: t.Incarnation})
			g.storage.Node.tell()
		}
		g.storage.Node.grant(ctx, wish)
	}
}

// run calls step regularly until ctx ends, or the graph becomes Idle.
func (g *Graph) run(ctx context.Context) {
	ticker := time.NewTicker(g.storage.Node.tick())
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-g.failed:
		}
		g.step(ctx)
		if g.drop(ctx) {
			return
		}
	}
}

// logFailed requests a step. The writer that met the failure calls logFailed, so logFailed must not
// wait.
func (g *Graph) logFailed(error) {
	select {
	case g.failed <- struct{}{}:
	default:
	}
}

// changed reports a change of the role or of the writer.
func (g *Graph) changed() {
	g.storage.Node.tell()
	if f := g.storage.Changed; f != nil {
		f(g.id, g.State())
	}
}

// State returns the role of this server, the writer as far as this server knows, and the lag.
func (g *Graph) State() State {
	now := g.current.Load()
	s := State{Role: Absent}
	if w := g.writer.Load(); w != nil {
		s.Epoch, s.Writer = w.Epoch, *w
	}
	var current time.Time
	switch {
	case now.written != nil:
		s.Role, s.Epoch, s.Writer = Writer, now.written.Epoch(), embedded.Takeover{}
		current = now.written.Current()
	case now.follower != nil:
		s.Role = Reader
		current = now.follower.Current()
	case now.idle:
		return State{Role: Idle, Epoch: max(s.Epoch, now.released)}
	default:
		return s
	}
	s.Lag = max(0, clock.Now().Sub(current))
	s.MayLag = s.Role == Reader || s.Lag > g.storage.cutOff()
	return s
}

// tooOld returns an error if this server has not reached the storage for so long that it must not
// answer reads.
func (g *Graph) tooOld() error {
	limit := g.storage.MaxStaleness
	if limit == 0 {
		return nil
	}
	s := g.State()
	if s.Role == Absent || s.Role == Idle || s.Lag <= limit {
		return nil
	}
	return &engine.Unavailable{RetryAfter: retryAfter, Reason: fmt.Sprintf(
		"this server has not reached the shared storage for %v, longer than storage.max_staleness (%v); check the network and the credentials of the storage", s.Lag.Round(time.Second), limit)}
}

const (
	// awaitPause is the pause between two looks at the log for the next writer.
	awaitPause = 50 * time.Millisecond

	// handoverTime is how long a write waits for the next writer.
	handoverTime = 10 * time.Second
)

// AwaitWriter waits until another server than the writer `was`, or this server, has taken over. It returns false
// when it has waited for handoverTime or ctx ends, and at once if `was` is alive and not about to stop.
func (g *Graph) AwaitWriter(ctx context.Context, was embedded.Takeover) bool {
	ctx, cancel := context.WithTimeout(ctx, handoverTime)
	defer cancel()
	for {
		var t embedded.Takeover
		err := g.calling(ctx, func(eg engine.Graph) (err error) {
			f, reads := eg.(*embedded.Follower)
			if !reads {
				t = embedded.Takeover{}
				return nil
			}
			if err := f.CatchUp(ctx); err != nil {
				return err
			}
			t, err = f.Takeover(ctx)
			return err
		})
		switch {
		case err == nil && t.Epoch == 0:
			return true // this server is the writer
		case err == nil && t.Epoch > was.Epoch:
			g.writer.Store(&t)
			return true
		case !g.storage.Node.leaving(ctx, was):
			return false
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(awaitPause):
		}
	}
}

// Writing reports whether this server is the writer of the graph. The function `confirm` returns nil only if it
// has been the writer from the call of Writing to the call of confirm, and if all commits that were in flight
// then are durable. Its error is a *engine.Unavailable if another server may have written the graph since, or
// if a commit in flight failed.
func (g *Graph) Writing() (writer bool, confirm func(context.Context) error) {
	was := g.current.Load()
	return was.written != nil, func(ctx context.Context) error {
		if was.written == nil || g.current.Load() != was {
			return &engine.Unavailable{Reason: "another server writes the graph", RetryAfter: retryAfter}
		}
		return was.written.Settle(ctx)
	}
}

// Tenure returns a number that changes when this server becomes the writer, unless it was the last writer too and had closed the graph because
// it had no calls. So no other server wrote between two calls of Tenure that returned the same number to the writer.
func (g *Graph) Tenure() uint64 { return g.tenure.Load() }

// CatchUp makes sure that later reads see every commit that was acknowledged before.
func (g *Graph) CatchUp(ctx context.Context) error {
	return g.calling(ctx, func(eg engine.Graph) error {
		return eg.(interface{ CatchUp(context.Context) error }).CatchUp(ctx)
	})
}

// CatchUpSchema makes sure that later reads see the schema with a digest, if it was in force on main before the call. It does
// nothing on the server that writes the graph.
func (g *Graph) CatchUpSchema(ctx context.Context, digest string) error {
	return g.calling(ctx, func(eg engine.Graph) error {
		if f, ok := eg.(*embedded.Follower); ok {
			return f.CatchUpSchema(ctx, digest)
		}
		return nil
	})
}

// Close closes the graph for good. If this server writes the graph, call [Node.Leave] first, so that
// another server takes over at once.
func (g *Graph) Close() error {
	g.closing.Do(func() {
		g.use.mu.Lock()
		g.use.closed = true
		g.use.mu.Unlock()
		g.stop()
		g.running.Wait()
		g.changing.Lock()
		defer g.changing.Unlock()
		g.storage.Node.remove(g)
		now := g.current.Load()
		g.set(&copied{err: errClosed, stats: now.stats})
		if eg := now.graph(); eg != nil {
			g.closeErr = eg.Close()
		}
		// If another server has replaced this writer, nothing is lost, so this is not an error.
		var unavailable *engine.Unavailable
		if errors.As(g.closeErr, &unavailable) {
			g.closeErr = nil
		}
	})
	return g.closeErr
}

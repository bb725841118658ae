package replica

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// A graph without calls is Idle: it is closed, has no goroutine, and sends no request to the
// storage. The first call opens it. A graph that has not been used for Storage.Idle is closed again.
//
// The writer of a graph that becomes Idle names the graph with its epoch in its sign. Another server
// may then take over at once when it has a write. The former writer may do so, too; the log decides.
// Neither of them takes over for reads alone, because takeovers stay in the log for ever.

// use counts what keeps a graph open.
type use struct {
	mu      sync.Mutex
	holders int           // calls that run and results that are open; the graph is not closed meanwhile
	last    time.Time     // when the last of them ended
	opening chan struct{} // closed when the attempt to open the graph that is in progress has ended; nil if there is none
	closed  bool          // Close was called
}

const (
	// maxReopen is the longest pause between two attempts to open a graph that could not be opened.
	maxReopen = 5 * time.Second

	// maxReleased bounds the Idle graphs in a sign. Further ones wait for their former writer, to which
	// the other servers forward writes.
	maxReleased = 1000

	// heldPause is the pause before a server tries to open a graph again that another process has
	// open in the same cache.
	heldPause = 100 * time.Millisecond
)

// OpenOnUse returns a graph that is opened with its first use. If that fails, calls get a
// *engine.Unavailable, and the graph tries again by itself. After each time that it was opened, the
// graph calls `opened`, unless that is nil.
func (s *Storage) OpenOnUse(id string, o engine.OpenOptions, opened func(context.Context)) (*Graph, error) {
	if s.Command {
		return nil, errors.New("a command opens its graphs at once")
	}
	g := s.newGraph(id, o)
	g.opened = opened
	g.set(&copied{idle: true, err: errClosed})
	if err := s.Node.add(g); err != nil {
		return nil, err
	}
	return g, nil
}

// hold keeps the graph open until release is called. It first opens the graph if the graph is Idle.
// If hold returns an error, release must not be called.
func (g *Graph) hold(ctx context.Context) error {
	g.use.mu.Lock()
	g.use.holders++
	wait := g.openingLocked()
	g.use.mu.Unlock()
	if wait == nil {
		return nil
	}
	select {
	case <-wait:
		return nil
	case <-ctx.Done():
		g.release()
		return ctx.Err()
	}
}

// release ends a hold.
func (g *Graph) release() {
	g.use.mu.Lock()
	defer g.use.mu.Unlock()
	g.use.holders--
	g.use.last = clock.Now()
}

// openingLocked returns the attempt to open the graph that is in progress. It starts one if the graph
// is Idle, and returns nil if the graph is open. The attempt continues when the contexts of the calls
// that wait for it end. REQUIRES: g.use.mu is locked.
func (g *Graph) openingLocked() <-chan struct{} {
	if g.use.opening != nil || g.use.closed || !g.current.Load().idle {
		return g.use.opening
	}
	done := make(chan struct{})
	g.use.opening = done
	g.running.Go(func() {
		err := g.wake()
		g.use.mu.Lock()
		g.use.opening = nil
		g.use.mu.Unlock()
		close(done)
		if err == nil && g.opened != nil {
			g.opened(g.base)
		}
	})
	return done
}

// wakeSoon opens the graph if it is Idle, and does not wait for that.
func (g *Graph) wakeSoon() {
	g.use.mu.Lock()
	defer g.use.mu.Unlock()
	g.use.last = clock.Now()
	g.openingLocked()
}

// wake opens an Idle graph and starts its work in the background, which opens the graph later if wake
// fails.
func (g *Graph) wake() error {
	ctx := g.base
	g.changing.Lock()
	err := g.follow(ctx)
	for held := (*engine.Unavailable)(nil); errors.As(err, &held) && clock.Now().Before(g.storage.HeldUntil); err = g.follow(ctx) {
		select {
		case <-time.After(heldPause):
		case <-ctx.Done():
			g.changing.Unlock()
			return ctx.Err()
		}
	}
	if ctx.Err() != nil && err != nil {
		g.changing.Unlock()
		return err
	}
	if err != nil {
		g.set(g.current.Load().unopened(g.id, err))
		g.postpone()
	}
	g.changing.Unlock()
	if err != nil {
		g.storage.fault(g.id, g.current.Load().err)
	}
	g.start(err == nil)
	return err
}

// start begins the work in the background. If the graph is open, start first decides about its role.
func (g *Graph) start(open bool) {
	ctx, stop := context.WithCancel(g.base)
	if open {
		g.step(ctx)                   // so that a server that starts alone accepts writes at once
		if g.State().Role != Writer { // takeOver has reported the role Writer already
			g.changed()
		}
	}
	var collecting sync.WaitGroup
	collecting.Go(func() { g.collect(ctx) })
	g.running.Go(func() {
		g.run(ctx)
		stop()
		collecting.Wait()
	})
}

// unopened returns the state that follows when the graph could not be opened at its first use, with the
// error of calls. The error does not wrap the cause: a caller must not take a graph that is missing in the
// storage for missing data.
func (c *copied) unopened(id string, cause error) *copied {
	var missing *engine.NotFound
	var corrupt *engine.Corrupt
	var newer *engine.NewerFormat
	var older *engine.OlderFormat
	advice := "check the network and the credentials of the storage"
	switch {
	case errors.As(cause, &missing):
		advice = "create the graph with omnigraph cluster apply, or restore it"
	case errors.As(cause, &newer), errors.As(cause, &older):
		advice = "start this server with the version of the program that wrote the graph"
	case errors.As(cause, &corrupt):
		advice = "run omnigraph verify, and restore the graph from a backup"
	}
	return &copied{first: true, stats: c.stats, released: c.released, since: c.since, err: &engine.Unavailable{
		RetryAfter: retryAfter, Reason: fmt.Sprintf("the server could not open the graph %s from the shared storage, and tries again by itself; %s: %v", id, advice, cause),
	}}
}

// postpone makes step wait before it tries to open the graph again, longer after each failure.
// REQUIRES: the caller holds `changing`.
func (g *Graph) postpone() {
	g.wait = min(max(2*g.wait, g.storage.Node.tick()), maxReopen)
	g.again = clock.Now().Add(g.wait)
}

// unused reports whether the graph has not been used for Storage.Idle.
func (g *Graph) unused() bool {
	g.use.mu.Lock()
	defer g.use.mu.Unlock()
	return g.unusedLocked()
}

// unusedLocked is like unused. REQUIRES: g.use.mu is locked.
func (g *Graph) unusedLocked() bool {
	limit := g.storage.Idle
	return limit > 0 && g.use.holders == 0 && clock.Now().Sub(g.use.last) >= limit && g.storage.Node.wished(g.id) == nil
}

// drop closes the graph if it has not been used for Storage.Idle, and reports whether it did. A graph
// that could not be opened stays as it is, so that it opens when its storage is repaired. While the storage
// does not answer, an open graph stays open, so that its server goes on answering reads.
func (g *Graph) drop(ctx context.Context) bool {
	if !g.unused() || g.current.Load().graph() == nil || !g.storageAnswers(ctx) {
		return false
	}
	if now := g.current.Load(); now.written != nil {
		g.collectOnce(ctx, now, g.storage.collectEvery()) // no other server collects while the graph is Idle
	}
	g.changing.Lock()
	defer g.changing.Unlock()
	now := g.current.Load()
	if now.graph() == nil || ctx.Err() != nil {
		return false
	}
	last := now.graph().Stats()
	last.Calls = 0
	g.use.mu.Lock()
	if !g.unusedLocked() {
		g.use.mu.Unlock()
		return false
	}
	now.leaving.Store(true)
	idle := &copied{idle: true, err: errClosed, stats: last}
	if idle.released = g.released(); now.written != nil {
		idle.released = now.written.Epoch()
	}
	if idle.released != 0 {
		idle.since = clock.Now()
	}
	g.vacant.Store(0)
	g.set(idle)
	g.use.mu.Unlock()
	// Calls that arrive from here on wait for `changing`, and then open the graph again.
	if err := now.graph().Close(); err != nil {
		var lost *engine.Unavailable // another server has replaced this writer: nothing is lost
		if !errors.As(err, &lost) {
			g.storage.fault(g.id, fmt.Errorf("closing the unused graph: %w", err))
		}
	}
	g.changed()
	return true
}

// Claim opens the graph if it is Idle, and makes this server the writer if the former writer, which
// can be this server, has given the unused graph up.
func (g *Graph) Claim(ctx context.Context) error {
	if err := g.hold(ctx); err != nil {
		return err
	}
	defer g.release()
	return g.claim(ctx)
}

// claim is like Claim. REQUIRES: the caller holds the graph.
func (g *Graph) claim(ctx context.Context) error {
	from := g.vacant.Load()
	if from == 0 || g.current.Load().follower == nil || g.storage.Node.mayTakeOver() != nil {
		return nil // a write is forwarded, or refused by the follower
	}
	err := g.takeOver(ctx, from)
	var late *engine.Conflict
	if errors.As(err, &late) {
		return nil // another server was faster, and writes the graph now
	}
	return err
}

// released returns the last epoch of the graph if this server was its writer and has given the unused
// graph up. Otherwise it returns 0.
func (g *Graph) released() uint64 {
	now := g.current.Load()
	if v := g.vacant.Load(); now.follower != nil && v == g.mine.Load() {
		return v
	}
	return now.released
}

// addReleased adds to a sign the graphs of which this node was the last writer, and which are Idle.
func addReleased(s *Sign, idle []*Graph) {
	type entry struct {
		id    string
		epoch uint64
		since time.Time
	}
	var all []entry
	for _, g := range idle {
		if now := g.current.Load(); now.released != 0 {
			all = append(all, entry{g.id, now.released, now.since})
		}
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Or(b.since.Compare(a.since), cmp.Compare(a.id, b.id)) })
	for _, e := range all[:min(len(all), maxReleased)] {
		s.Graphs[e.id] = GraphSign{Role: Idle, Epoch: e.epoch, Released: e.epoch}
	}
}

// heldResult is a result that keeps its graph open until it is closed.
type heldResult struct {
	engine.Result
	done func()
}

// Close implements [engine.Result].
func (r *heldResult) Close() error {
	defer r.done()
	return r.Result.Close()
}

// heldPreview is a preview whose reads keep the graph open.
type heldPreview struct {
	engine.Preview
	graph *Graph
}

// Query implements [engine.Preview].
func (p *heldPreview) Query(ctx context.Context, q *plan.Query, args engine.Args, now time.Time) (engine.Result, error) {
	if err := p.graph.hold(ctx); err != nil {
		return nil, err
	}
	return p.graph.holding(p.Preview.Query(ctx, q, args, now))
}

// Changes implements [engine.Preview].
func (p *heldPreview) Changes(ctx context.Context, r engine.ChangeRange) ([]engine.EntityChange, bool, error) {
	if err := p.graph.hold(ctx); err != nil {
		return nil, false, err
	}
	defer p.graph.release()
	return p.Preview.Changes(ctx, r)
}

// Entity implements [engine.Preview].
func (p *heldPreview) Entity(ctx context.Context, at engine.ChangePosition) (*engine.Image, bool, error) {
	if err := p.graph.hold(ctx); err != nil {
		return nil, false, err
	}
	defer p.graph.release()
	return p.Preview.Entity(ctx, at)
}

// holding returns a result that ends a hold of the caller when it is closed. If err is not nil, it ends
// the hold at once.
func (g *Graph) holding(r engine.Result, err error) (engine.Result, error) {
	if err != nil {
		g.release()
		return nil, err
	}
	return &heldResult{Result: r, done: sync.OnceFunc(g.release)}, nil
}

package servedgraph

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/webhook"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// This file sends the events of watches with webhooks. The server that writes the graph does it, and no other one. Before an event is sent
// for the first time, the graph has its cursors, so that another server that takes over sends the same event with the same id.

const (
	// DefaultRightsFor is how long the rights of the owner of a webhook count after its last call.
	DefaultRightsFor = 720 * time.Hour

	hookPause     = time.Second       // between two looks at the watches of a graph with webhooks, and at the role of the server
	hookCalls     = 32                // messages of a graph that are sent at once, and evaluations; of each owner maxEvaluations to one host
	firstRetry    = 5 * time.Second   // before the second attempt
	lastRetry     = time.Hour         // between two later attempts at most
	giveUpAfter   = 24 * time.Hour    // an event is given up so long after its first attempt, and after leastAttempts
	leastAttempts = 10                // of an event that is given up; a webhook may have paused meanwhile
	maxHookBytes  = 1 << 20           // a message with a larger event leaves its rows out
	renewals      = 8                 // how often in the time of rights_for a call of the owner is stored
	deliverCall   = "webhook_deliver" // the name of the evaluations in the log
	claimPause    = time.Minute       // between two looks whether a graph with webhooks has a writer
	cursorKept    = 10 * time.Minute  // how often the cursor of a webhook without news is stored
	idOfHookEvent = "_"               // stands between the id of the watch and the cursor in the id of a message
)

// never is a time that does not come.
var never = time.Unix(1<<40, 0)

// deliverer sends the events of the webhooks of a graph. Its fields belong to the goroutine of [Graph.Deliver], except where they say
// otherwise.
type deliverer struct {
	g    *Graph
	send *webhook.Sender

	evaluations slots      // that run at once, at most maxEvaluations of each owner
	posts       slots      // messages that are sent at once
	messages    watchTurns // those of each owner to each host, so that a slow host is in the way of no other one
	owners      watchTurns // the evaluations of each owner that run or wait

	writing context.Context    // ends with the role of the writer; nil for a server that does not write
	stop    context.CancelFunc // ends it

	running sync.WaitGroup
	mu      sync.Mutex
	hooks   map[string]*hookProgress // by watch; the fields of a busy one belong to its goroutine; guarded by mu
}

func newDeliverer(g *Graph) *deliverer {
	return &deliverer{g: g, send: g.hookSender, evaluations: make(slots, hookCalls), posts: make(slots, hookCalls)}
}

// slots have an element for each of the things that run at once.
type slots chan struct{}

// take waits for a slot. The caller calls `done` at its end. The error is that of the context.
func (s slots) take(ctx context.Context) (done func(), err error) {
	select {
	case s <- struct{}{}:
		return func() { <-s }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ownerOf returns the owner of a watch without its agents.
func ownerOf(w *engine.Watch) string {
	id, _ := engine.SplitActor(w.Owner)
	return id
}

// hookProgress is what the deliverer knows of a webhook.
type hookProgress struct {
	busy   bool      // a goroutine works on it; guarded by the mutex of the deliverer
	branch string    // the head of the branch at the last evaluation
	main   string    // the head of main at that time, if the rights depend on it
	cursor string    // of the last evaluation without news; empty for the cursor in the graph
	after  string    // the cursor in the graph at that time
	kept   time.Time // when the cursor was stored
	due    time.Time // before this time nothing is done
	rested time.Time // before this time the query does not run for news
	owner  string    // the rights of the last evaluation
	failed int       // evaluations that failed, one after the other
	fault  bool      // the graph has the reason why the last one failed
}

// hookWoken reports that there may be something to do for the webhooks of the graph.
func (g *Graph) hookWoken() {
	select {
	case g.hookNews <- struct{}{}:
	default:
	}
}

// Deliver sends the events of the webhooks of the graph until ctx ends. It reads the graph only while this server writes it, and
// while no watch has a webhook, only after writes.
func (g *Graph) Deliver(ctx context.Context) {
	if !g.hookSender.Enabled() {
		return
	}
	d := newDeliverer(g)
	defer g.hookSender.Close()
	defer d.forget()
	tick := time.NewTicker(hookPause)
	defer tick.Stop()
	look := true        // there are webhooks, or nobody has looked yet
	var claim time.Time // when to look whether any server sends them
	for {
		if !d.writes() {
			d.forget()
			look = true // when this server becomes the writer
			if d.g.now().After(claim) {
				claim = d.claim(ctx)
			}
		} else {
			claim = time.Time{}
			if look {
				look = d.round(ctx)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-g.hookNews:
			look = true
		case <-tick.C:
		}
	}
}

// writes reports whether this server writes the graph.
func (d *deliverer) writes() bool { return d.g.delivers.Writes == nil || d.g.delivers.Writes() }

// claim makes this server the writer of a graph with webhooks that no server writes, because nobody may call one for long. It also opens the
// graph. It reports when to look again; the zero value for at once.
func (d *deliverer) claim(ctx context.Context) time.Time {
	list, err := d.g.engine.Watches(ctx, engine.WatchRange{})
	if err != nil {
		return time.Time{}
	}
	if !slices.ContainsFunc(list, func(w engine.Watch) bool { return operations.WebhookOf(w.State) != nil }) {
		return never
	}
	if err := d.g.delivers.Claim(ctx); err != nil {
		d.g.log.WarnContext(ctx, "the server cannot become the writer of a graph with webhooks; it tries again", "error", err)
	}
	return d.g.now().Add(claimPause)
}

// forget ends what the deliverer does and forgets what it knows, because another server sends the events.
func (d *deliverer) forget() {
	if d.stop != nil {
		d.stop()
		d.writing, d.stop = nil, nil
	}
	d.running.Wait()
	d.hooks = nil
	d.g.owners.set(nil)
}

// round looks at all watches once, and starts what is due. It reports whether any has a webhook.
func (d *deliverer) round(ctx context.Context) bool {
	if d.writing == nil {
		d.writing, d.stop = context.WithCancel(ctx)
	}
	ctx = d.writing
	working := d.working() // the list may be older than what these have changed
	list, err := d.g.engine.Watches(ctx, engine.WatchRange{})
	if err != nil {
		return true
	}
	now := d.g.now()
	calls := d.g.owners.due(now)
	owners, hooks := map[string]*hookOwner{}, map[string]*hookProgress{}
	for i := range list {
		w := &list[i]
		h := operations.WebhookOf(w.State)
		if h == nil {
			continue
		}
		d.mu.Lock()
		p := d.hooks[w.ID]
		if p == nil {
			p = &hookProgress{kept: now}
		}
		d.mu.Unlock()
		busy := working[w.ID]
		hooks[w.ID] = p
		if call := calls[h.Token]; call != "" {
			_ = d.renew(ctx, w.ID, h, call, now) // if it fails, the call stays noted
		}
		o, called := owners[h.Token], time.UnixMicro(h.Called)
		if o == nil {
			o = &hookOwner{called: called}
			owners[h.Token] = o
		}
		if o.stored == "" || called.Before(o.called) {
			o.stored, o.called = string(h.Owner), called
		}
		o.waits = o.waits || h.Denied
		if !busy && p.fault && h.Fault == "" { // the owner has called, or wants events again
			p.fault, p.due = false, time.Time{}
		}
		if !busy && !h.Gone && !(h.Denied && p.fault) && !h.Expired(d.g.hookTimes()) && !now.Before(p.due) && d.pending(ctx, w, h, p, now) {
			d.start(ctx, w, p, h.Fault != "")
		}
	}
	d.mu.Lock()
	d.hooks = hooks
	d.mu.Unlock()
	d.g.owners.set(owners)
	return len(hooks) > 0
}

// working returns the watches on whose webhooks a goroutine works.
func (d *deliverer) working() map[string]bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	ids := map[string]bool{}
	for id, p := range d.hooks {
		if p.busy {
			ids[id] = true
		}
	}
	return ids
}

// renew stores the rights of a call of the owner of a webhook.
func (d *deliverer) renew(ctx context.Context, id string, h *operations.WatchHook, call string, now time.Time) error {
	set := func(h *operations.WatchHook) bool {
		h.Owner, h.Called, h.Fault, h.Denied = json.RawMessage(call), now.UnixMicro(), "", false
		return true
	}
	err := d.change(ctx, id, set)
	if errors.As(err, new(*engine.TooLarge)) { // the rights before must not stay
		large := err.Error()
		set = func(h *operations.WatchHook) bool {
			h.Owner, h.Fault, h.Denied = json.RawMessage("null"), "the rights of the owner cannot be stored: "+large, true
			return true
		}
		err = d.change(ctx, id, set)
	}
	if err == nil {
		set(h)
	}
	return err
}

// pending reports whether an event may have to be sent.
func (d *deliverer) pending(ctx context.Context, w *engine.Watch, h *operations.WatchHook, p *hookProgress, now time.Time) bool {
	switch {
	case slices.ContainsFunc(h.Undelivered, func(u operations.Delivery) bool { return u.Again }):
		return true
	case h.Sending != nil:
		return now.UnixMicro() >= h.Sending.Due
	case now.Before(p.rested):
		return false
	case p.branch == "", p.owner != string(h.Owner):
		return true
	}
	head, err := d.g.Head(ctx, tool.BranchNamed(w.Branch))
	if err == nil && head == p.branch && p.main != "" {
		var main string
		if main, err = d.g.Head(ctx, tool.Branch{}); main != p.main {
			head = main
		}
	}
	if err != nil || head == p.branch {
		return false
	}
	if w.Debounce > 0 && p.due.IsZero() {
		p.due = now.Add(w.Debounce) // further commits may follow
		return false
	}
	return true
}

// start works on a webhook in a goroutine. The graph may have a fault of it.
func (d *deliverer) start(ctx context.Context, w *engine.Watch, p *hookProgress, fault bool) {
	d.mu.Lock()
	p.busy = true
	d.mu.Unlock()
	d.running.Go(func() {
		err := d.deliver(ctx, w, p)
		if err == nil && fault {
			err = d.change(ctx, w.ID, func(h *operations.WatchHook) bool {
				cleared := h.Fault != ""
				h.Fault, h.Denied = "", false
				return cleared
			})
		}
		now := d.g.now()
		p.due = time.Time{}
		if p.failed++; err == nil {
			p.failed, p.fault = 0, false
		} else if p.due = now.Add(retryAfter(p.failed)); ctx.Err() == nil {
			d.failed(ctx, w.ID, p, err)
		}
		d.mu.Lock()
		p.busy = false
		d.mu.Unlock()
		d.g.hookWoken()
	})
}

// failed notes that a watch could not be evaluated, or an event not be stored.
func (d *deliverer) failed(ctx context.Context, id string, p *hookProgress, err error) {
	f := wireerror.Explain(err)
	denied := !f.Operational
	if err := d.change(ctx, id, func(h *operations.WatchHook) bool {
		changed := h.Fault != f.Body.Message || h.Denied != denied
		h.Fault, h.Denied = f.Body.Message, denied
		return changed
	}); err == nil {
		p.fault = true
	}
	d.g.log.WarnContext(ctx, "the events of a webhook cannot be evaluated or stored", "watch", id, "waits_for_owner", denied && p.fault, "error", err)
}

// deliver sends the next event of a webhook, if there is one, and those that its owner wants again.
func (d *deliverer) deliver(ctx context.Context, w *engine.Watch, p *hookProgress) error {
	done, err := d.messages.take(ctx, ownerOf(w)+" "+webhook.Host(operations.WebhookOf(w.State).URL))
	if err != nil {
		return err
	}
	defer done()
	list, err := d.g.engine.Watches(ctx, engine.WatchRange{ID: w.ID})
	if err != nil || len(list) == 0 || !d.writes() {
		return err
	}
	w = &list[0]
	h := operations.WebhookOf(w.State)
	if h == nil {
		return nil
	}
	if call := d.g.owners.noted(h.Token); call != "" && call != string(h.Owner) {
		if err := d.renew(ctx, w.ID, h, call, d.g.now()); err != nil {
			return err
		}
	}
	actor, err := restoreActor(h.Owner, d.g.claims)
	if err != nil {
		return fmt.Errorf("the stored rights of the owner: %w", err)
	}
	p.owner = string(h.Owner)
	m := &hookMessage{d: d, w: w, h: h, owner: actor}
	for _, u := range h.Undelivered {
		if u.Again {
			if err = m.again(ctx, u); err != nil {
				break
			}
		}
	}
	if err == nil {
		err = m.next(ctx, p)
	}
	if errors.Is(err, errChanged) {
		p.branch, err = "", nil // look again at once
	}
	return err
}

// change changes the webhook of a watch. The function returns false for no change.
func (d *deliverer) change(ctx context.Context, id string, change func(*operations.WatchHook) bool) error {
	return d.g.engine.ChangeWatch(ctx, id, func(state []byte) ([]byte, error) {
		h := operations.WebhookOf(state)
		if h == nil || !change(h) {
			return state, nil
		}
		return h.State()
	})
}

// retryAfter returns how long to wait after a number of failed attempts.
func retryAfter(failed int) time.Duration {
	b := backoff.ExponentialBackOff{InitialInterval: firstRetry, RandomizationFactor: 0.2, Multiplier: 3, MaxInterval: lastRetry}
	b.Reset()
	wait := b.NextBackOff()
	for range min(failed, 20) - 1 {
		wait = b.NextBackOff()
	}
	return wait
}

// hookTimes returns when webhooks pause.
func (g *Graph) hookTimes() operations.WatchTimes {
	return operations.WatchTimes{Now: g.now(), RightsFor: g.rightsFor}
}

// newHook returns the webhook of a new watch of an actor.
func (g *Graph) newHook(actor *access.Actor, url string) (*operations.WatchHook, error) {
	if url == "" {
		return nil, nil
	}
	if err := g.access.Require(actor, tool.Grant{Action: tool.WatchWebhook}); err != nil {
		return nil, err // before an answer tells what the settings list
	}
	refused := func(detail, help string) error {
		return &tool.ArgumentError{Path: "webhook", Detail: detail, Help: help}
	}
	if !g.hookSender.Enabled() {
		return nil, refused("the graph sends no webhooks", "name hosts in watches.webhook_hosts of the graph in cluster.yaml")
	}
	if err := g.hookSender.Check(url); err != nil {
		return nil, refused(err.Error(), "name an https address whose host is in watches.webhook_hosts of the graph in cluster.yaml")
	}
	owner, err := storeActor(actor)
	if err != nil {
		return nil, err
	}
	return &operations.WatchHook{URL: url, Secret: webhook.NewSecret(), Owner: owner, Token: tokenKey(actor), Called: g.now().UnixMicro()}, nil
}

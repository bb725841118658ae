package servedgraph

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
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
	hookCalls     = 32                // messages of a graph that are sent at once, of each owner maxEvaluations
	firstRetry    = 5 * time.Second   // before the second attempt
	lastRetry     = time.Hour         // between two later attempts at most
	giveUpAfter   = 24 * time.Hour    // an event is given up so long after its first attempt
	maxHookBytes  = 1 << 20           // a message with a larger event leaves its rows out
	renewals      = 8                 // how often in the time of rights_for a call of the owner is stored
	deliverCall   = "webhook_deliver" // the name of the evaluations in the log
	cursorKept    = 10 * time.Minute  // how often the cursor of a webhook without news is stored
	idOfHookEvent = "_"               // stands between the id of the watch and the cursor in the id of a message
)

// deliverer sends the events of the webhooks of a graph. Its fields belong to the goroutine of [Graph.Deliver], except where they say
// otherwise.
type deliverer struct {
	g     *Graph
	send  *webhook.Sender
	calls chan struct{} // has an element for each message that is being sent
	turns watchTurns    // the messages of each owner

	running sync.WaitGroup
	mu      sync.Mutex
	hooks   map[string]*hookProgress // by watch; the fields of a busy one belong to its goroutine; guarded by mu
}

// hookProgress is what the deliverer knows of a webhook.
type hookProgress struct {
	busy   bool      // a goroutine works on it; guarded by the mutex of the deliverer
	branch string    // the head of the branch at the last evaluation
	main   string    // the head of main at that time, if the rights depend on it
	cursor string    // of the last evaluation without news; empty for the cursor in the graph
	kept   time.Time // when the cursor was stored
	due    time.Time // before this time nothing is done
	rested time.Time // before this time the query does not run for news
	failed int       // evaluations that failed, one after the other
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
	d := &deliverer{g: g, send: g.hookSender, calls: make(chan struct{}, hookCalls)}
	defer g.hookSender.Close()
	defer d.running.Wait()
	tick := time.NewTicker(hookPause)
	defer tick.Stop()
	look := true // there are webhooks, or nobody has looked yet
	for {
		if g.delivers != nil && !g.delivers() {
			d.forget()
			look = true // when this server becomes the writer
		} else if look {
			look = d.round(ctx)
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

// forget forgets what the deliverer knows, because another server sends the events.
func (d *deliverer) forget() {
	d.running.Wait()
	d.hooks = nil
	d.g.owners.set(nil)
}

// round looks at all watches once, and starts what is due. It reports whether any has a webhook.
func (d *deliverer) round(ctx context.Context) bool {
	list, err := d.g.engine.Watches(ctx, engine.WatchRange{})
	if err != nil {
		return true
	}
	now := d.g.now()
	calls := d.g.owners.take()
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
		busy := p.busy
		d.mu.Unlock()
		hooks[w.ID] = p
		if call := calls[w.Owner]; call != "" {
			d.renew(ctx, w.ID, h, call, now)
		}
		called := time.UnixMicro(h.Called)
		if o := owners[w.Owner]; o == nil || called.Before(o.called) {
			owners[w.Owner] = &hookOwner{stored: string(h.Owner), called: called}
		}
		if !busy && !h.Gone && !h.Expired(d.g.hookTimes()) && !now.Before(p.due) && d.pending(ctx, w, h, p, now) {
			d.start(ctx, w, p)
		}
	}
	d.mu.Lock()
	d.hooks = hooks
	d.mu.Unlock()
	d.g.owners.set(owners)
	return len(hooks) > 0
}

// renew stores a call of the owner of a webhook.
func (d *deliverer) renew(ctx context.Context, id string, h *operations.WatchHook, call string, now time.Time) {
	err := d.change(ctx, id, func(h *operations.WatchHook) bool {
		h.Owner, h.Called = json.RawMessage(call), now.UnixMicro()
		return true
	})
	if err == nil {
		h.Owner, h.Called = json.RawMessage(call), now.UnixMicro()
	}
}

// pending reports whether an event may have to be sent.
func (d *deliverer) pending(ctx context.Context, w *engine.Watch, h *operations.WatchHook, p *hookProgress, now time.Time) bool {
	switch {
	case h.Sending != nil:
		return now.UnixMicro() >= h.Sending.Due
	case slices.ContainsFunc(h.Undelivered, func(u operations.Delivery) bool { return u.Again }):
		return true
	case now.Before(p.rested):
		return false
	case p.branch == "":
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

// start works on a webhook in a goroutine.
func (d *deliverer) start(ctx context.Context, w *engine.Watch, p *hookProgress) {
	d.mu.Lock()
	p.busy = true
	d.mu.Unlock()
	d.running.Go(func() {
		err := d.deliver(ctx, w.ID, w.Owner, p)
		now := d.g.now()
		p.due = time.Time{}
		if p.failed++; err == nil {
			p.failed = 0
		} else if p.due = now.Add(retryAfter(p.failed)); ctx.Err() == nil {
			d.g.log.WarnContext(ctx, "the events of a webhook cannot be evaluated or stored; the server tries again", "watch", w.ID, "error", err)
		}
		d.mu.Lock()
		p.busy = false
		d.mu.Unlock()
		d.g.hookWoken()
	})
}

// deliver sends the next event of a webhook, if there is one, and those that its owner wants again.
func (d *deliverer) deliver(ctx context.Context, id, owner string, p *hookProgress) error {
	done, err := d.turns.take(ctx, owner)
	if err != nil {
		return err
	}
	defer done()
	select {
	case d.calls <- struct{}{}:
		defer func() { <-d.calls }()
	case <-ctx.Done():
		return ctx.Err()
	}
	list, err := d.g.engine.Watches(ctx, engine.WatchRange{ID: id})
	if err != nil || len(list) == 0 {
		return err
	}
	w := &list[0]
	h := operations.WebhookOf(w.State)
	if h == nil {
		return nil
	}
	actor, err := restoreActor(h.Owner, d.g.claims)
	if err != nil {
		return fmt.Errorf("the stored rights of the owner: %w", err)
	}
	m := &hookMessage{d: d, w: w, h: h, owner: actor}
	for _, u := range h.Undelivered {
		if u.Again {
			if err := m.again(ctx, u); err != nil {
				return err
			}
		}
	}
	return m.next(ctx, p)
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

// hookMessage is a message about a watch.
type hookMessage struct {
	d     *deliverer
	w     *engine.Watch
	h     *operations.WatchHook
	owner *access.Actor
}

// evaluate returns the event from a cursor to a commit, or to the head if that is empty, and the data of the message. The argument
// `previous` is the cursor of the event before.
func (m *hookMessage) evaluate(ctx context.Context, previous, cursor, until string) (*operations.ReadWatch, json.RawMessage, error) {
	call, err := m.d.g.readWatch(ctx, m.owner, &operations.WatchRequest{ID: m.w.ID, Cursor: cursor})
	if err != nil {
		return nil, nil, m.d.g.record.Refused(access.WithActor(ctx, m.owner), deliverCall, wireerror.OutcomeOf(err), err)
	}
	call.Until, call.Webhook = until, m.h.URL
	answer, err := m.d.g.Do(ctx, m.owner, deliverCall, call, encoding.Options{})
	if err != nil {
		return nil, nil, err
	}
	defer answer.Release()
	event := slices.Concat(append(answer.Head, answer.JSON)...)
	data := struct {
		GraphID  string          `json:"graph_id"`
		WatchID  string          `json:"watch_id"`
		Previous string          `json:"previous_cursor"`
		Event    json.RawMessage `json:"event"`
		Omitted  bool            `json:"omitted,omitempty"`
	}{m.d.g.id, m.w.ID, previous, event, len(event) > maxHookBytes}
	if data.Omitted {
		if data.Event, err = encoding.JSON(client.WatchEvent{Cursor: call.Event.Cursor, From: call.Event.From, To: call.Event.To, Reset: call.Event.Reset}); err != nil {
			return nil, nil, err
		}
	}
	body, err := encoding.JSON(data)
	return call, body, err
}

// post sends an event that was first sent at a time.
func (m *hookMessage) post(ctx context.Context, cursor string, since int64, data json.RawMessage) error {
	body, err := encoding.JSON(struct {
		Type      string          `json:"type"`
		Timestamp string          `json:"timestamp"`
		Data      json.RawMessage `json:"data"`
	}{client.WebhookEvent, time.UnixMicro(since).UTC().Format(time.RFC3339Nano), data})
	if err != nil {
		return err
	}
	return m.d.send.Send(ctx, m.h.URL, m.h.Secret, m.w.ID+idOfHookEvent+cursor, m.d.g.now(), body)
}

// next evaluates the watch, and sends the event if there is news. The error is one of the evaluation or of the graph: a failed delivery is
// noted in the graph.
func (m *hookMessage) next(ctx context.Context, p *hookProgress) error {
	cursor, until, now := cmp.Or(p.cursor, m.h.Cursor), "", m.d.g.now()
	if m.h.Sending != nil {
		cursor, until = m.h.Sending.From, operations.WatchedCommit(m.h.Sending.To)
	}
	call, data, err := m.evaluate(ctx, m.h.Last, cursor, until)
	if until != "" && errors.As(err, new(*engine.NotFound)) { // the commit is no longer kept, or the rights are gone: then this fails too
		call, data, err = m.evaluate(ctx, m.h.Last, cursor, "")
	}
	if err != nil {
		return err
	}
	if call.Ran {
		p.rested = now.Add(WatchRest)
	}
	e := call.Event
	if m.h.Sending == nil && !e.News() {
		return m.quiet(ctx, p, call, now)
	}
	sending := operations.Delivery{Previous: m.h.Last, From: cursor, To: e.Cursor, Since: now.UnixMicro()}
	if was := m.h.Sending; was != nil && was.To == e.Cursor {
		sending = *was
	} else if err := m.d.change(ctx, m.w.ID, func(h *operations.WatchHook) bool { h.Sending = &sending; return true }); err != nil {
		return err
	}
	failed := m.post(ctx, e.Cursor, sending.Since, data)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	p.cursor, p.kept = "", now
	p.branch = "" // commits may have come meanwhile
	return m.noted(ctx, sending, failed)
}

// quiet notes that an evaluation found no news.
func (m *hookMessage) quiet(ctx context.Context, p *hookProgress, call *operations.ReadWatch, now time.Time) error {
	p.branch, p.main, p.cursor = call.Event.To, call.Main, call.Event.Cursor
	if now.Sub(p.kept) < cursorKept {
		return nil
	}
	p.kept = now
	return m.d.change(ctx, m.w.ID, func(h *operations.WatchHook) bool {
		h.Cursor = p.cursor
		return true
	})
}

// noted stores how an attempt to deliver an event has ended.
func (m *hookMessage) noted(ctx context.Context, sent operations.Delivery, failed error) error {
	now := m.d.g.now()
	gone := errors.Is(failed, webhook.ErrGone)
	if failed != nil {
		m.d.g.log.WarnContext(ctx, "an event of a webhook could not be delivered", "watch", m.w.ID, "attempt", sent.Attempts+1, "reason", failed.Error())
	}
	return m.d.change(ctx, m.w.ID, func(h *operations.WatchHook) bool {
		if h.Sending == nil || h.Sending.To != sent.To {
			return false
		}
		if failed == nil {
			h.Sent()
			return true
		}
		h.Sending.Attempts++
		h.Sending.Reason = failed.Error()
		h.Sending.Due = now.Add(retryAfter(h.Sending.Attempts)).UnixMicro()
		if gone || now.Sub(time.UnixMicro(sent.Since)) >= giveUpAfter {
			h.GiveUp()
		}
		h.Gone = gone
		return true
	})
}

// again sends an event once more that was given up. If that fails, the event stays listed.
func (m *hookMessage) again(ctx context.Context, u operations.Delivery) error {
	call, data, err := m.evaluate(ctx, u.Previous, u.From, operations.WatchedCommit(u.To))
	var failed error
	switch {
	case errors.As(err, new(*engine.NotFound)), err == nil && call.Event.Cursor != u.To:
		failed = errors.New("the event cannot be computed again, because its states are no longer kept or the rights have changed; read the watch")
	case err != nil:
		return err
	default:
		if failed = m.post(ctx, u.To, u.Since, data); ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return m.d.change(ctx, m.w.ID, func(h *operations.WatchHook) bool {
		i := slices.IndexFunc(h.Undelivered, func(have operations.Delivery) bool { return have.To == u.To && have.From == u.From })
		switch {
		case i < 0:
			return false
		case failed == nil:
			h.Undelivered = slices.Delete(h.Undelivered, i, i+1)
		default:
			have := &h.Undelivered[i]
			have.Again, have.Reason = false, failed.Error()
			have.Attempts++
		}
		return true
	})
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
	return &operations.WatchHook{URL: url, Secret: webhook.NewSecret(), Owner: owner, Called: g.now().UnixMicro()}, nil
}

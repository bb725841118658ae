package servedgraph

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/webhook"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
)

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
	turn, err := m.d.owners.take(ctx, ownerOf(m.w))
	if err != nil {
		return nil, nil, err
	}
	defer turn()
	done, err := m.d.evaluations.take(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer done()
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

// post begins to send an event with a change of the webhook, and sends it. It was first sent at a time. The error is one of the graph or of
// ctx; `failed` says why the receiver does not have the event.
func (m *hookMessage) post(ctx context.Context, begin func(*operations.WatchHook) bool, cursor string, since int64, data json.RawMessage) (failed, err error) {
	done, err := m.d.posts.take(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	body, err := encoding.JSON(struct {
		Type      string          `json:"type"`
		Timestamp string          `json:"timestamp"`
		Data      json.RawMessage `json:"data"`
	}{client.WebhookEvent, time.UnixMicro(since).UTC().Format(time.RFC3339Nano), data})
	if err == nil {
		err = m.begin(ctx, begin)
	}
	if err != nil {
		return nil, err
	}
	failed = m.d.send.Send(ctx, m.h.URL, m.h.Secret, m.w.ID+idOfHookEvent+cursor, m.d.g.now(), body)
	return failed, ctx.Err()
}

// next evaluates the watch, and sends the event if there is news. The error is one of the evaluation or of the graph: a failed delivery is
// noted in the graph.
func (m *hookMessage) next(ctx context.Context, p *hookProgress) error {
	cursor, until, now := m.h.Cursor, "", m.d.g.now()
	if p.cursor != "" && p.after == m.h.Cursor {
		cursor = p.cursor
	}
	if m.h.Sending != nil {
		if now.UnixMicro() < m.h.Sending.Due {
			return nil
		}
		cursor, until = m.h.Sending.From, operations.WatchedCommit(m.h.Sending.To)
	}
	call, data, err := m.evaluate(ctx, m.h.Last, cursor, until)
	if until != "" && isLost(ctx, err) {
		call, data, err = m.evaluate(ctx, m.h.Last, cursor, "") // which fails too if the reason is not the commit
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
	if was := m.h.Sending; was != nil { // with another end if its commit is lost
		sending.Since, sending.Attempts, sending.Reason = was.Since, was.Attempts, was.Reason
	}
	if was := m.h.Sending; was != nil && was.To == e.Cursor {
		sending = *was
	}
	sending.Attempts++
	sending.Due = now.Add(retryAfter(sending.Attempts)).UnixMicro() // for another server, if this one ends meanwhile
	begin := func(h *operations.WatchHook) bool {
		was := m.h.Sending
		if (h.Sending == nil) != (was == nil) || was != nil && h.Sending.To != was.To {
			return false
		}
		h.Sending = &sending
		return true
	}
	failed, err := m.post(ctx, begin, e.Cursor, sending.Since, data)
	if err != nil {
		return err
	}
	p.cursor, p.kept = "", now
	p.branch = "" // commits may have come meanwhile
	return m.noted(ctx, sending, failed)
}

// errChanged is the error of a message about a webhook that has changed since it was read.
var errChanged = errors.New("the webhook has changed")

// begin changes the webhook before something is sent. So nothing is sent by a server that does not write the graph any more, for a watch that
// was deleted, and with rights that were replaced. The function returns false for a webhook to which its change does not fit; then, and if the
// webhook is not the one that was read, the error is errChanged.
func (m *hookMessage) begin(ctx context.Context, change func(*operations.WatchHook) bool) error {
	ok := false
	err := m.d.change(ctx, m.w.ID, func(h *operations.WatchHook) bool {
		ok = h.Last == m.h.Last && h.Cursor == m.h.Cursor && bytes.Equal(h.Owner, m.h.Owner) && !h.Gone && change(h)
		return ok
	})
	if errors.As(err, new(*engine.NotFound)) || err == nil && !ok {
		return errChanged
	}
	return err
}

// quiet notes that an evaluation found no news.
func (m *hookMessage) quiet(ctx context.Context, p *hookProgress, call *operations.ReadWatch, now time.Time) error {
	p.branch, p.main, p.cursor, p.after = call.Event.To, call.Main, call.Event.Cursor, m.h.Cursor
	if now.Sub(p.kept) < cursorKept {
		return nil
	}
	p.kept = now
	err := m.begin(ctx, func(h *operations.WatchHook) bool {
		h.Cursor = p.cursor
		return h.Sending == nil
	})
	if err == nil {
		p.after = p.cursor
	}
	return err
}

// noted stores how an attempt to deliver an event has ended.
func (m *hookMessage) noted(ctx context.Context, sent operations.Delivery, failed error) error {
	now := m.d.g.now()
	gone := errors.Is(failed, webhook.ErrGone)
	if failed != nil {
		m.d.g.log.WarnContext(ctx, "an event of a webhook could not be delivered", "watch", m.w.ID, "attempt", sent.Attempts, "reason", failed.Error())
	}
	return m.d.change(ctx, m.w.ID, func(h *operations.WatchHook) bool {
		if h.Sending == nil || h.Sending.To != sent.To {
			return false
		}
		if failed == nil {
			h.Sent()
			return true
		}
		h.Sending.Reason = failed.Error()
		h.Sending.Due = now.Add(retryAfter(h.Sending.Attempts)).UnixMicro()
		if gone || sent.Attempts >= leastAttempts && now.Sub(time.UnixMicro(sent.Since)) >= giveUpAfter {
			h.GiveUp()
		}
		h.Gone = gone
		return true
	})
}

// isLost reports whether an evaluation at a past commit has failed for a reason that stays, and that the head may not have: the state is no
// longer kept, or the query does not fit it, or takes too long there, or its answer is too large.
func isLost(ctx context.Context, err error) bool {
	if err == nil || ctx.Err() != nil {
		return false
	}
	switch wireerror.OutcomeOf(err) {
	case wireerror.OfPolicy, wireerror.Unavailable, wireerror.Canceled:
		return false
	}
	return true
}

// again sends an event once more that was given up. If that fails, the event stays listed. The error is one that later events have too.
func (m *hookMessage) again(ctx context.Context, u operations.Delivery) error {
	call, data, err := m.evaluate(ctx, u.Previous, u.From, operations.WatchedCommit(u.To))
	var failed error
	switch {
	case err == nil && call.Event.Cursor != u.To:
		failed = errors.New("the event cannot be computed again, because its states are no longer kept or the rights have changed; read the watch")
	case isLost(ctx, err):
		failed = fmt.Errorf("the event cannot be computed again: %s; read the watch", wireerror.Explain(err).Body.Message)
		err = nil
	case err != nil && wireerror.OutcomeOf(err) == wireerror.OfPolicy:
		failed = errors.New("the owner may not read the watch")
	case err != nil:
		return err // for a while
	default:
		begin := func(h *operations.WatchHook) bool {
			i := listed(h, u)
			if i >= 0 {
				h.Undelivered[i].Attempts++
			}
			return i >= 0 && h.Undelivered[i].Again
		}
		if failed, err = m.post(ctx, begin, u.To, u.Since, data); err != nil {
			return err
		}
	}
	stored := m.d.change(ctx, m.w.ID, func(h *operations.WatchHook) bool {
		i := listed(h, u)
		switch {
		case i < 0:
			return false
		case failed == nil:
			h.Undelivered = slices.Delete(h.Undelivered, i, i+1)
		default:
			have := &h.Undelivered[i]
			have.Again, have.Reason = false, failed.Error()
		}
		return true
	})
	return cmp.Or(err, stored)
}

// listed returns the index of an event in the list of those that could not be delivered, or -1.
func listed(h *operations.WatchHook, u operations.Delivery) int {
	return slices.IndexFunc(h.Undelivered, func(have operations.Delivery) bool { return have.To == u.To && have.From == u.From })
}

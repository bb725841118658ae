package rest

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// idOfWatch begins the ids of the events of a watch. A cursor follows.
const idOfWatch = "watch:"

// ExampleWatch is the id of a watch in the examples of the routes.
const ExampleWatch = "01K2Z8V5T7Q4M9X3B6N1C0D2FE"

// watchRoutes are the routes about watches. A caller that may read the answer of a stored query may watch it, unless the policy names
// the action watch.
var watchRoutes = []Route{
	{
		Method: http.MethodGet, Path: "/graphs/{id}/watches", Operation: "list_watches", Tag: tagWatch,
		Summary: "List the caller's watches, the oldest first.",
		Answer:  client.WatchList{}, Action: tool.Watch, handle: (*exchange).listWatches,
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/watches", Operation: "create_watch", Tag: tagWatch,
		Summary: "Keep a stored read with its arguments as a watch, to be told when its answer changes.",
		Description: "The caller needs invoke_query and read for the query. Only the caller can read the watch. " +
			"A query with now(), with as of, with an approximate search (@ann), or that embeds a text is refused, because its answer depends on more than the state of the graph. An actor may have 100 watches. " +
			"With a webhook, the caller also needs watch_webhook, and the answer has the secret of its signatures, which no other answer has.",
		Body: client.WatchBody{}, BodyRequired: true, Answer: client.Watch{},
		Action: tool.Watch, ExtraActions: []tool.Action{tool.InvokeQuery, tool.Read}, Writes: true, handle: (*exchange).createWatch,
		example: example{body: `{"query": "get_package", "params": {"path": "example.com/shop/stock"}}`},
	},
	{
		Method: http.MethodDelete, Path: "/graphs/{id}/watches/{watch}", Operation: "delete_watch", Tag: tagWatch,
		Summary: "Delete a watch of the caller.",
		Answer:  client.WatchDeleted{}, Action: tool.Watch, Writes: true, handle: (*exchange).deleteWatch,
		example: example{params: map[string]string{"watch": ExampleWatch}},
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/watches/{watch}/redeliver", Operation: "redeliver_watch", Tag: tagWatch,
		Summary:     "Send the events of the webhook of a watch again that could not be delivered.",
		Description: "Each is sent with the id that it had, and stays listed if it cannot be delivered. A webhook that paused because its receiver answered 410 goes on.",
		Answer:      client.Watch{}, Action: tool.Watch, Writes: true, handle: (*exchange).redeliverWatch,
		example: example{params: map[string]string{"watch": ExampleWatch}},
	},
	{
		Method: http.MethodPost, Path: "/graphs/{id}/watches/{watch}/dismiss", Operation: "dismiss_undelivered", Tag: tagWatch,
		Summary:     "Remove the events of the webhook of a watch that could not be delivered from its list.",
		Description: "They are not sent again. The receiver reads the watch with the last cursor that it stored to know what they said.",
		Answer:      client.Watch{}, Action: tool.Watch, Writes: true, handle: (*exchange).dismissUndelivered,
		example: example{params: map[string]string{"watch": ExampleWatch}},
	},
	{
		Method: http.MethodGet, Path: "/graphs/{id}/webhooks", Operation: "list_webhooks", Tag: tagWatch,
		Summary: "List the webhooks of all actors, with the health of each.",
		Answer:  client.WebhookList{}, Action: tool.Admin, handle: (*exchange).listWebhooks,
	},
	{
		Method: http.MethodDelete, Path: "/graphs/{id}/webhooks/{watch}", Operation: "end_webhook", Tag: tagWatch,
		Summary: "Delete a watch of any actor that has a webhook.",
		Answer:  client.WatchDeleted{}, Action: tool.Admin, Writes: true, handle: (*exchange).endWebhook,
		example: example{params: map[string]string{"watch": ExampleWatch}},
	},
	{
		Method: http.MethodGet, Path: "/graphs/{id}/watches/{watch}/events", Operation: "get_watch_event", Tag: tagWatch,
		Summary: "Get the answer of a watch, or how it has changed after a cursor.",
		Description: "The consumer stores the cursor together with the rows and sends it with the next request, and so gets each change exactly once. " +
			"If the query, the schema or what the caller may read has changed, or the state of the cursor was reclaimed, the event is a reset with the whole answer. " +
			"The rights of the caller are asked at each evaluation; without them, or for a watch of another actor, the answer is 404. " +
			"With `Accept: text/event-stream` the server sends an event for each change, with one event for changes that follow each other faster than the reader or the debounce of the watch. The id of an event goes into Last-Event-ID to resume after the event.",
		Params: []Param{
			{Name: "cursor", In: Query, Kind: Text, Max: 255, Description: "The cursor of the last event; without one, the event has the whole answer."},
			{Name: headerLastEvent, In: Header, Kind: Text, Max: maxEventID, Description: "The id of the last event that the consumer has. The server then ignores cursor. Only for a stream of events."},
		},
		Answer: client.WatchEvent{}, Action: tool.Watch, ExtraActions: []tool.Action{tool.InvokeQuery, tool.Read}, Events: true, Values: true, handle: (*exchange).watchEvents,
		example: example{params: map[string]string{"watch": ExampleWatch}},
	},
}

// listWatches lists the watches of the caller.
func (x *exchange) listWatches() error {
	return x.answerWatch(&operations.WatchRequest{})
}

// createWatch stores a watch.
func (x *exchange) createWatch() error {
	var b client.WatchBody
	o, err := x.body(&b)
	if err != nil {
		return err
	}
	r := &operations.NewWatch{Query: b.Query, Params: o.Raw("params"), Branch: tool.BranchName(b.Branch), Debounce: time.Duration(b.DebounceMs) * time.Millisecond, Webhook: b.Webhook}
	if err := o.Done(); err != nil {
		return err
	}
	return x.answerWatch(&operations.WatchRequest{New: r})
}

// deleteWatch deletes a watch.
func (x *exchange) deleteWatch() error {
	return x.answerWatch(&operations.WatchRequest{ID: x.r.PathValue("watch"), Delete: true})
}

// redeliverWatch sends the events of a webhook again.
func (x *exchange) redeliverWatch() error {
	return x.answerWatch(&operations.WatchRequest{ID: x.r.PathValue("watch"), Again: true})
}

// dismissUndelivered dismisses the events of a webhook that could not be delivered.
func (x *exchange) dismissUndelivered() error {
	return x.answerWatch(&operations.WatchRequest{ID: x.r.PathValue("watch"), Forget: true})
}

// listWebhooks lists the webhooks of all actors.
func (x *exchange) listWebhooks() error { return x.answer(x.g.WebhooksCall(""), encoding.Options{}) }

// endWebhook deletes a watch with a webhook.
func (x *exchange) endWebhook() error {
	return x.answer(x.g.WebhooksCall(x.r.PathValue("watch")), encoding.Options{})
}

// answerWatch answers a request about watches.
func (x *exchange) answerWatch(r *operations.WatchRequest) error {
	call, err := x.g.WatchCall(x.ctx(), x.actor(), x.route.Operation, r)
	if err != nil {
		return err
	}
	return x.answer(call, encoding.Options{})
}

// watchEvents reads a watch, as one event or as a stream of events.
func (x *exchange) watchEvents() error {
	r := operations.WatchRequest{ID: x.r.PathValue("watch"), Cursor: x.query.Get("cursor")}
	stream := IsSubscription(x.r)
	if id := x.r.Header.Get(headerLastEvent); stream && id != "" {
		cursor, ok := strings.CutPrefix(id, idOfWatch)
		if !ok || cursor == "" {
			return errLastEvent
		}
		r.Cursor = cursor
	}
	if err := x.g.ReachWatched(x.ctx(), r.Cursor); err != nil {
		return err
	}
	if !stream {
		return x.answerWatch(&r)
	}
	return x.sendPages(&watchPages{exchange: x, at: r})
}

// watchPages is the pager of a watch. A page is an event.
type watchPages struct {
	*exchange
	at       operations.WatchRequest
	branch   tool.Branch   // of the watch; known after the first event
	debounce time.Duration // of the watch
	commit   string        // the commit of the last event
	main     string        // the commit of main by which the rights were decided; empty if main does not matter
	rested   time.Time     // before this time the query does not run again
	due      time.Time     // when the next event is due, while the stream waits for further commits; else zero
}

// event implements pager.
func (p *watchPages) event() string { return client.FeedWatch }

// read implements pager.
func (p *watchPages) read() (feedPage, error) {
	call, err := p.g.WatchCall(p.ctx(), p.actor(), p.route.Operation, &p.at)
	if err != nil {
		return feedPage{}, err
	}
	reading := call.(*operations.ReadWatch)
	reading.Hold = !p.due.IsZero()
	answer, err := p.do(reading, encoding.Options{})
	if err != nil {
		return feedPage{}, err
	}
	e := reading.Event
	p.at.Cursor, p.commit = e.Cursor, e.To
	p.branch, p.debounce = reading.On, reading.Debounce
	if !reading.Hold {
		p.main = reading.Main
	}
	if reading.Ran {
		p.rested = p.opts.Now().Add(servedgraph.WatchRest)
	}
	return feedPage{answer, e.News(), true}, nil
}

// await implements pager. After a commit it waits for further ones, and until the query may run again. A heartbeat may interrupt that;
// the event is due then as before.
func (p *watchPages) await(ctx context.Context) error {
	if p.due.IsZero() {
		if err := p.g.AwaitNews(ctx, p.branch, p.commit, p.main); err != nil {
			return ended(err)
		}
		now := p.opts.Now()
		if p.due = now.Add(p.debounce); p.due.Before(p.rested) {
			p.due = p.rested
		}
		if !p.due.After(now) {
			p.due = time.Time{}
			return nil
		}
	}
	wait := time.NewTimer(p.due.Sub(p.opts.Now()))
	defer wait.Stop()
	select {
	case <-wait.C:
		p.due = time.Time{}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// cursor implements pager.
func (p *watchPages) cursor() string { return p.at.Cursor }

// eventID implements pager.
func (p *watchPages) eventID() string { return idOfWatch + p.at.Cursor }

package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
)

// WatchBody is the body of a request for a new watch.
type WatchBody struct {
	Query      string `json:"query" jsonschema_description:"The name of a stored read that always gives the same answer for the same state: without now() and without an approximate search."`
	Params     any    `json:"params,omitempty" jsonschema:"type=object" jsonschema_description:"The arguments of the query by name."`
	Branch     string `json:"branch,omitempty" jsonschema_description:"The branch; the default is main."`
	Webhook    string `json:"webhook,omitempty" jsonschema_description:"An address to which the server sends the events, as Standard Webhooks. The settings of the graph list the hosts, and the caller needs watch_webhook."`
	DebounceMs int32  `json:"debounce_ms,omitempty" jsonschema:"minimum=0,maximum=3600000" jsonschema_description:"How long a stream or a webhook waits after a change for further ones, in milliseconds, before it sends one event for all of them."`
}

// Watch is a standing question: a stored read whose answer its owner follows.
type Watch struct {
	ID         string          `json:"watch_id"`
	Query      string          `json:"query"` // name of the stored read
	Params     json.RawMessage `json:"params" jsonschema:"type=object" jsonschema_description:"The arguments of the query by name."`
	Branch     string          `json:"branch"`      // the branch that the query reads
	DebounceMs int64           `json:"debounce_ms"` // see WatchBody
	CreatedAt  int64           `json:"created_at" jsonschema_description:"In Unix microseconds."`
	Webhook    *Webhook        `json:"webhook,omitempty"` // nil for a watch without one
}

// The values of Webhook.State.
const (
	WebhookActive   = "active"
	WebhookRetrying = "retrying" // the last attempt to deliver an event has failed
	WebhookPaused   = "paused"   // nothing is sent until its owner makes a call
)

// Webhook is where the server sends the events of a watch.
type Webhook struct {
	URL         string        `json:"url"`
	Secret      string        `json:"secret,omitempty" jsonschema_description:"The secret of the signatures, for a library of Standard Webhooks. Only the answer to the request that makes the watch has it."`
	State       string        `json:"state" jsonschema:"enum=active,enum=retrying,enum=paused" jsonschema_description:"paused: nothing is sent until the owner makes a call."`
	Reason      string        `json:"reason,omitempty" jsonschema_description:"Why the webhook is paused, or the last attempt failed."`
	Undelivered []Undelivered `json:"undelivered" jsonschema_description:"The last events that could not be delivered, at most 20, the oldest first."`
	Dropped     int64         `json:"dropped,omitempty" jsonschema_description:"How many events before those could not be delivered."`
}

// Undelivered is an event that could not be delivered to a webhook.
type Undelivered struct {
	Cursor   string  `json:"cursor,omitempty" jsonschema_description:"The cursor before the event: with it, the events of the watch can be read."`
	From     *string `json:"from_commit_id" jsonschema_description:"null for the first event."`
	To       string  `json:"to_commit_id"`
	Since    int64   `json:"since" jsonschema_description:"When it was sent first, in Unix microseconds."`
	Attempts int64   `json:"attempts"`
	Reason   string  `json:"reason"`
}

// WebhookEvent is the type of the messages of webhooks.
const WebhookEvent = "watch.event"

// WebhookMessage is the body of a message of a webhook. Its id, in the header webhook-id, is the id of the watch, a low line and the cursor.
type WebhookMessage struct {
	Type      string             `json:"type"`      // WebhookEvent
	Timestamp string             `json:"timestamp"` // when the event was sent first, as RFC 3339
	Data      WebhookMessageData `json:"data"`
}

// WebhookMessageData says what happened.
type WebhookMessageData struct {
	GraphID  string     `json:"graph_id"`
	WatchID  string     `json:"watch_id"`
	Previous string     `json:"previous_cursor"` // the cursor of the event before; empty for the first one
	Event    WatchEvent `json:"event"`
	Omitted  bool       `json:"omitted,omitempty"` // the event has no rows, because they are too large; read the watch with your last cursor
}

// WatchList lists the watches of the caller, the oldest first.
type WatchList struct {
	Watches []Watch `json:"watches"`
}

// WebhookList lists the webhooks of all actors, the oldest first.
type WebhookList struct {
	Webhooks []OwnedWebhook `json:"webhooks"`
}

// OwnedWebhook is a webhook as an administrator of the graph sees it.
type OwnedWebhook struct {
	WatchID     string `json:"watch_id"`
	Owner       string `json:"owner"` // the name of the actor, with its agents
	Query       string `json:"query"`
	Branch      string `json:"branch"`
	Host        string `json:"host" jsonschema_description:"The host of the address, without the path, which may be secret."`
	State       string `json:"state" jsonschema:"enum=active,enum=retrying,enum=paused"`
	Undelivered int64  `json:"undelivered" jsonschema_description:"How many events could not be delivered."`
	CreatedAt   int64  `json:"created_at" jsonschema_description:"In Unix microseconds."`
	CalledAt    int64  `json:"called_at" jsonschema_description:"The last call of the owner that counts for its rights, in Unix microseconds."`
}

// WatchDeleted is the answer to the deletion of a watch.
type WatchDeleted struct {
	Deleted string `json:"deleted"` // the id of the watch
}

// The values of WatchEvent.Reset.
const (
	ResetFirst   = "first"   // the request has no cursor
	ResetQuery   = "query"   // the stored query is another one
	ResetSchema  = "schema"  // the schema of the branch is another one
	ResetRights  = "rights"  // what the caller may read is something else
	ResetHistory = "history" // the state of the cursor cannot be read any more
)

// WatchEvent says how the answer of a watch has changed after a cursor. Came, Went and Changed, applied to the rows
// that the caller had, give the answer at To. If Reset is set, Rows are that answer, and replace what the caller had.
// The order of rows means nothing.
type WatchEvent struct {
	Cursor  string      `json:"cursor" jsonschema_description:"Store it together with the rows, and send it as cursor to continue."`
	From    *string     `json:"from_commit_id" jsonschema_description:"The commit of the cursor in the request; null for a reset."`
	To      string      `json:"to_commit_id"` // the commit whose answer the caller has after the event
	Reset   *string     `json:"reset" jsonschema:"enum=first,enum=query,enum=schema,enum=rights,enum=history" jsonschema_description:"Why the event has the whole answer in rows; null for an event with differences."`
	Rows    []Row       `json:"rows,omitempty" jsonschema_description:"After a reset: the whole answer."`
	Came    []Row       `json:"came,omitempty" jsonschema_description:"Rows that are new."`
	Went    []Row       `json:"went,omitempty" jsonschema_description:"Rows that are gone, as they were."`
	Changed []RowChange `json:"changed,omitempty" jsonschema_description:"Rows of the same nodes and edges, or of the same group, with other values."`
}

// RowChange is a row before and after a change.
type RowChange struct {
	Before Row `json:"before"`
	After  Row `json:"after"`
}

// News reports whether the event changes the answer that the caller has.
func (e *WatchEvent) News() bool { return e.Reset != nil || len(e.Came)+len(e.Went)+len(e.Changed) > 0 }

// FeedWatch is the name of the events of a watch. The data is a WatchEvent.
const FeedWatch = "watch"

// CreateWatch stores a watch of the caller.
func (g *Graph) CreateWatch(ctx context.Context, body WatchBody) (*Watch, error) {
	q, err := posting(g.path+"/watches", body)
	if err != nil {
		return nil, err
	}
	return ask[Watch](ctx, g.c, q)
}

// Watches lists the watches of the caller.
func (g *Graph) Watches(ctx context.Context) (*WatchList, error) {
	return ask[WatchList](ctx, g.c, reading(g.path+"/watches", nil))
}

// DeleteWatch deletes a watch of the caller.
func (g *Graph) DeleteWatch(ctx context.Context, id string) (*WatchDeleted, error) {
	q := reading(g.path+"/watches/"+segment(id), nil)
	q.method, q.repeats = http.MethodDelete, false
	return ask[WatchDeleted](ctx, g.c, q)
}

// RedeliverWatch has the events of the webhook of a watch sent again that could not be delivered.
func (g *Graph) RedeliverWatch(ctx context.Context, id string) (*Watch, error) {
	q := reading(g.path+"/watches/"+segment(id)+"/redeliver", nil)
	q.method, q.repeats = http.MethodPost, false
	return ask[Watch](ctx, g.c, q)
}

// DismissUndelivered removes the events of the webhook of a watch that could not be delivered from its list.
func (g *Graph) DismissUndelivered(ctx context.Context, id string) (*Watch, error) {
	q := reading(g.path+"/watches/"+segment(id)+"/dismiss", nil)
	q.method, q.repeats = http.MethodPost, false
	return ask[Watch](ctx, g.c, q)
}

// Webhooks lists the webhooks of all actors. The caller needs the permission admin.
func (g *Graph) Webhooks(ctx context.Context) (*WebhookList, error) {
	return ask[WebhookList](ctx, g.c, reading(g.path+"/webhooks", nil))
}

// EndWebhook deletes a watch of any actor that has a webhook. The caller needs the permission admin.
func (g *Graph) EndWebhook(ctx context.Context, id string) (*WatchDeleted, error) {
	q := reading(g.path+"/webhooks/"+segment(id), nil)
	q.method, q.repeats = http.MethodDelete, false
	return ask[WatchDeleted](ctx, g.c, q)
}

// WatchEvent returns the answer of a watch, or how it has changed after a cursor if the cursor is not empty.
func (g *Graph) WatchEvent(ctx context.Context, id, cursor string) (*WatchEvent, error) {
	v := url.Values{}
	setText(v, "cursor", cursor)
	return ask[WatchEvent](ctx, g.c, reading(g.path+"/watches/"+segment(id)+"/events", v))
}

// WatchEvents returns the events of a watch, and goes on when its answer changes. Like [Graph.Follow], it connects again and continues
// after the last event when a stream ends. The first event has the whole answer if the cursor is empty.
func (g *Graph) WatchEvents(ctx context.Context, id, cursor string) iter.Seq2[*WatchEvent, error] {
	v := url.Values{}
	setText(v, "cursor", cursor)
	return follow(ctx, g, FeedWatch, func() *request { return reading(g.path+"/watches/"+segment(id)+"/events", v) },
		func(e *WatchEvent) { v.Set("cursor", e.Cursor) })
}

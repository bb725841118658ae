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
	DebounceMs int32  `json:"debounce_ms,omitempty" jsonschema:"minimum=0,maximum=3600000" jsonschema_description:"How long a stream waits after a change for further ones, in milliseconds, before it sends one event for all of them."`
}

// Watch is a standing question: a stored read whose answer its owner follows.
type Watch struct {
	ID         string          `json:"watch_id"`
	Query      string          `json:"query"` // name of the stored read
	Params     json.RawMessage `json:"params" jsonschema:"type=object" jsonschema_description:"The arguments of the query by name."`
	Branch     string          `json:"branch"`      // the branch that the query reads
	DebounceMs int64           `json:"debounce_ms"` // see WatchBody
	CreatedAt  int64           `json:"created_at" jsonschema_description:"In Unix microseconds."`
}

// WatchList lists the watches of the caller, the oldest first.
type WatchList struct {
	Watches []Watch `json:"watches"`
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

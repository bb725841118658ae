package operations

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/restricted"
	"github.com/omnigraph-go/omnigraph/internal/server/pagetoken"
	"github.com/omnigraph-go/omnigraph/internal/server/queryrun"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

const (
	// MaxWatches is the maximum number of watches of one actor on one graph.
	MaxWatches = 100

	// MaxDebounce is the maximum time for which a watch waits for further changes.
	MaxDebounce = time.Hour

	// maxWatchedRows and maxWatchedBytes limit the answer of a watched query. An evaluation has two answers in memory.
	maxWatchedRows  = 10_000
	maxWatchedBytes = 8 << 20
)

// Watched is a call about a watch of a stored query. It has the needs of a call of the query, that of the action watch, and with a
// webhook that of the action watch_webhook, so that each evaluation asks for the rights.
type Watched struct {
	queryrun.Call
	Webhook string // where the events go; empty for an answer to the caller
}

// Needs returns the permissions to run the query and to watch.
func (c *Watched) Needs() []tool.Need { return append(c.Call.Needs(), needsFor(c.Webhook)...) }

// needsFor returns the permissions for calls about watches, which may send events to an address.
func needsFor(webhook string) []tool.Need {
	if webhook == "" {
		return []tool.Need{{Action: tool.Watch}}
	}
	return []tool.Need{{Action: tool.Watch}, {Action: tool.WatchWebhook}}
}

// CreateWatch is the call that stores a watch.
type CreateWatch struct {
	Watched
	Params   json.RawMessage // the arguments as the caller sent them; nil or an object
	Debounce time.Duration
	Hook     *WatchHook // where to send the events; nil for nowhere
}

// Run stores the watch. The error is a *tool.ArgumentError if the query cannot be watched.
func (c *CreateWatch) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	branch := env.Branch(c.Branch)
	schema, err := env.Graph.Schema(ctx, branch.At())
	if err != nil {
		return nil, err
	}
	if err := checkWatchable(c.Query.Plan(), schema.Catalog); err != nil {
		return nil, err
	}
	if c.Debounce < 0 || c.Debounce > MaxDebounce {
		return nil, &tool.ArgumentError{Path: "debounce_ms", Detail: "expected 0 to 3600000 milliseconds"}
	}
	var params []byte
	if text := bytes.TrimSpace(c.Params); len(text) > 0 && string(text) != "null" {
		var b bytes.Buffer
		if err := json.Compact(&b, text); err != nil {
			return nil, err
		}
		params = b.Bytes()
	}
	state, err := c.Hook.State()
	if err != nil {
		return nil, err
	}
	w, err := env.Graph.CreateWatch(ctx, engine.Watch{
		Owner: env.Actor, Query: c.Query.Info().Name, Arguments: params, Branch: branch.Name(), Debounce: c.Debounce, State: state,
	}, MaxWatches)
	if err != nil {
		return nil, err
	}
	out := wireWatch(w, WatchTimes{})
	if c.Hook != nil {
		out.Webhook.Secret = c.Hook.Secret // only this once
	}
	return &tool.Outcome{Value: &out, Wrote: &tool.Written{}}, nil
}

// Writes reports that the call changes the watches.
func (c *CreateWatch) Writes() bool { return true }

// LogArguments returns the arguments of the call for the log.
func (c *CreateWatch) LogArguments() [][]byte {
	args := [][]byte{[]byte(c.Query.Info().Name), c.Params, []byte(c.Branch)}
	if c.Hook != nil {
		args = append(args, []byte(c.Hook.URL))
	}
	return args
}

// wireWatch returns a watch in the form of the wire.
func wireWatch(w *engine.Watch, at WatchTimes) client.Watch {
	out := client.Watch{ID: w.ID, Query: w.Query, Params: w.Arguments, Branch: w.Branch, DebounceMs: w.Debounce.Milliseconds(), CreatedAt: w.Made.UnixMicro()}
	if out.Params == nil {
		out.Params = json.RawMessage("{}")
	}
	if h := WebhookOf(w.State); h != nil {
		out.Webhook = h.wire(at)
	}
	return out
}

// WatchTimes say when a webhook pauses. The zero value is for a webhook that does not.
type WatchTimes struct {
	Now       time.Time
	RightsFor time.Duration // how long the rights of an owner count after the last call; 0 for no limit
}

// MaxUndelivered is the maximum number of events of a webhook that could not be delivered and are listed.
const MaxUndelivered = 20

// WatchHook is where the events of a watch are sent, and how far that is. The graph keeps it as JSON, as the state of the watch.
type WatchHook struct {
	URL         string          `json:"url"`
	Secret      string          `json:"secret"`                // of the signatures
	Last        string          `json:"last,omitempty"`        // the cursor of the last event that was delivered or given up; empty before the first one
	Cursor      string          `json:"cursor,omitempty"`      // where to go on: Last, or a later cursor without news in between
	Sending     *Delivery       `json:"sending,omitempty"`     // the event that is being delivered; nil for none
	Undelivered []Delivery      `json:"undelivered,omitempty"` // the last events that were given up, the oldest first
	Dropped     int64           `json:"dropped,omitempty"`     // the number of events that were given up before those
	Gone        bool            `json:"gone,omitempty"`        // the receiver wants no more events
	Fault       string          `json:"fault,omitempty"`       // why the watch could not be evaluated, as its owner may know it; empty once it can
	Denied      bool            `json:"denied,omitempty"`      // the fault stays until the owner does something
	Owner       json.RawMessage `json:"owner"`                 // the owner with the rights of its last call, in the form of the served graph
	Token       string          `json:"token"`                 // the kind of the owner's token when it made the watch; only calls with such a token count
	Called      int64           `json:"called"`                // when the owner called last, in Unix microseconds
}

// Delivery is an event of a webhook. It is known by the cursors between which the answer changed, so it can be computed again.
type Delivery struct {
	Previous string `json:"previous,omitempty"` // the cursor of the event before; empty for the first event
	From     string `json:"from,omitempty"`     // Previous, or a later cursor without news in between
	To       string `json:"to"`
	Since    int64  `json:"since"`            // when it was sent first, in Unix microseconds
	Due      int64  `json:"due,omitempty"`    // when it is sent again, in Unix microseconds; 0 for at once
	Attempts int    `json:"attempts"`         // that have begun
	Reason   string `json:"reason,omitempty"` // why the last one failed
	Again    bool   `json:"again,omitempty"`  // the owner asked to send an event again that was given up
}

// State returns the webhook as the state of a watch. It is nil for a nil webhook.
func (h *WatchHook) State() ([]byte, error) {
	if h == nil {
		return nil, nil
	}
	return encoding.JSON(h)
}

// WebhookOf returns the webhook in the state of a watch, or nil if it has none.
func WebhookOf(state []byte) *WatchHook {
	var h WatchHook
	if len(state) == 0 || json.Unmarshal(state, &h) != nil || h.URL == "" {
		return nil
	}
	return &h
}

// GiveUp moves the event that is being delivered to those that could not be.
func (h *WatchHook) GiveUp() {
	h.Undelivered = append(h.Undelivered, *h.Sending)
	h.Sent()
	if more := len(h.Undelivered) - MaxUndelivered; more > 0 {
		h.Undelivered, h.Dropped = h.Undelivered[more:], h.Dropped+int64(more)
	}
}

// Sent moves the webhook behind the event that is being delivered.
func (h *WatchHook) Sent() { h.Last, h.Cursor, h.Sending = h.Sending.To, h.Sending.To, nil }

// Expired reports whether the owner has not called for so long that its rights do not count any more.
func (h *WatchHook) Expired(at WatchTimes) bool {
	return at.RightsFor > 0 && at.Now.Sub(time.UnixMicro(h.Called)) > at.RightsFor
}

// wire returns the webhook in the form of the wire, without the secret.
func (h *WatchHook) wire(at WatchTimes) *client.Webhook {
	out := &client.Webhook{URL: h.URL, State: client.WebhookActive, Dropped: h.Dropped, Undelivered: []client.Undelivered{}}
	switch {
	case h.Expired(at):
		out.State = client.WebhookPaused
		out.Reason = "the owner has made no call for " + at.RightsFor.String() + " with a token of the same scopes; its next one resumes the webhook"
	case h.Gone:
		out.State, out.Reason = client.WebhookPaused, "the receiver answered 410; send the undelivered events again to resume the webhook"
	case h.Denied:
		out.State, out.Reason = client.WebhookPaused, "the watch cannot be evaluated: "+h.Fault+"; the next call of the owner tries again"
	case h.Fault != "":
		out.State, out.Reason = client.WebhookRetrying, "the watch cannot be evaluated: "+h.Fault
	case h.Sending != nil && h.Sending.Reason != "":
		out.State, out.Reason = client.WebhookRetrying, h.Sending.Reason
	}
	for _, d := range h.Undelivered {
		u := client.Undelivered{Cursor: d.Previous, To: WatchedCommit(d.To), Since: d.Since, Attempts: int64(d.Attempts), Reason: d.Reason}
		if from := WatchedCommit(d.Previous); from != "" {
			u.From = &from
		}
		out.Undelivered = append(out.Undelivered, u)
	}
	return out
}

// list lists the watches of the caller. The answer is a *client.WatchList.
func (c *WatchRequest) list(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	list, err := env.Graph.Watches(ctx, engine.WatchRange{Owner: env.Actor})
	if err != nil {
		return nil, err
	}
	a := &client.WatchList{Watches: []client.Watch{}}
	for _, w := range list {
		if w.Owner == env.Actor { // the range selects all watches for a caller without a name
			a.Watches = append(a.Watches, wireWatch(&w, c.Times))
		}
	}
	return &tool.Outcome{Value: a}, nil
}

// delete deletes a watch of the caller. The answer is a *client.WatchDeleted.
func (c *WatchRequest) delete(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	if _, err := FindWatch(ctx, env.Graph, env.Actor, c.ID); err != nil {
		return nil, err
	}
	if err := env.Graph.DeleteWatch(ctx, c.ID); err != nil {
		return nil, err
	}
	return &tool.Outcome{Value: &client.WatchDeleted{Deleted: c.ID}, Wrote: &tool.Written{}}, nil
}

// redeliver has the events of a webhook of the caller sent again that could not be delivered. The answer is the *client.Watch.
func (c *WatchRequest) redeliver(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	return c.changeHook(ctx, env, func(h *WatchHook) {
		h.Gone, h.Fault, h.Denied = false, "", false
		if h.Sending != nil {
			h.Sending.Due = 0
		}
		for i := range h.Undelivered {
			h.Undelivered[i].Again = true
		}
	})
}

// dismiss removes the events of a webhook of the caller that could not be delivered from its list. The answer is the *client.Watch.
func (c *WatchRequest) dismiss(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	return c.changeHook(ctx, env, func(h *WatchHook) { h.Undelivered, h.Dropped = nil, 0 })
}

// changeHook changes the webhook of a watch of the caller. The answer is the *client.Watch.
func (c *WatchRequest) changeHook(ctx context.Context, env *tool.Env, change func(*WatchHook)) (*tool.Outcome, error) {
	w, err := FindWatch(ctx, env.Graph, env.Actor, c.ID)
	if err != nil {
		return nil, err
	}
	err = env.Graph.ChangeWatch(ctx, c.ID, func(state []byte) ([]byte, error) {
		h := WebhookOf(state)
		if h == nil {
			return nil, errNoWebhook
		}
		change(h)
		w.State, err = h.State()
		return w.State, err
	})
	if err != nil {
		return nil, err
	}
	return &tool.Outcome{Value: new(wireWatch(w, c.Times)), Wrote: &tool.Written{}}, nil
}

// FindWatch returns a watch of an actor. For a watch of another actor, the error is the same *engine.NotFound as for one that does
// not exist.
func FindWatch(ctx context.Context, g engine.Graph, owner, id string) (*engine.Watch, error) {
	var list []engine.Watch
	if id != "" {
		var err error
		if list, err = g.Watches(ctx, engine.WatchRange{ID: id}); err != nil {
			return nil, err
		}
	}
	if len(list) == 0 || list[0].Owner != owner {
		return nil, &engine.NotFound{What: "watch", Name: id}
	}
	return &list[0], nil
}

// ReadWatch is the call that reads the answer of a watch, or how it has changed after a cursor.
type ReadWatch struct {
	Watched
	Debounce time.Duration      // of the watch
	Hold     bool               // only ask for the rights, and answer with the cursor of the request
	Cursor   string             // the cursor of the last event that the caller has; empty for none
	Until    string             // the commit up to which to compare; empty for the head
	Event    *client.WatchEvent // the answer, once the call has run
	On       tool.Branch        // the branch of the watch, once the call has run
	Ran      bool               // whether the call has run the query
	Main     string             // the commit of main by which the rights to the branch were decided; empty if main does not matter
}

// LogArguments returns the arguments of the call for the log.
func (c *ReadWatch) LogArguments() [][]byte {
	args := [][]byte{[]byte(c.Query.Info().Name)}
	if c.Webhook != "" {
		args = append(args, []byte(c.Webhook))
	}
	return args
}

// LogEntities says that the answer may have values of any entity.
func (c *ReadWatch) LogEntities() (ids []string, whole bool) { return nil, true }

// Run evaluates the query. It runs at the head of the branch, and, unless the cursor shows that nothing can have changed or that
// nothing can be compared, at the commit of the cursor too. The caller's rights of now hold in both.
func (c *ReadWatch) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	was, err := parseWatchCursor(c.Cursor)
	if err != nil {
		return nil, err
	}
	if c.On = env.Branch(c.Branch); c.Hold && was != nil {
		return c.outcome(&client.WatchEvent{From: &was.commit}, was), nil
	}
	e := &evaluation{env: env, branch: c.On, at: c.On.At(), q: c.Query.Plan()}
	if c.Until != "" {
		if err := OnLine(ctx, env.Graph, e.branch, c.Until); err != nil {
			return nil, err
		}
		e.at = engine.Target{Commit: c.Until}
	}
	e.args, _ = c.Arguments(ctx, env, e.branch.At())
	head, err := commitOf(ctx, env.Graph, e.at)
	if err != nil {
		return nil, err
	}
	if c.Main, err = e.mainHead(ctx); err != nil {
		return nil, err
	}
	is, reset := e.contract(head), client.ResetFirst
	if was != nil {
		if reset = was.differs(is); reset == "" {
			quiet, err := e.quiet(ctx, was.commit, head)
			if err = lostIsNil(ctx, err); err != nil {
				return nil, err
			}
			if quiet {
				is.answer = was.answer
				return c.outcome(&client.WatchEvent{From: &was.commit}, is), nil
			}
		}
	}
	c.Ran = true
	now, err := e.run(ctx, e.at)
	if err != nil {
		return nil, err
	}
	if now.commit != head.ID { // the head has moved meanwhile
		if head, err = env.Graph.Commit(ctx, now.commit); err != nil {
			return nil, err
		}
		if is = e.contract(head); reset == "" {
			reset = was.differs(is)
		}
	}
	is.answer = now.digest()
	event := &client.WatchEvent{}
	if reset == "" {
		event.From = &was.commit
		if reset, err = e.compare(ctx, was, now, event); err != nil {
			return nil, err
		}
	}
	if reset != "" {
		event = &client.WatchEvent{Reset: &reset, Rows: wireRows(now.shown)}
	}
	return c.outcome(event, is), nil
}

// outcome completes the event.
func (c *ReadWatch) outcome(event *client.WatchEvent, is *watchCursor) *tool.Outcome {
	event.To, event.Cursor = is.commit, is.String()
	c.Event = event
	return &tool.Outcome{Value: event, Commit: is.commit, Less: "watch a query that answers less"}
}

// evaluation runs a watched query for one call.
type evaluation struct {
	env    *tool.Env
	branch tool.Branch
	at     engine.Target // what the event leads to
	q      *plan.Query
	args   engine.Args
}

// contract returns the cursor for a commit, without the digest of the answer.
func (e *evaluation) contract(c engine.Commit) *watchCursor {
	args := pagetoken.ArgsDigest(e.args)
	query := pagetoken.PlanDigest(e.q)
	return &watchCursor{
		commit: c.ID, query: shortDigest(query[:]), schema: shortDigest([]byte(c.Schema)),
		rights: shortDigest(args[:], []byte(restricted.Digest(e.env.Graph))),
	}
}

// quiet reports whether the answer at the head is surely the one at an earlier commit: the two are the same commit, or no
// commit between them touches what the query reads.
func (e *evaluation) quiet(ctx context.Context, commit string, head engine.Commit) (bool, error) {
	ctx, cancel := halfOf(ctx)
	defer cancel()
	switch part := e.part(); {
	case part && !e.branch.IsMain():
		return false, nil // an entity must pass the filters at the head of main too
	case commit == head.ID:
		return true, nil
	case part:
		return false, nil // filters of the rights read more than the query
	}
	f := footprintOf(e.q)
	list, err := e.env.Graph.Commits(ctx, e.branch.Name(), engine.CommitRange{Before: head.Seq + 1, Limit: maxFootprintCommits + 1})
	if err != nil {
		return false, err
	}
	end := slices.IndexFunc(list, func(c engine.Commit) bool { return c.ID == commit })
	for i := range max(end, 0) {
		if list[i].Schema != head.Schema {
			return false, nil // its changes have the names of another schema
		}
		if touched, err := f.touchedBy(ctx, e.env.Graph, list[i].ID); touched || err != nil {
			return false, err
		}
	}
	return end >= 0, nil
}

// part reports whether the caller may read a part of the graph only.
func (e *evaluation) part() bool { return restricted.Digest(e.env.Graph) != "" }

// mainHead returns the head of main if the rights to the branch depend on it, and else "".
func (e *evaluation) mainHead(ctx context.Context) (string, error) {
	if !e.part() || e.branch.IsMain() {
		return "", nil
	}
	head, err := commitOf(ctx, restricted.Whole(e.env.Graph), engine.Target{})
	return head.ID, err
}

// lostIsNil returns nil for the error of a state that cannot be read any more, or not in the time and memory that a call with the
// context has for it.
func lostIsNil(ctx context.Context, err error) error {
	late := errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil
	if late || errors.As(err, new(*engine.NotFound)) || errors.As(err, new(*engine.TooLarge)) {
		return nil
	}
	return err
}

// halfOf returns a context that ends after half of the time that is left, so that a look at the past leaves time for the answer now.
func halfOf(ctx context.Context) (context.Context, context.CancelFunc) {
	end, ok := ctx.Deadline()
	if !ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, time.Until(end)/2)
}

// run runs the query on a target.
func (e *evaluation) run(ctx context.Context, at engine.Target) (*watchAnswer, error) {
	schema, err := e.env.Graph.Schema(ctx, at)
	if err != nil {
		return nil, err
	}
	if err := checkWatchable(e.q, schema.Catalog); err != nil {
		return nil, err
	}
	keyed, key := keyedPlan(e.q)
	result, err := e.env.Graph.Query(ctx, keyed, e.args, at)
	if err != nil {
		return nil, err
	}
	defer result.Close()
	forms, keys, more, err := encoding.KeyedRows(ctx, result, len(e.q.Read.Columns), key, maxWatchedRows, maxWatchedBytes, encoding.Options{}, encoding.ValuesIn(e.env))
	switch {
	case err != nil:
		return nil, err
	case more:
		return nil, &engine.TooLarge{Resource: "rows of a watched answer", Limit: maxWatchedRows, Actual: maxWatchedRows + 1, Hint: "or more than 8 MiB; watch a query that answers less"}
	}
	return &watchAnswer{commit: result.Commit(), keys: keys, exact: forms[0], shown: forms[1]}, nil
}

// compare runs the query at the commit of a cursor, and sets the differences in the event. If the answers cannot be compared, it
// returns the reason for a reset: the state or the answer there cannot be read any more, or the answer is not the one that the caller
// has, because the caller may read something else now.
func (e *evaluation) compare(ctx context.Context, was *watchCursor, now *watchAnswer, event *client.WatchEvent) (reset string, err error) {
	past, cancel := halfOf(ctx)
	defer cancel()
	var before *watchAnswer
	if err = OnLine(past, e.env.Graph, e.branch, was.commit); err == nil {
		before, err = e.run(past, engine.Target{Commit: was.commit})
	}
	switch {
	case err != nil:
		return client.ResetHistory, lostIsNil(ctx, err)
	case before.digest() != was.answer:
		return client.ResetRights, nil
	}
	event.Came, event.Went, event.Changed = before.to(now)
	return "", nil
}

// NewWatch says which watch to store.
type NewWatch struct {
	Query    string          // name of the stored read
	Params   json.RawMessage // nil, null or an object
	Branch   tool.BranchName
	Debounce time.Duration
	Webhook  string // where to send the events; empty for nowhere
}

// WatchRequest is a call about watches as a transport decodes it. With New or with an ID it is about a stored query, so the graph
// that serves the queries makes another call of it. Otherwise it lists the watches of the caller.
type WatchRequest struct {
	New    *NewWatch // the watch to store; nil for none
	ID     string    // the watch to read or to delete; empty for none
	Cursor string    // for a read: the cursor of the last event
	Delete bool      // delete the watch
	Again  bool      // send the events of its webhook again that could not be delivered
	Forget bool      // dismiss those events
	Times  WatchTimes
}

// Writes reports whether the call changes the watches.
func (c *WatchRequest) Writes() bool { return c.New != nil || c.Delete || c.Again || c.Forget }

// LogArguments returns the arguments of the call for the log.
func (c *WatchRequest) LogArguments() [][]byte { return [][]byte{[]byte(c.ID), []byte(c.Cursor)} }

// Needs returns the permission to watch.
func (c *WatchRequest) Needs() []tool.Need { return needsFor("") }

// Run implements [tool.Call].
func (c *WatchRequest) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	switch {
	case c.Delete:
		return c.delete(ctx, env)
	case c.Again:
		return c.redeliver(ctx, env)
	case c.Forget:
		return c.dismiss(ctx, env)
	case c.New != nil, c.ID != "":
		return nil, errors.New("the call of a watch runs without a graph that has its query")
	}
	return c.list(ctx, env)
}

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

// Watched is a call about a watch of a stored query. It has the needs of a call of the query, and that of the action watch, so
// that each evaluation asks for the rights.
type Watched struct{ queryrun.Call }

// Needs returns the permissions to run the query and to watch.
func (c *Watched) Needs() []tool.Need { return append(c.Call.Needs(), needWatch...) }

// needWatch is the permission for all calls about watches.
var needWatch = []tool.Need{{Action: tool.Watch}}

// CreateWatch is the call that stores a watch.
type CreateWatch struct {
	Watched
	Params   json.RawMessage // the arguments as the caller sent them; nil or an object
	Debounce time.Duration
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
	w, err := env.Graph.CreateWatch(ctx, engine.Watch{
		Owner: env.Actor, Query: c.Query.Info().Name, Arguments: params, Branch: branch.Name(), Debounce: c.Debounce,
	}, MaxWatches)
	if err != nil {
		return nil, err
	}
	return &tool.Outcome{Value: new(wireWatch(w)), Wrote: &tool.Written{}}, nil
}

// Writes reports that the call changes the watches.
func (c *CreateWatch) Writes() bool { return true }

// LogArguments returns the arguments of the call for the log.
func (c *CreateWatch) LogArguments() [][]byte {
	return [][]byte{[]byte(c.Query.Info().Name), c.Params, []byte(c.Branch)}
}

// wireWatch returns a watch in the form of the wire.
func wireWatch(w *engine.Watch) client.Watch {
	out := client.Watch{ID: w.ID, Query: w.Query, Params: w.Arguments, Branch: w.Branch, DebounceMs: w.Debounce.Milliseconds(), CreatedAt: w.Made.UnixMicro()}
	if out.Params == nil {
		out.Params = json.RawMessage("{}")
	}
	return out
}

// ownWatches is a call about the watches of the caller that runs no query.
type ownWatches struct {
	id  string // of the watch; empty for all
	run func(ctx context.Context, env *tool.Env) (*tool.Outcome, error)
}

// Needs returns the permission to watch.
func (c *ownWatches) Needs() []tool.Need { return needWatch }

// Run implements [tool.Call].
func (c *ownWatches) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	return c.run(ctx, env)
}

// LogArguments returns the arguments of the call for the log.
func (c *ownWatches) LogArguments() [][]byte { return [][]byte{[]byte(c.id)} }

// ListWatches returns the call that lists the watches of the caller. The answer is a *client.WatchList.
func ListWatches() tool.Call {
	return &ownWatches{run: func(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
		list, err := env.Graph.Watches(ctx, engine.WatchRange{Owner: env.Actor})
		if err != nil {
			return nil, err
		}
		a := &client.WatchList{Watches: []client.Watch{}}
		for _, w := range list {
			if w.Owner == env.Actor { // the range selects all watches for a caller without a name
				a.Watches = append(a.Watches, wireWatch(&w))
			}
		}
		return &tool.Outcome{Value: a}, nil
	}}
}

// DeleteWatch returns the call that deletes a watch of the caller. The answer is a *client.WatchDeleted.
func DeleteWatch(id string) tool.Call {
	return &ownWatches{id: id, run: func(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
		if _, err := FindWatch(ctx, env.Graph, env.Actor, id); err != nil {
			return nil, err
		}
		if err := env.Graph.DeleteWatch(ctx, id); err != nil {
			return nil, err
		}
		return &tool.Outcome{Value: &client.WatchDeleted{Deleted: id}, Wrote: &tool.Written{}}, nil
	}}
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
	Event    *client.WatchEvent // the answer, once the call has run
	On       tool.Branch        // the branch of the watch, once the call has run
	Ran      bool               // whether the call has run the query
	Main     string             // the commit of main by which the rights to the branch were decided; empty if main does not matter
}

// LogArguments returns the arguments of the call for the log.
func (c *ReadWatch) LogArguments() [][]byte { return [][]byte{[]byte(c.Query.Info().Name)} }

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
	e := &evaluation{env: env, branch: c.On, q: c.Query.Plan()}
	e.args, _ = c.Arguments(ctx, env, e.branch.At())
	head, err := commitOf(ctx, env.Graph, e.branch.At())
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
	now, err := e.run(ctx, e.branch.At())
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
}

// WatchRequest is a call about watches as a transport decodes it. With New or with an ID it is about a stored query, so the graph
// that serves the queries makes another call of it. Otherwise it lists the watches of the caller.
type WatchRequest struct {
	New    *NewWatch // the watch to store; nil for none
	ID     string    // the watch to read or to delete; empty for none
	Cursor string    // for a read: the cursor of the last event
	Delete bool      // delete the watch
}

// Writes reports whether the call changes the watches.
func (c *WatchRequest) Writes() bool { return c.New != nil || c.Delete }

// LogArguments returns the arguments of the call for the log.
func (c *WatchRequest) LogArguments() [][]byte { return [][]byte{[]byte(c.ID), []byte(c.Cursor)} }

// Needs returns the permission to watch.
func (c *WatchRequest) Needs() []tool.Need { return needWatch }

// Run implements [tool.Call].
func (c *WatchRequest) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	switch {
	case c.New != nil, c.ID != "" && !c.Delete:
		return nil, errors.New("the call of a watch runs without a graph that has its query")
	case c.Delete:
		return DeleteWatch(c.ID).Run(ctx, env)
	}
	return ListWatches().Run(ctx, env)
}

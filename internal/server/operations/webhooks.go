package operations

import (
	"context"
	"net/url"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// errNoWebhook is the error of a call about the webhook of a watch that has none.
var errNoWebhook = &tool.ArgumentError{Path: "watch", Detail: "the watch has no webhook", Help: "read its events with its cursor"}

// Webhooks is the call with which an administrator lists the webhooks of all actors, or ends one. The answer to a list is a
// *client.WebhookList: without the arguments of the watches and without the path of the addresses, which may be secret.
type Webhooks struct {
	End   string // the id of the watch to delete; empty for a list
	Times WatchTimes
}

// Needs returns the permission to administer the graph.
func (*Webhooks) Needs() []tool.Need { return []tool.Need{{Action: tool.Admin}} }

// Writes reports whether the call deletes a watch.
func (c *Webhooks) Writes() bool { return c.End != "" }

// LogArguments returns the arguments of the call for the log.
func (c *Webhooks) LogArguments() [][]byte { return [][]byte{[]byte(c.End)} }

// Run implements [tool.Call].
func (c *Webhooks) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	list, err := env.Graph.Watches(ctx, engine.WatchRange{ID: c.End})
	if err != nil {
		return nil, err
	}
	a := &client.WebhookList{Webhooks: []client.OwnedWebhook{}}
	for i := range list {
		h := WebhookOf(list[i].State)
		switch {
		case h == nil && c.End != "":
			return nil, errNoWebhook
		case h == nil:
			continue
		}
		if c.End != "" {
			if err := env.Graph.DeleteWatch(ctx, c.End); err != nil {
				return nil, err
			}
			return &tool.Outcome{Value: &client.WatchDeleted{Deleted: c.End}, Wrote: &tool.Written{}}, nil
		}
		a.Webhooks = append(a.Webhooks, h.owned(&list[i], c.Times))
	}
	if c.End != "" {
		return nil, &engine.NotFound{What: "watch", Name: c.End}
	}
	return &tool.Outcome{Value: a}, nil
}

// owned returns the webhook of a watch as an administrator sees it.
func (h *WatchHook) owned(w *engine.Watch, at WatchTimes) client.OwnedWebhook {
	shown := h.wire(at)
	o := client.OwnedWebhook{
		WatchID: w.ID, Owner: w.Owner, Query: w.Query, Branch: w.Branch, CreatedAt: w.Made.UnixMicro(),
		State: shown.State, Undelivered: int64(len(shown.Undelivered)) + shown.Dropped, CalledAt: h.Called,
	}
	if u, err := url.Parse(h.URL); err == nil {
		o.Host = u.Host
	}
	return o
}

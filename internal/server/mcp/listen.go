package mcp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// This file answers subscriptions/listen: a stream of notifications about the list of tools, about the
// heads of branches, about the proposals, and about watches. The stream ends when the client leaves, when the server
// stops, or when the token of the caller expires.

const (
	listenMethod = "subscriptions/listen"

	listenTick    = 200 * time.Millisecond // between two looks at the heads of branches
	toolTicks     = 2                      // ticks between two looks at the tools
	proposalTicks = 5                      // ticks between two looks at the proposals, which may be many
	listenBeat    = 15 * time.Second       // a stream that sends nothing for so long sends a comment
	maxResources  = 100                    // resources that one stream may name
)

// The members of _meta in a stream. The value of metaAfter maps each subscribed resource, and the word
// tools, to the state that the client knows. A client that sends the last value which it got, with its
// next subscriptions/listen, hears at once of everything that changed in between.
const (
	metaAfter  = "omnigraph/after"
	metaReason = "omnigraph/reason"       // why the server ended the stream
	metaClosed = "omnigraph/draft_closed" // how a draft ended, in the last notification about it
)

// The values of metaReason.
const (
	reasonStopping = "stopping"
	reasonExpired  = "token_expired"
)

// ErrReloaded is the cause of the end of [Options.Stopping] if another handler serves the graph from now on, perhaps with
// other tools. Streams first tell their clients that the list of tools may have changed.
var ErrReloaded = errors.New("another revision is served")

// closedState is the state of a draft that has ended, in place of the head.
const closedState = "closed"

// toolsKey is the key of the list of tools in metaAfter.
const toolsKey = "tools"

// notifier sends what a stream has to say.
type notifier interface {
	send(message []byte) error // a JSON-RPC message on one line
	beat() error               // something that shows that the stream is alive
}

// listenParams are the params of subscriptions/listen.
type listenParams struct {
	Notifications *mcp.NotificationSubscriptions `json:"notifications"`
}

// listener is one stream.
type listener struct {
	s     *surface
	actor *access.Actor
	id    json.RawMessage   // of the request
	tools bool              // the client wants to hear of the list of tools
	uris  []string          // the resources that the client wants to hear of
	after map[string]string // the states that the client knows
	// branches has the branch of each resource that is one. A name that stands for a draft of the caller stands
	// for the same branch until the end of the stream, and in the streams that continue it.
	branches map[string]tool.Branch
	watches  map[string]*watched // by resource
	to       notifier
	sent     time.Time // when the last message or comment was sent
}

// listen serves one stream until it ends. The context ends when the client leaves; the context stopping
// ends when the server begins to stop. A fault means that nothing was sent.
func (s *surface) listen(ctx, stopping context.Context, m *message, to notifier) *jsonrpc.Error {
	var l *listener
	var gone error // the client left before the first message
	err := s.graph.Recorded(ctx, listenMethod, "", outcomeOf, func(ctx context.Context) (err error) {
		if l, err = s.listener(ctx, m, to); err == nil {
			gone = l.acknowledge()
		}
		return err
	})
	switch {
	case err != nil:
		return wireError(s.mapped(ctx, err))
	case gone == nil:
		l.run(ctx, stopping)
	}
	return nil
}

// listener returns the stream that a message asks for.
func (s *surface) listener(ctx context.Context, m *message, to notifier) (*listener, error) {
	var p listenParams
	switch err := json.Unmarshal(m.params, &p); {
	case err != nil:
		return nil, malformedParams(m, err)
	case p.Notifications == nil:
		return nil, invalidParams("params.notifications: missing, expected an object that names what to hear of")
	case len(p.Notifications.ResourceSubscriptions) > maxResources:
		return nil, invalidParams(fmt.Sprintf("params.notifications.resourceSubscriptions: found %d resources, expected at most %d",
			len(p.Notifications.ResourceSubscriptions), maxResources))
	}
	l := &listener{s: s, actor: access.ActorFrom(ctx), id: m.id, tools: p.Notifications.ToolsListChanged, after: map[string]string{}, branches: map[string]tool.Branch{}, watches: map[string]*watched{}, to: to}
	known, _ := anyMeta(m)[metaAfter].(map[string]any)
	for _, uri := range p.Notifications.ResourceSubscriptions {
		if slices.Contains(l.uris, uri) {
			continue
		}
		was, _ := known[uri].(string)
		if err := l.resolve(ctx, uri, was); err != nil {
			return nil, err
		}
		if l.watchable(uri) {
			l.uris = append(l.uris, uri)
		}
	}
	for _, key := range l.keys() {
		state, closed, err := l.state(ctx, key)
		if err != nil {
			return nil, err
		}
		if was, ok := known[key].(string); ok {
			state = was
		} else if closed != nil {
			state = "" // so that the client hears of the end
		}
		l.after[key] = state
	}
	return l, nil
}

// resolve notes the branch of a resource. The argument `was` is the state that the client knows; it may be empty.
func (l *listener) resolve(ctx context.Context, uri, was string) error {
	if watchOf(uri) != "" {
		return l.watch(ctx, uri, was)
	}
	name := branchOf(uri)
	if name == "" {
		return nil
	}
	branch, err := l.s.graph.Resolve(ctx, l.actor, name)
	if pin, _ := encoding.SplitFeedCursor(was); pin != "" && branch.Name() != string(name) {
		branch = tool.BranchNamed(pin)
	}
	l.branches[uri] = branch
	return err
}

// watchable reports whether the resource exists in principle and the policy lets the caller read it.
func (l *listener) watchable(uri string) bool {
	if l.watches[uri] != nil {
		return l.s.graph.Allowed(l.actor, tool.Grant{Action: tool.Watch}) // the evaluation asks for the other rights
	}
	branch, ok := l.branches[uri]
	return ok && l.s.graph.Allowed(l.actor, access.ReadOn(branch)) || uri == proposalsURI && l.s.graph.Allowed(l.actor, access.ReadOn(tool.Branch{}))
}

// keys returns the keys of metaAfter.
func (l *listener) keys() []string {
	if l.tools {
		return append([]string{toolsKey}, l.uris...)
	}
	return l.uris
}

// run sends notifications until the stream ends.
func (l *listener) run(ctx, stopping context.Context) {
	tick := time.NewTicker(listenTick)
	defer tick.Stop()
	l.sent = l.s.graph.Now()
	for n := 0; len(l.keys()) > 0; n++ {
		if l.notify(ctx, stopping, n) != nil || l.beat() != nil || ctx.Err() != nil {
			return // the client has gone away
		}
		if l.expired() {
			l.end(reasonExpired)
			return
		}
		select {
		case <-stopping.Done():
			if l.tools && errors.Is(context.Cause(stopping), ErrReloaded) && l.write("notifications/tools/list_changed", map[string]any{}, nil) != nil {
				return
			}
			l.end(reasonStopping)
			return
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
	l.end("")
}

// expired reports whether the token of the caller has expired.
func (l *listener) expired() bool {
	a := l.actor
	return a != nil && !a.Expires.IsZero() && !l.s.graph.Now().Before(a.Expires)
}

// beat sends a comment if nothing was sent for the time of a heartbeat. The error is that of the stream.
func (l *listener) beat() error {
	now := l.s.graph.Now()
	if now.Sub(l.sent) < listenBeat {
		return nil
	}
	l.sent = now
	return l.to.beat()
}

// notify sends a notification for each thing that changed. It asks the policy about each. The argument
// tick counts the looks of the stream. As a look at a watch may take long, notify ends early when the stream must end, and sends
// comments in between. The error is that of the stream.
func (l *listener) notify(ctx, stopping context.Context, tick int) error {
	for _, key := range l.keys() {
		if stopping.Err() != nil || ctx.Err() != nil || l.expired() {
			return nil
		}
		if err := l.beat(); err != nil {
			return err
		}
		switch {
		case key == toolsKey && tick%toolTicks != 0, key == proposalsURI && tick%proposalTicks != 0:
			continue
		case key != toolsKey && !l.watchable(key):
			continue
		}
		state, closed, err := l.state(ctx, key)
		if err != nil {
			continue // the storage may be closed for a moment; the next look finds the change
		}
		if state == l.after[key] {
			continue
		}
		l.after[key], l.sent = state, l.s.graph.Now()
		method, params := "notifications/tools/list_changed", map[string]any{}
		if key != toolsKey {
			method, params["uri"] = "notifications/resources/updated", key
		}
		if err := l.write(method, params, closed); err != nil {
			return err
		}
	}
	return nil
}

// acknowledge sends the first message of the stream, which says what the stream will tell.
func (l *listener) acknowledge() error {
	agreed := mcp.NotificationSubscriptions{ToolsListChanged: l.tools, ResourceSubscriptions: l.uris}
	return l.write("notifications/subscriptions/acknowledged", map[string]any{"notifications": agreed}, nil)
}

// write sends a notification. If it is about a draft that has ended, `closed` says how.
func (l *listener) write(method string, params map[string]any, closed *client.DraftClosed) error {
	meta := l.meta("")
	if closed != nil {
		meta[metaClosed] = closed
	}
	params["_meta"] = meta
	b, err := encoding.JSON(struct {
		JSONRPC string         `json:"jsonrpc"`
		Method  string         `json:"method"`
		Params  map[string]any `json:"params"`
	}{"2.0", method, params})
	if err != nil {
		return err
	}
	return l.to.send(b)
}

// end sends the answer to the request, which ends the stream.
func (l *listener) end(reason string) {
	meta := l.meta(reason)
	meta[mcp.MetaKeyServerInfo] = l.s.implementation
	b, err := encoding.JSON(map[string]any{"resultType": "complete", "_meta": meta})
	if err != nil {
		return
	}
	answer := append([]byte(`{"jsonrpc":"2.0","id":`), l.id...)
	answer = append(append(answer, `,"result":`...), b...)
	_ = l.to.send(append(answer, '}')) // the stream ends in any case
}

// meta returns the _meta of a message.
func (l *listener) meta(reason string) map[string]any {
	meta := map[string]any{mcp.MetaKeySubscriptionID: l.id, metaAfter: l.after}
	if reason != "" {
		meta[metaReason] = reason
	}
	return meta
}

// state returns a text that changes when the thing with the key changes for the caller. For a branch it is
// the id of the head, or "" if the branch does not exist. For a name that stands for a draft, it has the form of
// a cursor of the change feed, which names the branch. For a draft that has ended, `closed` says how it ended.
func (l *listener) state(ctx context.Context, key string) (state string, closed *client.DraftClosed, err error) {
	branch, ok := l.branches[key]
	switch {
	case l.watches[key] != nil:
		state, err = l.watchState(ctx, key)
		return state, nil, err
	case key == toolsKey:
		state, err = l.s.toolsState(ctx, l.actor)
		return state, nil, err
	case !ok:
		state, err = l.s.graph.ProposalsState(ctx, l.actor)
		return state, nil, err
	}
	head, err := l.s.graph.Head(ctx, branch)
	var ended *engine.DraftClosed
	if errors.As(err, &ended) {
		head, closed, err = closedState, wireerror.Closed(ended), nil
	}
	if branch.Name() == string(branchOf(key)) {
		return head, closed, err
	}
	return encoding.FeedCursor(branch.Name(), head), closed, err
}

// toolsState returns a digest of the tools that an actor sees.
func (s *surface) toolsState(ctx context.Context, actor *access.Actor) (string, error) {
	seen, err := s.graph.Tools(ctx, actor)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, d := range seen {
		b, ok := s.encoded[s.toolOf(d)]
		if !ok {
			if b, err = encoding.JSON(s.describe(d)); err != nil {
				return "", err
			}
		}
		h.Write(b)
		h.Write([]byte{0})
	}
	for _, t := range s.own.all {
		if s.offers(ctx, t) {
			h.Write([]byte(t.Info.Name + "\x00"))
		}
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}

// branchOf returns the branch that a URI names, or "" if it names none.
func branchOf(uri string) tool.BranchName {
	branch, _ := strings.CutPrefix(uri, branchesURI+"/")
	if branch == uri {
		return ""
	}
	return tool.BranchName(branch)
}

// bindListen refuses subscriptions/listen in a place where no stream can answer it.
func bindListen(*surface, *message) (run, error) {
	return nil, &jsonrpc.Error{Code: codeInvalidRequest, Message: listenMethod + " must be a message of its own"}
}

// readBranch reads the resource omnigraph://branches/{+name}.
func (s *surface) readBranch(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	uri, actor := req.Params.URI, access.ActorFrom(ctx)
	name := branchOf(uri)
	branch, err := s.graph.Resolve(ctx, actor, name)
	if err != nil {
		return nil, err
	}
	switch read := access.ReadOn(branch); {
	case name == "":
		return nil, mcp.ResourceNotFoundError(uri)
	case !s.graph.Permitted(actor, read):
		return nil, s.withheld(ctx, []tool.Grant{read}, mcp.ResourceNotFoundError(uri))
	}
	if err := s.graph.CheckScopes(actor, []tool.Grant{access.ReadOn(branch)}); err != nil {
		return nil, err
	}
	head, err := s.graph.Head(ctx, branch)
	switch {
	case err != nil:
		return nil, err
	case head == "":
		return nil, mcp.ResourceNotFoundError(uri)
	}
	b, err := encoding.JSON(map[string]string{"name": branch.Name(), "graph_commit_id": head})
	if err != nil {
		return nil, err
	}
	return s.text(string(b), "")
}

// readProposals reads the resource omnigraph://proposals.
func (s *surface) readProposals(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	answer, err := s.graph.ReadProposals(ctx, access.ActorFrom(ctx), s.graph.ForModel())
	if err != nil {
		var large *wireerror.Oversize
		if errors.As(err, &large) {
			return nil, &wireerror.Oversize{Bytes: large.Bytes, MaxBytes: large.MaxBytes, Advice: "list them with proposal_get and a smaller limit"}
		}
		return nil, s.masked(ctx, req.Params.URI, err)
	}
	defer answer.Release()
	return s.text(string(bytes.Join(append(answer.Head, answer.JSON), nil)), "list them with proposal_get and a smaller limit")
}

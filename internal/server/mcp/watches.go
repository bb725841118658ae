package mcp

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

const (
	watchesURI = "omnigraph://watches"

	// watchCall is the name in the log of the evaluations of watches.
	watchCall = "graph_watch"
)

// watchOf returns the id of the watch that a URI names, or "" if it names none.
func watchOf(uri string) string {
	id, ok := strings.CutPrefix(uri, watchesURI+"/")
	if !ok {
		return ""
	}
	return id
}

// watchTemplate returns the template of the watches. Each watch has its own permissions, so the template has no gates.
func (s *surface) watchTemplate() Template {
	return Template{Read: s.readWatch, Info: &mcp.ResourceTemplate{
		URITemplate: watchesURI + "/{id}", Name: "watch", Title: "Watch", MIMEType: "application/json",
		Description: "The answer of one of your watches now. You can subscribe to it.",
	}}
}

// readWatch reads the resource omnigraph://watches/{id}: the whole answer.
func (s *surface) readWatch(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	answer, _, err := s.graph.ReadWatch(ctx, access.ActorFrom(ctx), watchCall, watchOf(req.Params.URI), "", s.graph.ForModel())
	if errors.As(err, new(*engine.NotFound)) {
		return nil, mcp.ResourceNotFoundError(req.Params.URI)
	}
	if err != nil {
		return nil, s.masked(ctx, req.Params.URI, err)
	}
	defer answer.Release()
	return s.text(string(bytes.Join(append(answer.Head, answer.JSON), nil)), "watch a query that answers less")
}

// watched is the state of a watch in a stream.
type watched struct {
	servedgraph.WatchState           // after the last evaluation
	news                   string    // the cursor of the last evaluation that found news: the state that the client is told
	rested                 time.Time // before this time the query does not run again
}

// watch begins to follow a watch, after the state that the client knows; it may be empty. It does nothing if the
// caller may not read the watch.
func (l *listener) watch(ctx context.Context, uri, known string) error {
	l.watches[uri] = &watched{WatchState: servedgraph.WatchState{Cursor: known}, news: known}
	if err := l.s.graph.ReachWatched(ctx, known); err != nil {
		return err
	}
	if _, err := l.watchState(ctx, uri); err != nil {
		delete(l.watches, uri) // the stream leaves it out
		return ctx.Err()
	}
	return nil
}

// watchState returns a text that changes when the answer of a watch does. It evaluates the watch after each commit, at most once in a
// [servedgraph.WatchRest], as a call of the caller. An answer that is too large to send counts as news. If the watch cannot be evaluated, the next commit is the next try; unless
// the caller may not read it, the text is empty then, so that the client reads the watch and is told why.
func (l *listener) watchState(ctx context.Context, uri string) (string, error) {
	w := l.watches[uri]
	at := *w
	if w.Commit != "" {
		if l.s.graph.Now().Before(w.rested) {
			return w.news, nil
		}
		if err := l.heads(ctx, &at); err != nil || at.Commit == w.Commit && at.Main == w.Main {
			return w.news, passing(err)
		}
	}
	answer, state, err := l.s.graph.ReadWatch(ctx, l.actor, watchCall, watchOf(uri), w.Cursor, l.s.graph.ForModel())
	if err != nil || state.Ran {
		w.rested = l.s.graph.Now().Add(servedgraph.WatchRest)
	}
	switch {
	case err == nil:
		answer.Release()
	case state != nil && errors.As(err, new(*wireerror.Oversize)):
	case w.Commit == "" || passing(err) != nil:
		return "", err
	default:
		if w.Commit, w.Main = at.Commit, at.Main; isFault(err) {
			w.news = ""
		}
		return w.news, nil
	}
	if w.WatchState = *state; w.News || w.news == "" {
		w.news = w.Cursor
	}
	return w.news, nil
}

// heads sets the commits of a watch to the heads on which an evaluation depends.
func (l *listener) heads(ctx context.Context, w *watched) (err error) {
	if w.Commit, err = l.s.graph.Head(ctx, w.Branch); err == nil && w.Main != "" {
		w.Main, err = l.s.graph.Head(ctx, tool.Branch{})
	}
	return err
}

// passing returns an error that may be gone at the next look, and nil for another one.
func passing(err error) error {
	if errors.As(err, new(*engine.Unavailable)) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// isFault reports whether an evaluation failed although the caller may read the watch.
func isFault(err error) bool {
	return errors.As(err, new(*engine.TooLarge)) || errors.As(err, new(*engine.PreconditionFailed)) || errors.As(err, new(*engine.SchemaMismatch)) ||
		errors.As(err, new(*tool.ArgumentError))
}

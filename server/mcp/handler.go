// Package mcp serves one graph over the Model Context Protocol: Streamable HTTP,
// stateless, JSON throughout.
package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/server/service"
)

// Options say how a graph is served. The zero value takes the defaults.
type Options struct {
	MaxBody int64 // bytes of a request, 32 MiB by default
}

const (
	defaultMaxBody = 32 << 20

	// The cursors of the SDK's lists name the last entry before filtering, which would
	// tell of entries that the caller may not see: every list is one page.
	pageSize = 1000

	// maxBatch is how many messages one body may hold, where the protocol has batches:
	// each may ask for an answer as large as the limits of a result allow.
	maxBatch = 16

	// listTTL is how long clients may keep a list. What changes it, a deployment or a
	// policy, is rare.
	listTTL = time.Minute
)

// Handler serves the graph. The requests' contexts carry the actor, see
// [service.WithActor]; without one every call is denied. It panics when a tool's
// input schema is no JSON Schema of an object.
func Handler(g *service.Graph, opts Options) http.Handler {
	if opts.MaxBody == 0 {
		opts.MaxBody = defaultMaxBody
	}
	s := newSurface(g)
	inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.server }, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: -1,
		// The guard in front of authentication knows the configured hosts; this check
		// would refuse some of them.
		DisableLocalhostProtection: true,
		Logger:                     slog.New(atLeastWarn{g.Logger().Handler()}),
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			refuse(w, http.StatusMethodNotAllowed, service.MethodNotAllowed, "found "+r.Method+", wanted POST")
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, opts.MaxBody))
		if err != nil {
			var tooBig *http.MaxBytesError
			if errors.As(err, &tooBig) {
				refuse(w, http.StatusRequestEntityTooLarge, service.BadRequest, "the request body is larger than it may be; load large data in parts")
				return
			}
			refuse(w, http.StatusBadRequest, service.BadRequest, "the request body could not be read")
			return
		}
		if n := messages(body); n > maxBatch {
			refuse(w, http.StatusBadRequest, service.BadRequest,
				fmt.Sprintf("found a batch of %d messages, wanted at most %d; send the others in further requests", n, maxBatch))
			return
		}
		if id, found := listens(body); found {
			refuseListening(w, r, id)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		inner.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), requestKey{}, r.Context())))
	})
}

// requestKey is under what a request's own context travels through the SDK, which
// strips the deadline and the cancellation from the context that it passes on.
type requestKey struct{}

// attach gives a context the deadline and the cancellation of the HTTP request that
// it belongs to, if any.
func attach(ctx context.Context) (context.Context, func()) {
	request, ok := ctx.Value(requestKey{}).(context.Context)
	if !ok {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(request, func() { cancel(context.Cause(request)) })
	release := func() { stop(); cancel(nil) }
	if deadline, ok := request.Deadline(); ok {
		inner, cancelDeadline := context.WithDeadline(ctx, deadline)
		return inner, func() { cancelDeadline(); release() }
	}
	return ctx, release
}

// messages counts the elements of a body that is an array, up to the first that is no
// JSON, and is 1 for any other body.
func messages(body []byte) int {
	d := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if d.PeekKind() != '[' {
		return 1
	}
	if _, err := d.ReadToken(); err != nil {
		return 1
	}
	n := 0
	for d.PeekKind() != ']' && d.SkipValue() == nil {
		n++
	}
	return n
}

// listens reports whether a body holds a call of subscriptions/listen, and its id. The
// SDK answers that method with a stream of events, whatever comes of it.
func listens(body []byte) (id json.RawMessage, found bool) {
	d := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if d.PeekKind() == '[' {
		if _, err := d.ReadToken(); err != nil {
			return nil, false
		}
	}
	for d.PeekKind() == '{' {
		id, method, ok := envelope(d)
		if !ok {
			return nil, false
		}
		if method == "subscriptions/listen" {
			return id, true
		}
	}
	return nil, false
}

// envelope reads a JSON-RPC message's id and method.
func envelope(d *jsontext.Decoder) (id json.RawMessage, method string, ok bool) {
	if _, err := d.ReadToken(); err != nil {
		return nil, "", false
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, "", false
		}
		key := name.String()
		v, err := d.ReadValue()
		if err != nil {
			return nil, "", false
		}
		switch key {
		case "id":
			id = json.RawMessage(v.Clone())
		case "method":
			if v.Kind() == '"' {
				b, _ := jsontext.AppendUnquote(nil, v)
				method = string(b)
			}
		}
	}
	_, err := d.ReadToken()
	return id, method, err == nil
}

// statusProtocol is the protocol version from which an unknown method is an HTTP 404.
const statusProtocol = "2026-07-28"

func refuseListening(w http.ResponseWriter, r *http.Request, id json.RawMessage) {
	if id == nil {
		id = json.RawMessage("null")
	}
	status := http.StatusOK
	if r.Header.Get("Mcp-Protocol-Version") >= statusProtocol {
		status = http.StatusNotFound
	}
	write(w, status, map[string]any{
		"jsonrpc": "2.0", "id": id,
		"error": map[string]any{"code": codeMethodNotFound, "message": "method not found: subscriptions/listen"},
	})
}

func refuse(w http.ResponseWriter, status int, code service.Code, message string) {
	write(w, status, service.WireError{Error: message, Code: code})
}

func write(w http.ResponseWriter, status int, v any) {
	b, err := service.JSON(v)
	if err != nil {
		panic(err) // strings and numbers
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	// An error here is the client's going away.
	_, _ = w.Write(b)
}

// atLeastWarn passes on the records from Warn up: at Info the SDK writes three lines a
// request.
type atLeastWarn struct{ slog.Handler }

func (h atLeastWarn) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && h.Handler.Enabled(ctx, l)
}

func (h atLeastWarn) WithAttrs(attrs []slog.Attr) slog.Handler {
	return atLeastWarn{h.Handler.WithAttrs(attrs)}
}

func (h atLeastWarn) WithGroup(name string) slog.Handler {
	return atLeastWarn{h.Handler.WithGroup(name)}
}

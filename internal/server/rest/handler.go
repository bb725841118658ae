// Package rest serves graphs over plain HTTP and JSON.
package rest

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/inprocess"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/envelope"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/uploads"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Options configures how graphs are served. The zero value takes the defaults.
type Options struct {
	MaxBody int64 // limit of a request body in bytes; 0 means 1 MiB
	MaxLoad int64 // limit of the JSON body of a load in bytes; 0 means 32 MiB

	// Uploads has the uploads of each graph, by its id. Without them, clients can send the data of a load in one request only.
	Uploads map[string]*uploads.Store

	// MaxPause is how long a streamed body may stop to arrive; 0 means 2 minutes.
	MaxPause time.Duration

	// MaxText is the limit in bytes of a request body with GQ text or a schema. 0 means
	// MaxBody if that is set, and otherwise 8 MiB: JSON may take six bytes for one byte of
	// text, and the body also contains parameters. [textlimit.Max] limits the text itself.
	MaxText int64

	// Server decides which actors have the permission graph_list. If it is nil, no actor has it.
	Server access.Authorizer

	// SchemasFixed says why the server refuses to apply schemas, and what to do instead. A
	// cluster sets it if its schemas come from its configuration. Empty allows schema changes.
	SchemasFixed string

	// Forward sends a request that writes to the server that writes the graph, and sends that
	// server's answer to the client. Forward reports false, and has not answered the request, if
	// this server must answer. If Forward is nil, this server answers every request.
	Forward func(w http.ResponseWriter, r *http.Request, graph string) bool

	Version       string // the version of the server, for /healthz
	SourceVersion string // the commit of the source code that it was built from; empty if unknown

	Logger *slog.Logger // for faults outside of a graph; nil discards them

	// Stopping ends when the server begins to stop. Streams of events then end, so that the server
	// need not wait for them. Nil means that the server never stops.
	Stopping context.Context

	Now func() time.Time // the clock for the expiry of tokens and for the time of a page; nil means clock.Now
}

// Handler serves the graphs, keyed by id, on those [Routes] that are not Elsewhere. The contexts of
// its requests carry the actor, see [access.WithActor]; without an actor everything but /healthz is
// denied. Answers are JSON, except for exports and blobs. Every error is answered with the error
// envelope.
func Handler(graphs map[string]*servedgraph.Graph, opts Options) http.Handler {
	if opts.MaxText == 0 {
		opts.MaxText = cmp.Or(opts.MaxBody, 8<<20)
	}
	if opts.MaxBody == 0 {
		opts.MaxBody = 1 << 20
	}
	if opts.MaxLoad == 0 {
		opts.MaxLoad = 32 << 20
	}
	if opts.MaxPause == 0 {
		opts.MaxPause = 2 * time.Minute
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.Stopping == nil {
		opts.Stopping = context.Background()
	}
	if opts.Now == nil {
		opts.Now = clock.Now
	}
	s := &server{graphs: graphs, opts: opts, document: sync.OnceValues(Document), describe: GraphDocument}
	mux := http.NewServeMux()
	for pattern, m := range byPath(Routes()) {
		mux.Handle(pattern, s.serve(m))
	}
	nowhere := s.serve(nil)
	mux.Handle("/", nowhere)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The ServeMux would answer these itself, with a redirect or a text page.
		if p := r.URL.EscapedPath(); r.Method == http.MethodConnect || !strings.HasPrefix(p, "/") || path.Clean(p) != p {
			nowhere.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// server serves the routes.
type server struct {
	graphs   map[string]*servedgraph.Graph // by id
	opts     Options                       // the options of the REST API
	document func() ([]byte, error)        // [Document], computed on first use

	// describe is the function [GraphDocument]. It is a field because the table of routes must not
	// refer to a function that itself reads the table.
	describe func(graph string, queries []StoredOperation) ([]byte, error)
}

// methods are the routes of one path, keyed by method.
type methods map[string]*endpoint

// endpoint is a route at a path: its own path, or a fixed path that its pattern also matches.
type endpoint struct {
	Route
	fixed map[string]string // values of the route's path parameters, if the path is fixed
}

// byPath returns the routes by path and method. Some patterns also match a fixed path. For example,
// the pattern of a branch matches the path of merges, because a branch may be called merge. So a
// fixed path also gets the methods of the patterns that match it. No proposal can be called so: the graph
// makes the ids of proposals.
func byPath(routes []Route) map[string]methods {
	paths := map[string]methods{}
	routes = slices.DeleteFunc(routes, func(r Route) bool { return r.Elsewhere })
	for _, r := range routes {
		if paths[r.Path] == nil {
			paths[r.Path] = methods{}
		}
		paths[r.Path][r.Method] = &endpoint{Route: r}
	}
	for _, r := range routes {
		for p, m := range paths {
			fixed, ok := matchesAll(r.Path, p)
			if _, made := fixed["proposal"]; ok && !made && m[r.Method] == nil {
				m[r.Method] = &endpoint{Route: r, fixed: fixed}
			}
		}
	}
	return paths
}

// matchesAll reports whether `pattern` matches every path that `other` matches. If so, it returns
// the values that `other` fixes for parameters of `pattern`.
func matchesAll(pattern, other string) (map[string]string, bool) {
	if pattern == other || strings.Count(pattern, "/") != strings.Count(other, "/") {
		return nil, false
	}
	a, b := strings.Split(pattern, "/"), strings.Split(other, "/")
	fixed := map[string]string{}
	for i := range a {
		name, isParam := strings.CutPrefix(a[i], "{")
		switch {
		case a[i] == b[i]:
		case isParam && !strings.HasPrefix(b[i], "{"):
			fixed[strings.TrimSuffix(name, "}")] = b[i]
		default:
			return nil, false
		}
	}
	return fixed, true
}

// allow returns the value of the Allow header of a path.
func (m methods) allow() string {
	var names []string
	for name := range m {
		names = append(names, name)
		if name == http.MethodGet {
			names = append(names, http.MethodHead)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// serve calls the route of the path for the request's method. It answers 404 if the path has no
// routes, and 405 if it has none for the method. A panic becomes an operational fault.
func (s *server) serve(m methods) http.Handler {
	allow := m.allow()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := &exchange{server: s, w: w, r: r, g: s.graphs[r.PathValue("id")]}
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			if p == http.ErrAbortHandler {
				panic(p)
			}
			x.fault(&wireerror.Panic{Value: p, Stack: debug.Stack()})
		}()
		method := r.Method
		if method == http.MethodHead {
			method = http.MethodGet
		}
		e := m[method]
		switch {
		case len(m) == 0:
			envelope.Write(w, notFound("path", r.URL.Path))
			return
		case e == nil:
			w.Header().Set("Allow", allow)
			envelope.Write(w, envelope.New(wireerror.WrongMethod, client.CodeMethodNotAllowed, "found "+r.Method+", expected "+allow))
			return
		}
		for name, v := range e.fixed {
			r.SetPathValue(name, v)
		}
		x.route = &e.Route
		x.deprecated()
		if err := x.run(); err != nil {
			x.fault(err)
		}
	})
}

// run checks the request and runs its route.
func (x *exchange) run() error {
	if x.route.OnGraph() && x.g == nil {
		return &httpError{notFound("graph", x.r.PathValue("id"))}
	}
	if x.route.Values {
		x.w.Header().Add("Vary", headerIntegers)
	}
	if err := x.check(); err != nil {
		return err
	}
	if x.route.Streamed && x.here() == nil {
		x.streamBody()
	}
	if x.route.Long && x.here() == nil {
		if err := x.takeLong(); err != nil {
			return err
		}
	}
	if x.opts.Forward != nil && (x.writes() || x.route.AtWriter) && x.opts.Forward(x.w, x.r, x.g.ID()) {
		return nil
	}
	defer x.limit()()
	if commit := first(x.r.Header[headerAtLeast]); commit != "" && x.route.takes(headerAtLeast) {
		if err := x.g.Reach(x.ctx(), commit); err != nil {
			return err
		}
	}
	return x.route.handle(x)
}

// writes reports whether the request may write to its graph.
func (x *exchange) writes() bool {
	if !x.route.OnGraph() || !x.route.Writes {
		return false
	}
	if name := x.r.PathValue("name"); x.route.Action == tool.InvokeQuery {
		return x.g.QueryWrites(name)
	}
	return true
}

// deprecated sets the headers that name the successor of a deprecated route.
func (x *exchange) deprecated() {
	if x.route.Successor == "" {
		return
	}
	to := segment.ReplaceAllStringFunc(x.route.Successor, func(s string) string {
		return url.PathEscape(x.r.PathValue(strings.Trim(s, "{}")))
	})
	x.w.Header().Set("Deprecation", "true")
	x.w.Header().Set("Link", "<"+to+`>; rel="successor-version"`)
}

// here returns what the request has because its client is in this process, or nil if it came over a network.
func (x *exchange) here() *inprocess.Request { return inprocess.From(x.ctx()) }

// file returns the name of the file from which the text in the request comes, or "". Only a client in this process
// names one.
func (x *exchange) file() string {
	if here := x.here(); here != nil {
		return here.File
	}
	return ""
}

// fault answers with an error. A client in this process gets the error itself.
func (x *exchange) fault(err error) {
	if here := x.here(); here != nil {
		here.Fail(err)
		return
	}
	var same *wireerror.Unchanged
	var request *httpError
	var argument *tool.ArgumentError
	switch {
	case errors.As(err, &same):
		h := x.w.Header()
		h.Set("ETag", entityTag(same.Commit, same.Rights))
		h.Set("Cache-Control", cacheable)
		x.w.WriteHeader(http.StatusNotModified)
		return
	case errors.As(err, &request):
		envelope.Write(x.w, request.fault)
		return
	case errors.As(err, &argument) && argument.Route != "":
		overREST := *argument
		overREST.Help = "send it to " + argument.Route
		err = &overREST
	}
	envelope.Write(x.w, x.report(err))
}

// text returns the text of an error for an answer.
func (x *exchange) text(err error) string {
	if x.here() != nil {
		return err.Error()
	}
	return x.report(err).Body.Message
}

// report returns the fault for an error. If the fault is operational, report logs it.
func (x *exchange) report(err error) *wireerror.Fault {
	if x.g != nil {
		return x.g.Report(x.ctx(), err)
	}
	return wireerror.Report(x.ctx(), x.opts.Logger, err)
}

// httpError is a fault of the HTTP request itself, found before any call to a graph.
type httpError struct{ fault *wireerror.Fault }

func (e *httpError) Error() string { return e.fault.Body.Message }

// notFound returns the fault, with status 404, for a thing that the server cannot find by its name.
func notFound(what, name string) *wireerror.Fault {
	return envelope.New(wireerror.Missing, client.CodeNotFound, what+" \""+short(name)+"\" not found")
}

// cacheable lets only the client cache an answer, because answers differ per caller. The client
// must revalidate the answer before each use.
const cacheable = "private, no-cache"

// The values of headers that all answers share. Handlers must not change them.
var (
	asJSON      = []string{mediaJSON}
	noSniff     = []string{"nosniff"}
	byOneClient = []string{cacheable}
)

// send writes a JSON answer: the parts in `head`, if there are any, and then `last`.
func send(w http.ResponseWriter, status int, last []byte, head ...[]byte) {
	length := len(last)
	for _, part := range head {
		length += len(part)
	}
	h := w.Header()
	h["Content-Type"], h["X-Content-Type-Options"], h["Cache-Control"] = asJSON, noSniff, byOneClient
	h["Content-Length"] = []string{strconv.Itoa(length)}
	w.WriteHeader(status)
	for _, part := range head {
		if _, err := w.Write(part); err != nil {
			return // the client has gone away
		}
	}
	_, _ = w.Write(last) // fails only if the client has gone away
}

// Package rest serves graphs over plain HTTP and JSON.
package rest

import (
	"cmp"
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

	"github.com/omnigraph-go/omnigraph/server/envelope"
	"github.com/omnigraph-go/omnigraph/server/service"
)

// Options say how graphs are served. The zero value takes the defaults.
type Options struct {
	MaxBody int64 // bytes of a request, 1 MiB by default
	MaxLoad int64 // bytes of a load, 32 MiB by default

	// MaxText is the bytes of a request that carries a text in GQ or a schema. It is
	// MaxBody where that is set, and else 8 MiB: JSON may need six bytes for one of a text,
	// and parameters come with it. The text itself is bounded by [service.MaxText].
	MaxText int64

	// Server decides about graph_list. Nil denies it to everybody.
	Server service.Authorizer

	// SchemasFixed says why no schema can be applied, and what to do instead, as a
	// cluster has it whose schemas follow its configuration. Empty permits it.
	SchemasFixed string

	Logger *slog.Logger // for faults outside of a graph; nil for none
}

// Handler serves the graphs under their ids, by those of [Routes] that are not Elsewhere. The requests' contexts carry
// the actor, see [service.WithActor]; without one everything but /healthz is denied.
// Answers are JSON, but for exports and blobs, and every fault is the error envelope.
func Handler(graphs map[string]*service.Graph, opts Options) http.Handler {
	if opts.MaxText == 0 {
		opts.MaxText = cmp.Or(opts.MaxBody, 8<<20)
	}
	if opts.MaxBody == 0 {
		opts.MaxBody = 1 << 20
	}
	if opts.MaxLoad == 0 {
		opts.MaxLoad = 32 << 20
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	s := &server{graphs: graphs, opts: opts, document: sync.OnceValues(Document)}
	mux := http.NewServeMux()
	for pattern, m := range byPath(Routes()) {
		mux.Handle(pattern, s.serve(m))
	}
	nowhere := s.serve(nil)
	mux.Handle("/", nowhere)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The mux would answer these itself, with a redirect or a page of text.
		if p := r.URL.EscapedPath(); r.Method == http.MethodConnect || !strings.HasPrefix(p, "/") || path.Clean(p) != p {
			nowhere.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

type server struct {
	graphs   map[string]*service.Graph
	opts     Options
	document func() ([]byte, error) // [Document], which is made when it is first asked for
}

// methods are the routes of a path by method.
type methods map[string]*endpoint

// endpoint is a route on a path that is its own, or one that its own stands for as well.
type endpoint struct {
	Route
	fixed map[string]string // of the other path, what stands for the parameters of the route's
}

// byPath returns the routes by path and method. A path without parameters, such as that
// of merges, has the methods of a path that stands for it too, such as that of a branch:
// one may be called merge.
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
			if fixed, ok := standsFor(r.Path, p); ok && m[r.Method] == nil {
				m[r.Method] = &endpoint{Route: r, fixed: fixed}
			}
		}
	}
	return paths
}

// standsFor reports whether a pattern matches all that another one does, and what its
// parameters then are that the other has fixed.
func standsFor(pattern, other string) (map[string]string, bool) {
	a, b := strings.Split(pattern, "/"), strings.Split(other, "/")
	if pattern == other || len(a) != len(b) {
		return nil, false
	}
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

// allow lists the methods of a path.
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

// serve answers with the path's route for the method: 404 for a path without any, 405
// for one without this one. A panic is an operational fault.
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
			envelope.Write(w, x.report(&service.Panic{Value: p, Stack: debug.Stack()}))
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
			envelope.Write(w, envelope.New(http.StatusMethodNotAllowed, service.MethodNotAllowed, "found "+r.Method+", wanted "+allow))
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
	if err := x.check(); err != nil {
		return err
	}
	defer x.limit()()
	return x.route.handle(x)
}

// deprecated names the successor of a route that has one.
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

// fault answers with an error.
func (x *exchange) fault(err error) {
	var same *service.Unchanged
	var request *httpError
	switch {
	case errors.As(err, &same):
		h := x.w.Header()
		h.Set("ETag", entityTag(same.Commit))
		h.Set("Cache-Control", cacheable)
		x.w.WriteHeader(http.StatusNotModified)
		return
	case errors.As(err, &request):
		envelope.Write(x.w, request.fault)
		return
	}
	envelope.Write(x.w, x.report(err))
}

func (x *exchange) report(err error) *service.Fault {
	if x.g != nil {
		return x.g.Report(x.ctx(), err)
	}
	return service.Report(x.ctx(), x.opts.Logger, err)
}

// httpError is a fault of the request as HTTP, before anything was asked of a graph.
type httpError struct{ fault *service.Fault }

func (e *httpError) Error() string { return e.fault.Body.Error }

func notFound(what, name string) *service.Fault {
	return envelope.New(http.StatusNotFound, service.NotFound, what+" \""+short(name)+"\" not found")
}

// cacheable lets the client alone keep an answer, since answers differ per caller, and
// ask each time whether it is still good.
const cacheable = "private, no-cache"

func send(w http.ResponseWriter, status int, body ...[]byte) {
	length := 0
	for _, part := range body {
		length += len(part)
	}
	h := w.Header()
	h.Set("Content-Type", mediaJSON)
	h.Set("Content-Length", strconv.Itoa(length))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", cacheable)
	w.WriteHeader(status)
	for _, part := range body {
		if _, err := w.Write(part); err != nil {
			return // the client is gone
		}
	}
}

// Package rest serves graphs over plain HTTP and JSON.
package rest

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"path"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/server/envelope"
	"github.com/omnigraph-go/omnigraph/server/service"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Options say how graphs are served. The zero value takes the defaults.
type Options struct {
	MaxBody int64 // bytes of a request, 1 MiB by default
	MaxLoad int64 // bytes of a load, 32 MiB by default

	// MaxAnswer is the most bytes of a read's answer, 32 MiB by default. A larger one is
	// refused with 413: it would be held in memory whole until its client has taken it.
	MaxAnswer int

	// Server decides about graph_list. Nil denies it to everybody.
	Server service.Authorizer

	Logger *slog.Logger // for faults outside of a graph; nil for none
}

// Handler serves the graphs under their ids. The requests' contexts carry the actor,
// see [service.WithActor]; without one everything but /healthz is denied. Every
// answer is JSON, every fault the error envelope.
func Handler(graphs map[string]*service.Graph, opts Options) http.Handler {
	if opts.MaxBody == 0 {
		opts.MaxBody = 1 << 20
	}
	if opts.MaxLoad == 0 {
		opts.MaxLoad = 32 << 20
	}
	if opts.MaxAnswer == 0 {
		opts.MaxAnswer = 32 << 20
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	s := &server{graphs: graphs, opts: opts}
	mux := http.NewServeMux()
	mux.Handle("/healthz", s.route(methods{"GET": s.healthz}))
	mux.Handle("/graphs", s.route(methods{"GET": s.listGraphs}))
	mux.Handle("/graphs/{id}/query", s.route(methods{"POST": s.onGraph(s.query)}))
	mux.Handle("/graphs/{id}/mutate", s.route(methods{"POST": s.onGraph(s.mutate)}))
	mux.Handle("/graphs/{id}/queries", s.route(methods{"GET": s.onGraph(s.listQueries)}))
	mux.Handle("/graphs/{id}/queries/{name}", s.route(methods{"POST": s.onGraph(s.invoke)}))
	mux.Handle("/graphs/{id}/schema", s.route(methods{"GET": s.onGraph(s.schema)}))
	mux.Handle("/graphs/{id}/load/ndjson", s.route(methods{"POST": s.onGraph(s.load, "branch", "mode")}))
	nowhere := s.route(nil)
	mux.Handle("/", nowhere)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The mux would answer these itself, with a redirect or a page of text.
		if p := r.URL.Path; r.Method == http.MethodConnect || !strings.HasPrefix(p, "/") || path.Clean(p) != p {
			nowhere.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

type server struct {
	graphs map[string]*service.Graph
	opts   Options
}

// handler answers a request, or returns the error to answer with.
type handler func(w http.ResponseWriter, r *http.Request) error

// methods are the handlers of a path by method.
type methods map[string]handler

// route answers with the path's handler for the method: 404 for a path without any,
// 405 for one without this one. A panic is an operational fault.
func (s *server) route(m methods) http.Handler {
	allow := strings.Join(slices.Sorted(maps.Keys(m)), ", ")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		report := func(err error) *service.Fault { return service.Report(r.Context(), s.opts.Logger, err) }
		if g := s.graphs[r.PathValue("id")]; g != nil {
			report = func(err error) *service.Fault { return g.Report(r.Context(), err) }
		}
		defer func() {
			if p := recover(); p != nil {
				envelope.Write(w, report(&service.Panic{Value: p, Stack: debug.Stack()}))
			}
		}()
		method := r.Method
		if method == http.MethodHead {
			method = http.MethodGet
		}
		h := m[method]
		switch {
		case len(m) == 0:
			envelope.Write(w, notFound("path", r.URL.Path))
			return
		case h == nil:
			w.Header().Set("Allow", allow)
			envelope.Write(w, envelope.New(http.StatusMethodNotAllowed, service.MethodNotAllowed, "found "+r.Method+", wanted "+allow))
			return
		}
		r, cancel, err := deadline(r)
		defer cancel()
		if err == nil {
			err = h(w, r)
		}
		if err != nil {
			if f, ok := err.(*httpError); ok {
				envelope.Write(w, f.fault)
				return
			}
			envelope.Write(w, report(err))
		}
	})
}

// deadline gives a request the time that its X-Timeout-Ms header allows it.
func deadline(r *http.Request) (*http.Request, context.CancelFunc, error) {
	text := r.Header.Get("X-Timeout-Ms")
	if text == "" {
		return r, func() {}, nil
	}
	ms, err := strconv.ParseInt(text, 10, 32)
	if err != nil || ms < 1 {
		return r, func() {}, &httpError{envelope.New(http.StatusBadRequest, service.BadRequest,
			"header X-Timeout-Ms: found \""+text+"\", wanted a number of milliseconds, 1 or more")}
	}
	ctx, cancel := context.WithTimeout(r.Context(), time.Duration(ms)*time.Millisecond)
	return r.WithContext(ctx), cancel, nil
}

// onGraph finds the graph of the path. A request may have the query parameters in
// params and no others: one that was dropped, such as a branch, would have been meant.
func (s *server) onGraph(h func(context.Context, *service.Graph, http.ResponseWriter, *http.Request) error, params ...string) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		id := r.PathValue("id")
		g, ok := s.graphs[id]
		if !ok {
			return &httpError{notFound("graph", id)}
		}
		if err := checkParams(r, params); err != nil {
			return err
		}
		return h(r.Context(), g, w, r)
	}
}

// checkParams holds the query part of a request's URL to the parameters in known, each
// at most once.
func checkParams(r *http.Request, known []string) error {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return &httpError{envelope.New(http.StatusBadRequest, service.BadRequest,
			"the query part of the url is malformed: "+err.Error()+"; escape & ; % and = in values")}
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		switch {
		case !slices.Contains(known, name):
			help := "known are " + strings.Join(known, ", ")
			if len(known) == 0 {
				help = "none is taken here; a POST has its arguments in the body"
			}
			return &tool.ArgumentError{Path: name, Detail: "unknown query parameter", Help: help}
		case len(query[name]) > 1:
			return &tool.ArgumentError{Path: name, Detail: "found several times, wanted once"}
		}
	}
	return nil
}

// httpError is a fault of the request as HTTP, before anything was asked of a graph.
type httpError struct{ fault *service.Fault }

func (e *httpError) Error() string { return e.fault.Body.Error }

func notFound(what, name string) *service.Fault {
	return envelope.New(http.StatusNotFound, service.NotFound, what+" \""+name+"\" not found")
}

// reply writes v as JSON.
func reply(w http.ResponseWriter, v any) error {
	b, err := service.JSON(v)
	if err != nil {
		return err
	}
	send(w, http.StatusOK, b)
	return nil
}

func send(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "private, no-cache") // answers differ per caller
	w.WriteHeader(status)
	// An error here is the client's going away.
	_, _ = w.Write(body)
}

package observe

import (
	"log/slog"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/omnigraph-go/omnigraph/server/request"
)

// tracerName is the instrumentation scope of spans of requests.
const tracerName = "github.com/omnigraph-go/omnigraph/server"

// Requests follows each request from its header to the end of its answer: it gives it an
// id, counts it, writes a line of log at level info, and makes a span of it when tracer
// is not nil. Requests for the paths in quiet have their line at level debug: probes
// come every few seconds.
func Requests(next http.Handler, log *slog.Logger, set *Set, tracer trace.TracerProvider, quiet ...string) http.Handler {
	o := &outermost{next: next, log: log, set: set, quiet: map[string]bool{}}
	for _, path := range quiet {
		o.quiet[path] = true
	}
	if tracer != nil {
		o.tracer = tracer.Tracer(tracerName)
	}
	return o
}

type outermost struct {
	next   http.Handler
	log    *slog.Logger
	set    *Set
	tracer trace.Tracer // nil for no traces
	quiet  map[string]bool
}

// exchange is a request and what is answered to it.
type exchange struct {
	http.ResponseWriter
	record request.Record
	id     [1]string // the value of the header
	status int       // 0 until it is sent
	bytes  int64
}

func (o *outermost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	o.set.inFlight.Add(1)
	x := &exchange{ResponseWriter: w}
	x.record.ID = request.ID(r.Header)
	x.id[0] = x.record.ID
	w.Header()[request.Header] = x.id[:]
	ctx := request.With(r.Context(), &x.record)
	var span trace.Span
	if o.tracer != nil {
		ctx = propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(r.Header))
		ctx, span = o.tracer.Start(ctx, methodOf(r.Method), trace.WithSpanKind(trace.SpanKindServer))
	}
	r = r.WithContext(ctx)
	defer func() {
		o.set.inFlight.Add(-1)
		took := time.Since(start)
		if x.status == 0 {
			x.status = http.StatusOK
		}
		route := routeOf(&x.record)
		o.set.answered(route, methodOf(r.Method), x.status, x.bytes, took)
		switch {
		case x.record.Route != "":
		case x.status == http.StatusUnauthorized:
			o.set.auth.WithLabelValues().Inc()
		case x.status == http.StatusForbidden:
			o.set.guarded.WithLabelValues().Inc()
		}
		if span != nil {
			x.trace(span, route, methodOf(r.Method))
		}
		o.line(r, x, route, took)
	}()
	o.next.ServeHTTP(x, r)
}

// line writes the line of a request. It names the route and never the path, which is the
// client's.
func (o *outermost) line(r *http.Request, x *exchange, route string, took time.Duration) {
	level := slog.LevelInfo
	if o.quiet[r.URL.Path] {
		level = slog.LevelDebug
	}
	ctx := r.Context()
	if !o.log.Enabled(ctx, level) {
		return
	}
	// Built by hand, without the place in the source that slog would look up.
	line := slog.NewRecord(time.Now(), level, "request", 0)
	rec := &x.record
	attrs := append(make([]slog.Attr, 0, 13),
		slog.String("method", methodOf(r.Method)), slog.String("route", route), slog.Int("status", x.status),
		slog.Int64("bytes", x.bytes), slog.Duration("duration", took), slog.String("actor", rec.Actor))
	if rec.Calls > 0 {
		attrs = append(attrs, slog.String("graph", rec.Graph), slog.String("tool", rec.Tool))
		if rec.Branch != "" {
			attrs = append(attrs, slog.String("branch", rec.Branch))
		}
		if rec.Commit != "" {
			attrs = append(attrs, slog.String("commit", rec.Commit))
		}
		if rec.Calls > 1 {
			attrs = append(attrs, slog.Int("calls", rec.Calls))
		}
	}
	line.AddAttrs(attrs...)
	_ = o.log.Handler().Handle(ctx, line) // a log that cannot be written has nobody to tell
}

func (x *exchange) trace(span trace.Span, route, method string) {
	span.SetName(method + " " + route)
	span.SetAttributes(attribute.String("http.request.method", method), attribute.String("http.route", route),
		attribute.Int("http.response.status_code", x.status), attribute.String("omnigraph.request", x.record.ID))
	if x.status >= http.StatusInternalServerError {
		span.SetStatus(codes.Error, "")
	}
	span.End()
}

// routeOf is the route of a request as a label.
func routeOf(rec *request.Record) string {
	switch rec.Route {
	case "":
		return "none"
	case "/":
		return "other"
	}
	return rec.Route
}

// methodOf is a method as a label: those that no route takes are one.
func methodOf(m string) string {
	switch m {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return m
	}
	return "other"
}

func (x *exchange) WriteHeader(status int) {
	if x.status == 0 && status >= http.StatusOK { // those below announce another
		x.status = status
	}
	x.ResponseWriter.WriteHeader(status)
}

func (x *exchange) Write(b []byte) (int, error) {
	if x.status == 0 {
		x.status = http.StatusOK
	}
	n, err := x.ResponseWriter.Write(b)
	x.bytes += int64(n)
	return n, err
}

// Flush sends what was written so far.
func (x *exchange) Flush() { _ = http.NewResponseController(x.ResponseWriter).Flush() }

// Unwrap is for [http.ResponseController].
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

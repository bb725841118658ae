package observe

import (
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/logsample"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/requestinfo"
)

// tracerName is the instrumentation scope of request spans.
const tracerName = "github.com/omnigraph-go/omnigraph/server"

// Options configure [Requests].
type Options struct {
	Log *slog.Logger // receives the log lines of requests
	Set *Set         // counts the requests

	// Tracer makes a span for each request; nil makes none.
	Tracer trace.TracerProvider

	// All logs every request at level info. Without it only failed and slow requests are
	// logged at info, the others at debug. Writing a log line takes longer than the rest of
	// the bookkeeping for a request, and writes have log lines of their own.
	All bool

	// Quiet lists paths. Requests for these paths are always logged at level debug. Examples are
	// probes, which come every few seconds.
	Quiet []string

	// Now returns the time for log lines and durations; nil means clock.Now.
	Now func() time.Time
}

// Slow is the duration from which a request is logged at level info.
const Slow = time.Second

// Requests returns a handler that follows each request from its header to the end of the
// answer: it gives the request an id, counts it, logs it, and makes a span for it.
func Requests(next http.Handler, opts Options) http.Handler {
	o := &requestHandler{next: next, log: opts.Log, set: opts.Set, all: opts.All, quietRoutes: map[string]bool{}, now: opts.Now}
	if o.now == nil {
		o.now = clock.Now
	}
	for _, path := range opts.Quiet {
		o.quietRoutes[path] = true
	}
	if opts.Tracer != nil {
		o.tracer = opts.Tracer.Tracer(tracerName)
	}
	return o
}

// requestHandler logs, measures and traces each request.
type requestHandler struct {
	next        http.Handler      // answers the requests
	log         *slog.Logger      // receives a line for each request
	set         *Set              // counts the requests
	tracer      trace.Tracer      // nil if there are no traces
	all         bool              // log every request; see Options.All
	quietRoutes map[string]bool   // paths whose requests are logged at debug; see Options.Quiet
	now         func() time.Time  // returns the time for log lines and durations
	sampler     logsample.Sampler // samples the log lines of requests that may come in floods
}

// exchange is a request and its answer.
type exchange struct {
	http.ResponseWriter
	record requestinfo.Info // what the log line says about the request
	id     [1]string        // the value of the id header
	status int              // 0 until it is sent
	bytes  int64            // bytes of the answer's body sent so far
}

// ServeHTTP lets the next handler answer the request, and then logs and counts the answer.
func (o *requestHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := o.now()
	o.set.inFlight.Add(1)
	x := &exchange{ResponseWriter: w}
	x.record.ID = requestinfo.ID(r.Header)
	x.id[0] = x.record.ID
	w.Header()[requestinfo.Header] = x.id[:]
	ctx := requestinfo.With(r.Context(), &x.record)
	var span trace.Span
	if o.tracer != nil {
		ctx = propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(r.Header))
		ctx, span = o.tracer.Start(ctx, methodOf(r.Method), trace.WithSpanKind(trace.SpanKindServer))
	}
	r = r.WithContext(ctx)
	answered := false
	defer func() {
		o.set.inFlight.Add(-1)
		took := o.now().Sub(start)
		switch {
		case x.status != 0:
		case answered:
			x.status = http.StatusOK
		default: // the handler panicked; the connection is closed and the client gets no answer
			x.status = http.StatusInternalServerError
		}
		if r.Method == http.MethodHead {
			x.bytes = 0 // the body of the answer to a HEAD is not sent
		}
		route := routeOf(&x.record)
		o.set.answered(route, methodOf(r.Method), x.status, x.bytes, took)
		switch {
		case x.record.Route != "":
		case x.status == http.StatusUnauthorized:
			o.set.auth.WithLabelValues().Inc()
		case x.status == http.StatusForbidden:
			o.set.hostRefusals.WithLabelValues().Inc()
		}
		if span != nil {
			x.trace(span, route, methodOf(r.Method))
		}
		o.logRequest(r, x, route, took)
	}()
	o.next.ServeHTTP(x, r)
	answered = true
}

// logRequest logs a request. It names the route, not the path, because the client chooses the
// path.
func (o *requestHandler) logRequest(r *http.Request, x *exchange, route string, took time.Duration) {
	level := slog.LevelDebug
	// A request without a valid token has a log line of its own, which gives the reason.
	fault := x.status >= http.StatusBadRequest && (x.status != http.StatusUnauthorized || x.record.Route != "")
	if (o.all || fault || took >= Slow) && !o.quietRoutes[r.URL.Path] {
		level = slog.LevelInfo
	}
	held := 0
	if kind := sampledKind(x); kind != "" && !o.all && level == slog.LevelInfo {
		var ok bool
		if held, ok = o.sampler.Allow(kind, o.now()); !ok {
			level = slog.LevelDebug
		}
	}
	ctx := r.Context()
	if !o.log.Enabled(ctx, level) {
		return
	}
	// Build the record by hand, to save slog's lookup of the source position.
	line := slog.NewRecord(o.now(), level, "request", 0)
	rec := &x.record
	attrs := append(make([]slog.Attr, 0, 14),
		slog.String("method", methodOf(r.Method)), slog.String("route", route), slog.Int("status", x.status),
		slog.Int64("bytes", x.bytes), slog.Duration("duration", took), slog.String("actor", rec.Actor))
	if rec.Agents != "" {
		attrs = append(attrs, slog.String("agents", rec.Agents))
	}
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
	if held > 0 {
		attrs = append(attrs, slog.Int("others", held))
	}
	line.AddAttrs(attrs...)
	_ = o.log.Handler().Handle(ctx, line) // an error of the log itself cannot be reported
}

// sampledKind returns the kind under which the log line of a request is sampled, or "" if it is not
// sampled. Some requests cost a client next to nothing and so may come in any number: requests
// refused before authentication succeeded, and requests answered with 429. Only these are sampled.
func sampledKind(x *exchange) string {
	switch {
	case x.record.Route == "":
		return "unknown " + strconv.Itoa(x.status)
	case x.status == http.StatusTooManyRequests:
		return "too many"
	}
	return ""
}

// trace adds the route and the outcome to the span of the request.
func (x *exchange) trace(span trace.Span, route, method string) {
	span.SetName(method + " " + route)
	span.SetAttributes(attribute.String("http.request.method", method), attribute.String("http.route", route),
		attribute.Int("http.response.status_code", x.status), attribute.String("omnigraph.request", x.record.ID))
	if x.status >= http.StatusInternalServerError {
		span.SetStatus(codes.Error, "")
	}
	span.End()
}

// routeOf returns the route of a request as a metric label.
func routeOf(rec *requestinfo.Info) string {
	switch rec.Route {
	case "":
		return "none"
	case "/":
		return "other"
	}
	return rec.Route
}

// methodOf returns a method as a metric label. All methods that no route accepts share one label.
func methodOf(m string) string {
	switch m {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return m
	}
	return "other"
}

// WriteHeader records the status of the answer and sends it.
func (x *exchange) WriteHeader(status int) {
	if x.status == 0 && status >= http.StatusOK { // a 1xx status announces another status
		x.status = status
	}
	x.ResponseWriter.WriteHeader(status)
}

// Write counts the bytes of the answer and sends them.
func (x *exchange) Write(b []byte) (int, error) {
	if x.status == 0 {
		x.status = http.StatusOK
	}
	n, err := x.ResponseWriter.Write(b)
	x.bytes += int64(n)
	return n, err
}

// Flush sends the bytes written so far.
func (x *exchange) Flush() { _ = http.NewResponseController(x.ResponseWriter).Flush() }

// Unwrap returns the wrapped writer, for [http.ResponseController].
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

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
	"github.com/omnigraph-go/omnigraph/server/request"
	"github.com/omnigraph-go/omnigraph/server/sample"
)

// tracerName is the instrumentation scope of spans of requests.
const tracerName = "github.com/omnigraph-go/omnigraph/server"

// Options say how requests are followed.
type Options struct {
	Log *slog.Logger
	Set *Set

	// Tracer makes a span of each request; nil makes none.
	Tracer trace.TracerProvider

	// All writes the lines of all requests at level info. Without it only failed and slow
	// ones are, and the others at level debug: to write a line takes longer than what
	// else is done to follow a request, and writes have lines of their own.
	All bool

	// Quiet are paths whose lines are at level debug in any case: probes come every few
	// seconds.
	Quiet []string

	// Now gives lines their date and requests their duration; nil for clock.Now.
	Now func() time.Time
}

// Slow is how long a request takes that is worth a line.
const Slow = time.Second

// Requests follows each request from its header to the end of its answer: it gives it an
// id, counts it, logs it, and makes a span of it.
func Requests(next http.Handler, opts Options) http.Handler {
	o := &outermost{next: next, log: opts.Log, set: opts.Set, all: opts.All, quiet: map[string]bool{}, now: opts.Now}
	if o.now == nil {
		o.now = clock.Now
	}
	for _, path := range opts.Quiet {
		o.quiet[path] = true
	}
	if opts.Tracer != nil {
		o.tracer = opts.Tracer.Tracer(tracerName)
	}
	return o
}

type outermost struct {
	next   http.Handler
	log    *slog.Logger
	set    *Set
	tracer trace.Tracer // nil for no traces
	all    bool
	quiet  map[string]bool
	now    func() time.Time
	lines  sample.Lines // of requests that come in floods
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
	start := o.now()
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
	answered := false
	defer func() {
		o.set.inFlight.Add(-1)
		took := o.now().Sub(start)
		switch {
		case x.status != 0:
		case answered:
			x.status = http.StatusOK
		default: // the connection is given up, and the client has no answer
			x.status = http.StatusInternalServerError
		}
		if r.Method == http.MethodHead {
			x.bytes = 0 // what was written is not sent
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
	answered = true
}

// line writes the line of a request. It names the route and never the path, which is the
// client's.
func (o *outermost) line(r *http.Request, x *exchange, route string, took time.Duration) {
	level := slog.LevelDebug
	// A request whose token is none has a line of its own, with the reason.
	fault := x.status >= http.StatusBadRequest && (x.status != http.StatusUnauthorized || x.record.Route != "")
	if (o.all || fault || took >= Slow) && !o.quiet[r.URL.Path] {
		level = slog.LevelInfo
	}
	held := 0
	if kind := floods(x); kind != "" && !o.all && level == slog.LevelInfo {
		var ok bool
		if held, ok = o.lines.Pass(kind, o.now()); !ok {
			level = slog.LevelDebug
		}
	}
	ctx := r.Context()
	if !o.log.Enabled(ctx, level) {
		return
	}
	// Built by hand, without the place in the source that slog would look up.
	line := slog.NewRecord(o.now(), level, "request", 0)
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
	if held > 0 {
		attrs = append(attrs, slog.Int("others", held))
	}
	line.AddAttrs(attrs...)
	_ = o.log.Handler().Handle(ctx, line) // a log that cannot be written has nobody to tell
}

// floods is the kind of an exchange that may come in any number, since it costs a client
// next to nothing: nobody was let in, or too many were. It is empty for others.
func floods(x *exchange) string {
	switch {
	case x.record.Route == "":
		return "unknown " + strconv.Itoa(x.status)
	case x.status == http.StatusTooManyRequests:
		return "too many"
	}
	return ""
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

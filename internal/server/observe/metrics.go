package observe

import (
	"net/http"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/audittrail"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/audit"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
)

// Set is the metrics of one server. It is safe for concurrent use.
type Set struct {
	registry *prometheus.Registry // holds all metrics
	inFlight atomic.Int64         // HTTP requests in flight
	stopping atomic.Bool          // the server has begun to stop

	// The metrics of HTTP requests. The counter `refused` has requests refused because of the
	// load, `auth` has failed authentications, `seconds` has durations, and `bytes` has the bytes of
	// answers.
	requests, refused, auth, hostRefusals *prometheus.CounterVec
	seconds                               *prometheus.HistogramVec
	bytes                                 *prometheus.CounterVec

	// The metrics of calls on graphs. The counter `denials` has the calls that the policy denied.
	calls, callRows, callBytes, denials, actorCalls *prometheus.CounterVec
	callSeconds                                     *prometheus.HistogramVec

	// The metrics of calls of embedding providers.
	embeddings, embeddingTexts *prometheus.CounterVec
	embeddingSeconds           *prometheus.HistogramVec

	// mu guards the fields below. The maps keep each series, because a lookup by labels in
	// the library takes longer than the rest of the bookkeeping for a request.
	mu            sync.RWMutex
	seriesByRoute map[routeKey]*routeSeries // the series by their labels
	seriesByCall  map[callKey]*callSeries   // the series by their labels
	actors        map[string]bool           // the actors that are labels
	graphs        []Measured                // the graphs to ask for figures
	admission     func() Admission          // returns the current load; may be nil
	memory        func() int64              // returns the reserved bytes; may be nil
}

// Measured is a graph with the figures of its engine.
type Measured interface {
	ID() string
	Stats() engine.Stats
}

// Admission is the current load of admission control.
type Admission struct {
	// Requests are in flight, Waiting requests wait for admission, and Actors have requests in flight.
	Requests, Waiting, Actors int

	Bytes int64 // reserved for request bodies
}

// routeKey has the labels of a request.
type routeKey struct{ route, method, class string }

// routeSeries are the series of one routeKey.
type routeSeries struct {
	requests, bytes prometheus.Counter  // number of requests, bytes of answers
	seconds         prometheus.Observer // durations
}

// callKey has the labels of a call.
type callKey struct {
	graph, actor, tool string
	outcome            wireerror.Outcome
}

// callSeries are the series of one callKey.
type callSeries struct {
	calls, rows, bytes prometheus.Counter  // number of calls, rows and bytes of answers
	byActor            prometheus.Counter  // number of calls of the actor
	seconds            prometheus.Observer // durations
}

const (
	maxActors  = 100     // number of actors that are labels
	otherActor = "other" // the label of all others
)

// Bucket bounds in seconds. A lookup takes tens of microseconds, a load minutes.
var (
	// callBuckets are for calls, and otherBuckets for requests and embeddings.
	callBuckets  = []float64{.00005, .0001, .00025, .0005, .001, .0025, .005, .01, .05, .25, 1, 5, 30}
	otherBuckets = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .1, .5, 2.5, 10, 60, 300}
)

// New returns the metrics of a server of the given version.
func New(version string) *Set {
	s := &Set{registry: prometheus.NewRegistry(), seriesByRoute: map[routeKey]*routeSeries{}, seriesByCall: map[callKey]*callSeries{}, actors: map[string]bool{}}
	s.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	s.gauge(buildInfo, []string{version, runtime.Version()}, func() float64 { return 1 })
	s.gauge(draining, nil, func() float64 {
		if s.stopping.Load() {
			return 1
		}
		return 0
	})
	s.gauge(httpInFlight, nil, func() float64 { return float64(s.inFlight.Load()) })
	s.gauge(admissionRequests, nil, func() float64 { return float64(s.admitted().Requests) })
	s.gauge(admissionWaiting, nil, func() float64 { return float64(s.admitted().Waiting) })
	s.gauge(admissionActors, nil, func() float64 { return float64(s.admitted().Actors) })
	s.gauge(admissionBytes, nil, func() float64 { return float64(s.admitted().Bytes) })
	s.gauge(queryMemory, nil, func() float64 { return float64(s.memoryTaken()) })
	s.requests, s.bytes, s.refused = s.counter(httpRequests), s.counter(httpBytes), s.counter(admissionRefused)
	s.auth, s.hostRefusals = s.counter(authFailures), s.counter(guardRefusals)
	s.calls, s.callRows, s.callBytes, s.denials = s.counter(calls), s.counter(callRows), s.counter(callBytes), s.counter(policyDenials)
	s.actorCalls = s.counter(actorCalls)
	s.embeddings, s.embeddingTexts = s.counter(embeddings), s.counter(embeddingTexts)
	s.seconds = s.histogram(httpSeconds, otherBuckets)
	s.callSeconds = s.histogram(callSeconds, callBuckets)
	s.embeddingSeconds = s.histogram(embeddingSeconds, otherBuckets)
	s.registry.MustRegister(&graphFigures{s})
	// Create the series now. If a counter appeared only with its first event, a rate over the
	// counter would miss that event.
	s.auth.WithLabelValues()
	s.hostRefusals.WithLabelValues()
	return s
}

// Watch adds graphs to the metrics, which then include the figures of their engines.
func (s *Set) Watch(graphs ...Measured) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.graphs = append(s.graphs, graphs...)
}

// Forget removes a graph from the metrics.
func (s *Set) Forget(graph string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.graphs = slices.DeleteFunc(slices.Clone(s.graphs), func(m Measured) bool { return m.ID() == graph })
}

// Admitted sets the function that returns the current admission load.
func (s *Set) Admitted(f func() Admission) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.admission = f
}

// QueryMemory sets the function that returns the bytes that queries have reserved.
func (s *Set) QueryMemory(f func() int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.memory = f
}

// Draining records that the server is shutting down.
func (s *Set) Draining() { s.stopping.Store(true) }

// Refused counts a request that was not admitted. The reason comes from a bounded set.
func (s *Set) Refused(reason string) { s.refused.WithLabelValues(reason).Inc() }

// Called counts a call; it implements [audit.Observer].
func (s *Set) Called(c audit.Called) {
	key := callKey{c.Graph, c.Actor, c.Tool, c.Outcome}
	s.mu.RLock()
	series := s.seriesByCall[key]
	if series == nil && len(s.actors) == maxActors && !s.actors[c.Actor] {
		key.actor = otherActor
		series = s.seriesByCall[key]
	}
	s.mu.RUnlock()
	if series == nil {
		series = s.newCall(key)
	}
	series.calls.Inc()
	series.byActor.Inc()
	series.seconds.Observe(c.Took.Seconds())
	if c.Rows > 0 {
		series.rows.Add(float64(c.Rows))
	}
	series.bytes.Add(float64(c.Bytes))
	if c.Denied != "" {
		s.denials.WithLabelValues(c.Graph, string(c.Denied)).Inc()
	}
}

// newCall returns the series for a call's labels.
func (s *Set) newCall(k callKey) *callSeries {
	name := k.tool
	if name == "" {
		name = "unknown"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.actors[k.actor] && k.actor != otherActor {
		if len(s.actors) == maxActors {
			k.actor = otherActor
		} else {
			s.actors[k.actor] = true
		}
	}
	c := &callSeries{
		byActor: s.actorCalls.WithLabelValues(k.graph, k.actor, name, string(k.outcome)),
		calls:   s.calls.WithLabelValues(k.graph, name, string(k.outcome)), seconds: s.callSeconds.WithLabelValues(k.graph, name),
		rows: s.callRows.WithLabelValues(k.graph, name), bytes: s.callBytes.WithLabelValues(k.graph, name),
	}
	s.seriesByCall[k] = c
	return c
}

// Audited adds the figures of an audit trail to the metrics.
func (s *Set) Audited(figures func() audittrail.Stats) {
	for m, f := range map[int]func() float64{
		auditRecords: func() float64 { return float64(figures().Records) },
		auditLost:    func() float64 { return float64(figures().Lost) },
	} {
		s.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: Metrics[m].Name, Help: Metrics[m].Help}, f))
	}
	s.gauge(auditBytes, nil, func() float64 { return float64(figures().Bytes) })
}

// answered counts an answered request.
func (s *Set) answered(route, method string, status int, bytes int64, took time.Duration) {
	key := routeKey{route, method, classes[min(status/100, len(classes)-1)]}
	s.mu.RLock()
	series := s.seriesByRoute[key]
	s.mu.RUnlock()
	if series == nil {
		series = &routeSeries{
			requests: s.requests.WithLabelValues(key.route, key.method, key.class),
			bytes:    s.bytes.WithLabelValues(route), seconds: s.seconds.WithLabelValues(route),
		}
		s.mu.Lock()
		s.seriesByRoute[key] = series
		s.mu.Unlock()
	}
	series.requests.Inc()
	series.seconds.Observe(took.Seconds())
	series.bytes.Add(float64(bytes))
}

// classes are the names of the classes of HTTP statuses, by the first digit of the status.
var classes = [...]string{"0xx", "1xx", "2xx", "3xx", "4xx", "5xx"}

// CountEmbedding counts a call of a graph's embedding provider.
func (s *Set) CountEmbedding(graph string, texts int, took time.Duration, err error) {
	outcome := "ok"
	if err != nil {
		outcome = "failed"
	}
	s.embeddings.WithLabelValues(graph, outcome).Inc()
	s.embeddingTexts.WithLabelValues(graph).Add(float64(texts))
	s.embeddingSeconds.WithLabelValues(graph).Observe(took.Seconds())
}

// Handler returns a handler that answers with the metrics, in the format that the client
// asks for.
func (s *Set) Handler() http.Handler {
	h := promhttp.HandlerFor(s.registry, promhttp.HandlerOpts{EnableOpenMetrics: true})
	// Without this write deadline, a client that does not read its answer would block the others.
	const patience = 10 * time.Second
	turn := make(chan struct{}, 1) // gathering takes memory, so one request gathers at a time
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case turn <- struct{}{}:
		case <-r.Context().Done():
			return
		}
		defer func() { <-turn }()
		// Ignore the error: writers without deadlines, such as test recorders, return one.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(patience))
		h.ServeHTTP(w, r)
	})
}

// admitted returns the current load of admission control.
func (s *Set) admitted() Admission {
	s.mu.RLock()
	f := s.admission
	s.mu.RUnlock()
	if f == nil {
		return Admission{}
	}
	return f()
}

// memoryTaken returns the bytes that queries and answers have reserved.
func (s *Set) memoryTaken() int64 {
	s.mu.RLock()
	f := s.memory
	s.mu.RUnlock()
	if f == nil {
		return 0
	}
	return f()
}

// counter registers metric m of the table as a counter.
func (s *Set) counter(m int) *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: Metrics[m].Name, Help: Metrics[m].Help}, Metrics[m].Labels)
	s.registry.MustRegister(v)
	return v
}

// histogram registers metric m of the table as a histogram.
func (s *Set) histogram(m int, buckets []float64) *prometheus.HistogramVec {
	v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: Metrics[m].Name, Help: Metrics[m].Help, Buckets: buckets}, Metrics[m].Labels)
	s.registry.MustRegister(v)
	return v
}

// gauge registers metric m of the table as a gauge that calls f. The argument `values` holds the
// values of the metric's labels.
func (s *Set) gauge(m int, values []string, f func() float64) {
	labels := prometheus.Labels{}
	for i, name := range Metrics[m].Labels {
		labels[name] = values[i]
	}
	s.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: Metrics[m].Name, Help: Metrics[m].Help, ConstLabels: labels}, f))
}

package observe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/goleak"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/audittrail"
	"github.com/omnigraph-go/omnigraph/internal/clock/clocktest"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/audit"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/logsample"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/requestinfo"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// one is a graph with figures that are all different numbers.
type one struct{}

func (one) ID() string { return "g" }
func (one) Stats() engine.Stats {
	return engine.Stats{Branches: 1, Commits: 2, Calls: 3, Segments: 4, SegmentBytes: 5, LogBytes: 6, MaxBytes: 7, MaxBranches: 8, QuotaRefusals: 9, Checkpoints: 10, Rewrites: 11, CheckpointFailures: 12,
		Shared: &engine.SharedStats{Open: true, Writer: true, Epoch: 15, Lag: 16 * time.Second, CacheBytes: 17, Collected: 18, Pinned: 19}}
}

// TestTable makes each event happen once. The metrics must then be exactly the metrics in the
// table, and their names must follow the conventions.
func TestTable(t *testing.T) {
	s := New("v1")
	s.Watch(one{})
	s.Audited(func() audittrail.Stats { return audittrail.Stats{Records: 1, Lost: 2, Bytes: 3} })
	s.Refused("actor")
	s.Called(audit.Called{Graph: "g", Tool: "t", Outcome: wireerror.OfPolicy, Denied: "read", Rows: 1, Bytes: 2, Took: time.Second})
	s.CountEmbedding("g", 3, time.Second, errors.New("down"))
	s.answered("/graphs", "GET", 200, 10, time.Millisecond)
	s.Admitted(func() Admission { return Admission{Requests: 11, Waiting: 12, Actors: 13, Bytes: 14} })
	s.Draining()
	found, err := s.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]*dto.MetricFamily{}
	for _, f := range found {
		byName[f.GetName()] = f
		if !strings.HasPrefix(f.GetName(), "omnigraph_") && !strings.HasPrefix(f.GetName(), "go_") && !strings.HasPrefix(f.GetName(), "process_") {
			t.Errorf("%s has no prefix that the page names", f.GetName())
		}
	}
	kinds := map[Kind]dto.MetricType{Counter: dto.MetricType_COUNTER, Gauge: dto.MetricType_GAUGE, Histogram: dto.MetricType_HISTOGRAM}
	for _, m := range Metrics {
		f := byName[m.Name]
		if f == nil || len(f.Metric) != 1 || f.GetType() != kinds[m.Kind] || f.GetHelp() != m.Help {
			t.Errorf("%s is %v", m.Name, f)
			continue
		}
		labels := map[string]bool{}
		for _, l := range f.Metric[0].Label {
			labels[l.GetName()] = true
		}
		if len(labels) != len(m.Labels) {
			t.Errorf("%s has the labels %v, want %v", m.Name, labels, m.Labels)
		}
		for _, l := range m.Labels {
			if !labels[l] {
				t.Errorf("%s has the labels %v, want %v", m.Name, labels, m.Labels)
			}
		}
		if !strings.HasSuffix(m.Help, ".") || m.Watch != "" && !strings.HasSuffix(m.Watch, ".") {
			t.Errorf("%s is not described in sentences", m.Name)
		}
		delete(byName, m.Name)
	}
	for name := range byName {
		if strings.HasPrefix(name, "omnigraph_") {
			t.Errorf("%s is not in the table", name)
		}
	}
	for i, f := range figures {
		m := byFigure(t, s.registry, Metrics[f.metric].Name)
		if v := m.GetGauge().GetValue() + m.GetCounter().GetValue(); v != float64(i+1) {
			t.Errorf("%s is %v, want %d", Metrics[f.metric].Name, v, i+1)
		}
	}
	problems, err := promlint.NewWithMetricFamilies(found).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

func byFigure(t *testing.T, r *prometheus.Registry, name string) *dto.Metric {
	t.Helper()
	found, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		if f.GetName() == name {
			return f.Metric[0]
		}
	}
	t.Fatalf("no metric %s", name)
	return nil
}

func TestNewLogger(t *testing.T) {
	for _, format := range Formats {
		for _, level := range Levels {
			if _, err := NewLogger(io.Discard, format, level); err != nil {
				t.Error(err)
			}
		}
	}
	for _, bad := range [][2]string{{"xml", "info"}, {"text", "loud"}, {"", ""}} {
		if _, err := NewLogger(io.Discard, bad[0], bad[1]); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestLinesOfARequest(t *testing.T) {
	var b strings.Builder
	log := WithRequests(slog.New(slog.NewTextHandler(&b, nil))).With("graph", "g")
	ctx := requestinfo.With(context.Background(), &requestinfo.Info{ID: "id-1"})
	ctx = trace.ContextWithSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}}))
	log.InfoContext(ctx, "of the request")
	log.InfoContext(context.Background(), "of none")
	first, second, _ := strings.Cut(b.String(), "\n")
	if !strings.Contains(first, "graph=g request=id-1 trace=01000000000000000000000000000000") || strings.Contains(second, "request=") {
		t.Errorf("the log is %s", b.String())
	}
}

// TestExchange follows requests that end in unusual ways.
func TestExchange(t *testing.T) {
	tests := []struct {
		name    string
		handler http.HandlerFunc
		want    string // the expected part of the log line
	}{
		{"nothing written", func(http.ResponseWriter, *http.Request) {}, "status=200 bytes=0"},
		{"body alone", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }, "status=200 bytes=5"},
		{"early hints", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusTeapot)
		}, "status=418 bytes=0"},
		{"two statuses", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(201); w.WriteHeader(500) }, "status=201"},
		{"flushed", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "a")
			if err := http.NewResponseController(w).Flush(); err != nil {
				t.Error(err)
			}
			if err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(time.Minute)); err != nil {
				t.Error(err)
			}
		}, "status=200 bytes=1"},
		{"aborted", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "method=GET route=none status=500"},
		{"aborted later", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "half")
			panic(http.ErrAbortHandler)
		}, "status=200 bytes=4"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			log := &lines{}
			set := New("v1")
			server := httptest.NewServer(Requests(tt.handler, Options{Log: slog.New(slog.NewTextHandler(log, nil)), Set: set, All: true}))
			res, err := http.Get(server.URL + "/secret-path")
			if err == nil {
				_, _ = io.Copy(io.Discard, res.Body)
				res.Body.Close()
			}
			server.Close()
			http.DefaultClient.CloseIdleConnections()
			if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, tt.want) || strings.Contains(got, "secret") {
				t.Errorf("the log is %s", got)
			}
			if n := set.inFlight.Load(); n != 0 {
				t.Errorf("%d requests are said to be under way", n)
			}
		})
	}
}

// TestHead checks the size in the log line of a HEAD request. The body of the answer is written but
// not sent, so it must not count.
func TestHead(t *testing.T) {
	log := &lines{}
	h := Requests(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }),
		Options{Log: slog.New(slog.NewTextHandler(log, nil)), Set: New("v1"), All: true})
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("HEAD", "/", nil))
	if got := log.String(); !strings.Contains(got, "method=HEAD") || !strings.Contains(got, "bytes=0 ") {
		t.Errorf("the log is %s", got)
	}
}

// lines is a log that several goroutines of a server write to.
type lines struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func TestTracingIsOptional(t *testing.T) {
	p, stop, err := Tracing(context.Background(), "v1", func(string) string { return "" }, slog.New(slog.DiscardHandler))
	if p != nil || err != nil {
		t.Errorf("without an endpoint there is %v, %v", p, err)
	}
	stop()
}

// TestFloodIsSampled sends many requests that cost their client nothing. They must not fill the
// log. Each request of an actor must have a log line, and so must every request when All is set.
func TestFloodIsSampled(t *testing.T) {
	const flood = 200
	for _, c := range []struct {
		name, route string
		status      int
		all         bool
		lines       int
	}{
		{"another host", "", 403, false, 1}, {"too many", "/graphs", 429, false, 1}, {"an actor's", "/graphs", 404, false, flood},
		{"another host, all", "", 403, true, flood}, {"without a token", "", 401, false, 0},
	} {
		var b strings.Builder
		now := clocktest.New(clocktest.Start)
		h := Requests(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requestinfo.From(r.Context()).Route = c.route
			w.WriteHeader(c.status)
		}), Options{Log: slog.New(slog.NewTextHandler(&b, nil)), Set: New("test"), All: c.all, Now: now.Now})
		for range flood {
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/graphs", nil))
		}
		if lines := strings.Count(b.String(), "\n"); lines != c.lines {
			t.Errorf("%s: %d lines of %d requests, want %d", c.name, lines, flood, c.lines)
		}
		now.Pass(logsample.Interval)
		b.Reset()
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/graphs", nil))
		if c.lines == 1 && !strings.Contains(b.String(), fmt.Sprintf(" others=%d", flood-1)) {
			t.Errorf("%s: after the flood the log has %q, want a line that counts the others", c.name, b.String())
		}
		if want := "time=" + now.Now().Format("2006-01-02T15:04:05.000Z07:00"); c.lines > 0 && !strings.HasPrefix(b.String(), want) {
			t.Errorf("%s: the line is %q, want %s", c.name, b.String(), want)
		}
	}
}

// hurried records the write deadline of an answer.
type hurried struct {
	*httptest.ResponseRecorder
	until time.Time
}

func (w *hurried) SetWriteDeadline(t time.Time) error {
	w.until = t
	return nil
}

// TestMetricsAreTaken checks that an answer with metrics has a write deadline. Without one, a
// client that does not read its answer would block the next client.
func TestMetricsAreTaken(t *testing.T) {
	w := &hurried{ResponseRecorder: httptest.NewRecorder()}
	New("test").Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if left := time.Until(w.until); w.Code != http.StatusOK || left <= 0 || left > 15*time.Second {
		t.Errorf("answered %d; there are %v to read it", w.Code, left)
	}
}

// TestActors counts calls of more actors than the metrics name.
func TestActors(t *testing.T) {
	s := New("v0")
	for range 2 {
		for i := range maxActors + 50 {
			s.Called(audit.Called{Graph: "g", Actor: fmt.Sprint("actor-", i), Tool: "t", Outcome: wireerror.Done})
		}
	}
	found, err := s.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		if f.GetName() != "omnigraph_actor_calls_total" {
			continue
		}
		if len(f.Metric) != maxActors+1 {
			t.Errorf("%d series, want %d", len(f.Metric), maxActors+1)
		}
		for _, m := range f.Metric {
			for _, l := range m.Label {
				if want := map[bool]float64{true: 100, false: 2}[l.GetValue() == otherActor]; l.GetName() == "actor" && m.Counter.GetValue() != want {
					t.Errorf("%s made %v calls, want %v", l.GetValue(), m.Counter.GetValue(), want)
				}
			}
		}
	}
}

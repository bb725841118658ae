package observe_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/server/internal/audit"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/requestinfo"
	"github.com/omnigraph-go/omnigraph/internal/server/observe"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
)

// BenchmarkRequest measures the cost of following a request in three cases: without Requests, with
// Requests but without a log line, and with a log line.
func BenchmarkRequest(b *testing.B) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer null.Close()
	file, err := os.Create(b.TempDir() + "/log")
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	logger := func(w io.Writer, format string) *slog.Logger {
		log, err := observe.NewLogger(w, format, "info")
		if err != nil {
			b.Fatal(err)
		}
		return observe.WithRequests(log)
	}
	for _, l := range []struct {
		name string
		log  *slog.Logger
		all  bool
	}{
		{"nothing", nil, false}, {"default", logger(file, "text"), false}, {"all-text", logger(io.Discard, "text"), true}, {"all-json", logger(io.Discard, "json"), true},
		{"all-text-to-null", logger(null, "text"), true}, {"all-text-to-file", logger(file, "text"), true},
	} {
		b.Run(l.name, func(b *testing.B) {
			set := observe.New("bench")
			var h http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if rec := requestinfo.From(r.Context()); rec != nil {
					rec.Route, rec.Actor, rec.Calls, rec.Graph, rec.Tool = "/graphs/{id}/mcp", "act-dev", 1, "code", "find_symbols"
					rec.Branch, rec.Commit = "main", "01JD0000000000000000000000"
					set.Called(audit.Called{Graph: "code", Tool: "find_symbols", Outcome: wireerror.Done, Rows: 10, Bytes: 1000, Took: time.Millisecond})
				}
				w.WriteHeader(http.StatusOK)
			})
			if l.log != nil {
				h = observe.Requests(h, observe.Options{Log: l.log, Set: set, All: l.all})
			}
			r, w := httptest.NewRequest("POST", "/graphs/code/mcp", nil), &nowhere{http.Header{}}
			b.ReportAllocs()
			for b.Loop() {
				h.ServeHTTP(w, r)
			}
		})
	}
}

type nowhere struct{ header http.Header }

func (w *nowhere) Header() http.Header         { return w.header }
func (w *nowhere) WriteHeader(int)             {}
func (w *nowhere) Write(p []byte) (int, error) { return len(p), nil }

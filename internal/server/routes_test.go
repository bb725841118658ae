package server

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/server/internal/requestinfo"
)

// TestRecovered checks what happens after a panic outside of the transports. The answer must be the
// error envelope, and the panic must be logged. http.ErrAbortHandler must be passed on.
func TestRecovered(t *testing.T) {
	var log strings.Builder
	h := recovered(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/abort" {
			panic(http.ErrAbortHandler)
		}
		panic("secret")
	}), slog.New(slog.NewTextHandler(&log, nil)))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	var e struct{ Error, Code string }
	if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil || w.Code != http.StatusInternalServerError || e.Code != "internal" || strings.Contains(e.Error, "secret") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if !strings.Contains(log.String(), "secret") || !strings.Contains(log.String(), "routes_test.go") {
		t.Errorf("the log does not tell the cause: %s", log.String())
	}
	defer func() {
		if recover() != http.ErrAbortHandler {
			t.Error("the abort was swallowed")
		}
	}()
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/abort", nil))
}

// TestAbortedHasItsRoute makes an export fail half-way, so that the answer breaks off. The request
// must be counted under its route, and not as a request without a route.
func TestAbortedHasItsRoute(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /graphs/{id}/export", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	var rec requestinfo.Info
	r := httptest.NewRequest("POST", "/graphs/a/export", nil)
	r = r.WithContext(requestinfo.With(r.Context(), &rec))
	defer func() {
		if p := recover(); p != http.ErrAbortHandler {
			t.Errorf("recovered %v", p)
		}
		if rec.Route != "/graphs/{id}/export" {
			t.Errorf("the route is %q", rec.Route)
		}
	}()
	byPattern(mux).ServeHTTP(httptest.NewRecorder(), r)
}

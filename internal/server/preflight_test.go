package server

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/server/hostcheck"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
)

// TestPreflightAllowsWhatRoutesTake checks that a page of a listed origin may send every header
// that a route reads, and use every method.
func TestPreflightAllowsWhatRoutesTake(t *testing.T) {
	const origin = "https://app.example.com"
	g, err := hostcheck.New(hostcheck.Options{Bind: "127.0.0.1:0", Origins: []string{origin}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodOptions, "http://127.0.0.1/graphs/people/blob", nil)
	r.Header.Set("Origin", origin)
	r.Header.Set("Access-Control-Request-Method", http.MethodGet)
	w := httptest.NewRecorder()
	g.Wrap(http.NotFoundHandler()).ServeHTTP(w, r)
	headers := strings.Split(w.Header().Get("Access-Control-Allow-Headers"), ", ")
	methods := strings.Split(w.Header().Get("Access-Control-Allow-Methods"), ", ")
	for _, route := range rest.Routes() {
		if !slices.Contains(methods, route.Method) {
			t.Errorf("%s: the method %s is not allowed", route.Operation, route.Method)
		}
		for _, p := range route.Params {
			if p.In == rest.Header && !slices.Contains(headers, p.Name) {
				t.Errorf("%s: the header %s is not allowed", route.Operation, p.Name)
			}
		}
	}
}

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// TestStorageDown kills the storage of two servers. Reads must state the age of the data. Every refusal must be a
// 503 with Retry-After, apart from that of a write whose outcome is unknown. So a call of the Go client must succeed once the storage is
// back, without an error to its caller.
func TestStorageDown(t *testing.T) {
	s := newStorage(t, "postgres")
	f := newFleet(t, 2, s.url)
	for i := range f.ports {
		f.start(i)
	}
	w := f.writer()
	f.untilReader(1 - w)
	if _, err := f.addNote("before"); err != nil {
		t.Fatal(err)
	}
	s.kill()
	body := func(slug string) string {
		return fmt.Sprintf(`{"params":{"slug":%q,"symbol":"example.com/p.F1","text":"t"}}`, slug)
	}
	a, err := f.ask(w, http.MethodPost, "/graphs/code/queries/add_note", body("unknown"), "Idempotency-Key", "unknown")
	unknown := a.status == http.StatusInternalServerError && strings.Contains(string(a.body), "the outcome of the write is unknown")
	if err != nil || !unknown && (a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "") {
		t.Errorf("the write that met the failure: %v %d %v %s", err, a.status, a.header, a.body)
	}
	for i := range f.ports { // the lease has passed, and storage.max_staleness has not
		a, err := f.ask(i, http.MethodGet, "/graphs/code/snapshot", "")
		if err != nil || a.status != http.StatusOK || a.header.Get("Omnigraph-Data-Age") == "" {
			t.Errorf("a read on server %d (the writer was %d): %v %d %v %s", i, w, err, a.status, a.header, a.body)
		}
	}
	refused := func(what string, server int, method, path, text string, header ...string) {
		t.Helper()
		a, err := f.ask(server, method, "/graphs/code"+path, text, header...)
		if err != nil || a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" {
			t.Errorf("%s on server %d (the writer was %d): %v %d %v %s", what, server, w, err, a.status, a.header, a.body)
		}
	}
	for i := range f.ports {
		refused("a write after the failure", i, http.MethodPost, "/queries/add_note", body("refused"), "Idempotency-Key", "refused")
		refused("a read of the latest state", i, http.MethodGet, "/snapshot", "", "Omnigraph-At-Least", "latest")
	}

	waited := make(chan error, 100)
	api, err := client.New(fmt.Sprintf("http://127.0.0.1:%d", f.ports[w]), client.WithToken(sharedToken), client.WithRetries(60, time.Minute),
		client.WithNotify(func(err error, _ time.Duration) { waited <- err }))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	go func() {
		_, err := api.Graph("code").Mutate(ctx, client.MutateBody{
			Query:  `query m($s: String) { insert Note { slug: $s, text: "t", created: now() } }`,
			Params: map[string]any{"s": "retried"},
		}, client.IdempotencyKey("retried"))
		done <- err
	}()
	select {
	case err := <-waited:
		t.Logf("the client waits after: %v", err)
	case err := <-done:
		t.Fatalf("the client has not repeated the write: %v", err)
	}
	began := clock.Now()
	s.restart()
	if err := <-done; err != nil {
		t.Fatalf("the write of the Go client: %v", err)
	}
	t.Logf("the write succeeded %v after the restart of the storage", clock.Since(began))
	for _, slug := range []string{"before", "retried"} {
		if err := f.sees(w, slug, "latest"); err != nil {
			t.Error(err)
		}
	}
	for i := range f.ports {
		f.end(i).stop()
	}
}

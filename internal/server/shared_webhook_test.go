package server_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/server"
	"github.com/omnigraph-go/omnigraph/internal/slow"
)

// TestSharedWebhook starts a server again on shared storage while an event of a webhook is not delivered. It delivers the event although nobody
// calls.
func TestSharedWebhook(t *testing.T) {
	slow.Test(t)
	messages := make(chan string, 10)
	var status atomic.Int64
	status.Store(http.StatusServiceUnavailable)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(int(status.Load()))
		messages <- r.Header.Get("webhook-id")
	}))
	t.Cleanup(receiver.Close)
	f := newFleet(t, "things")
	if err := os.Mkdir(filepath.Join(f.dir, "queries"), 0o755); err != nil {
		t.Fatal(err)
	}
	f.write("queries/things.gq", "query things() { match { $t: Thing } return { $t.slug } }\n")
	f.write("policy.yaml", everything+"  - id: hooks\n    allow: { actors: any, actions: [watch_webhook, invoke_query] }\n")
	config, err := os.ReadFile(filepath.Join(f.dir, "cluster.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	f.write("cluster.yaml", strings.NewReplacer(
		"storage: ./data\n", "storage: { url: \"file://"+filepath.Join(t.TempDir(), "bucket")+"\", cache: ./cache, lease: 1s, idle: 1s }\n",
		"{ schema: thing.pg }", "{ schema: thing.pg, queries: queries/, watches: { webhook_loopback: true } }",
	).Replace(string(config)))
	f.apply()
	start := func() http.Handler {
		h, _ := f.mustOpen(func(o *server.Options) { o.Node, o.Now = "og-1", clock.Now })
		return h
	}
	code, answer := ask(start(), "POST", "/graphs/things/watches", "ada", `{"query":"things","webhook":"`+receiver.URL+`"}`)
	var w client.Watch
	if err := json.Unmarshal([]byte(answer), &w); err != nil || code != http.StatusOK || w.Webhook == nil {
		t.Fatalf("make a webhook: %d %s", code, answer)
	}
	first := <-messages
	if err := f.opened.Close(); err != nil {
		t.Fatal(err)
	}
	for len(messages) > 0 {
		<-messages
	}
	status.Store(http.StatusOK)
	start()
	if again := <-messages; again != first {
		t.Errorf("the message %s arrives after the start, want %s", again, first)
	}
}

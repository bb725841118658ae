package server_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/server"
)

// TestWebhook makes a webhook over REST on a server, which sends the first answer and each change of it to a receiver. The calls are in the
// audit trail, and only the policy allows a webhook.
func TestWebhook(t *testing.T) {
	type message struct {
		header http.Header
		body   []byte
	}
	messages := make(chan message, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		messages <- message{r.Header, body}
	}))
	defer receiver.Close()
	a := newAudited(t, newStore(t), func(o *server.Options) {
		o.Now = clock.Now
		o.Cluster.Graphs[0].Watches.Loopback = true
	})
	request := func(token, url string) (int, string) {
		return a.call(token, "POST", "/watches", `{"query":"get_package","params":{"path":"example.com/a"},"webhook":"`+url+`"}`)
	}
	if status, body := request(devToken, "https://hooks.example.com/"); status != 400 || !strings.Contains(body, "do not list the host hooks.example.com") {
		t.Errorf("a host that is not listed: %d %s", status, body)
	}
	if status, body := request("the-token-of-act-ada", receiver.URL); status == 200 {
		t.Errorf("an actor without watch_webhook: %d %s", status, body)
	}
	status, body := request(devToken, receiver.URL)
	var w client.Watch
	if err := json.Unmarshal([]byte(body), &w); err != nil || status != 200 || w.Webhook == nil {
		t.Fatalf("make a webhook: %d %s", status, body)
	}
	verifier, err := standardwebhooks.NewWebhook(w.Webhook.Secret)
	if err != nil {
		t.Fatal(err)
	}
	next := func() client.WebhookMessageData {
		t.Helper()
		got := <-messages
		var m client.WebhookMessage
		if err := verifier.VerifyIgnoringTimestamp(got.body, got.header); err != nil {
			t.Errorf("the signature of %s: %v", got.body, err)
		}
		if err := json.Unmarshal(got.body, &m); err != nil || got.header.Get("webhook-id") != w.ID+"_"+m.Data.Event.Cursor {
			t.Errorf("the message %s with %v: %v", got.body, got.header, err)
		}
		return m.Data
	}
	first := next()
	if first.Event.Reset == nil || len(first.Event.Rows) != 0 {
		t.Errorf("the first event is %+v", first)
	}
	if status, body := a.call(devToken, "POST", "/load", `{"mode":"merge","data":"{\"type\":\"Package\",\"data\":{\"path\":\"example.com/a\",\"name\":\"a\",\"files\":1,\"lines\":2}}"}`); status != 200 {
		t.Fatalf("load: %d %s", status, body)
	}
	if second := next(); second.Previous != first.Event.Cursor || len(second.Event.Came) != 1 {
		t.Errorf("the second event is %+v", second)
	}
	if status, body := a.call(devToken, "GET", "/watches", ""); status != 200 || strings.Contains(body, "whsec") || !strings.Contains(body, receiver.URL) {
		t.Errorf("the watches are %d %s", status, body)
	}
	deliveries := 0
	for _, r := range a.records("tool=webhook_deliver") {
		if deliveries++; r.ActorID == nil || *r.ActorID != "act-dev" || r.Outcome != "ok" {
			t.Errorf("a delivery is recorded as %+v", r)
		}
	}
	if deliveries < 2 {
		t.Errorf("%d deliveries are in the audit trail", deliveries)
	}
}

package server_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

// heard is a message of a stream of notifications.
type heard struct {
	Method string
	Params struct {
		URI  string
		Meta struct {
			After  map[string]string   `json:"omnigraph/after"`
			Closed *client.DraftClosed `json:"omnigraph/draft_closed"`
		} `json:"_meta"`
	}
}

// listen opens a stream of notifications as act-one about resources, which continues after the given states. It
// returns a function that waits for the next message.
func (w *proposalWorld) listen(after map[string]string, uris ...string) func() heard {
	w.t.Helper()
	meta := map[string]any{
		"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientInfo": map[string]string{"name": "t", "version": "0"},
		"io.modelcontextprotocol/clientCapabilities": map[string]any{},
	}
	if after != nil {
		meta["omnigraph/after"] = after
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": map[string]any{
		"notifications": map[string]any{"resourceSubscriptions": uris}, "_meta": meta,
	}})
	if err != nil {
		w.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(w.t.Context(), "POST", w.url+"/graphs/people/mcp", strings.NewReader(string(body)))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header = http.Header{
		"Authorization": {"Bearer the-token-of-act-one"}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"subscriptions/listen"},
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { resp.Body.Close() })
	lines := bufio.NewScanner(resp.Body)
	return func() (m heard) {
		w.t.Helper()
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				if err := json.Unmarshal([]byte(data), &m); err != nil {
					w.t.Fatal(err)
				}
				return m
			}
		}
		w.t.Fatalf("the stream ended with %v", lines.Err())
		return m
	}
}

// TestDraftListenPinned subscribes over MCP to the alias of a draft. The stream is about the draft, tells how it
// ended, and says nothing about the draft that the actor opens later.
func TestDraftListenPinned(t *testing.T) {
	const alias = "omnigraph://branches/draft"
	for _, tt := range draftEnds {
		t.Run(tt.outcome, func(t *testing.T) {
			w := newProposalWorldWith(t, draftPolicy, servedtest.Catalog(t))
			draft, first := w.write("", "ada", 41)
			named := "omnigraph://branches/" + draft
			next := w.listen(nil, alias, named)
			m := next()
			if m.Params.Meta.After[alias] != draft+"@"+first || m.Params.Meta.After[named] != first {
				t.Fatalf("the stream begins with %+v", m)
			}
			before := m.Params.Meta.After
			_, second := w.write("draft", "ada", 42)
			for range 2 {
				m = next()
			}
			if m.Params.Meta.After[alias] != draft+"@"+second || m.Params.Meta.Closed != nil {
				t.Errorf("after a write: %+v", m)
			}
			if err := tt.end(w, draft); err != nil {
				t.Fatal(err)
			}
			w.write("draft", "bob", 1)
			for _, next := range []func() heard{next, reopened(w, before, alias, named)} {
				for range 2 {
					if m = next(); m.Method != "notifications/resources/updated" || m.Params.Meta.Closed == nil || m.Params.Meta.Closed.Outcome != tt.outcome {
						t.Errorf("after the end: %+v", m)
					}
				}
			}
			// A client that knows of the end hears nothing more about it.
			after := m.Params.Meta.After
			next = w.listen(after, alias, named, "omnigraph://proposals")
			next()
			other, _ := w.write("draft", "bob", 2)
			if _, err := w.person("act-one").OpenProposal(t.Context(), client.ProposalBody{Source: other, Title: "Bob"}); err != nil {
				t.Fatal(err)
			}
			if m = next(); m.Params.URI != "omnigraph://proposals" {
				t.Errorf("after the known end: %+v", m)
			}
			// A new subscription is about the new draft. It hears at once that the named draft has ended.
			next = w.listen(nil, alias, named)
			if m = next(); !strings.HasPrefix(m.Params.Meta.After[alias], other+"@") {
				t.Errorf("a new subscription: %+v", m)
			}
			if m = next(); m.Params.URI != named || m.Params.Meta.Closed == nil {
				t.Errorf("a subscription to a draft that has ended: %+v", m)
			}
		})
	}
}

// reopened opens a stream that continues another one, and reads its first message.
func reopened(w *proposalWorld, after map[string]string, uris ...string) func() heard {
	w.t.Helper()
	next := w.listen(after, uris...)
	next()
	return next
}

package client_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
)

// TestEdgeEnd checks both JSON forms of an end of an edge, and what is neither.
func TestEdgeEnd(t *testing.T) {
	for _, tt := range []struct {
		json, text string
		want       client.EdgeEnd
	}{
		{`"<ann>"`, "<ann>", client.EdgeEnd{ID: "<ann>"}},
		{`"ann"`, "ann", client.EdgeEnd{ID: "ann"}},
		{`""`, "", client.EdgeEnd{}},
		{`{"type":"Person","id":"ann"}`, "Person/ann", client.EdgeEnd{Type: "Person", ID: "ann"}},
		{`{"type":"Person","id":""}`, "Person/", client.EdgeEnd{Type: "Person"}},
	} {
		var got client.EdgeEnd
		if err := json.Unmarshal([]byte(tt.json), &got); err != nil || got != tt.want || got.String() != tt.text {
			t.Errorf("%s is read as %+v, %q, error %v; want %+v, %q", tt.json, got, got, err, tt.want, tt.text)
		}
		if b, err := tt.want.MarshalJSON(); err != nil || string(bytes.TrimSpace(b)) != tt.json {
			t.Errorf("%+v is written as %s, error %v; want %s", tt.want, b, err, tt.json)
		}
	}
	for _, text := range []string{`null`, `7`, `["Person","ann"]`, `{"type":"Person"}`, `{"id":"ann"}`, `{"type":"","id":"ann"}`, `{"type":"Person","id":null}`, `{"type":1,"id":"ann"}`} {
		var got client.EdgeEndpoints
		if err := json.Unmarshal([]byte(`{"from":`+text+`}`), &got); err == nil {
			t.Errorf("%s is read as %+v, want an error", text, got)
		}
	}
}

package mcp_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/builtin"
	"github.com/omnigraph-go/omnigraph/internal/server/mcp"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// TestListenWatch subscribes to a watch with the official client. It is told when the answer changes, and of no other commit.
func TestListenWatch(t *testing.T) {
	c := config(t)
	p := changing{writes: new(atomic.Bool), blind: new(atomic.Bool)}
	c.Authorizer = watching{p}
	c.Builtins = append(c.Builtins, builtin.Watching()...)
	url := serve(t, c, mcp.Options{})
	told := make(chan string, 10)
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "0"}, &sdk.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { told <- r.Params.URI },
	})
	s, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: url, HTTPClient: &http.Client{Transport: as{servedtest.Reader}}, DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	call := func(args map[string]any) (answer builtin.WatchResult) {
		t.Helper()
		res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "graph_watch", Arguments: args})
		if err != nil || res.IsError {
			t.Fatalf("graph_watch %v: %+v, %v", args, res, err)
		}
		text := res.Content[0].(*sdk.TextContent).Text
		if err := json.Unmarshal([]byte(text), &answer); err != nil {
			t.Fatalf("graph_watch %v: %s, %v", args, text, err)
		}
		return answer
	}
	made := call(map[string]any{"query": "find_person", "params": map[string]any{"name": "gil"}})
	if list := call(nil); len(list.Watches) != 1 || list.Watches[0].ID != made.ID {
		t.Errorf("the watches are %+v", list)
	}
	first := call(map[string]any{"watch_id": made.ID})
	uri := "omnigraph://watches/" + made.ID
	res, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
	if err != nil || !strings.Contains(res.Contents[0].Text, `"reset":"first"`) {
		t.Errorf("found %+v, %v", res, err)
	}
	if _, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri + "0"}); err == nil {
		t.Error("a watch that does not exist can be read")
	}
	if err := s.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err != nil {
		t.Fatal(err)
	}
	load(t, c.Graph, "main", "fay") // another person
	load(t, c.Graph, "main", "gil")
	select {
	case got := <-told:
		if got != uri {
			t.Errorf("told of %s, expected %s", got, uri)
		}
	case <-time.After(wait):
		t.Fatal("not told of the watch")
	}
	if e := call(map[string]any{"watch_id": made.ID, "cursor": first.Cursor}); len(e.Came) != 1 || e.Reset != nil {
		t.Errorf("the event is %+v", e)
	}
	if gone := call(map[string]any{"watch_id": made.ID, "delete": true}); gone.Deleted != made.ID {
		t.Errorf("the deletion answers %+v", gone)
	}
	list, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, listed := range list.Tools {
		if listed.Name == "graph_watch" {
			t.Error("graph_watch is listed to a client that does not ask for its set")
		}
	}
}

// watching is a policy that does not decide about watches.
type watching struct{ changing }

func (p watching) Allowed(a *access.Actor, g tool.Grant) bool {
	return g.Action == tool.Watch || p.changing.Allowed(a, g)
}

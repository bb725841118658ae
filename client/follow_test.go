package client_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
)

// TestFollowPauses follows a feed through a proxy that ends each stream after the first event. Follow
// must not connect again and again without a pause.
func TestFollowPauses(t *testing.T) {
	var streams atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n := streams.Add(1)
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "event: changes\ndata: {\"blocks\":[],\"caught_up\":true,\"cursor\":\"c%d\"}\n\n", n)
	}))
	defer s.Close()
	c, err := client.New(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
	defer cancel()
	pages := 0
	for page, err := range c.Graph("g").Follow(ctx, client.FeedQuery{}) {
		if err != nil {
			if ctx.Err() == nil {
				t.Error(err)
			}
			break
		}
		if pages++; *page.Cursor != fmt.Sprintf("c%d", pages) {
			t.Errorf("page %d has the cursor %s", pages, *page.Cursor)
		}
	}
	if n := streams.Load(); n > 2 || pages != int(n) {
		t.Errorf("in 1.5 s, Follow opened %d streams and returned %d pages", n, pages)
	}
}

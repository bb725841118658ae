package server_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// TestDrain stops the server while sixteen clients read and write over both transports. Every
// answer must be complete, and the graph must contain every acknowledged write.
func TestDrain(t *testing.T) {
	ts := newServer(t)
	const clients = 16
	var stopping atomic.Bool
	var answered, acknowledged atomic.Int64
	var running sync.WaitGroup
	for c := range clients {
		running.Go(func() {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for i := 0; ; i++ {
				path, body := "/query", `{"query":"query q() { match { $s: Symbol } return { count($s) as n } limit 1 }"}`
				write := false
				switch i % 3 {
				case 1:
					path, body = "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find_symbols","arguments":{"params":{"words":"shelf"}}}}`
				case 2:
					write = true
					path, body = "/queries/add_note", fmt.Sprintf(`{"params":{"slug":"n%d-%d","symbol":"example.com/shop/stock.Shelf","text":"t"}}`, c, i)
				}
				r, err := http.NewRequest("POST", ts.url+path, strings.NewReader(body))
				if err != nil {
					t.Error(err)
					return
				}
				r.Header.Set("Authorization", "Bearer "+devToken)
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("Accept", "application/json, text/event-stream")
				resp, err := client.Do(r)
				if err != nil {
					if !stopping.Load() {
						t.Error(err)
					}
					return
				}
				b, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err != nil || resp.StatusCode != http.StatusOK || !json.Valid(b) || !strings.Contains(string(b), "n") {
					t.Errorf("%s: %d %s, %v", path, resp.StatusCode, b, err)
					return
				}
				answered.Add(1)
				if write {
					acknowledged.Add(1)
				}
			}
		})
	}
	for deadline := clock.Now().Add(20 * time.Second); acknowledged.Load() < 2*clients && clock.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	stopping.Store(true)
	start := clock.Now()
	if err := ts.stop(); err != nil {
		t.Fatal(err)
	}
	if took := clock.Since(start); took > 10*time.Second {
		t.Errorf("draining took %v", took)
	}
	running.Wait()
	if answered.Load() < 3*clients {
		t.Errorf("only %d answers before the stop", answered.Load())
	}

	r := httptest.NewRequest("POST", "http://localhost/graphs/code/query", strings.NewReader(`{"query":"query q() { match { $n: Note } return { count($n) as n } limit 1 }"}`))
	r.Header.Set("Authorization", "Bearer "+devToken)
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	ts.handler.ServeHTTP(w, r)
	var got struct{ Rows []struct{ N int64 } }
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || len(got.Rows) != 1 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	// The graph may also contain writes that were not acknowledged because the stop interrupted
	// their answers.
	if n := got.Rows[0].N; n < acknowledged.Load() || n > acknowledged.Load()+clients {
		t.Errorf("%d notes, %d were acknowledged", n, acknowledged.Load())
	}
}

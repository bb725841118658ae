package rest_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/uploads"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

// servedWith returns the address of a server whose actor is named in the header Actor. A whole request has half a second on it.
func servedWith(t *testing.T, o rest.Options, changes ...func(*servedgraph.Config)) string {
	t.Helper()
	c := servedtest.Config(t)
	for _, change := range changes {
		change(&c)
	}
	h := rest.Handler(map[string]*servedgraph.Graph{"people": servedtest.Graph(t, c)}, o)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		actor := servedtest.Writer
		if r.Header.Get("Actor") == servedtest.Drafter.ID {
			actor = servedtest.Drafter
		}
		h.ServeHTTP(w, r.WithContext(access.WithActor(r.Context(), actor)))
	}))
	s.Config.ReadTimeout, s.Config.WriteTimeout = 500*time.Millisecond, 500*time.Millisecond
	s.Start()
	t.Cleanup(s.Close)
	return s.URL + "/graphs/people"
}

// TestPauses loads a body that arrives slowly, and one that stops to arrive.
func TestPauses(t *testing.T) {
	store, err := uploads.New(uploads.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	url := servedWith(t, rest.Options{MaxPause: 2 * time.Second, Uploads: map[string]*uploads.Store{"people": store}})
	opened, _ := fetch(t, "POST", url+"/uploads", "Upload-Defer-Length: 1")
	piece := "/uploads/" + path.Base(opened.Header.Get("Location"))
	load := func(to string, pieces int, end func(w *io.PipeWriter)) (int, string) {
		from, w := io.Pipe()
		go func() {
			for i := range pieces {
				fmt.Fprintf(w, `{"type":"Person","data":{"name":"slow %d"}}`+"\n", i)
				time.Sleep(100 * time.Millisecond) // the whole takes longer than the server gives other requests
			}
			end(w)
		}()
		method, media := "POST", "application/x-ndjson"
		if to == piece {
			method, media = "PATCH", "application/offset+octet-stream"
		}
		req, err := http.NewRequest(method, url+to, from)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", media)
		req.Header.Set("Upload-Offset", "0")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(b)
	}
	if status, body := load("/load/ndjson", 10, func(w *io.PipeWriter) { w.Close() }); status != http.StatusOK || !strings.Contains(body, `"total_entities":10`) {
		t.Errorf("a slow body: %d %s", status, body)
	}
	if status, body := load("/load/ndjson", 1, func(*io.PipeWriter) {}); status != http.StatusBadRequest || !strings.Contains(body, "no byte of the request body arrived for 2s") {
		t.Errorf("a body that stops: %d %s", status, body)
	}
	if status, body := load(piece, 1, func(*io.PipeWriter) {}); status != http.StatusBadRequest || !strings.Contains(body, "the piece stopped to arrive") {
		t.Errorf("a piece that stops: %d %s", status, body)
	}
}

func TestIsStreamed(t *testing.T) {
	for target, want := range map[string]bool{
		"POST /graphs/a/load/ndjson?mode=merge": true, "PATCH /graphs/a/uploads/b": true, "POST /graphs/a/load": false,
		"POST /graphs/a/uploads": false, "POST /graphs/a/query": false, "GET /graphs/a/load/ndjson": false, "POST /graphs/a%2fload/ndjson": false,
	} {
		method, path, _ := strings.Cut(target, " ")
		if got := rest.IsStreamed(httptest.NewRequest(method, path, nil)); got != want {
			t.Errorf("%s: %t, expected %t", target, got, want)
		}
	}
}

// TestUploads takes an upload through its life, with what the server refuses on the way.
func TestUploads(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	store, err := uploads.New(uploads.Options{Dir: t.TempDir(), Most: 1000, Quota: 2000, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	url := servedWith(t, rest.Options{Uploads: map[string]*uploads.Store{"people": store}})
	type header = map[string]string
	do := func(method, path, body string, h header) (*http.Response, string) {
		t.Helper()
		req, err := http.NewRequest(method, url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for name, v := range h {
			req.Header.Set(name, v)
		}
		if method == "PATCH" {
			req.Header.Set("Content-Type", "application/offset+octet-stream")
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res, string(b)
	}
	open := func(h header) string {
		t.Helper()
		res, body := do("POST", "/uploads?branch=main", "", h)
		if res.StatusCode != http.StatusCreated {
			t.Fatalf("open: %d %s", res.StatusCode, body)
		}
		return strings.TrimPrefix(res.Header.Get("Location"), "/graphs/people")
	}
	line := `{"type":"Person","data":{"name":"kit"}}` + "\n"
	length := fmt.Sprint(len(line))
	up := open(header{"Upload-Length": length})
	id := up[strings.LastIndexByte(up, '/')+1:]
	for _, step := range []struct {
		name, method, path, body string
		header                   header
		status                   int
		want                     string
	}{
		{name: "too long", method: "POST", path: "/uploads", header: header{"Upload-Length": "1001"}, status: 413, want: "the limit of 1000 bytes"},
		{name: "no length", method: "POST", path: "/uploads", status: 400, want: "Upload-Length"},
		{name: "not allowed", method: "POST", path: "/uploads?branch=main", header: header{"Actor": servedtest.Drafter.ID, "Upload-Length": "1"}, status: 403, want: "change on branch main"},
		{name: "of another", method: "PATCH", path: up, body: "x", header: header{"Actor": servedtest.Drafter.ID, "Upload-Offset": "0"}, status: 404, want: "not found"},
		{name: "state to another", method: "GET", path: up, header: header{"Actor": servedtest.Drafter.ID}, status: 404, want: "not found"},
		{name: "a path", method: "GET", path: "/uploads/..%2f..%2fx", status: 404, want: "not found"},
		{name: "first", method: "PATCH", path: up, body: line[:7], header: header{"Upload-Offset": "0"}, status: 204},
		{name: "offset", method: "PATCH", path: up, body: line, header: header{"Upload-Offset": "0"}, status: 409, want: "get the upload, and send the rest from its offset"},
		{name: "early", method: "POST", path: "/load/ndjson?branch=main&upload=" + id, status: 409, want: "7 bytes have arrived"},
		{name: "state", method: "GET", path: up, status: 200, want: `"offset":7,"length":` + length},
		{name: "past the end", method: "PATCH", path: up, body: line, header: header{"Upload-Offset": "7"}, status: 413, want: "past the end of the upload"},
		{name: "rest", method: "PATCH", path: up, body: line[7:], header: header{"Upload-Offset": "7"}, status: 204},
		{name: "other branch", method: "POST", path: "/load/ndjson?branch=trial&upload=" + id, status: 400, want: `the upload is for \"main\"`},
		{name: "with a body", method: "POST", path: "/load/ndjson?branch=main&upload=" + id, body: line, status: 400, want: "names an upload"},
		{name: "load of another", method: "POST", path: "/load/ndjson?branch=main&upload=" + id, header: header{"Actor": servedtest.Drafter.ID}, status: 404, want: "not found"},
		{name: "load", method: "POST", path: "/load/ndjson?branch=main&upload=" + id, header: header{"Idempotency-Key": "k"}, status: 200, want: `"total_entities":1`},
		{name: "again", method: "POST", path: "/load/ndjson?branch=main&upload=" + id, header: header{"Idempotency-Key": "k"}, status: 200, want: `"inserted":1`},
		{name: "delete", method: "DELETE", path: up, status: 204},
		{name: "gone", method: "GET", path: up, status: 404, want: "not found"},
	} {
		res, body := do(step.method, step.path, step.body, step.header)
		if res.StatusCode != step.status || !strings.Contains(body, step.want) {
			t.Errorf("%s: %d %s, expected %d with %s", step.name, res.StatusCode, body, step.status, step.want)
		}
	}
	// Uploads count for the quota until they are deleted or expire.
	for range 2 {
		long := open(header{"Upload-Defer-Length": "1"})
		if res, body := do("PATCH", long, strings.Repeat("x", 1000), header{"Upload-Offset": "0"}); res.StatusCode != http.StatusNoContent {
			t.Fatalf("a piece: %d %s", res.StatusCode, body)
		}
	}
	over := open(header{"Upload-Defer-Length": "1"})
	if res, body := do("PATCH", over, strings.Repeat("x", 1001), header{"Upload-Offset": "0"}); res.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(body, "the limit of 1000 bytes; send less, or ask the operator to raise limits.load_bytes") {
		t.Errorf("past the limit: %d %s", res.StatusCode, body)
	}
	third := open(header{"Upload-Defer-Length": "1"})
	if res, body := do("PATCH", third, "x", header{"Upload-Offset": "0"}); res.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(body, `"resource_limit":{"resource":"stored bytes of the graph and its uploads","limit":2000`) {
		t.Errorf("past the quota: %d %s", res.StatusCode, body)
	}
	now = now.Add(uploads.DefaultKeep)
	if res, body := do("GET", third, "", nil); res.StatusCode != http.StatusNotFound {
		t.Errorf("after a day: %d %s", res.StatusCode, body)
	}
	for range uploads.MaxPerActor {
		open(header{"Upload-Length": "1"})
	}
	if res, body := do("POST", "/uploads", "", header{"Upload-Length": "1"}); res.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(body, "uploads of one actor") {
		t.Errorf("too many uploads: %d %s", res.StatusCode, body)
	}
}

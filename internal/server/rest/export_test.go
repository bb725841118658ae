package rest_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

// exporter is a graph. A function of the test implements its export.
type exporter struct {
	engine.Graph
	export func(ctx context.Context, w io.Writer) error
}

func (g exporter) Export(ctx context.Context, w io.Writer, _ engine.Target, _ engine.ExportOptions) (engine.Commit, error) {
	return engine.Commit{}, g.export(ctx, w)
}

func TestExport(t *testing.T) {
	writer, reader := servedtest.Writer, servedtest.Reader
	const all = `{"type":"Person","data":{"id":"ada","name":"ada",`
	steps(t, servedtest.Config(t), rest.Options{}, []request{
		{name: "all", actor: writer, method: "POST", path: "/export", status: 200, want: all, header: `ETag: "COMMIT"`},
		{name: "media", actor: writer, method: "POST", path: "/export", body: `{}`, status: 200, want: `{"edge":"Knows","from":"ada","to":"bob"`, header: "Content-Type: application/x-ndjson"},
		{name: "a type", actor: writer, method: "POST", path: "/export", body: `{"branch":"main","type_names":["Knows"]}`, status: 200, want: `{"edge":"Knows"`, lacks: "Person"},
		{name: "no types", actor: writer, method: "POST", path: "/export", body: `{"type_names":[]}`, status: 200, want: all},
		{name: "unknown type", actor: writer, method: "POST", path: "/export", body: `{"type_names":["Persn"]}`, status: 400, want: `type_names: `},
		{name: "snapshot", actor: writer, method: "POST", path: "/export", body: `{"snapshot":"COMMIT"}`, status: 200, want: all},
		{name: "both", actor: writer, method: "POST", path: "/export", body: `{"snapshot":"COMMIT","branch":"main"}`, status: 400, want: `snapshot: found together with branch`},
		{name: "no branch", actor: writer, method: "POST", path: "/export", body: `{"branch":"nope"}`, status: 404, want: `branch \"nope\" not found`},
		{name: "denied", actor: reader, method: "POST", path: "/export", status: 403, want: `export on branch main`},
		{name: "empty it", actor: writer, method: "POST", path: "/mutate", body: `{"query":"query m() { delete Person where name >= \"\" }"}`, status: 200},
		{name: "nothing", actor: writer, method: "POST", path: "/export", status: 200, header: `ETag: "COMMIT"`, lacks: "{"},
	})
}

// TestExportAgain checks that an export, loaded into another graph, makes the graphs equal.
func TestExportAgain(t *testing.T) {
	from, to := servedtest.Config(t), servedtest.Config(t)
	if _, err := to.Graph.Load(t.Context(), strings.NewReader(`{"type":"Person","data":{"name":"gone"}}`), engine.LoadOptions{Mode: engine.Append}); err != nil {
		t.Fatal(err)
	}
	out := do(rest.Handler(map[string]*servedgraph.Graph{"people": servedtest.Graph(t, from)}, rest.Options{}), servedtest.Writer, "POST", "/graphs/people/export", "").Body.String()
	h := rest.Handler(map[string]*servedgraph.Graph{"people": servedtest.Graph(t, to)}, rest.Options{})
	r := httptest.NewRequest("POST", "/graphs/people/load/ndjson?mode=overwrite", strings.NewReader(out))
	r.Header.Set("Content-Type", ndjson)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r.WithContext(access.WithActor(r.Context(), servedtest.Writer)))
	if w.Code != 200 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if again := do(h, servedtest.Writer, "POST", "/graphs/people/export", "").Body.String(); again != out || out == "" {
		t.Errorf("got\n%s\nwant\n%s", again, out)
	}
}

// TestExportStreams checks that an export sends data while it still reads the rest. It must not
// keep sent data in memory.
func TestExportStreams(t *testing.T) {
	seen := make(chan struct{})
	piece := []byte(strings.Repeat("x", 1<<16-1) + "\n")
	const pieces = 2000 // 125 MiB
	var most uint64
	srv := served(t, exporter{servedtest.Config(t).Graph, func(ctx context.Context, w io.Writer) error {
		if _, err := w.Write(piece); err != nil {
			return err
		}
		select {
		case <-seen:
		case <-time.After(10 * time.Second):
			return errors.New("the client has seen nothing of it")
		}
		for i := range pieces - 1 {
			if _, err := w.Write(piece); err != nil {
				return err
			}
			if i%500 == 0 {
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc)
			}
		}
		return nil
	}}, servedtest.Writer)
	var before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	resp, err := http.Post(srv.URL+"/graphs/people/export", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	first := make([]byte, 1000)
	if _, err := io.ReadFull(resp.Body, first); err != nil {
		t.Fatal(err)
	}
	close(seen)
	n, err := io.Copy(io.Discard, resp.Body)
	if err != nil || n+int64(len(first)) != pieces*int64(len(piece)) {
		t.Errorf("got %d bytes and %v, want %d", n+int64(len(first)), err, pieces*len(piece))
	}
	if grown := int64(most) - int64(before.HeapAlloc); grown > 8<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
}

// TestExportBreaksOff makes exports fail. A client must be able to tell from the connection that
// the export is incomplete. If the export fails before the first byte, the answer must be the error
// envelope.
func TestExportBreaksOff(t *testing.T) {
	for name, size := range map[string]int{"early": 0, "late": 100, "very late": 1 << 20} {
		t.Run(name, func(t *testing.T) {
			srv := served(t, exporter{servedtest.Config(t).Graph, func(_ context.Context, w io.Writer) error {
				if size > 0 {
					if _, err := w.Write(make([]byte, size)); err != nil {
						return err
					}
				}
				return &engine.Unsupported{Construct: "the export of Inf"}
			}}, servedtest.Writer)
			resp, err := http.Post(srv.URL+"/graphs/people/export", "", nil)
			if size == 0 {
				if err != nil || resp.StatusCode != 400 {
					t.Fatal(resp, err)
				}
				defer resp.Body.Close()
				if b, _ := io.ReadAll(resp.Body); !bytes.Contains(b, []byte("the export of Inf")) {
					t.Errorf("%s", b)
				}
				return
			}
			if err != nil {
				return // the header was not sent either
			}
			defer resp.Body.Close()
			if b, err := io.ReadAll(resp.Body); err == nil {
				t.Errorf("the client takes %d bytes for a whole answer", len(b))
			}
		})
	}
}

// TestExportStops checks that an export ends when its client is gone or its time is over.
func TestExportStops(t *testing.T) {
	ended := make(chan error, 1)
	srv := served(t, exporter{servedtest.Config(t).Graph, func(ctx context.Context, w io.Writer) error {
		for {
			_, err := w.Write(make([]byte, 1<<16))
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				ended <- err
				return err
			}
		}
	}}, servedtest.Writer)
	for name, timeout := range map[string]string{"gone": "", "over": "50"} {
		ctx, cancel := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, "POST", srv.URL+"/graphs/people/export", nil)
		if err != nil {
			t.Fatal(err)
		}
		if timeout != "" {
			r.Header.Set("X-Timeout-Ms", timeout)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if timeout == "" {
			cancel()
		} else if _, err := io.Copy(io.Discard, resp.Body); err == nil {
			t.Errorf("%s: the client takes the answer for whole", name)
		}
		resp.Body.Close()
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: the export goes on", name)
		}
		cancel()
	}
}

// TestExportOutlivesWriteTimeout checks that an export may take any time as long as its client
// reads.
func TestExportOutlivesWriteTimeout(t *testing.T) {
	c := servedtest.Config(t)
	c.Graph = exporter{c.Graph, func(ctx context.Context, w io.Writer) error {
		for range 6 {
			if _, err := w.Write([]byte("line\n")); err != nil {
				return err
			}
			time.Sleep(50 * time.Millisecond)
		}
		return nil
	}}
	h := rest.Handler(map[string]*servedgraph.Graph{"people": servedtest.Graph(t, c)}, rest.Options{})
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(access.WithActor(r.Context(), servedtest.Writer)))
	}))
	srv.Config.WriteTimeout = 100 * time.Millisecond
	srv.Start()
	defer srv.Close()
	resp, err := http.Post(srv.URL+"/graphs/people/export", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if b, err := io.ReadAll(resp.Body); err != nil || len(b) != 30 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

package e2e

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// TestDrainUnderLoad stops the server with SIGTERM while clients write. The server must end with
// status 0, every acknowledged write must exist after the next start, and no answer may be
// truncated.
func TestDrainUnderLoad(t *testing.T) {
	dir := clusterDir(t)
	p := start(t, dir)
	const writers = 8
	var stopping atomic.Bool
	var wg sync.WaitGroup
	acknowledged := make([][]string, writers)
	for w := range writers {
		wg.Go(func() {
			for i := 0; ; i++ {
				slug := fmt.Sprintf("drain-%d-%d", w, i)
				var answer struct {
					Commit struct {
						ID string `json:"graph_commit_id"`
					} `json:"commit"`
				}
				status, err := p.post("/graphs/code/queries/add_note", "application/json",
					fmt.Sprintf(`{"params":{"slug":%q,"symbol":"example.com/p.F%d","text":"t"}}`, slug, i%10), &answer)
				switch {
				case err != nil && stopping.Load() && status == 0:
					return // the server accepts no more connections
				case err != nil || status != http.StatusOK || answer.Commit.ID == "":
					t.Errorf("status %d, commit %q, %v", status, answer.Commit.ID, err)
					return
				}
				acknowledged[w] = append(acknowledged[w], slug)
			}
		})
	}
	time.Sleep(500 * time.Millisecond)
	stopping.Store(true)
	began := clock.Now()
	p.term()
	if err := p.ended(); err != nil {
		t.Errorf("after SIGTERM the server ended with %v", err)
	}
	if took := clock.Since(began); took > 10*time.Second {
		t.Errorf("the stop took %v", took)
	}
	wg.Wait()
	found := verify(t, start(t, dir))
	n := 0
	for _, slugs := range acknowledged {
		for _, slug := range slugs {
			n++
			if !found[slug] {
				t.Errorf("the acknowledged note %s is lost", slug)
			}
		}
	}
	if n < writers {
		t.Errorf("only %d writes were acknowledged: the test proves nothing", n)
	}
}

// TestSecondSignal checks that a server that waits for a slow client ends at once on a second
// signal.
func TestSecondSignal(t *testing.T) {
	p := start(t, clusterDir(t))
	conn, err := net.Dial("tcp", p.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /graphs/code/load/ndjson?mode=merge HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/x-ndjson\r\nContent-Length: 1000\r\n\r\n{", p.addr, p.token)
	time.Sleep(100 * time.Millisecond)
	p.term()
	time.Sleep(300 * time.Millisecond)
	if again, err := net.Dial("tcp", p.addr); err == nil {
		again.Close()
		t.Error("the server accepted a connection after the first signal")
	}
	began := clock.Now()
	p.term()
	if err := p.ended(); err == nil {
		t.Error("the server ended with status 0 although a call was cut off")
	}
	if took := clock.Since(began); took > 5*time.Second {
		t.Errorf("after the second signal the server went on for %v", took)
	}
}

// TestHangUp sends SIGHUP. The server must not end.
func TestHangUp(t *testing.T) {
	p := start(t, clusterDir(t))
	if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", p.addr)
	if err != nil {
		t.Fatalf("after a hangup: %v", err)
	}
	conn.Close()
	p.term()
	if err := p.ended(); err != nil {
		t.Errorf("a hangup ended the server: %v", err)
	}
}

// term sends SIGTERM.
func (p *process) term() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
}

// ended waits until the process has ended. The error has what the process wrote to standard error.
func (p *process) ended() error {
	<-p.read
	if err := p.cmd.Wait(); err != nil {
		return fmt.Errorf("%w: %s", err, p.stderr.String())
	}
	return nil
}

// TestExportsTraces starts the server with a collector of spans. Spans that are still in the server
// must arrive when it stops, and no span may contain the token or an argument.
func TestExportsTraces(t *testing.T) {
	var mu sync.Mutex
	names := map[string]int{}
	var sent strings.Builder
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var req collector.ExportTraceServiceRequest
		if err == nil && r.URL.Path == "/v1/traces" {
			err = proto.Unmarshal(body, &req)
		}
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		sent.Write(body)
		for _, rs := range req.ResourceSpans {
			service := ""
			for _, a := range rs.Resource.Attributes {
				if a.Key == "service.name" {
					service = a.Value.GetStringValue()
				}
			}
			for _, ss := range rs.ScopeSpans {
				for _, s := range ss.Spans {
					names[service+": "+s.Name]++
				}
			}
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	defer receiver.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.URL)
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "600000") // the server must send all spans when it stops
	p := start(t, clusterDir(t))
	if status, err := p.post("/graphs/code/queries/get_symbol", "application/json", `{"params":{"path":"example.com/p.F3"}}`, nil); err != nil || status != http.StatusOK {
		t.Fatalf("status %d, %v", status, err)
	}
	token := p.token
	p.stop()
	mu.Lock()
	defer mu.Unlock()
	for _, want := range []string{"POST /graphs/{id}/queries/{name}", "call get_symbol", "read", "return", "POST /graphs/{id}/mcp"} {
		if names["omnigraph-server: "+want] == 0 {
			t.Errorf("no span %s arrived; there are %v", want, names)
		}
	}
	for _, secret := range []string{token, "example.com/p.F3"} {
		if strings.Contains(sent.String(), secret) {
			t.Errorf("a span has %q", secret)
		}
	}
}

// TestCollectorIsDown checks that the server serves and stops normally if its span collector does
// not answer.
func TestCollectorIsDown(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	ln.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+addr)
	p := start(t, clusterDir(t))
	began := clock.Now()
	p.stop()
	if took := clock.Since(began); took > 15*time.Second {
		t.Errorf("the stop took %v", took)
	}
	if !strings.Contains(p.stderr.String(), "the server could not export traces") && !strings.Contains(p.stderr.String(), "last traces") {
		t.Errorf("the log does not report the failed export of spans: %s", p.stderr.String())
	}
}

func TestLogFlags(t *testing.T) {
	dir := clusterDir(t)
	p := startWith(t, dir, "Serving", "--dev", "--log-format", "json", "--log-requests")
	p.stop()
	line, _, _ := strings.Cut(p.stderr.String(), "\n")
	if !strings.HasPrefix(line, `{"time":`) || !strings.Contains(p.stderr.String(), `"msg":"request"`) {
		t.Errorf("the log is %s", p.stderr.String())
	}
	for _, flag := range []string{"--log-format=xml", "--log-level=loud"} {
		out, err := exec.Command(filepath.Join(bin, "omnigraph-server"), "--cluster", dir, flag).CombinedOutput()
		if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 2 || !strings.Contains(string(out), "expected") {
			t.Errorf("%s: %v %s", flag, err, out)
		}
	}
}

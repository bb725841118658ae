package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/generated/code"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/server/mcp"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// transported lists the calls for the comparison of the server with rpcLoop.
var transported = []struct {
	label, name string
	key         func(rng *rand.Rand) string
}{
	{"lookup", "get_package", queries[0].key},
	{"two-hops", "callers", randomSymbol},
}

// round is the time of one measurement of the server or of rpcLoop, before the turn of the other.
// Turns are short, so that other work on the machine slows both equally.
const round = 100 * time.Millisecond

// BenchmarkShare measures tools/call through the whole server and through rpcLoop in turns, over
// loopback HTTP with the same client. One operation is one round of each.
func BenchmarkShare(b *testing.B) {
	dir := store(b)
	second := b.TempDir()
	if err := os.CopyFS(second, os.DirFS(dir)); err != nil {
		b.Fatal(err)
	}
	addr, token, _ := serveStore(b, dir, nil)
	g, err := embedded.Open(b.Context(), fs.OS(), filepath.Join(second, "code"), embedded.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer g.Close()
	loop := &rpcLoop{graph: g, queries: map[string]tool.StoredQuery{}}
	for _, q := range code.Catalog().Queries {
		loop.queries[q.Info().Name] = q
	}
	bare := httptest.NewServer(loop)
	defer bare.Close()
	for _, c := range transported {
		for _, conns := range []int{1, 16} {
			b.Run(fmt.Sprintf("%s/connections=%d", c.label, conns), func(b *testing.B) {
				targets := [2][]*wire{dial(b, addr, token, conns), dial(b, strings.TrimPrefix(bare.URL, "http://"), token, conns)}
				for _, wires := range targets {
					hammer(b, wires, c.name, c.key) // warms up
				}
				var rates [2][]float64
				var shares []float64
				b.ResetTimer()
				for range b.N {
					for i, wires := range targets {
						rates[i] = append(rates[i], hammer(b, wires, c.name, c.key))
					}
					shares = append(shares, 100*rates[0][len(shares)]/rates[1][len(shares)])
				}
				b.ReportMetric(median(rates[0]), "server-calls/s")
				b.ReportMetric(median(rates[1]), "loop-calls/s")
				b.ReportMetric(median(shares), "%-of-loop")
			})
		}
	}
}

// BenchmarkCallAllocs measures a call within the process, without network and client: host check,
// authentication, policy, MCP, engine and JSON.
func BenchmarkCallAllocs(b *testing.B) {
	_, token, handler := serveStore(b, store(b), nil)
	for _, c := range transported {
		b.Run(c.label, func(b *testing.B) {
			rng := rand.New(rand.NewPCG(seed, 3))
			request := newRequest(token)
			w := &discard{header: http.Header{}}
			b.ReportAllocs()
			for b.Loop() {
				w.status = 0
				request.body(callBody(c.name, c.key(rng)))
				handler.ServeHTTP(w, request.Request)
				if w.status != http.StatusOK {
					b.Fatal(w.status)
				}
			}
		})
	}
}

// BenchmarkToolsList lists 40 tools, first over one connection and then over 16.
func BenchmarkToolsList(b *testing.B) {
	const tools = 40
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	var handler http.Handler
	var addr, token string
	for have := 0; have != tools; {
		want := tools - have
		dir := b.TempDir()
		if err := create(b, filepath.Join(dir, "code")).Close(); err != nil {
			b.Fatal(err)
		}
		addr, token, handler = serveStore(b, dir, func(*servedgraph.Graph) mcp.Options {
			if want == tools {
				return mcp.Options{}
			}
			return fillers(want)
		})
		have = countTools(b, handler, token, body)
	}
	for _, conns := range []int{1, 16} {
		b.Run(fmt.Sprintf("connections=%d", conns), func(b *testing.B) {
			wires := dial(b, addr, token, conns)
			inParallel(b, conns, func(i int) func() {
				return func() {
					if err := wires[i].call(body, `"tools":[`); err != nil {
						b.Error(err)
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "lists/s")
		})
	}
	b.Run("allocs", func(b *testing.B) {
		request, w := newRequest(token), &discard{header: http.Header{}}
		b.ReportAllocs()
		for b.Loop() {
			request.body(body)
			handler.ServeHTTP(w, request.Request)
		}
	})
}

func countTools(b *testing.B, handler http.Handler, token, body string) int {
	request, w := newRequest(token), httptest.NewRecorder()
	request.body(body)
	handler.ServeHTTP(w, request.Request)
	var list struct {
		Result struct{ Tools []json.RawMessage } `json:"result"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil {
		b.Fatal(err)
	}
	return len(list.Result.Tools)
}

// fillers returns n tools whose schemas have a typical size.
func fillers(n int) mcp.Options {
	var o mcp.Options
	schema := code.Catalog().Queries[0].Descriptor()
	for i := range n {
		o.Tools = append(o.Tools, mcp.Tool{
			Info: &sdk.Tool{Name: fmt.Sprintf("filler_%02d", i), Description: schema.Description, InputSchema: schema.InputSchema, OutputSchema: schema.OutputSchema},
			Call: func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return nil, nil },
		})
	}
	return o
}

func callBody(name, path string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{"params":{"path":%q}}}}`, name, path)
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}

// hammer makes calls over all connections for one round and returns the calls per second.
func hammer(b *testing.B, wires []*wire, name string, key func(*rand.Rand) string) float64 {
	var n atomic.Int64
	var wg sync.WaitGroup
	start := clock.Now()
	for i, w := range wires {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			for clock.Since(start) < round {
				if err := w.call(callBody(name, key(rng)), `"row_count":`); err != nil {
					b.Error(err)
					return
				}
				n.Add(1)
			}
		})
	}
	wg.Wait()
	return float64(n.Load()) / clock.Since(start).Seconds()
}

// wire is a connection whose client uses as little processor time as possible.
type wire struct {
	conn   net.Conn
	r      *bufio.Reader
	head   string
	answer []byte
}

func dial(b *testing.B, addr, token string, n int) []*wire {
	wires := make([]*wire, n)
	for i := range wires {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { conn.Close() })
		wires[i] = &wire{conn: conn, r: bufio.NewReaderSize(conn, 64<<10), head: "POST /graphs/code/mcp HTTP/1.1\r\nHost: " + addr +
			"\r\nAuthorization: Bearer " + token + "\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n" +
			"Mcp-Protocol-Version: 2025-11-25\r\nContent-Length: "}
	}
	return wires
}

// call posts a message and reads the answer. The answer must contain the text `want`.
func (w *wire) call(body, want string) error {
	if _, err := io.WriteString(w.conn, w.head+strconv.Itoa(len(body))+"\r\n\r\n"+body); err != nil {
		return err
	}
	length := -1
	for first := true; ; first = false {
		l, err := w.r.ReadSlice('\n')
		switch {
		case err != nil:
			return err
		case first && !bytes.HasPrefix(l, []byte("HTTP/1.1 200 ")):
			return fmt.Errorf("answered %s", l)
		case bytes.HasPrefix(l, []byte("Content-Length: ")):
			if length, err = strconv.Atoi(string(bytes.TrimSpace(l[len("Content-Length: "):]))); err != nil {
				return err
			}
		}
		if len(l) == 2 {
			break
		}
	}
	if length < 0 {
		return fmt.Errorf("an answer without a length")
	}
	if cap(w.answer) < length {
		w.answer = make([]byte, length)
	}
	w.answer = w.answer[:length]
	if _, err := io.ReadFull(w.r, w.answer); err != nil {
		return err
	}
	if !bytes.Contains(w.answer, []byte(want)) {
		return fmt.Errorf("answered %s", w.answer)
	}
	return nil
}

// reused is a request that is sent repeatedly with different bodies.
type reused struct {
	*http.Request
	reader strings.Reader
}

func newRequest(token string) *reused {
	r := &reused{Request: httptest.NewRequest(http.MethodPost, "/graphs/code/mcp", nil)}
	r.Host = "127.0.0.1"
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	return r
}

func (r *reused) body(s string) {
	r.reader.Reset(s)
	r.Body, r.ContentLength = io.NopCloser(&r.reader), int64(len(s))
}

// discard is a response writer that keeps only the status.
type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) WriteHeader(status int)      { d.status = status }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }

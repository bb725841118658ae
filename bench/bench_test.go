// Package bench measures the engine and the server on generated graphs.
package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/generated/code"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/bench/codegraph"
	"github.com/omnigraph-go/omnigraph/internal/server"
	"github.com/omnigraph-go/omnigraph/internal/server/auth"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/mcp"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

const seed = 42

// medium returns the NDJSON of the graph on which reads are measured. It generates the graph once.
var medium = sync.OnceValue(func() []byte { return codegraph.Medium.NDJSON(seed) })

// create makes an empty code graph in a folder of the real file system.
func create(b *testing.B, dir string) *embedded.Graph {
	b.Helper()
	source, err := os.ReadFile("../queries/code/schema.pg")
	if err != nil {
		b.Fatal(err)
	}
	schema, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: string(source)})
	if err := faults.Err(); err != nil {
		b.Fatal(err)
	}
	g, err := embedded.Create(b.Context(), fs.OS(), dir, string(source), schema, embedded.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return g
}

func load(b *testing.B, g engine.Graph, ndjson []byte) {
	b.Helper()
	if _, err := g.Load(b.Context(), bytes.NewReader(ndjson), engine.LoadOptions{Mode: engine.Append}); err != nil {
		b.Fatal(err)
	}
}

// read runs a stored read and uses every value of every row.
func read(b *testing.B, g engine.Graph, q tool.StoredQuery, args engine.Args) (rows int) {
	res, err := g.Query(b.Context(), q.Plan(), args, engine.Target{})
	if err != nil {
		b.Fatal(err)
	}
	defer res.Close()
	for {
		batch, err := res.Next(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if batch == nil {
			return rows
		}
		rows += batch.Len
		for i := range batch.Columns {
			c := &batch.Columns[i]
			for row := range batch.Len {
				sink += len(c.Strings) + int(c.Value(row).Kind())
			}
		}
	}
}

// Reads store their values in sink, so that the compiler does not remove the reads.
var sink int

func stored(b *testing.B, name string) tool.StoredQuery {
	for _, q := range code.Catalog().Queries {
		if q.Info().Name == name {
			return q
		}
	}
	b.Fatalf("no stored query %s", name)
	return nil
}

// queries lists the measured stored queries. Each has one parameter, the key of a node.
var queries = []struct {
	label, name string
	key         func(rng *rand.Rand) string
}{
	{"lookup", "get_package", func(rng *rand.Rand) string { return codegraph.PackagePath(rng.IntN(codegraph.Medium.Packages)) }},
	{"lookup-and-two-joins", "get_symbol", randomSymbol},
	{"hop", "callees", randomSymbol},
}

func randomSymbol(rng *rand.Rand) string {
	return codegraph.Medium.SymbolPath(rng.IntN(codegraph.Medium.Symbols))
}

func BenchmarkEngine(b *testing.B) {
	g := create(b, filepath.Join(b.TempDir(), "code"))
	defer g.Close()
	load(b, g, medium())
	for _, c := range queries {
		b.Run(c.label, func(b *testing.B) {
			q, rng, rows := stored(b, c.name), rand.New(rand.NewPCG(seed, 2)), 0
			b.ReportAllocs()
			for b.Loop() {
				rows += read(b, g, q, engine.Args{value.OfString(c.key(rng))})
			}
			b.ReportMetric(float64(rows)/float64(b.N), "rows/op")
		})
	}
}

// BenchmarkMCP calls the same queries through the whole server over loopback HTTP: host check,
// authentication, policy, MCP, engine, JSON. The allocations are those of both the server and the
// client, which share the process.
func BenchmarkMCP(b *testing.B) {
	addr, token := serve(b)
	for _, c := range queries {
		for _, conns := range []int{1, 16} {
			b.Run(fmt.Sprintf("%s/connections=%d", c.label, conns), func(b *testing.B) {
				b.ReportAllocs()
				var rows atomic.Int64
				inParallel(b, conns, func(worker int) func() {
					client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1}}
					rng := rand.New(rand.NewPCG(seed, uint64(worker)))
					return func() {
						rows.Add(call(b, client, addr, token, c.name, c.key(rng)))
					}
				})
				b.ReportMetric(float64(rows.Load())/float64(b.N), "rows/op")
			})
		}
	}
}

// inParallel runs b.N operations on n workers. newOp returns the operation of one worker.
func inParallel(b *testing.B, n int, newOp func(worker int) func()) {
	ops := make([]func(), n)
	for i := range ops {
		ops[i] = newOp(i)
	}
	var left atomic.Int64
	left.Store(int64(b.N))
	var wg sync.WaitGroup
	b.ResetTimer()
	for _, op := range ops {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				op()
			}
		})
	}
	wg.Wait()
	b.StopTimer()
}

// store makes a data folder that contains the medium graph.
func store(b *testing.B) (dir string) {
	dir = b.TempDir()
	g := create(b, filepath.Join(dir, "code"))
	load(b, g, medium())
	if err := g.Close(); err != nil {
		b.Fatal(err)
	}
	return dir
}

// serve starts a server over the medium graph on a free port.
func serve(b *testing.B) (addr, token string) {
	addr, token, _ = serveStore(b, store(b), nil)
	return addr, token
}

// serveStore starts a server over the graph of a data folder on a free port.
func serveStore(b *testing.B, storage string, surface func(*servedgraph.Graph) mcp.Options) (addr, token string, handler http.Handler) {
	token = "a-token-for-the-benchmark"
	tokens := &auth.Tokens{}
	if err := tokens.Add(token, "act-dev"); err != nil {
		b.Fatal(err)
	}
	s, err := server.Open(b.Context(), server.Options{
		Cluster: &cluster.Config{Storage: storage, Graphs: []cluster.Graph{{
			ID: "code", Policy: "../queries/code/policy.yaml", MaxRows: cluster.DefaultMaxRows, MaxBytes: cluster.DefaultMaxBytes,
		}}},
		Catalogs: []*tool.Catalog{code.Catalog()}, Bind: "127.0.0.1:0", Tokens: tokens, Version: "bench",
		Log: slog.New(slog.DiscardHandler), Surface: surface,
	})
	if err != nil {
		b.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, ln) }()
	b.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			b.Error(err)
		}
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	return ln.Addr().String(), token, s.Handler()
}

// call posts one tools/call and returns the number of rows in the answer.
func call(b *testing.B, client *http.Client, addr, token, name, path string) int64 {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{"params":{"path":%q}}}}`, name, path)
	req, err := http.NewRequest(http.MethodPost, "http://"+addr+"/graphs/code/mcp", strings.NewReader(body))
	if err != nil {
		b.Error(err)
		return 0
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("MCP-Protocol-Version", "2025-11-25")
	res, err := client.Do(req)
	if err != nil {
		b.Error(err)
		return 0
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		b.Error(err)
		return 0
	}
	var reply struct {
		Result struct {
			StructuredContent struct {
				RowCount *int64 `json:"row_count"`
			} `json:"structuredContent"`
		} `json:"result"`
	}
	if err := json.Unmarshal(text, &reply); err != nil || reply.Result.StructuredContent.RowCount == nil {
		b.Errorf("status %d, %s", res.StatusCode, text)
		return 0
	}
	return *reply.Result.StructuredContent.RowCount
}

// BenchmarkCommit measures a durable commit of one node and one edge.
func BenchmarkCommit(b *testing.B) {
	for _, writers := range []int{1, 16} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			g := create(b, filepath.Join(b.TempDir(), "code"))
			defer g.Close()
			small := codegraph.Size{Packages: 10, Symbols: 1000, Calls: 1000}
			load(b, g, small.NDJSON(seed))
			var next atomic.Int64
			b.ReportAllocs()
			inParallel(b, writers, func(int) func() {
				return func() {
					n := next.Add(1)
					_, err := code.AddNote(b.Context(), g, code.AddNoteParams{
						Slug: fmt.Sprintf("note-%09d", n), Symbol: small.SymbolPath(int(n) % small.Symbols), Text: "measured",
					})
					if err != nil {
						b.Error(err)
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
		})
	}
}

// BenchmarkLoad measures loading the medium graph from memory into an empty graph on disk.
func BenchmarkLoad(b *testing.B) {
	ndjson := medium()
	b.ReportAllocs()
	b.SetBytes(int64(len(ndjson)))
	for b.Loop() {
		b.StopTimer()
		g := create(b, filepath.Join(b.TempDir(), "code"))
		b.StartTimer()
		load(b, g, ndjson)
		b.StopTimer()
		if err := g.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(codegraph.Medium.Lines()*b.N)/b.Elapsed().Seconds(), "lines/s")
}

// BenchmarkOpen measures opening the loaded graph and answering one lookup.
func BenchmarkOpen(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "code")
	g := create(b, dir)
	load(b, g, medium())
	if err := g.Close(); err != nil {
		b.Fatal(err)
	}
	q := stored(b, "named")
	b.ReportAllocs()
	for b.Loop() {
		g, err := embedded.Open(b.Context(), fs.OS(), dir, embedded.Options{})
		if err != nil {
			b.Fatal(err)
		}
		read(b, g, q, engine.Args{value.OfString("Symbol000001")})
		if err := g.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

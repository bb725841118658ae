package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/generated/code"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/server"
	"github.com/omnigraph-go/omnigraph/internal/server/auth"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/source/gocode"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		os.RemoveAll(first.dir)
		os.Exit(code)
	}))
}

const devToken = "the-token-of-act-dev"

// testServer is a server for a graph of the testdata module of source/gocode.
type testServer struct {
	url     string
	log     *bytes.Buffer
	handler http.Handler
	stop    func() error // ends Serve and returns its error
}

// newServer starts a server with a new store.
func newServer(t *testing.T, with ...func(*server.Options)) *testServer {
	t.Helper()
	return serve(t, newStore(t), with...)
}

// first is the store that newStore copies.
var first struct {
	sync.Once
	dir string
}

// newStore returns a folder with a new store.
func newStore(t *testing.T) string {
	t.Helper()
	first.Do(func() {
		dir, err := os.MkdirTemp("", "omnigraph-server-store")
		if err != nil {
			t.Fatal(err)
		}
		makeStore(t, dir)
		first.dir = dir
	})
	if first.dir == "" {
		t.Fatal("an earlier test could not make the store")
	}
	storage := t.TempDir()
	if err := os.CopyFS(storage, os.DirFS(first.dir)); err != nil {
		t.Fatal(err)
	}
	return storage
}

// makeStore makes a store with the omnigraph command.
func makeStore(t *testing.T, storage string) {
	t.Helper()
	store := filepath.Join(storage, "code")
	omnigraph(t, nil, "init", "--schema", "queries/code/schema.pg", "--store", store)
	omnigraph(t, shop(t), "load", "--store", store, "--data", "-", "--mode", "overwrite")
}

// shop returns the nodes and edges of the testdata module of source/gocode, as NDJSON.
func shop(t *testing.T) []byte {
	t.Helper()
	env := append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "GOPROXY=off")
	g, err := gocode.Read(t.Context(), gocode.Options{Dir: "../source/gocode/testdata/shop", Env: env})
	if err != nil {
		t.Fatal(err)
	}
	var ndjson bytes.Buffer
	if _, err := g.WriteNDJSON(&ndjson); err != nil {
		t.Fatal(err)
	}
	return ndjson.Bytes()
}

func serve(t *testing.T, storage string, with ...func(*server.Options)) *testServer {
	t.Helper()
	config, err := cluster.Read("../../cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	config.Storage = storage
	tokens := &auth.Tokens{}
	for token, actor := range map[string]string{devToken: "act-dev", "the-token-of-act-ada": "act-ada", "the-token-of-nobody": "act-nobody"} {
		if err := tokens.Add(token, actor); err != nil {
			t.Fatal(err)
		}
	}
	ts := &testServer{log: &bytes.Buffer{}}
	opts := server.Options{
		Cluster: config, Catalogs: []*tool.Catalog{code.Catalog()}, Bind: "127.0.0.1:0", Tokens: tokens, Version: "test", Now: testClock,
		Log: slog.New(slog.NewTextHandler(ts.log, nil)),
	}
	for _, f := range with {
		f(&opts)
	}
	s, err := server.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, ln) }()
	ts.handler = s.Handler()
	ts.stop = sync.OnceValue(func() error { cancel(); return <-done })
	t.Cleanup(func() {
		if err := ts.stop(); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		http.DefaultClient.CloseIdleConnections()
	})
	ts.url = "http://" + ln.Addr().String() + "/graphs/code"
	return ts
}

func omnigraph(t *testing.T, stdin []byte, args ...string) {
	t.Helper()
	cmd := exec.Command("go", append([]string{"run", "./cmd/omnigraph"}, args...)...)
	cmd.Dir = filepath.Join("..", "..")
	cmd.Stdin = bytes.NewReader(stdin)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("omnigraph %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

func (ts *testServer) connect(t *testing.T, token string) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: ts.url + "/mcp", HTTPClient: &http.Client{Transport: bearer(token)}, DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// read is the part of a read's answer that the tests check.
type read struct {
	Rows     []map[string]any `json:"rows"`
	RowCount int              `json:"row_count"`
}

func callTool(t *testing.T, s *mcp.ClientSession, name string, args any, into any) {
	t.Helper()
	res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	b, err := json.Marshal(res.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	if res.IsError {
		t.Fatalf("%s answered %s", name, res.Content[0].(*mcp.TextContent).Text)
	}
	if err := json.Unmarshal(named(t, b), into); err != nil {
		t.Fatal(err)
	}
}

// named returns an answer over MCP with rows as objects instead of arrays.
func named(t *testing.T, answer []byte) []byte {
	t.Helper()
	var members map[string]json.RawMessage
	var a struct {
		Columns []string
		Rows    [][]any
	}
	if json.Unmarshal(answer, &members) != nil || members["columns"] == nil || json.Unmarshal(answer, &a) != nil {
		return answer
	}
	rows := make([]map[string]any, len(a.Rows))
	for i, row := range a.Rows {
		rows[i] = map[string]any{}
		for j, v := range row {
			rows[i][a.Columns[j]] = v
		}
	}
	var err error
	if members["rows"], err = json.Marshal(rows); err != nil {
		t.Fatal(err)
	}
	if answer, err = json.Marshal(members); err != nil {
		t.Fatal(err)
	}
	return answer
}

// arguments holds the arguments of each stored query, and a column with the value that the first
// row must have there. The name of the column is empty for a query that returns no rows.
var arguments = map[string]struct {
	params map[string]any
	column string
	want   any
}{
	"find_symbols":      {map[string]any{"words": "shelf"}, "path", "example.com/shop/stock.Shelf"},
	"get_symbol":        {map[string]any{"path": "example.com/shop/stock.Shelf"}, "file", "stock/stock.go"},
	"named":             {map[string]any{"name": "Find"}, "kind", "method"},
	"symbols_in_file":   {map[string]any{"file": "cmd/shop/main.go"}, "path", "example.com/shop/cmd/shop.main"},
	"public_api":        {map[string]any{"package": "example.com/shop/stock"}, "path", "example.com/shop/stock.Empty"},
	"callers":           {map[string]any{"path": "example.com/shop/stock.Shelf.Find"}, "references", 2.0},
	"callees":           {map[string]any{"path": "example.com/shop/stock.Twice"}, "callee", "example.com/shop/stock.Shelf.Find"},
	"affected_by":       {map[string]any{"path": "example.com/shop/stock.Pair.Swap"}, "user", "example.com/shop/stock.Twice"},
	"reaches":           {map[string]any{"path": "example.com/shop/cmd/shop.main"}, "callee", "example.com/shop/stock.Twice"},
	"most_called":       {nil, "callers", 2.0},
	"unused_functions":  {nil, "", nil},
	"implementations":   {map[string]any{"path": "example.com/shop/stock.Shelf"}, "path", "example.com/shop/stock.memoryShelf"},
	"get_package":       {map[string]any{"path": "example.com/shop/stock"}, "name", "stock"},
	"importers":         {map[string]any{"package": "fmt"}, "path", "example.com/shop/stock"},
	"dependencies":      {map[string]any{"package": "example.com/shop/cmd/shop"}, "path", "example.com/shop/stock"},
	"heaviest_packages": {nil, "path", "example.com/shop/stock"},
	"users_of":          {map[string]any{"path": "example.com/money.Cents"}, "user", "example.com/shop/stock.Item"},
	"tests_reaching":    {map[string]any{"path": "example.com/shop/stock.Twice"}, "", nil},
	"module_use":        {nil, "path", "example.com/money"},
	"add_note":          {map[string]any{"slug": "a", "symbol": "example.com/shop/stock.Shelf", "text": "mind the shelf"}, "", nil},
	"notes_about":       {map[string]any{"symbol": "example.com/shop/stock.Shelf"}, "text", "mind the shelf"},
	"remove_note":       {map[string]any{"slug": "a"}, "", nil},
}

// everyStoredQuery calls every stored query of a store over MCP, in the order of their
// dependencies, and checks the first row of each.
func everyStoredQuery(t *testing.T, storage string) {
	ts := serve(t, storage)
	session := ts.connect(t, devToken)
	for _, q := range inOrder(code.Catalog().Queries) {
		name := q.Info().Name
		if !q.Info().Exposed {
			continue
		}
		c, ok := arguments[name]
		if !ok && q.Info().Mutation {
			t.Errorf("the stored mutation %s is called by no test: add its arguments to the table", name)
			continue
		}
		if !ok {
			callTool(t, session, q.Descriptor().Name, map[string]any{"params": anyArguments(q.Plan().Params)}, &read{})
			continue
		}
		if q.Info().Mutation {
			var change struct {
				Nodes int `json:"affected_nodes"`
				Edges int `json:"affected_edges"`
			}
			callTool(t, session, q.Descriptor().Name, map[string]any{"params": c.params}, &change)
			if change.Nodes != 1 || change.Edges != 1 {
				t.Errorf("%s changed %d nodes and %d edges, want one of each", name, change.Nodes, change.Edges)
			}
			continue
		}
		var got read
		args := map[string]any{}
		if c.params != nil {
			args["params"] = c.params
		}
		callTool(t, session, q.Descriptor().Name, args, &got)
		switch {
		case c.column == "" && got.RowCount > 0:
			t.Errorf("%s answers %v, want no row", name, got.Rows)
		case c.column != "" && (got.RowCount == 0 || got.Rows[0][c.column] != c.want):
			t.Errorf("%s answers %v, want first %s = %v", name, got.Rows, c.column, c.want)
		}
	}
	// An indexed module passes the checks of the graph.
	var checks client.ChecksAnswer
	if a := ts.ask(t, "GET", "/graphs/code/checks", ""); a.status != http.StatusOK || json.Unmarshal([]byte(a.body), &checks) != nil || len(checks.Checks) != 3 {
		t.Errorf("the checks answer %d %s", a.status, a.body)
	}
	for _, c := range checks.Checks {
		if c.Outcome != client.CheckPassed {
			t.Errorf("the check %s is %s: %s", c.Query, c.Outcome, c.Rows)
		}
	}
}

// anyArguments returns arguments that fit the parameters, for a query without a row in the
// table.
func anyArguments(params []plan.Param) map[string]any {
	args := map[string]any{}
	for _, p := range params {
		switch {
		case p.Type.Nullable:
		case p.Type.List:
			args[p.Name] = []any{}
		case p.Type.Kind == value.String || p.Type.Kind == value.Blob:
			args[p.Name] = "none"
		case p.Type.Kind == value.Bool:
			args[p.Name] = true
		case p.Type.Kind.HasText():
			args[p.Name] = json.RawMessage(p.Type.Example())
		case p.Type.Kind == value.Vector:
			args[p.Name] = make([]float32, p.Type.Dim)
		default:
			args[p.Name] = 1
		}
	}
	return args
}

// inOrder sorts add_note before notes_about, and remove_note last.
func inOrder(queries []tool.StoredQuery) []tool.StoredQuery {
	var first, last []tool.StoredQuery
	for _, q := range queries {
		if q.Info().Name == "remove_note" {
			last = append(last, q)
		} else {
			first = append(first, q)
		}
	}
	return append(first, last...)
}

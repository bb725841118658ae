package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
)

func asError(err error, target **client.Error) bool { return errors.As(err, target) }

func isInvalid(err error) bool { return errors.Is(err, client.ErrInvalid) }

// fake starts a server with the handler h and returns a graph of it.
func fake(t *testing.T, h http.HandlerFunc, options ...client.Option) *client.Graph {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	c, err := client.New(srv.URL, options...)
	if err != nil {
		t.Fatal(err)
	}
	return c.Graph("people")
}

// TestKeys checks which idempotency keys and which conditions the client sends with writes.
func TestKeys(t *testing.T) {
	var keys, paths []string
	var condition string
	g := fake(t, func(w http.ResponseWriter, r *http.Request) {
		keys, paths = append(keys, r.Header.Get("Idempotency-Key")), append(paths, r.URL.Path)
		condition = r.Header.Get("Omnigraph-If-Graph-Commit")
		fmt.Fprint(w, `{}`)
	})
	ctx, body := t.Context(), client.MutateBody{Query: "q"}
	for _, options := range [][]client.WriteOption{nil, nil, {client.IdempotencyKey("mine")}, {client.IfCommit("c1"), client.IdempotencyKey("mine")}} {
		if _, err := g.Mutate(ctx, body, options...); err != nil {
			t.Fatal(err)
		}
	}
	if len(keys[0]) < 20 || keys[0] == keys[1] || keys[2] != "mine" || keys[3] != "mine" {
		t.Errorf("the keys are %q", keys)
	}
	if condition != "c1" || paths[2] != "/graphs/people/mutate" || paths[3] != "/graphs/people/mutate/if-graph-commit" {
		t.Errorf("condition %q, paths %q", condition, paths)
	}
}

// TestErrors checks that the client decodes refusals into typed errors.
func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		header string
		body   string
		is     error
		check  func(e *client.Error) bool
		text   string
	}{
		{"key conflict", 409, "", `{"error":"e","code":"conflict","key_conflict":{"entity_kind":"node","type_name":"P","id":"a"}}`, client.ErrConflict,
			func(e *client.Error) bool {
				return e.Code == client.CodeConflict && *e.KeyConflict == client.KeyConflict{EntityKind: "node", TypeName: "P", ID: "a"}
			}, "e"},
		{"merge conflicts", 409, "", `{"error":"e","code":"conflict","merge_conflicts":[{"kind":"divergent_update","entity_kind":"node","type_name":"P","id":"a","property":"p","message":"m"}],"merge_conflict_count":250}`, client.ErrConflict,
			func(e *client.Error) bool {
				return e.MergeConflictCount == 250 && len(e.MergeConflicts) == 1 && e.MergeConflicts[0].Property == "p"
			}, "e"},
		{"precondition", 412, "", `{"error":"e","precondition_failure":{"expected":"c1","actual":"c2"}}`, client.ErrPrecondition,
			func(e *client.Error) bool {
				return e.Code == "" && e.Precondition.Expected == "c1" && *e.Precondition.Actual == "c2"
			}, "e"},
		{"limit", 413, "", `{"error":"e","code":"bad_request","resource_limit":{"resource":"bytes","limit":1,"actual":9223372036854775807}}`, client.ErrTooLarge,
			func(e *client.Error) bool { return e.ResourceLimit.Actual == math.MaxInt64 }, "e"},
		{"diagnostics", 400, "", `{"error":"e","code":"bad_request","diagnostics":[{"code":"T1","severity":"error","message":"m"}]}`, client.ErrInvalid,
			func(e *client.Error) bool { return e.Diagnostics[0].Code == "T1" }, "e"},
		{"not found", 404, "", `{"error":"e","code":"not_found"}`, client.ErrNotFound, func(e *client.Error) bool { return e.Hint == "" }, "e"},
		{"forbidden", 403, "", `{"error":"e","code":"forbidden"}`, client.ErrForbidden, nil, "e"},
		{"no token", 401, "", `{"error":"no token","code":"unauthorized"}`, client.ErrUnauthorized, nil, "no token; give the client a valid token"},
		{"internal", 500, "", `{"error":"internal error (id x)","code":"internal"}`, client.ErrInternal, nil, "internal error (id x)"},
		{"busy", 429, "7200", `{"error":"e","code":"too_many_requests"}`, client.ErrBusy, func(e *client.Error) bool { return *e.RetryAfter == 2*time.Hour }, "e"},
		{"a proxy's page", 502, "", "<html>Bad Gateway</html>", nil, func(e *client.Error) bool { return e.Status == 502 && e.Code == "" }, "the server answered 502 Bad Gateway without an error message; check that"},
		{"half an envelope", 500, "", `{"error":"e","diagnostics":7}`, client.ErrInternal, nil, "without an error message"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := fake(t, func(w http.ResponseWriter, _ *http.Request) {
				if tt.header != "" {
					w.Header().Set("Retry-After", tt.header)
				}
				w.WriteHeader(tt.status)
				fmt.Fprint(w, tt.body)
			})
			_, err := g.Snapshot(t.Context())
			var e *client.Error
			if !errors.As(err, &e) || e.Status != tt.status || tt.is != nil && !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.text) {
				t.Fatalf("the error is %v (%+v), want %v", err, e, tt.is)
			}
			if tt.check != nil && !tt.check(e) {
				t.Errorf("the details are %+v", e)
			}
			for _, other := range []error{client.ErrNotFound, client.ErrBusy} {
				if other != tt.is && errors.Is(err, other) {
					t.Errorf("%v is %v", err, other)
				}
			}
		})
	}
	g := fake(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") })
	if _, err := g.Snapshot(t.Context()); err == nil || !strings.Contains(err.Error(), "does not have the expected form") {
		t.Errorf("a page instead of JSON: %v", err)
	}
}

// pagesOf returns a handler that answers a read with n rows. The handler refuses to send more than
// `size` rows in one answer. It appends each request to the list `asked`: the number of rows, an @
// and the page token.
func pagesOf(n, size int, asked *[]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var b client.QueryBody
		_ = json.NewDecoder(r.Body).Decode(&b)
		*asked = append(*asked, fmt.Sprintf("%d@%s", b.MaxRows, b.PageToken))
		if rows := int(b.MaxRows); rows == 0 && n > size || rows > size {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			fmt.Fprint(w, `{"error":"too large","code":"bad_request","resource_limit":{"resource":"bytes","limit":1,"actual":2}}`)
			return
		}
		from, _ := strconv.Atoi(b.PageToken)
		to := n
		if b.MaxRows > 0 {
			to = min(n, from+int(b.MaxRows))
		}
		a := client.ReadAnswer{}
		a.Columns, a.Rows = []string{"n"}, []client.Row{}
		for i := from; i < to; i++ {
			a.Rows = append(a.Rows, client.Row(fmt.Sprintf(`{"n":%d}`, i)))
		}
		a.RowCount, a.Truncated = int64(len(a.Rows)), to < n
		if a.Truncated {
			a.NextPageToken = strconv.Itoa(to)
		}
		_ = json.NewEncoder(w).Encode(a)
	}
}

// TestRowPages checks which pages the iterator of rows asks for.
func TestRowPages(t *testing.T) {
	for _, tt := range []struct {
		name              string
		n, size           int
		most, page, first int
		rows              int
		asked             string
	}{
		{"all at once", 3, 10, 0, 0, 0, 3, "0@"},
		{"pages of two", 5, 10, 0, 2, 0, 5, "2@ 2@2 2@4"},
		{"at most three", 5, 10, 3, 2, 0, 3, "2@ 1@2"},
		{"at most one page", 5, 10, 2, 0, 0, 2, "2@"},
		{"from a token", 5, 10, 0, 2, 3, 2, "2@3"},
		{"too large at once", 1500, 1000, 0, 0, 0, 1500, "0@ 10000@ 1000@ 1000@1000"},
		{"too large pages", 30, 10, 25, 0, 0, 25, "25@ 2@ 2@2 2@4 2@6 2@8 2@10 2@12 2@14 2@16 2@18 2@20 2@22 1@24"},
		{"no rows", 0, 10, 0, 0, 0, 0, "0@"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var asked []string
			g := fake(t, pagesOf(tt.n, tt.size, &asked))
			body := client.QueryBody{Query: "q", MaxRows: int32(tt.most)}
			if tt.first > 0 {
				body.PageToken = strconv.Itoa(tt.first)
			}
			n := tt.first
			for row, err := range g.QueryRows(t.Context(), body, tt.page) {
				var v struct{ N int }
				if err != nil || row.Decode(&v) != nil || v.N != n {
					t.Fatalf("row %d is %s, %v", n, row, err)
				}
				n++
			}
			if got := strings.Join(asked, " "); n-tt.first != tt.rows || got != tt.asked {
				t.Errorf("%d rows of the requests %s, want %d of %s", n-tt.first, got, tt.rows, tt.asked)
			}
		})
	}
	t.Run("stop early", func(t *testing.T) {
		var asked []string
		g := fake(t, pagesOf(10, 10, &asked))
		for range g.QueryRows(t.Context(), client.QueryBody{}, 2) {
			break
		}
		if len(asked) != 1 {
			t.Errorf("asked %v", asked)
		}
	})
	t.Run("one answer of all pages", func(t *testing.T) {
		var asked []string
		whole, err := fake(t, pagesOf(1500, 1000, &asked)).QueryAll(t.Context(), client.QueryBody{MaxRows: 1200})
		if err != nil {
			t.Fatal(err)
		}
		if len(whole.Rows) != 1200 || whole.RowCount != 1200 || !whole.Truncated || whole.NextPageToken != "1200" {
			t.Errorf("%d rows, count %d, truncated %t, next %q", len(whole.Rows), whole.RowCount, whole.Truncated, whole.NextPageToken)
		}
	})
	t.Run("the first refusal", func(t *testing.T) {
		g := fake(t, func(w http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			if bytes.Contains(b, []byte("max_rows")) {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			fmt.Fprint(w, `{"error":"too large","resource_limit":{"resource":"bytes","limit":1,"actual":2}}`)
		})
		for _, err := range g.QueryPages(t.Context(), client.QueryBody{}, 0) {
			if !errors.Is(err, client.ErrTooLarge) {
				t.Error(err)
			}
		}
	})
}

// TestNoProgress checks that every iterator stops if the server sends one page again and again.
func TestNoProgress(t *testing.T) {
	asked := 0
	g := fake(t, func(w http.ResponseWriter, r *http.Request) {
		if asked++; asked > 20 {
			t.Errorf("asked again for %s", r.URL)
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		fmt.Fprint(w, `{"columns":["a"],"rows":[{"a":1}],"truncated":true,"next_page_token":"t","branches":["b"],"heads":[{"name":"b"}],
			"commits":[{"graph_commit_id":"c"}],"next_before":5,"changes":[{"kind":"node","type":{"id":"1","name":"T"},"id":"a","op":"insert"}]}`)
	})
	ctx := t.Context()
	last := func(name string, err error) {
		t.Helper()
		if !errors.Is(err, client.ErrNoProgress) {
			t.Errorf("%s ended with %v", name, err)
		}
	}
	var end error
	for _, end = range g.QueryRows(ctx, client.QueryBody{}, 0) {
	}
	last("rows", end)
	for _, end = range g.AllBranches(ctx) {
	}
	last("branches", end)
	for _, end = range g.AllCommits(ctx, client.CommitQuery{}) {
	}
	last("commits", end)
	for _, end = range g.AllChanges(ctx, "c", client.ChangeQuery{}) {
	}
	last("changes", end)
}

// TestTokens checks that the client sends tokens to the server only, and that it gets a new token
// for each attempt.
func TestTokens(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("was asked %s %s", r.Method, r.URL)
	}))
	defer elsewhere.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		g := fake(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, status) }, client.WithToken("t"), client.WithHTTPClient(http.DefaultClient))
		_, err := g.Snapshot(t.Context())
		var e *client.Error
		if !errors.As(err, &e) || e.Status != status || e.Location != elsewhere.URL {
			t.Errorf("%d: %v", status, err)
		}
	}
	var seen []string
	calls := 0
	source := func(context.Context) (string, error) {
		if calls++; calls == 3 {
			return "", errors.New("no more tokens")
		}
		return "t" + strconv.Itoa(calls), nil
	}
	g := fake(t, func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Get("Authorization"))
		if len(seen) == 1 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		fmt.Fprint(w, "{}")
	}, client.WithTokenSource(source), client.WithUserAgent("test"))
	if _, err := g.Snapshot(t.Context()); err != nil || strings.Join(seen, " ") != "Bearer t1 Bearer t2" {
		t.Errorf("%v, tokens %q", err, seen)
	}
	if _, err := g.Snapshot(t.Context()); err == nil || !strings.Contains(err.Error(), "no more tokens") {
		t.Errorf("a source that fails: %v", err)
	}
}

// TestDeadlines checks that the client sends the deadline to the server, and that a call ends when
// its context ends.
func TestDeadlines(t *testing.T) {
	var got string
	answer := func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Get("X-Timeout-Ms")
		fmt.Fprint(w, "{}")
	}
	between := func(name string, low, high int) {
		t.Helper()
		if ms, err := strconv.Atoi(got); err != nil || ms < low || ms > high {
			t.Errorf("%s: X-Timeout-Ms is %q, want %d to %d", name, got, low, high)
		}
	}
	g := fake(t, answer)
	if _, err := g.Snapshot(t.Context()); err != nil || got != "" {
		t.Errorf("without a deadline: X-Timeout-Ms is %q, %v", got, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := g.Snapshot(ctx); err != nil {
		t.Error(err)
	}
	between("a minute", 30_000, 60_000)
	if _, err := fake(t, answer, client.WithGrace(20*time.Second)).Snapshot(ctx); err != nil {
		t.Error(err)
	}
	between("a minute less 20 seconds", 20_000, 40_000)
	if _, err := fake(t, answer, client.WithGrace(time.Hour)).Snapshot(ctx); err != nil {
		t.Error(err)
	}
	between("a grace longer than the minute", 20_000, 30_000)
	if _, err := fake(t, answer, client.WithTimeout(10*time.Second)).Snapshot(ctx); err != nil {
		t.Error(err)
	}
	between("ten seconds", 1, 10_000)

	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	if _, err := fake(t, hang, client.WithTimeout(20*time.Millisecond)).Snapshot(t.Context()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a server that does not answer: %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := fake(t, hang).Snapshot(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled call: %v", err)
	}
	busy := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "20")
		w.WriteHeader(http.StatusTooManyRequests)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := fake(t, busy).Snapshot(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a wait that is longer than the deadline: %v", err)
	}
}

// TestBrokenStreams checks that a part of an export never looks like the whole.
func TestBrokenStreams(t *testing.T) {
	hijacked := func(w http.ResponseWriter, text string) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(conn, text)
		conn.Close()
	}
	for _, tt := range []struct {
		name   string
		answer func(w http.ResponseWriter)
		want   string
	}{
		{"broken off", func(w http.ResponseWriter) {
			w.Header().Set("ETag", `"C"`)
			fmt.Fprint(w, strings.Repeat("line\n", 1000))
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, "the export ended early and is incomplete"},
		{"shorter than announced", func(w http.ResponseWriter) {
			hijacked(w, "HTTP/1.1 200 OK\r\nETag: \"C\"\r\nContent-Length: 1000\r\n\r\nline\n")
		}, "is incomplete"},
		{"without a mark of its end", func(w http.ResponseWriter) {
			hijacked(w, "HTTP/1.0 200 OK\r\nETag: \"C\"\r\n\r\nline\n")
		}, "cannot detect a missing part"},
		{"without its commit", func(w http.ResponseWriter) { fmt.Fprint(w, "line\n") }, "does not name the commit"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := fake(t, func(w http.ResponseWriter, _ *http.Request) { tt.answer(w) })
			if _, err := streamed(g.Export(t.Context(), client.ExportBody{})); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("the error is %v, want %s", err, tt.want)
			}
		})
	}
}

// TestNew checks the URLs that New accepts, and the paths of graphs.
func TestNew(t *testing.T) {
	for _, u := range []string{"", "graph.example.com", "ftp://h", "http://", "http://h?x=1", "http://h#x", "http://ada:secret@h", "http://h\x00"} {
		if _, err := client.New(u); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", u, err)
		}
	}
	for graph, want := range map[string]string{"code": "http://h/x/graphs/code/mcp", "a/b": "http://h/x/graphs/a%2Fb/mcp", "..": "http://h/x/graphs/%2E%2E/mcp"} {
		c, err := client.New("http://h/x/")
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Graph(graph).MCPURL(); got != want {
			t.Errorf("graph %q is at %s, want %s", graph, got, want)
		}
		if _, err := url.Parse(want); err != nil {
			t.Error(err)
		}
	}
}

// TestValues checks that numbers in parameters and rows keep every digit.
func TestValues(t *testing.T) {
	var sent string
	g := fake(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		sent = string(b)
		fmt.Fprint(w, `{"columns":["n"],"rows":[{"n":9223372036854775807,"s":"<&>"}],"row_count":1}`)
	})
	a, err := g.Query(t.Context(), client.QueryBody{Query: "a < b", Params: map[string]any{"a": int64(math.MinInt64), "b": uint64(math.MaxUint64), "c": json.RawMessage("1e400")}})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"query":"a < b","params":{"a":-9223372036854775808,"b":18446744073709551615,"c":1e400}}`; sent != want {
		t.Errorf("sent %s, want %s", sent, want)
	}
	var v struct{ N int64 }
	if err := a.Rows[0].Decode(&v); err != nil || v.N != math.MaxInt64 || string(a.Rows[0]) != `{"n":9223372036854775807,"s":"<&>"}` {
		t.Errorf("%+v %v %s", v, err, a.Rows[0])
	}
}

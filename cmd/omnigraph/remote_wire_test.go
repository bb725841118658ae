package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
)

// answering starts a server with the handler h and returns the flags that name it.
func answering(t *testing.T, h http.HandlerFunc) []string {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return []string{"--server", srv.URL, "--graph", "people"}
}

// at appends the flags of a graph to a command line.
func at(line string, target []string) []string { return append(strings.Fields(line), target...) }

// TestRepeats checks which requests are repeated. The client makes a new key for every write that
// takes an idempotency key.
func TestRepeats(t *testing.T) {
	inFolder(t)
	write(t, "q.gq", "query add() { insert Person { name: \"x\" } }\n")
	write(t, "r.gq", "query all() { match { $p: Person } return { $p.name } }\n")
	refuse := func(status int, after string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			if after != "" {
				w.Header().Set("Retry-After", after)
			}
			w.WriteHeader(status)
			fmt.Fprint(w, `{"error":"busy"}`)
		}
	}
	hangUp := func(http.ResponseWriter) { panic(http.ErrAbortHandler) }
	for _, tt := range []struct {
		name   string
		line   string
		refuse func(http.ResponseWriter)
		times  int // number of refusals before the server answers
		asked  int
		exit   int
	}{
		{"a read when the server is busy", "snapshot", refuse(429, "0"), 2, 3, 0},
		{"a read when the server does not say for how long", "snapshot", refuse(429, ""), 1, 2, 0},
		{"a read when the server comes up", "snapshot", refuse(503, "0"), 1, 2, 0},
		{"a read whose connection is lost", "snapshot", hangUp, 1, 2, 0},
		{"no more than four times", "snapshot", refuse(503, "0"), 9, 4, 1},
		{"not when it would be long", "snapshot", refuse(503, "3600"), 9, 1, 1},
		{"not what took too long", "snapshot", refuse(503, ""), 9, 1, 1},
		{"not what is wrong", "snapshot", refuse(400, "0"), 9, 1, 1},
		{"a query", "query --query r.gq", refuse(503, "0"), 1, 2, 0},
		{"a write", "mutate --query q.gq", refuse(503, "0"), 1, 2, 0},
		{"a write whose connection is lost", "mutate --query q.gq", hangUp, 1, 2, 0},
		{"a write under a key", "mutate --query q.gq --idempotency-key k", refuse(503, "0"), 1, 2, 0},
		{"a write under a key whose connection is lost", "mutate --query q.gq --idempotency-key k", hangUp, 1, 2, 0},
		{"a dry run", "mutate --query q.gq --dry-run", refuse(429, "0"), 1, 2, 0},
		{"a load", "load --data seed.ndjson", refuse(429, "0"), 1, 2, 0},
		{"a load under a key", "load --data seed.ndjson --idempotency-key k", refuse(429, "0"), 1, 2, 0},
		{"a load that can be read once", "load --data - --idempotency-key k", refuse(429, "0"), 1, 2, 0},
		{"a merge", "merge b --into main", refuse(429, "0"), 1, 2, 0},
		{"a branch", "branch create b", refuse(429, "0"), 9, 1, 1},
		{"the end of a branch", "branch delete b", refuse(429, "0"), 9, 1, 1},
		{"a stored query, which may write", "queries run q", refuse(429, "0"), 1, 2, 0},
		{"a cleanup", "cleanup --keep 1", refuse(429, "0"), 9, 1, 1},
		{"a plan", "schema plan --schema schema.pg", refuse(429, "0"), 1, 2, 0},
		{"a schema", "schema apply --schema schema.pg", refuse(429, "0"), 1, 2, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var asked atomic.Int32
			var first []byte
			target := answering(t, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				n := int(asked.Add(1))
				if n == 1 {
					first = body
				} else if !bytes.Equal(body, first) {
					t.Errorf("the second body is %q, the first was %q", body, first)
				}
				if n <= tt.times {
					tt.refuse(w)
					return
				}
				fmt.Fprint(w, `{"supported":true,"columns":[],"rows":[],"nodes":[],"edges":[]}`)
			})
			code, _, stderr := omnigraph(t, seed, at(tt.line, target)...)
			if code != tt.exit || int(asked.Load()) != tt.asked {
				t.Errorf("exit code %d after %d requests, want %d and %d: %s", code, asked.Load(), tt.exit, tt.asked, stderr)
			}
		})
	}
}

// TestTokenStaysWithItsServer checks that no verb follows a redirect, and that no token is sent
// without TLS to another machine.
func TestTokenStaysWithItsServer(t *testing.T) {
	inFolder(t)
	const token = "s3cret-t0ken"
	t.Setenv(tokenVar, token)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("was asked %s %s with %q", r.Method, r.URL, r.Header.Get("Authorization"))
	}))
	defer elsewhere.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		target := answering(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+r.URL.Path, status)
		})
		for _, line := range []string{"snapshot", "load --data seed.ndjson", "branch delete b", "export"} {
			code, stdout, stderr := omnigraph(t, "", at(line, target)...)
			if code != 1 || stdout != "" || !strings.Contains(stderr, strconv.Quote(elsewhere.URL + "/graphs/people")[:len(elsewhere.URL)]) {
				t.Errorf("%d, %s: exit code %d, %q %s", status, line, code, stdout, stderr)
			}
			if strings.Contains(stderr, token) {
				t.Errorf("the token is shown: %s", stderr)
			}
		}
		ping := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}` + "\n"
		if _, stdout, stderr := omnigraph(t, ping, at("mcp serve", target)...); !strings.Contains(stdout, `"error"`) || strings.Contains(stdout+stderr, token) {
			t.Errorf("%d: mcp serve printed %s %s", status, stdout, stderr)
		}
	}
	for _, tt := range []struct {
		server   string
		insecure bool
		refused  bool
	}{
		{"https://graph.example.com", false, false},
		{"http://127.0.0.1:8080", false, false},
		{"http://127.8.0.1:8080", false, false},
		{"http://[::1]:8080", false, false},
		{"http://LocalHost", false, false},
		{"http://graph.example.com", false, true},
		{"http://graph.example.com", true, false},
		{"http://10.0.0.7:8080", false, true},
		{"http://localhost.example.com", false, true},
		{"http://127.0.0.1.example.com", false, true},
	} {
		e := endpoint{server: tt.server, insecure: tt.insecure}
		got, err := tokenOfFlags(t, &e)
		if (err != nil) != tt.refused || !tt.refused && got != token {
			t.Errorf("%s, insecure %t: %q, %v", tt.server, tt.insecure, got, err)
		}
		if err != nil && (exitCode(err) != exitUsage || strings.Contains(err.Error(), token)) {
			t.Error(err)
		}
	}
	t.Setenv(tokenVar, "")
	t.Setenv("HOME", t.TempDir())
	if got, err := tokenOfFlags(t, &endpoint{server: "http://graph.example.com"}); got != "" || err != nil {
		t.Errorf("without a token: %q %v", got, err)
	}
}

// TestTokenOfAVariable checks which texts in the configuration refer to an environment variable.
func TestTokenOfAVariable(t *testing.T) {
	t.Setenv("GRAPH_TOKEN", "abc")
	for _, tt := range []struct{ text, want, fault string }{
		{`servers: { "http://h": { token: "${GRAPH_TOKEN}" } }`, "abc", ""},
		{`servers: { "http://h/": { token: "$GRAPH_TOKEN" } }`, "$GRAPH_TOKEN", ""},
		{`servers: { "http://h": { token: "${NO_SUCH_TOKEN}" } }`, "", "NO_SUCH_TOKEN is not set"},
		{`servers: { "http://other": { token: "${NO_SUCH_TOKEN}" } }`, "", ""},
	} {
		got, err := tokenIn(t, []byte(tt.text), "http://h")
		if got != tt.want || (err != nil) != (tt.fault != "") || err != nil && !strings.Contains(err.Error(), tt.fault) {
			t.Errorf("%s: %q, %v", tt.text, got, err)
		}
	}
}

// TestLoadTooLarge checks that a load over the server's limit is refused as a whole, and that the
// message says what to do.
func TestLoadTooLarge(t *testing.T) {
	inFolder(t)
	t.Setenv(tokenVar, "t-ada")
	var large strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&large, `{"type":"Person","data":{"name":"p%d","age":1}}`+"\n", i)
	}
	write(t, "large.ndjson", large.String())
	u, stop := serveWith(t, "graph", "", rest.Options{MaxLoad: 1 << 20})
	defer stop()
	target := []string{"--server", u, "--graph", "people"}
	for _, data := range []string{"large.ndjson", "-"} {
		code, stdout, stderr := omnigraph(t, large.String(), at("load --data "+data, target)...)
		if code != 1 || stdout != "" || !strings.Contains(stderr, "larger than the limit of 1048576 bytes") || !strings.Contains(stderr, "--from main") {
			t.Errorf("%s: exit code %d, %q %s", data, code, stdout, stderr)
		}
	}
	if code, stdout, _ := omnigraph(t, "", at("query --query - --format csv", target)...); code == 0 {
		t.Errorf("an empty text ran: %s", stdout)
	}
	if _, stdout, _ := omnigraph(t, "", at("snapshot --format csv", target)...); !strings.Contains(stdout, "Person,node,2\n") {
		t.Errorf("a part was loaded: %s", stdout)
	}
}

// TestBrokenExport checks that an incomplete export fails and leaves no file.
func TestBrokenExport(t *testing.T) {
	t.Chdir(t.TempDir())
	hijacked := func(w http.ResponseWriter, text string) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, text)
		conn.Close()
	}
	const line = `{"type":"Person","data":{"name":"ada"}}` + "\n"
	for _, tt := range []struct {
		name   string
		answer func(w http.ResponseWriter)
		want   string
	}{
		{"broken off", func(w http.ResponseWriter) {
			w.Header().Set("ETag", `"C"`)
			fmt.Fprint(w, strings.Repeat(line, 1000))
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, "is incomplete"},
		{"shorter than it says", func(w http.ResponseWriter) {
			hijacked(w, "HTTP/1.1 200 OK\r\nETag: \"C\"\r\nContent-Length: 1000\r\n\r\n"+line)
		}, "is incomplete"},
		{"without a mark of its end", func(w http.ResponseWriter) {
			hijacked(w, "HTTP/1.0 200 OK\r\nETag: \"C\"\r\n\r\n"+line)
		}, "cannot detect a missing part"},
		{"without its commit", func(w http.ResponseWriter) { fmt.Fprint(w, line) }, "does not name the commit"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			target := answering(t, func(w http.ResponseWriter, _ *http.Request) { tt.answer(w) })
			for _, line := range []string{"export --out all.ndjson", "export --format parquet --out all"} {
				code, _, stderr := omnigraph(t, "", at(line, target)...)
				if code != 1 || strings.Contains(stderr, "commit C") || !strings.Contains(line, "parquet") && !strings.Contains(stderr, tt.want) {
					t.Errorf("%s: exit code %d, %s", line, code, stderr)
				}
			}
			if left, _ := filepath.Glob("*"); left != nil {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// TestPages checks that the pages of a server, put together, give the output of a store.
func TestPages(t *testing.T) {
	inFolder(t)
	t.Setenv(tokenVar, "t-ada")
	write(t, "q.gq", "query all() { match { $p: Person } return { $p.name as name, $p.age as age } order { $p.name } }\n")
	for i := range 9 {
		write(t, "more.ndjson", fmt.Sprintf(`{"type":"Person","data":{"name":"p%d","age":%d}}`+"\n", i, i))
		if code, _, stderr := omnigraph(t, "", strings.Fields("load --store graph --data more.ndjson")...); code != 0 {
			t.Fatal(stderr)
		}
	}
	_, list, _ := omnigraph(t, "", "commit", "list", "--store", "graph", "--format", "csv")
	commits := strings.Split(list, "\n")
	first, _, _ := strings.Cut(commits[len(commits)-3], ",") // the commit that loaded the seed
	lines := []string{
		"query --query q.gq all", "query --query q.gq all --max-rows 7", "query --query q.gq all --max-rows 7 --format table", "query --query q.gq all --max-rows 20",
		"query --query q.gq all --at " + first, "commit list", "commit list --limit 5", "commit list --before 5 --limit 3", "commit list --before 4",
		"changes " + first, "changes --limit 2 " + first, "changes --format table --type Person,Knows --op insert " + first,
	}
	want := map[string]string{}
	for _, line := range lines {
		code, stdout, stderr := omnigraph(t, "", at(line, []string{"--store", "graph"})...)
		if code != 0 {
			t.Fatalf("%s: %s", line, stderr)
		}
		want[line] = stdout
	}
	u, stop := serve(t, "graph", "")
	defer stop()
	back, _ := url.Parse(u)
	proxy := httputil.NewSingleHostReverseProxy(back)
	var asked int
	target := answering(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		if q := r.URL.Query(); strings.Contains(r.URL.Path, "/commits") {
			most := 2
			if strings.HasSuffix(r.URL.Path, "/changes") {
				most = 1
			}
			if n, err := strconv.Atoi(q.Get("limit")); err != nil || n > most {
				q.Set("limit", strconv.Itoa(most))
				r.URL.RawQuery = q.Encode()
			}
		}
		if strings.HasSuffix(r.URL.Path, "/query") {
			b, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(b))
			var body struct {
				MaxRows int `json:"max_rows"`
			}
			if _ = json.Unmarshal(b, &body); body.MaxRows == 0 || body.MaxRows > 4 {
				w.WriteHeader(http.StatusRequestEntityTooLarge)
				fmt.Fprint(w, `{"error":"too large","code":"bad_request","resource_limit":{"resource":"bytes","limit":1,"actual":2}}`)
				return
			}
		}
		proxy.ServeHTTP(w, r)
	})
	for _, line := range lines {
		asked = 0
		code, stdout, stderr := omnigraph(t, "", at(line, target)...)
		if got := withoutToken(stdout); code != 0 || got != withoutToken(want[line]) {
			t.Errorf("%s: exit code %d %s\n%s\nwant\n%s", line, code, stderr, got, want[line])
		}
		if asked < 2 {
			t.Errorf("%s took %d requests", line, asked)
		}
	}
}

// withoutToken removes the token of the next page, which differs because of its key.
func withoutToken(s string) string {
	before, after, found := strings.Cut(s, `,"next_page_token":"`)
	if !found {
		return s
	}
	_, after, _ = strings.Cut(after, `"`)
	return before + after
}

// TestParquetOfServer checks that an export from a server has the same files as an export from its
// store.
func TestParquetOfServer(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv(tokenVar, "t-ada")
	write(t, "s.pg", `node All {
  key: String @key
  flag: Bool?
  w: U64?
  d: F64?
  at: DateTime?
  raw: Blob?
  v: Vector(3)?
  tags: [String]?
}
edge Leads: All -> All @card(1..) { weight: F32? }
`)
	write(t, "data.ndjson", `{"type":"All","data":{"key":"b","flag":true,"w":"18446744073709551615","d":1e300,"at":"2021-01-02T03:04:05.678Z","raw":"AQID","v":[0.25,-1,3e-9],"tags":["x","y"]}}
{"type":"All","data":{"key":"a <&>"}}
{"edge":"Leads","from":"b","to":"a <&>","data":{"weight":0.5}}
{"edge":"Leads","from":"a <&>","to":"a <&>","data":{}}
`)
	run := func(args ...string) {
		t.Helper()
		if code, _, stderr := omnigraph(t, "", args...); code != 0 {
			t.Fatalf("%v: %s", args, stderr)
		}
	}
	run("init", "--schema", "s.pg", "--store", "g")
	run("load", "--store", "g", "--data", "data.ndjson", "--mode", "append")
	run("export", "--store", "g", "--format", "parquet", "--out", "local")
	u, stop := serve(t, "g", "")
	defer stop()
	run("export", "--server", u, "--graph", "people", "--format", "parquet", "--out", "remote")
	var files []string
	err := fs.WalkDir(os.DirFS("local"), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files = append(files, path)
		a, _ := os.ReadFile(filepath.Join("local", path))
		b, err := os.ReadFile(filepath.Join("remote", path))
		if !bytes.Equal(a, b) {
			t.Errorf("%s differs", path)
		}
		return err
	})
	if want := "edges/Leads/part-00000.parquet manifest.json nodes/All/part-00000.parquet"; err != nil || strings.Join(files, " ") != want {
		t.Errorf("wrote %v, want %s (%v)", files, want, err)
	}
	if left, _ := filepath.Glob("remote/*"); len(left) != 3 {
		t.Errorf("the export from the server has %v", left)
	}
	// The commit of a branch with the same head, which was made on main.
	run("branch", "create", "--server", u, "--graph", "people", "side")
	run("export", "--server", u, "--graph", "people", "--format", "parquet", "--out", "side", "--branch", "side")
	run("export", "--server", u, "--graph", "people", "--format", "parquet", "--out", "nodes", "--type", "All")
	if got, _ := filepath.Glob("nodes/*/*/*"); len(got) != 1 {
		t.Errorf("wrote %v", got)
	}
	back, _ := url.Parse(u)
	proxy := httputil.NewSingleHostReverseProxy(back)
	target := answering(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/export") {
			t.Error("the server was asked for data before the type was checked")
		}
		proxy.ServeHTTP(w, r)
	})
	if code, _, stderr := omnigraph(t, "", at("export --format parquet --out nosuch --type All --type Nosuch", target)...); code != 1 || !strings.Contains(stderr, `no type "Nosuch"`) {
		t.Errorf("a type that does not exist: exit code %d, %s", code, stderr)
	}
	run("export", "--server", u, "--graph", "people", "--format", "parquet", "--out", "parts", "--part-rows", "1")
	if got, _ := filepath.Glob("parts/*/*/part-0000[01].parquet"); len(got) != 4 {
		t.Errorf("wrote %v", got)
	}
}

// TestTimeout checks that a verb sends its time limit to the server, and stops waiting if the
// server ignores it.
func TestTimeout(t *testing.T) {
	inFolder(t)
	target := answering(t, func(w http.ResponseWriter, r *http.Request) {
		ms, err := strconv.Atoi(r.Header.Get("X-Timeout-Ms"))
		if err != nil || ms < 1 || ms > 500 {
			t.Errorf("X-Timeout-Ms is %q", r.Header.Get("X-Timeout-Ms"))
		}
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, `{"error":"the request took longer than its time limit","code":"internal"}`)
	})
	if code, _, stderr := omnigraph(t, "", at("snapshot --timeout 500ms", target)...); code != 1 || !strings.Contains(stderr, "longer than its time limit") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	target = answering(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	start := clock.Now()
	code, _, stderr := omnigraph(t, "", at("snapshot --timeout 10ms", target)...)
	if code != 1 || !strings.Contains(stderr, "longer than --timeout 10ms") || clock.Since(start) > grace+5*time.Second {
		t.Errorf("exit code %d after %v, %s", code, clock.Since(start), stderr)
	}
	if code, _, stderr := omnigraph(t, "", at("snapshot --timeout 1ns", []string{"--store", "graph"})...); code != 1 || !strings.Contains(stderr, "longer than --timeout 1ns") {
		t.Errorf("of a store: exit code %d, %s", code, stderr)
	}
	if code, _, _ := omnigraph(t, "", at("snapshot --timeout -1s", target)...); code != exitUsage {
		t.Errorf("exit code %d", code)
	}
}

// TestManyConflicts checks that the output counts the conflicts that a server does not list.
func TestManyConflicts(t *testing.T) {
	target := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusConflict)
		fmt.Fprint(w, `{"error":"the branches conflict","code":"conflict","merge_conflicts":[{"kind":"divergent_update","entity_kind":"node","type_name":"P","id":"a","message":"m"}],"merge_conflict_count":250}`)
	})
	code, stdout, stderr := omnigraph(t, "", at("merge b --into main --format table", target)...)
	if code != exitPrecondition || !strings.Contains(stdout, "and there are 249 more") || !strings.Contains(stderr, "nothing was merged: 250 conflicts") {
		t.Errorf("exit code %d, %s %s", code, stdout, stderr)
	}
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"go.lsp.dev/jsonrpc2"

	"github.com/omnigraph-go/omnigraph/cmd/gq/internal/lsp"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
)

// published holds the diagnostics of a file.
type published struct {
	URI         string `json:"uri"`
	Version     *int   `json:"version"`
	Diagnostics []struct {
		Range    lsp.Range `json:"range"`
		Severity int       `json:"severity"`
		Code     string    `json:"code"`
		Message  string    `json:"message"`
	} `json:"diagnostics"`
}

// editor is a client of a server in this process.
type editor struct {
	conn jsonrpc2.Conn

	mu        sync.Mutex
	published map[string]published // by path
	refreshed chan struct{}        // receives when the server has checked all graphs
}

// startEditor starts a server and a client.
func startEditor(t *testing.T) *editor {
	t.Helper()
	ours, theirs := connect(t)
	e := &editor{conn: jsonrpc2.NewConn(jsonrpc2.NewHeaderStream(ours)), published: map[string]published{}, refreshed: make(chan struct{}, 100)}
	done := make(chan error, 1)
	go func() {
		done <- lsp.Serve(context.Background(), theirs, lsp.Options{Tools: toolSizes, Earlier: earlierContracts, Pause: 20 * time.Millisecond})
	}()
	e.conn.Go(context.Background(), func(_ context.Context, req *jsonrpc2.Request) (any, error) {
		switch req.Method() {
		case "textDocument/publishDiagnostics":
			var p published
			if err := json.Unmarshal(req.Params(), &p); err != nil {
				return nil, err
			}
			e.mu.Lock()
			e.published[strings.TrimPrefix(p.URI, "file://")] = p
			e.mu.Unlock()
		case "workspace/codeLens/refresh":
			e.refreshed <- struct{}{}
		}
		return nil, nil
	})
	t.Cleanup(func() {
		e.call(t, "shutdown", nil, nil)
		e.notify(t, "exit", nil)
		if err := <-done; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	e.call(t, "initialize", map[string]any{"capabilities": map[string]any{"workspace": map[string]any{"codeLens": map[string]any{"refreshSupport": true}}}}, nil)
	e.notify(t, "initialized", struct{}{})
	return e
}

// connect returns the two ends of a connection. It has buffers, as the pipes of a real editor have: without them, the two
// sides wait for each other if both answer a request at the same time.
func connect(t *testing.T) (ours, theirs net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if ours, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if theirs, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	return ours, theirs
}

// TestLifecycle checks what the server answers before initialize and after a second one, and that it ends
// when the process of the editor has ended.
func TestLifecycle(t *testing.T) {
	ours, theirs := connect(t)
	done := make(chan error, 1)
	go func() { done <- lsp.Serve(context.Background(), theirs, lsp.Options{}) }()
	conn := jsonrpc2.NewConn(jsonrpc2.NewHeaderStream(ours))
	conn.Go(context.Background(), func(context.Context, *jsonrpc2.Request) (any, error) { return nil, nil })
	child := exec.Command(os.Args[0], "-test.run=^$")
	if err := child.Run(); err != nil {
		t.Fatal(err)
	}
	at := map[string]any{"textDocument": map[string]any{"uri": "file:///x.gq"}, "position": map[string]any{"line": 0, "character": 0}}
	initialize := map[string]any{"capabilities": map[string]any{}, "processId": child.Process.Pid}
	for _, step := range []struct {
		method string
		params any
		code   jsonrpc2.Code // of the error; 0 for none
	}{
		{"textDocument/hover", at, -32002},
		{"no/such", nil, -32002},
		{"shutdown", nil, -32002},
		{"initialize", initialize, 0},
		{"initialize", initialize, jsonrpc2.InvalidRequest},
		{"textDocument/hover", at, 0},
		{"no/such", nil, jsonrpc2.MethodNotFound},
	} {
		_, err := conn.Call(context.Background(), step.method, step.params, nil)
		var wire *jsonrpc2.Error
		if errors.As(err, &wire); (err != nil) != (step.code != 0) || wire != nil && wire.Code != step.code {
			t.Errorf("%s: %v, want the code %d", step.method, err, step.code)
		}
	}
	select {
	case err := <-done:
		if err == nil || !strings.Contains(err.Error(), "process of the editor") {
			t.Errorf("the server ended with %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Error("the process of the editor has ended, and the server goes on")
	}
}

func (e *editor) call(t *testing.T, method string, params, result any) {
	t.Helper()
	if _, err := e.conn.Call(context.Background(), method, params, result); err != nil {
		t.Fatalf("%s: %v", method, err)
	}
}

func (e *editor) notify(t *testing.T, method string, params any) {
	t.Helper()
	if err := e.conn.Notify(context.Background(), method, params); err != nil {
		t.Fatalf("%s: %v", method, err)
	}
}

// open opens a file.
func (e *editor) open(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	full, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	e.notify(t, "textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": "file://" + full, "version": 1, "text": string(text)}})
}

// settle waits until the server has checked all graphs.
func (e *editor) settle(t *testing.T) {
	t.Helper()
	select {
	case <-e.refreshed:
	case <-time.After(30 * time.Second):
		t.Fatal("the server did not check the graphs")
	}
}

// findings lists the published diagnostics of the files of the current directory.
func (e *editor) findings(t *testing.T) []string {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for path, p := range e.published {
		name, err := filepath.Rel(here, path)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range p.Diagnostics {
			out = append(out, fmt.Sprintf("%s:%d:%d-%d:%d %d %s %s", filepath.ToSlash(name), d.Range.Start.Line, d.Range.Start.Character, d.Range.End.Line, d.Range.End.Character, d.Severity, d.Code, d.Message))
		}
	}
	slices.Sort(out)
	return out
}

// lintFindings lists the findings of gq lint, in the same form. The sources must be ASCII.
func lintFindings(t *testing.T) []string {
	t.Helper()
	_, stdout, stderr := gqRun("lint", "--format", "json")
	var report diag.Report
	if err := json.Unmarshal([]byte(stdout), &report); err != nil {
		t.Fatalf("%v\n%s%s", err, stdout, stderr)
	}
	var out []string
	for _, d := range report.Diagnostics {
		message := d.Message
		if d.Help != "" {
			message += "\nhelp: " + d.Help
		}
		out = append(out, fmt.Sprintf("%s:%d:%d-%d:%d %d %s %s", d.Span.File, d.Span.Start.Line-1, d.Span.Start.Column-1, d.Span.End.Line-1, d.Span.End.Column-1, int(d.Severity)+1, d.Code, message))
	}
	slices.Sort(out)
	return out
}

// TestLSPFindsWhatLintFinds compares the diagnostics of the language server with those of gq lint.
func TestLSPFindsWhatLintFinds(t *testing.T) {
	const cluster = "version: 1\nstorage: ./data\ngraphs:\n  people:\n    schema: g/schema.pg\n    queries: g/\n"
	for _, test := range []struct {
		name string
		more map[string]string
		some bool // there are findings
	}{
		{"warnings and an error", nil, true},
		{"an error in the schema", map[string]string{"g/schema.pg": "node Person { slug: String @key @color(\"red\") name: Strin }\n"}, true},
		{"an error of the grammar", map[string]string{"g/c.gq": "query q() { match { $p Person } return { $p } }\n"}, true},
		{"a duplicate across files", map[string]string{"g/c.gq": "query find() @description(\"Finds all of them.\") { match { $p: Person } return { $p.name } limit 3 }\n"}, true},
		{"a rule that is an error", map[string]string{"gq.yaml": "lint: { rules: { L105: error, L106: off } }\n"}, true},
		{"two graphs with one source", map[string]string{"cluster.yaml": cluster + "  others: { schema: g/schema.pg, queries: [g/a.gq] }\n"}, true},
		{"a listed query that is missing", map[string]string{"cluster.yaml": "version: 1\nstorage: ./data\ngraphs:\n  people: { schema: g/schema.pg, queries: { find: { file: g/a.gq }, absent: { file: g/b.gq } } }\n"}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			lintModule(t, test.more)
			want := lintFindings(t)
			if test.some == (len(want) == 0) {
				t.Fatalf("gq lint finds %d", len(want))
			}
			e := startEditor(t)
			e.open(t, "g/a.gq")
			e.settle(t)
			if diff := gocmp.Diff(want, e.findings(t)); diff != "" {
				t.Errorf("-gq lint +gq lsp:\n%s", diff)
			}
		})
	}
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// lockedText is a text that one goroutine writes and another one reads.
type lockedText struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// TestWatch changes code while omnigraph index go --watch keeps a branch in step with it.
func TestWatch(t *testing.T) {
	codeQueries, err := filepath.Abs("../../queries/code")
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]string{"GOWORK": "off", "GOPROXY": "off", "OMNIGRAPH_TOKEN": "t-bot"} {
		t.Setenv(name, v)
	}
	t.Chdir(t.TempDir())
	if err := os.Mkdir("shop", 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, "shop/go.mod", "module example.com/m\n\ngo 1.25\n")
	write(t, "shop/a.go", "package m\n\nfunc F() {}\n\nfunc G() { F() }\n")
	write(t, "shop/b.go", "package m\n\nfunc Gone() { F() }\n")
	if code, _, stderr := omnigraph(t, "", "init", "--schema", filepath.Join(codeQueries, "schema.pg"), "--store", "code"); code != 0 {
		t.Fatal(stderr)
	}
	url, stop := serve(t, "code", "")
	defer stop()
	at := []string{"--server", url, "--graph", "code"}
	ask := func(params, query string, branch string) string {
		t.Helper()
		args := append([]string{"query", "--query", "-", "--branch", branch, "--format", "csv", "--params", params}, at...)
		code, out, stderr := omnigraph(t, query, args...)
		if code != 0 {
			return stderr
		}
		return out
	}
	callers := func() string {
		text, err := os.ReadFile(filepath.Join(codeQueries, "calls.gq"))
		if err != nil {
			t.Fatal(err)
		}
		args := append([]string{"query", "--query", "-", "callers", "--branch", "work/shop", "--format", "json", "--params", `{"path":"example.com/m.F"}`}, at...)
		code, out, stderr := omnigraph(t, string(text), args...)
		if code != 0 {
			return stderr
		}
		var answer struct{ Rows []struct{ Caller string } }
		if err := json.Unmarshal([]byte(out), &answer); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		var names []string
		for _, row := range answer.Rows {
			names = append(names, strings.TrimPrefix(row.Caller, "example.com/m."))
		}
		return strings.Join(names, " ")
	}
	commits := func() int {
		t.Helper()
		code, out, stderr := omnigraph(t, "", append([]string{"commit", "list", "--branch", "work/shop", "--format", "csv"}, at...)...)
		if code != 0 {
			t.Fatal(stderr)
		}
		return strings.Count(out, "\n") - 1
	}

	ctx, cancel := context.WithCancel(t.Context())
	var log lockedText
	done := make(chan int, 1)
	go func() {
		done <- run(ctx, append([]string{"index", "go", "--dir", "shop", "--watch", "--interval", "20ms"}, at...), strings.NewReader(""), io.Discard, &log)
	}()
	defer func() {
		cancel()
		if code := <-done; code != 0 {
			t.Errorf("the command exits with %d: %s", code, log.String())
		}
	}()
	until := func(what string, reached func() bool) {
		t.Helper()
		for deadline := time.After(time.Minute); !reached(); {
			select {
			case <-deadline:
				t.Fatalf("%s: not within a minute; the callers are %q, the log is\n%s", what, callers(), log.String())
			case code := <-done:
				done <- code
				t.Fatalf("%s: the command ended: %s", what, log.String())
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
	until("the first reading", func() bool { return callers() == "G Gone" })
	if out := ask(`{}`, "query q() { match { $s: Symbol } return { count($s) as n } }", "main"); !strings.Contains(out, "\n0") {
		t.Errorf("main has symbols: %s", out)
	}
	for _, symbol := range []string{"F", "Gone"} {
		code, _, stderr := omnigraph(t, `query note($slug: String, $symbol: String) { insert Note { slug: $slug, text: "mind it", created: now() } insert About { from: $slug, to: $symbol } }`,
			append([]string{"mutate", "--query", "-", "--branch", "work/shop", "--params", `{"slug":"n` + symbol + `","symbol":"example.com/m.` + symbol + `"}`}, at...)...)
		if code != 0 {
			t.Fatal(stderr)
		}
	}
	before := commits()
	write(t, "shop/a.go", "package m\n\nfunc F() {}\n\nfunc G() { F(); F() }\n\nfunc H() { F() }\n")
	until("a changed file", func() bool { return callers() == "G Gone H" })
	if n := commits() - before; n != 1 {
		t.Errorf("the change made %d commits", n)
	}
	if !strings.Contains(log.String(), "1 changed files; read the changed packages") {
		t.Errorf("the log says %q", log.String())
	}
	write(t, "shop/b.go", "package m\n\nfunc Broken() { F( }\n")
	until("code that does not compile", func() bool { return strings.Contains(log.String(), "b.go:3:20") })
	if got := callers(); got != "G Gone H" {
		t.Errorf("code that does not compile: the callers are %q", got)
	}
	if err := os.Remove("shop/b.go"); err != nil {
		t.Fatal(err)
	}
	until("a removed file", func() bool { return callers() == "G H" })
	if out := ask(`{}`, "query q() { match { $n: Note optional { $n about $s } } return { $n.slug as slug, $s.path as about } order { slug } }", "work/shop"); !strings.Contains(out, "nF,example.com/m.F\n") || !strings.Contains(out, "nGone,\n") {
		t.Errorf("the notes are\n%s", out)
	}

	if code, _, stderr := omnigraph(t, "", append([]string{"index", "go", "--dir", "shop", "--watch", "--branch", "main"}, at...)...); code != 2 || !strings.Contains(stderr, "main") {
		t.Errorf("a watch of main: exit code %d, %s", code, stderr)
	}
}

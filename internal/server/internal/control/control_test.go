package control_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/control"
)

const people = "node Person {\n  name: String @key\n  age: I32?\n}\n"

func compile(t *testing.T, text string) *catalog.Schema {
	t.Helper()
	c, faults := gq.CompileSchema(gq.Source{Name: "people.pg", Text: text})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	return c
}

// serve announces a server that has one graph open, with one person.
func serve(t *testing.T) (dir string, g engine.Graph) {
	t.Helper()
	dir = t.TempDir()
	g, err := embedded.OpenMemory(t.Context(), people, compile(t, people), embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	if _, err := g.Load(t.Context(), strings.NewReader(`{"type":"Person","data":{"name":"Ada","age":36}}`), engine.LoadOptions{}); err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, withdraw, err := control.Announce(dir, ln.Addr())
	if err != nil {
		t.Fatal(err)
	}
	next := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "next")
	})
	srv := &httptest.Server{Listener: ln, Config: &http.Server{Handler: s.Handler(
		func(_ context.Context, id string) (engine.Graph, error) {
			if id == "people" {
				return g, nil
			}
			return nil, &engine.NotFound{What: "graph", Name: id}
		},
		func(context.Context) error { return errors.New("the policy has faults") },
		func(actor string) error {
			if actor == "act-ada" {
				return nil
			}
			return &engine.Conflict{Reason: actor + " may not"}
		}, next)}}
	srv.Start()
	t.Cleanup(func() {
		srv.Close()
		withdraw()
		if _, err := os.Stat(filepath.Join(dir, control.File)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the file of the server: %v", err)
		}
	})
	return dir, g
}

// TestMayApply asks a server whether actors may apply.
func TestMayApply(t *testing.T) {
	dir, _ := serve(t)
	s, err := control.Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	var refused *engine.Conflict
	if err := s.MayApply(t.Context(), "act-bob"); !errors.As(err, &refused) || refused.Reason != "act-bob may not" {
		t.Errorf("act-bob: %v", err)
	}
	if err := s.MayApply(t.Context(), "act-ada"); err != nil {
		t.Errorf("act-ada: %v", err)
	}
}

// TestChange changes a schema through a server, and compares the steps with those of the graph itself.
func TestChange(t *testing.T) {
	dir, g := serve(t)
	s, err := control.Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	remote := s.Graph("people")
	live, err := remote.Schema(t.Context(), engine.Target{})
	if err != nil || live.Source != people || live.Digest != catalog.Digest(compile(t, people)) {
		t.Fatalf("%+v, %v", live, err)
	}
	for _, tt := range []struct{ text, fails string }{
		{"node Person {\n  name: String @key\n}\n", ""},               // removes a property
		{"node Person {\n  name: String @key\n  age: Blob?\n}\n", ""}, // not supported
		{"node Person {\n  name: String @key\n  age: I32?\n  @range(age, 0..20)\n}\n", "age"},
		{"// a comment\n" + people, ""},
	} {
		to, dry := compile(t, tt.text), engine.SchemaOptions{WriteOptions: engine.WriteOptions{DryRun: true}}
		want, wantErr := g.ApplySchema(t.Context(), tt.text, to, dry)
		got, err := remote.ApplySchema(t.Context(), tt.text, to, dry)
		if tt.fails != "" {
			if wantErr == nil || err == nil || err.Error() != wantErr.Error() {
				t.Errorf("%s: %v, want %v", tt.text, err, wantErr)
			}
			continue
		}
		if err != nil || wantErr != nil || got.Digest() != want.Digest() || got.Supported != want.Supported || got.Destructive != want.Destructive {
			t.Errorf("%s: %+v, %v; want %+v, %v", tt.text, got, err, want, wantErr)
		}
	}
	more := people + "node Team { name: String @key }\n"
	change, err := remote.ApplySchema(t.Context(), more, compile(t, more), engine.SchemaOptions{WriteOptions: engine.WriteOptions{Actor: "act-ada"}})
	snap, _ := remote.Snapshot(t.Context(), engine.Target{})
	if err != nil || change.Head.ID != snap.Commit.ID {
		t.Errorf("%+v, %v", change, err)
	}
	if c, err := g.Commit(t.Context(), snap.Commit.ID); err != nil || c.Actor != "act-ada" {
		t.Errorf("the commit is %+v, %v", c, err)
	}
	var conflict *engine.Conflict
	if _, err := remote.ApplySchema(t.Context(), people, compile(t, people), engine.SchemaOptions{IfSchema: live.Digest}); !errors.As(err, &conflict) {
		t.Errorf("after the schema changed: %v", err)
	}
	if err := s.Reload(t.Context()); err == nil || err.Error() != "the policy has faults" {
		t.Errorf("reload: %v", err)
	}
	var missing *engine.NotFound
	if _, err := s.Graph("none").Schema(t.Context(), engine.Target{}); !errors.As(err, &missing) || missing.Name != "none" {
		t.Errorf("another graph: %v", err)
	}
}

// TestSecret sends requests that do not have the secret. They reach the handler behind.
func TestSecret(t *testing.T) {
	dir, _ := serve(t)
	s, err := control.Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, control.File)
	if info, err := os.Stat(name); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info.Mode(), err)
	}
	for _, other := range []string{"", "wrong", s.Secret + "x", strings.ToLower(s.Secret)} {
		for _, path := range []string{"/cluster/schema", "/cluster/reload"} {
			r, _ := http.NewRequest("POST", s.URL+path, strings.NewReader(`{"graph":"people"}`))
			r.Header.Set("Omnigraph-Storage-Secret", other)
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			if res.StatusCode != http.StatusTeapot {
				t.Errorf("%s with %q: %d", path, other, res.StatusCode)
			}
		}
	}
	var gone *control.Unreachable
	if err := (&control.Server{URL: s.URL, Secret: "wrong"}).Reload(t.Context()); !errors.As(err, &gone) || !strings.Contains(err.Error(), "another program") {
		t.Errorf("of another server: %v", err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	stopped := "http://" + ln.Addr().String()
	ln.Close()
	if err := (&control.Server{URL: stopped, Secret: "x"}).Reload(t.Context()); !errors.As(err, &gone) {
		t.Errorf("a server that has stopped: %v", err)
	}
	for _, text := range []string{"", "nonsense", "{}"} {
		other := t.TempDir()
		if err := os.WriteFile(filepath.Join(other, control.File), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := control.Find(other); err == nil || !strings.Contains(err.Error(), "remove it") {
			t.Errorf("%q: %v", text, err)
		}
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	copied := t.TempDir()
	if err := os.WriteFile(filepath.Join(copied, control.File), text, 0o600); err != nil {
		t.Fatal(err)
	}
	if other, err := control.Find(copied); other != nil || err != nil {
		t.Errorf("a copy of the folder has the server %v, %v", other, err)
	}
	impostor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }))
	defer impostor.Close()
	if err := (&control.Server{URL: impostor.URL, Secret: s.Secret}).Reload(t.Context()); !errors.As(err, &gone) {
		t.Errorf("a program that answers everything: %v", err)
	}
	if none, err := control.Find(t.TempDir()); none != nil || err != nil {
		t.Errorf("without a file: %v, %v", none, err)
	}
}

// TestSilentServer asks a server that accepts connections and does not answer, as a stopped process does.
func TestSilentServer(t *testing.T) {
	done := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-done }))
	defer silent.Close()
	defer close(done)
	s := &control.Server{URL: silent.URL, Secret: "x", Patience: 10 * time.Millisecond}
	var gone *control.Unreachable
	if err := s.MayApply(t.Context(), "act-ada"); !errors.As(err, &gone) {
		t.Errorf("the question whether an actor may apply: %v", err)
	}
	if _, err := s.Graph("people").Schema(t.Context(), engine.Target{}); !errors.As(err, &gone) {
		t.Errorf("the question about a schema: %v", err)
	}
	if _, err := s.Graph("people").Snapshot(t.Context(), engine.Target{}); !errors.As(err, &gone) {
		t.Errorf("the question about the head: %v", err)
	}
}

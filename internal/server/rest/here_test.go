package rest_test

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/inprocess"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
)

// here serves a graph to a client in this process, which acts as the writer.
func here(t *testing.T, g engine.Graph) *client.Graph {
	t.Helper()
	config := servedtest.Config(t)
	if g != nil {
		config.Graph = g
	}
	h := rest.Handler(map[string]*servedgraph.Graph{"people": servedtest.Graph(t, config)}, rest.Options{MaxBody: math.MaxInt64, MaxLoad: math.MaxInt64})
	as := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(access.WithActor(r.Context(), servedtest.Writer)))
	})
	c, err := client.New("http://store", client.WithHTTPClient(&http.Client{Transport: &inprocess.Transport{Handler: as}}))
	if err != nil {
		t.Fatal(err)
	}
	return c.Graph("people")
}

// TestHereErrors checks that a client in this process gets the errors themselves, with their types and causes. Over a
// network, each of them would be a text, and some would only be an internal error.
func TestHereErrors(t *testing.T) {
	fault := errors.New("read 000012.seg: input/output error")
	g := here(t, nil)
	t.Run("a broken input", func(t *testing.T) {
		if _, err := g.Load(t.Context(), iotest.ErrReader(fault), client.LoadQuery{}); !errors.Is(err, fault) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a text of a file", func(t *testing.T) {
		text := strings.Repeat("query q() { match { $p: Persn } return { $p.name } }\n", 30)
		_, err := g.Query(inprocess.WithFile(t.Context(), "many.gq"), client.QueryBody{Query: text})
		var rejected *wireerror.Rejected
		if !errors.As(err, &rejected) || len(rejected.Diagnostics) < 30 || rejected.Diagnostics[0].Span.File != "many.gq" {
			t.Errorf("got %v", err)
		}
		_, err = g.ApplySchema(inprocess.WithFile(t.Context(), "many.pg"), client.SchemaBody{SchemaSource: "node A { name: Strng }"})
		if !errors.As(err, &rejected) || rejected.Diagnostics[0].Span.File != "many.pg" {
			t.Errorf("got %v", err)
		}
		_, err = g.Mutate(inprocess.WithFile(t.Context(), "m.gq"), client.MutateBody{Query: "query m() { delete Persn }"})
		if !errors.As(err, &rejected) || rejected.Diagnostics[0].Span.File != "m.gq" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a missing graph", func(t *testing.T) {
		if _, err := g.Snapshot(t.Context(), client.OnBranch("nosuch")); !errors.As(err, new(*engine.NotFound)) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("an export that fails in its middle", func(t *testing.T) {
		g := here(t, exporter{servedtest.Config(t).Graph, func(_ context.Context, w io.Writer) error {
			if _, err := io.WriteString(w, "line\n"); err != nil {
				return err
			}
			return fault
		}})
		stream, err := g.Export(t.Context(), client.ExportBody{})
		if err != nil {
			t.Fatal(err)
		}
		defer stream.Close()
		if b, err := io.ReadAll(stream); err != fault || string(b) != "line\n" {
			t.Errorf("read %q, %v", b, err)
		}
	})
	t.Run("a panic", func(t *testing.T) {
		g := here(t, exporter{servedtest.Config(t).Graph, func(context.Context, io.Writer) error { panic("bug") }})
		if _, err := g.Export(t.Context(), client.ExportBody{}); !errors.As(err, new(*wireerror.Panic)) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a branch that cannot be deleted", func(t *testing.T) {
		config := servedtest.Config(t)
		if _, err := config.Graph.CreateBranch(t.Context(), "trial", engine.Target{}); err != nil {
			t.Fatal(err)
		}
		a, err := here(t, undeletable{config.Graph}).MergeBranches(t.Context(), client.MergeBody{Source: "trial", DeleteBranch: true})
		if err != nil || a.BranchDeleteError == nil || *a.BranchDeleteError != "disk on fire" {
			t.Errorf("got %v, %v", a, err)
		}
	})
}

// TestHereLimits sends what is too long for a request over a network.
func TestHereLimits(t *testing.T) {
	g := here(t, nil)
	if _, err := g.Mutate(t.Context(), client.MutateBody{Query: `query m() { insert Person { name: "zoe" } }`}, client.IdempotencyKey(strings.Repeat("k", 300))); err != nil {
		t.Error(err)
	}
	comment := strings.Repeat(" ", 9<<20)
	if _, err := g.Query(inprocess.WithFile(t.Context(), "q.gq"), client.QueryBody{Query: `query q() { match { $p: Person } return { $p.name } }` + comment}); err != nil {
		t.Error(err)
	}
}

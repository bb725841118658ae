package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
)

// TestRetries checks which requests the client repeats. Every attempt must have the same body and
// the same idempotency key.
func TestRetries(t *testing.T) {
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
	type send func(ctx context.Context, g *client.Graph) error
	snapshot := func(ctx context.Context, g *client.Graph) error { _, err := g.Snapshot(ctx); return err }
	mutate := func(ctx context.Context, g *client.Graph) error {
		_, err := g.Mutate(ctx, client.MutateBody{Query: "q"})
		return err
	}
	for _, tt := range []struct {
		name   string
		send   send
		refuse func(http.ResponseWriter)
		times  int // number of refusals before the server answers
		asked  int
		keyed  bool // the request has an idempotency key
		fails  error
	}{
		{"a read when the server is busy", snapshot, refuse(429, "0"), 2, 3, false, nil},
		{"a read when the server does not say for how long", snapshot, refuse(429, ""), 1, 2, false, nil},
		{"a read when the server starts", snapshot, refuse(503, "0"), 1, 2, false, nil},
		{"a read whose connection is lost", snapshot, hangUp, 1, 2, false, nil},
		{"at most four times", snapshot, refuse(503, "0"), 9, 4, false, client.ErrUnavailable},
		{"no long wait", snapshot, refuse(503, "3600"), 9, 1, false, client.ErrUnavailable},
		{"no request that took too long", snapshot, refuse(503, ""), 9, 1, false, client.ErrUnavailable},
		{"no request that is wrong", snapshot, refuse(400, "0"), 9, 1, false, client.ErrInvalid},
		{"a query", func(ctx context.Context, g *client.Graph) error {
			_, err := g.Query(ctx, client.QueryBody{Query: "q"})
			return err
		}, refuse(503, "0"), 1, 2, false, nil},
		{"a mutation", mutate, refuse(503, "0"), 1, 2, true, nil},
		{"a mutation whose connection is lost", mutate, hangUp, 1, 2, true, nil},
		{"a dry run", func(ctx context.Context, g *client.Graph) error {
			_, err := g.Mutate(ctx, client.MutateBody{Query: "q", DryRun: true})
			return err
		}, refuse(429, "0"), 1, 2, false, nil},
		{"a stored query", func(ctx context.Context, g *client.Graph) error {
			_, err := g.Invoke(ctx, "q", client.InvokeBody{})
			return err
		}, refuse(429, "0"), 1, 2, true, nil},
		{"a load", func(ctx context.Context, g *client.Graph) error {
			_, err := g.Load(ctx, strings.NewReader("line\n"), client.LoadQuery{})
			return err
		}, refuse(429, "0"), 1, 2, true, nil},
		{"a load that can be read once", func(ctx context.Context, g *client.Graph) error {
			_, err := g.Load(ctx, io.MultiReader(strings.NewReader("line\n")), client.LoadQuery{})
			return err
		}, refuse(429, "0"), 1, 2, true, nil},
		{"a merge", func(ctx context.Context, g *client.Graph) error {
			_, err := g.MergeBranches(ctx, client.MergeBody{Source: "b"})
			return err
		}, refuse(429, "0"), 1, 2, true, nil},
		{"no merge that deletes a branch", func(ctx context.Context, g *client.Graph) error {
			_, err := g.MergeBranches(ctx, client.MergeBody{Source: "b", DeleteBranch: true})
			return err
		}, refuse(429, "0"), 9, 1, true, client.ErrBusy},
		{"a merge that deletes a branch, with a key of the caller", func(ctx context.Context, g *client.Graph) error {
			_, err := g.MergeBranches(ctx, client.MergeBody{Source: "b", DeleteBranch: true}, client.IdempotencyKey("mine"))
			return err
		}, refuse(429, "0"), 1, 2, true, nil},
		{"a schema", func(ctx context.Context, g *client.Graph) error {
			_, err := g.ApplySchema(ctx, client.SchemaBody{SchemaSource: "s"})
			return err
		}, refuse(429, "0"), 1, 2, true, nil},
		{"no creation of a branch", func(ctx context.Context, g *client.Graph) error {
			_, err := g.CreateBranch(ctx, client.BranchBody{Name: "b"})
			return err
		}, refuse(429, "0"), 9, 1, false, client.ErrBusy},
		{"no deletion of a branch", func(ctx context.Context, g *client.Graph) error {
			_, err := g.DeleteBranch(ctx, "b")
			return err
		}, refuse(429, "0"), 9, 1, false, client.ErrBusy},
		{"no cleanup", func(ctx context.Context, g *client.Graph) error {
			_, err := g.Cleanup(ctx, client.CleanupBody{KeepCommits: 1})
			return err
		}, refuse(429, "0"), 9, 1, false, client.ErrBusy},
		{"an export", func(ctx context.Context, g *client.Graph) error {
			s, err := g.Export(ctx, client.ExportBody{})
			if err != nil {
				return err
			}
			return s.Close()
		}, refuse(429, "0"), 1, 2, false, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			var body []byte
			var key string
			g := fake(t, func(w http.ResponseWriter, r *http.Request) {
				b, _ := io.ReadAll(r.Body)
				k := r.Header.Get("Idempotency-Key")
				n := int(asked.Add(1))
				if n == 1 {
					body, key = b, k
				} else if !bytes.Equal(b, body) || k != key {
					t.Errorf("attempt %d has body %q and key %q, the first had %q and %q", n, b, k, body, key)
				}
				if n <= tt.times {
					tt.refuse(w)
					return
				}
				w.Header().Set("ETag", `"c"`)
				fmt.Fprint(w, `{}`)
			})
			err := tt.send(t.Context(), g)
			if !errors.Is(err, tt.fails) || int(asked.Load()) != tt.asked {
				t.Errorf("%v after %d requests, want %v after %d", err, asked.Load(), tt.fails, tt.asked)
			}
			if (key != "") != tt.keyed {
				t.Errorf("the key is %q, keyed %t", key, tt.keyed)
			}
		})
	}
}

// TestRefusedConnection starts the server only after the first attempt.
func TestRefusedConnection(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"status":"ok","graphs":2}`) })}
	defer srv.Close()
	waited := 0
	c, err := client.New("http://"+address, client.WithNotify(func(err error, wait time.Duration) {
		if waited++; waited > 1 {
			return
		}
		if wait <= 0 || !strings.Contains(err.Error(), address+" was not reached") {
			t.Errorf("a wait of %v after: %v", wait, err)
		}
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Error(err)
			return
		}
		go func() { _ = srv.Serve(l) }()
	}))
	if err != nil {
		t.Fatal(err)
	}
	if h, err := c.Health(t.Context()); err != nil || h.Graphs != 2 || waited == 0 {
		t.Errorf("%+v, %v after %d waits", h, err, waited)
	}
	srv.Close()
	c, _ = client.New("http://"+address, client.WithRetries(1, time.Minute))
	if _, err := c.Health(t.Context()); err == nil {
		t.Error("a stopped server answered")
	}
}

// TestErrorOfOneTry makes a request that the client tries only once. The client must return the
// server's error without a wrapper.
func TestErrorOfOneTry(t *testing.T) {
	g := fake(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"error":"no"}`)
	}, client.WithRetries(1, time.Minute))
	_, err := g.Snapshot(t.Context())
	if _, ok := err.(*client.Error); !ok {
		t.Errorf("the error is a %T, expected a *client.Error", err)
	}
}

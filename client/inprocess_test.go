package client_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/inprocess"
)

// here returns a graph of a handler in this process.
func here(t *testing.T, h http.HandlerFunc) *client.Graph {
	t.Helper()
	c, err := client.New("http://store", client.WithHTTPClient(&http.Client{Transport: &inprocess.Transport{Handler: h}}))
	if err != nil {
		t.Fatal(err)
	}
	return c.Graph("people")
}

// TestInProcessKeys checks that the client makes no idempotency keys for a handler in its process, because the
// graph would store them.
func TestInProcessKeys(t *testing.T) {
	var keys []string
	g := here(t, func(w http.ResponseWriter, r *http.Request) {
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		fmt.Fprint(w, `{}`)
	})
	for _, options := range [][]client.WriteOption{nil, {client.IdempotencyKey("mine")}} {
		if _, err := g.Mutate(t.Context(), client.MutateBody{Query: "q"}, options...); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(keys, []string{"", "mine"}) {
		t.Errorf("the keys are %q", keys)
	}
}

// TestInProcessErrors checks that the client sends a request once, and returns the error of the handler.
func TestInProcessErrors(t *testing.T) {
	asked := 0
	fault := fmt.Errorf("read the file: %w", io.ErrUnexpectedEOF) // over a network, the client would try again
	g := here(t, func(w http.ResponseWriter, r *http.Request) {
		if asked++; asked == 2 {
			w.Header().Set("ETag", `"c1"`)
			fmt.Fprint(w, "half a li")
		}
		inprocess.From(r.Context()).Fail(fault)
	})
	if _, err := g.Snapshot(t.Context()); err != fault || asked != 1 {
		t.Errorf("a read: %v after %d requests", err, asked)
	}
	stream, err := g.Export(t.Context(), client.ExportBody{})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if b, err := io.ReadAll(stream); err != fault || string(b) != "half a li" || stream.Commit != "c1" {
		t.Errorf("an export of commit %s: %q, %v", stream.Commit, b, err)
	}
}

// TestInProcessRefusal checks that an answer with an error envelope gives the same error as over a network.
func TestInProcessRefusal(t *testing.T) {
	g := here(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, `{"error":"busy"}`)
	})
	var refused *client.Error
	if _, err := g.Snapshot(t.Context()); !errors.As(err, &refused) || refused.Message != "busy" {
		t.Errorf("got %v", err)
	}
}

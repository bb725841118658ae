package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// numbers is a stored read with one column.
var numbers = &plan.Query{Name: "numbers", Read: &plan.Read{Columns: []plan.Column{{Name: "n", Type: value.Of(value.I64)}}}}

// answer begins an Arrow stream with one batch of the numbers 1 and 2. The caller ends the stream.
func answer(w http.ResponseWriter) *ipc.Writer {
	w.Header().Set("ETag", `"01COMMIT"`)
	schema := engine.ArrowSchema(numbers.Read.Columns)
	out := ipc.NewWriter(w, ipc.WithSchema(schema))
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	b.Field(0).(*array.Int64Builder).AppendValues([]int64{1, 2}, nil)
	if err := out.Write(b.NewRecordBatch()); err != nil {
		panic(http.ErrAbortHandler)
	}
	w.(http.Flusher).Flush()
	return out
}

// typed starts a server with the handler, and returns the typed graph of a client that is connected
// to the server.
func typed(t *testing.T, handler http.HandlerFunc) *client.TypedGraph {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	c, err := client.New(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c.Graph("g").Typed()
}

// TestTypedCancel cancels the context of a call before the server has sent all rows. The call must
// return, and the server must notice that the request has ended.
func TestTypedCancel(t *testing.T) {
	ended := make(chan struct{})
	g := typed(t, func(w http.ResponseWriter, r *http.Request) {
		answer(w)
		<-r.Context().Done()
		close(ended)
	})
	r, err := g.Query(t.Context(), numbers, nil, engine.Target{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if b, err := r.Next(t.Context()); err != nil || b.Len != 2 || b.Columns[0].Ints[1] != 2 || r.Commit() != "01COMMIT" {
		t.Fatalf("found %+v of the commit %s, %v", b, r.Commit(), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if b, err := r.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a call with an ended context returned %v, %v", b, err)
	}
	<-ended
}

// TestTypedRetries lets the server refuse the first request. The client must then send the same
// request again.
func TestTypedRetries(t *testing.T) {
	var requests atomic.Int32
	g := typed(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept") != client.MediaArrow || r.URL.Path != "/graphs/g/queries/numbers" {
			t.Errorf("the request is for %s of %s", r.Header.Get("Accept"), r.URL.Path)
		}
		if requests.Add(1) == 1 {
			w.Header().Set("Retry-After", "0")
			http.Error(w, `{"error":"not now"}`, http.StatusServiceUnavailable)
			return
		}
		answer(w).Close()
	})
	r, err := g.Query(t.Context(), numbers, nil, engine.Target{Branch: "draft"})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if b, err := r.Next(t.Context()); err != nil || b.Len != 2 {
		t.Errorf("found %+v, %v", b, err)
	}
	if b, err := r.Next(t.Context()); err != nil || b != nil {
		t.Errorf("after the last batch: found %+v, %v", b, err)
	}
	if n := requests.Load(); n != 2 {
		t.Errorf("the client sent %d requests, expected 2", n)
	}
}

// TestTypedFaults reads answers that are incomplete, and answers that do not fit the query.
func TestTypedFaults(t *testing.T) {
	other := &plan.Query{Name: "numbers", Read: &plan.Read{Columns: []plan.Column{{Name: "n", Type: value.Of(value.String)}}}}
	for _, tt := range []struct {
		name    string
		query   *plan.Query
		handler http.HandlerFunc
		want    string
	}{
		{"a broken connection", numbers, func(w http.ResponseWriter, _ *http.Request) {
			answer(w)
			panic(http.ErrAbortHandler)
		}, "the answer ended early and is incomplete"},
		{"other columns", other, func(w http.ResponseWriter, _ *http.Request) { answer(w).Close() },
			"column n: found the Arrow type int64, expected utf8; generate the package again from the server's queries"},
		{"an unknown query", numbers, func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"error":"stored query \"numbers\" not found","code":"not_found"}`, http.StatusNotFound)
		}, `stored query "numbers" not found`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := func() error {
				r, err := typed(t, tt.handler).Query(t.Context(), tt.query, nil, engine.Target{})
				if err != nil {
					return err
				}
				defer r.Close()
				for {
					if b, err := r.Next(t.Context()); err != nil || b == nil {
						return err
					}
				}
			}()
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("found %v, expected %s", err, tt.want)
			}
		})
	}
}

// TestTypedRefuses calls the methods with options that a server does not accept. The client must
// refuse each call.
func TestTypedRefuses(t *testing.T) {
	g := typed(t, func(http.ResponseWriter, *http.Request) { t.Error("the server got a request") })
	if _, err := g.Query(t.Context(), numbers, nil, engine.Target{AtLeast: "01COMMIT"}); err == nil {
		t.Error("a read with AtLeast returned no error")
	}
	if _, err := g.Mutate(t.Context(), numbers, nil, engine.WriteOptions{Actor: "ada"}); err == nil {
		t.Error("a write with an actor returned no error")
	}
}

// TestTypedEffects runs a mutation whose answer has the numbers of changes, and one whose answer has none.
func TestTypedEffects(t *testing.T) {
	for counts, want := range map[string]*engine.WriteEffects{
		"": nil,
		`,"node_changes":{"inserted":1,"updated":2,"deleted":0},"edge_changes":{"inserted":0,"updated":0,"deleted":3}`: {
			Nodes: engine.ChangeCounts{Inserted: 1, Updated: 2}, Edges: engine.ChangeCounts{Deleted: 3}},
	} {
		g := typed(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"branch":"main","query_name":"m","affected_nodes":3,"affected_edges":3,"actor_id":null,"commit":null%s}`, counts)
		})
		got, err := g.Mutate(t.Context(), &plan.Query{Name: "m", Mutation: &plan.Mutation{}}, nil, engine.WriteOptions{})
		if err != nil || got.Nodes != 3 || !reflect.DeepEqual(got.Effects, want) {
			t.Errorf("the effects are %+v of %+v, %v; want %+v", got.Effects, got, err, want)
		}
	}
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/embed"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/policy"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
)

// pickyProvider is a mock that asks a function first.
type pickyProvider struct {
	embed.Mock
	before func(texts []string) error
}

func (p *pickyProvider) Embed(ctx context.Context, texts []string, dim int) ([][]float32, error) {
	if err := p.before(texts); err != nil {
		return nil, err
	}
	return p.Mock.Embed(ctx, texts, dim)
}

// throughServer returns the graph as a server gives it.
func throughServer(t *testing.T, s *source) *client.Graph {
	t.Helper()
	served := s.store.served
	api := rest.Handler(map[string]*servedgraph.Graph{served.ID(): served}, rest.Options{MaxBody: 32 << 20, MaxText: 32 << 20, MaxLoad: math.MaxInt64})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		api.ServeHTTP(w, r.WithContext(access.WithActor(r.Context(), s.store.actor)))
	}))
	t.Cleanup(server.Close)
	remote, err := newRemote(&endpoint{server: server.URL, graph: served.ID()}, nil, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return remote.graph
}

// loadLines appends lines to a graph.
func loadLines(t *testing.T, s *source, lines string) {
	t.Helper()
	if _, err := s.graph.Load(t.Context(), strings.NewReader(lines), client.LoadQuery{Mode: "append"}); err != nil {
		t.Fatal(err)
	}
}

// TestEmbedKey embeds properties whose text is a part of the key, while another writer deletes a row and the provider refuses
// another one. The deleted row does not come back, and the other properties stay.
func TestEmbedKey(t *testing.T) {
	for _, remote := range []bool{false, true} {
		p := &pickyProvider{}
		s := embedGraph(t, `node Tag { name: String @key  near: Vector(3)? @embed("name") }
node Desk { floor: I64  room: String  size: I32  place: Vector(2)  also: Vector(3)? @embed("room")  near: Vector(3)? @embed("room")  note: String?  @key(floor, room) }`, p)
		var lines strings.Builder
		for i := range 250 {
			fmt.Fprintf(&lines, `{"type":"Tag","data":{"name":"t%03d","near":null}}`+"\n", i)
		}
		lines.WriteString(`{"type":"Desk","data":{"floor":"9007199254740993","room":"r","size":5,"place":[1,2],"also":[7,8,9],"near":null,"note":"n"}}` + "\n")
		loadLines(t, s, lines.String())
		deleted := false
		p.before = func(texts []string) error {
			if !deleted {
				deleted = true
				if _, err := s.graph.Mutate(t.Context(), client.MutateBody{Query: `query q() { delete Tag where name = "t001" }`}); err != nil {
					t.Error(err)
				}
			}
			if slices.Contains(texts, "t123") {
				return &engine.TextRefused{Reason: "it does not like t123"}
			}
			return nil
		}
		g := s.graph
		if remote {
			g = throughServer(t, s)
		}
		r, err := (&embedder{graph: g, notes: io.Discard, patience: time.Minute}).run(t.Context(), nil)
		refused, _ := json.Marshal(r.doc.(map[string]any)["refused"])
		if err == nil || !strings.Contains(err.Error(), "refused 1 text,") || !strings.Contains(string(refused), `"t123"`) || !strings.Contains(string(refused), "does not like") {
			t.Errorf("error %v, refused %s", err, refused)
		}
		var got []string
		for _, x := range r.rows {
			got = append(got, fmt.Sprintf("%s.%s %d", x.(*embedProperty).Type, x.(*embedProperty).Property, x.(*embedProperty).Embedded))
		}
		if want := []string{"Tag.near 248", "Desk.also 0", "Desk.near 1"}; !slices.Equal(got, want) {
			t.Errorf("embedded %q, want %q", got, want)
		}
		for text, want := range map[string]string{
			"$t: Tag  $t.near is not null } return { count($t) as n":                                     `{"n":248}`,
			"$t: Tag } return { count($t) as n":                                                          `{"n":249}`,
			"$t: Desk } return { $t.floor as f, $t.size as s, $t.place as p, $t.also as a, $t.note as t": `{"f":9007199254740993,"s":5,"p":[1,2],"a":[7,8,9],"t":"n"}`,
		} {
			a, err := s.graph.Query(t.Context(), client.QueryBody{Query: "query q() { match { " + text + " } }"})
			if err != nil {
				t.Fatal(err)
			}
			var raw json.RawMessage
			if err := a.Rows[0].Decode(&raw); err != nil || string(raw) != want {
				t.Errorf("%s: %s, want %s (%v)", text, raw, want, err)
			}
		}
	}
}

// TestEmbedSchemas says before the first request why the command cannot embed some rows, and what can.
func TestEmbedSchemas(t *testing.T) {
	s := embedGraph(t, `node Doc { name: String @key  body: Blob  near: Vector(3)? @embed("name") }`, embed.Mock{})
	_, err := (&embedder{graph: s.graph, notes: io.Discard, patience: time.Minute}).run(t.Context(), nil)
	if err == nil || !strings.Contains(err.Error(), "required Blob body") || !strings.Contains(err.Error(), "--mode patch") {
		t.Error(err)
	}
	loadLines(t, s, `{"type":"Doc","data":{"name":"a","body":"base64:aGk=","near":null}}`)
	if _, err := s.graph.Load(t.Context(), strings.NewReader(`{"type":"Doc","data":{"name":"a"}}`), client.LoadQuery{Mode: client.ModePatch}); err != nil {
		t.Fatal(err)
	}
	a, err := s.graph.Query(t.Context(), client.QueryBody{Query: "query q() { match { $d: Doc  $d.near is not null } return { count($d) as n } }"})
	if err != nil {
		t.Fatal(err)
	}
	var row struct{ N int }
	if err := a.Rows[0].Decode(&row); err != nil || row.N != 1 {
		t.Errorf("%d rows have a vector (%v)", row.N, err)
	}
}

// TestEmbedSettings ends at once if the settings of the provider are at fault, which no wait can mend.
func TestEmbedSettings(t *testing.T) {
	asked := 0
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		http.Error(w, "API key not valid", http.StatusBadRequest)
	}))
	defer provider.Close()
	for want, through := range map[string]bool{"API key not valid": false, "settings of the graph": true} {
		p, err := embed.NewOpenAI(embed.Config{BaseURL: provider.URL, Model: "m"})
		if err != nil {
			t.Fatal(err)
		}
		s := embedGraph(t, `node Post { slug: String @key  body: String?  near: Vector(3)? @embed("body") }`, p)
		loadLines(t, s, `{"type":"Post","data":{"slug":"a","body":"x","near":null}}
{"type":"Post","data":{"slug":"b","body":"y","near":null}}`)
		g := s.graph
		if through {
			g = throughServer(t, s)
		}
		asked = 0
		r, err := (&embedder{graph: g, notes: io.Discard, patience: time.Minute}).run(t.Context(), nil)
		if err == nil || !strings.Contains(err.Error(), want) || len(r.doc.(map[string]any)["refused"].([]embedRefusal)) != 0 || asked != 2 {
			t.Errorf("%d requests, error %v, report %v", asked, err, r.doc)
		}
	}
}

// freeMemory is a budget that always has memory.
type freeMemory struct{}

func (freeMemory) Take(int64) bool { return true }
func (freeMemory) Give(int64)      {}
func (freeMemory) Limit() int64    { return math.MaxInt64 }

// TestEmbedLargeText reads rows one by one if a page of them exceeds an answer, and skips one that exceeds it alone.
func TestEmbedLargeText(t *testing.T) {
	s := embedGraph(t, `node Post { slug: String @key  body: String?  near: Vector(3)? @embed("body") }`, embed.Mock{})
	var lines strings.Builder
	for i, size := range []int{1, 5, 2, 1} {
		fmt.Fprintf(&lines, `{"type":"Post","data":{"slug":"p%d","body":%q,"near":null}}`+"\n", i, strings.Repeat("x", size<<20-1000))
	}
	loadLines(t, s, lines.String())
	e := &endpoint{store: t.TempDir()}
	keys, err := e.pageKeys(t.Context(), s.store.Graph)
	if err != nil {
		t.Fatal(err)
	}
	if s.store.served, err = servedgraph.NewGraph(t.Context(), servedgraph.Config{ID: s.store.served.ID(), Graph: s.store.Graph, Authorizer: policy.Unrestricted(s.store.served.ID()),
		Limits: servedgraph.Limits{AnswerBytes: 7 << 19}, Memory: freeMemory{}, PageKeys: keys, Logger: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatal(err)
	}
	r, err := (&embedder{graph: throughServer(t, s), notes: io.Discard, patience: time.Minute}).run(t.Context(), nil)
	if r == nil {
		t.Fatal(err)
	}
	p := r.rows[0].(*embedProperty)
	refused := r.doc.(map[string]any)["refused"].([]embedRefusal)
	if err == nil || p.Embedded != 3 || p.Refused != 1 || p.Missing != 1 || len(refused) != 1 || refused[0].ID != "p1" {
		t.Errorf("error %v, %d embedded, %d refused, %d missing", err, p.Embedded, len(refused), p.Missing)
	}
}

// TestEmbedWaits waits also while it counts the rows.
func TestEmbedWaits(t *testing.T) {
	s := embedGraph(t, `node Post { slug: String @key  body: String?  near: Vector(3)? @embed("body") }`, embed.Mock{})
	loadLines(t, s, `{"type":"Post","data":{"slug":"a","body":"x","near":null}}`)
	served, fails := s.store.served, 1
	api := rest.Handler(map[string]*servedgraph.Graph{served.ID(): served}, rest.Options{MaxBody: 32 << 20, MaxText: 32 << 20, MaxLoad: math.MaxInt64})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && fails > 0 {
			fails--
			http.Error(w, `{"error":"later","code":"internal"}`, http.StatusServiceUnavailable)
			return
		}
		api.ServeHTTP(w, r.WithContext(access.WithActor(r.Context(), s.store.actor)))
	}))
	defer server.Close()
	remote, err := newRemote(&endpoint{server: server.URL, graph: served.ID()}, nil, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	r, err := (&embedder{graph: remote.graph, notes: io.Discard, patience: time.Minute}).run(t.Context(), nil)
	if err != nil || r.rows[0].(*embedProperty).Embedded != 1 || fails != 0 {
		t.Errorf("error %v, report %v", err, r)
	}
}

// TestEmbedFaults ends at the first write that fails for another reason than its texts, here a message that is too long.
func TestEmbedFaults(t *testing.T) {
	for _, remote := range []bool{false, true} {
		s := embedGraph(t, `node Post { slug: String @key  body: String?  near: Vector(3)? @embed("body") }`, embed.Mock{})
		loadLines(t, s, `{"type":"Post","data":{"slug":"a","body":"x","near":null}}
{"type":"Post","data":{"slug":"b","body":"y","near":null}}`)
		g := s.graph
		if remote {
			g = throughServer(t, s)
		}
		r, err := (&embedder{graph: g, message: strings.Repeat("m", 10000), notes: io.Discard, patience: time.Minute}).run(t.Context(), nil)
		if err == nil || !strings.Contains(err.Error(), "message") || strings.Contains(err.Error(), "refused") || len(r.doc.(map[string]any)["refused"].([]embedRefusal)) != 0 {
			t.Errorf("error %v, report %v", err, r.doc)
		}
	}
}

package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/embed"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/slow"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

var embedRows = flag.Int("embed.rows", 700, "the number of nodes of TestEmbed")

// hardProvider answers with vectors that depend on the text. It fails, limits and stalls, and refuses some texts.
type hardProvider struct {
	url      string
	mu       sync.Mutex
	requests int
	answered map[string]int // by text: the number of vectors that were sent
	during   func(request int)
}

func newHardProvider(t *testing.T) *hardProvider {
	p := &hardProvider{answered: map[string]int{}, during: func(int) {}}
	end := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.requests++
		p.during(p.requests)
		switch {
		case p.requests%41 == 17:
			p.mu.Unlock()
			select { // a request that gets no answer
			case <-r.Context().Done():
			case <-end:
			}
			p.mu.Lock()
			return
		case p.requests%13 == 5:
			http.Error(w, "out of order", http.StatusInternalServerError)
			return
		case p.requests%7 == 3:
			w.Header().Set("Retry-After", "0")
			http.Error(w, "slow down", http.StatusTooManyRequests)
			return
		}
		var items []string
		for i, text := range in.Input {
			if strings.Contains(text, "forbidden") {
				http.Error(w, "this text is not allowed", http.StatusBadRequest)
				return
			}
			items = append(items, fmt.Sprintf(`{"index":%d,"embedding":%s}`, i, vectorText(text)))
		}
		for _, text := range in.Input {
			p.answered[text]++
		}
		fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(items, ","))
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(end) })
	p.url = server.URL
	return p
}

// vectorText returns the vector of a text as JSON.
func vectorText(text string) string {
	sum := 0
	for i, b := range []byte(text) {
		sum += (i + 1) * int(b)
	}
	return fmt.Sprintf("[%d,%d,1]", sum%65536, len(text))
}

// embedGraph opens a graph in memory as the verbs open a store.
func embedGraph(t *testing.T, schema string, provider engine.Embedder) *source {
	t.Helper()
	declared, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: schema})
	if faults.HasErrors() {
		t.Fatal(faults)
	}
	g, err := embedded.Create(t.Context(), fs.NewMem(), "g", schema, declared, embedded.Options{Embedder: provider})
	if err != nil {
		t.Fatal(err)
	}
	e := &endpoint{store: t.TempDir()}
	served, err := e.local(t.Context(), g, slog.New(slog.DiscardHandler), func(string, error) {}, servedgraph.Limits{Timeout: noTimeLimit}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := newLocal(&store{Graph: g, served: served, actor: e.localActor()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestEmbed embeds nodes and edges with a provider that fails, limits, stalls and refuses, while rows change, and while the
// command is stopped and run again. Each row then has the vector of its text, and the provider computed none twice, except for
// the batch in which the command was stopped.
func TestEmbed(t *testing.T) {
	slow.Test(t)
	const schema = `node Post { slug: String @key  body: String?  face: Vector(3)? @embed("body") }
edge Cites: Post -> Post { why: String?  near: Vector(3)? @embed("why", model="m") }`
	p := newHardProvider(t)
	provider, err := embed.NewOpenAI(embed.Config{BaseURL: p.url, Model: "m", Timeout: 2 * time.Second, Tries: 3})
	if err != nil {
		t.Fatal(err)
	}
	s := embedGraph(t, schema, provider)
	rows := *embedRows
	var lines strings.Builder
	for i := range rows {
		text := fmt.Sprintf("text %d", i)
		if i%(rows/2) == 77 {
			text += " forbidden"
		}
		body, _ := json.Marshal(text)
		if i%500 == 9 {
			body = []byte("null")
		}
		fmt.Fprintf(&lines, `{"type":"Post","data":{"slug":"p%d","body":%s,"face":null}}`+"\n", i, body)
	}
	for i := range 120 {
		fmt.Fprintf(&lines, `{"edge":"Cites","from":"p%d","to":"p%d","data":{"why":"edge %d","near":null}}`+"\n", i, i+1, i)
	}
	if _, err := s.graph.Load(t.Context(), strings.NewReader(lines.String()), client.LoadQuery{Mode: "append"}); err != nil {
		t.Fatal(err)
	}

	mutate := func(text string) {
		params := map[string]any{"none": nil, "nines": []int{9, 9, 9}}
		if _, err := s.graph.Mutate(t.Context(), client.MutateBody{Query: text, Params: params}); err != nil {
			t.Error(err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stops := 0
	p.during = func(request int) {
		switch {
		case request == 1: // rows of this batch change while it is computed; the texts are not sent to the provider, because the vector is given
			mutate(`query q($none: Vector(3)?, $nines: Vector(3)) { update Post set { body: "other", face: $none } where slug = "p1" update Post set { face: $nines } where slug = "p10" delete Post where slug = "p100" }`)
		case request == 4, request == 9, request%300 == 0:
			stops++
			stop()
		}
	}
	start := clock.Now()
	runs, total := 0, int64(0)
	var r *report
	for {
		if runs++; runs > 20 {
			t.Fatal("the command does not end")
		}
		e := &embedder{graph: s.graph, message: "embed", notes: io.Discard, patience: time.Minute}
		r, err = e.run(ctx, nil)
		for _, row := range r.rows {
			total += row.(*embedProperty).Embedded
		}
		if ctx.Err() == nil {
			break
		}
		if err == nil {
			t.Error("a command that was stopped has no error")
		}
		ctx, stop = context.WithCancel(t.Context())
	}
	stop()
	if stops == 0 || runs != stops+1 {
		t.Errorf("%d runs, stopped %d times", runs, stops)
	}
	if err == nil || !strings.Contains(err.Error(), "refused 2 texts") || len(r.doc.(map[string]any)["refused"].([]embedRefusal)) != 2 {
		t.Errorf("error %v, report %v", err, r.note)
	}
	took := clock.Since(start)
	t.Logf("%d nodes and 120 edges in %.1f s, %d requests, stopped %d times", rows, took.Seconds(), p.requests, stops)

	twice := 0
	for text, n := range p.answered {
		if n > 1 {
			twice += n - 1
		}
		if strings.Contains(text, "forbidden") {
			t.Errorf("%q was embedded", text)
		}
	}
	if twice > stops*embedBatch+1 { // and the row that changed
		t.Errorf("the provider computed %d vectors again, although the command was stopped %d times only", twice, stops)
	}
	without, with := 0, 0
	for _, q := range []string{
		`query q() { match { $p: Post } return { $p.slug as id, $p.body as text, $p.face as vector } }`,
		`query q() { match { $_ $e:cites $_ } return { $e.id as id, $e.why as text, $e.near as vector } }`,
	} {
		for row, err := range s.graph.QueryRows(t.Context(), client.QueryBody{Query: q}, 10000) {
			if err != nil {
				t.Fatal(err)
			}
			var v struct {
				ID, Text string
				Vector   json.RawMessage
			}
			if err := row.Decode(&v); err != nil {
				t.Fatal(err)
			}
			want := "null"
			switch {
			case v.ID == "p10":
				want = "[9,9,9]"
			case v.Text != "" && !strings.Contains(v.Text, "forbidden"):
				want = vectorText(v.Text)
			}
			if string(v.Vector) != want {
				t.Errorf("%s with the text %q has the vector %s, want %s", v.ID, v.Text, v.Vector, want)
			}
			if want == "null" {
				without++
			} else {
				with++
			}
		}
	}
	if texts := (rows + 490) / 500; without != 2+texts {
		t.Errorf("%d rows have no vector", without)
	}
	if total > int64(with) { // a stopped run may not have seen the answer to its last commit
		t.Errorf("%d rows were reported as embedded, but %d have a vector", total, with)
	}
}

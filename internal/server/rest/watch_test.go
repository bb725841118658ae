package rest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// broadcastingPeople is like broadcasting, over a graph for which there are stored queries.
func broadcastingPeople(t *testing.T) *broadcast {
	t.Helper()
	g, err := embedded.Create(t.Context(), fs.NewMem(), "people", servedtest.Source, servedtest.Schema(t), embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	b := &broadcast{zoo: &zoo{T: t, g: g}}
	b.expire(time.Time{})
	stopping, stop := context.WithCancel(t.Context())
	b.stop = stop
	t.Cleanup(stop)
	c := servedtest.Config(t)
	c.Graph, c.Authorizer = g, changing{broadcast: b}
	b.h = rest.Handler(map[string]*servedgraph.Graph{"people": servedtest.Graph(t, c)}, rest.Options{Stopping: stopping})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.h.ServeHTTP(w, r.WithContext(access.WithActor(r.Context(), b.actor.Load())))
	}))
	t.Cleanup(s.Close)
	b.url = s.URL
	return b
}

// watch makes a watch of ada, and returns its id.
func (b *broadcast) watch(debounceMs int) string {
	b.Helper()
	resp, err := http.Post(b.url+"/graphs/people/watches", "application/json", strings.NewReader(fmt.Sprintf(`{"query":"find_person","params":{"name":"ada"},"debounce_ms":%d}`, debounceMs)))
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	var w client.Watch
	if err := json.NewDecoder(resp.Body).Decode(&w); err != nil || resp.StatusCode != 200 {
		b.Fatalf("create a watch: %d %v", resp.StatusCode, err)
	}
	return w.ID
}

// watchEvent returns the next event of a stream, which must be one of a watch.
func (s *stream) watchEvent() (e client.WatchEvent, id string) {
	s.Helper()
	next, ok := s.next()
	if err := json.Unmarshal([]byte(next.data), &e); !ok || err != nil || next.name != client.FeedWatch {
		s.Fatalf("got %+v, %v, want an event of a watch", next, err)
	}
	return e, next.id
}

// grow sets the age of ada.
func (b *broadcast) grow(age int) {
	b.Helper()
	_, err := b.g.Load(b.Context(), strings.NewReader(fmt.Sprintf(`{"type":"Person","data":{"name":"ada","age":%d}}`, age)), engine.LoadOptions{Mode: engine.Patch})
	if err != nil {
		b.Fatal(err)
	}
}

// TestWatchStream reads a watch as a stream, disconnects after an event, and resumes with its id. Each change is told once.
func TestWatchStream(t *testing.T) {
	b := broadcastingPeople(t)
	b.load(`{"type":"Person","data":{"name":"ada","age":1}}`)
	id := b.watch(0)
	path := "/watches/" + id + "/events"
	s := b.stream(path, "", 200)
	e, last := s.watchEvent()
	if e.Reset == nil || *e.Reset != client.ResetFirst || len(e.Rows) != 1 {
		t.Fatalf("the first event is %+v", e)
	}
	row := func(age int) string { return fmt.Sprintf(`{"p.name":"ada","p.age":%d}`, age) }
	was := string(e.Rows[0])
	for age := 10; age < 14; age++ {
		b.grow(age)
		if age == 12 { // the change is made while nobody listens
			s.resp.Body.Close()
			s = b.stream(path, last, 200)
		}
		e, last = s.watchEvent()
		if len(e.Changed) != 1 || string(e.Changed[0].Before) != was || !strings.Contains(string(e.Changed[0].After), fmt.Sprint(age)) {
			t.Fatalf("the event after age %d is %+v, want a change from %s to %s", age, e, was, row(age))
		}
		was = string(e.Changed[0].After)
	}
	for _, bad := range []string{"nope", "commit:" + last, "watch:"} {
		b.stream(path, bad, 400)
	}
	b.stream("/watches/none/events", "", 404)
	// When the rights go away, the stream ends with the fault, and with nothing else.
	b.denied.Store(true)
	b.grow(20)
	if data := s.ended(client.FeedFault); strings.Contains(data, "ada") {
		t.Errorf("the last event shows %s", data)
	}
	b.denied.Store(false)
	s = b.stream(path, last, 200)
	if e, _ = s.watchEvent(); len(e.Changed) != 1 || string(e.Changed[0].Before) != was {
		t.Errorf("with the rights back the event is %+v", e)
	}
	// With a stop, the stream ends, and names the cursor to continue from.
	b.stop()
	var end client.FeedEnd
	if err := json.Unmarshal([]byte(s.ended(client.FeedEnded)), &end); err != nil || end.Reason != client.FeedStopping || end.Cursor == nil || *end.Cursor != e.Cursor {
		t.Errorf("the end is %+v, %v", end, err)
	}
}

// TestWatchDebounce makes several commits within the time for which a watch waits. Fewer events than commits tell them all.
func TestWatchDebounce(t *testing.T) {
	b := broadcastingPeople(t)
	b.load(`{"type":"Person","data":{"name":"ada","age":1}}`)
	s := b.stream("/watches/"+b.watch(1500)+"/events", "", 200)
	first, _ := s.watchEvent()
	was, commits, events := string(first.Rows[0]), 8, 0
	for age := range commits {
		b.grow(10 + age)
	}
	for !strings.Contains(was, fmt.Sprint(10+commits-1)) {
		e, _ := s.watchEvent()
		if events++; len(e.Changed) != 1 || string(e.Changed[0].Before) != was {
			t.Fatalf("the event is %+v, want a change from %s", e, was)
		}
		was = string(e.Changed[0].After)
	}
	if events >= commits {
		t.Errorf("%d commits made %d events", commits, events)
	}
}

// TestWatchFollow follows a watch with the client over a server that closes its streams.
func TestWatchFollow(t *testing.T) {
	b := broadcastingPeople(t)
	b.load(`{"type":"Person","data":{"name":"ada","age":1}}`)
	c, err := client.New(b.url)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	g := c.Graph("people")
	id, ages := b.watch(0), []string{}
	for e, err := range g.WatchEvents(t.Context(), id, "") {
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range e.Rows {
			ages = append(ages, string(row))
		}
		for _, change := range e.Changed {
			ages = append(ages, string(change.After))
		}
		if len(ages) == 3 {
			break
		}
		b.grow(len(ages) + 40)
	}
	if want := []string{"1}", "41}", "42}"}; !slices.EqualFunc(ages, want, strings.HasSuffix) {
		t.Errorf("the rows are %q, want ages %q", ages, want)
	}
}

// TestWatchIsSubscription checks which requests count as streams.
func TestWatchIsSubscription(t *testing.T) {
	for path, want := range map[string]bool{
		"/graphs/code/watches/" + rest.ExampleWatch + "/events": true, "/graphs/code/watches": false, "/graphs/code/watches/events": false, "/graphs/code/watches/x": false,
	} {
		r := httptest.NewRequest("GET", path, nil)
		r.Header.Set("Accept", "text/event-stream")
		if got := rest.IsSubscription(r); got != want {
			t.Errorf("%s: %t, want %t", path, got, want)
		}
	}
}

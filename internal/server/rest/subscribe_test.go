package rest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// broadcast is a zoo over HTTP, with a policy that a test can change.
type broadcast struct {
	*zoo
	url    string
	denied atomic.Bool // the policy denies everything
	hidden sync.Map    // branches that the policy denies, each as a string
	actor  atomic.Pointer[access.Actor]
	stop   context.CancelFunc // makes the server begin to stop
}

// Allowed decides as the usual policy of the tests does, unless everything is denied.
func (b *broadcast) Allowed(a *access.Actor, g tool.Grant) bool {
	_, hidden := b.hidden.Load(g.Branch.Name())
	return !hidden && !b.denied.Load() && servedtest.Policy{}.Allowed(a, g)
}

// changing is the policy of a broadcast.
type changing struct {
	servedtest.Policy
	*broadcast
}

func (c changing) Allowed(a *access.Actor, g tool.Grant) bool { return c.broadcast.Allowed(a, g) }

// expire sets when the token of the actor of later requests expires.
func (b *broadcast) expire(at time.Time) {
	a := *servedtest.Writer
	a.Expires = at
	b.actor.Store(&a)
}

func broadcasting(t *testing.T) *broadcast {
	var b *broadcast
	overZoos(t, func(z *zoo) {
		if b != nil || strings.HasSuffix(z.Name(), "naive") {
			return
		}
		b = &broadcast{zoo: &zoo{T: t, g: z.g}}
	})
	b.expire(time.Time{})
	stopping, stop := context.WithCancel(t.Context())
	b.stop = stop
	c := servedtest.Config(t)
	c.Graph, c.Authorizer = b.g, changing{broadcast: b}
	h := rest.Handler(map[string]*servedgraph.Graph{"people": servedtest.Graph(t, c)}, rest.Options{Stopping: stopping})
	b.h = h
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(access.WithActor(r.Context(), b.actor.Load())))
	}))
	t.Cleanup(s.Close)
	t.Cleanup(stop)
	b.url = s.URL
	return b
}

// event is a server-sent event.
type event struct{ name, id, data string }

// stream is an open subscription.
type stream struct {
	*testing.T
	resp  *http.Response
	lines *bufio.Reader
}

// subscribe opens a stream of the change feed. The answer must have the status.
func (b *broadcast) subscribe(query, lastEvent string, status int) *stream {
	b.Helper()
	return b.stream("/changes?"+query, lastEvent, status)
}

// stream opens a stream of events at a path of the graph. The answer must have the status.
func (b *broadcast) stream(query, lastEvent string, status int) *stream {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), 2*time.Minute)
	b.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, "GET", b.url+"/graphs/people"+query, nil)
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	if lastEvent != "" {
		r.Header.Set("Last-Event-ID", lastEvent)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { resp.Body.Close() })
	s := &stream{b.T, resp, bufio.NewReader(resp.Body)}
	if resp.StatusCode != status {
		text, _ := s.lines.ReadString(0)
		b.Fatalf("%s: got %d %s, want %d", query, resp.StatusCode, text, status)
	}
	return s
}

// next returns the next event; ok is false at the end of the stream.
func (s *stream) next() (e event, ok bool) {
	s.Helper()
	for {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			return e, false
		}
		line = strings.TrimSuffix(line, "\n")
		name, value, _ := strings.Cut(line, ": ")
		switch {
		case line == "" && e.data != "":
			return e, true
		case name == "event":
			e.name = value
		case name == "id":
			e.id = value
		case name == "data":
			e.data = value
		}
	}
}

// page returns the page of the next event, which must have one.
func (s *stream) page() (page client.ChangeFeed, id string) {
	s.Helper()
	e, ok := s.next()
	if err := json.Unmarshal([]byte(e.data), &page); !ok || err != nil || e.name != client.FeedChanges {
		s.Fatalf("got %+v, %v, want a page", e, err)
	}
	return page, e.id
}

// ended checks that the next event ends the stream, and returns its data.
func (s *stream) ended(name string) string {
	s.Helper()
	e, ok := s.next()
	if !ok || e.name != name {
		s.Fatalf("got %+v, want the event %s", e, name)
	}
	if more, ok := s.next(); ok {
		s.Errorf("the stream goes on with %+v", more)
	}
	return e.data
}

// TestSubscribe reads a stream, disconnects after each event, and resumes with the id of the event. The
// pages must be the same as without the disconnections.
func TestSubscribe(t *testing.T) {
	b := broadcasting(t)
	var apes []string
	for i := range 7 {
		apes = append(apes, fmt.Sprintf(`{"type":"Ape","data":{"name":"n%d"}}`, i))
	}
	b.load(apes...)
	s := b.subscribe("limit=3", "", 200)
	if media := s.resp.Header.Get("Content-Type"); media != "text/event-stream" {
		t.Errorf("the media type is %s", media)
	}
	var whole, resumed []string
	list := func(to *[]string, page client.ChangeFeed) {
		for _, block := range page.Blocks {
			*to = append(*to, block.Cause.GraphCommitID+" "+strings.Join(places(block.Changes), ", "))
		}
	}
	for done := false; !done; {
		page, _ := s.page()
		list(&whole, page)
		done = page.CaughtUp
	}
	added := b.load(`{"type":"Ape","data":{"name":"late"}}`)
	page, id := s.page()
	if list(&whole, page); id != "commit:"+added || !page.CaughtUp || *page.Cursor != added {
		t.Errorf("a new commit makes the event %s with %+v", id, page)
	}
	for last := ""; last != "commit:"+added; {
		// The cursor and the start of the query are those of the first request, as a browser sends them.
		s := b.subscribe("limit=3&start=earliest", last, 200)
		page, last = s.page()
		list(&resumed, page)
		s.resp.Body.Close()
	}
	if len(whole) != 5 || !slices.Equal(whole, resumed) {
		t.Errorf("the stream had\n%s\nand with disconnections\n%s", strings.Join(whole, "\n"), strings.Join(resumed, "\n"))
	}
	for _, bad := range []string{"nope", "commit:", "page:x"} {
		b.subscribe("", bad, 400)
	}
	b.subscribe("", "commit:nope", 404)
	b.subscribe("branch=nope", "", 404)
}

// TestSubscriptionEnds checks the last event of a stream for each reason.
func TestSubscriptionEnds(t *testing.T) {
	end := func(t *testing.T, b *broadcast, s *stream, reason, cursor string) {
		t.Helper()
		var e client.FeedEnd
		if err := json.Unmarshal([]byte(s.ended(client.FeedEnded)), &e); err != nil || e.Reason != reason || e.Cursor == nil || *e.Cursor != cursor {
			t.Fatalf("the stream ends with %+v, %v, want %s at %s", e, err, reason, cursor)
		}
		b.expire(time.Time{})
		added := b.load(`{"type":"Ape","data":{"name":"later"}}`)
		if page := b.feed("cursor=" + *e.Cursor); len(page.Blocks) != 1 || page.Blocks[0].Cause.GraphCommitID != added {
			t.Errorf("the cursor of the end continues with %+v", page)
		}
	}
	t.Run("stop", func(t *testing.T) {
		b := broadcasting(t)
		s := b.subscribe("start=latest", "", 200)
		page, _ := s.page()
		b.stop()
		end(t, b, s, client.FeedStopping, *page.Cursor)
	})
	t.Run("expiry", func(t *testing.T) {
		b := broadcasting(t)
		b.expire(clock.Now().Add(300 * time.Millisecond))
		s := b.subscribe("start=latest", "", 200)
		page, _ := s.page()
		end(t, b, s, client.FeedTokenExpired, *page.Cursor)
	})
	t.Run("within a commit", func(t *testing.T) {
		b := broadcasting(t)
		old := b.load(`{"type":"Ape","data":{"name":"old"}}`)
		b.load(`{"type":"Ape","data":{"name":"seen"}}`)
		b.load(`{"type":"Ape","data":{"name":"a"}}`, `{"type":"Ape","data":{"name":"b"}}`, `{"type":"Ape","data":{"name":"c"}}`)
		s := b.subscribe("limit=1&cursor="+old, "", 200)
		s.page()
		_, id := s.page()
		b.expire(clock.Now().Add(-time.Second))
		s = b.subscribe("limit=1&cursor="+old, id, 200)
		if page, _ := s.page(); page.NextPageToken == nil {
			t.Fatalf("the page after %s is %+v", id, page)
		}
		var e client.FeedEnd
		if err := json.Unmarshal([]byte(s.ended(client.FeedEnded)), &e); err != nil || e.Cursor != nil {
			t.Errorf("the stream has sent no whole commit, and ends with the cursor %v, %v", e.Cursor, err)
		}
	})
	t.Run("denial", func(t *testing.T) {
		b := broadcasting(t)
		s := b.subscribe("start=latest", "", 200)
		s.page()
		b.denied.Store(true)
		b.load(`{"type":"Ape","data":{"name":"secret"}}`)
		var e client.Envelope
		if err := json.Unmarshal([]byte(s.ended(client.FeedFault)), &e); err != nil || e.Code != client.CodeForbidden {
			t.Errorf("the stream ends with %+v, %v", e, err)
		}
		b.subscribe("start=latest", "", 403)
	})
	t.Run("gap", func(t *testing.T) {
		b := broadcasting(t)
		old := b.load(`{"type":"Ape","data":{"name":"a"}}`)
		b.load(`{"type":"Ape","data":{"name":"b"}}`)
		b.load(`{"type":"Ape","data":{"name":"c"}}`)
		if _, err := b.g.Cleanup(t.Context(), engine.CleanupOptions{KeepCommits: 1}); err != nil {
			t.Fatal(err)
		}
		b.subscribe("cursor="+old, "", 410)
	})
}

// TestSubscriptionFilter checks that commits without selected changes make no event, and that the
// stream then goes on behind them.
func TestSubscriptionFilter(t *testing.T) {
	b := broadcasting(t)
	s := b.subscribe("start=latest&type=Zebra", "", 200)
	s.page()
	b.load(`{"type":"Ape","data":{"name":"a"}}`)
	zebra := b.load(`{"type":"Zebra","data":{"name":"z"}}`)
	page, id := s.page()
	if len(page.Blocks) != 1 || page.Blocks[0].Cause.GraphCommitID != zebra || id != "commit:"+zebra {
		t.Errorf("the event %s has %+v", id, page)
	}
}

// TestLargeSchemas reads commits that change a large schema. The texts of the schemas must count as
// values when the server ends an event.
func TestLargeSchemas(t *testing.T) {
	b := broadcasting(t)
	const commits = 5
	source := zooPG + "// " + strings.Repeat("x", 100<<10) + "\n"
	for i := range commits {
		source += fmt.Sprintf("node Extra%d { id: String @key }\n", i)
		b.apply(source)
	}
	s, blocks := b.subscribe("", "", 200), 0
	for done := false; !done; {
		page, _ := s.page()
		if len(page.Blocks) > 4 { // the first commit, and three large schemas
			t.Errorf("an event has %d blocks", len(page.Blocks))
		}
		blocks += len(page.Blocks)
		done = page.CaughtUp
	}
	if blocks != commits+1 {
		t.Errorf("the events have %d blocks, want %d", blocks, commits+1)
	}
}

// TestSlowSubscribers opens streams over far more data than the connections can hold, and reads
// nothing. Each stream must keep no more than about one event in memory.
func TestSlowSubscribers(t *testing.T) {
	b := broadcasting(t)
	const entities, size, subscribers = 8_000, 2_000, 8 // each id is in the stream twice: 32 MB
	var lines []string
	for i := range entities {
		lines = append(lines, fmt.Sprintf(`{"type":"Ape","data":{"name":"%06d%s"}}`, i, strings.Repeat("x", size)))
	}
	b.load(lines...)
	lines = nil
	b.feed("limit=1") // restores the state of the commit
	before := heap()
	var streams []*stream
	for range subscribers {
		streams = append(streams, b.subscribe("limit=10000", "", 200))
	}
	staysBounded(t, before, subscribers)
	n := 0
	for done := false; !done; {
		page, _ := streams[0].page()
		for _, block := range page.Blocks {
			n += len(block.Changes)
		}
		done = page.CaughtUp
	}
	if n != entities {
		t.Errorf("the slow subscriber received %d changes, want %d", n, entities)
	}
}

// heap returns the number of bytes of live objects.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// staysBounded checks that subscribers that read nothing cost at most 4 MiB each. The argument `before` is the
// heap without them.
func staysBounded(t *testing.T, before, subscribers int64) {
	t.Helper()
	// The server first makes events until the connections are full. After that, memory without a bound
	// would not shrink again.
	time.Sleep(time.Second)
	each := (heap() - before) / subscribers
	for deadline := clock.Now().Add(30 * time.Second); each > 4<<20 && clock.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		each = (heap() - before) / subscribers
	}
	t.Logf("a subscriber that reads nothing costs %d bytes", each)
	if each > 4<<20 {
		t.Error("these are more than 4 MiB")
	}
}

// TestFollow follows a feed with the client while the server ends the stream again and again.
func TestFollow(t *testing.T) {
	b := broadcasting(t)
	c, err := client.New(b.url)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	b.expire(clock.Now().Add(400 * time.Millisecond)) // ends the first stream
	r, n := &replica{entities: map[string]map[string]any{}}, 0
	for page, err := range c.Graph("people").Follow(ctx, client.FeedQuery{Limit: 2}) {
		if err != nil {
			t.Fatal(err)
		}
		if err := r.apply(page); err != nil {
			t.Fatal(err)
		}
		if !page.CaughtUp {
			continue
		}
		if n++; n == 4 {
			break
		}
		if n == 2 {
			time.Sleep(500 * time.Millisecond) // until the token has expired
			b.expire(time.Time{})
		}
		b.load(fmt.Sprintf(`{"type":"Ape","data":{"name":"a%d"}}`, n), fmt.Sprintf(`{"type":"Ape","data":{"name":"b%d"}}`, n), fmt.Sprintf(`{"type":"Zebra","data":{"name":"c%d"}}`, n))
	}
	want, _ := exported(t, do(b.h, servedtest.Writer, "POST", "/graphs/people/export", "{}").Body.String())
	if sameEntities(t, "after Follow", r.entities, want); len(want) != 9 {
		t.Errorf("the graph has %d entities", len(want))
	}
}

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// feedKills is how often the tests of the change feed kill a server. The long form uses 20 kills.
var feedKills = flag.Int("feed.kills", 2, "how often the tests of the change feed kill a server")

// subscriber applies a change feed. It fails the test at a gap and at a repeated block.
type subscriber struct {
	t        *testing.T
	mu       sync.Mutex
	entities map[string]map[string]any // by kind, type and id
	commit   string                    // the last whole commit
	part     string                    // the commit that the subscriber has in part; empty if none
	blocks   int
}

func newSubscriber(t *testing.T) *subscriber {
	return &subscriber{t: t, entities: map[string]map[string]any{}}
}

// apply applies a page.
func (s *subscriber) apply(page *client.ChangeFeed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range page.Blocks {
		b := &page.Blocks[i]
		id, parent := b.Cause.GraphCommitID, ""
		if b.Cause.ParentCommitID != nil {
			parent = *b.Cause.ParentCommitID
		}
		if s.part != "" && s.part != id || s.part == "" && parent != s.commit {
			s.t.Errorf("block %s, whose parent is %s, follows %s (in part: %q)", id, parent, s.commit, s.part)
		}
		if s.part == "" {
			s.blocks++
		}
		if s.commit, s.part = id, ""; page.NextPageToken != nil && i == len(page.Blocks)-1 {
			s.part = id
		}
		for j := range b.Changes {
			s.change(id, &b.Changes[j])
		}
	}
}

// change applies a change of a commit. REQUIRES: s.mu is held.
func (s *subscriber) change(commit string, c *client.EntityChange) {
	key := c.Kind + " " + c.Type.Name + " " + c.ID
	if before := imageOf(c.Before, c.ID); !reflect.DeepEqual(before, s.entities[key]) {
		s.t.Errorf("commit %s: %s was %v, and the image before is %v", commit, key, s.entities[key], before)
	}
	delete(s.entities, key)
	if c.After != nil {
		s.entities[key] = imageOf(c.After, c.ID)
	}
}

// imageOf returns the values of an image that an export has; nil without an image.
func imageOf(i *client.EntityImage, id string) map[string]any {
	if i == nil {
		return nil
	}
	all := map[string]any{"id": id}
	for name, v := range i.Properties {
		if string(v) != "null" {
			all[name] = exact(v)
		}
	}
	if i.Endpoints != nil {
		all["from"], all["to"] = i.Endpoints.From.String(), i.Endpoints.To.String()
	}
	return all
}

// exact decodes JSON and keeps every digit of numbers.
func exact(b []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return err
	}
	return v
}

// at reports whether the subscriber has a commit and nothing after it.
func (s *subscriber) at(commit string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.commit == commit && s.part == ""
}

// compare compares the entities with an export.
func (s *subscriber) compare(export string) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	want := map[string]map[string]any{}
	for line := range strings.Lines(export) {
		var l struct {
			Type, Edge, From, To string
			Data                 map[string]json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			s.t.Fatalf("%v: %s", err, line)
		}
		values, key := map[string]any{}, "node "+l.Type
		for name, v := range l.Data {
			values[name] = exact(v)
		}
		if l.Edge != "" {
			key = "edge " + l.Edge
			values["from"], values["to"] = l.From, l.To
		}
		want[key+" "+fmt.Sprint(values["id"])] = values
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if !reflect.DeepEqual(s.entities[key], want[key]) {
			s.t.Errorf("%s is %v, and the export has %v", key, s.entities[key], want[key])
		}
	}
	if len(s.entities) != len(want) {
		s.t.Errorf("the subscriber has %d entities, and the export %d", len(s.entities), len(want))
	}
}

// TestFeedOverKills follows the change feed while clients write and load, and kills the server with
// SIGKILL. One call of Follow lasts over all kills. The subscriber must receive every commit once.
func TestFeedOverKills(t *testing.T) {
	dir := clusterDir(t)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := ln.Addr().String()
	ln.Close()
	p := start(t, dir, "--bind", at)
	c, err := client.New("http://"+at, client.WithToken(p.token), client.WithRetries(1000, time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	s := newSubscriber(t)
	ctx, cancel := context.WithCancel(t.Context())
	var following sync.WaitGroup
	defer following.Wait()
	defer cancel()
	following.Go(func() {
		// The limit makes the loads take several pages.
		for page, err := range c.Graph("code").Follow(ctx, client.FeedQuery{Limit: 30}) {
			if err != nil {
				if ctx.Err() == nil {
					t.Errorf("the feed ended: %v", err)
				}
				return
			}
			s.apply(page)
		}
	})
	for round := range *feedKills {
		var writing sync.WaitGroup
		for w := range 3 {
			writing.Go(func() {
				for i := 0; ; i++ {
					path, media, body := "/graphs/code/queries/add_note", "application/json", fmt.Sprintf(`{"params":{"slug":"n-%d-%d-%d","symbol":"example.com/p.F%d","text":"t"}}`, round, w, i, i%10)
					switch {
					case w == 0:
						path, media, body = "/graphs/code/load/ndjson?mode=merge", "application/x-ndjson", notes(fmt.Sprintf("l-%d-%d", round, i), 40)
					case i%3 == 2:
						path, body = "/graphs/code/mutate", fmt.Sprintf(`{"query":"query m() { delete Note where slug = \"n-%d-%d-%d\" }"}`, round, w, i-1)
					}
					status, err := p.post(path, media, body, nil)
					if err != nil {
						return // the server was killed
					}
					if status != http.StatusOK {
						t.Errorf("%s answered %d", path, status)
						return
					}
				}
			})
		}
		time.Sleep(time.Duration(200+rand.IntN(400)) * time.Millisecond)
		p.kill()
		writing.Wait()
		p = start(t, dir, "--bind", at)
	}
	s.catchUp(func() (string, string) {
		head, err := c.Graph("code").Snapshot(ctx)
		if err != nil {
			t.Fatal(err)
		}
		export, err := c.Graph("code").Export(ctx, client.ExportBody{})
		if err != nil {
			t.Fatal(err)
		}
		defer export.Close()
		text, err := io.ReadAll(export)
		if err != nil {
			t.Fatal(err)
		}
		return head.GraphCommitID, string(text)
	})
	t.Logf("the subscriber received %d commits once each over %d kills", s.blocks, *feedKills)
	if s.blocks < 5**feedKills {
		t.Error("there were too few commits: the test proves nothing")
	}
}

// notes returns the lines of a load: n notes, each with an edge.
func notes(prefix string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"type":"Note","data":{"slug":"%s-%d","text":"loaded","created":"2026-01-01T00:00:00Z"}}`+"\n", prefix, i)
		fmt.Fprintf(&b, `{"edge":"About","from":"%s-%d","to":"example.com/p.F%d","data":{"id":"%s-%d"}}`+"\n", prefix, i, i%10, prefix, i)
	}
	return b.String()
}

// catchUp waits until the subscriber has the head of main, and compares its entities with the export.
// The function `state` returns the head and the export. No client writes any more.
func (s *subscriber) catchUp(state func() (head, export string)) {
	s.t.Helper()
	head, export := state()
	for deadline := clock.Now().Add(30 * time.Second); !s.at(head); time.Sleep(20 * time.Millisecond) {
		if clock.Now().After(deadline) {
			s.t.Fatalf("for 30 seconds the subscriber has not received %s; it has %s", head, s.commit)
		}
	}
	s.compare(export)
}

// TestFeedOverFailover follows the change feed on servers that share a storage, and kills the writer
// again and again. When its server fails, the subscriber continues on another one. It must receive
// every commit once.
func TestFeedOverFailover(t *testing.T) {
	f := newFleet(t, 2, storageURL(t, "folder"))
	for i := range f.ports {
		f.start(i)
	}
	f.writer()
	s := newSubscriber(t)
	ctx, cancel := context.WithCancel(t.Context())
	var following sync.WaitGroup
	defer following.Wait()
	defer cancel()
	moves := 0
	following.Go(func() {
		at := client.FeedQuery{Limit: 30}
		for i := 0; ctx.Err() == nil; i = (i + 1) % len(f.ports) {
			c, err := client.New(fmt.Sprintf("http://127.0.0.1:%d", f.ports[i]), client.WithToken(sharedToken), client.WithRetries(1, time.Second))
			if err != nil {
				t.Error(err)
				return
			}
			// The stream ends after a few pages, so that the subscriber often moves to a server that may
			// know fewer commits.
			pages := 0
			for page, err := range c.Graph("code").Follow(ctx, at) {
				if err != nil {
					time.Sleep(50 * time.Millisecond)
					break
				}
				s.apply(page)
				if at.PageToken = ""; page.NextPageToken != nil {
					at.PageToken = *page.NextPageToken
				} else {
					at.Cursor = *page.Cursor
				}
				if pages++; pages == 20 {
					moves++
					break
				}
			}
		}
	})
	stop := f.writing(2)
	for range *feedKills {
		w := f.writer()
		p := f.end(w)
		time.Sleep(time.Duration(300+rand.IntN(500)) * time.Millisecond)
		p.kill()
		f.writer()
		f.start(w)
	}
	written := stop()
	s.catchUp(func() (string, string) {
		f.version(f.writer())
		w := f.writer()
		a, err := f.ask(w, http.MethodGet, "/graphs/code/snapshot", "", "Omnigraph-At-Least", "latest")
		var head client.SnapshotAnswer
		if err != nil || json.Unmarshal(a.body, &head) != nil {
			t.Fatalf("%v: %s", err, a.body)
		}
		export, err := f.ask(w, http.MethodPost, "/graphs/code/export", "{}")
		if err != nil || export.status != http.StatusOK {
			t.Fatalf("the export: %v, %d", err, export.status)
		}
		return head.GraphCommitID, string(export.body)
	})
	cancel()
	following.Wait()
	t.Logf("the subscriber received %d commits once each over %d kills and %d moves; %d writes were acknowledged", s.blocks, *feedKills, moves, written)
	if s.blocks < written {
		t.Errorf("%d writes were acknowledged, and the subscriber received %d commits", written, s.blocks)
	}
}

// TestFeedOverStops stops the server with SIGTERM while a subscriber waits for commits. The server must
// end at once, and the last event must have the cursor that continues after it.
func TestFeedOverStops(t *testing.T) {
	dir := clusterDir(t)
	p := start(t, dir)
	r, err := http.NewRequest(http.MethodGet, "http://"+p.addr+"/graphs/code/changes?start=latest", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+p.token)
	r.Header.Set("Accept", "text/event-stream")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	began := clock.Now()
	p.term()
	var text bytes.Buffer
	if _, err := text.ReadFrom(res.Body); err != nil {
		t.Errorf("the stream did not end in an orderly way: %v", err)
	}
	if err := p.ended(); err != nil || clock.Since(began) > 10*time.Second {
		t.Errorf("the server ended with %v after %v", err, clock.Since(began))
	}
	_, last, ok := strings.Cut(text.String(), "event: end\ndata: ")
	var end client.FeedEnd
	if err := json.Unmarshal([]byte(last), &end); !ok || err != nil || end.Reason != client.FeedStopping || end.Cursor == nil {
		t.Fatalf("the stream ends with %q, %v", text.String(), err)
	}
	again := start(t, dir)
	defer again.stop()
	if status, err := again.post("/graphs/code/queries/add_note", "application/json", `{"params":{"slug":"later","symbol":"example.com/p.F1","text":"t"}}`, nil); err != nil || status != http.StatusOK {
		t.Fatalf("add_note: %d, %v", status, err)
	}
	c, err := client.New("http://"+again.addr, client.WithToken(again.token))
	if err != nil {
		t.Fatal(err)
	}
	page, err := c.Graph("code").ChangeFeed(t.Context(), client.FeedQuery{Cursor: *end.Cursor})
	if err != nil || len(page.Blocks) != 1 || !page.CaughtUp {
		t.Errorf("after the stop the feed continues with %+v, %v", page, err)
	}
}

package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/clock/clocktest"
	"github.com/omnigraph-go/omnigraph/internal/slow"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// sharedPrefix is the prefix of the graph in the tests of shared storage.
const sharedPrefix = "graph/1/"

// placeIn returns a place in a bucket with an empty cache. Requests without an answer fail at once.
func placeIn(b object.Bucket) SharedPlace {
	return SharedPlace{Bucket: b, Prefix: sharedPrefix, FS: fs.NewMem(), Cache: "cache", Patience: 1, Poll: -1}
}

// createShared makes a graph in shared storage.
func createShared(t testing.TB, at SharedPlace, opts Options) *Graph {
	t.Helper()
	g, err := CreateShared(context.Background(), at, "// people", people(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

// openShared opens a graph in shared storage as its writer.
func openShared(t testing.TB, at SharedPlace, opts Options) *Graph {
	t.Helper()
	g, err := OpenShared(context.Background(), at, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

// follow opens a graph in shared storage for reading.
func follow(t testing.TB, at SharedPlace, opts Options) *Follower {
	t.Helper()
	f, err := Follow(context.Background(), at, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// caughtUp returns the graph of a follower that has read the whole log.
func caughtUp(t testing.TB, f *Follower) *Graph {
	t.Helper()
	if err := f.CatchUp(context.Background()); err != nil {
		t.Fatal(err)
	}
	return f.state.current.Load()
}

// TestFollowerEqualsLeader runs each script on a writer, and compares the states of three followers
// with those of a graph in a folder: one reads after each call, one after every fifth call, and one
// opens the graph after each call.
func TestFollowerEqualsLeader(t *testing.T) {
	for _, s := range scripts() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			states := s.states(t)
			folder, err := object.NewFolder(fs.NewMem(), "bucket")
			if err != nil {
				t.Fatal(err)
			}
			leader := createShared(t, placeIn(folder), crashOptions)
			always, rarely := follow(t, placeIn(folder).Reloading(2), crashOptions), follow(t, placeIn(folder), crashOptions)
			compare := func(who, what, got, want string) {
				t.Helper()
				if got != want {
					t.Fatalf("%s: %s has\n%s\nwant\n%s", what, who, got, want)
				}
			}
			for i, d := range s.deeds {
				what := fmt.Sprintf("deed %d, %s", i+1, d.call)
				if err := d.do(leader); err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				compare("the leader", what, s.dump(leader), states[i+1])
				compare("the follower", what, s.dump(caughtUp(t, always)), states[i+1])
				if i%5 == 4 {
					compare("the slow follower", what, s.dump(caughtUp(t, rarely)), states[i+1])
				}
				late := follow(t, placeIn(folder), crashOptions)
				compare("the new follower", what, s.dump(late.state.current.Load()), states[i+1])
				if err := errors.Join(late.Verify(t.Context()), late.Close()); err != nil {
					t.Fatalf("%s: %v", what, err)
				}
			}
		})
	}
}

// TestSharedPowerCut cuts the power of the writer at the requests that sampleOperations selects,
// before or after the storage has carried the request out. Another server then takes over. It must find every
// acknowledged call, and the interrupted call completely or not at all.
func TestSharedPowerCut(t *testing.T) {
	slow.Test(t)
	some := sampleOperations()
	for _, s := range scripts() {
		states := s.states(t)
		requests := 0
		s.runShared(hookedBucket{&object.Memory{}, func(_ request, send func() error) error {
			requests++
			return send()
		}}, Options{})
		if requests < len(s.deeds) {
			t.Fatalf("%s: %d requests for %d calls", s.name, requests, len(s.deeds))
		}
		t.Logf("%s: %d requests; the power is cut at %v of twice as many", s.name, requests, some)
		inShares(t, s.name, 2*requests, func(t *testing.T, n int) {
			if !some.has(n) {
				return
			}
			memory := &object.Memory{}
			left, executed := n/2, n%2 == 1
			acked := s.runShared(hookedBucket{memory, func(_ request, send func() error) error {
				left--
				if left >= 0 {
					return send()
				}
				if left == -1 && executed {
					_ = send()
				}
				return object.ErrUnknown
			}}, Options{})
			s.checkTakenOver(t, memory, allowed(states, acked), fmt.Sprintf("power cut at request %d, executed %t, after deed %d", n/2, executed, acked))
		})
	}
}

// runShared makes a graph in a bucket and runs the calls of the script up to the first that fails.
// It returns how many calls were acknowledged, or -1 if the graph could not be made.
func (s script) runShared(b object.Bucket, opts Options) (acked int) {
	opts.Now, opts.InlineBytes, opts.quiet, opts.sparse, opts.indexed = crashOptions.Now, crashOptions.InlineBytes, true, crashOptions.sparse, crashOptions.indexed
	opts.vectorLimits, opts.lateBytes = crashOptions.vectorLimits, crashOptions.lateBytes
	g, err := CreateShared(context.Background(), placeIn(b), "// people", people(), opts)
	if err != nil {
		return -1
	}
	return s.runIn(g)
}

// checkTakenOver opens a graph as its writer. It checks that the graph is intact, that its content is
// one of the allowed states, and that another server finds its further writes.
func (s script) checkTakenOver(t *testing.T, b object.Bucket, allowed []string, what string) {
	t.Helper()
	ctx := context.Background()
	var missing *engine.NotFound
	g, err := OpenShared(ctx, placeIn(b), crashOptions)
	if errors.As(err, &missing) && allowed[0] == "" {
		g, err := CreateShared(ctx, placeIn(b), "// people", people(), crashOptions)
		if err != nil {
			t.Fatalf("%s: create again: %v", what, err)
		}
		g.Close()
		return
	}
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	defer g.Close()
	if err := g.Verify(ctx); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if got := s.dump(g); !slices.Contains(allowed, got) {
		t.Fatalf("%s: the graph is\n%s\nwant one of\n%s", what, got, strings.Join(allowed, "\nor\n"))
	}
	if _, err := g.CreateBranch(ctx, "later", engine.Target{}); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if err := insert("later", "zoe", 1).do(g); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if err := g.checkpoints.make(ctx); err != nil {
		t.Fatalf("%s: checkpoint: %v", what, err)
	}
	f, err := Follow(ctx, placeIn(b), crashOptions)
	if err != nil {
		t.Fatalf("%s: follow: %v", what, err)
	}
	defer f.Close()
	if got, want := s.dump(f.state.current.Load()), s.dump(g); got != want {
		t.Fatalf("%s: the follower has\n%s\nwant\n%s", what, got, want)
	}
}

// TestSharedLostReplies loses the reply to each request that sampleOperations selects, once. The calls must succeed as if nothing
// had happened.
func TestSharedLostReplies(t *testing.T) {
	some := sampleOperations()
	for _, s := range scripts() {
		states := s.states(t)
		requests := 0
		count := func(_ request, send func() error) error { requests++; return send() }
		s.runShared(hookedBucket{&object.Memory{}, count}, Options{})
		inShares(t, s.name, requests, func(t *testing.T, n int) {
			if !some.has(n) {
				return
			}
			synctest.Test(t, func(t *testing.T) { // the pauses between repetitions take no time
				memory := &object.Memory{}
				left := n
				place := placeIn(hookedBucket{memory, func(_ request, send func() error) error {
					err := send()
					if left--; left == -1 {
						return object.ErrUnknown
					}
					return err
				}})
				place.Patience = time.Minute
				g, err := CreateShared(t.Context(), place, "// people", people(), crashOptions)
				if err != nil {
					t.Fatalf("request %d: create: %v", n, err)
				}
				defer g.Close()
				for i, d := range s.deeds {
					if err := d.do(g); err != nil {
						t.Fatalf("request %d: deed %d, %s: %v", n, i+1, d.call, err)
					}
				}
				s.checkTakenOver(t, memory, states[len(states)-1:], fmt.Sprintf("lost reply to request %d", n))
			})
		})
	}
}

// TestTakeOver lets a follower take over while 8 clients write. Every acknowledged commit must be
// there afterwards, the former writer must refuse writes, and a repeated idempotency key must find
// its commit.
func TestTakeOver(t *testing.T) {
	ctx := t.Context()
	memory := &object.Memory{}
	var failures atomic.Int32
	opts := Options{Now: testClock, CheckpointBytes: 60_000, LogFailed: func(error) { failures.Add(1) }}
	at := placeIn(hookedBucket{memory, func(r request, send func() error) error {
		if r == (request{"create", "log"}) {
			time.Sleep(time.Millisecond) // so that the follower reads the log faster than it grows
		}
		return send()
	}})
	first := createShared(t, at, opts)
	f := follow(t, placeIn(memory), Options{Now: testClock, CheckpointBytes: 60_000})
	once := engine.WriteOptions{Actor: "tester", IdempotencyKey: "once"}
	keyed, err := first.Mutate(ctx, insertPerson, engine.Args{str("ann"), num(30)}, once)
	if err != nil {
		t.Fatal(err)
	}

	var acked sync.Map
	var writers sync.WaitGroup
	begun := make(chan struct{}, 8)
	for w := range 8 {
		writers.Go(func() {
			for i := 0; ; i++ {
				name := fmt.Sprintf("w%d-%04d", w, i)
				if err := insert("", name, i).do(first); err != nil {
					var lost *engine.Unavailable
					if !errors.As(err, &lost) {
						t.Errorf("%s: %v (%T), want a *engine.Unavailable", name, err, err)
					}
					return
				}
				acked.Store(name, true)
				if i == 20 {
					begun <- struct{}{}
				}
			}
		})
	}
	for range 8 {
		<-begun
	}
	second, err := f.TakeOver(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	writers.Wait()
	if first.Failure() == nil || !first.MustReopen() || failures.Load() != 1 {
		t.Errorf("the former writer: failure %v, must reopen %t, reported %d times; want a failure that is reported once", first.Failure(), first.MustReopen(), failures.Load())
	}
	text := dumpAll(second)
	n := 0
	acked.Range(func(name, _ any) bool {
		n++
		if !strings.Contains(text, name.(string)) {
			t.Errorf("%s was acknowledged and is missing", name)
		}
		return true
	})
	if n < 8*20 {
		t.Errorf("%d commits were acknowledged; the test shows nothing", n)
	}
	again, err := second.Mutate(ctx, insertPerson, engine.Args{str("ann"), num(30)}, once)
	if err != nil || again.Commit == nil || again.Commit.ID != keyed.Commit.ID {
		t.Errorf("the repeated key: %+v, %v; want commit %s", again.Commit, err, keyed.Commit.ID)
	}
	if err := insert("", "zoe", 1).do(second); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil && !errors.As(err, new(*engine.Unavailable)) {
		t.Errorf("close: %v", err)
	}
	back := follow(t, at, opts) // with the cache of the former writer
	if got, want := dumpAll(back.state.current.Load()), dumpAll(second); got != want {
		t.Errorf("the former writer reads\n%s\nwant\n%s", got, want)
	}
}

// TestFollowerReads checks what a follower answers: it refuses writes, waits for a commit that the
// caller has seen, and follows by itself.
func TestFollowerReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		memory := &object.Memory{}
		leader := createShared(t, placeIn(memory), Options{})
		f := follow(t, placeIn(memory), Options{})
		c, err := leader.Mutate(ctx, insertPerson, engine.Args{str("ann"), num(30)}, engine.WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if s, err := f.Snapshot(ctx, engine.Target{}); err != nil || s.Nodes[0].Count != 0 {
			t.Errorf("before the follower reads the log: %+v, %v", s, err)
		}
		if s, err := f.Snapshot(ctx, engine.Target{AtLeast: c.Commit.ID}); err != nil || s.Nodes[0].Count != 1 {
			t.Errorf("at least %s: %+v, %v; want one person", c.Commit.ID, s, err)
		}
		_, err = f.Snapshot(ctx, engine.Target{AtLeast: "01ARZ3NDEKTSV4RRFFQ69G5FAV"})
		wantError[*engine.NotFound](t, "an unknown commit", err)
		_, err = f.Mutate(ctx, insertPerson, engine.Args{str("bob"), num(1)}, engine.WriteOptions{})
		wantError[*engine.Unavailable](t, "a write", err)
		wantError[*engine.Unavailable](t, "the failure", f.Failure())

		var down atomic.Bool
		var failed atomic.Int32
		place := placeIn(hookedBucket{memory, func(_ request, send func() error) error {
			if down.Load() {
				return object.ErrUnknown
			}
			return send()
		}})
		place.Poll = time.Second
		polling := follow(t, place, Options{Failed: func(error) { failed.Add(1) }})
		if err := insert("", "bob", 31).do(leader); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if s, err := polling.Snapshot(ctx, engine.Target{}); err != nil || s.Nodes[0].Count != 2 {
			t.Errorf("after two seconds: %+v, %v; want two persons", s, err)
		}
		down.Store(true)
		time.Sleep(time.Hour)
		if n := failed.Load(); n < 700 || n > 730 {
			t.Errorf("in an hour without storage the follower reported %d failures, want one every five seconds", n)
		}
		if s, err := polling.Snapshot(ctx, engine.Target{}); err != nil || s.Nodes[0].Count != 2 {
			t.Errorf("without storage: %+v, %v; want two persons", s, err)
		}
		down.Store(false)
		if err := insert("", "cat", 32).do(leader); err != nil {
			t.Fatal(err)
		}
		time.Sleep(6 * time.Second)
		synctest.Wait()
		if s, err := polling.Snapshot(ctx, engine.Target{}); err != nil || s.Nodes[0].Count != 3 {
			t.Errorf("with storage again: %+v, %v; want three persons", s, err)
		}
		polling.Close()
		_, err = polling.Snapshot(ctx, engine.Target{})
		wantError[*engine.Unavailable](t, "a read after Close", err)
	})
}

// TestPace checks how long a Follower waits after each attempt to read the log.
func TestPace(t *testing.T) {
	down := errors.New("no answer")
	type attempt struct {
		more bool
		err  error
		want time.Duration
	}
	found, end, failed := attempt{more: true}, attempt{}, attempt{err: down}
	after := func(a attempt, want time.Duration) attempt { a.want = want; return a }
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		most     time.Duration
		attempts []attempt
	}{
		"nothing new": {time.Second, []attempt{after(end, time.Second), after(end, time.Second)}},
		"the log moves": {time.Second, []attempt{
			found, after(end, 50*ms), found, found, after(end, 50*ms), after(end, 100*ms), found, after(end, 50*ms),
		}},
		"the log has moved": {time.Second, []attempt{
			found, after(end, 50*ms), after(end, 100*ms), after(end, 200*ms), after(end, 400*ms), after(end, 800*ms), after(end, time.Second), after(end, time.Second),
		}},
		"failures": {time.Second, []attempt{
			found, after(failed, 2*time.Second), after(failed, 4*time.Second), after(failed, 5*time.Second), after(failed, 5*time.Second), after(end, time.Second), found, after(end, 50*ms),
		}},
		"a short limit": {20 * ms, []attempt{found, after(end, 20*ms), after(end, 20*ms)}},
		"a long limit":  {time.Minute, []attempt{after(failed, time.Minute), after(end, time.Minute)}},
	} {
		p := pace{most: c.most, wait: c.most}
		for i, a := range c.attempts {
			if got := p.next(a.more, a.err); got != a.want {
				t.Errorf("%s: after attempt %d the wait is %v; want %v", name, i, got, a.want)
			}
		}
	}
}

// TestPolls checks how soon a Follower shows a commit: within its longest wait if the log has not moved for a
// while, and soon if it has. A commit that CatchUp has read counts, too.
func TestPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := &object.Memory{}
		leader := createShared(t, placeIn(memory), Options{})
		place := placeIn(memory)
		place.Poll = DefaultPoll
		f := follow(t, place, Options{})
		people := 0
		shows := func(within time.Duration) {
			t.Helper()
			people++
			if err := insert("", fmt.Sprint("p", people), 1).do(leader); err != nil {
				t.Fatal(err)
			}
			time.Sleep(within)
			synctest.Wait()
			if s, err := f.Snapshot(t.Context(), engine.Target{}); err != nil || s.Nodes[0].Count != int64(people) {
				t.Errorf("commit %d, %v later: %+v, %v", people, within, s, err)
			}
		}
		time.Sleep(time.Hour + DefaultPoll/2) // between two polls
		shows(DefaultPoll / 2)
		for range 20 {
			shows(minPoll)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		f = follow(t, place, Options{})
		time.Sleep(time.Hour + DefaultPoll/2)
		people++
		if err := insert("", "caught", 1).do(leader); err != nil {
			t.Fatal(err)
		}
		if err := f.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(DefaultPoll / 2) // until the next poll
		synctest.Wait()
		shows(minPoll)
	})
}

// TestCommitTimesAscend lets a server with a slower clock take over. The times and ids of its commits
// must not be before those of the former writer.
func TestCommitTimesAscend(t *testing.T) {
	ctx := t.Context()
	memory := &object.Memory{}
	at := func(shift time.Duration) Options {
		return Options{Now: func() time.Time { return clocktest.Start.Add(shift) }}
	}
	first := createShared(t, placeIn(memory), at(time.Hour))
	before, err := first.Mutate(ctx, insertPerson, engine.Args{str("ann"), num(1)}, engine.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	second := openShared(t, placeIn(memory), at(0))
	after, err := second.Mutate(ctx, insertPerson, engine.Args{str("bob"), num(1)}, engine.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if b, a := before.Commit, after.Commit; a.Time.Before(b.Time) || a.ID <= b.ID || a.Seq != b.Seq+1 {
		t.Errorf("commit %+v comes after %+v", a, b)
	}
}

// TestSharedPlaces checks the errors of Create and Open.
func TestSharedPlaces(t *testing.T) {
	ctx := t.Context()
	memory := &object.Memory{}
	at := placeIn(memory)
	_, err := OpenShared(ctx, at, Options{})
	wantError[*engine.NotFound](t, "opening nothing", err)
	g := createShared(t, at, Options{})
	_, err = Follow(ctx, at, Options{})
	wantError[*engine.Unavailable](t, "a cache in use", err)
	_, err = CreateShared(ctx, placeIn(memory), "", people(), Options{})
	wantError[*engine.Conflict](t, "creating an existing graph", err)
	if err := insert("", "ann", 1).do(g); err != nil {
		t.Errorf("a write after another server tried to create the graph: %v", err)
	}
	other := placeIn(memory)
	create(t, other.FS, Options{}).Close()
	other.Cache = dir
	_, err = Follow(ctx, other, Options{})
	wantError[*engine.Conflict](t, "a cache that is a graph", err)
}

// TestOpenURL makes a graph in the shared storage of a URL, reads it beside its writer, and opens it again. The temporary
// folders of the caches are gone after Close.
func TestOpenURL(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("TMP", temp) // Windows
	ctx, url := t.Context(), "file://"+filepath.ToSlash(t.TempDir())
	var missing *engine.NotFound
	for _, open := range []func() error{
		func() error { _, err := OpenURL(ctx, url); return err },
		func() error { _, err := FollowURL(ctx, url); return err },
	} {
		if err := open(); !errors.As(err, &missing) || missing.Name != url {
			t.Errorf("without a graph: %v", err)
		}
	}
	g, err := OpenURL(ctx, url, OrCreate("// people", people()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Load(ctx, strings.NewReader(`{"type":"Person","data":{"name":"Ada"}}`), engine.LoadOptions{}); err != nil {
		t.Fatal(err)
	}
	f, err := FollowURL(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []engine.Graph{g, f} {
		if snap, err := of.Snapshot(ctx, engine.Target{}); err != nil || snap.Nodes[0].Count != 1 {
			t.Errorf("%T has %v: %v", of, snap, err)
		}
		if err := of.Close(); err != nil {
			t.Error(err)
		}
	}
	cache := filepath.Join(t.TempDir(), "cache")
	again, err := OpenURL(ctx, url, OrCreate("// people", people()), CacheIn(cache))
	if err != nil {
		t.Fatal(err)
	}
	if snap, err := again.Snapshot(ctx, engine.Target{}); err != nil || snap.Nodes[0].Count != 1 {
		t.Errorf("after it was opened again: %v: %v", snap, err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(cache); err != nil {
		t.Errorf("the folder of CacheIn: %v", err)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("%v is left in the temporary folder: %v", left, err)
	}
	for url, want := range map[string]string{
		"ftp://host/x":          `scheme "ftp"`,
		"s3://user:secret@b/p":  "password",
		"file:relative":         "absolute path",
		"postgres:///omnigraph": "names no host",
	} {
		_, err := OpenURL(ctx, url)
		var unavailable *engine.Unavailable
		if !errors.As(err, &unavailable) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %s", url, err, want)
		}
	}
}

package audittrail

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// start is when the clocks of the tests begin.
var start = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// ticking is a clock that a test moves.
type ticking struct {
	mu sync.Mutex
	at time.Time
}

func (c *ticking) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *ticking) advance(d time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
	return c.at
}

// opened returns a trail that the end of the test abandons, as a kill does.
func opened(t testing.TB, b object.Bucket, o Options) *Trail {
	t.Helper()
	return openedAs(t, b, o, false)
}

// openedAs is like opened. With leased, no lock keeps other servers from the chain.
func openedAs(t testing.TB, b object.Bucket, o Options, leased bool) *Trail {
	t.Helper()
	if o.Server == "" {
		o.Server = "one"
	}
	if o.Keep == 0 {
		o.Keep = DefaultKeep
	}
	if o.Quota == 0 {
		o.Quota = DefaultQuota
	}
	o.Exclusive = !leased
	o.Log = slog.New(slog.DiscardHandler)
	trail, err := Open(context.Background(), NewStore(b, "audit/"), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kill(trail) })
	return trail
}

// kill ends a trail without its last flush.
func kill(t *Trail) {
	t.stop()
	<-t.done
}

// read adds a call that read entities.
func read(t *Trail, at time.Time, actor, tool string, ids ...string) {
	e := NewEntities()
	for _, id := range ids {
		e.Add(id)
	}
	t.Add(&Call{Time: at, Actor: actor, Tool: tool, Graph: "cases", Branch: "main", Outcome: "ok", Rows: len(ids), Entities: e, Digest: []byte("digest"), Types: []string{"Case"}})
	e.Release()
}

// numbers returns what a query finds.
func numbers(t *testing.T, s *Store, f Filter) []uint64 {
	t.Helper()
	if f.Limit == 0 {
		f.Limit = 1000
	}
	found, _, err := s.Query(context.Background(), f)
	if err != nil {
		t.Fatal(err)
	}
	var list []uint64
	for _, r := range found {
		list = append(list, r.Number)
	}
	return list
}

// flush stores what waits.
func flush(t testing.TB, trail *Trail) {
	t.Helper()
	if err := trail.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// sound fails the test unless all chains are whole.
func sound(t *testing.T, s *Store) []Chain {
	t.Helper()
	chains, err := s.Verify(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range chains {
		if c.Fault != nil {
			t.Errorf("the chain of %s: %s", c.Server, c.Fault)
		}
	}
	return chains
}

func TestQuery(t *testing.T) {
	b := &object.Memory{}
	trail := opened(t, b, Options{Now: (&ticking{at: start}).now})
	at := func(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }
	read(trail, at(1), "ada", "get_case", "c1")                                                                                         // number 2: the first is the start
	read(trail, at(2), "bob", "get_case", "c2", "c3")                                                                                   // 3
	read(trail, at(3), "ada via bot", "list_cases", "c1")                                                                               // 4
	trail.Add(&Call{Time: at(4), Actor: "eve", Tool: "get_case", Graph: "cases", Outcome: "forbidden", Denied: "read", Rule: "nobody"}) // 5
	flush(t, trail)
	many := make([]string, 150)
	for i := range many {
		many[i] = fmt.Sprint("m", i)
	}
	read(trail, at(5), "bob", "list_cases", append(many, many...)...)                                       // 6
	trail.Add(&Call{Time: at(6), Actor: "bob", Tool: "export", Graph: "cases", Outcome: "ok", Whole: true}) // 7
	trail.Add(&Call{Time: at(7), Actor: "bob", Tool: "get_case", Graph: "other", Outcome: "ok"})            // 8
	flush(t, trail)
	for _, tt := range []struct {
		name string
		f    Filter
		want []uint64
	}{
		{"all", Filter{}, []uint64{8, 7, 6, 5, 4, 3, 2}},
		{"a graph", Filter{Graph: "cases"}, []uint64{7, 6, 5, 4, 3, 2}},
		{"an actor, alone and through an agent", Filter{Actor: "ada"}, []uint64{4, 2}},
		{"an agent", Filter{Actor: "bot"}, []uint64{4}},
		{"a chain", Filter{Actor: "ada via bot"}, []uint64{4}},
		{"an unknown actor", Filter{Actor: "zoe"}, nil},
		{"a tool", Filter{Tool: "get_case", Graph: "cases"}, []uint64{5, 3, 2}},
		{"an entity, and what may have returned it", Filter{Entity: "c1"}, []uint64{7, 4, 2}},
		{"an entity of an actor", Filter{Entity: "c1", Actor: "ada"}, []uint64{4, 2}},
		{"an entity past the ids", Filter{Entity: "m149", Tool: "list_cases"}, []uint64{6}},
		{"an entity that no call returned", Filter{Entity: "c9", Tool: "get_case"}, nil},
		{"denied", Filter{Decision: Denied}, []uint64{5}},
		{"allowed", Filter{Decision: Allowed, Tool: "get_case"}, []uint64{8, 3, 2}},
		{"from a time", Filter{From: at(5)}, []uint64{8, 7, 6}},
		{"to a time", Filter{To: at(2)}, []uint64{2}},
		{"between times", Filter{From: at(2), To: at(4)}, []uint64{4, 3}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := numbers(t, trail.Store, tt.f); !slices.Equal(got, tt.want) {
				t.Errorf("got the records %v, want %v", got, tt.want)
			}
			var paged []uint64
			for f := tt.f; ; {
				f.Limit = 2
				list, next, err := trail.Query(context.Background(), f)
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range list {
					paged = append(paged, r.Number)
				}
				if next == nil {
					break
				}
				if f.Before, err = ParsePosition(next.String()); err != nil {
					t.Fatal(err)
				}
			}
			if !slices.Equal(paged, tt.want) {
				t.Errorf("in pages: got the records %v, want %v", paged, tt.want)
			}
		})
	}
	found, _, err := trail.Query(context.Background(), Filter{Entity: "m149", Tool: "list_cases", Limit: 1})
	if err != nil || len(found) != 1 || !found[0].Possibly || len(found[0].IDs) != MaxIDs || len(found[0].Hashes) != 50 {
		t.Errorf("the record with 150 entities: %+v, %v; want 100 ids, 50 hashes, and possibly", found, err)
	}
	if found, _, _ := trail.Query(context.Background(), Filter{Entity: "m7", Tool: "list_cases", Limit: 1}); len(found) != 1 || found[0].Possibly || found[0].Actor != "bob" {
		t.Errorf("an entity among the ids: %+v; want it for certain, by bob", found)
	}
	sound(t, trail.Store)
}

// TestRestart ends a trail in order and by a kill, and looks for the marks.
func TestRestart(t *testing.T) {
	b, clock := &object.Memory{}, &ticking{at: start}
	one := opened(t, b, Options{Now: clock.now})
	read(one, clock.advance(time.Second), "ada", "get", "c1")
	if err := one.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	two := opened(t, b, Options{Now: clock.now})
	read(two, clock.advance(time.Second), "ada", "get", "c1")
	flush(t, two)
	kill(two)
	lastStored := clock.now()
	clock.advance(time.Minute)
	three := opened(t, b, Options{Now: clock.now})
	read(three, clock.advance(time.Second), "bob", "get", "c1")
	flush(t, three)
	chains := sound(t, three.Store)
	if len(chains) != 1 || len(chains[0].Gaps) != 1 || !chains[0].Gaps[0].Since.Equal(lastStored) {
		t.Errorf("the chains %+v: want one gap since %v", chains, lastStored)
	}
	if got, want := numbers(t, three.Store, Filter{Actor: "ada"}), []uint64{5, 2}; !slices.Equal(got, want) {
		t.Errorf("the calls of ada are %v, want %v", got, want)
	}
}

// TestMerge writes so many parts that they are merged, reads in between, and starts again with what a crash left.
func TestMerge(t *testing.T) {
	b := &object.Memory{}
	trail := opened(t, b, Options{})
	for i := range 2*mergeParts + 10 {
		read(trail, start, "ada", "get", fmt.Sprint("c", i))
		flush(t, trail)
	}
	if n := len(trail.parts); n > mergeParts {
		t.Errorf("the trail has %d parts", n)
	}
	if got := numbers(t, trail.Store, Filter{Entity: "c5"}); !slices.Equal(got, []uint64{7}) {
		t.Errorf("the reads of c5 are the records %v, want 7", got)
	}
	if got := numbers(t, trail.Store, Filter{Limit: 5000}); len(got) != 2*mergeParts+10 {
		t.Errorf("%d records, want %d", len(got), 2*mergeParts+10)
	}
	kill(trail)
	data, err := b.Read(context.Background(), trail.object("one", trail.parts[0]), 0, object.Whole)
	if err != nil {
		t.Fatal(err)
	}
	_, frames, err := framesOf(data)
	if err != nil {
		t.Fatal(err)
	}
	text, _, rest, _ := frame(frames)
	left, _ := encodePart(1, Hash{}, next(&Hash{}, text), false, frames[:len(frames)-len(rest)])
	name := trail.object("one", partName{first: 1, last: 1, time: start.UnixMicro()})
	if err := b.Create(context.Background(), name, left); err != nil {
		t.Fatal(err)
	}
	sound(t, trail.Store)
	opened(t, b, Options{})
	if _, err := b.Read(context.Background(), name, 0, 1); !errors.Is(err, object.ErrNotFound) {
		t.Errorf("the part that another one contains is still there: %v", err)
	}
}

func TestRetention(t *testing.T) {
	b, clock := &object.Memory{}, &ticking{at: start}
	gone := opened(t, b, Options{Server: "gone", Now: clock.now})
	read(gone, clock.now(), "ada", "get", "c1")
	flush(t, gone)
	kill(gone)
	trail := opened(t, b, Options{Now: clock.now, Keep: 48 * time.Hour})
	read(trail, clock.now(), "ada", "get", "c1")
	flush(t, trail)
	clock.advance(47 * time.Hour)
	read(trail, clock.now(), "ada", "get", "c1")
	flush(t, trail)
	if got := numbers(t, trail.Store, Filter{}); len(got) != 3 {
		t.Fatalf("within the time to keep there are %d calls, want 3", len(got))
	}
	clock.advance(2 * time.Hour)
	flush(t, trail)
	if got := numbers(t, trail.Store, Filter{}); !slices.Equal(got, []uint64{3}) {
		t.Errorf("after the time to keep there are the calls %v, want 3", got)
	}
	for _, c := range sound(t, trail.Store) {
		if c.Server == "one" && c.Removed != 2 {
			t.Errorf("the chain says that the records up to %d were removed, want 2", c.Removed)
		}
	}
}

func TestQuota(t *testing.T) {
	for _, refuse := range []bool{false, true} {
		b := &object.Memory{}
		trail := opened(t, b, Options{Quota: 20_000, Refuse: refuse})
		for i := 0; i < 300 && !trail.Full(); i++ {
			read(trail, start.Add(time.Duration(i)*time.Second), "ada", "get", fmt.Sprint("c", i))
			flush(t, trail)
		}
		st := trail.Stats()
		switch {
		case trail.Full() != refuse:
			t.Errorf("refuse %v: the trail is full: %v", refuse, trail.Full())
		case refuse && (st.Lost != 0 || st.Bytes < 20_000 || st.Bytes > 21_000):
			t.Errorf("refuse: %+v, want nothing lost and 20,000 bytes", st)
		case !refuse && (st.Lost < 100 || st.Bytes > 20_500):
			t.Errorf("drop: %+v, want more than 100 old records removed, and 20,000 bytes", st)
		}
		if got := numbers(t, trail.Store, Filter{}); uint64(len(got)) >= st.Records != refuse {
			t.Errorf("refuse %v: %d calls of %d are left", refuse, len(got), st.Records)
		}
		sound(t, trail.Store)
	}
}

// TestRoom measures what docs/audit.md says of the room of records, with ids and digests as random as those of a server.
func TestRoom(t *testing.T) {
	trail, random := opened(t, &object.Memory{}, Options{}), rand.New(rand.NewPCG(1, 2))
	kill(trail) // so that only the test flushes
	for i := range 100_000 {
		request := make([]byte, 26)
		for k := range request {
			request[k] = "0123456789abcdefghjkmnpqrstvwxyz"[random.IntN(32)]
		}
		e := NewEntities()
		e.Add(fmt.Sprintf("case-%07d", random.IntN(1_000_000)))
		trail.Add(&Call{Time: start.Add(time.Duration(i) * time.Second), Took: time.Duration(random.IntN(5000)) * time.Microsecond, Request: string(request),
			Actor: fmt.Sprint("actor-", random.IntN(500)), Graph: "cases", Branch: "main", Tool: fmt.Sprint("tool-", random.IntN(30)), Outcome: succeeded,
			Commit: fmt.Sprintf("01J8ZQ3V5Y6R7T8W9X%08d", i/1000), Rows: 1, Digest: binary.LittleEndian.AppendUint64(nil, random.Uint64()), Types: []string{"Case"}, Entities: e})
		e.Release()
		if len(trail.pending) > flushBytes {
			flush(t, trail)
		}
	}
	flush(t, trail)
	records, bytes := uint64(0), int64(0)
	for _, p := range trail.parts {
		if p.merged {
			records, bytes = records+p.last-p.first+1, bytes+p.size
		}
	}
	t.Logf("%d records have %d bytes: %.1f each", records, bytes, float64(bytes)/float64(records))
	if calls := DefaultQuota * int64(records) / bytes; records < 50_000 || calls < 13_000_000 {
		t.Errorf("the default quota has room for %d calls; change docs/audit.md", calls)
	}
}

// failing is a bucket that fails on demand. With late, it carries out what it fails.
type failing struct {
	object.Bucket
	mu         sync.Mutex
	fail, late bool
}

func (f *failing) Create(ctx context.Context, name string, data []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail && !f.late {
		return object.ErrBusy
	}
	if err := f.Bucket.Create(ctx, name, data); err != nil || !f.fail {
		return err
	}
	return object.ErrUnknown
}

func TestStorageFails(t *testing.T) {
	for _, late := range []bool{false, true} {
		b := &failing{Bucket: &object.Memory{}, late: late}
		trail := opened(t, b, Options{})
		b.mu.Lock()
		b.fail = true
		b.mu.Unlock()
		read(trail, start, "ada", "get", "c1")
		if err := trail.Flush(context.Background()); err == nil {
			t.Error("the flush succeeded")
		}
		read(trail, start, "ada", "get", "c1")
		big := &Call{Time: start, Actor: "ada", Graph: "cases", Tool: "get", Outcome: "ok", Values: make([]byte, 1<<20)}
		for range 20 {
			trail.Add(big)
		}
		lost := trail.Stats().Lost
		if lost == 0 && !late { // with late, the second attempt finds what the first one made
			t.Error("no record is lost although the buffer is full")
		}
		b.mu.Lock()
		b.fail = false
		b.mu.Unlock()
		flush(t, trail)
		read(trail, start, "ada", "get", "c1")
		flush(t, trail)
		chains := sound(t, trail.Store)
		if n := len(chains[0].Gaps); lost > 0 && (n != 1 || chains[0].Gaps[0].Lost != lost) || lost == 0 && n != 0 {
			t.Errorf("the gaps are %+v, want one of %d records", chains[0].Gaps, lost)
		}
		if got := numbers(t, trail.Store, Filter{Entity: "c1"}); len(got) != 3 {
			t.Errorf("the reads of c1 are %v, want three", got)
		}
	}
}

// TestFolder writes a trail into a folder, which has the lock of its server.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	b, err := object.NewFolder(fs.OS(), dir)
	if err != nil {
		t.Fatal(err)
	}
	trail := opened(t, b, Options{})
	read(trail, start, "ada", "get", "c1")
	if err := trail.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	read(trail, start, "ada", "get", "c1")
	if st := trail.Stats(); st.Records != 1 || st.Lost != 1 {
		t.Errorf("after the end: %+v, want one record and one lost", st)
	}
	if got := numbers(t, NewStore(b, "audit/"), Filter{Entity: "c1"}); !slices.Equal(got, []uint64{2}) {
		t.Errorf("the reads of c1 are %v, want 2", got)
	}
}

// TestServers lets three servers write into one storage at the same time, and asks each of them.
func TestServers(t *testing.T) {
	b := &object.Memory{}
	var trails []*Trail
	for i := range 3 {
		trails = append(trails, opened(t, b, Options{Server: fmt.Sprint("pod-", i), Now: (&ticking{at: start}).now}))
	}
	var wg sync.WaitGroup
	for i, trail := range trails {
		wg.Go(func() {
			for n := range 200 {
				read(trail, start.Add(time.Duration(n)*time.Second+time.Duration(i)), fmt.Sprint("actor-", n%7), "get", fmt.Sprint("c", n%50))
			}
			if err := trail.Flush(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, trail := range trails {
		found, next, err := trail.Query(context.Background(), Filter{Entity: "c7", Actor: "actor-0", Limit: 100})
		if err != nil || next != nil || len(found) != 3 {
			t.Fatalf("%d records, next %v, %v; want one of each server", len(found), next, err)
		}
		for i, r := range found {
			if i > 0 && r.Position().compare(found[i-1].Position()) >= 0 || r.Actor != "actor-0" {
				t.Errorf("the record %d is %+v", i, r.Record)
			}
		}
	}
	if chains := sound(t, trails[0].Store); len(chains) != 3 {
		t.Errorf("there are %d chains", len(chains))
	}
}

// TestClockBack sets the clock back by an hour, while the server runs and before a start. The chain stays sound, and questions about a time find the
// calls: those after the jump have the time of the last call before it, until the clock has passed that.
func TestClockBack(t *testing.T) {
	b, clock := &object.Memory{}, &ticking{at: start}
	one := opened(t, b, Options{Now: clock.now})
	read(one, clock.advance(time.Minute), "ada", "get", "before")
	latest := clock.now()
	flush(t, one)
	read(one, clock.advance(-time.Hour), "ada", "get", "after")
	read(one, clock.advance(time.Second), "ada", "get", "later")
	if err := one.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	clock.advance(-time.Hour)
	two := opened(t, b, Options{Now: clock.now})
	read(two, clock.advance(time.Second), "ada", "get", "again")
	flush(t, two)
	read(two, clock.advance(3*time.Hour), "ada", "get", "passed")
	flush(t, two)
	if chains := sound(t, two.Store); len(chains) != 1 || len(chains[0].Gaps) != 0 {
		t.Errorf("the chains are %+v", chains)
	}
	for _, tt := range []struct {
		f    Filter
		want []uint64
	}{
		{Filter{Actor: "ada"}, []uint64{8, 7, 4, 3, 2}},
		{Filter{Actor: "ada", From: latest, To: latest.Add(time.Second)}, []uint64{7, 4, 3, 2}},
		{Filter{Entity: "again", From: latest}, []uint64{7}},
		{Filter{Actor: "ada", From: latest.Add(time.Second)}, []uint64{8}},
		{Filter{Actor: "ada", To: latest}, nil},
	} {
		if got := numbers(t, two.Store, tt.f); !slices.Equal(got, tt.want) {
			t.Errorf("%+v finds %v, want %v", tt.f, got, tt.want)
		}
	}
}

package audittrail

import (
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math/bits"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// servers returns the names of chains.
func servers(chains []Chain) (names []string) {
	for _, c := range chains {
		names = append(names, c.Server)
	}
	return names
}

// TestTwin lets two servers with one name write to shared storage. Each has a chain, and no record is lost.
func TestTwin(t *testing.T) {
	b, clock := &object.Memory{}, &ticking{at: start}
	one := openedAs(t, b, Options{Now: clock.now}, true)
	read(one, start, "ada", "get", "c1")
	flush(t, one)
	two := openedAs(t, b, Options{Now: clock.now}, true)
	for i := range 4 {
		read(one, start, "ada", "get", fmt.Sprint("a", i))
	}
	read(two, start, "bob", "get", "b1")
	flush(t, two)
	if err := one.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	three := openedAs(t, b, Options{Now: clock.now}, true)
	if three.chain != "one" {
		t.Errorf("the chain that was left in order is not continued: %s", three.chain)
	}
	if got, want := servers(sound(t, one.Store)), []string{"one", "one_2"}; !slices.Equal(got, want) {
		t.Errorf("the chains are %v, want %v", got, want)
	}
	for _, id := range []string{"c1", "a0", "a3", "b1"} {
		if got := numbers(t, one.Store, Filter{Entity: id}); len(got) != 1 {
			t.Errorf("the reads of %s are %v, want one", id, got)
		}
	}
	kill(two)
	clock.advance(leaseTime / 2)
	flush(t, three)
	clock.advance(leaseTime)
	if four := openedAs(t, b, Options{Now: clock.now}, true); four.chain != "one" {
		t.Errorf("the chain of a server that was killed is not continued: %s", four.chain)
	}
	// The third server did not renew its lease. It goes on in a chain that is free.
	read(three, clock.now(), "eve", "get", "c3")
	flush(t, three)
	read(three, clock.now(), "eve", "get", "c4")
	flush(t, three)
	if got := numbers(t, one.Store, Filter{Entity: "c4"}); three.chain != "one_2" || len(got) != 1 {
		t.Errorf("the server without its chain writes %s, and the reads of c4 are %v; want one in one_2", three.chain, got)
	}
	sound(t, one.Store)
	if n := three.Stats().Lost; n != 1 {
		t.Errorf("%d records are lost, want the one that waited", n)
	}
}

// TestStray puts a part beside another one with the same numbers, as two writers without leases do.
func TestStray(t *testing.T) {
	ctx, b := context.Background(), &object.Memory{}
	trail := opened(t, b, Options{})
	read(trail, start, "ada", "get", "c1")
	read(trail, start, "ada", "get", "c2")
	flush(t, trail)
	kill(trail)
	h := Hash{1}
	e := NewEntities()
	e.Add("stray")
	frames := appendFrame(nil, appendCall(nil, 3, start.UnixMicro(), 1, &Call{Time: start, Graph: "cases", Tool: "get", Entities: e}, nil), &h)
	data, err := encodePart(3, Hash{1}, h, false, frames)
	if err != nil {
		t.Fatal(err)
	}
	name := trail.object("one", partName{first: 3, last: 3, time: start.UnixMicro()})
	if err := b.Create(ctx, name, data); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time, another start has looked
		if got := numbers(t, NewStore(b, "audit/"), Filter{Entity: "stray"}); !slices.Equal(got, []uint64{3}) {
			t.Errorf("the reads in the stray part are %v, want 3", got)
		}
		opened(t, b, Options{})
	}
}

// TestPeer lets a server remove the records of one that is gone, and not those of one that runs.
func TestPeer(t *testing.T) {
	b, clock := &object.Memory{}, &ticking{at: start}
	live := openedAs(t, b, Options{Server: "live", Now: clock.now, Keep: time.Hour}, true)
	gone := openedAs(t, b, Options{Server: "gone", Now: clock.now, Keep: time.Hour}, true)
	for _, trail := range []*Trail{live, gone} {
		read(trail, clock.now(), "ada", "get", "c1")
		flush(t, trail)
	}
	kill(gone)
	clock.advance(2*time.Hour - time.Minute)
	live.tidied = clock.now()
	read(live, clock.now(), "ada", "get", "c2")
	flush(t, live)
	clock.advance(time.Second)
	openedAs(t, b, Options{Server: "peer", Now: clock.now, Keep: time.Hour}, true)
	for _, c := range sound(t, live.Store) {
		switch {
		case c.Server == "live" && c.First != 1:
			t.Errorf("the records of a server that runs were removed: %+v", c)
		case c.Server == "gone" && (c.First != 3 || c.Removed != 2 || len(c.Gaps) != 1):
			t.Errorf("the chain of the server that is gone is %+v; want it without its two old records, and with a gap", c)
		}
	}
	clock.advance(3 * time.Hour) // all records that say what was removed are old, too
	openedAs(t, b, Options{Server: "later", Now: clock.now, Keep: time.Hour}, true)
	sound(t, live.Store)
	if again := openedAs(t, b, Options{Server: "gone", Now: clock.now, Keep: time.Hour}, true); again.number < 5 {
		t.Errorf("the numbers of a chain begin again: %d", again.number)
	}
	sound(t, live.Store)
}

// TestDamaged damages an object while a server runs, and starts another.
func TestDamaged(t *testing.T) {
	ctx := context.Background()
	for _, what := range []string{"part", "names", "nothing", "gone"} {
		b := &object.Memory{}
		trail := opened(t, b, Options{})
		read(trail, start, "ada", "get", "c1")
		flush(t, trail)
		name := trail.object("one", trail.parts[len(trail.parts)-1])
		data := []byte("xx")
		switch what {
		case "names":
			name = trail.namesObject("one")
		case "nothing": // a part without records, under the name of one
			p := trail.parts[len(trail.parts)-1]
			data, _ = encodePart(p.first, Hash{}, Hash{}, false, nil)
		case "gone":
			data = nil
		}
		if err := b.Delete(ctx, name); err != nil {
			t.Fatal(err)
		}
		if data != nil {
			if err := b.Create(ctx, name, data); err != nil {
				t.Fatal(err)
			}
		}
		kill(trail)
		var log strings.Builder
		next, err := Open(ctx, NewStore(b, "audit/"), Options{Server: "one", Exclusive: true, Keep: DefaultKeep, Quota: DefaultQuota, Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		kill(next)
		if want := map[bool]string{true: "one", false: "one_2"}[what == "gone"]; next.chain != want || what != "gone" && !strings.Contains(log.String(), "damaged") {
			t.Errorf("%s: the next start writes %s, want %s, and says %q", what, next.chain, want, log.String())
		}
		if what == "names" {
			continue
		}
		for range mergeParts + 10 {
			read(trail, start, "ada", "get", "c2")
			flush(t, trail)
		}
		if n := len(trail.parts); n > 20 {
			t.Errorf("%s: %d parts are not merged", what, n)
		}
	}
}

// TestNamesLost removes the table of actors. No later actor gets the number of one that the table had.
func TestNamesLost(t *testing.T) {
	b := &object.Memory{}
	trail := opened(t, b, Options{})
	read(trail, start, "ada", "get", "c1")
	flush(t, trail)
	kill(trail)
	if err := b.Delete(context.Background(), trail.namesObject("one")); err != nil {
		t.Fatal(err)
	}
	next := opened(t, b, Options{})
	read(next, start, "bob", "get", "c2")
	flush(t, next)
	if got := numbers(t, next.Store, Filter{Actor: "bob", Entity: "c1"}); got != nil {
		t.Errorf("the reads of ada are said to be of bob: %v", got)
	}
}

// TestCollision makes a text with the hash of an id, and has an answer name it before the id.
func TestCollision(t *testing.T) {
	b := &object.Memory{}
	trail := opened(t, b, Options{})
	read(trail, start, "ada", "get", textWith(HashOf("case-1")), "case-1")
	flush(t, trail)
	found, _, err := trail.Query(context.Background(), Filter{Entity: "case-1", Limit: 2})
	if err != nil || len(found) != 1 || !found[0].Possibly {
		t.Errorf("%+v, %v; want the record, possibly", found, err)
	}
}

// textWith returns a text of 16 bytes with a hash: it runs the steps of XXH64 backwards.
func textWith(hash uint64) string {
	const p1, p2, p3, p4, p5 uint64 = 11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579, 2870177450012600261
	inverse := func(a uint64) uint64 {
		x := a
		for range 6 {
			x *= 2 - a*x
		}
		return x
	}
	unshift := func(h uint64, s uint) uint64 {
		r := h
		for range 64 {
			r = h ^ r>>s
		}
		return r
	}
	round := func(k uint64) uint64 { return bits.RotateLeft64(k*p2, 31) * p1 }
	x := unshift(unshift(unshift(hash, 32)*inverse(p3), 29)*inverse(p2), 33)
	before := bits.RotateLeft64((x-p4)*inverse(p1), -27)
	text := []byte("abcdefgh")
	h := bits.RotateLeft64((p5+16)^round(binary.LittleEndian.Uint64(text)), 27)*p1 + p4
	return string(binary.LittleEndian.AppendUint64(text, bits.RotateLeft64((h^before)*inverse(p1), -31)*inverse(p2)))
}

// TestLargeRecords adds calls with very large parts, and goes on.
func TestLargeRecords(t *testing.T) {
	b := &object.Memory{}
	trail := opened(t, b, Options{})
	trail.Add(&Call{Time: start, Graph: "g", Tool: "values", Values: make([]byte, maxBlock+1)})
	trail.Add(&Call{Time: start, Graph: "g", Tool: "types", Types: []string{strings.Repeat("x", maxBlock)}})
	e := NewEntities()
	for i := range maxHashes + 2*MaxIDs {
		e.Add(fmt.Sprint(i))
	}
	trail.Add(&Call{Time: start, Graph: "g", Tool: "many", Entities: e})
	trail.Add(&Call{Time: start, Graph: "g", Tool: "large", Values: make([]byte, maxValues)})
	flush(t, trail)
	found, _, err := trail.Query(context.Background(), Filter{Limit: 9})
	if err != nil || len(found) != 3 || trail.Stats().Lost != 1 {
		t.Fatalf("%d records, %v, lost %d; want three, and one lost", len(found), err, trail.Stats().Lost)
	}
	if r := found[1]; len(r.Hashes) != maxHashes || !r.Whole {
		t.Errorf("the answer with many entities has %d hashes, whole %v", len(r.Hashes), r.Whole)
	}
	if found[2].Values != nil || cap(trail.scratch) > 2*flushBytes {
		t.Errorf("%d bytes of values, and memory for %d", len(found[2].Values), cap(trail.scratch))
	}
	sound(t, trail.Store)
}

// TestRefused counts refused calls in one record.
func TestRefused(t *testing.T) {
	trail := opened(t, &object.Memory{}, Options{Quota: 1, Refuse: true})
	before := trail.Stats().Records
	for range 50 {
		trail.Refused()
	}
	read(trail, start, "ada", "read_audit")
	flush(t, trail)
	gaps := sound(t, trail.Store)[0].Gaps
	if len(gaps) != 1 || gaps[0].Lost != 50 || trail.Stats().Records != before+1 {
		t.Errorf("the gaps are %+v, with %d records", gaps, trail.Stats().Records)
	}
}

// waiting is a bucket whose Create waits for its context.
type waiting struct{ object.Bucket }

func (w waiting) Create(ctx context.Context, _ string, _ []byte) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestSettle stops waiting for the storage when its context ends.
func TestSettle(t *testing.T) {
	trail := opened(t, &object.Memory{}, Options{})
	kill(trail)
	trail.bucket = waiting{trail.bucket}
	read(trail, start, "ada", "get", "c1")
	long, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- trail.Flush(long) }()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if err := trail.Settle(ctx); err == nil {
		t.Error("it settled")
	}
	stop()
	<-ended
}

// TestHeadWhileIdle tells of the last record although no further one comes.
func TestHeadWhileIdle(t *testing.T) {
	ctx, clock, told := context.Background(), &ticking{at: start}, uint64(0)
	trail := opened(t, &object.Memory{}, Options{Now: clock.now, Head: func(number uint64, _ Hash) { told = number }})
	kill(trail)
	for range 5 {
		read(trail, clock.now(), "ada", "get", "c1")
		flush(t, trail)
	}
	if told != 1 {
		t.Errorf("within a minute, the head is told of record %d, want 1", told)
	}
	clock.advance(headTime)
	trail.beat(ctx)
	if told != 6 {
		t.Errorf("after a minute, the head is told of record %d, want 6", told)
	}
}

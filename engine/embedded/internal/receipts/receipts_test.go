package receipts

import (
	"fmt"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/ancestry"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/logrecord"
)

// TestReceiptTable adds receipts over two days and compares the table with a map. Some keys
// repeat after a day, and many hashes collide.
func TestReceiptTable(t *testing.T) {
	const n = 5 * pruneEvery
	begun := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var h ancestry.History
	r := Set{ignoredBits: ^uint64(0xfff)}
	model := map[Key]engine.Commit{}
	var handed []Packed
	for i := range n {
		c := engine.Commit{ID: fmt.Sprintf("01ARZ3NDEKTSV4RRFFQ6%06d", i), Seq: uint64(i), Actor: fmt.Sprint("a", i%3), Time: begun.Add(time.Duration(i) * 48 * time.Hour / n)}
		h.Add(logrecord.Commit{Commit: c}, uint64(i))
		k := Key{c.Actor, fmt.Sprint("key ", i%(4*pruneEvery))}
		r.Add(&h, c, &logrecord.Receipt{Key: k.Key, Nodes: int64(i)})
		if model[k] = c; i == n/4 {
			handed = r.Current(&h, c.Time)
		}
	}
	now := begun.Add(48 * time.Hour)
	current := r.Current(&h, now)
	if got, most := len(r.list), n/2+pruneEvery; got > most || len(current) > n/2 {
		t.Errorf("%d receipts are in memory and %d are current, expected at most %d and %d", got, len(current), most, n/2)
	}
	if len(r.collisions) == 0 || len(r.at)+len(r.collisions) > len(r.list) {
		t.Errorf("%d and %d places for %d receipts", len(r.at), len(r.collisions), len(r.list))
	}
	for k, c := range model {
		rec, ok := r.Find(&h, k)
		switch {
		case ok && (rec.Commit.ID != c.ID || rec.Receipt.Key != k.Key || rec.Receipt.Nodes != int64(c.Seq)):
			t.Fatalf("%v has the receipt of commit %s, expected %s", k, rec.Commit.ID, c.ID)
		case !ok && !Outdated(now, c.Time):
			t.Fatalf("%v has no receipt, expected that of commit %s", k, c.ID)
		}
	}
	if rec, ok := r.Find(&h, Key{"a9", "key 0"}); ok {
		t.Errorf("a key of another actor has the receipt of commit %s", rec.Commit.ID)
	}
	for i, x := range handed {
		if got := x.Unpack(&h); got.Receipt.Nodes != int64(got.Commit.Seq) || i > 0 && got.Commit.Seq != handed[i-1].Unpack(&h).Commit.Seq+1 {
			t.Fatalf("the returned part of the list has changed: %v", got)
		}
	}
}

// TestPositions checks that the last position of each source is stored at any age, and that it answers no idempotency key.
func TestPositions(t *testing.T) {
	begun := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var h ancestry.History
	var r, again Set
	for i, rec := range []*logrecord.Receipt{logrecord.NewPosition("a", "1"), {Key: "k"}, logrecord.NewPosition("b", "2"), logrecord.NewPosition("a", "3"), {Key: "a"}} {
		c := engine.Commit{ID: fmt.Sprintf("01ARZ3NDEKTSV4RRFFQ6%06d", i), Seq: uint64(i), Time: begun.Add(time.Duration(i) * time.Hour)}
		h.Add(logrecord.Commit{Commit: c}, uint64(i))
		r.Add(&h, c, rec)
	}
	for _, p := range r.Stored(&h, begun.Add(100*24*time.Hour)) {
		rec := p.Unpack(&h)
		again.Add(&h, rec.Commit, &rec.Receipt)
	}
	for source, want := range map[string]string{"a": "3", "b": "2", "c": ""} {
		for _, s := range []*Set{&r, &again} {
			if got := s.Position(source); got != want {
				t.Errorf("source %s is at %q, expected %q", source, got, want)
			}
		}
	}
	if n := len(again.Current(&h, begun)); n != 0 {
		t.Errorf("%d receipts were stored, which have expired", n)
	}
	if n := len(r.Stored(&h, begun.Add(5*time.Hour))); n != 4 {
		t.Errorf("%d receipts would be stored within a day, expected two and two positions", n)
	}
}

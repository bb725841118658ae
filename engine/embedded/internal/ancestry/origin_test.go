package ancestry

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/logrecord"
)

// TestOrigin reserves numbers of commits, and asks for the facts that the history keeps under them, also after it was stored and read.
func TestOrigin(t *testing.T) {
	h := new(History)
	at := time.UnixMicro(1_700_000_000_000_001).UTC()
	add := func(n uint32, proposal string, i int, parents ...int) {
		c := engine.Commit{ID: commitID(i), Seq: 1, Actor: "ann", Time: at.Add(time.Duration(i) * time.Second), Tool: "tool", Source: "crm", Proposal: proposal}
		if proposal != "" {
			c.Approvers = []string{"eva", "finn"}
		}
		for _, p := range parents {
			c.Parents = append(c.Parents, commitID(p))
		}
		_ = h.Add(logrecord.Commit{Commit: c, Number: n}, 0)
	}
	first, second := h.Reserve(), h.Reserve()
	if first == 0 || first == second {
		t.Fatalf("numbers %d and %d", first, second)
	}
	h.Release(second)
	if again := h.Reserve(); again != second {
		t.Errorf("the released number is %d, found %d", second, again)
	}
	// Commits 3 and 4 are of a branch that begins at 2. Merge 5 takes them to the line of 2, and merge 6 to that of 1, with 2.
	add(second, "", 1)
	add(first, "", 2, 1)
	add(h.Reserve(), "", 3, 2)
	add(h.Reserve(), "", 4, 3)
	add(h.Reserve(), "p1", 5, 2, 4)
	add(h.Reserve(), "p2", 6, 1, 4)
	lost := h.Reserve()
	h.Release(lost)
	add(lost, "", 7, 6)
	if again := h.Reserve(); again == lost {
		t.Errorf("number %d of commit 7 is reserved again", lost)
	}
	for _, h := range []*History{h, reread(t, h)} {
		for n := range h.Len() {
			o, ok := h.Origin(h.OriginOf(n))
			if !ok || o.Actor != "ann" || o.Tool != "tool" || o.Source != "crm" || !o.Time.Equal(at.Add(time.Duration(n+1)*time.Second)) {
				t.Errorf("commit %d has the origin %+v", n+1, o)
			}
		}
		for _, c := range []struct {
			tip  int
			want []string // by commit: its proposal on the line of the tip
		}{
			{7, []string{"", "p2", "p2", "p2", "", "p2", ""}},
			{4, []string{"", "", "", "", "", "", ""}},
			{5, []string{"", "", "p1", "p1", "p1", "", ""}},
			{6, []string{"", "p2", "p2", "p2", "", "p2", ""}},
			{2, []string{"", "", "", "", "", "", ""}},
			{1, []string{"", "", "", "", "", "", ""}},
			{3, []string{"", "", "", "", "", "", ""}},
			{5, []string{"", "", "p1", "p1", "p1", "", ""}},
		} {
			of := h.Proposals(commitID(c.tip))
			var got []string
			for n := range h.Len() {
				got = append(got, of(h.OriginOf(n)))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("on the line of commit %d the proposals are %q, want %q", c.tip, got, c.want)
			}
			if of(0) != "" || of(99) != "" {
				t.Error("an unknown number has a proposal")
			}
		}
		if c := h.At(4); !slices.Equal(c.Approvers, []string{"eva", "finn"}) {
			t.Errorf("approvers %q", c.Approvers)
		}
		for _, n := range []uint32{0, 99} {
			if o, ok := h.Origin(n); ok {
				t.Errorf("number %d has the origin %+v", n, o)
			}
		}
	}
}

// reread returns a history that was read from the stored form of another one.
func reread(t *testing.T, h *History) *History {
	t.Helper()
	again := new(History)
	if err := again.ReadHistory(h.AppendHistory(nil, 0, h.Len())); err != nil {
		t.Fatal(err)
	}
	if n := again.Reserve(); again.used(n) || n == 0 {
		t.Errorf("the next number is %d", n)
	}
	return again
}

// farHistory returns a block of the history with a number that would take 16 GB.
func farHistory() []byte {
	h := new(History)
	_ = h.Add(logrecord.Commit{Commit: engine.Commit{ID: commitID(1), Seq: 1, Branch: "main"}}, 0)
	h.at(0).origin = math.MaxUint32
	return h.AppendHistory(nil, 0, 1)
}

// TestFarNumber reads commits with numbers in the origins of rows that no graph gave.
func TestFarNumber(t *testing.T) {
	for _, n := range []uint32{1 << 20, math.MaxUint32 - 2, math.MaxUint32} {
		c := logrecord.Commit{Commit: engine.Commit{ID: commitID(1), Seq: 1, Branch: "main"}, Number: n}
		h := new(History)
		var corrupt *engine.Corrupt
		if err := h.Add(c, 0); !errors.As(err, &corrupt) || h.Len() != 1 || h.OriginOf(0) != 0 {
			t.Errorf("number %d: %v", n, err)
		}
		if next := h.Reserve(); next != 1 {
			t.Errorf("after number %d, the next is %d", n, next)
		}
	}
}

package version

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/omnigraph-go/omnigraph/engine"
)

// commitID returns the id of the n-th commit of a test; ids ascend.
func commitID(n int) string { return fmt.Sprintf("01ARZ3NDEKTSV4RRFFQ6%06d", n) }

// TestCommonAncestor draws graphs of commits and compares the walk with the
// definition: of the common ancestors, those that no other descends from, and of these
// the one with the greatest id.
func TestCommonAncestor(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		const n = 24
		var h History
		parents := make([][]int, n)
		for i := range n {
			c := engine.Commit{ID: commitID(i), Seq: 1}
			if i > 0 {
				for range 1 + rng.IntN(2) {
					p := max(0, i-1-rng.IntN(5))
					parents[i] = append(parents[i], p)
					c.Parents = append(c.Parents, commitID(p))
				}
			}
			h.Add(c, 0)
		}
		var ancestors func(i int, into map[int]bool) map[int]bool
		ancestors = func(i int, into map[int]bool) map[int]bool {
			into[i] = true
			for _, p := range parents[i] {
				ancestors(p, into)
			}
			return into
		}
		for range 20 {
			a, b := rng.IntN(n), rng.IntN(n)
			ofA, ofB := ancestors(a, map[int]bool{}), ancestors(b, map[int]bool{})
			want := -1
			for i := range n {
				if !ofA[i] || !ofB[i] {
					continue
				}
				lowest := true
				for j := range n {
					if j != i && ofA[j] && ofB[j] && ancestors(j, map[int]bool{})[i] {
						lowest = false
					}
				}
				if lowest {
					want = i
				}
			}
			if got, ok := h.CommonAncestor(commitID(a), commitID(b)); !ok || got != commitID(want) {
				t.Fatalf("of %d and %d: %s, want %d; parents %v", a, b, got, want, parents)
			}
		}
	}
	var h History
	h.Add(engine.Commit{ID: commitID(1)}, 0)
	h.Add(engine.Commit{ID: commitID(2)}, 0)
	if id, ok := h.CommonAncestor(commitID(1), commitID(2)); ok {
		t.Errorf("strangers have the common ancestor %s", id)
	}
}

func TestHistoryRoundTrip(t *testing.T) {
	var h History
	for i := range 20 {
		c := engine.Commit{ID: commitID(i), Seq: uint64(i + 1), Branch: "main", Time: time.UnixMicro(int64(i)).UTC(), Schema: fmt.Sprint("sha256:", i/8)}
		if i > 0 {
			c.Parents = []string{commitID(i - 1)}
		}
		h.Add(c, uint64(i))
	}
	var read History
	for _, part := range [][]byte{h.AppendHistory(nil, 0, 7), h.AppendHistory(nil, 7, 20)} {
		if err := read.ReadHistory(part); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(h.order, read.order); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if !read.InLine(commitID(3), commitID(15)) || read.InLine(commitID(15), commitID(3)) || read.InLine("01ARZ3NDEKTSV4RRFFQ6000003X", commitID(9)) {
		t.Error("the line of a commit is another")
	}
	if got := read.Latest(); got != commitID(19) {
		t.Errorf("the latest is %s", got)
	}
}

func TestBranchingRoundTrip(t *testing.T) {
	for _, b := range []Branching{
		{Name: "a/b", From: "main", Commit: commitID(1), Time: time.UnixMicro(7).UTC()},
		{Name: "x", Commit: commitID(2), Time: time.UnixMicro(8).UTC()},
		{Delete: true, Name: "a/b", Time: time.UnixMicro(9).UTC()},
	} {
		got, err := ReadBranching(b.Append(nil))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&b, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}

// FuzzReadRecords reads any bytes as each kind of payload: they are refused as corrupt,
// or what was read is written and read again.
func FuzzReadRecords(f *testing.F) {
	var h History
	h.Add(engine.Commit{ID: commitID(1), Seq: 1, Branch: "main", Schema: "sha256:0"}, 0)
	f.Add(AppendHeader(nil, first, &receipt))
	f.Add((&Branching{Name: "a", From: "main", Commit: commitID(1)}).Append(nil))
	f.Add(h.AppendHistory(nil, 0, 1))
	f.Fuzz(func(t *testing.T, b []byte) {
		refused := func(err error) bool {
			if err != nil && !errors.As(err, new(*engine.Corrupt)) {
				t.Errorf("%v is no *engine.Corrupt", err)
			}
			return err != nil
		}
		if c, receipt, _, err := Header(b); !refused(err) {
			again, receiptAgain, _, err := Header(AppendHeader(nil, c, receipt))
			if err != nil || cmp.Diff(c, again) != "" || cmp.Diff(receipt, receiptAgain) != "" {
				t.Errorf("header %+v, again %+v, %v", c, again, err)
			}
		}
		if r, err := ReadBranching(b); !refused(err) {
			again, err := ReadBranching(r.Append(nil))
			if err != nil || cmp.Diff(r, again) != "" {
				t.Errorf("record %+v, again %+v, %v", r, again, err)
			}
		}
		refused(new(History).ReadHistory(b))
	})
}

// TestAdoptBehindSegments adopts a flush for states to which rows and segments were
// added after it.
func TestAdoptBehindSegments(t *testing.T) {
	s := testSchema(t)
	base := change(t, s).Commit(first)
	var c Checkpoint
	for _, table := range base.Tables() {
		f, ok, err := c.Flush(table)
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			f.Segment.Name = "stored " + table.Type.Name
		}
	}
	flushed := c.Snapshot(base)
	for _, late := range []int{0, 3} {
		tx := Begin(base)
		for i := range late {
			tx.Put(s.Nodes[1], Row{ID: fmt.Sprint("late", i), Vals: anyRow(i)})
		}
		other := Begin(NewSnapshot(s, first))
		for i := range 4 {
			other.Put(s.Nodes[1], Row{ID: fmt.Sprint("any", i), Vals: anyRow(40 + i)})
		}
		table := other.Table(s.Nodes[1])
		seg, err := table.Collect(0, 4)
		if err != nil {
			t.Fatal(err)
		}
		seg.Name = "bulk"
		tx.PutSegment(Part{Type: s.Nodes[1], Segment: seg})
		tx.Put(s.Nodes[1], Row{ID: "latest", Vals: anyRow(99)})
		later := tx.Commit(first)
		adopted := c.Adopt(base, later)
		if diff := cmp.Diff(content(later), content(adopted)); diff != "" {
			t.Errorf("adopted (-want +got):\n%s", diff)
		}
		var names []string
		for _, seg := range adopted.nodes[1].Segs {
			names = append(names, seg.Name)
		}
		want := []string{"stored Any", "bulk"}
		if late > 0 {
			want = []string{"stored Any", "", "bulk"}
		}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("segments (-want +got):\n%s", diff)
		}
		if same := c.Adopt(base, base); same.nodes[1] != flushed.nodes[1] {
			t.Error("a state that is what was flushed does not share its tables")
		}
	}
}

package ancestry

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/logrecord"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/storedtest"
)

// commitID returns the id of the n-th commit of a test. The ids ascend.
func commitID(n int) string { return fmt.Sprintf("01ARZ3NDEKTSV4RRFFQ6%06d", n) }

// TestCommonAncestor draws random commit graphs and compares CommonAncestor with its definition.
// Only a common ancestor that has no descendant among the common ancestors counts. CommonAncestor
// must return the one with the greatest id.
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
			h.Add(logrecord.Commit{Commit: c}, 0)
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
	_ = h.Add(logrecord.Commit{Commit: engine.Commit{ID: commitID(1)}}, 0)
	_ = h.Add(logrecord.Commit{Commit: engine.Commit{ID: commitID(2)}}, 0)
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
		_ = h.Add(logrecord.Commit{Commit: c}, uint64(i))
	}
	var read History
	for _, part := range [][]byte{h.AppendHistory(nil, 0, 7), h.AppendHistory(nil, 7, 20)} {
		if err := read.ReadHistory(part); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(maps.Collect(h.Slice(0, 20)), maps.Collect(read.Slice(0, 20))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if !read.InLine(commitID(3), commitID(15)) || read.InLine(commitID(15), commitID(3)) || read.InLine("01ARZ3NDEKTSV4RRFFQ6000003X", commitID(9)) {
		t.Error("the line of a commit is another")
	}
	for skip, want := range map[uint64]string{0: commitID(15), 1: commitID(14), 15: commitID(0), 16: "", 99: ""} {
		if got := read.Before(commitID(15), skip); got != want {
			t.Errorf("%d commits before the sixteenth is %q, want %q", skip, got, want)
		}
	}
	if got := read.Latest(); got != commitID(19) {
		t.Errorf("the latest is %s", got)
	}
}

// TestOddCommits enters commits that no engine writes. They must be read back unchanged,
// and walks must skip unknown parents.
func TestOddCommits(t *testing.T) {
	all := []engine.Commit{
		{ID: "none", Seq: 1, Branch: "main", Time: time.UnixMicro(1).UTC()},
		{ID: commitID(1), Seq: 2, Parents: []string{"none"}, Time: time.Time{}},
		{ID: commitID(2), Seq: 3, Parents: []string{commitID(9), commitID(1)}, Time: time.UnixMicro(-3).UTC()},
		{ID: commitID(3), Seq: 4, Parents: []string{commitID(2), "none", commitID(1)}, Actor: "a", Time: time.UnixMicro(2).UTC()},
		{ID: "01arz3ndektsv4rrffq6000001", Seq: 1<<64 - 1, Parents: []string{}, Time: time.UnixMicro(2).UTC()},
		{ID: commitID(4), Seq: 5, Parents: []string{commitID(3), commitID(1)}, Actor: "a", Schema: "s", Time: time.UnixMicro(4).UTC()},
	}
	var h History
	for i, c := range all {
		_ = h.Add(logrecord.Commit{Commit: c}, uint64(i))
		_ = h.Add(logrecord.Commit{Commit: engine.Commit{ID: c.ID, Seq: 77}}, 0)
	}
	if h.Len() != len(all) {
		t.Errorf("there are %d commits, expected %d", h.Len(), len(all))
	}
	for i, c := range all {
		got, lsn, ok := h.Get(c.ID)
		if diff := cmp.Diff(c, got); diff != "" || lsn != uint64(i) || !ok {
			t.Errorf("commit %d, record %d, known %t: -want +got:\n%s", i, lsn, ok, diff)
		}
	}
	if _, _, ok := h.Get(commitID(9)); ok {
		t.Error("the history has a commit that was never entered")
	}
	var found []int
	h.Ancestors([]string{commitID(4), commitID(9)}, "", func(n int) bool {
		found = append(found, n)
		return true
	})
	slices.Sort(found)
	if diff := cmp.Diff([]int{0, 1, 2, 3, 5}, found); diff != "" {
		t.Errorf("ancestors: -want +got:\n%s", diff)
	}
	// The first parent of commit 2 is unknown, so Line ends there.
	var line []uint64
	h.Line(commitID(4), func(c engine.Commit) bool {
		line = append(line, c.Seq)
		return true
	})
	if diff := cmp.Diff([]uint64{5, 4, 3}, line); diff != "" {
		t.Errorf("line: -want +got:\n%s", diff)
	}
	if id, ok := h.CommonAncestor(commitID(3), commitID(1)); id != commitID(1) || !ok {
		t.Errorf("the common ancestor is %q", id)
	}
}

// TestHistoryMemory bounds the bytes of memory that each commit of the history takes.
func TestHistoryMemory(t *testing.T) {
	const n, most = 50_000, 90 // bytes: 72, about 5 of its number, and at most 11 of the hash table
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	h := new(History)
	last := ""
	for i := range n {
		c := engine.Commit{ID: commitID(i), Seq: uint64(i + 1), Branch: fmt.Sprint("b", i%7), Actor: fmt.Sprint("actor", i%5), Time: time.UnixMicro(int64(i)), Schema: "sha256:0"}
		if last != "" {
			c.Parents = []string{last}
		}
		_ = h.Add(logrecord.Commit{Commit: c, Number: h.Reserve()}, uint64(i))
		last = c.ID
	}
	if took := (heap() - before) / n; took > most {
		t.Errorf("a commit takes %d bytes, expected at most %d", took, most)
	}
	if c, _, ok := h.Get(commitID(n - 1)); !ok || c.Parents[0] != commitID(n-2) || c.Branch != "b5" {
		t.Errorf("the last commit is %v, known %t", c, ok)
	}
}

// FuzzReadRecords reads arbitrary bytes as each kind of payload. Either the bytes must be refused
// with a *engine.Corrupt, or the value must be the same after another write and read.
func FuzzReadRecords(f *testing.F) {
	var h History
	_ = h.Add(logrecord.Commit{Commit: engine.Commit{ID: commitID(1), Seq: 1, Branch: "main", Schema: "sha256:0"}}, 0)
	f.Add(logrecord.AppendHeader(nil, logrecord.Commit{Commit: engine.Commit{ID: commitID(1), Branch: "main"}}, &logrecord.Receipt{Key: "k", Body: [32]byte{1, 31: 2}, Nodes: 3}))
	f.Add((&logrecord.Branching{Name: "a", From: "main", Commit: commitID(1)}).Append(nil))
	f.Add(h.AppendHistory(nil, 0, 1))
	f.Add(farHistory())
	f.Fuzz(func(t *testing.T, b []byte) {
		refused := func(err error) bool {
			if err != nil && !storedtest.IsBadData(err) {
				t.Errorf("%v is neither a *engine.Corrupt nor an error about the format", err)
			}
			return err != nil
		}
		if c, receipt, _, err := logrecord.Header(b); !refused(err) {
			again, receiptAgain, _, err := logrecord.Header(logrecord.AppendHeader(nil, c, receipt))
			if err != nil || cmp.Diff(c, again) != "" || cmp.Diff(receipt, receiptAgain) != "" {
				t.Errorf("header %+v, again %+v, %v", c, again, err)
			}
		}
		if r, err := logrecord.ReadBranching(b); !refused(err) {
			again, err := logrecord.ReadBranching(r.Append(nil))
			if err != nil || cmp.Diff(r, again) != "" {
				t.Errorf("record %+v, again %+v, %v", r, again, err)
			}
		}
		refused(new(History).ReadHistory(b))
	})
}

package version

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAdoptAfterBeginningAnew flushes rows that no segment held, and then replaces the table. When
// the flush is adopted in a state that has the replacement, the state must keep the replacement.
func TestAdoptAfterBeginningAnew(t *testing.T) {
	s := testSchema(t)
	base := change(t, s).Commit(first)
	var c Checkpoint
	for _, table := range base.Tables() {
		if _, _, err := c.Flush(table); err != nil {
			t.Fatal(err)
		}
	}
	c.Snapshot(base)
	other := Begin(NewSnapshot(s, first))
	for _, id := range []string{"any0", "other"} {
		other.Put(s.Nodes[1], Row{ID: id, Vals: anyRow(77)})
	}
	seg, err := other.Table(s.Nodes[1]).Collect(0, 2)
	if err != nil {
		t.Fatal(err)
	}
	tx := Begin(base)
	if err := tx.PutSegments([]Part{{Type: s.Nodes[1], Segment: seg, Replace: true, Reset: true}}); err != nil {
		t.Fatal(err)
	}
	later := tx.Commit(first)
	if len(base.nodes[1].Segs) > 0 || len(base.nodes[1].tail) == 0 {
		t.Fatal("the first state holds its rows in segments, but the test needs them in the tail")
	}
	if diff := cmp.Diff(content(later), content(c.Adopt(base, later))); diff != "" {
		t.Errorf("adopted (-want +got):\n%s", diff)
	}
}

// TestAdoptBehindSegments adopts a flush in states that got rows and segments after it.
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
		if err := tx.PutSegments([]Part{{Type: s.Nodes[1], Segment: seg}}); err != nil {
			t.Fatal(err)
		}
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
			t.Error("a state equal to the flushed one does not share its tables")
		}
	}
}

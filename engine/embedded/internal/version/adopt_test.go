package version

import (
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

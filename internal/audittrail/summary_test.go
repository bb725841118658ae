package audittrail

import (
	"context"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// TestSummaryIsBounded counts the few calls of a graph in a trail with many calls of another one.
func TestSummaryIsBounded(t *testing.T) {
	s := NewStore(&object.Memory{}, "")
	clock := &ticking{at: start}
	trail, err := Open(t.Context(), s, Options{Server: "one", Keep: DefaultKeep, Quota: 1 << 40, Now: clock.now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = trail.Close(context.Background()) })
	for i := range 20 { // a part for each five calls
		graph := "busy"
		if i == 0 || i == 19 {
			graph = "quiet"
		}
		trail.Add(&Call{Time: start.Add(time.Duration(i) * time.Second), Graph: graph, Tool: "t", Outcome: succeeded})
		if i%5 == 4 {
			if err := trail.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		most, calls int
		complete    bool
	}{{0, 2, true}, {1000, 2, true}, {10, 1, false}} {
		sum, err := s.Summarize(t.Context(), Filter{Graph: "quiet", From: start, To: start.Add(time.Minute), most: c.most}, 2)
		if err != nil {
			t.Fatal(err)
		}
		if sum.All.Calls != c.calls || sum.Complete != c.complete {
			t.Errorf("a summary of %d records counts %d calls, complete %v; want %d, %v", c.most, sum.All.Calls, sum.Complete, c.calls, c.complete)
		}
	}
}

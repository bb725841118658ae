package audittrail

import (
	"context"
	"reflect"
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

// TestSummaryOfStrangers counts no requests without a valid token.
func TestSummaryOfStrangers(t *testing.T) {
	trail := opened(t, &object.Memory{}, Options{Now: (&ticking{at: start}).now})
	trail.Add(&Call{Time: start, Took: time.Second, Graph: "cases", Tool: "t", Actor: "ada", Outcome: succeeded})
	for range 200 {
		trail.Add(&Call{Time: start, Graph: "cases", Outcome: "unauthorized", Denied: Authentication, Rows: 1000})
	}
	flush(t, trail)
	sum, err := trail.Summarize(t.Context(), Filter{Graph: "cases", From: start, To: start.Add(time.Minute)}, 2)
	if err != nil {
		t.Fatal(err)
	}
	want := CallCounts{Calls: 1, P99: time.Second}
	if !reflect.DeepEqual(sum.All, want) || !reflect.DeepEqual(sum.Slots[0], want) || len(sum.Tools) != 1 || len(sum.Actors) != 1 {
		t.Errorf("the summary is %+v", sum)
	}
}

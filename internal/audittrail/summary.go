package audittrail

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// MaxSummarized is the number of calls, the latest ones, that a summary counts.
const MaxSummarized = 200_000

// maxRead is the number of records, also of other graphs, that a summary reads until it leaves out the older ones.
const maxRead = 2_000_000

// maxGroups is the number of tools, and of actors, that a summary lists: those with the most calls.
const maxGroups = 50

// CallCounts counts calls.
type CallCounts struct {
	Name   string // of the tool or of the actor with its agents; empty for an unknown one
	Calls  int
	Failed int           // calls that did not succeed, with those that the policy denied
	Denied int           // calls that the policy denied
	P99    time.Duration // 99 of 100 calls took this long or less

	took []time.Duration
}

// add counts a call.
func (t *CallCounts) add(r *Record) {
	t.Calls++
	if r.Outcome != succeeded {
		t.Failed++
	}
	if r.Denied != "" {
		t.Denied++
	}
	t.took = append(t.took, r.Took)
}

// end sets P99.
func (t *CallCounts) end() {
	if len(t.took) > 0 {
		slices.Sort(t.took)
		t.P99 = t.took[(len(t.took)*99+99)/100-1]
	}
	t.took = nil
}

// Summary counts the calls that a filter selects. Requests without a valid token are no calls.
type Summary struct {
	All      CallCounts
	Complete bool         // every call was counted, and not only the latest ones
	Slots    []CallCounts // of equal parts of the time between From and To, the oldest first
	Tools    []CallCounts // the most called first
	Actors   []CallCounts
}

// Summarize counts the calls that a filter selects, in `slots` parts of its time, which must have a start and an end.
func (s *Store) Summarize(ctx context.Context, f Filter, slots int) (sum *Summary, err error) {
	f.most = cmp.Or(f.most, maxRead)
	part := f.To.Sub(f.From) / time.Duration(slots)
	for range attempts { // a writer may merge a part before it is read
		sum = &Summary{Complete: true, Slots: make([]CallCounts, slots)}
		tools, actors := map[string]*CallCounts{}, map[string]*CallCounts{}
		err = s.each(ctx, f, func(r Found) bool {
			if r.Denied == Authentication {
				return true
			}
			if sum.All.Calls == MaxSummarized {
				sum.Complete = false
				return false
			}
			slot := min(int(r.Time.Sub(f.From)/max(part, 1)), slots-1)
			for _, t := range []*CallCounts{&sum.All, &sum.Slots[slot], group(tools, r.Tool), group(actors, r.Actor)} {
				t.add(r.Record)
			}
			return true
		})
		if errors.Is(err, errMost) {
			sum.Complete, err = false, nil
		}
		if err == nil {
			sum.All.end()
			for i := range sum.Slots {
				sum.Slots[i].end()
			}
			sum.Tools, sum.Actors = most(tools), most(actors)
			return sum, nil
		}
		if !errors.Is(err, object.ErrNotFound) {
			break
		}
	}
	return nil, err
}

// group returns the counts with a name.
func group(of map[string]*CallCounts, name string) *CallCounts {
	t := of[name]
	if t == nil {
		t = &CallCounts{Name: name}
		of[name] = t
	}
	return t
}

// most returns the tallies with the most calls.
func most(of map[string]*CallCounts) []CallCounts {
	list := make([]CallCounts, 0, len(of))
	for _, t := range of {
		t.end()
		list = append(list, *t)
	}
	slices.SortFunc(list, func(a, b CallCounts) int { return cmp.Or(-cmp.Compare(a.Calls, b.Calls), cmp.Compare(a.Name, b.Name)) })
	return list[:min(len(list), maxGroups)]
}

package sharedlog

import (
	"context"
	"slices"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// togetherPart is the part of the retention within which announcements share a condemnation. So a
// log never has many condemnations that wait.
const togetherPart = 64

// condemnation is what one announcement, or several announcements shortly one after the other,
// condemned. Each announcement repeats the earlier condemnations whose objects its writer has not
// deleted, so the last announcement of a log lists all of them.
type condemnation struct {
	Begun    int64  `json:"begun"`              // time of the first announcement, in milliseconds since 1970
	Time     int64  `json:"time"`               // time of the last announcement, in milliseconds since 1970
	Covered  uint64 `json:"covered"`            // the last log object that the last announced checkpoint covers
	Segments []span `json:"segments,omitempty"` // the condemned segments, in ascending order

	done bool // this server has deleted all of it
}

// span is a run of consecutive numbers: the first one, and how many there are.
type span [2]uint64

// all calls f with each number of the spans until f returns an error, and returns that error.
func all(spans []span, f func(number uint64) error) error {
	for _, s := range spans {
		for n := range s[1] {
			if err := f(s[0] + n); err != nil {
				return err
			}
		}
	}
	return nil
}

// spansOf returns the spans of a list of numbers in any order.
func spansOf(numbers []uint64) (spans []span) {
	numbers = slices.Clone(numbers)
	slices.Sort(numbers)
	for _, n := range slices.Compact(numbers) {
		if last := len(spans) - 1; last >= 0 && spans[last][0]+spans[last][1] == n {
			spans[last][1]++
			continue
		}
		spans = append(spans, span{n, 1})
	}
	return spans
}

// includes reports whether a condemnation includes a segment.
func (c *condemnation) includes(number uint64) bool {
	_, found := slices.BinarySearchFunc(c.Segments, number, func(s span, n uint64) int {
		switch {
		case n < s[0]:
			return 1
		case n >= s[0]+s[1]:
			return -1
		}
		return 0
	})
	return found
}

// condemn returns the condemnations that the next announcement lists: those that wait, and its own.
// The announcement has the given time, its checkpoint covers the log up to `covered`, and the
// graph does not need the given segments any more.
func (f *Follower) condemn(time int64, covered uint64, segments []uint64) []condemnation {
	next := condemnation{Begun: time, Time: time, Covered: covered}
	waiting := slices.DeleteFunc(slices.Clone(f.condemned), func(c condemnation) bool { return c.done })
	if last := len(waiting) - 1; last >= 0 && time-waiting[last].Begun < f.Retention.Milliseconds()/togetherPart {
		next.Begun = waiting[last].Begun
		_ = all(waiting[last].Segments, func(n uint64) error { // it returns no error
			segments = append(segments, n)
			return nil
		})
		waiting = waiting[:last]
	}
	next.Segments = spansOf(segments)
	return append(waiting, next)
}

// due reports whether the retention of a condemnation has passed.
func (f *Follower) due(c *condemnation) bool {
	return f.Retention < 0 || f.Now().Sub(time.UnixMilli(c.Time)) >= f.Retention
}

// Segments returns the numbers of all segments in the storage.
func (o Options) Segments(ctx context.Context) (numbers []uint64, err error) {
	s := storage{o.withDefaults()}
	for after := ""; ; {
		names, err := s.list(ctx, segmentPrefix, after, object.MaxList)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			n, err := segmentNumber(name)
			if err != nil {
				return nil, err
			}
			numbers = append(numbers, n)
		}
		if len(names) < object.MaxList {
			return numbers, nil
		}
		after = names[len(names)-1]
	}
}

// Orphans returns those of the stored segments that the graph does not need and no announcement has
// condemned: a writer of an earlier epoch stored them and then failed. They should be condemned with
// the next checkpoint. `known` reports whether the graph may need a segment.
//
// REQUIRES: this Writer has put a checkpoint into force that lists every segment of an earlier
// epoch that the graph needs. A segment of this epoch is never an orphan, because a later record may name
// it.
func (w *Writer) Orphans(stored []uint64, known func(number uint64) bool) (orphans []uint64) {
	for _, n := range stored {
		if n >= w.epoch*SegmentsPerEpoch && !w.f.Faults.EarlyOrphans || known(n) {
			continue
		}
		if !slices.ContainsFunc(w.f.condemned, func(c condemnation) bool { return c.includes(n) }) {
			orphans = append(orphans, n)
		}
	}
	return orphans
}

// Package newid makes the ids of a graph, in ascending order.
package newid

import (
	"crypto/rand"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/omnigraph-go/omnigraph/engine"
)

// Source makes the ids of commits and entities. They ascend in the order in which they are made.
type Source struct {
	now func() time.Time // the clock

	mu      sync.Mutex             // guards the fields below
	entropy *ulid.MonotonicEntropy // makes the random part of the ids
	last    uint64                 // time of the last id in ms; never decreases, unlike the clock
}

// Start sets the clock and the source of random bytes.
func (s *Source) Start(now func() time.Time) {
	s.now, s.entropy = now, ulid.Monotonic(rand.Reader, 0)
}

// Resume makes sure that new ids are greater than the given id of a commit, a proposal or a draft.
func (s *Source) Resume(latest string) error {
	id, err := ulid.ParseStrict(latest)
	if err != nil {
		return &engine.Corrupt{Object: "manifest", Detail: "the id \"" + latest + "\" is not a ULID"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = id.Time() + 1
	return nil
}

// Next returns a new id.
func (s *Source) Next() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = max(s.last, ulid.Timestamp(s.now()))
	id, err := ulid.New(s.last, s.entropy)
	if err != nil { // the ids of this millisecond are used up
		s.last++
		id = ulid.MustNew(s.last, s.entropy)
	}
	return id.String()
}

// LongRun is the length from which a run of ids gets a millisecond of its own.
const LongRun = 1 << 10

// Run begins a run of n ids. The function that it returns appends the next id to dst. The ids of
// a long run count up from a random number, and no other id of this graph falls between them. So
// they ascend and differ in their last characters only.
func (s *Source) Run(n int) func(dst []byte) []byte {
	if n < LongRun {
		return func(dst []byte) []byte { return append(dst, s.Next()...) }
	}
	s.mu.Lock()
	s.last = max(s.last+1, ulid.Timestamp(s.now()))
	id := ulid.MustNew(s.last, rand.Reader)
	s.last++
	s.mu.Unlock()
	id[6] &= 0x7f // leaves room, so that counting up does not overflow
	return func(dst []byte) []byte {
		at := len(dst)
		dst = append(dst, make([]byte, ulid.EncodedSize)...)
		_ = id.MarshalTextTo(dst[at:]) // cannot fail: dst has the encoded size
		for i := len(id) - 1; ; i-- {
			if id[i]++; id[i] != 0 {
				return dst
			}
		}
	}
}

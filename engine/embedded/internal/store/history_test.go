package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// outcome is the result that a writer got for its record.
type outcome uint8

const (
	pending       outcome = iota // no result yet
	acknowledged                 // it is durable
	indeterminate                // it may be durable
	notWritten                   // it is not durable
)

// history records the operations on a store and the results that its callers got.
type history struct {
	mu        sync.Mutex
	created   bool                 // Create succeeded
	records   map[uint64][]byte    // by LSN, for the last attempt
	outcomes  map[uint64]outcome   // by LSN, for the last attempt
	segments  map[SegmentID]int    // acknowledged segments, with the size of their block in bytes
	names     map[uint64]SegmentID // by LSN, the segment that the record is the first to name
	manifests []attempt
	problems  []error
}

// attempt is an attempted checkpoint.
type attempt struct {
	payload  string
	upTo     uint64
	segments []SegmentID
	acked    bool
}

func newHistory() *history {
	return &history{
		records: map[uint64][]byte{}, outcomes: map[uint64]outcome{},
		segments: map[SegmentID]int{}, names: map[uint64]SegmentID{},
		manifests: []attempt{{payload: "created"}},
	}
}

// run does the scripted work: records of several writers, records that name segments, an
// abandoned segment, checkpoints, rotations, and a close and reopen. It stops as soon as
// the store is unusable.
func (h *history) run(fsys fs.FS) {
	ctx := context.Background()
	opts := tiny
	opts.Manifest = []byte("created")
	s, err := Create(ctx, fsys, "/g", opts)
	if err != nil {
		return
	}
	h.created = true
	for round := range 3 {
		h.work(ctx, s, round)
		if err := s.Close(); err != nil {
			return
		}
		if s, _, err = Open(ctx, fsys, "/g", tiny); err != nil {
			return
		}
	}
	h.work(ctx, s, 3)
	// Ignore the error: a process that ends closes its files in any case.
	_ = s.Close()
}

func (h *history) work(ctx context.Context, s *Store, round int) {
	var wg sync.WaitGroup
	for g := range 3 {
		wg.Go(func() {
			for i := range 4 {
				h.append(s, pattern(37+500*((round+g+i)%3)), 0)
			}
		})
	}
	wg.Go(func() {
		for i := range 2 {
			size := 1000*round + 100*i + 1
			id, err := s.WriteSegment(ctx, func(w *SegmentWriter) error {
				return w.AddBlock("data", pattern(size))
			})
			if err != nil {
				continue
			}
			h.mu.Lock()
			h.segments[id] = size
			h.mu.Unlock()
			if i == round%2 && round < 2 {
				h.mu.Lock()
				delete(h.segments, id)
				h.mu.Unlock()
				_ = s.RemoveSegment(id)
				continue
			}
			h.append(s, fmt.Appendf(nil, "names segment %d", id), id)
		}
		h.checkpoint(ctx, s)
	})
	wg.Wait()
	if round == 1 {
		h.append(s, pattern(9000), 0)
	}
	h.checkpoint(ctx, s)
	h.append(s, fmt.Appendf(nil, "end of round %d", round), 0)
}

func (h *history) append(s *Store, payload []byte, names SegmentID) {
	var ids []SegmentID
	if names != 0 {
		ids = append(ids, names)
	}
	h.mu.Lock()
	ticket, err := s.Enqueue(1, payload, ids...)
	if err != nil {
		var unavailable *engine.Unavailable
		if !errors.As(err, &unavailable) {
			h.problems = append(h.problems, fmt.Errorf("enqueue: %w", err))
		}
		h.mu.Unlock()
		return
	}
	if h.outcomes[ticket.LSN] == acknowledged {
		h.problems = append(h.problems, fmt.Errorf("record %d is acknowledged twice", ticket.LSN))
	}
	h.records[ticket.LSN] = payload
	h.outcomes[ticket.LSN] = pending
	delete(h.names, ticket.LSN)
	if names != 0 {
		h.names[ticket.LSN] = names
	}
	h.mu.Unlock()

	err = s.Wait(ticket)
	h.mu.Lock()
	defer h.mu.Unlock()
	var lost *engine.Indeterminate
	var unavailable *engine.Unavailable
	switch {
	case err == nil:
		h.outcomes[ticket.LSN] = acknowledged
	case errors.As(err, &lost):
		h.outcomes[ticket.LSN] = indeterminate
	case errors.As(err, &unavailable):
		h.outcomes[ticket.LSN] = notWritten
	default:
		h.problems = append(h.problems, fmt.Errorf("wait: %w", err))
	}
}

// checkpoint makes a checkpoint that lists the segments of all records that it covers, except every
// fourth segment, which the earlier checkpoints left out too.
func (h *history) checkpoint(ctx context.Context, s *Store) {
	upTo := s.Durable()
	h.mu.Lock()
	a := attempt{upTo: upTo, payload: fmt.Sprint("checkpoint ", len(h.manifests))}
	for lsn, id := range h.names {
		if lsn <= upTo && id%4 != 0 {
			a.segments = append(a.segments, id)
		}
	}
	slices.Sort(a.segments)
	n := len(h.manifests)
	h.manifests = append(h.manifests, a)
	h.mu.Unlock()
	if err := s.Checkpoint(ctx, []byte(a.payload), upTo, a.segments); err == nil {
		h.mu.Lock()
		h.manifests[n].acked = true
		h.mu.Unlock()
	}
}

// check opens the store on fsys and compares its content with the history. It returns the
// store and its content, or nil if the store does not exist because Create did not succeed.
func (h *history) check(t *testing.T, fsys fs.FS) (*Store, *Recovered) {
	t.Helper()
	ctx := t.Context()
	for _, err := range h.problems {
		t.Error(err)
	}
	s, rec, err := Open(ctx, fsys, "/g", tiny)
	var notFound *engine.NotFound
	if errors.As(err, &notFound) && !h.created {
		s, err = Create(ctx, fsys, "/g", tiny)
		must(t, err)
		noTemps(t, fsys, "/g")
		must(t, s.Close())
		return nil, nil
	}
	must(t, err)
	noTemps(t, fsys, "/g")

	least := 0
	for i, a := range h.manifests {
		if a.acked {
			least = i
		}
	}
	found := slices.IndexFunc(h.manifests, func(a attempt) bool { return a.payload == string(rec.Manifest) })
	if found < least {
		t.Fatalf("manifest %q, the last acknowledged is %q", rec.Manifest, h.manifests[least].payload)
	}
	m := h.manifests[found]
	if rec.ManifestLSN != m.upTo || !slices.Equal(rec.Segments, m.segments) {
		t.Fatalf("manifest %q up to %d with %v, expected %+v", rec.Manifest, rec.ManifestLSN, rec.Segments, m)
	}
	live := slices.Clone(rec.Segments)
	last := rec.ManifestLSN
	for _, r := range rec.Records {
		last++
		if r.LSN != last || r.Kind != 1 || !bytes.Equal(r.Payload, h.records[last]) {
			t.Fatalf("record %d of kind %d with %d bytes, expected record %d with %d bytes", r.LSN, r.Kind, len(r.Payload), last, len(h.records[last]))
		}
		if h.outcomes[last] == notWritten {
			t.Fatalf("record %d exists, but its writer got the answer that it was not written", last)
		}
		if id := h.names[last]; id != 0 {
			live = append(live, id)
		}
	}
	for lsn, o := range h.outcomes {
		if o == acknowledged && lsn > last {
			t.Fatalf("record %d was acknowledged, the last one found is %d", lsn, last)
		}
	}
	for _, id := range live {
		seg, err := s.OpenSegment(ctx, id)
		must(t, err)
		data, err := seg.Block("data")
		if err != nil || !bytes.Equal(data, pattern(h.segments[id])) {
			t.Fatalf("segment %d: %d bytes, %v", id, len(data), err)
		}
	}
	must(t, s.Verify(ctx))
	return s, rec
}

// checkTwice calls check, and then verifies that none of the recovered data can be lost
// later.
func (h *history) checkTwice(t *testing.T, mem *fs.Mem) {
	t.Helper()
	s, rec := h.check(t, mem)
	if s == nil {
		return
	}
	for crash := range uint64(3) {
		s, again := h.check(t, mem.Crash(crash))
		if len(again.Records) != len(rec.Records) || again.ManifestLSN != rec.ManifestLSN {
			t.Fatalf("%d records after %d, then %d after %d", len(rec.Records), rec.ManifestLSN, len(again.Records), again.ManifestLSN)
		}
		must(t, s.Close())
	}
	want := len(rec.Records)
	for i := range 12 {
		// These records have the size of records that may have been torn, so that the
		// remains of the torn ones would directly follow them.
		_, err := s.Append(t.Context(), 2, pattern(37+500*(i%3)))
		must(t, err)
		want++
	}
	must(t, s.Close())
	after := mem.Crash(0)
	must(t, Verify(t.Context(), after, "/g"))
	s, rec = reopen(t, after, "/g", tiny)
	if len(rec.Records) != want {
		t.Fatalf("%d records after the last, expected %d", len(rec.Records), want)
	}
	for _, r := range rec.Records[want-12:] {
		if r.Kind != 2 {
			t.Fatalf("record %d is an old one", r.LSN)
		}
	}
	must(t, s.Checkpoint(t.Context(), nil, s.Durable(), rec.Segments))
	names, err := after.List("/g")
	must(t, err)
	if got := classify(names); len(got.segments) != len(rec.Segments) || len(got.manifests) != 1 {
		t.Errorf("after a last checkpoint of %v: %v", rec.Segments, names)
	}
	must(t, s.Close())
}

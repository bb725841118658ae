package store

import (
	"errors"
	"syscall"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs/faultfs"
)

// TestRefusedWrite makes the disk refuse a write of two records for lack of space, after the first
// n bytes. Both records must be refused as not written, and after a reopen the next record must
// take the place of the first. Neither refused record may appear, even if the power fails at any
// moment.
func TestRefusedWrite(t *testing.T) {
	frame := int(frameSize(len("refused 1")))
	for _, n := range []int{0, 1, frameHeaderSize, frame - 1, frame, frame + frameHeaderSize, 2*frame - 1} {
		mem := fs.NewMem()
		armed := false
		var failed error
		opts := tiny
		opts.Failed = func(err error) { failed = err }
		s := create(t, faultfs.New(mem, func(op faultfs.Op) *faultfs.Fault {
			if armed && op.Kind == faultfs.OpWrite {
				armed = false
				return &faultfs.Fault{Err: syscall.ENOSPC, Write: n}
			}
			return nil
		}), "/g", opts)
		_, err := s.Append(t.Context(), 1, []byte("kept"))
		must(t, err)
		var tickets []*Ticket
		for _, text := range []string{"refused 1", "refused 2"} {
			ticket, err := s.Enqueue(1, []byte(text))
			must(t, err)
			tickets = append(tickets, ticket)
		}
		armed = true
		for _, ticket := range tickets {
			var gone *engine.Unavailable
			if err := s.Wait(ticket); !errors.As(err, &gone) || !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("%d bytes: %v, want *engine.Unavailable", n, err)
			}
		}
		if failed == nil || s.Failure() == nil || !s.MustReopen() {
			t.Errorf("%d bytes: failed %v, Failure %v", n, failed, s.Failure())
		}
		if _, err := s.Enqueue(1, []byte("later")); err == nil {
			t.Errorf("%d bytes: a record is taken after a failure", n)
		}
		for seed := range uint64(4) {
			wantRecords(t, mem.Crash(seed), "kept")
		}
		must(t, s.Close())
		s, _ = reopen(t, mem, "/g", tiny)
		_, err = s.Append(t.Context(), 1, []byte("another 1")) // as long as the first refused record
		must(t, err)
		wantRecords(t, mem.Crash(0), "kept", "another 1")
		must(t, s.Close())
	}
}

// wantRecords opens a store and checks that it holds these records.
func wantRecords(t *testing.T, mem *fs.Mem, want ...string) {
	t.Helper()
	s, rec := reopen(t, mem, "/g", tiny)
	defer s.Close()
	if len(rec.Records) != len(want) {
		t.Fatalf("%d records, want %d", len(rec.Records), len(want))
	}
	for i, r := range rec.Records {
		if string(r.Payload) != want[i] {
			t.Errorf("record %d is %q, want %q", i+1, r.Payload, want[i])
		}
	}
}

// TestNoRoomForRecord makes each operation that creates the next log file fail for lack of space.
// The log must accept records again as soon as there is space, without a reopen.
func TestNoRoomForRecord(t *testing.T) {
	for _, kind := range []faultfs.OpKind{faultfs.OpCreate, faultfs.OpWrite, faultfs.OpSync} {
		mem := fs.NewMem()
		full := false
		s := create(t, faultfs.New(mem, func(op faultfs.Op) *faultfs.Fault {
			if full && op.Kind == kind && op.Name == filename("/g", 2, logExt)+tempExt {
				return &faultfs.Fault{Err: syscall.ENOSPC, Write: op.Len / 2}
			}
			return nil
		}), "/g", tiny)
		full = true
		acked := 0
		var err error
		for err == nil && acked < 1000 {
			if _, err = s.Append(t.Context(), 1, pattern(200)); err == nil {
				acked++
			}
		}
		var gone *engine.Unavailable
		if !errors.As(err, &gone) || !errors.Is(err, syscall.ENOSPC) || acked == 0 {
			t.Fatalf("after %d records: %v, want *engine.Unavailable because there is no space", acked, err)
		}
		if !s.Full() || s.Failure() == nil || s.MustReopen() {
			t.Errorf("full %t, failure %v, must reopen %t", s.Full(), s.Failure(), s.MustReopen())
		}
		if err := s.Retry(); err == nil {
			t.Error("there is no free space, but Retry finds some")
		}
		full = false
		must(t, s.Retry())
		if err := s.Failure(); err != nil {
			t.Errorf("there is room again: %v", err)
		}
		for range 100 {
			_, err := s.Append(t.Context(), 1, pattern(200))
			must(t, err)
		}
		must(t, s.Close())
		s, rec := reopen(t, mem, "/g", tiny)
		if len(rec.Records) != acked+100 {
			t.Errorf("%d records, want %d", len(rec.Records), acked+100)
		}
		must(t, s.Close())
	}
}

package audittrail

import (
	"context"
	"flag"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// BenchmarkAdd measures the processor time of a record with everything that follows: its part, its place in a merged part and the
// storage, which is in memory.
func BenchmarkAdd(b *testing.B) {
	for _, ids := range []int{0, 1, 100} {
		b.Run(fmt.Sprint(ids), func(b *testing.B) {
			trail := opened(b, &object.Memory{}, Options{Quota: 1 << 40})
			names := make([]string, 1<<16)
			for i := range names {
				names[i] = fmt.Sprintf("case-%08d", i*7919)
			}
			at, next := start, 0
			b.ReportAllocs()
			before := processor(b)
			for b.Loop() {
				e := NewEntities()
				for range ids {
					e.Add(names[next&(len(names)-1)])
					next++
				}
				at = at.Add(time.Millisecond)
				trail.Add(&Call{Time: at, Took: 120 * time.Microsecond, Request: "0123456789abcdefghjkmnpqrs", Actor: "act-ada", Graph: "cases", Branch: "main",
					Tool: "get_case", Outcome: "ok", Commit: "01J8ZQ3V5Y6R7T8W9X0ABCDEFG", Rows: ids, Digest: []byte("12345678"), Types: []string{"Case"}, Entities: e})
				e.Release()
				if len(trail.pending) > flushBytes {
					if err := trail.Flush(context.Background()); err != nil {
						b.Fatal(err)
					}
				}
			}
			flush(b, trail)
			b.ReportMetric(float64(processor(b)-before)/float64(b.N), "cpu-ns/op")
		})
	}
}

// processor returns the processor time of the process in nanoseconds.
func processor(b *testing.B) int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

var queried = flag.Int("audit.records", 0, "with 10000000, TestLarge asks who read an entity over 10 million records; 0 leaves it out")

// TestLarge writes many records into a folder, over a year of which an entity was read in June, and measures questions about it.
func TestLarge(t *testing.T) {
	if *queried == 0 {
		t.Skip("without -audit.records")
	}
	dir := t.TempDir()
	b, err := object.NewFolder(fs.OS(), dir)
	if err != nil {
		t.Fatal(err)
	}
	trail := opened(t, b, Options{Quota: 1 << 40, Keep: 1 << 62, Now: func() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }})
	from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	step := 365 * 24 * time.Hour / time.Duration(*queried)
	began := clock.Now()
	for i := range *queried {
		id := fmt.Sprintf("case-%07d", (i*7919)%1_000_000) // each entity is read ten times
		e := NewEntities()
		e.Add(id)
		trail.Add(&Call{Time: from.Add(time.Duration(i) * step), Took: 120 * time.Microsecond, Request: fmt.Sprintf("%026d", uint64(i)*0x9e3779b97f4a7c15), Actor: fmt.Sprint("actor-", i%500),
			Graph: "cases", Branch: "main", Tool: fmt.Sprint("tool-", i%30), Outcome: "ok", Commit: fmt.Sprintf("01J8ZQ3V5Y6R7T8W9X%08d", i/1000), Rows: 1, Digest: []byte(fmt.Sprintf("%08d", i%99_999_999)), Types: []string{"Case"}, Entities: e})
		e.Release()
		if len(trail.pending) > flushBytes {
			flush(t, trail)
		}
	}
	if err := trail.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d records in %v, %d bytes in %d parts", *queried, clock.Since(began), trail.Stats().Bytes, len(trail.parts))
	june, july := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name string
		f    Filter
	}{
		{"who read an entity in June, first", Filter{Graph: "cases", Entity: "case-0123456", From: june, To: july, Limit: 100}},
		{"who read an entity in June, again", Filter{Graph: "cases", Entity: "case-0123456", From: june, To: july, Limit: 100}},
		{"who read an entity ever, first", Filter{Graph: "cases", Entity: "case-0123456", Limit: 100}},
		{"who read an entity ever, again", Filter{Graph: "cases", Entity: "case-0654321", Limit: 100}},
		{"what an actor read of an entity", Filter{Graph: "cases", Entity: "case-0654321", Actor: "actor-3", Limit: 100}},
		{"the last calls of a tool", Filter{Graph: "cases", Tool: "tool-7", Limit: 100}},
		{"the denied calls", Filter{Graph: "cases", Decision: Denied, Limit: 100}},
	} {
		store := trail.Store
		if tt.name == "who read an entity ever, first" {
			store = NewStore(b, "audit/")
		}
		began := clock.Now()
		found, _, err := store.Query(context.Background(), tt.f)
		took := clock.Since(began)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d records in %v", tt.name, len(found), took)
		if tt.f.Entity != "" && took > time.Second {
			t.Errorf("%s took %v, more than a second", tt.name, took)
		}
	}
}

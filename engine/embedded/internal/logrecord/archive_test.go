package logrecord

import (
	"bytes"
	"slices"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/storedtest"
)

func TestArchive(t *testing.T) {
	runs := Runs([]int{3, 4, 5, 9, 12, 13})
	if want := []Run{{3, 3}, {9, 1}, {12, 2}}; !slices.Equal(runs, want) {
		t.Fatalf("runs %v, want %v", runs, want)
	}
	var records []Archived
	for i := range 6 {
		records = append(records, Archived{Kind: KindRows, Rest: bytes.Repeat([]byte{byte(i)}, i)})
	}
	records[2] = Archived{Kind: KindSpilled, Rest: AppendSpilled(nil, "17")}
	records[3] = Archive(KindBulk, []byte("numbers"))
	gotRuns, got, err := ReadArchive(AppendArchive(nil, runs, records))
	if err != nil || !slices.Equal(gotRuns, runs) || len(got) != len(records) {
		t.Fatalf("read back %v, %d records, %v", gotRuns, len(got), err)
	}
	for i := range got {
		if got[i].Kind != records[i].Kind || !bytes.Equal(got[i].Rest, records[i].Rest) {
			t.Errorf("record %d is %v, want %v", i, got[i], records[i])
		}
	}
	if name, ok, err := got[2].Segment(); name != "17" || !ok || err != nil {
		t.Errorf("a spilled record names %q, %t, %v", name, ok, err)
	}
	if got[3].Kind != 0 || len(got[3].Rest) != 0 {
		t.Errorf("a bulk record is kept as %v", got[3])
	}
	segments := []ArchiveSegment{{Name: "a", Runs: runs}, {Name: "b", Runs: []Run{{20, 2}}}}
	for n, want := range map[int]string{2: "", 3: "a0", 5: "a2", 6: "", 9: "a3", 13: "a5", 14: "", 20: "b0", 21: "b1", 22: ""} {
		found := ""
		if s, at, ok := FindArchive(segments, n); ok {
			found = s.Name + string(rune('0'+at))
		}
		if found != want {
			t.Errorf("commit %d is found at %q, want %q", n, found, want)
		}
	}
}

func FuzzReadArchive(f *testing.F) {
	f.Add(AppendArchive(nil, []Run{{1, 2}}, []Archived{{Kind: KindRows, Rest: []byte("abc")}, {}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		runs, records, err := ReadArchive(b)
		if err != nil {
			if !storedtest.IsBadData(err) {
				t.Fatalf("error %v, want *engine.Corrupt or an error about the format", err)
			}
			return
		}
		if got := (&ArchiveSegment{Runs: runs}).Len(); got != len(records) {
			t.Fatalf("%d records in runs of %d", len(records), got)
		}
		for _, r := range records {
			_, _, _ = r.Segment()
		}
	})
}

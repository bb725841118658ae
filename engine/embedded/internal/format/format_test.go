package format

import (
	"fmt"
	"testing"
)

// TestVersions checks that the table has one row for each number, in order.
func TestVersions(t *testing.T) {
	for i, v := range Versions {
		if v.Number != First+i || v.Added == "" {
			t.Errorf("row %d is %+v", i, v)
		}
	}
	if len(Versions) != Current-First+1 {
		t.Errorf("%d rows, and the numbers are %d to %d", len(Versions), First, Current)
	}
}

func TestCheck(t *testing.T) {
	const ok = ""
	newer := fmt.Sprintf("g/f was written by a newer version of this program: log file format %d is newer than format %d, the newest that this program reads; use a newer program", Current+1, Current)
	older := fmt.Sprintf("g/f was written by an earlier version of this program: log file format %%d is older than format %d, the oldest that this program reads; with the version that wrote it, run omnigraph export, and load the result into a new store (branches, history, proposals and drafts stay behind)", First)
	for _, c := range []struct {
		place string
		n     uint32
		want  string
	}{
		{"", 0, "g/f is corrupt: no log file has format 0"}, {"offset 8", 0, "g/f is corrupt: offset 8: no log file has format 0"},
		{"", 1, fmt.Sprintf(older, 1)}, {"offset 8", First - 1, fmt.Sprintf(older, First-1)},
		{"", First, ok}, {"", Current, ok}, {"offset 8", Current + 1, newer},
	} {
		got := ok
		if err := Log.Check("g/f", c.place, c.n); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%d: %q, want %q", c.n, got, c.want)
		}
	}
}

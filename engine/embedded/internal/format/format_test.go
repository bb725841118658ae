package format

import (
	"fmt"
	"testing"
)

// TestVersions checks that the table has one row for each number, in order.
func TestVersions(t *testing.T) {
	for i, v := range Versions {
		if v.Number != i+1 || v.Added == "" {
			t.Errorf("row %d is %+v", i, v)
		}
	}
	if len(Versions) != Current {
		t.Errorf("%d rows, and the current number is %d", len(Versions), Current)
	}
}

func TestCheck(t *testing.T) {
	const ok = ""
	newer := fmt.Sprintf("g/f was written by a newer version of this program: %%s format %d is newer than format %d, the newest that this program reads; use a newer program", Current+1, Current)
	for _, c := range []struct {
		kind  Kind
		place string
		n     uint32
		want  string
	}{
		{Log, "", 0, "g/f is corrupt: no log file has format 0"}, {Log, "", 1, ok}, {Log, "offset 8", 2, "g/f is corrupt: offset 8: no log file has format 2"},
		{Log, "", 3, "g/f is corrupt: no log file has format 3"}, {Log, "", Current, ok}, {Log, "offset 8", Current + 1, fmt.Sprintf(newer, "log file")},
		{Manifest, "", 0, "g/f is corrupt: no manifest payload has format 0"}, {Manifest, "", 1, ok}, {Manifest, "", 3, ok}, {Manifest, "", Current, ok},
		{Manifest, "", Current + 1, fmt.Sprintf(newer, "manifest payload")},
		{End, "", 1, "g/f is corrupt: no END has format 1"}, {End, "", 3, "g/f is corrupt: no END has format 3"}, {End, "", 4, ok},
	} {
		got := ok
		if err := c.kind.Check("g/f", c.place, c.n); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s %d: %q, want %q", c.kind.Name, c.n, got, c.want)
		}
	}
}

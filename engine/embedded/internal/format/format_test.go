package format

import "testing"

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
	for _, c := range []struct {
		kind Kind
		n    uint32
		ok   bool
	}{
		{Log, 0, false}, {Log, 1, true}, {Log, 2, false}, {Log, 3, false}, {Log, Current, true}, {Log, Current + 1, false},
		{Manifest, 0, false}, {Manifest, 1, true}, {Manifest, 3, true}, {Manifest, Current, true}, {Manifest, Current + 1, false},
		{End, 1, false}, {End, 3, false}, {End, 4, true},
	} {
		if err := c.kind.Check(c.n); (err == nil) != c.ok {
			t.Errorf("%s %d: %v", c.kind.Name, c.n, err)
		}
	}
}

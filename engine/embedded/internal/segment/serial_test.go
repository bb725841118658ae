package segment

import (
	"fmt"
	"testing"
)

// TestSerialIDs checks in which rows a segment's ids are expected.
func TestSerialIDs(t *testing.T) {
	type expect struct {
		id  string
		row int // -1 for no row
	}
	serials := func(format string, first, step int) func(uint32) string {
		return func(row uint32) string { return fmt.Sprintf(format, first+step*int(row)) }
	}
	tests := []struct {
		name string
		n    uint32
		id   func(uint32) string
		want []expect
	}{
		{"dense", 1000, serials("p%07d", 0, 1), []expect{{"p0000000", 0}, {"p0000999", 999}, {"p0001000", -1}, {"p000001", -1}, {"q0000001", -1}, {"p00000x1", -1}, {"", -1}}},
		{"later start", 100, serials("inv-%04d", 17, 1), []expect{{"inv-0017", 0}, {"inv-0116", 99}, {"inv-0016", -1}, {"inv-0117", -1}}},
		{"only digits", 100, serials("%03d", 0, 1), []expect{{"042", 42}, {"42", -1}}},
		{"one gap in front", 1000, func(row uint32) string {
			if row == 0 {
				return "p0000"
			}
			return fmt.Sprintf("p%04d", row+1)
		}, []expect{{"p0005", -1}}},
		{"one gap at the end", 1000, func(row uint32) string {
			if row == 999 {
				return "p5000"
			}
			return fmt.Sprintf("p%04d", row)
		}, []expect{{"p0998", 998}, {"p0999", 999}, {"p5000", -1}}}, // row 999 has another id; callers compare ids
		{"every second number", 1000, serials("p%04d", 0, 2), []expect{{"p0000", -1}, {"p0002", -1}}},
		{"no digits", 10, func(row uint32) string { return "name " + string('a'+rune(row)) }, []expect{{"name a", -1}}},
		{"too many digits", 10, serials("%025d", 0, 1), []expect{{"0000000000000000000000001", -1}}},
		{"the most digits", 10, serials("%018d", 0, 1), []expect{{"000000000000000003", 3}, {"999999999999999999", -1}}},
		{"no rows", 0, serials("%03d", 0, 1), []expect{{"000", -1}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := serialIDs(test.n, test.id)
			for _, want := range test.want {
				row, ok := s.Row(want.id)
				if ok != (want.row >= 0) || ok && int(row) != want.row {
					t.Errorf("id %q: row %d, %v; expected row %d", want.id, row, ok, want.row)
				}
			}
		})
	}
}

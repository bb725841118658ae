package operations

import "testing"

// TestUnits converts places of a text with characters of one to four bytes.
func TestUnits(t *testing.T) {
	const text = "aä€😀b"
	for _, tt := range []struct{ units, offset int }{{0, 0}, {1, 1}, {2, 3}, {3, 6}, {5, 10}, {6, 11}} {
		if got := offsetOf(text, tt.units); got != tt.offset {
			t.Errorf("after %d units the offset is %d, want %d", tt.units, got, tt.offset)
		}
		if got := units(text, tt.offset); got != tt.units {
			t.Errorf("before offset %d are %d units, want %d", tt.offset, got, tt.units)
		}
	}
	if got := offsetOf(text, 4); got != 6 {
		t.Errorf("within a character the offset is %d, want 6", got)
	}
	if got := offsetOf(text, 99); got != len(text) {
		t.Errorf("after the text the offset is %d, want %d", got, len(text))
	}
}

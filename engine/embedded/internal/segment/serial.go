package segment

import "strings"

// Serial describes serial ids: a prefix and a number with a fixed count of digits, such as
// inv-000001, where the number is that of the row plus a constant. Such an id tells in which row to
// look, so that a lookup need not wait for the hash index first. A few ids of the segment may be
// different. The zero serial describes no ids.
type Serial struct {
	prefix string
	digits int    // digits of the number, with leading zeros; 0 for no serial ids
	first  uint64 // the number in row 0
	rows   uint32 // rows of the segment
}

const (
	mostDigits = 18 // digits of numbers that fit 64 bits for certain
	// In serialIDs, at least serialNumerator / serialShare of the ids must be in the expected row.
	serialNumerator, serialShare = 15, 16
)

// serialIDs finds out whether the ids of n rows are serial.
func serialIDs(n uint32, id func(row uint32) string) Serial {
	if n == 0 {
		return Serial{}
	}
	first := id(0)
	prefix := strings.TrimRight(first, "0123456789")
	s := Serial{prefix: strings.Clone(prefix), digits: len(first) - len(prefix), rows: n}
	if s.digits == 0 || s.digits > mostDigits {
		return Serial{}
	}
	s.first, _ = s.number(first)
	found := uint32(0)
	for row := range n {
		if at, ok := s.Row(id(row)); ok && at == row {
			found++
		}
	}
	if found < n/serialShare*serialNumerator {
		return Serial{}
	}
	return s
}

// Row returns the row in which the id most likely is.
func (s *Serial) Row(id string) (row uint32, ok bool) {
	n, ok := s.number(id)
	if n -= s.first; !ok || n >= uint64(s.rows) {
		return 0, false
	}
	return uint32(n), true
}

// number returns the number in an id.
func (s *Serial) number(id string) (n uint64, ok bool) {
	if s.digits == 0 || len(id) != len(s.prefix)+s.digits || id[:len(s.prefix)] != s.prefix {
		return 0, false
	}
	for i := len(s.prefix); i < len(id); i++ {
		d := id[i] - '0'
		if d > 9 {
			return 0, false
		}
		n = 10*n + uint64(d)
	}
	return n, true
}

package load

import (
	"strconv"
	"unicode/utf8"
	"unsafe"

	"github.com/omnigraph-go/omnigraph/gq/value"
)

// maxDigits is the number of decimal digits that always fit into a signed 64-bit integer.
const maxDigits = 18

// whole reads a number without a fraction or an exponent. It reports false, and stays where it is, for anything else, and for more than
// maxDigits digits: the full parser then reads the line, or finds what is wrong with it.
func (s *scanner) whole() (int64, bool) {
	i, negative := s.i, false
	if i < len(s.b) && s.b[i] == '-' {
		negative = true
		i++
	}
	first, n := i, int64(0)
	for ; i < len(s.b) && s.b[i]-'0' < 10; i++ {
		if i-first == maxDigits {
			return 0, false
		}
		n = 10*n + int64(s.b[i]-'0')
	}
	if i == first || i == len(s.b) { // no digit, or a number ends the line, which no object does
		return 0, false
	}
	if digits := i - first; s.b[first] == '0' && (digits > 1 || negative) { // no JSON, or -0
		return 0, false
	}
	if c := s.b[i]; c == '.' || c == 'e' || c == 'E' {
		return 0, false
	}
	s.i = i
	if negative {
		n = -n
	}
	return n, true
}

// float reads a number.
func (s *scanner) float(k value.Kind) (float64, bool) {
	start, i := s.i, s.i
	digits := func() bool {
		from := i
		for i < len(s.b) && s.b[i]-'0' < 10 {
			i++
		}
		return i > from
	}
	at := func(c byte) bool { return i < len(s.b) && s.b[i] == c }
	if at('-') {
		i++
	}
	if at('0') {
		i++
	} else if !digits() {
		return 0, false
	}
	if at('.') {
		if i++; !digits() {
			return 0, false
		}
	}
	if at('e') || at('E') {
		if i++; at('+') || at('-') {
			i++
		}
		if !digits() {
			return 0, false
		}
	}
	size := 64
	if k == value.F32 {
		size = 32
	}
	f, err := strconv.ParseFloat(view(s.b[start:i]), size)
	s.i = i
	return f, err == nil
}

// name reads the name of a member and the colon. It reports false for a name with escapes,
// which are rare.
func (s *scanner) name() ([]byte, bool) {
	if !s.take('"') {
		return nil, false
	}
	start := s.i
	for i := start; i < len(s.b); i++ {
		switch class[s.b[i]] {
		case plainByte:
			continue
		case quoteByte:
			s.i = i + 1
			return s.b[start:i], s.take(':')
		}
		return nil, false
	}
	return nil, false
}

// text reads a string. The result is valid as long as the line, and is not nil.
func (s *scanner) text() ([]byte, bool) {
	if !s.take('"') {
		return nil, false
	}
	start, i := s.i, s.i
	wide := false
	for ; i < len(s.b); i++ {
		switch class[s.b[i]] {
		case plainByte:
		case highByte:
			wide = true
		case quoteByte:
			out := s.b[start:i]
			s.i = i + 1
			return out, !wide || utf8.Valid(out)
		case escapeByte:
			return s.unescape(start, i)
		default:
			return nil, false
		}
	}
	return nil, false
}

// unescape reads the rest of a string that begins at index `start` and has an escape at index i.
func (s *scanner) unescape(start, i int) ([]byte, bool) {
	at := len(s.arena)
	s.arena = append(s.arena, s.b[start:i]...)
	for i < len(s.b) {
		c := s.b[i]
		i++
		switch class[c] {
		case quoteByte:
			s.i = i
			out := s.arena[at:len(s.arena):len(s.arena)]
			if out == nil {
				out = []byte{}
			}
			return out, utf8.Valid(out)
		case controlByte:
			return nil, false
		case escapeByte:
			if i == len(s.b) {
				return nil, false
			}
			c = s.b[i]
			i++
			switch c {
			case '"', '\\', '/':
			case 'b':
				c = '\b'
			case 'f':
				c = '\f'
			case 'n':
				c = '\n'
			case 'r':
				c = '\r'
			case 't':
				c = '\t'
			case 'u':
				if i+4 > len(s.b) {
					return nil, false
				}
				r, err := strconv.ParseUint(view(s.b[i:i+4]), 16, 16)
				if err != nil || r >= 0xd800 && r < 0xe000 {
					return nil, false
				}
				i += 4
				s.arena = utf8.AppendRune(s.arena, rune(r))
				continue
			default:
				return nil, false
			}
		}
		s.arena = append(s.arena, c)
	}
	return nil, false
}

// take skips white space, and then byte c if that comes next. It reports whether c came next.
func (s *scanner) take(c byte) bool {
	s.space()
	if s.i < len(s.b) && s.b[s.i] == c {
		s.i++
		return true
	}
	return false
}

// space skips white space.
func (s *scanner) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\r', '\n':
			s.i++
		default:
			return
		}
	}
}

// literal reports whether the text w comes next, and skips it if so.
func (s *scanner) literal(w string) bool {
	if len(s.b)-s.i >= len(w) && string(s.b[s.i:s.i+len(w)]) == w {
		s.i += len(w)
		return true
	}
	return false
}

// Classes of bytes in a string.
const (
	plainByte   = iota // stands for itself in a JSON string
	quoteByte          // ends a JSON string
	escapeByte         // begins an escape
	controlByte        // not allowed in a JSON string
	highByte           // part of a character outside ASCII
)

// class maps each byte to its class.
var class = func() (c [256]uint8) {
	for b := range c {
		switch {
		case b == '"':
			c[b] = quoteByte
		case b == '\\':
			c[b] = escapeByte
		case b < ' ':
			c[b] = controlByte
		case b >= utf8.RuneSelf:
			c[b] = highByte
		}
	}
	return c
}()

// view returns b as a string that aliases it.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

package lsp

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"
)

// text is the content of a document with the offsets of its lines. It does not change.
type text struct {
	content string
	lines   []int // the offset of the first byte of each line
}

// newText finds the lines of a text. As the protocol says, \n, \r\n and \r end a line.
func newText(content string) *text {
	t := &text{content: content, lines: make([]int, 1, strings.Count(content, "\n")+2)}
	for i := 0; i < len(content); i++ {
		switch content[i] {
		case '\r':
			if i+1 < len(content) && content[i+1] == '\n' {
				continue
			}
			t.lines = append(t.lines, i+1)
		case '\n':
			t.lines = append(t.lines, i+1)
		}
	}
	return t
}

// line returns the offsets of the start of line n and of its end, before the characters that end it.
func (t *text) line(n int) (from, to int) {
	from, to = t.lines[n], len(t.content)
	if n+1 < len(t.lines) {
		to = t.lines[n+1]
		for to > from && (t.content[to-1] == '\n' || t.content[to-1] == '\r') {
			to--
		}
	}
	return from, to
}

// offset returns the offset of a position. As the protocol says, a position after the end of its line
// means the end of the line. A position after the last line means the end of the text. A position
// between the two code units of one character means the start of the character.
func (t *text) offset(p Position) int {
	if uint64(p.Line) >= uint64(len(t.lines)) {
		return len(t.content)
	}
	at, end := t.line(int(p.Line))
	for units := uint64(p.Character); units > 0 && at < end; {
		r, size := utf8.DecodeRuneInString(t.content[at:])
		if r >= 0x10000 {
			if units < 2 {
				break
			}
			units--
		}
		units--
		at += size
	}
	return at
}

// position returns the position of an offset. An offset outside of the text means the nearer end.
func (t *text) position(offset int) Position {
	offset = min(max(offset, 0), len(t.content))
	n := sort.SearchInts(t.lines, offset+1) - 1
	units := 0
	for _, r := range t.content[t.lines[n]:offset] {
		if units++; r >= 0x10000 {
			units++
		}
	}
	return Position{Line: uint32(n), Character: uint32(units)}
}

// rangeOf returns the range between two offsets.
func (t *text) rangeOf(from, to int) Range { return Range{t.position(from), t.position(to)} }

// splice replaces the bytes between two offsets by a number of other bytes.
type splice struct{ from, to, length int }

// apply applies the changes of a notification in order. It returns the new content and the splices.
func (t *text) apply(changes []contentChange) (*text, []splice, error) {
	var splices []splice
	for _, c := range changes {
		from, to := 0, len(t.content)
		if c.Range != nil {
			if from, to = t.offset(c.Range.Start), t.offset(c.Range.End); from > to {
				return t, nil, fmt.Errorf("the start %d:%d of the change is after its end %d:%d",
					c.Range.Start.Line, c.Range.Start.Character, c.Range.End.Line, c.Range.End.Character)
			}
		}
		splices = append(splices, splice{from, to, len(c.Text)})
		t = newText(t.content[:from] + c.Text + t.content[to:])
	}
	return t, splices, nil
}

// move returns the offsets of a span after a splice. It reports false if the splice changed the span.
func (s splice) move(from, to int) (int, int, bool) {
	switch shift := s.length - (s.to - s.from); {
	case s.to <= from:
		return from + shift, to + shift, true
	case to <= s.from:
		return from, to, true
	}
	return from, to, false
}

package lsp

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

func TestPositions(t *testing.T) {
	for _, test := range []struct {
		text   string
		at     Position
		offset int
		back   Position // the position of the offset
	}{
		{"", Position{0, 0}, 0, Position{0, 0}},
		{"abc", Position{0, 2}, 2, Position{0, 2}},
		{"abc", Position{0, 9}, 3, Position{0, 3}},
		{"abc\ndef", Position{0, 9}, 3, Position{0, 3}},
		{"abc\ndef", Position{1, 1}, 5, Position{1, 1}},
		{"abc\ndef", Position{2, 0}, 7, Position{1, 3}},
		{"abc\r\ndef", Position{0, 9}, 3, Position{0, 3}},
		{"abc\r\ndef", Position{1, 0}, 5, Position{1, 0}},
		{"abc\rdef", Position{1, 1}, 5, Position{1, 1}},
		{"é😀x", Position{0, 1}, 2, Position{0, 1}},
		{"é😀x", Position{0, 2}, 2, Position{0, 1}}, // within the surrogate pair
		{"é😀x", Position{0, 3}, 6, Position{0, 3}},
		{"a\xffb", Position{0, 2}, 2, Position{0, 2}},
		{"a\n", Position{1, 0}, 2, Position{1, 0}},
		{"a", Position{1 << 31, 1 << 31}, 1, Position{0, 1}},
	} {
		text := newText(test.text)
		if got := text.offset(test.at); got != test.offset {
			t.Errorf("%q: offset(%v) = %d, want %d", test.text, test.at, got, test.offset)
		}
		if got := text.position(test.offset); got != test.back {
			t.Errorf("%q: position(%d) = %v, want %v", test.text, test.offset, got, test.back)
		}
	}
}

// linesOf splits a text into lines of UTF-16 code units, in the simplest way.
func linesOf(text string) [][]uint16 {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	var lines [][]uint16
	for _, line := range strings.Split(text, "\n") {
		lines = append(lines, utf16.Encode([]rune(line)))
	}
	return lines
}

// FuzzPositions compares the positions and changes of a text with a simple model, which is a list
// of UTF-16 code units. It also checks that a change keeps the text before and after it.
func FuzzPositions(f *testing.F) {
	f.Add("abc\ndef", uint32(0), uint32(1), uint32(1), uint32(2), "x\ny")
	f.Add("é😀x\r\n𝄞", uint32(0), uint32(2), uint32(1), uint32(1), "")
	f.Add("a\rb", uint32(1), uint32(0), uint32(9), uint32(9), "😀")
	f.Fuzz(func(t *testing.T, content string, line1, char1, line2, char2 uint32, insert string) {
		if !utf8.ValidString(content) || !utf8.ValidString(insert) || len(content) > 1<<12 {
			t.Skip("an editor sends valid UTF-8")
		}
		text := newText(content)
		lines := linesOf(content)
		if len(lines) != len(text.lines) {
			t.Fatalf("%d lines, want %d", len(text.lines), len(lines))
		}
		for offset := range content {
			p := text.position(offset)
			if got := text.offset(p); got != offset && content[offset] != '\n' {
				t.Fatalf("offset %d is at %v, which is offset %d", offset, p, got)
			}
			if int(p.Character) > len(lines[p.Line])+1 {
				t.Fatalf("offset %d is at %v, but the line has %d units", offset, p, len(lines[p.Line]))
			}
		}
		from, to := Position{line1 % 64, char1 % 64}, Position{line2 % 64, char2 % 64}
		if int(from.Line) < len(lines) && int(from.Character) <= len(lines[from.Line]) {
			units := lines[from.Line][:from.Character]
			start, _ := text.line(int(from.Line))
			want := string(utf16.Decode(units))
			if got := content[start:text.offset(from)]; got != want && !slices.Contains([]rune(want), utf8.RuneError) {
				t.Fatalf("the text before %v is %q, want %q", from, got, want)
			}
		}
		after, splices, err := text.apply([]contentChange{{&Range{from, to}, insert}})
		a, b := text.offset(from), text.offset(to)
		if (err != nil) != (a > b) {
			t.Fatalf("a change from %d to %d: %v", a, b, err)
		}
		if err != nil {
			return
		}
		if want := content[:a] + insert + content[b:]; after.content != want {
			t.Fatalf("the text is %q, want %q", after.content, want)
		}
		for at := 0; at < len(content); at++ {
			if from, to, ok := splices[0].move(at, at+1); ok && after.content[from:to] != content[at:at+1] {
				t.Fatalf("byte %d moved to %d, where there is another one", at, from)
			}
		}
	})
}

package diag_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
)

// at returns the span of the first occurrence of `piece` in `src`. Columns count code points.
func at(src, piece string) diag.Span {
	off := strings.Index(src, piece)
	pos := func(off int) diag.Pos {
		before := src[:off]
		return diag.Pos{
			Offset: off, Line: 1 + strings.Count(before, "\n"),
			Column: 1 + len([]rune(before[strings.LastIndexByte(before, '\n')+1:])),
		}
	}
	return diag.Span{File: "a.gq", Start: pos(off), End: pos(off + len(piece))}
}

func TestRender(t *testing.T) {
	const src = "query q() {\n\tmatch\t{ $p: Persn }\n  \"日本語\" x \"é\" y\r\n  a b\x1b[31m c \"two\nlines\"\n}"
	list := diag.List{
		{Code: "T1", Span: at(src, "Persn"), Message: "unknown node type Persn", Help: "did you mean Person?"},
		{Code: "P7", Span: at(src, "x"), Message: "after wide runes"},
		{Code: "P7", Span: at(src, "日本語"), Message: "wide runes"},
		{Code: "L1", Severity: diag.Warning, Span: at(src, "y\r")},
		{Code: "L2", Severity: diag.Note, Span: at(src, "c \"two"), Message: "after a control character"},
		{Code: "L3", Span: at(src, "\"two\nlines\""), Message: "over two lines"},
		{Code: "P7", Span: diag.Span{File: "a.gq", Start: diag.Pos{Offset: len(src), Line: 6, Column: 2}, End: diag.Pos{Offset: len(src), Line: 6, Column: 2}}, Message: "at the end"},
		{Code: "P7", Span: diag.Span{File: "gone.gq", Start: diag.Pos{Line: 3, Column: 4}}, Message: "without a text", Help: "none"},
	}
	var b strings.Builder
	for _, color := range []bool{false, true} {
		if err := diag.Render(&b, list, map[string]string{"a.gq": src}, color); err != nil {
			t.Fatal(err)
		}
	}
	golden.Check(t, "testdata/render.txt", []byte(b.String()))
}

// TestRenderControl checks that an excerpt contains no control characters of the C0 and C1 sets.
// A terminal may interpret some of them as the start of a command.
func TestRenderControl(t *testing.T) {
	src := "a \x1b[31m \u009b31m \x7f b"
	var b strings.Builder
	if err := diag.Render(&b, diag.List{{Code: "P1", Span: at(src, "b"), Message: "m"}}, map[string]string{"a.gq": src}, false); err != nil {
		t.Fatal(err)
	}
	if i := strings.IndexFunc(b.String(), func(r rune) bool { return r != '\n' && unicode.IsControl(r) }); i >= 0 {
		t.Errorf("the excerpt has %q", b.String()[i:])
	}
	if !strings.Contains(b.String(), "a \ufffd[31m \ufffd31m \ufffd b") {
		t.Errorf("got %q", b.String())
	}
}

func TestRenderLongLine(t *testing.T) {
	// Every é is two bytes, so that a cut may fall inside a code point.
	src := "first\n" + strings.Repeat("é", 300) + "HERE" + strings.Repeat("ü", 300) + "\nlast"
	for _, piece := range []string{"HERE", "first", "last"} {
		var b strings.Builder
		if err := diag.Render(&b, diag.List{{Code: "P1", Span: at(src, piece), Message: "m"}}, map[string]string{"a.gq": src}, false); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(b.String(), "\n")
		if len(lines[1]) > 400 || !strings.Contains(lines[1], piece) || !utf8.ValidString(lines[1]) {
			t.Errorf("%s: the excerpt is %q", piece, lines[1])
		}
		before := lines[1][:strings.Index(lines[1], piece)]
		if caret := strings.Index(lines[2], "^"); caret != utf8.RuneCountInString(before) {
			t.Errorf("%s: the caret is under column %d, want %d", piece, caret, utf8.RuneCountInString(before))
		}
	}
}

func TestNearest(t *testing.T) {
	tests := []struct{ name, want string }{
		{"Persn", "Person"}, {"person", "Person"}, {"Peron", "Person"}, {"Preson", "Person"}, {"Perosn", "Person"},
		{"Companies", "Company"}, {"x", ""}, {"p", "P"}, {"", ""}, {"Zebra", ""},
	}
	for _, test := range tests {
		if got := diag.Closest(test.name, []string{"Person", "Company", "P", "q"}); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

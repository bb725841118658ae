package format_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/format"
)

// TestGolden formats each x.in.gq to x.gq, and each x.in.pg to x.pg.
func TestGolden(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.in.?[gq]")
	if err != nil || len(paths) < 2 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out, ok := checkFormat(t, path, string(text))
		if !ok {
			_, faults := gq.Format(gq.Source{Name: path, Text: string(text)})
			t.Fatal(faults)
		}
		golden.Check(t, strings.Replace(path, ".in.", ".", 1), []byte(out))
	}
}

func TestCorpus(t *testing.T) {
	for path, text := range corpus(t) {
		t.Run(path, func(t *testing.T) { checkFormat(t, path, text) })
	}
}

// TestLineEnds checks that the white space that editors leave at the ends of lines and of the
// file does not affect the result.
func TestLineEnds(t *testing.T) {
	const want = "// a\nquery q() { // b\n  delete Log where text = \"x\" /* c\n d */\n}\n"
	for name, text := range map[string]string{
		"canonical":      want,
		"CRLF":           strings.ReplaceAll(want, "\n", "\r\n"),
		"byte order":     "\uFEFF" + want,
		"no end":         strings.TrimSuffix(want, "\n"),
		"white space":    strings.ReplaceAll(want, "\n", " \t\n"),
		"tabs":           strings.ReplaceAll(want, "  ", "\t"),
		"blank end":      want + "\n \n\n",
		"blank start":    "\n\n" + want,
		"form of spaces": strings.ReplaceAll(want, " {", "\t  {"),
	} {
		if got, _ := checkFormat(t, "x.gq", text); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	for _, text := range []string{"", "\n\n", " \t\r\n", "\uFEFF"} {
		if got, ok := checkFormat(t, "x.gq", text); got != "" || !ok {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// TestStrings checks that the contents of strings stay unchanged, byte for byte.
func TestStrings(t *testing.T) {
	for _, s := range []string{`""`, `"a\"b\\ \n"`, "\"a  \r\n\t\n\n b \"", `"// no comment"`, `"/*"`, `",}{"`, `"é  世界"`} {
		text := "query q() { delete Log where text=" + s + "}"
		got, _ := checkFormat(t, "x.gq", text)
		if !strings.Contains(got, "text = "+s) {
			t.Errorf("%s became %s", text, got)
		}
	}
}

func TestFaulty(t *testing.T) {
	for name, text := range map[string]string{
		"x.gq": "query a() { match { $p: P } return { $p } }\nquery b() { match { $p P } return { $p } }",
		"x.pg": "node A { id: String @key }\nnode b {}",
	} {
		out, faults := gq.Format(gq.Source{Name: name, Text: text})
		if out != "" || len(faults) != 1 || faults[0].Span.Start.Line != 2 {
			t.Errorf("%s: %v and %q", name, faults, out)
		}
	}
}

// TestWidth checks that brackets that end at column 101 are broken and brackets that end at
// column 100 are not.
func TestWidth(t *testing.T) {
	for _, tt := range []struct{ name, head, tail, wide string }{
		{"x.gq", "query q($", ": String) {\n  delete Log where text = $x\n}\n", "query q(\n  $%: String\n) {\n  delete Log where text = $x\n}\n"},
		{"x.gq", "query q() {\n  update Log set { text: \"", "\" } where count = [] # [1]\n}\n", "query q() {\n  update Log set {\n    text: \"%\"\n  } where count = [] # [1]\n}\n"},
		{"x.pg", "node A { ", ": String }\n", "node A {\n  %: String\n}\n"},
		{"x.pg", "node A {\n  x: enum(a, ", ")? @index\n}\n", "node A {\n  x: enum(\n    a,\n    %\n  )? @index\n}\n"},
	} {
		tail := strings.ReplaceAll(tt.tail, " # [1]", "")
		wide := strings.ReplaceAll(tt.wide, " # [1]", "")
		last := tt.head[strings.LastIndexByte(tt.head, '\n')+1:]
		first, _, _ := strings.Cut(tail, "\n")
		free := format.Width - len(last) - len(first)
		fits := tt.head + strings.Repeat("x", free) + tail
		if got, _ := checkFormat(t, tt.name, fits); got != fits {
			t.Errorf("formatting changed\n%s\nto\n%s", fits, got)
		}
		got, _ := checkFormat(t, tt.name, tt.head+strings.Repeat("x", free+1)+tail)
		if diff := gocmp.Diff(strings.Replace(wide, "%", strings.Repeat("x", free+1), 1), got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}

// TestBreaks checks that a line break after an opening bracket breaks that pair of brackets and
// the pairs around it, and no others.
func TestBreaks(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"x.gq", "query q() { insert A { a: [\n1, 2] b: [3] } insert B { c: 1 } }",
			"query q() {\n  insert A {\n    a: [\n      1, 2\n    ],\n    b: [3]\n  }\n  insert B { c: 1 }\n}\n"},
		{"x.gq", "query q(\n$a: I32) { delete A\nwhere a = $a\n}", "query q(\n  $a: I32\n) { delete A where a = $a }\n"},
		{"x.gq", "query q() { match { $a: A { b: 1\n}\nnot { $a c\n{1,2} $d } } return {\n$a } }",
			"query q() {\n  match { $a: A { b: 1 } not { $a c{1,2} $d } }\n  return {\n    $a\n  }\n}\n"},
		{"x.gq", "query q() { insert A { a: \"x\ny\" } }", "query q() {\n  insert A {\n    a: \"x\ny\"\n  }\n}\n"},
		{"x.gq", "query q() { insert A {\na: 1\n,\nb: 2,\n\n\nc: 3\n} }", "query q() {\n  insert A {\n    a: 1,\n    b: 2,\n\n    c: 3\n  }\n}\n"},
		{"x.pg", "node A { a: enum(\na, b)? b: Vector(\n3) }", "node A {\n  a: enum(\n    a,\n    b\n  )?\n  b: Vector(3)\n}\n"},
		{"x.pg", "node A @enum(\na, b) { @key(\na) }", "node A @enum(a, b) { @key(a) }\n"},
	} {
		got, ok := checkFormat(t, tt.name, tt.text)
		if diff := gocmp.Diff(tt.want, got); diff != "" || !ok {
			t.Errorf("%s\nparsed: %v, -want +got:\n%s", tt.text, ok, diff)
		}
	}
}

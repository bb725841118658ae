package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/peterh/liner"
)

// fake is a graph that notes what it was asked. A statement with the word bad fails.
type fake struct {
	asked []string
	lines []int // on which the statements begin
}

func (g *fake) Run(_ context.Context, text string, line int, s Settings) error {
	g.lines = append(g.lines, line)
	g.asked = append(g.asked, fmt.Sprintf("%s|%s|%s|%s", strings.Join(strings.Fields(text), " "), s.Branch, s.Format, s.Params))
	if strings.Contains(text, "bad") {
		return errors.New("bad")
	}
	return nil
}

func (g *fake) Complete(_ context.Context, text string, at int, _ string) (int, []string) {
	return strings.LastIndexByte(text[:at], ' ') + 1, []string{"match", "Mensch", "m\x1b[2J", "m\u009b", "query"}
}

func (g *fake) Branches(context.Context) ([]string, error) { return []string{"main", "next"}, nil }

func newShell() (*Shell, *fake, *bytes.Buffer) {
	g, out := &fake{}, &bytes.Buffer{}
	return &Shell{Graph: g, Name: "people", Formats: []string{"table", "json"}, Out: out, Err: out}, g, out
}

func TestScript(t *testing.T) {
	const q = "query q() { match { $p: Person } return { $p.name } }"
	for _, tt := range []struct {
		name, script string
		asked        []string
		fault        string
	}{
		{"one line", q, []string{q + "|||"}, ""},
		{"several lines", "\ufeff// a comment with }\nquery q() {\n  match { $p: Person { name: \"}\" } } // }\n\n  return { $p.name }\n}\n",
			[]string{`// a comment with } query q() { match { $p: Person { name: "}" } } // } return { $p.name } }|||`}, ""},
		{"two on a line", q + " " + q + "\n", []string{q + "|||", q + "|||"}, ""},
		{"the second begins on the line where the first ends", "query q() {\n} query r()\n{ }", []string{"query q() { }|||", "query r() { }|||"}, ""},
		{"an annotation", "@description(\"{\")\nquery q() { }", []string{"@description(\"{\") query q() { }|||"}, ""},
		{"settings", "\\branch next\n\\format json\n\\params {\"a\": 1}\n" + q + "\n" + q, []string{q + `|next|json|{"a": 1}`, q + "|next|json|"}, ""},
		{"quit", q + "\n\\quit\nbad", []string{q + "|||"}, ""},
		{"stops at the first error", "query bad() { }\n" + q, []string{"query bad() { }|||"}, "bad"},
		{"ends early", "query bad() {\n", []string{"query bad() {|||"}, "bad"},
		{"ends with a comment", q + "\n// done\n", []string{q + "|||"}, ""},
		{"another language", "select bad\n" + q, []string{"select bad|||"}, "bad"},
		{"a brace too many", "}\n", []string{"}|||"}, ""},
		{"a command within a query is text", "query q() {\n\\quit\n}", []string{"query q() { \\quit }|||"}, ""},
		{"bytes that are no text", "query q() { \xff\n" + q, []string{"query q() { \xff|||", q + "|||"}, ""},
		{"a NUL", "query q() { \x00 bad", []string{"query q() { \x00 bad|||"}, "bad"},
		{"a tab after a command", "\\branch\tnext\n" + q, []string{q + "|next||"}, ""},
		{"a comment over lines", "/* query\n\\quit\n{ } */ query q() { }", []string{"/* query \\quit { } */ query q() { }|||"}, ""},
		{"a string over lines", "query q() { a: \"\n}\n\\\"\n}\" }\n" + q, []string{"query q() { a: \" } \\\" }\" }|||", q + "|||"}, ""},
		{"nothing", "\n \n", nil, ""},
		{"a command that does not exist", "\\brnch next", nil, `unknown command \brnch; did you mean branch?`},
		{"a branch that does not exist", "\\branch nxt", nil, "there is no branch nxt; did you mean next?"},
		{"a format that does not exist", "\\format xml", nil, "there is no format xml; the formats are table, json"},
		{"parameters that are no object", "\\params 1", nil, "the parameters are not a JSON object"},
	} {
		s, g, _ := newShell()
		err := s.Script(t.Context(), strings.NewReader(tt.script))
		if (err != nil) != (tt.fault != "") || err != nil && !strings.Contains(err.Error(), tt.fault) {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.fault)
		}
		if got, want := strings.Join(g.asked, "\n"), strings.Join(tt.asked, "\n"); got != want {
			t.Errorf("%s: ran\n%s\nwant\n%s", tt.name, got, want)
		}
	}
}

// TestLines checks the lines on which statements begin.
func TestLines(t *testing.T) {
	s, g, _ := newShell()
	script := "\n\nquery a() { }\r\n\\branch next\n// why\nquery b() {\n} query c() {\n}  \n\n@a query d() { } // done\nquery e() {"
	if err := s.Script(t.Context(), strings.NewReader(script)); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(g.lines, []int{3, 5, 7, 10, 10}) { // the comment after d belongs to e
		t.Errorf("the statements %q begin on the lines %v", g.asked, g.lines)
	}
}

// TestPrompt takes lines as at a prompt.
func TestPrompt(t *testing.T) {
	s, g, _ := newShell()
	var e editor
	e.State = liner.NewLiner()
	defer e.close()
	for _, l := range []string{"", "query a() { }", " query b() { } query c() { }", "query d() { } query e() { }", "query f() {", "}", "\x00"} {
		if s.pending == "" {
			s.at = 1
		}
		if err := s.take(t.Context(), s.pending+l+"\n", e.remember); err != nil || s.pending != "" && l != "query f() {" {
			t.Errorf("after %q: %q, %v", l, s.pending, err)
		}
	}
	if !slices.Equal(g.lines, []int{1, 1, 1, 1, 1, 1, 1}) {
		t.Errorf("the statements begin on the lines %v", g.lines)
	}
	var kept bytes.Buffer
	if _, err := e.WriteHistory(&kept); err != nil || kept.String() != "query a() { }\nquery d() { }\nquery e() { }\nquery f() { }\n\x00\n" {
		t.Errorf("the history is %q, %v", kept.String(), err)
	}
}

// TestLongScript reads statements with many lines, for which a scan from the begin at each line would take minutes.
func TestLongScript(t *testing.T) {
	const lines = 50_000
	for name, script := range map[string]string{
		"mutation": "query m() {\n" + strings.Repeat("  insert Note { text: \"a\" }\n", lines) + "}\n",
		"comment":  strings.Repeat("// } \"\n", lines) + "query q() { }",
		"block":    "/*\n" + strings.Repeat("} \"\n", lines) + "*/ query q() { }",
		"string":   "query q() { a: \"\n" + strings.Repeat("}\n", lines) + "\" }",
	} {
		s, g, _ := newShell()
		if err := s.Script(t.Context(), strings.NewReader(script)); err != nil || len(g.lines) != 1 {
			t.Errorf("%s: %d statements, %v", name, len(g.lines), err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s, g, _ := newShell()
	if err := s.Script(ctx, strings.NewReader("query q() { }")); !errors.Is(err, context.Canceled) || len(g.lines) != 0 {
		t.Errorf("after Ctrl-C: %d statements, %v", len(g.lines), err)
	}
}

// TestCommandsPrint checks what the commands print.
func TestCommandsPrint(t *testing.T) {
	s, _, out := newShell()
	if err := s.Script(t.Context(), strings.NewReader("\\branch\n\\format\n\\branch next\n\\branch\n\\format json\n\\format\n\\help\n")); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"the default branch\nthe default: table on a terminal, json elsewhere\nnext\njson\n", `\params JSON`, `\quit`, "its } closes"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("printed\n%s\nwithout %q", out, want)
		}
	}
	if s.prompt() != "people@next> " {
		t.Errorf("the prompt is %q", s.prompt())
	}
	if s.pending = "query q() {\n"; s.prompt() != "         ..> " {
		t.Errorf("the prompt in a query is %q", s.prompt())
	}
}

func TestComplete(t *testing.T) {
	for _, tt := range []struct {
		pending, line     string
		head, words, tail string
	}{
		{"", `\f`, "", `\format `, ""},
		{"", `  \b`, "  ", `\branch `, ""},
		{"", `\`, "", `\help |\branch |\format |\params |\quit `, ""},
		{"", `\branch n`, `\branch `, "next", ""},
		{"", `\format `, `\format `, "table|json", ""},
		{"", "q", "", "query", ""},
		{"query q() {\n", " m^ }", " ", "match|Mensch", " }"},
		{"query q() {\n", `\m`, `\m`, "", ""}, // the word begins in an earlier line for this graph
	} {
		s, _, _ := newShell()
		s.pending = tt.pending
		l, rest, _ := strings.Cut(tt.line, "^")
		head, words, tail := s.complete(t.Context(), l+rest, len(l))
		if head != tt.head || strings.Join(words, "|") != tt.words || tail != tt.tail {
			t.Errorf("%q: %q %q %q", tt.line, head, words, tail)
		}
	}
}

// TestHistory keeps statements in a file that only its owner can read.
func TestHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "history")
	lines, f, err := openHistory(path)
	if err != nil || len(lines) != 0 {
		t.Fatal(lines, err)
	}
	for range maxHistory + 5 {
		fmt.Fprintln(f, "old")
	}
	for range maxHistory {
		fmt.Fprintln(f, "new \xff")
	}
	if err := errors.Join(f.Close(), os.Chmod(path, 0o644)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{maxHistory, maxHistory} {
		lines, f, err = openHistory(path)
		if err != nil || len(lines) != want || lines[0] != "new \uFFFD" {
			t.Fatalf("%d lines, %v", len(lines), err)
		}
		if info, err := f.Stat(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
		f.Close()
	}
	for statement, want := range map[string]string{
		"query q() {\n  // why\n  match { $p: Person }\n}": "query q() { match { $p: Person } }",
		"\\branch next\n": "\\branch next", "// only\n": "",
		"query m() { // \"\n insert Note { text: \"a\r\n  b\" // why\n}\n} /* \" */": `query m() { insert Note { text: "a\r\n  b" } }`,
	} {
		if got := line(statement); got != want {
			t.Errorf("%q becomes %q", statement, got)
		}
	}
}

package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fake is a graph that notes what it was asked. A statement with the word bad fails.
type fake struct{ asked []string }

func (g *fake) Run(_ context.Context, text string, s Settings) error {
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

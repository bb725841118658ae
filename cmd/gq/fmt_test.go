package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	ugly   = "query q( ){match{$p:Person} return{$p.name,}}\n"
	pretty = "query q() { match { $p: Person } return { $p.name } }\n"
	broken = "query q() { match { $p Person } return { $p } }\n"
)

// feed makes text the standard input of the test.
func feed(t *testing.T, text string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "stdin")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	old := os.Stdin
	os.Stdin = in
	t.Cleanup(func() {
		os.Stdin = old
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	})
}

func wantFile(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("%s: found %q, %v; expected %q", path, got, err, want)
	}
}

func TestFmtStdin(t *testing.T) {
	tests := []struct {
		args           []string
		in             string
		code           int
		stdout, stderr string
	}{
		{nil, ugly, exitDone, pretty, ""},
		{[]string{"--stdin-name", "x/y.pg"}, "node A{id:String@key}", exitDone, "node A { id: String @key }\n", ""},
		{[]string{"-l"}, ugly, exitFailed, "stdin.gq\n", ""},
		{[]string{"-l"}, pretty, exitDone, "", ""},
		{nil, broken, exitFailed, "", "                         ^~~~~~"},
	}
	for _, tt := range tests {
		feed(t, tt.in)
		code, stdout, stderr := gqRun(append([]string{"fmt"}, tt.args...)...)
		if code != tt.code || stdout != tt.stdout || !strings.Contains(stderr, tt.stderr) {
			t.Errorf("gq fmt %v: exit %d\n%s%s", tt.args, code, stdout, stderr)
		}
	}
}

func TestFmtWrite(t *testing.T) {
	module(t, map[string]string{
		"g/a.gq": ugly, "g/b.gq": broken, "g/deep/c.gq": ugly, "g/fine.gq": pretty, "g/schema.pg": "node  A { }",
		"g/.hidden/d.gq": ugly, "g/note.txt": ugly,
	})
	if err := os.Chmod("g/a.gq", 0o640); err != nil {
		t.Fatal(err)
	}
	fine, err := os.Stat("g/fine.gq")
	if err != nil {
		t.Fatal(err)
	}

	code, stdout, stderr := gqRun("fmt", "-l", "g")
	if code != exitFailed || stdout != "g/a.gq\ng/deep/c.gq\ng/schema.pg\n" || !strings.Contains(stderr, "g/b.gq:1:24: error P7") {
		t.Errorf("-l: exit %d\n%s%s", code, stdout, stderr)
	}
	wantFile(t, "g/a.gq", ugly)

	code, stdout, stderr = gqRun("fmt", "-l", "-w", "g")
	if code != exitFailed || stdout != "g/a.gq\ng/deep/c.gq\ng/schema.pg\n" || !strings.Contains(stderr, "g/b.gq:1:24") {
		t.Errorf("-l -w: exit %d\n%s%s", code, stdout, stderr)
	}
	wantFile(t, "g/a.gq", pretty)
	wantFile(t, "g/deep/c.gq", pretty)
	wantFile(t, "g/schema.pg", "node A {}\n")
	wantFile(t, "g/b.gq", broken)
	wantFile(t, "g/.hidden/d.gq", ugly)
	wantFile(t, "g/note.txt", ugly)
	if info, err := os.Stat("g/a.gq"); err != nil || info.Mode() != 0o640 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if info, err := os.Stat("g/fine.gq"); err != nil || !os.SameFile(info, fine) {
		t.Errorf("a file that was already formatted was written again: %v", err)
	}
	if left, err := filepath.Glob("g/.gq-*"); err != nil || left != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}

	if err := os.Remove("g/b.gq"); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"fmt", "-l", "g"}, {"fmt", "-d", "g"}, {"fmt", "-w", "g"}} {
		if code, stdout, stderr := gqRun(args...); code != exitDone || stdout+stderr != "" {
			t.Errorf("%v: exit %d\n%s%s", args, code, stdout, stderr)
		}
	}
}

func TestFmtLink(t *testing.T) {
	module(t, map[string]string{"real/a.gq": ugly})
	if err := os.Symlink("real/a.gq", "link.gq"); err != nil {
		t.Skip(err)
	}
	if code, _, stderr := gqRun("fmt", "-w", "link.gq"); code != exitDone {
		t.Errorf("exit %d\n%s", code, stderr)
	}
	wantFile(t, "real/a.gq", pretty)
	if info, err := os.Lstat("link.gq"); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v", err)
	}
}

func TestFmtDiff(t *testing.T) {
	module(t, map[string]string{"a.gq": "// kept\n" + ugly, "b.gq": pretty})
	code, stdout, stderr := gqRun("fmt", "-d", "a.gq", "b.gq")
	want := "--- a.gq.orig\n+++ a.gq\n@@ -1,2 +1,2 @@\n // kept\n-" + ugly + "+" + pretty
	if code != exitFailed || stdout != want || stderr != "" {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
	wantFile(t, "a.gq", "// kept\n"+ugly)
}

func TestFmtFaults(t *testing.T) {
	module(t, map[string]string{"a.gq": ugly, "a.txt": ugly})
	tests := []struct {
		args []string
		code int
		want string
	}{
		{[]string{"-x"}, exitUsage, "-x"},
		{[]string{"-w"}, exitUsage, "-w cannot write to standard input"},
		{[]string{"--stdin-name", "a"}, exitUsage, "ends in .gq or .pg"},
		{[]string{"--stdin-name", "a.pg", "a.gq"}, exitUsage, "leave out --stdin-name"},
		{[]string{"a.txt"}, exitUsage, "a.txt is neither a folder nor"},
		{[]string{"gone.gq", "-l", "a.gq"}, exitFailed, "gone.gq"},
	}
	for _, tt := range tests {
		feed(t, ugly)
		code, _, stderr := gqRun(append([]string{"fmt"}, tt.args...)...)
		if code != tt.code || !strings.Contains(stderr, tt.want) {
			t.Errorf("gq fmt %v: exit %d, expected %d, and %q in\n%s", tt.args, code, tt.code, tt.want, stderr)
		}
	}
	wantFile(t, "a.gq", ugly)
}

// TestFmtCommitted checks that the sources of this repository are formatted.
func TestFmtCommitted(t *testing.T) {
	if code, stdout, stderr := gqRun("fmt", "-l", "../../queries"); code != exitDone {
		t.Errorf("exit %d; run gq fmt -w on these:\n%s%s", code, stdout, stderr)
	}
}

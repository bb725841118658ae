package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestPastGuide runs docs/past.md.
func TestPastGuide(t *testing.T) { runGuide(t, "past.md") }

// TestValidTimeGuide runs docs/valid-time.md.
func TestValidTimeGuide(t *testing.T) { runGuide(t, "valid-time.md") }

// runGuide writes the files of a guide, runs its commands in one shell, and compares what they print with the
// blocks of text after them.
func runGuide(t *testing.T, name string) {
	text, err := os.ReadFile("../../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var files strings.Builder
	script := "set -eu\n"
	commands, compared := 0, 0
	for _, m := range regexp.MustCompile("(?s)```([a-z]+) ?([^\n]*)\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		switch {
		case m[2] != "":
			files.WriteString("-- " + m[2] + " --\n" + m[3])
		case m[1] == "sh":
			commands++
			script += "{\n" + m[3] + "} > got.txt\n"
		case m[1] == "text":
			compared++
			script += "cat > want.txt <<'END'\n" + m[3] + "END\ndiff want.txt got.txt\n"
		default:
			t.Errorf("nothing runs the block of %s", m[1])
		}
	}
	if commands < 4 || compared < 2 {
		t.Errorf("found %d blocks of commands and %d of text", commands, compared)
	}
	file := filepath.Join(t.TempDir(), "guide.txtar")
	write(t, file, "exec sh guide.sh\n-- guide.sh --\n"+script+files.String())
	testscript.Run(t, testscript.Params{Files: []string{file}, RequireExplicitExec: true, Setup: setup})
}

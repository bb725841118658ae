package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestClusterGuide follows docs/cluster.md. A block of the guide with a file name after its
// language is written to that file. The test runs the commands of all other blocks and compares
// their output with the guide, except for ids and times.
func TestClusterGuide(t *testing.T) {
	text, err := os.ReadFile("../../docs/cluster.md")
	if err != nil {
		t.Fatal(err)
	}
	guide := string(text)
	t.Chdir(t.TempDir())
	files, commands := 0, 0
	for _, m := range regexp.MustCompile("(?s)```([a-z]+) ?([^\n]*)\n(.*?)```").FindAllStringSubmatch(guide, -1) {
		if m[2] != "" {
			files++
			if err := os.MkdirAll(filepath.Dir(m[2]), 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, m[2], m[3])
			continue
		}
		var got strings.Builder
		for line := range strings.Lines(m[3]) {
			command, ok := strings.CutPrefix(line, "$ omnigraph ")
			if !ok {
				continue
			}
			commands++
			_, stdout, stderr := omnigraph(t, "", strings.Fields(command)...)
			got.WriteString(line + stdout + stderr)
		}
		want := transcript(m[3])
		if got := transcript(got.String()); got != want {
			t.Errorf("the guide says\n%s\nand the commands say\n%s", want, got)
		}
	}
	if files < 5 || commands < 6 {
		t.Errorf("found %d files and %d commands", files, commands)
	}
	for line := range strings.Lines(guide) {
		args, ok := strings.CutPrefix(line, "    omnigraph ")
		if !ok {
			continue
		}
		cmd, rest, err := newRoot().Find(strings.Fields(args))
		if err == nil {
			err = cmd.ParseFlags(rest)
		}
		if err != nil || !cmd.Runnable() || cmd.HasSubCommands() {
			t.Errorf("omnigraph %s: %v", args, err)
		}
	}
}

// transcript replaces the parts that differ from run to run, and removes blanks at the ends of
// lines.
func transcript(text string) string {
	text = (&steady{tokens: map[string]string{}}).replace(text)
	return regexp.MustCompile(` +\n`).ReplaceAllString(text, "\n")
}

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestBackupGuide runs the drill of docs/backup.md, word for word, in one shell. Each command line must
// succeed. The test also checks that the other commands of the guide exist, with their flags.
func TestBackupGuide(t *testing.T) {
	text, err := os.ReadFile("../../docs/backup.md")
	if err != nil {
		t.Fatal(err)
	}
	var drill strings.Builder
	drill.WriteString("set -eu\n")
	blocks := 0
	for _, m := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		blocks++
		for line := range strings.Lines(m[1]) {
			if unwanted, ok := strings.CutPrefix(line, "! "); ok { // set -e ignores a line that begins with an exclamation mark
				line = "if " + strings.TrimSpace(unwanted) + "; then exit 1; fi\n"
			}
			drill.WriteString(line)
		}
	}
	if blocks < 6 {
		t.Errorf("the drill has %d blocks", blocks)
	}
	script := filepath.Join(t.TempDir(), "drill.txtar")
	write(t, script, "exec sh drill.sh\n-- drill.sh --\n"+drill.String())
	testscript.Run(t, testscript.Params{Files: []string{script}, RequireExplicitExec: true, Setup: setup})
	checked := 0
	for line := range strings.Lines(string(text)) {
		args, ok := strings.CutPrefix(line, "    omnigraph ")
		if !ok {
			continue
		}
		checked++
		cmd, rest, err := newRoot().Find(strings.Fields(args))
		if err == nil {
			err = cmd.ParseFlags(rest)
		}
		if err == nil {
			err = cmd.ValidateArgs(cmd.Flags().Args())
		}
		if err != nil || !cmd.Runnable() || cmd.HasSubCommands() {
			t.Errorf("omnigraph %s: %v", args, err)
		}
	}
	if checked < 6 {
		t.Errorf("the guide has %d other commands", checked)
	}
}

package main

import (
	"regexp"
	"testing"
)

func TestVersion(t *testing.T) {
	code, stdout, stderr := gqRun("version")
	if code != exitDone || !regexp.MustCompile(`^gq \S+ \(go\S+ \w+/\w+\)\n$`).MatchString(stdout) || stderr != "" {
		t.Errorf("exit code %d: %q %q", code, stdout, stderr)
	}
	if code, _, _ := gqRun("version", "x"); code != exitUsage {
		t.Errorf("with an argument: exit code %d, want %d", code, exitUsage)
	}
}

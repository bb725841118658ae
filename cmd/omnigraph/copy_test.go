package main

import (
	"encoding/json"
	"testing"
)

// TestCopyAnswer copies a graph to a folder whose name is no URL. The answer must name the folder exactly.
func TestCopyAnswer(t *testing.T) {
	inFolder(t)
	write(t, "more.ndjson", `{"type":"Person","data":{"name":"zoe"}}`)
	if code, _, stderr := omnigraph(t, "", "load", "--store", "graph", "--data", "more.ndjson", "--message", "why"); code != 0 {
		t.Fatal(stderr)
	}
	const target = "backup 100% of #1?"
	code, stdout, stderr := omnigraph(t, "", "copy", "graph", target, "--format", "json")
	var a copyAnswer
	if err := json.Unmarshal([]byte(stdout), &a); code != 0 || err != nil || a.Source != "graph" || a.Target != target {
		t.Errorf("exit %d, %v\n%s%s", code, err, stdout, stderr)
	}
	if head, _, _ := state(t, target); head.ID != a.Head {
		t.Errorf("the copy has the head %s; the answer names %s", head.ID, a.Head)
	} else if head.Message != "why" {
		t.Errorf("the copy of the last commit has the message %q", head.Message)
	}
}

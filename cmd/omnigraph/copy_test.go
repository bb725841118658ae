package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/audittrail"
	"github.com/omnigraph-go/omnigraph/internal/clock"
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

// TestCopyAudit copies a graph with the audit trail beside it, and again after more calls. Without a trail the command fails before it
// makes a target.
func TestCopyAudit(t *testing.T) {
	inFolder(t)
	if code, _, stderr := omnigraph(t, "", "copy", "graph", "backup/none", "--with-audit"); code == 0 || !strings.Contains(stderr, "there is no audit trail in .") {
		t.Errorf("exit %d\n%s", code, stderr)
	}
	store, done, err := makeTrail(t.Context(), ".")
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	trail, err := audittrail.Open(t.Context(), store, audittrail.Options{Server: "one", Keep: audittrail.DefaultKeep, Quota: audittrail.DefaultQuota, Exclusive: true, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer trail.Close(context.Background())
	for i, target := range []string{"backup/first", "backup/second"} {
		trail.Add(&audittrail.Call{Time: clock.Now(), Actor: "act-ada", Graph: "graph", Branch: "main", Tool: "get_person", Outcome: "ok"})
		if err := trail.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := omnigraph(t, "", "copy", "graph", target, "--with-audit", "--format", "json")
		var a copyAnswer
		if err := json.Unmarshal([]byte(stdout), &a); code != 0 || err != nil || a.AuditRecords == nil || *a.AuditRecords != uint64(i+2) {
			t.Fatalf("exit %d, %v\n%s%s", code, err, stdout, stderr)
		}
	}
	if code, stdout, stderr := omnigraph(t, "", "audit", "list", "--trail", "backup", "--actor", "act-ada", "--format", "json"); code != 0 || strings.Count(stdout, `"tool":"get_person"`) != 2 {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
	if code, _, stderr := omnigraph(t, "", "audit", "verify", "backup"); code != 0 {
		t.Errorf("exit %d\n%s", code, stderr)
	}
}

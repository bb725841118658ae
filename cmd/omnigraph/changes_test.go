package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
)

// TestChangesOfAStore checks that the list of changes of a store is whole if it is larger than one
// page of the operation, which has at most 8 MiB of values.
func TestChangesOfAStore(t *testing.T) {
	inFolder(t)
	var lines strings.Builder
	for i := range 5 {
		lines.WriteString(`{"type":"Person","data":{"name":"` + strings.Repeat(string(rune('a'+i)), 3<<20) + `","age":1}}` + "\n")
	}
	write(t, "large.ndjson", lines.String())
	if code, _, stderr := omnigraph(t, "", strings.Fields("load --store graph --data large.ndjson")...); code != 0 {
		t.Fatal(stderr)
	}
	_, list, _ := omnigraph(t, "", strings.Fields("commit list --store graph --limit 1 --format csv")...)
	head, _, _ := strings.Cut(strings.Split(list, "\n")[1], ",")
	for _, tt := range []struct {
		limit string
		n     int
		more  bool
	}{{"0", 5, false}, {"4", 4, true}, {"1", 1, true}} {
		code, stdout, stderr := omnigraph(t, "", "changes", "--store", "graph", "--format", "json", "--limit", tt.limit, head)
		var a client.ChangesAnswer
		if err := json.Unmarshal([]byte(stdout), &a); err != nil || code != 0 {
			t.Fatalf("limit %s: exit code %d, %v, %s", tt.limit, code, err, stderr)
		}
		if len(a.Changes) != tt.n || (a.NextPageToken != nil) != tt.more || a.Cause.GraphCommitID != head {
			t.Errorf("limit %s: %d changes of %s, more %t", tt.limit, len(a.Changes), a.Cause.GraphCommitID, a.NextPageToken != nil)
		}
		for i, c := range a.Changes {
			if c.ID[0] != byte('a'+i) {
				t.Errorf("limit %s: change %d is of %.10s…", tt.limit, i, c.ID)
			}
		}
	}
}

package e2e

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/clock"
)

var sharedApplies = flag.Int("shared.applies", 6, "the applies of TestSharedApply")

// TestSharedApply applies other queries and policies, and at every third apply another schema, to three servers on a
// shared storage, while clients write and read. Each server serves each revision, and no acknowledged write is lost.
func TestSharedApply(t *testing.T) {
	f := newFleet(t, 3, storageURL(t, "folder"))
	for i := range f.ports {
		f.start(i)
	}
	before := f.version(f.writer())
	at := f.dirs[0]
	edit := func(name, old, text string) {
		t.Helper()
		path := filepath.Join(at, "queries", name)
		content, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(content), old) {
			t.Fatalf("%s has no %q: %v", name, old, err)
		}
		write(t, path, strings.Replace(string(content), old, text, 1))
	}
	edit("code/notes.gq", "@description(\"", "@description(\"State 0. ")
	stop := f.writing(4)
	var took []time.Duration
	schemas := 0
	for n := range *sharedApplies {
		edit("code/notes.gq", fmt.Sprintf("State %d.", n), fmt.Sprintf("State %d.", n+1))
		if n%3 == 2 {
			edit("code/schema.pg", "  text: String", fmt.Sprintf("  extra%d: String?\n  text: String", n))
			schemas++
		}
		omnigraph(t, "cluster", "apply", "--cluster", at)
		applied := clock.Now()
		for i := range f.ports {
			for want := fmt.Sprintf("State %d.", n+1); ; time.Sleep(10 * time.Millisecond) {
				a, err := f.ask(i, http.MethodPost, "/graphs/code/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "Accept", "application/json, text/event-stream", "Mcp-Protocol-Version", "2025-11-25")
				if err == nil && strings.Contains(string(a.body), want) {
					break
				}
				if clock.Now().Sub(applied) > time.Minute {
					t.Fatalf("after a minute server %d does not serve apply %d: %v %d %.300s", i, n, err, a.status, a.body)
				}
			}
		}
		took = append(took, clock.Now().Sub(applied))
	}
	written := stop()
	for i := range f.ports {
		if got, want := f.version(i), before+uint64(written+schemas); got != want || written == 0 {
			t.Errorf("server %d has %d commits, want %d: %d before, %d acknowledged and %d of schemas", i, got, want, before, written, schemas)
		}
		f.end(i).stop()
	}
	slices.Sort(took)
	t.Logf("%d writes; after an apply, all servers served it within %v, at most %v", written, took[len(took)/2], took[len(took)-1])
}

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// TestStoppedWriter stops the process of the writer, and sends a write to another server. That server must not
// wait for the writer for much longer than a lease. The answer must say that the outcome is unknown, and the
// repeated write must be made once.
func TestStoppedWriter(t *testing.T) {
	f := newFleet(t, 2, storageURL(t, "folder"))
	for i := range f.ports {
		f.start(i)
	}
	w := f.writer()
	other := 1 - w
	f.untilReader(other)
	if _, err := f.addNote("before"); err != nil {
		t.Fatal(err)
	}
	before := f.version(other)
	f.mu.Lock()
	process := f.running[w].cmd.Process
	f.mu.Unlock()
	if err := process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	body := `{"params":{"slug":"during","symbol":"example.com/p.F1","text":"t"}}`
	began := clock.Now()
	a, err := f.ask(other, http.MethodPost, "/graphs/code/queries/add_note", body, "Idempotency-Key", "during")
	took := clock.Since(began)
	if err != nil || a.status != http.StatusInternalServerError || !strings.Contains(string(a.body), "the outcome of the write is unknown") {
		t.Errorf("a write that was forwarded to the stopped writer: %v %d %s", err, a.status, a.body)
	}
	if took > *sharedLease+5*time.Second { // other work on the machine may delay the answer
		t.Errorf("the answer came after %v, with a lease of %v", took, *sharedLease)
	}
	var written client.MutationAnswer
	for repeat := clock.Now(); written.Commit == nil; {
		a, err := f.ask(other, http.MethodPost, "/graphs/code/queries/add_note", body, "Idempotency-Key", "during")
		if err == nil && a.status == http.StatusOK {
			if err := json.Unmarshal(a.body, &written); err != nil || written.Commit == nil {
				t.Fatalf("the answer of the repeated write: %v %s", err, a.body)
			}
		}
		if clock.Since(repeat) > f.limit {
			t.Fatalf("the repeated write is not acknowledged after %v: %v %d %s", f.limit, err, a.status, a.body)
		}
	}
	t.Logf("the write was answered after %v, and the repeated write after %v, with a lease of %v", took, clock.Since(began), *sharedLease)
	if err := process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	f.untilReader(w) // it has received the first attempt, too
	for i := range f.ports {
		a, err := f.ask(i, http.MethodPost, "/graphs/code/queries/add_note", body, "Idempotency-Key", "during")
		var again client.MutationAnswer
		if err != nil || json.Unmarshal(a.body, &again) != nil || again.Commit == nil || again.Commit.GraphCommitID != written.Commit.GraphCommitID {
			t.Errorf("the write repeated on server %d: %v %d %s, want commit %s", i, err, a.status, a.body, fmt.Sprint(written.Commit))
		}
		if got := f.version(i); got != before+1 {
			t.Errorf("server %d has %d commits, want %d", i, got, before+1)
		}
	}
	for i := range f.ports {
		f.end(i).stop()
	}
}

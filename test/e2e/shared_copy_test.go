package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// TestSharedCopy copies the graph of two running servers to a folder while clients write to it, and copies
// the folder to a second graph. Each copy must contain every note that was acknowledged before it began. No
// write may fail.
func TestSharedCopy(t *testing.T) {
	storage := storageURL(t, *sharedOn)
	f := newFleet(t, 2, storage)
	f.start(0)
	f.start(1)
	f.writer()
	var mu sync.Mutex
	var acknowledged []string
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for c := range 3 {
		clients.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				slug := fmt.Sprintf("copied-%d-%d", c, n)
				if _, err := f.addNote(slug); err != nil {
					t.Errorf("note %s: %v", slug, err)
					return
				}
				mu.Lock()
				acknowledged = append(acknowledged, slug)
				mu.Unlock()
			}
		})
	}
	dir := t.TempDir()
	for n := range 3 {
		time.Sleep(500 * time.Millisecond)
		mu.Lock()
		before := len(acknowledged)
		mu.Unlock()
		folder, second := filepath.Join(dir, fmt.Sprint("copy-", n)), fmt.Sprint("second-", n)
		omnigraph(t, "copy", storage, folder, "--graph", "code")
		omnigraph(t, "copy", folder, storage, "--target-graph", second)
		for _, at := range [][]string{{"--store", folder}, {"--store", storage, "--graph", second}} {
			out, err := exec.Command(filepath.Join(bin, "omnigraph"), append([]string{"export"}, at...)...).Output()
			if err != nil {
				t.Fatalf("exporting the copy %s: %v", strings.Join(at, " "), err)
			}
			exported := string(out)
			mu.Lock()
			for _, slug := range acknowledged[:before] {
				if !strings.Contains(exported, `"`+slug+`"`) {
					t.Errorf("copy %d in %s lacks the note %s", n, strings.Join(at, " "), slug)
				}
			}
			mu.Unlock()
		}
		if before == 0 {
			t.Error("no write was acknowledged before the copy")
		}
	}
	close(stop)
	clients.Wait()
	f.end(0).stop()
	f.end(1).stop()
}

// TestDifferingServer starts a second server with another limit. It must not be ready, and must say why,
// until the first server has stopped.
func TestDifferingServer(t *testing.T) {
	f := newFleet(t, 2, storageURL(t, "folder"))
	replace(t, filepath.Join(f.dirs[1], "cluster.yaml"), "per_actor_inflight: 64", "per_actor_inflight: 64, branches: 900")
	f.start(0)
	f.start(1)
	ready := func(server int) (int, client.Readiness) {
		t.Helper()
		a, err := f.ask(server, http.MethodGet, "/readyz", "")
		if err != nil {
			t.Fatal(err)
		}
		var r client.Readiness
		if err := json.Unmarshal(a.body, &r); err != nil {
			t.Fatal(err)
		}
		return a.status, r
	}
	status, r := ready(1)
	if status != http.StatusServiceUnavailable || r.Detail == nil || !strings.Contains(r.Detail.Differs, "og-0") {
		t.Errorf("the server with another limit answers %d, %+v", status, r)
	}
	if status, r := ready(0); status != http.StatusOK || r.Detail == nil || r.Detail.Differs != "" {
		t.Errorf("the server that was started first answers %d, %+v", status, r)
	}
	f.end(0).stop()
	for deadline := clock.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if status, r = ready(1); status == http.StatusOK {
			break
		}
		if clock.Now().After(deadline) {
			t.Fatalf("20 seconds after the first server stopped: %d, %+v", status, r)
		}
	}
	f.end(1).stop()
}

package e2e

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/replica"
)

// role returns the role of server i for the graph.
func (f *fleet) role(i int) string {
	f.t.Helper()
	a, err := f.ask(i, http.MethodGet, "/readyz", "")
	var ready client.Readiness
	if err != nil || json.Unmarshal(a.body, &ready) != nil || ready.Detail == nil || len(ready.Detail.Graphs) != 1 {
		f.t.Fatalf("/readyz of server %d: %v %d %s", i, err, a.status, a.body)
	}
	return ready.Detail.Graphs[0].Role
}

// untilIdle waits until no server has the graph open, and the signs of the servers say so, and that they serve revision 1. It asks for the
// status only then, because that is a call of an open graph.
func (f *fleet) untilIdle() {
	f.t.Helper()
	closed := func() bool {
		for i := range f.ports {
			if f.role(i) != "idle" {
				return false
			}
		}
		return true
	}
	var out []byte
	for deadline := clock.Now().Add(30 * time.Second); clock.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if !closed() {
			continue
		}
		var err error
		var status struct{ Servers []replica.Sign }
		out, err = exec.Command(filepath.Join(bin, "omnigraph"), "cluster", "status", "--cluster", f.dirs[0], "--format", "json").Output()
		if err != nil || json.Unmarshal(out, &status) != nil || len(status.Servers) != len(f.ports) {
			f.t.Fatalf("cluster status: %v\n%s", err, out)
		}
		open := slices.ContainsFunc(status.Servers, func(s replica.Sign) bool {
			g, known := s.Graphs["code"]
			return known && g.Role != replica.Idle || s.Revision != 1
		})
		if !open && closed() {
			return
		}
	}
	f.t.Fatalf("30 seconds later the graph is not idle:\n%s", out)
}

// TestIdleServers lets two servers close an unused graph, again and again. Each time another server
// gets the first write. It must be acknowledged, and the other server must show it. Afterwards one of the
// two is the writer.
func TestIdleServers(t *testing.T) {
	f := newFleet(t, 2, storageURL(t, "folder"))
	for i, dir := range f.dirs {
		name := filepath.Join(dir, "cluster.yaml")
		config, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		write(t, name, strings.Replace(string(config), "lease:", "idle: 2s, lease:", 1))
		f.start(i)
	}
	for round, at := range []int{0, 1, 1, 0} {
		f.untilIdle()
		slug := "idle-" + string(rune('a'+round))
		a, err := f.ask(at, http.MethodPost, "/graphs/code/queries/add_note", `{"params":{"slug":"`+slug+`","symbol":"example.com/p.F1","text":"t"}}`)
		var m client.MutationAnswer
		if err != nil || a.status != http.StatusOK || json.Unmarshal(a.body, &m) != nil || m.Commit == nil {
			t.Fatalf("round %d: the first write on server %d: %v %d %s", round, at, err, a.status, a.body)
		}
		// A server that has not read the latest sign of the former writer forwards the write to it.
		writer := slices.IndexFunc([]string{f.role(0), f.role(1)}, func(role string) bool { return role == "writer" })
		if writer < 0 {
			t.Fatalf("round %d: after a write on server %d no server is the writer", round, at)
		}
		if err := f.sees(1-at, slug, m.Commit.GraphCommitID); err != nil {
			t.Errorf("round %d: %v", round, err)
		}
		if role := f.role(1 - writer); role != "reader" && role != "idle" {
			t.Errorf("round %d: after a write on server %d and a read on server %d, server %d is %s", round, at, 1-at, 1-writer, role)
		}
	}
	f.untilIdle()
	if _, err := f.ask(0, http.MethodGet, "/graphs/code/snapshot", ""); err != nil {
		t.Fatal(err)
	}
	a, err := f.ask(1, http.MethodGet, "/graphs/code/snapshot", "")
	if err != nil || a.status != http.StatusOK || a.header.Get("Omnigraph-Data-Age") == "" {
		t.Errorf("the first read on a reader: %v %d %v %s", err, a.status, a.header, a.body)
	}
	for i := range f.ports {
		f.end(i).stop()
	}
}

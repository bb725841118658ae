package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster/reconcile"
	enginefs "github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

const (
	itemSchema = "node Item {\n  slug: String @key\n  size: I32?\n}\n"
	itemLess   = "node Item {\n  slug: String @key\n  label: String?\n}\n"
)

// itemsIn returns a cluster.yaml. All of its graphs have the schema item.pg.
func itemsIn(graphs []string) string {
	text := "version: 1\nstorage: ./data\ngraphs:\n"
	for _, g := range graphs {
		text += "  " + g + ": { schema: item.pg }\n"
	}
	return text
}

// clusterState returns the state of the graphs in a folder after an apply, without ids and times.
// It also returns how many of the graphs have the schema `wanted`, and the number of the recorded
// revision.
func clusterState(t *testing.T, dir string, graphs []string, wanted string) (state string, done int, revision uint64) {
	t.Helper()
	r, err := reconcile.ReadRevision(enginefs.OS(), filepath.Join(dir, "data"))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if r != nil {
		revision = r.Number
		fmt.Fprintf(&b, "revision %d %s by %s\n", r.Number, r.Config, r.Actor)
	}
	for _, id := range graphs {
		g, err := embedded.Open(t.Context(), enginefs.OS(), filepath.Join(dir, "data", id), embedded.Options{})
		var missing *engine.NotFound
		if errors.As(err, &missing) {
			continue
		}
		if err != nil {
			t.Fatalf("graph %s: %v", id, err)
		}
		commits, err := g.Commits(t.Context(), "main", engine.CommitRange{})
		if err != nil {
			t.Fatal(err)
		}
		schema, err := g.Schema(t.Context(), engine.Target{})
		if err != nil {
			t.Fatal(err)
		}
		if schema.Source == wanted {
			done++
		}
		fmt.Fprintf(&b, "%s has %d commits and\n%s", id, len(commits), schema.Source)
		if _, err := g.Export(t.Context(), &b, engine.Target{}, engine.ExportOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(g.Verify(t.Context()), g.Close()); err != nil {
			t.Fatalf("graph %s: %v", id, err)
		}
	}
	return b.String(), done, revision
}

// TestApplyIsKilled kills omnigraph cluster apply at many points of its work. After each kill, the
// next apply with the same approvals must reach the same result as an apply that was not killed.
func TestApplyIsKilled(t *testing.T) {
	base := t.TempDir()
	var old, all []string
	for i := range 12 {
		id := fmt.Sprintf("g%02d", i)
		all = append(all, id)
		if i%2 == 0 {
			old = append(old, id)
		}
	}
	write(t, filepath.Join(base, "item.pg"), itemSchema)
	write(t, filepath.Join(base, "cluster.yaml"), itemsIn(old))
	write(t, filepath.Join(base, "items.ndjson"), `{"type":"Item","data":{"slug":"a","size":1}}`+"\n")
	omnigraph(t, "cluster", "apply", "--cluster", base)
	for _, id := range old {
		omnigraph(t, "load", "--store", filepath.Join(base, "data", id), "--data", filepath.Join(base, "items.ndjson"))
	}
	write(t, filepath.Join(base, "item.pg"), itemLess)
	write(t, filepath.Join(base, "cluster.yaml"), itemsIn(all))
	plan, err := exec.Command(filepath.Join(bin, "omnigraph"), "cluster", "plan", "--cluster", base, "--format", "csv").Output()
	if err != nil {
		t.Fatal(err)
	}
	approve := map[string]bool{}
	for line := range strings.Lines(string(plan)) {
		if _, digest, ok := strings.Cut(strings.TrimSpace(line), ",'--approve "); ok {
			approve[digest] = true
		}
	}
	if len(approve) != 1 {
		t.Fatalf("the same change of each graph is approved by %d digests:\n%s", len(approve), plan)
	}
	apply := func(dir string) *exec.Cmd {
		args := []string{"cluster", "apply", "--cluster", dir, "--as", "act-ci"}
		for digest := range approve {
			args = append(args, "--approve", digest)
		}
		return exec.Command(filepath.Join(bin, "omnigraph"), args...)
	}
	copied := func() string {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(base)); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	undisturbed := copied()
	if out, err := apply(undisturbed).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want, done, revision := clusterState(t, undisturbed, all, itemLess)
	if done != len(all) || revision != 2 || !strings.Contains(want, "has 3 commits") {
		t.Fatalf("undisturbed: %d graphs, revision %d:\n%s", done, revision, want)
	}

	// The test kills the apply when one of these files appears in the folder.
	var signs []string
	for i := 1; i < len(all); i += 2 {
		signs = append(signs, filepath.Join(all[i], "LOCK"), filepath.Join(all[i], "000000000001.log"), filepath.Join(all[i], "000000000001.manifest"))
	}
	signs = append(signs, "cluster.lock", reconcile.RevisionFile+".tmp")
	partial := map[int]bool{}
	for _, sign := range signs {
		dir := copied()
		if sign == "cluster.lock" { // the base has this file already
			if err := os.Remove(filepath.Join(dir, "data", sign)); err != nil {
				t.Fatal(err)
			}
		}
		cmd := apply(dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		waitFor(filepath.Join(dir, "data", sign), ended)
		_ = cmd.Process.Kill() // fails if the process has ended by itself
		<-ended
		_, done, revision := clusterState(t, dir, all, itemLess)
		if revision == 2 && done != len(all) {
			t.Errorf("killed at %s: the revision was recorded when %d graphs were done", sign, done)
		}
		if revision == 1 {
			partial[done] = true
		}
		if out, err := apply(dir).CombinedOutput(); err != nil {
			t.Fatalf("killed at %s, with %d graphs done: %v: %s", sign, done, err, out)
		}
		if got, _, _ := clusterState(t, dir, all, itemLess); got != want {
			t.Errorf("killed at %s, with %d graphs done; the next apply ends with\n%s\nwant\n%s", sign, done, got, want)
		}
	}
	if len(partial) < 3 {
		t.Errorf("the kills found only these numbers of finished graphs, too few to show anything: %v", partial)
	}
	t.Logf("numbers of finished graphs at the kills: %v", partial)
}

// waitFor waits until a file exists or the process has ended, at most 20 seconds. It leaves the
// result of the process in the channel `ended`.
func waitFor(name string, ended <-chan error) {
	for limit := clock.Now().Add(20 * time.Second); clock.Now().Before(limit); {
		if _, err := os.Stat(name); err == nil || len(ended) > 0 {
			return
		}
	}
}

// TestServedCluster applies, serves, checks that a plan and an apply reach the graphs of the running server, and
// serves again after a graph was lost.
func TestServedCluster(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "item.pg"), itemSchema)
	write(t, filepath.Join(dir, "cluster.yaml"), itemsIn([]string{"one", "two"}))
	cli := func(args ...string) (int, string) {
		cmd := exec.Command(filepath.Join(bin, "omnigraph"), append(args, "--cluster", dir)...)
		out, _ := cmd.CombinedOutput()
		return cmd.ProcessState.ExitCode(), string(out)
	}
	if code, out := cli("cluster", "apply"); code != 0 {
		t.Fatal(out)
	}
	p := startWith(t, dir, "OMNIGRAPH_LISTEN_ADDR=", "--unauthenticated")
	if got := p.status("GET", "/readyz", ""); got != http.StatusOK {
		t.Errorf("/readyz: %d", got)
	}
	write(t, filepath.Join(dir, "item.pg"), itemLess)
	if code, out := cli("cluster", "apply"); code != 4 || !strings.Contains(out, "--approve sha256:") {
		t.Errorf("apply while a server runs: %d %s", code, out)
	}
	if code, out := cli("cluster", "plan", "--format", "csv"); code != 0 || strings.Contains(out, "in_use") || !strings.Contains(out, "one,approve,'--approve sha256:") {
		t.Errorf("plan while a server runs: %d %s", code, out)
	}
	p.stop()
	if err := os.RemoveAll(filepath.Join(dir, "data", "two")); err != nil {
		t.Fatal(err)
	}
	p = startWith(t, dir, "OMNIGRAPH_LISTEN_ADDR=", "--unauthenticated")
	query := `{"query":"query q() { match { $i: Item } return { $i.size } }"}`
	got := []int{p.status("GET", "/readyz", ""), p.status("GET", "/healthz", ""), p.status("POST", "/graphs/one/query", query), p.status("POST", "/graphs/two/query", query)}
	if fmt.Sprint(got) != "[503 200 200 503]" {
		t.Errorf("with a graph lost: %v", got)
	}
	p.stop()
	if !strings.Contains(p.stderr.String(), "the graph is quarantined") || !strings.Contains(p.stderr.String(), "differs from the applied schema") {
		t.Errorf("the log says %s", p.stderr.String())
	}
	cmd := exec.Command(filepath.Join(bin, "omnigraph-server"), "--cluster", dir, "--bind", "127.0.0.1:0", "--unauthenticated", "--require-all")
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "graph two") {
		t.Errorf("with --require-all: %v %s", err, out)
	}
}

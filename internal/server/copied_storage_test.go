package server_test

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/server"
)

// TestCopiedStorage applies to a copy of shared storage while the servers of the original run. The copy has their addresses and their
// secret, but an apply to it must not ask them.
func TestCopiedStorage(t *testing.T) {
	f, bucket := newSharedFleet(t, "box")
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + ln.Addr().String()
	config, err := os.ReadFile(filepath.Join(f.dir, "cluster.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	f.write("cluster.yaml", string(config)+"peers: [\""+url+"\"]\n")
	f.write("server.policy.yaml", listing+"  - id: apply\n    allow: { actors: { ids: [act-ada] }, actions: [cluster_apply] }\n")
	f.apply()
	h, _ := f.mustOpen(func(o *server.Options) { o.Node, o.Advertise, o.Now = "og-1", url, nil })
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func(s *server.Server) { served <- s.Serve(ctx, ln) }(f.opened)
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	schema := func() string {
		t.Helper()
		status, answer := ask(h, "GET", "/graphs/box/schema", "ada", "")
		if status != 200 {
			t.Fatal(status, answer)
		}
		return answer
	}
	schema() // opens the graph

	copied := &fleet{t: t, dir: t.TempDir()}
	for to, from := range map[string]string{filepath.Join(copied.dir, "bucket"): bucket, filepath.Join(copied.dir, "config"): f.dir} {
		if err := copyServed(to, from); err != nil {
			t.Fatal(err)
		}
	}
	copied.dir = filepath.Join(copied.dir, "config")
	copied.write("cluster.yaml", strings.Replace(string(config), bucket, filepath.Join(filepath.Dir(copied.dir), "bucket"), 1))
	for _, one := range []*fleet{f, copied} {
		one.write("thing.pg", thingMore)
	}
	if _, err := f.applyAs(t.Context(), "act-bo"); err == nil || !strings.Contains(err.Error(), "cluster_apply") {
		t.Errorf("an apply that the server refuses: %v", err)
	}
	if out, err := copied.applyAs(t.Context(), "act-bo"); err != nil || len(out.Applied) != 1 {
		t.Errorf("an apply to the copy: %+v, %v", out, err)
	}
	if s := schema(); strings.Contains(s, "label") {
		t.Errorf("the apply to the copy changed the schema of the original: %s", s)
	}
	if out, err := f.applyHere(t.Context()); err != nil || len(out.Applied) != 1 {
		t.Errorf("an apply to the original: %+v, %v", out, err)
	}
	if s := schema(); !strings.Contains(s, "label") {
		t.Errorf("the apply to the original did not change its schema: %s", s)
	}
}

// copyServed copies the files of from, which a server may be writing to: a file that goes away meanwhile, as
// those of objects not yet put do, is left out.
func copyServed(to, from string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), data, 0o600)
	})
}

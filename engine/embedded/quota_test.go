package embedded

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// TestQuota fills a graph up to its quota of bytes, in a folder and in shared storage. Writes that add data
// must then be refused and leave nothing, also after the graph was opened again. Deletions and cleanups
// must go on, and make room for writes.
func TestQuota(t *testing.T) {
	opts := Options{Now: testClock, InlineBytes: 700, LogSize: 8192, quiet: true, sparse: 8, MaxBytes: 200_000, MaxBranches: 3}
	fsys, bucket := fs.NewMem(), &object.Memory{}
	for _, storage := range []struct {
		name string
		g    *Graph
		open func() (*Graph, error)
	}{
		{"folder", create(t, fsys, opts), func() (*Graph, error) { return Open(context.Background(), fsys, dir, opts) }},
		{"shared", createShared(t, placeIn(bucket), opts), func() (*Graph, error) { return OpenShared(context.Background(), placeIn(bucket), opts) }},
	} {
		t.Run(storage.name, func(t *testing.T) {
			ctx, g := t.Context(), storage.g
			var full *engine.TooLarge
			loads := 0
			for ; ; loads++ {
				err := errors.Join(loadText(g, engine.Merge, manyPeople(loads*200, 200)), checkpoint.do(g))
				if errors.As(err, &full) {
					break
				}
				if err != nil || loads > 100 {
					t.Fatalf("load %d: %v", loads, err)
				}
			}
			if full.Limit != opts.MaxBytes || full.Actual <= full.Limit || full.Hint == "" {
				t.Errorf("the refusal is %+v", full)
			}
			s := g.Stats()
			if s.MaxBytes != opts.MaxBytes || s.MaxBranches != 3 || s.QuotaRefusals != 1 {
				t.Errorf("the figures are %+v", s)
			}
			before := dumpAll(g)
			if err := g.Close(); err != nil {
				t.Fatal(err)
			}
			g, err := storage.open()
			if err != nil {
				t.Fatal(err)
			}
			defer func() { g.Close() }()
			if got := dumpAll(g); got != before {
				t.Fatalf("after opening again the graph is\n%s\nwant\n%s", got, before)
			}
			if err := loadText(g, engine.Merge, manyPeople(loads*200, 200)); !errors.As(err, &full) {
				t.Fatalf("a load after opening again: %v", err)
			}
			if got := dumpAll(g); got != before {
				t.Fatalf("after a refused load the graph is\n%s\nwant\n%s", got, before)
			}
			for n := range (loads - 1) * 200 {
				if err := mutation(deletePerson, on(""), fmt.Sprintf("p%06d", n)).do(g); err != nil {
					t.Fatalf("deletion %d: %v", n, err)
				}
			}
			if err := errors.Join(checkpoint.do(g), cleaning(engine.CleanupOptions{KeepCommits: 1}).do(g), checkpoint.do(g)); err != nil {
				t.Fatal(err)
			}
			if err := insert("", "zoe", 1).do(g); err != nil {
				t.Errorf("a write after the cleanup: %v; %d bytes are stored", err, g.Stats().SegmentBytes+g.Stats().LogBytes)
			}
			refusals := g.Stats().QuotaRefusals
			if err := errors.Join(forking("one", "").do(g), forking("two", "").do(g)); err != nil {
				t.Fatal(err)
			}
			if err := forking("three", "").do(g); !errors.As(err, &full) || g.Stats().QuotaRefusals != refusals+1 {
				t.Errorf("a branch too many: %v, %d refusals after %d", err, g.Stats().QuotaRefusals, refusals)
			}
			if err := g.Verify(ctx); err != nil {
				t.Error(err)
			}
		})
	}
}

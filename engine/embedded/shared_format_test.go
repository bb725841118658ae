package embedded

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// TestSharedFormat1 opens a graph in shared storage that an earlier version of the program wrote: in
// format 1 of package sharedlog and format 5 of the segments and manifests. It writes to the graph
// and compares it with a follower. With -update, the test makes the graph, but only if the folder is
// missing, because the graph stands for those of users.
func TestSharedFormat1(t *testing.T) {
	stored := filepath.Join("testdata", "shared1")
	if _, err := os.Stat(stored); golden.Updating() && errors.Is(err, os.ErrNotExist) {
		makeShared1(t, stored)
	}
	home := filepath.Join(t.TempDir(), "bucket")
	must(t, os.CopyFS(home, os.DirFS(stored)))
	bucket, err := object.NewFolder(fs.OS(), home)
	must(t, err)
	g := openShared(t, placeIn(bucket), fixtureOptions())
	must(t, g.Verify(t.Context()))
	whole := script{past: true}
	golden.Check(t, filepath.Join("testdata", "shared1.golden"), []byte(whole.dump(g)+"\n"))
	f := follow(t, placeIn(bucket), fixtureOptions())
	for _, d := range []deed{insert("side", "zoe", 1), checkpoint, merging("side", "main", engine.MergeOptions{}), insert("", "yan", 2)} {
		must(t, d.do(g))
		if got, want := whole.dump(caughtUp(t, f)), whole.dump(g); got != want {
			t.Errorf("after %s the follower has\n%s\nwant\n%s", d.call, got, want)
		}
	}
}

// makeShared1 makes the graph of TestSharedFormat1. It has a takeover, checkpoints, records in
// segments and in the log, and a branch. It is copied before it is closed, because Close makes a
// checkpoint, and some records should follow the last checkpoint.
func makeShared1(t *testing.T, home string) {
	t.Helper()
	work := filepath.Join(t.TempDir(), "bucket")
	bucket, err := object.NewFolder(fs.OS(), work)
	must(t, err)
	g := createShared(t, placeIn(bucket), fixtureOptions())
	first := []deed{
		mutation(insertPerson, engine.WriteOptions{Actor: "tester", IdempotencyKey: "first"}, "ann", 30),
		loading("", engine.Merge, manyPeople(0, 40)), // stored as segments
		checkpoint,
		mutation(connect, on(""), "ann", "p000001", "k1"),
	}
	then := []deed{
		forking("side", ""),
		insert("side", "bob", 31),
		checkpoint,
		loading("side", engine.Merge, manyPeople(20, 30)),
		mutation(deletePerson, on(""), "p000010"),
	}
	for _, d := range first {
		must(t, d.do(g))
	}
	g = openShared(t, placeIn(bucket), fixtureOptions())
	for _, d := range then {
		must(t, d.do(g))
	}
	must(t, os.CopyFS(home, os.DirFS(work)))
}

package embedded

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// TestSharedRequests counts the requests that each kind of work sends to the storage, and compares
// the counts with the table in docs/scale.md. Requests cost money and, in a remote storage, time.
func TestSharedRequests(t *testing.T) {
	ctx := t.Context()
	memory := &object.Memory{}
	bucket, readers := counted(memory), counted(memory)
	opts := Options{Now: testClock, quiet: true, indexed: 1, sparse: 8}
	var table strings.Builder
	row := func(what string, from *countedBucket, do func() error) {
		t.Helper()
		from.take()
		if err := do(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		fmt.Fprintf(&table, "| %s | %s |\n", what, countsText(from.take()))
	}
	var g *Graph
	var f *Follower
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var gate func() // if set, called before the next creation of a log object
	at, cold := placeIn(hookedBucket{bucket, func(r request, send func() error) error {
		if wait := gate; r == (request{"create", "log"}) && wait != nil {
			gate = nil
			wait()
		}
		return send()
	}}), placeIn(readers)
	at.Retention, cold.Retention = -1, -1
	row("create a graph", bucket, func() (err error) {
		g, err = CreateShared(ctx, at, "// people", people(), opts)
		return err
	})
	defer func() { g.Close() }()
	row("commit", bucket, func() error { return insert("", "ann", 30).do(g) })
	row("commit that changes nothing", bucket, func() error { return mutation(deletePerson, on(""), "nobody").do(g) })
	row("16 commits, 15 of them while the first is in flight", bucket, func() error {
		gate = func() { waitForRecords(g, 16) }
		return together(g, 16)
	})
	row("create a branch", bucket, func() error { return forking("side", "").do(g) })
	row("commit on the branch", bucket, func() error { return insert("side", "bob", 31).do(g) })
	row("merge the branch", bucket, func() error { return merging("side", "main", engine.MergeOptions{}).do(g) })
	row("delete the branch", bucket, func() error { return dropping("side").do(g) })
	row("read on the writer", bucket, func() error { _, err := g.Snapshot(ctx, engine.Target{}); return err })
	row("load of 2,000 people with 1,999 edges", bucket, func() error { return loading("", engine.Merge, manyPeople(0, 2000)).do(g) })
	row("checkpoint", bucket, func() error { return g.checkpoints.make(ctx) })
	row("checkpoint without a change", bucket, func() error { return g.checkpoints.make(ctx) })
	collect := func() error { _, err := g.Collect(ctx); return err }
	row("delete what the checkpoint does not need", bucket, collect)
	row("look for objects to delete when there are none", bucket, collect)
	must(insert("", "cat", 32).do(g))
	row("open for reading with an empty cache", readers, func() (err error) {
		f, err = Follow(ctx, cold, opts)
		return err
	})
	defer func() { f.Close() }()
	row("read on a follower", readers, func() error { _, err := f.Snapshot(ctx, engine.Target{}); return err })
	row("poll of an idle log", readers, func() error { _, err := f.store.Next(ctx); return err })
	must(insert("", "dan", 33).do(g))
	row("poll that finds a commit", readers, func() error { _, err := f.store.Next(ctx); return err })
	row("wait for the end of the log", readers, func() error { return f.CatchUp(ctx) })
	must(f.Close())
	row("open for reading with the cache of before", readers, func() (err error) {
		f, err = Follow(ctx, cold, opts)
		return err
	})
	row("take over", readers, func() (err error) {
		former := g
		if g, err = f.TakeOver(ctx); err != nil {
			return err
		}
		return errors.Join(former.Close())
	})
	row("first commit after that", readers, func() error { return insert("", "eve", 34).do(g) })
	row("200 commits, one after another", readers, func() error {
		for i := range 200 {
			if err := insert("", fmt.Sprint("r", i), i).do(g); err != nil {
				return err
			}
		}
		for readers.count(request{"upload", "rollup"}) < 3 { // in the background
			time.Sleep(time.Millisecond)
		}
		return nil
	})
	last := counted(memory)
	at = placeIn(last)
	at.Cache += "-last"
	row("open for reading with an empty cache after these commits", last, func() (err error) {
		f, err = Follow(ctx, at, opts)
		return err
	})
	for what, counts := range minuteOf(t, memory, opts) {
		fmt.Fprintf(&table, "| %s | %s |\n", what, counts)
	}
	const page = "../../docs/scale.md"
	text, err := os.ReadFile(page)
	must(err)
	golden.Check(t, page, withRequests(t, text, table.String()))
}

// minuteOf counts the requests of a server that reads a graph, in a minute without writes:
// first while the graph is open, and then while it is closed because it is idle.
func minuteOf(t *testing.T, b object.Bucket, opts Options) iter.Seq2[string, string] {
	return func(yield func(what, counts string) bool) {
		synctest.Test(t, func(t *testing.T) {
			from := counted(b)
			at := placeIn(from)
			at.Poll = 0
			f, err := Follow(t.Context(), at, opts)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute + DefaultPoll/2) // not at the time of a poll
			from.take()
			time.Sleep(time.Minute)
			yield("a minute of an open graph on a reader, without writes", countsText(from.take()))
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			from.take()
			time.Sleep(time.Minute)
			yield("a minute of an idle graph", countsText(from.take()))
		})
	}
}

// withRequests returns the text of the guide with other rows in its table of requests.
func withRequests(t *testing.T, guide []byte, rows string) []byte {
	t.Helper()
	const header = "| Work | Requests |\n|---|---|\n"
	before, rest, ok := strings.Cut(string(guide), header)
	if !ok {
		t.Fatalf("docs/scale.md has no table that begins with %q", header)
	}
	for strings.HasPrefix(rest, "|") {
		_, rest, _ = strings.Cut(rest, "\n")
	}
	return []byte(before + header + rows + rest)
}

// waitForRecords waits until n records have their place in the log and are not durable yet.
func waitForRecords(g *Graph, n uint64) {
	for waiting := uint64(0); waiting < n; time.Sleep(time.Millisecond) {
		g.branches.mu.Lock()
		waiting = g.branches.lsn - g.store.Durable()
		g.branches.mu.Unlock()
	}
}

// together makes n commits at the same time.
func together(g *Graph, n int) error {
	errs := make(chan error, n)
	var writers sync.WaitGroup
	for i := range n {
		writers.Go(func() { errs <- insert("", fmt.Sprint("w", i), i).do(g) })
	}
	writers.Wait()
	close(errs)
	var all []error
	for err := range errs {
		all = append(all, err)
	}
	return errors.Join(all...)
}

// countsText lists the requests of one kind after another.
func countsText(counts map[request]int) string {
	var all []string
	for r, n := range counts {
		all = append(all, fmt.Sprintf("%d %s %s", n, r.method, r.kind))
	}
	slices.Sort(all)
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, ", ")
}

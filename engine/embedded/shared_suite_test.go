package embedded_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/engine/enginetest"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/slow"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
	"github.com/omnigraph-go/omnigraph/internal/storage/object/postgres"
	"github.com/omnigraph-go/omnigraph/internal/storage/object/postgres/postgrestest"
	"github.com/omnigraph-go/omnigraph/internal/storage/object/s3/s3test"
)

// TestConformanceShared runs the suite on two servers that share a bucket: one writes, and the
// other one follows and answers all reads.
func TestConformanceShared(t *testing.T) {
	slow.Test(t)
	enginetest.Run(t, openTwoServers)
}

var storages = flag.Bool("storages", false, "run the suite on each kind of shared storage that is installed")

// A storageKind is a kind of shared storage outside of this process.
type storageKind struct {
	name string
	open func(t *testing.T) object.Bucket // skips the test if the program of the storage is not installed
}

// installed lists the kinds of shared storage. Build tags add others.
var installed = []storageKind{
	{"folder", func(t *testing.T) object.Bucket {
		b, err := object.NewFolder(fs.OS(), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		return b
	}},
	{"postgres", func(t *testing.T) object.Bucket {
		b, err := postgres.Open(t.Context(), postgrestest.New(t).URL("schema=graphs"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(b.Close)
		return b
	}},
	{"s3", func(t *testing.T) object.Bucket { return s3test.Open(t, s3test.Start(t)) }},
}

// onEachStorage runs a test on each kind of shared storage that is installed. The opener makes two servers for each graph.
func onEachStorage(t *testing.T, run func(t *testing.T, open enginetest.Opener)) {
	if !*storages {
		t.Skip("only with -storages, as `make test-storage` runs it")
	}
	for _, kind := range installed {
		t.Run(kind.name, func(t *testing.T) {
			bucket := kind.open(t)
			var graphs atomic.Int64
			run(t, func(t testing.TB, source string, schema *catalog.Schema) engine.Graph {
				return openServersIn(t, bucket, fmt.Sprintf("graph/%d/", graphs.Add(1)), source, schema)
			})
		})
	}
}

// TestSharedStorage runs the suite on each kind of shared storage that is installed.
func TestSharedStorage(t *testing.T) {
	onEachStorage(t, func(t *testing.T, open enginetest.Opener) { enginetest.Run(t, open) })
}

// TestRandomStorage compares random statements with the model on each kind of shared storage that is installed. The flag
// -enginetest.cases is the number of statements for each kind.
func TestRandomStorage(t *testing.T) {
	seeds := uint64(3)
	onEachStorage(t, func(t *testing.T, open enginetest.Opener) {
		seeds++
		o := enginetest.FromFlags()
		o.Seed += seeds * reopenedSeeds
		enginetest.RunRandom(t, open, o)
	})
}

// TestRandomShared compares the answers of the server that follows with those of the model.
func TestRandomShared(t *testing.T) {
	o := half()
	o.Seed += 3 * reopenedSeeds
	enginetest.RunRandom(t, openTwoServers, o)
}

// twoServers is a graph in shared storage and two servers: the writer, which makes all writes, and
// a follower, which answers all reads after it has caught up. After every fourth write the follower
// takes over, and a new server follows it. Most new servers begin with the cache of a former writer.
type twoServers struct {
	t     testing.TB
	place embedded.SharedPlace
	opts  embedded.Options

	writes int
	caches int // number of caches made so far
	serialized
	follower *embedded.Follower // the same as Graph
}

func openTwoServers(t testing.TB, source string, schema *catalog.Schema) engine.Graph {
	t.Helper()
	return openServersIn(t, &object.Memory{}, "graph/1/", source, schema)
}

// openServersIn makes a graph below a prefix in a bucket, and its two servers.
func openServersIn(t testing.TB, b object.Bucket, prefix, source string, schema *catalog.Schema) engine.Graph {
	t.Helper()
	fsys := fs.NewMem()
	fsys.PoisonMappings()
	s := &twoServers{t: t, opts: conformanceOptions, place: embedded.SharedPlace{Bucket: b, Prefix: prefix, FS: fsys, Poll: -1}}
	if _, ok := b.(*object.Memory); ok { // on storage outside of this process it takes several times as long
		s.place = s.place.Pieces()
	}
	s.wrote = s.exchange
	s.place.Retention, s.place.Needed = -1, s.needed
	s.opts.CheckpointBytes = 20_000
	s.opts.Failed = func(err error) {
		var lost *engine.Unavailable
		if !errors.As(err, &lost) { // the former writer fails so if it makes a checkpoint
			t.Errorf("in the background: %v", err)
		}
	}
	var err error
	if s.writer, err = embedded.CreateShared(context.Background(), s.at(0), source, schema, s.opts); err != nil {
		t.Fatalf("create: %v", err)
	}
	s.follow()
	return s
}

// at returns the place of a server with the cache of the given number.
func (s *twoServers) at(cache int) embedded.SharedPlace {
	p := s.place
	p.Cache = fmt.Sprintf("cache-%d", cache)
	return p.Reloading(uint64(10 * (cache % 2)))
}

// follow opens the follower.
func (s *twoServers) follow() {
	s.t.Helper()
	s.caches++
	f, err := embedded.Follow(context.Background(), s.at(s.caches), s.opts)
	if err != nil {
		s.t.Fatalf("follow: %v", err)
	}
	s.Graph, s.follower = f, f
}

// needed returns what the two servers need.
func (s *twoServers) needed(context.Context) (uint64, error) {
	needs := s.writer.(*embedded.Graph).Needs()
	if other := s.follower.Needs(); other != 0 && (needs == 0 || other < needs) {
		needs = other
	}
	return needs, nil
}

// exchange lets the follower catch up, and after every fourth write makes it the writer. After
// the other writes, the writer deletes what no server needs. REQUIRES: s.mu is locked.
func (s *twoServers) exchange() {
	s.t.Helper()
	ctx := context.Background()
	if err := s.follower.CatchUp(ctx); err != nil {
		s.t.Fatalf("catch up: %v", err)
	}
	if s.writes++; s.writes%4 != 0 {
		if _, err := s.writer.(*embedded.Graph).Collect(ctx); err != nil {
			s.t.Errorf("collect: %v", err)
		}
		return
	}
	former := s.writer
	var err error
	if s.writer, err = s.follower.TakeOver(ctx); err != nil {
		s.t.Fatalf("take over: %v", err)
	}
	var lost *engine.Unavailable
	if err := former.Close(); err != nil && !errors.As(err, &lost) {
		s.t.Fatalf("close the former writer: %v", err)
	}
	if s.writes%8 == 0 {
		s.caches -= 2 // the next follower uses the cache of the former writer
		runtime.GC()
		if err := s.writer.Verify(ctx); err != nil {
			s.t.Errorf("verify: %v", err)
		}
	}
	s.follow()
}

func (s *twoServers) Failure() error      { return s.writer.Failure() }
func (s *twoServers) MustReopen() bool    { return s.writer.MustReopen() }
func (s *twoServers) Stats() engine.Stats { return s.writer.Stats() }

// Close closes both servers. In a folder it deletes the objects of the graph, because the time of a List grows there with the
// number of all objects.
func (s *twoServers) Close() error {
	err := errors.Join(s.follower.Close(), s.writer.Close())
	if _, ok := s.place.Bucket.(*object.Folder); !ok {
		return err
	}
	ctx := context.Background()
	for {
		entries, listed := s.place.Bucket.List(ctx, s.place.Prefix, "", 1000)
		if listed != nil || len(entries) == 0 {
			return errors.Join(err, listed)
		}
		for _, entry := range entries {
			err = errors.Join(err, s.place.Bucket.Delete(ctx, entry.Name))
		}
	}
}

package replica

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	schema = "node Person {\n  name: String @key\n}\n"
	add    = "query add($name: String) {\n  insert Person { name: $name }\n}\n"

	// lease is the lease of the servers in these tests.
	lease = time.Second
)

// cable is the connection of one server to the storage. While it is cut, no request is answered.
type cable struct {
	object.Bucket
	cut atomic.Bool
}

func (c *cable) broken() error {
	if c.cut.Load() {
		return object.ErrBusy
	}
	return nil
}

func (c *cable) Create(ctx context.Context, name string, data []byte) error {
	if err := c.broken(); err != nil {
		return err
	}
	return c.Bucket.Create(ctx, name, data)
}

func (c *cable) Read(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	if err := c.broken(); err != nil {
		return nil, err
	}
	return c.Bucket.Read(ctx, name, offset, length)
}

func (c *cable) List(ctx context.Context, prefix, after string, limit int) ([]object.Entry, error) {
	if err := c.broken(); err != nil {
		return nil, err
	}
	return c.Bucket.List(ctx, prefix, after, limit)
}

func (c *cable) Put(ctx context.Context, name string, data []byte) error {
	if err := c.broken(); err != nil {
		return err
	}
	return c.Bucket.Put(ctx, name, data)
}

// server is one server of a test.
type server struct {
	*Graph
	cable *cable
	node  *Node
}

// people returns a bucket with an empty graph, and the mutation that adds a person.
func people(t *testing.T) (object.Bucket, *plan.Query) {
	t.Helper()
	c, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: schema})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	queries, faults := gq.CompileQueries(c, gq.Source{Name: "add.gq", Text: add})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	b := &object.Memory{}
	s := command(t, b)
	g, err := s.Create(t.Context(), "people", schema, c, engine.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var exists *engine.Conflict
	if _, err := command(t, b).Create(t.Context(), "people", schema, c, engine.OpenOptions{}); !errors.As(err, &exists) {
		t.Errorf("making the graph again: %v", err)
	}
	if err := errors.Join(g.Close(), s.Node.Leave(t.Context())); err != nil {
		t.Fatal(err)
	}
	if ids, err := s.Graphs(t.Context()); err != nil || len(ids) != 1 || ids[0] != "people" {
		t.Errorf("the storage has the graphs %v, %v", ids, err)
	}
	return b, queries[0].Plan
}

// command returns the storage of a command.
func command(t *testing.T, b object.Bucket) *Storage {
	t.Helper()
	return &Storage{Bucket: b, Cache: t.TempDir(), Command: true, Node: NewNode(NodeOptions{Bucket: b, ID: "command", Lease: lease})}
}

// serve starts a server.
func serve(t *testing.T, b object.Bucket, id string, maxStaleness time.Duration) *server {
	t.Helper()
	return serveFor(t, b, id, lease, maxStaleness)
}

// serveFor starts a server with another lease.
func serveFor(t *testing.T, b object.Bucket, id string, lease, maxStaleness time.Duration) *server {
	t.Helper()
	return serveLeased(t, b, id, lease, func(s *Storage) { s.MaxStaleness = maxStaleness })
}

// serveWith starts a server with options that the function `set` sets.
func serveWith(t *testing.T, b object.Bucket, id string, set func(*Storage)) *server {
	t.Helper()
	return serveLeased(t, b, id, lease, set)
}

// serveLeased starts a server with a lease and other options.
func serveLeased(t *testing.T, b object.Bucket, id string, lease time.Duration, set func(*Storage)) *server {
	t.Helper()
	return serveNode(t, b, NodeOptions{ID: id, Lease: lease}, set)
}

// serveNode starts a server whose node has the given options, with a bucket and an address of its own.
func serveNode(t *testing.T, b object.Bucket, o NodeOptions, set func(*Storage)) *server {
	t.Helper()
	s := &server{cable: &cable{Bucket: b}}
	o.Bucket, o.Address = s.cable, "http://"+o.ID
	s.node = NewNode(o)
	storage := &Storage{Bucket: s.cable, Cache: t.TempDir(), Node: s.node}
	set(storage)
	if err := s.node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	g, err := storage.Open(t.Context(), "people", engine.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s.Graph = g.(*Graph)
	t.Cleanup(func() { s.stop(t) })
	return s
}

// stop ends a server in an orderly way.
func (s *server) stop(t *testing.T) {
	t.Helper()
	s.cable.cut.Store(false)
	if err := errors.Join(s.node.Leave(context.Background()), s.Close()); err != nil {
		t.Error(err)
	}
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := clock.Now().Add(20 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
		if clock.Now().After(deadline) {
			t.Fatalf("20 seconds later: not %s", what)
		}
	}
}

// insert adds a person.
func insert(g engine.Graph, add *plan.Query, name string) error {
	_, err := g.Mutate(context.Background(), add, engine.Args{value.OfString(name)}, engine.WriteOptions{})
	return err
}

// count returns the number of persons in the latest state.
func (s *server) count(t *testing.T) int64 {
	t.Helper()
	if err := s.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	snap, err := s.Snapshot(t.Context(), engine.Target{})
	if err != nil {
		t.Fatal(err)
	}
	return snap.Nodes[0].Count
}

// TestRoles checks which server writes a graph: first the server that was started first; when it
// stops, another server; then the server that an operator names; and when that server loses the
// storage, another one.
func TestRoles(t *testing.T) {
	b, add := people(t)
	one := serve(t, b, "one", 0)
	if s := one.State(); s.Role != Writer {
		t.Fatalf("the first server is %+v", s)
	}
	two, three := serve(t, b, "two", 0), serve(t, b, "three", 0)
	if err := insert(one, add, "a"); err != nil {
		t.Fatal(err)
	}
	var refused *engine.Unavailable
	if err := insert(two, add, "b"); !errors.As(err, &refused) || refused.RetryAfter == 0 {
		t.Errorf("a write on a reader: %v", err)
	}
	eventually(t, "known to the reader", func() bool { return two.State().Writer.Node == "one" })
	if s := two.State(); s.Writer.Address != "http://one" || s.Epoch != one.State().Epoch || two.Failure() != nil {
		t.Errorf("the reader is %+v, %v", s, two.Failure())
	}

	began := clock.Now()
	one.stop(t)
	eventually(t, "taken over", func() bool { return two.State().Role == Writer || three.State().Role == Writer })
	if d := clock.Now().Sub(began); d > lease {
		t.Errorf("the handover took %v, longer than a lease", d)
	}
	writer, reader := two, three
	if three.State().Role == Writer {
		writer, reader = three, two
	}
	if err := insert(writer, add, "c"); err != nil {
		t.Fatal(err)
	}

	if err := Move(t.Context(), b, reader.node.ID(), Wish{Graph: "people", Epoch: writer.State().Epoch}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "moved", func() bool { return reader.State().Role == Writer && writer.State().Role == Reader })
	writer, reader = reader, writer
	eventually(t, "granted", func() bool {
		_, err := b.Read(t.Context(), movePrefix+writer.node.ID(), 0, object.Whole)
		return errors.Is(err, object.ErrNotFound)
	})
	if err := insert(writer, add, "d"); err != nil {
		t.Fatal(err)
	}

	eventually(t, "sure of the latest commit", func() bool { return !writer.State().MayLag })
	if s := reader.State(); !s.MayLag {
		t.Errorf("a reader says that it knows the latest commit: %+v", s)
	}
	writer.cable.cut.Store(true)
	eventually(t, "taken over from the server without storage", func() bool { return reader.State().Role == Writer })
	if s := writer.State(); s.Role != Writer || !s.MayLag || s.Lag == 0 {
		t.Errorf("a writer without storage does not say that its data may be old: %+v", s)
	}
	if err := insert(writer, add, "lost"); err == nil {
		t.Error("a server without storage acknowledges a write")
	}
	if err := insert(reader, add, "e"); err != nil {
		t.Fatal(err)
	}
	writer.cable.cut.Store(false)
	eventually(t, "a reader again", func() bool { return writer.State().Role == Reader })
	for _, s := range []*server{two, three} {
		if n := s.count(t); n != 4 {
			t.Errorf("server %s has %d persons, want 4", s.node.ID(), n)
		}
	}
}

// TestAwaitWriter waits for the next writer on a reader. It must not wait while the writer is alive, and must
// find the next one when the writer has said that it stops.
func TestAwaitWriter(t *testing.T) {
	b, _ := people(t)
	one, two := serve(t, b, "one", 0), serve(t, b, "two", 0)
	eventually(t, "known to the reader", func() bool { return two.State().Writer.Node == "one" })
	was := two.State().Writer
	began := clock.Now()
	if two.AwaitWriter(t.Context(), was) || clock.Since(began) > changeTime/2 {
		t.Errorf("a reader waited %v for another writer than one that is alive", clock.Since(began))
	}
	one.node.AnnounceStop(t.Context())
	if s, err := ReadSign(t.Context(), b, "one"); err != nil || !s.Stopping {
		t.Errorf("the sign of a server that stops is %+v, %v", s, err)
	}
	found := make(chan bool, 1)
	go func() { found <- two.AwaitWriter(context.Background(), was) }()
	select {
	case <-found:
		t.Error("the reader did not wait for a writer that stops")
	case <-time.After(lease / 4):
	}
	one.stop(t)
	if !<-found || two.State().Role != Writer && two.State().Writer.Epoch <= was.Epoch {
		t.Errorf("the reader did not find the next writer: %+v", two.State())
	}
}

// TestWishOfWriter asks the writer of a graph to become its writer. The wish must not stay, because it
// would block each later one.
func TestWishOfWriter(t *testing.T) {
	b, _ := people(t)
	s := serve(t, b, "one", 0)
	epoch := s.State().Epoch
	for range 2 {
		if err := Move(t.Context(), b, "one", Wish{Graph: "people", Epoch: epoch}); err != nil {
			t.Fatal(err)
		}
		eventually(t, "removed", func() bool {
			_, err := b.Read(t.Context(), movePrefix+"one", 0, object.Whole)
			return errors.Is(err, object.ErrNotFound)
		})
	}
	if now := s.State(); now.Role != Writer || now.Epoch != epoch {
		t.Errorf("the writer of epoch %d is now %+v", epoch, now)
	}
}

// TestEarlyWish asks a reader to replace a writer that the reader does not know yet. The wish must
// wait until the reader knows that writer.
func TestEarlyWish(t *testing.T) {
	b, add := people(t)
	one, two := serve(t, b, "one", 0), serve(t, b, "two", 0)
	if err := Move(t.Context(), b, "two", Wish{Graph: "people", Epoch: one.State().Epoch + 1}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(lease / 2)
	c := command(t, b)
	g, err := c.Open(t.Context(), "people", engine.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := insert(g, add, "a"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "moved", func() bool { return two.State().Role == Writer })
	if err := errors.Join(g.Close(), c.Node.Leave(t.Context())); err != nil {
		t.Fatal(err)
	}
	if n := two.count(t); n != 1 {
		t.Errorf("%d persons, want 1", n)
	}
}

// TestCommand lets a command write while a server runs. The server must be a reader meanwhile, and
// the writer again at once when the command has ended.
func TestCommand(t *testing.T) {
	b, add := people(t)
	s := serve(t, b, "one", 0)
	c := command(t, b)
	g, err := c.Open(t.Context(), "people", engine.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := insert(s, add, "before"); err != nil {
		t.Errorf("a command that has not written disturbs the writer: %v", err)
	}
	if err := insert(g, add, "a"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a reader", func() bool { return s.State().Role == Reader })
	time.Sleep(2 * lease)
	if err := insert(g, add, "b"); err != nil {
		t.Errorf("a server took the graph from a command that runs: %v", err)
	}
	if err := errors.Join(g.Close(), c.Node.Leave(t.Context())); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the writer again", func() bool { return s.State().Role == Writer })
	if n := s.count(t); n != 3 {
		t.Errorf("%d persons, want 3", n)
	}
}

// TestCommandRenews counts the signs of life of a command. Servers with a lease of one second must not
// take a graph from it.
func TestCommandRenews(t *testing.T) {
	s, leave, err := OpenForCommand(t.Context(), "file://"+t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	began := clock.Now()
	eventually(t, "at the third sign", func() bool {
		sign, err := ReadSign(t.Context(), s.Bucket, s.Node.ID())
		return err == nil && sign.Beat >= 3
	})
	if d := clock.Now().Sub(began); d > 2*time.Second {
		t.Errorf("two more signs took %v", d)
	}
	if err := leave(); err != nil {
		t.Error(err)
	}
}

// TestStaleness cuts a reader off from the storage. It must answer reads until max_staleness, and
// then refuse them until the storage is back.
func TestStaleness(t *testing.T) {
	b, _ := people(t)
	serve(t, b, "one", 0)
	const limit = 2 * time.Second
	s := serve(t, b, "two", limit)
	s.cable.cut.Store(true)
	began := clock.Now()
	read := func() error {
		_, err := s.Snapshot(t.Context(), engine.Target{})
		return err
	}
	if err := read(); err != nil {
		t.Errorf("a reader that has just lost the storage: %v", err)
	}
	eventually(t, "refused", func() bool { return read() != nil })
	if d := clock.Now().Sub(began); d < limit/2 {
		t.Errorf("reads were refused after %v, before the limit of %v", d, limit)
	}
	var old *engine.Unavailable
	if err := read(); !errors.As(err, &old) || s.Failure() == nil || s.State().Lag < limit {
		t.Errorf("a read of data that is too old: %v; failure %v, state %+v", err, s.Failure(), s.State())
	}
	s.cable.cut.Store(false)
	eventually(t, "answered again", func() bool { return read() == nil })
}

// TestLongLease reads from a writer with a lease far longer than max_staleness. No read may be
// refused while the storage answers.
func TestLongLease(t *testing.T) {
	b, _ := people(t)
	const limit = 1500 * time.Millisecond
	s := serveFor(t, b, "one", 6*limit, limit)
	if s.State().Role != Writer {
		t.Fatalf("the server is %+v", s.State())
	}
	for end := clock.Now().Add(2 * limit); clock.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if _, err := s.Snapshot(t.Context(), engine.Target{}); err != nil {
			t.Fatalf("a read on a healthy writer: %v", err)
		}
	}
}

// TestOutage cuts the writer off from the storage while it writes. It must answer reads until the
// storage is back, and then become the writer again.
func TestOutage(t *testing.T) {
	b, add := people(t)
	s := serve(t, b, "one", time.Hour)
	if err := insert(s, add, "a"); err != nil {
		t.Fatal(err)
	}
	w := s.current.Load().written
	s.cable.cut.Store(true)
	if err := insert(s, add, "lost"); err == nil {
		t.Error("a server without storage acknowledges a write")
	}
	if !w.MustReopen() {
		t.Error("the failed write did not end the log of the writer")
	}
	for end := clock.Now().Add(lease); clock.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if _, err := s.Snapshot(t.Context(), engine.Target{}); err != nil {
			t.Fatalf("a read during the outage: %v", err)
		}
	}
	s.cable.cut.Store(false)
	eventually(t, "accepting writes again", func() bool { return insert(s, add, "b") == nil })
	if n := s.count(t); n != 2 {
		t.Errorf("%d persons, want 2", n)
	}
}

// TestRestart cuts a server off, as if it had been killed, and starts it again under the same name.
// The new process must not wait for the lease of the old one.
func TestRestart(t *testing.T) {
	b, add := people(t)
	one := serve(t, b, "one", 0)
	one.cable.cut.Store(true) // the other servers cannot tell it from a killed server
	began := clock.Now()
	again := serve(t, b, "one", 0)
	if s := again.State(); s.Role != Writer {
		t.Errorf("%v after its restart the server is %+v", clock.Now().Sub(began), s)
	}
	if err := insert(again, add, "a"); err != nil {
		t.Error(err)
	}
}

// TestTwin runs two servers with the same name. At least one of them must report it.
func TestTwin(t *testing.T) {
	b := &object.Memory{}
	var reported atomic.Int32
	for range 2 {
		n := NewNode(NodeOptions{Bucket: b, ID: "same", Lease: 300 * time.Millisecond, Twin: func() { reported.Add(1) }})
		if err := n.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = n.Leave(context.Background()) })
	}
	eventually(t, "reported", func() bool { return reported.Load() > 0 })
}

// TestWriting lets a command replace the writer. Before the former writer notices this, it refuses to delete a
// branch that the command has made: its data is old. It must then not confirm that it is the writer.
func TestWriting(t *testing.T) {
	b, _ := people(t)
	s := serveFor(t, b, "one", time.Hour, 0)
	writer, confirm := s.Writing()
	if err := confirm(t.Context()); !writer || err != nil {
		t.Errorf("the writer: %t, %v", writer, err)
	}
	reader := serve(t, b, "two", 0)
	var late *engine.Unavailable
	if writer, confirm := reader.Writing(); writer || !errors.As(confirm(t.Context()), &late) {
		t.Errorf("the reader: %t, %v", writer, confirm(t.Context()))
	}
	c := command(t, b)
	g, err := c.Open(t.Context(), "people", engine.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.CreateBranch(t.Context(), "made", engine.Target{}); err != nil {
		t.Fatal(err)
	}
	var missing *engine.NotFound
	if err := s.DeleteBranch(t.Context(), "made"); !errors.As(err, &missing) {
		t.Fatalf("the former writer deletes the branch: %v; the test needs one that does not know the branch", err)
	}
	if err := confirm(t.Context()); !errors.As(err, &late) {
		t.Errorf("the former writer confirms with %v; want an *engine.Unavailable", err)
	}
	if err := errors.Join(g.Close(), c.Node.Leave(t.Context())); err != nil {
		t.Error(err)
	}
}

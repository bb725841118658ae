package sharedlog_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/storage/object"
	"github.com/omnigraph-go/omnigraph/internal/storage/sharedlog"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// texts is a State that keeps the data of all records.
type texts struct {
	records []string
	loads   int // number of checkpoints loaded
}

func (s *texts) Reset() { *s = texts{} }

func (s *texts) Load(checkpoint []byte, _ uint64) error {
	s.records = nil
	if len(checkpoint) > 0 {
		s.records = strings.Split(string(checkpoint), ",")
	}
	s.loads++
	return nil
}

func (s *texts) Apply(r sharedlog.Record) error {
	if want := uint64(len(s.records) + 1); r.LSN != want {
		return fmt.Errorf("record %d comes after record %d", r.LSN, want-1)
	}
	s.records = append(s.records, string(r.Data))
	return nil
}

// encode returns the state for a checkpoint.
func (s *texts) encode() []byte { return []byte(strings.Join(s.records, ",")) }

// node is one server of a test.
type node struct {
	*sharedlog.Follower
	state *texts
}

// open opens the log in a bucket.
func open(t *testing.T, b object.Bucket) node {
	t.Helper()
	state := &texts{}
	f, err := sharedlog.Open(t.Context(), options(b, state))
	must(t, err)
	return node{f, state}
}

// options returns options for tests, with which calls do not wait long.
func options(b object.Bucket, state sharedlog.State) sharedlog.Options {
	return sharedlog.Options{
		Bucket: b, Prefix: "graph/", State: state, Node: "n1", Address: "https://n1.example",
		Patience: 50 * time.Millisecond, Recheck: time.Nanosecond, Retention: -1,
		Sleep: func(context.Context, time.Duration) {},
	}
}

// takeOver makes the node the writer.
func (n node) takeOver(t *testing.T) *sharedlog.Writer {
	t.Helper()
	must(t, n.CatchUp(t.Context()))
	w, err := n.TakeOver(t.Context())
	must(t, err)
	return w
}

// appendAll stores records, each in a group of its own.
func appendAll(t *testing.T, w *sharedlog.Writer, records ...string) {
	t.Helper()
	for _, r := range records {
		must(t, w.Append(t.Context(), [][]byte{[]byte(r)}))
	}
}

// stored stores a checkpoint, which the caller may announce.
func stored(t *testing.T, w *sharedlog.Writer, state []byte) *sharedlog.Checkpoint {
	t.Helper()
	c, err := w.Capture()
	must(t, err)
	must(t, c.Store(t.Context(), state))
	return c
}

// checkpoint stores and announces a checkpoint.
func checkpoint(t *testing.T, w *sharedlog.Writer, n node) {
	t.Helper()
	c := stored(t, w, n.state.encode())
	must(t, w.Announce(t.Context(), c, nil))
}

// collect deletes what may be deleted, according to a server.
func collect(ctx context.Context, f *sharedlog.Follower, needed func(context.Context) (uint64, error)) (sharedlog.Collected, error) {
	c := f.Garbage()
	if c == nil {
		return sharedlog.Collected{}, nil
	}
	n, err := c.Delete(ctx, needed)
	f.Finish(c)
	return n, err
}

// want checks the state of a node.
func (n node) want(t *testing.T, records ...string) {
	t.Helper()
	if !slices.Equal(n.state.records, records) {
		t.Errorf("the state has the records %q; want %q", n.state.records, records)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantIs(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("the error is %v; want one that matches %q", err, want)
	}
}

// names lists the objects of the graph.
func names(t *testing.T, b object.Bucket, prefix string) (names []string) {
	t.Helper()
	entries, err := b.List(t.Context(), "graph/"+prefix, "", object.MaxList)
	must(t, err)
	for _, e := range entries {
		names = append(names, strings.TrimPrefix(e.Name, "graph/"))
	}
	return names
}

func TestWriteAndFollow(t *testing.T) {
	var b object.Memory
	reader, first := open(t, &b), open(t, &b)
	w := first.takeOver(t)
	must(t, w.Append(t.Context(), [][]byte{[]byte("a"), []byte("b")}))
	must(t, w.Append(t.Context(), [][]byte{[]byte("c")}))
	first.want(t, "a", "b", "c")
	must(t, reader.CatchUp(t.Context()))
	reader.want(t, "a", "b", "c")
	open(t, &b).want(t, "a", "b", "c")
	if w.Epoch() != 1 || reader.Epoch() != 1 || reader.NextLSN() != 4 {
		t.Errorf("epochs %d and %d, next LSN %d; want 1, 1 and 4", w.Epoch(), reader.Epoch(), reader.NextLSN())
	}
	if w, err := reader.Takeover(t.Context()); w.Node != "n1" || w.Address != "https://n1.example" || w.Epoch != reader.Epoch() || err != nil {
		t.Errorf("the writer is %+v, %v", w, err)
	}
}

// TestTakeover checks that a writer ends when another server takes over, and that a group that it
// appends afterwards is not written.
func TestTakeover(t *testing.T) {
	var b object.Memory
	old, young := open(t, &b), open(t, &b)
	w1 := old.takeOver(t)
	appendAll(t, w1, "a")
	w2 := young.takeOver(t)
	wantIs(t, w1.Append(t.Context(), [][]byte{[]byte("lost")}), sharedlog.ErrLost)
	wantIs(t, w1.CatchUp(t.Context()), sharedlog.ErrLost)
	wantIs(t, w1.Append(t.Context(), nil), sharedlog.ErrLost)
	_, err := w1.Capture()
	wantIs(t, err, sharedlog.ErrLost)
	appendAll(t, w2, "b")
	open(t, &b).want(t, "a", "b")
	if w2.Epoch() != 2 {
		t.Errorf("the second writer has epoch %d", w2.Epoch())
	}
}

// TestReadConfirmsWriter checks that CatchUp of a replaced writer fails, so that this writer does
// not answer a latest read.
func TestReadConfirmsWriter(t *testing.T) {
	var b object.Memory
	w1 := open(t, &b).takeOver(t)
	must(t, w1.CatchUp(t.Context()))
	open(t, &b).takeOver(t)
	wantIs(t, w1.CatchUp(t.Context()), sharedlog.ErrLost)
}

// TestUnfinishedCatchUp makes CatchUp of a writer fail after it has applied another server's
// takeover. The writer must nevertheless refuse later writes with ErrLost.
func TestUnfinishedCatchUp(t *testing.T) {
	var b object.Memory
	unlisted := &noLists{Bucket: &b}
	f, err := sharedlog.Open(t.Context(), options(unlisted, &texts{}))
	must(t, err)
	w, err := f.TakeOver(t.Context())
	must(t, err)
	staged := stored(t, w, nil)
	other := open(t, &b)
	w2 := other.takeOver(t)
	unlisted.after = 1 // the list for the takeover succeeds; the list at the end of the log fails
	wantIs(t, w.CatchUp(t.Context()), sharedlog.ErrUnavailable)
	wantIs(t, w.Append(t.Context(), [][]byte{[]byte("a")}), sharedlog.ErrLost)
	wantIs(t, w.Announce(t.Context(), staged, nil), sharedlog.ErrLost)
	appendAll(t, w2, "b")
}

// noLists refuses calls of List. If `after` is 0, it refuses none; if 1, all except the next one;
// if -1, all.
type noLists struct {
	object.Bucket
	after int
}

func (n *noLists) List(ctx context.Context, prefix, after string, limit int) ([]object.Entry, error) {
	switch n.after {
	case 0:
	case 1:
		n.after = -1
	default:
		return nil, object.ErrBusy
	}
	return n.Bucket.List(ctx, prefix, after, limit)
}

// TestTwoCandidates checks that only one of two candidates for the same log number becomes the
// writer.
func TestTwoCandidates(t *testing.T) {
	var b object.Memory
	one, two := open(t, &b), open(t, &b)
	_, err := one.TakeOver(t.Context())
	must(t, err)
	_, err = two.TakeOver(t.Context())
	wantIs(t, err, sharedlog.ErrLost)
	two.takeOver(t)
}

// TestVoidTakeover lets a candidate lag until the collector has freed the number of its takeover
// object. The candidate must notice this when it lists the checkpoints after the takeover. A reader
// that lags as far must notice too.
func TestVoidTakeover(t *testing.T) {
	var b object.Memory
	writer := open(t, &b)
	w := writer.takeOver(t)
	appendAll(t, w, "a")
	candidate, reader := open(t, &b), open(t, &b)
	appendAll(t, w, "b", "c")
	checkpoint(t, w, writer)
	if n, err := collect(t.Context(), writer.Follower, nil); n.LogObjects != 3 || err != nil {
		t.Fatalf("collected %+v, %v; want the 3 groups", n, err)
	}
	_, err := candidate.TakeOver(t.Context())
	wantIs(t, err, sharedlog.ErrBehind)
	_, err = reader.Next(t.Context())
	wantIs(t, err, sharedlog.ErrBehind)
	reader.want(t, "a")

	appendAll(t, w, "d")
	open(t, &b).want(t, "a", "b", "c", "d")
	if n, err := collect(t.Context(), writer.Follower, nil); n.Deleted() != 0 || err != nil {
		t.Errorf("collected %+v, %v; nothing has been condemned since", n, err)
	}
	checkpoint(t, w, writer)
	if n, err := collect(t.Context(), writer.Follower, nil); n.LogObjects != 3 || err != nil {
		t.Errorf("collected %+v, %v; want the void takeover, an announcement and a group", n, err)
	}
}

// TestCollectKeepsTakeovers checks which objects a garbage collection deletes and which it keeps.
func TestCollectKeepsTakeovers(t *testing.T) {
	var b object.Memory
	one := open(t, &b)
	w1 := one.takeOver(t)             // log object 1
	appendAll(t, w1, "a")             // log object 2
	stored(t, w1, one.state.encode()) // never announced
	two := open(t, &b)
	w2 := two.takeOver(t) // log object 3
	appendAll(t, w2, "b") // log object 4
	checkpoint(t, w2, two)
	appendAll(t, w2, "c") // log object 6
	checkpoint(t, w2, two)
	if got := len(names(t, &b, "checkpoint/")); got != 3 {
		t.Fatalf("%d checkpoints; want 3", got)
	}
	patient := options(&b, &texts{})
	patient.Retention = time.Hour
	three, err := sharedlog.Open(t.Context(), patient)
	must(t, err)
	if n, err := collect(t.Context(), three, nil); n.Deleted() != 0 || err != nil {
		t.Errorf("before the retention: %+v, %v", n, err)
	}
	_, err = collect(t.Context(), two.Follower, nil)
	must(t, err)
	want := []string{"log/00000000000000000001", "log/00000000000000000003", "log/00000000000000000007"}
	if got := names(t, &b, "log/"); !slices.Equal(got, want) {
		t.Errorf("the log has %v; want %v", got, want)
	}
	if got := len(names(t, &b, "checkpoint/")); got != 1 {
		t.Errorf("%d checkpoints; want 1", got)
	}
	open(t, &b).want(t, "a", "b", "c")
}

// TestCollectOrphan checks that Collect deletes an unannounced checkpoint of an earlier epoch,
// although it is newer than the checkpoint in force, and keeps one of the current epoch.
func TestCollectOrphan(t *testing.T) {
	var b object.Memory
	one := open(t, &b)
	w := one.takeOver(t)
	appendAll(t, w, "a")
	checkpoint(t, w, one)
	appendAll(t, w, "b")
	stored(t, w, one.state.encode())
	_, err := collect(t.Context(), one.Follower, nil)
	must(t, err)
	if got := len(names(t, &b, "checkpoint/")); got != 2 {
		t.Errorf("%d checkpoints in the epoch of their writer; want 2", got)
	}
	two := open(t, &b)
	two.takeOver(t)
	_, err = collect(t.Context(), two.Follower, nil)
	must(t, err)
	if got := len(names(t, &b, "checkpoint/")); got != 1 {
		t.Errorf("%d checkpoints in the next epoch; want 1", got)
	}
	open(t, &b).want(t, "a", "b")
}

// TestUnannounced opens a log whose two newest checkpoints are not announced. Both cover takeovers,
// and one of them has another layout.
func TestUnannounced(t *testing.T) {
	var b object.Memory
	one := open(t, &b)
	w := one.takeOver(t)
	appendAll(t, w, "a")
	checkpoint(t, w, one)
	two := open(t, &b)
	w = two.takeOver(t)
	appendAll(t, w, "b")
	stored(t, w, two.state.encode())
	appendAll(t, w, "c")
	silent := &silentLog{Bucket: &b}
	three, err := sharedlog.Open(t.Context(), options(silent, &texts{}))
	must(t, err)
	w3, err := three.TakeOver(t.Context())
	must(t, err)
	silent.down = true
	wantIs(t, w3.Rewrite(t.Context(), []byte("wrong,layout,x"), nil), sharedlog.ErrIndeterminate)

	four := open(t, &b)
	four.want(t, "a", "b", "c")
	appendAll(t, four.takeOver(t), "d")
	open(t, &b).want(t, "a", "b", "c", "d")
}

// While `down` is true, silentLog neither carries out nor answers the creation of a log object.
type silentLog struct {
	object.Bucket
	down bool
}

func (s *silentLog) Create(ctx context.Context, name string, data []byte) error {
	if s.down {
		return object.ErrUnknown
	}
	return s.Bucket.Create(ctx, name, data)
}

// TestLayout checks that a follower loads an announced checkpoint if its layout is new, and only
// then.
func TestLayout(t *testing.T) {
	var b object.Memory
	writer, reader := open(t, &b), open(t, &b)
	w := writer.takeOver(t)
	appendAll(t, w, "a", "b")
	must(t, reader.CatchUp(t.Context()))
	checkpoint(t, w, writer)
	must(t, reader.CatchUp(t.Context()))
	if reader.state.loads != 0 {
		t.Errorf("the reader loaded %d checkpoints with the layout that it had", reader.state.loads)
	}
	must(t, w.Rewrite(t.Context(), []byte("b,a"), nil))
	appendAll(t, w, "c")
	must(t, reader.CatchUp(t.Context()))
	reader.want(t, "b", "a", "c")
	writer.want(t, "b", "a", "c")
	if reader.state.loads != 1 {
		t.Errorf("the reader loaded %d checkpoints; want 1", reader.state.loads)
	}
	open(t, &b).want(t, "b", "a", "c")
}

// TestAnnounceOrder checks that a writer refuses announcements that would break the log.
func TestAnnounceOrder(t *testing.T) {
	var b object.Memory
	n := open(t, &b)
	w := n.takeOver(t)
	appendAll(t, w, "a")
	old := stored(t, w, n.state.encode())
	appendAll(t, w, "b")
	checkpoint(t, w, n)
	if err := w.Announce(t.Context(), old, nil); err == nil {
		t.Error("an older checkpoint can be announced after a newer one")
	}
	appendAll(t, w, "c")
	before := stored(t, w, n.state.encode())
	must(t, w.Rewrite(t.Context(), n.state.encode(), nil))
	if err := w.Announce(t.Context(), before, nil); err == nil {
		t.Error("a checkpoint of an older layout can be announced")
	}
	appendAll(t, w, "d")
	open(t, &b).want(t, "a", "b", "c", "d")
}

// flaky answers each Create as the next error in its script says: nil passes the call on and
// returns its result; errLostReply passes the call on and loses the reply; for any other error,
// flaky returns that error and does not pass the call on.
type flaky struct {
	object.Bucket
	script []error
}

var errLostReply = errors.New("carried out, but the reply is lost")

func (f *flaky) Create(ctx context.Context, name string, data []byte) error {
	if len(f.script) == 0 {
		return f.Bucket.Create(ctx, name, data)
	}
	next := f.script[0]
	f.script = f.script[1:]
	switch {
	case next == nil:
		return f.Bucket.Create(ctx, name, data)
	case errors.Is(next, errLostReply):
		if err := f.Bucket.Create(ctx, name, data); err != nil {
			return err
		}
		return object.ErrUnknown
	}
	return next
}

// TestLostReplies checks what Append reports after requests and replies were lost.
func TestLostReplies(t *testing.T) {
	denied := errors.New("access denied")
	always := func(err error) []error { return slices.Repeat([]error{err}, 1_000_000) }
	for _, tt := range []struct {
		name   string
		script []error
		want   error // nil for an acknowledged write
		stored bool
	}{
		{"reply lost", []error{errLostReply}, nil, true},
		{"request lost", []error{object.ErrUnknown}, nil, true},
		{"busy", []error{object.ErrBusy, object.ErrBusy}, nil, true},
		{"lost, then busy", []error{errLostReply, object.ErrBusy}, nil, true},
		{"denied", []error{denied}, sharedlog.ErrUnavailable, false},
		{"always busy", always(object.ErrBusy), sharedlog.ErrUnavailable, false},
		{"never answered", always(object.ErrUnknown), sharedlog.ErrIndeterminate, false},
		{"carried out, then denied", []error{errLostReply, denied}, sharedlog.ErrIndeterminate, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := &flaky{Bucket: &object.Memory{}}
			n := open(t, b)
			w := n.takeOver(t)
			b.script = tt.script
			err := w.Append(t.Context(), [][]byte{[]byte("a")})
			b.script = nil
			if tt.want == nil {
				must(t, err)
			} else {
				wantIs(t, err, tt.want)
			}
			next := w.Append(t.Context(), [][]byte{[]byte("b")})
			if ended := errors.Is(tt.want, sharedlog.ErrIndeterminate); ended {
				wantIs(t, next, sharedlog.ErrLost)
			} else {
				must(t, next)
			}
			got := open(t, b).state.records
			if slices.Contains(got, "a") != tt.stored || slices.Contains(got, "b") != (next == nil) {
				t.Errorf("the log has %q", got)
			}
		})
	}
}

// TestCancelled checks that Append finds out whether its write is stored even if the caller's
// context has ended.
func TestCancelled(t *testing.T) {
	b := &flaky{Bucket: &object.Memory{}}
	n := open(t, b)
	w := n.takeOver(t)
	b.script = []error{errLostReply}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must(t, w.Append(ctx, [][]byte{[]byte("a")}))
	open(t, b).want(t, "a")
}

// TestCommitTime checks that the time of a commit is never before that of its predecessor, even when
// the clock goes back.
func TestCommitTime(t *testing.T) {
	var b object.Memory
	now := time.UnixMilli(1_000_000)
	var times timesState
	o := options(&b, &times)
	o.Now = func() time.Time { return now }
	f, err := sharedlog.Open(t.Context(), o)
	must(t, err)
	w, err := f.TakeOver(t.Context())
	must(t, err)
	for _, d := range []time.Duration{0, time.Second, -time.Hour, 2 * time.Hour} {
		now = now.Add(d)
		must(t, w.Append(t.Context(), [][]byte{nil}))
	}
	if want := []int64{1_000_000, 1_001_000, 1_001_000, 4_601_000}; !slices.Equal(times, want) {
		t.Errorf("the commits have the times %v; want %v", times, want)
	}
}

// timesState keeps the times of all records.
type timesState []int64

func (s *timesState) Reset()                    { *s = nil }
func (s *timesState) Load([]byte, uint64) error { return nil }
func (s *timesState) Apply(r sharedlog.Record) error {
	*s = append(*s, r.Time)
	return nil
}

func TestLeases(t *testing.T) {
	var b object.Memory
	now := time.UnixMilli(0)
	step := func(d time.Duration) { now = now.Add(d) }
	observer := sharedlog.NewLeases(&b, "cluster/", 10*time.Second, func() time.Time { return now })
	expired := func(want bool) {
		t.Helper()
		if got, err := observer.Expired(t.Context(), "n1"); got != want || err != nil {
			t.Errorf("expired %v, %v; want %v", got, err, want)
		}
	}
	expired(false) // the node has no object; the observation begins
	step(10 * time.Second)
	expired(true)
	must(t, observer.Renew(t.Context(), "n1", []byte("1")))
	expired(false)
	step(9 * time.Second)
	expired(false)
	must(t, observer.Renew(t.Context(), "n1", []byte("2")))
	step(9 * time.Second)
	expired(false) // only now does the observer see the change
	step(9 * time.Second)
	expired(false)
	step(time.Second)
	expired(true)
}

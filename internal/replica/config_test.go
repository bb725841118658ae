package replica

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
	"github.com/omnigraph-go/omnigraph/internal/storage/sharedlog"
)

// TestDiffers starts servers with two configurations. Only servers that were started later must find that
// their configuration differs, and only while an earlier server with another one is alive. A command, and a
// server that was killed, count no longer than their lease.
func TestDiffers(t *testing.T) {
	b := &object.Memory{}
	start := func(id, config string) *Node {
		t.Helper()
		n := NewNode(NodeOptions{Bucket: b, ID: id, Config: config, Lease: 500 * time.Millisecond, Renew: 50 * time.Millisecond})
		if err := n.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = n.Leave(context.Background()) })
		time.Sleep(2 * time.Millisecond) // so that no two servers start at the same time
		return n
	}
	start("command", "")
	first, second := start("b", "old"), start("c", "old")
	third := start("a", "new")
	if other, found := third.Differs(); !found || other.Node != "b" && other.Node != "c" {
		t.Errorf("the server with another configuration finds %+v, %t", other, found)
	} else if text := ConfigError(other).Error(); !strings.Contains(text, "server "+other.Node) || !strings.Contains(text, "cluster.yaml") {
		t.Errorf("the reason is %q", text)
	}
	time.Sleep(200 * time.Millisecond)
	for _, n := range []*Node{first, second} {
		if other, found := n.Differs(); found {
			t.Errorf("the server %s, which was started earlier, differs from %s", n.ID(), other.Node)
		}
	}
	fourth := start("d", "new")
	if other, found := fourth.Differs(); !found || other.Config != "old" {
		t.Errorf("the fourth server finds %+v, %t", other, found)
	}
	if err := first.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, found := third.Differs(); !found {
		t.Error("one server with the old configuration is left, but the new one is ready")
	}
	second.starting.Lock() // as if the process were killed: its sign stays, and no new one follows
	second.stop()
	second.running.Wait()
	second.starting.Unlock()
	for _, n := range []*Node{third, fourth} {
		eventually(t, "the same configuration", func() bool { _, found := n.Differs(); return !found })
	}
}

// TestServe checks that the sign of a server says which revision it serves, at once after it serves another.
func TestServe(t *testing.T) {
	b := &object.Memory{}
	n := NewNode(NodeOptions{Bucket: b, ID: "a", Config: "c", Lease: time.Minute})
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Leave(context.Background()) })
	for revision := uint64(1); revision <= 2; revision++ {
		n.Serve(revision)
		eventually(t, "the revision", func() bool {
			s, err := ReadSign(t.Context(), b, "a")
			return err == nil && s.Revision == revision
		})
	}
}

// TestDiffersNeverTakesOver starts a server whose configuration differs from that of two earlier ones. It must
// become the writer neither by a wish, nor when the writer stops, but when no earlier server is left.
func TestDiffersNeverTakesOver(t *testing.T) {
	b, add := people(t)
	options := func(id, config string) NodeOptions { return NodeOptions{ID: id, Config: config, Lease: lease} }
	earlier := NewNode(NodeOptions{Bucket: b, ID: "zero", Config: "old", Lease: lease}) // it has no graph open
	if err := earlier.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = earlier.Leave(context.Background()) })
	time.Sleep(2 * time.Millisecond) // so that no two servers start at the same time
	one := serveNode(t, b, options("one", "old"), func(*Storage) {})
	time.Sleep(2 * time.Millisecond)
	two := serveNode(t, b, options("two", "new"), func(*Storage) {})
	if one.State().Role != Writer || two.State().Role != Reader {
		t.Fatalf("the servers are %+v and %+v", one.State(), two.State())
	}
	eventually(t, "in the sign of the server", func() bool {
		s, err := ReadSign(t.Context(), b, "two")
		return err == nil && s.DiffersFrom != ""
	})
	epoch := one.State().Epoch
	if err := Move(t.Context(), b, "two", Wish{Graph: "people", Epoch: epoch}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a removed wish", func() bool {
		_, err := b.Read(t.Context(), movePrefix+"two", 0, object.Whole)
		return errors.Is(err, object.ErrNotFound)
	})
	time.Sleep(lease / 2)
	if s := one.State(); s.Role != Writer || s.Epoch != epoch {
		t.Errorf("after a wish for a server with another configuration, the writer of epoch %d is %+v", epoch, s)
	}
	one.stop(t)
	time.Sleep(2 * lease)
	if s := two.State(); s.Role != Reader || s.Epoch != epoch {
		t.Errorf("a server with another configuration has taken over: %+v", s)
	}
	var refused *engine.Unavailable
	if err := insert(two, add, "a"); !errors.As(err, &refused) || refused.RetryAfter == 0 {
		t.Errorf("a write on a server with another configuration: %v", err)
	}
	if err := earlier.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "taken over", func() bool { return two.State().Role == Writer })
	if err := insert(two, add, "b"); err != nil {
		t.Error(err)
	}
}

// TestDiffersClaimsNothing lets the writer close an unused graph. A write on a server with another
// configuration must not make that server the writer.
func TestDiffersClaimsNothing(t *testing.T) {
	b, add := people(t)
	one := serveLazily(t, b, "one", []string{"people"}, func(s *Storage) { s.Idle = lease / 2 })
	if err := insert(one.graphs["people"], add, "a"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "idle", isIdle(one.graphs["people"]))
	var released uint64
	eventually(t, "released in the sign", func() bool {
		s, err := ReadSign(t.Context(), b, "one")
		released = s.Graphs["people"].Released
		return err == nil && released != 0
	})
	two := serveNode(t, b, NodeOptions{ID: "two", Config: "another", Lease: lease}, func(*Storage) {})
	time.Sleep(lease / 2) // it has looked at the sign
	var refused *engine.Unavailable
	if err := insert(two, add, "b"); !errors.As(err, &refused) || refused.RetryAfter == 0 {
		t.Errorf("a write on a server with another configuration: %v", err)
	}
	if s := two.State(); s.Role != Reader || s.Epoch != released {
		t.Errorf("a server with another configuration is %+v", s)
	}
}

// silentSign is a Bucket that stops answering reads of the sign of the server "silent".
type silentSign struct {
	object.Memory
	silent atomic.Bool
}

func (b *silentSign) Read(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	if name == nodePrefix+"silent" && b.silent.Load() {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return b.Memory.Read(ctx, name, offset, length)
}

// TestSlowComparison lets the reads of another server's sign hang. The server must still renew its own sign
// in time.
func TestSlowComparison(t *testing.T) {
	b := &silentSign{}
	if err := b.Put(t.Context(), nodePrefix+"silent", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	n := NewNode(NodeOptions{Bucket: b, ID: "one", Config: "c", Lease: 2 * time.Second, Renew: 50 * time.Millisecond})
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer n.Leave(context.Background())
	b.silent.Store(true)
	time.Sleep(time.Second)
	if s, err := ReadSign(t.Context(), b, "one"); err != nil || s.Beat < 4 {
		t.Errorf("after a second the sign is %+v, %v; want one of many", s, err)
	}
}

// TestClear lets a server observe signs that do not change. It must remove only the sign of a command that is
// older than a day, and only after it has observed the sign for ten minutes.
func TestClear(t *testing.T) {
	b := &object.Memory{}
	now := clock.Now()
	for id, age := range map[string]time.Duration{"command-old": 25 * time.Hour, "command-new": 23 * time.Hour, "server": 25 * time.Hour} {
		content, err := json.Marshal(Sign{Node: id, Renewed: now.Add(-age)})
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Put(t.Context(), nodePrefix+id, content); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Put(t.Context(), nodePrefix+"command-other", []byte("no sign")); err != nil {
		t.Fatal(err)
	}
	n := NewNode(NodeOptions{Bucket: b, ID: "one", Config: "c", Lease: time.Second})
	n.leases = sharedlog.NewLeases(b, "", time.Second, func() time.Time { return now })
	for _, at := range []struct {
		later time.Duration
		signs int
	}{{0, 4}, {10*time.Minute - 1, 4}, {1, 3}, {time.Hour, 3}} {
		now = now.Add(at.later)
		if err := n.compare(t.Context()); err != nil {
			t.Fatal(err)
		}
		if entries, err := object.ListAll(t.Context(), b, nodePrefix); err != nil || len(entries) != at.signs {
			t.Errorf("%v later, %d signs are left, %v; want %d", at.later, len(entries), err, at.signs)
		}
	}
	if _, err := ReadSign(t.Context(), b, "command-old"); !errors.Is(err, object.ErrNotFound) {
		t.Errorf("the sign of the command that ended a day ago: %v", err)
	}
}

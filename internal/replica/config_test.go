package replica

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/object"
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

package replica

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// member is a server of a test that serves several graphs.
type member struct {
	node   *Node
	graphs map[string]*Graph
}

// join starts a server and opens the graphs.
func join(t *testing.T, b object.Bucket, id string, graphs []string) *member {
	t.Helper()
	m := &member{graphs: map[string]*Graph{}}
	m.node = NewNode(NodeOptions{Bucket: b, ID: id, Address: "http://" + id, Config: "c", Lease: 5 * time.Second, Renew: 50 * time.Millisecond})
	storage := &Storage{Bucket: b, Cache: t.TempDir(), Node: m.node}
	if err := m.node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, graph := range graphs {
		g, err := storage.Open(t.Context(), graph, engine.OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		m.graphs[graph] = g.(*Graph)
	}
	t.Cleanup(func() {
		err := m.node.Leave(context.Background())
		for _, g := range m.graphs {
			err = errors.Join(err, g.Close())
		}
		if err != nil {
			t.Error(err)
		}
	})
	return m
}

// writes returns the epochs of the graphs that the server writes.
func (m *member) writes() map[string]uint64 {
	epochs := map[string]uint64{}
	for id, g := range m.graphs {
		if s := g.State(); s.Role == Writer {
			epochs[id] = s.Epoch
		}
	}
	return epochs
}

// settles waits until the servers write the given numbers of graphs, and checks that no graph moves while each
// server compares the signs of the others ten times more.
func settles(t *testing.T, what string, members []*member, counts ...int) {
	t.Helper()
	reached := func() bool {
		for i, m := range members {
			if len(m.writes()) != counts[i] {
				return false
			}
		}
		return true
	}
	eventually(t, what, reached)
	var before []map[string]uint64
	var beats []uint64
	for _, m := range members {
		before = append(before, m.writes())
		m.node.mu.Lock()
		beats = append(beats, m.node.beat)
		m.node.mu.Unlock()
	}
	for i, m := range members {
		eventually(t, "ten more signs", func() bool {
			m.node.mu.Lock()
			defer m.node.mu.Unlock()
			return m.node.beat >= beats[i]+10
		})
	}
	for i, m := range members {
		if now := m.writes(); !maps.Equal(now, before[i]) {
			t.Errorf("%s: the server %s writes the graphs %v, and later %v", what, m.node.ID(), before[i], now)
		}
	}
}

// emptyGraphs makes graphs without entities in a bucket, and returns their ids.
func emptyGraphs(t *testing.T, n int) (b *object.Memory, graphs []string) {
	t.Helper()
	b = &object.Memory{}
	c, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: schema})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	s := command(t, b)
	for i := range n {
		graphs = append(graphs, fmt.Sprint("graph-", i))
		g, err := s.Create(t.Context(), graphs[i], schema, c, engine.OpenOptions{})
		if err == nil {
			err = g.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Node.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	return b, graphs
}

// TestBalance starts three servers, one after the other. The first one writes all graphs at first. The servers
// must share the graphs, and leave those that an operator moves where they are.
func TestBalance(t *testing.T) {
	b, graphs := emptyGraphs(t, 6)
	one := join(t, b, "one", graphs)
	settles(t, "the only server writes all graphs", []*member{one}, 6)
	loaded := one.graphs["graph-0"]
	loaded.busy.Add(1) // as if a load were running
	two := join(t, b, "two", graphs)
	settles(t, "two servers share the graphs", []*member{one, two}, 3, 3)
	if loaded.State().Role != Writer {
		t.Error("a graph moved although a load was running")
	}
	loaded.busy.Add(-1)
	three := join(t, b, "three", graphs)
	all := []*member{one, two, three}
	settles(t, "three servers share the graphs", all, 2, 2, 2)
	moved := two.writes()
	for id, epoch := range moved {
		if err := Move(t.Context(), b, "three", Wish{Graph: id, Epoch: epoch}); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the graph is moved", func() bool { return three.graphs[id].State().Role == Writer })
	}
	// The server gives away one of its own graphs, and none goes to the server that the operator emptied.
	settles(t, "an operator moved two graphs", all, 3, 0, 3)
	for id := range moved {
		if three.graphs[id].State().Role != Writer {
			t.Errorf("the graph %s, which an operator moved, does not stay", id)
		}
	}
}

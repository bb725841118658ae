package reconcile

import (
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/replica"
)

// TestServersInOrder asks the writer first, and servers that have probably ended last or not at all.
func TestServersInOrder(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	sign := func(node string, age time.Duration, role replica.Role, epoch uint64) replica.Sign {
		return replica.Sign{Node: node, Renewed: now.Add(-age), Graphs: map[string]replica.GraphSign{"box": {Role: role, Epoch: epoch}}}
	}
	got := ""
	for _, s := range inOrder([]replica.Sign{
		sign("killed-writer ", 2*time.Minute, replica.Writer, 9), sign("reader ", time.Second, replica.Reader, 8), sign("ahead ", -time.Hour, replica.Reader, 8),
		sign("writer ", time.Second, replica.Writer, 8), sign("long-gone ", 48*time.Hour, replica.Writer, 7),
	}, "box", now) {
		got += s.Node
	}
	if want := "writer reader ahead killed-writer "; got != want {
		t.Errorf("the order is %s, want %s", got, want)
	}
}

package main

import (
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/replica"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster/reconcile"
)

// TestServersNote lists servers of which one does not serve an apply yet.
func TestServersNote(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	servers := []replica.Sign{{Node: "a", Revision: 1, Renewed: at}, {Node: "b", Revision: 2, Renewed: at}, {Node: "starts", Renewed: at}}
	const want = "; servers: a (still serves revision 1, last sign 2026-01-02T03:04:05Z), b (serves revision 2, last sign 2026-01-02T03:04:05Z), starts (last sign 2026-01-02T03:04:05Z)"
	if got := serversNote(servers, &reconcile.Revision{Number: 2}); got != want {
		t.Errorf("found %s\nwant %s", got, want)
	}
}

package replica

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// TestCollect lets two servers write and read a graph with a short retention. The writer must delete
// the log objects that checkpoints cover, and every server must announce what it needs.
func TestCollect(t *testing.T) {
	b, add := people(t)
	var reports atomic.Int64
	collecting := func(s *Storage) {
		s.Retention = time.Second
		s.Collected = func(_ string, n embedded.Collected, err error) {
			reports.Add(1)
			if err != nil {
				t.Errorf("a collection failed: %+v, %v", n, err)
			}
		}
	}
	one := serveWith(t, b, "one", collecting)
	two := serveWith(t, b, "two", collecting)
	logObjects := func() (n int) {
		entries, err := object.ListAll(t.Context(), b, "graph/people/")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if strings.Contains(e.Name, "/log/") {
				n++
			}
		}
		return n
	}
	const people = 1040 // a writer makes a checkpoint after 1,024 commits
	for i := range people {
		if err := insert(one, add, fmt.Sprint("p", i)); err != nil {
			t.Fatal(err)
		}
	}
	if n := two.count(t); n != people {
		t.Errorf("the reader has %d persons", n)
	}
	eventually(t, "the log is collected", func() bool { return logObjects() <= 40 })
	eventually(t, "the figures of the writer show the collection", func() bool { // it ends after its last deletion
		s := one.Stats().Shared
		return s.Collected >= 1000 && s.CacheBytes > 0 && reports.Load() > 0
	})
	for _, id := range []string{"one", "two"} {
		eventually(t, "the server "+id+" announces what it needs", func() bool {
			sign, err := ReadSign(t.Context(), b, id)
			return err == nil && sign.Graphs["people"].Needs > 0
		})
	}
	late := serveWith(t, b, "three", collecting)
	if n := late.count(t); n != people {
		t.Errorf("a new server has %d persons", n)
	}
	if _, err := late.Commits(t.Context(), engine.MainBranch, engine.CommitRange{}); err != nil {
		t.Error(err)
	}
}

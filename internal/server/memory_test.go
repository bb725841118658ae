package server_test

import (
	"fmt"
	"math"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/server"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
)

// TestMemoryOfQueries starts servers with different values of GOMEMLIMIT. By default a query may
// take half of that limit. A query that needs more must fail with an error that contains the limit
// of the query.
func TestMemoryOfQueries(t *testing.T) {
	const warning = "more memory than GOMEMLIMIT"
	const large = `{"query":"query q() { match { $a: Symbol $b: Symbol $c: Symbol $d: Symbol } return { $a.name as a, $b.name as b, $c.name as c, $d.name as d } order { d, c, b, a } limit 100000 }"}`
	for _, tt := range []struct {
		name     string
		goMemory int64
		limits   cluster.Limits
		limit    int64 // the limit in the answer; 0 if there is memory for all rows
		warned   bool
	}{
		{"no limit", math.MaxInt64, cluster.Limits{}, 0, false},
		{"a large one", 1800 << 20, cluster.Limits{}, 0, false},
		{"a small one", 4 << 20, cluster.Limits{}, 2 << 20, true},
		{"all queries together", 1800 << 20, cluster.Limits{MemoryBytes: 3 << 20}, 3 << 20, false},
		{"one query", 4 << 20, cluster.Limits{QueryBytes: 1 << 20}, 1 << 20, true},
		{"one of more than all", math.MaxInt64, cluster.Limits{QueryBytes: 1 << 30, MemoryBytes: 3 << 20}, 3 << 20, false},
		{"all of more than there is", 1800 << 20, cluster.Limits{MemoryBytes: 2 << 30}, 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			log, with := logTo(t, "info")
			was := debug.SetMemoryLimit(tt.goMemory)
			ts := newServer(t, with, func(o *server.Options) { o.Cluster.Server.Limits = tt.limits })
			debug.SetMemoryLimit(was)
			a := ts.ask(t, "POST", "/graphs/code/query", large)
			want := http.StatusOK
			if tt.limit > 0 {
				want = http.StatusRequestEntityTooLarge
			}
			if a.status != want || tt.limit > 0 && !strings.Contains(a.body, fmt.Sprintf(`"limit":%d,`, tt.limit)) {
				t.Errorf("%d %s, want %d and the limit %d", a.status, a.body, want, tt.limit)
			}
			lines := log.lines(t, "")
			if warned := slices.ContainsFunc(lines, func(l map[string]any) bool { return strings.Contains(l["msg"].(string), warning) }); warned != tt.warned {
				t.Errorf("warned: %v, want %v: %v", warned, tt.warned, lines)
			}
		})
	}
}

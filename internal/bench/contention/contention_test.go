package contention

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/naive"
)

var short = Options{Writers: 8, Readers: 2, Counters: 4, Duration: time.Minute, Most: 200, Seed: 1}

func TestSound(t *testing.T) {
	branches, conditions := short, short
	branches.Branches, conditions.IfCommit = 8, true
	for _, o := range []Options{short, branches, conditions} {
		rep, err := Run(t.Context(), naive.New(Source, Schema(), naive.Sound), o)
		if err != nil {
			t.Fatal(err)
		}
		if rep.Raises < short.Most || int64(len(rep.Writes)) != rep.Raises || len(rep.Reads) == 0 {
			t.Errorf("%d raises, %d timed, %d reads", rep.Raises, len(rep.Writes), len(rep.Reads))
		}
	}
}

// careless is a faulty graph: it ignores IfCommit.
type careless struct {
	engine.Graph
	half bool // also omit the write to the mirror
}

func (c careless) Mutate(ctx context.Context, q *plan.Query, args engine.Args, opts engine.WriteOptions) (engine.Change, error) {
	if c.half {
		statements := *q.Mutation
		statements.Statements = statements.Statements[:3]
		less := *q
		less.Mutation = &statements
		q = &less
	}
	opts.IfCommit = ""
	return c.Graph.Mutate(ctx, q, args, opts)
}

func TestFaultsAreFound(t *testing.T) {
	lost := short
	lost.IfCommit = true
	_, err := Run(t.Context(), careless{naive.New(Source, Schema(), naive.Sound), false}, lost)
	if err == nil || !slices.ContainsFunc([]string{"acknowledged", "entries", "earlier read"}, func(found string) bool { return strings.Contains(err.Error(), found) }) {
		t.Errorf("lost updates: %v", err)
	}
	if _, err := Run(t.Context(), careless{naive.New(Source, Schema(), naive.Sound), true}, short); err == nil || !strings.Contains(err.Error(), "mirror") {
		t.Errorf("half a commit: %v", err)
	}
}

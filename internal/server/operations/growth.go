package operations

import (
	"context"
	"errors"
	"sync"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/restricted"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// MaxGrowth is the largest number of points of [LookGrowth], each of which may be a state that must be restored.
const MaxGrowth = 12

// LookGrowth returns the call that counts all nodes and edges at commits that are evenly spread over the history of a branch. Its answer is a
// *client.Growth. It counts the whole state of a commit once, and takes it from the sizes later. The function says whether the caller may read
// the states that were made on another branch, such as those before the branch began; the call leaves out others.
func LookGrowth(branch tool.BranchName, points int, known *Sizes, reads func(ctx context.Context, on tool.Branch, made string) (bool, error)) *Look {
	return &Look{Branch: branch, Read: func(ctx context.Context, env *tool.Env, head engine.Commit) (any, error) {
		known := known
		if restricted.Digest(env.Graph) != "" {
			known = &Sizes{} // the caller sees a part of each state
		}
		a := &client.Growth{Points: []client.GrowthPoint{}}
		last, n := uint64(0), uint64(max(1, min(points, MaxGrowth)))
		for i := uint64(1); i <= n; i++ {
			seq := head.Seq / n * i
			if seq += head.Seq % n * i / n; seq <= last {
				continue
			}
			at := head
			if i < n {
				found, err := env.Graph.Commits(ctx, env.Branch(branch).Name(), engine.CommitRange{Before: seq + 1, Limit: 1})
				if err != nil {
					return nil, err
				}
				if len(found) == 0 || found[0].Seq <= last {
					continue
				}
				at = found[0]
				ok, err := reads(ctx, env.Branch(branch), at.Branch)
				if err != nil {
					return nil, err
				}
				if !ok {
					continue
				}
			}
			last = at.Seq
			is, err := known.at(ctx, env.Graph, at.ID)
			var missing *engine.NotFound
			if errors.As(err, &missing) && missing.Reclaimed {
				continue
			}
			if err != nil {
				return nil, err
			}
			a.Points = append(a.Points, client.GrowthPoint{GraphCommitID: at.ID, CreatedAt: at.Time.UnixMicro(), Nodes: is.nodes, Edges: is.edges})
		}
		return a, nil
	}}
}

// Sizes remembers how large the whole states of commits are, which never changes. It is safe for concurrent use. The zero value knows
// none.
type Sizes struct {
	mu sync.Mutex
	of map[string]size // by commit id; guarded by mu
}

// size is the number of nodes and of edges of a state.
type size struct{ nodes, edges int64 }

// maxSizes is the number of commits that a Sizes knows at most.
const maxSizes = 4096

// at returns the size of the state of a commit.
func (k *Sizes) at(ctx context.Context, g engine.Graph, commit string) (size, error) {
	k.mu.Lock()
	is, ok := k.of[commit]
	k.mu.Unlock()
	if ok {
		return is, nil
	}
	s, err := g.Snapshot(ctx, engine.Target{Commit: commit})
	if err != nil {
		return size{}, err
	}
	for _, t := range s.Nodes {
		is.nodes += t.Count
	}
	for _, t := range s.Edges {
		is.edges += t.Count
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of == nil {
		k.of = map[string]size{}
	}
	if len(k.of) >= maxSizes {
		for other := range k.of { // any one
			delete(k.of, other)
			break
		}
	}
	k.of[commit] = is
	return is, nil
}

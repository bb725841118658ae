package servedgraph

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// headInterval is the time between two looks at the head of a branch. The engine answers such a look
// from memory, also on a server that follows the log of another one.
const headInterval = 50 * time.Millisecond

// AwaitCommit waits until the head of a branch is another commit than `seen`. AwaitCommit reads no data and asks no policy; the caller then reads the commit through [Graph.Do].
// Callers that wait for the same branch share the looks at its head.
func (g *Graph) AwaitCommit(ctx context.Context, branch tool.Branch, seen string) error {
	return g.heads.await(ctx, branch, seen)
}

// AwaitNews is like AwaitCommit, but also returns when the head of main is another commit than `main`, unless `main` is empty.
func (g *Graph) AwaitNews(ctx context.Context, branch tool.Branch, seen, main string) error {
	if main == "" {
		return g.AwaitCommit(ctx, branch, seen)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	onMain := make(chan error, 1)
	go func() {
		defer cancel()
		onMain <- g.AwaitCommit(ctx, tool.Branch{}, main)
	}()
	err := g.AwaitCommit(ctx, branch, seen)
	cancel()
	if moved := <-onMain; moved == nil || !errors.Is(moved, context.Canceled) {
		return moved // a wait that was canceled here says nothing
	}
	return err
}

// AwaitProposalEvent waits until the latest event of the proposals of the graph is another one than `seen`. It
// reads no event and asks no policy; the caller then reads the events through [Graph.Do].
func (g *Graph) AwaitProposalEvent(ctx context.Context, seen string) error {
	return g.events.await(ctx, tool.Branch{}, seen)
}

// latestEvent returns the id of the latest event of the proposals.
func latestEvent(g engine.Graph) (string, error) {
	page, err := g.ProposalEvents(context.Background(), engine.EventRange{Latest: true})
	if err != nil {
		return "", err
	}
	return page.Latest, nil
}

// latestCommit returns the id of the head of a branch, or "" if the branch has no commit.
func latestCommit(g engine.Graph, branch tool.Branch) (string, error) {
	head, err := g.Commits(context.Background(), branch.Name(), engine.CommitRange{Limit: 1})
	if err != nil || len(head) == 0 {
		return "", err
	}
	return head[0].ID, nil
}

// headWatch wakes the callers that wait for new commits. While anyone waits for a branch, one goroutine
// looks at the head of the branch. It ends with the last caller that waits, and so no later than the
// requests of the graph.
type headWatch struct {
	latest func(tool.Branch) (string, error) // the id of the head of a branch

	mu       sync.Mutex
	branches map[tool.Branch]*watchedBranch // those that a caller waits for; guarded by mu
}

// watchedBranch is a branch that callers wait for. The mutex of the headWatch guards it.
type watchedBranch struct {
	waiting int           // number of callers
	stop    chan struct{} // closed when the last caller stops waiting
	done    chan struct{} // closed when no further look follows
	head    string        // what the last look found
	err     error         // what the last look failed with; no look follows
	news    chan struct{} // closed, and replaced, when head or err changes
}

// await waits until the head of a branch is another commit than `seen`.
func (w *headWatch) await(ctx context.Context, branch tool.Branch, seen string) error {
	// The caller's own look shows at once whether there is news, and the branch's faults.
	head, err := w.latest(branch)
	if err != nil || head != "" && head != seen {
		return err
	}
	w.mu.Lock()
	b := w.branches[branch]
	if b == nil {
		b = &watchedBranch{stop: make(chan struct{}), done: make(chan struct{}), head: head, news: make(chan struct{})}
		if w.branches == nil {
			w.branches = map[tool.Branch]*watchedBranch{}
		}
		w.branches[branch] = b
		go w.watch(branch, b)
	}
	b.found(head, nil)
	b.waiting++
	defer func() {
		b.waiting--
		last := b.waiting == 0
		if last && w.branches[branch] == b {
			delete(w.branches, branch)
		}
		w.mu.Unlock()
		if last {
			close(b.stop)
			<-b.done
		}
	}()
	for {
		if b.err != nil || b.head != "" && b.head != seen {
			return b.err
		}
		news := b.news
		w.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-news:
		}
		w.mu.Lock()
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// found notes the result of a look. REQUIRES: the mutex of the headWatch is locked.
func (b *watchedBranch) found(head string, err error) {
	if err == nil && (head == "" || head == b.head) {
		return
	}
	b.head, b.err = cmp.Or(head, b.head), err
	close(b.news)
	b.news = make(chan struct{})
}

// watch looks at the head of a branch until nobody waits for the branch, or a look fails.
func (w *headWatch) watch(branch tool.Branch, b *watchedBranch) {
	defer close(b.done)
	tick := time.NewTicker(headInterval)
	defer tick.Stop()
	for {
		select {
		case <-b.stop:
			return
		case <-tick.C:
		}
		head, err := w.latest(branch)
		w.mu.Lock()
		b.found(head, err)
		if err != nil && w.branches[branch] == b {
			delete(w.branches, branch) // the next caller starts again
		}
		w.mu.Unlock()
		if err != nil {
			return
		}
	}
}

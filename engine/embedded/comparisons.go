package embedded

import (
	"context"
	"slices"
	"sync"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/locks"
)

// The bounds of the results that comparisons remembers.
const (
	maxComparedBytes    = 4 << 20 // bytes of all results of a graph
	maxOneComparedBytes = 1 << 20 // bytes of one result; a larger one is not remembered
	maxCompared         = 256     // number of results
)

// comparisons remembers the results that the last comparisons of states led to. A result depends only on commits,
// which do not change, and on resolutions. Calls that need the same result at the same time share the work.
type comparisons struct {
	mu      sync.Mutex
	kept    []comparison           // the least recently used first
	bytes   int                    // sum of kept[i].bytes
	running map[string]*sharedWork // by key, while calls need the result
}

// comparison is a remembered result.
type comparison struct {
	key      string
	branches []string // the branches whose states were compared
	result   any
	bytes    int
}

// sharedWork is a result that calls need at the same time.
type sharedWork struct {
	turn    locks.Mutex // held by the call that computes the result
	waiting int         // number of calls; guarded by comparisons.mu
	result  any         // of the call that computed it last; nil for none; guarded by turn
}

// sized is a result of a comparison. It does not change.
type sized interface{ size() int }

// recall returns the remembered result with a key if `accept` accepts it.
func recall[T sized](m *comparisons, key string, accept func(T) bool) (result T, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.kept, func(c comparison) bool { return c.key == key })
	if i < 0 {
		return result, false
	}
	c := m.kept[i]
	if result, ok = c.result.(T); !ok || !accept(result) {
		return result, false
	}
	m.kept = append(slices.Delete(m.kept, i, i+1), c)
	return result, true
}

// share returns the remembered result with a key, or computes and remembers it. If another call computes it, share
// waits for that result. If `accept` does not accept a result, share computes another. The result is forgotten
// when one of the branches is deleted.
func share[T sized](ctx context.Context, m *comparisons, key string, branches []string, accept func(T) bool, compute func() (T, error)) (result T, err error) {
	if result, ok := recall(m, key, accept); ok {
		return result, nil
	}
	work := m.join(key)
	defer m.leave(key, work)
	if err := work.turn.Lock(ctx); err != nil {
		return result, err
	}
	defer work.turn.Unlock()
	if result, ok := work.result.(T); ok && accept(result) {
		return result, nil
	}
	if result, err = compute(); err != nil {
		return result, err
	}
	work.result = result
	m.keep(comparison{key, slices.Clone(branches), result, result.size()})
	return result, nil
}

// join returns the work for a key. The caller must call leave.
func (m *comparisons) join(key string) *sharedWork {
	m.mu.Lock()
	defer m.mu.Unlock()
	work := m.running[key]
	if work == nil {
		work = &sharedWork{turn: locks.NewMutex()}
		if m.running == nil {
			m.running = map[string]*sharedWork{}
		}
		m.running[key] = work
	}
	work.waiting++
	return work
}

// leave ends a use of shared work.
func (m *comparisons) leave(key string, work *sharedWork) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if work.waiting--; work.waiting == 0 {
		delete(m.running, key)
	}
}

// keep remembers a result, and drops the least recently used ones that leave no room for it.
func (m *comparisons) keep(c comparison) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dropLocked(func(old *comparison) bool { return old.key == c.key })
	if c.bytes > maxOneComparedBytes {
		return
	}
	for len(m.kept) == maxCompared || m.bytes+c.bytes > maxComparedBytes {
		m.bytes -= m.kept[0].bytes
		m.kept = slices.Delete(m.kept, 0, 1)
	}
	m.kept, m.bytes = append(m.kept, c), m.bytes+c.bytes
}

// dropBranch drops the results about states of a branch.
func (m *comparisons) dropBranch(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dropLocked(func(c *comparison) bool { return slices.Contains(c.branches, name) })
}

// dropLocked drops the results for which the function returns true. REQUIRES: m.mu is locked.
func (m *comparisons) dropLocked(drop func(*comparison) bool) {
	m.kept = slices.DeleteFunc(m.kept, func(c comparison) bool {
		if !drop(&c) {
			return false
		}
		m.bytes -= c.bytes
		return true
	})
}

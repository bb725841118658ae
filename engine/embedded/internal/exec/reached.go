package exec

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// reached has the nodes that walks reach from some nodes, for one step and one run. The rows that a block
// checks often come in an order in which few nodes alternate; without it, each row would walk anew.
type reached struct {
	flip  bool // the walks begin at the far end of the traversal
	from  []uint32
	sets  []engine.Bitmap // by position in from; never changed
	bytes int             // of the sets
}

// Limits on what a step remembers. The bytes are those of 64 sets of a million nodes.
const (
	maxReachedFrom  = 64
	maxReachedBytes = 8 << 20
)

// reachedBy returns what a step remembers in this run. On the first call it decides from which end the
// step walks.
func (m *matcher) reachedBy(s *Reach, f *eval.Frame) *reached {
	if r := m.reached[s.Set]; r != nil {
		return r
	}
	r := &reached{flip: m.distinct(f, s.Far) < m.distinct(f, s.Near)}
	if m.reached == nil {
		m.reached = map[int]*reached{}
	}
	m.reached[s.Set] = r
	return r
}

// distinct counts the distinct nodes of a variable in a frame.
func (m *matcher) distinct(f *eval.Frame, v plan.VarID) int {
	nodes := slices.Clone(f.Cols[v][:f.N])
	slices.Sort(nodes)
	return len(slices.Compact(nodes))
}

// reachable returns the nodes that walks from a node reach within the bounds of a traversal. The set is valid until
// the next call; `room` is memory for it.
func (m *matcher) reachable(t *Traversal, node uint32, known *reached, room *eval.Walk) (engine.Bitmap, error) {
	if i := slices.Index(known.from, node); i >= 0 {
		return known.sets[i], nil
	}
	nodes, err := m.breadthFirst(t, node, &m.walks[t.ID])
	if err != nil {
		return nil, err
	}
	n := m.Table(t.Far).Ordinals()
	size := (int(n) + 63) / 64 * 8
	if len(known.from) < maxReachedFrom && known.bytes+size <= maxReachedBytes {
		if err := m.Spend(size); err != nil {
			return nil, err
		}
		set := engine.NewBitmap(int(n))
		for _, r := range nodes {
			set.Set(int(r))
		}
		known.from, known.sets, known.bytes = append(known.from, node), append(known.sets, set), known.bytes+size
		return set, nil
	}
	room.Begin(n)
	for _, r := range nodes {
		room.Visit(r)
	}
	return room.Bits, m.Charge(room)
}

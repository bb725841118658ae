package exec

import (
	"cmp"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// reached has the nodes that walks reach from some nodes, for one step and one run. The rows that a block
// checks often come in an order in which few nodes alternate; without it, each row would walk anew.
type reached struct {
	flip  bool        // the walks begin at the far end of the traversal
	rows  [2][]uint32 // the nodes at the two ends in the first rows, at most eval.FrameSize
	from  map[uint32]*reachedFrom
	bytes int // of the sets
}

// reachedFrom is what is known about the walks from one node.
type reachedFrom struct {
	asked int           // number of rows that asked about the node; see searchedFirst
	set   engine.Bitmap // the nodes that walks reach, by ordinal; nil if they are not remembered; never changed
}

// Limits on what a step remembers. The bytes are those of 256 sets of a million nodes.
const (
	maxReachedFrom  = 1 << 14
	maxReachedBytes = 32 << 20
	reachedFromSize = 64 // bytes of a node in the map
)

// searchedFirst is the number of rows about one node for which the step explore searches a walk from both ends, before
// it visits all nodes that walks from this node reach. For few rows, the searches take less time.
const searchedFirst = 4

// reachedBy returns what a step remembers in this run; `set` is the number of the step in matcher.walks. It decides from
// the first rows from which end the step walks.
func (m *matcher) reachedBy(set int, from, to plan.VarID, f *eval.Frame) *reached {
	r := m.reached[set]
	if r == nil {
		r = &reached{from: map[uint32]*reachedFrom{}}
		if m.reached == nil {
			m.reached = map[int]*reached{}
		}
		m.reached[set] = r
		m.charged(2 * 4 * eval.FrameSize) // of rows
	}
	if n := min(f.N, eval.FrameSize-len(r.rows[0])); n > 0 {
		r.rows[0], r.rows[1] = append(r.rows[0], f.Cols[from][:n]...), append(r.rows[1], f.Cols[to][:n]...)
		if flip := lessNew(r.rows[1], r.rows[0]); flip != r.flip {
			r.flip = flip
			clear(r.from)
		}
	}
	return r
}

// lessNew reports whether rows with the nodes a will bring fewer other nodes than rows with the nodes b. Blocks pair each
// of their rows with all nodes of a few, so that the first rows have few of the many nodes, but each row has another.
func lessNew(a, b []uint32) bool {
	count := func(nodes []uint32) (later, all int) {
		seen := make(map[uint32]bool, len(nodes))
		for i, n := range nodes {
			if i == len(nodes)/2 {
				later = len(seen)
			}
			seen[n] = true
		}
		return len(seen) - later, len(seen)
	}
	laterA, allA := count(a)
	laterB, allB := count(b)
	return cmp.Or(cmp.Compare(laterA, laterB), cmp.Compare(allA, allB)) < 0
}

// about returns what is known about a node. It returns nil if the step remembers too much already.
func (m *matcher) about(known *reached, node uint32) (*reachedFrom, error) {
	if r := known.from[node]; r != nil {
		return r, nil
	}
	if len(known.from) == maxReachedFrom {
		return nil, nil
	}
	r := &reachedFrom{}
	known.from[node] = r
	return r, m.Spend(reachedFromSize)
}

// room makes a set of the ordinals below n. It returns nil if the step remembers too much already.
func (m *matcher) room(known *reached, n uint32) (engine.Bitmap, error) {
	size := (int(n) + 63) / 64 * 8
	if known.bytes+size > maxReachedBytes {
		return nil, nil
	}
	known.bytes += size
	return engine.NewBitmap(int(n)), m.Spend(size)
}

// reachable returns the nodes that walks from a node reach within the bounds of a traversal. The set is valid until
// the next call; `room` is memory for it.
func (m *matcher) reachable(t *Traversal, node uint32, known *reached, room *eval.Walk) (engine.Bitmap, error) {
	about, err := m.about(known, node)
	if err != nil {
		return nil, err
	}
	if about != nil && about.set != nil {
		return about.set, nil
	}
	nodes, err := m.breadthFirst(t, node, &m.walks[t.ID])
	if err != nil {
		return nil, err
	}
	n := m.Table(t.Far).Ordinals()
	if about != nil {
		if about.set, err = m.room(known, n); err != nil {
			return nil, err
		}
		if about.set != nil {
			for _, r := range nodes {
				about.set.Set(int(r))
			}
			return about.set, nil
		}
	}
	room.Begin(n)
	for _, r := range nodes {
		room.Visit(r)
	}
	return room.Bits, m.Charge(room)
}

// Remembers reports whether the step can remember which nodes walks reach: it need not know how long the walks are.
func (s *Explore) Remembers() bool {
	return s.Both && s.Walk && s.EdgeVar == plan.NoVar && !s.Route.Closed
}

// reachable returns the ordinals that the variable at the other end has for the nodes that walks from a node reach. It
// returns nil if the step does not remember them: few rows have asked about the node, or there is too little memory.
func (s *Explore) reachable(m *matcher, known *reached, front *eval.Front, node uint32) (engine.Bitmap, error) {
	about, err := m.about(known, node)
	if err != nil || about == nil {
		return nil, err
	}
	if about.asked++; about.set != nil || about.asked <= searchedFirst {
		return about.set, nil
	}
	r, to := s.Route, s.Far
	if known.flip {
		r, to = s.Reverse, s.Near
	}
	set, err := m.room(known, m.ordinals(to))
	if err != nil || set == nil {
		return nil, err
	}
	about.set = set
	start, fits := m.PlaceOf(&r.Near, node)
	if !fits {
		return set, nil
	}
	if err := m.VisitAll(front, r, start); err != nil {
		return nil, err
	}
	for kind := range r.Kinds {
		base, fits := m.Base(&r.Far, kind)
		if !fits {
			continue
		}
		for d := r.Min; d <= front.Depth; d++ {
			for _, n := range front.Level(kind, d) {
				set.Set(int(base + n))
			}
		}
	}
	return set, nil
}

// ordinals returns a number that is greater than all ordinals of a variable.
func (m *matcher) ordinals(v plan.VarID) uint32 {
	s := m.Shared(v)
	if s == nil {
		return m.Table(v).Ordinals()
	}
	last := len(s.Tables) - 1
	if last < 0 {
		return 0
	}
	return s.Starts[last] + s.Tables[last].Ordinals()
}

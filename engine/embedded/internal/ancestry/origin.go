package ancestry

import (
	"container/heap"
	"slices"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/codec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/logrecord"
)

// origins maps the numbers that the origins of rows have for commits. Such a number is reserved before the rows are made, and so
// before the commit gets its place in the order of entry. The lock of the history guards it.
type origins struct {
	places []uint32         // by number: the number of the commit in the order of entry plus one, or 0
	next   uint32           // numbers from here on are not reserved
	free   []uint32         // numbers below next that were released
	merges map[uint32]int32 // by commit that the merge of a proposal brought to another branch: that merge; the first one
}

// Reserve returns a number for a commit that is going to be made. One that is not made must release it.
func (h *History) Reserve() uint32 {
	h.mu.Lock()
	defer h.mu.Unlock()
	for last := len(h.free) - 1; last >= 0; last-- {
		n := h.free[last]
		h.free = h.free[:last]
		if !h.used(n) { // another server may have been the writer meanwhile
			return n
		}
	}
	h.next = max(h.next, 1)
	h.next++
	return h.next - 1
}

// Release takes a number back for which no commit was made.
func (h *History) Release(n uint32) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.free = append(h.free, n)
}

// used reports whether a commit has a number.
func (h *History) used(number uint32) bool {
	return int(number) < len(h.origins.places) && h.origins.places[number] != 0
}

// OriginOf returns the number that the origins of rows have for commit n; 0 for none.
func (h *History) OriginOf(n int) uint32 {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.at(n).origin
}

// Origin returns the commit with a number in the origins of rows. ok is false if there is none. The proposal of the result is the
// one that brought the commit to another branch, or that the commit merged.
func (h *History) Origin(number uint32) (o Origin, ok bool) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if !h.used(number) {
		return Origin{}, false
	}
	n := int(h.origins.places[number] - 1)
	var c engine.Commit
	if p := h.at(n); p.odd() {
		c = h.odd[uint32(n)].Commit
	} else {
		c.Actor, c.Time = h.names[p.actor], time.UnixMicro(p.micros).UTC()
		unpackFacts(h.names[p.facts], &c)
	}
	o = Origin{Actor: c.Actor, Time: c.Time, Tool: c.Tool, Source: c.Source, Proposal: c.Proposal}
	if m, merged := h.merges[uint32(n)]; merged {
		o.Proposal = h.commit(int(m)).Proposal
	}
	return o, true
}

// Origin is what the origin of a row says of a commit.
type Origin struct {
	Actor, Tool, Source, Proposal string // empty for none
	Time                          time.Time
}

// enterOrigin enters commit n, which is new.
func (h *History) enterOrigin(n int, c logrecord.Commit) {
	if c.Number > 0 {
		h.at(n).origin = c.Number
		if missing := int(c.Number) + 1 - len(h.origins.places); missing > 0 {
			h.origins.places = append(h.origins.places, make([]uint32, missing)...)
		}
		h.origins.places[c.Number] = uint32(n) + 1
		h.next = max(h.next, c.Number+1)
	}
	if parents := h.parents(n); c.Proposal != "" && len(parents) > 1 && parents[0] > 0 && parents[1] > 0 {
		h.brought(int(parents[0]-1), int(parents[1]-1), int32(n))
	}
}

// brought notes that merge m brought to the line of commit `target` the ancestors of commit `source` that it did not have. Its time is
// proportional to the number of commits since the oldest of them.
func (h *History) brought(target, source int, m int32) {
	if h.merges == nil {
		h.merges = map[uint32]int32{}
	}
	const ours, theirs = 1, 2
	sides := map[int]uint8{}
	queue := &newestFirst{of: &h.commits}
	left := 0 // commits in the queue that only the source is known to have
	reach := func(n int, side uint8) {
		was, queued := sides[n]
		is := was | side
		sides[n] = is
		if was == theirs {
			left--
		}
		if is == theirs {
			left++
		}
		if !queued {
			heap.Push(queue, n)
		}
	}
	reach(target, ours)
	reach(source, theirs)
	for left > 0 {
		n := heap.Pop(queue).(int)
		side := sides[n]
		if side == theirs {
			left--
			if _, known := h.merges[uint32(n)]; !known {
				h.merges[uint32(n)] = m
			}
		}
		for _, p := range h.parents(n) {
			if p > 0 {
				reach(int(p-1), side)
			}
		}
	}
}

// packFacts returns the facts of a commit that few commits have, as one text; "" if it has none.
func packFacts(c *engine.Commit) string {
	if c.Tool == "" && c.Source == "" && c.Proposal == "" && len(c.Approvers) == 0 {
		return ""
	}
	return string(codec.AppendTexts(nil, slices.Concat([]string{c.Tool, c.Source, c.Proposal}, c.Approvers)))
}

// unpackFacts sets the facts that packFacts returned.
func unpackFacts(packed string, c *engine.Commit) {
	if packed == "" {
		return
	}
	r := &codec.Reader{Rest: []byte(packed)}
	all := r.Texts()
	c.Tool, c.Source, c.Proposal = all[0], all[1], all[2]
	if len(all) > 3 {
		c.Approvers = all[3:]
	}
}

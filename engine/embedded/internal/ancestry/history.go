// Package ancestry keeps the commits of a graph with their parents.
//
// A history never drops a commit. It finds the common ancestors of commits, which merges need.
package ancestry

import (
	"container/heap"
	"encoding/binary"
	"iter"
	"sync"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/codec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/format"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/logrecord"
)

// The block "commits" of a history segment:
//
//	format    1 byte
//	schemas   uvarint count; for each its digest, a text (uvarint length, bytes)
//	commits   uvarint count; for each its header, as in a record, and the index of its
//	          schema in schemas (uvarint)

// HistorySegment describes a stored segment of N commits.
type HistorySegment struct {
	Name string // name of the segment
	N    int    // number of commits
}

// History holds every commit of a graph. A commit's id is greater than the ids of its
// parents. History is safe for concurrent use.
type History struct {
	mu sync.RWMutex
	commits
	origins
	lines lines
}

// Add enters a commit and the log record that made it; lsn is 0 for a commit that is older
// than the log. Add ignores a commit that the history already has. The error is an *engine.Corrupt if the number of the commit in the
// origins of rows is none that Reserve gave; the history then has the commit without the number.
func (h *History) Add(c logrecord.Commit, lsn uint64) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, known := h.number(c.ID); known {
		return nil
	}
	h.add(c.Commit, lsn)
	return h.enterOrigin(h.n-1, c.Number)
}

// Len returns the number of commits.
func (h *History) Len() int {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.n
}

// Latest returns the greatest id of all commits, or "" if there are none.
func (h *History) Latest() string {
	v := h.current()
	if v.n == 0 {
		return ""
	}
	latest := 0
	for n := range v.n {
		if v.compare(n, latest) > 0 {
			latest = n
		}
	}
	return v.id(latest)
}

// current returns a view of the current commits.
func (h *History) current() commits {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.view()
}

// Slice yields each number n with from <= n < to, and the commit that has it.
func (h *History) Slice(from, to int) iter.Seq2[int, engine.Commit] {
	return func(yield func(int, engine.Commit) bool) {
		v := h.current()
		for n := from; n < to; n++ {
			if !yield(n, v.commit(n)) {
				return
			}
		}
	}
}

// Get returns a commit and the lsn of the log record that made it.
func (h *History) Get(id string) (c engine.Commit, lsn uint64, ok bool) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	n, ok := h.number(id)
	if !ok {
		return engine.Commit{}, 0, false
	}
	return h.commit(n), h.at(n).lsn, true
}

// At returns commit n.
func (h *History) At(n int) engine.Commit {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.commit(n)
}

// Number returns the number of a commit: its position in the order of entry.
func (h *History) Number(id string) (n int, ok bool) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.number(id)
}

// find returns a view of the current commits and the number of one of them.
func (h *History) find(id string) (v commits, n int, ok bool) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	n, ok = h.number(id)
	return h.view(), n, ok
}

// Ancestors calls the function `yield` with the number of each of the commits and each of their
// ancestors, once and in no particular order. It skips each commit with an id less than `least`,
// and the ancestors of such a commit. It allocates one bit for each commit of the history.
func (h *History) Ancestors(commits []string, least string, yield func(n int) bool) {
	var stack []int
	h.mu.RLock()
	for _, id := range commits {
		if n, ok := h.number(id); ok {
			stack = append(stack, n)
		}
	}
	v := h.view()
	h.mu.RUnlock()
	floor, packed := packedID(least)
	seen := engine.NewBitmap(v.n)
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen.Get(n) || v.compareTo(n, least, floor, packed) < 0 {
			continue
		}
		if seen.Set(n); !yield(n) {
			return
		}
		for _, p := range v.parents(n) {
			if p > 0 {
				stack = append(stack, int(p-1))
			}
		}
	}
}

// Line calls `yield` with the commit, then with its first parent, then with the first parent of
// that parent, and so on.
func (h *History) Line(id string, yield func(engine.Commit) bool) {
	v, n, ok := h.find(id)
	for ok {
		if !yield(v.commit(n)) {
			return
		}
		first := v.parents(n)[0]
		n, ok = int(first)-1, first > 0
	}
}

// LineNumbers does the same as Line, but yields the numbers of the commits.
func (h *History) LineNumbers(id string, yield func(n int) bool) {
	v, n, ok := h.find(id)
	for ok && yield(n) {
		first := v.parents(n)[0]
		n, ok = int(first)-1, first > 0
	}
}

// Before returns the id of the commit that Line yields after `skip` others. It returns "" if the line is
// shorter. It is much faster than Line, because it makes no engine.Commit.
func (h *History) Before(id string, skip uint64) string {
	v, n, ok := h.find(id)
	for ; ok && skip > 0; skip-- {
		first := v.parents(n)[0]
		n, ok = int(first)-1, first > 0
	}
	if !ok {
		return ""
	}
	return v.id(n)
}

// AsOf returns the id of the first commit that Line yields whose time is not after the instant, or "" if there is
// none.
func (h *History) AsOf(id string, at time.Time) string {
	v, n, ok := h.find(id)
	for limit := at.UnixMicro(); ok; {
		if v.time(n) <= limit {
			return v.id(n)
		}
		first := v.parents(n)[0]
		n, ok = int(first)-1, first > 0
	}
	return ""
}

// ID returns the id of commit n.
func (h *History) ID(n int) string {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.id(n)
}

// InLine reports whether Line yields the commit with the given id when it starts at the commit
// `head`.
func (h *History) InLine(id, head string) bool {
	v, n, ok := h.find(head)
	wanted, packed := packedID(id)
	for ok {
		switch c := v.compareTo(n, id, wanted, packed); {
		case c == 0:
			return true
		case c < 0:
			return false
		}
		first := v.parents(n)[0]
		n, ok = int(first)-1, first > 0
	}
	return false
}

// CommonAncestor returns the lowest common ancestor of two commits. Only a common ancestor that has
// no descendant among the common ancestors counts; of several, CommonAncestor returns the one with
// the greatest id. A commit counts as its own ancestor.
func (h *History) CommonAncestor(a, b string) (id string, ok bool) {
	if a == b {
		return a, true
	}
	h.mu.RLock()
	m, knownA := h.number(a)
	n, knownB := h.number(b)
	v := h.view()
	h.mu.RUnlock()
	if !knownA || !knownB {
		return "", false
	}
	const fromA, fromB = 1, 2
	seen := map[int]uint8{m: fromA, n: fromB}
	queue := &newestFirst{&v, []int{m, n}}
	heap.Init(queue)
	for queue.Len() > 0 {
		n := heap.Pop(queue).(int)
		sides := seen[n]
		if sides == fromA|fromB {
			return v.id(n), true
		}
		for _, p := range v.parents(n) {
			if p == 0 {
				continue
			}
			if _, queued := seen[int(p-1)]; !queued {
				heap.Push(queue, int(p-1))
			}
			seen[int(p-1)] |= sides
		}
	}
	return "", false
}

// newestFirst is a heap of commit numbers; the commit with the greatest id comes first.
type newestFirst struct {
	of   *commits // the commits that the numbers in list belong to
	list []int    // the commit numbers, in the order of a heap
}

// Len implements heap.Interface.
func (q *newestFirst) Len() int { return len(q.list) }

// Less implements heap.Interface.
func (q *newestFirst) Less(i, j int) bool { return q.of.compare(q.list[i], q.list[j]) > 0 }

// Swap implements heap.Interface.
func (q *newestFirst) Swap(i, j int) { q.list[i], q.list[j] = q.list[j], q.list[i] }

// Push implements heap.Interface.
func (q *newestFirst) Push(x any) { q.list = append(q.list, x.(int)) }

// Pop implements heap.Interface.
func (q *newestFirst) Pop() any {
	last := q.list[len(q.list)-1]
	q.list = q.list[:len(q.list)-1]
	return last
}

// AppendHistory appends the block "commits" of a history segment that holds each commit with a
// number n, where from <= n < to.
func (h *History) AppendHistory(dst []byte, from, to int) []byte {
	var digests []string
	at := map[string]uint64{}
	for _, c := range h.Slice(from, to) {
		if _, ok := at[c.Schema]; !ok {
			at[c.Schema] = uint64(len(digests))
			digests = append(digests, c.Schema)
		}
	}
	dst = append(dst, format.Current)
	dst = binary.AppendUvarint(dst, uint64(len(digests)))
	for _, d := range digests {
		dst = codec.AppendText(dst, d)
	}
	dst = binary.AppendUvarint(dst, uint64(to-from))
	for n, c := range h.Slice(from, to) {
		dst = logrecord.AppendHeader(dst, logrecord.Commit{Commit: c, Number: h.OriginOf(n)}, nil)
		dst = binary.AppendUvarint(dst, at[c.Schema])
	}
	return dst
}

// ReadHistory enters the commits of a block that AppendHistory wrote. The error is a
// *engine.Corrupt.
func (h *History) ReadHistory(b []byte) error {
	r := &codec.Reader{Rest: b}
	r.Format(format.History)
	digests := make([]string, r.Count())
	for i := range digests {
		digests[i] = r.Text()
	}
	for range r.Count() {
		c, _ := logrecord.ReadHeader(r)
		i := r.Index(len(digests))
		if r.Err != nil {
			break
		}
		c.Schema = digests[i]
		if err := h.Add(c, 0); err != nil {
			return err
		}
	}
	return r.Err
}

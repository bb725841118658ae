package version

import (
	"container/heap"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"github.com/omnigraph-go/omnigraph/engine"
)

// HistoryFormat is the format number of the block "commits" of a segment of history:
//
//	format    1 byte
//	schemas   uvarint count; of each its digest, a text (uvarint length, bytes)
//	commits   uvarint count; of each its header, as in a record, and which of the
//	          schemas (uvarint)
const HistoryFormat = 1

// HistorySegment names commits that are stored.
type HistorySegment struct {
	Name string
	N    int
}

// History knows every commit of a graph. A commit's id is greater than its parents'.
// It is safe for concurrent use.
type History struct {
	mu    sync.RWMutex
	byID  map[string]entry
	order []engine.Commit
}

// entry is a commit and the number of the log record that made it, 0 if it is older
// than the log.
type entry struct {
	at  int // in order
	lsn uint64
}

// Add enters a commit, made by a log record. One that is known already stays.
func (h *History) Add(c engine.Commit, lsn uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.byID == nil {
		h.byID = map[string]entry{}
	}
	if _, known := h.byID[c.ID]; !known {
		h.byID[c.ID] = entry{len(h.order), lsn}
		h.order = append(h.order, c)
	}
}

// Len returns the number of commits.
func (h *History) Len() int {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return len(h.order)
}

// Latest returns the greatest id of a commit, empty if there is none.
func (h *History) Latest() string {
	h.mu.RLock()
	defer h.mu.RUnlock()
	latest := ""
	for i := range h.order {
		latest = max(latest, h.order[i].ID)
	}
	return latest
}

// Slice returns the commits from number from up to number to.
func (h *History) Slice(from, to int) []engine.Commit {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.order[from:to:to]
}

// Get returns a commit and the log record that made it.
func (h *History) Get(id string) (c engine.Commit, lsn uint64, ok bool) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	e, ok := h.byID[id]
	if !ok {
		return engine.Commit{}, 0, false
	}
	return h.order[e.at], e.lsn, true
}

// Number returns the place of a commit in the order in which commits were entered.
func (h *History) Number(id string) (n int, ok bool) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	e, ok := h.byID[id]
	return e.at, ok
}

// Ancestors calls yield with each of the commits and each of their ancestors once, in no
// order, leaving out those whose id is less than least.
func (h *History) Ancestors(commits []string, least string, yield func(engine.Commit) bool) {
	seen := map[string]bool{}
	stack := slices.Clone(commits)
	for len(stack) > 0 {
		id := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[id] || id < least {
			continue
		}
		seen[id] = true
		c, _, ok := h.Get(id)
		if !ok {
			continue
		}
		if !yield(c) {
			return
		}
		stack = append(stack, c.Parents...)
	}
}

// Line calls yield with a commit, its first parent, and so on.
func (h *History) Line(id string, yield func(engine.Commit) bool) {
	for {
		c, _, ok := h.Get(id)
		if !ok || !yield(c) || len(c.Parents) == 0 {
			return
		}
		id = c.Parents[0]
	}
}

// InLine reports whether a commit is head or one that Line leads to from there.
func (h *History) InLine(id, head string) bool {
	found := false
	h.Line(head, func(c engine.Commit) bool {
		found = c.ID == id
		return c.ID > id
	})
	return found
}

// CommonAncestor returns the common ancestor of two commits with the greatest id,
// which no other descends from; a commit is its own ancestor.
func (h *History) CommonAncestor(a, b string) (id string, ok bool) {
	if a == b {
		return a, true
	}
	const fromA, fromB = 1, 2
	seen := map[string]uint8{a: fromA, b: fromB}
	queue := &newestFirst{a, b}
	heap.Init(queue)
	for queue.Len() > 0 {
		id := heap.Pop(queue).(string)
		sides := seen[id]
		if sides == fromA|fromB {
			return id, true
		}
		c, _, ok := h.Get(id)
		if !ok {
			continue
		}
		for _, p := range c.Parents {
			if _, queued := seen[p]; !queued {
				heap.Push(queue, p)
			}
			seen[p] |= sides
		}
	}
	return "", false
}

// newestFirst is a heap of commit ids.
type newestFirst []string

func (q newestFirst) Len() int           { return len(q) }
func (q newestFirst) Less(i, j int) bool { return q[i] > q[j] }
func (q newestFirst) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *newestFirst) Push(x any)        { *q = append(*q, x.(string)) }
func (q *newestFirst) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// AppendHistory appends the commits from number from up to number to, as a segment's
// block holds them.
func (h *History) AppendHistory(dst []byte, from, to int) []byte {
	commits := h.Slice(from, to)
	var digests []string
	at := map[string]uint64{}
	for _, c := range commits {
		if _, ok := at[c.Schema]; !ok {
			at[c.Schema] = uint64(len(digests))
			digests = append(digests, c.Schema)
		}
	}
	dst = append(dst, HistoryFormat)
	dst = binary.AppendUvarint(dst, uint64(len(digests)))
	for _, d := range digests {
		dst = appendText(dst, d)
	}
	dst = binary.AppendUvarint(dst, uint64(len(commits)))
	for _, c := range commits {
		dst = AppendHeader(dst, c, nil)
		dst = binary.AppendUvarint(dst, at[c.Schema])
	}
	return dst
}

// ReadHistory enters the commits of a segment's block. The error is a *engine.Corrupt.
func (h *History) ReadHistory(b []byte) error {
	r := &reader{b: b}
	if f := r.byte(); r.err == nil && f != HistoryFormat {
		r.fail(fmt.Sprintf("format %d, wanted %d", f, HistoryFormat))
	}
	digests := make([]string, r.count())
	for i := range digests {
		digests[i] = r.text()
	}
	for range r.count() {
		c, _ := r.header()
		i := r.index(len(digests))
		if r.err != nil {
			break
		}
		c.Schema = digests[i]
		h.Add(c, 0)
	}
	return r.err
}

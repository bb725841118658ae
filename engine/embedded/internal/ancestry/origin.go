package ancestry

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/codec"
)

// origins maps the numbers that the origins of rows have for commits. Such a number is reserved before the rows are made, and so
// before the commit gets its place in the order of entry. The lock of the history guards it.
type origins struct {
	places []uint32 // by number: the number of the commit in the order of entry plus one, or 0
	next   uint32   // numbers from here on are not reserved
	free   []uint32 // numbers below next that were released
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

// Origin returns the commit with a number in the origins of rows. ok is false if there is none.
func (h *History) Origin(number uint32) (o Origin, ok bool) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if !h.used(number) {
		return Origin{}, false
	}
	n := int(h.origins.places[number] - 1)
	if p := h.at(n); !p.odd() {
		f := &h.facts[p.facts]
		return Origin{Actor: h.names[p.actor], Time: time.UnixMicro(p.micros).UTC(), Tool: f.tool, Source: f.source}, true
	}
	c := h.odd[uint32(n)].Commit
	return Origin{Actor: c.Actor, Time: c.Time, Tool: c.Tool, Source: c.Source}, true
}

// Origin is what the origin of a row says of a commit.
type Origin struct {
	Actor, Tool, Source string // empty for none
	Time                time.Time
}

// enterOrigin enters the number of commit n, which is new. A number that is far beyond the number of commits is an *engine.Corrupt.
func (h *History) enterOrigin(n int, number uint32) error {
	if number == 0 {
		return nil
	}
	if most := 2*int64(h.n) + spareNumbers; int64(number) > most {
		return &engine.Corrupt{Object: "commit " + h.id(n), Detail: fmt.Sprintf("its number in the origins of rows is %d, expected at most %d", number, most)}
	}
	h.at(n).origin = number
	if missing := int(number) + 1 - len(h.origins.places); missing > 0 {
		h.origins.places = append(h.origins.places, make([]uint32, missing)...)
	}
	h.origins.places[number] = uint32(n) + 1
	h.next = max(h.next, number+1)
	return nil
}

// spareNumbers is how far a number in the origins of rows may lie beyond twice the number of commits. Numbers are given in the order
// in which commits begin, and those of failed writes are given again, so only the writes in progress can set them apart.
const spareNumbers = 1 << 16

// Proposals returns the function that finds which proposal brought the commit with a number in the origins of rows to the line of first
// parents that ends at the commit `at`; "" for none. A proposal brought what became an ancestor of the line with the merge of the
// proposal, and that merge itself. Later commits do not change the result. The first call for a line takes time proportional to the
// number of commits.
func (h *History) Proposals(at string) func(number uint32) string {
	v, tip, ok := h.find(at)
	var l *line
	return func(number uint32) string {
		h.mu.RLock()
		used := h.used(number)
		n := 0
		if used {
			n = int(h.origins.places[number] - 1)
		}
		h.mu.RUnlock()
		if !ok || !used || n > tip {
			return ""
		}
		h.lines.mu.Lock()
		defer h.lines.mu.Unlock()
		if l == nil {
			l = h.lines.to(&v, tip)
		}
		if m := l.brought[n]; m > 0 && int(m-1) <= tip {
			return v.proposal(int(m - 1))
		}
		return ""
	}
}

// lines keeps the lines of the commits that were read last.
type lines struct {
	mu   sync.Mutex
	kept []*line // the one used last first; at most maxLines
}

// maxLines is the maximum number of lines that are kept. One takes 4 bytes a commit.
const maxLines = 4

// line is the line of first parents that ends at a commit.
type line struct {
	tip     int
	brought []uint32 // by commit up to the tip: the oldest commit of the line that it is or is an ancestor of, plus one; 0 if there is none
}

// to returns a line that has commit `tip`. It may have descendants of it too.
func (all *lines) to(v *commits, tip int) *line {
	for i, l := range all.kept {
		if !l.has(tip) && !l.extend(v, tip) {
			continue
		}
		all.kept = slices.Insert(slices.Delete(all.kept, i, i+1), 0, l)
		return l
	}
	l := &line{tip: -1}
	l.extend(v, tip)
	all.kept = slices.Insert(all.kept[:min(len(all.kept), maxLines-1)], 0, l)
	return l
}

// has reports whether a commit is on the line.
func (l *line) has(n int) bool { return n < len(l.brought) && l.brought[n] == uint32(n)+1 }

// extend makes a commit the end of the line. It reports false if the line of this commit does not go through the end of l.
func (l *line) extend(v *commits, tip int) bool {
	var path []int
	n := tip
	for ; n > l.tip; n = int(v.parents(n)[0]) - 1 {
		path = append(path, n)
	}
	if n != l.tip {
		return false
	}
	l.brought = append(l.brought, make([]uint32, tip+1-len(l.brought))...)
	for _, by := range slices.Backward(path) {
		for left := []int{by}; len(left) > 0; {
			n := left[len(left)-1]
			left = left[:len(left)-1]
			if l.brought[n] > 0 {
				continue
			}
			l.brought[n] = uint32(by) + 1
			for _, p := range v.parents(n) {
				if p > 0 {
					left = append(left, int(p-1))
				}
			}
		}
	}
	l.tip = tip
	return true
}

// facts are what few commits have.
type facts struct {
	tool, source, proposal string
	approvers              []string
}

// proposal returns the proposal that commit n merged, or "".
func (h *commits) proposal(n int) string {
	if p := h.at(n); !p.odd() {
		return h.facts[p.facts].proposal
	}
	return h.odd[uint32(n)].Proposal
}

// factsOf returns the index in h.facts of the facts of a commit. It adds new ones.
func (h *commits) factsOf(c *engine.Commit) uint32 {
	packed := string(codec.AppendTexts(nil, slices.Concat([]string{c.Tool, c.Source, c.Proposal}, c.Approvers)))
	n, ok := h.factsAt[packed]
	if !ok {
		if h.factsAt == nil {
			h.factsAt = map[string]uint32{}
		}
		n = uint32(len(h.facts))
		f := facts{strings.Clone(c.Tool), strings.Clone(c.Source), strings.Clone(c.Proposal), nil} // they may alias a log record
		for _, a := range c.Approvers {
			f.approvers = append(f.approvers, strings.Clone(a))
		}
		h.facts, h.factsAt[packed] = append(h.facts, f), n
	}
	return n
}

package ancestry

import (
	"maps"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
)

// maxCovered limits the pairs that [baseFinder] keeps in memory, at about 100 bytes each.
const maxCovered = 1 << 18

// MergeBases returns the lowest common ancestors of all pairs of heads, each commit once,
// in descending order of ids. A head that is listed twice is its own base.
//
// The time is proportional to the number of commits between the heads and the oldest base,
// and the memory to the number of heads. If more than about 700 heads have criss-cross
// merges, the result may also have common ancestors that are not the lowest.
func (h *History) MergeBases(heads []string) []string { return h.mergeBases(heads, maxCovered) }

// mergeBases is MergeBases with a given value of maxCovered.
func (h *History) mergeBases(heads []string, maxCovered int) []string {
	f := baseFinder{v: h.current(), reached: map[int][][]int32{}, maxCovered: maxCovered}
	f.queue.of = &f.v
	times := map[int]int{} // number of heads that are this commit
	for _, id := range heads {
		if n, ok := h.Number(id); ok {
			times[n]++
		}
	}
	for i, n := range slices.Sorted(maps.Keys(times)) {
		f.paths = append(f.paths, 0)
		f.reach(n, []int32{int32(i)})
	}
	for left := len(times); left > 0 || f.mayMeet(); {
		n := f.queue.pop()
		if f.visit(n) || times[n] > 1 {
			f.bases = append(f.bases, f.v.id(n))
		}
		if times[n] > 0 {
			left--
		}
	}
	return f.bases
}

// baseFinder walks from the heads to their ancestors, the newest commit first. A token
// stands for one head, or for several heads that have the same ancestors among the commits
// not yet visited. A commit is a base if it is the first one that some pair of tokens both
// reached.
type baseFinder struct {
	v       commits           // a view of the history
	queue   commitQueue       // commits to visit
	reached map[int][][]int32 // by queued commit: the tokens of each visited child, ascending
	paths   []int32           // by token: the number of lists in `reached` that have it
	// covered holds the pairs of tokens for which a common ancestor was visited, in both
	// orders. It has no pair of tokens that share all their further ancestors: collapse
	// replaces such tokens by one.
	covered    map[int32]map[int32]bool
	pairs      int      // number of pairs in covered
	maxCovered int      // greatest number of pairs in covered
	bases      []string // ids of the bases found so far
}

// mayMeet reports whether two tokens can still meet at a commit that the search has not visited
// yet.
func (f *baseFinder) mayMeet() bool {
	q := f.queue.list
	return len(q) > 1 || len(q) == 1 && len(f.reached[q[0]]) > 1
}

// reach queues a commit. The given tokens reach the commit from one of its children.
func (f *baseFinder) reach(n int, tokens []int32) {
	if _, queued := f.reached[n]; !queued {
		f.queue.push(n)
	}
	f.reached[n] = append(f.reached[n], tokens)
	for _, t := range tokens {
		f.paths[t]++
	}
}

// visit visits a commit and queues its parents. All descendants of the commit must have
// been visited. It reports whether two tokens meet here for the first time.
func (f *baseFinder) visit(n int) (base bool) {
	lists := f.reached[n]
	delete(f.reached, n)
	for _, list := range lists {
		for _, t := range list {
			f.paths[t]--
		}
	}
	all := lists[0]
	if len(lists) > 1 {
		// Longest first: most of the other lists then add no tokens to it.
		slices.SortStableFunc(lists, func(a, b []int32) int { return len(b) - len(a) })
		all, base = f.mergeTokens(lists)
		all = f.collapse(all)
	}
	for _, p := range f.v.parents(n) {
		if p > 0 {
			f.reach(int(p-1), all)
		}
	}
	return base
}

// mergeTokens returns the union of the lists of tokens that reach a commit, and reports whether
// two of the tokens meet here for the first time. It records the pairs that meet here,
// except pairs with a token that reaches no other queued commit; see collapse.
func (f *baseFinder) mergeTokens(lists [][]int32) (all []int32, base bool) {
	all = lists[0]
	for _, list := range lists[1:] {
		if base {
			break
		}
		if added := without(list, all); len(added) > 0 {
			base = f.uncovered(added, all, list)
			all = union(all, added)
		}
	}
	if base {
		all = slices.Concat(lists...)
		slices.Sort(all)
		all = slices.Compact(all)
	}
	stay := f.stillQueued(lists[0])
	for _, list := range lists[1:] {
		list = f.stillQueued(list)
		if added := without(list, stay); len(added) > 0 {
			f.cover(added, stay, list)
			stay = union(stay, added)
		}
	}
	return all, base
}

// stillQueued returns the tokens that also reach another queued commit.
func (f *baseFinder) stillQueued(tokens []int32) (left []int32) {
	for _, t := range tokens {
		if f.paths[t] > 0 {
			left = append(left, t)
		}
	}
	return left
}

// uncovered reports whether a token of the list a has not met some token of the list b. It ignores
// the tokens in the ascending list `but`.
func (f *baseFinder) uncovered(a, b, but []int32) bool {
	for _, x := range a {
		met := f.covered[x]
		for _, y := range b {
			if !met[y] && !contains(but, y) {
				return true
			}
		}
	}
	return false
}

// cover records that each token of the list a has met each token of the list b, except for the
// tokens in the list `but`. It stops at maxCovered pairs.
func (f *baseFinder) cover(a, b, but []int32) {
	for _, x := range a {
		for _, y := range b {
			if f.pairs >= f.maxCovered {
				return
			}
			if f.covered[x][y] || contains(but, y) {
				continue
			}
			if f.covered == nil {
				f.covered = map[int32]map[int32]bool{}
			}
			for _, p := range [][2]int32{{x, y}, {y, x}} {
				if f.covered[p[0]] == nil {
					f.covered[p[0]] = map[int32]bool{}
				}
				f.covered[p[0]][p[1]] = true
			}
			f.pairs++
		}
	}
}

// collapse replaces the tokens that reach no other queued commit by one token, since all
// their further ancestors are the same. The new token has met the tokens that all the
// replaced ones have met, and the tokens that meet at this commit.
func (f *baseFinder) collapse(tokens []int32) []int32 {
	var one []int32
	left := make([]int32, 0, len(tokens))
	for _, t := range tokens {
		if f.paths[t] > 0 {
			left = append(left, t)
			continue
		}
		if one = append(one, t); len(one) == 1 {
			left = append(left, t)
		}
	}
	if len(one) == 0 {
		return left
	}
	for y := range f.covered[one[0]] {
		if slices.ContainsFunc(one[1:], func(x int32) bool { return !f.covered[x][y] }) {
			delete(f.covered[one[0]], y)
			delete(f.covered[y], one[0])
			f.pairs--
		}
	}
	for _, x := range one[1:] {
		for y := range f.covered[x] {
			delete(f.covered[y], x)
			f.pairs--
		}
		delete(f.covered, x)
	}
	f.cover(one[:1], f.stillQueued(left), nil)
	return left
}

// contains reports whether the ascending list contains x.
func contains(ascending []int32, x int32) bool {
	_, found := slices.BinarySearch(ascending, x)
	return found
}

// without returns the elements of a that b does not have; both lists ascend.
func without(a, b []int32) (left []int32) {
	for _, x := range a {
		if !contains(b, x) {
			left = append(left, x)
		}
	}
	return left
}

// union returns the elements that are in a or in b; both lists ascend.
func union(a, b []int32) []int32 {
	all := make([]int32, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		x := min(a[0], b[0])
		all = append(all, x)
		if a[0] == x {
			a = a[1:]
		}
		if b[0] == x {
			b = b[1:]
		}
	}
	return append(append(all, a...), b...)
}

// LowestWith returns the lowest common ancestors of a commit with each of the heads, each
// commit once. The time is proportional to the size of the history.
func (h *History) LowestWith(id string, heads []string) []string {
	v := h.current()
	of := engine.NewBitmap(v.n) // the ancestors of the commit
	h.Ancestors([]string{id}, "", func(n int) bool {
		if n < v.n {
			of.Set(n)
		}
		return true
	})
	var others []int // ancestors of the heads that are not ancestors of the commit
	h.Ancestors(heads, "", func(n int) bool {
		if n < v.n && !of.Get(n) {
			others = append(others, n)
		}
		return true
	})
	slices.SortFunc(others, v.compare)
	// A common ancestor of a head and the commit is the head itself, or a common ancestor of a
	// parent of the head and the commit. The one with the greatest id is the lowest common
	// ancestor.
	lowest := make(map[int]int, len(others))
	at := func(n int) (int, bool) {
		if n < v.n && of.Get(n) {
			return n, true
		}
		base, ok := lowest[n]
		return base, ok
	}
	for _, n := range others {
		for _, p := range v.parents(n) {
			if p == 0 {
				continue
			}
			base, ok := at(int(p - 1))
			if best, has := lowest[n]; ok && (!has || v.compare(base, best) > 0) {
				lowest[n] = base
			}
		}
	}
	found := map[int]bool{}
	for _, head := range heads {
		if n, ok := h.Number(head); ok {
			if base, ok := at(n); ok {
				found[base] = true
			}
		}
	}
	var bases []string
	for _, n := range slices.SortedFunc(maps.Keys(found), v.compare) {
		bases = append(bases, v.id(n))
	}
	return bases
}

// commitQueue is a heap of commit numbers; the commit with the greatest id comes first.
type commitQueue struct {
	of   *commits // the commits that the numbers in list belong to
	list []int    // the commit numbers, in the order of a heap
}

// push adds commit n to the heap.
func (q *commitQueue) push(n int) {
	q.list = append(q.list, n)
	for i := len(q.list) - 1; i > 0; {
		up := (i - 1) / 2
		if q.of.compare(q.list[i], q.list[up]) <= 0 {
			return
		}
		q.list[i], q.list[up] = q.list[up], q.list[i]
		i = up
	}
}

// pop removes the commit with the greatest id from the heap, and returns it.
func (q *commitQueue) pop() int {
	top, last := q.list[0], len(q.list)-1
	q.list[0] = q.list[last]
	q.list = q.list[:last]
	for i := 0; ; {
		down := 2*i + 1
		if down >= last {
			return top
		}
		if down+1 < last && q.of.compare(q.list[down+1], q.list[down]) > 0 {
			down++
		}
		if q.of.compare(q.list[down], q.list[i]) <= 0 {
			return top
		}
		q.list[i], q.list[down] = q.list[down], q.list[i]
		i = down
	}
}

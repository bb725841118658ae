package version

import (
	"maps"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
)

// maxCovered bounds the pairs of [baseFinder] in memory, at about 100 bytes each.
const maxCovered = 1 << 18

// MergeBases returns the lowest common ancestor of every two of the heads, each commit
// once, in descending order of ids. A head that is listed twice is the base of that pair.
//
// The time is proportional to the commits between the heads and the oldest base, and the
// memory to the number of heads. Where more than about 700 heads have merged one
// another crosswise, the list may also have common ancestors that are not the lowest.
func (h *History) MergeBases(heads []string) []string { return h.mergeBases(heads, maxCovered) }

func (h *History) mergeBases(heads []string, maxCovered int) []string {
	f := baseFinder{v: h.now(), reached: map[int][][]int32{}, maxCovered: maxCovered}
	f.queue.of = &f.v
	times := map[int]int{} // how many heads are this commit
	for _, id := range heads {
		if n, ok := h.Number(id); ok {
			times[n]++
		}
	}
	for i, n := range slices.Sorted(maps.Keys(times)) {
		f.paths = append(f.paths, 0)
		f.reach(n, []int32{int32(i)})
	}
	for left := len(times); left > 0 || f.joins(); {
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

// baseFinder walks from heads to their ancestors, the newest commit first. A token stands
// for heads that all further commits are ancestors of together; a commit is a base when it
// is the first that two tokens have both reached.
type baseFinder struct {
	v       commits
	queue   commitQueue
	reached map[int][][]int32 // of a queued commit: the tokens of each child that was visited, ascending
	paths   []int32           // of a token: in how many of these lists it is
	// covered has the pairs of tokens of which a common ancestor was visited, in both
	// orders. It has no pair of tokens that will reach all further commits together.
	covered    map[int32]map[int32]bool
	pairs      int
	maxCovered int
	bases      []string
}

// joins reports whether there are commits left at which tokens may meet.
func (f *baseFinder) joins() bool {
	q := f.queue.list
	return len(q) > 1 || len(q) == 1 && len(f.reached[q[0]]) > 1
}

// reach notes that tokens lead to a commit.
func (f *baseFinder) reach(n int, tokens []int32) {
	if _, queued := f.reached[n]; !queued {
		f.queue.push(n)
	}
	f.reached[n] = append(f.reached[n], tokens)
	for _, t := range tokens {
		f.paths[t]++
	}
}

// visit goes on from a commit, whose descendants were all visited, and reports whether two
// tokens meet there first.
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
		// The longest first: most of the others then have nothing that it has not.
		slices.SortStableFunc(lists, func(a, b []int32) int { return len(b) - len(a) })
		all, base = f.meet(lists)
		all = f.collapse(all)
	}
	for _, p := range f.v.parents(n) {
		if p > 0 {
			f.reach(int(p-1), all)
		}
	}
	return base
}

// meet joins the lists of tokens that lead to a commit, and reports whether two of them
// have met nowhere before. It notes the pairs that meet here, unless one of the two leads
// nowhere else: see collapse.
func (f *baseFinder) meet(lists [][]int32) (all []int32, base bool) {
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
	stay := f.staying(lists[0])
	for _, list := range lists[1:] {
		list = f.staying(list)
		if added := without(list, stay); len(added) > 0 {
			f.cover(added, stay, list)
			stay = union(stay, added)
		}
	}
	return all, base
}

// staying returns the tokens that lead to other commits too.
func (f *baseFinder) staying(tokens []int32) (left []int32) {
	for _, t := range tokens {
		if f.paths[t] > 0 {
			left = append(left, t)
		}
	}
	return left
}

// uncovered reports whether a token of a has not met one of b; those of but, which
// ascends, do not count.
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

// cover notes that each token of a has met each one of b that is none of but, while there
// is room.
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

// collapse makes one token of those that lead nowhere else: all further commits are
// ancestors of all of them. It has met the tokens that each of them has met, and those
// that are here.
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
	f.cover(one[:1], f.staying(left), nil)
	return left
}

func contains(ascending []int32, x int32) bool {
	_, found := slices.BinarySearch(ascending, x)
	return found
}

// without returns what a has and b has not; both ascend.
func without(a, b []int32) (left []int32) {
	for _, x := range a {
		if !contains(b, x) {
			left = append(left, x)
		}
	}
	return left
}

// union returns what either list has; both ascend.
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
// commit once. The time is proportional to the commits of the history.
func (h *History) LowestWith(id string, heads []string) []string {
	v := h.now()
	of := engine.NewBitmap(v.n) // the ancestors of the commit
	h.Ancestors([]string{id}, "", func(n int) bool {
		if n < v.n {
			of.Set(n)
		}
		return true
	})
	var others []int // the ancestors of heads that are none of the commit
	h.Ancestors(heads, "", func(n int) bool {
		if n < v.n && !of.Get(n) {
			others = append(others, n)
		}
		return true
	})
	slices.SortFunc(others, v.compare)
	// A common ancestor of a head and the commit is one of the commit, or one of a parent
	// of the head: of these the greatest is the lowest.
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

// commitQueue is a heap of numbers of commits, the greatest id first.
type commitQueue struct {
	of   *commits
	list []int
}

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

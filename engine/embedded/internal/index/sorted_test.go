package index

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/slow"
)

// shelf is a minimal table of numbers.
type shelf struct {
	values   []int // by row
	rows     Rows
	next     uint32
	compared int
}

func (s *shelf) compare(a, b uint32) int {
	s.compared++
	return cmp.Compare(s.values[a], s.values[b])
}

// put sets the row of an ordinal to a new row with a value.
func (s *shelf) put(owner *Owner, ord uint32, v int) {
	s.rows.Set(owner, ord, uint32(len(s.values)))
	s.values = append(s.values, v)
	s.next = max(s.next, ord+1)
}

// alive lists, in the order of values, the live ordinals with values of at least `low` and at most
// `high`.
func (s *shelf) alive(low, high int) []uint32 {
	var out []uint32
	for ord := range s.next {
		if row := s.rows.Get(ord); row != Dead && s.values[row] >= low && s.values[row] <= high {
			out = append(out, ord)
		}
	}
	slices.SortStableFunc(out, func(a, b uint32) int { return s.compare(s.rows.Get(a), s.rows.Get(b)) })
	return out
}

func (s *shelf) build() *Sorted { return NewSorted(s.alive(-1<<60, 1<<60), s.rows, s.next) }

func (s *shelf) between(x *Sorted, low, high int) Span {
	return x.Between(func(row uint32) bool { s.compared++; return s.values[row] < low },
		func(row uint32) bool { s.compared++; return s.values[row] > high })
}

func (s *shelf) check(t *testing.T, x *Sorted, low, high int) {
	t.Helper()
	want := s.alive(low, high)
	for _, desc := range []bool{false, true} {
		walk := x.Walk(s.between(x, low, high), desc, s.compare)
		var got []uint32
		last := 0
		for ord, row, ok := walk.Next(); ok; ord, row, ok = walk.Next() {
			if row != s.rows.Get(ord) {
				t.Fatalf("ordinal %d is in row %d, found %d", ord, s.rows.Get(ord), row)
			}
			if v := s.values[row]; len(got) > 0 && v != last && v < last != desc {
				t.Fatalf("descending %t: %d after %d", desc, v, last)
			} else {
				last = v
			}
			got = append(got, ord)
		}
		slices.Sort(got)
		sorted := slices.Sorted(slices.Values(want))
		if !slices.Equal(got, sorted) {
			t.Fatalf("%d to %d: found %d entities, expected %d", low, high, len(got), len(want))
		}
	}
}

// lowLevels makes small indexes have several levels, until the returned function is called.
func lowLevels() (restore func()) {
	entries, full := LevelEntries, FullLevel
	LevelEntries, FullLevel = 100, 2000
	return func() { LevelEntries, FullLevel = entries, full }
}

// TestSortedFollowsChanges updates an index to random later states and compares each with a list.
func TestSortedFollowsChanges(t *testing.T) {
	slow.Test(t)
	defer lowLevels()()
	r := rand.New(rand.NewPCG(5, 6))
	for _, size := range []int{0, 1, 300, 5000} {
		s := &shelf{}
		for ord := range uint32(size) {
			s.put(new(Owner), ord, r.IntN(500))
		}
		x := s.build()
		if size > 0 && !slices.Equal(x.levels[0].ords, s.alive(-1<<60, 1<<60)) {
			t.Fatal("level 0 differs from the values that it was made from")
		}
		first, remade, most := x.levels[0], 0, 0
		for range 40 {
			owner := new(Owner)
			for range 1 + r.IntN(200) {
				switch ord := uint32(r.IntN(int(s.next) + 1)); {
				case r.IntN(3) == 0 && ord < s.next:
					s.rows.Set(owner, ord, Dead)
				case ord == s.next || s.rows.Get(ord) != Dead:
					s.put(owner, ord, r.IntN(500))
				}
			}
			x = x.Update(s.next, s.rows, s.compare)
			if most = max(most, len(x.levels)); x.levels[0] != first {
				first, remade = x.levels[0], remade+1
			}
			if n, valid := x.All().Len(), len(s.alive(-1<<60, 1<<60)); n-x.invalid != valid {
				t.Fatalf("%d entries, of which %d are invalid, but %d entities are alive", n, x.invalid, valid)
			}
			low := r.IntN(500)
			s.check(t, x, low, low+r.IntN(100))
			s.check(t, x, -1<<60, 1<<60)
		}
		if size == 5000 && (remade == 0 || most < 3) {
			t.Errorf("level 0 was made anew %d times, and there were %d levels at most", remade, most)
		}
	}
}

// TestSortedTouchesWhatItReturns counts the comparisons that a range query takes in an index of
// 100,000 entities. Only the binary searches for the ends of the range may compare; reading an
// entity of the range takes no comparison.
func TestSortedTouchesWhatItReturns(t *testing.T) {
	slow.Test(t)
	s := &shelf{}
	for ord := range uint32(100_000) {
		s.values, s.next = append(s.values, int(ord*7919%100_000)), ord+1
	}
	x := s.build()
	s.compared = 0
	walk := x.Walk(s.between(x, 5000, 5099), false, s.compare)
	n := 0
	for _, _, ok := walk.Next(); ok; _, _, ok = walk.Next() {
		n++
	}
	if n != 100 || s.compared > 2*18 {
		t.Errorf("%d entities with %d comparisons, expected 100 with at most 36", n, s.compared)
	}
	span := s.between(x, 5000, 5099)
	if span.Len() != 100 {
		t.Errorf("the span has %d places, expected 100", span.Len())
	}
}

package toolsearch

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestHiddenEntries compares a search among some entries with a search in an index that has only
// those entries. The hidden entries must change neither which entries are found nor their order.
func TestHiddenEntries(t *testing.T) {
	entries := catalogEntries(t)
	whole := NewIndex(entries)
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		share := random.Float64()
		var visible []Entry
		var among []int
		for i, e := range entries {
			if random.Float64() < share {
				visible, among = append(visible, e), append(among, i)
			}
		}
		part := NewIndex(visible)
		for _, row := range rows(t, "testdata/practice.tsv")[:60] {
			for _, text := range []string{row[1], row[1][:len(row[1])/2], row[0]} {
				got, want := whole.Search(text, among), part.Search(text, indexes(len(visible)))
				for k := range want {
					want[k] = among[want[k]]
				}
				if !slices.Equal(got, want) {
					t.Fatalf("%q among %d entries\n got %v\nwant %v", text, len(visible), got, want)
				}
			}
		}
	}
}

// TestMatchesByLetters checks that a search finds each entry that contains all words of the text as
// letters. Typing a name letter by letter must always find the entry.
func TestMatchesByLetters(t *testing.T) {
	x, all := catalogIndex(t)
	random := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		e := &x.entries[random.IntN(len(x.entries))]
		texts := strings.Fields(e.Name + " " + e.Description)
		from := texts[random.IntN(len(texts))]
		at := random.IntN(len(from))
		text := strings.ToValidUTF8(from[at:at+random.IntN(len(from)-at)+1], "") + " " + e.Name[:random.IntN(len(e.Name)+1)]
		found := map[int]bool{}
		for _, i := range x.Search(text, all) {
			found[i] = true
		}
		for i := range x.folded {
			if _, ok := x.folded[i].grade(strings.Fields(fold(text))); ok && !found[i] {
				t.Fatalf("%q does not find %s", text, x.entries[i].Name)
			}
		}
	}
}

func TestNearest(t *testing.T) {
	x, all := catalogIndex(t)
	for _, tt := range []struct {
		text string
		n    int
		want string
	}{
		{"xcompoundx", 2, "get_compound promote_compound"},
		{"jjj", 3, "get_symbol find_symbols symbols_named"},
	} {
		var got []string
		for _, i := range x.Closest(tt.text, all, tt.n) {
			got = append(got, x.entries[i].Name)
		}
		if got := strings.Join(got, " "); got != tt.want {
			t.Errorf("%q: got %s, want %s", tt.text, got, tt.want)
		}
	}
	if got := x.Closest("compound", all[:2], 5); len(got) != 2 {
		t.Errorf("two entries, but %v are nearest", got)
	}
}

// BenchmarkSearch searches 5,000 entries: copies of the catalog, each with an additional word of
// its own.
func BenchmarkSearch(b *testing.B) {
	x := NewIndex(copies(b, 5000))
	all := indexes(5000)
	for _, text := range []string{"compound", "who calls a function", "clients whose unpayed bills are overdue since last month", "zzqx"} {
		b.Run(strings.ReplaceAll(text, " ", "_"), func(b *testing.B) {
			for b.Loop() {
				x.Search(text, all)
			}
		})
	}
}

func BenchmarkNewIndex(b *testing.B) {
	entries := copies(b, 5000)
	for b.Loop() {
		NewIndex(entries)
	}
}

func copies(t testing.TB, n int) []Entry {
	t.Helper()
	catalog := catalogEntries(t)
	entries := make([]Entry, n)
	for i := range entries {
		e := catalog[i%len(catalog)]
		word := fmt.Sprintf("w%dx", i)
		e.Name, e.Description = e.Name+"_"+word, e.Description+" "+word
		entries[i] = e
	}
	return entries
}

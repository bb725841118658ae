package textindex

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
)

// corpus is a table of texts. It computes the results that searches must have.
type corpus struct {
	library
	words [][]int        // by row: the words of its text
	live  map[uint32]int // row by ordinal
}

// put sets the text of an ordinal. Without words it deletes the ordinal, if that exists.
func (c *corpus) put(owner *index.Owner, ord uint32, words []int) {
	if len(words) == 0 && ord < c.next {
		c.rows.Set(owner, ord, index.Dead)
		delete(c.live, ord)
		return
	}
	var b strings.Builder
	for _, w := range words {
		b.WriteString(term(w) + " ")
	}
	c.live[ord] = len(c.texts)
	c.write(owner, ord, b.String())
	c.words = append(c.words, words)
}

// term returns word i. No stemmer changes it.
func term(i int) string { return fmt.Sprintf("w%d", i) }

// best returns the k best ordinals for the words of a query, with their scores. It includes the
// ordinals that tie with the last of the k. It scores every text.
func (c *corpus) best(query []int, k int) map[uint32]float64 {
	query = slices.Clone(query)
	slices.SortFunc(query, func(a, b int) int { return strings.Compare(term(a), term(b)) })
	query = slices.Compact(query)
	df, total := map[int]float64{}, 0
	counts := map[uint32]map[int]float64{}
	for ord, row := range c.live {
		total += len(c.words[row])
		for _, w := range c.words[row] {
			if slices.Contains(query, w) {
				if counts[ord] == nil {
					counts[ord] = map[int]float64{}
				}
				if counts[ord][w]++; counts[ord][w] == 1 {
					df[w]++
				}
			}
		}
	}
	n := float64(len(c.live))
	scores := map[uint32]float64{}
	for ord, count := range counts {
		relative := float64(len(c.words[c.live[ord]])) / (float64(total) / n)
		score := 0.0
		for _, w := range query {
			if tf := count[w]; tf > 0 {
				idf := math.Log(1 + (n-df[w]+0.5)/(df[w]+0.5))
				score += float64(idf * float64(tf*2.2) / (tf + float64(1.2*(0.25+float64(0.75*relative)))))
			}
		}
		scores[ord] = score
	}
	if sorted := slices.Sorted(maps.Values(scores)); len(sorted) > k {
		maps.DeleteFunc(scores, func(_ uint32, x float64) bool { return x < sorted[len(sorted)-k] })
	}
	return scores
}

// skewed draws words by Zipf's law and repeats some of them. Usually it draws at most `most` words,
// sometimes many more.
func skewed(r *rand.Rand, zipf *rand.Zipf, most int) []int {
	n := 1 + r.IntN(most)
	if r.IntN(200) == 0 {
		n = 600
	}
	words := make([]int, 0, n)
	for range n {
		w := int(zipf.Uint64())
		for range 1 + max(0, r.IntN(40)-36)*r.IntN(8) {
			words = append(words, w)
		}
	}
	return words
}

// TestTopOfSkewedTexts searches texts with words of very different frequencies: in one index and in
// several, with dead texts, in memory and after a reopen. The best texts must equal those that a
// comparison of all texts finds, and the scores must be equal bit for bit.
func TestTopOfSkewedTexts(t *testing.T) {
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 5))
		zipf := rand.NewZipf(r, 1.05+r.Float64(), 2, 3000)
		c := &corpus{live: map[uint32]int{}}
		owner := new(index.Owner)
		for range 200 + r.IntN(2+int(seed%3)*6*minSpan) {
			c.put(owner, c.next, skewed(r, zipf, 20))
		}
		v := NewView(c.next, c.rows, c.source)
		for round := range 6 {
			compareTop(t, fmt.Sprintf("seed %d, round %d", seed, round), c, v, r, zipf)
			if t.Failed() {
				return
			}
			owner := new(index.Owner)
			for range 1 + r.IntN(int(c.next)/(4<<round)) {
				ord := r.Uint32N(c.next + 1)
				if r.IntN(3) == 0 {
					ord = c.next
				}
				words := skewed(r, zipf, 20<<round) // so that the average length grows
				if ord < c.next && r.IntN(2) == 0 {
					words = nil
				}
				c.put(owner, ord, words)
			}
			v = v.Update(c.next, c.rows, c.source)
			if round == 3 {
				v = reopened(t, v, c, new(pieceCount))
			}
		}
		if len(v.runs) < 2 {
			t.Errorf("seed %d ends with one run", seed)
		}
	}
}

func compareTop(t *testing.T, what string, c *corpus, v *View, r *rand.Rand, zipf *rand.Zipf) {
	t.Helper()
	var s Scorer
	for range 12 {
		var query []int
		var tokens []string
		for range 1 + r.IntN(1+r.IntN(12)) {
			w := int(zipf.Uint64())
			if r.IntN(2) == 0 {
				w = r.IntN(300)
			}
			query, tokens = append(query, w), append(tokens, term(w))
		}
		k := []int{1, 3, 10, 200, 1 << 20}[r.IntN(5)]
		s.Begin(v, tokens)
		want, got := c.best(query, k), map[uint32]float64{}
		for _, f := range s.Top(k) {
			if _, twice := got[f.Ord]; twice {
				t.Errorf("%s: the best %d of %v have %d twice", what, k, query, f.Ord)
			}
			got[f.Ord] = f.Score
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: the best %d of %v are\n%v, want\n%v", what, k, query, got, want)
		}
		for ord := range want {
			if x := s.Score(ord); x != want[ord] {
				t.Errorf("%s: %d has score %v for %v, want %v", what, ord, x, query, want[ord])
			}
		}
		s.End()
	}
}

// pieceCount counts the pieces of blocks: those that were read, and all.
type pieceCount struct{ read, all int }

// memorySource is a segment in memory.
type memorySource struct {
	blocks memoryFile
	count  *pieceCount
}

func (memorySource) Name() string { return "memory" }

func (m memorySource) Block(name string) ([]byte, error) {
	if b, ok := m.blocks[name]; ok {
		return b, nil
	}
	return nil, &engine.NotFound{What: "block", Name: name}
}

func (m memorySource) Pieces(name string) (column.Pieces, error) {
	b, err := m.Block(name)
	m.count.all += (len(b) + windowBytes - 1) / windowBytes
	return &countedPieces{data: b, seen: map[int]bool{}, count: m.count}, err
}

type countedPieces struct {
	data  []byte
	seen  map[int]bool
	count *pieceCount
}

func (p *countedPieces) Len() int { return len(p.data) }

func (p *countedPieces) Range(from, to int) ([]byte, error) {
	for i := from / windowBytes; i*windowBytes < to; i++ {
		if !p.seen[i] {
			p.seen[i] = true
			p.count.read++
		}
	}
	return p.data[from:to:to], nil
}

func (*countedPieces) Prefetch(int, int) {}

func (*countedPieces) WorthWhole() bool { return true }

func (p *countedPieces) Append(dst []byte, from, to int) ([]byte, error) {
	b, err := p.Range(from, to)
	return append(dst, b...), err
}

// reopened stores the indexes of a view and opens them again.
func reopened(t *testing.T, v *View, c *corpus, count *pieceCount) *View {
	t.Helper()
	var parts []Part
	for i, x := range v.Parts() {
		m := memorySource{memoryFile{}, count}
		if err := x.Blocks(func(name string, data []byte) error {
			m.blocks[name] = slices.Clone(data)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		parts = append(parts, Part{Name: fmt.Sprint(i), Source: m})
	}
	u := OpenView(c.next, c.rows, uint32(len(c.texts)), parts)
	return u.Update(c.next, c.rows, c.source)
}

// TestSearchReadsItsWords opens a stored index and searches for one rare word. The open and the
// search must read only a few pieces of the index.
func TestSearchReadsItsWords(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	c := &corpus{live: map[uint32]int{}}
	owner := new(index.Owner)
	for range 40_000 {
		words := make([]int, 30)
		for i := range words {
			words[i] = r.IntN(40_000)
		}
		c.put(owner, c.next, words)
	}
	count := new(pieceCount)
	v := reopened(t, NewView(c.next, c.rows, c.source), c, count)
	if count.all < 60 || count.read > 0 {
		t.Fatalf("opening read %d of %d pieces", count.read, count.all)
	}
	var s Scorer
	s.Begin(v, []string{term(77)})
	if len(s.Top(10)) < 10 {
		t.Error("the search found too little")
	}
	if count.read > 16 {
		t.Errorf("one search read %d of %d pieces", count.read, count.all)
	}
}

// TestTopOfParts searches an index in two parts. The best texts are in the first part, and no text of
// the second part can be among them. So the search must not read the postings there.
func TestTopOfParts(t *testing.T) {
	const best, others = 80_000, 60_000
	c := &corpus{live: map[uint32]int{}}
	owner := new(index.Owner)
	for range best {
		c.put(owner, c.next, []int{1, 1, 1})
	}
	for range others {
		c.put(owner, c.next, []int{1, 2, 3, 4})
	}
	// search returns the number of pieces of the second part that a first search reads.
	search := func(word string) int {
		var counts []*pieceCount
		v, err := BuildInParts(index.Work{Ctx: t.Context()}, c.next, c.rows, Parts{
			Open: func() Texts { return c }, Begin: func(uint32) {}, Bytes: best * len("w1 w1 w1 "),
			Store: func(write func(to File) error) (Part, error) {
				m := memorySource{memoryFile{}, new(pieceCount)}
				counts = append(counts, m.count)
				return Part{Name: fmt.Sprint(len(counts)), Source: m}, write(m.blocks)
			},
		})
		if err != nil || len(counts) != 2 {
			t.Fatalf("%d parts, error %v", len(counts), err)
		}
		var s Scorer
		s.Begin(v, []string{word})
		defer s.End()
		if n := len(s.Top(10)); n < 10 {
			t.Fatalf("the search for %s found %d texts", word, n)
		}
		return counts[1].read
	}
	if few, many := search(term(1)), search(term(2)); few > many-2 {
		t.Errorf("after the best texts a search read %d pieces of the second part; a search that needs them read %d", few, many)
	}
}

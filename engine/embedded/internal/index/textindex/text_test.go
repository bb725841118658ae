package textindex

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/internal/tokenizer"
)

// library is a minimal table of texts.
type library struct {
	texts []string // by row; "-" for null
	rows  index.Rows
	next  uint32
}

func (l *library) source(row uint32) (string, bool) { return l.texts[row], l.texts[row] != "-" }

func (l *library) Text(row uint32) (string, bool) { return l.source(row) }

func (l *library) Size(row uint32) int { return len(l.texts[row]) }

// memoryFile holds the blocks of a segment by name.
type memoryFile map[string][]byte

func (f memoryFile) AddBlock(name string, data []byte) error {
	f[name] = append([]byte{}, data...)
	return nil
}

func (f memoryFile) AddStream(name string, pieces func(put func(data []byte) error) error) error {
	f[name] = []byte{}
	return pieces(func(data []byte) error {
		f[name] = append(f[name], data...)
		return nil
	})
}

// write sets the text of an ordinal, which is an existing one or the next new one.
func (l *library) write(owner *index.Owner, ord uint32, text string) {
	l.rows.Set(owner, ord, uint32(len(l.texts)))
	l.texts = append(l.texts, text)
	l.next = max(l.next, ord+1)
}

// check compares a view with the texts.
func (l *library) check(t *testing.T, v *View, vocabulary []string) {
	t.Helper()
	live := map[uint32][]string{}
	total := 0
	for ord := range l.next {
		if row := l.rows.Get(ord); row != index.Dead {
			if s, ok := l.source(row); ok {
				live[ord] = tokenizer.AppendTokens(nil, s)
				total += len(live[ord])
			}
		}
	}
	if v.Documents() != uint64(len(live)) || v.sum != uint64(total) {
		t.Fatalf("%d texts with %d tokens, want %d with %d", v.Documents(), v.sum, len(live), total)
	}
	df := map[string]int{}
	for _, w := range vocabulary {
		set := engine.NewBitmap(int(l.next))
		v.Any([]string{w}, set)
		for ord := range l.next {
			has := slices.Contains(live[ord], w)
			if has {
				df[w]++
			}
			if set.Get(int(ord)) != has {
				t.Fatalf("%s in %d: %t, want %t", w, ord, !has, has)
			}
		}
		if got := v.Frequency(w); int(got) != df[w] {
			t.Fatalf("%s is in %d texts, want %d", w, got, df[w])
		}
	}
	var s Scorer
	query := []string{vocabulary[0], vocabulary[1], vocabulary[0], vocabulary[len(vocabulary)-1]}
	s.Begin(v, slices.Clone(query))
	slices.Sort(query)
	query = slices.Compact(query)
	n, average := float64(len(live)), float64(total)/float64(max(1, len(live)))
	scores := make([]float64, l.next)
	for ord := range l.next {
		want := 0.0
		for _, w := range query {
			tf := 0.0
			for _, x := range live[ord] {
				if x == w {
					tf++
				}
			}
			if tf > 0 {
				d := float64(df[w])
				idf := math.Log(1 + (n-d+0.5)/(d+0.5))
				want += float64(idf * float64(tf*2.2) / (tf + float64(1.2*(0.25+float64(0.75*(float64(len(live[ord]))/average))))))
			}
		}
		if got := s.Score(ord); got != want {
			t.Fatalf("score of %d is %v, want %v", ord, got, want)
		}
		scores[ord] = want
	}
	for _, k := range []int{1, 3, 10, 1000} {
		best := slices.DeleteFunc(slices.Clone(scores), func(x float64) bool { return x == 0 })
		slices.SortFunc(best, func(a, b float64) int { return -cmpFloat(a, b) })
		least := 0.0
		if len(best) >= k {
			least = best[k-1]
		}
		want := map[uint32]float64{}
		for ord, x := range scores {
			if x > 0 && x >= least {
				want[uint32(ord)] = x
			}
		}
		got := s.Top(k)
		if len(got) != len(want) {
			t.Fatalf("the best %d are %d, want %d", k, len(got), len(want))
		}
		for _, f := range got {
			if want[f.Ord] != f.Score {
				t.Fatalf("the best %d: %d has %v, want %v", k, f.Ord, f.Score, want[f.Ord])
			}
		}
	}
	s.End()
}

func cmpFloat(a, b float64) int {
	if a < b {
		return -1
	}
	return 1
}

// TestTextView updates a view through writes and deletes.
func TestTextView(t *testing.T) {
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 1))
		var vocabulary []string
		for i := range 12 {
			vocabulary = append(vocabulary, fmt.Sprintf("w%d", i))
		}
		sentence := func() string {
			if r.IntN(10) == 0 {
				return "-"
			}
			var b strings.Builder
			for range r.IntN(12) {
				fmt.Fprintf(&b, "%s the ", vocabulary[min(r.IntN(12), r.IntN(12))])
			}
			if r.IntN(40) == 0 {
				b.WriteString(strings.Repeat("w1 ", 250+r.IntN(20)))
			}
			return b.String()
		}
		l := &library{}
		owner := new(index.Owner)
		for range r.IntN(2) * r.IntN(3000) {
			l.write(owner, l.next, sentence())
		}
		views := []*View{NewView(l.next, l.rows, l.source)}
		l.check(t, views[0], vocabulary)
		first := *l
		for range 14 {
			owner := new(index.Owner)
			for range 1 + r.IntN(1+r.IntN(400)) {
				switch ord := r.Uint32N(l.next + 1); {
				case ord == l.next || r.IntN(3) > 0:
					l.write(owner, ord, sentence())
				default:
					l.rows.Set(owner, ord, index.Dead)
				}
			}
			v := views[len(views)-1].Update(l.next, l.rows, l.source)
			l.check(t, v, vocabulary)
			views = append(views, v)
			if n := len(v.runs); n > 16 {
				t.Fatalf("%d runs", n)
			}
		}
		first.check(t, views[0], vocabulary) // later views must not change the first
		// Update from the first state to the last in one step.
		l.check(t, views[0].Update(l.next, l.rows, l.source), vocabulary)
	}
}

// TestTextParts builds an index in parts and updates it. The index must equal an index that was
// built in one part. An update must not merge two parts that are too large together.
func TestTextParts(t *testing.T) {
	defer func(was int) { maxMerged = was }(maxMerged)
	maxMerged = 20_000
	r := rand.New(rand.NewPCG(5, 6))
	c := &corpus{live: map[uint32]int{}}
	owner := new(index.Owner)
	write := func(ord uint32) {
		words := make([]int, 1+r.IntN(20))
		for i := range words {
			words[i] = r.IntN(300)
		}
		c.put(owner, ord, words)
	}
	for range 3000 {
		write(c.next)
	}
	for range 300 {
		c.put(owner, uint32(r.IntN(3000)), nil)
	}
	w := index.Work{Ctx: t.Context()}
	var passed []uint32
	stored := 0
	parts := Parts{
		Open: func() Texts { return c }, Bytes: 30_000,
		Begin: func(first uint32) { passed = append(passed, first) },
		Store: func(write func(to File) error) (Part, error) {
			m := memorySource{memoryFile{}, new(pieceCount)}
			stored++
			return Part{Name: fmt.Sprint(stored), Source: m}, write(m.blocks)
		},
	}
	v, err := BuildInParts(w, c.next, c.rows, parts)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(v.Parts()); n < 4 || n != stored || len(passed) != n || !slices.IsSorted(passed) {
		t.Fatalf("there are %d parts, %d were stored, and the parts begin at %v", n, stored, passed)
	}
	verify := func(when string) {
		t.Helper()
		if part, err := v.Verify(c.source); err != nil {
			t.Errorf("%s: part %q: %v", when, part, err)
		}
	}
	verify("after the build")
	built := v.Parts()
	for round := range 40 {
		owner = new(index.Owner)
		for range 20 {
			write(c.next)
			write(uint32(r.IntN(3000)))
		}
		if v, err = Update(w, v, c.next, c.rows, c.source); err != nil {
			t.Fatal(err)
		}
		verify(fmt.Sprint("update ", round))
	}
	for i, x := range v.Parts() {
		if i < len(built) && x.Name() == "" && x.size() > maxMerged && x.docs > built[i].docs {
			t.Errorf("part %d of %d bytes was merged with another", i, x.size())
		}
	}
	if n := len(v.Parts()); n < len(built) || n > len(built)+12 {
		t.Errorf("after the updates there are %d parts, before them %d", n, len(built))
	}
	errFull := errors.New("the disk is full")
	parts.Store = func(func(File) error) (Part, error) { return Part{}, errFull }
	if _, err := BuildInParts(w, c.next, c.rows, parts); err != errFull {
		t.Errorf("a build whose part cannot be stored: error %v", err)
	}
}

// TestTextNameConcurrently sets the name of an index while other goroutines read the name. The race
// detector must find no race.
func TestTextNameConcurrently(t *testing.T) {
	v := NewView(1, index.Rows{}, func(uint32) (string, bool) { return "hello", true })
	x := v.Parts()[0]
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 1000 {
			if name := v.anyPart(); name != "" && name != "7" {
				t.Errorf("the name is %q", name)
			}
		}
	}()
	x.Named("7")
	<-done
	if x.Name() != "7" {
		t.Errorf("the name is %q", x.Name())
	}
}

// TestTextOfAnotherAnalyzer opens stored indexes of texts that are not those of the table. An index of this
// analyzer is used, so Verify finds the difference. An index of another analyzer is built
// again from the texts, within the limits of the call.
func TestTextOfAnotherAnalyzer(t *testing.T) {
	said := func(s string) Source { return func(uint32) (string, bool) { return s, true } }
	for _, c := range []struct {
		name string
		meta func(b []byte) []byte
		used bool
	}{
		{"this analyzer", func(b []byte) []byte { return b }, true},
		{"an older analyzer", func(b []byte) []byte { b[1]--; return b }, false},
		{"a newer analyzer", func(b []byte) []byte { b[1]++; return b }, false},
	} {
		m := memorySource{memoryFile{}, new(pieceCount)}
		if err := NewView(3, index.Rows{}, said("caf\u00e9")).Parts()[0].Blocks(m.blocks.AddBlock); err != nil {
			t.Fatal(err)
		}
		m.blocks["text"] = c.meta(m.blocks["text"])
		v := OpenView(3, index.Rows{}, 3, []Part{{"old", m}})
		if !c.used {
			full := errors.New("no memory")
			if _, err := Update(index.Work{Ctx: t.Context(), Spend: func(int) error { return full }}, v, 3, index.Rows{}, said("th\u00e9")); err != full {
				t.Errorf("%s: a build without memory returns the error %v", c.name, err)
			}
		}
		v = v.Update(3, index.Rows{}, said("th\u00e9"))
		if _, err := v.Verify(said("th\u00e9")); (err != nil) != c.used {
			t.Errorf("%s: %v", c.name, err)
		}
		if n := v.Frequency("cafe"); (n == 3) != c.used {
			t.Errorf("%s: %d texts have the word of the stored index", c.name, n)
		}
	}
}

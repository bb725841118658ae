package textindex

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/internal/slow"
)

// TestBuildInRanges compares indexes that were built from one range and from several.
func TestBuildInRanges(t *testing.T) {
	slow.Test(t)
	rng := rand.New(rand.NewPCG(7, 8))
	texts := make([]string, 20_000)
	for i := range texts {
		switch i % 100 {
		case 0: // null
		case 1:
			texts[i] = strings.Repeat("often ", 300+i%7) // more than one byte can count
		default:
			for range 1 + rng.IntN(12) {
				texts[i] += fmt.Sprint(" w", rng.IntN(1+rng.IntN(3000)))
			}
		}
	}
	source := func(row uint32) (string, bool) { return texts[row], texts[row] != "" }
	build := func(processors int) *View {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		return NewView(uint32(len(texts)), index.Rows{}, source)
	}
	want := build(1)
	often := uint32(0)
	for _, o := range want.occurrences("often") {
		often = max(often, o.freq)
	}
	if len(want.runs) != 1 || want.docs != 19_800 || often != 306 {
		t.Fatalf("%d runs of %d documents, at most %d occurrences", len(want.runs), want.docs, often)
	}
	for _, processors := range []int{2, 3, 4} {
		got := build(processors)
		if !reflect.DeepEqual(got.runs[0].Text, want.runs[0].Text) || got.sum != want.sum || got.docs != want.docs {
			t.Errorf("%d processors build another index", processors)
		}
	}

	spent, refused := 0, errors.New("too much")
	w := index.Work{Ctx: t.Context(), Spend: func(n int) error {
		if spent += n; spent > 1<<19 {
			return refused
		}
		return nil
	}}
	if _, err := Build(w, uint32(len(texts)), index.Rows{}, source); !errors.Is(err, refused) {
		t.Errorf("an index past its budget: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	w = index.Work{Ctx: ctx}
	_, err := Build(w, uint32(len(texts)), index.Rows{}, func(row uint32) (string, bool) {
		if row == 5000 {
			cancel()
		}
		return source(row)
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("an index that is cancelled: %v", err)
	}
}

package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq"
)

// TestCountOnSeveralProcessors counts the walks of three edges in a ring with chords. With each limit of the memory with which
// one processor has the answer, several have it, too. Neither counts after the context has ended.
func TestCountOnSeveralProcessors(t *testing.T) {
	const persons, chords = 2000, 3
	schema, faults := gq.CompileSchema(gq.Source{Name: "town.pg", Text: townSchema})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	queries, faults := gq.CompileQueries(schema, gq.Source{Name: "q.gq", Text: `query q() { match { $a knows $b $b knows $c $c knows $d $d knows $a } return { count($a) as n } }
query r() { match { $a knows $b $b knows $c not { $a knows $c } } return { count($a) as n } }`})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for i := range persons {
		fmt.Fprintf(&lines, "{\"type\":\"Person\",\"data\":{\"n\":%d}}\n", i)
	}
	steps := [chords]int{1, 2, persons - 3}
	for i := range persons {
		for _, s := range steps {
			fmt.Fprintf(&lines, "{\"edge\":\"Knows\",\"from\":\"%d\",\"to\":\"%d\"}\n", i, (i+s)%persons)
		}
	}
	rings, open := int64(0), int64(0)
	for _, a := range steps {
		for _, b := range steps {
			for _, c := range steps {
				for _, d := range steps {
					if (a+b+c+d)%persons == 0 {
						rings += persons
					}
				}
			}
			if sum := (a + b) % persons; sum != steps[0] && sum != steps[1] && sum != steps[2] {
				open += persons
			}
		}
	}
	count := func(ctx context.Context, opts embedded.Options, query int) (int64, error) {
		g, err := embedded.OpenMemory(t.Context(), townSchema, schema, opts)
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		if _, err := g.Load(t.Context(), strings.NewReader(lines.String()), engine.LoadOptions{Mode: engine.Append}); err != nil {
			t.Fatal(err)
		}
		res, err := g.Query(ctx, queries[query].Plan, nil, engine.Target{})
		if err != nil {
			return 0, err
		}
		defer res.Close()
		batch, err := res.Next(ctx)
		if err != nil {
			return 0, err
		}
		return batch.Columns[0].Ints[0], nil
	}
	enough := 0
	for memory := int64(8 << 10); memory < 4<<20; memory = memory * 3 / 2 {
		for query, want := range []int64{rings, open} {
			opts := embedded.Options{QueryMemory: memory}
			alone, err := count(t.Context(), opts, query)
			var large *engine.TooLarge
			if errors.As(err, &large) {
				continue
			} else if err != nil || alone != want {
				t.Fatalf("query %d with %d bytes: one processor counts %d, %v, want %d", query, memory, alone, err, want)
			}
			enough++
			if n, err := count(t.Context(), opts.SplitAll(), query); err != nil || n != want {
				t.Errorf("query %d with %d bytes: several processors count %d, %v, want %d", query, memory, n, err, want)
			}
		}
	}
	if enough == 0 {
		t.Error("no limit of the memory is enough")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := count(ctx, embedded.Options{}.SplitAll(), 0); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the context: %v", err)
	}
}

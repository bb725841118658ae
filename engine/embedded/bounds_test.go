package embedded

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/fs"
)

// TestKeptTexts runs reads that keep long texts of several frames, with and without enough memory. The texts must
// count to the memory of the query as long as the query keeps them.
func TestKeptTexts(t *testing.T) {
	const people, small, large = 3000, 8 << 20, 64 << 20
	text := fmt.Sprintf("%q", strings.Repeat("x", 4000)) // those of all people take 12 MB, those of one frame 4 MB
	graphs := map[int64]*Graph{}
	for _, memory := range []int64{small, large} {
		graphs[memory] = create(t, fs.NewMem(), Options{QueryMemory: memory})
		if err := loadText(graphs[memory], engine.Merge, crowdOf(people)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name, query string
		rows        int
		fits        bool // the small memory is enough, because few texts are kept at a time
	}{
		{"collect", `match { $p: Person } return { $p.age as age, collect(TEXT + $p.name) as l }`, 90, false},
		{"collect of a part", `match { $p: Person } return { $p.age as age, collect(trim(TEXT + $p.name)) as l }`, 90, false},
		{"max", `match { $p: Person } return { $p.name as name, max(TEXT + $p.name) as m }`, people, false},
		{"max of few groups", `match { $p: Person } return { $p.age as age, max(TEXT + $p.name) as m }`, 90, true},
		{"a sort key with if", `match { $p: Person } return { $p.name as name } order { if($p.age >= 0, TEXT + $p.name, "") }`, people, false},
		{"a sort key with coalesce", `match { $p: Person } return { $p.name as name } order { coalesce(TEXT + $p.name, "") }`, people, false},
		{"a sort key with a block", `match { $p: Person } return { $p.name as name } order { max { $q: Person $q = $p return TEXT + $q.name } }`, people, false},
		{"a sort key with a field", `match { $p: Person } return { $p.name as name, first { $q: Person $q = $p return { TEXT + $q.name as x } } as f } order { f.x }`, people, false},
		{"a column with a block", `match { $p: Person } return { $p.name as name, max { $q: Person $q = $p return TEXT + $q.name } as m }`, people, true},
		{"a column with a field", `match { $p: Person } return { $p.name as name, first { $q: Person $q = $p return { TEXT + $q.name as x } } as f, f.x as x }`, people, true},
	} {
		for memory, g := range graphs {
			r, err := g.Query(t.Context(), compiled(t, strings.Replace(tt.query, "TEXT", text, 1)), nil, engine.Target{})
			rows := 0
			if err == nil {
				rows, err = drain(t.Context(), r)
			}
			if memory == large || tt.fits {
				if err != nil || rows != tt.rows {
					t.Errorf("%s with %d bytes of memory: %d rows, error %v, want %d rows", tt.name, memory, rows, err, tt.rows)
				}
				continue
			}
			var tooLarge *engine.TooLarge
			if !errors.As(err, &tooLarge) || tooLarge.Resource != "bytes of memory for one query" {
				t.Errorf("%s with %d bytes of memory: %d rows, error %v, want a *engine.TooLarge of the memory", tt.name, memory, rows, err)
			}
		}
	}
}

// TestManyTypesWhileOthersAreServed reads variables over an interface with many types. Reads that exceed a bound must
// fail with its error, soon after a deadline, and another client must be served meanwhile.
func TestManyTypesWhileOthersAreServed(t *testing.T) {
	const types = 3000
	var source, lines strings.Builder
	source.WriteString("interface Named { name: String }\n")
	for i := range types {
		fmt.Fprintf(&source, "node T%d implements Named { name: String @key }\n", i)
		fmt.Fprintf(&lines, `{"type":"T%d","data":{"name":"n%04d"}}`+"\n", i, i)
	}
	schema, faults := gq.CompileSchema(gq.Source{Name: "s.pg", Text: source.String()})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	g, err := Create(t.Context(), fs.NewMem(), dir, source.String(), schema, Options{QueryMemory: 8 << 20, visits: 3_000_000})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	if err := loadText(g, engine.Merge, lines.String()); err != nil {
		t.Fatal(err)
	}
	// run returns the number of rows of a read.
	run := func(ctx context.Context, text string) (int, error) {
		queries, faults := gq.CompileQueries(schema, gq.Source{Name: "q.gq", Text: "query q() { " + text + " }"})
		if err := faults.Err(); err != nil {
			return 0, err
		}
		r, err := g.Query(ctx, queries[0].Plan, nil, engine.Target{})
		if err != nil {
			return 0, err
		}
		return drain(ctx, r)
	}
	if rows, err := run(t.Context(), `match { $n: Named } return { $n.type as type, $n.name as name } order { name desc }`); rows != types || err != nil {
		t.Fatalf("%d rows, error %v, want %d rows", rows, err, types)
	}
	done, stop := context.WithCancel(t.Context())
	served := 0
	var client sync.WaitGroup
	client.Go(func() {
		for done.Err() == nil {
			if rows, err := run(t.Context(), `match { $n: T7 { name: "n0007" } } return { $n.name }`); rows != 1 || err != nil {
				t.Errorf("the other client: %d rows, %v", rows, err)
				return
			}
			served++
		}
	})
	for _, tt := range []struct{ name, text, want string }{
		{"entities of a block", `match { $n: Named } return { $n.name as n, count { $m: Named $o: Named $m.name < $n.name } as c }`, "entities that the subqueries of one query examine"},
		{"rows", `match { $n: Named $m: Named } return { $n.name as n, $m.name as m } order { n }`, "bytes of memory for one query"},
		{"groups", `match { $n: Named $m: Named } return distinct { $n.type as n, $m.type as m }`, "bytes of memory for one query"},
		{"time", `match { $n: Named $m: Named $o: Named $n.name > $m.name $m.name > $o.name } return { count(distinct $n) as c, max($n.name + $m.name + $o.name) as m }`, ""},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		if tt.want == "" {
			ctx, cancel = context.WithTimeout(ctx, time.Second)
		}
		start := clock.Now()
		rows, err := run(ctx, tt.text)
		took := clock.Since(start)
		cancel()
		var large *engine.TooLarge
		switch {
		case tt.want == "" && !errors.Is(err, context.DeadlineExceeded):
			t.Errorf("%s: %d rows, error %v, want that of the context", tt.name, rows, err)
		case tt.want != "" && (!errors.As(err, &large) || !strings.HasPrefix(large.Resource, tt.want)):
			t.Errorf("%s: %d rows, error %v, want %s", tt.name, rows, err, tt.want)
		case tt.want == "" && took > 20*time.Second:
			t.Errorf("%s: it ended %v after its deadline", tt.name, took-time.Second)
		}
		t.Logf("%s: %v", tt.name, took)
	}
	stop()
	client.Wait()
	if served == 0 {
		t.Error("the other client was not served")
	}
}

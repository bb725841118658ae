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
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
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
	run := reader(g, schema)
	if rows, err := run(t.Context(), `match { $n: Named } return { $n.type as type, $n.name as name } order { name desc }`); rows != types || err != nil {
		t.Fatalf("%d rows, error %v, want %d rows", rows, err, types)
	}
	meanwhile(t, func() error {
		rows, err := run(t.Context(), `match { $n: T7 { name: "n0007" } } return { $n.name }`)
		if err == nil && rows != 1 {
			err = fmt.Errorf("%d rows", rows)
		}
		return err
	}, func() {
		exceed(t, run, []pastBound{
			{"entities of a block", `match { $n: Named } return { $n.name as n, count { $m: Named $o: Named $m.name < $n.name } as c }`, "entities that the subqueries of one query examine", ""},
			{"rows", `match { $n: Named $m: Named } return { $n.name as n, $m.name as m } order { n }`, "bytes of memory for one query", ""},
			{"groups", `match { $n: Named $m: Named } return distinct { $n.type as n, $m.type as m }`, "bytes of memory for one query", ""},
			{"time", `match { $n: Named $m: Named $o: Named $n.name > $m.name $m.name > $o.name } return { count(distinct $n) as c, max($n.name + $m.name + $o.name) as m }`, "", ""},
		})
	})
}

// pastBound is a read that exceeds a bound.
type pastBound struct {
	name, text string
	resource   string // the beginning of the resource of the error; empty if the read exceeds its deadline
	hint       string // a part of the hint of the error
}

// exceed runs reads that exceed a bound. Each must fail with the error of its bound, soon after the deadline if that is
// the bound.
func exceed(t *testing.T, run func(ctx context.Context, text string) (rows int, err error), reads []pastBound) {
	t.Helper()
	for _, r := range reads {
		ctx, cancel := context.WithCancel(t.Context())
		if r.resource == "" {
			ctx, cancel = context.WithTimeout(ctx, time.Second)
		}
		start := clock.Now()
		rows, err := run(ctx, r.text)
		took := clock.Since(start)
		cancel()
		var large *engine.TooLarge
		switch {
		case r.resource == "" && !errors.Is(err, context.DeadlineExceeded):
			t.Errorf("%s: %d rows, error %v, want that of the context", r.name, rows, err)
		case r.resource == "" && took > 20*time.Second:
			t.Errorf("%s: it ended %v after its deadline", r.name, took-time.Second)
		case r.resource != "" && (!errors.As(err, &large) || !strings.HasPrefix(large.Resource, r.resource) || !strings.Contains(large.Hint, r.hint)):
			t.Errorf("%s: %d rows, error %v, want %s … %s", r.name, rows, err, r.resource, r.hint)
		}
		t.Logf("%s: %v", r.name, took)
	}
}

// meanwhile calls `work` while another client calls `serve` again and again. No call of `serve` may fail, and at least one
// must end before `work` does.
func meanwhile(t *testing.T, serve func() error, work func()) {
	t.Helper()
	done, stop := context.WithCancel(t.Context())
	served := 0
	var client sync.WaitGroup
	client.Go(func() {
		for done.Err() == nil {
			if err := serve(); err != nil {
				t.Errorf("the other client: %v", err)
				return
			}
			if done.Err() == nil {
				served++
			}
		}
	})
	work()
	stop()
	client.Wait()
	if served == 0 {
		t.Error("the other client was not served")
	}
	t.Logf("the other client was served %d times", served)
}

// reader returns a function that runs a read of the given text on a graph, and returns the number of rows.
func reader(g *Graph, schema *catalog.Schema) func(ctx context.Context, text string) (rows int, err error) {
	return func(ctx context.Context, text string) (int, error) {
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
}

// TestHubsWhileOthersAreServed reads traversals through a node with many edges, and through nodes of many types at an end of
// edges that is an interface. Reads that exceed a bound must fail with its error and name the traversal, and another client
// must be served meanwhile.
func TestHubsWhileOthersAreServed(t *testing.T) {
	const types, notes = 300, 3000
	var source, lines strings.Builder
	source.WriteString("interface Named { name: String }\nnode Note { slug: String @key }\nedge About: Note -> Named\nedge By: Named -> Note\nedge Cites: Note -> Note\n")
	for i := range types {
		fmt.Fprintf(&source, "node T%d implements Named { name: String @key }\n", i)
		fmt.Fprintf(&lines, `{"type":"T%d","data":{"name":"n%04d"}}`+"\n", i, i)
	}
	for i := range notes {
		fmt.Fprintf(&lines, `{"type":"Note","data":{"slug":"s%04d"}}`+"\n", i)
		for _, to := range []int{0, i % types} { // T0 is a hub
			fmt.Fprintf(&lines, `{"edge":"About","from":"s%04d","to":{"type":"T%d","id":"n%04d"}}`+"\n", i, to, to)
			fmt.Fprintf(&lines, `{"edge":"By","from":{"type":"T%d","id":"n%04d"},"to":"s%04d"}`+"\n", to, to, i)
		}
		fmt.Fprintf(&lines, `{"edge":"Cites","from":"s%04d","to":"s0000"}`+"\n", i)
		fmt.Fprintf(&lines, `{"edge":"Cites","from":"s0000","to":"s%04d"}`+"\n", i)
	}
	schema, faults := gq.CompileSchema(gq.Source{Name: "s.pg", Text: source.String()})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		examined int64
		split    bool
	}{{2_000_000, false}, {2_000_000, true}, {1 << 50, false}} {
		g, err := Create(t.Context(), fs.NewMem(), dir, source.String(), schema, Options{QueryMemory: 8 << 20, examined: tt.examined, splitAll: tt.split})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { g.Close() })
		if err := loadText(g, engine.Merge, lines.String()); err != nil {
			t.Fatal(err)
		}
		run := reader(g, schema)
		if rows, err := run(t.Context(), `match { $s: Note { slug: "s0007" } $s about $n } return { $n.type, $n.name }`); rows != 2 || err != nil {
			t.Fatalf("%d rows, error %v, want 2 rows", rows, err)
		}
		bound := "nodes and edges that one query examines"
		if tt.examined > 1<<40 {
			bound = "" // the deadline ends the reads
		}
		meanwhile(t, func() error {
			rows, err := run(t.Context(), `match { $s: Note { slug: "s0007" } $s about $n $n by $s } return { $n.type, $n.name }`)
			if err == nil && rows != 2 {
				err = fmt.Errorf("%d rows", rows)
			}
			return err
		}, func() {
			exceed(t, run, []pastBound{
				{"a cycle through a hub", `match { $a <cites> $b $b <cites> $c $c <cites> $d $d <cites> $a $a.slug != $c.slug } return { count($a) as n }`, bound, "-[Cites]- "},
				{"a sum over a hub", `match { $a cites $b $b cites $c $c cites $d } return { sum(length($a.slug) + length($d.slug)) as n }`, bound, "-[Cites]-> "},
				{"a hub at an interface", `match { $a about $n $b about $n $b about $m } return { sum(length($a.slug) + length($m.name)) as n }`, bound, "-[About]-> "},
				{"a hub at a source that is an interface", `match { $n by $a $n by $b $m by $b } return { sum(length($a.slug) + length($m.name)) as n }`, bound, "-[By]-> "},
				{"nodes of many types", `match { $a about $n $b about $n $n by $c } return { sum(length($a.slug) + length($b.slug) + length($c.slug)) as n }`, bound, "$n"},
				{"every pair", `match { $a: Note $b: Note $c: Note } return { sum(length($a.slug) + length($b.slug) + length($c.slug)) as n }`, bound, ": Note is joined with every row"},
				{"rows", `match { $a about $n $b about $n } return { $a.slug as a, $n.type as t, $b.slug as b } order { a }`, "bytes of memory for one query", ""},
				{"groups", `match { $a about $n $b about $n } return distinct { $a.slug as a, $b.slug as b }`, "bytes of memory for one query", ""},
			})
		})
	}
}

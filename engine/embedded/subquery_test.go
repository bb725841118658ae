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
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// compiled compiles the text of a read for the schema of the fixture.
func compiled(t testing.TB, text string) *plan.Query {
	t.Helper()
	queries, faults := gq.CompileQueries(people(), gq.Source{Name: "x.gq", Text: "query q() { " + text + " }"})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	return queries[0].Plan
}

// recordTexts runs a read and returns its rows as texts.
func recordTexts(t testing.TB, g *Graph, text string) []string {
	t.Helper()
	r, err := g.Query(t.Context(), compiled(t, text), nil, engine.Target{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var rows []string
	for {
		b, err := r.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if b == nil {
			return rows
		}
		for i := range b.Len {
			var cells []string
			for c := range b.Columns {
				cells = append(cells, cellText(&b.Columns[c], i))
			}
			rows = append(rows, strings.Join(cells, " | "))
		}
	}
}

// cellText returns row i of a column as text.
func cellText(c *engine.Column, i int) string {
	if c.IsNull(i) {
		return "null"
	}
	record := func(i int) string {
		var fields []string
		for k := range c.Fields {
			fields = append(fields, cellText(&c.Fields[k], i))
		}
		return "{" + strings.Join(fields, " ") + "}"
	}
	switch {
	case c.Offsets != nil:
		var records []string
		for k := c.Offsets[i]; k < c.Offsets[i+1]; k++ {
			records = append(records, record(int(k)))
		}
		return "[" + strings.Join(records, " ") + "]"
	case c.Fields != nil:
		return record(i)
	}
	v := c.Value(i)
	if v.Kind().IsInteger() {
		return fmt.Sprint(v.Int())
	}
	return v.Str()
}

// TestSubqueriesLarge evaluates subqueries for more rows than a frame holds, and with more matches than the engine keeps
// before it drops those past the limit. Person number i has the age i modulo 90; number 0 knows all others, and each
// tenth person knows the next one.
func TestSubqueriesLarge(t *testing.T) {
	g := create(t, fs.NewMem(), Options{})
	const n = 5000
	if err := loadText(g, engine.Merge, crowdOf(n)); err != nil {
		t.Fatal(err)
	}
	counts := recordTexts(t, g, "match { $p: Person } return { $p.name, count { $p knows $_ } as n } order { $p.name }")
	lists := recordTexts(t, g, "match { $p: Person } return { $p.name, collect { $q: Person $q.age = $p.age return { $q.name as name } order { $q.name desc } limit 2 } as same } order { $p.name }")
	firsts := recordTexts(t, g, "match { $p: Person } return { $p.name, first { $p knows $q return { $q.name as name, $q } order { $q.name desc } } as last } order { last.name desc, $p.name }")
	if len(counts) != n || len(lists) != n || len(firsts) != n {
		t.Fatalf("%d, %d and %d rows, want %d", len(counts), len(lists), len(firsts), n)
	}
	name := func(i int) string { return fmt.Sprintf("p%06d", i) }
	for i := range n {
		friends := 0
		switch {
		case i == 0:
			friends = n - 1
		case i%10 == 0 && i+1 < n:
			friends = 1
		}
		if want := fmt.Sprintf("%s | %d", name(i), friends); counts[i] != want {
			t.Fatalf("count: %s, want %s", counts[i], want)
		}
		last := n - 1 - (n-1-i%90)%90
		if want := fmt.Sprintf("%s | [{%s} {%s}]", name(i), name(last), name(last-90)); lists[i] != want {
			t.Fatalf("list: %s, want %s", lists[i], want)
		}
	}
	if want := name(0) + " | {" + name(n-1) + " {"; !strings.HasPrefix(firsts[0], want) {
		t.Errorf("first: %s, want %s…", firsts[0], want)
	}
	if want := name(9) + " | null"; !strings.HasSuffix(firsts[n-1], "| null") {
		t.Errorf("last: %s, want one such as %s", firsts[n-1], want)
	}
}

// TestOrderBySubquery sorts more rows than a frame holds by the value of a block.
func TestOrderBySubquery(t *testing.T) {
	g := create(t, fs.NewMem(), Options{})
	const people = 3000
	if err := loadText(g, engine.Merge, crowdOf(people)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ order, first string }{
		{`count { $p knows $_ } desc`, "p000000 p000010 p000020"},
		{`count { $p knows $q return distinct $q.age } desc`, "p000000 p000010 p000020"},
		{`max { $q: Person $q = $p return $q.name } desc`, "p002999 p002998 p002997"},
		{`max { $p knows $q return $q.name } desc, $p.name`, "p000000 p002990 p002980"},
		{`if(count { $_ knows $p } > 1, 1, 0) desc, $p.name desc`, "p002991 p002981 p002971"},
		{`f.name desc`, "p002999 p002998 p002997"},
	} {
		got := recordTexts(t, g, `match { $p: Person } return { $p.name as name, first { $q: Person $q = $p return { $q.name as name } } as f } order { `+tt.order+` } limit 3`)
		for i, row := range got {
			got[i], _, _ = strings.Cut(row, " | ")
		}
		if found := strings.Join(got, " "); found != tt.first {
			t.Errorf("by %s: found %s, want %s", tt.order, found, tt.first)
		}
	}
}

// TestSubqueryBounds exceeds each limit of subqueries while another client reads.
func TestSubqueryBounds(t *testing.T) {
	g := create(t, fs.NewMem(), Options{QueryMemory: 8 << 20, visits: 3_000_000})
	const people = 3000
	if err := loadText(g, engine.Merge, crowdOf(people)); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := 0
	var slowest time.Duration
	var client sync.WaitGroup
	client.Go(func() {
		lookup := compiled(t, `match { $p: Person { name: "p000010" } } return { $p.age, count { $p knows $_ } as n }`)
		for ctx.Err() == nil {
			start := clock.Now()
			r, err := g.Query(t.Context(), lookup, nil, engine.Target{})
			if err == nil {
				var n int
				if n, err = drain(t.Context(), r); n != 1 && err == nil {
					t.Errorf("the other client: %d rows", n)
				}
			}
			if err != nil {
				t.Errorf("the other client: %v", err)
				return
			}
			slowest = max(slowest, clock.Since(start))
			served++
		}
	})
	for _, tt := range []struct{ name, text, want string }{
		{"entities", "match { $p: Person } return { $p.name, count { $q: Person $r: Person } as n, count { $q: Person $q.age > $p.age $r: Person } as m }", "entities that the subqueries of one query examine, at last count {"},
		{"entities in a condition", "match { $p: Person sum { $q: Person $r: Person return $q.age + $r.age + $p.age } > 3 } return { $p.name }", "entities that the subqueries of one query examine, at last sum {"},
		{"distinct values", "match { $p: Person } return { count { $q: Person $r: Person $q.age >= $p.age return distinct $q.name + $r.name } as n } limit 1", "bytes of memory"},
		{"gathered rows", "match { $p: Person } return { collect { $q: Person $r: Person $q.age >= $p.age return { $q.name as a, $r.name as b } limit 1000 } as l } limit 1", "entities that the subqueries"},
		{"records of one row", "match { $p: Person } return { collect { $q: Person return { $q.name as a, collect { $r: Person return { $r.name as b } limit 1000 } as l } limit 1000 } as l } limit 1", "nested records in one row, at last of collect {"},
	} {
		r, err := g.Query(t.Context(), compiled(t, tt.text), nil, engine.Target{})
		if err == nil {
			_, err = drain(t.Context(), r)
		}
		var large *engine.TooLarge
		if !errors.As(err, &large) || !strings.HasPrefix(large.Resource, tt.want) {
			t.Errorf("%s: %v, want %s…", tt.name, err, tt.want)
		}
	}
	stop()
	client.Wait()
	if served == 0 {
		t.Error("the other client was not served")
	}
	t.Logf("the other client was served %d times, at the slowest in %v", served, slowest)
}

// TestNestedRecordsInBatches reads more nested records than one batch may have. The engine must
// then put fewer rows into each batch.
func TestNestedRecordsInBatches(t *testing.T) {
	g := create(t, fs.NewMem(), Options{})
	const people = 1200
	if err := loadText(g, engine.Merge, crowdOf(people)); err != nil {
		t.Fatal(err)
	}
	q := compiled(t, "match { $p: Person } return { $p.name, collect { $q: Person $q.age >= 0 $p.age >= 0 return { $q.name as name } limit 500 } as l }")
	r, err := g.Query(t.Context(), q, nil, engine.Target{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	rows, batches := 0, 0
	for {
		b, err := r.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if b == nil {
			break
		}
		n := int(b.Columns[1].Offsets[b.Len])
		if n > plan.MaxNested || n != 500*b.Len {
			t.Fatalf("a batch of %d rows has %d nested records", b.Len, n)
		}
		rows, batches = rows+b.Len, batches+1
	}
	if rows != people || batches < people*500/plan.MaxNested {
		t.Errorf("%d rows in %d batches", rows, batches)
	}
}

// TestBlockStatementBounds runs statements in blocks that examine too many entities. They must fail. Statements
// outside of blocks, and statements that find their entities by a key or an end, must succeed.
func TestBlockStatementBounds(t *testing.T) {
	const people = 3000
	g := create(t, fs.NewMem(), Options{visits: 10 * people})
	if err := loadText(g, engine.Merge, crowdOf(people)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, text string
		large      bool
	}{
		{"scans of a match", "match { $p: Person } limit 20 { update Person set { age: 3 } where age = $p.age }", true},
		{"scans of a list", "for $n in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] { delete Person where age = $n }", true},
		{"edges of a hub", "match { $p: Person } limit 20 { delete Knows where from = \"p000000\" }", true},
		{"few scans", "for $n in [1, 2, 3] { delete Person where age = $n }", false},
		{"keys", "match { $p: Person } limit 1000 { update Person set { age: 3 } where name = $p.name }", false},
		{"outside of blocks", strings.Repeat("update Person set { age: 3 } where age = 4 ", 20), false},
	} {
		_, err := g.Mutate(t.Context(), compiled(t, tt.text), nil, engine.WriteOptions{DryRun: true})
		var large *engine.TooLarge
		if got := errors.As(err, &large); got != tt.large || err != nil && !got || got && large.Hint == "" {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// TestSharedRecordsOnce runs `first` and `collect` blocks that use no outer variable for several batches of rows. Each
// block must run once, and all rows must have its records.
func TestSharedRecordsOnce(t *testing.T) {
	const people = 3000
	g := create(t, fs.NewMem(), Options{visits: 2 * people})
	if err := loadText(g, engine.Merge, crowdOf(people)); err != nil {
		t.Fatal(err)
	}
	const block = "{ $q: Person return { $q.name as name } order { $q.name desc } limit 2 }"
	for range 2 { // the second run uses the memory of the first one
		for _, tt := range []struct{ column, want string }{
			{"collect " + block, "[{p002999} {p002998}]"},
			{"first { $q: Person return { $q.name as name } order { $q.name desc } } ", "{p002999}"},
		} {
			rows := recordTexts(t, g, "match { $p: Person } return { $p.name, "+tt.column+" as l }")
			if len(rows) != people {
				t.Fatalf("%s: %d rows", tt.column, len(rows))
			}
			for _, row := range rows {
				if !strings.HasSuffix(row, "| "+tt.want) {
					t.Fatalf("%s: %s, want %s", tt.column, row, tt.want)
				}
			}
		}
	}
}

// TestBatchesOfManyRecords returns rows that have so many records that a batch contains few rows. The run must try
// larger batches only once.
func TestBatchesOfManyRecords(t *testing.T) {
	const people = 1500
	g := create(t, fs.NewMem(), Options{visits: 16_000_000})
	if err := loadText(g, engine.Merge, crowdOf(people)); err != nil {
		t.Fatal(err)
	}
	rows := recordTexts(t, g, "match { $p: Person } return { $p.name, collect { $q: Person $q.age != $p.age return { $q.name as name } limit 400 } as l }")
	if len(rows) != people {
		t.Fatalf("%d rows, want %d", len(rows), people)
	}
	for i, row := range rows {
		if n := strings.Count(row, "{"); n != 400 || !strings.HasPrefix(row, fmt.Sprintf("p%06d ", i)) {
			t.Fatalf("row %d has %d records: %.40s", i, n, row)
		}
	}
}

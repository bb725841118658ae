package gq_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/gq/check"
	"github.com/omnigraph-go/omnigraph/internal/gq/compile"
	"github.com/omnigraph-go/omnigraph/internal/gq/lint"
	"github.com/omnigraph-go/omnigraph/internal/gq/work"
	"github.com/omnigraph-go/omnigraph/internal/slow"
)

// bound is the size of the largest text that a server accepts, in bytes. The tests use texts of
// this size.
const bound = 1 << 20

// strangers are the limits that a server sets.
var strangers = work.Limits{Tokens: 1 << 18, Queries: 1000, Head: 1 << 14}

// fill repeats an item between a head and a tail until the text has about n bytes. In the item,
// # stands for the number of the copy and ^ for the next number.
func fill(n int, head, item, tail string) string {
	var b strings.Builder
	b.WriteString(head)
	for i := 0; b.Len() < n-len(tail)-len(item)-12; i++ {
		b.WriteString(strings.NewReplacer("#", fmt.Sprint(i), "^", fmt.Sprint(i+1)).Replace(item))
	}
	return b.String() + tail
}

// clauses returns a read that repeats a clause in its match.
func clauses(item string) func(int) string {
	return func(n int) string {
		return fill(n, "query q($q: I32?) { match { $p: Person ", item, " } return { $p } }")
	}
}

// long is a kind of text that takes long to process, as a function of its size.
type long struct {
	name string
	text func(n int) string
}

var longQueries = []long{
	{"queries", func(n int) string { return fill(n, "", "query q#(){match{$p:Person}return{$p.name}}", "") }},
	{"queries of one name", func(n int) string { return fill(n, "", "query q(){match{$p:Person}return{$p.name}}", "") }},
	{"empty queries", func(n int) string { return fill(n, "", "query q(){}", "") }},
	{"the word query", func(n int) string { return strings.Repeat("query ", n/6) }},
	{"bindings", clauses("$p#:Person")},
	{"products", clauses("$p#:Person $q#:Company ")},
	{"traversals", clauses("$p knows $p# ")},
	{"chain", func(n int) string {
		return fill(n, "query q() { match { $p0: Person ", "$p# knows $p^ ", " } return { $p0 } }")
	}},
	{"filters", clauses("$p.age=1 ")},
	{"constant filters", clauses("$p.age!=$p.age ")},
	{"unknown enum values", clauses("$p.mood=\"x\" ")},
	{"blocks", clauses("not{$p knows $_}")},
	{"deep blocks", clauses(strings.Repeat("not{$p knows $_ ", 240) + strings.Repeat("}", 240))},
	{"one block", func(n int) string {
		return fill(n, "query q() { match { $p: Person not { ", "$p.age=1 ", " } } return { $p } }")
	}},
	{"inline conditions", func(n int) string {
		return fill(n, "query q() { match { $p: Person{ ", "age:1,", "} } return { $p } }")
	}},
	{"columns", func(n int) string {
		return fill(n, "query q() { match { $p: Person } return { ", "$p.age as a# ", " } }")
	}},
	{"whole columns", func(n int) string {
		return fill(n, "query q() { match { $p: Person } return { ", "$p as a# ", " } }")
	}},
	{"order", func(n int) string {
		return fill(n, "query q() { match { $p: Person } return { $p.age } order { ", "$p.age,", "$p.age } }")
	}},
	{"parameters", func(n int) string {
		return fill(n, "query q(", "$p#:I32,", "$p:I32) { match { $p: Person } return { $p } }")
	}},
	{"annotations", func(n int) string {
		return fill(n, "query q()", "@mcp(expose=true)", "{ match { $p: Person } return { $p } }")
	}},
	{"statements", func(n int) string { return fill(n, "query q() { ", "insert Person{name:\"\"}", "}") }},
	{"updates", func(n int) string {
		return fill(n, "query q($n:String?) { ", "update Person set{name:$n}where name=$n ", "}")
	}},
	{"assignments", func(n int) string { return fill(n, "query q() { insert Person{", "name:\"\"", "} }") }},
	{"a list", func(n int) string {
		return fill(n, "query q() { insert Person{name:\"\" tags:[", "\"\",", "\"\"] } }")
	}},
	{"deep lists", func(n int) string {
		return fill(n, "query q() { insert Person{name:\"\" tags:[", strings.Repeat("[", 240)+strings.Repeat("]", 240)+",", "\"\"] } }")
	}},
	{"one string", func(n int) string {
		return "query q() { match { $p: Person { name: \"" + strings.Repeat("\\n", n/2-40) + "\" } } return { $p } }"
	}},
	{"one name", func(n int) string {
		return "query q() { match { $p: P" + strings.Repeat("x", n-100) + " } return { $p } }"
	}},
	{"comments", clauses("//\n")},
	{"directives", clauses("// gq:ignore L105 x\n")},
	{"one directive", func(n int) string {
		return fill(n, "// gq:ignore L105", ",L105", " x\nquery q() { match { $p: Person } return { $p } }")
	}},
	{"directives and findings", func(n int) string {
		return fill(n/2, "query q() { match { $p: Person ", "// gq:ignore L115 x\n", "") + fill(n/2, "", "$p.age!=$p.age ", "} return { $p } }")
	}},
	{"bad directives", clauses("// gq:ignore x\n")},
	{"bounds", clauses("$p knows{1,1}$p ")},
	{"semicolons", func(n int) string { return strings.Repeat(";", n) }},
	{"escapes", func(n int) string { return "\"" + strings.Repeat("\\q", n/2-1) }},
	{"brackets", func(n int) string { return "query q() " + strings.Repeat("[", n-20) }},
	{"unknown edges", clauses("$p know $q ")},
	{"unknown parameters", clauses("$x:Person{age:$porom#}")},
}

var longSchemas = []long{
	{"types", func(n int) string { return fill(n, "", "node N#{x:String @key}", "") }},
	{"edges", func(n int) string { return fill(n, "node N{x:String @key}", "edge E#:N->N{y:I32?}", "") }},
	{"interfaces", func(n int) string { return fill(n, "", "interface I#{x#:String}", "node N{x:String}") }},
	{"properties", func(n int) string { return fill(n, "node N{", "p#:String ", "}") }},
	{"enum values", func(n int) string { return fill(n, "node N{x:enum(", "a#,", "b)}") }},
	{"unique rules", func(n int) string { return fill(n, "node N{x:String ", "@unique(x)", "}") }},
	{"broken types", func(n int) string { return fill(n, "", "node N#{x String}", "") }},
	{"unknown ends", func(n int) string { return fill(n, "node N{x:String}", "edge E#:M->M", "") }},
}

// largest returns the text at the given size. If that text has more parts than the limits allow,
// it returns a smaller one that does not.
func (l long) largest(t testing.TB, compile func(context.Context, string) error, size int) string {
	for ; size > 0; size = size * 7 / 8 {
		text := l.text(size)
		if len(text) > bound {
			t.Fatalf("%s: %d bytes, expected at most %d", l.name, len(text), bound)
		}
		var many *work.TooMany
		if err := compile(t.Context(), text); !errors.As(err, &many) {
			return text
		}
	}
	t.Fatalf("%s: no text is small enough", l.name)
	return ""
}

// phases lists the ways to process an untrusted text of each kind, "queries" or "schema".
func phases(t testing.TB) map[string]map[string]func(context.Context, string) error {
	s, faults := gq.CompileSchema(gq.Source{Name: "x.pg", Text: check.ExampleSchema})
	if faults != nil {
		t.Fatal(faults)
	}
	format := func(name string) func(context.Context, string) error {
		return func(ctx context.Context, text string) error {
			_, _, err := gq.FormatWithin(ctx, strangers, gq.Source{Name: name, Text: text})
			return err
		}
	}
	return map[string]map[string]func(context.Context, string) error{
		"queries": {
			"compile": func(ctx context.Context, text string) error {
				_, _, err := gq.CompileQueriesWithin(ctx, strangers, s, gq.Source{Name: "x.gq", Text: text})
				return err
			},
			"lint": func(ctx context.Context, text string) error {
				_, _, err := compile.LintWithin(ctx, strangers, gq.Options{}, s, lint.Config{}, gq.Source{Name: "x.gq", Text: text})
				return err
			},
			"format": format("x.gq"),
		},
		"schema": {
			"compile": func(ctx context.Context, text string) error {
				_, _, err := gq.CompileSchemaWithin(ctx, strangers, gq.Source{Name: "x.pg", Text: text})
				return err
			},
			"format": format("x.pg"),
		},
	}
}

// watched is a context that records the longest time between two calls of its Err method.
type watched struct {
	context.Context
	last    time.Time
	looks   int
	longest time.Duration
	after   int // the context ends after this many calls; 0 for never
}

func (w *watched) Err() error {
	now := clock.Now()
	w.longest = max(w.longest, now.Sub(w.last))
	w.last = now
	w.looks++
	if w.after > 0 && w.looks > w.after {
		return context.Canceled
	}
	return nil
}

// TestEveryPhaseLooks runs the phases on all kinds of text. No phase may run long without checking
// its context, and each phase must stop when the context ends.
func TestEveryPhaseLooks(t *testing.T) {
	size := bound / 16
	if testing.Short() || raced {
		size = bound / 64
	}
	// A phase must check its context every few milliseconds. The rest of this limit allows for the
	// garbage collector and for other tests on the machine.
	const most = 2 * time.Second
	old := debug.SetGCPercent(400)
	defer debug.SetGCPercent(old)
	for kind, runs := range phases(t) {
		texts := longQueries
		if kind == "schema" {
			texts = longSchemas
		}
		for _, l := range texts {
			text := l.largest(t, runs["compile"], size)
			for phase, run := range runs {
				w := &watched{Context: context.Background(), last: clock.Now()}
				start := clock.Now()
				if err := run(w, text); err != nil {
					t.Errorf("%s, %s: %v", l.name, phase, err)
				}
				took := clock.Since(start)
				w.longest = max(w.longest, clock.Since(w.last))
				t.Logf("%-8s %-8s %-24s %7d bytes %6d ms, %6d looks, the longest time without one %v", kind, phase, l.name, len(text), took.Milliseconds(), w.looks, w.longest.Round(100*time.Microsecond))
				if w.longest > most {
					t.Errorf("%s, %s: %v passed between two looks at the context, expected at most %v", l.name, phase, w.longest, most)
				}
				if w.looks < 3 {
					continue // the phase is too short to be interrupted
				}
				for _, part := range []int{4, 2} {
					if err := run(&watched{Context: context.Background(), last: clock.Now(), after: w.looks / part}, text); !errors.Is(err, context.Canceled) {
						t.Errorf("%s, %s: ended with %v after its context had ended", l.name, phase, err)
					}
				}
			}
		}
	}
}

// TestTooMany checks that a text with more parts than a server allows is refused.
func TestTooMany(t *testing.T) {
	run := phases(t)["queries"]["compile"]
	tests := []struct{ name, text, what string }{
		{"tokens", clauses("$p.age=1 ")(bound), "tokens"},
		{"queries", strings.Repeat("query q() {} ", 1001), "queries"},
		{"parameters", fill(bound/4, "query q(", "$p#:I32,", "$p:I32) { match { $p: Person } return { $p } }"), "tokens in the head of a query or in a type"},
	}
	for _, test := range tests {
		var many *work.TooMany
		if err := run(t.Context(), test.text); !errors.As(err, &many) || many.What != test.what || many.Actual <= many.Limit {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	if err := run(t.Context(), strings.Repeat("query q() {} ", 1000)); err != nil {
		t.Errorf("a thousand queries: %v", err)
	}
}

// TestDirectivesAndFindings checks that the time to silence findings does not grow with the product
// of the numbers of directives and findings. If it did, this test would take half a minute.
func TestDirectivesAndFindings(t *testing.T) {
	text := ""
	for _, l := range longQueries {
		if l.name == "directives and findings" {
			text = l.text(bound)
		}
	}
	start := clock.Now()
	report := compile.Lint(compile.Catalog{Schema: gq.Source{Name: "x.pg", Text: check.ExampleSchema}, Queries: []gq.Source{{Name: "x.gq", Text: text}}})
	if took := clock.Since(start); took > 10*time.Second {
		t.Errorf("linting %d bytes took %v", len(text), took)
	}
	for _, d := range report.List {
		if d.Code == lint.ConstantFilter {
			t.Fatalf("not silenced: %v", d)
		}
	}
}

// TestSame checks that a text compiles, lints and formats to the same result within limits as
// without.
func TestSame(t *testing.T) {
	slow.Test(t)
	s, _ := gq.CompileSchema(gq.Source{Name: "x.pg", Text: check.ExampleSchema})
	for _, l := range longQueries {
		src := gq.Source{Name: "x.gq", Text: l.text(20_000)}
		queries, faults := gq.CompileQueries(s, src)
		within, more, err := gq.CompileQueriesWithin(t.Context(), work.Limits{}, s, src)
		if err != nil || faults.Error() != more.Error() || len(queries) != len(within) {
			t.Errorf("%s: %d queries and %d, %v", l.name, len(queries), len(within), err)
		}
		report := compile.Lint(compile.Catalog{Schema: gq.Source{Name: "x.pg", Text: check.ExampleSchema}, Queries: []gq.Source{src}})
		valid, linted, err := compile.LintWithin(t.Context(), work.Limits{}, gq.Options{}, s, lint.Config{}, src)
		if err != nil || report.List.Error() != linted.List.Error() || len(report.Edits) != len(linted.Edits) || len(valid) != len(queries) {
			t.Errorf("%s: %d valid queries, expected %d, %v\n%.300v\n%.300v", l.name, len(valid), len(queries), err, report.List, linted.List)
		}
		text, _ := gq.Format(src)
		if again, _, err := gq.FormatWithin(t.Context(), work.Limits{}, src); err != nil || text != again {
			t.Errorf("%s: formatted otherwise, %v", l.name, err)
		}
	}
}

// memoryPerByte is the number of bytes that the server reserves from its budget for each byte of
// a text.
const memoryPerByte = 320

// TestMemoryPerByte measures the peak memory of compiling and linting.
func TestMemoryPerByte(t *testing.T) {
	if testing.Short() || raced {
		t.Skip("large texts, and a collector that runs all the time")
	}
	old := debug.SetGCPercent(10)
	defer debug.SetGCPercent(old)
	// Of the texts above, these take the most memory for each byte.
	most := []string{"queries", "inline conditions", "parameters", "annotations", "assignments", "a list", "deep lists", "types", "enum values"}
	for _, l := range append(longQueries[:len(longQueries):len(longQueries)], longSchemas...) {
		if !slices.Contains(most, l.name) {
			continue
		}
		kind := "queries"
		for _, other := range longSchemas {
			if other.name == l.name {
				kind = "schema"
			}
		}
		runs := phases(t)[kind]
		text := l.largest(t, runs["compile"], bound/16)
		for phase, run := range runs {
			if phase == "format" {
				continue
			}
			// The heap includes garbage, which the collector clears late on a busy machine. So a run
			// above the limit gets two more chances.
			perByte := peakPerByte(t, run, text)
			for range 2 {
				if perByte > memoryPerByte {
					perByte = min(perByte, peakPerByte(t, run, text))
				}
			}
			t.Logf("%-8s %-8s %-24s %7d bytes, %5.0f bytes of memory for each", kind, phase, l.name, len(text), perByte)
			if perByte > memoryPerByte {
				t.Errorf("%s, %s: %.0f bytes of memory for each byte of the text, expected at most %d", l.name, phase, perByte, memoryPerByte)
			}
		}
	}
}

// peakPerByte runs a phase and returns the growth of the heap at its peak, for each byte of the
// text.
func peakPerByte(t *testing.T, run func(context.Context, string) error, text string) float64 {
	t.Helper()
	runtime.GC()
	before := heap()
	var peak atomic.Uint64
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			case <-time.After(2 * time.Millisecond):
				peak.Store(max(peak.Load(), heap()))
			}
		}
	}()
	if err := run(t.Context(), text); err != nil {
		t.Error(err)
	}
	close(stop)
	<-done
	return (float64(peak.Load()) - float64(before)) / float64(len(text))
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

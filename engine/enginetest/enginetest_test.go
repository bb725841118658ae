package enginetest

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/naive"
	"github.com/omnigraph-go/omnigraph/internal/slow"
)

func openNaive(_ testing.TB, source string, schema *catalog.Schema) engine.Graph {
	return naive.New(source, schema, naive.Sound)
}

func TestSuiteOnModel(t *testing.T) {
	for _, c := range suite() {
		if !c.large {
			t.Run(c.name, func(t *testing.T) {
				runCase(t, c, func(source string, schema *catalog.Schema) engine.Graph { return openNaive(t, source, schema) })
			})
		}
	}
}

func TestModelAgainstItself(t *testing.T) {
	if n := RunRandom(t, openNaive, Options{Seed: 1, Cases: 3000}); n < 3000 {
		t.Errorf("%d statements compared", n)
	}
}

func TestScriptsFollowFromTheSeed(t *testing.T) {
	script := func(seed uint64) string {
		d := newDrawer(seed)
		_, steps, _ := compareGraph(d, func() *pair {
			return &pair{ctx: context.Background(), schema: d.schema, engine: naive.New(sourceText, d.schema, naive.Sound),
				model: naive.New(sourceText, d.schema, naive.Sound)}
		})
		return schemaText(d.schema) + scriptText(steps)
	}
	for seed := range uint64(20) {
		if a, b := script(seed), script(seed); a != b {
			t.Fatalf("seed %d draws two scripts:\n%s\n%s", seed, a, b)
		}
	}
}

func TestShrinkKeepsADifference(t *testing.T) {
	slow.Test(t)
	for seed := uint64(1); ; seed++ {
		d := newDrawer(seed)
		d.branching, d.evolving = false, false // the seeded fault shows without both
		open := func() *pair {
			return &pair{ctx: context.Background(), schema: d.schema, engine: naive.New(sourceText, d.schema, naive.ParallelRows),
				model: naive.New(sourceText, d.schema, naive.Sound)}
		}
		_, script, difference := compareGraph(d, open)
		if last := script[len(script)-1]; difference == "" || last.query == nil || last.query.Read == nil {
			continue
		}
		small, difference := shrink(open, script, difference)
		if len(small) > 2 && slices.ContainsFunc(small[1:], func(s step) bool { return s.load != "" || s.query != nil && s.query.Mutation != nil }) {
			continue // a script of one load and a read cannot show this difference
		}
		if difference == "" || len(small) != 2 {
			t.Fatalf("%d statements left of %d, difference %q\n%s", len(small), len(script), difference, scriptText(small))
		}
		r := small[1].query.Read
		if len(r.Match) > 2 || len(r.Vars) > 4 || len(r.Columns) != 1 || len(r.Order) != 0 {
			t.Errorf("not shrunken:\n%s", scriptText(small))
		}
		// The load needs only two parallel edges, one or two nodes, and one node for another
		// variable.
		if n := strings.Count(small[0].load, "\n") + 1; n > 5 {
			t.Errorf("%d lines left:\n%s", n, small[0].load)
		}
		return
	}
}

// faultCases is the number of compared statements within which every seeded fault must be found.
// SumRounds, the rarest, was found 13 times in 60,048 statements.
const faultCases = 20_000

var everyFault = flag.Bool("enginetest.faults", false, "look for every seeded fault of the model")

// TestSeededFaultsAreFound looks for every fourth fault, since each takes seconds; for all of them
// with -enginetest.faults.
func TestSeededFaultsAreFound(t *testing.T) {
	slow.Test(t)
	for i, fault := range naive.Faults() {
		if !*everyFault && i%4 != 0 {
			continue
		}
		t.Run(fault.String(), func(t *testing.T) {
			t.Parallel()
			cases := 0
			for seed := uint64(1); cases < faultCases; seed++ {
				d := newDrawer(seed)
				n, _, difference := compareGraph(d, func() *pair {
					return &pair{ctx: context.Background(), schema: d.schema, engine: naive.New(sourceText, d.schema, fault),
						model: naive.New(sourceText, d.schema, naive.Sound)}
				})
				cases += n
				if difference != "" {
					t.Logf("found after %d statements", cases)
					return
				}
			}
			t.Errorf("not found in %d statements", cases)
		})
	}
}

// recorder is a reporter that records the failures of a case.
type recorder struct{ failures []string }

type stop struct{}

func (r *recorder) Helper() {}
func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}
func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	panic(stop{})
}

// TestSuiteFindsSeededFaults runs the suite with every eighth fault, others than TestSeededFaultsAreFound; with all of
// them with -enginetest.faults.
func TestSuiteFindsSeededFaults(t *testing.T) {
	slow.Test(t)
	for i, fault := range naive.Faults() {
		if !*everyFault && i%8 != 1 {
			continue
		}
		t.Run(fault.String(), func(t *testing.T) {
			for _, c := range suite() {
				if !c.large && fails(c, fault) {
					t.Logf("found by %s", c.name)
					return
				}
			}
			t.Error("no case finds the fault")
		})
	}
}

func fails(c testCase, fault naive.Fault) (failed bool) {
	r := &recorder{}
	defer func() {
		if p := recover(); p != nil {
			failed = true // a fatal failure, or a panic of the faulty model
		}
	}()
	runCase(r, c, func(source string, schema *catalog.Schema) engine.Graph { return naive.New(source, schema, fault) })
	return len(r.failures) > 0
}

// TestMergeTextsAreExact runs a text whose merge has one conflict, with expectations that differ from it, and one whose merge
// tells a wrong head.
func TestMergeTextsAreExact(t *testing.T) {
	merge := textFile("merge.txt")
	setup := merge[:strings.Index(merge, "\ncase ")] + "\ncase x\nbranch side\non side\nquery { delete Person where name = \"dan\" }\n\tnodes 1, edges 3\non main\n" +
		"query { update Person set { age: 2 } where name = \"dan\" }\n\tnodes 1, edges 0\nmerge side into main\n\t"
	const conflict = `! delete_vs_update node Person "dan"`
	for want, right := range map[string]bool{
		conflict:                        true,
		conflict + "; " + conflict:      false,
		conflict + " age":               false,
		`! delete_vs_update node`:       false,
		`! delete_vs_update node "dan"`: false,
	} {
		r := &recorder{}
		runCase(r, parseCases("x.txt", setup+want)[0], func(source string, schema *catalog.Schema) engine.Graph { return openNaive(t, source, schema) })
		if (len(r.failures) == 0) != right {
			t.Errorf("%s: %q", want, r.failures)
		}
	}
	r := &recorder{}
	runCase(r, parseCases("x.txt", merge[:strings.Index(merge, "\ncase ")]+"\ncase x\nbranch side\nmerge side into main\n\talready_up_to_date")[0],
		func(source string, schema *catalog.Schema) engine.Graph {
			return wrongHead{openNaive(t, source, schema)}
		})
	if len(r.failures) != 1 || !strings.Contains(r.failures[0], "the result tells the head") {
		t.Errorf("%q", r.failures)
	}
}

// wrongHead is a graph whose merges tell no head.
type wrongHead struct{ engine.Graph }

func (g wrongHead) Merge(ctx context.Context, source, target string, opts engine.MergeOptions) (*engine.MergeResult, error) {
	res, err := g.Graph.Merge(ctx, source, target, opts)
	if err == nil {
		res.Head = engine.Commit{}
	}
	return res, err
}

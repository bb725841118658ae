package bench

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/bench/social"
	"github.com/omnigraph-go/omnigraph/internal/golden"
)

// TestPlans prints the plans of the queries of the social graph.
func TestPlans(t *testing.T) {
	rows, err := social.New(0.01, seed)
	if err != nil {
		t.Fatal(err)
	}
	g, plans := openSocial(t, rows)
	defer g.Close()
	var names []string
	for name := range plans {
		names = append(names, name)
	}
	slices.Sort(names)
	var text strings.Builder
	for _, name := range names {
		e, err := g.Explain(t.Context(), plans[name], nil, engine.Target{}, false)
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString(name + "\n" + e.String() + "\n")
	}
	golden.Check(t, "testdata/plans.txt", []byte(text.String()))
}

// TestAnalyze checks the row counts of a read's operators, which the graph determines.
func TestAnalyze(t *testing.T) {
	rows, err := social.New(0.01, seed)
	if err != nil {
		t.Fatal(err)
	}
	g, plans := openSocial(t, rows)
	defer g.Close()
	args := engine.Args{value.OfString(rows.PersonSlug(3))}
	for range 2 { // the second run uses the caches that the first one filled
		var text strings.Builder
		for _, name := range socialReads {
			e, err := g.Explain(t.Context(), plans[name], args, engine.Target{}, true)
			if err != nil {
				t.Fatal(err)
			}
			total := int64(0)
			var still func(list []*engine.Operator)
			still = func(list []*engine.Operator) {
				for _, o := range list {
					total += int64(o.Time)
					o.Time = 0 // differs from run to run
					still(o.Children)
				}
			}
			still(e.Plan)
			if total <= 0 {
				t.Errorf("%s took no time", name)
			}
			e.Commit = "" // differs from run to run
			out, err := json.MarshalIndent(e, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			text.WriteString(name + "\n" + e.String() + string(out) + "\n\n")
		}
		golden.Check(t, "testdata/analyzed.txt", []byte(text.String()))
	}
}

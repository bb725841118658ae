package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/evaluation"
	"github.com/omnigraph-go/omnigraph/internal/golden"
)

// TestEvalOutside records how many questions from outside find their tools in the graph of this
// repository. They do not count in the report of gq eval. The second half is an estimate as long as no description
// is reworded for it. docs/evaluation.md has the rates.
func TestEvalOutside(t *testing.T) {
	want, err := filepath.Abs("testdata/eval/outside-report.txt")
	if err != nil {
		t.Fatal(err)
	}
	halves := outsideQuestions(t)
	t.Chdir(checkout(t))
	var b strings.Builder
	for i, title := range []string{"first half", "second half, held out"} {
		tools := codeTools(t)
		n := 0
		for j := range tools {
			tools[j].Questions = halves[i][tools[j].Name]
			delete(halves[i], tools[j].Name)
			n += len(tools[j].Questions)
		}
		if len(halves[i]) > 0 {
			t.Fatalf("outside.txt names unknown tools: %v", halves[i])
		}
		f := evaluation.Search(tools)
		if f.Questions != n || n == 0 {
			t.Fatalf("the search tried %d questions of %d", f.Questions, n)
		}
		fmt.Fprintf(&b, "%s: %d of %d questions have their tool among the first 3 (%.1f %%)\n", title, f.Found, n, 100*float64(f.Found)/float64(n))
		for _, m := range f.Missed {
			fmt.Fprintf(&b, "  %s\n", m)
		}
	}
	golden.Check(t, want, []byte(b.String()))
}

// outsideQuestions reads the questions, and cuts them in two halves by tool: the first, third, fifth
// and so on of the file, and the others. The second half is held out.
func outsideQuestions(t *testing.T) (halves [2]map[string][]string) {
	t.Helper()
	text, err := os.ReadFile("testdata/eval/outside.txt")
	if err != nil {
		t.Fatal(err)
	}
	halves = [2]map[string][]string{{}, {}}
	name, n := "", 0
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if q, ok := strings.CutPrefix(line, "\t"); ok {
			halves[n%2][name] = append(halves[n%2][name], q)
			n++
		} else if line != "" {
			name = line
		}
	}
	if n != 75 {
		t.Fatalf("%d questions, expected 75", n)
	}
	return halves
}

// codeTools returns the tools of the graph code as a server of the default configuration lists them.
func codeTools(t *testing.T) []evaluation.Tool {
	t.Helper()
	var out strings.Builder
	g := generator{stdout: &out, stderr: &out}
	jobs, err := g.clusterJobs()
	if err != nil || len(jobs) != 1 {
		t.Fatalf("%d graphs, %v\n%s", len(jobs), err, &out)
	}
	e := evaluator{stdout: &out, stderr: &out}
	s, in, err := e.serve(context.Background(), &jobs[0], 0, false)
	if err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	return in.Tools
}

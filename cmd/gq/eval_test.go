package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/evaluation"
	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/slow"
	"github.com/omnigraph-go/omnigraph/internal/source/gocode"
)

// TestEval evaluates the graph of this repository and the one of gq init. Both must meet the goals, and
// a second run must give the same report.
func TestEval(t *testing.T) {
	root := checkout(t)
	for _, tt := range []struct{ name, graph string }{{"code", "code"}, {"init", "team"}} {
		t.Run(tt.name, func(t *testing.T) {
			want, err := filepath.Abs("testdata/eval/" + tt.name + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			work := root
			if tt.name == "init" {
				t.Chdir(t.TempDir())
				if code, _, stderr := gqRun("init", "brain", "--replace", root); code != exitDone {
					t.Fatal(stderr)
				}
				work = "brain"
			}
			t.Chdir(work)
			code, stdout, stderr := gqRun("eval", "--graph", tt.graph, "--check")
			if code != exitDone || stderr != "" {
				t.Fatalf("exit %d\n%s%s", code, stdout, stderr)
			}
			if _, again, _ := gqRun("eval", "--graph", tt.graph); again != stdout {
				t.Errorf("the second report differs:\n%s", again)
			}
			golden.Check(t, want, []byte(stdout))
			for _, seed := range []string{"2"} {
				code, stdout, _ := gqRun("eval", "--json", "--seed", seed, "--check")
				var reports []evaluation.Report
				if err := json.Unmarshal([]byte(stdout), &reports); err != nil || code != exitDone || len(reports) != 1 {
					t.Fatalf("seed %s: exit %d, %v\n%s", seed, code, err, stdout)
				}
				if r := reports[0]; r.Graph != tt.graph || r.Repair.Broken < 200 || r.Found.Questions < 80 {
					t.Errorf("seed %s: %d calls, %d questions of the graph %s", seed, r.Repair.Broken, r.Found.Questions, r.Graph)
				}
			}
		})
	}
}

// maxTypical bounds the nine answers of testdata/eval/typical.jsonl about the code of this repository, in tokens.
const maxTypical = 10_000

// TestTypicalAnswers measures nine typical answers about the code of this repository.
func TestTypicalAnswers(t *testing.T) {
	slow.Test(t)
	root := checkout(t)
	calls, err := filepath.Abs("testdata/eval/typical.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	g, err := gocode.Read(t.Context(), gocode.Options{Dir: root})
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.Create(filepath.Join(t.TempDir(), "code.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.WriteNDJSON(data); err != nil {
		t.Fatal(err)
	}
	if err := data.Close(); err != nil {
		t.Fatal(err)
	}
	t.Chdir(root)
	code, stdout, stderr := gqRun("eval", "--graph", "code", "--data", data.Name(), "--calls", calls, "--json")
	var reports []evaluation.Typical
	if err := json.Unmarshal([]byte(stdout), &reports); err != nil || code != exitDone || len(reports) != 1 {
		t.Fatalf("exit %d, %v\n%s%s", code, err, stdout, stderr)
	}
	t.Log(stdout)
	r := reports[0]
	if len(r.Answers) != 9 || r.Tokens > maxTypical {
		t.Errorf("%d answers have %d tokens, expected 9 with at most %d", len(r.Answers), r.Tokens, maxTypical)
	}
	for _, a := range r.Answers {
		if a.Tokens < 150 {
			t.Errorf("the answer of %s has %d tokens, so it has no rows", a.Tool, a.Tokens)
		}
	}
}

// TestEvalMisses evaluates a graph whose queries nobody can find, one with a question that gives the
// name away, and one that no made-up call fits.
func TestEvalMisses(t *testing.T) {
	module(t, map[string]string{
		"schema.pg": "node Person { name: String @key nick: String? }\n",
		"q/a.gq": `query q1() @description("Lists things.") @question("Which humans do we have on file?") { match { $p: Person } return { $p.name } order { $p.name } limit 5 }
query all_people() @description("Lists humans.") @question("Who are all people?") { match { $p: Person } return { $p.name } order { $p.name } limit 5 }
query coded($code: String @check("^[0-9]{9}$")) @description("By a code.") { match { $p: Person { name: $code } } return { $p.nick } limit 5 }
`,
		"cluster.yaml": "version: 1\nstorage: ./data\ngraphs:\n  people: { schema: schema.pg, queries: q/ }\n",
	})
	_, stdout, _ := gqRun("eval")
	for _, want := range []string{
		`q1: "Which humans do we have on file?": no word of it`, `all_people: "Who are all people?": the question contains the name of the tool`,
		"without a @question: coded", `coded was not tried: the example call fails`, "expected a text that matches ^[0-9]{9}$",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	if !strings.Contains(stdout, "of the stored queries 0 of 2,") {
		t.Errorf("a question of the stored queries is found in\n%s", stdout)
	}
	if code, _, stderr := gqRun("eval", "--graph", "persons"); code != exitFailed || !strings.Contains(stderr, "choose one of people") {
		t.Errorf("exit %d\n%s", code, stderr)
	}
	if code, _, stderr := gqRun("eval", "--data", "none.ndjson"); code != exitFailed || !strings.Contains(stderr, "none.ndjson") {
		t.Errorf("exit %d\n%s", code, stderr)
	}
}

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/cmd/gq/internal/tasks"
	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/slow"
)

// TestTasks replays the solutions of all tasks: the right ones pass and the wrong ones do not, whatever the seed.
func TestTasks(t *testing.T) {
	slow.Test(t)
	for _, seed := range []string{"7", "41"} {
		for _, which := range []string{"right", "wrong"} {
			code, stdout, stderr := gqRun("eval", "tasks", "--seed", seed, "--replay", which, "--json")
			var r tasks.Report
			expected := map[string]int{"right": exitDone, "wrong": exitFailed}[which]
			if err := json.Unmarshal([]byte(stdout), &r); err != nil || code != expected || stderr != "" {
				t.Fatalf("exit %d, %v\n%s", code, err, stderr)
			}
			kinds, graphs, wrote := map[tasks.Kind]int{}, map[string]int{}, 0
			for _, x := range r.Results {
				kinds[x.Kind]++
				graphs[x.Graph]++
				if x.Tries[0].Passed != (which == "right") {
					t.Errorf("seed %s: the %s solution of %s: passed %t: %s", seed, which, x.Task, x.Tries[0].Passed, x.Tries[0].Why)
				}
				if x.Tries[0].WroteMain {
					wrote++
				}
				if x.Tries[0].Calls == 0 || x.Tries[0].Tokens == 0 {
					t.Errorf("seed %s: %s: %+v", seed, x.Task, x.Tries[0])
				}
			}
			if len(r.Results) != 60 || graphs["code"] != 20 || graphs["team"] != 20 || graphs["depot"] != 20 {
				t.Errorf("%d tasks: %v", len(r.Results), graphs)
			}
			for _, k := range tasks.Kinds {
				if kinds[k] < 3 {
					t.Errorf("%d tasks of the kind %s", kinds[k], k)
				}
			}
			if which == "right" && wrote > 0 || which == "wrong" && wrote < 8 {
				t.Errorf("seed %s: %d of the %s solutions wrote to main", seed, wrote, which)
			}
		}
	}
}

// TestTasksRefuse replays more solutions that do not do what the task asks for.
func TestTasksRefuse(t *testing.T) {
	slow.Test(t)
	mutate := func(branch, query string, params any) tasks.Call {
		return tasks.Call{Tool: "graph_mutate", Arguments: map[string]any{"branch": branch, "query": query, "params": params}}
	}
	// own proposes a branch of the agent's own, on which a mutation was made.
	own := func(m tasks.Call) []tasks.Call {
		return []tasks.Call{{Tool: "branch_create", Arguments: map[string]any{"name": "own"}}, m, {Tool: "proposal_submit", Arguments: map[string]any{"source": "own", "title": "Mine"}}}
	}
	// instead makes the first call of a right solution with another text in its query.
	instead := func(right []tasks.Call, old, other string) []tasks.Call {
		query := right[0].Arguments["query"].(string)
		if !strings.Contains(query, old) {
			t.Fatalf("%s lacks %s", query, old)
		}
		return []tasks.Call{mutate("draft", strings.Replace(query, old, other, 1), right[0].Arguments["params"])}
	}
	for _, tt := range []struct {
		task, what string
		calls      func(right []tasks.Call) []tasks.Call
	}{
		{"team-accept", "deletes", func(right []tasks.Call) []tasks.Call {
			return instead(right, `update Decision set { state: "accepted" }`, "delete Decision")
		}},
		{"team-accept", "supersedes", func(right []tasks.Call) []tasks.Call {
			return instead(right, `{ state: "accepted" }`, `{ state: "superseded" }`)
		}},
		{"team-replace", "without reason, person and document", func(right []tasks.Call) []tasks.Call {
			p := right[0].Arguments["params"].(map[string]any)
			replaced := p["replaces"].([]any)
			return []tasks.Call{mutate("draft", `query r($s: String, $a: String, $b: String) {
				insert new Decision { slug: $s, title: "x", state: "proposed", reason: "", decided: datetime("2026-01-01T00:00:00Z") }
				insert Replaces { from: $s, to: $a } insert Replaces { from: $s, to: $b }
				update Decision set { state: "superseded" } where slug = $a update Decision set { state: "superseded" } where slug = $b }`,
				map[string]any{"s": p["slug"], "a": replaced[0], "b": replaced[1]})}
		}},
		{"team-replace", "another title and state", func(right []tasks.Call) []tasks.Call {
			p := right[0].Arguments["params"].(map[string]any)
			return append(right, mutate("draft", `query u($s: String) { update Decision set { title: "x", state: "proposed" } where slug = $s }`, map[string]any{"s": p["slug"]}))
		}},
		{"team-unlink", "deletes documents too", func(right []tasks.Call) []tasks.Call {
			slug := right[0].Arguments["params"].(map[string]any)["s"]
			return append(right, mutate("draft", `query d($s: String) { match { $d: Document  $d.slug != $s not { $_ wrote $d } } { delete Document where slug = $d.slug } delete Decision where slug != "" }`, map[string]any{"s": slug}))
		}},
		{"team-record", "deletes another decision", func(right []tasks.Call) []tasks.Call {
			return append(right, mutate("draft", `query d() { delete Decision where state = "superseded" }`, map[string]any{}))
		}},
		{"depot-drop", "changes prices too", func(right []tasks.Call) []tasks.Call {
			return []tasks.Call{right[0], mutate("draft", "query p() { update Item set { price: 1 } where price > 1 }", map[string]any{}), right[1]}
		}},
		{"depot-revive", "proposes another branch", func([]tasks.Call) []tasks.Call {
			return own(mutate("own", "query p() { update Item set { price: 1 } where price > 1 }", map[string]any{}))
		}},
		{"code-clash", "proposes another branch", func(right []tasks.Call) []tasks.Call {
			r := right[1].Arguments["resolutions"].([]any)[0].(map[string]any)
			return own(mutate("own", "query t($s: String, $t: String) { update Note set { text: $t } where slug = $s }", map[string]any{"s": r["id"], "t": r["value"]}))
		}},
	} {
		graph, _, _ := strings.Cut(tt.task, "-")
		set, err := compiledTasks(graph, 7)
		if err != nil {
			t.Fatal(err)
		}
		task := &set.Tasks[slices.IndexFunc(set.Tasks, func(x tasks.Task) bool { return x.Name == tt.task })]
		task.Wrong = tasks.Solution{Calls: tt.calls(task.Right.Calls), Answer: "done"}
		r, err := tasks.Run(t.Context(), set, task, tasks.Replay{Wrong: true}, 1, tasks.Budget{Time: time.Minute})
		if err != nil || r.Tries[0].Passed || r.Tries[0].WroteMain {
			t.Errorf("%s: %s: %v, %+v", tt.task, tt.what, err, r)
		} else {
			t.Logf("%s: %s: %s", tt.task, tt.what, r.Tries[0].Why)
		}
	}
}

// TestTasksDiffer checks that another seed changes the request or the answer of every task.
func TestTasksDiffer(t *testing.T) {
	for _, graph := range tasks.Graphs {
		a, err := tasks.Make(graph, 1)
		if err != nil {
			t.Fatal(err)
		}
		b, err := tasks.Make(graph, 2)
		if err != nil {
			t.Fatal(err)
		}
		again, err := tasks.Make(graph, 1)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a.Data, again.Data) {
			t.Errorf("%s: two graphs of one seed differ", graph)
		}
		for i := range a.Tasks {
			one, _ := json.Marshal([]any{a.Tasks[i].Prompt, a.Tasks[i].Want, a.Tasks[i].State})
			two, _ := json.Marshal([]any{b.Tasks[i].Prompt, b.Tasks[i].Want, b.Tasks[i].State})
			if bytes.Equal(one, two) {
				t.Errorf("the task %s is the same for two seeds", a.Tasks[i].Name)
			}
		}
	}
}

// TestTaskSources compares the sources of the graph code in the tasks with those of this repository; -update copies them.
func TestTaskSources(t *testing.T) {
	paths, err := filepath.Glob("../../queries/code/*.[gp][qg]")
	if err != nil || len(paths) < 6 {
		t.Fatalf("%v, %v", paths, err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		golden.Check(t, "internal/tasks/graphs/code/"+filepath.Base(path), text)
	}
	copies, err := os.ReadDir("internal/tasks/graphs/code")
	if err != nil || len(copies) != len(paths) {
		t.Errorf("%d copies of %d files, %v", len(copies), len(paths), err)
	}
}

// TestTaskReport prints the table of three tries of one task, and refuses flags that do not fit.
func TestTaskReport(t *testing.T) {
	code, stdout, stderr := gqRun("eval", "tasks", "--seed", "7", "--replay", "wrong", "--only", "team-record", "--tries", "3")
	for _, want := range []string{"1 tasks, seed 7, done by the recorded wrong solutions, 3 tries each", "team              1      0      0      1.0", "            3\n", "team-record, try 3: 3 nodes and edges of main changed, expected 0"} {
		if code != exitFailed || !strings.Contains(stdout, want) {
			t.Errorf("exit %d, no %q in\n%s%s", code, want, stdout, stderr)
		}
	}
	t.Setenv(keyVariable, "secret")
	for args, want := range map[string]string{
		"--seed 1 --endpoint http://models.example/v1 --model m": "use an https:// URL",
		"--replay right":                         "the seed is missing",
		"--seed 1":                               "who does the tasks",
		"--seed 1 --replay right --outside":      "who does the tasks",
		"--seed 1 --endpoint http://127.0.0.1:1": "--endpoint and --model go together",
		"--seed 1 --replay left":                 "right or wrong",
		"--seed 1 --replay right --tries 0":      "at least 1",
		"--seed 1 --replay right --only shop":    `no task or graph "shop"; choose one of code, team, depot`,
		"--seed 1 --replay right extra":          "unexpected argument",
	} {
		if code, _, stderr := gqRun(append([]string{"eval", "tasks"}, strings.Fields(args)...)...); code == exitDone || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d, %s", args, code, stderr)
		}
	}
}

// TestPrintTasks prints the tasks for another program: each has a request, and the types have what the data has.
func TestPrintTasks(t *testing.T) {
	code, stdout, stderr := gqRun("eval", "tasks", "--seed", "7", "--print")
	if code != exitDone {
		t.Fatalf("exit %d\n%s", code, stderr)
	}
	count := 0
	for line := range strings.Lines(stdout) {
		var p tasks.Printed
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			t.Fatal(err)
		}
		properties := map[string]map[string]string{}
		for _, typ := range slices.Concat(p.Nodes, p.Edges) {
			properties[typ.Name] = typ.Properties
		}
		for entity := range strings.Lines(p.Data) {
			var e struct {
				Type, Edge string
				Data       map[string]any
			}
			if err := json.Unmarshal([]byte(entity), &e); err != nil {
				t.Fatal(err)
			}
			for name := range e.Data {
				if properties[e.Type+e.Edge][name] == "" && name != "id" {
					t.Errorf("%s: the type %s has no property %s", p.Graph, e.Type+e.Edge, name)
				}
			}
		}
		for _, task := range p.Tasks {
			if count++; !strings.Contains(task.Request, "ANSWER:") || task.Kind == tasks.Read && len(task.Want) == 0 {
				t.Errorf("%s: %+v", p.Graph, task)
			}
		}
	}
	if count != 60 {
		t.Errorf("%d tasks, want 60", count)
	}
}

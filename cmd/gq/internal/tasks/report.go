package tasks

import (
	"fmt"
	"io"
	"strings"
)

// Report is the results of all tasks of a run.
type Report struct {
	Seed    uint64   `json:"seed"`
	Agent   string   `json:"agent"` // who did the tasks
	Tries   int      `json:"tries"` // of each task
	Results []Result `json:"results"`
}

// Result is the tries of one task.
type Result struct {
	Graph string `json:"graph"`
	Task  string `json:"task"`
	Kind  Kind   `json:"kind"`
	Tries []Try  `json:"tries"`
}

// Try is the outcome of one try.
type Try struct {
	Passed    bool   `json:"passed"`
	Why       string `json:"why,omitempty"` // why it did not pass
	Calls     int    `json:"calls"`         // of tools
	Tokens    int    `json:"tokens"`        // that the model read and wrote; if they are not known, those of the answers of tools, at four bytes a token
	WroteMain bool   `json:"wrote_main"`    // main changed otherwise than the task asks for
}

// within reports whether one of the first n tries passed.
func (r *Result) within(n int) bool {
	for i, t := range r.Tries {
		if i < n && t.Passed {
			return true
		}
	}
	return false
}

// Missed is the number of tasks that no try passed.
func (r *Report) Missed() int {
	missed := 0
	for i := range r.Results {
		if !r.Results[i].within(r.Tries) {
			missed++
		}
	}
	return missed
}

// Print writes the report as text.
func (r *Report) Print(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d tasks, seed %d, done by %s, %d tries each\n\n", len(r.Results), r.Seed, r.Agent, r.Tries)
	fmt.Fprintf(&b, "%-12s %6s %6s %6s %8s %8s %12s\n", "", "tasks", "at 1", "at 3", "calls", "tokens", "wrote main")
	row := func(name string, selected func(*Result) bool) {
		tasks, first, third, calls, tokens, wrote, tries := 0, 0, 0, 0, 0, 0, 0
		for i := range r.Results {
			x := &r.Results[i]
			if !selected(x) {
				continue
			}
			tasks++
			if x.within(1) {
				first++
			}
			if x.within(3) {
				third++
			}
			for _, t := range x.Tries {
				tries++
				calls += t.Calls
				tokens += t.Tokens
				if t.WroteMain {
					wrote++
				}
			}
		}
		if tries == 0 {
			return
		}
		at3 := "-"
		if r.Tries >= 3 {
			at3 = fmt.Sprint(third)
		}
		fmt.Fprintf(&b, "%-12s %6d %6d %6s %8.1f %8d %12d\n", name, tasks, first, at3, float64(calls)/float64(tries), tokens/tries, wrote)
	}
	for _, g := range Graphs {
		row(g, func(x *Result) bool { return x.Graph == g })
	}
	for _, k := range Kinds {
		row(string(k), func(x *Result) bool { return x.Kind == k })
	}
	row("all", func(*Result) bool { return true })
	b.WriteString("\nat 1: passed at the first try; at 3: at one of the first three. calls and tokens: means of a try. wrote main: tries with a write to main that the task does not ask for.\n")
	for i := range r.Results {
		for n, t := range r.Results[i].Tries {
			if !t.Passed {
				fmt.Fprintf(&b, "%s, try %d: %s\n", r.Results[i].Task, n+1, t.Why)
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

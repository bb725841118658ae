package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/cmd/gq/internal/tasks"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/codegen/model"
	"github.com/omnigraph-go/omnigraph/internal/codegen/scaffold"
	"github.com/omnigraph-go/omnigraph/internal/credentials"
)

// keyVariable is the environment variable with the key of an endpoint.
const keyVariable = "OPENAI_API_KEY"

// tasksCommand makes the command gq eval tasks.
func tasksCommand() *cobra.Command {
	var r tasksRunner
	cmd := &cobra.Command{
		Use:   "tasks --seed N (--endpoint URL --model NAME | --outside | --replay right|wrong | --print) [--only NAME] [--tries N]",
		Short: "Score what an agent does with the tools of a graph",
		Long: `Score what an agent does with the tools of a graph.

The command gives 60 tasks over three kinds of graph: source code (code), the knowledge of a team
(team, which gq init makes), and a depot without stored queries (depot). It generates the graphs
from the seed. Each try has a graph of its own in memory, which the command serves over MCP on a
port of 127.0.0.1. The answers of the agent are compared with rows, and the state of the graph
with the rows of a query.

With --endpoint a model does the tasks, behind any endpoint that has /chat/completions with
tools; the environment variable ` + keyVariable + ` has its key, if it needs one. With --outside
another program does them: the command prints each task as a line of JSON with the members
graph, number, try, address and request, and reads a line {"answer": "…", "tokens": 1200} before the next.
The report then goes to standard error. With --replay it makes the recorded calls of each task:
those of the right solutions pass, those of the wrong ones do not. With --print it prints the
graphs, the tasks and the right answers, a line of JSON for each graph, for a program that lets an
agent do the tasks with other tools.

The exit code is 1 if a task passed at no try.`,
		Example: `  gq eval tasks --seed 7 --replay right
  gq eval tasks --seed 7 --endpoint http://127.0.0.1:11434/v1 --model qwen3 --tries 3
  gq eval tasks --seed 7 --only depot --outside`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return &usageError{cmd, fmt.Errorf("unexpected argument %q; the command takes only flags", args[0])}
			}
			return r.check(cmd)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			r.stdin, r.stdout, r.stderr = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
			return r.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.Uint64Var(&r.seed, "seed", 0, "the number `N` from which the graphs are generated; required")
	f.StringVar(&r.endpoint, "endpoint", "", "the `URL` of an OpenAI-compatible endpoint")
	f.StringVar(&r.model, "model", "", "the `NAME` of the model at the endpoint")
	f.BoolVar(&r.outside, "outside", false, "print the tasks, and read the answers of another program")
	f.StringVar(&r.replay, "replay", "", "make the recorded calls of the `right` or the wrong solutions")
	f.BoolVar(&r.list, "print", false, "print the graphs, the tasks and the right answers")
	f.StringVar(&r.only, "only", "", "the `NAME` of a task, or of a graph")
	f.IntVar(&r.tries, "tries", 1, "tries of each task")
	f.IntVar(&r.budget.Calls, "max-calls", 40, "calls of tools in one try of a model")
	f.IntVar(&r.budget.Tokens, "max-tokens", 400_000, "tokens of one try of a model, over all its turns")
	f.DurationVar(&r.budget.Time, "max-time", 10*time.Minute, "time of one try")
	f.BoolVar(&r.json, "json", false, "print the report as JSON")
	return cmd
}

// tasksRunner runs gq eval tasks with the values of its flags.
type tasksRunner struct {
	seed                          uint64
	endpoint, model, replay, only string
	outside, list, json           bool
	tries                         int
	budget                        tasks.Budget

	stdin          io.Reader
	stdout, stderr io.Writer
}

// check returns an error if the flags do not fit each other.
func (r *tasksRunner) check(cmd *cobra.Command) error {
	ways := 0
	for _, given := range []bool{r.endpoint != "", r.outside, r.replay != "", r.list} {
		if given {
			ways++
		}
	}
	var err error
	switch {
	case !cmd.Flags().Changed("seed"):
		err = errors.New("the seed is missing; choose any number, such as --seed 7")
	case ways != 1:
		err = errors.New("give one of --endpoint, --outside and --replay, which says who does the tasks, or --print")
	case (r.endpoint == "") != (r.model == ""):
		err = errors.New("--endpoint and --model go together")
	case r.endpoint != "" && os.Getenv(keyVariable) != "" && credentials.Exposed(r.endpoint):
		err = fmt.Errorf("--endpoint is %s, but others could read the key in %s on its way over http://; use an https:// URL, or unset the variable", r.endpoint, keyVariable)
	case r.replay != "" && r.replay != "right" && r.replay != "wrong":
		err = fmt.Errorf("--replay is %q; it must be right or wrong", r.replay)
	case r.tries < 1:
		err = fmt.Errorf("--tries is %d; it must be at least 1", r.tries)
	}
	if err != nil {
		return &usageError{cmd, err}
	}
	return nil
}

// agent returns who does the tasks, and the name of it.
func (r *tasksRunner) agent() (tasks.Agent, string) {
	switch {
	case r.outside:
		return tasks.NewOutside(r.stdout, r.stdin), "another program"
	case r.endpoint != "":
		return &tasks.Model{URL: r.endpoint, Name: r.model, Key: os.Getenv(keyVariable)}, r.model
	}
	return tasks.Replay{Wrong: r.replay == "wrong"}, "the recorded " + r.replay + " solutions"
}

// run runs gq eval tasks.
func (r *tasksRunner) run(ctx context.Context) error {
	if ctx == nil {
		ctx = context.Background()
	}
	agent, name := r.agent()
	report := tasks.Report{Seed: r.seed, Agent: name, Tries: r.tries, Results: []tasks.Result{}}
	var known []string
	for _, graph := range tasks.Graphs {
		set, err := compiledTasks(graph, r.seed)
		if err != nil {
			return err
		}
		if r.list {
			if r.only != "" && r.only != graph {
				continue
			}
			if err := r.encode(r.stdout, set.Print(), ""); err != nil {
				return err
			}
			continue
		}
		for i := range set.Tasks {
			t := &set.Tasks[i]
			known = append(known, t.Name)
			if r.only != "" && r.only != t.Name && r.only != graph {
				continue
			}
			result, err := tasks.Run(ctx, set, t, agent, r.tries, r.budget)
			if err != nil {
				return err
			}
			report.Results = append(report.Results, *result)
		}
	}
	if r.list {
		return nil
	}
	if len(report.Results) == 0 {
		return fmt.Errorf("there is no task or graph %q; choose one of %s, or of %s", r.only, strings.Join(tasks.Graphs, ", "), strings.Join(known, ", "))
	}
	to := r.stdout
	if r.outside {
		to = r.stderr
	}
	if err := r.print(to, &report); err != nil {
		return err
	}
	if report.Missed() > 0 {
		return &reportedError{}
	}
	return nil
}

// print prints the report.
func (r *tasksRunner) print(to io.Writer, report *tasks.Report) error {
	if !r.json {
		return report.Print(to)
	}
	return r.encode(to, report, "  ")
}

// encode prints a value as JSON.
func (r *tasksRunner) encode(to io.Writer, v any, indent string) error {
	enc := json.NewEncoder(to)
	enc.SetIndent("", indent)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// compiledTasks generates the graph of a kind and its tasks, and compiles its sources.
func compiledTasks(graph string, seed uint64) (*tasks.Compiled, error) {
	set, err := tasks.Make(graph, seed)
	if err != nil {
		return nil, err
	}
	if graph == "team" {
		if set.Schema, set.Queries, err = scaffold.Sources(); err != nil {
			return nil, err
		}
	}
	in := model.Input{Graph: graph, Source: gq.Source{Name: "schema.pg", Text: set.Schema}}
	for name, text := range set.Queries {
		in.Sources = append(in.Sources, gq.Source{Name: name, Text: text})
	}
	slices.SortFunc(in.Sources, func(a, b gq.Source) int { return cmp.Compare(a.Name, b.Name) })
	pkg, schema, diags := model.Compile(in)
	if err := diags.Err(); err != nil {
		return nil, fmt.Errorf("graph %s: %w", graph, err)
	}
	c := &tasks.Compiled{Set: set, Catalog: schema}
	for _, q := range pkg.Queries() {
		c.Served = append(c.Served, newServedQuery(q))
	}
	return c, nil
}

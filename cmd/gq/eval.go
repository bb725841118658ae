package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/codegen/model"
	"github.com/omnigraph-go/omnigraph/internal/evaluation"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/server/mcp"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// evalCommand makes the command gq eval.
func evalCommand() *cobra.Command {
	var e evaluator
	cmd := &cobra.Command{
		Use:   "eval [--graph NAME] [--data FILE] [--calls FILE] [--seed N] [--json] [--check]",
		Short: "Measure how well a model can use the tools of a graph",
		Long: `Measure how well a model can use the tools of a graph, without a model.

The command compiles the graphs of cluster.yaml in the current directory or a parent, serves
each from memory over MCP, and reports

  - the tokens of the list of tools, of the instructions and of answers;
  - the questions (@question) whose tool is not among the first three that a search finds;
  - the pairs of tools that are easily confused;
  - the calls until a wrong call is corrected: an example call of each tool is broken in ten
    ways, and a program corrects it by the text of the error.

Equal sources and an equal seed give an equal report. docs/evaluation.md explains the figures.`,
		Example: `  gq eval
  gq eval --graph code --json
  gq eval --check`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return &usageError{cmd, fmt.Errorf("unexpected argument %q; the command takes only flags", args[0])}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			e.stdout, e.stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return e.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringVar(&e.graph, "graph", "", "the `NAME` of the graph (default: all graphs)")
	f.StringVar(&e.data, "data", "", "the NDJSON `FILE` to fill the graph with (default: made-up nodes and edges)")
	f.StringVar(&e.calls, "calls", "", "a `FILE` of typical calls, a line {\"tool\": …, \"arguments\": …} for each; measure their answers and nothing else")
	f.Uint64Var(&e.seed, "seed", 1, "the number `N` decides how calls are broken")
	f.BoolVar(&e.json, "json", false, "print the report as JSON")
	f.BoolVar(&e.check, "check", false, fmt.Sprintf("fail unless %.0f %% of the questions find their tools and one repair corrects %.0f %% of the calls", evaluation.FoundGoal, evaluation.RepairedGoal))
	cmd.AddCommand(tasksCommand())
	return cmd
}

// evaluator runs gq eval with the values of its flags.
type evaluator struct {
	graph, data string // values of --graph and --data
	calls       string // value of --calls
	seed        uint64 // value of --seed
	json, check bool   // values of --json and --check

	stdout, stderr io.Writer // where run prints the reports and the faults
}

// run runs gq eval.
func (e *evaluator) run(ctx context.Context) error {
	if ctx == nil {
		ctx = context.Background()
	}
	path, cluster, err := readCluster(e.stderr)
	if err != nil {
		return err
	}
	g := generator{stdout: e.stdout, stderr: e.stderr}
	jobs, err := g.clusterJobs()
	if err != nil {
		return err
	}
	var names []string
	reports := []*evaluation.Report{}
	for i := range jobs {
		names = append(names, jobs[i].graph)
		if e.graph != "" && jobs[i].graph != e.graph {
			continue
		}
		served := cluster.Graph(jobs[i].graph)
		r, err := e.evaluate(ctx, &jobs[i], served.MetaThreshold, served.OutputSchemas)
		if err != nil {
			return err
		}
		reports = append(reports, r)
	}
	if len(reports) == 0 && e.graph != "" {
		return fmt.Errorf("%s has no graph %q; choose one of %s", path, e.graph, strings.Join(names, ", "))
	}
	if err := e.print(reports); err != nil {
		return err
	}
	missed := false
	for _, r := range reports {
		if r.Typical != nil {
			continue
		}
		for _, goal := range r.Missed() {
			missed = true
			if e.check {
				fmt.Fprintf(e.stderr, "graph %s: %s\n", r.Graph, goal)
			}
		}
	}
	if missed && e.check {
		return &reportedError{}
	}
	return nil
}

// print prints the reports.
func (e *evaluator) print(reports []*evaluation.Report) error {
	if e.json {
		enc := json.NewEncoder(e.stdout)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		if e.calls != "" {
			type measured struct {
				Graph string `json:"graph"`
				*evaluation.Typical
			}
			all := []measured{}
			for _, r := range reports {
				all = append(all, measured{r.Graph, r.Typical})
			}
			return enc.Encode(all)
		}
		return enc.Encode(reports)
	}
	for i, r := range reports {
		if i > 0 {
			fmt.Fprintln(e.stdout)
		}
		if err := r.Print(e.stdout); err != nil {
			return err
		}
	}
	return nil
}

// evaluate evaluates one graph.
func (e *evaluator) evaluate(ctx context.Context, j *job, threshold int, outputSchemas bool) (_ *evaluation.Report, err error) {
	s, in, err := e.serve(ctx, j, threshold, outputSchemas)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if e.calls != "" {
		return e.typical(ctx, s, in.Graph)
	}
	r, err := evaluation.Evaluate(ctx, in)
	if err == nil && e.data == "" {
		r.Empty = s.empty
	}
	return r, err
}

// typical makes the calls of the file of typical calls, and reports the sizes of their answers.
func (e *evaluator) typical(ctx context.Context, s *evalServer, graph string) (*evaluation.Report, error) {
	f, err := os.Open(e.calls)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all := &evaluation.Typical{Answers: []evaluation.TypicalAnswer{}}
	d := json.NewDecoder(f)
	for {
		var c struct {
			Tool      string          `json:"tool"`
			Arguments json.RawMessage `json:"arguments"`
		}
		if err := d.Decode(&c); errors.Is(err, io.EOF) {
			return &evaluation.Report{Graph: graph, Typical: all}, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: call %d: %w", e.calls, len(all.Answers)+1, err)
		}
		answer, fault, err := s.Call(ctx, c.Tool, c.Arguments)
		if err == nil && fault != "" {
			err = fmt.Errorf("%s: call %d of the tool %s: %s", e.calls, len(all.Answers)+1, c.Tool, fault)
		}
		if err != nil {
			return nil, err
		}
		all.Add(c.Tool, answer)
	}
}

// serve serves one graph, and returns the server and its tools with their questions. The caller closes
// the server.
func (e *evaluator) serve(ctx context.Context, j *job, threshold int, outputSchemas bool) (_ *evalServer, in evaluation.Input, err error) {
	pkg, schema, source, err := e.compile(j)
	if err != nil {
		return nil, in, err
	}
	var queries []tool.StoredQuery
	questions := map[string]*model.Query{} // exposed queries by the name of the tool
	for _, q := range pkg.Queries() {
		queries = append(queries, newServedQuery(q))
		if q.Exposed {
			questions[q.Tool.Name] = q
		}
	}
	s := newEvalServer(j.graph, source, schema, queries, j.claims)
	s.config.MetaThreshold, s.config.OutputSchemas, s.data = threshold, outputSchemas, e.data
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if _, err := s.Reset(ctx); err != nil {
		return nil, in, fmt.Errorf("graph %s: %w", j.graph, err)
	}
	in = evaluation.Input{Graph: j.graph, Server: s, Seed: e.seed}
	if in.Instructions, err = s.instructions(); err != nil {
		return nil, in, err
	}
	if in.Tools, in.ListBytes, err = s.tools(); err != nil {
		return nil, in, err
	}
	listed, meta := servedgraph.ListedTools(s.config.Builtins, queries, threshold)
	in.ReadingBytes = mcp.ReadingBytes(listed, len(queries) > 0, meta)
	for i := range in.Tools {
		t := &in.Tools[i]
		if q := questions[t.Name]; q != nil {
			t.Stored, t.Questions = true, q.Questions
			delete(questions, t.Name)
		} else {
			t.Questions = evaluation.Questions(t.Name)
		}
	}
	for _, q := range pkg.Queries() {
		if questions[q.Tool.Name] != nil {
			in.Unlisted = append(in.Unlisted, evaluation.Tool{Descriptor: listedQuery{q}.Descriptor(), Stored: true, Questions: q.Questions})
		}
	}
	return s, in, nil
}

// compile compiles the sources of a graph. If they have errors, it prints the errors.
func (e *evaluator) compile(j *job) (*model.Package, *catalog.Schema, string, error) {
	in, err := j.input(userPath)
	if err != nil {
		return nil, nil, "", err
	}
	pkg, schema, diags := model.Compile(model.Input{
		Graph: in.Name, Source: in.Schema, Sources: in.Queries, Selected: in.Selected, SelectedAt: in.SelectedAt, Strict: in.Strict, Claims: in.Claims,
	})
	if !diags.HasErrors() {
		return pkg, schema, in.Schema.Text, nil
	}
	texts := map[string]string{in.Schema.Name: in.Schema.Text}
	for _, src := range in.Queries {
		texts[src.Name] = src.Text
	}
	if j.cluster != "" {
		text, _ := os.ReadFile(j.cluster) // on error the report only lacks the source lines
		texts[userPath(j.cluster)] = string(text)
	}
	diag.Render(e.stderr, diags, texts, false)
	return nil, nil, "", &reportedError{}
}

// servedQuery is a query of the model that a server can run. Its parts are made once, because a server
// identifies tools by the addresses of their descriptors.
type servedQuery struct {
	descriptor *tool.Descriptor
	info       *tool.QueryInfo
	plan       *plan.Query
	params     []plan.Param // with the values of their enums
}

// newServedQuery returns a query of the model as a server runs it.
func newServedQuery(q *model.Query) *servedQuery {
	s := &servedQuery{descriptor: listedQuery{q}.Descriptor(), plan: q.Plan, params: slices.Clone(q.Plan.Declared())}
	s.info = &tool.QueryInfo{
		Name: q.Name, Exposed: q.Exposed, Description: q.Description, Instruction: q.Instruction, Questions: q.Questions,
		MustBeEmpty: q.MustBeEmpty, Mutation: q.Mutation(), File: q.File,
	}
	for i, p := range q.Params {
		s.info.ParamDocs = append(s.info.ParamDocs, p.Doc)
		if p.Enum != nil {
			s.params[i].Type.Enum = p.Enum.Names()
		}
	}
	return s
}

func (s *servedQuery) Descriptor() *tool.Descriptor { return s.descriptor }
func (s *servedQuery) Info() *tool.QueryInfo        { return s.info }
func (s *servedQuery) Plan() *plan.Query            { return s.plan }
func (s *servedQuery) Params() []plan.Param         { return s.params }

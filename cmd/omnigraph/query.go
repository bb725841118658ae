package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/inprocess"
)

// statementFlags are the flags of a verb that runs a query.
type statementFlags struct {
	graphFlags
	file, params, branch, at string // values of the flags; `file` is the value of --query
	text                     string // value of --text
	rows                     int    // most rows to print; 0 means all
}

// init adds the verbs of this file to the command omnigraph.
func init() { graphVerbs = append(graphVerbs, newQuery, newMutate, newQueries) }

// newQuery makes the command omnigraph query.
func newQuery() *cobra.Command {
	var f statementFlags
	cmd := &cobra.Command{
		Use:   "query (--store DIR | --server URL --graph ID) (--query FILE | -e TEXT) [NAME]",
		Short: "Run a read query of a .gq file or of the command line",
		Long: `Run a read query from a .gq file, standard input or the command line, and print its rows. NAME is the
query to run; you can omit it if the text has only one query.

With --format arrow the output is an Arrow IPC stream, and with --format parquet a Parquet file. Both
have the exact types of the columns, and the command writes them while it reads, so that the number of
rows is not limited by memory.`,
		Example: "  omnigraph query --store data/code --query top.gq top --params '{\"least\": 10}'\n" +
			"  omnigraph query --store data/code -e 'query q() { match { $p: Package } return { count($p) as n } }' --format csv\n" +
			"  omnigraph query --server http://127.0.0.1:8080 --graph code --query top.gq top --params '{\"least\": 10}' --json\n" +
			"  omnigraph query --store data/code --query top.gq top --params '{\"least\": 10}' --format parquet >top.parquet",
		Args: usage.AtMostOne("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := f.statement(cmd, args)
			if err != nil {
				return err
			}
			return f.run(cmd, func(ctx context.Context, src *source) (*report, error) {
				if f.inColumns() {
					return nil, f.writeColumns(ctx, cmd, func(w io.Writer) error { return src.QueryArrow(ctx, s, w) })
				}
				a, err := src.Query(ctx, s)
				if err != nil {
					return nil, err
				}
				return rowsReport(a), nil
			})
		},
	}
	f.columns = true
	f.textFlags(cmd)
	f.readFlags(cmd)
	return cmd
}

// newMutate makes the command omnigraph mutate.
func newMutate() *cobra.Command {
	var f statementFlags
	var w writeFlags
	cmd := &cobra.Command{
		Use:   "mutate (--store DIR | --server URL --graph ID) (--query FILE | -e TEXT) [NAME]",
		Short: "Run a mutation of a .gq file or of the command line, as one commit",
		Example: "  omnigraph mutate --store data/people --query people.gq add --params '{\"name\": \"cyd\"}'\n" +
			"  omnigraph mutate --store data/people --query people.gq add --params '{\"name\": \"dan\"}' --dry-run",
		Args: usage.AtMostOne("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := f.statement(cmd, args)
			if err != nil {
				return err
			}
			return f.run(cmd, func(ctx context.Context, src *source) (*report, error) {
				a, err := src.Mutate(ctx, s, w.options(f.branch))
				if err != nil {
					return nil, err
				}
				return mutationReport(a), nil
			})
		},
	}
	f.textFlags(cmd)
	cmd.Flags().StringVar(&f.branch, "branch", "", "the branch to write to (default: main)")
	w.flags(cmd)
	return cmd
}

// textFlags adds the flags that give the text and parameters of the statement.
func (f *statementFlags) textFlags(cmd *cobra.Command) {
	f.flags(cmd)
	cmd.Flags().StringVar(&f.file, "query", "", "the .gq file, or - for standard input")
	cmd.Flags().StringVarP(&f.text, "text", "e", "", "the text of the query, instead of a file")
	cmd.Flags().StringVar(&f.params, "params", "", "the parameters of the query, as a JSON object")
}

// readFlags adds the flags that only reads have.
func (f *statementFlags) readFlags(cmd *cobra.Command) {
	cmd.Flags().IntVar(&f.rows, "max-rows", 0, "the maximum number of rows to print (default: no maximum)")
	atFlags(cmd, &f.branch, &f.at)
}

// atFlags adds the flags that choose the state to read.
func atFlags(cmd *cobra.Command, branch, at *string) {
	cmd.Flags().StringVar(branch, "branch", "", "the branch to read (default: main)")
	cmd.Flags().StringVar(at, "at", "", "the id of a commit to read, instead of the head of a branch; or an instant such as 2026-05-01T12:00:00Z, for the last commit of the branch at or before it")
}

// statement reads the statement to run.
func (f *statementFlags) statement(cmd *cobra.Command, args []string) (*statement, error) {
	switch {
	case f.file == "" && f.text == "":
		return nil, usage.Errorf("--query is missing; name a .gq file, or give the text of the query with -e; see %s --help", cmd.CommandPath())
	case f.file != "" && f.text != "":
		return nil, usage.Errorf("--query and --text are both given; choose one")
	}
	s, err := f.call(args)
	if err != nil {
		return nil, err
	}
	if f.text != "" {
		s.file, s.text = "--text", f.text
		return s, nil
	}
	s.file = f.file
	var b []byte
	if f.file == "-" {
		s.file = "standard input"
		b, err = io.ReadAll(cmd.InOrStdin())
	} else {
		b, err = os.ReadFile(f.file)
	}
	s.text = string(b)
	return s, err
}

// call returns the statement without its text.
func (f *statementFlags) call(args []string) (*statement, error) {
	s := &statement{at: engine.Target{Branch: f.branch, Commit: f.at}, rows: f.rows}
	if len(args) > 0 {
		s.name = args[0]
	}
	if f.rows < 0 {
		return nil, usage.Errorf("--max-rows is %d; it must be 1 or more", f.rows)
	}
	if f.params == "" {
		return s, nil
	}
	s.params = json.RawMessage(f.params)
	var syntax *json.SyntaxError
	switch err := json.Unmarshal(s.params, new(any)); {
	case errors.As(err, &syntax):
		return nil, usage.Errorf("--params is not JSON: at byte %d: %w; expected an object such as '{\"name\": \"ada\"}'", syntax.Offset, err)
	case err != nil:
		return nil, usage.Errorf("--params is not JSON: %w", err)
	case !utf8.ValidString(f.params):
		return nil, usage.Errorf("--params is not JSON: invalid UTF-8")
	case !bytes.HasPrefix(bytes.TrimSpace(s.params), []byte("{")):
		return nil, usage.Errorf("--params is %.40s; give a JSON object such as '{\"name\": \"ada\"}'", f.params)
	}
	return s, nil
}

// writeFlags are the flags for the conditions of a write.
type writeFlags struct {
	ifCommit, key string // values of --if-commit and --idempotency-key
	dryRun        bool   // value of --dry-run
	message       string // value of --message
}

// flags adds the flags to a command.
func (f *writeFlags) flags(cmd *cobra.Command) {
	guardVar(cmd.Flags(), &f.ifCommit, "if-commit", "write only if this commit is the head of the branch; exit with 4 if not")
	guardVar(cmd.Flags(), &f.key, "idempotency-key", "write only once with this `KEY` in 24 hours, even if you run the command again")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "report the changes, but commit nothing")
	messageVar(cmd, &f.message)
}

// messageVar adds the flag --message to a command that writes.
func messageVar(cmd *cobra.Command, message *string) {
	cmd.Flags().StringVarP(message, "message", "m", "", "the message of the commit, at most 1,024 bytes: why it was made")
}

// options returns the options of a write to a branch.
func (f *writeFlags) options(branch string) engine.WriteOptions {
	return engine.WriteOptions{Branch: branch, Message: f.message, IfCommit: f.ifCommit, IdempotencyKey: f.key, DryRun: f.dryRun}
}

// newQueries makes the command omnigraph queries.
func newQueries() *cobra.Command {
	return usage.Group("queries", "List and run the stored queries of a graph", newQueriesList(), newQueriesRun())
}

// newQueriesList makes the command omnigraph queries list.
func newQueriesList() *cobra.Command {
	var f graphFlags
	cmd := &cobra.Command{
		Use:     "list (--store DIR | --server URL --graph ID)",
		Short:   "List the stored queries that you may run",
		Example: "  omnigraph queries list --store data/code\n  omnigraph queries list --server http://127.0.0.1:8080 --graph code",
		Args:    usage.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd, func(ctx context.Context, src *source) (*report, error) {
				list, err := src.graph.Queries(ctx)
				if err != nil {
					return nil, err
				}
				queries := append([]client.QueryEntry{}, list.Queries...)
				return &report{doc: map[string]any{"queries": queries}, columns: columns("name", "mutation", "description"), rows: rowsOf(queries)}, nil
			})
		},
	}
	f.flags(cmd)
	return cmd
}

// newQueriesRun makes the command omnigraph queries run.
func newQueriesRun() *cobra.Command {
	var f statementFlags
	var w writeFlags
	cmd := &cobra.Command{
		Use:   "run (--store DIR | --server URL --graph ID) NAME",
		Short: "Run a stored query by its name",
		Long: `Run a stored query by its name. For a read, --at selects the commit and --max-rows
limits the rows. For a mutation, the other flags set the conditions of the write. The formats arrow
and parquet are for reads.`,
		Example: "  omnigraph queries run --store data/code heaviest_packages\n" +
			"  omnigraph queries run --server http://127.0.0.1:8080 --graph code heaviest_packages --format table",
		Args: usage.Exactly("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := f.call(args)
			if err != nil {
				return err
			}
			return f.run(cmd, func(ctx context.Context, src *source) (*report, error) {
				if f.inColumns() {
					return nil, f.writeColumns(ctx, cmd, func(w io.Writer) error { return src.InvokeArrow(ctx, s, w) })
				}
				a, err := src.Invoke(ctx, s, w.options(f.branch))
				if err != nil {
					return nil, err
				}
				return invokeReport(a), nil
			})
		},
	}
	f.columns = true
	f.flags(cmd)
	cmd.Flags().StringVar(&f.params, "params", "", "the parameters of the query, as a JSON object")
	cmd.Flags().StringVar(&f.branch, "branch", "", "the branch to run the query on (default: main)")
	cmd.Flags().StringVar(&f.at, "at", "", "the id of a commit to read, instead of the head of a branch; or an instant such as 2026-05-01T12:00:00Z, for the last commit of the branch at or before it")
	cmd.Flags().IntVar(&f.rows, "max-rows", 0, "the maximum number of rows to print (default: no maximum)")
	w.flags(cmd)
	return cmd
}

// Query runs a read and returns all of its rows.
func (src *source) Query(ctx context.Context, s *statement) (*client.ReadAnswer, error) {
	if err := src.check(s, false); err != nil {
		return nil, err
	}
	a, err := src.graph.QueryAll(inprocess.WithFile(ctx, s.file), client.QueryBody{
		Query: s.text, Name: s.name, Params: s.parameters(), Branch: s.at.Branch, Snapshot: s.at.Commit, MaxRows: int32(min(s.rows, math.MaxInt32)),
	})
	return a, s.runError(false, err)
}

// Mutate runs a mutation.
func (src *source) Mutate(ctx context.Context, s *statement, opts engine.WriteOptions) (*client.MutationAnswer, error) {
	if err := src.check(s, true); err != nil {
		return nil, err
	}
	a, err := src.graph.Mutate(inprocess.WithFile(ctx, s.file), client.MutateBody{
		Query: s.text, Name: s.name, Params: s.parameters(), Branch: opts.Branch, DryRun: opts.DryRun,
	}, writeOptions(opts)...)
	return a, s.runError(true, err)
}

// Invoke runs a stored query. The options `opts` apply only to a mutation; the branch of `s` applies to reads
// and mutations.
func (src *source) Invoke(ctx context.Context, s *statement, opts engine.WriteOptions) (*client.InvokeAnswer, error) {
	return src.graph.InvokeAll(ctx, s.name, client.InvokeBody{
		Params: s.parameters(), Branch: s.at.Branch, Snapshot: s.at.Commit, MaxRows: int32(min(s.rows, math.MaxInt32)), DryRun: opts.DryRun,
	}, writeOptions(opts)...)
}

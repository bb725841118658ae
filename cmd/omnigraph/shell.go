package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/shell"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/terminal"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
)

// historyName is the path of the history of shells, as messages show it.
const historyName = "~/.omnigraph/history"

// init adds the verb of this file to the command omnigraph.
func init() { graphVerbs = append(graphVerbs, newShell) }

// newShell makes the command omnigraph shell.
func newShell() *cobra.Command {
	var f statementFlags
	cmd := &cobra.Command{
		Use:   "shell (--store DIR | --server URL --graph ID)",
		Short: "Run queries and mutations at a prompt, or from a script",
		Long: `Run queries and mutations at a prompt, one after the other. A query may have several lines; it runs when
its } closes. The Tab key completes names and keywords, Ctrl-C stops the query that runs, and
\help lists the commands of the shell: \branch, \format, \params, \quit. The history is in
` + historyName + `, which only you can read; a query that begins with a blank is not added.
A local graph is open, and locked for others, until you leave.

If standard input or standard output is not a terminal, the shell reads a script from standard input without a
prompt. It stops at the first error, with the exit code of that error.`,
		Example: "  omnigraph shell --store data/people\n" +
			"  omnigraph shell --server http://127.0.0.1:8080 --graph people --branch feature\n" +
			"  echo 'query q() { match { $p: Person } return { $p.name } }' | omnigraph shell --store data/people --format csv",
		Args: usage.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return f.shell(cmd) },
	}
	f.flags(cmd)
	cmd.Flags().StringVar(&f.branch, "branch", "", "the branch to work on (default: main)")
	return cmd
}

// shell runs a session.
func (f *statementFlags) shell(cmd *cobra.Command) (err error) {
	if err := cmp.Or(f.formatFlags.check(), f.endpoint.check()); err != nil {
		return err
	}
	name := cmp.Or(f.graph, filepath.Base(f.store)) // opening a store names its graph too
	interactive := terminal.Is(cmd.OutOrStdout()) && terminal.IsInput(cmd.InOrStdin())
	opened := func() bool { return true }
	if interactive {
		// Ctrl-C stops the opening, and later one statement; the context of the process would end with that.
		ctx, stop := signal.NotifyContext(context.WithoutCancel(cmd.Context()), syscall.SIGTERM)
		defer stop()
		opened = context.AfterFunc(cmd.Context(), stop)
		cmd.SetContext(ctx)
	}
	ctx := cmd.Context()
	s, err := f.open(cmd)
	opened()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	sh := &shell.Shell{
		Graph: &shellGraph{cmd, f, s}, Name: name, Formats: f.formats(),
		Settings: shell.Settings{Branch: f.branch, Format: f.name}, Out: cmd.OutOrStdout(), Err: cmd.ErrOrStderr(),
		Fault: func(err error) {
			advise(err)
			printError(cmd.ErrOrStderr(), err)
		},
	}
	if !interactive {
		return sh.Script(ctx, cmd.InOrStdin())
	}
	if home, err := os.UserHomeDir(); err == nil {
		sh.History = filepath.Join(home, ".omnigraph", "history")
	}
	return sh.Interact(ctx)
}

// shellGraph is the graph of a session.
type shellGraph struct {
	cmd   *cobra.Command
	flags *statementFlags // as they were given; the settings of the session go before
	*source
}

// Run implements [shell.Graph].
func (g *shellGraph) Run(ctx context.Context, text string, line int, set shell.Settings) (err error) {
	defer func() { err = moved(err, line) }()
	f := *g.flags
	f.branch, f.params, f.name = set.Branch, set.Params, set.Format
	s, err := f.call(nil)
	if err != nil {
		return err
	}
	s.file, s.text = "statement", text
	g.cmd.SetContext(ctx)
	ctx, done := f.within(g.cmd)
	defer func() { err = done(err) }()
	if s.writes() {
		a, err := g.Mutate(ctx, s, (&writeFlags{}).options(f.branch))
		if err != nil {
			return err
		}
		return f.print(g.cmd, mutationReport(a))
	}
	a, err := g.Query(ctx, s)
	if err != nil {
		return err
	}
	return f.print(g.cmd, rowsReport(a))
}

// moved returns the error of a statement that begins on a line of a script with the positions of the script.
func moved(err error, line int) error {
	var r *wireerror.Rejected
	if line == 1 || !errors.As(err, &r) {
		return err
	}
	r.Diagnostics = slices.Clone(r.Diagnostics)
	for i := range r.Diagnostics {
		for _, at := range []*diag.Pos{&r.Diagnostics[i].Span.Start, &r.Diagnostics[i].Span.End} {
			at.Line += line - 1
			at.Offset += line - 1
		}
	}
	sources := map[string]string{}
	for file, text := range r.Sources {
		sources[file] = strings.Repeat("\n", line-1) + text
	}
	r.Sources = sources
	return err
}

// writes reports whether the first query of the text is a mutation.
func (s *statement) writes() bool {
	parsed, found := syntax.ParseQueries(s.file, s.text)
	if found.HasErrors() || len(parsed.Queries) == 0 {
		return false
	}
	_, reads := parsed.Queries[0].Body.(*syntax.Read)
	return !reads
}

// Complete implements [shell.Graph].
func (g *shellGraph) Complete(ctx context.Context, text string, at int, branch string) (from int, words []string) {
	a, err := g.graph.Assist(ctx, client.AssistBody{Text: text, Ask: client.AskCompletion, Position: int32(unitsOf(text[:at])), Branch: branch})
	if err != nil || a.Completion == nil {
		return at, nil
	}
	for _, item := range a.Completion.Items {
		words = append(words, item.Label)
	}
	return offsetOf(text, a.Completion.From), words
}

// unitsOf returns the number of UTF-16 code units of a text.
func unitsOf(text string) int { return len(utf16.Encode([]rune(text))) }

// offsetOf returns the offset in bytes of a place in a text, which is in UTF-16 code units.
func offsetOf(text string, units int) (offset int) {
	for offset < len(text) && units > 0 {
		r, size := utf8.DecodeRuneInString(text[offset:])
		units -= utf16.RuneLen(r)
		offset += size
	}
	return offset
}

// Branches implements [shell.Graph].
func (g *shellGraph) Branches(ctx context.Context) ([]string, error) {
	list, err := g.source.Branches(ctx)
	return mapped(list, func(b client.BranchHead) string { return b.Name }), err
}

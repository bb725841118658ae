// Command omnigraph works on graphs: it creates, loads, queries and maintains them.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/index"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/login"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/policies"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/terminal"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/buildversion"
	"github.com/omnigraph-go/omnigraph/internal/credentials"
	"github.com/omnigraph-go/omnigraph/internal/gcpace"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster/reconcile"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
)

// The exit codes of the command.
const (
	exitFailed       = 1 // any other error
	exitUsage        = 2 // wrong arguments or flags
	exitDenied       = 3 // denied by the policy, or no token
	exitPrecondition = 4 // --if-commit is not the head, a merge conflicts, or an approval is absent
)

// heapGrowth is the growth of a small heap between two garbage collections, in bytes. With it, a short
// command needs no collection.
const heapGrowth = 16 << 20

func main() {
	// The first signal cancels the context. A second signal ends the process even if the command
	// does not notice the first one because it waits for standard input.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	gcpace.Space(heapGrowth)
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	advise(err)
	printError(stderr, err)
	return exitCode(err)
}

// printError prints an error. It prints the faults of a source text together with their lines.
func printError(w io.Writer, err error) {
	var rejected *wireerror.Rejected
	if errors.As(err, &rejected) {
		_ = diag.Render(w, rejected.Diagnostics, rejected.Sources, terminal.Is(w))
		n := 0
		for _, d := range rejected.Diagnostics {
			if d.Severity == diag.Error {
				n++
			}
		}
		err = fmt.Errorf("nothing was run: %s%s", plural(int64(n), "error"), validQueriesNote(rejected))
	}
	fmt.Fprintf(w, "omnigraph: %s\n", terminal.PrintableLines(err.Error()))
	var p *wireerror.Panic
	if errors.As(err, &p) {
		_, _ = w.Write(p.Stack)
	}
}

// validQueriesNote says which queries of a faulty text have no errors.
func validQueriesNote(r *wireerror.Rejected) string {
	switch len(r.Valid) {
	case 0:
		return ""
	case 1:
		return "; the query " + r.Valid[0] + " has no errors: move it to a separate file to run it"
	default:
		return "; the queries " + strings.Join(r.Valid, ", ") + " have no errors: move them to a separate file to run them"
	}
}

// exitCode returns the exit code of the command for an error.
func exitCode(err error) int {
	var (
		arguments usage.Error
		forbidden *wireerror.Forbidden
		stale     *engine.PreconditionFailed
		conflicts *conflicted
		refused   *client.Error

		unapproved *reconcile.Unapproved
		breaks     *reconcile.Breaks
	)
	switch {
	case errors.As(err, &arguments):
		return exitUsage
	case errors.As(err, &forbidden):
		return exitDenied
	case errors.As(err, &stale), errors.As(err, &conflicts), errors.As(err, &unapproved), errors.As(err, &breaks), errors.Is(err, errPending):
		return exitPrecondition
	case errors.As(err, &refused):
		switch refused.Status {
		case http.StatusUnauthorized, http.StatusForbidden:
			return exitDenied
		case http.StatusPreconditionFailed:
			return exitPrecondition
		}
	}
	return exitFailed
}

// newRoot makes the command omnigraph.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "omnigraph",
		Short: "Create, load and query graphs",
		Long: `Create, load and query graphs. Commands work on a graph in a folder (--store DIR), on a
graph of a server (--server URL --graph ID), or on the graph of the current context
(omnigraph context set). For a server, they take the bearer
token from ` + credentials.ServerVarPrefix + `<HOST>, such as
` + credentials.ServerVar("https://graph.example.com") + `, or else from ` + tokenVar + `,
or else from your login (omnigraph login), unless ` + configName + ` has one:

    servers:
      https://graph.example.com: { token: "${GRAPH_TOKEN}" }
      https://other.example.com: { token: { command: [pass, show, graph] } }
      https://third.example.com: { token: { keyring: omnigraph } }

A token in that file can refer to an environment variable, or come from a command or from
the keyring of the system. Commands do not follow redirects, and send a token over http://
to another machine only with --insecure. If a server is busy or cannot be reached, a
command tries again for up to half a minute, except that it tries only once to create or
delete a branch, and to clean up.

A command prints a table on a terminal and JSON elsewhere; --format sets the format. The
exit code is 0 if the command succeeded, 1 if it failed, 2 for an error in the command
line, 3 if the policy or the server denies the request, and 4 if the state of the graph
does not allow it: the head is not the commit of --if-commit, a merge has conflicts, or
cluster apply would destroy data without approval.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage.Unknown(cmd, args[0])
			}
			return nil
		},
		RunE:          func(cmd *cobra.Command, args []string) error { return cmd.Help() },
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage.Errorf("%w; see %s --help", err, cmd.CommandPath())
	})
	root.AddCommand(newInit(), newLoad(), index.New(&indexTarget{}), newCopy(), newRestore(), newMCP(), policies.New(), newCluster(), newContext(), login.New(), login.NewLogout())
	for _, verb := range graphVerbs {
		root.AddCommand(verb())
	}
	root.AddCommand(newVersion(), newDocs())
	usage.Sort(root, helpGroups)
	completions(root)
	return root
}

// helpGroups are the groups of verbs in the help of the command.
var helpGroups = []usage.HelpGroup{
	{Title: "Ask and write:", Verbs: []string{"query", "mutate", "shell", "queries", "blob", "snapshot", "validate", "check"}},
	{Title: "Data in and out:", Verbs: []string{"init", "load", "import", "index", "export", "copy", "restore"}},
	{Title: "Versions and reviews:", Verbs: []string{"branch", "merge", "commit", "changes", "proposal"}},
	{Title: "Run a server:", Verbs: []string{"cluster", "schema", "policy", "audit", "cleanup", "verify", "embed"}},
	{Title: "Clients:", Verbs: []string{"context", "login", "logout", "mcp"}},
}

// version returns the version of this program.
func version() string { return buildversion.Program() }

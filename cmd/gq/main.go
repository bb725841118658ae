// Command gq is the tool for authors of schemas and queries. It works on source files and needs no
// graph.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
)

// The exit codes of the command.
const (
	exitDone   = 0 // success
	exitFailed = 1 // the sources have errors, or the command failed
	exitUsage  = 2 // wrong arguments or flags
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run executes one command line and returns its exit code.
func run(args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.Execute()
	var usage *usageError
	var reported *reportedError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &reported):
		return exitFailed
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "gq: %v; see %s --help\n", usage.err, usage.cmd.CommandPath())
		return exitUsage
	}
	fmt.Fprintf(stderr, "gq: %v\n", err)
	return exitFailed
}

// newRoot makes the command gq with its subcommands.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "gq",
		Short:         "Work on graph schemas and stored queries",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.Args = cobra.ArbitraryArgs // so that an unknown verb becomes a usage error here
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		return unknownCommand(cmd, args[0])
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return &usageError{cmd, err} })
	root.AddCommand(generateCommand())
	root.AddCommand(fmtCommand())
	root.AddCommand(lintCommand())
	root.AddCommand(explainCommand())
	root.AddCommand(docsCommand())
	root.AddCommand(breakingCommand())
	root.AddCommand(pullCommand())
	root.AddCommand(catalogCommand())
	root.AddCommand(initCommand())
	root.AddCommand(devCommand())
	root.AddCommand(lspCommand())
	root.AddCommand(skillCommand())
	root.AddCommand(evalCommand())
	root.AddCommand(releaseCommand())
	root.AddCommand(versionCommand())
	completions(root)
	return root
}

// unknownCommand returns the error for a command that does not exist.
func unknownCommand(root *cobra.Command, name string) error {
	var names []string
	for _, sub := range root.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	err := fmt.Errorf("unknown command %q", name)
	if like := diag.DidYouMean(name, names); like != "" {
		err = fmt.Errorf("%w; %s", err, like)
	}
	return &usageError{root, err}
}

// usageError is an error in the command line itself.
type usageError struct {
	cmd *cobra.Command // the command that was called
	err error          // what is wrong
}

func (e *usageError) Error() string { return e.err.Error() }

// reportedError is a failure that was already reported to the user.
type reportedError struct{}

func (*reportedError) Error() string { return "failed" }

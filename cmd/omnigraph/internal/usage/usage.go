// Package usage has the errors in command lines, and the rules for the arguments of verbs.
package usage

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
)

// Error marks an error of the command line itself.
type Error struct{ Err error }

// Errorf returns an Error with the text of [fmt.Errorf].
func Errorf(format string, args ...any) error { return Error{fmt.Errorf(format, args...)} }

func (e Error) Error() string { return e.Err.Error() }

// Unwrap returns the error without the mark.
func (e Error) Unwrap() error { return e.Err }

// Group returns a command that only has subcommands.
func Group(name, short string, subs ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   name,
		Short: short,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return Unknown(cmd, args[0])
		},
		RunE: func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	cmd.AddCommand(subs...)
	return cmd
}

// Exactly requires one positional argument, which is not empty.
func Exactly(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return Errorf("%s is missing; see %s --help", what, cmd.CommandPath())
		case args[0] == "": // often a shell variable that is not set
			return Errorf("%s is an empty text; see %s --help", what, cmd.CommandPath())
		}
		return AtMostOne(what)(cmd, args)
	}
}

// AtMostOne allows one positional argument or none.
func AtMostOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return Errorf("%s takes one argument, %s, but %q was given too; see --help", cmd.CommandPath(), what, args[1])
		}
		return nil
	}
}

// NoArgs rejects positional arguments as a usage error.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Errorf("%s does not take an argument, but %q was given; see --help", cmd.CommandPath(), args[0])
	}
	return nil
}

// Required returns a usage error for the first of the named string flags that is empty.
func Required(cmd *cobra.Command, names ...string) error {
	for _, name := range names {
		if f := cmd.Flags().Lookup(name); f.Value.String() == "" {
			return Errorf("--%s is missing; see %s --help", name, cmd.CommandPath())
		}
	}
	return nil
}

// fewCommands is the number of commands that the error for an unknown one lists.
const fewCommands = 10

// Unknown returns the error for a command that does not exist below cmd.
func Unknown(cmd *cobra.Command, name string) error {
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	help := "see " + cmd.CommandPath() + " --help"
	if like := diag.DidYouMean(name, names); like != "" {
		help = like
	} else if len(names) <= fewCommands {
		help = "the commands are " + strings.Join(names, ", ")
	}
	return Errorf("unknown command %q; %s", name, help)
}

// HelpGroup is a group of verbs in the help of a command.
type HelpGroup struct {
	Title string
	Verbs []string
}

// Sort puts the verbs below cmd into groups. Verbs of no group come last in its help.
func Sort(cmd *cobra.Command, groups []HelpGroup) {
	of := map[string]string{}
	for _, g := range groups {
		cmd.AddGroup(&cobra.Group{ID: g.Title, Title: g.Title})
		for _, verb := range g.Verbs {
			of[verb] = g.Title
		}
	}
	for _, sub := range cmd.Commands() {
		sub.GroupID = of[sub.Name()]
	}
}

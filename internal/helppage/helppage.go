// Package helppage checks that the help texts of commands follow one style.
package helppage

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const maxShort = 72 // runes, so that a list of verbs fits into a terminal

// Check walks root and all commands below it, except those that cobra adds. It fails the test if
// the help of a command breaks a rule:
//
//   - Short is a phrase that starts upper-case, ends without a period and is at most 72
//     runes long.
//   - Long, if present, starts with an upper-case letter and ends with a period.
//   - A command that does something has examples. Each is a command line of its own that is
//     indented by two spaces and runs the command.
//   - Every flag has a description.
//
// Check returns the number of commands that do something.
func Check(t testing.TB, root *cobra.Command) int {
	t.Helper()
	verbs := 0
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if name := cmd.Name(); cmd.Parent() == root && (name == "help" || name == "completion") {
			return
		}
		if fault := faultOf(cmd); fault != "" {
			t.Errorf("%s: %s", cmd.CommandPath(), fault)
		}
		if !cmd.HasSubCommands() {
			verbs++
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(root)
	return verbs
}

// faultOf describes the first fault in a command's help. It returns "" if there is none.
func faultOf(cmd *cobra.Command) string {
	first, _ := utf8.DecodeRuneInString(cmd.Short)
	switch {
	case !unicode.IsUpper(first):
		return "Short does not start with an upper-case letter"
	case strings.HasSuffix(cmd.Short, "."):
		return "Short ends with a period"
	case utf8.RuneCountInString(cmd.Short) > maxShort:
		return "the field Short is too long for a list of commands"
	}
	if cmd.Long != "" {
		if first, _ := utf8.DecodeRuneInString(cmd.Long); !unicode.IsUpper(first) {
			return "Long does not start with an upper-case letter"
		}
		if !strings.HasSuffix(cmd.Long, ".") {
			return "Long does not end with a period"
		}
	}
	fault := ""
	cmd.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		if f.Usage == "" {
			fault = "--" + f.Name + " has no help"
		}
	})
	if fault != "" {
		return fault
	}
	if cmd.HasSubCommands() && cmd.Example == "" {
		return ""
	}
	if cmd.Example == "" {
		return "the command has no example"
	}
	for line := range strings.Lines(cmd.Example) {
		if !strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "   ") || strings.TrimSpace(line) == "" {
			return "an example is not indented by two spaces: " + line
		}
		if !strings.Contains(line, cmd.CommandPath()) {
			return "an example does not run the command: " + line
		}
	}
	return ""
}

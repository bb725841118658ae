package main

import (
	"errors"
	"strings"

	"github.com/spf13/pflag"
)

// guard is a flag that sets a condition for a write. It refuses an empty text, which is often a shell variable
// that is not set, because the command would otherwise write without the condition.
type guard struct{ value *string }

// Set implements [pflag.Value].
func (g guard) Set(s string) error {
	if strings.TrimSpace(s) == "" {
		return errors.New("found an empty text, expected a value; to write without this condition, leave the flag out")
	}
	*g.value = s
	return nil
}

// String implements [pflag.Value].
func (g guard) String() string {
	if g.value == nil {
		return ""
	}
	return *g.value
}

// Type implements [pflag.Value].
func (guard) Type() string { return "string" }

// guardVar adds a flag that sets a condition for a write.
func guardVar(flags *pflag.FlagSet, value *string, name, usage string) {
	flags.Var(guard{value}, name, usage)
}

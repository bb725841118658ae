package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

// grace is how long a verb waits after its time limit, so that the server can answer that the
// time is over.
const grace = 2 * time.Second

// timeoutFlag adds the flag that bounds the time of a verb.
func (e *endpoint) timeoutFlag(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&e.timeout, "timeout", 0, "the time limit, such as 30s (default: no limit here; a server has its own limit)")
}

// within returns the context of a verb, and a function that converts the verb's error when it ends.
// For a server, the context ends a little later than the time limit, so that the server can answer
// that the time is over.
func (e *endpoint) within(cmd *cobra.Command) (ctx context.Context, done func(error) error) {
	if e.timeout <= 0 {
		return cmd.Context(), func(err error) error { return err }
	}
	limit := e.timeout
	if e.server != "" {
		limit += grace
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), limit)
	return ctx, func(err error) error {
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("the command took longer than --timeout %v: %w", e.timeout, err)
		}
		return err
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
)

// newRestore makes the command omnigraph restore.
func newRestore() *cobra.Command {
	var f copyFlags
	var at, branch string
	cmd := &cobra.Command{
		Use:   "restore --at TIME|COMMIT SOURCE TARGET",
		Short: "Make a new graph of a past state of a graph",
		Long: `Make a new graph of a past state of a graph. SOURCE and TARGET are each the folder of a graph,
or the URL of shared storage; for shared storage, --graph names the graph. The source does
not change, and servers can use it meanwhile.

--at is the id of a commit, or a time such as 2026-11-23T09:30:00Z. A time selects the last
commit of a branch at or before it; the branch is main, unless --branch names another one.

The new graph has one branch, main, which ends with that commit and has the history before
it. Other branches and all proposals are left out, and later data can no longer be read.
Policies, tokens and stored queries are not part of a graph.

With --with-audit, the audit trail of the source's storage is copied too, as copy does it: all
of it, not only up to that commit.

The command fails if a cleanup has removed the state of the commit. It reads the whole new
graph again and compares it with the source. The target appears only after that.
` + noPolicy,
		Example: `  omnigraph restore --at "$HEAD" data/people data/people-before
  omnigraph restore --at 2026-11-23T09:30:00Z 's3://team-graphs/prod?region=eu-central-1' data/people-before --graph people`,
		Args: sourceAndTarget,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := usage.Required(cmd, "at"); err != nil {
				return err
			}
			when, err := time.Parse(time.RFC3339Nano, at)
			isTime := err == nil
			if !isTime && branch != "" {
				return usage.Errorf("--branch is only for a time, and --at is %q; write a time such as 2026-11-23T09:30:00Z, or leave out --branch", at)
			}
			return f.run(cmd, args[0], args[1], func(ctx context.Context, v *embedded.View) (string, error) {
				if isTime {
					return commitAt(ctx, v, branch, when)
				}
				return at, pastState(ctx, v, at)
			})
		},
	}
	f.flags(cmd)
	cmd.Flags().StringVar(&at, "at", "", "the commit, or the time, of the state")
	cmd.Flags().StringVar(&branch, "branch", "", "the branch to which a time refers (default main)")
	_ = cmd.RegisterFlagCompletionFunc("at", cobra.NoFileCompletions)
	_ = cmd.RegisterFlagCompletionFunc("branch", cobra.NoFileCompletions)
	return cmd
}

// commitAt returns the last commit of a branch at or before a time, if its state can be restored.
func commitAt(ctx context.Context, v *embedded.View, branch string, when time.Time) (string, error) {
	c, err := v.At(ctx, branch, when)
	if err != nil {
		return "", err
	}
	return c.ID, pastState(ctx, v, c.ID)
}

// pastState returns an error if the state of a commit cannot be restored.
func pastState(ctx context.Context, v *embedded.View, commit string) error {
	err := v.Readable(ctx, commit)
	var missing *engine.NotFound
	if errors.As(err, &missing) && !missing.Reclaimed {
		return fmt.Errorf("%w; --at takes the id of a commit of this graph, or a time such as 2026-11-23T09:30:00Z", err)
	}
	return err
}

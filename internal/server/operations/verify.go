package operations

import (
	"context"
	"errors"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Verify is the call that reads and checks all stored data.
type Verify struct{}

// Needs returns the permission to administer the graph.
func (*Verify) Needs() []tool.Need { return []tool.Need{{Action: tool.Admin}} }

// NoTimeLimit exempts the call from the time limit, because it reads all stored data.
func (*Verify) NoTimeLimit() {}

// Run verifies the stored data and answers with the faults found. The error is an
// *engine.Unsupported if the engine stores nothing.
func (*Verify) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	found, err := StoredFaults(env.Graph.Verify(ctx))
	if err != nil {
		return nil, err
	}
	return &tool.Outcome{Value: &client.Verified{Faults: append([]client.StoredFault{}, found...)}}, nil
}

// StoredFaults splits an error into the faults of stored data and the remaining errors.
func StoredFaults(err error) (found []client.StoredFault, rest error) {
	var many interface{ Unwrap() []error }
	var corrupt *engine.Corrupt
	switch {
	case err == nil:
	case errors.As(err, &many):
		for _, e := range many.Unwrap() {
			f, r := StoredFaults(e)
			found, rest = append(found, f...), errors.Join(rest, r)
		}
	case errors.As(err, &corrupt):
		found = []client.StoredFault{{Object: corrupt.Object, Detail: corrupt.Detail}}
	default:
		rest = err
	}
	return found, rest
}

// LogArguments returns the arguments of the call for the log.
func (*Verify) LogArguments() [][]byte { return [][]byte{} }

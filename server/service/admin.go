package service

import (
	"context"
	"errors"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Verify is the call that reads and checks all stored data.
type Verify struct{}

// Verified is the answer of Verify.
type Verified struct {
	Faults []StoredFault `json:"faults"`
}

// StoredFault is a file or record whose stored bytes are corrupt.
type StoredFault struct {
	Object string `json:"object" jsonschema_description:"The file or record."`
	Detail string `json:"detail"`
}

// Grants returns the permission to administer the graph.
func (*Verify) Grants() []tool.Grant { return []tool.Grant{{Action: tool.Admin}} }

// Unhurried exempts the call from the time limit, because it reads all stored data.
func (*Verify) Unhurried() {}

// Run verifies the stored data and answers with the faults found. The error is an
// *engine.Unsupported if the engine stores nothing.
func (*Verify) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	found, err := StoredFaults(env.Graph.Verify(ctx))
	if err != nil {
		return nil, err
	}
	return &tool.Outcome{Value: &Verified{Faults: append([]StoredFault{}, found...)}}, nil
}

// StoredFaults splits an error into the faults of stored data and the remaining errors.
func StoredFaults(err error) (found []StoredFault, rest error) {
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
		found = []StoredFault{{Object: corrupt.Object, Detail: corrupt.Detail}}
	default:
		rest = err
	}
	return found, rest
}

// Cleanup is the call that makes old commits unreadable and frees their space.
type Cleanup struct{ Options engine.CleanupOptions }

// CleanedUp is the answer of Cleanup.
type CleanedUp struct {
	CommitsReclaimed int64 `json:"commits_reclaimed" jsonschema_description:"Commits that can be read no more."`
	CommitsKept      int64 `json:"commits_kept"`
	FilesRemoved     int64 `json:"files_removed"`
	BytesFreed       int64 `json:"bytes_freed"`
	DryRun           bool  `json:"dry_run" jsonschema_description:"Nothing was reclaimed: this is what would be."`
}

// Grants returns the permission to administer the graph.
func (*Cleanup) Grants() []tool.Grant { return []tool.Grant{{Action: tool.Admin}} }

// Unhurried exempts the call from the time limit, because it rewrites the data that is
// kept.
func (*Cleanup) Unhurried() {}

func (c *Cleanup) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	r, err := env.Graph.Cleanup(ctx, c.Options)
	if err != nil {
		return nil, err
	}
	out := &tool.Outcome{Value: &CleanedUp{
		CommitsReclaimed: r.Commits, CommitsKept: r.Kept, FilesRemoved: r.Segments, BytesFreed: r.Bytes, DryRun: c.Options.DryRun,
	}}
	if !c.Options.DryRun {
		out.Wrote = &tool.Written{}
	}
	return out, nil
}

package tool

import (
	"context"
	"errors"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// IsInstant reports whether a snapshot in a call is meant as an instant, such as 2026-05-01T12:00:00Z, and not as the id
// of a commit. An instant selects a commit of a branch, so a call may name a branch beside it.
func IsInstant(snapshot string) bool { return strings.ContainsAny(snapshot, "-:") }

// Past returns the id of the commit that a snapshot in a call names: the text itself, or the last commit of the
// branch at or before the instant in the text.
func (e *Env) Past(ctx context.Context, branch BranchName, snapshot string) (string, error) {
	if !IsInstant(snapshot) {
		return snapshot, nil
	}
	at, err := value.ParseDateTime(snapshot)
	if err != nil {
		return "", &ArgumentError{Path: "snapshot", Detail: err.Error(), Help: "write the id of a commit, or an instant such as 2026-05-01T12:00:00Z"}
	}
	commit, err := e.AsOf(ctx, engine.Target{Branch: e.Branch(branch).Name(), AsOf: at.Time()})
	var bad *engine.BadArgument
	if errors.As(err, &bad) {
		err = &ArgumentError{Path: "snapshot", Detail: bad.Detail}
	}
	return commit, err
}

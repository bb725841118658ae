package audit_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

func TestOutcomes(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want wireerror.Outcome
	}{
		{nil, wireerror.Done},
		{&tool.ArgumentError{Detail: "bad"}, wireerror.OfRequest},
		{&wireerror.Rejected{}, wireerror.OfRequest},
		{&engine.ConstraintViolation{}, wireerror.OfRequest},
		{&wireerror.Forbidden{Action: tool.Read}, wireerror.OfPolicy},
		{&wireerror.UnknownTool{Name: "x"}, wireerror.Missing},
		{&engine.NotFound{What: "branch"}, wireerror.Missing},
		{&engine.Conflict{}, wireerror.Conflicted},
		{&engine.MergeConflicts{}, wireerror.Conflicted},
		{&engine.PreconditionFailed{}, wireerror.Precondition},
		{&engine.TooLarge{}, wireerror.TooLarge},
		{&wireerror.Oversize{}, wireerror.TooLarge},
		{fmt.Errorf("reading: %w", context.DeadlineExceeded), wireerror.TimedOut},
		{context.Canceled, wireerror.Canceled},
		{&engine.Unavailable{}, wireerror.Unavailable},
		{&engine.Busy{Resource: "bytes", Limit: 1}, wireerror.Unavailable},
		{&engine.Indeterminate{Err: context.Canceled}, wireerror.Failed},
		{&engine.Corrupt{}, wireerror.Failed},
		{errors.New("what nobody knows"), wireerror.Failed},
	} {
		if got := wireerror.OutcomeOf(tt.err); got != tt.want {
			t.Errorf("%v is %s, want %s", tt.err, got, tt.want)
		}
	}
}

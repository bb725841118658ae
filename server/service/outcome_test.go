package service_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/server/service"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

func TestOutcomes(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want service.Outcome
	}{
		{nil, service.Done},
		{&tool.ArgumentError{Detail: "bad"}, service.OfRequest},
		{&service.Rejected{}, service.OfRequest},
		{&engine.ConstraintViolation{}, service.OfRequest},
		{&service.Forbidden{Action: tool.Read}, service.OfPolicy},
		{&service.UnknownTool{Name: "x"}, service.Missing},
		{&engine.NotFound{What: "branch"}, service.Missing},
		{&engine.Conflict{}, service.Conflicted},
		{&engine.MergeConflicts{}, service.Conflicted},
		{&engine.PreconditionFailed{}, service.Precondition},
		{&engine.TooLarge{}, service.TooLarge},
		{&service.Oversize{}, service.TooLarge},
		{fmt.Errorf("reading: %w", context.DeadlineExceeded), service.TimedOut},
		{context.Canceled, service.Canceled},
		{&engine.Unavailable{}, service.Unavailable},
		{&engine.Busy{Resource: "bytes", Limit: 1}, service.Unavailable},
		{&engine.Indeterminate{Err: context.Canceled}, service.Failed},
		{&engine.Corrupt{}, service.Failed},
		{errors.New("what nobody knows"), service.Failed},
	} {
		if got := service.OutcomeOf(tt.err); got != tt.want {
			t.Errorf("%v is %s, want %s", tt.err, got, tt.want)
		}
	}
}

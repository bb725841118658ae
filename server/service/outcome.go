package service

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Observer is notified of each call that ended. Implementations must be safe for concurrent
// use and must not block.
type Observer interface {
	Called(c Called)
}

// Called describes a call that ended. Its strings come from bounded sets; clients choose
// none of them.
type Called struct {
	Graph   string
	Tool    string // the tool of the catalog or the REST operation; empty for an unknown tool
	Outcome Outcome
	Denied  tool.Action // the action that the policy denied; empty if it denied none
	Rows    int         // number of rows in the answer
	Bytes   int         // size of the answer
	Took    time.Duration
}

// Outcome is the way a call ended.
type Outcome string

// The outcomes. An outcome that corresponds to a code of the error envelope has the same
// text.
const (
	Done         Outcome = "ok"
	OfRequest    Outcome = "bad_request"
	OfPolicy     Outcome = "forbidden"
	Missing      Outcome = "not_found"
	Conflicted   Outcome = "conflict"
	Precondition Outcome = "precondition_failed"
	TooLarge     Outcome = "too_large"
	TimedOut     Outcome = "timed_out"
	GivenUp      Outcome = "deadline" // the client's own time limit, set by X-Timeout-Ms
	Canceled     Outcome = "canceled"
	Unavailable  Outcome = "unavailable"
	Failed       Outcome = "internal"
)

// Outcomes lists all outcomes.
var Outcomes = []Outcome{Done, OfRequest, OfPolicy, Missing, Conflicted, Precondition, TooLarge, TimedOut, GivenUp, Canceled, Unavailable, Failed}

// OutcomeOf returns the outcome for the error of a call. For nil it returns Done.
func OutcomeOf(err error) Outcome {
	if err == nil {
		return Done
	}
	f := Explain(err)
	switch f.Status {
	case http.StatusForbidden:
		return OfPolicy
	case http.StatusNotFound:
		return Missing
	case http.StatusConflict:
		return Conflicted
	case http.StatusPreconditionFailed:
		return Precondition
	case http.StatusRequestEntityTooLarge:
		return TooLarge
	case http.StatusServiceUnavailable:
		var late *Overdue
		switch {
		case errors.As(err, &late) && !late.Limit:
			return GivenUp
		case errors.Is(err, context.DeadlineExceeded):
			return TimedOut
		case errors.Is(err, context.Canceled):
			return Canceled
		}
		return Unavailable
	}
	if f.Operational {
		return Failed
	}
	return OfRequest
}

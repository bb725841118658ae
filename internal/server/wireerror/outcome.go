package wireerror

import "errors"

// Outcome is the way a call ended.
type Outcome string

// The outcomes. An outcome that corresponds to a code of the error envelope has the same
// text.
const (
	Done         Outcome = "ok"                  // the call succeeded
	OfRequest    Outcome = "bad_request"         // the request has a fault
	OfPolicy     Outcome = "forbidden"           // the policy denies the call
	Missing      Outcome = "not_found"           // it does not exist, or the caller may not see it
	Reclaimed    Outcome = "reclaimed"           // a cleanup removed the state of a commit
	Conflicted   Outcome = "conflict"            // the call conflicts with the state of the graph
	Precondition Outcome = "precondition_failed" // the branch is not at the required commit
	TooLarge     Outcome = "too_large"           // the request or the answer exceeds a limit
	TimedOut     Outcome = "timed_out"           // the server's time limit
	GivenUp      Outcome = "deadline"            // the client's own time limit, set by X-Timeout-Ms
	Canceled     Outcome = "canceled"            // the client or the server stopped the call
	Unavailable  Outcome = "unavailable"         // the graph cannot serve the call at the moment
	Failed       Outcome = "internal"            // a fault of the server
)

// Outcomes of requests that reach no call.
const (
	NotIdentified Outcome = "unauthorized"           // no valid token
	WrongMethod   Outcome = "method_not_allowed"     // the path does not have the HTTP method
	WrongMedia    Outcome = "unsupported_media_type" // the body has the wrong media type
	Overloaded    Outcome = "too_many_requests"      // too many requests in flight
	OutsideRange  Outcome = "range_not_satisfiable"  // the requested bytes are outside the Blob
)

// Outcomes lists the outcomes of calls.
var Outcomes = []Outcome{Done, OfRequest, OfPolicy, Missing, Reclaimed, Conflicted, Precondition, TooLarge, TimedOut, GivenUp, Canceled, Unavailable, Failed}

// Unchanged is the error of a call whose caller already has the answer. Such a call did not fail, so its
// outcome is Done.
type Unchanged struct {
	Commit string
	Rights string // digest of the rights to a part of the graph that the caller has; empty for all of it
}

func (e *Unchanged) Error() string { return "the caller already has the answer for commit " + e.Commit }

// OutcomeOf returns the outcome for the error of a call. For nil it returns Done.
func OutcomeOf(err error) Outcome {
	if err == nil {
		return Done
	}
	var unchanged *Unchanged
	if errors.As(err, &unchanged) {
		return Done
	}
	return Explain(err).Outcome
}

package wireerror

// Outcome is the way a call ended.
type Outcome string

// The outcomes. An outcome that corresponds to a code of the error envelope has the same
// text.
const (
	Done         Outcome = "ok"
	OfRequest    Outcome = "bad_request"
	OfPolicy     Outcome = "forbidden"
	Missing      Outcome = "not_found"
	Reclaimed    Outcome = "reclaimed" // a cleanup removed the state of a commit
	Conflicted   Outcome = "conflict"
	Precondition Outcome = "precondition_failed"
	TooLarge     Outcome = "too_large"
	TimedOut     Outcome = "timed_out"
	GivenUp      Outcome = "deadline" // the client's own time limit, set by X-Timeout-Ms
	Canceled     Outcome = "canceled"
	Unavailable  Outcome = "unavailable"
	Failed       Outcome = "internal"
)

// Outcomes of requests that reach no call.
const (
	NotIdentified Outcome = "unauthorized"
	WrongMethod   Outcome = "method_not_allowed"
	WrongMedia    Outcome = "unsupported_media_type"
	Overloaded    Outcome = "too_many_requests"
	OutsideRange  Outcome = "range_not_satisfiable"
)

// Outcomes lists the outcomes of calls.
var Outcomes = []Outcome{Done, OfRequest, OfPolicy, Missing, Reclaimed, Conflicted, Precondition, TooLarge, TimedOut, GivenUp, Canceled, Unavailable, Failed}

// OutcomeOf returns the outcome for the error of a call. For nil it returns Done.
func OutcomeOf(err error) Outcome {
	if err == nil {
		return Done
	}
	return Explain(err).Outcome
}

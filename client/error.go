package client

import (
	"errors"
	"net/http"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
)

// Code classifies the faults of the error envelope.
type Code string

// The codes of the error envelope. An envelope with status 412 has no code.
const (
	CodeUnauthorized     Code = "unauthorized"
	CodeForbidden        Code = "forbidden"
	CodeBadRequest       Code = "bad_request"
	CodeNotFound         Code = "not_found"
	CodeMethodNotAllowed Code = "method_not_allowed"
	CodeConflict         Code = "conflict"
	CodeTooManyRequests  Code = "too_many_requests"
	CodeInternal         Code = "internal"
)

// Codes lists all codes.
var Codes = []Code{
	CodeUnauthorized, CodeForbidden, CodeBadRequest, CodeNotFound, CodeMethodNotAllowed, CodeConflict, CodeTooManyRequests, CodeInternal,
}

// Envelope is the error envelope: the body of every answer that reports a fault.
type Envelope struct {
	Message       string            `json:"error"`                    // the fault in words
	Code          Code              `json:"code,omitempty"`           // the kind of fault
	KeyConflict   *KeyConflict      `json:"key_conflict,omitempty"`   // the existing entity
	ResourceLimit *Limit            `json:"resource_limit,omitempty"` // the exceeded limit
	Precondition  *Precondition     `json:"precondition_failure,omitempty"`
	Diagnostics   []diag.Diagnostic `json:"diagnostics,omitempty"` // the faults of a GQ text or a schema

	// LineFaults lists the bad lines of a load, at most a hundred; MoreLineFaults says that there are others.
	LineFaults     []LineFault `json:"line_faults,omitempty"`
	MoreLineFaults bool        `json:"more_line_faults,omitempty"`

	// ChangeDiffRefusal says why the changes of a commit cannot be listed.
	ChangeDiffRefusal *ChangeDiffRefusal `json:"change_diff_refusal,omitempty"`
	// ChangeFeedGap identifies the commit whose state is missing.
	ChangeFeedGap *ChangeFeedGap `json:"change_feed_gap,omitempty"`
	// ProposalFeedGap says from where the feed of proposals can continue.
	ProposalFeedGap *ProposalFeedGap `json:"proposal_feed_gap,omitempty"`

	// DraftClosed says how the draft ended that the request is about.
	DraftClosed *DraftClosed `json:"draft_closed,omitempty"`

	MergeConflicts []MergeConflict `json:"merge_conflicts,omitempty"` // the first hundred

	// MergeConflictCount is the number of conflicts, if it exceeds the number listed.
	MergeConflictCount int `json:"merge_conflict_count,omitempty"`
}

// Error is an answer that reports a fault: its error envelope, its status and some of its headers.
type Error struct {
	Envelope

	Status int `json:"-"` // HTTP status

	// Hint is the next step for the person who runs the program. The client sets it if the answer
	// did not come from an omnigraph-server, or if the request had no valid token.
	Hint string `json:"-"`

	// RetryAfter is the time to wait before the next attempt; nil if the server gave none.
	RetryAfter *time.Duration `json:"-"`

	// Location is the target of a redirect. The client follows none.
	Location string `json:"-"`
}

// LineFault is a bad line of a load.
type LineFault struct {
	Line    int64  `json:"line"`            // number of the line, from 1
	Field   string `json:"field,omitempty"` // the member at fault, such as data.age; empty if the whole line is
	Message string `json:"message"`
}

// KeyConflict identifies the existing entity that a strict insert conflicts with.
type KeyConflict struct {
	EntityKind string `json:"entity_kind"` // node or edge
	TypeName   string `json:"type_name"`   // type of the entity
	ID         string `json:"id"`
}

// Limit is a limit that a request or its answer exceeded.
type Limit struct {
	Resource string `json:"resource"` // what is limited, in words
	Limit    int64  `json:"limit"`    // the maximum
	Actual   int64  `json:"actual"`   // how much the request would have used
}

// Precondition gives the expected head of a branch and the actual one.
type Precondition struct {
	Expected string  `json:"expected"` // id of the commit that the request expected
	Actual   *string `json:"actual"`   // null for an actor that may not read the branch
}

// MergeConflict is one conflict that prevents a merge.
type MergeConflict struct {
	Kind       string `json:"kind"`        // divergent_update, …
	EntityKind string `json:"entity_kind"` // node or edge
	TypeName   string `json:"type_name"`   // type of the entity
	ID         string `json:"id"`
	Property   string `json:"property,omitempty"` // empty for a conflict of the whole entity
	Message    string `json:"message"`            // the conflict in words
	Edges      int    `json:"edges,omitempty" jsonschema_description:"For delete_vs_update of a node: the number of edges that the deletion took with it."`
}

// ChangeDiffRefusal says why the changes of a commit cannot be listed.
type ChangeDiffRefusal struct {
	GraphCommitID string  `json:"graph_commit_id"` // id of the commit
	Reason        string  `json:"reason" jsonschema:"enum=parentless_commit,enum=schema_boundary" jsonschema_description:"parentless_commit: the commit has no parent to compare it with. schema_boundary: the schemas of the commit and of its parent differ."`
	TypeName      *string `json:"type_name" jsonschema_description:"The first type that differs between the two schemas; null if no type does."`
}

// The values of ChangeDiffRefusal.Reason.
const (
	ReasonParentless     = "parentless_commit"
	ReasonSchemaBoundary = "schema_boundary"
)

// ChangeFeedGap identifies a commit. Its state is needed to list the changes, but can no longer be
// read, because a cleanup reclaimed it.
type ChangeFeedGap struct {
	FirstUnreadableCommitID string  `json:"first_unreadable_commit_id"` // id of the commit
	Cursor                  *string `json:"cursor" jsonschema_description:"Null: only a new baseline gives a cursor that continues after the gap."`
}

// ProposalFeedGap says that a cleanup removed proposals with events after the cursor of a request.
type ProposalFeedGap struct {
	OldestCursor string `json:"oldest_cursor" jsonschema_description:"The oldest cursor with which the feed can continue. The events before it may be incomplete."`
}

// The sentinel errors that match an [*Error] with [errors.Is]. Several may match the same error.
var (
	ErrUnauthorized = errors.New("the request has no valid token")           // status 401
	ErrForbidden    = errors.New("the policy does not allow the request")    // status 403
	ErrNotFound     = errors.New("not found")                                // status 404
	ErrConflict     = errors.New("the request conflicts with the graph")     // status 409
	ErrPrecondition = errors.New("the branch is at another commit")          // status 412
	ErrGone         = errors.New("the server no longer keeps the history")   // status 410
	ErrTooLarge     = errors.New("the request or its answer is too large")   // status 413
	ErrBusy         = errors.New("too many requests")                        // status 429
	ErrUnavailable  = errors.New("the server is unavailable")                // status 503
	ErrNotModified  = errors.New("the client already has the answer")        // status 304
	ErrInvalid      = errors.New("the request is invalid")                   // status 400
	ErrInternal     = errors.New("the server failed to execute the request") // status 500
)

// sentinels maps each HTTP status to its sentinel error.
var sentinels = map[int]error{
	http.StatusUnauthorized:          ErrUnauthorized,
	http.StatusForbidden:             ErrForbidden,
	http.StatusNotFound:              ErrNotFound,
	http.StatusConflict:              ErrConflict,
	http.StatusPreconditionFailed:    ErrPrecondition,
	http.StatusGone:                  ErrGone,
	http.StatusRequestEntityTooLarge: ErrTooLarge,
	http.StatusTooManyRequests:       ErrBusy,
	http.StatusServiceUnavailable:    ErrUnavailable,
	http.StatusNotModified:           ErrNotModified,
	http.StatusBadRequest:            ErrInvalid,
	http.StatusInternalServerError:   ErrInternal,
}

// Error returns the message, and the hint after a semicolon.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + "; " + e.Hint
}

// Is reports whether target is the sentinel error of the status.
func (e *Error) Is(target error) bool { return target == sentinels[e.Status] }

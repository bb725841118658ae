package service

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/diag"
	"github.com/omnigraph-go/omnigraph/server/request"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Code classifies faults for clients.
type Code string

// The codes of the error envelope.
const (
	Unauthorized     Code = "unauthorized"
	Denied           Code = "forbidden"
	BadRequest       Code = "bad_request"
	NotFound         Code = "not_found"
	MethodNotAllowed Code = "method_not_allowed"
	Conflict         Code = "conflict"
	TooManyRequests  Code = "too_many_requests"
	Internal         Code = "internal"
)

// Codes lists all codes.
var Codes = []Code{Unauthorized, Denied, BadRequest, NotFound, MethodNotAllowed, Conflict, TooManyRequests, Internal}

// WireError is the error envelope, the same on every transport.
type WireError struct {
	Error         string            `json:"error"`
	Code          Code              `json:"code,omitempty"`
	KeyConflict   *WireKeyConflict  `json:"key_conflict,omitempty"`
	ResourceLimit *WireLimit        `json:"resource_limit,omitempty"`
	Precondition  *WirePrecondition `json:"precondition_failure,omitempty"`
	Diagnostics   []diag.Diagnostic `json:"diagnostics,omitempty"`

	MergeConflicts []WireMergeConflict `json:"merge_conflicts,omitempty"` // the first hundred

	// MergeConflictCount is the number of conflicts, if it exceeds the number listed.
	MergeConflictCount int `json:"merge_conflict_count,omitempty"`
}

// WireKeyConflict identifies the existing entity that a strict insert conflicts with.
type WireKeyConflict struct {
	EntityKind string `json:"entity_kind"` // node or edge
	TypeName   string `json:"type_name"`
	ID         string `json:"id"`
}

// WireLimit is a limit that was exceeded.
type WireLimit struct {
	Resource string `json:"resource"`
	Limit    int64  `json:"limit"`
	Actual   int64  `json:"actual"`
}

// WirePrecondition gives the expected head of a branch and the actual one.
type WirePrecondition struct {
	Expected string  `json:"expected"`
	Actual   *string `json:"actual"` // null for an actor that may not read the branch
}

// Fault is an error in the form that a client receives.
type Fault struct {
	Status int // HTTP status
	Body   WireError

	// Operational reports that the fault is the server's, not the caller's. The body of an
	// operational fault does not reveal the cause.
	Operational bool

	// RetryAfter is the number of seconds to wait before a retry; 0 if unknown.
	RetryAfter int
}

// Explain maps an error of this package, of package tool or of package engine to the wire.
// No other function does. An error of another kind is operational.
func Explain(err error) *Fault {
	var (
		unknownTool *UnknownTool
		forbidden   *Forbidden
		rejected    *Rejected
		oversize    *Oversize
		argument    *tool.ArgumentError
		notFound    *engine.NotFound
		conflict    *engine.Conflict
		keyConflict *engine.KeyConflict
		violation   *engine.ConstraintViolation
		badArgument *engine.BadArgument
		mismatch    *engine.SchemaMismatch
		unsupported *engine.Unsupported
		tooLarge    *engine.TooLarge
		load        *engine.LoadErrors
		migration   *engine.UnsupportedMigration
		dataLoss    *engine.DataLoss
		diverge     *engine.SchemasDiverge
		merge       *engine.MergeConflicts
		unavailable *engine.Unavailable
		busy        *engine.Busy
		unsure      *engine.Indeterminate
		elsewhere   *engine.PreconditionFailed
	)
	switch {
	case errors.As(err, &unsure):
		// Check this kind first, since it may wrap any other. A caller that took it for a
		// plain failure would write twice.
		return servers(http.StatusInternalServerError, "the outcome of the write is unknown: it may or may not be in the graph; look before you write again")
	case errors.As(err, &unknownTool):
		return callers(http.StatusNotFound, NotFound, err)
	case errors.As(err, &forbidden):
		return callers(http.StatusForbidden, Denied, err)
	case errors.As(err, &rejected):
		f := callers(http.StatusBadRequest, BadRequest, err)
		f.Body.Diagnostics = clipped(rejected.Diagnostics)
		return f
	case errors.As(err, &oversize):
		f := callers(http.StatusRequestEntityTooLarge, BadRequest, err)
		f.Body.ResourceLimit = oversize.limit()
		return f
	case errors.As(err, &argument):
		return callers(http.StatusBadRequest, BadRequest, err)
	case errors.As(err, &load):
		// The lines wrap errors of other kinds. The load as a whole is a key conflict only
		// if all its lines are key conflicts.
		f := callers(http.StatusBadRequest, BadRequest, err)
		for i := range load.Lines {
			if !errors.As(load.Lines[i].Err, &keyConflict) {
				return f
			}
		}
		if keyConflict != nil {
			f.Status, f.Body.Code, f.Body.KeyConflict = http.StatusConflict, Conflict, wireKeyConflict(keyConflict)
		}
		return f
	case errors.As(err, &notFound):
		return callers(http.StatusNotFound, NotFound, err)
	case errors.As(err, &keyConflict):
		f := callers(http.StatusConflict, Conflict, err)
		f.Body.KeyConflict = wireKeyConflict(keyConflict)
		return f
	case errors.As(err, &merge):
		return mergeFault(merge)
	case errors.As(err, &conflict), errors.As(err, &mismatch), errors.As(err, &migration), errors.As(err, &dataLoss), errors.As(err, &diverge):
		return callers(http.StatusConflict, Conflict, err)
	case errors.As(err, &elsewhere):
		f := callers(http.StatusPreconditionFailed, "", err)
		f.Body.Precondition = &WirePrecondition{Expected: elsewhere.Expected}
		if elsewhere.Actual != "" {
			f.Body.Precondition.Actual = &elsewhere.Actual
		}
		return f
	case errors.As(err, &violation), errors.As(err, &badArgument), errors.As(err, &unsupported):
		return callers(http.StatusBadRequest, BadRequest, err)
	case errors.As(err, &tooLarge):
		f := callers(http.StatusRequestEntityTooLarge, BadRequest, err)
		f.Body.ResourceLimit = &WireLimit{Resource: tooLarge.Resource, Limit: tooLarge.Limit, Actual: tooLarge.Actual}
		return f
	case errors.As(err, &unavailable):
		return servers(http.StatusServiceUnavailable, "the graph is unavailable; try again later")
	case errors.As(err, &busy):
		f := servers(http.StatusServiceUnavailable, "the queries under way take all the memory that they may; ask for less, or try again later")
		f.RetryAfter = 1 // most calls are short
		return f
	case errors.Is(err, context.DeadlineExceeded):
		return servers(http.StatusServiceUnavailable, "the request took longer than it may; ask for less, or try again later")
	case errors.Is(err, context.Canceled):
		return servers(http.StatusServiceUnavailable, "the request was stopped before it was done, because its connection was lost or the server stops; try again later")
	}
	return servers(http.StatusInternalServerError, "internal error")
}

// Report maps an error like [Explain]. It logs an operational fault under an id and adds
// the id to the message, so that the client can refer to it. The id is that of the request,
// if there is one. If the caller disconnected, Report logs nothing. If the call took too
// long, Report logs a warning for the server's time limit, and at level info for a limit of
// the client.
func Report(ctx context.Context, log *slog.Logger, err error) *Fault {
	f := Explain(err)
	if !f.Operational {
		return f
	}
	var id string
	if rec := request.From(ctx); rec != nil {
		id = rec.ID
	} else {
		id = request.NewID()
	}
	f.Body.Error += " (id " + id + ")"
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return f
	}
	var late *Overdue
	if errors.As(err, &late) && f.Status == http.StatusServiceUnavailable {
		level := slog.LevelInfo
		if late.Limit {
			level = slog.LevelWarn
		}
		log.LogAttrs(ctx, level, "a call took too long", slog.String("id", id), slog.String("outcome", string(OutcomeOf(err))))
		return f
	}
	attrs := []slog.Attr{slog.String("id", id), slog.String("error", err.Error())}
	var p *Panic
	if errors.As(err, &p) {
		attrs = append(attrs, slog.String("stack", string(p.Stack)))
	}
	log.LogAttrs(ctx, slog.LevelError, "operational fault", attrs...)
	return f
}

func callers(status int, code Code, err error) *Fault {
	return &Fault{Status: status, Body: WireError{Error: Clip(err.Error()), Code: code}}
}

func servers(status int, message string) *Fault {
	return &Fault{Status: status, Body: WireError{Error: message, Code: Internal}, Operational: true}
}

func wireKeyConflict(e *engine.KeyConflict) *WireKeyConflict {
	return &WireKeyConflict{EntityKind: e.Entity, TypeName: e.Type, ID: e.ID}
}

// limit returns the limit that was exceeded: that on rows if it applies, or else that on
// bytes.
func (e *Oversize) limit() *WireLimit {
	if e.MaxRows > 0 && e.Rows > e.MaxRows {
		return &WireLimit{Resource: "rows", Limit: int64(e.MaxRows), Actual: int64(e.Rows)}
	}
	return &WireLimit{Resource: "bytes", Limit: int64(e.MaxBytes), Actual: e.Bytes}
}

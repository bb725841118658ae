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

// Code sorts faults for clients.
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

// Codes are all of them.
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

	// MergeConflictCount is how many there are, when that is more than are listed.
	MergeConflictCount int `json:"merge_conflict_count,omitempty"`
}

// WireKeyConflict names the entity that a strict insert met.
type WireKeyConflict struct {
	EntityKind string `json:"entity_kind"` // node or edge
	TypeName   string `json:"type_name"`
	ID         string `json:"id"`
}

// WireLimit is a limit that was passed.
type WireLimit struct {
	Resource string `json:"resource"`
	Limit    int64  `json:"limit"`
	Actual   int64  `json:"actual"`
}

// WirePrecondition tells the commit that a branch was wanted at, and the one it is at.
type WirePrecondition struct {
	Expected string  `json:"expected"`
	Actual   *string `json:"actual"` // null for an actor that may not read the branch
}

// Fault is an error as it goes to a client.
type Fault struct {
	Status int // of HTTP
	Body   WireError

	// Operational says that the fault is the server's, not the caller's. The body of
	// such a fault tells nothing of the cause.
	Operational bool

	// RetryAfter is in how many seconds it may be gone; 0 when that cannot be told.
	RetryAfter int
}

// Explain maps an error of this package, of tool or of engine to the wire. It is the
// one place that does. An error that is none of these is operational.
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
		// Before the others, since it may wrap any of them. A caller who took this for a plain failure would write twice.
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
		// The lines wrap errors of other kinds; only when all of them are about keys
		// is the load as a whole a conflict.
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
		f.Body.Precondition = &WirePrecondition{Expected: elsewhere.Expected, Actual: orNil(elsewhere.Actual)}
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

// Report is [Explain], and logs an operational fault under an id that it adds to the
// message, so that whoever gets it can say which one it was: that of the request, if it
// is of one. A caller that went away is no event; a call that took too long is one, and
// no fault.
func (g *Graph) Report(ctx context.Context, err error) *Fault { return Report(ctx, g.log, err) }

// Report is [Graph.Report] for faults outside of a graph.
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

// limit returns the limit that was passed: the rows', or else the bytes'.
func (e *Oversize) limit() *WireLimit {
	if e.MaxRows > 0 && e.Rows > e.MaxRows {
		return &WireLimit{Resource: "rows", Limit: int64(e.MaxRows), Actual: int64(e.Rows)}
	}
	return &WireLimit{Resource: "bytes", Limit: int64(e.MaxBytes), Actual: e.Bytes}
}

package wireerror

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/requestinfo"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Fault is an error in the form that a client receives. A transport adds what it needs: REST
// has a status for each outcome.
type Fault struct {
	Outcome Outcome         // the kind of the fault
	Body    client.Envelope // what the client receives

	// Operational reports that the fault is the server's, not the caller's. The body of an
	// operational fault does not reveal the cause.
	Operational bool

	// RetryAfter is the number of seconds to wait before a retry; 0 if unknown.
	RetryAfter int

	// Challenge is the value of WWW-Authenticate for a token that lacks a scope, or "".
	Challenge string
}

// Explain maps an error of this package, of package tool or of package engine to the wire.
// No other function does. An error of another kind is operational.
func Explain(err error) *Fault {
	var (
		unknownTool *UnknownTool
		forbidden   *Forbidden
		protected   *Protected
		lacks       *InsufficientScope
		rejected    *Rejected
		oversize    *Oversize
		argument    *tool.ArgumentError
		unconfirmed *Unconfirmed
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
		diff        *DiffRefused
		gap         *HistoryGap
		eventGap    *EventGap
		closed      *engine.DraftClosed
		notAllowed  *engine.NotAllowed
		part        *PartOnly
		refused     *engine.TextRefused
	)
	switch {
	case errors.As(err, &unsure):
		// Check this kind first, since it may wrap any other. A caller that took it for a
		// plain failure would write twice.
		return servers(Failed, "the outcome of the write is unknown: the graph may or may not have it; send the write again with the same idempotency key, or read the graph before you write again")
	case errors.As(err, &unknownTool):
		return callers(Missing, client.CodeNotFound, err)
	case errors.As(err, &forbidden), errors.As(err, &protected), errors.As(err, &part):
		return callers(OfPolicy, client.CodeForbidden, err)
	case errors.As(err, &lacks):
		f := callers(OfPolicy, client.CodeForbidden, err)
		f.Challenge = lacks.Challenge
		return f
	case errors.As(err, &rejected):
		f := callers(OfRequest, client.CodeBadRequest, err)
		f.Body.Diagnostics = clipped(rejected.Diagnostics)
		return f
	case errors.As(err, &oversize):
		f := callers(TooLarge, client.CodeBadRequest, err)
		f.Body.ResourceLimit = oversize.limit()
		return f
	case errors.As(err, &argument), errors.As(err, &unconfirmed):
		return callers(OfRequest, client.CodeBadRequest, err)
	case errors.As(err, &load):
		// The lines wrap errors of other kinds. The load as a whole is a key conflict only
		// if all its lines are key conflicts.
		f := callers(OfRequest, client.CodeBadRequest, err)
		f.Body.LineFaults, f.Body.MoreLineFaults = lineFaults(load)
		for i := range load.Lines {
			if !errors.As(load.Lines[i].Err, &keyConflict) {
				return f
			}
		}
		if keyConflict != nil {
			f.Outcome, f.Body.Code, f.Body.KeyConflict = Conflicted, client.CodeConflict, wireKeyConflict(keyConflict)
		}
		return f
	case errors.As(err, &notAllowed):
		return callers(OfPolicy, client.CodeForbidden, err)
	case errors.As(err, &diff):
		f := callers(Conflicted, client.CodeConflict, err)
		f.Body.ChangeDiffRefusal = &client.ChangeDiffRefusal{GraphCommitID: diff.Commit, Reason: diff.Reason}
		if diff.Type != "" {
			f.Body.ChangeDiffRefusal.TypeName = &diff.Type
		}
		return f
	case errors.As(err, &gap):
		f := callers(Reclaimed, client.CodeNotFound, err)
		f.Body.ChangeFeedGap = &client.ChangeFeedGap{FirstUnreadableCommitID: gap.Commit}
		return f
	case errors.As(err, &eventGap):
		f := callers(Reclaimed, client.CodeNotFound, err)
		f.Body.ProposalFeedGap = &client.ProposalFeedGap{OldestCursor: eventGap.Oldest}
		return f
	case errors.As(err, &notFound):
		return callers(Missing, client.CodeNotFound, err)
	case errors.As(err, &keyConflict):
		f := callers(Conflicted, client.CodeConflict, err)
		f.Body.KeyConflict = wireKeyConflict(keyConflict)
		return f
	case errors.As(err, &merge):
		return mergeFault(merge)
	case errors.As(err, &closed):
		f := callers(Conflicted, client.CodeConflict, err)
		f.Body.DraftClosed = Closed(closed)
		return f
	case errors.As(err, &conflict), errors.As(err, &mismatch), errors.As(err, &migration), errors.As(err, &dataLoss), errors.As(err, &diverge):
		return callers(Conflicted, client.CodeConflict, err)
	case errors.As(err, &elsewhere):
		f := callers(Precondition, "", err)
		f.Body.Precondition = &client.Precondition{Expected: elsewhere.Expected}
		if elsewhere.Actual != "" {
			f.Body.Precondition.Actual = &elsewhere.Actual
		}
		return f
	case errors.As(err, &violation), errors.As(err, &badArgument), errors.As(err, &unsupported), errors.As(err, &refused):
		return callers(OfRequest, client.CodeBadRequest, err)
	case errors.As(err, &tooLarge):
		f := callers(TooLarge, client.CodeBadRequest, err)
		f.Body.ResourceLimit = &client.Limit{Resource: tooLarge.Resource, Limit: tooLarge.Limit, Actual: tooLarge.Actual}
		return f
	case errors.As(err, &unavailable) && unavailable.Settings:
		return servers(Failed, "the settings of the graph are at fault, for example those of its embedding provider; the log of the server has the reason")
	case errors.As(err, &unavailable):
		f := servers(stopped(err), "the graph is unavailable; try again later")
		if wait := unavailable.RetryAfter; wait > 0 {
			f.RetryAfter = int((wait + time.Second - 1) / time.Second)
		}
		return f
	case errors.As(err, &busy):
		message := "running queries use all the memory that queries may use; ask for less, or try again later"
		if !strings.HasPrefix(busy.Resource, "bytes of memory") {
			message = busy.Error()
		}
		f := servers(stopped(err), message)
		f.RetryAfter = 1 // most calls are short
		return f
	case errors.Is(err, context.DeadlineExceeded):
		return servers(stopped(err), "the request took longer than its time limit; ask for less, or try again later")
	case errors.Is(err, context.Canceled):
		return servers(stopped(err), "the request was stopped before its end, because its connection was lost or the server is stopping; try again later")
	}
	return servers(Failed, "internal error")
}

// maxLineFaults bounds the bytes of the messages of bad lines in an answer.
const maxLineFaults = 16 << 10

// lineFaults returns the bad lines of a load for the wire, and whether there are others.
func lineFaults(load *engine.LoadErrors) (list []client.LineFault, more bool) {
	bytes := 0
	for i := range load.Lines {
		l := &load.Lines[i]
		text := l.Err.Error()
		if bytes += len(text); bytes > maxLineFaults {
			return list, true
		}
		list = append(list, client.LineFault{Line: l.Line, Field: l.Field, Message: text})
	}
	return list, load.More
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
	if rec := requestinfo.From(ctx); rec != nil {
		id = rec.ID
	} else {
		id = requestinfo.NewID()
	}
	f.Body.Message += " (id " + id + ")"
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return f
	}
	var late *Overdue
	if errors.As(err, &late) && (f.Outcome == TimedOut || f.Outcome == GivenUp) {
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

// callers returns a fault that the caller caused.
func callers(outcome Outcome, code client.Code, err error) *Fault {
	return &Fault{Outcome: outcome, Body: client.Envelope{Message: Clip(err.Error()), Code: code}}
}

// servers returns a fault that the server caused.
func servers(outcome Outcome, message string) *Fault {
	return &Fault{Outcome: outcome, Body: client.Envelope{Message: message, Code: client.CodeInternal}, Operational: true}
}

// stopped returns the outcome of a call that ran out of time, was canceled, or could not be done at
// the moment.
func stopped(err error) Outcome {
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

// wireKeyConflict returns the entity of a key conflict in the form of the error envelope.
func wireKeyConflict(e *engine.KeyConflict) *client.KeyConflict {
	return &client.KeyConflict{EntityKind: e.Entity, TypeName: e.Type, ID: e.ID}
}

// limit returns the limit on rows if the result exceeded it, and otherwise the limit on bytes.
func (e *Oversize) limit() *client.Limit {
	if e.MaxRows > 0 && e.Rows > e.MaxRows {
		return &client.Limit{Resource: "rows", Limit: int64(e.MaxRows), Actual: int64(e.Rows)}
	}
	return &client.Limit{Resource: "bytes", Limit: int64(e.MaxBytes), Actual: e.Bytes}
}

// Closed returns how a draft ended, as answers have it.
func Closed(e *engine.DraftClosed) *client.DraftClosed {
	by, _ := engine.SplitActor(e.Draft.By)
	return &client.DraftClosed{Outcome: e.Draft.State.String(), MergeCommitID: e.Draft.Merge, By: by}
}
